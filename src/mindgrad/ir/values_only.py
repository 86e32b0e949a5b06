"""Blocks in which operators use the values of differentiated tensors.

The solver of a root runs in such a block, because its steps are not differentiated. So it may use code that
needs values, such as SciPy or sparse derivatives.
"""

from __future__ import annotations

from typing import Any

from mindgrad.ir.scope import constant_block, current_deferral, defer_to, hold_constant, open_scopes
from mindgrad.ir.tensor import Tensor, make_tensor

__all__ = ["has_values_only", "known_value", "values_only"]


def known_value(tensor: Tensor) -> Tensor:
    """Return the value of a recorded tensor as a tensor outside any recording."""
    return make_tensor(tensor._array, tensor._type)


class values_only:
    """Use the values of differentiated tensors inside the ``with`` block.

    Only recordings have values; traced functions do not. Results computed inside the block are not recorded
    and are constants for every derivative.
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
    """Whether all open scopes, if any, are outside a :class:`values_only` block."""
    level, as_constant = constant_block()
    return not open_scopes() or (as_constant is known_value and len(open_scopes()) <= level)
