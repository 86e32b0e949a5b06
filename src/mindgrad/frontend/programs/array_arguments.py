"""Conversion of array arguments, from NumPy and other libraries, to tensors.

Cells, compiled functions, and gradient functions convert their arguments with this module before they run.
They convert arrays both in PYNATIVE_MODE and in GRAPH_MODE, so the result does not depend on the mode. In a
compiled call, an array becomes an input of the program. The program is compiled for the shape and the element
type of the array.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from mindgrad.core.base.refusal import CompileError
from mindgrad.core.base.tree import attributes_of, flatten, is_record, unflatten
from mindgrad.core.ir.cost_model import HOST
from mindgrad.core.ir.dtype import as_dtype
from mindgrad.core.ir.tensor import Tensor

__all__ = ["any_array", "as_constants", "leaves_as_tensors", "note_large_array", "with_tensors"]

#: maximum size in bytes of an array whose elements may become constants of a compiled function
_LARGEST_CONSTANT = HOST.known_bytes

_LEAF, _ARRAY, _SEQUENCE, _DICT, _RECORD = range(5)
#: cache that maps a class to its role: container, array, or leaf (all other classes)
_ROLES: dict[type, int] = {Tensor: _LEAF, np.ndarray: _ARRAY, np.memmap: _ARRAY}
#: maximum number of classes in the cache ``_ROLES``. The roles of further classes are computed in each call
_ROLES_KNOWN = 256


def _role(kind: Any) -> int:
    if issubclass(kind, (tuple, list)):
        role = _SEQUENCE
    elif issubclass(kind, dict):
        role = _DICT
    elif is_record(kind):
        role = _RECORD
    elif issubclass(kind, (Tensor, np.ndarray, np.generic)):
        # do not convert subclasses of ndarray: a tensor would lose the mask of a masked array, or the matrix
        # product ``*`` of np.matrix
        role = _LEAF
    else:
        role = _ARRAY if hasattr(kind, "__dlpack__") else _LEAF
    if len(_ROLES) < _ROLES_KNOWN:
        _ROLES[kind] = role
    return role


def any_array(values: Iterable[Any]) -> bool:
    """Return whether ``values`` or containers in them include an array of any library."""
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
    """Replace numeric arrays in ``leaves`` by tensors.

    If ``as_constant`` is true, the tensors are constants of the compiled function.
    """
    return [Tensor(x, const_arg=as_constant) if _is_array(x) else x for x in leaves]


def with_tensors(value: Any) -> Any:
    """Replace numeric arrays in an argument by tensors.

    If ``value`` contains no array, return ``value`` itself.
    """
    if not any_array((value,)):
        return value
    leaves, structure = flatten(value)
    return unflatten(structure, leaves_as_tensors(leaves))


def as_constants(
    args: Sequence[Any], kwargs: dict[str, Any]
) -> tuple[tuple[Any, ...], dict[str, Any]] | None:
    """Replace arrays in the arguments of a call by constant tensors.

    A trace can read the elements of a constant tensor. The result is ``None`` if the arguments contain no
    array, or an array of more than ``_LARGEST_CONSTANT`` bytes.
    """
    leaves, structure = flatten((tuple(args), kwargs))
    arrays = [x for x in leaves if _is_array(x)]
    if not arrays or any(x.nbytes > _LARGEST_CONSTANT for x in arrays):
        return None
    return unflatten(structure, leaves_as_tensors(leaves, as_constant=True))


def note_large_array(error: Exception, args: Sequence[Any], kwargs: dict[str, Any]) -> None:
    """Add a note to a compile error if an array argument is too large for a constant."""
    arrays = [x for x in flatten((tuple(args), kwargs))[0] if _is_array(x)]
    large = next((x for x in arrays if x.nbytes > _LARGEST_CONSTANT), None)
    if large is None or not isinstance(error, CompileError):
        return
    error.add_note(
        f"  An argument is an array from outside mindgrad: shape {tuple(large.shape)}, {large.nbytes} bytes. "
        f"An array of more than {_LARGEST_CONSTANT} bytes is an input of the compiled function, as a tensor "
        "is.\n  If the value comes from this array, compute it before the call and pass it as an argument."
    )


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
