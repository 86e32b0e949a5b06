"""The ``scan`` primitive: a loop over array slices with a fixed iteration count.

    scan(c, x₀, s) = (x_n, (y_1, …, y_n)),    (x_{i+1}, y_{i+1}) = body(c, x_i, s_i),    n = length

The carry x is a tuple of tensors, its *components*. Operands are ``(*consts, *carry, *xs)``. The *scanned*
operands ``xs`` have one slice per iteration along axis 0. Results are ``(*carry, *ys)``, where each element
of ``ys`` stacks one value per iteration along axis 0. The parameters are:

- ``body``: graph from ``(*consts, *carry, *slices)`` to ``(*carry, *ys)``.
- ``length``: number of iterations.
- ``consts``, ``carries``: number of operands that are constants and number of carry components.
- ``reverse``: whether to run from the last slice to the first.

Forward mode runs one loop over values and tangents. In reverse mode, the loop also stacks the residuals that
its linear part needs (``control.remat_policy``). The linear part is a scan over tangents, and its transpose
is a scan in the opposite direction. The cotangent of a constant is a sum over iterations. Either the
transposed scan accumulates the sum, or one contraction after the loop computes it (``control.sum_hoisting``).

Forward mode costs one loop with 2 to 3 times the work. Reverse mode adds one more loop and stores the
residuals of every iteration.

In the code, ``moving`` are the indices of the carry components that have a tangent in some iteration.
``start`` are the indices of the components of the initial carry that have a tangent.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple, TypeVar

import numpy as np

from mindgrad.core.control.batches import batched_graph, batched_outputs, batched_parts, fronted
from mindgrad.core.control.loop_patterns import scanned
from mindgrad.core.control.remat_policy import partial_eval_body
from mindgrad.core.control.scan_transpose import transposed_iteration
from mindgrad.core.control.subgraphs import (
    active,
    closure,
    forward_body,
    marked_loop,
    marks_of,
    reach,
    series_operands,
    series_results,
    starts_of,
    starts_taint,
    taylor_body,
    varying,
)
from mindgrad.core.ir.build import current
from mindgrad.core.ir.evaluate import evaluate
from mindgrad.core.ir.graph import Atom, Equation, Graph, Variable, silent
from mindgrad.core.ir.inner_programs import Inner
from mindgrad.core.ir.memo import memoized
from mindgrad.core.ir.primitive import InnerGraphs, Primitive
from mindgrad.core.ir.rules import Array, Atoms, BatchAxes, Module, Static, Statics, Tangent, Tangents
from mindgrad.core.ir.types import TensorType
from mindgrad.core.primitives.batching import moved
from mindgrad.core.primitives.kinds import is_zero, zeros
from mindgrad.core.transforms.zero_gradients import paths_of_scan

__all__ = ["scan"]

Indices = tuple[int, ...]
X = TypeVar("X")


def _divided(operands: Sequence[X], consts: int, carries: int) -> tuple[Sequence[X], ...]:
    """Split operands (or tangents) into constants, carry, and scanned operands."""
    end = consts + carries
    return operands[:consts], operands[consts:end], operands[end:]


def _types(
    *types: TensorType, body: Graph, length: int, consts: int, carries: int, reverse: bool = False
) -> tuple[TensorType, ...]:
    expected = tuple([v.type for v in body.inputs])
    fixed, carry, scanned = _divided(types, consts, carries)
    for operand in scanned:
        if operand.shape[:1] != (length,):
            raise ValueError(
                f"For 'scan', the scanned inputs must have {length} slices along axis 0, but got a tensor of "
                f"type {operand}."
            )
    slices = [operand.with_shape(operand.shape[1:]) for operand in scanned]
    if expected != (*fixed, *carry, *slices):
        raise TypeError(
            f"For 'scan', the body takes inputs of types {expected}, but the operands have types {types}. "
            f"The last {len(scanned)} operands are scanned."
        )
    after = tuple([y.type for y in body.outputs[:carries]])
    if after != tuple(carry):
        raise TypeError(
            f"For 'scan', the carry has types {carry}, but the body returns {after}. Both must have the "
            "same types."
        )
    return (*carry, *[y.type.with_shape((length, *y.type.shape)) for y in body.outputs[carries:]])


def _numpy(
    *operands: Array, body: Graph, length: int, consts: int, carries: int, reverse: bool = False
) -> tuple[Array, ...]:
    fixed, carry, scanned = _divided(operands, consts, carries)
    types = [y.type for y in body.outputs[carries:]]
    ys = [np.zeros((length, *each.shape), each.dtype.numpy) for each in types]
    for k in reversed(range(length)) if reverse else range(length):
        found = evaluate(body, [*fixed, *carry, *[x[k] for x in scanned]])
        carry = found[:carries]
        for y, made in zip(ys, found[carries:], strict=True):
            y[k] = made
    return (*carry, *ys)


def _xla(
    jax: Module, *operands: Array, body: Callable, length: int, consts: int, carries: int,
    reverse: bool = False,
) -> tuple[Array, ...]:  # fmt: skip
    fixed, carry, scanned = _divided(operands, consts, carries)

    def iteration(now: Sequence[Array], slices: Sequence[Array]) -> tuple[tuple, tuple]:
        found = body(*fixed, *now, *slices)
        return tuple(found[:carries]), tuple(found[carries:])

    carry, ys = jax.lax.scan(iteration, tuple(carry), tuple(scanned), length=length, reverse=reverse)
    return (*carry, *ys)


# -- forward mode --------------------------------------------------------------------------------


def _shuffled(graph: Graph, parts: Sequence[Sequence[Variable]], outputs: Atoms) -> Graph:
    """Return ``graph`` with its inputs in the order of ``parts``, and new ``outputs``."""
    return Graph([v for part in parts for v in part], graph.equations, outputs)


class _Fused(NamedTuple):
    """The loop body of forward mode, which computes values and tangents.

    Its inputs are ``(*consts, *their tangents, *carry, *its tangents, *slices, *their tangents)``. Its
    outputs have the same order.

    Attributes:
        moving: indices of the carry components that have a tangent in some iteration.
        wanted: indices of the outputs of the original body that have a tangent.
    """

    body: Graph
    moving: Indices
    wanted: Indices


def _active_inputs(active_inputs: Indices, consts: int, moving: Indices) -> Indices:
    """Return the positions of all body inputs that have a tangent.

    They are the constants and scanned operands ``active_inputs``, and the carry components ``moving``.
    """
    return tuple(sorted({*active_inputs, *[consts + k for k in moving]}))


def _groups(of_inputs: dict[int, X], consts: int, carries: int) -> tuple[list[X], list[X], list[X]]:
    end = consts + carries
    return (
        [v for k, v in of_inputs.items() if k < consts],
        [v for k, v in of_inputs.items() if consts <= k < end],
        [v for k, v in of_inputs.items() if k >= end],
    )


@memoized
def _fused(body: Graph, consts: int, carries: int, active_inputs: Indices, start: Indices) -> _Fused:
    moving = closure(body, consts, active_inputs, start, carries)
    places = _active_inputs(active_inputs, consts, moving)
    active_outputs = (*moving, *[k for k in reach(body, places) if k >= carries])
    pushed = forward_body(body, places, active_outputs)
    count, moved = len(body.inputs), len(moving)
    c, x, s = _divided(pushed.inputs[:count], consts, carries)
    ts = dict(zip(places, pushed.inputs[count:], strict=True))
    of_c, of_x, of_s = _groups(ts, consts, carries)
    ys, tangents = pushed.outputs[: len(body.outputs)], pushed.outputs[len(body.outputs) :]
    outputs = [*ys[:carries], *tangents[:moved], *ys[carries:], *tangents[moved:]]
    return _Fused(_shuffled(pushed, [c, of_c, x, of_x, s, of_s], outputs), moving, active_outputs)


def _jvp_with_values(operands: Atoms, ts: Tangents, **parameters: Static) -> tuple[Atoms, Tangents]:
    consts, carries = parameters["consts"], parameters["carries"]
    end = consts + carries
    start = tuple([k for k, t in enumerate(ts[consts:end]) if t is not None])
    active_inputs = tuple([k for k in active(ts) if not consts <= k < end])
    rule = _linear if any(t is not None and t.linear for t in ts) else _forward
    ys, active_outputs, tangents = rule(operands, ts, active_inputs, start, parameters)
    result: list[Tangent] = [None] * len(ys)
    for k, t in zip(active_outputs, tangents, strict=True):
        result[k] = t
    return ys, result


#: result of a forward rule: the results of the primitive, the indices of the results that have a tangent, and
#: these tangents
Pushed = tuple[Atoms, Indices, Atoms]


def _forward(
    operands: Atoms, ts: Tangents, active_inputs: Indices, start: Indices, parameters: Statics
) -> Pushed:
    body, consts, carries = parameters["body"], parameters["consts"], parameters["carries"]
    fused = _fused(body, consts, carries, active_inputs, start)
    if not fused.wanted:
        return scan(*operands, **parameters), (), ()
    c, x, s = _divided(operands, consts, carries)
    of_c, of_x, of_s = _divided(ts, consts, carries)
    moving = [zeros(x[k].type) if (t := of_x[k]) is None else t for k in fused.moving]
    inputs = (
        *c, *[t for t in of_c if t is not None], *x, *moving, *s, *[t for t in of_s if t is not None]
    )  # fmt: skip
    moved, count = len(moving), len(body.outputs)
    fixed = consts + sum(t is not None for t in of_c)
    parameters = parameters | {
        "body": marked_loop(fused.body, inputs, fixed, carries + moved),
        "consts": fixed,
        "carries": carries + moved,
    }
    results = scan(*inputs, **parameters)
    ys = (*results[:carries], *results[carries + moved : moved + count])
    return ys, fused.wanted, (*results[carries : carries + moved], *results[moved + count :])


# -- reverse mode --------------------------------------------------------------------------------


def _linear(
    operands: Atoms, ts: Tangents, active_inputs: Indices, start: Indices, parameters: Statics
) -> Pushed:
    """Emit two scans: one for values and residuals, and a linear one for tangents.

    Transposition of the linear scan then yields reverse mode.
    """
    body, length = parameters["body"], parameters["length"]
    consts, carries = parameters["consts"], parameters["carries"]
    moving = closure(body, consts, active_inputs, start, carries)
    places = _active_inputs(active_inputs, consts, moving)
    active_outputs = (*moving, *[k for k in reach(body, places) if k >= carries])
    if not active_outputs:
        return scan(*operands, **parameters), (), ()
    part = partial_eval_body(body, consts, carries, places, active_outputs, length)
    c, x, s = _divided(operands, consts, carries)
    count = len(body.outputs)
    ys = scan(*operands, **parameters | {"body": part.body if part.stacked_types else body})
    stacks = [*[ys[k] for k in part.reused], *ys[count:]]
    outside = current().inline(part.outside, c)
    of_c, of_x, of_s = _divided(ts, consts, carries)
    before = [*outside, *[t for t in of_c if t is not None]]
    tangents = scan(
        *before,
        *[zeros(x[k].type) if (t := of_x[k]) is None else t for k in moving],
        *[s[k] for k in part.streamed],
        *stacks,
        *[t for t in of_s if t is not None],
        body=part.linear,
        length=length,
        consts=len(before),
        carries=len(moving),
        reverse=parameters.get("reverse", False),
    )
    return ys[:count], active_outputs, tangents


def _transpose(
    cts: Atoms, *operands: Atom, body: Graph, length: int, consts: int, carries: int,
    reverse: bool = False,
) -> list[Tangent]:  # fmt: skip
    # This scan is linear, so its carry consists of tangents. Each component is active, even if it starts as a
    # constant zero
    end = consts + carries
    directions = tuple([k for k, x in enumerate(operands) if x.linear or consts <= k < end])
    start = tuple([k for k, ct in enumerate(cts[:carries]) if not is_zero(ct)])
    of_ys = tuple([k for k, ct in enumerate(cts) if k >= carries and not is_zero(ct)])
    marks = marks_of([cts[k] for k in (*start, *of_ys)])
    iteration = transposed_iteration(body, directions, length, consts, carries, start, of_ys, marks)
    residuals = [x for k, x in enumerate(operands[:consts]) if k not in directions]
    slices = [x for k, x in enumerate(operands) if k >= end and k not in directions]
    results = scan(
        *residuals,
        *[zeros(operands[k].type) for k in iteration.summed],
        *[cts[k] for k in iteration.parts],
        *slices,
        *[cts[k] for k in of_ys],
        body=iteration.body,
        length=length,
        consts=len(residuals),
        carries=len(iteration.summed) + len(iteration.parts),
        reverse=not reverse,
    )
    result: list[Tangent] = [None] * len(operands)
    places = (*iteration.summed, *[consts + k for k in iteration.parts], *iteration.sliced)
    for k, ct in zip(places, results, strict=False):
        result[k] = ct
    stacks = [*slices, *[cts[k] for k in of_ys], *results[len(iteration.summed) + len(iteration.parts) :]]
    later = current().inline(iteration.after, [*residuals, *[stacks[k] for k in iteration.leaves]])
    for k, ct in zip(iteration.deferred, later, strict=True):
        result[k] = ct
    return result


# -- Taylor series --------------------------------------------------------------------------------


@memoized
def _series_body(
    body: Graph, consts: int, carries: int, active_inputs: Indices, active_outputs: Indices, order: int
) -> Graph:
    """Return the loop body that computes values and their Taylor coefficients.

    Its inputs are the constants and their coefficients, the carry and its coefficients, and the slices and
    their coefficients. Its outputs have the same order.
    """
    series = taylor_body(body, active_inputs, active_outputs, order)
    count = len(body.inputs)
    of_inputs = {
        k: series.inputs[count + at * order : count + (at + 1) * order] for at, k in enumerate(active_inputs)
    }
    parts = []
    for values, group in zip(
        _divided(series.inputs[:count], consts, carries), _groups(of_inputs, consts, carries), strict=True
    ):
        parts += [values, [v for one_series in group for v in one_series]]
    ys, coefficients = series.outputs[: len(body.outputs)], series.outputs[len(body.outputs) :]
    moved = order * sum(k < carries for k in active_outputs)
    return _shuffled(
        series, parts, [*ys[:carries], *coefficients[:moved], *ys[carries:], *coefficients[moved:]]
    )


def _series(equation: Equation, coefficients: Sequence[Tangents], order: int) -> list[list[Tangent]]:
    parameters = equation.parameters
    body, consts, carries = parameters["body"], parameters["consts"], parameters["carries"]
    xs, is_same = starts_of(equation.inputs, coefficients)
    varies = varying(coefficients)
    end = consts + carries
    active_inputs = tuple([k for k in varies if not consts <= k < end])
    moving = closure(
        body, consts, active_inputs, tuple([k - consts for k in varies if consts <= k < end]), carries
    )
    places = _active_inputs(active_inputs, consts, moving)
    active_outputs = (*moving, *[k for k in reach(body, places) if k >= carries])
    operands: list[Atom] = []
    for first, last in ((0, consts), (consts, end), (end, len(xs))):
        operands += xs[first:last]
        operands += series_operands(xs, coefficients, [k for k in places if first <= k < last])
    fixed, moved = consts + order * sum(k < consts for k in active_inputs), order * len(moving)
    iteration = _series_body(body, consts, carries, places, active_outputs, order)
    used = parameters | {
        "body": marked_loop(iteration, operands, fixed, carries + moved),
        "consts": fixed,
        "carries": carries + moved,
    }
    count = len(equation.outputs)
    results = scan(*operands, **(used if is_same else silent(used)))
    ys = [*results[:carries], *results[carries + moved : count + moved]]
    of_results = [*results[carries : carries + moved], *results[count + moved :]]
    return series_results(ys, count, of_results, active_outputs, order)


# -- batching and simplification -------------------------------------------------------------------


def _batch(
    size: int, operands: Atoms, at: BatchAxes, body: Graph, length: int, consts: int,
    carries: int, reverse: bool = False,
) -> tuple[Atoms, list[int | None]]:  # fmt: skip
    end = consts + carries
    flags = tuple([axis is not None for axis in at])
    flags = batched_parts(body, flags, consts, carries, size)
    ys = batched_outputs(body, flags, size)[carries:]
    batched = (*flags[consts:end], *ys)
    scanned = [
        x if axis is None else moved(x, axis, 1) for x, axis in zip(operands[end:], at[end:], strict=True)
    ]
    results = scan(
        *fronted(size, operands[:end], at[:end], flags[:end]), *scanned,
        body=batched_graph(body, flags, batched, size), length=length, consts=consts, carries=carries,
        reverse=reverse,
    )  # fmt: skip
    places = [int(k >= carries) if want else None for k, want in enumerate(batched)]
    return results, places


def _simplify(
    *operands: Atom, body: Graph, length: int, consts: int, carries: int, reverse: bool = False
) -> tuple[Atom, ...] | None:
    simplified = marked_loop(body, operands, consts, carries)
    if simplified is body:
        return None
    return scan(*operands, body=simplified, length=length, consts=consts, carries=carries, reverse=reverse)


scan: Primitive[tuple[Atom, ...]] = Primitive(
    "scan",
    "control",
    type_rule=_types,
    numpy=_numpy,
    xla=_xla,
    jvp_with_values=_jvp_with_values,
    transpose=_transpose,
    batch=_batch,
    multiple=True,
    simplify=_simplify,
    series=_series,
    pattern=scanned,
    inner=InnerGraphs(
        replaceable=True,
        programs=lambda equation, iterations: [
            Inner(equation.parameters["body"], equation.inputs, equation.parameters["length"])
        ],
        paths=paths_of_scan,
    ),
    taint=lambda *_, body, **parameters: starts_taint(body),
)
