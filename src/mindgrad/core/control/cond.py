"""The ``cond`` primitive: run one of two branches.

    cond(p, x) = true(x) if p else false(x)
    ẏ = J_true(x) ẋ if p else J_false(x) ẋ        x̄ = J_true(x)ᵀ ȳ if p else J_false(x)ᵀ ȳ

Operands are ``(predicate, *xs)``, where the predicate is a scalar Bool. The parameters ``true`` and
``false`` are graphs from ``xs`` to results of equal types.

Forward mode emits one ``cond``, whose branches return values and tangents. Reverse mode needs the residuals
of the branch that ran. Each branch therefore returns its residuals as additional results of the ``cond``, the
*slots*. Both branches must return equal types, so a residual of one branch and a residual of the other branch
share a slot if their types are equal. A second ``cond``, whose operands include the slots, computes the
tangents.

A ``cond`` costs as much as the branch that runs. In a batch with one predicate per sample, each branch runs
for all samples if at least one sample takes it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from mindgrad.core.control.batches import (
    any_of,
    batched_graph,
    batched_outputs,
    chosen,
    fronted,
    only_for,
    refuse_effects,
)
from mindgrad.core.control.loop_patterns import branched
from mindgrad.core.control.subgraphs import (
    Split,
    active,
    forward_body,
    marked,
    marks_of,
    nonzeros_of,
    reach,
    series_operands,
    series_results,
    split,
    starts_of,
    starts_taint,
    taylor_body,
    transposed_body,
    used_inputs,
    varying,
)
from mindgrad.core.ir.build import current
from mindgrad.core.ir.evaluate import evaluate
from mindgrad.core.ir.graph import MASKED, Atom, Constant, Equation, Graph, Variable, is_all, silent
from mindgrad.core.ir.inner_programs import Inner
from mindgrad.core.ir.memo import memoized
from mindgrad.core.ir.primitive import InnerGraphs, Primitive
from mindgrad.core.ir.types import TensorType
from mindgrad.core.primitives.arithmetic import select
from mindgrad.core.primitives.exact_zeros import OF_CONTROL, Steps, compared
from mindgrad.core.primitives.kinds import is_zero, zeros
from mindgrad.core.primitives.kinds import marked as marked_as
from mindgrad.core.primitives.logic import logical_not
from mindgrad.core.primitives.structural import broadcast_in_dim
from mindgrad.core.transforms.zero_gradients import paths_of_branch

if TYPE_CHECKING:
    from mindgrad.core.ir.rules import Atoms, BatchAxes, Tangent, Tangents

__all__ = ["cond", "zero_graph"]


def _types(predicate: TensorType, *types: TensorType, true: Graph, false: Graph) -> tuple[TensorType, ...]:
    if predicate.dtype.kind != "bool" or predicate.shape:
        raise TypeError(f"For 'cond', the predicate must be a scalar (0-D) Bool tensor, but got {predicate}.")
    for graph in (true, false):
        expected = tuple([v.type for v in graph.inputs])
        if expected != types:
            raise TypeError(
                f"For 'cond', a branch takes inputs of types {expected}, but the operands have types {types}."
            )
    true_types = tuple([y.type for y in true.outputs])
    false_types = tuple([y.type for y in false.outputs])
    if true_types != false_types:
        raise TypeError(
            f"For 'cond', the branches return values of different types: {true_types} "
            f"and {false_types}. Both branches must return the same types."
        )
    return true_types


def _simplify(predicate: Atom, *xs: Atom, true: Graph, false: Graph) -> Atoms | None:
    if isinstance(predicate, Constant):
        return tuple(current().inline(true if is_all(predicate, True) else false, xs))
    branches = {"true": marked(true, xs), "false": marked(false, xs)}
    if branches["true"] is not true or branches["false"] is not false:
        return cond(predicate, *xs, **branches)
    return None


def _jvp_with_values(xs: Atoms, ts: Tangents, true: Graph, false: Graph) -> tuple[Atoms, Tangents]:
    active_inputs = active(ts[1:])
    active_outputs = tuple(sorted({*reach(true, active_inputs), *reach(false, active_inputs)}))
    count = len(true.outputs)
    result: list[Tangent] = [None] * count
    if not active_outputs:
        return cond(*xs, true=true, false=false), result
    directions: list[Atom] = [ts[1 + k] for k in active_inputs]  # type: ignore[misc]  # no tangent is None
    if any(t.linear for t in directions):
        ys, tangents = _linear(xs, (true, false), directions, active_inputs, active_outputs)
    else:
        branches = {
            name: forward_body(branch, active_inputs, active_outputs)
            for name, branch in (("true", true), ("false", false))
        }
        results = cond(*xs, *directions, **branches)
        ys, tangents = results[:count], results[count:]
    for k, t in zip(active_outputs, tangents, strict=True):
        result[k] = t
    return ys, result


def _linear(
    xs: Atoms, branches: tuple[Graph, Graph], directions: list[Atom], active_inputs: tuple[int, ...],
    active_outputs: tuple[int, ...],
) -> tuple[Atoms, Atoms]:  # fmt: skip
    """Emit one ``cond`` for values and residuals, and a linear ``cond`` for tangents.

    Returns:
        The values and the tangents.
    """
    parts = [split(branch, active_inputs, active_outputs) for branch in branches]
    types, places = _shared_slots(parts)
    primal, linear = [], []
    for part, at in zip(parts, places, strict=True):
        slots: list[Variable | None] = [None] * len(types)
        for residual, k in zip(part.residuals, at, strict=True):
            slots[k] = residual
        primal.append(part.primal([zeros(t) if x is None else x for x, t in zip(slots, types, strict=True)]))
        inputs = [Variable(t) if x is None else x for x, t in zip(slots, types, strict=True)]
        linear.append(part.linear_graph([*part.inputs, *inputs]))
    results = cond(*xs, true=primal[0], false=primal[1])
    count = len(branches[0].outputs)
    tangents = cond(*xs, *results[count:], *directions, true=linear[0], false=linear[1])
    return results[:count], tangents


def _shared_slots(parts: Sequence[Split]) -> tuple[list[TensorType], list[list[int]]]:
    """Assign an output of the ``cond``, a slot, to each residual of its branches.

    Residuals of different branches share slots of equal type, because only one branch runs.

    Returns:
        The types of the slots, and for each branch the slot of each of its residuals.
    """
    types: list[TensorType] = []
    places = []
    for part in parts:
        free = list(range(len(types)))
        at = []
        for residual in part.residuals:
            slot = next((k for k in free if types[k] is residual.type), None)
            if slot is None:
                slot = len(types)
                types.append(residual.type)
            else:
                free.remove(slot)
            at.append(slot)
        places.append(at)
    return types, places


def _transpose(cts: Atoms, predicate: Atom, *xs: Atom, true: Graph, false: Graph) -> list[Tangent]:
    directions = tuple([k for k, x in enumerate(xs) if x.linear])
    residuals = [x for x in xs if not x.linear]
    present = tuple([k for k, ct in enumerate(cts) if not is_zero(ct)])
    cts = [cts[k] for k in present]
    pulled = [transposed_body(graph, directions, present, marks_of(cts)) for graph in (true, false)]
    cotangents = sorted({*pulled[0][1], *pulled[1][1]})
    graphs = []
    for graph, has in pulled:
        of = dict(zip(has, graph.outputs, strict=True))
        outputs = [of[k] if k in of else zeros(xs[k].type) for k in cotangents]
        graphs.append(Graph(graph.inputs, graph.equations, outputs))
    results = cond(predicate, *residuals, *cts, true=graphs[0], false=graphs[1])
    result: list[Tangent] = [None] * (1 + len(xs))
    for at, (k, ct) in enumerate(zip(cotangents, results, strict=True)):
        # If one branch does not use this operand, the cotangent of the operand is zero when that branch runs.
        # The mark MASKED makes the product of such a zero and an infinite value zero instead of NaN
        discards = any(is_zero(graph.outputs[at]) for graph in graphs)
        result[1 + k] = marked_as(ct, MASKED) if discards else ct
    return result


# -- exact zeros (see ``primitives.exact_zeros``) --------------------------------------------------------


def _nonzeros(equation: Equation, output: int) -> Steps:
    predicate, *xs = equation.inputs
    y = equation.outputs[output]
    branches = [equation.parameters["true"], equation.parameters["false"]]
    moving = tuple([k for k, x in enumerate(xs) if x.dtype.is_inexact and current().moves(x)])
    masks = {}
    for k in moving:
        if any(k in used_inputs(graph, output) for graph in branches):
            mask = yield xs[k]
            if mask is not None:
                masks[k] = mask
    graphs = [nonzeros_of(graph, output, moving, tuple(masks)) for graph in branches]
    sides = [compared(y) if graph is None else graph.outputs[0] for graph in graphs]
    if any(graph is not None and type(graph.outputs[0]) is Variable for graph in graphs):
        true, false = [
            zero_graph(other) if graph is None else graph  # type: ignore[arg-type]  # not both are None
            for graph, other in zip(graphs, reversed(graphs), strict=True)
        ]
        (made,) = cond(predicate, *xs, *masks.values(), true=true, false=false)
        sides = [compared(y) if graph is None else made for graph in graphs]
    return select(broadcast_in_dim(predicate, shape=y.shape, dims=()), *sides)


# -- Taylor series --------------------------------------------------------------------------------


def _series(equation: Equation, coefficients: Sequence[Tangents], order: int) -> list[list[Tangent]]:
    true, false = equation.parameters["true"], equation.parameters["false"]
    (predicate, *xs), is_same = starts_of(equation.inputs, coefficients)
    active_inputs = varying(coefficients[1:])
    active_outputs = tuple(sorted({*reach(true, active_inputs), *reach(false, active_inputs)}))
    operands = (predicate, *xs, *series_operands(xs, coefficients[1:], active_inputs))
    branches = {
        name: taylor_body(branch, active_inputs, active_outputs, order)
        for name, branch in (("true", true), ("false", false))
    }
    count = len(equation.outputs)
    results = cond(*operands, **(branches if is_same else silent(branches)))
    return series_results(results, count, results[count:], active_outputs, order)


# -- batching -------------------------------------------------------------------------------------


def _batch(size: int, operands: Atoms, at: BatchAxes, true: Graph, false: Graph) -> tuple:
    predicate, *xs = operands
    flags = tuple([axis is not None for axis in at[1:]])
    xs = fronted(size, xs, at[1:], flags)
    branches = (true, false)
    if at[0] is None:
        outputs = [batched_outputs(graph, flags, size) for graph in branches]
        batched = tuple([a or b for a, b in zip(*outputs, strict=True)])
        graphs = [batched_graph(graph, flags, batched, size) for graph in branches]
        made = cond(predicate, *xs, true=graphs[0], false=graphs[1])
        return made, [0 if want else None for want in batched]
    refuse_effects("a branch", *branches)
    every = (True,) * len(true.outputs)
    results = []
    for graph, takes in ((true, predicate), (false, logical_not(predicate))):
        run = batched_graph(graph, flags, every, size)
        none = zero_graph(run)
        results.append(cond(any_of(takes), *only_for(takes, xs, flags), true=run, false=none))
    return tuple([chosen(predicate, a, b) for a, b in zip(*results, strict=True)]), [0] * len(every)


@memoized
def zero_graph(graph: Graph) -> Graph:
    """Return a graph with the types of ``graph`` whose outputs are zeros."""
    return Graph([Variable(v.type) for v in graph.inputs], [], [zeros(y.type) for y in graph.outputs])


def _programs(equation: Equation, iterations: int) -> Iterator[Inner]:
    for name in ("true", "false"):
        yield Inner(equation.parameters[name], equation.inputs[1:])


cond: Primitive[tuple[Atom, ...]] = Primitive(
    "cond",
    "control",
    type_rule=_types,
    numpy=lambda predicate, *xs, true, false: tuple(evaluate(true if predicate else false, xs)),
    xla=lambda jax, predicate, *xs, true, false: jax.lax.cond(predicate, true, false, *xs),
    jvp_with_values=_jvp_with_values,
    transpose=_transpose,
    batch=_batch,
    simplify=_simplify,
    series=_series,
    multiple=True,
    pattern=branched,
    inner=InnerGraphs(replaceable=True, programs=_programs, paths=paths_of_branch),
    taint=lambda *_, true, false: starts_taint(true, false),
)

OF_CONTROL[cond] = _nonzeros
