"""Choose which residuals of a scan are stored and which are recomputed.

Reverse mode of a scan needs residuals: values of the body that the linear part (the map of tangents) uses. A
*plan* assigns each residual to a way of storing or recomputing it. The first plan is:

    values that depend only on constants of the loop   compute them once, before the loop
    slices of scanned operands                         read them again from the operands
    the carry, and expensive values                    stack them over iterations
    cheap pointwise functions of available values      recompute them, for example 1 − y² of tanh

If the stacks of the first plan have more than ``residual_bytes``, which is about the size of the processor
caches, a second plan is compared with it. The second plan stacks only the carry and the values that take long
to compute, and recomputes sums, products, and copies. Each byte that is not stacked saves one write and one
read, which are counted as ``flops_per_byte`` operations each. The second plan is used if it saves more
operations than it adds by recomputation.

Both plans are heuristics; neither minimizes the stored bytes exactly (a minimum cut of the graph). The second
plan is not tried if the body contains a matrix product or another library routine.
"""

from __future__ import annotations

from collections.abc import Sequence

from mindgrad.core.control.subgraphs import Split, in_loop, split
from mindgrad.core.ir.cost_model import costs
from mindgrad.core.ir.graph import Atom, Equation, Graph, Variable, live_equations
from mindgrad.core.ir.memo import memoized
from mindgrad.core.ir.work import flops_of

__all__ = ["PartialEval", "partial_eval_body"]

Indices = tuple[int, ...]

#: kinds of operators (``ir.work``) that are cheap. The second plan recomputes their results in the backward
#: pass instead of stacking them
_RECOMPUTED = ("free", "view", "move", "arithmetic")


class PartialEval:
    """The linearized body of a scan: a body that stacks residuals, and a linear body.

    Attributes:
        body: the body, with the residuals to be stacked as further outputs.
        reused: positions of outputs of the original body that are also residuals.
        stacked_types: types, in one iteration, of the further outputs of ``body``.
        streamed: positions, among the scanned operands, of the operands that the linear part reads again.
        outside: graph from the constants of the loop to the residuals that depend only on constants.
        linear: body of the scan over tangents: ``(*outside, *tangents of constants, *tangents of the carry,
            *streamed slices, *reused, *stacked, *tangents of slices) ↦ tangents of the active outputs``.
    """

    __slots__ = ("body", "linear", "outside", "reused", "stacked_types", "streamed")

    def __init__(
        self,
        body: Graph,
        consts: int,
        carries: int,
        active_inputs: Indices,
        active_outputs: Indices,
        length: int,
    ) -> None:
        with in_loop():
            part = split(body, active_inputs, active_outputs)
        fixed, scanned = part.inputs[:consts], part.inputs[consts + carries :]
        ys = part.outputs[carries:]
        plan = _cheapest_plan(part, fixed, scanned, set(ys), length)
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
        self.linear = Graph(inputs, [*again, *part.linear], part.tangents)  # type: ignore[arg-type]  # only variables


def _cheapest_plan(
    part: Split, fixed: Sequence[Variable], scanned: Sequence[Variable], ys: set[Atom], length: int
) -> _Plan:
    """Return the cheaper of the two plans for a scan of ``length`` iterations."""
    needed: set[Atom] = {x for e in part.linear for x in e.inputs if type(x) is Variable and not x.linear}
    plan = _Plan(part.equations, fixed, scanned)
    # decide in execution order, because whether a value can be recomputed depends on decisions about the
    # values before it
    for x in [*part.inputs, *[y for e in part.equations for y in e.outputs]]:
        if x in needed:
            plan.keep(x)
    size = plan.stacked_bytes(ys)
    if length * size <= costs().residual_bytes or any(
        e.primitive.work.kind == "library" for e in part.equations
    ):
        return plan
    other = _Plan(part.equations, fixed, scanned)
    other.keep_least(needed)
    # the factor 2 counts one write and one read of each value that is not stacked
    operations = 2 * costs().flops_per_byte * (size - other.stacked_bytes(ys))
    return other if operations > other.operations() - plan.operations() else plan


class _Plan:
    """A plan: how each residual of a loop is stored or recomputed.

    Each dict is an ordered set of values or equations.

    Attributes:
        streamed: residuals that are slices of scanned operands.
        stacked: residuals that the loop stacks.
        outside: residuals that are computed before the loop.
        invariant: equations of the body that depend only on constants of the loop.
        again: equations that the linear part computes again.
    """

    def __init__(
        self, equations: Sequence[Equation], fixed: Sequence[Variable], scanned: Sequence[Variable]
    ) -> None:
        self.streamed: dict[Atom, None] = {}
        self.stacked: dict[Atom, None] = {}
        self.outside: dict[Atom, None] = {}
        self.invariant: dict[Equation, None] = {}
        self.again: dict[Equation, None] = {}
        self._equations = equations
        self._scanned = set(scanned)
        self._fixed = set(fixed)
        self._made_by: dict[Atom, Equation] = {}
        for equation in equations:
            self._made_by.update((y, equation) for y in equation.outputs)
            if not equation.has_effect and all(
                type(x) is not Variable or x in self._fixed for x in equation.inputs
            ):
                self.invariant[equation] = None
                self._fixed.update(equation.outputs)

    def stacked_bytes(self, ys: set[Atom]) -> int:
        """Return the number of bytes that an iteration stacks.

        The values ``ys`` do not count, because the loop stacks them in any case.
        """
        return sum(x.type.size * x.dtype.itemsize for x in self.stacked if x not in ys)

    def operations(self) -> int:
        """Return the number of operations that one iteration recomputes."""
        return sum(max(flops_of(e), e.outputs[0].type.size) for e in self.again)

    def keep_least(self, needed: set[Atom]) -> None:
        """Stack or recompute the residuals ``needed``, as the second plan prescribes.

        The module docstring describes both plans.
        """
        waiting = {x: None for x in needed if not self._is_there(x)}
        for equation in reversed(self._equations):
            outputs = [y for y in equation.outputs if y in waiting]
            if not outputs:
                continue
            for y in outputs:
                del waiting[y]
            if equation.has_effect or equation.primitive.work.kind not in _RECOMPUTED:
                self.stacked.update((y, None) for y in outputs)
            else:
                self.again[equation] = None
                waiting.update((x, None) for x in equation.inputs if not self._is_there(x))
        self.stacked.update(waiting)

    def keep(self, x: Atom) -> None:
        """Stack or recompute the residual ``x``, as the first plan prescribes.

        The module docstring describes both plans.
        """
        if not self._is_there(x):
            if self._is_free(x):
                self._make_again(x)
            else:
                self.stacked[x] = None

    def _is_there(self, x: Atom) -> bool:
        """Return whether the linear part can read ``x`` without recomputation.

        If ``x`` depends only on constants of the loop, add it to ``outside``. If ``x`` is a slice of a
        scanned operand, add it to ``streamed``.
        """
        if type(x) is not Variable or x in self.stacked:
            return True
        for values, used in ((self._fixed, self.outside), (self._scanned, self.streamed)):
            if x in values:
                used[x] = None
                return True
        return False

    def _is_free(self, x: Atom) -> bool:
        """Return whether a few cheap equations can recompute ``x`` from available values."""
        waiting = [x]
        for _ in range(costs().rematerialized_equations):
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

    def _make_again(self, x: Atom) -> None:
        equation = self._made_by[x]
        if equation not in self.again:
            self.again[equation] = None
            for needed in equation.inputs:
                if not self._is_there(needed):
                    self._make_again(needed)


@memoized
def partial_eval_body(
    body: Graph, consts: int, carries: int, active_inputs: Indices, active_outputs: Indices, length: int
) -> PartialEval:
    """Linearize the body of a scan, and choose which residuals are stored.

    Only the inputs ``active_inputs`` and the outputs ``active_outputs`` have tangents.
    """
    return PartialEval(body, consts, carries, active_inputs, active_outputs, length)
