"""Comparisons, logical, and bitwise operators, whose derivatives are 0."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from mindgrad.core.ir.primitive import Primitive
from mindgrad.core.ir.scope import apply
from mindgrad.core.ir.tensor import Tensor
from mindgrad.core.primitives import comparisons, logic
from mindgrad.core.primitives.arithmetic import sub
from mindgrad.core.primitives.reduction import reduce_all
from mindgrad.ops import arithmetic, rounding
from mindgrad.ops.arguments import number
from mindgrad.ops.define import also_named, binary_function, operator_name, unary_function
from mindgrad.ops.operands import binary, broadcast_shapes, broadcast_to, inexact, promoted, truth
from mindgrad.ops.registry import public

__all__ = [
    "allclose", "approximate_equal", "bitwise_and", "bitwise_left_shift", "bitwise_not", "bitwise_or",
    "bitwise_right_shift", "bitwise_xor", "eq", "equal", "ge", "greater", "greater_equal", "gt",
    "invert", "isclose", "le", "less", "less_equal", "logical_and", "logical_not", "logical_or",
    "logical_xor", "lt", "ne", "not_equal",
]  # fmt: skip


# --- comparison of elements --------------------------------------------------------------------------

equal = binary_function(
    __name__, "equal", comparisons.equal, "Check elementwise whether x = y; NaN is not equal to itself.",
    "Tensor([1.0, 2.0]), 2", "[False  True]", "Equal Tensor.eq Tensor mint.eq mint numpy",
)  # fmt: skip
not_equal = binary_function(
    __name__,
    "not_equal",
    comparisons.not_equal,
    "Check elementwise whether x ≠ y.",
    "Tensor([1.0, 2.0]), 2",
    "[ True False]",
    "NotEqual Tensor.ne Tensor mint.ne mint numpy",
)


_REAL = (int, float)


def _check_real(operator: str, *operands: Any) -> None:
    for operand in operands:
        if type(operand) in _REAL or (type(operand) is Tensor and operand.type.dtype.kind != "complex"):
            continue
        kind = getattr(getattr(operand, "dtype", None), "kind", "")
        if isinstance(operand, complex) or kind in ("complex", "c"):
            raise TypeError(
                f"For '{operator}', the operands must be real, because complex numbers have no "
                f"order; compare their abs, real or imag."
            )


def _ordering(
    name: str, primitive: Primitive, sign: str, prints: str, *forms: str
) -> Callable[[Any, Any], Tensor]:
    what = f"Check elementwise whether x {sign} y; false if an element is NaN."
    example = "Tensor([1.0, 2.0, 3.0]), 2"
    return binary_function(__name__, name, primitive, what, example, prints, *forms, check=_check_real)


less = _ordering(
    "less", comparisons.less, "<", "[ True False False]", "Less Tensor Tensor.lt mint mint.lt numpy"
)
less_equal = _ordering(
    "less_equal",
    comparisons.less_equal,
    "≤",
    "[ True  True False]",
    "LessEqual Tensor.le Tensor mint.le mint numpy",
)
greater = _ordering(
    "greater", comparisons.greater, ">", "[False False  True]", "Greater Tensor Tensor.gt mint mint.gt numpy"
)
greater_equal = _ordering(
    "greater_equal",
    comparisons.greater_equal,
    "≥",
    "[False  True  True]",
    "GreaterEqual Tensor.ge Tensor mint numpy",
)


@public(
    "Tensor mint",
    "IsClose(rtol=1e-05, atol=1e-08, equal_nan=True)(x, y)",
    "numpy.isclose(a, b: tensor, rtol=1e-05, atol=1e-08, equal_nan=False)",
)
def isclose(
    input: Any, other: Any, rtol: float = 1e-05, atol: float = 1e-08, equal_nan: bool = False
) -> Tensor:
    """Check whether elements are close: |input − other| ≤ atol + rtol · |other|.

    Equal infinities are close.

    Args:
        input, other (Tensor or number): operands whose shapes broadcast.
        rtol (int or float): nonnegative relative tolerance.
        atol (int or float): nonnegative absolute tolerance.
        equal_nan (bool): whether two NaN are close.

    Returns:
        Boolean tensor with the broadcast shape of the operands.

    Raises:
        TypeError: If an operand is neither a tensor nor a number, or ``equal_nan`` is not a bool.
        ValueError: If the shapes of the operands do not broadcast, or a tolerance is negative.

    >>> from mindgrad import Tensor, ops
    >>> print(ops.isclose(Tensor([1.0, 2.0]), Tensor([1.0 + 1e-6, 2.1])))
    [ True False]
    """
    if not isinstance(equal_nan, bool):
        raise TypeError(f"For 'IsClose', the 'equal_nan' must be bool, but got {type(equal_nan).__name__}.")
    for name, tolerance in (("rtol", rtol), ("atol", atol)):
        if not tolerance >= 0:
            raise ValueError(f"For 'IsClose', the '{name}' must not be negative, but got {tolerance}.")
    x, y = (inexact(each) for each in promoted("IsClose", input, other))
    distance = rounding.abs(arithmetic.sub(x, y))
    allowed = arithmetic.add(arithmetic.mul(rounding.abs(y), float(rtol)), float(atol))
    near = apply(logic.logical_and, less_equal(distance, allowed), rounding.isfinite(y))
    close = apply(logic.logical_or, equal(x, y), near)
    if equal_nan:
        both = apply(logic.logical_and, rounding.isnan(x), rounding.isnan(y))
        close = apply(logic.logical_or, close, both)
    return close


@public("Tensor mint")
def allclose(
    input: Any, other: Any, rtol: float = 1e-05, atol: float = 1e-08, equal_nan: bool = False
) -> Any:
    """Check whether all elements are close.

    See :func:`isclose` for the comparison.

    Returns:
        A bool. In a compiled function: a 0-D Boolean tensor.

    {Args as isclose}

    {Raises as isclose}

    >>> from mindgrad import Tensor, ops
    >>> print(ops.allclose(Tensor([1.0, 2.0]), Tensor([1.0, 2.0])))
    True
    """
    close = isclose(input, other, rtol, atol, equal_nan)
    every = apply(reduce_all, close, axes=tuple(range(close.ndim)))
    return every if every._array is None else bool(every.host_array())


@public("Tensor", "ApproximateEqual(tolerance=1e-05)(x, y)")
def approximate_equal(x: Any, y: Any, tolerance: float = 1e-05) -> Tensor:
    """Check whether |x − y| < tolerance.

    Args:
        x, y (Tensor or number): operands whose shapes broadcast.
        tolerance (int or float): exclusive upper bound of the difference.

    Returns:
        Boolean tensor with the broadcast shape of the operands.

    Raises:
        TypeError: If an operand is neither a tensor nor a number, or ``tolerance`` is not a number.
        ValueError: If the shapes of the operands do not broadcast.

    >>> from mindgrad import Tensor, ops
    >>> print(ops.approximate_equal(Tensor([1.0, 2.0]), Tensor([1.01, 2.5]), 0.1))
    [ True False]
    """
    number(tolerance, "ApproximateEqual", "tolerance")
    return less(rounding.abs(binary(sub, "ApproximateEqual", x, y)), tolerance)


# --- logical functions: operands of any dtype; nonzero elements are true -----------------------------


def _logical(
    name: str, primitive: Primitive, meaning: str, prints: str, *forms: str
) -> Callable[[Any, Any], Tensor]:
    operator = operator_name(name)

    @also_named(input="x", other="y")
    def function(x: Any, y: Any) -> Tensor:
        x, y = truth(x, operator), truth(y, operator)
        shape = broadcast_shapes(operator, x.shape, y.shape)
        return apply(primitive, broadcast_to(x, shape), broadcast_to(y, shape))

    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"""Compute the logical {meaning}; nonzero elements are true.

    Args:
        x, y (Tensor or number): operands of any dtype, whose shapes broadcast; also accepted as
            the keywords ``input`` and ``other``.

    Returns:
        Boolean tensor with the broadcast shape of the operands.

    Raises:
        TypeError: If an operand is neither a tensor nor a number.
        ValueError: If the shapes of the operands do not broadcast.

    >>> from mindgrad import Tensor, ops
    >>> print(ops.{name}(Tensor([True, True, False]), Tensor([True, False, False])))
    {prints}
    """
    return public(*forms)(function)


logical_and = _logical(
    "logical_and",
    logic.logical_and,
    "AND",
    "[ True False False]",
    "LogicalAnd Tensor numpy",
    "mint.logical_and(input, other)",
)
logical_or = _logical(
    "logical_or",
    logic.logical_or,
    "OR",
    "[ True  True False]",
    "LogicalOr Tensor numpy",
    "mint.logical_or(input, other)",
)
logical_xor = _logical(
    "logical_xor",
    logic.logical_xor,
    "XOR",
    "[False  True False]",
    "LogicalXor Tensor numpy",
    "mint.logical_xor(input, other)",
)


@public("LogicalNot Tensor numpy", "mint.logical_not(input)")
@also_named(input="x")
def logical_not(x: Any) -> Tensor:
    """Compute the logical negation; nonzero elements are true.

    Args:
        x (Tensor or number): values of any shape and dtype.

    Returns:
        Boolean tensor of the same shape as ``x``.

    Raises:
        TypeError: If ``x`` is neither a tensor nor a number.

    >>> from mindgrad import Tensor, ops
    >>> print(ops.logical_not(Tensor([True, False])))
    [False  True]
    """
    return apply(logic.logical_not, truth(x, "LogicalNot"))


# --- bitwise functions -------------------------------------------------------------------------------

bitwise_and = binary_function(
    __name__, "bitwise_and", logic.bitwise_and, "Compute the bitwise AND of integers.",
    "Tensor([6, 5]), 3", "[2 1]", "BitwiseAnd Tensor mint numpy",
)  # fmt: skip
bitwise_or = binary_function(
    __name__, "bitwise_or", logic.bitwise_or, "Compute the bitwise OR of integers.",
    "Tensor([6, 5]), 3", "[7 7]", "BitwiseOr Tensor mint numpy",
)  # fmt: skip
bitwise_xor = binary_function(
    __name__, "bitwise_xor", logic.bitwise_xor, "Compute the bitwise XOR of integers.",
    "Tensor([6, 5]), 3", "[5 6]", "BitwiseXor Tensor mint numpy",
)  # fmt: skip
bitwise_not = unary_function(
    __name__, "bitwise_not", logic.bitwise_not,
    "Compute the bitwise NOT of integers: −1 − x for signed integers.",
    "Tensor([0, 5])", "[-1 -6]", "Invert Tensor Tensor.invert mint numpy numpy.invert",
)  # fmt: skip
bitwise_left_shift = binary_function(
    __name__, "bitwise_left_shift", logic.shift_left,
    "Shift bits to the left: x · 2ʸ without the bits that overflow.",
    "Tensor([1, 3]), 2", "[ 4 12]", "LeftShift Tensor",
)  # fmt: skip
bitwise_right_shift = binary_function(
    __name__, "bitwise_right_shift", logic.shift_right, "Shift bits to the right: x / 2ʸ rounded down.",
    "Tensor([8, -8]), 2", "[ 2 -2]", "RightShift Tensor",
)  # fmt: skip

# alternative names, as in MindSpore
eq = equal
ge = greater_equal
gt = greater
invert = bitwise_not
le = less_equal
lt = less
ne = not_equal
