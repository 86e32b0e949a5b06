"""Tensor arguments that are compile-time constants: ``Tensor(…, const_arg=True)``.

A compiled function accepts any values of its tensor arguments. With ``const_arg=True``, the value of the
tensor is a constant of the compiled function. The function is then compiled separately for each value, and
there is no gradient with respect to the tensor.
"""

from __future__ import annotations

import weakref
from collections.abc import Iterable
from typing import Any

__all__ = ["any_constant", "is_constant", "mark"]

#: maps the ``id`` of each tensor with ``const_arg=True`` to a weak reference to the tensor
_MARKED: dict[int, weakref.ref[Any]] = {}


def mark(tensor: Any, is_marked: Any = True) -> None:
    """Mark ``tensor`` as a constant, or remove the mark.

    Raises:
        TypeError: If ``is_marked`` is not a bool.
    """
    if not isinstance(is_marked, bool):
        raise TypeError(
            f"For 'Tensor', the type of 'const_arg' should be 'bool', but got {type(is_marked).__name__}."
        )
    key = id(tensor)
    if is_marked:
        _MARKED[key] = weakref.ref(tensor, lambda _: _MARKED.pop(key, None))
    else:
        _MARKED.pop(key, None)


def is_constant(tensor: Any) -> bool:
    """Return whether ``tensor`` is a compile-time constant (``const_arg=True``)."""
    return bool(_MARKED) and id(tensor) in _MARKED


def any_constant(values: Iterable[Any]) -> bool:
    """Return whether ``values`` contain a tensor with ``const_arg=True``."""
    return bool(_MARKED) and any(id(x) in _MARKED for x in values)
