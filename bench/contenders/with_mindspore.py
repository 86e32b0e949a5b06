"""MindSpore itself, graph mode and PyNative mode."""

from __future__ import annotations

import mindspore
from mindspore_programs import prepare

__all__ = ["prepare", "versions"]


def versions() -> dict[str, str]:
    """Versions of what does the work."""
    return {"mindspore": mindspore.__version__}
