"""Conversions of arguments and results, called by name from the forms of ``mint``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from mindgrad.core.ir.dtype import int64
from mindgrad.core.ir.tensor import Tensor
from mindgrad.ops.in_place import replaced
from mindgrad.ops.operands import cast, operand
from mindgrad.ops.reduction import whole_as_int64

__all__ = ["indices", "pair", "placing", "typed", "whole_as_int64"]


def typed(input: Any, operator: str, dtype: Any) -> Tensor:
    """Convert ``input`` to a tensor, and to ``dtype`` if it is given."""
    x = operand(input, operator)
    return x if dtype is None else cast(x, dtype)


def indices(x: Tensor) -> Tensor:
    """Convert indices to int64, the dtype of all indices that ``mint`` returns."""
    return cast(x, int64)


def pair(results: tuple[Tensor, Tensor]) -> tuple[Tensor, Tensor]:
    """Convert the indices in ``(values, indices)`` to int64."""
    return results[0], indices(results[1])


def placing(inplace: bool, name: str, input: Any, function: Callable[[Any], Tensor]) -> Tensor:
    """Compute ``function(input)``; if ``inplace``, also store it in ``input``."""
    if not inplace:
        return function(input)
    if not isinstance(input, Tensor):
        raise TypeError(f"For '{name}', inplace=True needs a Tensor, but got {type(input).__name__}.")
    return replaced(input, name, function)
