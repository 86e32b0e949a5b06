"""Array arguments: conversion of arrays of NumPy and other libraries to tensors.

Cells, compiled functions, and gradient functions convert array arguments in both modes, so the result does
not depend on the mode. The array is an input of the compiled program, which is compiled for its shape and
element type.
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

#: largest number of bytes of an array whose values may be constants of a program
_LARGEST_CONSTANT = HOST.known_bytes

_LEAF, _ARRAY, _SEQUENCE, _DICT, _RECORD = range(5)
#: cache of the role of each type of arguments
_ROLES: dict[type, int] = {Tensor: _LEAF, np.ndarray: _ARRAY, np.memmap: _ARRAY}
#: largest number of types in the cache
_ROLES_KNOWN = 256


def _role(kind: Any) -> int:
    if issubclass(kind, (tuple, list)):
        role = _SEQUENCE
    elif issubclass(kind, dict):
        role = _DICT
    elif is_record(kind):
        role = _RECORD
    elif issubclass(kind, (Tensor, np.ndarray, np.generic)):
        role = _LEAF  # a tensor would lose the mask of a masked array, or the rules of a matrix
    else:
        role = _ARRAY if hasattr(kind, "__dlpack__") else _LEAF
    if len(_ROLES) < _ROLES_KNOWN:
        _ROLES[kind] = role
    return role


def any_array(values: Iterable[Any]) -> bool:
    """Whether ``values``, or containers among them, have an array of any library."""
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
    """Replace arrays of numbers in ``leaves`` by tensors."""
    return [Tensor(x, const_arg=as_constant) if _is_array(x) else x for x in leaves]


def with_tensors(value: Any) -> Any:
    """Replace arrays of numbers in an argument by tensors.

    Returns ``value`` itself if it has no arrays.
    """
    if not any_array((value,)):
        return value
    leaves, structure = flatten(value)
    return unflatten(structure, leaves_as_tensors(leaves))


def as_constants(
    args: Sequence[Any], kwargs: dict[str, Any]
) -> tuple[tuple[Any, ...], dict[str, Any]] | None:
    """Replace arrays in arguments by constant tensors, whose values a program may use.

    Returns ``None`` if the arguments have no arrays, or if one of the arrays is large.
    """
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
        return not isinstance(leaf, np.ndarray)  # another library may have its own class of element types
    return True
