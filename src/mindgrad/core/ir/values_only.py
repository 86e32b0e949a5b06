"""Blocks in which operators use the values of differentiated tensors.

For example, the solver of a root runs in such a block. Its steps are not differentiated, so it may call code
that needs values, such as SciPy or sparse derivatives.
"""

from __future__ import annotations

from mindgrad.core.ir.scope import constant_block, current_deferral, defer_to, hold_constant, open_scopes
from mindgrad.core.ir.tensor import Tensor, make_tensor

__all__ = ["has_values_only", "known_value", "values_only"]


def known_value(tensor: Tensor) -> Tensor:
    """Return a tensor outside any recording with the value of ``tensor``."""
    return make_tensor(tensor._array, tensor._type)


class values_only:
    """Use the values of differentiated tensors inside the ``with`` block.

    Values exist in eager recordings, not in compiled functions. Results that are computed inside the block
    are not recorded, so they are constants for every derivative.
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
    """Whether all open scopes, if any, are outside a :class:`values_only` block."""
    level, as_constant = constant_block()
    return not open_scopes() or (as_constant is known_value and len(open_scopes()) <= level)
