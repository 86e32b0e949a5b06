"""``mint.nn.functional`` gives the computations of layers as functions with PyTorch's arguments."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from mindgrad.ir.tensor import Tensor
from mindgrad.mint import elementwise
from mindgrad.mint.arranging import flatten  # noqa: F401
from mindgrad.mint.reducing import default_axis, log_softmax  # noqa: F401
from mindgrad.mint.reducing import softmax as _softmax
from mindgrad.ops import functional
from mindgrad.ops.in_place import replaced
from mindgrad.ops.operands import operand

#: with the same arguments in ops
_SAME = [
    "embedding", "grid_sample",
    "adaptive_avg_pool1d", "adaptive_avg_pool2d", "adaptive_avg_pool3d", "celu", "cosine_embedding_loss",
    "cross_entropy", "gelu", "group_norm", "hardshrink", "hardsigmoid", "hardswish",
    "interpolate", "l1_loss", "layer_norm", "logsigmoid", "mish", "mse_loss", "pixel_shuffle", "prelu",
    "selu", "soft_margin_loss", "softplus", "softshrink", "softsign", "upsample", "fold",
]  # fmt: skip
_NAMES = ("sigmoid", "tanh")

globals().update({name: getattr(functional, name) for name in _SAME})
globals().update({name: getattr(elementwise, name) for name in _NAMES})

_OWN = [
    "avg_pool2d", "batch_norm", "binary_cross_entropy", "binary_cross_entropy_with_logits", "conv1d",
    "conv2d", "conv3d", "dropout", "elu", "flatten", "glu", "hardtanh", "kl_div", "leaky_relu", "linear",
    "log_softmax", "max_pool2d", "nll_loss", "normalize", "one_hot", "pad", "relu", "relu6", "silu",
    "smooth_l1_loss", "softmax", "threshold", "unfold",
]  # fmt: skip
__all__ = list(_OWN + _SAME + [*_NAMES])


def linear(input: Any, weight: Any, bias: Any = None) -> Tensor:
    """x Wᵀ + b.

    >>> from mindgrad import Tensor, mint
    >>> print(mint.nn.functional.linear(Tensor([[1.0, 1.0]]), Tensor([[1.0, 2.0]])))
    [[3.]]
    """
    return functional.dense(input, weight, bias)


def _placed(inplace: bool, name: str, function: Callable[..., Any], input: Any, *args: Any) -> Tensor:
    """``function(input, *args)``, with ``inplace`` in the place of ``input``."""
    if not inplace:
        return function(input, *args)  # type: ignore[no-any-return]
    if not isinstance(input, Tensor):
        raise TypeError(f"For '{name}', inplace=True needs a Tensor, but got {type(input).__name__}.")
    return replaced(input, name, function, *args)


def hardtanh(input: Any, min_val: float = -1.0, max_val: float = 1.0, inplace: bool = False) -> Tensor:
    """min(max(x, ``min_val``), ``max_val``).

    With ``inplace``, ``input`` itself stands for the result from here on.

    >>> from mindgrad import Tensor, mint
    >>> x = Tensor([-3.0, 0.5])
    >>> print(mint.nn.functional.hardtanh(x, inplace=True), x)
    [-1.   0.5] [-1.   0.5]
    """
    return _placed(inplace, "hardtanh", functional.hardtanh, input, min_val, max_val)


def threshold(input: Any, threshold: float, value: float, inplace: bool = False) -> Tensor:
    """x above ``threshold`` and ``value`` elsewhere.

    With ``inplace``, ``input`` itself stands for the result from here on.

    >>> from mindgrad import Tensor, mint
    >>> print(mint.nn.functional.threshold(Tensor([-3.0, 0.5]), 0.1, 2.0))
    [2.  0.5]
    """
    return _placed(inplace, "threshold", functional.threshold, input, threshold, value)


def relu(input: Any, inplace: bool = False) -> Tensor:
    """max(x, 0).

    With ``inplace``, ``input`` itself stands for the result from here on.

    >>> from mindgrad import Tensor, mint
    >>> print(mint.nn.functional.relu(Tensor([-1.0, 2.0])))
    [0. 2.]
    """
    return _placed(inplace, "relu", functional.relu, input)


def relu6(input: Any, inplace: bool = False) -> Tensor:
    """min(max(x, 0), 6).

    With ``inplace``, ``input`` itself stands for the result from here on.

    >>> from mindgrad import Tensor, mint
    >>> print(mint.nn.functional.relu6(Tensor([-1.0, 9.0])))
    [0. 6.]
    """
    return _placed(inplace, "relu6", functional.relu6, input)


def silu(input: Any, inplace: bool = False) -> Tensor:
    """x · sigmoid(x).

    With ``inplace``, ``input`` itself stands for the result from here on.

    >>> from mindgrad import Tensor, mint
    >>> print(mint.nn.functional.silu(Tensor([0.0])))
    [0.]
    """
    return _placed(inplace, "silu", functional.silu, input)


def elu(input: Any, alpha: float = 1.0, inplace: bool = False) -> Tensor:
    """x above 0 and ``alpha · (exp x − 1)`` below.

    With ``inplace``, ``input`` itself stands for the result from here on.

    >>> from mindgrad import Tensor, mint
    >>> print(mint.nn.functional.elu(Tensor([1.0, 0.0])))
    [1. 0.]
    """
    return _placed(inplace, "elu", functional.elu, input, alpha)


def leaky_relu(input: Any, negative_slope: float = 0.01) -> Tensor:
    """x above 0 and ``negative_slope · x`` below.

    >>> from mindgrad import Tensor, mint
    >>> print(mint.nn.functional.leaky_relu(Tensor([-100.0, 1.0])))
    [-1.  1.]
    """
    return functional.leaky_relu(input, negative_slope)


def glu(input: Any, dim: int = -1) -> Tensor:
    """The first half along ``dim`` times the sigmoid of the second.

    >>> from mindgrad import Tensor, mint
    >>> print(mint.nn.functional.glu(Tensor([3.0, 0.0])))
    [1.5]
    """
    return functional.glu(input, dim)


def softmax(input: Any, dim: int | None = None, dtype: Any = None) -> Tensor:
    """exp x / Σ exp x along ``dim``, by default the second axis, or the first of 0, 1 or 3 axes.

    >>> from mindgrad import Tensor, mint
    >>> print(mint.nn.functional.softmax(Tensor([0.0, 0.0])))
    [0.5 0.5]
    """
    x = operand(input, "softmax")
    return _softmax(x, default_axis(x) if dim is None else dim, dtype=dtype)


def dropout(input: Any, p: float = 0.5, training: bool = True, inplace: bool = False) -> Tensor:
    """Elements dropped with probability ``p``, the others divided by 1 − p.

    With ``inplace``, ``input`` itself stands for the result from here on.

    >>> from mindgrad import Tensor, mint
    >>> print(mint.nn.functional.dropout(Tensor([1.0]), training=False))
    [1.]
    """
    return _placed(inplace, "dropout", functional.dropout, input, p, training)


def normalize(input: Any, p: float = 2.0, dim: Any = 1, eps: float = 1e-12) -> Tensor:
    """x / max(‖x‖ₚ, ``eps``) along ``dim``.

    >>> from mindgrad import Tensor, mint
    >>> print(mint.nn.functional.normalize(Tensor([[3.0, 4.0]])))
    [[0.6 0.8]]
    """
    size = functional.vector_norm(input, p, dim, True)
    return functional.div(input, functional.maximum(size, eps))


def one_hot(tensor: Any, num_classes: int = -1) -> Tensor:
    """1 at the place of each index and 0 elsewhere, along a new last axis, as Int64.

    Args:
        tensor: indices.
        num_classes: the size of the new axis; −1: one more than the largest index, which must have a value.

    >>> from mindgrad import Tensor, mint
    >>> print(mint.nn.functional.one_hot(Tensor([0, 2])))
    [[1 0 0]
     [0 0 1]]
    """
    x = operand(tensor, "one_hot")
    depth = int(x.host_array().max()) + 1 if num_classes == -1 else num_classes
    return functional.one_hot(x, depth, 1, 0).astype(x.dtype)  # type: ignore[attr-defined]


def pad(input: Any, pad: Any, mode: str = "constant", value: Any = None) -> Tensor:
    """``input`` with a margin: widths in front and behind, of the last axis first.

    >>> from mindgrad import Tensor, mint
    >>> print(mint.nn.functional.pad(Tensor([[1.0]]), (1, 2)))
    [[0. 1. 0. 0.]]
    """
    return functional.pad(input, pad, mode, value)


def unfold(input: Any, kernel_size: Any, dilation: Any = 1, padding: Any = 0, stride: Any = 1) -> Tensor:
    """The windows of images as columns: :func:`mindgrad.ops.unfold`.

    >>> from mindgrad import mint
    >>> mint.nn.functional.unfold(mint.ones((1, 2, 3, 3)), 2).shape
    (1, 8, 4)
    """
    return functional.unfold(input, kernel_size, dilation, padding, stride)


# --- convolution and windows --------------------------------------------------------------------------


def _convolved(
    function: Any, input: Any, weight: Any, bias: Any, stride: Any, padding: Any, *more: Any
) -> Any:
    named = isinstance(padding, str)
    return function(input, weight, bias, stride, padding if named else "pad", 0 if named else padding, *more)


def conv1d(
    input: Any, weight: Any, bias: Any = None, stride: Any = 1, padding: Any = 0, dilation: Any = 1,
    groups: int = 1,
) -> Tensor:  # fmt: skip
    """Cross-correlation along one axis, zeros at both ends being ``padding``.

    >>> from mindgrad import mint
    >>> mint.nn.functional.conv1d(mint.ones((1, 2, 5)), mint.ones((3, 2, 3)), padding=1).shape
    (1, 3, 5)
    """
    return _convolved(functional.conv1d, input, weight, bias, stride, padding, dilation, groups)


def conv2d(
    input: Any, weight: Any, bias: Any = None, stride: Any = 1, padding: Any = 0, dilation: Any = 1,
    groups: int = 1,
) -> Tensor:  # fmt: skip
    """Cross-correlation along two axes; as :func:`conv1d`.

    >>> from mindgrad import mint
    >>> mint.nn.functional.conv2d(mint.ones((1, 2, 5, 5)), mint.ones((3, 2, 3, 3)), padding=1).shape
    (1, 3, 5, 5)
    """
    return _convolved(functional.conv2d, input, weight, bias, stride, padding, dilation, groups)


def conv3d(
    input: Any, weight: Any, bias: Any = None, stride: Any = 1, padding: Any = 0, dilation: Any = 1,
    groups: int = 1,
) -> Tensor:  # fmt: skip
    """Cross-correlation along three axes; as :func:`conv1d`.

    >>> from mindgrad import mint
    >>> mint.nn.functional.conv3d(mint.ones((1, 1, 4, 4, 4)), mint.ones((2, 1, 3, 3, 3))).shape
    (1, 2, 2, 2, 2)
    """
    return _convolved(functional.conv3d, input, weight, bias, stride, padding, dilation, groups)


def max_pool2d(
    input: Any, kernel_size: Any, stride: Any = None, padding: Any = 0, dilation: Any = 1,
    ceil_mode: bool = False, return_indices: bool = False,
) -> Any:  # fmt: skip
    """The largest element of each window.

    >>> from mindgrad import Tensor, mint
    >>> print(mint.nn.functional.max_pool2d(Tensor([[[[1.0, 2.0], [3.0, 4.0]]]]), 2))
    [[[[4.]]]]
    """
    return functional.max_pool2d(input, kernel_size, stride, padding, dilation, return_indices, ceil_mode)


def avg_pool2d(
    input: Any, kernel_size: Any, stride: Any = None, padding: Any = 0, ceil_mode: bool = False,
    count_include_pad: bool = True, divisor_override: int | None = None,
) -> Tensor:  # fmt: skip
    """The mean of each window.

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
    """Channels normalised with the statistics of the batch (``training``) or with the given ones.

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


# --- losses -------------------------------------------------------------------------------------------


def nll_loss(
    input: Any, target: Any, weight: Any = None, ignore_index: int = -100, reduction: str = "mean"
) -> Tensor:
    """−x at the place of the target class, x being logarithms of probabilities.

    >>> from mindgrad import Tensor, mint
    >>> print(mint.nn.functional.nll_loss(Tensor([[-0.5, -2.0]]), Tensor([1])))
    2.0
    """
    return functional.nll_loss(input, target, weight, ignore_index, reduction)


def binary_cross_entropy(input: Any, target: Any, weight: Any = None, reduction: str = "mean") -> Tensor:
    """−t log x − (1 − t) log(1 − x).

    >>> from mindgrad import Tensor, mint
    >>> print(f"{mint.nn.functional.binary_cross_entropy(Tensor([0.5]), Tensor([1.0])):.4f}")
    0.6931
    """
    return functional.binary_cross_entropy(input, target, weight, reduction)


def binary_cross_entropy_with_logits(
    input: Any, target: Any, weight: Any = None, reduction: str = "mean", pos_weight: Any = None
) -> Tensor:
    """:func:`binary_cross_entropy` of sigmoid(x), without overflow.

    >>> from mindgrad import Tensor, mint
    >>> print(mint.nn.functional.binary_cross_entropy_with_logits(Tensor([-800.0]), Tensor([1.0])))
    800.0
    """
    return functional.binary_cross_entropy_with_logits(input, target, weight, pos_weight, reduction)


def kl_div(input: Any, target: Any, reduction: str = "mean", log_target: bool = False) -> Tensor:
    """Σ t (log t − x), x being logarithms of probabilities.

    >>> from mindgrad import Tensor, mint
    >>> print(mint.nn.functional.kl_div(Tensor([[-1.0, -2.0]]), Tensor([[0.0, 1.0]]), "sum"))
    2.0
    """
    return functional.kl_div(input, functional.exp(target) if log_target else target, reduction)


def smooth_l1_loss(input: Any, target: Any, reduction: str = "mean", beta: float = 1.0) -> Tensor:
    """x²/2β below β and |x| − β/2 above.

    >>> from mindgrad import Tensor, mint
    >>> print(mint.nn.functional.smooth_l1_loss(Tensor([1.0, 4.0]), Tensor([2.0, 2.0])))
    1.0
    """
    return functional.smooth_l1_loss(input, target, beta, reduction)
