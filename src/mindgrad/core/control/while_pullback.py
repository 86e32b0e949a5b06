"""The ``while_pullback`` primitive: reverse mode of a ``while`` loop.

    P(c, x₀; x̄_n) = (c̄, x̄₀)    cotangents of c and x₀, given the cotangent x̄_n of the last carry x_n

The primitive recomputes the carry of each iteration from the carries that the loop has saved
(``control.checkpoints``). The derivatives of P are again ``while`` loops and pullbacks of ``while`` loops.
Its derivative rules do not differentiate the recomputation. They use the fact that P is the gradient of the
function ``L(c, x₀) = ⟨x̄_n, x_n(c, x₀)⟩``. Let ``F`` be the loop over values and tangents
(``control.while_``), and ``P_F`` its pullback:

    forward mode:   Ṗ = results for (c, x₀) of  P_F(c, ċ, x₀, ẋ₀; x̄̇_n, x̄_n)
    transposition:  a cotangent (v_c, v_x) of Ṗ has the cotangents
                    of x̄̇_n:      J v, the tangent of x_n for the tangents v_c of c and v_x of x₀
                    of (ċ, ẋ₀):   results for (c, x₀) of  P_F(c, v_c, x₀, v_x; 0, x̄_n)

The last line holds because second derivatives are symmetric. Derivatives of any order, in any combination of
modes, are therefore loops and pullbacks with the iteration count of the original loop. Each of these loops
saves its own carries.

Operands are the operands of the loop, then its iteration count, its period, and its buffers of saved carries,
then the cotangents of the components ``moving`` of the last carry. Results are the cotangents of the
constants ``active_consts``, then the cotangents of the components ``moving`` of the initial carry.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from typing import Generic, NamedTuple, NoReturn, TypeVar

import numpy as np

from mindgrad.core.control import checkpoints
from mindgrad.core.control.subgraphs import closure, marked_loop, starts_of, starts_taint, varying
from mindgrad.core.control.while_ import (
    Fused,
    Loop,
    batched_loop,
    carries_before,
    divided,
    fused_loop,
    run_loop,
    series_loop,
)
from mindgrad.core.control.while_reverse_step import Marks, linear_iteration, reverse_iteration
from mindgrad.core.ir.evaluate import evaluate
from mindgrad.core.ir.graph import INHERITED, Atom, Equation, Graph, without_effects
from mindgrad.core.ir.inner_programs import Inner
from mindgrad.core.ir.primitive import InnerGraphs, Primitive
from mindgrad.core.ir.rules import Array, Atoms, BatchAxes, Module, Static, Statics, Tangent, Tangents
from mindgrad.core.ir.types import TensorType
from mindgrad.core.primitives.batching import at_front
from mindgrad.core.primitives.kinds import is_zero, zeros

__all__ = ["Pullback", "reverse_of", "while_pullback"]

Indices = tuple[int, ...]
X = TypeVar("X")


# -- linear part of a loop (only while a derivative is built) ---------------------------------------


def _never(*_: object, **__: object) -> NoReturn:
    raise RuntimeError(
        "the linear part of a loop cannot be evaluated: it exists only while a derivative is built."
    )


def _tangent_transpose(
    cts: Atoms, *operands: Atom, condition: Graph, body: Graph, consts: int, slots: int,
    active_consts: Indices, start: Indices, moving: Indices,
) -> list[Tangent]:  # fmt: skip
    count = len(body.inputs) + 2 + len(body.outputs)
    loop = Loop(condition, without_effects(body), consts)
    found = _pull(loop, slots, active_consts, moving, operands[:count], cts)
    return [None] * count + [*found.consts.values(), *[found.carry[k] for k in start]]


#: Linear map to the tangents of the components ``moving`` of the last carry. Its arguments are the tangents
#: of the constants ``active_consts`` and of the components ``start`` of the initial carry. It exists only
#: while reverse mode builds a graph: transposition replaces it by ``while_pullback``
while_tangent: Primitive[tuple[Atom, ...]] = Primitive(
    "while_tangent",
    "control",
    type_rule=lambda *types, consts, moving, **_: tuple([types[consts + k] for k in moving]),
    numpy=_never,
    xla=_never,
    jvp=_never,
    transpose=_tangent_transpose,
    multiple=True,
    taint="passes",
)


# -- the two programs ------------------------------------------------------------------------------


class Operands(NamedTuple, Generic[X]):
    """The operands of a pullback, divided into groups; or one value for each operand."""

    constants: Sequence[X]
    carry: Sequence[X]
    saved: checkpoints.Saved
    cts: Sequence[X]

    @property
    def of_loop(self) -> tuple[X, ...]:
        """The operands of the loop."""
        return (*self.constants, *self.carry)


class Pullback(NamedTuple):
    """The parameters of a pullback: the loop, and the reverse pass of one iteration.

    Attributes:
        condition, body, consts: the fields of the loop (``while_.Loop``).
        slots: number of carries that the loop saves.
        active_consts: positions of the constants whose cotangents are computed.
        moving: indices of the carry components that have cotangents.
        marks: marks of the cotangents of the last carry.
        needed, rows, outside, expensive, coefficients, step, totals: the fields of the reverse pass
            (``while_reverse_step.LinearIteration``).
    """

    condition: Static
    body: Static
    consts: int
    slots: int
    active_consts: Indices
    moving: Indices
    marks: Marks
    needed: Indices
    rows: int
    outside: Static
    expensive: Static
    coefficients: Static
    step: Static
    totals: Static

    @property
    def loop(self) -> Loop:
        return Loop(self.condition, self.body, self.consts)

    def split(self, operands: Sequence[X]) -> Operands[X]:
        """Split operands, or one value for each operand, into their groups."""
        consts, cts = self.consts, len(operands) - len(self.moving)
        count = (cts + consts) // 2 - 1
        saved = checkpoints.Saved(operands[count], operands[count + 1], operands[count + 2 : cts])
        return Operands(operands[:consts], operands[consts:count], saved, operands[cts:])

    def iteration(self, constants: Sequence[Array], weights: Sequence[Array]) -> checkpoints.Iteration:
        """Return the functions of one iteration, for given constants of the loop.

        The graphs among the parameters must have been converted to Python functions.
        """
        fixed = self.outside(*constants)
        return checkpoints.Iteration(
            step=lambda x: tuple(self.body(*constants, *x)),
            expensive=lambda xs: tuple(self.expensive(*constants, *xs)),
            coefficients=lambda xs, found: tuple(self.coefficients(*constants, *xs, *found)),
            pull=lambda found, cts: tuple(self.step(*fixed, *found, *cts)),
            totals=lambda found, cts: tuple(self.totals(*weights, *fixed, *found, *cts)),
        )


def _pullback(loop: Loop, slots: int, active_consts: Indices, moving: Indices, marks: Marks) -> Statics:
    """Return the parameters of the ``while_pullback`` equation of ``loop``."""
    iteration = linear_iteration(loop.body, loop.consts, active_consts, moving, slots, marks)
    condition = without_effects(loop.condition)
    return Pullback(
        condition, loop.body, loop.consts, slots, active_consts, moving, marks, *iteration
    )._asdict()


def _marks(cts: Atoms) -> Marks:
    return tuple([None if is_zero(ct) else ct.tainted & INHERITED for ct in cts])


class Cotangents(NamedTuple):
    """Cotangents by the position of a constant, and by the index of a carry component."""

    consts: dict[int, Atom]
    carry: dict[int, Atom]


def _pull(
    loop: Loop, slots: int, active_consts: Indices, moving: Indices, operands: Atoms,
    cts: Atoms,
) -> Cotangents:  # fmt: skip
    """Emit the pullback of a loop, given its operands, its saved results, and ``cts``."""
    results = while_pullback(*operands, *cts, **_pullback(loop, slots, active_consts, moving, _marks(cts)))
    count = len(active_consts)
    return Cotangents(
        dict(zip(active_consts, results[:count], strict=True)),
        dict(zip(moving, results[count:], strict=True)),
    )


def _run_and_pull(
    loop: Loop, operands: Atoms, slots: int, active_consts: Indices, start: Indices,
    cotangents: dict[int, Atom],
) -> Cotangents:  # fmt: skip
    """Emit a loop that saves carries, and its pullback.

    Args:
        loop: the loop.
        operands: operands of the loop.
        slots: number of carries that the loop saves.
        active_consts: positions of the constants whose cotangents are computed.
        start: indices of the components of the initial carry whose cotangents are computed.
        cotangents: dict from the index of a component of the last carry to its cotangent; the cotangents of
            all other components are zero.
    """
    carry = operands[loop.consts :]
    results = run_loop(loop, operands, slots)
    moving = closure(loop.body, loop.consts, active_consts, start)
    cts = [cotangents[k] if k in cotangents else zeros(carry[k].type) for k in moving]
    return _pull(loop, slots, active_consts, moving, (*operands, *results[len(carry) :]), cts)


# -- reverse mode --------------------------------------------------------------------------------


def _pullback_types(
    *types: TensorType, consts: int, active_consts: Indices, moving: Indices, **_: object
) -> tuple[TensorType, ...]:
    return tuple([types[k] for k in active_consts] + [types[consts + k] for k in moving])


def _pullback_numpy(*operands: Array, **parameters: Static) -> tuple[Array, ...]:
    evaluated: Statics = {k: _evaluated(v) if isinstance(v, Graph) else v for k, v in parameters.items()}
    pullback = Pullback(**evaluated)
    constants, carry, _, cts = pullback.split(operands)
    rows, needed = pullback.rows, pullback.needed
    iteration = pullback.iteration(constants, [np.ones(rows, np.float32)] if rows > 1 else [])
    sums = [np.zeros_like(constants[k]) for k in pullback.active_consts]
    before = carries_before(parameters["condition"], parameters["body"], constants, carry)[0]
    for first in reversed(range(0, len(before), rows)):
        carries = before[first : first + rows]
        # Process `rows` iterations (a chunk) together, as the compiled kernel does. Pad a shorter chunk with
        # copies of its first carry, whose cotangents are zero
        xs = [carries[0][k] if rows == 1 else _stack([x[k] for x in carries], rows) for k in needed]
        residuals = iteration.coefficients(xs, iteration.expensive(xs))
        if rows == 1:
            pulled = iteration.pull(residuals, cts)
            cts, more = pulled[: len(cts)], pulled[len(cts) :]
        else:
            after: list[Sequence[Array]] = []
            for k in reversed(range(len(carries))):
                after.insert(0, cts)
                cts = iteration.pull([x[k] for x in residuals], cts)
            missing = rows - len(carries)
            behind = [
                np.stack([*each, *[np.zeros_like(each[0])] * missing]) for each in zip(*after, strict=True)
            ]
            more = iteration.totals(residuals, behind)
        sums = [total + ct for total, ct in zip(sums, more, strict=True)]
    return (*sums, *cts)


def _evaluated(graph: Graph) -> Callable:
    return lambda *xs: evaluate(graph, xs)


def _stack(xs: Sequence[Array], rows: int) -> Array:
    return np.stack([*xs, *[xs[0]] * (rows - len(xs))])


def _pullback_xla(jax: Module, *operands: Array, **parameters: Static) -> tuple[Array, ...]:
    pullback = Pullback(**parameters)
    constants, _, saved, cts = pullback.split(operands)
    rows, ones = pullback.rows, []
    if rows > 1:  # ones for `Totals.emit`; computed from an operand, because XLA must not see constants
        ones.append((jax.lax.iota(np.int32, rows) < saved.iterations + rows).astype(np.float32))
    iteration = pullback.iteration(constants, ones)
    sums = [jax.numpy.zeros_like(constants[k]) for k in pullback.active_consts]
    reverse = checkpoints.ReverseIterations(jax, iteration, saved, pullback.needed, pullback.slots, rows)
    return reverse.run(cts, sums)


def _pullback_jvp_with_values(operands: Atoms, ts: Tangents, **parameters: Static) -> tuple[Atoms, Tangents]:
    pullback = Pullback(**parameters)
    xs, of_xs = pullback.split(operands), pullback.split(ts)
    slots, active_consts, moving = pullback.slots, pullback.active_consts, pullback.moving
    turned, of_consts, of_carry = divided(of_xs.of_loop, pullback.consts)
    rates = {k: t for k, t in zip(moving, of_xs.cts, strict=True) if t is not None}
    every = [*of_consts, *of_carry.values(), *rates.values()]
    parameters = _pullback(pullback.loop, slots, active_consts, moving, _marks(xs.cts))
    if any(t.linear for t in every):
        return while_pullback(*operands, **parameters), while_pullback_tangent(
            *xs.of_loop, *xs.cts, *every, turned=turned, start=tuple(of_carry), rated=tuple(rates),
            **parameters,
        )  # fmt: skip
    fused = fused_loop(*pullback.loop, turned, tuple(of_carry))
    cotangents = {k: rates[k] if k in rates else zeros(ct.type) for k, ct in zip(moving, xs.cts, strict=True)}
    cotangents |= _of_tangents(fused, moving, xs.cts)
    # The cotangents of ċ and ẋ₀ in P_F equal the results of P. If P_F computes all of them, P itself is not
    # emitted
    covers = set(active_consts) <= set(turned) and set(moving) <= set(fused.active_carry)
    consts, parts = list(active_consts), list(moving)
    if covers:
        consts += map(fused.of_const, active_consts)
        parts += map(fused.of_part, moving)
    inputs = fused.operands(xs.of_loop, of_consts, of_carry)
    pulled = _run_and_pull(fused.loop, inputs, slots, tuple(consts), tuple(parts), cotangents)
    tangents = [*[pulled.consts[k] for k in active_consts], *[pulled.carry[k] for k in moving]]
    if not covers:
        return while_pullback(*operands, **parameters), tangents
    values = [
        *[pulled.consts[fused.of_const(k)] for k in active_consts],
        *[pulled.carry[fused.of_part(k)] for k in moving],
    ]
    return values, tangents


def _of_tangents(fused: Fused, moving: Indices, cts: Atoms) -> dict[int, Atom]:
    """Return ``cts`` as cotangents of the tangents of the carry components ``moving``."""
    return {fused.of_part(k): ct for k, ct in zip(moving, cts, strict=True) if k in fused.active_carry}


def _pullback_series(equation: Equation, coefficients: Sequence[Tangents], order: int) -> list[list[Atom]]:
    """Return the Taylor coefficients of the results of the pullback.

    Let ``T: (x_0, …, x_K) ↦ (y_0, …, y_K)`` be the loop over Taylor coefficients. Its derivatives
    ``∂y_k/∂x_j = J_{k−j}`` are the Taylor coefficients of the Jacobian. Let ``ȳ_0, …, ȳ_K`` be the
    coefficients of the cotangent. Apply the pullback of ``T`` to them in reverse order: the cotangent of
    ``y_k`` is ``ȳ_{K−k}``. The resulting cotangent of ``x_j`` is ``Σ_m J_{K−m−j}ᵀ ȳ_m``, which is coefficient
    ``K − j`` of ``J(s)ᵀ ȳ(s)``.
    """
    pullback = Pullback(**equation.parameters)
    consts, active_consts, moving = pullback.consts, pullback.active_consts, pullback.moving
    xs = pullback.split(starts_of(equation.inputs, coefficients)[0]).of_loop
    of_operands = pullback.split(coefficients)
    active_inputs = varying(of_operands.of_loop)
    fixed = tuple(sorted({*active_consts, *[k for k in active_inputs if k < consts]}))
    start = tuple(sorted({*moving, *[k - consts for k in active_inputs if k >= consts]}))
    series = series_loop(*pullback.loop, fixed, start, order)
    cotangents = {
        at: ct
        for k, each in zip(moving, of_operands.cts, strict=True)
        for at, ct in zip(series.of_part(k), reversed(each), strict=True)
        if ct is not None
    }
    pulled = _run_and_pull(
        series.loop,
        series.operands(xs, of_operands.of_loop),
        pullback.slots,
        tuple([at for k in active_consts for at in series.of_const(k)]),
        tuple(sorted([at for k in moving for at in series.of_part(k)])),
        cotangents,
    )
    return [
        *[[pulled.consts[at] for at in reversed(series.of_const(k))] for k in active_consts],
        *[[pulled.carry[at] for at in reversed(series.of_part(k))] for k in moving],
    ]


def _pullback_batch(
    size: int, operands: Atoms, at: BatchAxes, **parameters: Static
) -> tuple[Atoms, list[int | None]]:
    """Emit the batched loop, which saves batched carries, and its pullback.

    Samples have different cotangents, so every operand whose cotangent is computed gets a batch axis.
    """
    pullback = Pullback(**parameters)
    xs, axes = pullback.split(operands), pullback.split(at)
    active_consts, moving = pullback.active_consts, pullback.moving
    differs = {*active_consts, *[pullback.consts + k for k in moving]}
    flags = tuple([axis is not None or k in differs for k, axis in enumerate(axes.of_loop)])
    batched = batched_loop(*pullback.loop, flags, size)
    cts = [at_front(size, ct, axis) for ct, axis in zip(xs.cts, axes.cts, strict=True)]
    parts = tuple([k + batched.shift for k in moving])
    cotangents = _run_and_pull(
        batched.loop, batched.operands(size, xs.of_loop, axes.of_loop), pullback.slots, active_consts, parts,
        dict(zip(parts, cts, strict=True)),
    )  # fmt: skip
    results = [*cotangents.consts.values(), *[cotangents.carry[k] for k in parts]]
    return results, [0] * len(results)


def _pullback_simplify(*operands: Atom, **parameters: Static) -> tuple[Atom, ...] | None:
    pullback = Pullback(**parameters)
    loop, marks, xs = pullback.loop, pullback.marks, pullback.split(operands)
    body = marked_loop(loop.body, xs.of_loop, loop.consts, len(loop.body.outputs))
    now = tuple([b if a is None else a | (b or 0) for a, b in zip(marks, _marks(xs.cts), strict=True)])
    if body is loop.body and now == marks:
        return None
    loop = loop._replace(body=body)
    return while_pullback(
        *operands, **_pullback(loop, pullback.slots, pullback.active_consts, pullback.moving, now)
    )


def _programs(equation: Equation, iterations: int) -> Iterator[Inner]:
    pullback = Pullback(**equation.parameters)
    blocks = math.ceil(iterations / pullback.rows)
    for graph in (pullback.condition, pullback.body, pullback.expensive, pullback.step):
        yield Inner(graph, (), iterations, is_known=False)
    for graph in (pullback.coefficients, pullback.totals):
        yield Inner(graph, (), blocks, is_known=False)
    yield Inner(pullback.outside, ())


def _iteration(equation: Equation) -> tuple[Graph, Atoms]:
    """Return the graph of one iteration of the reverse pass, and operands for it."""
    pullback = Pullback(**equation.parameters)
    xs = pullback.split(equation.inputs)
    return reverse_of(pullback), [*xs.of_loop, *xs.cts]


def reverse_of(pullback: Pullback) -> Graph:
    """Return the graph of one iteration of a pullback."""
    _, body, consts = pullback.loop
    return reverse_iteration(body, consts, pullback.active_consts, pullback.moving, pullback.marks)


while_pullback: Primitive[tuple[Atom, ...]] = Primitive(
    "while_pullback",
    "control",
    type_rule=_pullback_types,
    numpy=_pullback_numpy,
    xla=_pullback_xla,
    jvp_with_values=_pullback_jvp_with_values,
    batch=_pullback_batch,
    simplify=_pullback_simplify,
    series=_pullback_series,
    multiple=True,
    inner=InnerGraphs(programs=_programs, iteration=_iteration),
    taint=lambda *_, step, totals, **parameters: starts_taint(step, totals),
)


def _pullback_tangent_transpose(
    directions: Atoms, *operands: Atom, turned: Indices, start: Indices, rated: Indices,
    **parameters: Static,
) -> list[Tangent]:  # fmt: skip
    pullback = Pullback(**parameters)
    slots = pullback.slots
    active_consts, moving = pullback.active_consts, pullback.moving
    count = len(pullback.body.inputs)
    xs, cts = operands[:count], operands[count : count + len(moving)]
    of_consts = list(directions[: len(active_consts)])
    of_carry = dict(zip(moving, directions[len(active_consts) :], strict=True))
    fused = fused_loop(*pullback.loop, active_consts, moving)
    inputs = fused.operands(xs, of_consts, of_carry)
    results = run_loop(fused.loop, inputs, slots)
    result: list[Tangent] = [None] * (count + len(moving))
    if turned or start:
        cotangents = _of_tangents(fused, moving, cts)
        found = _run_and_pull(fused.loop, inputs, slots, turned, start, cotangents)
        result += [*found.consts.values(), *[found.carry[k] for k in start]]
    return result + [results[fused.of_part(k)] for k in rated]


#: Linear map to the tangents of the results of ``while_pullback``. Its arguments are the tangents of the
#: constants ``turned``, of the components ``start`` of the initial carry, and of the cotangents of the
#: components ``rated`` of the last carry, respectively. It exists only while reverse mode builds a graph
while_pullback_tangent: Primitive[tuple[Atom, ...]] = Primitive(
    "while_pullback_tangent",
    "control",
    type_rule=_pullback_types,
    numpy=_never,
    xla=_never,
    jvp=_never,
    transpose=_pullback_tangent_transpose,
    multiple=True,
    taint="passes",
)
