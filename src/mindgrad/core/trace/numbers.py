"""Python numbers as differentiable arguments, and as results.

In a traced function, a number is a :class:`~mindgrad.core.ir.tensor.Number`: a scalar tensor of Python's
precision. Like a Python number, it does not promote the tensors that it is combined with. Therefore a
function computes the same result with and without a derivative, and one compiled function serves all values
of the number.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from mindgrad.core.base.tree import flatten, unflatten
from mindgrad.core.ir.mutable import MutableFloat, MutableInt, MutableScalar, is_mutable
from mindgrad.core.ir.scope import apply, open_scopes
from mindgrad.core.ir.tensor import Number, Tensor, make_number, make_tensor
from mindgrad.core.ir.types import TensorType, tensor_type
from mindgrad.core.primitives.structural import convert

__all__ = ["DATA", "as_data", "as_python", "block", "is_number", "number_tensor"]

#: types of the numbers that ``mutable`` creates. They are inputs of the graph, so one compiled
#: function serves all their values
DATA = {
    MutableFloat: tensor_type("float64", ()),
    MutableScalar: tensor_type("float64", ()),
    MutableInt: tensor_type("int64", ()),
}
_FLOATS = (float, np.floating)


def is_number(x: Any) -> bool:
    """Return whether ``x`` is a differentiable number: a float, or from ``mutable``."""
    return isinstance(x, (float, np.floating, MutableInt)) or type(x) is Number


def number_tensor(x: Any) -> Tensor:
    """Convert a number to a scalar tensor of Python's precision."""
    if type(x) is Number:
        return x
    type_: TensorType = DATA[MutableInt if isinstance(x, MutableInt) else MutableFloat]
    return make_tensor(np.asarray(x, type_.dtype.numpy))


def as_data(
    args: Sequence[Any],
    kwargs: dict[str, Any],
    positions: Sequence[int] | None,
    names: Callable[[], Sequence[str]],
) -> tuple[Sequence[Any], dict[str, Any]]:
    """Mark the floats at ``positions`` as inputs of the graph, as ``mutable`` does.

    Args:
        args, kwargs: the arguments.
        positions: indices of positional arguments. ``None``: all.
        names: returns the parameter names of the positional arguments.
    """
    listed = list(args)
    for position in range(len(listed)) if positions is None else positions:
        if position < len(listed):
            listed[position] = _marked(listed[position])
    if kwargs and positions:
        known = names()
        chosen = {known[position] for position in positions if position < len(known)}
        kwargs = {name: _marked(x) if name in chosen else x for name, x in kwargs.items()}
    return listed, kwargs


def _marked(x: Any) -> Any:
    if isinstance(x, Tensor) or is_mutable(x):
        return x
    if isinstance(x, _FLOATS):
        return MutableFloat(x)
    leaves, structure = flatten(x)
    if not any(isinstance(leaf, _FLOATS) for leaf in leaves):
        return x
    return unflatten(structure, [_marked(leaf) for leaf in leaves])


def as_python(result: Any) -> Any:
    """Convert the symbolic numbers in ``result`` to Python numbers, except in a trace."""
    if open_scopes():
        return result
    leaves, structure = flatten(result)
    if not any(type(leaf) is Number for leaf in leaves):
        return result
    return unflatten(structure, [leaf.item() if type(leaf) is Number else leaf for leaf in leaves])


def block(derivative: Tensor, *operands: Tensor) -> Tensor:
    """Convert a derivative to a number, or to the dtype of its tensor operands."""
    tensors = [x for x in operands if type(x) is not Number]
    if len(tensors) == len(operands):
        return derivative
    return apply(convert, derivative, dtype=tensors[-1].dtype) if tensors else make_number(derivative)
