"""Checkpointing in bounded memory for loops with an unknown number of iterations.

Reverse mode of a ``while`` loop needs the carry before each iteration, in reverse order. The forward pass
saves some carries. The reverse pass *replays* iterations: it recomputes a missing carry from the saved carry
before it. A buffer has K *slots*, each of which holds one carry:

    forward    save the carries x₀, x_p, x_2p, …, where the period p is K at first. When the slots are full,
               drop every second carry and double p. If a carry is large, save the first K carries too.
    reverse    process *blocks* of at most K iterations, last block first. Replay a block from the nearest
               saved carry, and store the carry before each of its iterations in another K slots. Then
               process the iterations of the block in reverse, in *chunks* of ``rows`` iterations.

A loop of at most K² iterations replays each iteration once, from the carry at the start of its block. If the
carry is large, a loop of at most K iterations replays no iteration. In a loop of more than K² iterations, the
period p exceeds K, so the start of a block can be up to p iterations after the nearest saved carry. The
reverse pass reaches the start by repeated halving. It stores the intermediate carries on a stack, so that on
average each iteration is replayed another log₂(p / K) / 2 times. The schedule combines uniform checkpoints
with recursive bisection between them (Griewank & Walther, *Evaluating Derivatives*, 2nd ed., section 12.3).
The algorithm needs memory for 2 K + 34 − 2 log₂ K carries, and for the residuals of ``rows`` iterations.

The functions of this module build XLA loops. They receive the ``jax`` module as an argument, because only
``backend`` imports it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, NamedTuple

from mindgrad.core.ir import settings
from mindgrad.core.ir.cost_model import DEVICES, costs
from mindgrad.core.ir.types import TensorType

if TYPE_CHECKING:
    from mindgrad.core.ir.rules import Array, Module, Stored

__all__ = ["ReverseIterations", "Saved", "Iteration", "save", "slots_for"]

#: if a carry has at least this many bytes, the forward pass also saves the first K carries, so that short
#: loops replay no iteration. The threshold is not read from ``costs()``, because exported source code
#: contains the function that reads it
_SAVED_BYTES = DEVICES["CPU"].saved_carry_bytes


def slots_for(carry: Sequence[TensorType], is_inner: bool) -> int:
    """Choose the number of carries that a loop saves, a power of two.

    The option ``checkpoint_slots`` of ``set_context`` is an upper bound.

    Args:
        carry: types of the values that each slot holds.
        is_inner: whether the loop is inside another loop.
    """
    size = max(1, sum(each.size * each.dtype.itemsize for each in carry))
    most = settings.get("checkpoint_slots")
    if is_inner:
        most = min(most, costs().inner_slots)
    slots = 2
    while slots * 2 <= most and (slots < costs().fewest_slots or slots * 2 * size <= costs().slot_bytes):
        slots *= 2
    return slots


def _put(jax: Module, buffers: Sequence[Array], slot: Array, xs: Sequence[Array]) -> tuple[Array, ...]:
    zero = jax.numpy.int32(0)
    return tuple(
        [
            jax.lax.dynamic_update_slice(
                buffer, jax.lax.expand_dims(x, (0,)), (slot, *[zero] * x.ndim), allow_negative_indices=False
            )
            for buffer, x in zip(buffers, xs, strict=True)
        ]
    )


def _get(jax: Module, buffers: Sequence[Array], slot: Array) -> tuple[Array, ...]:
    return tuple([jax.lax.squeeze(_rows(jax, buffer, slot, 1), (0,)) for buffer in buffers])


def _empty(jax: Module, xs: Sequence[Array], slots: int) -> tuple[Array, ...]:
    return tuple([jax.numpy.zeros((slots, *x.shape), x.dtype) for x in xs])


def save(
    jax: Module, continues: Callable, step: Callable, carry: Sequence[Array], slots: int
) -> tuple[Array, ...]:
    """Emit the forward pass: a loop that saves some of its carries.

    Args:
        jax: the ``jax`` module.
        continues: function from a carry to whether the loop runs another iteration.
        step: function from the carry before an iteration to the carry after it.
        carry: the carry before the first iteration.
        slots: number of carries that the buffers hold.

    Returns:
        A tuple of the components of the last carry, the number of iterations, the period, and one buffer of
        saved values for each carry component.
    """
    loop, np = jax.lax.while_loop, jax.numpy
    zero, one = np.int32(0), np.int32(1)

    def segment(state: tuple) -> tuple:
        x, iterations, period, slot, buffers = state
        is_full = slot == slots

        def move(inner: tuple) -> tuple:
            to, held = inner
            return to + one, _put(jax, held, to, _get(jax, held, 2 * to))

        end = np.where(is_full, np.int32(slots // 2), zero)
        _, buffers = loop(lambda inner: inner[0] < end, move, (one, buffers))
        period = np.where(is_full, 2 * period, period)
        slot = np.where(is_full, slots // 2, slot)
        buffers = _put(jax, buffers, slot, x)
        x, count = loop(
            lambda now: (now[1] < period) & continues(now[0]),
            lambda now: (step(now[0]), now[1] + one),
            (x, zero),
        )
        return x, iterations + count, period, slot + one, buffers

    buffers = _empty(jax, carry, slots)
    state = (tuple(carry), zero, np.int32(slots), zero, buffers)
    if _saves_every(buffers):
        x, iterations, buffers = loop(
            lambda now: (now[1] < slots) & continues(now[0]),
            lambda now: (step(now[0]), now[1] + one, _put(jax, now[2], now[1], now[0])),
            (tuple(carry), zero, buffers),
        )
        # if the loop has more iterations than slots, `segment` overwrites all carries that were saved here,
        # except the first
        state = (x, iterations, np.int32(slots), one, buffers)
    x, iterations, period, _, buffers = loop(lambda state: continues(state[0]), segment, state)
    return (*x, iterations, period, *buffers)


def _saves_every(buffers: Sequence[Array]) -> bool:
    """Return whether a carry is so large that the first K carries are saved too."""
    return sum(buffer.nbytes // buffer.shape[0] for buffer in buffers) >= _SAVED_BYTES


def _depth(slots: int) -> int:
    """Return the size of the stack of carries that suffices for 2³¹ iterations."""
    return max(2, 34 - 2 * (slots.bit_length() - 1))


class Iteration(NamedTuple):
    """Functions that compute one iteration and its transposed linearization.

    The *coefficients* of an iteration are the residuals of its linearization. The *needed* carry components
    are the components on which the coefficients depend.

    Attributes:
        step: function from the carry before an iteration to the carry after it.
        expensive: function of the needed carry components. It returns intermediate values of ``coefficients``
            that XLA should compute only once.
        coefficients: function of the needed carry components before each of ``rows`` iterations, and of the
            results of ``expensive``. It returns the coefficients of these iterations.
        pull: ``pull(coefficients, cts)`` maps the cotangents of the carry after an iteration to the
            cotangents before it. If ``rows`` is 1, it also returns the contribution of the iteration to the
            cotangents of the constants.
        totals: ``totals(coefficients, cts)`` returns the contribution of ``rows`` iterations to the
            cotangents of the constants. It is called only if ``rows`` exceeds 1.
    """

    step: Callable
    expensive: Callable
    coefficients: Callable
    pull: Callable
    totals: Callable


class Saved(NamedTuple):
    """Results of :func:`save`: the iteration count, the period, and the buffers."""

    iterations: Stored
    period: Stored
    buffers: Sequence


class ReverseIterations:
    """The reverse pass of a loop, block by block from the last iteration to the first.

    Args:
        jax: the ``jax`` module.
        iteration: functions of one iteration.
        saved: results of the forward pass (:func:`save`).
        needed: indices of the carry components on which the coefficients depend.
        slots: number of carries that the buffers of the forward pass hold.
        rows: number of iterations in a *chunk*. Their coefficients are computed together, along a leading
            axis of iterations. If ``rows`` is 1, values have no such axis.
    """

    def __init__(
        self, jax: Module, iteration: Iteration, saved: Saved, needed: Sequence[int], slots: int, rows: int
    ) -> None:
        self.jax, self.np, self.loop = jax, jax.numpy, jax.lax.while_loop
        self.zero, self.one = self.np.int32(0), self.np.int32(1)
        self.step, self.expensive, self.coefficients, self.pull, self.totals = iteration
        self.iterations, self.period, self.buffers = saved
        self.needed, self.slots, self.rows = needed, slots, rows
        self.is_saved = _saves_every(saved.buffers)

    def run(self, cotangents: Sequence[Array], sums: Sequence[Array]) -> tuple[Array, ...]:
        """Run the reverse pass; return the cotangents of the constants and initial carry.

        Args:
            cotangents: cotangents of the last carry.
            sums: zeros, one for each cotangent of a constant, to which each iteration adds its contribution.
        """
        jax, np, slots = self.jax, self.np, self.slots
        after = _empty(jax, cotangents, self.rows + 1) if self.rows > 1 else ()
        if not self.needed:  # the coefficients do not depend on the carry, so the iterations need no replay
            last = (self.iterations - 1) // self.rows
            start: tuple = (last, self.iterations, tuple(sums), tuple(cotangents), (), after)
            state = self.loop(lambda state: state[0] >= 0, self._chunk, start)
            return (*state[2], *state[3])
        last = np.where(self.iterations > 0, ((self.iterations - 1) // slots) * slots, -self.one)
        saved = tuple([self.buffers[k] for k in self.needed])
        if not self.is_saved:
            saved = _empty(jax, [x[0] for x in saved], slots)
        stack = _empty(jax, [buffer[0] for buffer in self.buffers], _depth(slots))
        places = np.zeros((_depth(slots),), "int32")
        start = (last, tuple(sums), tuple(cotangents), saved, after, stack, places, self.zero)
        state = self.loop(lambda state: state[0] >= 0, self._block, start)
        return (*state[1], *state[2])

    def _chunk(self, state: tuple) -> tuple:
        jax, rows = self.jax, self.rows
        zero, one = self.zero, self.one
        at, count, sums, cts, saved, after = state
        if rows == 1:
            carry = _get(jax, saved, at)
            residuals = self.coefficients(carry, _once(jax, count > 0, self.expensive, carry))
            pulled = self.pull(residuals, cts)
            before, more = pulled[: len(cts)], pulled[len(cts) :]
            sums = tuple([a + b for a, b in zip(sums, more, strict=True)])
            return at - one, count, sums, before, saved, after
        first = at * rows
        iterations_left = self.np.minimum(count - first, rows)
        residuals = self.coefficients(tuple([_rows(jax, buffer, first, rows) for buffer in saved]), ())
        after = _put(jax, after, iterations_left, cts)

        def back(inner: tuple) -> tuple:
            k, after = inner
            pulled = self.pull(_get(jax, residuals, k), _get(jax, after, k + one))
            return k - one, _put(jax, after, k, pulled)

        _, after = self.loop(lambda inner: inner[0] >= 0, back, (iterations_left - one, after))
        if sums:
            # sum over the whole buffer `after`. Only the chunk that is processed first can have fewer than
            # `rows` iterations, and its unused entries are still zero
            more = self.totals(residuals, [buffer[1:] for buffer in after])
            sums = tuple([a + b for a, b in zip(sums, more, strict=True)])
        return at - one, count, sums, _get(jax, after, zero), saved, after

    def _block(self, state: tuple) -> tuple:
        """Process the block of iterations from ``first``, or replay iterations toward it.

        If the carry at the start of the block is not known, replay about half of the blocks between the
        nearest known carry and the block. The resulting carry is pushed onto the stack.
        """
        jax, np, zero, one, slots = self.jax, self.np, self.zero, self.one, self.slots
        first, sums, cts, saved, after, stack, places, depth = state
        # remove the carry of the block that was just processed from the stack, because it belongs to a later
        # iteration than this block. All other carries on the stack belong to earlier iterations
        depth = depth - np.where((depth > 0) & (places[np.maximum(depth - 1, 0)] > first), one, zero)
        top, segment = np.maximum(depth - 1, 0), first // self.period
        carries = zip(_get(jax, stack, top), _get(jax, self.buffers, segment), strict=True)
        x = tuple([np.where(depth > 0, a, b) for a, b in carries])
        position = np.where(depth > 0, places[top], segment * self.period)
        blocks = (first - position) // slots
        is_here = blocks == 0
        count = np.where(is_here, np.minimum(slots, self.iterations - first), slots * ((blocks + 1) // 2))
        x, saved = self._replayed(x, saved, is_here, count)
        stack = _put(jax, stack, depth, x)
        places = jax.lax.dynamic_update_index_in_dim(places, position + count, depth, 0)
        last = np.where(is_here, (count - 1) // self.rows, -one)
        start = (last, count, sums, cts, saved, after)
        _, _, sums, cts, saved, after = self.loop(lambda state: state[0] >= 0, self._chunk, start)
        first = np.where(is_here, first - slots, first)
        return first, sums, cts, saved, after, stack, places, np.where(is_here, depth, depth + one)

    def _replayed(self, x: tuple, saved: tuple, is_block: Array, count: Array) -> tuple[tuple, tuple]:
        """Replay ``count`` iterations from the carry ``x``.

        Args:
            x: the carry before the first of these iterations.
            saved: buffers for the needed carry components before each iteration.
            is_block: whether these iterations are the block to process next. Its last iteration is not
                replayed, because its result is not needed.
            count: number of iterations.

        Returns:
            The carry after these iterations, and the filled buffers.
        """
        jax, np, zero, rows = self.jax, self.np, self.zero, self.rows
        saved = _put(jax, saved, zero, [x[k] for k in self.needed])

        def advance(inner: tuple) -> tuple:
            # store the new carry after the step, for the next iteration. If each iteration stored the old
            # carry before its step, XLA would copy the carry
            k, x, saved = inner
            x = self.step(x)
            k = k + self.one
            return k, x, _put(jax, saved, k & np.int32(self.slots - 1), [x[part] for part in self.needed])

        # if the forward pass has saved the carry of every iteration, replay nothing
        replayed = np.where(self.iterations > self.slots, count - 1, zero) if self.is_saved else count - 1
        end = np.where(is_block, replayed, count)
        _, x, saved = self.loop(lambda inner: inner[0] < end, advance, (zero, x, saved))
        if rows > 1:
            # fill the unused entries of the last chunk with the first carry of the block: their coefficients
            # are also computed, and must be finite
            fill = np.where(is_block, (count + (rows - 1)) // rows * rows, zero)
            _, saved = self.loop(
                lambda inner: inner[0] < fill,
                lambda inner: (inner[0] + self.one, _put(jax, inner[1], inner[0], _get(jax, inner[1], zero))),
                (count, saved),
            )
        return x, saved


def _once(jax: Module, always: Array, compute: Callable, xs: Sequence[Array]) -> tuple[Array, ...]:
    """Return ``compute(xs)``. It runs in a branch, so that XLA computes it only once.

    Args:
        jax: the ``jax`` module.
        always: a predicate that is always true, but whose value XLA cannot infer.
        compute: function of ``xs``. It must not refer to other JAX values.
        xs: the operands of ``compute``.
    """
    types = jax.eval_shape(compute, xs)
    if not types:
        return ()
    return jax.lax.cond(
        always, compute, lambda _: tuple([jax.numpy.zeros(t.shape, t.dtype) for t in types]), xs
    )


def _rows(jax: Module, buffer: Array, first: Array, rows: int) -> Array:
    zero = jax.numpy.int32(0)
    return jax.lax.dynamic_slice(
        buffer, (first, *[zero] * (buffer.ndim - 1)), (rows, *buffer.shape[1:]), allow_negative_indices=False
    )
