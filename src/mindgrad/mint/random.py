"""Random functions of ``mint``, with an optional ``generator``."""

from __future__ import annotations

from typing import Any

from mindgrad.core.ir.dtype import as_dtype, int64
from mindgrad.core.ir.tensor import Tensor
from mindgrad.ops import functional
from mindgrad.ops.operands import cast, operand
from mindgrad.ops.rng_bits import drawing_from

__all__ = [
    "bernoulli", "multinomial", "normal", "rand", "rand_like", "randint", "randint_like", "randn",
    "randn_like", "randperm",
]  # fmt: skip


def rand(*size: Any, generator: Any = None, dtype: Any = None, device: Any = None) -> Tensor:
    """Draw uniform random numbers from the interval [0, 1).

    Args:
        *size (int or tuple of int): shape of the result, as ``rand(2, 3)`` or ``rand((2, 3))``.
        generator (mindgrad.Generator or None): random generator to draw from. ``None`` means the default
            generator of the process.
        dtype (mindgrad.dtype): floating-point dtype of the result. ``None`` means float32.
        device (str or None): accepted for compatibility and ignored.

    Returns:
        Tensor of random numbers.

    Raises:
        TypeError: If an argument has the wrong type.

    >>> import mindgrad as ms
    >>> from mindgrad import mint
    >>> mint.rand(2, 3, generator=ms.Generator()).shape
    (2, 3)
    """
    with drawing_from(generator, "rand"):
        return functional.rand(*size, dtype=dtype)


def randn(*size: Any, generator: Any = None, dtype: Any = None, device: Any = None) -> Tensor:
    """Draw normal random numbers with mean 0 and variance 1.

    Args:
        *size (int or tuple of int): shape of the result, as ``randn(2, 3)`` or ``randn((2, 3))``.
        generator (mindgrad.Generator or None): random generator to draw from. ``None`` means the default
            generator of the process.
        dtype (mindgrad.dtype): floating-point dtype of the result. ``None`` means float32.
        device (str or None): accepted for compatibility and ignored.

    Returns:
        Tensor of random numbers.

    >>> from mindgrad import mint
    >>> mint.randn(2, 3).shape
    (2, 3)
    """
    with drawing_from(generator, "randn"):
        return functional.randn(*size, dtype=dtype)


def rand_like(input: Any, *, dtype: Any = None, device: Any = None) -> Tensor:
    """Draw uniform random numbers in the shape of a tensor.

    Args:
        input (Tensor): tensor whose shape is used.
        dtype (mindgrad.dtype): floating-point dtype of the result. ``None`` means the dtype of ``input``.
        device (str or None): accepted for compatibility and ignored.

    Returns:
        Tensor with the shape of ``input``.

    >>> from mindgrad import Tensor, mint
    >>> mint.rand_like(Tensor([[1.0, 2.0]])).shape
    (1, 2)
    """
    return functional.rand_like(input, dtype=dtype)


def randn_like(input: Any, *, dtype: Any = None, device: Any = None) -> Tensor:
    """Draw normal random numbers in the shape of a tensor.

    Args:
        input (Tensor): tensor whose shape is used.
        dtype (mindgrad.dtype): floating-point dtype of the result. ``None`` means the dtype of ``input``.
        device (str or None): accepted for compatibility and ignored.

    Returns:
        Tensor with the shape of ``input``.

    >>> from mindgrad import Tensor, mint
    >>> mint.randn_like(Tensor([[1.0, 2.0]])).shape
    (1, 2)
    """
    return functional.randn_like(input, dtype=input.dtype if dtype is None else dtype)


def randint(*args: Any, generator: Any = None, dtype: Any = None, device: Any = None) -> Tensor:
    """Draw random integers from [``low``, ``high``).

    Call it as ``randint(high, size)`` or ``randint(low, high, size)``.

    Args:
        *args (int and tuple of int): inclusive lower bound ``low`` (default 0), exclusive upper bound
            ``high``, and shape ``size`` of the result.
        generator (mindgrad.Generator or None): random generator to draw from. ``None`` means the default
            generator of the process.
        dtype (mindgrad.dtype): integer dtype of the result. ``None`` means int64.
        device (str or None): accepted for compatibility and ignored.

    Returns:
        Tensor of random integers.

    Raises:
        TypeError: If the number of arguments or the type of an argument is wrong.

    >>> from mindgrad import mint
    >>> found = mint.randint(3, (4,))
    >>> print(found.shape, found.dtype, (found < 3).all())
    (4,) Int64 True
    """
    if len(args) not in (2, 3):
        raise TypeError(
            f"For 'randint', pass (high, size) or (low, high, size), but got {len(args)} arguments."
        )
    low, high, size = args if len(args) == 3 else (0, *args)
    with drawing_from(generator, "randint"):
        return functional.randint(low, high, size, dtype=int64 if dtype is None else dtype)


def randint_like(input: Any, *bounds: Any, dtype: Any = None, device: Any = None) -> Tensor:
    """Draw random integers in the shape of a tensor.

    Call it as ``randint_like(x, high)`` or ``randint_like(x, low, high)``.

    Args:
        input (Tensor): tensor whose shape is used.
        *bounds (int): inclusive lower bound ``low`` (default 0) and exclusive upper bound ``high``.
        dtype (mindgrad.dtype): integer dtype of the result. ``None`` means the dtype of ``input``.
        device (str or None): accepted for compatibility and ignored.

    Returns:
        Tensor with the shape of ``input``.

    >>> from mindgrad import Tensor, mint
    >>> mint.randint_like(Tensor([[1.0, 2.0]]), 5).shape
    (1, 2)
    """
    if len(bounds) not in (1, 2):
        raise TypeError(f"For 'randint_like', pass high, or low and high, but got {len(bounds)} bounds.")
    low, high = bounds if len(bounds) == 2 else (0, *bounds)
    like = operand(input, "randint_like")
    found = functional.randint(low, high, like.shape, dtype=int64)
    return cast(found, like.dtype if dtype is None else as_dtype(dtype))


def randperm(n: int, *, generator: Any = None, dtype: Any = int64) -> Tensor:
    """Return a random permutation of the integers from 0 to ``n`` − 1.

    Args:
        n (int): number of integers to permute.
        generator (mindgrad.Generator or None): random generator to draw from. ``None`` means the default
            generator of the process.
        dtype (mindgrad.dtype): dtype of the result.

    Returns:
        Tensor of shape ``(n,)``.

    >>> from mindgrad import mint
    >>> print(mint.randperm(4).sort()[0])
    [0 1 2 3]
    """
    with drawing_from(generator, "randperm"):
        return functional.randperm(n, dtype=dtype)


def normal(mean: Any = 0.0, std: Any = 1.0, size: Any = None, generator: Any = None) -> Tensor:
    """Draw normal random numbers, differentiable in mean and deviation.

    The result is ``mean + std · noise``.

    Args:
        mean, std (Tensor or number): mean and nonnegative standard deviation of the distribution. The shapes
            broadcast.
        size (tuple of int or None): shape of the result. Required if neither ``mean`` nor ``std`` is a
            tensor.
        generator (mindgrad.Generator or None): random generator to draw from. ``None`` means the default
            generator of the process.

    Returns:
        Tensor of random numbers.

    Raises:
        ValueError: If ``std`` is negative, or ``size`` is ``None`` and neither ``mean`` nor ``std`` is a
            tensor.

    >>> from mindgrad import Tensor, mint
    >>> print(mint.normal(Tensor([5.0, 6.0]), 0.0))
    [5. 6.]
    """
    if size is None and not isinstance(mean, Tensor) and not isinstance(std, Tensor):
        raise ValueError("For 'normal', 'size' is required if 'mean' and 'std' are numbers. Pass 'size'.")
    shape = size
    if shape is None:
        one, two = (tuple(x.shape) if isinstance(x, Tensor) else () for x in (mean, std))
        shape = one if len(one) >= len(two) else two
    with drawing_from(generator, "normal"):
        return functional.normal(shape, mean, std)


def bernoulli(input: Any, *, generator: Any = None) -> Tensor:
    """Draw 1 with the given probabilities and 0 otherwise.

    Args:
        input (Tensor): probability of 1 for each element, between 0 and 1.
        generator (mindgrad.Generator or None): random generator to draw from. ``None`` means the default
            generator of the process.

    Returns:
        Tensor with the shape and dtype of ``input``.

    >>> from mindgrad import Tensor, mint
    >>> print(mint.bernoulli(Tensor([0.0, 1.0])))
    [0. 1.]
    """
    with drawing_from(generator, "bernoulli"):
        return functional.bernoulli(input, input)


def multinomial(input: Any, num_samples: int, replacement: bool = False, *, generator: Any = None) -> Tensor:
    """Draw indices with probabilities in proportion to given weights.

    Args:
        input (Tensor): nonnegative weights of n indices, of shape (n,), or (m, n) for m rows of weights.
        num_samples (int): number of indices to draw from each row.
        replacement (bool): whether an index can be drawn more than once.
        generator (mindgrad.Generator or None): random generator to draw from. ``None`` means the default
            generator of the process.

    Returns:
        int64 tensor of shape (num_samples,) or (m, num_samples).

    >>> from mindgrad import Tensor, mint
    >>> print(mint.multinomial(Tensor([0.0, 3.0, 0.0]), 1))
    [1]
    """
    with drawing_from(generator, "multinomial"):
        found = functional.multinomial(input, num_samples, replacement)
    return cast(found, int64)
