"""Compute with the values of differentiated tensors, without their derivatives.

For example, a root finder runs in a :class:`values_only` block. Its steps are not differentiated, so it can
call code that needs the values of tensors, such as SciPy or sparse derivatives.
"""

from __future__ import annotations

from mindgrad.core.ir.scope import constant_block, current_deferral, defer_to, hold_constant, open_scopes
from mindgrad.core.ir.tensor import Tensor, make_tensor

__all__ = ["has_values_only", "known_value", "values_only"]


def known_value(tensor: Tensor) -> Tensor:
    """Return the value of ``tensor`` as a constant for every derivative."""
    return make_tensor(tensor._array, tensor._type)


class values_only:
    """Context manager in which operators use the values of differentiated tensors.

    Results that are computed in the block are not recorded, so they are constants in every derivative. The
    block works only in eager mode, because tensors of compiled functions have no values.
    """

    __slots__ = ("before", "deferral")

    def __enter__(self) -> None:
        self.before = hold_constant((len(open_scopes()), known_value))
        self.deferral = current_deferral()
        defer_to(None)

    def __exit__(self, *_: object) -> None:
        hold_constant(self.before)
        defer_to(self.deferral)


def has_values_only() -> bool:
    """Return whether operators are currently computed without being recorded.

    This is true if no scope is open, or if all open scopes are outside a :class:`values_only` block.
    """
    level, as_constant = constant_block()
    return not open_scopes() or (as_constant is known_value and len(open_scopes()) <= level)
