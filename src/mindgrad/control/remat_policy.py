"""Rematerialisation of loops chooses which residuals a scan saves per trip, and which it recomputes.

Of the values of the body that its linear part uses

    those of the constants alone        are computed once, before the loop
    slices of scanned operands          exist already
    the carry, and expensive values     are stacked
    pointwise and cheap functions       of the others are recomputed (1 − y² of tanh, say)

Limit: a cheap function is recomputed only if all of its operands are available anyway; no minimum cut is
searched for.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from mindgrad.control.subgraphs import in_loop, split
from mindgrad.ir.cost_model import costs
from mindgrad.ir.graph import Equation, Graph, Variable, live_equations
from mindgrad.ir.memo import memoized

__all__ = ["PartialEval", "partial_eval_body"]

Indices = tuple[int, ...]


class PartialEval:
    """The body of a loop linearized, and how its residuals reach the linear part.

    Attributes:
        body: the body with the residuals that are stacked as further outputs.
        reused: outputs that the body has already and that are residuals.
        stacked_types: the types of the further outputs, of one trip.
        streamed: the inputs that are scanned and that the linear part uses, counted from the first of them.
        outside: from the loop's constants to the values of them that the linear part uses.
        linear: the linear trip ``(*outside, *tangents of constants, *tangents of the carry, *streamed,
            *reused, *stacked, *tangents of slices) ↦ tangents of what is wanted``.
    """

    __slots__ = ("body", "linear", "outside", "reused", "stacked_types", "streamed")

    def __init__(
        self, body: Graph, consts: int, carries: int, active_inputs: Indices, active_outputs: Indices
    ) -> None:
        with in_loop():
            part = split(body, active_inputs, active_outputs)
        fixed, scanned = part.inputs[:consts], part.inputs[consts + carries :]
        plan = _Plan(part.equations, fixed, scanned)
        needed = {x for e in part.linear for x in e.inputs if _is_known(x)}
        # in the order in which they are made, so that one can be made again from those before it
        for x in [*part.inputs, *[y for e in part.equations for y in e.outputs]]:
            if x in needed:
                plan.keep(x)
        ys = part.outputs[carries:]
        reused = [x for x in plan.stacked if x in ys]
        stacked = [x for x in plan.stacked if x not in ys]
        outside = list(plan.outside)
        streamed = [x for x in scanned if x in plan.streamed]
        self.reused = tuple([carries + ys.index(x) for x in reused])
        self.stacked_types = [x.type for x in stacked]
        self.body = part.primal(stacked) if stacked else body
        self.streamed = tuple([scanned.index(x) for x in streamed])
        self.outside = Graph(fixed, live_equations(list(plan.invariant), outside), outside)
        groups: tuple[list[Variable], ...] = ([], [], [])
        for k, direction in zip(active_inputs, part.directions, strict=True):
            groups[(k >= consts) + (k >= consts + carries)].append(direction)
        inputs = [*outside, *groups[0], *groups[1], *streamed, *reused, *stacked, *groups[2]]
        again = [e for e in part.equations if e in plan.again]
        self.linear = Graph(inputs, [*again, *part.linear], part.tangents)


def _is_known(atom: Any) -> bool:
    return type(atom) is Variable and not atom.linear


class _Plan:
    """A plan of the values that are needed: saved, sliced or recomputed, as sets in order of discovery."""

    def __init__(
        self, equations: Sequence[Equation], fixed: Sequence[Variable], scanned: Sequence[Variable]
    ) -> None:
        self.streamed: dict[Variable, None] = {}
        self.stacked: dict[Variable, None] = {}
        self.outside: dict[Variable, None] = {}
        #: the equations of the constants alone, and those that are to be run again
        self.invariant: dict[Equation, None] = {}
        self.again: dict[Equation, None] = {}
        self._scanned = set(scanned)
        self._fixed = set(fixed)
        self._made_by: dict[Variable, Equation] = {}
        for equation in equations:
            self._made_by.update((y, equation) for y in equation.outputs)
            if not equation.has_effect and all(
                type(x) is not Variable or x in self._fixed for x in equation.inputs
            ):
                self.invariant[equation] = None
                self._fixed.update(equation.outputs)

    def keep(self, x: Any) -> None:
        """Make ``x`` a value that the linear part can use."""
        if not self._is_there(x):
            if self._is_free(x):
                self._make_again(x)
            else:
                self.stacked[x] = None

    def _is_there(self, x: Any) -> bool:
        """Whether ``x`` is available without computation; a fixed or scanned value is noted as used."""
        if type(x) is not Variable or x in self.stacked:
            return True
        for values, used in ((self._fixed, self.outside), (self._scanned, self.streamed)):
            if x in values:
                used[x] = None
                return True
        return False

    def _is_free(self, x: Variable) -> bool:
        """Whether cheap equations compute ``x`` from values that are available."""
        waiting = [x]
        for _ in range(costs().rematerialised_equations):
            if not waiting:
                return True
            now = waiting.pop()
            if type(now) is not Variable or now in self._fixed or now in self._scanned or now in self.stacked:
                continue
            equation = self._made_by.get(now)
            if equation is None or not equation.primitive.work.is_cheap:
                return False
            waiting.extend(equation.inputs)
        return False

    def _make_again(self, x: Variable) -> None:
        equation = self._made_by[x]
        if equation not in self.again:
            self.again[equation] = None
            for needed in equation.inputs:
                if not self._is_there(needed):
                    self._make_again(needed)


@memoized
def partial_eval_body(
    body: Graph, consts: int, carries: int, active_inputs: Indices, active_outputs: Indices
) -> PartialEval:
    """``body`` linearized in ``active_inputs``, with the tangents of ``active_outputs``."""
    return PartialEval(body, consts, carries, active_inputs, active_outputs)
