"""Undo a first iteration that ran as Python, if it resembles the later ones.

    while True:         The first test is a Python value, so the first iteration runs as Python. It sets a
        …               flag under a condition that is a tensor, so the rest becomes a compiled loop.
        if c: return x

If the state before the first iteration has the types that the loop carries, the compiled loop starts with
that state. The equations of the first iteration then have no use, and dead code elimination removes them.

The first iteration stays before the loop if it changes state that a loop does not carry: objects, attributes,
variables of enclosing functions, or elements of tensors.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence, Set
from typing import Any

from mindgrad.core.ir.scope import GraphScope, innermost
from mindgrad.core.ir.tensor import Tensor
from mindgrad.frontend import effect_log
from mindgrad.frontend.control.carries import Carry
from mindgrad.frontend.control.snapshots import Snapshot
from mindgrad.frontend.control.variables import FLAGS, UNDEFINED, State, blank, equal, joined_type

__all__ = ["FirstIteration"]


class FirstIteration:
    """The state before an iteration that is about to run as Python.

    Attributes:
        variables: variables of the loop.
    """

    __slots__ = ("_atoms", "_count", "_places", "_scope", "_snapshot", "variables")

    def __init__(self, body: Callable[[], None], test: Callable[[], Any], variables: State) -> None:
        self.variables = variables
        self._snapshot = Snapshot(body, test)
        self._places = effect_log.current_values()
        self._scope = innermost()
        self._count = self._equations()
        tensors = [x for leaves in variables.leaves for x in leaves if isinstance(x, Tensor)]
        self._atoms = [(x, x._scope, x._atom, x._array) for x in tensors]

    def _equations(self) -> int:
        return len(self._scope.builder.equations) if isinstance(self._scope, GraphScope) else 0

    def has_changed_variables_only(self) -> bool:
        """Return whether the first iteration changed nothing but variables of the loop."""
        scope = self._scope
        if not isinstance(scope, GraphScope) or innermost() is not scope:
            return False
        if any(equation.has_effect for equation in scope.builder.equations[self._count :]):
            return False
        if any(x._scope is not s or x._atom is not a or x._array is not y for x, s, a, y in self._atoms):
            return False
        return not self._snapshot.is_changed() and effect_log.changed_since(self._places) is None

    def take_back(
        self,
        carries: Sequence[Sequence[Carry | None]],
        leaves: Sequence[Sequence[Any]],
        structures: Sequence[Any],
        used: Set[Any],
    ) -> bool:
        """Let a loop start with the state before the iteration, if that is possible.

        Args:
            carries: the carry of each leaf of each variable. ``None``: no iteration changes the leaf.
            leaves, structures: values after the iteration.
            used: atoms that the body of the loop uses.

        Returns:
            Whether the loop now starts with that state.
        """
        if not self.has_changed_variables_only():
            return False
        initial: list[tuple[Carry, Any]] = []
        before = self.variables
        for k, name in enumerate(before.names):
            is_new = before.values[k] is UNDEFINED
            if is_new:
                values: Sequence[Any] = [
                    x if c is None else blank(x) for c, x in zip(carries[k], leaves[k], strict=True)
                ]
            elif before.structures[k] != structures[k]:
                return False
            else:
                values = before.leaves[k]
            for carry, value, after in zip(carries[k], values, leaves[k], strict=True):
                if carry is None:
                    if (is_new and not name.startswith(FLAGS)) or not equal(value, after):
                        return False
                elif (is_new and carry.atom in used) or not _fits(carry, value):
                    return False
                else:
                    initial.append((carry, value))
        for carry, value in initial:
            carry.initial = value
        return True


def _fits(carry: Carry, value: Any) -> bool:
    """Return whether ``carry`` keeps its type if its initial value is ``value``."""
    if isinstance(value, Tensor) and value.is_parameter:
        return False
    return joined_type(carry.symbol, value) == (carry.type, carry.is_number)
