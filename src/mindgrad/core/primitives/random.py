"""Counter-based random generator, whose bits are a function of a state.

The generator is Threefry-4x32 with 20 rounds (J. K. Salmon, M. A. Moraes, R. O. Dror, D. E. Shaw, *Parallel
random numbers: as easy as 1, 2, 3*, SC 2011). This cipher encrypts a counter of four 32-bit words with a key
of four words. It uses only additions, rotations, and exclusive or. A *draw* is one call of the primitive
:data:`random_bits`. Word k of block i of a draw is

    Threefry(key = (seed₀, seed₁, calls₀, calls₁), counter = (i, 0, s₁, s₂))[k]

where ``s₁, s₂`` are the seeds of the operator that draws. The state has six words,

    (seed₀, seed₁, other₀, other₁, calls₀, calls₁)

If an operator has nonzero seeds, it uses ``other`` instead of ``seed``. Each draw counts as one call, and
returns the bits and the state for the next draw.

Other operators convert bits to uniform numbers. Exponential and normal numbers have separate primitives,
which declare that their results are finite. If the operators ``log`` and ``sqrt`` computed these numbers,
their results would be marked as possibly infinite, and derivatives would contain additional checks.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from mindgrad.core.ir.dtype import DType, float32, float64, uint32
from mindgrad.core.ir.rules import Array, Atoms, BatchAxes, Module, Stored
from mindgrad.core.ir.types import Shape, TensorType, tensor_type
from mindgrad.core.primitives.batching import at_front, placed
from mindgrad.core.primitives.kinds import constant
from mindgrad.core.primitives.samples import case, fixed

if TYPE_CHECKING:
    pass

__all__ = ["STATE_WORDS", "exponential", "normal", "random_bits", "threefry"]

#: number of 32-bit words in the state of a random generator
STATE_WORDS = 6

_GROUPS = 5
_PARITY = np.uint32(0x1BD11BDA)

#: rotation of the odd words (1 and 3) in bits: ``[group, round, word, 1]``. Two groups alternate
_ROTATIONS = np.array(
    [[[10, 26], [11, 21], [13, 27], [23, 5]], [[6, 20], [17, 11], [25, 10], [18, 20]]], np.uint32
)[np.arange(_GROUPS) % 2, ..., None]

# Indices of the key words that each group of rounds adds to the even and odd words of a block. The key has
# four words and a fifth word computed from them. Before the first round, and after each group of four rounds,
# the cipher adds four key words, starting one word later each time. It also adds the group number to the last
# word of the block
_EVEN, _ODD = (
    [(group + word) % 5 for group in range(_GROUPS + 1) for word in pair] for pair in [(0, 2), (1, 3)]
)
_COUNTED = np.array([[[0], [group]] for group in range(_GROUPS + 1)], np.uint32)

#: NumPy computes this many blocks at a time, so that their data stay in the processor cache
_TILE = 4096


def _injections(key: Sequence[Stored], join: Callable) -> tuple[Array, Array]:
    """Return the key words to add to the even and to the odd words of a block."""
    words = [*key, key[0] ^ key[1] ^ key[2] ^ key[3] ^ _PARITY]
    even, odd = (join([words[k] for k in order]).reshape(_COUNTED.shape) for order in (_EVEN, _ODD))
    return even, odd + _COUNTED


def _group(
    even: Array, odd: Array, rotations: Sequence[int], to_even: Callable, to_odd: Callable, swap: Callable
) -> tuple[Array, Array]:
    """Apply four rounds of the cipher to a block, and then add words of the key."""
    for by in rotations:
        even = even + odd
        odd = ((odd << by) | (odd >> (32 - by))) ^ even
        odd = swap(odd)
    return even + to_even, odd + to_odd


def threefry(key: Array, counters: Array) -> Array:
    """Encrypt the blocks ``counters`` of shape (4, n) with a ``key`` of four words.

    >>> import numpy as np
    >>> from mindgrad.core.primitives.random import threefry
    >>> [f"{word:08x}" for word in threefry(np.zeros(4, np.uint32), np.zeros((4, 1), np.uint32))[:, 0]]
    ['9c6ca96a', 'e17eae66', 'fc10ecd4', '5256a7d8']
    """
    to_even, to_odd = _injections(np.split(key, 4), np.concatenate)
    words = np.empty_like(counters)
    for start in range(0, counters.shape[1], _TILE):
        tile = counters[:, start : start + _TILE]
        even, odd = tile[::2] + to_even[0], tile[1::2] + to_odd[0]
        for group in range(_GROUPS):
            even, odd = _group(even, odd, _ROTATIONS[group], to_even[group + 1], to_odd[group + 1], np.flipud)
        words[::2, start : start + _TILE] = even
        words[1::2, start : start + _TILE] = odd
    return words


def _numpy(state: Array, shape: Shape, seeds: tuple[int, int]) -> tuple[Array, Array]:
    if state.ndim > 1:
        size = state.shape[0]
        draws = [_numpy(each, shape, seeds) for each in state]
        bits = np.empty((size, *state.shape[1:-1], *shape), np.uint32)
        after = np.empty_like(state)
        for k, (one, two) in enumerate(draws):
            bits[k], after[k] = one, two
        return bits, after
    count = math.prod(shape)
    counters = np.zeros((4, -(-count // 4)), np.uint32)
    counters[0] = np.arange(counters.shape[1], dtype=np.uint32)
    counters[2:] = np.array(seeds, np.uint32)[:, None]
    key = np.concatenate([state[2:4] if any(seeds) else state[:2], state[4:]])
    after = np.array(state)
    after[4:5] += np.uint32(1)
    after[5:] += after[4:5] == 0
    return threefry(key, counters).reshape(-1)[:count].reshape(shape), after


def _xla(jax: Module, state: Array, shape: Shape, seeds: tuple[int, int]) -> tuple[Array, Array]:
    if state.ndim > 1:
        return jax.vmap(lambda each: _xla(jax, each, shape, seeds))(state)
    lax = jax.lax
    count = math.prod(shape)
    blocks = -(-count // 4)

    def join(parts: Sequence[Array]) -> Array:
        return lax.concatenate(parts, 0)

    def swap(pair: Array) -> Array:
        return lax.rev(pair, (0,))

    words = [lax.slice(state, (k,), (k + 1,)) for k in range(STATE_WORDS)]
    to_even, to_odd = _injections(words[2:] if any(seeds) else [*words[:2], *words[4:]], join)
    counters = lax.iota(np.uint32, blocks), *(lax.full((blocks,), word, np.uint32) for word in (0, *seeds))
    even, odd = (
        join([lax.expand_dims(row, (0,)) for row in pair]) for pair in (counters[::2], counters[1::2])
    )
    # loop over the rounds, because XLA would fuse unrolled rounds with each use of the bits, and recompute
    # them there
    (even, odd), _ = lax.scan(
        lambda pair, each: (_group(pair[0], pair[1], each[:4], each[4], each[5], swap), None),
        (even + lax.index_in_dim(to_even, 0, 0, False), odd + lax.index_in_dim(to_odd, 0, 0, False)),
        (*_ROTATIONS.swapaxes(0, 1), lax.slice_in_dim(to_even, 1, None), lax.slice_in_dim(to_odd, 1, None)),
    )
    # merge the even and the odd words into the order 0, 1, 2, 3
    bits = join([lax.index_in_dim(part, k, 0, False) for k in (0, 1) for part in (even, odd)])
    low = words[4] + np.uint32(1)
    high = words[5] + lax.convert_element_type(lax.eq(low, lax.full_like(low, 0)), np.uint32)
    return lax.reshape(lax.slice(bits, (0,), (count,)), shape), join([*words[:4], low, high])


def _types(state: TensorType, shape: Shape, seeds: tuple[int, int]) -> tuple[TensorType, TensorType]:
    if state.dtype is not uint32 or state.shape[-1:] != (STATE_WORDS,):
        raise TypeError(
            f"For 'random_bits', the state must be {STATE_WORDS} words of UInt32, but got {state}."
        )
    if any(size < 0 for size in shape):
        raise ValueError(f"For 'random_bits', the shape must not be negative, but got {shape}.")
    return tensor_type(uint32, (*state.shape[:-1], *shape)), state


def _batch(size: int, xs: Atoms, at: BatchAxes, shape: Shape, seeds: tuple[int, int]) -> tuple:
    # each state of a batch yields different bits; if there is only one state, all samples share its bits
    return random_bits(at_front(size, xs[0], at[0]), shape=shape, seeds=seeds), (0, 0)


_STATE = np.array([1, 2, 3, 4, 2**32 - 1, 0], np.uint32)

#: ``random_bits(state, shape, seeds)``: uint32 bits of the given shape, and the state after this draw. All
#: axes of ``state`` except the last are batch axes
random_bits = constant(
    "random_bits",
    type_rule=_types,
    numpy=_numpy,
    xla=_xla,
    batch=_batch,
    multiple=True,
    samples=[
        case(fixed(_STATE), shape=(3, 2), seeds=(0, 0), accepts="any"),
        case(fixed(_STATE), shape=(5,), seeds=(7, 8), accepts="any"),
        case(fixed(_STATE), shape=(0, 2), seeds=(0, 0), accepts="any"),
        case(fixed(np.stack([_STATE, _STATE + 1])), shape=(), seeds=(0, 1), accepts="any"),
    ],
)


# --- numbers computed from bits ---------------------------------------------------------------------


def _inside(words: Array, dtype: DType) -> Array:
    """Return numbers in (0, 1]: (w + ½) / 2³² for a word w. float64 uses two words."""
    wide = dtype.numpy.type
    if dtype is float32:
        return (words[0].astype(wide) + wide(0.5)) * wide(2.0**-32)
    low = (words[1].astype(wide) + wide(0.5)) * wide(2.0**-64)
    return words[0].astype(wide) * wide(2.0**-32) + low


def _fraction(words: Array, dtype: DType) -> Array:
    """Return numbers in [0, 1): multiples of 2⁻²⁴, or of 2⁻⁵³ from two words."""
    wide = dtype.numpy.type
    if dtype is float32:
        return (words[0] >> np.uint32(8)).astype(wide) * wide(2.0**-24)
    low = (words[1] >> np.uint32(6)).astype(wide) * wide(2.0**-53)
    return (words[0] >> np.uint32(5)).astype(wide) * wide(2.0**-27) + low


def _exponential(numbers: Module, words: Array, dtype: DType) -> Array:
    return -numbers.log(_inside(words, dtype))


def _normal(numbers: Module, words: Array, dtype: DType) -> Array:
    half = words.shape[0] // 2
    wide = dtype.numpy.type
    radius = numbers.sqrt(wide(-2) * numbers.log(_inside(words[:half], dtype)))
    angle = wide(2 * math.pi) * _fraction(words[half:], dtype)
    return numbers.stack([radius * numbers.cos(angle), radius * numbers.sin(angle)])


def _words_rule(name: str, per_number: int, results: tuple[int, ...]) -> Callable:
    def rule(words: TensorType, dtype: DType) -> TensorType:
        if dtype not in (float32, float64):
            raise TypeError(f"For '{name}', the dtype must be Float32 or Float64, but got {dtype}.")
        needed = per_number * (1 if dtype is float32 else 2)
        if words.dtype is not uint32 or words.shape[:1] != (needed,):
            raise TypeError(f"For '{name}', the words must be {needed} rows of UInt32, but got {words}.")
        return tensor_type(dtype, (*results, *words.shape[1:]))

    return rule


#: ``exponential(words, dtype)``: exponentially distributed numbers −log u, with uniform u from ``words``
exponential = constant(
    "exponential",
    type_rule=_words_rule("exponential", 1, ()),
    numpy=lambda words, dtype: _exponential(np, words, dtype),
    xla=lambda jax, words, dtype: _exponential(jax.numpy, words, dtype),
    batch=lambda size, xs, at, dtype: (exponential(placed(size, xs[0], at[0], 1), dtype=dtype), 0),
    samples=[
        case(fixed(np.array([[0, 1, 2**31, 2**32 - 1]], np.uint32)), dtype=float32, accepts="any"),
        case(fixed(np.array([[0, 5, 2**32 - 1]] * 2, np.uint32)), dtype=float64, accepts="any"),
    ],
)

#: ``normal(words, dtype)``: pairs of normal numbers √(−2 log u) · (cos 2πv, sin 2πv), with uniform u and v
#: (G. E. P. Box, M. E. Muller, *A note on the generation of random normal deviates*, 1958)
normal = constant(
    "normal",
    type_rule=_words_rule("normal", 2, (2,)),
    numpy=lambda words, dtype: _normal(np, words, dtype),
    xla=lambda jax, words, dtype: _normal(jax.numpy, words, dtype),
    batch=lambda size, xs, at, dtype: (normal(placed(size, xs[0], at[0], 1), dtype=dtype), 1),
    samples=[
        case(
            fixed(np.array([[0, 1, 2**32 - 1], [7, 2**30, 2**31]], np.uint32)), dtype=float32, accepts="any"
        ),
        case(fixed(np.array([[0, 2**32 - 1], [5, 6]] * 2, np.uint32)), dtype=float64, accepts="any"),
    ],
)
