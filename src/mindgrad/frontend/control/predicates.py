"""Convert the conditions of branches and loops to bools or Bool tensors.

The result is a tensor if the value of the condition is not known at compile time.
"""

from __future__ import annotations

from typing import Any

from mindgrad.core.base.refusal import refuse
from mindgrad.core.ir.dtype import bool_
from mindgrad.core.ir.graph import Constant
from mindgrad.core.ir.scope import GraphScope, apply, as_it_is, innermost
from mindgrad.core.ir.tensor import Tensor
from mindgrad.core.primitives.structural import convert as convert_primitive
from mindgrad.core.primitives.structural import reshape
from mindgrad.core.trace import references

__all__ = ["equations", "known_truth", "plain_truth", "predicate", "truth"]


def truth(test: Tensor) -> Tensor | bool:
    """Convert a condition tensor to a bool, or to a Bool tensor if it is not known."""
    tensor = references.read(test) if test.is_parameter else test
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
        tensor = apply(convert_primitive, tensor, dtype=bool_)
    if isinstance(tensor._atom, Constant):
        return bool(tensor._atom.value)
    return tensor


def plain_truth(test: Any) -> Any:
    """Apply :func:`truth` to a tensor; return conditions of other types unchanged."""
    return truth(test) if isinstance(test, Tensor) else test


def known_truth(value: bool) -> Tensor:
    """Convert a bool to a scalar Bool tensor."""
    return Tensor(value)


def predicate(test: Any) -> Tensor:
    """Convert a condition to a scalar Bool tensor, even if its value is known."""
    found = truth(test) if isinstance(test, Tensor) else bool(test)
    return found if isinstance(found, Tensor) else known_truth(found)


def equations() -> int:
    """Return the number of equations in the innermost graph that is being traced."""
    scope = innermost()
    return len(scope.builder.equations) if isinstance(scope, GraphScope) else 0
