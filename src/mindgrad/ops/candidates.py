"""Candidate sampling: draw random classes, for losses over a few of many classes.

To draw distinct classes, let class i arrive at a random time with rate pᵢ, and take the first classes that
arrive. This has the same distribution as drawing until there are enough distinct classes. The expected count
of a class is 1 − exp(−pᵢ t), where t is the time of the last arrival.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from mindgrad.core.ir.dtype import float32, float64
from mindgrad.core.ir.tensor import Tensor, make_tensor
from mindgrad.ops import arithmetic, math, rounding
from mindgrad.ops.arguments import whole_number
from mindgrad.ops.flow import stop_gradient
from mindgrad.ops.layout import reshape
from mindgrad.ops.operands import broadcast_to, cast, full_tensor, operand
from mindgrad.ops.ordering import topk
from mindgrad.ops.reduction import flag
from mindgrad.ops.registry import public
from mindgrad.ops.rng_bits import exponentials, fractions, seeds_of
from mindgrad.ops.scattering import tensor_scatter_elements

__all__ = ["log_uniform_candidate_sampler", "uniform_candidate_sampler"]


def _rate(classes: Tensor, size: int, logarithmic: bool) -> Tensor:
    """Return the probability of each class in one draw.

    Out-of-range classes are not checked; the formula is evaluated for them as well.
    """
    if not logarithmic:
        return full_tensor(1 / size, float64, classes.shape)
    number = cast(classes, float64)
    ratio = arithmetic.div(arithmetic.add(number, 2.0), arithmetic.add(number, 1.0))
    return arithmetic.div(math.log(ratio), float(np.log(size + 1.0)))


def _sampled(
    operator: str, classes: Any, num_true: Any, num_sampled: Any, unique: Any, range_max: Any, seed: Any,
    remove: bool, logarithmic: bool,
) -> tuple[Tensor, Tensor, Tensor]:  # fmt: skip
    x = operand(classes, operator)
    if x.dtype.kind not in ("int", "uint"):
        raise TypeError(f"For '{operator}', the classes must be integers, but the dtype is {x.dtype}.")
    count = whole_number(num_sampled, operator, "num_sampled", 1)
    size = whole_number(range_max, operator, "range_max", 1)
    per_example = whole_number(num_true, operator, "num_true", 1)
    if x.ndim not in (1, 2) or (x.ndim == 2 and x.shape[1] != per_example):
        raise ValueError(
            f"For '{operator}', the classes must have the shape (n, {num_true}), but their shape is "
            f"{x.shape}."
        )
    distinct = flag(unique, operator, "unique")
    if distinct and count > size:
        raise ValueError(
            f"For '{operator}', {count} distinct classes cannot be drawn from {size} classes. Draw fewer "
            "classes, or pass unique=False."
        )
    if remove and not distinct:
        raise NotImplementedError(
            f"For '{operator}', 'remove_accidental_hits' requires distinct classes. Pass unique=True."
        )
    rates = _rate(make_tensor(np.arange(size)), size, logarithmic)
    seeds = seeds_of(operator, seed)
    if distinct:
        times = arithmetic.div(exponentials(operator, (size,), float64, seeds), rates)
        if remove:
            hits = reshape(x, (-1,))
            times = tensor_scatter_elements(times, hits, broadcast_to(Tensor(np.inf, float64), hits.shape))
        first, sampled = topk(arithmetic.neg(times), count)
        last = arithmetic.neg(first[count - 1])  # type: ignore[index]
        expected = lambda p: arithmetic.neg(math.expm1(arithmetic.neg(arithmetic.mul(p, last))))
    else:
        u = fractions(operator, (count,), float64, seeds)
        sampled = rounding.floor(
            math.expm1(arithmetic.mul(u, float(np.log(size + 1.0))))
            if logarithmic
            else arithmetic.mul(u, float(size))
        )
        expected = lambda p: arithmetic.mul(p, float(count))
    sampled = cast(sampled, x.dtype)
    counts = [stop_gradient(cast(expected(_rate(each, size, logarithmic)), float32)) for each in (x, sampled)]
    return sampled, counts[0], counts[1]


@public(
    "UniformCandidateSampler(num_true: integer, num_sampled: integer, unique: boolean, range_max: integer, "
    "seed=0, remove_accidental_hits=False)(true_classes)"
)
def uniform_candidate_sampler(
    true_classes: Any, num_true: int, num_sampled: int, unique: bool, range_max: int, seed: int = 0,
    remove_accidental_hits: bool = False,
) -> tuple[Tensor, Tensor, Tensor]:  # fmt: skip
    """Draw classes with equal probabilities.

    Args:
        true_classes (Tensor): class indices of n examples, integers of shape (n, num_true).
        num_true (int): number of true classes of each example.
        num_sampled (int): number of classes to draw.
        unique (bool): whether the drawn classes are distinct.
        range_max (int): number of classes; the class indices are 0 to ``range_max`` − 1.
        seed (int): seed of this call; 0 uses the global seed.
        remove_accidental_hits (bool): whether to exclude ``true_classes`` from the draw; requires
            ``unique``.

    Returns:
        Three tensors. The first contains the drawn classes, with shape (num_sampled,) and the dtype of
        ``true_classes``. The second contains the expected number of occurrences of each true class in the
        draw, float32 of shape (n, num_true). The third contains this number for each drawn class, float32 of
        shape (num_sampled,).

    Raises:
        TypeError: If ``true_classes`` is not an integer tensor.
        ValueError: If more distinct classes are requested than exist, or an argument that counts classes is
            below 1.
        NotImplementedError: If ``remove_accidental_hits`` is true and ``unique`` is false.

    >>> from mindgrad import Tensor, ops
    >>> sampled, _, expected = ops.uniform_candidate_sampler(Tensor([[1], [3]]), 1, 5, False, 10)
    >>> print(sampled.shape, expected)
    (5,) [0.5 0.5 0.5 0.5 0.5]
    """
    return _sampled(
        "UniformCandidateSampler", true_classes, num_true, num_sampled, unique, range_max, seed,
        flag(remove_accidental_hits, "UniformCandidateSampler", "remove_accidental_hits"), False,
    )  # fmt: skip


@public(
    "LogUniformCandidateSampler(num_true=1, num_sampled=5, unique=True, range_max=5, seed=0)(true_classes)"
)
def log_uniform_candidate_sampler(
    true_classes: Any, num_true: int = 1, num_sampled: int = 5, unique: bool = True, range_max: int = 5,
    seed: int = 0,
) -> tuple[Tensor, Tensor, Tensor]:  # fmt: skip
    """Draw classes with log-uniform probabilities, for classes sorted by frequency.

    The probability of class i is log((i + 2) / (i + 1)) / log(range_max + 1).

    Args:
        true_classes (Tensor): class indices of n examples, integers of shape (n, num_true).
        num_true (int): number of true classes of each example.
        num_sampled (int): number of classes to draw.
        unique (bool): whether the drawn classes are distinct.
        range_max (int): number of classes; the class indices are 0 to ``range_max`` − 1.
        seed (int): seed of this call; 0 uses the global seed.

    Returns:
        Three tensors. The first contains the drawn classes, with shape (num_sampled,) and the dtype of
        ``true_classes``. The second contains the expected number of occurrences of each true class in the
        draw, float32 of shape (n, num_true). The third contains this number for each drawn class, float32 of
        shape (num_sampled,).

    >>> from mindgrad import Tensor, ops
    >>> sampled, expected, _ = ops.log_uniform_candidate_sampler(Tensor([[1], [3]]), 1, 5, True, 10)
    >>> sampled.shape, expected.shape
    ((5,), (2, 1))
    """
    return _sampled(
        "LogUniformCandidateSampler",
        true_classes,
        num_true,
        num_sampled,
        unique,
        range_max,
        seed,
        False,
        True,
    )
