"""Random functions of ``mint`` draw from a ``generator`` of their own or from the default one."""

from __future__ import annotations

from typing import Any

from mindgrad.ir.dtype import as_dtype, int64
from mindgrad.ir.tensor import Tensor
from mindgrad.ops import functional
from mindgrad.ops.operands import cast, operand
from mindgrad.ops.rng_bits import drawing_from

__all__ = [
    "bernoulli", "multinomial", "normal", "rand", "rand_like", "randint", "randint_like", "randn",
    "randn_like", "randperm",
]  # fmt: skip


def rand(*size: Any, generator: Any = None, dtype: Any = None, device: Any = None) -> Tensor:
    """Uniform numbers from 0 to below 1.

    Args:
        size: the shape: ``rand(2, 3)`` or ``rand((2, 3))``.
        generator: a :class:`mindgrad.Generator`, by default the one of the process.
        dtype: a floating-point type, by default Float32.
        device: accepted for compatibility.

    Raises:
        TypeError: an argument is of another type.

    >>> import mindgrad as ms
    >>> from mindgrad import mint
    >>> mint.rand(2, 3, generator=ms.Generator()).shape
    (2, 3)
    """
    with drawing_from(generator, "rand"):
        return functional.rand(*size, dtype=dtype)


def randn(*size: Any, generator: Any = None, dtype: Any = None, device: Any = None) -> Tensor:
    """Normal numbers of mean 0 and variance 1; arguments as for :func:`rand`.

    >>> from mindgrad import mint
    >>> mint.randn(2, 3).shape
    (2, 3)
    """
    with drawing_from(generator, "randn"):
        return functional.randn(*size, dtype=dtype)


def rand_like(input: Any, *, dtype: Any = None, device: Any = None) -> Tensor:
    """Uniform numbers in the shape of ``input``.

    >>> from mindgrad import Tensor, mint
    >>> mint.rand_like(Tensor([[1.0, 2.0]])).shape
    (1, 2)
    """
    return functional.rand_like(input, dtype=dtype)


def randn_like(input: Any, *, dtype: Any = None, device: Any = None) -> Tensor:
    """Normal numbers in the shape of ``input``.

    >>> from mindgrad import Tensor, mint
    >>> mint.randn_like(Tensor([[1.0, 2.0]])).shape
    (1, 2)
    """
    return functional.randn_like(input, dtype=input.dtype if dtype is None else dtype)


def randint(*args: Any, generator: Any = None, dtype: Any = None, device: Any = None) -> Tensor:
    """Integers from ``low`` to below ``high``: ``randint(high, size)`` or ``randint(low, high, size)``.

    Args:
        args: the bounds, ints, and the shape; ``low`` is 0 unless it is given.
        generator, device: as for :func:`rand`.
        dtype: an integer type, by default Int64.

    Raises:
        TypeError: there are more or fewer arguments, or of another type.

    >>> from mindgrad import mint
    >>> found = mint.randint(3, (4,))
    >>> print(found.shape, found.dtype, (found < 3).all())
    (4,) Int64 True
    """
    if len(args) not in (2, 3):
        raise TypeError(
            f"For 'randint', give (high, size) or (low, high, size), but got {len(args)} arguments."
        )
    low, high, size = args if len(args) == 3 else (0, *args)
    with drawing_from(generator, "randint"):
        return functional.randint(low, high, size, dtype=int64 if dtype is None else dtype)


def randint_like(input: Any, *bounds: Any, dtype: Any = None, device: Any = None) -> Tensor:
    """Integers in the shape of ``input``: ``randint_like(x, high)`` or ``randint_like(x, low, high)``.

    They have the element type of ``input`` unless ``dtype`` is given.

    >>> from mindgrad import Tensor, mint
    >>> mint.randint_like(Tensor([[1.0, 2.0]]), 5).shape
    (1, 2)
    """
    if len(bounds) not in (1, 2):
        raise TypeError(f"For 'randint_like', give high or low and high, but got {len(bounds)} bounds.")
    low, high = bounds if len(bounds) == 2 else (0, *bounds)
    like = operand(input, "randint_like")
    found = functional.randint(low, high, like.shape, dtype=int64)
    return cast(found, like.dtype if dtype is None else as_dtype(dtype))


def randperm(n: int, *, generator: Any = None, dtype: Any = int64) -> Tensor:
    """The integers below ``n`` in random order.

    >>> from mindgrad import mint
    >>> print(mint.randperm(4).sort()[0])
    [0 1 2 3]
    """
    with drawing_from(generator, "randperm"):
        return functional.randperm(n, dtype=dtype)


def normal(mean: Any = 0.0, std: Any = 1.0, size: Any = None, generator: Any = None) -> Tensor:
    """Normal numbers ``mean + std · noise``, differentiable with respect to both.

    Args:
        mean, std: tensors or numbers, whose shapes broadcast.
        size: the shape, needed where neither is a tensor.
        generator: as for :func:`rand`.

    Raises:
        ValueError: ``std`` is negative, or ``size`` is missing.

    >>> from mindgrad import Tensor, mint
    >>> print(mint.normal(Tensor([5.0, 6.0]), 0.0))
    [5. 6.]
    """
    if size is None and not isinstance(mean, Tensor) and not isinstance(std, Tensor):
        raise ValueError("For 'normal', give the 'size' where 'mean' and 'std' are numbers.")
    shape = size
    if shape is None:
        one, two = (tuple(x.shape) if isinstance(x, Tensor) else () for x in (mean, std))
        shape = one if len(one) >= len(two) else two
    with drawing_from(generator, "normal"):
        return functional.normal(shape, mean, std)


def bernoulli(input: Any, *, generator: Any = None) -> Tensor:
    """1 with the probabilities ``input`` and 0 otherwise, in its shape and element type.

    >>> from mindgrad import Tensor, mint
    >>> print(mint.bernoulli(Tensor([0.0, 1.0])))
    [0. 1.]
    """
    with drawing_from(generator, "bernoulli"):
        return functional.bernoulli(input, input)


def multinomial(input: Any, num_samples: int, replacement: bool = False, *, generator: Any = None) -> Tensor:
    """Indices, drawn with probabilities in proportion to ``input`` along its last axis, as Int64.

    Args:
        input: weights of shape (n,) or (m, n), not negative.
        num_samples: how many are drawn.
        replacement: whether an index can be drawn twice.
        generator: as for :func:`rand`.

    >>> from mindgrad import Tensor, mint
    >>> print(mint.multinomial(Tensor([0.0, 3.0, 0.0]), 1))
    [1]
    """
    with drawing_from(generator, "multinomial"):
        found = functional.multinomial(input, num_samples, replacement)
    return cast(found, int64)
