"""Differentiate with respect to Python numbers, and return them as results.

In a traced function, a Python number becomes a :class:`~mindgrad.core.ir.tensor.Number`: a scalar tensor of
type float64 or int64. Like a Python number, it does not promote the dtype of tensors, so ``x * 2.0`` has the
dtype of ``x``. Therefore, a function computes the same result whether or not it is differentiated. A call
with another number needs no new compilation.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from mindgrad.core.base.tree import flatten, unflatten
from mindgrad.core.ir.mutable import MutableFloat, MutableInt, MutableScalar, is_mutable
from mindgrad.core.ir.rules import Results, Stored, Tree
from mindgrad.core.ir.scope import apply, open_scopes
from mindgrad.core.ir.tensor import Number, Tensor, make_number, make_tensor
from mindgrad.core.ir.types import TensorType, tensor_type
from mindgrad.core.primitives.structural import convert

__all__ = ["DATA", "as_data", "as_python", "block", "is_number", "number_tensor"]

#: maps each type of numbers that ``mutable`` returns to the tensor type of the graph input that represents
#: such a number. A call with another number reuses the compiled graph
DATA = {
    MutableFloat: tensor_type("float64", ()),
    MutableScalar: tensor_type("float64", ()),
    MutableInt: tensor_type("int64", ()),
}
_FLOATS = (float, np.floating)


def is_number(x: object) -> bool:
    """Return whether ``x`` is a float, a number from ``mutable``, or a traced number."""
    return isinstance(x, (float, np.floating, MutableInt)) or type(x) is Number


def number_tensor(x: Stored) -> Tensor:
    """Convert a number to a scalar tensor of type float64 or int64."""
    if type(x) is Number:
        return x
    type_: TensorType = DATA[MutableInt if isinstance(x, MutableInt) else MutableFloat]
    return make_tensor(np.asarray(x, type_.dtype.numpy))


def as_data(
    args: Sequence[Tree],
    kwargs: dict[str, Tree],
    positions: Sequence[int] | None,
    names: Callable[[], Sequence[str]],
) -> tuple[Sequence[Tree], dict[str, Tree]]:
    """Convert floats in the selected arguments to ``mutable`` floats.

    ``mutable`` floats are inputs of the graph, so that a call with another value reuses the compiled graph.

    Args:
        args, kwargs: the arguments of a call.
        positions: indices of the selected parameters; ``None`` selects all positional arguments.
        names: function that returns the names of the parameters. It is used to find selected parameters that
            are passed by keyword.
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


def _marked(x: Tree) -> Tree:
    if isinstance(x, Tensor) or is_mutable(x):
        return x
    if isinstance(x, _FLOATS):
        return MutableFloat(x)
    leaves, structure = flatten(x)
    if not any(isinstance(leaf, _FLOATS) for leaf in leaves):
        return x
    return unflatten(structure, [_marked(leaf) for leaf in leaves])


def as_python(result: Tree) -> Results:
    """Convert traced numbers in the result of a derivative to Python numbers.

    Inside an enclosing trace or recording, the result is returned unchanged, because its numbers have no
    values yet.
    """
    if open_scopes():
        return result
    leaves, structure = flatten(result)
    if not any(type(leaf) is Number for leaf in leaves):
        return result
    return unflatten(structure, [leaf.item() if type(leaf) is Number else leaf for leaf in leaves])


def block(derivative: Tensor, *operands: Tensor) -> Tensor:
    """Convert a block of a Jacobian or Hessian to its final dtype.

    If the output and the inputs are all Python numbers, the block becomes a number. If some of them are
    numbers, the block gets the dtype of the last tensor. Otherwise, it is returned unchanged.

    Args:
        derivative: the block.
        operands: the output that was differentiated, and the inputs with respect to which it was
            differentiated.
    """
    tensors = [x for x in operands if type(x) is not Number]
    if len(tensors) == len(operands):
        return derivative
    return apply(convert, derivative, dtype=tensors[-1].dtype) if tensors else make_number(derivative)
