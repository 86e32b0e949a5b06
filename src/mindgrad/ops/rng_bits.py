"""Draw random bits and convert them to fractions, normal numbers, and integers.

Each draw advances the state of the generator, and derivatives treat the drawn numbers as constants. Bits,
fractions, integers, and comparisons of them are computed without rounding, so they are equal on every
device. Normal numbers agree up to rounding.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

import numpy as np

from mindgrad.common.generator import state_of_generator
from mindgrad.common.parameter import Parameter
from mindgrad.common.seed import RANDOM_STATE
from mindgrad.core.arrays.index_checks import known
from mindgrad.core.ir.dtype import (
    DType,
    as_dtype,
    bfloat16,
    bool_,
    float16,
    float32,
    float64,
    int64,
    promote,
    uint64,
)
from mindgrad.core.ir.primitive import Primitive
from mindgrad.core.ir.scope import apply
from mindgrad.core.ir.tensor import Tensor, scalar_tensor
from mindgrad.core.ir.types import tensor_type
from mindgrad.core.primitives import arithmetic, comparisons, logic, random, static_slices, structural
from mindgrad.core.primitives.unstacking import unstack
from mindgrad.core.trace import references
from mindgrad.frontend.programs.donation import window
from mindgrad.ops import creation
from mindgrad.ops.arguments import sizes, whole_number
from mindgrad.ops.operands import broadcast_shapes, broadcast_to, cast, inexact, operand

__all__ = [
    "NO_SEEDS", "bits", "combined", "drawing_from", "exponentials", "floating", "fractions", "integers",
    "normals", "parameters", "require", "seeds_of", "shape_of", "with_probability",
]  # fmt: skip

#: Parameter with the state of the generator that is used in the current context
_source: ContextVar[Parameter] = ContextVar("source", default=RANDOM_STATE)

#: seeds of an operator that uses only the global state
NO_SEEDS = (0, 0)

#: number of significand bits of each dtype, including the implicit bit
_PRECISION = {float16: 11, bfloat16: 8, float32: 24}


def seeds_of(operator: str, seed: Any) -> tuple[int, int]:
    """Check the seed or the pair of seeds of an operator; ``None`` and 0 mean none.

    Raises:
        TypeError: If a seed is not an int.
        ValueError: If a seed is negative or above 2³² − 1.
    """
    seeds = []
    pair = seed if isinstance(seed, tuple) else (seed, 0)
    for name, value in zip(("seed", "seed2"), pair, strict=True):
        number = 0 if value is None else whole_number(value, operator, name, least=0)
        if number >= 2**32:
            raise ValueError(f"For '{operator}', the '{name}' must be below 2**32, but got {number}.")
        seeds.append(number)
    return seeds[0], seeds[1]


def floating(operator: str, dtype: Any) -> DType:
    """Return the dtype of random numbers, by default float32.

    Raises:
        TypeError: If ``dtype`` is not a floating-point type.
    """
    element_type = float32 if dtype is None else as_dtype(dtype)
    if not element_type.is_float:
        raise TypeError(
            f"For '{operator}', the 'dtype' must be a floating-point type, but got {element_type}."
        )
    return element_type


def shape_of(operator: str, shape: Any) -> tuple[int, ...]:
    """Return the shape of the random numbers.

    Raises:
        TypeError: If a size is not an int.
        ValueError: If a size is negative.
    """
    return sizes(shape, operator, "shape", least=0)


def require(operator: str, name: str, x: Tensor, holds: Callable[[np.ndarray], Any], words: str) -> None:
    """Check the elements of ``x``, if their values are known.

    Raises:
        ValueError: If ``holds`` is false for an element; ``words`` is the condition in words.
    """
    values = known(x)
    if values is not None:
        wrong = ~np.asarray(holds(values))
        if wrong.any():
            raise ValueError(
                f"For '{operator}', the '{name}' must be {words}, but got {values[wrong].flat[0]}."
            )


def parameters(
    operator: str, shape: Any, values: dict[str, Any]
) -> tuple[tuple[int, ...], DType, list[Tensor]]:
    """Return the shape and dtype of random numbers, and their parameters.

    The parameters of the distribution in ``values`` are cast and broadcast to this dtype and shape.
    """
    tensors = [inexact(operand(x, operator)) for x in values.values()]
    dtype = float32
    for tensor in tensors:
        if not tensor.dtype.is_float:
            name = list(values)[tensors.index(tensor)]
            raise TypeError(f"For '{operator}', the '{name}' must be real, but its dtype is {tensor.dtype}.")
        dtype = promote(dtype, tensor.dtype)
    whole = broadcast_shapes(operator, shape_of(operator, shape), *[t.shape for t in tensors])
    return whole, dtype, [broadcast_to(cast(t, dtype), whole) for t in tensors]


def combined(primitive: Primitive, x: Tensor, number: Any) -> Tensor:
    """Apply a binary primitive to a tensor and a number, which gets the tensor's type."""
    return apply(primitive, x, scalar_tensor(number, x.type))


def bits(operator: str, shape: tuple[int, ...], seeds: tuple[int, int]) -> Tensor:
    """Draw random bits as uint32."""
    source = _source.get()
    if not references.is_stored(source):
        words, after = apply(random.random_bits, operand(source, operator), shape=shape, seeds=seeds)
        references.write(source, after)
        return words
    with window:  # two threads must not draw from the same state
        words, after = apply(random.random_bits, operand(source, operator), shape=shape, seeds=seeds)
        references.advance(source, after)
    return words


@contextmanager
def drawing_from(generator: Any, operator: str) -> Iterator[None]:
    """A context in which this thread draws from ``generator``.

    Raises:
        TypeError: If ``generator`` is neither a Generator nor ``None``, which means the default generator.
    """
    token = _source.set(state_of_generator(generator, operator))
    try:
        yield
    finally:
        _source.reset(token)


def fractions(operator: str, shape: tuple[int, ...], dtype: DType, seeds: tuple[int, int]) -> Tensor:
    """Draw uniformly from equidistant numbers in [0, 1).

    The numbers are the multiples of 2⁻ᵖ, where p is the number of bits of the significand of ``dtype``.
    """
    if dtype is float64:
        high, low = apply(unstack, bits(operator, (2, *shape), seeds))
        return apply(arithmetic.add, _scaled(high, 27, 27, dtype), _scaled(low, 26, 53, dtype))
    kept = _PRECISION[dtype]
    return _scaled(bits(operator, shape, seeds), kept, kept, dtype)


def _scaled(words: Tensor, kept: int, scale: int, dtype: DType) -> Tensor:
    """Return the highest ``kept`` bits of each word, times 2^(−``scale``)."""
    whole = combined(logic.shift_right, words, 32 - kept)
    return combined(arithmetic.mul, cast(whole, dtype), 2.0**-scale)


def with_probability(
    operator: str, probability: float, shape: tuple[int, ...], seeds: tuple[int, int]
) -> Tensor:
    """Draw Booleans that are true with ``probability``, rounded to 32 bits."""
    below = round(probability * 2**32)
    if not 0 < below < 2**32:
        return creation.full(shape, below > 0, dtype=bool_)
    return combined(comparisons.less, bits(operator, shape, seeds), below)


def exponentials(operator: str, shape: tuple[int, ...], dtype: DType, seeds: tuple[int, int]) -> Tensor:
    """Draw exponentially distributed numbers with mean 1."""
    wide = float64 if dtype is float64 else float32
    words = bits(operator, (2 if wide is float64 else 1, *shape), seeds)
    return cast(apply(random.exponential, words, dtype=wide), dtype)


def normals(operator: str, shape: tuple[int, ...], dtype: DType, seeds: tuple[int, int]) -> Tensor:
    """Draw normal numbers with mean 0 and variance 1."""
    count = math.prod(shape)
    wide = float64 if dtype is float64 else float32
    words = bits(operator, (4 if wide is float64 else 2, -(-count // 2)), seeds)
    numbers = apply(random.normal, words, dtype=wide)
    numbers = apply(structural.reshape, numbers, shape=(numbers.size,))
    if count % 2:
        numbers = apply(static_slices.slice, numbers, start=(0,), limit=(count,), strides=(1,))
    return cast(apply(structural.reshape, numbers, shape=shape), dtype)


# --- random integers ---------------------------------------------------------------------------------

_LOW_HALF = 0xFFFFFFFF


def integers(
    operator: str, shape: tuple[int, ...], low: Any, high: Any, dtype: DType, seeds: tuple[int, int]
) -> Tensor:
    """Draw integers from ``low`` (included) to ``high`` (excluded).

    Both bounds are ints or integer tensors of types up to int64. A random number x of 64 bits becomes
    ``low + ⌊x · (high − low) / 2⁶⁴⌋``; if ``high − low`` can be above 2³², x has 96 bits. The relative error
    of the probability of each integer is then at most 2⁻³².
    """
    if isinstance(low, int) and isinstance(high, int):
        span = high - low
        count = 1 if span <= 2**32 else 2
        distance: list[Tensor] = [
            scalar_tensor(part, tensor_type(uint64, shape))
            for part in ([span] if count == 1 else [span & _LOW_HALF, span >> 32])
        ]
        first = scalar_tensor(low, tensor_type(int64, shape))
    else:
        start, end = (operand(x, operator) for x in (low, high))
        count = 1 if max(start.dtype.itemsize, end.dtype.itemsize) <= 4 else 2
        first = broadcast_to(cast(start, int64), shape)
        span_tensor = cast(apply(arithmetic.sub, broadcast_to(cast(end, int64), shape), first), uint64)
        distance = [span_tensor] if count == 1 else list(_halves(span_tensor))
    words = apply(unstack, bits(operator, (count + 1, *shape), seeds))
    parts = _high_product([cast(word, uint64) for word in words], distance)
    offset = parts[0]
    if count == 2:
        offset = apply(arithmetic.add, offset, combined(logic.shift_left, parts[1], 32))
    return cast(apply(arithmetic.add, first, cast(offset, int64)), dtype)


def _halves(x: Tensor) -> tuple[Tensor, Tensor]:
    """Split into the low and the high 32 bits."""
    return combined(logic.bitwise_and, x, _LOW_HALF), combined(logic.shift_right, x, 32)


def _high_product(x: list[Tensor], factor: list[Tensor]) -> list[Tensor]:
    """Return the highest ``len(factor)`` words of the product ``x`` · ``factor``.

    Numbers are lists of 32-bit words, the lowest word first.
    """
    total: list[Tensor | None] = [None] * (len(x) + len(factor))
    for i, factor_x in enumerate(x):
        carry: Tensor | None = None
        for j, factor_y in enumerate(factor):
            product = apply(arithmetic.mul, factor_x, factor_y)
            for term in (total[i + j], carry):
                if term is not None:
                    product = apply(arithmetic.add, product, term)
            total[i + j], carry = _halves(product)
        total[i + len(factor)] = carry
    return [word for word in total[len(x) :] if word is not None]
