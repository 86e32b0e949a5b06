"""Activation functions: rows, or compositions of rows; none has a derivative rule of its own."""

from __future__ import annotations

import math as _math
from typing import Any

from mindgrad.core.dtype import as_dtype
from mindgrad.core.scope import apply
from mindgrad.core.tensor import Tensor
from mindgrad.ops.arithmetic import add, mul, neg, sub
from mindgrad.ops.comparison import greater, less_equal
from mindgrad.ops.define import unary_function
from mindgrad.ops.math import exp, expm1, tanh
from mindgrad.ops.operands import (
    accepted,
    broadcast_to,
    cast,
    choose,
    inexact,
    normalize_axes,
    normalize_axis,
    operand,
    pointwise,
    promoted,
)
from mindgrad.ops.reduction import kept, widened
from mindgrad.ops.special import erf
from mindgrad.primitives import elementwise, piecewise, special
from mindgrad.primitives.reduction import logsumexp, reduce_max
from mindgrad.primitives.structural import reshape, slice, stop_gradient

__all__ = [
    "celu", "elu", "fast_gelu", "gelu", "glu", "hardshrink", "hardsigmoid", "hardswish", "hardtanh",
    "hsigmoid", "hswish", "leaky_relu", "log_softmax", "logsigmoid", "mish", "prelu", "relu", "relu6",
    "selu", "sigmoid", "silu", "softmax", "softmin", "softplus", "softshrink", "softsign", "swish",
    "tanhshrink", "threshold",
]  # fmt: skip

relu = unary_function(
    __name__, "relu", piecewise.relu, "max(x, 0); its derivative at 0 is 0.",
    "Tensor([-1.0, 0.0, 2.0])", "[0. 0. 2.]",
)  # fmt: skip
relu6 = unary_function(
    __name__, "relu6", piecewise.relu6, "min(max(x, 0), 6); its derivative is 0 at 0 and 1 at 6.",
    "Tensor([-1.0, 2.0, 8.0])", "[0. 2. 6.]",
)  # fmt: skip
sigmoid = unary_function(
    __name__, "sigmoid", special.sigmoid, "1 / (1 + exp(−x)) without overflow; derivative y (1 − y).",
    "1.0", "0.7311", float_only=True,
)  # fmt: skip


def _real(x: Any, operator: str) -> Tensor:
    """``x`` as a real floating-point tensor.

    Raises:
        TypeError: it is complex, or neither a tensor nor a number.
    """
    x = inexact(operand(x, operator))
    accepted(special.sigmoid, operator, x)
    return x


def _number(value: Any, operator: str, name: str) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise TypeError(f"For '{operator}', the '{name}' must be a float, but got {type(value).__name__}.")
    return float(value)


# --- softmax -----------------------------------------------------------------------------------------


def softmax(input: Any, axis: Any = -1, *, dtype: Any = None) -> Tensor:
    """exp(x_i) / Σ_j exp(x_j) over ``axis``, without overflow.

    Its derivative is y_i (δ_ij − y_j). An element that is −inf has the share 0.

    Args:
        input: a real tensor with at least one axis. Integers are taken as Float32.
        axis: the axis, or axes, whose elements share 1.
        dtype: the element type in which to compute; by default that of ``input``.

    Returns:
        Tensor of the shape of ``input``; NaN where all elements are −inf, or one is inf.

    Raises:
        TypeError: ``axis`` is no int, or ``input`` complex or no tensor.
        ValueError: ``axis`` is out of range or names an axis twice.

    >>> from mindgrad import Tensor, ops
    >>> print(ops.softmax(Tensor([1000.0, 1000.0])))
    [0.5 0.5]
    """
    x = _real(input, "Softmax")
    if dtype is not None:
        x = cast(x, as_dtype(dtype))
    return cast(exp(_log_softmax(widened(x), axis, "Softmax")), x.dtype)


def log_softmax(logits: Any, axis: Any = -1) -> Tensor:
    """x_i − log Σ_j exp(x_j) over ``axis``: the logarithm of softmax, exact for small shares.

    Args:
        logits: a real tensor with at least one axis. Integers are taken as Float32.
        axis: the axis, or axes, whose elements share 1.

    Returns:
        Tensor of the shape of ``logits``.

    Raises:
        TypeError: ``axis`` is no int, or ``logits`` complex or no tensor.
        ValueError: ``axis`` is out of range or names an axis twice.

    >>> from mindgrad import Tensor, ops
    >>> print(ops.log_softmax(Tensor([0.0, 1000.0])))
    [-1000.     0.]
    """
    x = _real(logits, "LogSoftmax")
    return cast(_log_softmax(widened(x), axis, "LogSoftmax"), x.dtype)


def _log_softmax(x: Tensor, axis: Any, operator: str) -> Tensor:
    axes = normalize_axes(axis, x.ndim, operator)
    if not x.size:
        return x
    # the largest becomes 0 first: differences of large numbers keep their digits
    top = apply(stop_gradient, apply(reduce_max, x, axes=axes))
    x = sub(x, kept(top, x.shape, axes, True))
    return sub(x, kept(apply(logsumexp, x, axes=axes), x.shape, axes, True))


def softmin(x: Any, axis: Any = -1, *, dtype: Any = None) -> Tensor:
    """softmax of −x; arguments and errors as for :func:`softmax`.

    >>> from mindgrad import Tensor, ops
    >>> print(ops.softmin(Tensor([1000.0, 1000.0])))
    [0.5 0.5]
    """
    return softmax(neg(_real(x, "Softmin")), axis, dtype=dtype)


# --- smooth functions --------------------------------------------------------------------------------


def softplus(input: Any, beta: float = 1, threshold: float = 20) -> Tensor:
    """log(1 + exp(βx)) / β without overflow, and x itself where βx is above ``threshold``.

    Args:
        input: a real tensor of any shape, or a number. Integers are taken as Float32.
        beta: the factor β, not 0.
        threshold: from where on the result is x.

    Returns:
        Tensor of the shape of ``input``.

    Raises:
        TypeError: ``beta`` or ``threshold`` is no number, or ``input`` complex or no tensor.
        ValueError: ``beta`` is 0.

    >>> from mindgrad import Tensor, ops
    >>> print(f"{ops.softplus(Tensor(0.0)):.4f}")
    0.6931
    """
    x = _real(input, "Softplus")
    beta = _number(beta, "Softplus", "beta")
    threshold = _number(threshold, "Softplus", "threshold")
    if beta == 0:
        raise ValueError("For 'Softplus', the 'beta' must not be 0.")
    scaled = x if beta == 1 else mul(x, beta)
    y = apply(special.softplus, scaled)
    return choose(greater(scaled, threshold), x, y if beta == 1 else mul(y, 1 / beta))


def logsigmoid(x: Any) -> Tensor:
    """log(1 / (1 + exp(−x))) = −softplus(−x); its derivative is sigmoid(−x).

    Args:
        x: a real tensor of any shape, or a number. Integers are taken as Float32.

    Returns:
        Tensor of the shape of ``x``.

    Raises:
        TypeError: ``x`` is complex, or neither a tensor nor a number.

    >>> from mindgrad import Tensor, ops
    >>> print(f"{ops.logsigmoid(Tensor(0.0)):.4f}")
    -0.6931
    """
    return neg(apply(special.softplus, neg(_real(x, "LogSigmoid"))))


def gelu(input: Any, approximate: str = "none") -> Tensor:
    """x Φ(x), with the normal distribution function Φ(x) = (1 + erf(x/√2)) / 2.

    Args:
        input: a real tensor of any shape, or a number. Integers are taken as Float32.
        approximate: ``"none"``: as above; ``"tanh"``: x/2 (1 + tanh(√(2/π) (x + 0.044715 x³))).

    Returns:
        Tensor of the shape of ``input``.

    Raises:
        TypeError: ``input`` is complex, or neither a tensor nor a number.
        ValueError: ``approximate`` is another word.

    >>> from mindgrad import Tensor, ops
    >>> print(f"{ops.gelu(Tensor(1.0)):.4f}", f"{ops.gelu(Tensor(1.0), 'tanh'):.4f}")
    0.8413 0.8412
    """
    x = _real(input, "GeLU")
    if approximate == "none":
        share = erf(mul(x, _math.sqrt(0.5)))
    elif approximate == "tanh":
        share = tanh(mul(mul(x, add(mul(mul(x, x), 0.044715), 1.0)), _math.sqrt(2 / _math.pi)))
    else:
        raise ValueError(
            f"For 'GeLU', the 'approximate' must be 'none' or 'tanh', but got {approximate!r}."
        )
    return mul(mul(x, 0.5), add(share, 1.0))


def fast_gelu(x: Any) -> Tensor:
    """x · sigmoid(1.702 x), near to :func:`gelu`.

    Args:
        x: a real tensor of any shape, or a number. Integers are taken as Float32.

    Returns:
        Tensor of the shape of ``x``.

    Raises:
        TypeError: ``x`` is complex, or neither a tensor nor a number.

    >>> from mindgrad import Tensor, ops
    >>> print(f"{ops.fast_gelu(Tensor(1.0)):.4f}")
    0.8458
    """
    x = _real(x, "FastGeLU")
    return mul(x, sigmoid(mul(x, 1.702)))


def silu(x: Any) -> Tensor:
    """x · sigmoid(x), also called swish.

    Args:
        x: a real tensor of any shape, or a number. Integers are taken as Float32.

    Returns:
        Tensor of the shape of ``x``.

    Raises:
        TypeError: ``x`` is complex, or neither a tensor nor a number.

    >>> from mindgrad import Tensor, ops
    >>> print(f"{ops.silu(Tensor(1.0)):.4f}")
    0.7311
    """
    x = _real(x, "SiLU")
    return mul(x, sigmoid(x))


def mish(x: Any) -> Tensor:
    """x · tanh(softplus(x)).

    Args:
        x: a real tensor of any shape, or a number. Integers are taken as Float32.

    Returns:
        Tensor of the shape of ``x``.

    Raises:
        TypeError: ``x`` is complex, or neither a tensor nor a number.

    >>> from mindgrad import Tensor, ops
    >>> print(f"{ops.mish(Tensor(1.0)):.4f}")
    0.8651
    """
    x = _real(x, "Mish")
    return mul(x, tanh(apply(special.softplus, x)))


def softsign(x: Any) -> Tensor:
    """x / (1 + |x|); its derivative is 1 / (1 + |x|)².

    Args:
        x: a real tensor of any shape, or a number. Integers are taken as Float32.

    Returns:
        Tensor of the shape of ``x``.

    Raises:
        TypeError: ``x`` is complex, or neither a tensor nor a number.

    >>> from mindgrad import Tensor, ops
    >>> print(ops.softsign(Tensor([-1.0, 0.0, 3.0])))
    [-0.5   0.    0.75]
    """
    x = _real(x, "Softsign")
    # the sign without a corner at 0, so that the derivative there is 1
    above = greater(x, 0)
    size = choose(above, x, neg(x))
    return mul(x, apply(elementwise.safe_reciprocal, add(size, 1.0)))


def tanhshrink(input: Any) -> Tensor:
    """x − tanh(x); its derivative is tanh² x.

    Args:
        input: a real tensor of any shape, or a number. Integers are taken as Float32.

    Returns:
        Tensor of the shape of ``input``.

    Raises:
        TypeError: ``input`` is complex, or neither a tensor nor a number.

    >>> from mindgrad import Tensor, ops
    >>> print(f"{ops.tanhshrink(Tensor(1.0)):.4f}")
    0.2384
    """
    x = _real(input, "Tanhshrink")
    return sub(x, tanh(x))


# --- functions in two pieces: at the seam the left piece gives the derivative --------------------------


def _below(x: Tensor, above: Tensor) -> Tensor:
    """``x`` where it is not ``above`` 0, else 0: what the left piece may be computed of."""
    return choose(above, 0.0, x)


def elu(input_x: Any, alpha: float = 1.0) -> Tensor:
    """x above 0, and α (exp(x) − 1) elsewhere; the derivative at 0 is α.

    Args:
        input_x: a real tensor of any shape, or a number. Integers are taken as Float32.
        alpha: the factor α.

    Returns:
        Tensor of the shape of ``input_x``.

    Raises:
        TypeError: ``alpha`` is no number, or ``input_x`` complex or no tensor.

    >>> from mindgrad import Tensor, ops
    >>> print(f"{ops.elu(Tensor(-1.0)):.4f}", f"{ops.elu(Tensor(2.0)):.4f}")
    -0.6321 2.0000
    """
    x = _real(input_x, "Elu")
    above = greater(x, 0)
    return choose(above, x, mul(expm1(_below(x, above)), _number(alpha, "Elu", "alpha")))


_SELU_ALPHA, _SELU_SCALE = 1.6732632423543772, 1.0507009873554805


def selu(input_x: Any) -> Tensor:
    """1.0507 times :func:`elu` with α = 1.6733: keeps mean and variance (Klambauer et al., 2017).

    Args:
        input_x: a real tensor of any shape, or a number. Integers are taken as Float32.

    Returns:
        Tensor of the shape of ``input_x``.

    Raises:
        TypeError: ``input_x`` is complex, or neither a tensor nor a number.

    >>> from mindgrad import Tensor, ops
    >>> print(f"{ops.selu(Tensor(-1.0)):.4f}", f"{ops.selu(Tensor(2.0)):.4f}")
    -1.1113 2.1014
    """
    return mul(elu(input_x, _SELU_ALPHA), _SELU_SCALE)


def celu(x: Any, alpha: float = 1.0) -> Tensor:
    """x above 0, and α (exp(x/α) − 1) elsewhere, which has no corner.

    Args:
        x: a real tensor of any shape, or a number. Integers are taken as Float32.
        alpha: the factor α, not 0.

    Returns:
        Tensor of the shape of ``x``.

    Raises:
        TypeError: ``alpha`` is no number, or ``x`` complex or no tensor.
        ValueError: ``alpha`` is 0.

    >>> from mindgrad import Tensor, ops
    >>> print(f"{ops.celu(Tensor(-1.0), 2.0):.4f}", f"{ops.celu(Tensor(2.0)):.4f}")
    -0.7869 2.0000
    """
    x = _real(x, "CeLU")
    alpha = _number(alpha, "CeLU", "alpha")
    if alpha == 0:
        raise ValueError("For 'CeLU', the 'alpha' must not be 0.")
    above = greater(x, 0)
    return choose(above, x, mul(expm1(mul(_below(x, above), 1 / alpha)), alpha))


def leaky_relu(input: Any, alpha: float = 0.2) -> Tensor:
    """x above 0, and α x elsewhere; the derivative at 0 is α.

    Args:
        input: a real tensor of any shape, or a number. Integers are taken as Float32.
        alpha: the slope α below 0.

    Returns:
        Tensor of the shape of ``input``.

    Raises:
        TypeError: ``alpha`` is no number, or ``input`` complex or no tensor.

    >>> from mindgrad import Tensor, ops
    >>> print(ops.leaky_relu(Tensor([-1.0, 2.0]), 0.5))
    [-0.5  2. ]
    """
    x = _real(input, "LeakyReLU")
    return choose(greater(x, 0), x, mul(x, _number(alpha, "LeakyReLU", "alpha")))


def prelu(x: Any, weight: Any) -> Tensor:
    """x above 0, and w x elsewhere, with a slope w for each channel.

    Args:
        x: a real tensor; its second axis holds the channels.
        weight: the slopes: a tensor of one axis, with one element for each channel or one for all.

    Returns:
        Tensor of the shape of ``x``.

    Raises:
        TypeError: an operand is complex, or neither a tensor nor a number.
        ValueError: ``weight`` does not have one element, or one for each channel.

    >>> from mindgrad import Tensor, ops
    >>> print(ops.prelu(Tensor([[-1.0, -2.0], [3.0, -4.0]]), Tensor([0.5, 0.25])))
    [[-0.5 -0.5]
     [ 3.  -1. ]]
    """
    x, w = promoted("PReLU", _real(x, "PReLU"), _real(weight, "PReLU"), broadcast=False)
    channels = x.shape[1] if x.ndim > 1 else 1
    if w.ndim > 1 or w.size not in (1, channels):
        raise ValueError(
            f"For 'PReLU', the 'weight' must have one axis and 1 or {channels} elements for an input of "
            f"shape {x.shape}, but its shape is {w.shape}."
        )
    lined = (1, w.size, *(1 for _ in x.shape[2:])) if w.size > 1 else ()
    slopes = broadcast_to(apply(reshape, w, shape=lined), x.shape)
    return choose(greater(x, 0), x, mul(slopes, x))


def hardsigmoid(input: Any) -> Tensor:
    """min(max(x + 3, 0), 6) / 6.

    Args:
        input: a real tensor of any shape, or a number. Integers are taken as Float32.

    Returns:
        Tensor of the shape of ``input``.

    Raises:
        TypeError: ``input`` is complex, or neither a tensor nor a number.

    >>> from mindgrad import Tensor, ops
    >>> print(ops.hardsigmoid(Tensor([-4.0, 0.0, 4.0])))
    [0.  0.5 1. ]
    """
    return mul(relu6(add(_real(input, "HSigmoid"), 3.0)), 1 / 6)


def hardswish(input: Any) -> Tensor:
    """x · min(max(x + 3, 0), 6) / 6.

    Args:
        input: a real tensor of any shape, or a number. Integers are taken as Float32.

    Returns:
        Tensor of the shape of ``input``.

    Raises:
        TypeError: ``input`` is complex, or neither a tensor nor a number.

    >>> from mindgrad import Tensor, ops
    >>> print(ops.hardswish(Tensor([-4.0, 0.0, 4.0])))
    [-0.  0.  4.]
    """
    x = _real(input, "HSwish")
    return mul(x, hardsigmoid(x))


def hardtanh(input: Any, min_val: float = -1.0, max_val: float = 1.0) -> Tensor:
    """``input`` kept between two bounds, at which the derivative is 1.

    Args:
        input: a real tensor of any shape, or a number.
        min_val: the lower bound.
        max_val: the upper bound.

    Returns:
        Tensor of the shape of ``input``.

    Raises:
        TypeError: a bound is no number, or ``input`` complex or no tensor.

    >>> from mindgrad import Tensor, ops
    >>> print(ops.hardtanh(Tensor([-4.0, 0.5, 4.0])))
    [-1.   0.5  1. ]
    """
    low = _number(min_val, "Hardtanh", "min_val")
    high = _number(max_val, "Hardtanh", "max_val")
    return pointwise(piecewise.clip, "Hardtanh", operand(input, "Hardtanh"), low, high)


def hardshrink(x: Any, lambd: float = 0.5) -> Tensor:
    """x, but 0 where |x| ≤ λ.

    Args:
        x: a real tensor of any shape, or a number. Integers are taken as Float32.
        lambd: the bound λ, not negative.

    Returns:
        Tensor of the shape of ``x``.

    Raises:
        TypeError: ``lambd`` is no number, or ``x`` complex or no tensor.

    >>> from mindgrad import Tensor, ops
    >>> print(ops.hardshrink(Tensor([-1.0, 0.25, 1.0])))
    [-1.  0.  1.]
    """
    x = _real(x, "HShrink")
    bound = _number(lambd, "HShrink", "lambd")
    return choose(less_equal(apply(piecewise.abs, x), bound), 0.0, x)


def softshrink(x: Any, lambd: float = 0.5) -> Tensor:
    """x − λ above λ, x + λ below −λ, and 0 between them.

    Args:
        x: a real tensor of any shape, or a number. Integers are taken as Float32.
        lambd: the bound λ, not negative.

    Returns:
        Tensor of the shape of ``x``.

    Raises:
        TypeError: ``lambd`` is no number, or ``x`` complex or no tensor.

    >>> from mindgrad import Tensor, ops
    >>> print(ops.softshrink(Tensor([-1.0, 0.25, 1.0])))
    [-0.5  0.   0.5]
    """
    x = _real(x, "SoftShrink")
    bound = _number(lambd, "SoftShrink", "lambd")
    shifted = choose(greater(x, 0), sub(x, bound), add(x, bound))
    return choose(less_equal(apply(piecewise.abs, x), bound), 0.0, shifted)


def threshold(input: Any, thr: float, value: float) -> Tensor:
    """x above ``thr``, and ``value`` elsewhere.

    Args:
        input: a real tensor of any shape, or a number. Integers are taken as Float32.
        thr: the bound.
        value: what stands in the place of elements that are not above it.

    Returns:
        Tensor of the shape of ``input``.

    Raises:
        TypeError: ``thr`` or ``value`` is no number, or ``input`` complex or no tensor.

    >>> from mindgrad import Tensor, ops
    >>> print(ops.threshold(Tensor([-1.0, 2.0]), 0.5, 9.0))
    [9. 2.]
    """
    x = _real(input, "Threshold")
    above = greater(x, _number(thr, "Threshold", "thr"))
    return choose(above, x, _number(value, "Threshold", "value"))


def glu(x: Any, axis: int = -1) -> Tensor:
    """a · sigmoid(b), where a and b are the halves of ``x`` along ``axis``.

    Args:
        x: a real tensor with at least one axis.
        axis: the axis to halve.

    Returns:
        Tensor with half as many elements along ``axis``.

    Raises:
        TypeError: ``axis`` is no int, or ``x`` complex or no tensor.
        ValueError: ``axis`` is out of range, or its size odd.

    >>> from mindgrad import Tensor, ops
    >>> print(ops.glu(Tensor([1.0, 2.0, 0.0, 0.0])))
    [0.5 1. ]
    """
    x = _real(x, "GLU")
    axis = normalize_axis(axis, x.ndim, "GLU")
    if not x.ndim or x.shape[axis] % 2:
        raise ValueError(
            f"For 'GLU', the size of the axis must be even, but the shape is {x.shape} and the axis {axis}."
        )
    middle = x.shape[axis] // 2

    def half(start: int, limit: int) -> Tensor:
        return apply(
            slice,
            x,
            start=tuple(start if i == axis else 0 for i in range(x.ndim)),
            limit=tuple(limit if i == axis else n for i, n in enumerate(x.shape)),
            strides=(1,) * x.ndim,
        )

    return mul(half(0, middle), sigmoid(half(middle, 2 * middle)))


# the same functions under second names
hsigmoid = hardsigmoid
hswish = hardswish
swish = silu
