"""Smooth activation functions, each a primitive or a composition of primitives."""

from __future__ import annotations

import math as _math
from typing import Any

from mindgrad.core.ir.dtype import as_dtype, float16
from mindgrad.core.ir.scope import apply
from mindgrad.core.ir.tensor import Tensor
from mindgrad.core.primitives import elementwise, piecewise, special
from mindgrad.core.primitives.reduction import logsumexp, reduce_max
from mindgrad.core.primitives.structural import stop_gradient
from mindgrad.ops.arguments import number
from mindgrad.ops.arithmetic import add, mul, neg, sub
from mindgrad.ops.axes import normalize_axes, normalize_axis
from mindgrad.ops.comparison import greater
from mindgrad.ops.define import also_named, unary_function
from mindgrad.ops.math import exp, tanh
from mindgrad.ops.movement import slice_axis
from mindgrad.ops.operands import accepted, cast, choose, inexact, operand, pointwise
from mindgrad.ops.reduction import widened, with_reduced_axes
from mindgrad.ops.registry import public
from mindgrad.ops.special import erfc

__all__ = [
    "fast_gelu", "gelu", "glu", "log_softmax", "logsigmoid", "mish", "sigmoid", "silu", "softmax",
    "softmin", "softplus", "softsign", "swish", "tanhshrink",
]  # fmt: skip

#: ``gelu`` in float16 clips x to ±6 in the argument of the sigmoid, because x³ would overflow for |x| > 40.
#: The result does not change: for |x| > 6, the sigmoid is 0 or 1 after rounding
_FLOAT16_BOUND = 6.0

sigmoid = unary_function(
    __name__, "sigmoid", special.sigmoid,
    "Compute the sigmoid 1 / (1 + exp(−x)); its derivative is y (1 − y).",
    "1.0", "0.7311", "Sigmoid Tensor mint mint.nn.functional", float_only=True,
)  # fmt: skip


def real_operand(x: Any, operator: str) -> Tensor:
    """Convert ``x`` to a real floating-point tensor.

    Raises:
        TypeError: If ``x`` is complex, or neither a tensor nor a number.
    """
    x = inexact(operand(x, operator))
    accepted(special.sigmoid, operator, x)
    return x


# --- softmax, log_softmax, softmin -------------------------------------------------------------------


@public(
    "Tensor",
    "Softmax(axis: integers=-1)(x)",
    "mint.softmax(input, dim, *, dtype=None) >>> mint.softmax(Tensor([0.0, 0.0]), 0) => [0.5 0.5]",
)
def softmax(input: Any, axis: Any = -1, *, dtype: Any = None) -> Tensor:
    """Compute the softmax exp(x_i) / Σ_j exp(x_j) along an axis, without overflow.

    Its derivative is y_i (δ_ij − y_j). The softmax of an element −inf is 0.

    Args:
        input (Tensor): floating-point tensor with at least one axis.
        axis (int or tuple of int): axis or axes along which the softmax values sum to 1.
        dtype (mindgrad.dtype): dtype to which the input is converted first. ``None`` means the dtype of
            ``input``.

    Returns:
        Tensor of the same shape as ``input``. The result is NaN if all elements along ``axis`` are −inf, or
        one of them is inf.

    Raises:
        TypeError: If ``axis`` is not an int, or ``input`` is not a floating-point tensor.
        ValueError: If ``axis`` is out of range or repeats an axis.

    >>> from mindgrad import Tensor, ops
    >>> print(ops.softmax(Tensor([1000.0, 1000.0])))
    [0.5 0.5]
    """
    x = operand(input, "Softmax")
    x = _floating(x if dtype is None else cast(x, as_dtype(dtype)), "Softmax")
    return cast(exp(_log_softmax(widened(x), axis, "Softmax")), x.dtype)


@public("Tensor", "LogSoftmax(axis: integers=-1)(x)")
def log_softmax(logits: Any, axis: Any = -1) -> Tensor:
    """Compute the logarithm of the softmax, x_i − log Σ_j exp(x_j), along an axis.

    The result is accurate even if the softmax underflows to 0.

    Args:
        logits (Tensor): floating-point tensor with at least one axis.
        axis (int or tuple of int): axis or axes along which the softmax values sum to 1.

    Returns:
        Tensor of the same shape as ``logits``.

    {Raises as softmax}

    >>> from mindgrad import Tensor, ops
    >>> print(ops.log_softmax(Tensor([0.0, 1000.0])))
    [-1000.     0.]
    """
    x = _floating(operand(logits, "LogSoftmax"), "LogSoftmax")
    return cast(_log_softmax(widened(x), axis, "LogSoftmax"), x.dtype)


def _floating(x: Tensor, operator: str) -> Tensor:
    if not x.dtype.is_float:
        raise TypeError(
            f"For '{operator}', the elements must be floating-point numbers, but got {x.dtype}. "
            "Convert them: x.astype(mindspore.float32)."
        )
    return x


def _log_softmax(x: Tensor, axis: Any, operator: str) -> Tensor:
    axes = normalize_axes(axis, x.ndim, operator)
    if not x.size:
        return x
    # subtract the maximum of x: then exp(x) cannot overflow, and small differences are not rounded away
    top = apply(stop_gradient, apply(reduce_max, x, axes=axes))
    x = sub(x, with_reduced_axes(top, x.shape, axes, True))
    return sub(x, with_reduced_axes(apply(logsumexp, x, axes=axes), x.shape, axes, True))


def softmin(x: Any, axis: Any = -1, *, dtype: Any = None) -> Tensor:
    """Compute the softmin along an axis: the softmax of −x.

    Args:
        x (Tensor): floating-point tensor with at least one axis.
        axis (int or tuple of int): axis or axes along which the softmax values sum to 1.
        dtype (mindgrad.dtype): dtype to which the input is converted first. ``None`` means the dtype of
            ``x``.

    Returns:
        Tensor of the same shape as ``x``.

    {Raises as softmax}

    >>> from mindgrad import Tensor, ops
    >>> print(ops.softmin(Tensor([1000.0, 1000.0])))
    [0.5 0.5]
    """
    return softmax(neg(real_operand(x, "Softmin")), axis, dtype=dtype)


# --- smooth activation functions ---------------------------------------------------------------------


@public(
    "mint.nn.functional",
    "Softplus()(x)(beta=1, threshold=float('inf')) >>> f\"{ops.Softplus()(Tensor(0.0)):.4f}\" => 0.6931",
)
def softplus(input: Any, beta: float = 1, threshold: float = 20) -> Tensor:
    """Compute log(1 + exp(βx)) / β without overflow.

    If βx is above ``threshold``, the result is x.

    Args:
        input (Tensor or number): real values of any shape; integers are converted to float32.
        beta (int or float): nonzero scale factor β.
        threshold (int or float): value of βx above which the function returns x.

    Returns:
        Tensor of the same shape as ``input``.

    Raises:
        TypeError: If ``beta`` or ``threshold`` is not a number, or ``input`` is complex or not a tensor.
        ValueError: If ``beta`` is 0.

    >>> from mindgrad import Tensor, ops
    >>> print(f"{ops.softplus(Tensor(0.0)):.4f}")
    0.6931
    """
    x = real_operand(input, "Softplus")
    beta = number(beta, "Softplus", "beta")
    threshold = number(threshold, "Softplus", "threshold")
    if beta == 0:
        raise ValueError("For 'Softplus', the 'beta' must not be 0.")
    scaled = x if beta == 1 else mul(x, beta)
    y = apply(special.softplus, scaled)
    return choose(greater(scaled, threshold), x, y if beta == 1 else mul(y, 1 / beta))


@public("mint.nn.functional")
@also_named(input="x")
def logsigmoid(x: Any) -> Tensor:
    """Compute log(sigmoid(x)) = −log(1 + exp(−x)); its derivative is sigmoid(−x).

    Args:
        x (Tensor or number): real values of any shape; integers are converted to float32.

    {a real one x}

    >>> from mindgrad import Tensor, ops
    >>> print(f"{ops.logsigmoid(Tensor(0.0)):.4f}")
    -0.6931
    """
    return neg(apply(special.softplus, neg(real_operand(x, "LogSigmoid"))))


@public(
    "mint.nn.functional",
    "GeLU()(x)(approximate='tanh') >>> f\"{ops.GeLU()(Tensor(1.0)):.4f}\" => 0.8412",
    "Gelu()(x)(approximate='tanh') >>> f\"{ops.Gelu()(Tensor(1.0)):.4f}\" => 0.8412",
)
def gelu(input: Any, approximate: str = "none") -> Tensor:
    """Compute the Gaussian error linear unit x Φ(x).

    Φ(x) = (1 + erf(x/√2)) / 2 is the cumulative distribution function of the standard normal distribution.

    Args:
        input (Tensor or number): real values of any shape; integers are converted to float32.
        approximate (str): ``"none"`` computes x Φ(x) exactly. ``"tanh"`` computes the approximation x/2 (1 +
            tanh(√(2/π) (x + 0.044715 x³))).

    Returns:
        Tensor of the same shape as ``input``.

    Raises:
        TypeError: If ``input`` is complex, or neither a tensor nor a number.
        ValueError: If ``approximate`` is neither ``"none"`` nor ``"tanh"``.

    >>> from mindgrad import Tensor, ops
    >>> print(f"{ops.gelu(Tensor(1.0)):.4f}", f"{ops.gelu(Tensor(1.0), 'tanh'):.4f}")
    0.8413 0.8412
    """
    x = real_operand(input, "GeLU")
    if approximate == "none":
        # do not compute 0.5 x (1 + erf(x / √2)), which loses digits by cancellation for x < 0
        return mul(mul(x, 0.5), erfc(mul(x, -_math.sqrt(0.5))))
    if approximate != "tanh":
        raise ValueError(f"For 'GeLU', the 'approximate' must be 'none' or 'tanh', but got {approximate!r}.")
    # compute sigmoid(2 z) instead of (1 + tanh z) / 2, which loses digits by cancellation for negative z
    near = x
    if x.dtype is float16:  # prevent an overflow of x³
        near = pointwise(piecewise.clip, "GeLU", x, -_FLOAT16_BOUND, _FLOAT16_BOUND)
    z = mul(near, add(mul(mul(near, near), 0.044715), 1.0))
    return mul(x, sigmoid(mul(z, 2 * _math.sqrt(2 / _math.pi))))


@public("FastGeLU FastGelu")
def fast_gelu(x: Any) -> Tensor:
    """Compute x · sigmoid(1.702 x), an approximation of :func:`gelu`.

    Args:
        x (Tensor or number): real values of any shape; integers are converted to float32.

    {a real one x}

    >>> from mindgrad import Tensor, ops
    >>> print(f"{ops.fast_gelu(Tensor(1.0)):.4f}")
    0.8458
    """
    x = real_operand(x, "FastGeLU")
    return mul(x, sigmoid(mul(x, 1.702)))


@public(
    "mint.nn.functional.silu(input, inplace: placing=False)",
    "ops.auto_generate.SiLU >>> ops.auto_generate.SiLU()(Tensor([0.0])) => [0.]",
)
@also_named(input="x")
def silu(x: Any) -> Tensor:
    """Compute x · sigmoid(x), also called swish.

    Args:
        x (Tensor or number): real values of any shape; integers are converted to float32.

    {a real one x}

    >>> from mindgrad import Tensor, ops
    >>> print(f"{ops.silu(Tensor(1.0)):.4f}")
    0.7311
    """
    x = real_operand(x, "SiLU")
    return mul(x, sigmoid(x))


@public("Mish mint.nn.functional")
@also_named(input="x")
def mish(x: Any) -> Tensor:
    """Compute x · tanh(softplus(x)).

    Args:
        x (Tensor or number): real values of any shape; integers are converted to float32.

    {a real one x}

    >>> from mindgrad import Tensor, ops
    >>> print(f"{ops.mish(Tensor(1.0)):.4f}")
    0.8651
    """
    x = real_operand(x, "Mish")
    return mul(x, tanh(apply(special.softplus, x)))


@public("Softsign mint.nn.functional")
def softsign(x: Any) -> Tensor:
    """Compute x / (1 + |x|); its derivative is 1 / (1 + |x|)².

    Args:
        x (Tensor or number): real values of any shape; integers are converted to float32.

    {a real one x}

    >>> from mindgrad import Tensor, ops
    >>> print(ops.softsign(Tensor([-1.0, 0.0, 3.0])))
    [-0.5   0.    0.75]
    """
    return apply(piecewise.softsign, real_operand(x, "Softsign"))


@public()
def tanhshrink(input: Any) -> Tensor:
    """Compute x − tanh(x); its derivative is tanh² x.

    Args:
        input (Tensor or number): real values of any shape; integers are converted to float32.

    {a real one input}

    >>> from mindgrad import Tensor, ops
    >>> print(f"{ops.tanhshrink(Tensor(1.0)):.4f}")
    0.2384
    """
    return apply(elementwise.tanhshrink, real_operand(input, "Tanhshrink"))


@public("GLU(axis=-1)(x)", "mint.nn.functional.glu(input, dim=-1)")
def glu(x: Any, axis: int = -1) -> Tensor:
    """Compute the gated linear unit a · sigmoid(b) of two halves a and b.

    Args:
        x (Tensor): real tensor with at least one axis.
        axis (int): axis along which ``x`` is split into the halves a and b.

    Returns:
        Tensor with the shape of ``x``, except that ``axis`` has half its size.

    Raises:
        TypeError: If ``axis`` is not an int, or ``x`` is complex or not a tensor.
        ValueError: If ``axis`` is out of range, or the size of ``x`` along it is odd.

    >>> from mindgrad import Tensor, ops
    >>> print(ops.glu(Tensor([1.0, 2.0, 0.0, 0.0])))
    [0.5 1. ]
    """
    x = real_operand(x, "GLU")
    axis = normalize_axis(axis, x.ndim, "GLU")
    if not x.ndim or x.shape[axis] % 2:
        raise ValueError(
            "For 'GLU', the size of the split axis must be even, because the input is divided into two "
            f"halves, but the input has the shape {x.shape} and the axis is {axis}."
        )
    middle = x.shape[axis] // 2
    return mul(slice_axis(x, axis, 0, middle), sigmoid(slice_axis(x, axis, middle, 2 * middle)))


swish = silu
