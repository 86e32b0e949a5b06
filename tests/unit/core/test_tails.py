"""Logarithms of probabilities far out in the tails of distributions, and their derivatives, against mpmath."""

import mpmath
import numpy as np
import pytest

import mindgrad as ms
from mindgrad import Tensor, ops
from mindgrad.nn.probability import bijector
from mindgrad.nn.probability import distribution as dist
from tests.laws import series
from tests.tolerances import assert_close

mp = mpmath.mp


def below(z):
    """Φ(z)."""
    return series.erfc(-z / mp.sqrt(2)) / 2


def softplus(x):
    return series.log1p(series.exp(x))


def atan2_of_one(x):
    """The angle of the point (x, 1)."""
    return series.solved(mp.atan2(1, x.value), lambda y: -1 / (1 + x * x), x)


F64 = {"dtype": ms.float64}
#: (distribution, exact function of the value, method, values)
CASES = {
    "normal_log_cdf": (
        dist.Normal(1.0, 2.0, **F64), lambda x: series.log(below((x - 1) / 2)), "log_cdf",
        [-1e4, -400.0, -75.0, -9.0, 0.5, 1.5, 9.0, 30.0],
    ),
    "normal_log_survival": (
        dist.Normal(1.0, 2.0, **F64), lambda x: series.log(below((1 - x) / 2)), "log_survival",
        [-30.0, 0.5, 1.5, 9.0, 75.0, 400.0, 1e4],
    ),
    "log_normal_log_cdf": (
        dist.LogNormal(0.0, 0.5, **F64), lambda x: series.log(below(2 * series.log(x))), "log_cdf", [1e-30, 1e-5, 1.0, 9.0],
    ),
    "log_normal_log_survival": (
        dist.LogNormal(0.0, 0.5, **F64), lambda x: series.log(below(-2 * series.log(x))), "log_survival", [0.1, 2.0, 1e9],
    ),
    "logistic_log_cdf": (
        dist.Logistic(0.0, 1.0, **F64), lambda x: -softplus(-x), "log_cdf", [-900.0, -40.0, 0.5, 40.0],
    ),
    "exponential_log_cdf": (
        dist.Exponential(2.0, **F64), lambda x: series.log(1 - series.exp(-2 * x)), "log_cdf", [1e-90, 1e-9, 0.3, 0.4, 60.0],
    ),
    "gumbel_log_survival": (
        dist.Gumbel(0.0, 1.0, **F64), lambda x: series.log(1 - series.exp(-series.exp(-x))), "log_survival",
        [-6.0, -2.0, 0.5, 0.7, 3.0, 36.0, 90.0],
    ),
    "gamma_log_survival": (
        dist.Gamma(2.0, 1.0, **F64), lambda x: series.log(1 + x) - x, "log_survival", [1e-3, 0.5, 3.0, 20.0],
    ),
    "gamma_log_cdf": (
        dist.Gamma(2.0, 1.0, **F64), lambda x: series.log(1 - (1 + x) * series.exp(-x)), "log_cdf", [1e-90, 1e-9, 0.5, 3.0, 20.0],
    ),
    "beta_log_cdf": (
        dist.Beta(2.0, 3.0, **F64), lambda x: 2 * series.log(x) + series.log(6 - 8 * x + 3 * x * x), "log_cdf",
        [1e-90, 1e-9, 0.3, 0.75],
    ),
    "beta_log_survival": (
        dist.Beta(2.0, 3.0, **F64), lambda x: 3 * series.log(1 - x) + series.log(1 + 3 * x), "log_survival",
        [1e-3, 0.3, 0.75, 1 - 2.0**-40],
    ),
    "cauchy_log_cdf": (
        dist.Cauchy(0.0, 1.0, **F64), lambda x: series.log(atan2_of_one(-x) / mp.pi), "log_cdf", [-1e200, -1e9, -2.0, 2.0, 1e9],
    ),
    "cauchy_log_survival": (
        dist.Cauchy(0.0, 1.0, **F64), lambda x: series.log(atan2_of_one(x) / mp.pi), "log_survival", [-1e9, -2.0, 2.0, 1e200],
    ),
    "cauchy_log_prob": (
        dist.Cauchy(0.0, 1.0, **F64), lambda x: -series.log(mp.pi * (1 + x * x)), "log_prob", [-1e200, 1e-9, 0.5, 3.0, 1e200],
    ),
    "student_log_prob": (
        dist.StudentT(3.0, 0.0, 1.0, **F64),
        lambda x: mp.log(2 / (mp.pi * mp.sqrt(3))) - 2 * series.log(1 + x * x / 3), "log_prob", [-1e90, 0.5, 2.5],
    ),
    "uniform_log_survival": (
        dist.Uniform(0.0, 1.0, **F64), lambda x: series.log(1 - x), "log_survival", [1e-30, 0.25, 0.5, 1 - 2.0**-50],
    ),
    "transformed_log_cdf": (
        dist.TransformedDistribution(bijector.Exp(), dist.Normal(0.0, 1.0, **F64)), lambda x: series.log(below(series.log(x))),
        "log_cdf", [1e-30, 0.5, 2.0],
    ),
}  # fmt: skip


@pytest.mark.parametrize("compile", [lambda f: f, ms.jit], ids=["eager", "jit"])
@pytest.mark.parametrize("case", CASES)
def test_log_probability_in_tails_equals_mpmath(case, compile):
    """Value and derivatives of orders 1 to 3."""
    distribution, exact, method, values = CASES[case]
    x = Tensor(np.array(values))

    def derivative(order):
        function = getattr(distribution, method)
        for _ in range(order):
            function = (lambda inner: lambda x: ms.grad(lambda x: inner(x).sum())(x))(function)
        return function

    found = compile(lambda x: [derivative(k)(x) for k in range(4)])(x)
    for k, at in enumerate(values):
        with mp.workdps(900):  # probabilities next to 1 differ from it by very little
            right = exact(series.variable(at)).derivatives()
        for order, y in enumerate(found):
            value = y.asnumpy()[k]
            within = (1e-11 if order < 3 else 1e-8) * abs(right[order]) + mp.mpf(10) ** -300
            assert abs(float(value) - right[order]) <= within, (
                f"order {order} at {at}: {value}, right {mp.nstr(right[order], 17)}"
            )


def log_gamma_tails(which):
    ends = (lambda x: (x, mp.inf)) if which == "log_survival" else (lambda x: (0, x))
    return lambda x, c, rate: mp.log(mp.gammainc(c, *ends(rate * x), regularized=True))


def log_poisson_tails(which):
    other = log_gamma_tails("log_cdf" if which == "log_survival" else "log_survival")
    return lambda n, rate: other(rate, n + 1, mp.mpf(1))


def log_beta_tails(which):
    if which == "log_survival":
        return lambda x, a, b: mp.log(mp.betainc(b, a, 0, 1 - x, regularized=True))
    return lambda x, a, b: mp.log(mp.betainc(a, b, 0, x, regularized=True))


@pytest.mark.parametrize("compile", [lambda f: f, ms.jit], ids=["eager", "jit"])
@pytest.mark.parametrize("dtype", [ms.float32, ms.float64], ids=str)
@pytest.mark.parametrize(
    ("kind", "exact", "method", "arguments"),
    [
        (dist.Gamma, log_gamma_tails, "log_survival", [(120.0, 2.0, 1.0), (2000.0, 3.5, 1.0), (3.0, 0.25, 2.0), (800.0, 900.0, 1.0)]),
        (dist.Gamma, log_gamma_tails, "log_cdf", [(1e-25, 2.0, 1.0), (1e-6, 30.0, 1.0), (0.5, 0.25, 1.0), (9.0, 2.0, 0.5)]),
        (dist.Poisson, log_poisson_tails, "log_survival", [(200.0, 1.0), (0.0, 1e-20), (3.0, 5.0)]),
        (dist.Poisson, log_poisson_tails, "log_cdf", [(3.0, 300.0), (0.0, 150.0), (20.0, 5.0)]),
        (dist.Beta, log_beta_tails, "log_cdf", [(1e-25, 2.0, 3.0), (2.0**-10, 60.0, 3.0), (0.25, 300.0, 400.0), (0.75, 2.0, 3.0)]),
        (dist.Beta, log_beta_tails, "log_survival", [(1 - 2.0**-20, 2.0, 30.0), (0.75, 300.0, 400.0), (2.0**-7, 0.25, 0.5)]),
    ],
)  # fmt: skip
def test_log_probability_where_it_underflows_equals_mpmath(kind, exact, method, arguments, dtype, compile):
    """Values, and slopes by the value and by every parameter; slopes by a count are left out."""
    exact = exact(method)
    first = 1 if kind is dist.Poisson else 0
    function = compile(
        ms.value_and_grad(
            lambda *xs: getattr(kind(dtype=dtype), method)(*xs).sum(), tuple(range(first, len(arguments[0])))
        )
    )
    for each in arguments:
        xs = [Tensor(x, dtype) for x in each]
        value, slopes = function(*xs)
        at = [mp.mpf(float(x)) for x in xs]
        with mp.workdps(60):
            step = mp.mpf(10) ** -20
            right = [exact(*at)]
            for k in range(first, len(at)):
                moved = [[x * (1 + sign * step * (k == i)) for i, x in enumerate(at)] for sign in (1, -1)]
                right.append((exact(*moved[0]) - exact(*moved[1])) / (2 * step * at[k]))
        slopes = slopes if isinstance(slopes, tuple) else [slopes]
        for ours, wanted in zip([value, *slopes], right, strict=True):
            within = (1e-12 if dtype is ms.float64 else 1e-5) * abs(wanted)
            assert abs(float(ours) - wanted) <= within, f"{each}: {float(ours)}, right {mp.nstr(wanted, 17)}"


@pytest.mark.parametrize("compile", [lambda f: f, ms.jit], ids=["eager", "jit"])
def test_log_probability_at_ends_of_gamma_poisson_and_beta_is_that_of_zero_or_one(compile):
    gamma, poisson, beta = dist.Gamma(2.0, 1.0), dist.Poisson(2.0), dist.Beta(2.0, 3.0)
    for distribution, below, above in (
        (gamma, [-1.0, 0.0], [np.inf]),
        (poisson, [-1.0], []),
        (beta, [-1.0, 0.0], [1.0, 2.0]),
    ):
        for x in below:
            assert compile(distribution.log_cdf)(Tensor([x])).item() == -np.inf
            assert compile(distribution.log_survival)(Tensor([x])).item() == 0
        for x in above:
            assert compile(distribution.log_cdf)(Tensor([x])).item() == 0
            assert compile(distribution.log_survival)(Tensor([x])).item() == -np.inf


@pytest.mark.parametrize("z", [-1e4, -100.0, -15.0, -5.0, 5.0])
def test_normal_log_cdf_in_float32_has_a_slope_at_any_distance(z):
    normal = dist.Normal(0.0, 1.0)
    slope = ms.grad(lambda x: normal.log_cdf(x).sum())(Tensor([z])).item()
    with mp.workdps(60):
        right = -z if z < -1000 else series.log(below(series.variable(z))).derivatives()[1]
    assert abs(slope / float(right) - 1) < 2e-6


def test_small_probabilities_of_failure_are_not_rounded_to_zero():
    p = Tensor([1e-12])
    assert abs(dist.Bernoulli().log_prob(Tensor([0.0]), p).item() / -1e-12 - 1) < 1e-6
    assert abs(dist.Geometric().log_prob(Tensor([1e6]), p).item() / (np.log(1e-12) - 1e-6) - 1) < 1e-6
    assert abs(dist.Geometric().cdf(Tensor([0.0]), p).item() / 1e-12 - 1) < 1e-6
    assert abs(dist.Geometric().log_survival(Tensor([9.0]), p).item() / -1e-11 - 1) < 1e-6


def test_softplus_bijector_inverts_large_and_small_values():
    softplus = bijector.Softplus()
    y = Tensor([1e-20, 1.0, 60.0])
    x = softplus.inverse(y).asnumpy()
    assert_close(x, [np.log(1e-20), np.log(np.expm1(1.0)), 60.0])
    slope = ms.grad(lambda y: softplus.inverse_log_jacobian(y).sum())(Tensor([60.0]))
    assert_close(slope, [-np.exp(-60.0)])


@pytest.mark.parametrize(
    "function", [ops.softsign, ops.tanh, ops.sigmoid, ops.atan, ops.tanhshrink, ops.exp2]
)
def test_activations_keep_slopes_at_infinity_finite(function):
    slope = ms.grad(lambda x: function(x).sum())(Tensor([-np.inf, np.inf])).asnumpy()
    expected = {"exp2": [0.0, np.inf], "tanhshrink": [1.0, 1.0]}.get(function.__name__, [0.0, 0.0])
    np.testing.assert_array_equal(slope, expected)


@pytest.mark.parametrize(
    ("density", "x", "slope"),
    [
        (dist.Beta(1.0, 3.0), 1.0, 0.0),
        (dist.Beta(1.0, 2.0), 1.0, -2.0),
        (dist.Beta(2.0, 2.0), 0.0, 6.0),
        (dist.Gamma(2.0, 1.5), 0.0, 2.25),
        (dist.Gamma(3.0, 1.0), 0.0, 0.0),
        (dist.Gamma(1.0, 2.0), 0.0, -4.0),
    ],
)
def test_the_slope_of_a_density_at_its_edge_is_finite(density, x, slope):
    for way in (lambda function: function, ms.jit):
        gradient = way(ms.grad(lambda v: density.prob(v).sum()))(Tensor(np.array([x])))
        assert_close(gradient, [slope], kind="program")


@pytest.mark.parametrize("compile", [lambda f: f, ms.jit], ids=["eager", "jit"])
@pytest.mark.parametrize("order", [1, 2, 3])
@pytest.mark.parametrize(
    ("function", "slope"),
    [(lambda x: ops.gelu(x, "tanh"), (1, 0)), (ops.gelu, (1, 0)), (ops.erf, (0, 0)), (ops.erfc, (0, 0))],
    ids=["gelu_tanh", "gelu", "erf", "erfc"],
)
def test_derivatives_in_float16_are_finite_where_a_square_overflows(function, slope, order, compile):
    derivative = function
    for _ in range(order):
        derivative = ms.grad(lambda x, f=derivative: f(x).sum())
    x = Tensor([300.0, 3e4, -300.0, -3e4], ms.float16)
    right = np.repeat(slope if order == 1 else (0, 0), 2)
    assert np.array_equal(compile(derivative)(x).asnumpy(), right)
