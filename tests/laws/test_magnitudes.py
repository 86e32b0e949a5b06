"""Law: rules hold at extreme magnitudes, where squares of values and of slopes leave the range of the type.

For u(t) = s exp(t), a power f(u) = uⁿ is f(s) exp(n t): its derivatives with respect to t at 0 are f(s) nᵏ, however large
or small s is. Logarithms have the derivatives 1, 0, 0. The Laplacian and Taylor series follow the same law. An
intermediate result that is formed before it meets the tangent s · dt overflows or vanishes on the way.
"""

import itertools

import numpy as np
import pytest

import mindgrad as ms
from mindgrad import Tensor, ops
from tests.thorough import THOROUGH

#: a function of u, and the exponent n of its power law; None for a logarithm with the factor that makes it natural
POWERS = {
    "reciprocal": (ops.reciprocal, -1),
    "quotient": (lambda u: 1 / u, -1),
    "two quotients": (lambda u: 1 / u / u, -2),
    "a quotient of quotients": (lambda u: (1 / u) / (u / 2), -2),
    "rsqrt": (ops.rsqrt, -0.5),
    "sqrt": (ops.sqrt, 0.5),
    "cbrt": (lambda u: ms.numpy.cbrt(u), 1 / 3),
    "square": (ops.square, 2),
    "power of -2": (lambda u: u**-2, -2),
    "power of -3": (lambda u: u**-3, -3),
    "power of -4": (lambda u: u**-4, -4),
    "power of -5": (lambda u: u**-5, -5),
    "power of -12": (lambda u: u**-12, -12),
    "power of 4": (lambda u: u**4, 4),
    "power of -1.5": (lambda u: u**-1.5, -1.5),
    "power of -4.5": (lambda u: u**-4.5, -4.5),
    "power of -1/3": (lambda u: u ** (-1 / 3), -1 / 3),
    "power of 2/3": (lambda u: u ** (2 / 3), 2 / 3),
    "power of a reciprocal": (lambda u: (1 / u) ** 4, -4),
    "reciprocal of a power": (lambda u: 1 / u**4, -4),
    "square of a square": (lambda u: ops.square(ops.square(u)), 4),
    "cube of rsqrt": (lambda u: ops.rsqrt(u) ** 3, -1.5),
    "power of -3 of a root": (lambda u: ops.sqrt(u) ** -3, -1.5),
    "reciprocal of rsqrt": (lambda u: 1 / ops.rsqrt(u), 0.5),
    "rsqrt by u": (lambda u: ops.rsqrt(u) / u, -1.5),
    "power of 1.5": (lambda u: u**1.5, 1.5),
    "power of -1 as a tensor": (lambda u: ops.pow(u, ops.zeros_like(u) - 1.0), -1),
    "power of -2 as a tensor": (lambda u: ops.pow(u, ops.zeros_like(u) - 2.0), -2),
    "power of -4 as a tensor": (lambda u: ops.pow(u, ops.zeros_like(u) - 4.0), -4),
    "powers as a constant array": (lambda u: ops.pow(u, Tensor([-4.0, -2.0], u.dtype))[0], -4),
    "hypot": (lambda u: ops.hypot(u, u), 1),
    "xdivy": (lambda u: ops.xdivy(1.0, u), -1),
}
#: 1 / f(1) where that is not 1
FACTORS = {"a quotient of quotients": 0.5, "hypot": 0.5**0.5}
LOGARITHMS = {
    "log": (ops.log, 1.0),
    "log2": (ops.log2, np.log(2)),
    "log10": (ops.log10, np.log(10)),
    "log of a reciprocal": (lambda u: ops.log(ops.reciprocal(u)), -1.0),
    "log of a quotient": (lambda u: ops.log(1 / u), -1.0),
    "log of rsqrt": (lambda u: ops.log(ops.rsqrt(u)), -2.0),
    "log of a power": (lambda u: ops.log(u**-0.5), -2.0),
    "logarithmic derivative": (lambda u: u / u + ops.log(u), 1.0),
}
#: the type, magnitudes, the range in which values may lie, and a tolerance
FORMATS = {
    "float16": (ms.float16, (1e-4, 1e4), (1e-4, 2e3), 3e-2),
    "bfloat16": (ms.bfloat16, (1e-30, 1e30), (1e-36, 1e36), 1e-1),
    "float32": (ms.float32, (1e-30, 1e30), (1e-36, 1e36), 1e-5),
    "float64": (ms.float64, (1e-200, 1e200), (1e-300, 1e300), 1e-12),
}


def by_reverse(f):
    return ms.grad(f)


def by_forward(f):
    return lambda x: ms.jvp(f, x, ops.ones_like(x))[1]


def derivative(f, modes):
    for mode in modes:
        f = mode(f)
    return f


ORDERS = [modes for order in (1, 2) for modes in itertools.product((by_reverse, by_forward), repeat=order)]
ORDERS += [(by_reverse,) * 3, (by_forward,) * 3, (by_reverse, by_reverse, by_forward)]


def cases_of(format, step=1):
    """Every ``step``-th case: name, function, scale s, factor 1 / f(s), and four derivatives with respect to t at 0."""
    dtype, magnitudes, (least, greatest), _ = FORMATS[format]
    cases = []
    for s in magnitudes:
        for name, (f, n) in [*POWERS.items()][::step]:
            size = s if dtype is not ms.float16 else s ** (3 / 4)
            root = size ** (1 / max(1, abs(n)))  # so that the value is within the range
            is_steep = dtype is ms.float16 and abs(n) > 3  # the third derivative leaves the range
            if max(least, 1 / greatest) <= root**n <= greatest and not is_steep:
                factor = FACTORS.get(name, 1.0) / root**n
                cases.append((f"{name} at {root:.0e}", f, root, factor, [n**k for k in (1, 2, 3, 4)]))
        for name, (f, factor) in [*LOGARITHMS.items()][::step]:
            cases.append((f"{name} at {s:.0e}", f, s, factor, [1, 0, 0, 0]))
    return cases


@pytest.mark.xla
@pytest.mark.parametrize("compile", [lambda f: f, ms.jit], ids=["eager", "jit"])
@pytest.mark.parametrize("format", FORMATS)
def test_derivatives_hold_at_extreme_magnitudes(format, compile):
    """Every order up to 3, by every mixture of forward and reverse mode."""
    dtype, _, _, within = FORMATS[format]
    is_narrow = dtype in (ms.float16, ms.bfloat16)  # slow to compile, with the rewrites of float32
    cases = cases_of(format, 4 if compile is ms.jit and is_narrow and not THOROUGH else 1)

    def all_of_them(cases, t, numbers):
        found = []
        for (_, f, *_), (s, factor) in zip(cases, numbers, strict=True):
            function = lambda t, f=f, s=s, factor=factor: f(s * ops.exp(t)) * factor
            found.append([derivative(function, modes)(t) for modes in ORDERS])
        return found

    found = []
    size = 2 if is_narrow else 8  # large programs of half precision compile slowly
    for k in range(0, len(cases), size):
        part = cases[k : k + size]
        # arguments: XLA multiplies constants with each other first, which overflows
        numbers = [(Tensor(s, dtype), Tensor(factor, dtype)) for _, _, s, factor, _ in part]
        function = lambda t, numbers, part=part: all_of_them(part, t, numbers)
        found += compile(function)(Tensor(0.0, dtype), numbers)
    wrong = []
    for (name, _, _, _, right), values in zip(cases, found, strict=True):
        for modes, y in zip(ORDERS, values, strict=True):
            value, wanted = float(y.astype(ms.float64)), right[len(modes) - 1]
            if not abs(value - wanted) <= within * max(1.0, abs(wanted)):
                wrong.append(f"{name}, {' of '.join(m.__name__ for m in modes)}: {value}, right {wanted}")
    assert not wrong, "\n".join(wrong)


def second_coefficient(f):
    """The second derivative along the first axis and along the diagonal, by Taylor series."""

    def along(x, direction):
        return ms.jet(f, x, ops.stack([direction, ops.zeros_like(direction)]))[1][1]

    return lambda x: along(x, Tensor([1.0, 0.0], x.dtype)) + along(x, Tensor([0.0, 1.0], x.dtype))


#: an operator of second or higher order, and its value for g(x + 2 y) from the derivatives of g
OPERATORS = {
    "laplacian": (ms.laplacian, lambda d: 5 * d[1]),
    "second_order": (
        lambda f: lambda x: ms.second_order(f)(x, Tensor([[1.0, 1.0], [0.0, 1.0]], x.dtype)),
        lambda d: 7 * d[1],
    ),
    "jet": (second_coefficient, lambda d: 5 * d[1]),
    "biharmonic": (ms.biharmonic, lambda d: 25 * d[3]),
}


@pytest.mark.xla
@pytest.mark.parametrize(
    ("format", "compile"),
    [("float32", ms.jit), ("float32", lambda f: f), ("float64", lambda f: f)],
    ids=["float32-jit", "float32-eager", "float64-eager"],
)
@pytest.mark.parametrize("operator", OPERATORS)
def test_second_order_operators_hold_at_extreme_magnitudes(format, operator, compile):
    """Each operator is compiled for one type only: the law of single derivatives compiles all types."""
    dtype, _, _, within = FORMATS[format]
    make, expected = OPERATORS[operator]
    is_slow = compile is ms.jit and operator == "biharmonic"
    cases = cases_of(format, 4 if is_slow and not THOROUGH else 1)

    def all_of_them(x, numbers, cases):
        values = []
        for (_, f, *_), (s, factor) in zip(cases, numbers, strict=True):
            function = lambda x, f=f, s=s, factor=factor: f(s * ops.exp(x[0] + 2 * x[1])) * factor
            values.append(make(function)(x))
        return values

    found = []
    for k in range(0, len(cases), 8):
        part = cases[k : k + 8]
        numbers = [(Tensor(s, dtype), Tensor(factor, dtype)) for _, _, s, factor, _ in part]
        function = compile(lambda x, numbers, part=part: all_of_them(x, numbers, part))
        found += function(Tensor([0.0, 0.0], dtype), numbers)
    wrong = []
    for (name, *_, derivatives), y in zip(cases, found, strict=True):
        value, right = float(y), expected(derivatives)
        if not abs(value - right) <= 10 * within * max(1.0, abs(right)):
            wrong.append(f"{name}: {value}, right {right}")
    assert not wrong, "\n".join(wrong)


@pytest.mark.xla
@pytest.mark.parametrize("compile", [lambda f: f, ms.jit], ids=["eager", "jit"])
@pytest.mark.parametrize("dtype", [ms.float16, ms.float32, ms.float64], ids=str)
def test_tangent_next_to_its_pole_does_not_square_its_value(dtype, compile):
    """tan(x + s t) / tan(x) with s = 1 / tan(x) has the derivatives 1, 2, 6 at t = 0, but for terms in s²."""
    x = Tensor(np.pi / 2 - 1e-3, dtype)
    s = 1 / ops.tan(x)

    def differentiated(modes, t, x, s):
        return derivative(lambda t: ops.tan(x + s * t) * s, modes)(t)

    for modes in ORDERS:
        found = compile(lambda t, x, s, modes=modes: differentiated(modes, t, x, s))(ops.zeros_like(x), x, s)
        assert abs(float(found.astype(ms.float64)) / (1, 2, 6)[len(modes) - 1] - 1) < 1e-2


GAUSSIAN = lambda x: ops.exp(-x * x / 2)


@pytest.mark.xla
@pytest.mark.parametrize("compile", [lambda f: f, ms.jit], ids=["eager", "jit"])
@pytest.mark.parametrize(
    ("function", "x", "right"),
    [
        (lambda x: ops.log(GAUSSIAN(x)), 12.0, -1.0),
        (lambda x: ops.log(GAUSSIAN(x) + GAUSSIAN(x - 1)), 12.0, -1.0),
        (lambda x: -2 * ops.log(GAUSSIAN(x) ** -0.5), 13.0, -1.0),
        (lambda x: -ops.log(GAUSSIAN(x) ** -1), 12.0, -1.0),
        (lambda x: -0.5 * ops.log(GAUSSIAN(x) ** -2), 9.0, -1.0),
        (lambda x: -2 * ops.log(ops.rsqrt(GAUSSIAN(x))), 13.0, -1.0),
        (lambda x: ops.log(1 + ops.exp(x)), 60.0, 0.0),
        (lambda x: ops.log(ops.cosh(x)), 60.0, 0.0),
        (lambda x: ops.sinh(x) / ops.cosh(x), 60.0, 0.0),
        (lambda x: ops.log2(ops.exp(x)), 60.0, 0.0),
        (lambda x: ops.log(ops.hypot(ops.exp(x), ops.exp(x))), 50.0, 0.0),
        (lambda x: ops.log(ops.atan2(ops.exp(-x), ops.exp(x))), 40.0, 0.0),
        (lambda x: ops.log(ops.atan(ops.exp(x))), -60.0, 0.0),
    ],
)  # fmt: skip
def test_second_derivative_of_a_logarithm_is_right_far_out(function, x, right, compile):
    for modes in itertools.product((by_reverse, by_forward), repeat=2):
        value = float(compile(derivative(function, modes))(Tensor(x)))
        assert abs(value - right) < 1e-4, [m.__name__ for m in modes]


@pytest.mark.xla
@pytest.mark.parametrize("compile", [lambda f: f, ms.jit], ids=["eager", "jit"])
@pytest.mark.parametrize(
    ("function", "point", "right"),
    [
        (lambda r: ops.log(ops.exp(-r / 2)), (12.0, 0.0), -2.0),
        (lambda r: ops.log(ops.exp(-r / 2) + ops.exp(-r / 4)), (16.0, 4.0), -1.0),
        (lambda r: ops.log(ops.softplus(-r / 2)), (12.0, 4.0), -2.0),
        (lambda r: ops.log(ops.sigmoid(-r / 2)), (12.0, 4.0), -2.0),
        (lambda r: ops.log(1 + ops.exp(r)), (7.0, 4.0), 4.0),
        (lambda r: ops.log(ops.atan(ops.exp(-r / 2))), (12.0, 4.0), -2.0),
        (lambda r: ops.rsqrt(r) * 1e-10, (1e-10, 2e-10), 1e20 / 5**1.5),
        (lambda r: 1e-10 / r, (1e-5, 2e-5), 4 / 25 * 1e10),
    ],
)  # fmt: skip
def test_laplacian_is_right_far_out(function, point, right, compile):
    f = lambda x: function((x * x).sum(-1))
    value = float(compile(ms.laplacian(f))(Tensor(np.asarray(point), ms.float32)))
    assert abs(value - right) <= 1e-4 * max(1.0, abs(right))


@pytest.mark.xla
@pytest.mark.parametrize("dtype", [ms.float16, ms.float32, ms.float64], ids=str)
def test_compiled_quotients_of_quotients_do_not_overflow(dtype):
    y = {ms.float16: 300.0, ms.float32: 1e25, ms.float64: 1e200}[dtype]
    for at in (y, 1 / y):
        a = Tensor(at, dtype)
        for function, right in (
            (lambda a, y: (a / y) / y, 1 / at),
            (lambda a, y: a / (y / a), at),
            (lambda a, y: (a / y) / (y / a), 1.0),
            (lambda a, y: (a / y).reshape(1).reshape(()) / y, 1 / at),
        ):
            found = float(ms.jit(function)(a, a).astype(ms.float64))
            assert abs(found / right - 1) < 2e-2
