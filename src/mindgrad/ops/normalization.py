"""Normalization layers as functions: (x − mean) / √(variance + ε) · scale + shift.

float16 and bfloat16 inputs are computed in float32 and converted back. A batch is normalized with its
population variance (divided by n). Moving statistics follow the unbiased variance (divided by n − 1), as in
MindSpore.
"""

from __future__ import annotations

import math as _math
from collections.abc import Callable
from typing import Any

import numpy as np

from mindgrad.common.parameter import Parameter
from mindgrad.core.ir.tensor import Tensor
from mindgrad.frontend import state
from mindgrad.ops import arithmetic, clipping, layout, math
from mindgrad.ops.activation import real_operand
from mindgrad.ops.arguments import check_axes, number, sizes, whole_number
from mindgrad.ops.flow import stop_gradient
from mindgrad.ops.operands import cast, operand
from mindgrad.ops.pool_windows import mixed
from mindgrad.ops.reduction import flag, widened
from mindgrad.ops.reduction import mean as mean_of
from mindgrad.ops.registry import public

__all__ = ["batch_norm", "group_norm", "layer_norm", "lrn", "rms_norm"]


def statistics(x: Tensor, axes: tuple[int, ...]) -> tuple[Tensor, Tensor]:
    """Return the mean and variance over ``axes``, which remain with size 1."""
    mean = mean_of(x, axes, True)
    return mean, mean_of(math.square(arithmetic.sub(x, mean)), axes, True)


def normalized(
    x: Tensor, mean: Tensor, variance: Tensor, eps: float, weight: Any = None, bias: Any = None
) -> Tensor:
    """Compute (x − mean) / √(variance + eps) · weight + bias."""
    y = arithmetic.mul(arithmetic.sub(x, mean), math.rsqrt(arithmetic.add(variance, eps)))
    y = y if weight is None else arithmetic.mul(y, weight)
    return y if bias is None else arithmetic.add(y, bias)


def of_channels(operator: str, name: str, value: Any, x: Tensor) -> Tensor | None:
    """Reshape per-channel values to broadcast with ``x`` of shape (n, channels, …).

    Raises:
        ValueError: If ``value`` does not have one element for each channel.
    """
    if value is None:
        return None
    values = widened(operand(value, operator))
    if values.shape != x.shape[1:2]:
        raise ValueError(
            f"For '{operator}', the '{name}' must have one element for each channel of the input, but "
            f"the shapes are {values.shape} and {x.shape}."
        )
    return layout.reshape(cast(values, x.dtype), (1, -1, *(1 for _ in x.shape[2:])))


def moved(statistic: Any, now: Tensor, momentum: float) -> None:
    """Set ``statistic`` to (1 − momentum) · statistic + momentum · now."""
    before = arithmetic.mul(operand(statistic, "BatchNorm"), 1 - momentum)
    now = layout.reshape(stop_gradient(now), statistic.shape)
    statistic.set_data(cast(arithmetic.add(before, arithmetic.mul(now, momentum)), statistic.dtype))


def normalized_batch(
    operator: str,
    x: Any,
    running: tuple[Any, Any],
    affine: tuple[Any, Any],
    of_batch: bool,
    momentum: float,
    eps: float,
    joint: Callable[[Tensor, tuple[int, ...]], tuple[Tensor, Tensor, Tensor]] | None = None,
) -> tuple[Tensor, Tensor, Tensor]:
    """Normalize a batch; return the result and the mean and variance that were used.

    Args:
        operator: name of the operator in errors.
        x: the batch.
        running: running mean and variance. If ``of_batch``, they do not affect the result, but Parameters
            among them are updated.
        affine: weight and bias, each may be ``None``.
        of_batch: whether to normalize with the statistics of the batch.
        momentum: weight of the new statistics when ``running`` is updated.
        eps: number added to the variance.
        joint: function that returns mean, variance, and number of elements over some axes of the batches of
            several processes; ``None`` uses only the batch of this process.
    """
    original = real_operand(x, operator)
    x = widened(original)
    if x.ndim < 2:
        raise ValueError(f"For '{operator}', the input must have a channel axis, but its shape is {x.shape}.")
    # read the Parameters in their own dtype, even if the Cell computes in float16
    with state.computing_in(None):
        scale, shift = [
            of_channels(operator, name, value, x)
            for name, value in zip(("weight", "bias"), affine, strict=True)
        ]
        mean, variance = [
            of_channels(operator, name, value, x)
            for name, value in zip(("running_mean", "running_var"), running, strict=True)
        ]
        if of_batch:
            if not x.size:
                raise ValueError(f"For '{operator}', a batch must not be empty, but its shape is {x.shape}.")
            axes = (0, *range(2, x.ndim))
            if joint is None:
                mean, variance = statistics(x, axes)
                count = x.size // x.shape[1]
                estimate = arithmetic.mul(variance, count / max(count - 1, 1))
            else:
                mean, variance, total = joint(x, axes)
                estimate = variance * (total / clipping.maximum(total - 1, 1))
            for statistic, now in zip(running, (mean, estimate), strict=True):
                if isinstance(statistic, Parameter):
                    moved(statistic, now, momentum)
        assert mean is not None
        assert variance is not None
        y = normalized(x, mean, variance, eps, scale, shift)
    return cast(y, original.dtype), layout.reshape(mean, (-1,)), layout.reshape(variance, (-1,))


def batch_norm(
    input_x: Any,
    running_mean: Any,
    running_var: Any,
    weight: Any,
    bias: Any,
    training: bool = False,
    momentum: float = 0.1,
    eps: float = 1e-5,
) -> Tensor:
    """Normalize each channel over the batch (Ioffe and Szegedy, 2015).

    The result is (x − mean) / √(variance + eps) · weight + bias.

    Args:
        input_x (Tensor): real tensor of shape (n, c, …).
        running_mean, running_var (Parameter or Tensor): mean and variance of each channel, of shape (c,). If
            ``training`` is true, the mean and the population variance of the batch are used instead.
            Parameters are then updated with the mean and the unbiased variance of the batch (divided by n −
            1).
        weight, bias (Tensor or None): scale and shift of each channel, of shape (c,). ``None`` omits them.
        training (bool): whether to normalize with the mean and variance of the batch instead of the running
            statistics.
        momentum (float): weight of the statistics of the batch when the running statistics are updated.
        eps (float): number added to the variance.

    Returns:
        Tensor with the shape of ``input_x``.

    Raises:
        TypeError: If an argument has the wrong type.
        ValueError: If the shapes do not match.

    >>> from mindgrad import Tensor, ops
    >>> mean, variance = Tensor([1.0]), Tensor([4.0])
    >>> print(ops.batch_norm(Tensor([[1.0], [5.0]]), mean, variance, Tensor([1.0]), Tensor([0.0]), eps=0.0))
    [[0.]
     [2.]]
    """
    operator = "BatchNorm"
    momentum, eps = number(momentum, operator, "momentum"), number(eps, operator, "eps")
    of_batch = flag(training, operator, "training")
    return normalized_batch(
        operator, input_x, (running_mean, running_var), (weight, bias), of_batch, momentum, eps
    )[0]


@public("mint.nn.functional")
def layer_norm(
    input: Any, normalized_shape: Any, weight: Any = None, bias: Any = None, eps: float = 1e-5
) -> Tensor:
    """Normalize over the trailing dimensions (Ba, Kiros, and Hinton, 2016).

    The result is (x − mean) / √(variance + eps) · weight + bias.

    Args:
        input (Tensor): real tensor.
        normalized_shape (tuple or list of int): shape of the trailing dimensions that are normalized
            together.
        weight, bias (Tensor or None): elementwise scale and shift, of shape ``normalized_shape``. ``None``
            omits them.
        eps (float): number added to the variance.

    Returns:
        Tensor with the shape of ``input``.

    {errors of arguments}

    >>> from mindgrad import Tensor, ops
    >>> print(ops.layer_norm(Tensor([[1.0, 3.0], [0.0, 8.0]]), (2,), eps=0.0))
    [[-1.  1.]
     [-1.  1.]]
    """
    operator = "LayerNorm"
    shape = sizes(normalized_shape, operator, "normalized_shape", 1)
    original = real_operand(input, operator)
    if not shape or original.shape[-len(shape) :] != shape:
        raise ValueError(
            f"For '{operator}', the 'normalized_shape' must equal the sizes of the last axes of the input, "
            f"but it is {shape} and the input has the shape {original.shape}."
        )
    for name, parameter in (("weight", weight), ("bias", bias)):
        if parameter is not None and operand(parameter, operator).shape != shape:
            raise ValueError(
                f"For '{operator}', the '{name}' must have the shape {shape}, but its shape is "
                f"{parameter.shape}."
            )
    x = widened(original)
    axes = tuple(range(x.ndim - len(shape), x.ndim))
    y = normalized(x, *statistics(x, axes), number(eps, operator, "eps"), weight, bias)
    return cast(y, original.dtype)


@public("RmsNorm(epsilon=1e-06)(x, gamma)")
def rms_norm(x: Any, gamma: Any, epsilon: float = 1e-6) -> tuple[Tensor, Tensor]:
    """Normalize by the root mean square over the last axes.

    The result is x / √(mean of x² + epsilon) · gamma (Zhang and Sennrich, 2019).

    Args:
        x (Tensor): real tensor.
        gamma (Tensor): elementwise scale. Its shape is the shape of the trailing dimensions of ``x`` that are
            normalized together.
        epsilon (float): number added to the mean of squares.

    Returns:
        Two tensors: the normalized tensor, with the shape of ``x``, and the factor
        1 / √(mean of x² + epsilon), in which the normalized axes have size 1.

    {errors of arguments}

    >>> from mindgrad import Tensor, ops
    >>> print(ops.rms_norm(Tensor([[3.0, 3.0]]), Tensor([1.0, 2.0]), 0.0)[0])
    [[1. 2.]]
    """
    original, weight = real_operand(x, "RmsNorm"), real_operand(gamma, "RmsNorm")
    count = weight.ndim
    if not count or original.shape[-count:] != weight.shape:
        raise ValueError(
            "For 'RmsNorm', the shape of 'gamma' must equal the sizes of the last axes of the input, but "
            f"it is {weight.shape} and the input has the shape {original.shape}."
        )
    wide = widened(original)
    squares = mean_of(math.square(wide), tuple(range(wide.ndim - count, wide.ndim)), True)
    scale = math.rsqrt(arithmetic.add(squares, number(epsilon, "RmsNorm", "epsilon")))
    y = arithmetic.mul(arithmetic.mul(wide, scale), cast(weight, wide.dtype))
    return cast(y, original.dtype), scale


@public("mint.nn.functional")
def group_norm(
    input: Any, num_groups: int, weight: Any = None, bias: Any = None, eps: float = 1e-5
) -> Tensor:
    """Normalize over groups of channels (Wu and He, 2018).

    The result is (x − mean) / √(variance + eps) · weight + bias.

    Args:
        num_groups (int): number of groups into which the channels are split.

    Raises:
        TypeError: If an argument has the wrong type.
        ValueError: If the shapes do not match, or the number of channels is not divisible by
            ``num_groups``.

    {as batch_norm}

    >>> from mindgrad import Tensor, ops
    >>> print(ops.group_norm(Tensor([[1.0, 3.0, 0.0, 8.0]]), 2, eps=0.0))
    [[-1.  1. -1.  1.]]
    """
    operator = "GroupNorm"
    groups = whole_number(num_groups, operator, "num_groups", 1)
    original = real_operand(input, operator)
    if original.ndim < 2 or original.shape[1] % groups:
        raise ValueError(
            f"For '{operator}', the channels of the input (its second axis) must be a multiple of "
            f"'num_groups', but the shape is {original.shape} and 'num_groups' {groups}."
        )
    x = widened(original)
    split = layout.reshape(x, (x.shape[0], groups, _math.prod(x.shape[1:]) // groups))
    y = normalized(split, *statistics(split, (2,)), number(eps, operator, "eps"))
    y = layout.reshape(y, x.shape)
    scale, shift = of_channels(operator, "weight", weight, x), of_channels(operator, "bias", bias, x)
    y = y if scale is None else arithmetic.mul(y, scale)
    return cast(y if shift is None else arithmetic.add(y, shift), original.dtype)


@public("LRN(depth_radius=5, bias=1.0, alpha=1.0, beta=0.5, norm_region='ACROSS_CHANNELS')(x)")
def lrn(
    x: Any,
    depth_radius: int = 5,
    bias: float = 1.0,
    alpha: float = 1.0,
    beta: float = 0.5,
    norm_region: str = "ACROSS_CHANNELS",
) -> Tensor:
    """Normalize over neighboring channels (Krizhevsky et al., 2012).

    The result is x / (bias + alpha · Σ x²)^beta.

    Args:
        x (Tensor): real tensor of shape (n, c, h, w).
        depth_radius (int): number of neighboring channels on each side.
        bias, alpha, beta (float): coefficients of the formula x / (bias + alpha · Σ x²)^beta.
        norm_region (str): must be ``"ACROSS_CHANNELS"``.

    Returns:
        Tensor with the shape of ``x``.

    Raises:
        TypeError: If an argument has the wrong type.
        ValueError: If ``x`` is not 4-D, or an argument is out of range.

    >>> from mindgrad import Tensor, ops
    >>> x = ops.reshape(Tensor([0.0, 4.0]), (1, 2, 1, 1))
    >>> print(ops.lrn(x, bias=0.0).flatten())
    [0. 1.]
    """
    original = real_operand(x, "LRN")
    radius = whole_number(depth_radius, "LRN", "depth_radius", 0)
    check_axes(original, "(n, c, h, w)", "LRN")
    if norm_region != "ACROSS_CHANNELS":
        raise ValueError(f"For 'LRN', the 'norm_region' must be 'ACROSS_CHANNELS', but got {norm_region!r}.")
    values = widened(original)
    channel = np.arange(original.shape[1])
    near = np.abs(channel[:, None] - channel) <= radius
    total = arithmetic.mul(mixed(math.square(values), 1, near), number(alpha, "LRN", "alpha"))
    total = arithmetic.add(total, number(bias, "LRN", "bias"))
    return cast(arithmetic.mul(values, arithmetic.pow(total, -number(beta, "LRN", "beta"))), original.dtype)
