"""Dropout: set random elements or channels to zero, and scale the others.

    y = x · mask / (1 − p)        mask: 1 with probability 1 − p, else 0

The expected value of y is x (N. Srivastava et al., *Dropout: a simple way to prevent neural networks from
overfitting*, 2014). The derivative treats the mask as a constant.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from mindgrad.core.ir.dtype import float32
from mindgrad.core.ir.scope import apply
from mindgrad.core.ir.tensor import Tensor
from mindgrad.core.primitives import arithmetic
from mindgrad.ops.operands import broadcast_to, cast, operand
from mindgrad.ops.reduction import flag
from mindgrad.ops.registry import public
from mindgrad.ops.rng_bits import NO_SEEDS, combined, seeds_of, with_probability

__all__ = ["dropout", "dropout1d", "dropout2d", "dropout3d"]


def probability(operator: str, name: str, value: Any, open_below: bool = False) -> float:
    """Check that a probability is in [0, 1], or (0, 1] with ``open_below``.

    Raises:
        TypeError: If ``value`` is not a number.
        ValueError: If ``value`` is outside [0, 1], or 0 with ``open_below``.
    """
    if isinstance(value, bool) or not isinstance(value, (int, float, np.integer, np.floating)):
        raise TypeError(f"For '{operator}', the '{name}' must be a float, but got {value!r}.")
    if not (0 < value <= 1 if open_below else 0 <= value <= 1):
        bounds = "(0, 1]" if open_below else "[0, 1]"
        raise ValueError(f"For '{operator}', the '{name}' must be in the range {bounds}, but got {value}.")
    return float(value)


def masked(
    operator: str, x: Any, keep: float, seeds: tuple[int, int], shared_axes: int = 0
) -> tuple[Tensor, Tensor]:
    """Drop random elements of ``x``; return the result and a mask of kept elements.

    Args:
        operator: name of the operator for error messages.
        x: floating-point tensor.
        keep: probability that an element is kept.
        seeds: seeds of the operator.
        shared_axes: number of trailing axes whose elements are kept or dropped together.

    Raises:
        TypeError: If ``x`` is not a floating-point tensor.
    """
    tensor = operand(x, operator)
    if not tensor.dtype.is_inexact:
        raise TypeError(
            f"For '{operator}', the input must have a floating-point dtype, but its dtype is {tensor.dtype}."
        )
    shape = (*tensor.shape[: tensor.ndim - shared_axes], *[1] * shared_axes)
    mask = with_probability(operator, keep, shape, seeds)
    factor = cast(mask, tensor.dtype)
    if 0 < keep < 1:
        factor = combined(arithmetic.mul, factor, 1 / keep)
    return apply(arithmetic.mul, tensor, broadcast_to(factor, tensor.shape)), broadcast_to(mask, tensor.shape)


@public("mint.nn.functional.dropout(input, p=0.5, training=True, inplace: placing=False)")
def dropout(input: Any, p: float = 0.5, training: bool = True, seed: int | None = None) -> Tensor:
    """Set elements to zero with probability ``p`` and divide the others by 1 − p.

    Args:
        input (Tensor): floating-point tensor.
        p (float): probability that an element is dropped.
        training (bool): whether to drop elements. ``False`` returns ``input`` unchanged.
        seed (int or None): seed of the random mask. ``None`` uses the global seed.

    Returns:
        Tensor of the same shape and dtype as ``input``.

    Raises:
        TypeError: If an argument has the wrong type.
        ValueError: If ``p`` is not between 0 and 1.

    >>> import mindgrad as ms
    >>> ms.set_seed(1)
    >>> found = ms.ops.dropout(ms.ops.ones(1000), 0.2)
    >>> print(f"{(found == 0).sum().item() / 1000:.1f}, {found.max().item():.2f}")
    0.2, 1.25
    >>> print(ms.ops.dropout(ms.Tensor([1.0, 2.0]), 0.5, training=False))
    [1. 2.]
    """
    share = probability("Dropout", "p", p)
    seeds = seeds_of("Dropout", seed)
    if not flag(training, "Dropout", "training") or share == 0:
        return operand(input, "Dropout")
    return masked("Dropout", input, 1 - share, seeds)[0]


def with_axes(operator: str, x: Any, ranks: tuple[int, ...]) -> Tensor:
    """Convert ``x`` to a tensor, and check its number of axes.

    Raises:
        ValueError: If the number of axes is not in ``ranks``.
    """
    tensor = operand(x, operator)
    if tensor.ndim not in ranks:
        raise ValueError(
            f"For '{operator}', the input must have {' or '.join(map(str, ranks))} axes, but its shape is "
            f"{tensor.shape}."
        )
    return tensor


def _channels(operator: str, x: Any, p: Any, training: Any, axes: int) -> Tensor:
    share = probability(operator, "p", p)
    tensor = with_axes(operator, x, (axes + 1, axes + 2))
    if not flag(training, operator, "training") or share == 0:
        return tensor
    return channels_masked(operator, tensor, 1 - share, axes)[0]


def channels_masked(operator: str, x: Tensor, keep: float, axes: int) -> tuple[Tensor, Tensor]:
    """Drop whole channels with ``axes`` axes, as :func:`masked` does.

    Integers are scaled in float32 and truncated.
    """
    if x.dtype.kind not in ("int", "uint"):
        return masked(operator, x, keep, NO_SEEDS, axes)
    found, kept = masked(operator, cast(x, float32), keep, NO_SEEDS, axes)
    return cast(found, x.dtype), kept


def dropout1d(input: Any, p: float = 0.5, training: bool = True) -> Tensor:
    """Drop whole channels of 1-D signals: all elements of the last axis together.

    Args:
        input (Tensor): tensor of shape (N, C, L) or (C, L).
        p (float): probability that a channel is dropped.
        training (bool): whether to drop channels. ``False`` returns ``input`` unchanged.

    Returns:
        Tensor of the same shape and dtype as ``input``.

    Raises:
        TypeError: If an argument has the wrong type.
        ValueError: If ``p`` is not between 0 and 1, or ``input`` has the wrong number of axes.

    >>> from mindgrad import ops
    >>> found = ops.dropout1d(ops.ones((2, 3, 4)))
    >>> print((found == found[:, :, :1]).all())
    True
    """
    return _channels("Dropout1d", input, p, training, 1)


def dropout2d(input: Any, p: float = 0.5, training: bool = True) -> Tensor:
    """Drop whole channels of images: all elements of the last two axes together.

    Args:
        input (Tensor): tensor of shape (N, C, H, W) or (C, H, W).
        p (float): probability that a channel is dropped.
        training (bool): whether to drop channels. ``False`` returns ``input`` unchanged.

    Returns:
        Tensor of the same shape and dtype as ``input``.

    Raises:
        TypeError: If an argument has the wrong type.
        ValueError: If ``p`` is not between 0 and 1, or ``input`` has the wrong number of axes.

    >>> from mindgrad import ops
    >>> found = ops.dropout2d(ops.ones((2, 3, 4, 4)))
    >>> print((found == found[:, :, :1, :1]).all())
    True
    """
    return _channels("Dropout2D", input, p, training, 2)


def dropout3d(input: Any, p: float = 0.5, training: bool = True) -> Tensor:
    """Drop whole channels of volumes: all elements of the last three axes together.

    Args:
        input (Tensor): tensor of shape (N, C, D, H, W) or (C, D, H, W).
        p (float): probability that a channel is dropped.
        training (bool): whether to drop channels. ``False`` returns ``input`` unchanged.

    Returns:
        Tensor of the same shape and dtype as ``input``.

    Raises:
        TypeError: If an argument has the wrong type.
        ValueError: If ``p`` is not between 0 and 1, or ``input`` has the wrong number of axes.

    >>> from mindgrad import ops
    >>> found = ops.dropout3d(ops.ones((2, 3, 2, 2, 2)))
    >>> print((found == found[:, :, :1, :1, :1]).all())
    True
    """
    return _channels("Dropout3D", input, p, training, 3)
