"""Piecewise activation functions: relu, its variants, hard and shrinking ones.

At a point where two pieces meet, the derivative is the derivative of the left piece, unless a function
documents another value.
"""

from __future__ import annotations

from typing import Any

from mindgrad.core.ir.scope import apply
from mindgrad.core.ir.tensor import Tensor
from mindgrad.core.primitives import piecewise
from mindgrad.core.primitives.structural import reshape
from mindgrad.ops import clipping
from mindgrad.ops.activation import real_operand, sigmoid
from mindgrad.ops.arguments import axis_in_range, number
from mindgrad.ops.arithmetic import add, mul, sub
from mindgrad.ops.comparison import greater, greater_equal, less, less_equal
from mindgrad.ops.define import also_named, unary_function
from mindgrad.ops.math import expm1
from mindgrad.ops.movement import slice_axis
from mindgrad.ops.operands import broadcast_to, choose, operand, pointwise, promoted
from mindgrad.ops.registry import public

__all__ = [
    "celu", "elu", "hardshrink", "hardsigmoid", "hardswish", "hardtanh", "hsigmoid", "hswish",
    "leaky_relu", "prelu", "relu", "relu6", "selu", "softshrink", "swiglu", "threshold",
]  # fmt: skip

relu = unary_function(
    __name__, "relu", piecewise.relu, "Compute max(x, 0); its derivative at 0 is 0.",
    "Tensor([-1.0, 0.0, 2.0])", "[0. 0. 2.]",
    "ReLU Tensor", "mint.nn.functional.relu(input, inplace: placing=False)",
)  # fmt: skip
relu6 = unary_function(
    __name__, "relu6", piecewise.relu6, "Compute min(max(x, 0), 6); its derivative is 0 at 0 and 1 at 6.",
    "Tensor([-1.0, 2.0, 8.0])", "[0. 2. 6.]",
    "ReLU6", "mint.nn.functional.relu6(input, inplace: placing=False)",
)  # fmt: skip


def _below(x: Tensor, above: Tensor) -> Tensor:
    """Return min(x, 0), a safe operand for the branch of negative x."""
    return choose(above, 0.0, x)


@public("Elu(alpha=1.0)(x)", "mint.nn.functional.elu(input, alpha=1.0, inplace: placing=False)")
def elu(input_x: Any, alpha: float = 1.0) -> Tensor:
    """Compute x for positive x, and α (exp(x) − 1) otherwise.

    The derivative at 0 is α.

    Args:
        input_x (Tensor or number): real values of any shape; integers are converted to float32.
        alpha (int or float): factor α of the exponential branch.

    Returns:
        Tensor with the shape of ``input_x``.

    Raises:
        TypeError: If ``alpha`` is not a number, or ``input_x`` is complex or not a tensor.

    >>> from mindgrad import Tensor, ops
    >>> print(f"{ops.elu(Tensor(-1.0)):.4f}", f"{ops.elu(Tensor(2.0)):.4f}")
    -0.6321 2.0000
    """
    x = real_operand(input_x, "Elu")
    above = greater(x, 0)
    return choose(above, x, mul(expm1(_below(x, above)), number(alpha, "Elu", "alpha")))


_SELU_ALPHA, _SELU_SCALE = 1.6732632423543772, 1.0507009873554805


@public("SeLU mint.nn.functional")
@also_named(input="input_x")
def selu(input_x: Any) -> Tensor:
    """Compute the self-normalizing ELU (Klambauer et al., 2017).

    SELU is 1.0507 times :func:`elu` with α = 1.6733. With these constants, activations keep mean 0 and
    variance 1 from layer to layer.

    Args:
        input_x (Tensor or number): real values of any shape; integers are converted to float32.

    {a real one input_x}

    >>> from mindgrad import Tensor, ops
    >>> print(f"{ops.selu(Tensor(-1.0)):.4f}", f"{ops.selu(Tensor(2.0)):.4f}")
    -1.1113 2.1014
    """
    return mul(elu(input_x, _SELU_ALPHA), _SELU_SCALE)


@public("mint.nn.functional", "CeLU(alpha=1.0)(x)")
def celu(x: Any, alpha: float = 1.0) -> Tensor:
    """Compute x for positive x, and α (exp(x/α) − 1) otherwise.

    CELU is continuously differentiable for every α.

    Args:
        x (Tensor or number): real values of any shape; integers are converted to float32.
        alpha (int or float): nonzero parameter α.

    Returns:
        Tensor with the shape of ``x``.

    Raises:
        TypeError: If ``alpha`` is not a number, or ``x`` is complex or not a tensor.
        ValueError: If ``alpha`` is 0.

    >>> from mindgrad import Tensor, ops
    >>> print(f"{ops.celu(Tensor(-1.0), 2.0):.4f}", f"{ops.celu(Tensor(2.0)):.4f}")
    -0.7869 2.0000
    """
    x = real_operand(x, "CeLU")
    alpha = number(alpha, "CeLU", "alpha")
    if alpha == 0:
        raise ValueError("For 'CeLU', the 'alpha' must not be 0.")
    above = greater(x, 0)
    return choose(above, x, mul(expm1(mul(_below(x, above), 1 / alpha)), alpha))


@public("mint.nn.functional.leaky_relu(input, negative_slope=0.01)(alpha=negative_slope)")
def leaky_relu(input: Any, alpha: float = 0.2) -> Tensor:
    """Compute x for positive x, and α x otherwise; the derivative at 0 is α.

    Args:
        alpha (int or float): the slope α for negative values.

    {as elu}

    >>> from mindgrad import Tensor, ops
    >>> print(ops.leaky_relu(Tensor([-1.0, 2.0]), 0.5))
    [-0.5  2. ]
    """
    x = real_operand(input, "LeakyReLU")
    return choose(greater(x, 0), x, mul(x, number(alpha, "LeakyReLU", "alpha")))


@public("PReLU mint.nn.functional")
@also_named(input="x")
def prelu(x: Any, weight: Any) -> Tensor:
    """Compute x for positive x, and w x otherwise, with one slope per channel.

    Args:
        x (Tensor): real tensor of shape (n, channels, …).
        weight (Tensor): slopes w of negative elements, 1-D: one for each channel, or one for all channels.

    Returns:
        Tensor with the shape of ``x``.

    Raises:
        TypeError: If an operand is complex, or neither a tensor nor a number.
        ValueError: If ``weight`` has neither one element nor one element for each channel.

    >>> from mindgrad import Tensor, ops
    >>> print(ops.prelu(Tensor([[-1.0, -2.0], [3.0, -4.0]]), Tensor([0.5, 0.25])))
    [[-0.5 -0.5]
     [ 3.  -1. ]]
    """
    x, w = promoted("PReLU", real_operand(x, "PReLU"), real_operand(weight, "PReLU"), broadcast=False)
    channels = x.shape[1] if x.ndim > 1 else 1
    if w.ndim > 1 or w.size not in (1, channels):
        raise ValueError(
            f"For 'PReLU', the 'weight' must have one axis and 1 or {channels} elements for an input of "
            f"shape {x.shape}, but its shape is {w.shape}."
        )
    lined = (1, w.size, *(1 for _ in x.shape[2:])) if w.size > 1 else ()
    slopes = broadcast_to(apply(reshape, w, shape=lined), x.shape)
    return choose(greater(x, 0), x, mul(slopes, x))


@public("HSigmoid mint.nn.functional")
def hardsigmoid(input: Any) -> Tensor:
    """Compute min(max(x + 3, 0), 6) / 6; the derivative is 0 at −3 and 3.

    Args:
        input (Tensor or number): real values of any shape; integers are converted to float32.

    {a real one input}

    >>> from mindgrad import Tensor, ops
    >>> print(ops.hardsigmoid(Tensor([-4.0, 0.0, 4.0])))
    [0.  0.5 1. ]
    """
    x = real_operand(input, "HSigmoid")
    above, below = greater_equal(x, 3.0), less_equal(x, -3.0)
    return choose(above, 1.0, choose(below, 0.0, mul(add(x, 3.0), 1 / 6)))


@public("HSwish mint.nn.functional")
def hardswish(input: Any) -> Tensor:
    """Compute x · min(max(x + 3, 0), 6) / 6.

    The derivative is −1/2 at −3 and 3/2 at 3.

    Args:
        input (Tensor or number): real values of any shape; integers are converted to float32.

    {a real one input}

    >>> from mindgrad import Tensor, ops
    >>> print(ops.hardswish(Tensor([-4.0, 0.0, 4.0])))
    [0. 0. 4.]
    """
    # compute hardswish piecewise: for x = ±∞, the product x · min(max(x + 3, 0), 6) and its derivative would
    # be NaN
    x = real_operand(input, "HSwish")
    above, below = greater(x, 3.0), less(x, -3.0)
    inside = choose(below, 0.0, choose(above, 0.0, x))
    middle = mul(inside, mul(add(inside, 3.0), 1 / 6))
    return choose(above, x, choose(below, 0.0, middle))


@public("mint.nn.functional.hardtanh(input, min_val=-1.0, max_val=1.0, inplace: placing=False)")
def hardtanh(input: Any, min_val: float = -1.0, max_val: float = 1.0) -> Tensor:
    """Clip values to [``min_val``, ``max_val``]; the derivative is 1 at both bounds.

    Args:
        input (Tensor or number): real values of any shape; integers stay integers if the bounds
            are ints.
        min_val (int or float): lower bound.
        max_val (int or float): upper bound.

    Returns:
        Tensor with the shape of ``input``.

    Raises:
        TypeError: If a bound is not a number, or ``input`` is complex or not a tensor.

    >>> from mindgrad import Tensor, ops
    >>> print(ops.hardtanh(Tensor([-4.0, 0.5, 4.0])))
    [-1.   0.5  1. ]
    """
    low = number(min_val, "Hardtanh", "min_val")
    high = number(max_val, "Hardtanh", "max_val")
    x = operand(input, "Hardtanh")
    if x.dtype.kind == "int" and low.is_integer() and high.is_integer():
        return clipping.clamp(x, int(low), int(high))
    return pointwise(piecewise.clip, "Hardtanh", x, low, high)


@public("Tensor mint.nn.functional", "HShrink(lambd=0.5)(x)")
@also_named(input="x")
def hardshrink(x: Any, lambd: float = 0.5) -> Tensor:
    """Set elements with |x| ≤ λ to 0, and return the others unchanged.

    Args:
        lambd (int or float): nonnegative threshold λ.

    {as elu}

    >>> from mindgrad import Tensor, ops
    >>> print(ops.hardshrink(Tensor([-1.0, 0.25, 1.0])))
    [-1.  0.  1.]
    """
    x = real_operand(x, "HShrink")
    bound = number(float(lambd) if isinstance(lambd, bool) else lambd, "HShrink", "lambd")
    return choose(less_equal(apply(piecewise.abs, x), bound), 0.0, x)


@public("Tensor.soft_shrink mint.nn.functional", "SoftShrink(lambd=0.5)(x)")
@also_named(input="x")
def softshrink(x: Any, lambd: float = 0.5) -> Tensor:
    """Compute x − λ above λ, x + λ below −λ, and 0 between them.

    {as hardshrink}

    >>> from mindgrad import Tensor, ops
    >>> print(ops.softshrink(Tensor([-1.0, 0.25, 1.0])))
    [-0.5  0.   0.5]
    """
    x = real_operand(x, "SoftShrink")
    bound = number(float(lambd) if isinstance(lambd, bool) else lambd, "SoftShrink", "lambd")
    shifted = choose(greater(x, 0), sub(x, bound), add(x, bound))
    return choose(less_equal(apply(piecewise.abs, x), bound), 0.0, shifted)


def swiglu(input: Any, dim: int = -1) -> Tensor:
    """Compute a · sigmoid(a) · b for the halves of a tensor (Shazeer, 2020).

    Args:
        input (Tensor): real tensor.
        dim (int): axis along which ``input`` is split into the halves a and b.

    Returns:
        Tensor with half as many elements along ``dim``.

    Raises:
        TypeError: If ``input`` is complex, or not a tensor.
        ValueError: If ``dim`` is out of range, or the size of axis ``dim`` is odd.

    >>> from mindgrad import Tensor, ops
    >>> print(ops.swiglu(Tensor([100.0, 2.0])))
    [200.]
    """
    x = real_operand(input, "Swiglu")
    axis = axis_in_range(dim, x.ndim, "Swiglu", "dim")
    size = x.shape[axis]
    if size % 2:
        raise ValueError(f"For 'Swiglu', the size of axis {dim} must be even, but it is {size}.")
    a, b = (slice_axis(x, axis, start, start + size // 2) for start in (0, size // 2))
    return mul(mul(a, sigmoid(a)), b)


@public("mint.nn.functional.threshold(input, threshold, value, inplace: placing=False)")
@also_named(threshold="thr")
def threshold(input: Any, thr: float, value: float) -> Tensor:
    """Compute x above a threshold, and another value elsewhere.

    Args:
        input (Tensor or number): real values of any shape; integers stay integers if ``value`` is
            an int.
        thr (int or float): threshold above which elements are returned unchanged.
        value (int or float): replacement for elements that are at most ``thr``.

    Returns:
        Tensor with the shape of ``input``.

    Raises:
        TypeError: If ``thr`` or ``value`` is not a number, or ``input`` is complex or not a tensor.

    >>> from mindgrad import Tensor, ops
    >>> print(ops.threshold(Tensor([-1.0, 2.0]), 0.5, 9.0))
    [9. 2.]
    """
    x = operand(input, "Threshold")
    if not (x.dtype.kind in ("int", "uint") and isinstance(value, int)):
        x = real_operand(x, "Threshold")
    number(value, "Threshold", "value")
    above = greater(x, number(thr, "Threshold", "thr"))
    return choose(above, x, value)


# alternative names, as in MindSpore
hsigmoid = hardsigmoid
hswish = hardswish
