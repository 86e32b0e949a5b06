"""Arrays of NumPy and other libraries as arguments: a call takes them as tensors of their elements.

Cells, compiled functions and gradient functions do, in both modes, so that what a function computes does not
depend on the mode: a program has the array as an input, and is compiled for its shape and element type.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from mindgrad._base.tree import attributes_of, flatten, is_record, unflatten
from mindgrad.ir.cost_model import HOST
from mindgrad.ir.dtype import as_dtype
from mindgrad.ir.tensor import Tensor

__all__ = ["any_array", "as_constants", "leaves_as_tensors", "with_tensors"]

#: bytes of an array of which a program may know the values
_LARGEST_CONSTANT = HOST.known_bytes

_LEAF, _ARRAY, _SEQUENCE, _DICT, _RECORD = range(5)
#: what the instances of a type are, of types that were met
_ROLES: dict[type, int] = {Tensor: _LEAF, np.ndarray: _ARRAY, np.memmap: _ARRAY}
_ROLES_KNOWN = 256


def _role(kind: Any) -> int:
    if issubclass(kind, (tuple, list)):
        role = _SEQUENCE
    elif issubclass(kind, dict):
        role = _DICT
    elif is_record(kind):
        role = _RECORD
    elif issubclass(kind, (Tensor, np.ndarray, np.generic)):
        role = _LEAF  # masked arrays and matrices say more than their elements
    else:
        role = _ARRAY if hasattr(kind, "__dlpack__") else _LEAF
    if len(_ROLES) < _ROLES_KNOWN:
        _ROLES[kind] = role
    return role


def any_array(values: Iterable[Any]) -> bool:
    """Whether an array, of NumPy or another library, is among ``values`` or in a container among them."""
    for x in values:
        kind = type(x)
        if kind is Tensor:
            continue
        role = _ROLES.get(kind)
        if role is None:
            role = _role(kind)
        if role == _LEAF:
            continue
        if role == _ARRAY:
            return True
        held = x if role == _SEQUENCE else (x if role == _DICT else attributes_of(x)).values()
        if any_array(held):
            return True
    return False


def leaves_as_tensors(leaves: Sequence[Any], as_constant: bool = False) -> list[Any]:
    """``leaves`` with tensors in place of arrays of numbers."""
    return [Tensor(x, const_arg=as_constant) if _is_array(x) else x for x in leaves]


def with_tensors(value: Any) -> Any:
    """An argument with tensors in place of arrays of numbers; itself if there are none in it."""
    if not any_array((value,)):
        return value
    leaves, structure = flatten(value)
    return unflatten(structure, leaves_as_tensors(leaves))


def as_constants(
    args: Sequence[Any], kwargs: dict[str, Any]
) -> tuple[tuple[Any, ...], dict[str, Any]] | None:
    """The arguments with arrays as tensors whose values a program knows; ``None`` without small arrays."""
    leaves, structure = flatten((tuple(args), kwargs))
    arrays = [x for x in leaves if _is_array(x)]
    if not arrays or any(x.nbytes > _LARGEST_CONSTANT for x in arrays):
        return None
    return unflatten(structure, leaves_as_tensors(leaves, as_constant=True))


def _is_array(leaf: Any) -> bool:
    kind = type(leaf)
    role = _ROLES.get(kind)
    if (_role(kind) if role is None else role) != _ARRAY:
        return False
    try:
        as_dtype(leaf.dtype)
    except (TypeError, AttributeError):
        return not isinstance(leaf, np.ndarray)  # an element type of its library
    return True
