"""Saving the carries of a loop whose trips are not known, and walking them back, in bounded memory.

    save       x₀, x_p, x_2p, …  in K slots, p = K at first; when they are full, every second is kept and
               p doubles
    walk back  blocks of at most K trips, the last first: replay one from the nearest carry that is saved,
               keeping in K slots what the linear part of each trip needs; then run the linear parts backwards

Up to K² trips every trip is replayed once, from the carry at the start of its block. Beyond, a block's first
carry lies up to p > K trips behind a saved one: it is reached by halves, and the halves are kept on a stack,
so that log₂(p / K) / 2 further replays are needed in all. This is the schedule of recursive bisection
(Griewank & Walther, *Evaluating Derivatives*, 2nd ed., section 12.3) below a uniform one. Memory: K + 32
carries and the residuals of K trips.

These functions are given jax by their caller and emit ``while`` loops of static shapes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from mindgrad.core import settings
from mindgrad.core.types import TensorType

__all__ = ["save", "slots_for", "walk_back"]

#: bytes that the slots of one loop may take, unless that leaves fewer than _FEWEST slots
_BYTES = 1 << 20
_FEWEST = 16
#: the most slots of a loop inside of another, whose slots are filled anew in every trip of that
_INNER = 64
#: the depth of the stack of halves: enough for 2³¹ trips
_DEPTH = 32


def slots_for(kept: Sequence[TensorType], is_inner: bool) -> int:
    """How many slots a loop gets: a power of two, at most the option ``checkpoint_slots``.

    Args:
        kept: the types of the values that every slot holds.
        is_inner: whether the loop stands in another one.
    """
    size = max(1, sum(each.size * each.dtype.itemsize for each in kept))
    most = settings.get("checkpoint_slots")
    if is_inner:
        most = min(most, _INNER)
    slots = 2
    while slots * 2 <= most and (slots < _FEWEST or slots * 2 * size <= _BYTES):
        slots *= 2
    return slots


def _put(jax: Any, buffers: Sequence[Any], slot: Any, xs: Sequence[Any]) -> tuple[Any, ...]:
    zero = jax.numpy.int32(0)
    return tuple(
        [
            jax.lax.dynamic_update_slice(buffer, x[None], (slot, *[zero] * x.ndim))
            for buffer, x in zip(buffers, xs, strict=True)
        ]
    )


def _get(jax: Any, buffers: Sequence[Any], slot: Any) -> tuple[Any, ...]:
    zero = jax.numpy.int32(0)
    return tuple(
        [
            jax.lax.dynamic_slice(b, (slot, *[zero] * (b.ndim - 1)), (1, *b.shape[1:])).reshape(b.shape[1:])
            for b in buffers
        ]
    )


def _empty(jax: Any, xs: Sequence[Any], slots: int) -> tuple[Any, ...]:
    return tuple([jax.numpy.zeros((slots, *x.shape), x.dtype) for x in xs])


def save(
    jax: Any,
    goes_on: Callable[[Any], Any],
    step: Callable[[Any], Any],
    carry: Sequence[Any],
    slots: int,
) -> tuple[Any, ...]:
    """Run the loop; the last carry, the number of trips, the period, and the saved carries.

    Args:
        jax: the module.
        goes_on: whether there is another trip, from the carry.
        step: one trip, from carry to carry.
        carry: the first carry.
        slots: the number of slots.
    """
    loop, np = jax.lax.while_loop, jax.numpy
    zero, one = np.int32(0), np.int32(1)

    def segment(state: Any) -> Any:
        x, trips, period, slot, buffers = state
        is_full = slot == slots

        def move(inner: Any) -> Any:
            to, held = inner
            return to + one, _put(jax, held, to, _get(jax, held, 2 * to))

        end = np.where(is_full, np.int32(slots // 2), zero)
        _, buffers = loop(lambda inner: inner[0] < end, move, (one, buffers))
        period = np.where(is_full, 2 * period, period)
        slot = np.where(is_full, slots // 2, slot)
        buffers = _put(jax, buffers, slot, x)
        x, count = loop(
            lambda now: (now[1] < period) & goes_on(now[0]),
            lambda now: (step(now[0]), now[1] + one),
            (x, zero),
        )
        return x, trips + count, period, slot + one, buffers

    first = (tuple(carry), zero, np.int32(slots), zero, _empty(jax, carry, slots))
    x, trips, period, _, buffers = loop(lambda state: goes_on(state[0]), segment, first)
    return (*x, trips, period, *buffers)


def walk_back(
    jax: Any,
    replay: Callable[[Any], tuple[Any, Any]],
    pull: Callable[[Any, Any], Any],
    *,
    trips: Any,
    period: Any,
    buffers: Sequence[Any],
    residuals: Sequence[Any],
    cotangents: Sequence[Any],
    sums: Sequence[Any],
    slots: int,
) -> tuple[Any, ...]:
    """Run the trips backwards.

    Args:
        jax: the module.
        replay: one trip, from carry to carry and residuals.
        pull: ``pull(residuals, cts)``, the cotangents of one trip: those of the loop's constants, to be
            added up, then those of the carry.
        trips, period, buffers: as :func:`save` gives them.
        residuals: anything with the shapes and dtypes of the residuals of one trip.
        cotangents: those of the last carry.
        sums: zeros like the constants' cotangents.
        slots: the number of slots.

    Returns:
        The sums, and the cotangents of the first carry.
    """
    loop, np = jax.lax.while_loop, jax.numpy
    zero, one = np.int32(0), np.int32(1)
    stack = _empty(jax, [buffer[0] for buffer in buffers], _DEPTH)
    places = np.zeros((_DEPTH,), "int32")

    def back(held: Any, count: Any, sums: Any, cts: Any) -> Any:
        def trip(inner: Any) -> Any:
            k, sums, cts = inner
            found = pull(_get(jax, held, k), cts)
            more = found[: len(sums)]
            return k - one, tuple([a + b for a, b in zip(sums, more, strict=True)]), found[len(sums) :]

        return loop(lambda inner: inner[0] >= 0, trip, (count - one, sums, cts))[1:]

    if not residuals:  # the trips are linear: nothing of them is needed
        found = back((), trips, tuple(sums), tuple(cotangents))
        return (*found[0], *found[1])

    def walk(state: Any) -> Any:
        """Go half the way to the block that starts at ``first``, or replay it and walk it back."""
        first, sums, cts, held, stack, places, depth = state
        # at most one carry on the stack lies behind this block: the start of the one before
        depth = depth - np.where((depth > 0) & (places[np.maximum(depth - 1, 0)] > first), one, zero)
        top, segment = np.maximum(depth - 1, 0), first // period
        x = tuple(
            [
                np.where(depth > 0, a, b)
                for a, b in zip(_get(jax, stack, top), _get(jax, buffers, segment), strict=True)
            ]
        )
        place = np.where(depth > 0, places[top], segment * period)
        blocks = (first - place) // slots
        is_here = blocks == 0
        count = np.where(is_here, np.minimum(slots, trips - first), slots * ((blocks + 1) // 2))

        def advance(inner: Any) -> Any:
            x, k, held = inner
            x, found = replay(x)
            return x, k + one, _put(jax, held, k & np.int32(slots - 1), found)

        x, _, held = loop(lambda inner: inner[1] < count, advance, (x, zero, held))
        stack = _put(jax, stack, depth, x)
        places = jax.lax.dynamic_update_index_in_dim(places, place + count, depth, 0)
        sums, cts = back(held, np.where(is_here, count, zero), sums, cts)
        first = np.where(is_here, first - slots, first)
        return first, sums, cts, held, stack, places, np.where(is_here, depth, depth + one)

    last = np.where(trips > 0, ((trips - 1) // slots) * slots, -1)
    held = _empty(jax, residuals, slots)
    start = (last, tuple(sums), tuple(cotangents), held, stack, places, zero)
    state = loop(lambda state: state[0] >= 0, walk, start)
    return (*state[1], *state[2])
