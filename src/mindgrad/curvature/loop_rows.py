"""Rows in the bodies of loops.

    carry[t + 1] = body(w, carry[t], x[t])

The rows of a carry are at the same axes in all iterations. A fixpoint iteration finds them: it follows the
outputs of the body backwards, and repeats until the rows of each carry agree at the start and at the end
of an iteration. If they do not agree, or if a value inside the loop is shared by all rows but depends on the
iteration, the whole loop counts as one equation.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from mindgrad.core.control.scan import scan
from mindgrad.core.ir.build import Builder, building, current
from mindgrad.core.ir.graph import Atom, Equation, Graph, Variable
from mindgrad.core.ir.memo import memoized
from mindgrad.core.ir.rules import Atoms
from mindgrad.core.ir.types import tensor_type
from mindgrad.curvature.row_axes import Rows, Use, backward_uses, dependent_variables

__all__ = ["LoopUse", "loop_use", "moved_loop", "with_invariants_outside"]


class LoopUse(NamedTuple):
    """How a loop uses its operands.

    Attributes:
        operands: for each operand, its rows; ``None`` if it is shared or does not depend on weights.
        is_moving: for each operand, whether it depends on the weights.
        inner: the uses of the equations of the body.
    """

    operands: tuple[Rows | None, ...]
    is_moving: tuple[bool, ...]
    inner: dict[Equation, Use]

    @property
    def meetings(self) -> list[Equation]:
        """The equations of the body in which shared values meet values with rows."""
        return [equation for equation, use in reversed(self.inner.items()) if use.shared]


def loop_use(
    equation: Equation,
    results: Sequence[Rows | None],
    is_moving: tuple[bool, ...],
    weights: Sequence[Variable],
) -> LoopUse | None:
    """Return how a loop uses its operands.

    Returns ``None`` if the rows mix or change their axes.

    Args:
        equation: a ``scan`` equation.
        results: the rows of each result.
        is_moving: for each operand, whether it depends on the weights.
        weights: the weights, whose elements never carry rows.
    """
    body, consts, carries = (equation.parameters[name] for name in ("body", "consts", "carries"))
    end = consts + carries
    moving = _moving_inputs(body, is_moving, consts, carries)
    of_outputs = list(results)
    for k in range(carries, len(results)):
        of_outputs[k] = _shifted(results[k], -1)
        if of_outputs[k] is None is not results[k]:
            return None
    blocked = [v for v, x in zip(body.inputs, equation.inputs, strict=True) if x in weights]
    while True:
        outputs: dict[Atom, Rows] = {}
        for y, rows in zip(body.outputs, of_outputs, strict=True):
            if rows is not None and outputs.setdefault(y, rows) != rows:
                return None
        dependent = dependent_variables(body.equations, moving)
        uses, rows_of = backward_uses(body.equations, dependent, blocked, outputs)
        after = [rows_of.get(x) for x in body.inputs[consts:end]]
        joined = [new if old is None else old for old, new in zip(of_outputs[:carries], after, strict=True)]
        if any(new is not None and new != old for old, new in zip(joined, after, strict=True)):
            return None
        if joined == of_outputs[:carries]:
            break
        of_outputs[:carries] = joined
    shared = {e.inputs[k] for e, use in uses.items() for k in use.shared}
    if not shared <= set(body.inputs[:consts]) or not shared.isdisjoint(rows_of):
        return None
    operands = [rows_of.get(x) if x in moving else None for x in body.inputs]
    operands[consts:end] = [
        rows if x in moving else None for x, rows in zip(body.inputs[consts:end], of_outputs, strict=False)
    ]
    operands[end:] = [_shifted(rows, 1) for rows in operands[end:]]
    operands = [rows if moves else None for rows, moves in zip(operands, is_moving, strict=True)]
    return LoopUse(tuple(operands), is_moving, uses)


def _moving_inputs(body: Graph, is_moving: Sequence[bool], consts: int, carries: int) -> list[Variable]:
    """Return the inputs of the body that depend on the weights in some iteration."""
    flags = list(is_moving)
    while True:
        moving = [x for x, yes in zip(body.inputs, flags, strict=True) if yes]
        dependent = dependent_variables(body.equations, moving)
        before = list(flags)
        for k in range(carries):
            flags[consts + k] |= body.outputs[k] in dependent
        if flags == before:
            return moving


def _shifted(rows: Rows | None, by: int) -> Rows | None:
    if rows is None or rows.axes[0] + by < 0:
        return None
    return rows._replace(axes=tuple([axis + by for axis in rows.axes]))


# --- emission ----------------------------------------------------------------------------------------


def moved_loop(
    builder: Builder, equation: Equation, use: LoopUse, operands: Atoms
) -> tuple[list[Variable], Sequence[Atom], list[tuple[Atom | None, ...]]]:
    """Emit a loop with an offset in each iteration for the result of each meeting.

    Returns the offsets, the results of the loop, and the operands of each meeting. Offsets and operands have
    a leading axis of the iterations. Shared operands are ``None``.
    """
    parameters = equation.parameters
    body, length = parameters["body"], parameters["length"]
    meetings = use.meetings
    inner = Builder()
    with building(inner):
        inputs = inner.inputs_like(body.inputs)
        values: dict[Atom, Atom] = dict(zip(body.inputs, inputs, strict=True))
        slices = [inner.input(e.outputs[0].type) for e in meetings]
        stacked = []
        for step in body.equations:
            operands_of_step = [values.get(x, x) for x in step.inputs]
            results_of_step = list(inner.emit_again(step, operands_of_step))
            if step in meetings:
                with_rows = [
                    None if k in use.inner[step].shared else x for k, x in enumerate(operands_of_step)
                ]
                stacked.append((step, with_rows))
                results_of_step[0] = results_of_step[0] + slices[meetings.index(step)]
            values.update(zip(step.outputs, results_of_step, strict=True))
        outputs = [values.get(y, y) for y in body.outputs]
        stacks = [x for _, with_rows in stacked for x in with_rows if x is not None]
        graph = inner.close([*outputs, *stacks])
    offsets = [builder.input(tensor_type(x.dtype, (length, *x.shape))) for x in slices]
    results = scan(*operands, *offsets, **{**parameters, "body": graph})
    rest = iter(results[len(body.outputs) :])
    in_order = {e: tuple([None if x is None else next(rest) for x in with_rows]) for e, with_rows in stacked}
    return offsets, results[: len(body.outputs)], [in_order[e] for e in meetings]


@memoized
def with_invariants_outside(graph: Graph) -> Graph:
    """Move equations of loops that depend only on constants outside the loops.

    A shared value in a loop is then a constant of the loop.
    """
    if not any(e.primitive is scan for e in graph.equations):
        return graph
    builder = Builder()
    with building(builder):
        inputs = builder.inputs_like(graph.inputs)
        values: dict[Atom, Atom] = dict(zip(graph.inputs, inputs, strict=True))
        for equation in graph.equations:
            operands = tuple([values.get(x, x) for x in equation.inputs])
            emit: Callable = _outside if equation.primitive is scan else builder.emit_again
            values.update(zip(equation.outputs, emit(equation, operands), strict=True))
        return builder.close([values.get(y, y) for y in graph.outputs])


def _outside(equation: Equation, operands: Atoms) -> Sequence[Atom]:
    body, consts = equation.parameters["body"], equation.parameters["consts"]
    fixed = set(body.inputs[:consts])
    invariant, varying = [], []
    for step in body.equations:
        variables = [x for x in step.inputs if type(x) is Variable]
        if variables and fixed.issuperset(variables) and not step.has_effect and not step.is_unique:
            invariant.append(step)
            fixed.update(step.outputs)
        else:
            varying.append(step)
    if not invariant:
        return current().emit_again(equation, operands)
    read = {x for step in varying for x in step.inputs} | set(body.outputs)
    hoisted = [y for step in invariant for y in step.outputs if y in read]
    outside = current().inline(Graph(body.inputs[:consts], invariant, hoisted), operands[:consts])
    inner = Builder()
    with building(inner):
        values: dict[Atom, Atom] = {}
        for group in (body.inputs[:consts], hoisted, body.inputs[consts:]):
            values.update(zip(group, inner.inputs_like(group), strict=True))
        for step in varying:
            operands_of_step = [values.get(x, x) for x in step.inputs]
            values.update(zip(step.outputs, inner.emit_again(step, operands_of_step), strict=True))
        changed = inner.close([values.get(y, y) for y in body.outputs])
    parameters = {**equation.parameters, "body": changed, "consts": consts + len(hoisted)}
    return scan(*operands[:consts], *outside, *operands[consts:], **parameters)
