"""Layers of ``mint.nn``: Cells of ``nn``, some with different arguments."""

from __future__ import annotations

from typing import Any

from mindgrad import nn
from mindgrad._base.checks import one_of
from mindgrad.core.ir.dtype import float32
from mindgrad.core.ir.tensor import Tensor
from mindgrad.mint.nn.batch_norm import BatchNorm1d, BatchNorm2d, BatchNorm3d  # noqa: F401  (in ``_OWN``)
from mindgrad.mint.nn.functional import log_softmax, softmax
from mindgrad.ops import functional
from mindgrad.ops.in_place import replaced

_nn: Any = nn  # a type checker cannot resolve the names of ``nn``

#: Cells of ``nn`` that ``mint.nn`` also exports
_SAME = [
    "AdaptiveAvgPool1d", "AdaptiveAvgPool2d", "AdaptiveAvgPool3d", "BCELoss", "ConstantPad1d",
    "ConstantPad2d", "ConstantPad3d", "CosineEmbeddingLoss", "CrossEntropyLoss", "Flatten", "Hardtanh",
    "Identity", "L1Loss", "Linear", "LogSigmoid", "MSELoss", "Mish", "NLLLoss", "PixelShuffle", "ReLU",
    "ReLU6", "ReflectionPad1d", "ReflectionPad2d", "ReflectionPad3d", "ReplicationPad1d", "ReplicationPad2d",
    "ReplicationPad3d", "SeLU", "SiLU", "Sigmoid", "SoftMarginLoss", "Tanh", "Threshold",
    "Upsample", "ZeroPad2d",
]  # fmt: skip
#: name in ``mint.nn`` -> name in ``nn``, for Cells with equal arguments
_RENAMED = {"Hardshrink": "HShrink", "Hardsigmoid": "HSigmoid", "Hardswish": "HSwish", "SELU": "SeLU"}

globals().update({name: getattr(nn, name) for name in _SAME})
globals().update({name: getattr(nn, theirs) for name, theirs in _RENAMED.items()})

_OWN = [
    "AvgPool2d", "BCEWithLogitsLoss", "BatchNorm1d", "BatchNorm2d", "BatchNorm3d", "Conv1d", "Conv2d",
    "Conv3d", "ConvTranspose2d", "Dropout", "ELU", "Embedding", "GELU", "GroupNorm", "KLDivLoss", "LayerNorm",
    "LogSoftmax", "PReLU", "SmoothL1Loss", "Softmax",
]  # fmt: skip
__all__ = list(_OWN + _SAME + [*_RENAMED])


class AvgPool2d(_nn.Cell):
    """Average pooling over two axes.

    Args:
        kernel_size (int or tuple of int): size of the windows.
        stride (int, tuple of int, or None): step between neighboring windows. ``None`` means
            ``kernel_size``.
        padding (int or tuple of int): number of zeros at both ends of each axis.
        ceil_mode (bool): whether the last window may extend past the end of the input.
        count_include_pad (bool): whether the zeros of the padding count as elements of the average.
        divisor_override (int or None): divisor to use instead of the number of elements in the window.

    >>> from mindgrad import Tensor, mint
    >>> print(mint.nn.AvgPool2d(2)(Tensor([[[[1.0, 2.0], [3.0, 4.0]]]])))
    [[[[2.5]]]]
    """

    def __init__(
        self, kernel_size: Any, stride: Any = None, padding: Any = 0, ceil_mode: bool = False,
        count_include_pad: bool = True, divisor_override: int | None = None,
    ) -> None:  # fmt: skip
        super().__init__()
        self.kernel_size, self.stride = kernel_size, kernel_size if stride is None else stride
        self.padding, self.ceil_mode = padding, ceil_mode
        self.count_include_pad, self.divisor_override = count_include_pad, divisor_override

    def construct(self, input: Any) -> Tensor:
        """Return the mean of each window."""
        return functional.avg_pool2d(
            input, self.kernel_size, self.stride, self.padding, self.ceil_mode, self.count_include_pad,
            self.divisor_override or 0,
        )  # fmt: skip


def _convolution(
    padding: Any, bias: bool, groups: int, padding_mode: str, dtype: Any, owner: str
) -> dict[str, Any]:
    """Return the keyword arguments for a convolution of ``nn``."""
    if padding_mode != "zeros":
        raise ValueError(
            f"For '{owner}', the 'padding_mode' must be 'zeros', but got {padding_mode!r}. Put a padding "
            f"Cell, such as mint.nn.ReflectionPad2d, before the convolution."
        )
    named = isinstance(padding, str)
    return {
        "pad_mode": padding if named else "pad",
        "padding": 0 if named else padding,
        "has_bias": bias,
        "group": groups,
        "dtype": float32 if dtype is None else dtype,
    }


def _paired(padding: Any) -> Any:
    """Convert one padding for each axis to one for each side of each axis."""
    return tuple(p for p in padding for _ in (0, 1)) if isinstance(padding, (tuple, list)) else padding


class _Convolution:
    """Shared constructor of Conv1d, Conv2d, and Conv3d."""

    def __init__(
        self, in_channels: int, out_channels: int, kernel_size: Any, stride: Any = 1, padding: Any = 0,
        dilation: Any = 1, groups: int = 1, bias: bool = True, padding_mode: str = "zeros", dtype: Any = None,
    ) -> None:  # fmt: skip
        pairs = padding if isinstance(self, _nn.Conv1d) else _paired(padding)
        super().__init__(  # type: ignore[call-arg]
            in_channels, out_channels, kernel_size, stride, dilation=dilation,
            **_convolution(pairs, bias, groups, padding_mode, dtype, type(self).__name__),
        )  # fmt: skip


class Conv1d(_Convolution, _nn.Conv1d):
    """1-D convolution layer with PyTorch's arguments.

    See :class:`mindgrad.nn.Conv1d` for MindSpore's arguments.

    Args:
        in_channels, out_channels (int): numbers of channels of the input and the output.
        kernel_size, stride, dilation (int or tuple of int): size of the kernel, step between neighboring
            windows, and spacing between the elements of the kernel.
        padding (int, tuple of int, or str): number of zeros at both ends, or ``"same"`` or
            ``"valid"``.
        groups (int): number of groups of channels, each with its own kernels.
        bias (bool): whether to add a trainable bias.
        padding_mode (str): padding values; only ``"zeros"`` is supported.
        dtype (mindgrad.dtype): dtype of the Parameters. ``None`` means float32.

    >>> from mindgrad import mint
    >>> mint.nn.Conv1d(2, 3, 3, padding=1)(mint.ones((1, 2, 5))).shape
    (1, 3, 5)
    """


class Conv2d(_Convolution, _nn.Conv2d):
    """2-D convolution layer with PyTorch's arguments.

    {as Conv1d}

    >>> from mindgrad import mint
    >>> mint.nn.Conv2d(2, 3, 3, padding=(1, 0))(mint.ones((1, 2, 5, 5))).shape
    (1, 3, 5, 3)
    """


class Conv3d(_Convolution, _nn.Conv3d):
    """3-D convolution layer with PyTorch's arguments.

    {as Conv1d}

    >>> from mindgrad import mint
    >>> mint.nn.Conv3d(1, 2, 3, padding=1)(mint.ones((1, 1, 4, 4, 4))).shape
    (1, 2, 4, 4, 4)
    """


class ConvTranspose2d(_nn.Conv2dTranspose):
    """2-D transposed convolution layer, the transpose of :class:`Conv2d`.

    Args:
        in_channels, out_channels (int): numbers of channels of the input and the output.
        kernel_size, stride, padding (int or tuple of int): size of the kernel, step between neighboring
            windows, and padding of the convolution whose transpose is computed.
        output_padding (int or tuple of int): number of elements added at the end of each axis of
            the output.
        groups (int): number of groups of channels, each with its own kernels.
        bias (bool): whether to add a trainable bias.
        dilation (int or tuple of int): spacing between the elements of the kernel.
        padding_mode (str): padding values; only ``"zeros"`` is supported.
        dtype (mindgrad.dtype): dtype of the Parameters. ``None`` means float32.

    >>> from mindgrad import mint
    >>> mint.nn.ConvTranspose2d(2, 3, 2, stride=2)(mint.ones((1, 2, 4, 4))).shape
    (1, 3, 8, 8)
    """

    def __init__(
        self, in_channels: int, out_channels: int, kernel_size: Any, stride: Any = 1, padding: Any = 0,
        output_padding: Any = 0, groups: int = 1, bias: bool = True, dilation: Any = 1,
        padding_mode: str = "zeros", dtype: Any = None,
    ) -> None:  # fmt: skip
        super().__init__(
            in_channels, out_channels, kernel_size, stride, output_padding=output_padding, dilation=dilation,
            **_convolution(_paired(padding), bias, groups, padding_mode, dtype, "ConvTranspose2d"),
        )  # fmt: skip


class GroupNorm(_nn.Cell):
    """Group normalization with trainable Parameters ``weight`` and ``bias``.

    See :func:`mindgrad.ops.group_norm`.

    Args:
        num_groups (int): number of groups of channels.
        num_channels (int): number of channels.
        eps (float): number added to the variance.
        affine (bool): whether each channel has a trainable scale and shift.
        dtype (mindgrad.dtype): dtype of the Parameters. ``None`` means float32.

    >>> from mindgrad import mint
    >>> mint.nn.GroupNorm(2, 4)(mint.ones((1, 4, 3, 3))).shape
    (1, 4, 3, 3)
    """

    def __init__(
        self, num_groups: int, num_channels: int, eps: float = 1e-5, affine: bool = True, dtype: Any = None
    ) -> None:
        super().__init__()
        like = _nn.GroupNorm(num_groups, num_channels, eps, affine, dtype=float32 if dtype is None else dtype)
        self.num_groups, self.num_channels, self.eps, self.affine = num_groups, num_channels, eps, affine
        self.weight, self.bias = _renamed(like.gamma, "weight"), _renamed(like.beta, "bias")

    def construct(self, input: Any) -> Tensor:
        """Normalize the input."""
        return functional.group_norm(input, self.num_groups, self.weight, self.bias, self.eps)

    def extend_repr(self) -> str:
        return f"num_groups={self.num_groups}, num_channels={self.num_channels}, affine={self.affine}"


class LayerNorm(_nn.Cell):
    """Layer normalization over trailing dimensions, with trainable scale and shift.

    See :func:`mindgrad.ops.layer_norm`. The Parameters are ``weight`` and ``bias``.

    Args:
        normalized_shape (int or tuple of int): shape of the trailing dimensions that are normalized together.
        eps (float): number added to the variance.
        elementwise_affine (bool): whether each element has a trainable scale and shift. If it is false,
            ``weight`` and ``bias`` are ``None``.
        bias (bool): whether each element has a trainable shift.
        dtype (mindgrad.dtype): dtype of the Parameters. ``None`` means float32.

    >>> from mindgrad import Tensor, mint
    >>> print(mint.nn.LayerNorm(2, eps=0.0)(Tensor([[1.0, 3.0]])))
    [[-1.  1.]]
    """

    def __init__(
        self, normalized_shape: Any, eps: float = 1e-5, elementwise_affine: bool = True, bias: bool = True,
        dtype: Any = None,
    ) -> None:  # fmt: skip
        super().__init__()
        shape = (normalized_shape,) if isinstance(normalized_shape, int) else tuple(normalized_shape)
        axis = -len(shape)
        like = _nn.LayerNorm(shape, axis, axis, epsilon=eps, dtype=float32 if dtype is None else dtype)
        self.normalized_shape, self.eps, self.elementwise_affine = (
            like.normalized_shape,
            eps,
            elementwise_affine,
        )
        self.weight = _renamed(like.gamma, "weight") if elementwise_affine else None
        self.bias = _renamed(like.beta, "bias") if elementwise_affine and bias else None

    def construct(self, input: Any) -> Tensor:
        """Normalize the input."""
        return functional.layer_norm(input, self.normalized_shape, self.weight, self.bias, self.eps)

    def extend_repr(self) -> str:
        return f"normalized_shape={self.normalized_shape}, elementwise_affine={self.elementwise_affine}"


class Embedding(_nn.Cell):
    """Embedding: look up rows of a trainable table, the Parameter ``weight``.

    Args:
        num_embeddings (int): number of rows of the table.
        embedding_dim (int): size of an embedding, which is a row of the table.
        padding_idx (int or None): index of a row that is initialized with 0 and is not trained.
        dtype (mindgrad.dtype): dtype of the table. ``None`` means float32.

    >>> from mindgrad import Tensor, mint
    >>> mint.nn.Embedding(5, 3)(Tensor([[1, 2]])).shape
    (1, 2, 3)
    """

    def __init__(
        self, num_embeddings: int, embedding_dim: int, padding_idx: int | None = None, dtype: Any = None
    ) -> None:
        super().__init__()
        like = _nn.Embedding(
            num_embeddings, embedding_dim, padding_idx=padding_idx, dtype=float32 if dtype is None else dtype
        )
        self.num_embeddings, self.embedding_dim = num_embeddings, embedding_dim
        self.padding_idx = padding_idx
        self.weight = _renamed(like.embedding_table, "weight")

    def construct(self, input: Any) -> Tensor:
        """Return the rows with the indices in the input."""
        return functional.embedding(input, self.weight, self.padding_idx)

    def extend_repr(self) -> str:
        return f"{self.num_embeddings}, {self.embedding_dim}, padding_idx={self.padding_idx}"


def _renamed(parameter: Any, name: str) -> Any:
    parameter.name = name
    return parameter


class Dropout(_nn.Dropout):
    """Drop elements with probability ``p`` during training.

    See :class:`mindgrad.nn.Dropout`.

    Args:
        p (float): probability that an element is dropped.
        inplace (bool): whether to store the result in the input tensor.

    >>> from mindgrad import Tensor, mint
    >>> print(mint.nn.Dropout(0.3)(Tensor([1.0])))
    [1.]
    """

    def __init__(self, p: float = 0.5, inplace: bool = False) -> None:
        super().__init__(p=p)
        self.inplace = inplace

    def construct(self, x: Any) -> Any:
        """Return the result; with ``inplace``, store it in ``x`` and return ``x``."""
        return replaced(x, "Dropout", super().construct) if self.inplace else super().construct(x)


class ELU(_nn.ELU):
    """Compute x for positive x, and ``alpha · (exp x − 1)`` otherwise.

    Args:
        alpha (float): factor α of the exponential branch, for negative elements.
        inplace (bool): whether to store the result in the input tensor.

    >>> from mindgrad import Tensor, mint
    >>> print(mint.nn.ELU()(Tensor([1.0, 0.0])))
    [1. 0.]
    """

    def __init__(self, alpha: float = 1.0, inplace: bool = False) -> None:
        super().__init__(alpha)
        self.inplace = inplace

    def construct(self, x: Any) -> Any:
        """Return the result; with ``inplace``, store it in ``x`` and return ``x``."""
        return replaced(x, "ELU", super().construct) if self.inplace else super().construct(x)


class GELU(_nn.GELU):
    """Gaussian error linear unit x Φ(x), or its approximation by tanh.

    Args:
        approximate (str): approximation of Φ: ``"none"`` or ``"tanh"``.

    >>> from mindgrad import Tensor, mint
    >>> print(mint.nn.GELU()(Tensor([0.0])))
    [0.]
    """

    def __init__(self, approximate: str = "none") -> None:
        one_of(approximate, ("none", "tanh"), "GELU", "approximate")
        super().__init__(approximate == "tanh")


class PReLU(_nn.Cell):
    """Compute x for positive x, and w x otherwise, with a trainable slope w.

    See :func:`mindgrad.ops.prelu`.

    Args:
        num_parameters (int): number of trainable slopes: 1, or the number of channels.
        init (float): initial value of the slopes.
        dtype (mindgrad.dtype): dtype of the Parameter. ``None`` means float32.

    >>> from mindgrad import Tensor, mint
    >>> print(mint.nn.PReLU()(Tensor([-4.0, 1.0])))
    [-1.  1.]
    """

    def __init__(self, num_parameters: int = 1, init: float = 0.25, dtype: Any = None) -> None:
        super().__init__()
        self.weight = _renamed(_nn.PReLU(num_parameters, init).w, "weight")
        if dtype is not None:
            self.weight.set_dtype(dtype)

    def construct(self, input: Any) -> Tensor:
        """Multiply negative elements of the input by the weight."""
        return functional.prelu(input, self.weight)


class Softmax(_nn.Softmax):
    """Compute the softmax exp x / Σ exp x along an axis.

    Args:
        dim (int or None): axis along which to normalize. ``None`` means axis 0 for tensors of 0, 1, or 3
            axes, and axis 1 otherwise.

    >>> from mindgrad import Tensor, mint
    >>> print(mint.nn.Softmax(dim=0)(Tensor([0.0, 0.0])))
    [0.5 0.5]
    """

    def __init__(self, dim: int | None = None) -> None:
        super().__init__(-1 if dim is None else dim)
        self.dim = dim

    def construct(self, x: Any) -> Any:
        """Apply :func:`mindgrad.mint.nn.functional.softmax`."""
        return softmax(x, self.dim)


class LogSoftmax(_nn.LogSoftmax):
    """Compute the logarithm of the softmax along an axis.

    Args:
        dim (int or None): axis along which to normalize. ``None`` means axis 0 for tensors of 0, 1, or 3
            axes, and axis 1 otherwise.

    >>> from mindgrad import Tensor, mint
    >>> print(mint.nn.LogSoftmax(dim=0)(Tensor([0.0, -1000.0])))
    [    0. -1000.]
    """

    def __init__(self, dim: int | None = None) -> None:
        super().__init__(-1 if dim is None else dim)
        self.dim = dim

    def construct(self, x: Any) -> Any:
        """Apply :func:`mindgrad.mint.nn.functional.log_softmax`."""
        return log_softmax(x, self.dim)


class BCEWithLogitsLoss(_nn.BCEWithLogitsLoss):
    """Compute the binary cross entropy of logits.

    See :class:`mindgrad.nn.BCEWithLogitsLoss`.

    Args:
        weight (Tensor or None): weight of each element. ``None`` means 1.
        reduction (str): reduction of the loss: ``"mean"``, ``"sum"``, or ``"none"``.
        pos_weight (Tensor or None): weight of the positive targets (target 1). ``None`` means 1.

    >>> from mindgrad import Tensor, mint
    >>> print(mint.nn.BCEWithLogitsLoss()(Tensor([-800.0]), Tensor([1.0])))
    800.0
    """

    def __init__(self, weight: Any = None, reduction: str = "mean", pos_weight: Any = None) -> None:
        super().__init__(reduction, weight, pos_weight)


class SmoothL1Loss(_nn.SmoothL1Loss):
    """Compute the smooth L1 loss: x²/2β below β and |x| − β/2 above.

    See :class:`mindgrad.nn.SmoothL1Loss`.

    Args:
        reduction (str): reduction of the loss: ``"mean"``, ``"sum"``, or ``"none"``.
        beta (float): threshold β below which the loss is quadratic.

    >>> from mindgrad import Tensor, mint
    >>> print(mint.nn.SmoothL1Loss()(Tensor([1.0, 4.0]), Tensor([2.0, 2.0])))
    1.0
    """

    def __init__(self, reduction: str = "mean", beta: float = 1.0) -> None:
        super().__init__(beta, reduction)


class KLDivLoss(_nn.Cell):
    """Kullback–Leibler divergence Σ t (log t − x).

    Args:
        reduction (str): reduction of the loss: ``"mean"``, ``"sum"``, ``"batchmean"``, or ``"none"``.
        log_target (bool): whether the target contains log-probabilities.

    >>> from mindgrad import Tensor, mint
    >>> print(mint.nn.KLDivLoss("sum")(Tensor([[-1.0, -2.0]]), Tensor([[0.0, 1.0]])))
    2.0
    """

    def __init__(self, reduction: str = "mean", log_target: bool = False) -> None:
        super().__init__()
        self.reduction, self.log_target = reduction, log_target

    def construct(self, input: Any, target: Any) -> Tensor:
        """Compute the divergence of the target from the input."""
        shares = functional.exp(target) if self.log_target else target
        return functional.kl_div(input, shares, self.reduction)
