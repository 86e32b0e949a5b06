"""Loops whose number of trips depends on the data, in reverse mode too.

    while(c, x₀) = x_n,    x_{i+1} = body(c, x_i),    n the first i at which condition(c, x_i) fails

Forward mode is the loop of values and tangents, ``F(c, ċ, x, ẋ) = (body, J_body (ċ, ẋ))``. Reverse mode
is a row of its own, ``while_pullback``: it walks the trips back from saved carries (``checkpoints``).
What makes both closed under every transform is that the pullback ``P_body(c, x₀; x̄_n)`` needs no rule
that looks inside: with ``L = ⟨x̄_n, x_n(c, x₀)⟩`` it is the gradient of ``L``, so

    Ṗ_body(c, x₀, x̄; ċ, ẋ₀, x̄̇)  =  P_F(c, ċ, x₀, ẋ₀; x̄̇, x̄)           (the parts of c and x₀)
    transposed, on directions v:   x̄̇-part  J_while v,    (ċ, ẋ₀)-part  P_F(c, v_c, x₀, v_x; 0, x̄)

The second line holds because second derivatives are symmetric. So derivatives of any order and mixture are
loops and pullbacks of loops of the same trips, and no order saves more than its own carries.

Cost: forward mode that of ``F``; reverse mode 1 loop to save, at most 1 + log₂(n / K²) / 2 loops to
replay and one of ``P``; memory K carries twice, K the number of slots. Limits: at most 2³¹ trips; the
condition has no derivative.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from mindgrad.control import checkpoints
from mindgrad.control.bodies import active, closure, forward_body
from mindgrad.core.build import Builder, building, current
from mindgrad.core.dtype import int32
from mindgrad.core.evaluate import evaluate
from mindgrad.core.graph import Equation, Graph, Variable, without_effects
from mindgrad.core.primitive import Primitive
from mindgrad.core.types import TensorType, tensor_type
from mindgrad.primitives.kinds import zeros
from mindgrad.transforms.reverse import pull_back

__all__ = ["while_", "while_pullback"]

Indices = tuple[int, ...]
_COUNT = tensor_type(int32, ())


# -- the loop ------------------------------------------------------------------------------------


def _types(*types: TensorType, condition: Graph, body: Graph, consts: int, slots: int = 0) -> Any:
    given = tuple([v.type for v in body.inputs])
    if given != types or given != tuple([v.type for v in condition.inputs]):
        raise TypeError(f"For 'while', the body takes {given}, but the operands have types {types}.")
    carry = types[consts:]
    after = tuple([y.type for y in body.outputs])
    if after != carry:
        raise TypeError(f"For 'while', the carry has types {carry}, but the body makes it {after}.")
    test = condition.outputs[0].type
    if test.dtype.kind != "bool" or test.shape:
        raise TypeError(f"For 'while', the condition must be a Bool tensor of no axes, but got {test}.")
    return (*carry, *_saved_types(carry, slots))


def _saved_types(carry: Sequence[TensorType], slots: int) -> tuple[TensorType, ...]:
    """Of the number of trips, of the period between saved carries, and of the saved carries."""
    if not slots:
        return ()
    return (_COUNT, _COUNT, *[each.with_shape((slots, *each.shape)) for each in carry])


def _run(
    condition: Graph, body: Graph, given: Sequence[Any], carry: Sequence[Any]
) -> tuple[list[list[Any]], list[Any]]:
    """All carries before a trip, and the last one."""
    before, now = [], list(carry)
    while evaluate(condition, [*given, *now])[0]:
        before.append(now)
        now = evaluate(body, [*given, *now])
    return before, now


def _numpy(*operands: Any, condition: Graph, body: Graph, consts: int, slots: int = 0) -> Any:
    given, carry = operands[:consts], operands[consts:]
    if not slots:
        now = list(carry)
        while evaluate(condition, [*given, *now])[0]:
            now = evaluate(body, [*given, *now])
        return tuple(now)
    before, now = _run(condition, body, given, carry)
    period = 1
    while len(before) > slots * period:
        period *= 2
    buffers = []
    for k, first in enumerate(carry):
        buffer = np.zeros((slots, *np.shape(first)), np.asarray(first).dtype)
        for slot, x in enumerate(before[::period]):
            buffer[slot] = x[k]
        buffers.append(buffer)
    return (*now, np.int32(len(before)), np.int32(period), *buffers)


def _xla(jax: Any, *operands: Any, condition: Any, body: Any, consts: int, slots: int = 0) -> Any:
    given, carry = operands[:consts], operands[consts:]
    if slots:
        return checkpoints.save(jax, condition, body, given, carry, slots)
    return jax.lax.while_loop(
        lambda now: condition(*given, *now)[0], lambda now: tuple(body(*given, *now)), carry
    )


# -- its forward mode ----------------------------------------------------------------------------


class _Fused:
    """The loop ``F`` of values and tangents.

    Its constants are ``(*consts, *tangents of active_consts)``, its carry ``(*carry, *tangents of
    active_carry)``.
    """

    __slots__ = ("active_carry", "active_consts", "body", "carries", "condition", "consts")

    def __init__(self, condition: Graph, body: Graph, consts: int, active_consts: Indices, start: Indices):
        body = without_effects(body)
        self.active_consts = active_consts
        self.active_carry = closure(body, consts, active_consts, start)
        self.consts = consts
        self.carries = len(body.outputs)
        moving = self.active_carry
        pushed = forward_body(body, (*active_consts, *[consts + k for k in moving]), moving)
        count = len(body.inputs)
        xs, ts = pushed.inputs[:count], pushed.inputs[count:]
        c, x = xs[:consts], xs[consts:]
        of_c, of_x = ts[: len(active_consts)], ts[len(active_consts) :]
        self.body = Graph((*c, *of_c, *x, *of_x), pushed.equations, pushed.outputs)
        c, x = condition.inputs[:consts], condition.inputs[consts:]
        fresh = [Variable(v.type) for v in of_c], [Variable(v.type) for v in of_x]
        self.condition = Graph((*c, *fresh[0], *x, *fresh[1]), condition.equations, condition.outputs)

    @property
    def parameters(self) -> dict[str, Any]:
        """What the row of the loop takes."""
        return {
            "condition": self.condition,
            "body": self.body,
            "consts": self.consts + len(self.active_consts),
        }

    def operands(self, xs: Sequence[Any], of_consts: Sequence[Any], of_carry: dict[int, Any]) -> tuple:
        """Constants and carry with their tangents; those of the carry that are not given are zero."""
        c, x = xs[: self.consts], xs[self.consts :]
        ts = [of_carry[k] if k in of_carry else zeros(x[k].type) for k in self.active_carry]
        return (*c, *of_consts, *x, *ts)

    def tangents_at(self, parts: Sequence[int]) -> list[int]:
        """Where in the carry the tangents of ``parts`` stand."""
        return [self.carries + self.active_carry.index(k) for k in parts]


@lru_cache(maxsize=512)
def _fused(condition: Graph, body: Graph, consts: int, active_consts: Indices, start: Indices) -> _Fused:
    return _Fused(condition, body, consts, active_consts, start)


def _divided(ts: Sequence[Any], consts: int) -> tuple[Indices, list[Any], dict[int, Any]]:
    """Which constants have a tangent, these tangents, and those of the carry by its parts."""
    active_consts = active(ts[:consts])
    of_carry = {k: t for k, t in enumerate(ts[consts:]) if t is not None}
    return active_consts, [ts[k] for k in active_consts], of_carry


def _jvp(
    y: Sequence[Any], xs: Any, ts: Any, condition: Graph, body: Graph, consts: int, slots: int = 0
) -> list[Any]:
    result: list[Any] = [None] * len(y)
    active_consts, of_consts, of_carry = _divided(ts, consts)
    start = tuple(of_carry)
    if any(t.linear for t in (*of_consts, *of_carry.values())):
        moving = closure(body, consts, active_consts, start)
        if not moving:
            return result
        saved = _saved(y[0].made_by)
        found = while_tangent(
            *xs, *saved, *of_consts, *of_carry.values(), condition=condition, body=body, consts=consts,
            slots=saved[2].shape[0], active_consts=active_consts, start=start, moving=moving,
        )  # fmt: skip
    else:
        fused = _fused(condition, body, consts, active_consts, start)
        moving = fused.active_carry
        if not moving:
            return result
        equation: Equation = y[0].made_by
        parameters = fused.parameters | ({"slots": slots} if slots else {})
        operands = fused.operands(xs, of_consts, of_carry)
        if equation.has_effect:
            made = while_(*operands, **parameters)
        else:
            count = fused.carries
            shift = len(moving)
            places = [*range(count), *[k + shift for k in range(count, len(y))]]
            made = current().supersede(equation, while_, operands, parameters, places)
        found = made[fused.carries : fused.carries + len(moving)]
    for k, t in zip(moving, found, strict=True):
        result[k] = t
    return result


def _saved(equation: Equation) -> tuple[Any, ...]:
    """Trips, period and buffers of the loop; it is made to save them if it does not yet."""
    parameters = equation.parameters
    carries = len(equation.inputs) - parameters["consts"]
    if parameters.get("slots"):
        return equation.outputs[carries:]
    carry = [x.type for x in equation.inputs[parameters["consts"] :]]
    slots = checkpoints.slots_for(carry)
    return current().extend(equation, parameters | {"slots": slots}, _saved_types(carry, slots))


while_ = Primitive(
    "while",
    "control",
    type_rule=_types,
    numpy=_numpy,
    xla=_xla,
    jvp=_jvp,
    multiple=True,
    taint="passes",
)


# -- its linear part, which exists while a derivative is built -------------------------------------


def _never(*_: Any, **__: Any) -> Any:
    raise RuntimeError("the linear part of a loop exists only while a derivative is built.")


def _tangent_types(*types: TensorType, consts: int, moving: Indices, **_: Any) -> Any:
    return tuple([types[consts + k] for k in moving])


def _tangent_transpose(
    cts: Sequence[Any], *operands: Any, condition: Graph, body: Graph, consts: int, slots: int,
    active_consts: Indices, start: Indices, moving: Indices,
) -> list[Any]:  # fmt: skip
    known = len(body.inputs) + 2 + len(body.outputs)
    parameters = _pullback_parameters(condition, without_effects(body), consts, slots, active_consts, moving)
    found = while_pullback(*operands[:known], *cts, **parameters)
    of_carry = dict(zip(moving, found[len(active_consts) :], strict=True))
    return [None] * known + [*found[: len(active_consts)], *[of_carry[k] for k in start]]


#: the linear map from tangents of the constants ``active_consts`` and of the first carry's parts
#: ``start`` to those of the last carry's parts ``moving``
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


@lru_cache(maxsize=512)
def _trip_pullback(body: Graph, consts: int, active_consts: Indices, moving: Indices) -> Graph:
    """``(*consts, *carry, *cotangents of moving) ↦ cotangents of (*active_consts, *moving)``, one trip."""
    builder = Builder()
    with building(builder):
        inputs = [builder.input(v.type) for v in body.inputs]
        cotangents = [builder.input(body.outputs[k].type) for k in moving]
        outputs = builder.inline(body, inputs)
        given = [inputs[k] for k in active_consts] + [inputs[consts + k] for k in moving]
        return builder.close(pull_back(builder, given, [outputs[k] for k in moving], cotangents))


def _pullback_types(
    *types: TensorType, consts: int, active_consts: Indices, moving: Indices, **_: Any
) -> Any:
    return tuple([types[k] for k in active_consts] + [types[consts + k] for k in moving])


def _pullback_numpy(
    *operands: Any, condition: Graph, body: Graph, consts: int, slots: int, active_consts: Indices,
    moving: Indices, trip: Graph,
) -> Any:  # fmt: skip
    count = len(body.inputs)
    given, carry = operands[:consts], operands[consts:count]
    cts = list(operands[count + 2 + len(carry) :])
    sums = [np.zeros_like(given[k]) for k in active_consts]
    for before in reversed(_run(condition, body, given, carry)[0]):
        found = evaluate(trip, [*given, *before, *cts])
        sums = [total + ct for total, ct in zip(sums, found, strict=False)]
        cts = found[len(active_consts) :]
    return (*sums, *cts)


def _pullback_xla(
    jax: Any, *operands: Any, condition: Any, body: Any, consts: int, slots: int, active_consts: Indices,
    moving: Indices, trip: Any,
) -> Any:  # fmt: skip
    given, rest = operands[:consts], operands[consts:]
    carries = len(operands) - consts - 2 - len(moving)
    carries //= 2
    return checkpoints.walk_back(
        jax,
        lambda x: tuple(body(*given, *x)),
        lambda x, cts: tuple(trip(*given, *x, *cts)),
        trips=rest[carries],
        period=rest[carries + 1],
        buffers=rest[carries + 2 : 2 * carries + 2],
        cotangents=rest[2 * carries + 2 :],
        sums=[jax.numpy.zeros_like(given[k]) for k in active_consts],
        slots=slots,
    )


def _pullback_parts(operands: Sequence[Any], body: Graph) -> tuple[Any, Any]:
    """Of operands, or of their tangents: those of the loop, and the cotangents."""
    count = len(body.inputs)
    return operands[:count], operands[count + 2 + len(body.outputs) :]


def _pullback_of(
    fused: _Fused, operands: tuple[Any, ...], slots: int, of_values: dict[int, Any],
    of_tangents: dict[int, Any], active_consts: Indices, start: Indices,
) -> tuple[tuple[Any, ...], dict[str, Any]]:  # fmt: skip
    """Operands and parameters of ``P_F`` with these cotangents of the values and of the tangents.

    ``active_consts`` and ``start`` are the constants and the parts of the carry of ``F`` whose
    cotangents are wanted.
    """
    made = while_(*operands, **fused.parameters, slots=slots)
    consts = fused.parameters["consts"]
    carry = operands[consts:]
    moving = closure(fused.body, consts, active_consts, start)
    given = {
        **of_values,
        **dict(zip(fused.tangents_at(list(of_tangents)), of_tangents.values(), strict=True)),
    }
    cts = [given[k] if k in given else zeros(carry[k].type) for k in moving]
    parameters = _pullback_parameters(fused.condition, fused.body, consts, slots, active_consts, moving)
    return (*operands, *made[len(carry) :], *cts), parameters


def _pullback_parameters(
    condition: Graph, body: Graph, consts: int, slots: int, active_consts: Indices, moving: Indices
) -> dict[str, Any]:
    return {
        "condition": condition, "body": body, "consts": consts, "slots": slots,
        "active_consts": active_consts, "moving": moving,
        "trip": _trip_pullback(body, consts, active_consts, moving),
    }  # fmt: skip


def _pullback_jvp(
    y: Sequence[Any], operands: Any, ts: Any, condition: Graph, body: Graph, consts: int, slots: int,
    active_consts: Indices, moving: Indices, trip: Graph,
) -> Any:  # fmt: skip
    xs, cts = _pullback_parts(operands, body)
    x_tangents, ct_tangents = _pullback_parts(ts, body)
    turned, of_consts, of_carry = _divided(x_tangents, consts)
    rates = {k: t for k, t in zip(moving, ct_tangents, strict=True) if t is not None}
    every = [*of_consts, *of_carry.values(), *rates.values()]
    if not every:
        return [None] * len(y)
    parameters = _pullback_parameters(condition, body, consts, slots, active_consts, moving)
    if any(t.linear for t in every):
        return while_pullback_tangent(
            *xs, *cts, *every, turned=turned, start=tuple(of_carry), rated=tuple(rates), **parameters
        )
    fused = _fused(condition, body, consts, turned, tuple(of_carry))
    values = {k: rates[k] if k in rates else zeros(ct.type) for k, ct in zip(moving, cts, strict=True)}
    tangents = {k: ct for k, ct in zip(moving, cts, strict=True) if k in fused.active_carry}
    operands_of = fused.operands(xs, of_consts, of_carry)
    # with the cotangents of all tangents, P_F gives the value of P as well
    covers = set(active_consts) <= set(turned) and set(moving) <= set(fused.active_carry)
    wanted_consts, start = active_consts, moving
    if covers:
        wanted_consts += tuple([consts + turned.index(k) for k in active_consts])
        start += tuple(fused.tangents_at(moving))
    inputs, given = _pullback_of(fused, operands_of, slots, values, tangents, wanted_consts, start)
    at_consts, at_carry = len(given["active_consts"]), given["moving"]
    firsts = [*range(len(active_consts)), *[at_consts + at_carry.index(k) for k in moving]]
    if covers:
        seconds = [
            *range(len(active_consts), 2 * len(active_consts)),
            *[at_consts + at_carry.index(k) for k in fused.tangents_at(moving)],
        ]
        found = current().supersede(y[0].made_by, while_pullback, inputs, given, seconds)
    else:
        found = while_pullback(*inputs, **given)
    return [found[k] for k in firsts]


while_pullback = Primitive(
    "while_pullback",
    "control",
    type_rule=_pullback_types,
    numpy=_pullback_numpy,
    xla=_pullback_xla,
    jvp=_pullback_jvp,
    multiple=True,
    taint="passes",
)


def _pullback_tangent_types(
    *types: TensorType, consts: int, active_consts: Indices, moving: Indices, **_: Any
) -> Any:
    return tuple([types[k] for k in active_consts] + [types[consts + k] for k in moving])


def _pullback_tangent_transpose(
    directions: Sequence[Any], *operands: Any, condition: Graph, body: Graph, consts: int, slots: int,
    active_consts: Indices, moving: Indices, turned: Indices, start: Indices, rated: Indices, trip: Graph,
) -> list[Any]:  # fmt: skip
    count = len(body.inputs)
    xs, cts = operands[:count], operands[count : count + len(moving)]
    of_consts = list(directions[: len(active_consts)])
    of_carry = dict(zip(moving, directions[len(active_consts) :], strict=True))
    fused = _fused(condition, body, consts, active_consts, moving)
    operands_of = fused.operands(xs, of_consts, of_carry)
    loop = while_(*operands_of, **fused.parameters, slots=slots)
    moved = dict(zip(fused.active_carry, loop[fused.carries :], strict=False))
    result: list[Any] = [None] * (count + len(moving))
    if turned or start:
        tangents = {k: ct for k, ct in zip(moving, cts, strict=True) if k in fused.active_carry}
        inputs, given = _pullback_of(fused, operands_of, slots, {}, tangents, turned, start)
        found = while_pullback(*inputs, **given)
        of_part = dict(zip(given["moving"], found[len(turned) :], strict=True))
        result += [*found[: len(turned)], *[of_part[k] for k in start]]
    return result + [moved[k] for k in rated]


#: the linear map from tangents of the constants ``turned``, of the first carry's parts ``start`` and of
#: the cotangents of ``rated`` to the tangents of what ``while_pullback`` gives
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
