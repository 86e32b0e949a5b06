"""Conversion of array arguments, from NumPy and other libraries, to tensors.

Cells, compiled functions, and gradient functions convert their arguments with this module before they run.
They convert arrays both in PYNATIVE_MODE and in GRAPH_MODE, so the result does not depend on the mode. In a
compiled call, the array becomes an input of the program. The program is compiled for the shape and the
element type of the array.
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

#: largest size, in bytes, of an array whose elements may become constants of a compiled program
_LARGEST_CONSTANT = HOST.known_bytes

_LEAF, _ARRAY, _SEQUENCE, _DICT, _RECORD = range(5)
#: cache: whether a class is a container, an array, or neither (a leaf)
_ROLES: dict[type, int] = {Tensor: _LEAF, np.ndarray: _ARRAY, np.memmap: _ARRAY}
#: largest number of classes in the cache ``_ROLES``; the role of a further class is computed at each call
_ROLES_KNOWN = 256


def _role(kind: Any) -> int:
    if issubclass(kind, (tuple, list)):
        role = _SEQUENCE
    elif issubclass(kind, dict):
        role = _DICT
    elif is_record(kind):
        role = _RECORD
    elif issubclass(kind, (Tensor, np.ndarray, np.generic)):
        # subclasses of ndarray are not converted: a tensor would lose the mask of a masked array, and the
        # matrix product ``*`` of np.matrix
        role = _LEAF
    else:
        role = _ARRAY if hasattr(kind, "__dlpack__") else _LEAF
    if len(_ROLES) < _ROLES_KNOWN:
        _ROLES[kind] = role
    return role


def any_array(values: Iterable[Any]) -> bool:
    """Whether ``values`` contain an array of any library, also inside containers."""
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
    """Replace numeric arrays in ``leaves`` by tensors."""
    return [Tensor(x, const_arg=as_constant) if _is_array(x) else x for x in leaves]


def with_tensors(value: Any) -> Any:
    """Replace numeric arrays in an argument by tensors.

    Returns ``value`` itself if it contains no array.
    """
    if not any_array((value,)):
        return value
    leaves, structure = flatten(value)
    return unflatten(structure, leaves_as_tensors(leaves))


def as_constants(
    args: Sequence[Any], kwargs: dict[str, Any]
) -> tuple[tuple[Any, ...], dict[str, Any]] | None:
    """Replace arrays in arguments by constant tensors.

    A trace can read the elements of a constant tensor. Returns ``None`` if the arguments contain no array, or
    an array larger than ``_LARGEST_CONSTANT``.
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
        return not isinstance(leaf, np.ndarray)  # other libraries may have dtypes that ``as_dtype`` rejects
    return True
