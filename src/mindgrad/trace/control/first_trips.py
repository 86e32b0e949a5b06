"""First trips of loops that a tensor leaves are taken back where they are trips like the others.

    while True:                  the first test is known, so the first trip runs as Python; from its flag on
        …                        a tensor decides, and the rest is a loop. Where the state before the first
        if c: return x           trip has the types of the others', the loop begins there, and the equations
                                 of the first trip are dead code.

A first trip differs from the others where it changes what a loop does not carry: objects, attributes,
variables of enclosing functions, tensors by index. It stays in front of the loop then.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence, Set
from typing import Any

from mindgrad.ir.scope import GraphScope, innermost
from mindgrad.ir.tensor import Tensor
from mindgrad.trace import effect_log
from mindgrad.trace.control.carries import Carry
from mindgrad.trace.control.snapshots import Snapshot
from mindgrad.trace.control.variables import FLAGS, UNDEFINED, State, blank, equal, joined_type

__all__ = ["FirstTrip"]


class FirstTrip:
    """The state before a trip that is about to run as Python.

    Attributes:
        variables: those of the loop.
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
        """Whether the trip, which has run, has assigned variables of the loop and done nothing else."""
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
        """Let the carries of a loop start with the state before the trip; whether they can.

        Args:
            carries: the carry of each leaf of each variable, ``None`` for what no trip changes.
            leaves, structures: the values behind the trip.
            used: the atoms that the body of the loop uses.
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
    """Whether a carry may start with ``value`` and keep its type."""
    if isinstance(value, Tensor) and value.is_parameter:
        return False
    return joined_type(carry.symbol, value) == (carry.type, carry.is_number)
