"""The options for several processes as an object with a getter and a setter for each of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from mindgrad.context import get_auto_parallel_context, reset_auto_parallel_context, set_auto_parallel_context

__all__ = ["auto_parallel_context"]

#: options of which there are several in MindSpore, one for each group of processes: they change nothing here
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
        """Set all options back."""
        reset_auto_parallel_context()


_CONTEXT = _AutoParallelContext()


def auto_parallel_context() -> _AutoParallelContext:
    """The options of :func:`mindgrad.context.set_auto_parallel_context`, each with a getter and a setter.

    >>> from mindgrad.parallel._auto_parallel_context import auto_parallel_context
    >>> auto_parallel_context().get_parallel_mode(), auto_parallel_context().get_device_num()
    ('stand_alone', 1)
    """
    return _CONTEXT


_set_auto_parallel_context = set_auto_parallel_context
_get_auto_parallel_context = get_auto_parallel_context
_reset_auto_parallel_context = reset_auto_parallel_context
