"""Relative errors of elementwise operators and their derivatives of orders 1 to 3, compared with mpmath.

    python -m tests.laws.accuracy --write        measures all of them and writes docs/accuracy.md

The unit of an error is one unit in the last place of the right value, times 1 + c. The condition number
c = |x g'(x) / g(x)| is the factor by which a relative change of the argument changes the value g(x): an error
below 1 + c units is what rounding the argument once would cause.
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import ml_dtypes
import mpmath
import numpy as np

import mindgrad as ms
from mindgrad import Tensor, ops
from mindgrad.nn.probability.distribution import Normal
from tests.laws import series as s

PAGE = Path(__file__).parents[2] / "docs" / "accuracy.md"
#: decimal digits: formulas lose up to 280 of them next to where a value is 1
_DIGITS = 320
ORDERS = range(4)
MODES = ("NumPy", "XLA")
mp = mpmath.mp


class Format(NamedTuple):
    """A floating-point type: its digits, and the numbers between which its elements are normal."""

    dtype: Any
    epsilon: float
    least: float
    greatest: float


def _format(dtype: Any, info: Any) -> Format:
    return Format(dtype, float(info.eps), float(info.smallest_normal), float(info.max))


FORMATS = {
    "float16": _format(ms.float16, np.finfo(np.float16)),
    "bfloat16": _format(ms.bfloat16, ml_dtypes.finfo(ml_dtypes.bfloat16)),
    "float32": _format(ms.float32, np.finfo(np.float32)),
    "float64": _format(ms.float64, np.finfo(np.float64)),
}

#: arguments that every type holds exactly: small, ordinary and large ones
_SMALL = [2.0**-12, 2.0**-7]
_ORDINARY = [0.0625, 0.25, 0.5, 0.75, 1.0, 1.25, 2.0, 3.0, 5.0]
_LARGE = [8.0, 12.0, 20.0, 40.0, 96.0, 320.0]
#: arguments of the wider types
_FAR = {"bfloat16": [2.0**-90, 2.0**90], "float32": [2.0**-90, 2.0**90], "float64": [2.0**-600, 2.0**600]}

POSITIVE = [*_SMALL, *_ORDINARY, *_LARGE]
REAL = [*(-x for x in reversed(POSITIVE)), *POSITIVE]
UNIT = [2.0**-12, 2.0**-7, 0.0625, 0.25, 0.5, 0.75, 0.9375, 0.9921875]
SYMMETRIC_UNIT = [*(-x for x in reversed(UNIT)), *UNIT]


class Operator(NamedTuple):
    """A function of one tensor, its exact value, and where it is tried."""

    function: Callable[[Any], Any]
    exact: Callable[[Any], Any]
    points: Sequence[float]
    far: int = 2  # how many of the small and the large argument of the wider types


def _softplus(x: Any) -> Any:
    return s.log1p(s.exp(x))


def _sigmoid(x: Any) -> Any:
    return 1 / (1 + s.exp(-x))


def _gelu_tanh(x: Any) -> Any:
    return x / 2 * (1 + s.tanh(mp.sqrt(2 / mp.pi) * (x + mp.mpf(0.044715) * x * x * x)))


def _selu(x: Any) -> Any:
    scale, alpha = mp.mpf("1.0507009873554804934"), mp.mpf("1.6732632423543772848")
    return scale * (x if x.value > 0 else alpha * s.expm1(x))


def _gamma_tail(upper: bool, x: Any) -> Any:
    a, ends = mp.mpf(2.5), (x.value, mp.inf) if upper else (0, x.value)
    value = mp.gammainc(a, *ends, regularized=True)
    density = lambda y: s.exp((a - 1) * s.log(x) - x) / mp.gamma(a)
    return s.solved(value, lambda y: -density(y) if upper else density(y), x)


def _beta_tail(x: Any) -> Any:
    a, b = mp.mpf(1.5), mp.mpf(2.5)
    density = lambda y: s.exp((a - 1) * s.log(x) + (b - 1) * s.log(1 - x)) / mp.beta(a, b)
    return s.solved(mp.betainc(a, b, 0, x.value, regularized=True), density, x)


def _of_shape(function: Callable[..., Any], *shapes: float) -> Callable[[Any], Any]:
    return lambda x: function(*[ops.full_like(x, shape) for shape in shapes], x)


def _normal(method: str) -> Callable[[Any], Any]:
    return lambda x: getattr(Normal(0.0, 1.0, dtype=x.dtype), method)(x)


def _sinc(x: Any) -> Any:
    sines = [mp.pi**k * mp.sin(mp.pi * x.value + k * mp.pi / 2) / mp.factorial(k) for k in range(5)]
    return s.Series(sines) / (mp.pi * x)


_ABOVE_ONE = [1 + 2.0**-7, *_ORDINARY[5:], *_LARGE]
_GENTLE = [x for x in REAL if abs(x) < 10]
_BESSEL = [2.0**-12, 0.0625, 0.5, 1.25, 3.0, 8.0, 20.0, 96.0]

OPERATORS: dict[str, Operator] = {
    "exp": Operator(ops.exp, s.exp, [x for x in REAL if abs(x) < 100], far=1),
    "exp2": Operator(ops.exp2, lambda x: s.exp(mp.log(2) * x), [x for x in REAL if abs(x) < 100], far=1),
    "expm1": Operator(ops.expm1, s.expm1, [x for x in REAL if abs(x) < 100], far=1),
    "log": Operator(ops.log, s.log, POSITIVE),
    "log2": Operator(ops.log2, lambda x: s.log(x) / mp.log(2), POSITIVE),
    "log10": Operator(ops.log10, lambda x: s.log(x) / mp.log(10), POSITIVE),
    "log1p": Operator(ops.log1p, s.log1p, [-0.9921875, -0.75, -0.25, -(2.0**-12), *POSITIVE], far=1),
    "sin": Operator(ops.sin, s.sin, REAL, far=0),
    "cos": Operator(ops.cos, s.cos, REAL, far=0),
    "tan": Operator(ops.tan, lambda x: s.sin(x) / s.cos(x), REAL, far=0),
    "asin": Operator(ops.asin, s.asin, SYMMETRIC_UNIT, far=1),
    "acos": Operator(ops.acos, lambda x: mp.pi / 2 - s.asin(x), SYMMETRIC_UNIT, far=0),
    "atan": Operator(ops.atan, s.atan, REAL),
    "sinh": Operator(ops.sinh, s.sinh, [x for x in REAL if abs(x) < 100], far=1),
    "cosh": Operator(ops.cosh, s.cosh, [x for x in REAL if abs(x) < 100], far=1),
    "tanh": Operator(ops.tanh, s.tanh, REAL, far=1),
    "asinh": Operator(ops.asinh, s.asinh, REAL),
    "acosh": Operator(ops.acosh, s.acosh, _ABOVE_ONE, far=0),
    "atanh": Operator(ops.atanh, s.atanh, SYMMETRIC_UNIT, far=1),
    "sqrt": Operator(ops.sqrt, s.sqrt, POSITIVE),
    "rsqrt": Operator(ops.rsqrt, lambda x: 1 / s.sqrt(x), POSITIVE),
    "cbrt": Operator(lambda x: ms.numpy.cbrt(x), lambda x: x ** (mp.mpf(1) / 3), POSITIVE),
    "reciprocal": Operator(ops.reciprocal, lambda x: 1 / x, REAL),
    "1 / x": Operator(lambda x: 1 / x, lambda x: 1 / x, REAL),
    "x**3": Operator(lambda x: x**3, lambda x: x * x * x, REAL),
    "x**-2": Operator(lambda x: x**-2, lambda x: 1 / (x * x), REAL),
    "x**-6": Operator(lambda x: x**-6, lambda x: 1 / (x * x * x * x * x * x), REAL),
    "x**1.5": Operator(lambda x: x**1.5, lambda x: x ** mp.mpf(1.5), POSITIVE),
    "x**-0.5": Operator(lambda x: x**-0.5, lambda x: x ** mp.mpf(-0.5), POSITIVE),
    "x**x": Operator(lambda x: ops.pow(x, x), lambda x: s.exp(x * s.log(x)), [x for x in POSITIVE if x < 10], far=0),
    "xlogy(x, x)": Operator(lambda x: ops.xlogy(x, x), lambda x: x * s.log(x), POSITIVE),
    "hypot(x, 1)": Operator(lambda x: ops.hypot(x, ops.ones_like(x)), lambda x: s.sqrt(x * x + 1), REAL),
    "atan2(1, x)": Operator(lambda x: ops.atan2(ops.ones_like(x), x), lambda x: s.solved(mp.atan2(1, x.value), lambda y: -1 / (1 + x * x), x), REAL),
    "erf": Operator(ops.erf, s.erf, REAL, far=1),
    "erfc": Operator(ops.erfc, s.erfc, [x for x in REAL if x < 20], far=1),
    "erfinv": Operator(ops.erfinv, s.erfinv, SYMMETRIC_UNIT, far=1),
    "lgamma": Operator(ops.lgamma, s.lgamma, POSITIVE, far=0),
    "digamma": Operator(ops.digamma, lambda x: s.polygamma(0, x), POSITIVE, far=0),
    "polygamma(1, x)": Operator(lambda x: ops.polygamma(1, x), lambda x: s.polygamma(1, x), POSITIVE, far=0),
    "logit": Operator(ops.logit, lambda x: s.log(x / (1 - x)), UNIT, far=0),
    "sigmoid": Operator(ops.sigmoid, _sigmoid, REAL, far=0),
    "softplus": Operator(
        lambda x: ops.softplus(x, threshold=float("inf")), _softplus, REAL, far=0
    ),
    "logsigmoid": Operator(ops.logsigmoid, lambda x: -_softplus(-x), REAL, far=0),
    "logaddexp(x, 0)": Operator(lambda x: ops.logaddexp(x, ops.zeros_like(x)), _softplus, REAL, far=0),
    "softsign": Operator(ops.softsign, lambda x: x / (1 + abs(x)), REAL),
    "tanhshrink": Operator(ops.tanhshrink, lambda x: x - s.tanh(x), REAL, far=1),
    "silu": Operator(ops.silu, lambda x: x * _sigmoid(x), REAL, far=0),
    "mish": Operator(ops.mish, lambda x: x * s.tanh(_softplus(x)), REAL, far=0),
    "gelu": Operator(ops.gelu, lambda x: x * s.erfc(-x / mp.sqrt(2)) / 2, _GENTLE, far=1),
    "gelu (tanh)": Operator(lambda x: ops.gelu(x, "tanh"), _gelu_tanh, _GENTLE, far=1),
    "elu": Operator(ops.elu, lambda x: x if x.value > 0 else s.expm1(x), [x for x in REAL if abs(x) < 100], far=1),
    "sinc": Operator(ops.sinc, _sinc, [x + 2.0**-5 for x in REAL if 2.0**-5 < abs(x) < 4], far=0),
    "x**-4": Operator(lambda x: x**-4, lambda x: 1 / (x * x * x * x), REAL),
    "x**-2.5": Operator(lambda x: x**-2.5, lambda x: x ** mp.mpf(-2.5), POSITIVE),
    "x**0.75": Operator(lambda x: x**0.75, lambda x: x ** mp.mpf(0.75), POSITIVE),
    "2**x": Operator(lambda x: ops.pow(ops.full_like(x, 2.0), x), lambda x: s.exp(mp.log(2) * x), [x for x in REAL if abs(x) < 100], far=1),
    "xdivy(1, x)": Operator(lambda x: ops.xdivy(ops.ones_like(x), x), lambda x: 1 / x, REAL),
    "logaddexp2(x, 0)": Operator(lambda x: ops.logaddexp2(x, ops.zeros_like(x)), lambda x: _softplus(mp.log(2) * x) / mp.log(2), REAL, far=0),
    "polygamma(2, x)": Operator(lambda x: ops.polygamma(2, x), lambda x: s.polygamma(2, x), POSITIVE, far=0),
    "mvlgamma(x, 2)": Operator(lambda x: ops.mvlgamma(x, 2), lambda x: mp.log(mp.pi) / 2 + s.lgamma(x) + s.lgamma(x - 0.5), [x for x in POSITIVE if x > 0.5], far=0),
    "igamma(2.5, x)": Operator(_of_shape(ops.igamma, 2.5), functools.partial(_gamma_tail, False), POSITIVE, far=0),
    "igammac(2.5, x)": Operator(_of_shape(ops.igammac, 2.5), functools.partial(_gamma_tail, True), POSITIVE, far=0),
    "betainc(1.5, 2.5, x)": Operator(_of_shape(ops.betainc, 1.5, 2.5), _beta_tail, UNIT, far=0),
    "normal cdf": Operator(_normal("cdf"), lambda x: s.erfc(-x / mp.sqrt(2)) / 2, _GENTLE, far=0),
    "normal log_cdf": Operator(_normal("log_cdf"), lambda x: s.log(s.erfc(-x / mp.sqrt(2)) / 2), REAL, far=0),
    "selu": Operator(ops.selu, _selu, [x for x in REAL if abs(x) < 100], far=1),
    "celu": Operator(ops.celu, lambda x: x if x.value > 0 else s.expm1(x), [x for x in REAL if abs(x) < 100], far=1),
    "fast_gelu": Operator(ops.fast_gelu, lambda x: x * _sigmoid(mp.mpf(1.702) * x), [x for x in REAL if abs(x) < 15], far=0),
    "bessel_i0": Operator(ops.bessel_i0, lambda x: s.bessel(mp.besseli, (1, 1), 0, x), _BESSEL[:-1], far=0),
    "bessel_i1": Operator(ops.bessel_i1, lambda x: s.bessel(mp.besseli, (1, 1), 1, x), _BESSEL[:-1], far=0),
    "bessel_k0": Operator(ops.bessel_k0, lambda x: s.bessel(mp.besselk, (-1, -1), 0, x), _BESSEL[:-1], far=0),
    "bessel_k1": Operator(ops.bessel_k1, lambda x: s.bessel(mp.besselk, (-1, -1), 1, x), _BESSEL[:-1], far=0),
    "bessel_y0": Operator(ops.bessel_y0, lambda x: s.bessel(mp.bessely, (1, -1), 0, x), _BESSEL, far=0),
    "bessel_y1": Operator(ops.bessel_y1, lambda x: s.bessel(mp.bessely, (1, -1), 1, x), _BESSEL, far=0),
    "bessel_j0": Operator(ops.bessel_j0, lambda x: s.bessel(mp.besselj, (1, -1), 0, x), _BESSEL, far=0),
    "bessel_j1": Operator(ops.bessel_j1, lambda x: s.bessel(mp.besselj, (1, -1), 1, x), _BESSEL, far=0),
    "bessel_i0e": Operator(ops.bessel_i0e, lambda x: s.exp(-x) * s.bessel(mp.besseli, (1, 1), 0, x), _BESSEL, far=0),
    "bessel_i1e": Operator(ops.bessel_i1e, lambda x: s.exp(-x) * s.bessel(mp.besseli, (1, 1), 1, x), _BESSEL, far=0),
    "bessel_k0e": Operator(ops.bessel_k0e, lambda x: s.exp(x) * s.bessel(mp.besselk, (-1, -1), 0, x), _BESSEL, far=0),
    "bessel_k1e": Operator(ops.bessel_k1e, lambda x: s.exp(x) * s.bessel(mp.besselk, (-1, -1), 1, x), _BESSEL, far=0),
}  # fmt: skip


def points(name: str, format: str) -> list[float]:
    """The arguments at which an operator is tried in a type."""
    operator = OPERATORS[name]
    far = _FAR.get(format, ())[: operator.far]
    return [*operator.points, *far]


@functools.cache
def exact(name: str, x: float) -> list[Any]:
    """Derivatives of orders 0 to 4 at ``x``."""
    with mp.workdps(
        50 if name.startswith(("bessel", "lgamma", "digamma", "polygamma", "mvlgamma")) else _DIGITS
    ):
        return OPERATORS[name].exact(s.variable(x)).derivatives()


def _derivatives(function: Callable[[Any], Any]) -> Callable[[Any], list[Any]]:
    def slope(inner: Callable[[Any], Any]) -> Callable[[Any], Any]:
        return ms.grad(lambda x: inner(x).sum())

    functions = [function]
    for _ in ORDERS[1:]:
        functions.append(slope(functions[-1]))
    return lambda x: [each(x) for each in functions]


def computed(compiled: Sequence[str], format: str) -> dict[tuple[str, str], list[np.ndarray]]:
    """Derivatives of orders 0 to 3 by operator and mode. XLA evaluates only the operators in ``compiled``."""
    inputs = {name: Tensor(np.array(points(name, format)), FORMATS[format].dtype) for name in OPERATORS}
    functions = {name: _derivatives(operator.function) for name, operator in OPERATORS.items()}
    found: dict[tuple[str, str], list[np.ndarray]] = {}

    @ms.jit
    def everything(inputs: Any) -> Any:
        return [y for name, x in zip(compiled, inputs, strict=True) for y in functions[name](x)]

    results = iter(everything([inputs[name] for name in compiled]))
    for name in compiled:
        found[name, "XLA"] = [next(results).astype(ms.float64).asnumpy() for _ in ORDERS]
    for name, function in functions.items():
        found[name, "NumPy"] = [y.astype(ms.float64).asnumpy() for y in function(inputs[name])]
    return found


def error(name: str, format: str, order: int, values: np.ndarray) -> tuple[float, float]:
    """The largest error in units of conditioned last places, and where it is.

    Results below the normal numbers may be zero, results above the largest one infinite.
    """
    dtype = FORMATS[format]
    worst = (0.0, 0.0)
    for x, value in zip(points(name, format), values, strict=True):
        right = exact(name, x)
        size = abs(right[order])
        if size > dtype.greatest / 2:
            continue
        unit = dtype.epsilon * (size + abs(x * right[order + 1])) + dtype.least
        off = float(abs(mp.mpf(float(value)) - right[order]) / unit) if np.isfinite(value) else np.inf
        worst = max(worst, (off, x))
    return worst


def measured(
    format: str, compiled: Sequence[str] = tuple(OPERATORS)
) -> Iterator[tuple[str, int, str, float, float]]:
    """(operator, order, mode, error, argument) in one type. XLA evaluates only the operators in ``compiled``."""
    found = computed(compiled, format)
    for name in OPERATORS:
        for order in ORDERS:
            for mode in MODES:
                if (name, mode) in found:
                    yield (name, order, mode, *error(name, format, order, found[name, mode][order]))


#: a measured error may exceed the listed one by this factor, and by so many units: instruction sets differ
SLACK, MARGIN = 3.0, 10.0
_HEAD = """# Accuracy of operators and their derivatives

This page lists the largest relative errors of elementwise operators and of their derivatives up to order 3, for four
types and both executors: NumPy runs operators one by one, XLA runs compiled functions. Read it to choose a type, or to
find out how many digits a derivative has.

The unit of an error is one unit in the last place of the right value, times 1 + c. The condition number
c = |x g'(x) / g(x)| says how much a relative change of the argument x changes the result g(x). An error below 1 is as
small as the rounding of the argument. Right values were computed with mpmath, at arguments from 2⁻¹² to 320 and, for the
types with a large range, at 2⁻⁹⁰ and 2⁹⁰ (`float64`: 2⁻⁶⁰⁰ and 2⁶⁰⁰). Each cell holds the errors of orders 0, 1, 2, and 3.
A test computes the table again and fails if an error is more than three times the listed one plus 10.

The page is written by `python -m tests.laws.accuracy --write`.

"""


def _shown(error: float) -> str:
    return f"{error:.1f}" if error < 10 else f"{error:.0f}" if error < 1000 else f"{error:.0e}"


def page() -> str:
    """The table of all errors, measured now."""
    cells: dict[tuple[str, str, str], list[str]] = {}
    for format in FORMATS:
        for name, _, mode, off, _ in measured(format):
            cells.setdefault((name, format, mode), []).append(_shown(off))
    columns = [(format, mode) for format in FORMATS for mode in MODES]
    lines = ["| operator | " + " | ".join(f"{format}, {mode}" for format, mode in columns) + " |"]
    lines.append("|---" * (len(columns) + 1) + "|")
    for name in OPERATORS:
        row = [" ".join(cells[name, *column]) for column in columns]
        lines.append(f"| `{name}` | " + " | ".join(row) + " |")
    return _HEAD + "\n".join(lines) + "\n"


def listed() -> dict[tuple[str, str, str], list[float]]:
    """The errors of orders 0 to 3 on the page, by operator, type, and mode."""
    found = {}
    columns = [(format, mode) for format in FORMATS for mode in MODES]
    for line in PAGE.read_text().splitlines():
        if line.startswith("| `"):
            name, *cells = [cell.strip() for cell in line.strip("|").split("|")]
            for column, cell in zip(columns, cells, strict=True):
                found[name.strip("`"), *column] = [float(number) for number in cell.split()]
    return found


def worse(formats: Sequence[str]) -> list[str]:
    """A line for each operator whose error is above the limit that the page sets.

    XLA compiles each operator for one of ``formats``, so a single format has all operators.
    """
    known, lines = listed(), []
    for k, format in enumerate(formats):
        for name, order, mode, off, x in measured(format, list(OPERATORS)[k :: len(formats)]):
            limit = SLACK * known[name, format, mode][order] + MARGIN
            if not off <= limit:
                text = f"{off:.3g} units, allowed {limit:.3g}"
                lines.append(f"{name}, {format}, order {order}, {mode}, at {x}: {text}")
    return lines


if __name__ == "__main__":
    if "--check" in sys.argv:
        lines = worse(sys.argv[2:])
        print("\n".join(lines))
        sys.exit(bool(lines))
    elif "--write" in sys.argv:
        PAGE.write_text(page())
    else:
        print(page())
