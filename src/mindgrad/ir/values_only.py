"""Blocks in which operators take what is being differentiated as its value, and record nothing.

A solver that a root calls runs in one: nothing differentiates its steps, and it may use what needs values,
such as SciPy or sparse derivatives.
"""

from __future__ import annotations

from typing import Any

from mindgrad.ir.scope import constant_block, current_deferral, defer_to, hold_constant, open_scopes
from mindgrad.ir.tensor import Tensor, make_tensor

__all__ = ["has_values_only", "known_value", "values_only"]


def known_value(tensor: Tensor) -> Tensor:
    """The value of a tensor of a recording, as a tensor that belongs to none."""
    return make_tensor(tensor._array, tensor._type)


class values_only:
    """Let operators of the ``with`` block take every tensor that is being differentiated as its value.

    Only for recordings, which have values: in a program that is traced there are none. What is computed
    inside is not recorded, and is a constant for every derivative.
    """

    __slots__ = ("before", "deferral")

    def __enter__(self) -> None:
        self.before = hold_constant((len(open_scopes()), known_value))
        self.deferral = current_deferral()
        defer_to(None)

    def __exit__(self, *_: Any) -> None:
        hold_constant(self.before)
        defer_to(self.deferral)


def has_values_only() -> bool:
    """Whether no scope is open, or those that are open are outside of a block of :class:`values_only`."""
    level, as_constant = constant_block()
    return not open_scopes() or (as_constant is known_value and len(open_scopes()) <= level)
