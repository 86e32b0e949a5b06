"""Create the functions of the device modules: options without effect, and counts."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

from mindgrad import hal

__all__ = ["accepting", "counting"]


def _accept(*args: Any, **kwargs: Any) -> None:
    """Accept an option for compatibility, without effect."""


def accepting(names: str) -> SimpleNamespace:
    """Create a namespace of functions that accept an option without effect.

    >>> from mindgrad.device_context.accepted import accepting
    >>> accepting("threads_num").threads_num(4)
    """
    return SimpleNamespace(**dict.fromkeys(names.split(), _accept))


def counting(module: str, target: str) -> tuple[Callable[[], int], Callable[[], bool]]:
    """Create the functions ``device_count`` and ``is_available`` of a device module."""
    name = module.rpartition(".")[2]

    def device_count() -> int:
        return hal.device_count(target)

    def is_available() -> bool:
        return hal.is_available(target)

    device_count.__doc__ = f"""Return the number of {target} devices.

    >>> from mindgrad.device_context import {name}
    >>> {name}.device_count() >= 0
    True
    """
    is_available.__doc__ = f"""Return whether a device of this kind is available.

    >>> from mindgrad.device_context import {name}
    >>> {name}.is_available() == ({name}.device_count() > 0)
    True
    """
    for function in (device_count, is_available):
        function.__module__, function.__qualname__ = module, function.__name__
    return device_count, is_available
