"""Layers as functions with PyTorch's arguments, as in ``mint.nn.functional``."""

from __future__ import annotations

from typing import Any

from mindgrad._base.shared_docs import document_all as _document_all
from mindgrad.ir.tensor import Tensor
from mindgrad.mint import conversions as _conversions
from mindgrad.mint.reducing import default_axis, log_softmax
from mindgrad.ops import functional
from mindgrad.ops.forms import expose as _expose
from mindgrad.ops.operands import operand

__all__ = [
    "avg_pool2d", "batch_norm", "conv1d", "conv2d", "conv3d", "kl_div", "log_softmax", "normalize", "one_hot",
    "softmax",
]  # fmt: skip


def softmax(input: Any, dim: int | None = None, dtype: Any = None) -> Tensor:
    """Compute the softmax exp x / Σ exp x along an axis.

    Args:
        input (Tensor): floating-point tensor with at least one axis.
        dim (int or None): axis whose elements sum to 1. ``None`` means axis 0 for tensors of 0,
            1, or 3 axes, and axis 1 otherwise.
        dtype (mindgrad.dtype): dtype in which to compute. ``None`` means the dtype of ``input``.

    Returns:
        Tensor of the shape of ``input``.

    >>> from mindgrad import Tensor, mint
    >>> print(mint.nn.functional.softmax(Tensor([0.0, 0.0])))
    [0.5 0.5]
    """
    x = operand(input, "softmax")
    return functional.softmax(x, default_axis(x) if dim is None else dim, dtype=dtype)


def normalize(input: Any, p: float = 2.0, dim: Any = 1, eps: float = 1e-12) -> Tensor:
    """Divide a tensor by its p-norm along an axis.

    The result is x / max(‖x‖ₚ, ``eps``).

    Args:
        input (Tensor): floating-point tensor.
        p (int or float): order p of the norm.
        dim (int or tuple of int): axis or axes along which the norm is computed.
        eps (float): lower bound of the denominator.

    Returns:
        Tensor of the shape of ``input``.

    >>> from mindgrad import Tensor, mint
    >>> print(mint.nn.functional.normalize(Tensor([[3.0, 4.0]])))
    [[0.6 0.8]]
    """
    size = functional.vector_norm(input, p, dim, True)
    return functional.div(input, functional.maximum(size, eps))


def one_hot(tensor: Any, num_classes: int = -1) -> Tensor:
    """Encode indices as one-hot vectors along a new last axis.

    Args:
        tensor (Tensor): nonnegative integer tensor of indices.
        num_classes (int): size of the new axis. −1 means one more than the largest index; the indices must
            then be known at compile time.

    Returns:
        int64 tensor of shape ``(*tensor.shape, num_classes)``.

    >>> from mindgrad import Tensor, mint
    >>> print(mint.nn.functional.one_hot(Tensor([0, 2])))
    [[1 0 0]
     [0 0 1]]
    """
    x = operand(tensor, "one_hot")
    depth = int(x.host_array().max()) + 1 if num_classes == -1 else num_classes
    return functional.one_hot(x, depth, 1, 0).astype(x.dtype)  # type: ignore[attr-defined]


# --- convolution, pooling, and batch normalization ----------------------------------------------------


def _convolved(
    function: Any, input: Any, weight: Any, bias: Any, stride: Any, padding: Any, *more: Any
) -> Any:
    named = isinstance(padding, str)
    return function(input, weight, bias, stride, padding if named else "pad", 0 if named else padding, *more)


def conv1d(
    input: Any, weight: Any, bias: Any = None, stride: Any = 1, padding: Any = 0, dilation: Any = 1,
    groups: int = 1,
) -> Tensor:  # fmt: skip
    """Compute a cross-correlation along one axis.

    Args:
        input (Tensor): tensor of shape (n, channels, w).
        weight (Tensor): kernels of shape (out_channels, channels / groups, kw).
        bias (Tensor or None): bias of each output channel, of shape (out_channels,). ``None`` means no bias.
        stride (int or tuple of int): step between neighboring windows.
        padding (int, tuple of int, or str): number of zeros at both ends, or ``"valid"`` or
            ``"same"``.
        dilation (int or tuple of int): spacing between the elements of the kernel.
        groups (int): number of groups of channels, each with its own kernels.

    Returns:
        Tensor of shape (n, out_channels, w').

    >>> from mindgrad import mint
    >>> mint.nn.functional.conv1d(mint.ones((1, 2, 5)), mint.ones((3, 2, 3)), padding=1).shape
    (1, 3, 5)
    """
    return _convolved(functional.conv1d, input, weight, bias, stride, padding, dilation, groups)


def conv2d(
    input: Any, weight: Any, bias: Any = None, stride: Any = 1, padding: Any = 0, dilation: Any = 1,
    groups: int = 1,
) -> Tensor:  # fmt: skip
    """Compute a cross-correlation along two axes.

    Args:
        input (Tensor): tensor of shape (n, channels, h, w).
        weight (Tensor): kernels of shape (out_channels, channels / groups, kh, kw).
        bias (Tensor or None): bias of each output channel, of shape (out_channels,). ``None`` means no bias.
        stride (int or tuple of int): step between neighboring windows.
        padding (int, tuple of int, or str): number of zeros at both ends of each axis, or
            ``"valid"`` or ``"same"``.
        dilation (int or tuple of int): spacing between the elements of the kernel.
        groups (int): number of groups of channels, each with its own kernels.

    Returns:
        Tensor of shape (n, out_channels, h', w').

    >>> from mindgrad import mint
    >>> mint.nn.functional.conv2d(mint.ones((1, 2, 5, 5)), mint.ones((3, 2, 3, 3)), padding=1).shape
    (1, 3, 5, 5)
    """
    return _convolved(functional.conv2d, input, weight, bias, stride, padding, dilation, groups)


def conv3d(
    input: Any, weight: Any, bias: Any = None, stride: Any = 1, padding: Any = 0, dilation: Any = 1,
    groups: int = 1,
) -> Tensor:  # fmt: skip
    """Compute a cross-correlation along three axes.

    Args:
        input (Tensor): tensor of shape (n, channels, d, h, w).
        weight (Tensor): kernels of shape (out_channels, channels / groups, kd, kh, kw).
        bias (Tensor or None): bias of each output channel, of shape (out_channels,). ``None`` means no bias.
        stride (int or tuple of int): step between neighboring windows.
        padding (int, tuple of int, or str): number of zeros at both ends of each axis, or
            ``"valid"`` or ``"same"``.
        dilation (int or tuple of int): spacing between the elements of the kernel.
        groups (int): number of groups of channels, each with its own kernels.

    Returns:
        Tensor of shape (n, out_channels, d', h', w').

    >>> from mindgrad import mint
    >>> mint.nn.functional.conv3d(mint.ones((1, 1, 4, 4, 4)), mint.ones((2, 1, 3, 3, 3))).shape
    (1, 2, 2, 2, 2)
    """
    return _convolved(functional.conv3d, input, weight, bias, stride, padding, dilation, groups)


def avg_pool2d(
    input: Any, kernel_size: Any, stride: Any = None, padding: Any = 0, ceil_mode: bool = False,
    count_include_pad: bool = True, divisor_override: int | None = None,
) -> Tensor:  # fmt: skip
    """Average the elements of each window over two axes.

    Args:
        input (Tensor): tensor of shape (n, channels, h, w) or (channels, h, w).
        kernel_size (int or tuple of int): size of the windows.
        stride (int, tuple of int, or None): step between neighboring windows. ``None`` means
            ``kernel_size``.
        padding (int or tuple of int): number of zeros at both ends of each axis.
        ceil_mode (bool): whether the last window may extend past the end of the input.
        count_include_pad (bool): whether the zeros of the padding count as elements of the average.
        divisor_override (int or None): divisor to use instead of the number of elements in the window.

    Returns:
        Tensor of the averages, with as many axes as ``input``.

    >>> from mindgrad import Tensor, mint
    >>> print(mint.nn.functional.avg_pool2d(Tensor([[[[1.0, 2.0], [3.0, 4.0]]]]), 2))
    [[[[2.5]]]]
    """
    steps = kernel_size if stride is None else stride
    return functional.avg_pool2d(
        input, kernel_size, steps, padding, ceil_mode, count_include_pad, divisor_override or 0
    )


def batch_norm(
    input: Any, running_mean: Any, running_var: Any, weight: Any = None, bias: Any = None,
    training: bool = False, momentum: float = 0.1, eps: float = 1e-5,
) -> Tensor:  # fmt: skip
    """Normalize each channel with statistics of the batch or running statistics.

    Args:
        input (Tensor): tensor of shape (n, channels, …).
        running_mean, running_var (Tensor): running mean and variance of each channel, of shape (channels,).
            They are used if ``training`` is false.
        weight (Tensor or None): scale of each channel. ``None`` means 1.
        bias (Tensor or None): shift of each channel. ``None`` means 0.
        training (bool): whether to normalize with the mean and variance of the batch.
        momentum (float): weight of the statistics of the batch when the running statistics are updated.
        eps (float): number added to the variance.

    Returns:
        Tensor of the shape of ``input``.

    >>> from mindgrad import Tensor, mint
    >>> x, zero, one = Tensor([[1.0], [3.0]]), Tensor([0.0]), Tensor([1.0])
    >>> print(mint.nn.functional.batch_norm(x, zero, one, eps=0.0))
    [[1.]
     [3.]]
    """
    mean = operand(running_mean, "batch_norm")
    scale = functional.ones_like(mean) if weight is None else weight
    shift = functional.zeros_like(mean) if bias is None else bias
    return functional.batch_norm(input, running_mean, running_var, scale, shift, training, momentum, eps)


def kl_div(input: Any, target: Any, reduction: str = "mean", log_target: bool = False) -> Tensor:
    """Compute the Kullback–Leibler divergence Σ t (log t − x).

    Args:
        input (Tensor): log-probabilities x.
        target (Tensor): target probabilities t, of the shape of ``input``; or log t if ``log_target`` is
            true.
        reduction (str): reduction of the loss: ``"mean"``, ``"sum"``, ``"batchmean"``, or ``"none"``.
        log_target (bool): whether ``target`` contains log-probabilities.

    Returns:
        0-D tensor of the loss, or a tensor of the shape of ``input`` if ``reduction`` is ``"none"``.

    >>> from mindgrad import Tensor, mint
    >>> print(mint.nn.functional.kl_div(Tensor([[-1.0, -2.0]]), Tensor([[0.0, 1.0]]), "sum"))
    2.0
    """
    return functional.kl_div(input, functional.exp(target) if log_target else target, reduction)


_document_all(globals(), "mindgrad.ops")
_expose("mint.nn.functional", globals(), vars(_conversions))
