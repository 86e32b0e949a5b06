"""The ``while_pullback`` primitive: reverse mode of a ``while`` loop.

    P(c, x₀; x̄_n) = (c̄, x̄₀)    cotangents of c and x₀, given the cotangent x̄_n of the last carry x_n

The primitive recomputes the carry of each iteration from the carries that the loop has saved
(``control.checkpoints``). Its derivatives are again ``while`` loops and pullbacks of ``while`` loops. Their
rules do not differentiate the recomputation. They use that P is the gradient of the function
``L(c, x₀) = ⟨x̄_n, x_n(c, x₀)⟩``. Let ``F`` be the loop over values and tangents (``control.while_``), and
``P_F`` its pullback:

    forward mode:   Ṗ = results for (c, x₀) of  P_F(c, ċ, x₀, ẋ₀; x̄̇_n, x̄_n)
    transposition:  a cotangent (v_c, v_x) of Ṗ has the cotangents
                    of x̄̇_n:      J v, the tangent of x_n for the tangents v_c of c and v_x of x₀
                    of (ċ, ẋ₀):   results for (c, x₀) of  P_F(c, v_c, x₀, v_x; 0, x̄_n)

The last line holds because second derivatives are symmetric. Derivatives of any order, in any combination of
modes, are therefore loops and pullbacks with the iteration count of the original loop. Each of these loops
saves its own carries.

Operands are the operands of the loop, then its iteration count, its period, and its buffers of saved carries,
then the cotangents of the parts ``moving`` of the last carry. Results are the cotangents of the constants
``active_consts``, then the cotangents of the parts ``moving`` of the first carry.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from mindgrad.core.control import checkpoints
from mindgrad.core.control.subgraphs import (
    closure,
    marked_loop,
    series_operands,
    starts_of,
    starts_taint,
    varying,
)
from mindgrad.core.control.while_ import (
    Fused,
    batched_loop,
    carries_before,
    divided,
    fused_loop,
    series_loop,
    while_,
)
from mindgrad.core.control.while_reverse_step import Marks, linear_iteration, reverse_iteration
from mindgrad.core.ir.evaluate import evaluate
from mindgrad.core.ir.graph import INHERITED, Equation, Graph, without_effects
from mindgrad.core.ir.inner_programs import Inner
from mindgrad.core.ir.primitive import Primitive
from mindgrad.core.ir.types import TensorType
from mindgrad.core.primitives.batching import at_front
from mindgrad.core.primitives.kinds import is_zero, zeros

__all__ = ["while_pullback"]

Indices = tuple[int, ...]


# -- linear part of a loop (only while a derivative is built) ---------------------------------------


def _never(*_: Any, **__: Any) -> Any:
    raise RuntimeError("the linear part of a loop exists only while a derivative is built.")


def _tangent_types(*types: TensorType, consts: int, moving: Indices, **_: Any) -> Any:
    return tuple([types[consts + k] for k in moving])


def _tangent_transpose(
    cts: Sequence[Any], *operands: Any, condition: Graph, body: Graph, consts: int, slots: int,
    active_consts: Indices, start: Indices, moving: Indices,
) -> list[Any]:  # fmt: skip
    count = len(body.inputs) + 2 + len(body.outputs)
    parameters = _pullback_parameters(
        condition, without_effects(body), consts, slots, active_consts, moving, _marks(cts)
    )
    cotangents = while_pullback(*operands[:count], *cts, **parameters)
    of_carry = dict(zip(moving, cotangents[len(active_consts) :], strict=True))
    return [None] * count + [*cotangents[: len(active_consts)], *[of_carry[k] for k in start]]


#: linear map from the tangents of the constants ``active_consts`` and of the parts ``start`` of the first
#: carry to the tangents of the parts ``moving`` of the last carry. It exists only while reverse mode builds a
#: graph, because transposition replaces it by ``while_pullback``
while_tangent = Primitive(
    "while_tangent",
    "control",
    type_rule=_tangent_types,
    numpy=_never,
    xla=_never,
    jvp=_never,
    transpose=_tangent_transpose,
    multiple=True,
    taint="passes",
)


# -- reverse mode --------------------------------------------------------------------------------


def _pullback_types(
    *types: TensorType, consts: int, active_consts: Indices, moving: Indices, **_: Any
) -> Any:
    return tuple([types[k] for k in active_consts] + [types[consts + k] for k in moving])


def _pullback_numpy(
    *operands: Any, condition: Graph, body: Graph, consts: int, slots: int, active_consts: Indices,
    moving: Indices, marks: Marks, needed: Indices, rows: int, outside: Graph, expensive: Graph,
    coefficients: Graph, step: Graph, totals: Graph,
) -> Any:  # fmt: skip
    count = len(body.inputs)
    constants, carry = operands[:consts], operands[consts:count]
    cts = list(operands[count + 2 + len(carry) :])
    sums = [np.zeros_like(constants[k]) for k in active_consts]
    fixed = evaluate(outside, constants)
    before = carries_before(condition, body, constants, carry)[0]
    for first in reversed(range(0, len(before), rows)):
        carries = before[first : first + rows]
        # process a chunk of `rows` iterations together, as in the compiled kernel. If a chunk has fewer
        # iterations, pad it with copies of its first carry, whose cotangents are zero
        xs = [carries[0][k] if rows == 1 else _stack([x[k] for x in carries], rows) for k in needed]
        residuals = evaluate(coefficients, [*constants, *xs, *evaluate(expensive, [*constants, *xs])])
        if rows == 1:
            pulled = evaluate(step, [*fixed, *residuals, *cts])
            cts, more = pulled[: len(moving)], pulled[len(moving) :]
        else:
            after: list[Any] = []
            for k in reversed(range(len(carries))):
                after.insert(0, cts)
                cts = evaluate(step, [*fixed, *[x[k] for x in residuals], *cts])
            missing = rows - len(carries)
            behind = [
                np.stack([*each, *[np.zeros_like(each[0])] * missing]) for each in zip(*after, strict=True)
            ]
            more = evaluate(totals, [np.ones(rows, np.float32), *fixed, *residuals, *behind])
        sums = [total + ct for total, ct in zip(sums, more, strict=True)]
    return (*sums, *cts)


def _stack(xs: Sequence[Any], rows: int) -> Any:
    return np.stack([*xs, *[xs[0]] * (rows - len(xs))])


def _pullback_xla(
    jax: Any, *operands: Any, condition: Any, body: Any, consts: int, slots: int, active_consts: Indices,
    moving: Indices, marks: Marks, needed: Indices, rows: int, outside: Any, expensive: Any,
    coefficients: Any, step: Any, totals: Any,
) -> Any:  # fmt: skip
    constants, state = operands[:consts], operands[consts:]
    carries = (len(state) - 2 - len(moving)) // 2
    fixed = outside(*constants)
    # a vector of ones for `Totals.emit`. It is computed from the iteration count, so that XLA cannot replace
    # it by a constant
    weights = [(jax.lax.iota(np.int32, rows) < state[carries] + rows).astype(np.float32)] if rows > 1 else []
    iteration = checkpoints.Iteration(
        step=lambda x: tuple(body(*constants, *x)),
        expensive=lambda xs: tuple(expensive(*constants, *xs)),
        coefficients=lambda xs, found: tuple(coefficients(*constants, *xs, *found)),
        pull=lambda found, cts: tuple(step(*fixed, *found, *cts)),
        totals=lambda found, cts: tuple(totals(*weights, *fixed, *found, *cts)),
    )
    saved = checkpoints.Saved(state[carries], state[carries + 1], state[carries + 2 : 2 * carries + 2])
    sums = [jax.numpy.zeros_like(constants[k]) for k in active_consts]
    reverse = checkpoints.ReverseIterations(jax, iteration, saved, needed, slots, rows)
    return reverse.run(state[2 * carries + 2 :], sums)


def _pullback_parts(operands: Sequence[Any], body: Graph) -> tuple[Any, Any]:
    """Return the operands of the loop and the cotangents, without the saved carries.

    ``operands`` are the operands of ``while_pullback``, or their tangents.
    """
    count = len(body.inputs)
    return operands[:count], operands[count + 2 + len(body.outputs) :]


def _pullback_of(
    fused: Fused, operands: tuple[Any, ...], slots: int, of_values: dict[int, Any],
    of_tangents: dict[int, Any], active_consts: Indices, start: Indices,
) -> tuple[tuple[Any, ...], dict[str, Any]]:  # fmt: skip
    """Emit the loop ``F``; return the operands and parameters of its pullback ``P_F``.

    Args:
        fused: the loop ``F`` over values and tangents.
        operands: operands of ``F``.
        slots: number of carries that ``F`` saves.
        of_values: cotangents of the values in the last carry, by index in the carry of the original loop.
        of_tangents: cotangents of the tangents in the last carry, by index in the carry of the original loop.
        active_consts: positions of the constants of ``F`` whose cotangents are computed.
        start: indices of the parts of the carry of ``F`` whose cotangents are computed.
    """
    results = while_(*operands, **fused.parameters, slots=slots)
    consts = fused.parameters["consts"]
    carry = operands[consts:]
    moving = closure(fused.body, consts, active_consts, start)
    available = {
        **of_values,
        **dict(zip(fused.tangents_at(list(of_tangents)), of_tangents.values(), strict=True)),
    }
    cts = [available[k] if k in available else zeros(carry[k].type) for k in moving]
    parameters = _pullback_parameters(
        fused.condition, fused.body, consts, slots, active_consts, moving, _marks(cts)
    )
    return (*operands, *results[len(carry) :], *cts), parameters


def _marks(cts: Sequence[Any]) -> Marks:
    return tuple([None if is_zero(ct) else ct.tainted & INHERITED for ct in cts])


def _pullback_parameters(
    condition: Graph, body: Graph, consts: int, slots: int, active_consts: Indices, moving: Indices,
    marks: Marks,
) -> dict[str, Any]:  # fmt: skip
    iteration = linear_iteration(body, consts, active_consts, moving, slots, marks)
    return {
        "condition": without_effects(condition), "body": body, "consts": consts, "slots": slots,
        "active_consts": active_consts, "moving": moving, "marks": marks,
        "needed": iteration.needed, "rows": iteration.rows, "outside": iteration.outside,
        "expensive": iteration.expensive, "coefficients": iteration.coefficients, "step": iteration.step,
        "totals": iteration.totals,
    }  # fmt: skip


def _pullback_jvp_with_values(
    operands: Any, ts: Any, condition: Graph, body: Graph, consts: int, slots: int,
    active_consts: Indices, moving: Indices, **_: Any,
) -> Any:  # fmt: skip
    xs, cts = _pullback_parts(operands, body)
    x_tangents, ct_tangents = _pullback_parts(ts, body)
    turned, of_consts, of_carry = divided(x_tangents, consts)
    rates = {k: t for k, t in zip(moving, ct_tangents, strict=True) if t is not None}
    every = [*of_consts, *of_carry.values(), *rates.values()]
    parameters = _pullback_parameters(condition, body, consts, slots, active_consts, moving, _marks(cts))
    if any(t.linear for t in every):
        return while_pullback(*operands, **parameters), while_pullback_tangent(
            *xs, *cts, *every, turned=turned, start=tuple(of_carry), rated=tuple(rates), **parameters
        )
    fused = fused_loop(condition, body, consts, turned, tuple(of_carry))
    values = {k: rates[k] if k in rates else zeros(ct.type) for k, ct in zip(moving, cts, strict=True)}
    tangents = {k: ct for k, ct in zip(moving, cts, strict=True) if k in fused.active_carry}
    operands_of = fused.operands(xs, of_consts, of_carry)
    # the cotangents of ċ and ẋ₀ in P_F are the value of P. If P_F computes all of them, P is not emitted
    covers = set(active_consts) <= set(turned) and set(moving) <= set(fused.active_carry)
    wanted_consts, start = active_consts, moving
    if covers:
        wanted_consts += tuple([consts + turned.index(k) for k in active_consts])
        start += tuple(fused.tangents_at(moving))
    inputs, used = _pullback_of(fused, operands_of, slots, values, tangents, wanted_consts, start)
    at_consts, at_carry = len(used["active_consts"]), used["moving"]
    firsts = [*range(len(active_consts)), *[at_consts + at_carry.index(k) for k in moving]]
    results = while_pullback(*inputs, **used)
    of_cotangents = [results[k] for k in firsts]
    if not covers:
        return while_pullback(*operands, **parameters), of_cotangents
    seconds = [
        *range(len(active_consts), 2 * len(active_consts)),
        *[at_consts + at_carry.index(k) for k in fused.tangents_at(moving)],
    ]
    return [results[k] for k in seconds], of_cotangents


def _pullback_series(
    equation: Equation, coefficients: Sequence[Sequence[Any]], order: int
) -> list[list[Any]]:
    """Return the Taylor coefficients of the pullback.

    Let ``T: (x_0, …, x_K) ↦ (y_0, …, y_K)`` be the loop over Taylor coefficients. Its derivatives
    ``∂y_k/∂x_j = J_{k−j}`` are the Taylor coefficients of the Jacobian. Let ``ȳ_0, …, ȳ_K`` be the
    coefficients of the cotangent. Apply the pullback of ``T`` to them in reverse order: the cotangent of
    ``y_k`` is ``ȳ_{K−k}``. The resulting cotangent of ``x_j`` is ``Σ_m J_{K−m−j}ᵀ ȳ_m``, which is coefficient
    ``K − j`` of ``J(s)ᵀ ȳ(s)``.
    """
    parameters = equation.parameters
    condition, body, consts, slots = (parameters[k] for k in ("condition", "body", "consts", "slots"))
    active_consts, moving = parameters["active_consts"], parameters["moving"]
    firsts, _ = starts_of(equation.inputs, coefficients)
    xs, _ = _pullback_parts(firsts, body)
    of_xs, of_cts = _pullback_parts(coefficients, body)
    active_inputs = varying(of_xs)
    fixed = tuple(sorted({*active_consts, *[k for k in active_inputs if k < consts]}))
    loop = series_loop(
        condition, body, consts, fixed,
        tuple(sorted({*moving, *[k - consts for k in active_inputs if k >= consts]})), order,
    )  # fmt: skip
    operands = (
        *xs[:consts], *series_operands(xs, of_xs, fixed),
        *xs[consts:], *series_operands(xs, of_xs, [consts + k for k in loop.moving]),
    )  # fmt: skip
    carries, parts = len(body.outputs), len(loop.body.outputs)
    # positions of the coefficients 0 … K of each constant and of each part of the carry
    in_consts = {k: [k, *range(consts + at * order, consts + (at + 1) * order)] for at, k in enumerate(fixed)}
    in_carry = {
        k: [k, *range(carries + at * order, carries + (at + 1) * order)] for at, k in enumerate(loop.moving)
    }
    active_constants = tuple([at for k in active_consts for at in in_consts[k]])
    start = tuple(sorted([at for k in moving for at in in_carry[k]]))
    moved = closure(loop.body, loop.consts, active_constants, start)
    cotangents: dict[int, Any] = {}
    for k, each in zip(moving, of_cts, strict=True):
        cotangents.update(
            (at, ct) for at, ct in zip(in_carry[k], reversed(each), strict=True) if ct is not None
        )
    carried = while_(*operands, **loop.parameters, slots=slots)
    of_part = operands[loop.consts :]
    cts = [cotangents[at] if at in cotangents else zeros(of_part[at].type) for at in moved]
    used = _pullback_parameters(
        loop.condition, loop.body, loop.consts, slots, active_constants, moved, _marks(cts)
    )
    inputs = (*operands, *carried[parts:], *cts)
    results = while_pullback(*inputs, **used)
    return [
        *[[results[active_constants.index(at)] for at in reversed(in_consts[k])] for k in active_consts],
        *[[results[len(active_constants) + moved.index(at)] for at in reversed(in_carry[k])] for k in moving],
    ]


def _pullback_batch(
    size: int, operands: Sequence[Any], at: Sequence[int | None], *, condition: Graph, body: Graph,
    consts: int, slots: int, active_consts: Indices, moving: Indices, **_: Any,
) -> Any:  # fmt: skip
    """Emit the batched loop, which saves batched carries, and its pullback.

    Samples have different cotangents, so every operand whose cotangent is computed gets a batch axis.
    """
    xs, cts = _pullback_parts(operands, body)
    xs_at, cts_at = _pullback_parts(at, body)
    differs = {*active_consts, *[consts + k for k in moving]}
    flags = tuple([axis is not None or k in differs for k, axis in enumerate(xs_at)])
    loop = batched_loop(condition, body, consts, flags, size)
    inputs = loop.operands(size, xs, xs_at)
    results = while_(*inputs, **loop.parameters, slots=slots)
    more = int(loop.differs)
    parameters = _pullback_parameters(
        loop.condition, loop.body, consts, slots, active_consts, tuple([k + more for k in moving]),
        _marks(cts),
    )  # fmt: skip
    cts = [at_front(size, ct, axis) for ct, axis in zip(cts, cts_at, strict=True)]
    found = while_pullback(*inputs, *results[len(body.outputs) + more :], *cts, **parameters)
    return found, [0] * len(found)


def _pullback_simplify(
    *operands: Any, condition: Graph, body: Graph, consts: int, slots: int, active_consts: Indices,
    moving: Indices, marks: Marks, **_: Any,
) -> Any:  # fmt: skip
    xs, cts = _pullback_parts(operands, body)
    simplified = marked_loop(body, xs, consts, len(body.outputs))
    now = tuple([b if a is None else a | (b or 0) for a, b in zip(marks, _marks(cts), strict=True)])
    if simplified is body and now == marks:
        return None
    return while_pullback(
        *operands, **_pullback_parameters(condition, simplified, consts, slots, active_consts, moving, now)
    )


def _programs(equation: Equation, iterations: int) -> Iterator[Inner]:
    parameters = equation.parameters
    blocks = math.ceil(iterations / parameters["rows"])
    by_iteration, by_block = ("condition", "body", "expensive", "step"), ("coefficients", "totals")
    for names, times in ((by_iteration, iterations), (by_block, blocks)):
        for name in names:
            yield Inner(parameters[name], (), times, is_known=False)
    yield Inner(parameters["outside"], ())


def _iteration(equation: Equation) -> tuple[Graph, Sequence[Any]]:
    """Return the graph of one iteration of the reverse pass, and its operands."""
    parameters, (xs, cts) = equation.parameters, _pullback_parts(equation.inputs, equation.parameters["body"])
    names = ("body", "consts", "active_consts", "moving", "marks")
    return reverse_iteration(*[parameters[name] for name in names]), [*xs, *cts]


while_pullback = Primitive(
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
    programs=_programs,
    iteration=_iteration,
    taint=lambda *_, step, totals, **parameters: starts_taint(step, totals),
)


def _pullback_tangent_types(
    *types: TensorType, consts: int, active_consts: Indices, moving: Indices, **_: Any
) -> Any:
    return tuple([types[k] for k in active_consts] + [types[consts + k] for k in moving])


def _pullback_tangent_transpose(
    directions: Sequence[Any], *operands: Any, condition: Graph, body: Graph, consts: int, slots: int,
    active_consts: Indices, moving: Indices, turned: Indices, start: Indices, rated: Indices, **_: Any,
) -> list[Any]:  # fmt: skip
    count = len(body.inputs)
    xs, cts = operands[:count], operands[count : count + len(moving)]
    of_consts = list(directions[: len(active_consts)])
    of_carry = dict(zip(moving, directions[len(active_consts) :], strict=True))
    fused = fused_loop(condition, body, consts, active_consts, moving)
    operands_of = fused.operands(xs, of_consts, of_carry)
    loop = while_(*operands_of, **fused.parameters, slots=slots)
    moved = dict(zip(fused.active_carry, loop[fused.carries :], strict=False))
    result: list[Any] = [None] * (count + len(moving))
    if turned or start:
        tangents = {k: ct for k, ct in zip(moving, cts, strict=True) if k in fused.active_carry}
        inputs, parameters = _pullback_of(fused, operands_of, slots, {}, tangents, turned, start)
        found = while_pullback(*inputs, **parameters)
        of_part = dict(zip(parameters["moving"], found[len(turned) :], strict=True))
        result += [*found[: len(turned)], *[of_part[k] for k in start]]
    return result + [moved[k] for k in rated]


#: linear map to the tangents of the results of ``while_pullback``. Its arguments are the tangents of the
#: constants ``turned``, of the parts ``start`` of the first carry, and of the cotangents of the parts
#: ``rated`` of the last carry. Like ``while_tangent``, it exists only while reverse mode builds a graph
while_pullback_tangent = Primitive(
    "while_pullback_tangent",
    "control",
    type_rule=_pullback_tangent_types,
    numpy=_never,
    xla=_never,
    jvp=_never,
    transpose=_pullback_tangent_transpose,
    multiple=True,
    taint="passes",
)
