"""Arithmetic primitives: +, −, ·, ÷, and selection.

The derivative rules of all other primitives consist of these primitives. The end of this module binds them to
Python's operators on variables and constants, so that a rule can contain ``1 - y * y``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from mindgrad.core.ir.dtype import bool_
from mindgrad.core.ir.graph import ABSORBING, APPLY, INFINITE, MASKED, Atom, Constant, Variable, is_all
from mindgrad.core.ir.primitive import Algebra, Primitive
from mindgrad.core.ir.types import TensorType
from mindgrad.core.ir.work import ARITHMETIC, QUOTIENT, VIEW
from mindgrad.core.primitives.comparisons import greater, greater_equal, less, less_equal
from mindgrad.core.primitives.kinds import (
    accumulate,
    linear,
    marked,
    multilinear,
    pointwise_linear,
    product,
    same_type,
    zeros,
)
from mindgrad.core.primitives.movement_fusion import sum_of_parts
from mindgrad.core.primitives.patterns import multiplied, selected
from mindgrad.core.primitives.roots import product_of_roots
from mindgrad.core.primitives.samples import booleans, case, reals

if TYPE_CHECKING:
    from mindgrad.core.ir.graph import Equation
    from mindgrad.core.ir.rules import (
        Array,
        Atoms,
        Module,
        Steps,
        Tangent,
        Tangents,
        XlaKernel,
    )  # fmt: skip

__all__ = ["add", "div", "masked_multiply", "mul", "neg", "select", "sub"]


#: largest factor that a ``simplify`` rule collects, as in 2 x + x = 3 x. Factors are not moved out of
#: products, because the sixth derivative of a small tanh network would then have 23% more equations
_LARGEST_FACTOR = 1024


def scaled(atom: Atom) -> tuple[float, Atom]:
    """Return ``atom`` as a numeric factor and another value, such as (2, x) for 2 x."""
    made_by = getattr(atom, "made_by", None)
    if made_by is None:
        return 1, atom
    if made_by.primitive is neg:
        factor, rest = scaled(made_by.inputs[0])
        return -factor, rest
    if made_by.primitive is mul:
        for this, other in (made_by.inputs, made_by.inputs[::-1]):
            number = _factor(this)
            if number is not None:
                return number, other
    return 1, atom


def _factor(atom: Atom) -> float | None:
    """Return the value of a scalar constant that may be combined with other factors.

    The scalar must be a multiple of 1/64 of limited size, so that sums of such factors are exact. Returns
    ``None`` for all other atoms.
    """
    if type(atom) is not Constant or not atom.is_splat or not atom.type.dtype.is_float:
        return None
    number = float(atom.value)
    whole = number * 64
    return number if whole.is_integer() and 0 < abs(number) <= _LARGEST_FACTOR else None


def times(factor: float, atom: Atom) -> Atom:
    return -atom if factor == -1 else factor * atom


def _collect(c: float, x: Atom, d: float, y: Atom) -> Atom | None:
    """Return a simpler form of ``c x + d y``, such as 3 x for 2 x + x, or ``None``."""
    if x is y and c + d != 0:
        return times(c + d, x)
    if c == -1 and d == -1:
        return -(x + y)
    if d == -1:
        return times(c, x) - y
    if c == -1:
        return times(d, y) - x
    return None


def _simplify_add(a: Atom, b: Atom) -> Atom | None:
    # x + 0 = x. For x = −0, the sum x + 0 is +0, so this rewrite may change the sign of a zero
    if is_all(a, 0):
        return b
    if is_all(b, 0):
        return a
    if not a.type.dtype.is_inexact:
        return None
    parts = sum_of_parts(a, b)
    return _collect(*scaled(a), *scaled(b)) if parts is None else parts


def _simplify_sub(a: Atom, b: Atom) -> Atom | None:
    if is_all(b, 0):
        return a
    if not a.type.dtype.is_inexact:
        return None
    (c, x), (d, y) = scaled(a), scaled(b)
    if (c, d) == (1, 1):
        return None
    if x is y and c != d:
        return times(c - d, x)
    if d == -1:
        return a + y
    return -(x + b) if c == -1 else None


def _sub_jvp(y: Atom, xs: Atoms, ts: Tangents) -> Tangent:
    a, b = ts
    if b is None:
        return a
    return -b if a is None else a - b


def _add_jvp(y: Atom, xs: Atoms, ts: Tangents) -> Tangent:
    a, b = ts
    if a is None or b is None:
        return b if a is None else a
    return a + b


def _simplify_neg(x: Atom) -> Atom | None:
    factor, rest = scaled(x)
    return None if factor == 1 else times(-factor, rest)


def _with_bools(name: str, of_bools: str) -> XlaKernel:
    """Return the XLA kernel ``name``, or ``of_bools`` for Boolean operands."""
    return lambda jax, a, b: getattr(jax.lax, of_bools if a.dtype == bool else name)(a, b)


add = pointwise_linear(
    "add",
    symbol="+",
    numpy=np.add,
    xla=_with_bools("add", "bitwise_or"),
    jvp=_add_jvp,
    transpose=lambda ct, a, b: [ct if a.linear else None, ct if b.linear else None],
    operands=2,
    accepts="any",
    algebra=Algebra(commutative=True),
    simplify=_simplify_add,
    samples=reals(),
)

neg = pointwise_linear(
    "neg",
    symbol="-",
    numpy=np.negative,
    xla="neg",
    transpose=lambda ct, x: -ct,
    simplify=_simplify_neg,
    samples=reals(),
)

sub = pointwise_linear(
    "sub",
    symbol="-",
    numpy=np.subtract,
    xla="sub",
    jvp=_sub_jvp,
    transpose=lambda ct, a, b: [ct if a.linear else None, -ct if b.linear else None],
    operands=2,
    simplify=_simplify_sub,
    samples=reals(),
)


def _simplify_mul(a: Atom, b: Atom) -> Atom | None:
    if is_all(a, 1):
        return b
    if is_all(b, 1):
        return a
    if is_all(a, -1):
        return -b
    if is_all(b, -1):
        return -a
    if not a.type.dtype.is_inexact:
        return None
    for this, other in ((a, b), (b, a)):
        factor = _factor(this)
        if factor is not None:
            inner, rest = scaled(other)
            return None if inner == 1 else times(factor * inner, rest)
    return product_of_roots(a, b)


mul = multilinear(
    "mul",
    symbol="*",
    numpy=np.multiply,
    xla=_with_bools("mul", "bitwise_and"),
    pointwise=True,
    accepts="any",
    pattern=multiplied,
    transpose=[lambda ct, a, b: product(b, ct), lambda ct, a, b: product(a, ct)],
    algebra=Algebra(commutative=True),
    simplify=_simplify_mul,
    samples=reals(),
)


def _masked_multiply_numpy(a: Array, b: Array) -> Array:
    result = np.multiply(a, b)
    if np.isfinite(np.add.reduce(result, axis=None)):  # if the sum is finite, no product is 0 · ∞ = NaN
        return result
    return np.where((np.equal(a, 0)) | (np.equal(b, 0)), np.zeros((), result.dtype), result)


def _masked_multiply_xla(jax: Module, a: Array, b: Array) -> Array:
    zero = jax.numpy.zeros((), a.dtype)
    return jax.numpy.where((a == zero) | (b == zero), zero, a * b)


def _simplify_masked_multiply(a: Atom, b: Atom) -> Atom | None:
    for this, other in ((a, b), (b, a)):
        if type(this) is Constant and this.is_splat:
            if is_all(this, 0):
                return zeros(this.type)
            if np.isfinite(this.value):
                if type(other) is Variable and not other.linear:
                    other.tainted |= INFINITE  # `masked_multiply` would also mark its result
                product = this * other
                if type(product) is Variable and not product.linear:
                    product.tainted |= INFINITE  # even if an earlier equation computed ``product``
                return product
    return None


#: ``masked_multiply(a, b)``: ``a · b``, but 0 if a factor is 0, even if the other factor is infinite or NaN.
#: Derivative rules use it if a zero cotangent means that a value, such as a NaN eigenvector, was not used
masked_multiply = multilinear(
    "masked_multiply",
    work=ARITHMETIC._replace(products=6.0),
    pattern=multiplied,
    numpy=_masked_multiply_numpy,
    xla=_masked_multiply_xla,
    pointwise=True,
    transpose=[lambda ct, a, b: masked_multiply(b, ct), lambda ct, a, b: masked_multiply(a, ct)],
    jvp=lambda y, xs, ts: accumulate(
        [None if t is None else masked_multiply(x, t) for t, x in zip(ts, reversed(xs), strict=True)]
    ),
    algebra=Algebra(commutative=True),
    simplify=_simplify_masked_multiply,
    taint="starts",
    samples=reals(),
)


def _divide(a: Array, b: Array) -> Array:
    # integer division returns an integer, truncated toward zero, as in XLA
    if np.result_type(a).kind in "iub":
        b_safe = np.where(np.equal(b, 0), 1, b)
        quotient = np.sign(a) * np.sign(b) * (np.abs(a) // np.abs(b_safe))
        return np.where(np.equal(b, 0), ~np.zeros_like(quotient), quotient).astype(np.result_type(a))
    return np.true_divide(a, b)


def _div_transpose(ct: Atom, a: Atom, b: Atom) -> list[Tangent]:
    if type(b) is Constant and b.is_splat and not is_all(b, 0):
        return [ct / b if a.linear else None, None]
    if not a.linear:
        return [None, None]
    return [product(1.0 / b, ct) if ct.tainted & ABSORBING else ct / b, None]


def _div_jvp(y: Atom, xs: Atoms, ts: Tangents) -> Tangent:
    """Return the tangent of a quotient y = a / b: (da − y db) / b.

    The equivalent form da / b − (y / b) db may overflow.
    """
    b, (da, db) = xs[1], ts
    if type(b) is Constant and b.is_splat and not is_all(b, 0):
        return None if da is None else da / b
    if db is None:
        return product(1 / b, da)
    if da is None:
        return -product(y, product(1 / b, db))
    return product(1 / b, da - product(y, db))


def _quotient(equation: Equation, k: int) -> Steps:
    """Compute Taylor coefficient k of y = a / b from lower coefficients.

    From ``y b = a`` follows y_k = (a_k − Σ_{j<k} y_j b_{k−j}) / b_0. If b_0 is 0 and the numerator is exactly
    zero, the coefficient is 0, as in the derivative rule.
    """
    a, b = equation.inputs
    top, terms = (yield a, k), []
    for j in range(k):
        left, right = (yield equation.outputs[0], j), (yield b, k - j)
        if left is not None and right is not None:
            terms.append(product(left, right))
    if terms:
        total = accumulate(terms)
        top = -total if top is None else top - total  # type: ignore[operator]  # `terms` is not empty
    if top is None:
        return None
    below = yield b, 0
    if type(below) is Constant and below.is_splat and not is_all(below, 0):
        return top / below
    return product(1 / (zeros(b.type) if below is None else below), top)


div: Primitive[Atom] = Primitive(
    "div",
    "pointwise multilinear",
    symbol="/",
    linear_in=(0,),
    algebra=Algebra(recurrence=_quotient),
    work=QUOTIENT,
    type_rule=same_type("div", "number"),
    numpy=_divide,
    xla="div",
    jvp=_div_jvp,
    transpose=_div_transpose,
    simplify=lambda a, b: a if is_all(b, 1) else None,
    taint=lambda a, b: "passes" if type(b) is Constant and b.is_splat and not is_all(b, 0) else "starts",
    samples=((reals(), reals(0.5, 2.0)), 2, "number"),
)


def _select_type(condition: TensorType, a: TensorType, b: TensorType) -> TensorType:
    if condition.dtype is not bool_:
        raise TypeError(f"For 'select', the condition must be Bool, but got {condition.dtype}.")
    if a is not b or condition.shape != a.shape:
        raise TypeError(
            f"For 'select', condition, x and y must have the same shape, and x and y the same dtype, "
            f"but got {condition}, {a} and {b}."
        )
    return a


def _simplify_select(condition: Atom, a: Atom, b: Atom) -> Atom | None:
    if a is b:
        return a
    if type(condition) is Constant and condition.is_splat:
        return a if condition.value else b
    if is_all(a, True) and is_all(b, False) and a.dtype is bool_:
        return condition
    return None


#: ``select(c, a, b)``: elements of ``a`` where ``c`` is true, otherwise of ``b``; linear in ``a`` and ``b``
select = linear(
    "select",
    work=VIEW,
    kind="pointwise linear",
    type_rule=_select_type,
    numpy=np.where,
    xla="select",
    pattern=selected,
    linear_in=(1, 2),
    transpose=lambda ct, c, a, b: [
        None,
        marked(select(c, ct, zeros(ct.type)), MASKED) if a.linear else None,
        marked(select(c, zeros(ct.type), ct), MASKED) if b.linear else None,
    ],
    simplify=_simplify_select,
    samples=[
        case(booleans()[3, 2], reals()[3, 2], reals()[3, 2]),
        case(booleans()[()], reals()[()], reals()[()]),
    ],
)


def _power(x: Atom, n: int) -> Atom:
    """Compute ``x ** n`` for a small positive integer ``n`` by multiplications."""
    if n == 2:
        return x * x
    if n == 1:
        return x
    half = _power(x, n // 2)
    return half * half * x if n % 2 else half * half


APPLY.update(
    add=add,
    sub=sub,
    mul=mul,
    div=div,
    pow=_power,
    neg=neg,
    less=less,
    less_equal=less_equal,
    greater=greater,
    greater_equal=greater_equal,
)
