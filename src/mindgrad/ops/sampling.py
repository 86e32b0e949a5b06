"""Random sampling: permutations, categories, and indices of true mask elements.

The drawn indices have no derivative. Values that are looked up with them have the derivative of the lookup.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from mindgrad.core.arrays.index_checks import known
from mindgrad.core.ir.dtype import as_dtype, bool_, float64, int32, int64, uint64
from mindgrad.core.ir.scope import apply
from mindgrad.core.ir.tensor import Tensor
from mindgrad.core.primitives import arithmetic, elementwise, logic, static_slices, structural
from mindgrad.core.primitives.sorting import argsort
from mindgrad.core.primitives.unstacking import unstack
from mindgrad.ops import activation, cumulative, extremes, indexing, matrices, ordering, padding
from mindgrad.ops.arguments import axis_in_range, number, whole_number
from mindgrad.ops.flow import stop_gradient
from mindgrad.ops.operands import broadcast_to, cast, choose, inexact, operand
from mindgrad.ops.reduction import flag
from mindgrad.ops.registry import public
from mindgrad.ops.rng_bits import NO_SEEDS, bits, combined, exponentials, fractions, require, seeds_of

__all__ = [
    "choice_with_mask", "gumbel_softmax", "multinomial", "multinomial_with_replacement", "random_categorical",
    "randperm", "shuffle",
]  # fmt: skip


def _order(operator: str, size: int, seeds: tuple[int, int]) -> Tensor:
    """Return the int32 numbers below ``size``, sorted by random 64-bit keys."""
    high, low = (cast(each, uint64) for each in apply(unstack, bits(operator, (2, size), seeds)))
    keys = apply(logic.bitwise_or, combined(logic.shift_left, high, 32), low)
    return apply(argsort, keys, axis=0, descending=False)


def randperm(n: int, seed: int | None = 0, offset: int = 0, dtype: Any = int64) -> Tensor:
    """Return a random permutation of the integers from 0 to ``n`` − 1.

    Args:
        n (int): number of integers to permute.
        seed (int or None): seed of this call. 0 and ``None`` use the global seed.
        offset (int): second seed, which is combined with ``seed``.
        dtype (mindgrad.dtype): dtype of the result.

    Returns:
        Tensor of the permuted integers, of shape (n,).

    Raises:
        TypeError: If an argument is not an int.
        ValueError: If an argument is negative, or n − 1 does not fit into ``dtype``.

    >>> from mindgrad import ops
    >>> print(ops.sort(ops.randperm(4))[0])
    [0 1 2 3]
    """
    if isinstance(n, Tensor):
        n = known(operand(n, "Randperm"))  # type: ignore[assignment]
        if n is None:
            raise ValueError(
                "For 'Randperm', the 'n' must be known at compile time, because the shape of the result "
                "depends on it. Pass an int."
            )
    count = whole_number(n, "Randperm", "n", least=0)
    element_type = as_dtype(dtype)
    largest = 2**11 if element_type.is_float else np.iinfo(element_type.numpy).max
    if element_type.kind not in ("int", "uint", "float") or (
        count - 1 > largest and element_type.itemsize < 4
    ):
        raise ValueError(f"For 'Randperm', the integers below {count} do not fit the type {element_type}.")
    return cast(_order("Randperm", count, seeds_of("Randperm", (seed, offset))), element_type)


@public(
    "RandomShuffle(seed=0, seed2=0)(x)(seed=(self.seed, self.seed2)) >>> ops.RandomShuffle(seed=2)"
    "(Tensor([3.0, 3.0])) => [3. 3.]",
)
def shuffle(x: Any, seed: int | None = None) -> Tensor:
    """Shuffle the slices of a tensor along the first axis.

    Args:
        x (Tensor): tensor to shuffle. A 0-D tensor is returned unchanged.
        seed (int or None): random seed of this call. ``None`` uses the global seed of ``mindgrad.set_seed``.

    Returns:
        Tensor with the shape of ``x``.

    Raises:
        TypeError: If ``x`` is not a tensor, or ``seed`` is not an int.

    >>> from mindgrad import Tensor, ops
    >>> print(ops.shuffle(Tensor([3.0, 3.0])))
    [3. 3.]
    """
    if not isinstance(x, Tensor):
        raise TypeError(f"For 'RandomShuffle', the input must be a Tensor, but got {type(x).__name__}.")
    tensor = operand(x, "RandomShuffle")
    if not tensor.ndim:
        return tensor
    order = _order("RandomShuffle", tensor.shape[0], seeds_of("RandomShuffle", seed))
    return indexing.gather(tensor, order, 0)


@public(
    "Tensor",
    "Multinomial(seed=0, seed2=0, dtype=int32)(x, num_samples)(replacement=True, seed=(self.seed, "
    "self.seed2)) -> cast(_, self.dtype) >>> ops.Multinomial(seed=2)(Tensor([0.0, 5.0]), 3) => [1 1 1]",
)
def multinomial(input: Any, num_samples: int, replacement: bool = True, seed: int | None = None) -> Tensor:
    """Draw category indices with given probabilities.

    With replacement, each draw inverts the distribution function. Without replacement, the categories with
    the smallest exponential waiting times are drawn (Efraimidis and Spirakis, *Weighted random sampling*,
    2006).

    Args:
        input (Tensor): nonnegative weights of the categories, of shape (categories,) or (rows, categories).
            Each row is divided by its sum.
        num_samples (int): number of draws from each row.
        replacement (bool): whether a category can be drawn more than once.
        seed (int or None): random seed of this call. ``None`` uses the global seed of ``mindgrad.set_seed``.

    Returns:
        int32 tensor of shape ``(num_samples,)`` or ``(rows, num_samples)``.

    Raises:
        TypeError: If an argument has the wrong type.
        ValueError: If ``input`` is 0-D or has more than two axes, a probability is negative or not finite, or
            all probabilities of a row are 0. Also if ``replacement`` is false and a row has fewer than
            ``num_samples`` positive probabilities.

    >>> from mindgrad import Tensor, ops
    >>> print(ops.multinomial(Tensor([0.0, 5.0, 0.0]), 4))
    [1 1 1 1]
    """
    return _multinomial("Multinomial", input, num_samples, replacement, seeds_of("Multinomial", seed))


def _multinomial(
    operator: str, input: Any, num_samples: Any, replacement: Any, seeds: tuple[int, int]
) -> Tensor:
    weights = cast(inexact(operand(input, operator)), float64)
    count = whole_number(num_samples, operator, "num_samples", least=0)
    if not isinstance(replacement, bool):
        raise TypeError(f"For '{operator}', the 'replacement' must be a bool, but got {replacement!r}.")
    if weights.ndim not in (1, 2) or not weights.shape[-1]:
        raise ValueError(
            f"For '{operator}', the probabilities must be a vector or a matrix with at least one column, but "
            f"their shape is {weights.shape}."
        )
    require(operator, "input", weights, lambda v: (v >= 0) & np.isfinite(v), "finite and not negative")
    values = known(weights)
    if values is not None:
        possible = np.count_nonzero(values, axis=-1)
        least = 1 if replacement else count
        if (possible < least).any():
            raise ValueError(
                f"For '{operator}', each row must have at least {least} probabilities above 0"
                f"{'' if replacement else ', one per draw without replacement'}, but one has "
                f"{possible.min()}."
            )
    rows = weights.shape[:-1]
    if replacement:
        sums = cumulative.cumsum(weights, -1)
        total = sums[..., -1:]  # type: ignore[index]
        drawn = fractions(operator, (*rows, count), float64, seeds)
        return ordering.searchsorted(
            sums, apply(arithmetic.mul, drawn, broadcast_to(total, drawn.shape)), out_int32=True, right=True
        )
    waits = exponentials(operator, weights.shape, float64, seeds)
    # The categories with the shortest waiting times are drawn. A category with weight 0 has an infinite
    # waiting time.
    times = apply(arithmetic.div, combined(arithmetic.add, waits, 2.0**-70), weights)
    places = apply(argsort, times, axis=len(rows), descending=False)
    return places[..., :count]  # type: ignore[index]


def multinomial_with_replacement(
    x: Any, seed: int | None, offset: int, numsamples: int, replacement: bool = False
) -> Tensor:
    """Draw category indices, with two seeds and int64 results.

    See :func:`multinomial`.

    Args:
        x (Tensor): nonnegative weights of the categories, of shape (categories,) or (rows, categories).
        seed, offset (int or None): two random seeds of this call. If both are 0, the global seed is used.
        numsamples (int): number of draws from each row.
        replacement (bool): whether a category can be drawn more than once.

    Returns:
        int64 tensor of shape ``(numsamples,)`` or ``(rows, numsamples)``.

    >>> from mindgrad import Tensor, ops
    >>> print(ops.multinomial_with_replacement(Tensor([0.0, 5.0]), 2, 5, 3, True))
    [1 1 1]
    """
    name = "MultinomialWithReplacement"
    return cast(_multinomial(name, x, numsamples, replacement, seeds_of(name, (seed, offset))), int64)


@public("Tensor", "RandomCategorical(dtype=int64)(logits, num_sample, seed=0)")
def random_categorical(logits: Any, num_sample: int, seed: int | None = 0, dtype: Any = int64) -> Tensor:
    """Draw category indices with probabilities softmax(``logits``).

    Args:
        logits (Tensor): matrix of shape (rows, categories), one distribution per row. A category with logit
            −∞ is never drawn.
        num_sample (int): number of draws from each row, with replacement.
        seed (int or None): seed of this call; 0 and ``None`` use the global seed.
        dtype (mindgrad.dtype): integer dtype of the result.

    Returns:
        Integer tensor of shape (rows, num_sample).

    Raises:
        TypeError: If an argument has the wrong type.
        ValueError: If ``logits`` is not a matrix.

    >>> from mindgrad import Tensor, ops
    >>> print(ops.random_categorical(Tensor([[0.0, 200.0]]), 3))
    [[1 1 1]]
    """
    scores = inexact(operand(logits, "RandomCategorical"))
    if scores.ndim != 2:
        raise ValueError(
            f"For 'RandomCategorical', the 'logits' must be a matrix, but their shape is {scores.shape}."
        )
    wide = cast(scores, float64)
    shifted = wide - wide.max(1, keepdims=True)  # type: ignore[operator, attr-defined]
    seeds = seeds_of("RandomCategorical", seed)
    found = _multinomial("RandomCategorical", apply(elementwise.exp, shifted), num_sample, True, seeds)
    return cast(found, as_dtype(dtype))


def gumbel_softmax(logits: Any, tau: float = 1.0, hard: bool = False, dim: int = -1) -> Tensor:
    """Draw a random category as differentiable probabilities.

        y = softmax((logits + noise) / tau)        noise = −log E, E exponentially distributed

    See E. Jang, S. Gu, B. Poole, *Categorical reparameterization with Gumbel-softmax* (2017). For small
    ``tau``, y is close to the one-hot vector of its largest probability.

    Args:
        logits (Tensor): floating-point tensor.
        tau (float): positive temperature. For small values, the result is close to a one-hot vector.
        hard (bool): whether to return the one-hot vector of the largest probability; its derivative is the
            derivative of the probabilities (straight-through estimator).
        dim (int): axis of the categories.

    Returns:
        Tensor with the shape of ``logits``.

    Raises:
        TypeError: If an argument has the wrong type.
        ValueError: If ``tau`` is not positive, or ``dim`` is out of range.

    >>> import mindgrad as ms
    >>> ms.set_seed(1)
    >>> found = ms.ops.gumbel_softmax(ms.Tensor([[0.0, 1.0], [2.0, 0.0]]), hard=True)
    >>> print(found.sum(1))
    [1. 1.]
    """
    name = "GumbelSoftmax"
    scores = operand(logits, name)
    if not scores.dtype.is_float:
        raise TypeError(
            f"For '{name}', the 'logits' must be floating-point, but their dtype is {scores.dtype}."
        )
    if not number(tau, name, "tau") > 0:
        raise ValueError(f"For '{name}', the 'tau' must be above 0, but got {tau}.")
    axis = axis_in_range(dim, scores.ndim, name, "dim")
    waits = combined(arithmetic.add, exponentials(name, scores.shape, scores.dtype, NO_SEEDS), 2.0**-24)
    moved = apply(arithmetic.sub, scores, stop_gradient(apply(elementwise.log, waits)))
    shares = activation.softmax(combined(arithmetic.div, moved, tau), axis)
    if not flag(hard, name, "hard"):
        return shares
    one_hot: Any = matrices.one_hot(extremes.argmax(shares, axis), scores.shape[axis], 1.0, 0.0, axis)
    return cast(one_hot, scores.dtype) - stop_gradient(shares) + shares  # type: ignore[operator, no-any-return]


@public(
    "RandomChoiceWithMask(count=256, seed=0, seed2=0)(x)(seed=(self.seed, "
    "self.seed2)) >>> ops.RandomChoiceWithMask(2)(Tensor([False, True]))[1] => [ True False]",
)
def choice_with_mask(input_x: Any, count: int = 256, seed: int | None = None) -> tuple[Tensor, Tensor]:
    """Choose ``count`` random indices of true elements, in random order.

    Args:
        input_x (Tensor): Boolean tensor with one to five axes.
        count (int): number of indices to choose.
        seed (int or None): random seed of this call. ``None`` uses the global seed of ``mindgrad.set_seed``.

    Returns:
        Two tensors: the int32 indices, of shape ``(count, number of axes)``, and a Boolean tensor of shape
        ``(count,)`` that marks valid indices. If ``input_x`` has fewer than ``count`` true elements, the
        remaining indices are 0 and not valid.

    Raises:
        TypeError: If ``input_x`` is not Boolean, or an argument is not an int.
        ValueError: If ``input_x`` is 0-D or has more than five axes, or ``count`` is not positive.

    >>> from mindgrad import Tensor, ops
    >>> places, chosen = ops.choice_with_mask(Tensor([False, True, False]), 2)
    >>> print(places.tolist(), chosen)
    [[1], [0]] [ True False]
    """
    name = "RandomChoiceWithMask"
    mask = operand(input_x, name)
    number = whole_number(count, name, "count", least=1)
    if mask.dtype is not bool_:
        raise TypeError(f"For '{name}', the input must contain Booleans, but its dtype is {mask.dtype}.")
    if not 1 <= mask.ndim <= 5:
        raise ValueError(
            f"For '{name}', the input must have one to five axes, but its shape is {mask.shape}."
        )
    size = mask.size
    flat = apply(structural.reshape, mask, shape=(size,))
    order = _order(name, size, seeds_of(name, seed))
    # a stable sort moves the true elements of the shuffled mask to the front, in random order
    first = apply(argsort, cast(indexing.gather(flat, order, 0), int32), axis=0, descending=True)
    chosen_order = indexing.gather(order, first[:number], 0)  # type: ignore[index]
    chosen = indexing.gather(flat, chosen_order, 0)
    if size < number:
        chosen_order, chosen = (
            padding.padded(x, [(0, number - size)], "constant") for x in (chosen_order, chosen)
        )
    remaining: Any = choose(chosen, chosen_order, 0)
    columns = []
    for length in reversed(mask.shape):
        columns.append(apply(structural.reshape, remaining % length, shape=(number, 1)))
        remaining = remaining // length
    return apply(static_slices.concatenate, *reversed(columns), axis=1), chosen
