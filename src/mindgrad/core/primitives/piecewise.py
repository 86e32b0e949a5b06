"""Piecewise elementwise operators: abs, maximum, clip, relu, floor, mod.

At a nondifferentiable point, the derivative is a convention. The comment above each primitive states its
convention. ``docs/conventions.md`` lists all conventions, also for second derivatives.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial

import numpy as np

from mindgrad.core.ir.dtype import DType, complex64, complex128, float32, float64
from mindgrad.core.ir.graph import Atom
from mindgrad.core.ir.primitive import Primitive
from mindgrad.core.ir.rules import Array, Atoms, Kernel, Module, Partial, Tangent, XlaKernel
from mindgrad.core.ir.types import TensorType
from mindgrad.core.ir.work import ARITHMETIC
from mindgrad.core.primitives.arithmetic import neg
from mindgrad.core.primitives.comparisons import equal, greater, greater_equal, less, less_equal
from mindgrad.core.primitives.complexes import imag, real
from mindgrad.core.primitives.elementwise import reciprocal, safe_quotient
from mindgrad.core.primitives.kinds import (
    accumulate,
    elementwise,
    pointwise_constant,
    product,
    same_type,
    zeros,
)
from mindgrad.core.primitives.logic import logical_and, logical_or
from mindgrad.core.primitives.roots import ROOTS, Root
from mindgrad.core.primitives.samples import reals
from mindgrad.core.primitives.structural import convert

__all__ = [
    "abs", "ceil", "clip", "floor", "floor_div", "fmod", "maximum", "minimum", "mod", "relu", "relu6",
    "round", "sign", "softsign", "trunc",
]  # fmt: skip


def _where(condition: Atom, like: Atom) -> Atom:
    """Return 1 where ``condition`` is true and 0 elsewhere, in the dtype of ``like``."""
    return convert(condition, dtype=like.type.dtype)


# --- steps: derivative zero everywhere --------------------------------------------------------------


def _step(name: str, numpy: Kernel, xla: str | XlaKernel, accepts: str = "float") -> Primitive:
    return pointwise_constant(name, numpy=numpy, xla=xla, accepts=accepts, samples=reals())


sign = _step("sign", np.sign, "sign", accepts="real")
floor = _step("floor", np.floor, "floor")
ceil = _step("ceil", np.ceil, "ceil")
trunc = _step("trunc", np.trunc, lambda jax, x: jax.numpy.trunc(x))

#: ``round(x)``: the nearest integer; if two are equally near, the even one (as ``np.rint``)
round = _step("round", np.rint, lambda jax, x: jax.numpy.round(x))


# --- absolute value ---------------------------------------------------------------------------------

_PART: Mapping[DType, DType] = {complex64: float32, complex128: float64}


def _abs_type(x: TensorType) -> TensorType:
    same_type("abs", "number")(x)
    return x.with_dtype(_PART.get(x.dtype, x.dtype))


def _abs_jvp(y: Atom, xs: Atoms, ts: Atoms) -> Tangent:
    """Return sign(x) ẋ; for complex x, Re(x̄ ẋ) / |x|, the part of ẋ along x."""
    (x,), (t,) = xs, ts
    if x.dtype.kind != "complex":
        return product(sign(x), t)
    return accumulate([product(safe_quotient(part(x), y), part(t)) for part in (real, imag)])


#: ``abs(x)``: the absolute value. It is real even if x is complex. Its derivative at 0 is 0
abs: Primitive[Atom] = Primitive(
    "abs",
    "elementwise",
    work=ARITHMETIC,
    type_rule=_abs_type,
    numpy=np.abs,
    xla=lambda jax, x: jax.numpy.abs(x),
    jvp=_abs_jvp,
    samples=((reals(0.3, 2),), 1, "number"),
)
ROOTS[abs] = lambda x: Root(2, parts=(real(x), imag(x)) if x.dtype.kind == "complex" else (x,))


def _softsign_partials(y: Atom, x: Atom) -> list[Partial]:
    inverse = reciprocal(1 + abs(x))
    return [(inverse, inverse)]


#: ``softsign(x)``: x / (1 + |x|). The derivative is 1 / (1 + |x|)²; the quotient rule would have cancellation
softsign = elementwise(
    "softsign",
    work=ARITHMETIC,
    numpy=lambda x: x / (1 + np.abs(x)),
    xla=lambda jax, x: x / (1 + jax.numpy.abs(x)),
    partials=_softsign_partials,
    accepts="float",
    samples=reals(0.3, 2),
)


# --- maximum and minimum ----------------------------------------------------------------------------


def _shares(first: Atom, second: Atom, ahead: Primitive) -> list[Partial]:
    """Return the partial derivatives of maximum or minimum.

    The derivative is 1 for the selected operand, and 0 for the other operand. If both operands are equal,
    each has derivative 1/2; for integers, the first operand has derivative 1 and the second 0.
    """
    wins, loses = _where(ahead(first, second), first), _where(ahead(second, first), first)
    tie = _where(equal(first, second), first)
    if not first.dtype.is_inexact:
        return [wins + tie, loses]
    return [wins + 0.5 * tie, loses + 0.5 * tie]


maximum = elementwise(
    "maximum",
    work=ARITHMETIC,
    numpy=np.maximum,
    xla="max",
    partials=lambda y, a, b: _shares(a, b, greater),
    accepts="real",
    samples=reals(),
)
minimum = elementwise(
    "minimum",
    work=ARITHMETIC,
    numpy=np.minimum,
    xla="min",
    partials=lambda y, a, b: _shares(a, b, less),
    accepts="real",
    samples=reals(),
)


def _clip_partials(y: Atom, x: Atom, low: Atom, high: Atom) -> list[Partial]:
    inside = logical_and(greater_equal(x, low), less_equal(x, high))
    at_low = logical_and(less(x, low), less_equal(low, high))
    at_high = logical_or(greater(x, high), greater(low, high))
    return [_where(inside, x), _where(at_low, x), _where(at_high, x)]


#: ``clip(x, low, high)`` = min(max(x, low), high); at the bounds, x has derivative 1
clip = elementwise(
    "clip",
    work=ARITHMETIC,
    numpy=lambda x, low, high: np.minimum(np.maximum(x, low), high),
    xla=lambda jax, x, low, high: jax.lax.min(jax.lax.max(x, low), high),
    partials=_clip_partials,
    accepts="real",
    samples=(reals(-3, 3), reals(-1.6, -0.6), reals(0.6, 1.6)),
)


def _relu_xla(jax: Module, x: Array) -> Array:
    """Compute relu by a selection instead of a maximum.

    XLA would recompute a maximum with a constant for each of its uses. In a residual network, each block
    would then recompute all blocks before it.
    """
    zeros = jax.numpy.zeros_like(x)
    return jax.lax.select(jax.lax.le(x, zeros), zeros, x)


#: ``relu(x)``: max(x, 0); its derivative at 0 is 0
relu = elementwise(
    "relu",
    work=ARITHMETIC,
    numpy=lambda x: np.maximum(x, np.zeros((), x.dtype)),
    xla=_relu_xla,
    partials=lambda y, x: [_where(greater(x, zeros(x.type)), x)],
    accepts="real",
    samples=reals(),
)


def _relu6_numpy(x: Array) -> Array:
    return np.minimum(np.maximum(x, np.zeros((), x.dtype)), np.full((), 6, x.dtype))


#: ``relu6(x)``: min(max(x, 0), 6); its derivative is 0 at x = 0 and 1 at x = 6
relu6 = elementwise(
    "relu6",
    work=ARITHMETIC,
    numpy=_relu6_numpy,
    xla=lambda jax, x: jax.lax.min(jax.lax.max(x, jax.numpy.zeros_like(x)), jax.numpy.full_like(x, 6)),
    partials=lambda y, x: [_where(logical_and(x > 0, x <= 6), x)],
    accepts="real",
    samples=reals(-3, 9),
)


# --- division with remainder ------------------------------------------------------------------------


def _divided(of_floats: Callable, of_integers: Callable) -> tuple[Kernel, XlaKernel]:
    """Return the NumPy and XLA kernels of a quotient or remainder.

    For integers, the quotient a / 0 is −1, and its remainder is a.
    """

    def kernel(array: Module, a: Array, b: Array) -> Array:
        if not array.issubdtype(a.dtype, array.integer):
            return of_floats(array, a, b)
        by_zero = b == 0
        return of_integers(array, a, array.where(by_zero, array.ones_like(b), b), by_zero)

    return partial(kernel, np), lambda jax, a, b: kernel(jax.numpy, a, b)


def _quotient(name: str) -> tuple[Kernel, XlaKernel]:
    return _divided(
        lambda array, a, b: getattr(array, name)(a, b),
        lambda array, a, b, by_zero: array.where(by_zero, ~array.zeros_like(a), getattr(array, name)(a, b)),
    )


def _remainder(name: str) -> tuple[Kernel, XlaKernel]:
    return _divided(
        lambda array, a, b: getattr(array, name)(a, b),
        lambda array, a, b, by_zero: array.where(by_zero, a, getattr(array, name)(a, b)),
    )


_dividends = (reals(-9, 9), reals(1.1, 2.3))

#: ``floor_div(a, b)``: the quotient a / b rounded toward −∞ (Python's ``//``)
floor_div = pointwise_constant(
    "floor_div",
    numpy=_quotient("floor_divide")[0],
    xla=_quotient("floor_divide")[1],
    operands=2,
    accepts="real",
    samples=_dividends,
)

#: ``mod(a, b)``: the remainder a − b · floor_div(a, b), with the sign of b (Python's ``%``)
mod = elementwise(
    "mod",
    numpy=_remainder("remainder")[0],
    xla=_remainder("remainder")[1],
    partials=lambda y, a, b: [1, neg(floor_div(a, b))],
    accepts="real",
    samples=_dividends,
    singular=True,
)


def _fmod_partials(y: Atom, a: Atom, b: Atom) -> list[Partial]:
    # (a − y) / b with y = fmod(a, b) is an integer up to rounding. After the quotient q is rounded, the
    # derivative −q is exact
    quotient = (a - y) / b
    return [1, neg(round(quotient) if a.dtype.is_inexact else quotient)]


#: ``fmod(a, b)``: the remainder of division rounded toward zero, with the sign of a (C's ``fmod``)
fmod = elementwise(
    "fmod",
    numpy=_remainder("fmod")[0],
    xla=_remainder("fmod")[1],
    partials=_fmod_partials,
    accepts="real",
    samples=_dividends,
    singular=True,
)
