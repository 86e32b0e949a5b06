"""Truth values of tensors are known while tracing, or Bool tensors that the program computes."""

from __future__ import annotations

from typing import Any

from mindgrad._base.refusal import refuse
from mindgrad.ir.dtype import bool_
from mindgrad.ir.graph import Constant
from mindgrad.ir.scope import GraphScope, apply, as_it_is, innermost
from mindgrad.ir.tensor import Tensor
from mindgrad.rows.structural import convert as convert_row
from mindgrad.rows.structural import reshape
from mindgrad.trace import state

__all__ = ["equations", "known_truth", "plain_truth", "predicate", "truth"]


def truth(test: Tensor) -> Tensor | bool:
    """The truth value of a tensor: a Bool of no axes, or a bool where it is known."""
    tensor = state.read(test) if test.is_parameter else test
    if tensor._array is not None:
        return bool(tensor)
    if tensor.size != 1:
        refuse(
            f"The condition is a tensor of shape {tensor.shape}, but a condition must have one element",
            "Write (...).all() or (...).any().",
        )
    tensor = as_it_is(tensor)
    if tensor.shape:
        tensor = apply(reshape, tensor, shape=())
    if tensor.dtype is not bool_:
        tensor = apply(convert_row, tensor, dtype=bool_)
    if isinstance(tensor._atom, Constant):
        return bool(tensor._atom.value)
    return tensor


def plain_truth(test: Any) -> Any:
    """:func:`truth` of a tensor, and anything else as it is."""
    return truth(test) if isinstance(test, Tensor) else test


def known_truth(value: bool) -> Tensor:
    """A known truth value as a tensor."""
    return Tensor(value)


def predicate(test: Any) -> Tensor:
    """The truth of ``test`` as a tensor, known or not."""
    found = truth(test) if isinstance(test, Tensor) else bool(test)
    return found if isinstance(found, Tensor) else known_truth(found)


def equations() -> int:
    """The number of equations of the innermost program."""
    scope = innermost()
    return len(scope.builder.equations) if isinstance(scope, GraphScope) else 0
