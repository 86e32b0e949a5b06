"""Include the first iteration of a ``while`` loop in the compiled loop.

    while True:         The first test is a Python value, so the first iteration is traced as ordinary code.
        …
        if c: return x  Because ``c`` is a tensor, the second test is a tensor, and a compiled loop begins.

Without this module, the graph would contain the body twice: once before the loop and once in the loop. If the
values of the variables before the first iteration have the types of the loop's carries, the compiled loop
starts with these values. Dead code elimination then removes the equations of the first iteration.

The first iteration remains before the loop if it changes other state: objects, attributes, variables of
enclosing functions, or elements of tensors.
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
    """The state before the first iteration, which is traced as ordinary code.

    Attributes:
        variables: variables of the loop, with their values before the first iteration.
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
        """Return whether the first iteration has changed only variables of the loop."""
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
        """Make the compiled loop start with the state before the first iteration.

        Args:
            carries: for each variable and each leaf of its value, the carry of the loop, or ``None`` if no
                iteration changes the leaf.
            leaves, structures: leaves and structure of each variable's value after the first iteration.
            used: variables of the graph that the body of the loop reads.

        Returns:
            ``True`` if successful, or ``False`` if the types differ or the first iteration had other effects.
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
    """Return whether ``value`` has the type of an initial value of ``carry``."""
    if isinstance(value, Tensor) and value.is_parameter:
        return False
    return joined_type(carry.symbol, value) == (carry.type, carry.is_number)
