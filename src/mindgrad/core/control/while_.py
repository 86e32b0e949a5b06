"""The ``while`` primitive: a loop that runs while a condition on its carry holds.

    while(c, x₀) = x_n,    x_{i+1} = body(c, x_i),    n is the first i for which condition(c, x_i) is false

The carry x is a tuple of tensors, its *components*. The constants c are equal in all iterations. Operands are
``(*consts, *carry)``. The parameters are:

- ``condition``: graph from all operands to a scalar Bool.
- ``body``: graph from all operands to the next carry.
- ``consts``: number of operands that are constants.
- ``slots``: number of carries that the loop can save for reverse mode; 0 if it saves none. If ``slots`` is
  positive, the loop has further results: the number of iterations, the period (number of iterations between
  two saved carries), and one buffer of saved values for each carry component.

Forward mode runs one loop over values and tangents, ``F(c, ċ, x, ẋ) = (body, J_body (ċ, ẋ))``. Reverse mode
uses a separate primitive, ``while_pullback``. Let K be the number of slots (``control.checkpoints``). Reverse
mode runs the loop once and saves some carries. It then recomputes each iteration at most 1 + log₂(n / K²) / 2
times on average, and transposes the linearization of the iteration. Reverse mode needs memory for about 2 K
carries, and for the residuals of at most K iterations.

In the code, ``moving`` are the indices of the carry components that have a tangent in some iteration.
``active_consts`` are the constants that have a tangent. ``start`` are the components of the initial carry
that have a tangent.

Limits: a loop has at most 2³¹ iterations. The condition has no derivative.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

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
from mindgrad.core.ir.graph import Atom, Equation, Graph, Variable, silent
from mindgrad.core.ir.inner_programs import Inner
from mindgrad.core.ir.memo import memoized
from mindgrad.core.ir.primitive import REGISTRY, InnerGraphs, Primitive
from mindgrad.core.ir.rules import Array, Atoms, BatchAxes, Element, Module, Tangent, Tangents
from mindgrad.core.ir.types import TensorType, tensor_type
from mindgrad.core.primitives.kinds import zeros
from mindgrad.core.transforms.zero_gradients import paths_of_while

__all__ = [
    "Fused", "Loop", "batched_loop", "carries_before", "divided", "fused_loop", "run_loop", "series_loop",
    "while_",
]  # fmt: skip

Indices = tuple[int, ...]
_COUNT = tensor_type(int32, ())


# -- the loop ------------------------------------------------------------------------------------


class Loop(NamedTuple):
    """A loop: its condition and body, graphs of ``(*constants, *carry)``."""

    condition: Graph
    body: Graph
    consts: int


def run_loop(loop: Loop, operands: Atoms, slots: int = 0) -> tuple[Atom, ...]:
    """Emit the ``while`` equation of ``loop``, which saves ``slots`` carries."""
    return while_(*operands, **loop._asdict(), **({"slots": slots} if slots else {}))


def _types(
    *types: TensorType, condition: Graph, body: Graph, consts: int, slots: int = 0
) -> tuple[TensorType, ...]:
    expected = tuple([v.type for v in body.inputs])
    if expected != types or expected != tuple([v.type for v in condition.inputs]):
        raise TypeError(
            f"For 'while', the body takes inputs of types {expected}, but the operands have types {types}."
        )
    carry = types[consts:]
    after = tuple([y.type for y in body.outputs])
    if after != carry:
        raise TypeError(
            f"For 'while', the carry has types {carry}, but the body returns {after}. Both must have the "
            "same types."
        )
    test = condition.outputs[0].type
    if test.dtype.kind != "bool" or test.shape:
        raise TypeError(f"For 'while', the condition must be a scalar (0-D) Bool tensor, but got {test}.")
    return (*carry, *_saved_types(carry, slots))


def _saved_types(carry: Sequence[TensorType], slots: int) -> tuple[TensorType, ...]:
    """Return the types of the values that a loop saves for its reverse pass.

    They are the iteration count, the period, and the buffers (``control.checkpoints``).
    """
    if not slots:
        return ()
    return (_COUNT, _COUNT, *[each.with_shape((slots, *each.shape)) for each in carry])


def carries_before(
    condition: Graph, body: Graph, constants: Sequence[Array], carry: Sequence[Array]
) -> tuple[list[list[Array]], list[Array]]:
    """Run the loop with NumPy, and return the carries of all iterations.

    Returns:
        The carries before each iteration, and the carry after the last iteration.
    """
    before, now = [], list(carry)
    while evaluate(condition, [*constants, *now])[0]:
        before.append(now)
        now = evaluate(body, [*constants, *now])
    return before, now


def _numpy(
    *operands: Array, condition: Graph, body: Graph, consts: int, slots: int = 0
) -> tuple[Array | Element, ...]:
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


def _xla(
    jax: Module, *operands: Array, condition: Callable, body: Callable, consts: int, slots: int = 0
) -> tuple[Array, ...]:
    constants, carry = operands[:consts], operands[consts:]

    def continues(now: Sequence[Array]) -> Array:
        return condition(*constants, *now)[0]

    def step(now: Sequence[Array]) -> tuple[Array, ...]:
        return tuple(body(*constants, *now))

    if slots:
        return checkpoints.save(jax, continues, step, carry, slots)
    return jax.lax.while_loop(continues, step, carry)


# -- forward mode --------------------------------------------------------------------------------


class Fused(NamedTuple):
    """The loop of forward mode, whose body computes values and tangents.

    Its constants are ``(*consts, *tangents of active_consts)``. Its carry is ``(*carry, *tangents of
    active_carry)``.

    Attributes:
        loop: the loop ``F``.
        consts: number of constants of the original loop.
        carries: number of components of the original carry.
        active_consts: positions of the constants that have a tangent.
        active_carry: indices of the carry components that have a tangent after some iteration.
    """

    loop: Loop
    consts: int
    carries: int
    active_consts: Indices
    active_carry: Indices

    def operands(self, xs: Atoms, of_consts: Atoms, of_carry: dict[int, Atom]) -> tuple:
        """Return the operands of the loop that also computes tangents.

        Args:
            xs: operands of the loop without tangents.
            of_consts: tangents of ``active_consts``.
            of_carry: tangents of the initial carry. The keys are the indices of its components; a missing
                tangent is zero.
        """
        c, x = xs[: self.consts], xs[self.consts :]
        ts = [of_carry[k] if k in of_carry else zeros(x[k].type) for k in self.active_carry]
        return (*c, *of_consts, *x, *ts)

    def of_const(self, k: int) -> int:
        """Return the position, among the constants, of the tangent of constant ``k``."""
        return self.consts + self.active_consts.index(k)

    def of_part(self, k: int) -> int:
        """Return the index, in the carry, of the tangent of carry component ``k``."""
        return self.carries + self.active_carry.index(k)


@memoized
def fused_loop(condition: Graph, body: Graph, consts: int, active_consts: Indices, start: Indices) -> Fused:
    """Return the loop that computes values and tangents.

    The constants ``active_consts`` and the components ``start`` of the initial carry have tangents.
    """
    moving = closure(body, consts, active_consts, start)
    pushed = forward_body(body, (*active_consts, *[consts + k for k in moving]), moving)
    loop = _interleaved(condition, pushed, consts, len(body.inputs), len(active_consts))
    return Fused(loop, consts, len(body.outputs), active_consts, moving)


def _interleaved(condition: Graph, body: Graph, consts: int, count: int, more: int) -> Loop:
    """Return the loop with operands (constants, their tangents, carry, its tangents).

    Args:
        condition: condition of the original loop.
        body: graph of ``(*constants, *carry, *tangents of constants, *tangents of the carry)``.
        consts: number of original constants.
        count: number of constants and components of the original carry.
        more: number of tangents of constants.
    """
    ts = body.inputs[count:]
    fresh = [Variable(v.type) for v in ts]
    first, second = [
        Graph([*xs[:consts], *new[:more], *xs[consts:count], *new[more:]], graph.equations, graph.outputs)
        for graph, xs, new in ((condition, condition.inputs, fresh), (body, body.inputs, ts))
    ]
    return Loop(first, second, consts + more)


def divided(ts: Tangents, consts: int) -> tuple[Indices, list[Atom], dict[int, Atom]]:
    """Split the tangents of operands into tangents of constants and of the carry.

    Returns:
        The positions of the constants that have a tangent, their tangents, and a dict that maps the index of
        each carry component with a tangent to its tangent.
    """
    active_consts = active(ts[:consts])
    of_carry = {k: t for k, t in enumerate(ts[consts:]) if t is not None}
    return active_consts, [t for t in ts[:consts] if t is not None], of_carry


def _jvp_with_values(
    xs: Atoms, ts: Tangents, condition: Graph, body: Graph, consts: int, slots: int = 0
) -> tuple[Atoms, Tangents]:
    loop = Loop(condition, body, consts)
    active_consts, of_consts, of_carry = divided(ts, consts)
    start, carries = tuple(of_carry), len(body.outputs)
    if any(t.linear for t in (*of_consts, *of_carry.values())):
        moving = closure(body, consts, active_consts, start)
        used = slots
        if moving and not slots:
            used = checkpoints.slots_for([x.type for x in xs[consts:]], is_in_loop())
        results = run_loop(loop, xs, used)
        tangents: Atoms = ()
        if moving:
            saved = results[carries:]
            tangents = REGISTRY["while_tangent"](
                *xs, *saved, *of_consts, *of_carry.values(), **loop._asdict(), slots=used,
                active_consts=active_consts, start=start, moving=moving,
            )  # fmt: skip
        ys = results if slots else results[:carries]
    else:
        fused = fused_loop(condition, body, consts, active_consts, start)
        moving = fused.active_carry
        if moving:
            operands = fused.operands(xs, of_consts, of_carry)
            results = run_loop(_marked(fused.loop, operands), operands, slots)
            tangents = results[carries : carries + len(moving)]
            # the last results are the buffers of saved values and of saved tangents. The original loop has
            # only the buffers of values, so keep only these
            buffers = len(_saved_types([y.type for y in body.outputs], slots))
            ys = (*results[:carries], *results[carries + len(moving) :][:buffers])
        else:
            ys, tangents = run_loop(loop, xs, slots), ()
    of_ys: list[Tangent] = [None] * len(ys)
    for k, t in zip(moving, tangents, strict=True):
        of_ys[k] = t
    return ys, of_ys


def _marked(loop: Loop, operands: Atoms) -> Loop:
    """Return ``loop``, with the marks of ``operands`` propagated through its body."""
    return loop._replace(body=marked_loop(loop.body, operands, loop.consts, len(loop.body.outputs)))


# -- Taylor series --------------------------------------------------------------------------------


class SeriesLoop(NamedTuple):
    """The loop whose body computes the Taylor coefficients of the carry.

    Its constants are ``(*consts, *coefficients of active_consts)``. Its carry is ``(*carry, *coefficients of
    moving)``. The coefficients of one value are adjacent, from order 1 to the highest order.

    Attributes:
        loop: the loop whose carry contains coefficients.
        consts: number of constants of the original loop.
        carries: number of components of the original carry.
        active_consts: positions of the constants that have coefficients.
        moving: indices of the carry components that have coefficients.
        order: the highest order.
    """

    loop: Loop
    consts: int
    carries: int
    active_consts: Indices
    moving: Indices
    order: int

    def operands(self, xs: Atoms, coefficients: Sequence[Tangents]) -> tuple:
        """Return the operands of the loop, given the coefficients of the operands ``xs``."""
        consts = self.consts
        return (
            *xs[:consts], *series_operands(xs, coefficients, self.active_consts),
            *xs[consts:], *series_operands(xs, coefficients, [consts + k for k in self.moving]),
        )  # fmt: skip

    def of_const(self, k: int) -> list[int]:
        """Return the positions of constant ``k`` and its coefficients among the constants."""
        first = self.consts + self.active_consts.index(k) * self.order
        return [k, *range(first, first + self.order)]

    def of_part(self, k: int) -> list[int]:
        """Return the indices, in the carry, of component ``k`` and of its coefficients."""
        first = self.carries + self.moving.index(k) * self.order
        return [k, *range(first, first + self.order)]


@memoized
def series_loop(
    condition: Graph, body: Graph, consts: int, active_consts: Indices, start: Indices, order: int
) -> SeriesLoop:
    """Return the loop that computes Taylor coefficients up to ``order``.

    The constants ``active_consts`` and the components ``start`` of the initial carry have coefficients.
    """
    moving = closure(body, consts, active_consts, start)
    series = taylor_body(body, (*active_consts, *[consts + k for k in moving]), moving, order)
    loop = _interleaved(condition, series, consts, len(body.inputs), order * len(active_consts))
    return SeriesLoop(loop, consts, len(body.outputs), active_consts, moving, order)


def _series(equation: Equation, coefficients: Sequence[Tangents], order: int) -> list[list[Tangent]]:
    parameters = equation.parameters
    body, consts = parameters["body"], parameters["consts"]
    xs, is_same = starts_of(equation.inputs, coefficients)
    active_inputs = varying(coefficients)
    active_consts = tuple([k for k in active_inputs if k < consts])
    start = tuple([k - consts for k in active_inputs if k >= consts])
    series = series_loop(parameters["condition"], body, consts, active_consts, start, order)
    operands = series.operands(xs, coefficients)
    carries, shift = series.carries, order * len(series.moving)
    loop = _marked(series.loop, operands)
    if not is_same:
        loop = Loop(**silent(loop._asdict()))
    results = run_loop(loop, operands, parameters.get("slots", 0))
    # the buffers of saved carries need no Taylor coefficients: only `while_pullback` reads them, and its
    # Taylor rule runs the loop again
    ys = [*results[:carries], *results[carries + shift :][: len(equation.outputs) - carries]]
    return series_results(ys, len(equation.outputs), results[carries : carries + shift], series.moving, order)


# -- batching -------------------------------------------------------------------------------------


class Batched(NamedTuple):
    """The loop for a batch of samples.

    If the condition depends on a batched operand, samples can have different iteration counts. The first
    component of the carry is then a mask, which is true for each sample whose loop has not ended.

    Attributes:
        loop: the batched loop.
        flags: for each operand of the loop, whether the operand has a leading batch axis.
        test: graph of the mask before the first iteration; ``None`` if the carry has no mask.
    """

    loop: Loop
    flags: Flags
    test: Graph | None = None

    @property
    def shift(self) -> int:
        """Number of carry components before the components of the original loop: 1 or 0."""
        return int(self.test is not None)

    def operands(self, size: int, xs: Atoms, at: BatchAxes) -> list[Atom]:
        """Return the operands of the batched loop.

        Args:
            size: number of samples.
            xs: operands of the original loop.
            at: position of the batch axis of each operand; ``None`` if all samples share the operand.
        """
        operands_ = fronted(size, xs, at, self.flags)
        if self.test is not None:
            operands_.insert(self.loop.consts, current().inline(self.test, operands_)[0])
        return operands_


@memoized
def batched_loop(condition: Graph, body: Graph, consts: int, flags: Flags, size: int) -> Batched:
    """Return the loop for ``size`` samples. ``flags`` selects the batched operands."""
    carries = len(body.outputs)
    flags = batched_parts(body, flags, consts, carries, size)
    if not batched_outputs(condition, flags, size)[0]:
        test = batched_graph(condition, flags, (False,), size)
        return Batched(Loop(test, batched_graph(body, flags, flags[consts:], size), consts), flags)
    refuse_effects("a loop", condition, body)
    flags = (*flags[:consts], *[True] * carries)
    test = batched_graph(condition, flags, (True,), size)
    iteration = batched_graph(body, flags, flags[consts:], size)
    builder = Builder()
    with building(builder):
        constants, carry = (
            builder.inputs_like(part) for part in (iteration.inputs[:consts], iteration.inputs[consts:])
        )
        going = Variable(test.outputs[0].type)
        builder.inputs.insert(consts, going)
        after = builder.inline(iteration, only_for(going, [*constants, *carry], flags))
        after = [chosen(going, new, old) for new, old in zip(after, carry, strict=True)]
        masked = builder.close([*builder.inline(test, [*constants, *after]), *after])
    builder = Builder()
    with building(builder):
        operands = builder.inputs_like(masked.inputs)
        return Batched(Loop(builder.close([any_of(operands[consts])]), masked, consts), flags, test)


def _batch(
    size: int, xs: Atoms, at: BatchAxes, condition: Graph, body: Graph, consts: int,
    slots: int = 0,
) -> tuple[Atoms, list[int | None]]:  # fmt: skip
    flags = tuple([axis is not None for axis in at])
    batched = batched_loop(condition, body, consts, flags, size)
    results = run_loop(batched.loop, batched.operands(size, xs, at), slots)
    count, more = len(body.outputs), batched.shift
    places = [0 if flag else None for flag in batched.flags[consts:]]
    result = list(results[more : more + count])
    # Return the iteration count, the period, and the buffers of the loop without the buffer of the mask.
    # Their values do not matter: only `while_pullback` reads them, and its batching rule runs the loop again
    if slots:
        iterations, buffers = results[count + more : count + more + 2], results[count + 2 * more + 2 :]
        result += [*iterations, *buffers]
        places += [None, None, *[None if place is None else 1 for place in places]]
    return tuple(result), places


def _simplify(
    *operands: Atom, condition: Graph, body: Graph, consts: int, slots: int = 0
) -> tuple[Atom, ...] | None:
    simplified = marked_loop(body, operands, consts, len(body.outputs))
    if simplified is body:
        return None
    return run_loop(Loop(condition, simplified, consts), operands, slots)


def _programs(equation: Equation, iterations: int) -> Iterator[Inner]:
    for name in ("condition", "body"):
        yield Inner(equation.parameters[name], equation.inputs, iterations, is_known=False)


while_: Primitive[tuple[Atom, ...]] = Primitive(
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
    pattern=looped,
    inner=InnerGraphs(replaceable=True, programs=_programs, paths=paths_of_while),
    taint=lambda *_, body, **parameters: starts_taint(body),
)
