"""Arithmetic operators: add, multiply, divide, and raise to powers.

Shapes broadcast as in NumPy. Dtypes are promoted by MindSpore's table (``ir.dtype``), in which a Python
number does not widen a tensor of the same category. Quotients of integers are float32.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from mindgrad.core.ir.dtype import complex128, float64, promote_scalar
from mindgrad.core.ir.scope import apply, as_it_is
from mindgrad.core.ir.tensor import Number, Tensor, make_number
from mindgrad.core.primitives import arithmetic as primitives
from mindgrad.core.primitives import comparisons, logic, piecewise, powers
from mindgrad.core.primitives.structural import stop_gradient
from mindgrad.ops.define import also_named, binary_function, unary_function
from mindgrad.ops.operands import binary, cast, choose, inexact, operand, promoted, unary
from mindgrad.ops.registry import public

__all__ = [
    "accumulate_n", "add", "addcdiv", "addcmul", "addn", "div", "div_no_nan", "divide", "float_power",
    "floor_div", "floor_divide", "floor_mod", "fmod", "lerp", "mod", "mul", "mul_no_nan", "multiply",
    "neg", "negative", "positive", "pow", "remainder", "sub", "subtract", "true_divide",
    "truncate_div", "truncate_mod",
]  # fmt: skip

add = binary_function(
    __name__,
    "add",
    primitives.add,
    "Add two tensors; the derivatives are 1 and 1.",
    "Tensor([1.0, 2.0]), 1",
    "[2. 3.]",
    "Add TensorAdd numpy",
)
sub = binary_function(
    __name__,
    "sub",
    primitives.sub,
    "Subtract two tensors; the derivatives are 1 and −1.",
    "1, Tensor([1.0, 2.0])",
    "[ 0. -1.]",
    "Sub numpy.subtract",
)
mul = binary_function(
    __name__, "mul", primitives.mul, "Multiply two tensors; the derivatives are y and x.",
    "Tensor([1.0, 2.0]), Tensor([[3.0], [4.0]])", "[[3. 6.]\n [4. 8.]]",
    "Mul Tensor Tensor.multiply mint numpy.multiply",
)  # fmt: skip
_ratio = binary_function(
    __name__, "true_divide", primitives.div, "Divide two tensors; the derivatives are 1 / y and −x / y².",
    "Tensor([1, 2]), 4", "[0.25 0.5 ]", float_only=True,
)  # fmt: skip
true_divide = public("Div RealDiv Tensor numpy.divide numpy")(
    also_named(dividend="input", divisor="other")(_ratio)
)
floor_div = binary_function(
    __name__, "floor_div", piecewise.floor_div,
    "Compute x / y rounded down, as Python's ``//``; the derivatives are 0.",
    "Tensor([7, -7]), 2", "[ 3 -4]", "FloorDiv Tensor.floor_divide mint.floor_divide numpy.floor_divide",
)  # fmt: skip
floor_mod = binary_function(
    __name__, "floor_mod", piecewise.mod,
    "Compute the remainder x − y · floor(x / y), with the sign of y.\n\n"
    "    This is Python's ``%``. The derivatives are 1 and −floor(x / y).",
    "Tensor([7, -7]), 3", "[1 2]", "FloorMod Tensor.remainder mint.remainder numpy.remainder numpy.mod",
)  # fmt: skip
fmod = binary_function(
    __name__, "fmod", piecewise.fmod,
    "Compute the remainder x − y · trunc(x / y), with the sign of x.\n\n"
    "    This is C's ``fmod``. The derivatives are 1 and −trunc(x / y).",
    "Tensor([7, -7]), 3", "[ 1 -1]", "Mod TruncateMod Tensor mint numpy",
)  # fmt: skip
neg = unary_function(
    __name__,
    "neg",
    primitives.neg,
    "Negate a tensor; the derivative is −1.",
    "Tensor([1.0, -2.0])",
    "[-1.  2.]",
    "Neg Tensor Tensor.negative mint mint.negative numpy.negative",
)


@public("Tensor numpy", "mint.positive(input)")
@also_named(input="x")
def positive(x: Any) -> Tensor:
    """Return ``x`` unchanged: the operator +x.

    Args:
        x (Tensor or number): values of any shape.

    Returns:
        Tensor of the same shape and dtype as ``x``.

    Raises:
        TypeError: If ``x`` is neither a tensor nor a number.

    >>> from mindgrad import Tensor, ops
    >>> print(ops.positive(Tensor([1.0, -2.0])))
    [ 1. -2.]
    """
    return operand(x, "Positive")


@public("Tensor Tensor.divide mint mint.divide")
def div(input: Any, other: Any, *, rounding_mode: str | None = None) -> Tensor:
    """Divide ``input`` by ``other``, and optionally round the quotient.

    The derivatives are 1 / y and −x / y², and 0 if the quotient is rounded.

    Args:
        input, other (Tensor or number): operands whose shapes broadcast.
        rounding_mode (str or None): ``None`` returns the unrounded quotient, which is float32 for integers.
            ``"floor"`` rounds down, and ``"trunc"`` rounds towards 0.

    Returns:
        Tensor with the broadcast shape and the promoted dtype of the operands.

    Raises:
        TypeError: If an operand is neither a tensor nor a number.
        ValueError: If the shapes of the operands do not broadcast, or ``rounding_mode`` is not one of the
            values above.

    >>> from mindgrad import Tensor, ops
    >>> print(ops.div(Tensor([1, 2]), 4), ops.div(Tensor([7, -7]), 2, rounding_mode="trunc"))
    [0.25 0.5 ] [ 3 -3]
    """
    if rounding_mode is None:
        return _ratio(input, other)
    if rounding_mode == "floor":
        return floor_div(input, other)
    if rounding_mode == "trunc":
        return truncate_div(input, other)
    raise ValueError(
        f"For 'Div', the 'rounding_mode' must be None, 'floor' or 'trunc', but got {rounding_mode!r}."
    )


@public("TruncateDiv")
def truncate_div(x: Any, y: Any) -> Tensor:
    """Divide ``x`` by ``y`` and round towards 0; the derivatives are 0.

    Args:
        x, y (Tensor or number): integer or floating-point operands whose shapes broadcast.

    {real two}

    >>> from mindgrad import Tensor, ops
    >>> print(ops.truncate_div(Tensor([7, -7]), 2))
    [ 3 -3]
    """
    quotient = binary(primitives.div, "TruncateDiv", x, y)
    if quotient.dtype.is_inexact:
        return unary(piecewise.trunc, "TruncateDiv", quotient)
    return apply(stop_gradient, quotient)  # integer division has already rounded towards 0


@public("Tensor mint")
def float_power(input: Any, exponent: Any) -> Tensor:
    """Raise ``input`` to a power in float64 or complex128.

    Args:
        input, exponent (Tensor or number): operands whose shapes broadcast.

    Returns:
        float64 or complex128 tensor with the broadcast shape of the operands.

    {errors of two}

    >>> from mindgrad import Tensor, ops
    >>> print(ops.float_power(Tensor([1, 2, 3]), 2))
    [1. 4. 9.]
    """
    x, n = promoted("FloatPower", input, exponent, broadcast=False)
    wide = complex128 if x.dtype.kind == "complex" else float64
    if isinstance(exponent, Tensor):
        return pow(cast(x, wide), cast(n, wide))
    return pow(cast(x, wide), exponent)


#: ``pow`` computes xⁿ by repeated multiplication if n is an integer with |n| at most this number
_MULTIPLIED = 16


@public("Pow Tensor mint numpy.power")
def pow(input: Any, exponent: Any) -> Tensor:
    """Raise ``input`` to a power; the derivatives are n xⁿ⁻¹ and xⁿ log x.

    If the exponent is a Python number with an integer value, the power is computed by repeated
    multiplication, so the base may be negative. ``x ** 0`` is 1 with derivative 0 everywhere, also at 0.

    Args:
        input, exponent (Tensor or number): operands whose shapes broadcast.

    Returns:
        Tensor with the broadcast shape and the promoted dtype of the operands.

    Raises:
        TypeError: If an operand is neither a tensor nor a number.
        ValueError: If the shapes of the operands do not broadcast, or an integer tensor has a negative
            exponent.

    >>> from mindgrad import Tensor, ops
    >>> print(ops.pow(Tensor([-2.0, 3.0]), 3), ops.pow(2, Tensor([3.0])))
    [-8. 27.] [8.]
    """
    n = exponent.item() if isinstance(exponent, np.generic) else exponent
    if isinstance(input, Tensor) and isinstance(n, (int, float)) and not isinstance(n, bool):
        if type(input) is Number:
            return _power_of_number(input, n)
        x = input if type(input) is Tensor else operand(input, "Pow")
        if isinstance(n, int):
            return _integer_power(x, n)
        is_inexact = (x._type or x.type).dtype.is_inexact
        if is_inexact and n == n // 1 and -_MULTIPLIED <= n <= _MULTIPLIED:
            return _integer_power(x, int(n))
        if is_inexact:
            return unary(powers.real_power, "Pow", x, n=n)
    return binary(powers.pow, "Pow", input, exponent)


def _power_of_number(x: Number, n: int | float) -> Tensor:
    """Raise a number to a power as Python does.

    An int to the power of a float or a negative int is a float.
    """
    if (isinstance(n, float) or n < 0) and not x.dtype.is_inexact:
        x = make_number(cast(as_it_is(x), float64))
    if n == n // 1 and (isinstance(n, int) or -_MULTIPLIED <= n <= _MULTIPLIED):
        return unary(powers.integer_power, "Pow", x, n=int(n))
    return binary(powers.pow, "Pow", x, n)


def _integer_power(x: Tensor, n: int) -> Tensor:
    if not (x._type or x.type).dtype.is_inexact:
        x = cast(x, promote_scalar(x.dtype, n))
        if n < 0:
            raise ValueError(
                f"For 'Pow', a tensor of type {x.dtype} cannot be raised to the power {n}, because the "
                "result is not an integer. Convert the tensor first: x.astype(mindspore.float32)."
            )
    return unary(powers.integer_power, "Pow", x, n=n)


# --- combined operations: div_no_nan, mul_no_nan, addn, addcmul, addcdiv, lerp -----------------------


@public("DivNoNan")
def div_no_nan(x: Any, y: Any) -> Tensor:
    """Divide ``x`` by ``y``; if ``y`` is 0, the quotient and its derivatives are 0.

    Args:
        x, y (Tensor or number): operands whose shapes broadcast; integers are converted to
            float32.

    {two}

    >>> from mindgrad import Tensor, ops
    >>> print(ops.div_no_nan(Tensor([1.0, 2.0]), Tensor([0.0, 4.0])))
    [0.  0.5]
    """
    x, y = (inexact(each) for each in promoted("DivNoNan", x, y))
    nothing = binary(comparisons.equal, "DivNoNan", y, 0)
    return choose(nothing, 0, apply(primitives.div, x, choose(nothing, 1, y)))


@public("MulNoNan")
def mul_no_nan(x: Any, y: Any) -> Tensor:
    """Multiply ``x`` by ``y``; the product is 0 where ``y`` is 0.

    If ``y`` is 0, the product is 0 even if ``x`` is infinite or NaN. For such ``x``, the derivatives are 0
    too.

    Args:
        x, y (Tensor or number): operands whose shapes broadcast.

    {two}

    >>> from mindgrad import Tensor, ops
    >>> print(ops.mul_no_nan(Tensor([float("inf"), 2.0]), Tensor([0.0, 4.0])))
    [0. 8.]
    """
    x, y = promoted("MulNoNan", x, y)
    # Replace x by 0 only if y is 0 and x is infinite or NaN. For a finite x, the derivative with respect to y
    # is x, even at y = 0.
    nothing = binary(comparisons.equal, "MulNoNan", y, 0)
    nothing = apply(logic.logical_and, nothing, apply(logic.logical_not, apply(logic.isfinite, x)))
    return binary(primitives.mul, "MulNoNan", choose(nothing, 0, x), y)


@public("AddN AccumulateNV2")
def addn(x: Any) -> Tensor:
    """Add several tensors of the same shape and dtype.

    Args:
        x (tuple or list of Tensor): the tensors to add.

    Returns:
        Tensor of the same shape and dtype as the tensors in ``x``.

    Raises:
        TypeError: If ``x`` is not a tuple or list of tensors of the same dtype.
        ValueError: If ``x`` is empty, or the shapes of its tensors differ.

    >>> from mindgrad import Tensor, ops
    >>> print(ops.addn([Tensor([1.0, 2.0]), Tensor([3.0, 4.0]), Tensor([5.0, 6.0])]))
    [ 9. 12.]
    """
    if not isinstance(x, (tuple, list)):
        raise TypeError(
            f"For 'AddN', the input must be a tuple or list of tensors, but got {type(x).__name__}."
        )
    if not x:
        raise ValueError("For 'AddN', the input must contain at least one tensor.")
    tensors = [operand(summand, "AddN") for summand in x]
    for tensor in tensors:
        if tensor.dtype is not tensors[0].dtype:
            raise TypeError(
                f"For 'AddN', the tensors must have the same dtype, but got "
                f"{', '.join(str(summand.dtype) for summand in tensors)}."
            )
        if tensor.shape != tensors[0].shape:
            raise ValueError(
                f"For 'AddN', the tensors must have the same shape, but got "
                f"{', '.join(str(summand.shape) for summand in tensors)}."
            )
    total = tensors[0]
    for tensor in tensors[1:]:
        total = apply(primitives.add, total, tensor)
    return total


@public("Addcmul Tensor mint")
def addcmul(input: Any, tensor1: Any, tensor2: Any, value: Any = 1) -> Tensor:
    """Compute input + value · tensor1 · tensor2.

    Args:
        input, tensor1, tensor2, value (Tensor or number): operands whose shapes broadcast.

    {two}

    >>> from mindgrad import Tensor, ops
    >>> print(ops.addcmul(Tensor([1.0]), Tensor([2.0]), Tensor([3.0]), 0.5))
    [4.]
    """
    made = binary(primitives.mul, "Addcmul", tensor1, tensor2)
    return binary(primitives.add, "Addcmul", input, binary(primitives.mul, "Addcmul", made, value))


@public("Addcdiv Tensor mint")
def addcdiv(input: Any, tensor1: Any, tensor2: Any, value: Any = 1) -> Tensor:
    """Compute input + value · tensor1 / tensor2.

    Args:
        input, tensor1, tensor2, value (Tensor or number): operands whose shapes broadcast.

    {two}

    >>> from mindgrad import Tensor, ops
    >>> print(ops.addcdiv(Tensor([1.0]), Tensor([2.0]), Tensor([4.0]), 0.5))
    [1.25]
    """
    made = binary(primitives.div, "Addcdiv", tensor1, tensor2, float_only=True)
    return binary(primitives.add, "Addcdiv", input, binary(primitives.mul, "Addcdiv", made, value))


@public("Lerp Tensor mint")
def lerp(input: Any, end: Any, weight: Any) -> Tensor:
    """Interpolate linearly: input + weight · (end − input).

    The result is ``input`` for weight 0 and ``end`` for weight 1.

    Args:
        input, end, weight (Tensor or number): operands whose shapes broadcast.

    {two}

    >>> from mindgrad import Tensor, ops
    >>> print(ops.lerp(Tensor([1.0, 2.0]), Tensor([3.0, 6.0]), 0.5))
    [2. 4.]
    """
    way = binary(primitives.sub, "Lerp", end, input)
    return binary(primitives.add, "Lerp", input, binary(primitives.mul, "Lerp", weight, way))


# alternative names, as in MindSpore
accumulate_n = addn
divide = div
floor_divide = floor_div
mod = fmod
multiply = mul
negative = neg
remainder = floor_mod
truncate_mod = fmod


@public("Tensor.sub Tensor")
def subtract(input: Any, other: Any, *, alpha: Any = 1) -> Tensor:
    """Compute input − alpha · other.

    Args:
        input, other (Tensor or number): operands whose shapes broadcast.
        alpha (int or float): factor of ``other``.

    {two}

    >>> from mindgrad import Tensor, ops
    >>> print(ops.subtract(Tensor([1.0, 2.0]), Tensor([10.0, 20.0]), alpha=2))
    [-19. -38.]
    """
    return sub(input, other if alpha == 1 else mul(other, alpha))
