"""Functions that accept an option of a device, which changes nothing here."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

__all__ = ["accepting"]


def _accept(*args: Any, **kwargs: Any) -> None:
    """Accepted for compatibility: XLA chooses for itself."""


def accepting(names: str) -> SimpleNamespace:
    """A namespace of functions that accept an option.

    >>> from mindgrad.device_context.accepted import accepting
    >>> accepting("threads_num").threads_num(4)
    """
    return SimpleNamespace(**dict.fromkeys(names.split(), _accept))
