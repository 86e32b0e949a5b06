"""Getters and setters for the options of ``set_auto_parallel_context``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from mindgrad.context import get_auto_parallel_context, reset_auto_parallel_context, set_auto_parallel_context

__all__ = ["auto_parallel_context"]

#: MindSpore's options for each process group; mindgrad stores them without effect
_FUSION = ("all_reduce_fusion_split_indices", "all_reduce_fusion_split_sizes")


class _AutoParallelContext:
    """``get_<option>()`` and ``set_<option>(value)`` for each option of ``context``."""

    def __getattr__(self, name: str) -> Callable[..., Any]:
        verb, _, option = name.partition("_")
        if option in _FUSION and verb in ("get", "set"):
            return lambda *_: None
        if verb == "get" and option.endswith("_is_set"):
            option = option.removesuffix("_is_set")
            return lambda: get_auto_parallel_context(option) is not None
        if verb == "get":
            return lambda *_: get_auto_parallel_context(option)
        if verb == "set":
            return lambda value: set_auto_parallel_context(**{option: value})
        raise AttributeError(f"'auto_parallel_context()' has no attribute {name!r}", name=name, obj=self)

    def reset(self) -> None:
        """Reset all options to their defaults."""
        reset_auto_parallel_context()


_CONTEXT = _AutoParallelContext()


def auto_parallel_context() -> _AutoParallelContext:
    """Return an object with a getter and a setter for each parallel option.

    The options are documented in :func:`mindgrad.context.set_auto_parallel_context`.

    >>> from mindgrad.parallel._auto_parallel_context import auto_parallel_context
    >>> auto_parallel_context().get_parallel_mode(), auto_parallel_context().get_device_num()
    ('stand_alone', 1)
    """
    return _CONTEXT


_set_auto_parallel_context = set_auto_parallel_context
_get_auto_parallel_context = get_auto_parallel_context
_reset_auto_parallel_context = reset_auto_parallel_context
