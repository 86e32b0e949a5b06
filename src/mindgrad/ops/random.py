"""Random numbers: uniform, normal, Laplace, and Bernoulli numbers, and integers.

Every call returns new numbers. After ``mindgrad.set_seed`` the numbers repeat, in eager mode and in compiled
functions alike. Gradients flow to the parameters of a distribution if its numbers are a function of the
parameters and of independent noise: ``mean + stddev · noise`` (D. P. Kingma, M. Welling, *Auto-encoding
variational Bayes*, 2014).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from mindgrad.core.arrays.index_checks import known
from mindgrad.core.ir.dtype import DType, as_dtype, float32, float64, int64, promote
from mindgrad.core.ir.scope import apply
from mindgrad.core.ir.tensor import Tensor
from mindgrad.core.primitives import arithmetic, comparisons
from mindgrad.core.primitives.unstacking import unstack
from mindgrad.ops.arguments import varargs, whole_number
from mindgrad.ops.operands import broadcast_shapes, broadcast_to, cast, inexact, operand
from mindgrad.ops.registry import public
from mindgrad.ops.rng_bits import (
    exponentials,
    floating,
    fractions,
    integers,
    normals,
    parameters,
    require,
    seeds_of,
    shape_of,
    with_probability,
)

__all__ = [
    "bernoulli", "laplace", "normal", "rand", "rand_like", "randint", "randint_like", "randn",
    "randn_like", "standard_laplace", "standard_normal", "uniform",
]  # fmt: skip


# --- normal distribution -----------------------------------------------------------------------------


@public(
    "StandardNormal(seed=0, seed2=0)(shape)(seed=(self.seed, self.seed2)) >>> ops.StandardNormal(seed=2)"
    "((2, 3)).shape => (2, 3)",
)
def standard_normal(shape: Any, seed: int | None = None) -> Tensor:
    """Draw normal random numbers with mean 0 and variance 1.

    Args:
        shape (int or tuple of int): shape of the result.
        seed (int or None): random seed of this call. ``None`` uses the global seed of ``mindgrad.set_seed``.

    Returns:
        float32 tensor of random numbers, of shape ``shape``.

    Raises:
        TypeError: If an entry of ``shape`` or ``seed`` is not an int.
        ValueError: If a size or the seed is negative.

    >>> import mindgrad as ms
    >>> ms.set_seed(1)
    >>> ms.ops.standard_normal((2, 3)).shape
    (2, 3)
    """
    return normals(
        "StandardNormal", shape_of("StandardNormal", shape), float32, seeds_of("StandardNormal", seed)
    )


def normal(shape: Any, mean: Any, stddev: Any, seed: int | None = None) -> Tensor:
    """Draw normal random numbers, differentiable in mean and deviation.

    The result is ``mean + stddev · noise``.

    Args:
        shape (int or tuple of int): shape of the result before it is broadcast with ``mean`` and ``stddev``.
        mean (Tensor or number): the mean.
        stddev (Tensor or number): nonnegative standard deviation of the distribution.
        seed (int or None): random seed of this call. ``None`` uses the global seed of ``mindgrad.set_seed``.

    Returns:
        Tensor with the broadcast shape. The dtype is float64 if ``mean`` or ``stddev`` is float64, otherwise
        float32.

    Raises:
        TypeError: If an argument has the wrong type.
        ValueError: If the shapes do not broadcast, or ``stddev`` is negative.

    >>> import mindgrad as ms
    >>> ms.set_seed(1)
    >>> print(ms.ops.normal((3,), ms.Tensor(5.0), 0.0))
    [5. 5. 5.]
    >>> print(ms.grad(lambda mean: ms.ops.normal((3,), mean, 2.0))(ms.Tensor(5.0)))
    3.0
    """
    whole, dtype, (center, width) = parameters("Normal", shape, {"mean": mean, "stddev": stddev})
    require("Normal", "stddev", width, lambda v: v >= 0, "at least 0")
    noise = normals("Normal", whole, dtype, seeds_of("Normal", seed))
    return apply(arithmetic.add, center, apply(arithmetic.mul, width, noise))


def randn(*size: Any, dtype: Any = None, seed: int | None = None) -> Tensor:
    """Draw normal random numbers with mean 0 and variance 1.

    Args:
        *size (int or tuple of int): shape of the result, as ``randn(2, 3)`` or ``randn((2, 3))``. If no size
            is passed, the result is 0-D.
        dtype (mindgrad.dtype): floating-point dtype of the result. ``None`` means float32.
        seed (int or None): random seed of this call. ``None`` uses the global seed of ``mindgrad.set_seed``.

    Returns:
        Tensor of random numbers, of shape ``size``.

    Raises:
        TypeError: If an entry of ``size`` is not an int, or ``dtype`` is not a floating-point dtype.
        ValueError: If a size is negative.

    >>> from mindgrad import ops
    >>> ops.randn(2, 3).shape
    (2, 3)
    """
    return normals(
        "Randn", shape_of("Randn", varargs(size)), floating("Randn", dtype), seeds_of("Randn", seed)
    )


def randn_like(input: Any, seed: int | None = None, *, dtype: Any = None) -> Tensor:
    """Draw normal random numbers in the shape of a tensor.

    Args:
        input (Tensor): tensor whose shape is used.
        seed (int or None): random seed of this call. ``None`` uses the global seed of ``mindgrad.set_seed``.
        dtype (mindgrad.dtype): floating-point dtype of the result. ``None`` means float32, as in MindSpore.

    Returns:
        Tensor with the shape of ``input``.

    >>> from mindgrad import Tensor, ops
    >>> ops.randn_like(Tensor([[1.0, 2.0]])).shape
    (1, 2)
    """
    like = operand(input, "RandnLike")
    return randn(like.shape, dtype=dtype, seed=seed)


# --- uniform distribution ----------------------------------------------------------------------------


def uniform(shape: Any, minval: Any, maxval: Any, seed: int | None = None, dtype: Any = float32) -> Tensor:
    """Draw uniform random numbers from ``minval`` to ``maxval``.

        minval + (maxval − minval) · noise        noise in [0, 1)

    For an integer dtype, ``maxval`` is excluded.

    Args:
        shape (int or tuple of int): shape of the result before it is broadcast with ``minval`` and
            ``maxval``.
        minval, maxval (Tensor or number): lower and upper bound of the numbers. If ``dtype`` is an integer
            dtype, the bounds must be ints or integer tensors.
        seed (int or None): random seed of this call. ``None`` uses the global seed of ``mindgrad.set_seed``.
        dtype (mindgrad.dtype): dtype of the result: a floating-point dtype, int32, or int64. If a bound is
            float64, the result is float64 too.

    Returns:
        Tensor with the broadcast shape, differentiable with respect to the bounds unless they are integers.

    Raises:
        TypeError: If an argument has the wrong type.
        ValueError: If the shapes do not broadcast, or ``minval`` is not below ``maxval``.

    >>> import mindgrad as ms
    >>> ms.set_seed(1)
    >>> found = ms.ops.uniform((100,), 2.0, 3.0)
    >>> print((found >= 2).all(), (found <= 3).all())
    True True
    """
    element_type = as_dtype(dtype)
    seeds = seeds_of("Uniform", seed)
    if element_type.kind == "int":
        return _integers("Uniform", shape, minval, maxval, element_type, seeds)
    floating("Uniform", element_type)
    full_shape, wide, (low, high) = parameters("Uniform", shape, {"minval": minval, "maxval": maxval})
    width = apply(arithmetic.sub, high, low)
    require("Uniform", "maxval", width, lambda v: v > 0, "greater than the 'minval'")
    noise = fractions("Uniform", full_shape, wide, seeds)
    found = apply(arithmetic.add, low, apply(arithmetic.mul, width, noise))
    return cast(found, wide if wide is float64 else element_type)


def rand(*size: Any, dtype: Any = None, seed: int | None = None) -> Tensor:
    """Draw uniform random numbers from the interval [0, 1).

    Args:
        *size (int or tuple of int): shape of the result, as ``rand(2, 3)`` or ``rand((2, 3))``. If no size is
            passed, the result is 0-D.
        dtype (mindgrad.dtype): floating-point dtype of the result. ``None`` means float32.
        seed (int or None): random seed of this call. ``None`` uses the global seed of ``mindgrad.set_seed``.

    Returns:
        Tensor of random numbers, of shape ``size``.

    {Raises as randn}

    >>> from mindgrad import ops
    >>> found = ops.rand(2, 3)
    >>> print(found.shape, (found < 1).all())
    (2, 3) True
    """
    return fractions("Rand", shape_of("Rand", varargs(size)), floating("Rand", dtype), seeds_of("Rand", seed))


def rand_like(input: Any, seed: int | None = None, *, dtype: Any = None) -> Tensor:
    """Draw uniform random numbers in the shape of a tensor.

    Args:
        input (Tensor): tensor whose shape is used.
        seed (int or None): random seed of this call. ``None`` uses the global seed of ``mindgrad.set_seed``.
        dtype (mindgrad.dtype): floating-point dtype of the result. ``None`` means the dtype of ``input``.

    Returns:
        Tensor with the shape of ``input``.

    >>> from mindgrad import Tensor, ops
    >>> ops.rand_like(Tensor([[1.0, 2.0]])).shape
    (1, 2)
    """
    like = operand(input, "RandLike")
    return rand(like.shape, dtype=like.dtype if dtype is None else dtype, seed=seed)


# --- random integers ---------------------------------------------------------------------------------


@public(
    "UniformInt(seed=0, seed2=0)(shape, minval, maxval)(low=minval, high=maxval, size=shape, "
    "seed=(self.seed, self.seed2), dtype=int32) >>> ops.UniformInt(seed=2)((2, 3), 5, "
    "6) => [[5 5 5]\n [5 5 5]]",
)
def randint(low: Any, high: Any, size: Any, seed: int | None = None, *, dtype: Any = None) -> Tensor:
    """Draw random integers from [``low``, ``high``) with equal probabilities.

    Args:
        low, high (Tensor or int): inclusive lower and exclusive upper bound, which broadcast with ``size``.
        size (int or tuple of int): shape of the result.
        seed (int or None): random seed of this call. ``None`` uses the global seed of ``mindgrad.set_seed``.
        dtype (mindgrad.dtype): integer dtype of the result. ``None`` means int64.

    Returns:
        Tensor of random integers, of the shape ``size`` broadcast with the bounds.

    Raises:
        TypeError: If an argument has the wrong type.
        ValueError: If ``low`` is not below ``high``, or a bound is out of the range of ``dtype``.

    >>> import mindgrad as ms
    >>> ms.set_seed(1)
    >>> found = ms.ops.randint(1, 7, (100,))
    >>> print(found.min(), found.max(), found.dtype)
    1 6 Int64
    """
    wanted = int64 if dtype is None else as_dtype(dtype)
    return _integers("RandInt", size, low, high, wanted, seeds_of("RandInt", seed))


def randint_like(input: Any, low: Any, high: Any, seed: int | None = None, *, dtype: Any = None) -> Tensor:
    """Draw random integers from [``low``, ``high``) in the shape of a tensor.

    Args:
        input (Tensor): tensor whose shape is used.
        low, high (Tensor or int): inclusive lower and exclusive upper bound.
        seed (int or None): random seed of this call. ``None`` uses the global seed of ``mindgrad.set_seed``.
        dtype (mindgrad.dtype): integer dtype of the result. ``None`` means the dtype of ``input``.

    Returns:
        Tensor with the shape of ``input``.

    >>> from mindgrad import Tensor, ops
    >>> ops.randint_like(Tensor([1, 2]), 0, 5).dtype
    mindspore.int64
    """
    like = operand(input, "RandIntLike")
    return randint(low, high, like.shape, seed, dtype=like.dtype if dtype is None else dtype)


def _integers(operator: str, shape: Any, low: Any, high: Any, dtype: DType, seeds: tuple[int, int]) -> Tensor:
    if dtype.kind not in ("int", "uint"):
        raise TypeError(f"For '{operator}', the 'dtype' must be an integer type, but got {dtype}.")
    full_shape = shape_of(operator, shape)
    bounds: list[Any] = []
    for name, value in (("low", low), ("high", high)):
        if isinstance(value, Tensor) and (value.size != 1 or known(operand(value, operator)) is None):
            bound = operand(value, operator)
            if bound.dtype.kind != "int":
                raise TypeError(
                    f"For '{operator}', the bound '{name}' must be an int or a tensor of ints, but its type "
                    f"is {bound.dtype}."
                )
            full_shape = broadcast_shapes(operator, full_shape, bound.shape)
            bounds.append(bound)
        else:
            if isinstance(value, Tensor):
                full_shape = broadcast_shapes(operator, full_shape, value.shape)
                value = value.host_array().reshape(-1)[0]
            bounds.append(whole_number(value, operator, name))
    if all(isinstance(bound, int) for bound in bounds):
        limits = np.iinfo(dtype.numpy)
        if not bounds[0] < bounds[1]:
            raise ValueError(
                f"For '{operator}', the lower bound must be below the upper bound, but got {bounds[0]} and "
                f"{bounds[1]}."
            )
        if bounds[0] < limits.min or bounds[1] - 1 > limits.max:
            raise ValueError(
                f"For '{operator}', integers from {bounds[0]} to {bounds[1]} do not fit the type {dtype}."
            )
        if bounds[1] > 2**63:
            raise ValueError(f"For '{operator}', the upper bound must be at most 2**63, but got {bounds[1]}.")
    else:
        values = [known(x) if isinstance(x, Tensor) else np.asarray(x) for x in bounds]
        if values[0] is not None and values[1] is not None and not (values[0] < values[1]).all():
            raise ValueError(f"For '{operator}', each lower bound must be below its upper bound.")
    return integers(operator, full_shape, bounds[0], bounds[1], dtype, seeds)


# --- Laplace and Bernoulli distributions -------------------------------------------------------------


@public(
    "StandardLaplace(seed=0, seed2=0)(shape)(seed=(self.seed, self.seed2)) >>> ops.StandardLaplace(seed=2)"
    "((2, 3)).shape => (2, 3)",
)
def standard_laplace(shape: Any, seed: int | None = None) -> Tensor:
    """Draw Laplace random numbers of mean 0 and scale 1.

    The density is exp(−|x|) / 2.

    Args:
        shape (int or tuple of int): shape of the result.
        seed (int or None): random seed of this call. ``None`` uses the global seed of ``mindgrad.set_seed``.

    Returns:
        float32 tensor of random numbers, of shape ``shape``.

    >>> from mindgrad import ops
    >>> ops.standard_laplace((2, 3)).shape
    (2, 3)
    """
    whole = shape_of("StandardLaplace", shape)
    return _laplace_noise("StandardLaplace", whole, float32, seeds_of("StandardLaplace", seed))


def _laplace_noise(operator: str, shape: tuple[int, ...], dtype: DType, seeds: tuple[int, int]) -> Tensor:
    """Draw Laplace numbers as the difference of two exponentially distributed numbers."""
    one, two = apply(unstack, exponentials(operator, (2, *shape), dtype, seeds))
    return apply(arithmetic.sub, one, two)


def laplace(shape: Any, mean: Any, lambda_param: Any, seed: int | None = None) -> Tensor:
    """Draw Laplace random numbers, differentiable in mean and scale.

        density(x) = exp(−|x − mean| / λ) / (2 λ)

    The result is ``mean + lambda_param · noise``.

    Args:
        shape (int or tuple of int): shape of the result before it is broadcast with ``mean`` and
            ``lambda_param``.
        mean (Tensor or number): the mean.
        lambda_param (Tensor or number): positive scale λ of the distribution.
        seed (int or None): random seed of this call. ``None`` uses the global seed of ``mindgrad.set_seed``.

    Returns:
        Tensor with the broadcast shape.

    Raises:
        TypeError: If an argument has the wrong type.
        ValueError: If the shapes do not broadcast, or ``lambda_param`` is not positive.

    >>> import mindgrad as ms
    >>> ms.ops.laplace((2, 3), 0.0, ms.Tensor(1.0)).shape
    (2, 3)
    """
    whole, dtype, (center, width) = parameters("Laplace", shape, {"mean": mean, "lambda_param": lambda_param})
    require("Laplace", "lambda_param", width, lambda v: v > 0, "above 0")
    noise = _laplace_noise("Laplace", whole, dtype, seeds_of("Laplace", seed))
    return apply(arithmetic.add, center, apply(arithmetic.mul, width, noise))


@public(
    "Tensor",
    "Bernoulli(seed=-1, offset=0)(x, p)(seed=(max(self.seed, 0), self.offset)) >>> ops.Bernoulli()"
    "(Tensor([3.0, 4.0]), Tensor(1.0)) => [1. 1.]",
)
def bernoulli(input: Any, p: Any = 0.5, seed: int | None = None) -> Tensor:
    """Draw ones with probability ``p`` and zeros otherwise.

    Args:
        input (Tensor): tensor that determines the shape and dtype of the result. Its values are not used.
        p (float or Tensor): probability of 1, from 0 to 1. A tensor broadcasts to the shape of ``input``.
        seed (int or None): random seed of this call. ``None`` uses the global seed of ``mindgrad.set_seed``.

    Returns:
        Tensor with the shape and dtype of ``input``.

    Raises:
        TypeError: If an argument has the wrong type.
        ValueError: If ``p`` is not between 0 and 1, or does not broadcast to the shape of ``input``.

    >>> from mindgrad import Tensor, ops
    >>> print(ops.bernoulli(Tensor([5.0, 5.0]), 1.0))
    [1. 1.]
    """
    like = operand(input, "Bernoulli")
    seeds = seeds_of("Bernoulli", seed)
    share = inexact(operand(p, "Bernoulli"))
    require("Bernoulli", "p", share, lambda v: (v >= 0) & (v <= 1), "from 0 to 1")
    if not isinstance(p, Tensor):
        return cast(with_probability("Bernoulli", float(p), like.shape, seeds), like.dtype)
    if broadcast_shapes("Bernoulli", like.shape, share.shape) != like.shape:
        raise ValueError(
            f"For 'Bernoulli', the shape of 'p' must broadcast to the shape of 'input', {like.shape}, but "
            f"got {share.shape}."
        )
    dtype = promote(float32, share.dtype)
    drawn = fractions("Bernoulli", like.shape, dtype, seeds)
    found = apply(comparisons.less, drawn, broadcast_to(cast(share, dtype), like.shape))
    return cast(found, like.dtype)
