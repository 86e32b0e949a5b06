"""Differentiate with respect to Python numbers, and return them as results.

In a traced function, a Python number is a :class:`~mindgrad.ir.tensor.Number`: a scalar tensor of type
float64 or int64. Like a Python number, it does not promote the dtype of tensors, so ``x * 2.0`` has the dtype
of ``x``. Therefore, a function computes the same result with and without a derivative. A new value of the
number does not need a new compilation.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from mindgrad._base.tree import flatten, unflatten
from mindgrad.ir.mutable import MutableFloat, MutableInt, is_mutable
from mindgrad.ir.scope import apply, open_scopes
from mindgrad.ir.tensor import Number, Tensor, make_number, make_tensor
from mindgrad.ir.types import TensorType
from mindgrad.primitives.structural import convert
from mindgrad.trace.tracing import DATA

__all__ = ["as_data", "as_python", "block", "is_number", "number_tensor"]

_FLOATS = (float, np.floating)


def is_number(x: Any) -> bool:
    """Return whether ``x`` is a float, a number from ``mutable``, or a traced number."""
    return isinstance(x, (float, np.floating, MutableInt)) or type(x) is Number


def number_tensor(x: Any) -> Tensor:
    """Convert a number to a scalar tensor of type float64 or int64."""
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
    """Convert floats in selected arguments to ``mutable`` floats: inputs of the graph.

    Args:
        args, kwargs: the arguments.
        positions: indices of the selected arguments. ``None``: all positional arguments.
        names: returns the parameter names of the function, to select keyword arguments by ``positions``.
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
    """Convert traced numbers in a result to Python numbers.

    While an enclosing function is recorded, nothing is converted.
    """
    if open_scopes():
        return result
    leaves, structure = flatten(result)
    if not any(type(leaf) is Number for leaf in leaves):
        return result
    return unflatten(structure, [leaf.item() if type(leaf) is Number else leaf for leaf in leaves])


def block(derivative: Tensor, *operands: Tensor) -> Tensor:
    """Convert a block of a Jacobian or Hessian if some of its operands are numbers.

    If all operands are numbers, the block becomes a number. Otherwise, it gets the dtype of the last tensor
    operand.

    Args:
        derivative: the block.
        operands: the output that is differentiated, and the inputs.
    """
    tensors = [x for x in operands if type(x) is not Number]
    if len(tensors) == len(operands):
        return derivative
    return apply(convert, derivative, dtype=tensors[-1].dtype) if tensors else make_number(derivative)
