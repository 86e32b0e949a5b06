"""Loop carries: values that each iteration receives from the previous iteration.

``loops`` creates a :class:`Carry` for each tensor or number that an iteration changes.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from mindgrad.core.ir.scope import BodyScope, apply, as_it_is, lifted
from mindgrad.core.ir.tensor import Tensor, make_number
from mindgrad.core.ir.types import TensorType
from mindgrad.core.primitives.structural import convert
from mindgrad.core.trace import references
from mindgrad.frontend import aliases

__all__ = ["Carry"]


class Carry:
    """A tensor or number that a loop passes from one iteration to the next.

    Attributes:
        type: type of the tensor.
        is_number: whether the carry is a Python number, which a scalar tensor represents.
        initial: value before the loop: a tensor or number.
        symbol: tensor or number that represents the carry in the trace of an iteration.
        atom: variable in the graph of the loop body that contains the carry at the start of an iteration.
        after: value at the end of the iteration.
    """

    __slots__ = ("after", "atom", "initial", "is_number", "symbol", "type")

    def __init__(self, type: TensorType, is_number: bool, initial: Any) -> None:
        self.type, self.is_number, self.initial = type, is_number, initial
        self.symbol: Any = None
        self.atom: Any = None
        self.after: Any = None

    def start(self, scope: BodyScope) -> Tensor:
        """Create the tensor that represents the carry at the start of an iteration."""
        tensor = scope.symbol(self.type)
        self.atom = tensor._atom
        self.symbol = make_number(tensor) if self.is_number else tensor
        aliases.note_given(self.symbol)
        return self.symbol

    def first(self) -> Tensor:
        """Return the carry's value before the loop, as a tensor of the carry's type."""
        value = self.initial
        if not isinstance(value, Tensor):
            return Tensor(np.asarray(value, self.type.dtype.numpy))
        value = lifted(references.read(value) if value.is_parameter else value)
        if value.dtype is not self.type.dtype:
            value = apply(convert, as_it_is(value), dtype=self.type.dtype)
        return value

    def is_object(self) -> bool:
        """Return whether the variable refers to the same tensor object after an iteration.

        The iteration may still assign elements of this tensor.
        """
        same_type = isinstance(self.initial, Tensor) and self.initial.type is self.type
        return same_type and not self.is_number and self.after is self.symbol

    def is_changed(self) -> bool:
        """Return whether the iteration assigned elements of the carried tensor."""
        return self.symbol is not None and self.symbol._atom is not self.atom

    def made(self, tensor: Tensor) -> Tensor:
        """Return ``tensor``, as a traced number if the carry represents a Python number."""
        return make_number(tensor) if self.is_number else tensor
