"""Saving the carries of a loop whose trips are not known, and walking them back, in bounded memory.

    save       x₀, x_p, x_2p, …  in K slots; whenever they are full, every second is kept and p doubles
    walk back  blocks of at most K trips, the last first: replay one from the nearest carry that is
               saved into K slots, then run its trips backwards

Up to K trips p is 1: every carry is saved and nothing is replayed. Up to K² every trip is replayed once.
Beyond, a block's first carry lies up to p > K trips behind a saved one: it is reached by halves, and the
halves are kept on a stack, so that log₂(p / K) / 2 further replays are needed in all. This is the schedule of
recursive bisection (Griewank & Walther, *Evaluating Derivatives*, 2nd ed., section 12.3) below a uniform
one. Memory: 2 K + 32 carries.

These functions are given jax by their caller and emit ``while`` loops of static shapes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from mindgrad.core import settings
from mindgrad.core.types import TensorType

__all__ = ["save", "slots_for", "walk_back"]

#: bytes that the saved carries of one loop may take, unless that leaves fewer than _FEWEST slots
_BYTES = 64 << 20
_FEWEST = 16
#: the depth of the stack of halves: enough for 2³¹ trips
_DEPTH = 32


def slots_for(carry: Sequence[TensorType]) -> int:
    """How many carries of these types are saved: a power of two (the option ``checkpoint_slots``)."""
    size = max(1, sum(each.size * each.dtype.itemsize for each in carry))
    most = settings.get("checkpoint_slots")
    slots = 2
    while slots * 2 <= most and (slots < _FEWEST or slots * 2 * size <= _BYTES):
        slots *= 2
    return slots


def _put(jax: Any, buffers: Sequence[Any], slot: Any, xs: Sequence[Any]) -> tuple[Any, ...]:
    place = jax.lax.dynamic_update_index_in_dim
    return tuple([place(buffer, x, slot, 0) for buffer, x in zip(buffers, xs, strict=True)])


def _get(jax: Any, buffers: Sequence[Any], slot: Any) -> tuple[Any, ...]:
    take = jax.lax.dynamic_index_in_dim
    return tuple([take(buffer, slot, 0, keepdims=False) for buffer in buffers])


def _empty(jax: Any, xs: Sequence[Any], slots: int) -> tuple[Any, ...]:
    return tuple([jax.numpy.zeros((slots, *x.shape), x.dtype) for x in xs])


def save(
    jax: Any, condition: Callable, body: Callable, given: Sequence[Any], carry: Sequence[Any], slots: int
) -> tuple[Any, ...]:
    """Run the loop; the last carry, the number of trips, the period, and the saved carries."""
    loop, one = jax.lax.while_loop, jax.numpy.int32(1)

    def goes_on(x: Any) -> Any:
        return condition(*given, *x)[0]

    def step(x: Any) -> Any:
        return tuple(body(*given, *x))

    def fill_every(state: Any) -> Any:
        x, trips, buffers = state
        return step(x), trips + one, _put(jax, buffers, trips, x)

    carry, trips, buffers = loop(
        lambda state: (state[1] < slots) & goes_on(state[0]),
        fill_every,
        (tuple(carry), jax.numpy.int32(0), _empty(jax, carry, slots)),
    )

    def thin_out(state: Any) -> Any:
        """Keep every second saved carry, then go on with twice the period until the slots are full."""
        x, trips, period, buffers = state
        period = period * 2

        def move(inner: Any) -> Any:
            slot, held = inner
            return slot + one, _put(jax, held, slot, _get(jax, held, 2 * slot))

        _, buffers = loop(lambda inner: inner[0] < slots // 2, move, (one, buffers))

        def fill(inner: Any) -> Any:
            x, trips, slot, held = inner
            held = _put(jax, held, slot, x)
            x, count = loop(
                lambda now: (now[1] < period) & goes_on(now[0]),
                lambda now: (step(now[0]), now[1] + one),
                (x, jax.numpy.int32(0)),
            )
            return x, trips + count, slot + one, held

        x, trips, _, buffers = loop(
            lambda inner: (inner[2] < slots) & goes_on(inner[0]),
            fill,
            (x, trips, jax.numpy.int32(slots // 2), buffers),
        )
        return x, trips, period, buffers

    carry, trips, period, buffers = loop(
        lambda state: goes_on(state[0]), thin_out, (carry, trips, one, buffers)
    )
    return (*carry, trips, period, *buffers)


def walk_back(
    jax: Any,
    step: Callable[[Any], Any],
    pull: Callable[[Any, Any], Any],
    *,
    trips: Any,
    period: Any,
    buffers: Sequence[Any],
    cotangents: Sequence[Any],
    sums: Sequence[Any],
    slots: int,
) -> tuple[Any, ...]:
    """Run the trips backwards.

    Args:
        jax: the module.
        step: one trip, from carry to carry.
        pull: ``pull(x, cts)``, the cotangents of one trip at the carry ``x``: those of the loop's constants,
            to be added up, then those of the carry.
        trips, period, buffers: as :func:`save` gives them.
        cotangents: those of the last carry.
        sums: zeros like the constants' cotangents.
        slots: the number of slots.

    Returns:
        The sums, and the cotangents of the first carry.
    """
    loop, np = jax.lax.while_loop, jax.numpy
    zero, one = np.int32(0), np.int32(1)
    # with all carries saved (period 1) there is one block, which needs no replay
    replays = period > 1
    length = np.where(replays, np.minimum(period, slots), slots)
    stack = _empty(jax, [buffer[0] for buffer in buffers], _DEPTH)
    places = np.full((_DEPTH,), np.iinfo("int32").max, "int32")

    def advance(x: Any, count: Any) -> Any:
        return loop(lambda s: s[1] < count, lambda s: (step(s[0]), s[1] + one), (x, zero))[0]

    def block(state: Any) -> Any:
        first, sums, cts, held, stack, places, depth = state
        depth = loop(lambda d: (d > 0) & (places[d - 1] > first), lambda d: d - one, depth)
        segment = first // period
        of_stack = _get(jax, stack, np.maximum(depth - 1, 0))
        of_buffer = _get(jax, buffers, np.where(replays, segment, 0))
        # the last place on the stack can belong to an earlier segment only if it was taken off
        x = tuple([np.where(depth > 0, a, b) for a, b in zip(of_stack, of_buffer, strict=True)])
        place = np.where(depth > 0, places[np.maximum(depth - 1, 0)], segment * period)

        def climb(inner: Any) -> Any:
            x, place, stack, places, depth = inner
            blocks = (first - place) // length
            count = length * ((blocks + 1) // 2)
            x, place = advance(x, count), place + count
            return x, place, _put(jax, stack, depth, x), places.at[depth].set(place), depth + one

        x, _, stack, places, depth = loop(
            lambda inner: inner[1] < first, climb, (x, np.where(replays, place, first), stack, places, depth)
        )
        count = np.minimum(length, trips - first)

        def replay(inner: Any) -> Any:
            x, k, held = inner
            return step(x), k + one, _put(jax, held, k, x)

        _, _, held = loop(lambda inner: inner[1] < np.where(replays, count, 0), replay, (x, zero, held))

        def back(inner: Any) -> Any:
            k, sums, cts = inner
            found = pull(_get(jax, held, k), cts)
            more = found[: len(sums)]
            return k - one, tuple([a + b for a, b in zip(sums, more, strict=True)]), found[len(sums) :]

        _, sums, cts = loop(lambda inner: inner[0] >= 0, back, (count - one, sums, cts))
        return first - length, sums, cts, held, stack, places, depth

    last = ((trips - 1) // length) * length
    start = (np.where(trips > 0, last, -1), tuple(sums), tuple(cotangents), tuple(buffers))
    state = loop(lambda s: s[0] >= 0, block, (*start, stack, places, zero))
    return (*state[1], *state[2])
