"""The context: how and where programs run.

>>> from mindgrad import context
>>> context.set_context(mode=context.PYNATIVE_MODE)
>>> context.get_context("mode") == context.PYNATIVE_MODE
True
"""

from __future__ import annotations

from typing import Any

from mindgrad.core import settings
from mindgrad.core.settings import GRAPH_MODE, PYNATIVE_MODE

__all__ = ["GRAPH_MODE", "PYNATIVE_MODE", "get_context", "set_context"]


def set_context(**options: Any) -> None:
    """Set options of the context."""
    settings.update(options)


def get_context(name: str) -> Any:
    """The value of one option of the context."""
    return settings.get(name)
