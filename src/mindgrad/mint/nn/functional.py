"""``mint.nn.functional`` gives the computations of layers as functions with PyTorch's arguments."""

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
    """exp x / Σ exp x along ``dim``, by default the second axis, or the first of 0, 1 or 3 axes.

    >>> from mindgrad import Tensor, mint
    >>> print(mint.nn.functional.softmax(Tensor([0.0, 0.0])))
    [0.5 0.5]
    """
    x = operand(input, "softmax")
    return functional.softmax(x, default_axis(x) if dim is None else dim, dtype=dtype)


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


def kl_div(input: Any, target: Any, reduction: str = "mean", log_target: bool = False) -> Tensor:
    """Σ t (log t − x), x being logarithms of probabilities.

    >>> from mindgrad import Tensor, mint
    >>> print(mint.nn.functional.kl_div(Tensor([[-1.0, -2.0]]), Tensor([[0.0, 1.0]]), "sum"))
    2.0
    """
    return functional.kl_div(input, functional.exp(target) if log_target else target, reduction)


_document_all(globals(), "mindgrad.ops")
_expose("mint.nn.functional", globals(), vars(_conversions))
