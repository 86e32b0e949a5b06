"""Arithmetic, elementwise functions, comparisons and activations: values, element types, errors, both
executors; and the guide's operators to order four.
"""

import math

import numpy as np
import pytest
import scipy.special as sc

import mindgrad as ms
from mindgrad import Parameter, Tensor, ops
from mindgrad.frontend.programs.compiled import Compiled
from tests.tolerances import assert_close

RNG = np.random.default_rng(7)
WIDE = RNG.uniform(-3, 3, 40)
INSIDE = RNG.uniform(-0.95, 0.95, 40)
POSITIVE = RNG.uniform(0.1, 4, 40)
ABOVE_ONE = RNG.uniform(1.05, 4, 40)
OTHER = RNG.uniform(0.3, 2, 40) * np.sign(RNG.uniform(-1, 1, 40))
SPECIAL = np.array([0.0, -0.0, 1.0, -1.0, np.inf, -np.inf, np.nan])


def _mish(x):
    return x * np.tanh(np.logaddexp(x, 0))


def _gelu(x):
    return x * sc.ndtr(x)


def _gelu_tanh(x):
    return 0.5 * x * (1 + np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)))


UNARY = [
    ("sin", np.sin, WIDE), ("cos", np.cos, WIDE), ("tan", np.tan, INSIDE),
    ("asin", np.arcsin, INSIDE), ("acos", np.arccos, INSIDE), ("atan", np.arctan, WIDE),
    ("sinh", np.sinh, WIDE), ("cosh", np.cosh, WIDE), ("tanh", np.tanh, WIDE),
    ("asinh", np.arcsinh, WIDE), ("acosh", np.arccosh, ABOVE_ONE), ("atanh", np.arctanh, INSIDE),
    ("exp", np.exp, WIDE), ("exp2", np.exp2, WIDE), ("expm1", np.expm1, WIDE),
    ("log", np.log, POSITIVE), ("log2", np.log2, POSITIVE), ("log10", np.log10, POSITIVE),
    ("log1p", np.log1p, INSIDE), ("sqrt", np.sqrt, POSITIVE), ("rsqrt", lambda x: 1 / np.sqrt(x), POSITIVE),
    ("cbrt", np.cbrt, WIDE), ("reciprocal", lambda x: 1 / x, OTHER), ("inv", lambda x: 1 / x, OTHER),
    ("square", np.square, WIDE), ("sinc", np.sinc, WIDE), ("deg2rad", np.deg2rad, WIDE),
    ("rad2deg", np.rad2deg, WIDE), ("abs", np.abs, WIDE), ("sign", np.sign, WIDE),
    ("floor", np.floor, WIDE), ("ceil", np.ceil, WIDE), ("trunc", np.trunc, WIDE), ("rint", np.rint, WIDE),
    ("round", np.rint, WIDE), ("frac", lambda x: x - np.trunc(x), WIDE), ("neg", np.negative, WIDE),
    ("erf", sc.erf, WIDE), ("erfc", sc.erfc, WIDE), ("erfinv", sc.erfinv, INSIDE),
    ("lgamma", sc.gammaln, POSITIVE), ("digamma", sc.digamma, POSITIVE), ("logit", sc.logit, POSITIVE / 5),
    ("angle", np.angle, WIDE),
    ("sigmoid", sc.expit, WIDE), ("logsigmoid", lambda x: -np.logaddexp(0, -x), WIDE),
    ("softplus", lambda x: np.logaddexp(x, 0), WIDE), ("softsign", lambda x: x / (1 + np.abs(x)), WIDE),
    ("silu", lambda x: x * sc.expit(x), WIDE), ("mish", _mish, WIDE), ("gelu", _gelu, WIDE),
    ("fast_gelu", lambda x: x * sc.expit(1.702 * x), WIDE), ("tanhshrink", lambda x: x - np.tanh(x), WIDE),
    ("relu", lambda x: np.maximum(x, 0), WIDE), ("relu6", lambda x: np.clip(x, 0, 6), 3 * WIDE),
    ("elu", lambda x: np.where(x > 0, x, np.expm1(x)), WIDE),
    ("selu", lambda x: 1.0507009873554805 * np.where(x > 0, x, 1.6732632423543772 * np.expm1(x)), WIDE),
    ("celu", lambda x: np.maximum(x, 0) + np.minimum(np.expm1(x), 0), WIDE),
    ("leaky_relu", lambda x: np.where(x > 0, x, 0.2 * x), WIDE),
    ("hardsigmoid", lambda x: np.clip(x / 6 + 0.5, 0, 1), 2 * WIDE),
    ("hardswish", lambda x: x * np.clip(x / 6 + 0.5, 0, 1), 2 * WIDE),
    ("hardtanh", lambda x: np.clip(x, -1, 1), WIDE),
    ("hardshrink", lambda x: np.where(np.abs(x) > 0.5, x, 0), WIDE),
    ("softshrink", lambda x: np.sign(x) * np.maximum(np.abs(x) - 0.5, 0), WIDE),
    ("softmax", lambda x: sc.softmax(x), WIDE), ("log_softmax", lambda x: sc.log_softmax(x), WIDE),
    ("softmin", lambda x: sc.softmax(-x), WIDE),
    ("isnan", np.isnan, SPECIAL), ("isinf", np.isinf, SPECIAL), ("isfinite", np.isfinite, SPECIAL),
    ("nan_to_num", np.nan_to_num, SPECIAL), ("logical_not", np.logical_not, SPECIAL),
]  # fmt: skip

BINARY = [
    ("add", np.add), ("sub", np.subtract), ("mul", np.multiply), ("div", np.divide),
    ("true_divide", np.divide), ("floor_div", np.floor_divide), ("floor_mod", np.mod),
    ("remainder", np.mod), ("fmod", np.fmod), ("mod", np.fmod), ("truncate_mod", np.fmod),
    ("truncate_div", lambda x, y: np.trunc(x / y)), ("maximum", np.maximum), ("minimum", np.minimum),
    ("fmax", np.fmax), ("fmin", np.fmin), ("atan2", np.arctan2), ("hypot", np.hypot),
    ("logaddexp", np.logaddexp), ("logaddexp2", np.logaddexp2),
    ("squared_difference", lambda x, y: (x - y) ** 2),
    ("div_no_nan", np.divide), ("mul_no_nan", np.multiply), ("xdivy", np.divide),
    ("heaviside", np.heaviside), ("equal", np.equal), ("not_equal", np.not_equal), ("less", np.less),
    ("less_equal", np.less_equal), ("greater", np.greater), ("greater_equal", np.greater_equal),
    ("logical_and", np.logical_and), ("logical_or", np.logical_or), ("logical_xor", np.logical_xor),
    ("isclose", np.isclose), ("float_power", lambda x, y: np.float_power(np.abs(x), y)),
]  # fmt: skip


def close(found, wanted):
    assert found.shape == np.shape(wanted)
    assert_close(found, wanted, "law", each=True, scale=1)


# --- values ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("name", "oracle", "sample"), UNARY, ids=[row[0] for row in UNARY])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_functions_of_one_tensor(name, oracle, sample, dtype):
    x = sample.astype(dtype)
    with np.errstate(all="ignore"):
        wanted = oracle(x.astype(np.float64) if name != "nan_to_num" else x)
    close(getattr(ops, name)(Tensor(x)), wanted)


@pytest.mark.parametrize(("name", "oracle"), BINARY, ids=[row[0] for row in BINARY])
def test_functions_of_two_tensors(name, oracle):
    x = WIDE if name != "float_power" else POSITIVE
    close(getattr(ops, name)(Tensor(x), Tensor(OTHER)), oracle(x, OTHER))
    # shapes broadcast, on either side
    close(getattr(ops, name)(Tensor(x[:4, None]), Tensor(OTHER[:3])), oracle(x[:4, None], OTHER[:3]))
    close(getattr(ops, name)(Tensor(x[:3]), Tensor(OTHER[:4, None])), oracle(x[:3], OTHER[:4, None]))


def test_both_executors_agree_on_everything():
    for dtype in (np.float64, np.float32):
        one = [(name, Tensor(sample.astype(dtype))) for name, _, sample in UNARY]
        x, y = Tensor(POSITIVE.astype(dtype)), Tensor(OTHER.astype(dtype))

        def everything(samples, x, y, names=tuple(name for name, _ in one)):
            found = [getattr(ops, name)(each) for name, each in zip(names, samples, strict=True)]
            return found + [getattr(ops, name)(x, y) for name, _ in BINARY]

        samples = [sample for _, sample in one]
        compiled = Compiled(everything)(samples, x, y)
        names = [name for name, _ in one] + [name for name, _ in BINARY]
        for name, eager, other in zip(names, everything(samples, x, y), compiled, strict=True):
            assert (eager.shape, eager.dtype) == (other.shape, other.dtype), name
            assert_close(eager, other, "law", each=True, scale=1, what=name)


def test_further_arguments():
    x = Tensor(WIDE)
    close(ops.round(x, decimals=2), np.round(WIDE, 2))
    close(ops.round(Tensor(100 * WIDE), decimals=-1), np.round(100 * WIDE, -1))
    close(ops.div(x, 0.7, rounding_mode="floor"), np.floor_divide(WIDE, 0.7))
    close(ops.div(x, 0.7, rounding_mode="trunc"), np.trunc(WIDE / 0.7))
    close(ops.softplus(x, 2.0), np.logaddexp(2 * WIDE, 0) / 2)
    close(ops.softplus(x, 1.0, 0.0), np.where(WIDE > 0, WIDE, np.logaddexp(WIDE, 0)))
    close(ops.gelu(x, "tanh"), _gelu_tanh(WIDE))
    close(ops.elu(x, 0.5), np.where(WIDE > 0, WIDE, 0.5 * np.expm1(WIDE)))
    close(ops.celu(x, 2.0), np.maximum(WIDE, 0) + np.minimum(2 * np.expm1(WIDE / 2), 0))
    close(ops.threshold(x, 0.5, -3.0), np.where(WIDE > 0.5, WIDE, -3))
    close(ops.logit(Tensor(SPECIAL[:3]), 0.1), sc.logit([0.1, 0.1, 0.9]))
    close(ops.polygamma(2, Tensor(POSITIVE)), sc.polygamma(2, POSITIVE))
    close(ops.mvlgamma(Tensor(POSITIVE + 1), 3), [sc.multigammaln(each, 3) for each in POSITIVE + 1])
    close(ops.nan_to_num(Tensor(SPECIAL), 1.0, 2.0, 3.0), np.nan_to_num(SPECIAL, nan=1, posinf=2, neginf=3))
    table = WIDE.reshape(4, 10)
    close(ops.softmax(Tensor(table), (0, 1)), sc.softmax(table, (0, 1)))
    close(ops.softmax(Tensor(table), 0), sc.softmax(table, 0))
    close(ops.log_softmax(Tensor(1e4 * table), 1), sc.log_softmax(1e4 * table, 1))
    close(ops.glu(Tensor(table), 1), table[:, :5] * sc.expit(table[:, 5:]))
    slopes = np.array([0.1, 0.2, 0.3, 0.4])
    images = np.stack([table, -table]).reshape(2, 4, 10)
    wanted = np.where(images > 0, images, slopes[:, None] * images)
    close(ops.prelu(Tensor(images), Tensor(slopes)), wanted)
    close(ops.prelu(Tensor(images), Tensor(slopes[:1])), np.where(images > 0, images, 0.1 * images))
    close(ops.lerp(x, Tensor(OTHER), 0.25), WIDE + 0.25 * (OTHER - WIDE))
    close(ops.addcmul(x, x, Tensor(OTHER), 0.5), WIDE + 0.5 * WIDE * OTHER)
    close(ops.addcdiv(x, x, Tensor(OTHER), 0.5), WIDE + 0.5 * WIDE / OTHER)
    close(ops.addn((x, x, Tensor(OTHER))), 2 * WIDE + OTHER)
    assert ops.allclose(x, Tensor(WIDE + 1e-9))
    assert not ops.allclose(x, Tensor(WIDE + 1e-3))
    assert ops.isclose(Tensor([np.nan]), Tensor([np.nan]), equal_nan=True).item()


def test_sinc_is_exact_next_to_zero():
    x = np.array([0.0, 1e-9, 1e-4, 0.1, 0.158, 0.16, 0.2])
    close(ops.sinc(Tensor(x)), np.sinc(x))
    second = ops.grad(ops.grad(ops.sinc))(Tensor(x))
    step = 1e-3  # the second derivative of sin(πx)/(πx) is −π²/3 + π⁴x²/10 − …
    wanted = [-(math.pi**2) / 3 + math.pi**4 * each**2 / 10 - math.pi**6 * each**4 / 168 for each in x[:3]]
    assert_close(second.asnumpy()[:3], wanted, kind="program")
    central = (np.sinc(x + step) - 2 * np.sinc(x) + np.sinc(x - step)) / step**2
    assert_close(second, central, kind="difference", order=1)
    fourth = ops.grad(ops.grad(ops.grad(ops.grad(ops.sinc))))(Tensor(x[:1]))
    assert_close(fourth, [math.pi**4 / 5], kind="program")


def test_clipping():
    for low, high in ((-1.0, 1.5), (None, 1.5), (-1.0, None), (2.0, 1.0)):
        for function in (ops.clip_by_value, ops.clamp, ops.clip):
            close(function(Tensor(WIDE), low, high), np.clip(WIDE, low, high))
    low, high = np.array([[-1.0], [0.0]]), np.array([0.5, 1.0])
    found = ops.clip_by_value(Tensor(WIDE[:2]), Tensor(low), Tensor(high))
    close(found, np.clip(WIDE[:2], low, high))
    assert isinstance(ops.clamp([Tensor(WIDE)], 0.0, 1.0), list)
    # at the bound, from inside, the derivative is 1, whichever bounds are given
    for arguments in ((0.0, 1.0), (0.0, None), (None, 0.0)):
        slope = ops.grad(lambda x, given=arguments: ops.clamp(x, *given))(Tensor(np.array([0.0, 5.0, -5.0])))
        inside = [1.0] + [float(np.clip(each, *arguments) == each) for each in (5.0, -5.0)]
        np.testing.assert_array_equal(slope.asnumpy(), inside)


# --- first and second derivatives against finite differences ------------------------------------------

STEPS = {"isnan", "isinf", "isfinite", "logical_not", "nan_to_num"}
DIFFERENTIABLE = [(name, sample) for name, _, sample in UNARY if name not in STEPS]
MIXING = {"softmax", "log_softmax", "softmin"}


@pytest.mark.filterwarnings("ignore::mindgrad.ZeroGradientWarning")  # of what is rounded
@pytest.mark.parametrize(("name", "sample"), DIFFERENTIABLE, ids=[name for name, _ in DIFFERENTIABLE])
def test_derivatives_of_functions_of_one_tensor(name, sample):
    function, v = getattr(ops, name), RNG.normal(size=sample.shape)
    if name in MIXING:
        plain = function
        function = lambda x: ops.square(plain(x))
    step = 1e-6
    ends = [Tensor(sample + by * step) for by in (1, -1)]
    if name in MIXING:
        ends = [Tensor(sample + by * step * v) for by in (1, -1)]
    slope = ops.grad(function)
    values, slopes = ([f(x).asnumpy() for x in ends] for f in (function, slope))
    first, second = ((a - b) / (2 * step) for a, b in (values, slopes))
    x = Tensor(sample)
    if name in MIXING:
        assert_close(np.vdot(slope(x).asnumpy(), v), first.sum(), kind="difference")
        actual = ops.jvp(slope, x, Tensor(v))[1].asnumpy()
    else:
        scale = np.maximum(np.abs(values[0]), 1)
        np.testing.assert_array_less(np.abs(slope(x).asnumpy() - first), 1e-6 * scale + 1e-5 * np.abs(first))
        actual = ops.grad(slope)(x).asnumpy()
    assert_close(actual, second, kind="difference", each=True, scale=1)


SMOOTH_PAIRS = [
    "add", "sub", "mul", "div", "atan2", "hypot", "logaddexp", "logaddexp2", "squared_difference", "xdivy",
    "div_no_nan", "mul_no_nan", "maximum", "fmin", "float_power", "fmod", "floor_mod",
]  # fmt: skip


@pytest.mark.parametrize("name", SMOOTH_PAIRS)
def test_derivatives_of_functions_of_two_tensors(name):
    function = getattr(ops, name)
    x = POSITIVE if name == "float_power" else WIDE
    both = ops.grad(function, (0, 1))
    step = 1e-6

    def at(i, by):
        return [Tensor(each + by * step * (k == i)) for k, each in enumerate((x, OTHER))]

    actual = [each.asnumpy() for each in both(Tensor(x), Tensor(OTHER))]
    for i in range(2):
        ends = [function(*at(i, by)).asnumpy() for by in (1, -1)]
        assert_close(actual[i], (ends[0] - ends[1]) / (2 * step), kind="iteration")
        mixed = ops.grad(lambda x, y: ops.sum(both(x, y)[0] * 1.5 + both(x, y)[1]), (0, 1))
        ends = [[each.asnumpy() for each in both(*at(i, by))] for by in (1, -1)]
        first, second = ((a - b) / (2 * step) for a, b in zip(*ends, strict=True))
        wanted = 1.5 * first + second
        assert_close(mixed(Tensor(x), Tensor(OTHER))[i], wanted, kind="difference", each=True, scale=10)


# --- conventions at corners, seams and infinities ------------------------------------------------------

CORNERS = {  # function: points, first derivatives there
    "abs": ([0.0, -0.0], [0.0, 0.0]),
    "sign": ([0.0, 1.0], [0.0, 0.0]),
    "relu": ([0.0, math.inf, -math.inf], [0.0, 1.0, 0.0]),
    "relu6": ([0.0, 6.0, 7.0], [0.0, 1.0, 0.0]),
    "leaky_relu": ([0.0, 1.0], [0.2, 1.0]),
    "elu": ([0.0, math.inf, -math.inf], [1.0, 1.0, 0.0]),
    "celu": ([0.0, math.inf, -math.inf], [1.0, 1.0, 0.0]),
    "hardsigmoid": ([-3.0, 3.0, math.inf], [0.0, 0.0, 0.0]),
    "hardswish": ([-3.0, 3.0, math.inf, -math.inf], [-0.5, 1.5, 1.0, 0.0]),
    "hardtanh": ([-1.0, 1.0, 1.5], [1.0, 1.0, 0.0]),
    "hardshrink": ([0.5, -0.5, 0.75], [0.0, 0.0, 1.0]),
    "softshrink": ([0.5, -0.5, 0.75], [0.0, 0.0, 1.0]),
    "softsign": ([0.0], [1.0]),
    "softplus": ([1000.0, -1000.0], [1.0, 0.0]),
    "sigmoid": ([1000.0, -1000.0], [0.0, 0.0]),
    "sqrt": ([0.0], [math.inf]),
    "log": ([0.0], [math.inf]),
    "nan_to_num": ([math.nan, math.inf, 2.0], [0.0, 0.0, 1.0]),
}


@pytest.mark.filterwarnings("ignore::mindgrad.ZeroGradientWarning")  # of what is rounded
def test_conventions_at_corners():
    points = {name: Tensor(np.array(given)) for name, (given, _) in CORNERS.items()}

    def slopes(points):
        return {name: ops.grad(getattr(ops, name))(x) for name, x in points.items()}

    for found in (slopes(points), Compiled(slopes)(points)):
        for name, (_, wanted) in CORNERS.items():
            assert_close(found[name], wanted, what=name)


def test_conventions_of_two_operands():
    def slopes(x, y):
        return {
            name: ops.grad(getattr(ops, name), (0, 1))(x, y)
            for name in ("maximum", "minimum", "xdivy", "div_no_nan", "mul_no_nan", "atan2", "hypot", "xlogy")
        }

    def check(found, wanted):
        for name, pair in wanted.items():
            for slope, expected in zip(found[name], pair, strict=True):
                np.testing.assert_array_equal(slope.asnumpy(), [expected], err_msg=name)

    zero, two, infinite = (Tensor(np.array([each])) for each in (0.0, 2.0, math.inf))
    at_zero = {
        "maximum": (0.5, 0.5), "minimum": (0.5, 0.5), "xdivy": (0.0, 0.0), "div_no_nan": (0.0, 0.0),
        "mul_no_nan": (0.0, 0.0), "atan2": (0.0, 0.0), "hypot": (0.0, 0.0),
    }  # fmt: skip
    for run in (slopes, Compiled(slopes)):
        check(run(zero, zero), at_zero)
        check(run(zero, two), {"xdivy": (0.5, 0.0), "xlogy": (math.log(2), 0.0)})
        check(run(two, zero), {"mul_no_nan": (0.0, 2.0), "div_no_nan": (0.0, 0.0)})
        check(run(infinite, zero), {"mul_no_nan": (0.0, 0.0)})


def test_masked_elements_take_no_part_in_softmax():
    x = Tensor(np.array([1.0, -math.inf, 2.0]))
    share = sc.softmax([1.0, 2.0])

    def loss(x):
        return ops.reduce_sum(ops.square(ops.softmax(x)))

    for slope in (ops.grad(loss)(x), Compiled(ops.grad(loss))(x)):
        wanted = 2 * share * (share - (share**2).sum())
        assert_close(slope, [wanted[0], 0.0, wanted[1]], kind="program")
    assert np.isfinite(ops.grad(ops.grad(loss))(x).asnumpy()).all()


# --- powers ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("n", [0, 1, 2, 3, -1, -2, 7, 40, 2.0, -3.0, 0.5, 1.7])
def test_powers(n):
    x = POSITIVE if n != int(n) else WIDE
    close(ops.pow(Tensor(x), n), x**n)
    close(ops.pow(Tensor(x), np.float64(n)), x**n)
    assert ops.pow(Tensor(x.astype(np.float16)), n).dtype is ms.float16
    slope = ops.grad(lambda x: ops.pow(x, n))(Tensor(x))
    close(slope, n * x ** (n - 1) if n else 0 * x)


def test_powers_of_and_with_tensors():
    close(ops.pow(Tensor(POSITIVE), Tensor(OTHER)), POSITIVE**OTHER)
    close(ops.pow(2, Tensor(OTHER)), 2**OTHER)
    whole = Tensor(np.arange(-3, 4), ms.int32)
    found = ops.pow(whole, 3)
    assert (found.dtype, found.asnumpy().tolist()) == (ms.int32, [-27, -8, -1, 0, 1, 8, 27])
    assert ops.pow(whole, 0.5).dtype is ms.float32
    with pytest.raises(ValueError, match=r"For 'Pow'.*Int32 cannot be raised to the power -1.*astype"):
        ops.pow(whole, -1)
    # and again: nothing is remembered
    with pytest.raises(ValueError, match="cannot be raised to the power -1"):
        ops.pow(whole, -1)
    assert ops.pow(Tensor([0.0]), 0).item() == 1.0
    assert ops.grad(lambda x: ops.pow(x, 0))(Tensor([0.0])).item() == 0.0
    assert ops.float_power(Tensor([2, 3]), -1).dtype is ms.float64


# --- element types -----------------------------------------------------------------------------------

TRANSCENDENTAL = [
    name for name, _, _ in UNARY
    if name not in (
        "square", "abs", "sign", "floor", "ceil", "trunc", "rint", "round", "frac", "neg", "relu", "relu6",
        "hardtanh", "isnan", "isinf", "isfinite", "nan_to_num", "logical_not",
    )
]  # fmt: skip


def test_integers_become_float32_where_they_must_and_stay_otherwise():
    whole = Tensor(np.array([1, 1, 1], np.int64))
    for name in [name for name in TRANSCENDENTAL if "softmax" not in name and name != "inv"]:
        assert getattr(ops, name)(whole).dtype is ms.float32, name
    for name in (
        "square",
        "abs",
        "sign",
        "floor",
        "ceil",
        "trunc",
        "rint",
        "round",
        "frac",
        "neg",
        "relu",
        "inv",
    ):
        assert getattr(ops, name)(whole).dtype is ms.int64, name
    assert ops.sin(Tensor([True])).dtype is ms.float32
    assert ops.div(whole, 2).dtype is ms.float32
    assert ops.floor_div(whole, 2).dtype is ms.int64
    assert ops.truncate_div(Tensor(np.array([-7, 7], np.int32)), 2).asnumpy().tolist() == [-3, 3]
    with pytest.warns(UserWarning, match="Int32"):
        slope = ops.grad(lambda x: ops.truncate_div(x, 2))(Tensor(np.array([7], np.int32)))
    assert slope.item() == 0


@pytest.mark.parametrize("dtype", [ms.float16, ms.bfloat16, ms.float32, ms.float64])
def test_floating_types_stay(dtype):
    x = Tensor(np.array([0.5, 0.25, 0.125]), dtype)
    for name in TRANSCENDENTAL + ["square", "softmax", "relu", "hardtanh", "floor"]:
        assert getattr(ops, name)(x).dtype is dtype, name
    for function in (ops.add, ops.mul, ops.div, ops.pow, ops.maximum, ops.clamp):
        assert function(x, 2.5).dtype is dtype
        assert function(x, 2).dtype is dtype


def test_complex_numbers():
    z = RNG.normal(size=6) + 1j * RNG.normal(size=6)
    t = Tensor(z)
    for name in ("sin", "cos", "exp", "log", "sqrt", "tanh", "square", "reciprocal", "abs", "conj", "angle"):
        oracle = getattr(np, {"conj": "conj"}.get(name, name))
        assert_close(getattr(ops, name)(t), oracle(z), kind="program")
    np.testing.assert_array_equal(ops.real(t).asnumpy(), z.real)
    np.testing.assert_array_equal(ops.imag(t).asnumpy(), z.imag)
    np.testing.assert_array_equal(ops.complex(ops.real(t), ops.imag(t)).asnumpy(), z)
    assert ops.complex(1.0, Tensor([2.0])).dtype is ms.complex64
    assert ops.imag(Tensor([1.0])).asnumpy().tolist() == [0.0]
    assert ops.real(Tensor([1.0])).dtype is ms.float32


def test_parameters_numbers_and_empty_tensors_are_operands():
    w = Parameter(Tensor([1.0, 2.0]), name="w")
    assert ops.add(w, 1).asnumpy().tolist() == [2.0, 3.0]
    assert ops.mul(w, w).asnumpy().tolist() == [1.0, 4.0]
    assert ops.sin(0.0).item() == 0.0
    assert ops.add(1, 2).item() == 3
    assert ops.add(1, 2).dtype is ms.int64
    assert ops.add(np.float64(2), Tensor([1.0])).dtype is ms.float32
    empty = Tensor(np.zeros((0, 3), np.float32))
    for name in ("sin", "softmax", "relu", "log_softmax", "gelu", "floor"):
        assert getattr(ops, name)(empty).shape == (0, 3)
    assert ops.add(empty, 1.0).shape == (0, 3)


def test_half_precision_overflows_to_infinity_without_a_warning():
    x = Tensor(np.array([60000.0], np.float16))
    assert math.isinf(ops.add(x, x).item())
    assert math.isinf(ops.mul(x, 1e9).item())
    assert math.isinf(ops.exp(x).item())
    assert ops.softmax(Tensor(np.array([60000.0, -60000.0], np.float16))).asnumpy().tolist() == [1.0, 0.0]


# --- errors ------------------------------------------------------------------------------------------

X, B, C = Tensor([1.0, 2.0]), Tensor([True, False]), Tensor([1j, 2j])

ERRORS = [
    (lambda x, b, c: ops.add(x, Tensor([1.0, 2.0, 3.0])),
     ValueError, r"'Add'.*\(2,\) and \(3,\) do not broadcast"),
    (lambda x, b, c: ops.add(x, None), TypeError, r"'Add'.*must be a Tensor or a number.*NoneType"),
    (lambda x, b, c: ops.sin("a"), TypeError, r"'Sin'.*must be a Tensor or a number"),
    (lambda x, b, c: ops.sub(b, b), TypeError, r"'Sub'.*Bool"),
    (lambda x, b, c: ops.neg(b), TypeError, r"'Neg'.*Bool"),
    (lambda x, b, c: ops.erf(c), TypeError, r"'Erf'.*Complex"),
    (lambda x, b, c: ops.sigmoid(c), TypeError, r"'Sigmoid'.*Complex"),
    (lambda x, b, c: ops.gelu(c), TypeError, r"'GeLU'.*Complex"),
    (lambda x, b, c: ops.softmax(c), TypeError, r"'Softmax'.*Complex"),
    (lambda x, b, c: ops.floor(c), TypeError, r"'Floor'.*Complex"),
    (lambda x, b, c: ops.maximum(c, c), TypeError, r"'Maximum'.*Complex"),
    (lambda x, b, c: ops.less(c, c), TypeError, r"'Less'.*must be real"),
    (lambda x, b, c: ops.less(x, 1j), TypeError, r"'Less'.*must be real"),
    (lambda x, b, c: ops.bitwise_and(x, x), TypeError, r"'BitwiseAnd'.*Float32"),
    (lambda x, b, c: ops.softmax(x, 1),
     ValueError, r"'Softmax'.*'axis' must be in range \[-1, 1\), but got 1"),
    (lambda x, b, c: ops.softmax(x, 0.5), TypeError, r"'Softmax'.*'axis' must be an int"),
    (lambda x, b, c: ops.clamp(x), ValueError, r"'Clamp'.*at least one of the bounds"),
    (lambda x, b, c: ops.div(x, x, rounding_mode="up"), ValueError, r"'Div'.*'rounding_mode'.*'up'"),
    (lambda x, b, c: ops.gelu(x, "erf"), ValueError, r"'GeLU'.*'approximate'"),
    (lambda x, b, c: ops.elu(x, "1"), TypeError, r"'Elu'.*'alpha' must be a float"),
    (lambda x, b, c: ops.softplus(x, 0), ValueError, r"'Softplus'.*'beta' must not be 0"),
    (lambda x, b, c: ops.glu(Tensor([1.0, 2.0, 3.0])), ValueError, r"'GLU'.*must be even"),
    (lambda x, b, c: ops.prelu(Tensor([[1.0, 2.0]]), Tensor([1.0] * 3)),
     ValueError, r"'PReLU'.*1 or 2 elements"),
    (lambda x, b, c: ops.round(x, decimals=1.5), TypeError, r"'Round'.*'decimals' must be an int"),
    (lambda x, b, c: ops.polygamma(-1, x), ValueError, r"'Polygamma'.*'n' must be at least 0"),
    (lambda x, b, c: ops.polygamma(1.0, x), TypeError, r"'Polygamma'.*'n' must be an int"),
    (lambda x, b, c: ops.mvlgamma(x, 0), ValueError, r"'Mvlgamma'.*'p' must be at least 1"),
    (lambda x, b, c: ops.addn(x), TypeError, r"'AddN'.*tuple or list"),
    (lambda x, b, c: ops.addn([]), ValueError, r"'AddN'.*at least one"),
    (lambda x, b, c: ops.addn([x, Tensor([1, 2])]), TypeError, r"'AddN'.*the same dtype"),
    (lambda x, b, c: ops.addn([x, Tensor([1.0])]), ValueError, r"'AddN'.*the same shape"),
    (lambda x, b, c: ops.isclose(x, x, rtol=-1.0), ValueError, r"'IsClose'.*'rtol' must not be negative"),
    (lambda x, b, c: ops.isclose(x, x, equal_nan=1), TypeError, r"'IsClose'.*'equal_nan' must be bool"),
    (lambda x, b, c: ops.add(Tensor([1], ms.uint8), -1), OverflowError, r"'Add'.*-1 does not fit.*UInt8"),
]  # fmt: skip


@pytest.mark.parametrize(("call", "kind", "words"), ERRORS)
def test_mistakes_are_errors_in_both_modes(call, kind, words):
    with pytest.raises(kind, match=words):
        call(X, B, C)
    with pytest.raises(kind, match=words):
        Compiled(call)(X, B, C)


# --- the guide's operators, to order four ------------------------------------------------------------


def _of_tan(x, order):
    polynomial = np.polynomial.Polynomial([0, 1])
    for _ in range(order):
        polynomial = polynomial.deriv() * np.polynomial.Polynomial([1, 0, 1])
    return polynomial(np.tan(x))


def _of_power(x, p, order):
    return math.prod(p - k for k in range(order)) * x ** (p - order)


def _of_log(x, order):
    return (-1) ** (order - 1) * math.factorial(order - 1) * x**-order


def _of_atanh(x, order):
    return math.factorial(order - 1) / 2 * ((1 - x) ** -order + (-1) ** (order - 1) * (1 + x) ** -order)


POINTS = np.array([0.3, 0.7, 0.9])
P = 2.6

GUIDE = {
    "Sin": (lambda x: ops.Sin()(x), lambda x, n: np.sin(x + n * math.pi / 2)),
    "Cos": (lambda x: ops.Cos()(x), lambda x, n: np.cos(x + n * math.pi / 2)),
    "Tan": (lambda x: ops.Tan()(x), _of_tan),
    "Exp": (lambda x: ops.Exp()(x), lambda x, n: np.exp(x)),
    "Log": (lambda x: ops.Log()(x), _of_log),
    "Sinh": (lambda x: ops.Sinh()(x), lambda x, n: (np.cosh if n % 2 else np.sinh)(x)),
    "Cosh": (lambda x: ops.Cosh()(x), lambda x, n: (np.sinh if n % 2 else np.cosh)(x)),
    "Atanh": (lambda x: ops.Atanh()(x), _of_atanh),
    "Square": (lambda x: ops.Square()(x), lambda x, n: _of_power(x, 2, n)),
    "Neg": (lambda x: ops.Neg()(x), lambda x, n: (-1.0 if n == 1 else 0.0) + 0 * x),
    "Mul": (lambda x: ops.Mul()(ops.Mul()(x, x), ops.Mul()(x, x)), lambda x, n: _of_power(x, 4, n)),
    "Div": (lambda x: ops.Div()(3.0, x), lambda x, n: 3 * _of_power(x, -1, n)),
    "Div numerator": (lambda x: ops.Div()(x, 3.0), lambda x, n: (1 / 3 if n == 1 else 0.0) + 0 * x),
    "Pow base": (lambda x: ops.Pow()(x, P), lambda x, n: _of_power(x, P, n)),
    "Pow whole": (lambda x: ops.Pow()(x, 3), lambda x, n: _of_power(x, 3, n)),
    "Pow exponent": (lambda x: ops.Pow()(P, x), lambda x, n: P**x * math.log(P) ** n),
    "Pow tensor": (lambda x: ops.Pow()(x, ops.add(ops.mul(x, 0.0), P)), lambda x, n: _of_power(x, P, n)),
}


def _orders(function, x):
    found = []
    for _ in range(4):
        function = ops.grad(function)
        found.append(function(x))
    return found


@pytest.mark.parametrize("name", GUIDE)
def test_the_guides_operators_to_order_four(name):
    function, formula = GUIDE[name]
    for order, found in enumerate(_orders(function, Tensor(POINTS)), 1):
        assert_close(found, formula(POINTS, order), kind="program", what=f"order {order}")


def test_the_guides_operators_to_order_four_compiled():
    x = Tensor(POINTS)
    compiled = Compiled(lambda x: {name: _orders(function, x) for name, (function, _) in GUIDE.items()})
    for name, orders in compiled(x).items():
        for order, found in enumerate(orders, 1):
            assert_close(found, GUIDE[name][1](POINTS, order), kind="program", what=name)


def test_matmul_to_order_four():
    """Along a line X + tV, the sum of X³ is a polynomial of degree 3 in t."""
    x, v = RNG.normal(size=(2, 3, 3))

    def along(t):
        m = ops.add(Tensor(x), ops.mul(t, Tensor(v)))
        return ops.reduce_sum(ops.MatMul()(ops.MatMul()(m, m), m))

    def coefficient(count):
        total = 0.0
        for which in np.ndindex(2, 2, 2):
            if sum(which) == count:
                total += np.linalg.multi_dot([v if each else x for each in which]).sum()
        return total

    t = Tensor(np.array(0.0))
    wanted = [math.factorial(order) * coefficient(order) if order < 4 else 0.0 for order in (1, 2, 3, 4)]
    for found in (_orders(along, t), Compiled(lambda t: _orders(along, t))(t)):
        assert_close([each.item() for each in found], wanted, kind="program")


def test_orders_and_decimals_accept_numpy_integers():
    x = Tensor(np.array([2.26, 3.0], np.float32))
    one = np.int64(1)
    np.testing.assert_array_equal(ops.round(x, decimals=one).asnumpy(), ops.round(x, decimals=1).asnumpy())
    np.testing.assert_array_equal(ops.polygamma(one, x).asnumpy(), ops.polygamma(1, x).asnumpy())
    np.testing.assert_array_equal(ops.mvlgamma(x, one).asnumpy(), ops.mvlgamma(x, 1).asnumpy())
