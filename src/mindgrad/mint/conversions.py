"""Conversions of arguments and results that the forms of ``mint`` name."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from mindgrad.ir.dtype import int64
from mindgrad.ir.tensor import Tensor
from mindgrad.ops.in_place import replaced
from mindgrad.ops.operands import cast, operand
from mindgrad.ops.reduction import whole_as_int64

__all__ = ["indices", "pair", "placing", "typed", "whole_as_int64"]


def typed(input: Any, operator: str, dtype: Any) -> Tensor:
    """``input`` as a tensor, of the element type ``dtype`` if it is given."""
    x = operand(input, operator)
    return x if dtype is None else cast(x, dtype)


def indices(x: Tensor) -> Tensor:
    """Indices as Int64, the type that all functions of ``mint`` give them."""
    return cast(x, int64)


def pair(results: tuple[Tensor, Tensor]) -> tuple[Tensor, Tensor]:
    """Values, and their indices as Int64."""
    return results[0], indices(results[1])


def placing(inplace: bool, name: str, input: Any, function: Callable[[Any], Tensor]) -> Tensor:
    """``function(input)``, with ``inplace`` in the place of ``input``: the tensor stands for the result."""
    if not inplace:
        return function(input)
    if not isinstance(input, Tensor):
        raise TypeError(f"For '{name}', inplace=True needs a Tensor, but got {type(input).__name__}.")
    return replaced(input, name, function)
