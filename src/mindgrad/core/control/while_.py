"""The ``while`` primitive: a loop that runs while a condition on its carry holds.

    while(c, x₀) = x_n,    x_{i+1} = body(c, x_i),    n the first i at which condition(c, x_i) fails

The carry x is a tuple of tensors, its *parts*. The constants c are equal in all iterations. Operands are
``(*consts, *carry)``. The parameters are:

- ``condition``: graph from all operands to a scalar Bool.
- ``body``: graph from all operands to the next carry.
- ``consts``: number of operands that are constants.
- ``slots``: number of carries that the loop can save for reverse mode; 0 for none. If it is positive, the
  loop has further results: the number of iterations, the period (number of iterations between two saved
  carries), and one buffer of saved values for each part of the carry.

Forward mode runs one loop over values and tangents, ``F(c, ċ, x, ẋ) = (body, J_body (ċ, ẋ))``. Reverse mode
uses a separate primitive, ``while_pullback``. Let K be the number of slots (``control.checkpoints``). Reverse
mode runs the loop once and saves some carries. It then recomputes each iteration at most
1 + log₂(n / K²) / 2 times on average, and transposes its linearization. It needs memory for about 2 K
carries, and for the residuals of at most K iterations.

In the code, ``moving`` are the indices of the parts of the carry that have a tangent in some iteration.
``active_consts`` are the constants that have a tangent. ``start`` are the parts of the first carry that have
a tangent.

Limits: a loop has at most 2³¹ iterations. The condition has no derivative.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from mindgrad.core.control import checkpoints
from mindgrad.core.control.batches import (
    Flags,
    any_of,
    batched_graph,
    batched_outputs,
    batched_parts,
    chosen,
    fronted,
    only_for,
    refuse_effects,
)
from mindgrad.core.control.loop_patterns import looped
from mindgrad.core.control.subgraphs import (
    active,
    closure,
    forward_body,
    is_in_loop,
    marked_loop,
    series_operands,
    series_results,
    starts_of,
    starts_taint,
    taylor_body,
    varying,
)
from mindgrad.core.ir.build import Builder, building, current
from mindgrad.core.ir.dtype import int32
from mindgrad.core.ir.evaluate import evaluate
from mindgrad.core.ir.graph import Equation, Graph, Variable, silent
from mindgrad.core.ir.inner_programs import Inner
from mindgrad.core.ir.memo import memoized
from mindgrad.core.ir.primitive import REGISTRY, Primitive
from mindgrad.core.ir.types import TensorType, tensor_type
from mindgrad.core.primitives.kinds import zeros
from mindgrad.core.transforms.zero_gradients import paths_of_while

__all__ = ["Fused", "batched_loop", "carries_before", "divided", "fused_loop", "series_loop", "while_"]

Indices = tuple[int, ...]
_COUNT = tensor_type(int32, ())


# -- the loop ------------------------------------------------------------------------------------


def _types(*types: TensorType, condition: Graph, body: Graph, consts: int, slots: int = 0) -> Any:
    expected = tuple([v.type for v in body.inputs])
    if expected != types or expected != tuple([v.type for v in condition.inputs]):
        raise TypeError(f"For 'while', the body takes {expected}, but the operands have types {types}.")
    carry = types[consts:]
    after = tuple([y.type for y in body.outputs])
    if after != carry:
        raise TypeError(f"For 'while', the carry has types {carry}, but the body returns {after}.")
    test = condition.outputs[0].type
    if test.dtype.kind != "bool" or test.shape:
        raise TypeError(f"For 'while', the condition must be a scalar (0-D) Bool tensor, but got {test}.")
    return (*carry, *_saved_types(carry, slots))


def _saved_types(carry: Sequence[TensorType], slots: int) -> tuple[TensorType, ...]:
    """Return the types of a loop's iteration count, period, and buffers."""
    if not slots:
        return ()
    return (_COUNT, _COUNT, *[each.with_shape((slots, *each.shape)) for each in carry])


def carries_before(
    condition: Graph, body: Graph, constants: Sequence[Any], carry: Sequence[Any]
) -> tuple[list[list[Any]], list[Any]]:
    """Run the loop with NumPy, and return all carries.

    Returns:
        The carries before each iteration, and the carry after the last iteration.
    """
    before, now = [], list(carry)
    while evaluate(condition, [*constants, *now])[0]:
        before.append(now)
        now = evaluate(body, [*constants, *now])
    return before, now


def _numpy(*operands: Any, condition: Graph, body: Graph, consts: int, slots: int = 0) -> Any:
    constants, carry = operands[:consts], operands[consts:]
    if not slots:
        now = list(carry)
        while evaluate(condition, [*constants, *now])[0]:
            now = evaluate(body, [*constants, *now])
        return tuple(now)
    before, now = carries_before(condition, body, constants, carry)
    period = slots
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
    constants, carry = operands[:consts], operands[consts:]

    def continues(now: Any) -> Any:
        return condition(*constants, *now)[0]

    def step(now: Any) -> Any:
        return tuple(body(*constants, *now))

    if slots:
        return checkpoints.save(jax, continues, step, carry, slots)
    return jax.lax.while_loop(continues, step, carry)


# -- forward mode --------------------------------------------------------------------------------


class Fused:
    """The loop of forward mode, whose body computes values and tangents.

    Its constants are ``(*consts, *tangents of active_consts)``. Its carry is ``(*carry, *tangents of
    active_carry)``, where ``active_carry`` are the parts of the carry that have a tangent in some iteration.
    """

    __slots__ = ("active_carry", "active_consts", "body", "carries", "condition", "consts")

    def __init__(self, condition: Graph, body: Graph, consts: int, active_consts: Indices, start: Indices):
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
        """The parameters of the ``while`` equation."""
        return {
            "condition": self.condition,
            "body": self.body,
            "consts": self.consts + len(self.active_consts),
        }

    def operands(self, xs: Sequence[Any], of_consts: Sequence[Any], of_carry: dict[int, Any]) -> tuple:
        """Return the operands of this loop.

        Args:
            xs: operands of the original loop.
            of_consts: tangents of ``active_consts``.
            of_carry: tangents of the first carry, by index of the part. Missing tangents are zero.
        """
        c, x = xs[: self.consts], xs[self.consts :]
        ts = [of_carry[k] if k in of_carry else zeros(x[k].type) for k in self.active_carry]
        return (*c, *of_consts, *x, *ts)

    def tangents_at(self, parts: Sequence[int]) -> list[int]:
        """Return the positions of the tangents of ``parts`` in the carry of this loop."""
        return [self.carries + self.active_carry.index(k) for k in parts]


@memoized
def fused_loop(condition: Graph, body: Graph, consts: int, active_consts: Indices, start: Indices) -> Fused:
    return Fused(condition, body, consts, active_consts, start)


def divided(ts: Sequence[Any], consts: int) -> tuple[Indices, list[Any], dict[int, Any]]:
    """Split the tangents of operands into tangents of constants and of the carry.

    Returns:
        The positions of the constants that have a tangent, their tangents, and a dict from the index of a
        part of the carry to its tangent.
    """
    active_consts = active(ts[:consts])
    of_carry = {k: t for k, t in enumerate(ts[consts:]) if t is not None}
    return active_consts, [ts[k] for k in active_consts], of_carry


def _jvp_with_values(
    xs: Any, ts: Any, condition: Graph, body: Graph, consts: int, slots: int = 0
) -> tuple[Any, Any]:
    parameters: dict[str, Any] = {"condition": condition, "body": body, "consts": consts}
    if slots:
        parameters["slots"] = slots
    active_consts, of_consts, of_carry = divided(ts, consts)
    start, carries = tuple(of_carry), len(body.outputs)
    if any(t.linear for t in (*of_consts, *of_carry.values())):
        moving = closure(body, consts, active_consts, start)
        if moving and not slots:
            parameters["slots"] = checkpoints.slots_for([x.type for x in xs[consts:]], is_in_loop())
        results = while_(*xs, **parameters)
        tangents: Sequence[Any] = ()
        if moving:
            saved = results[carries:]
            tangents = REGISTRY["while_tangent"](
                *xs, *saved, *of_consts, *of_carry.values(), condition=condition, body=body, consts=consts,
                slots=saved[2].shape[0], active_consts=active_consts, start=start, moving=moving,
            )  # fmt: skip
        ys = results if slots else results[:carries]
    else:
        fused = fused_loop(condition, body, consts, active_consts, start)
        moving = fused.active_carry
        if moving:
            operands = fused.operands(xs, of_consts, of_carry)
            parameters |= fused.parameters
            parameters["body"] = marked_loop(
                fused.body, operands, parameters["consts"], len(fused.body.outputs)
            )
            results = while_(*operands, **parameters)
            tangents = results[carries : carries + len(moving)]
            # the last results are the buffers of saved values, then the buffers of saved tangents; return
            # only the buffers that the original loop has
            saved = len(_saved_types([y.type for y in body.outputs], slots))
            ys = (*results[:carries], *results[carries + len(moving) :][:saved])
        else:
            ys, tangents = while_(*xs, **parameters), ()
    of_ys: list[Any] = [None] * len(ys)
    for k, t in zip(moving, tangents, strict=True):
        of_ys[k] = t
    return ys, of_ys


# -- Taylor series --------------------------------------------------------------------------------


class SeriesLoop:
    """The loop whose body computes the Taylor coefficients of the carry.

    Its constants are ``(*consts, *coefficients of active_consts)``. Its carry is ``(*carry, *coefficients of
    moving)``. The coefficients of one value are adjacent, from order 1 to ``order``.
    """

    __slots__ = ("body", "condition", "consts", "moving")

    def __init__(
        self, condition: Graph, body: Graph, consts: int, active_consts: Indices, start: Indices, order: int
    ) -> None:
        self.moving = closure(body, consts, active_consts, start)
        self.consts = consts + order * len(active_consts)
        series = taylor_body(body, (*active_consts, *[consts + k for k in self.moving]), self.moving, order)
        count, more = len(body.inputs), order * len(active_consts)
        xs, cs = series.inputs[:count], series.inputs[count:]
        self.body = Graph(
            [*xs[:consts], *cs[:more], *xs[consts:], *cs[more:]], series.equations, series.outputs
        )
        xs = condition.inputs
        fresh = [Variable(v.type) for v in cs]
        self.condition = Graph(
            [*xs[:consts], *fresh[:more], *xs[consts:], *fresh[more:]], condition.equations, condition.outputs
        )

    @property
    def parameters(self) -> dict[str, Any]:
        """The parameters of the ``while`` equation."""
        return {"condition": self.condition, "body": self.body, "consts": self.consts}


@memoized
def series_loop(
    condition: Graph, body: Graph, consts: int, active_consts: Indices, start: Indices, order: int
) -> SeriesLoop:
    return SeriesLoop(condition, body, consts, active_consts, start, order)


def _series(equation: Equation, coefficients: Sequence[Sequence[Any]], order: int) -> list[list[Any]]:
    parameters = equation.parameters
    body, consts = parameters["body"], parameters["consts"]
    xs, is_same = starts_of(equation.inputs, coefficients)
    active_inputs = varying(coefficients)
    active_consts = tuple([k for k in active_inputs if k < consts])
    start = tuple([k - consts for k in active_inputs if k >= consts])
    loop = series_loop(parameters["condition"], body, consts, active_consts, start, order)
    operands = (
        *xs[:consts], *series_operands(xs, coefficients, active_consts),
        *xs[consts:], *series_operands(xs, coefficients, [consts + k for k in loop.moving]),
    )  # fmt: skip
    carries, shift = len(body.outputs), order * len(loop.moving)
    used = loop.parameters | {k: v for k, v in parameters.items() if k == "slots"}
    used["body"] = marked_loop(loop.body, operands, loop.consts, len(loop.body.outputs))
    results = while_(*operands, **(used if is_same else silent(used)))
    # the buffers of saved carries get no Taylor coefficients: only `while_pullback` reads them, and its
    # Taylor rule runs the loop again
    ys = [*results[:carries], *results[carries + shift :][: len(equation.outputs) - carries]]
    return series_results(ys, len(equation.outputs), results[carries : carries + shift], loop.moving, order)


# -- batching -------------------------------------------------------------------------------------


class Batched:
    """The loop for a batch of samples.

    If the condition depends on a batched operand, samples can have different iteration counts. The first part
    of the carry is then a mask. It is true for each sample whose loop has not ended.

    Attributes:
        flags: for each operand of the loop, whether the operand has a leading batch axis.
        differs: whether samples can have different iteration counts.
        condition, body, consts: parameters of the batched ``while`` equation.
    """

    __slots__ = ("_test", "body", "condition", "consts", "differs", "flags")

    def __init__(self, condition: Graph, body: Graph, consts: int, flags: Flags, size: int) -> None:
        carries = len(body.outputs)
        flags = batched_parts(body, flags, consts, carries, size)
        self.differs = batched_outputs(condition, flags, size)[0]
        self.consts = consts
        if not self.differs:
            self.flags = flags
            self.condition = batched_graph(condition, flags, (False,), size)
            self.body = batched_graph(body, flags, flags[consts:], size)
            return
        refuse_effects("a loop", condition, body)
        self.flags = flags = (*flags[:consts], *[True] * carries)
        self._test = batched_graph(condition, flags, (True,), size)
        iteration = batched_graph(body, flags, flags[consts:], size)
        builder = Builder()
        with building(builder):
            constants, carry = (
                builder.inputs_like(part) for part in (iteration.inputs[:consts], iteration.inputs[consts:])
            )
            going = Variable(self._test.outputs[0].type)
            builder.inputs.insert(consts, going)
            after = builder.inline(iteration, only_for(going, [*constants, *carry], flags))
            after = [chosen(going, new, old) for new, old in zip(after, carry, strict=True)]
            test = builder.inline(self._test, [*constants, *after])
            self.body = builder.close([*test, *after])
        builder = Builder()
        with building(builder):
            operands = builder.inputs_like(self.body.inputs)
            self.condition = builder.close([any_of(operands[consts])])

    def operands(self, size: int, xs: Sequence[Any], at: Sequence[int | None]) -> list[Any]:
        """Return the operands of the batched loop.

        Args:
            size: number of samples.
            xs: operands of the original loop.
            at: position of the batch axis of each operand; ``None`` if all samples share the operand.
        """
        operands_ = fronted(size, xs, at, self.flags)
        if self.differs:
            operands_.insert(self.consts, current().inline(self._test, operands_)[0])
        return operands_

    @property
    def parameters(self) -> dict[str, Any]:
        """The parameters of the ``while`` equation."""
        return {"condition": self.condition, "body": self.body, "consts": self.consts}


@memoized
def batched_loop(condition: Graph, body: Graph, consts: int, flags: Flags, size: int) -> Batched:
    """Return the loop for ``size`` samples.

    ``flags`` states for each operand whether it has a batch axis.
    """
    return Batched(condition, body, consts, flags, size)


def _batch(
    size: int, xs: Sequence[Any], at: Sequence[int | None], condition: Graph, body: Graph, consts: int,
    slots: int = 0,
) -> Any:  # fmt: skip
    flags = tuple([axis is not None for axis in at])
    loop = batched_loop(condition, body, consts, flags, size)
    saving = {"slots": slots} if slots else {}
    results = while_(*loop.operands(size, xs, at), **loop.parameters, **saving)
    count, more = len(body.outputs), int(loop.differs)
    places = [0 if flag else None for flag in loop.flags[consts:]]
    result = list(results[more : more + count])
    # return the iteration count, the period, and the buffers, without the buffer of the mask. Their values do
    # not matter: only `while_pullback` reads them, and its batching rule runs the loop again
    if slots:
        iterations, buffers = results[count + more : count + more + 2], results[count + 2 * more + 2 :]
        result += [*iterations, *buffers]
        places += [None, None, *[None if place is None else 1 for place in places]]
    return tuple(result), places


def _simplify(*operands: Any, condition: Graph, body: Graph, consts: int, slots: int = 0) -> Any:
    simplified = marked_loop(body, operands, consts, len(body.outputs))
    if simplified is body:
        return None
    saving: dict[str, Any] = {"slots": slots} if slots else {}
    return while_(*operands, condition=condition, body=simplified, consts=consts, **saving)


def _programs(equation: Equation, iterations: int) -> Iterator[Inner]:
    for name in ("condition", "body"):
        yield Inner(equation.parameters[name], equation.inputs, iterations, is_known=False)


while_ = Primitive(
    "while",
    "control",
    type_rule=_types,
    numpy=_numpy,
    xla=_xla,
    jvp_with_values=_jvp_with_values,
    batch=_batch,
    simplify=_simplify,
    series=_series,
    multiple=True,
    replaceable=True,
    pattern=looped,
    paths=paths_of_while,
    programs=_programs,
    taint=lambda *_, body, **parameters: starts_taint(body),
)
