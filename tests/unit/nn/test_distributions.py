"""Distributions and bijectors: against scipy.stats, derivatives, samples, and one another."""

import numpy as np
import pytest
import scipy

import mindgrad as ms
from mindgrad import Tensor, ops
from mindgrad.nn.probability import bijector as msb
from mindgrad.nn.probability import distribution as msd
from tests.tolerances import assert_close

both_modes = pytest.mark.parametrize("run", [lambda f: f, ms.jit], ids=["eager", "compiled"])
X = np.array([0.2, 0.5, 0.9, 1.7, 3.1])
COUNTS = np.array([0.0, 1.0, 2.0, 5.0])
F64 = ms.float64

#: ours, scipy's, values, other parameters for the divergence
CASES = {
    "Normal": (msd.Normal(0.3, 1.2, dtype=F64), lambda: scipy.stats.norm(0.3, 1.2), X - 1, (0.1, 0.9)),
    "LogNormal": (
        msd.LogNormal(0.3, 0.7, dtype=F64),
        lambda: scipy.stats.lognorm(0.7, scale=np.exp(0.3)),
        X,
        (0.1, 0.9),
    ),
    "Uniform": (msd.Uniform(0.1, 2.0, dtype=F64), lambda: scipy.stats.uniform(0.1, 1.9), X, (-0.5, 2.5)),
    "Logistic": (msd.Logistic(0.3, 1.2, dtype=F64), lambda: scipy.stats.logistic(0.3, 1.2), X - 1, None),
    "Gumbel": (msd.Gumbel(0.3, 1.2, dtype=F64), lambda: scipy.stats.gumbel_r(0.3, 1.2), X - 1, (0.1, 0.9)),
    "Cauchy": (msd.Cauchy(0.3, 1.2, dtype=F64), lambda: scipy.stats.cauchy(0.3, 1.2), X - 1, (0.1, 0.9)),
    "HalfNormal": (msd.HalfNormal(0.3, 1.2, dtype=F64), lambda: scipy.stats.halfnorm(0.3, 1.2), X, None),
    "Laplace": (msd.Laplace(0.3, 1.2, dtype=F64), lambda: scipy.stats.laplace(0.3, 1.2), X - 1, None),
    "StudentT": (msd.StudentT(2.5, 0.3, 1.2, dtype=F64), lambda: scipy.stats.t(2.5, 0.3, 1.2), X - 1, None),
    "Exponential": (msd.Exponential(1.7, dtype=F64), lambda: scipy.stats.expon(scale=1 / 1.7), X, (0.6,)),
    "Gamma": (msd.Gamma(2.5, 1.7, dtype=F64), lambda: scipy.stats.gamma(2.5, scale=1 / 1.7), X, (1.5, 0.9)),
    "Beta": (msd.Beta(2.5, 1.7, dtype=F64), lambda: scipy.stats.beta(2.5, 1.7), X[:3], (1.5, 3.1)),
    "Bernoulli": (msd.Bernoulli(0.3, dtype=F64), lambda: scipy.stats.bernoulli(0.3), COUNTS[:2], (0.6,)),
    "Geometric": (msd.Geometric(0.3, dtype=F64), lambda: scipy.stats.geom(0.3, loc=-1), COUNTS, (0.6,)),
    "Poisson": (msd.Poisson(2.3, dtype=F64), lambda: scipy.stats.poisson(2.3), COUNTS, (1.1,)),
}
DISCRETE = ("Bernoulli", "Geometric", "Poisson")
#: what MindSpore has no formula for either
WITHOUT = {
    "cdf": ("HalfNormal", "Laplace", "StudentT"),
    "moments": ("Cauchy", "HalfNormal", "Laplace", "StudentT"),
    "entropy": ("HalfNormal", "Laplace", "StudentT", "Poisson"),
}


def case(name):
    """The line of the table, with scipy's distribution, whose module is imported for the tests that run."""
    ours, theirs, x, other = CASES[name]
    return ours, theirs(), x, other


def close(ours, expected, kind="law"):
    assert_close(ours, expected, kind, each=True)


@both_modes
@pytest.mark.parametrize("name", CASES)
def test_densities_are_those_of_scipy(name, run):
    ours, theirs, x, _ = case(name)
    log = theirs.logpmf(x) if name in DISCRETE else theirs.logpdf(x)
    close(run(ours.log_prob)(Tensor(x)), log)
    close(run(ours.prob)(Tensor(x)), np.exp(log))
    if name in WITHOUT["cdf"]:
        with pytest.raises(NotImplementedError, match="method 'cdf' is not implemented"):
            ours.cdf(Tensor(x))
        return
    close(run(ours.cdf)(Tensor(x)), theirs.cdf(x))
    close(run(ours.survival_function)(Tensor(x)), theirs.sf(x))
    inner = theirs.sf(x) > 0
    close(run(ours.log_cdf)(Tensor(x[inner])), theirs.logcdf(x[inner]))
    close(run(ours.log_survival)(Tensor(x[inner])), theirs.logsf(x[inner]))


@pytest.mark.parametrize("name", sorted(set(CASES) - set(WITHOUT["moments"])))
def test_moments_are_those_of_scipy(name):
    ours, theirs, _, _ = case(name)
    close(ours.mean(), theirs.mean())
    close(ours.var(), theirs.var())
    close(ours.sd(), theirs.std())
    if name not in WITHOUT["entropy"]:
        terms = name == "Geometric"  # SciPy adds up a truncated series
        np.testing.assert_allclose(ours.entropy().asnumpy(), theirs.entropy(), rtol=1e-6 if terms else 1e-10)


@pytest.mark.parametrize("name", [name for name, case in CASES.items() if case[3] is not None])
def test_divergences_are_the_means_of_differences(name):
    ours, theirs, _, other = case(name)
    second = type(ours)(*other, dtype=F64)
    if name in DISCRETE:
        x = np.arange(2.0 if name == "Bernoulli" else 200.0)
        weights = theirs.pmf(x)
    else:
        shares = (np.arange(400000) + 0.5) / 400000
        x, weights = theirs.ppf(shares), np.full(400000, 1 / 400000)
    values = ours.log_prob(Tensor(x)).asnumpy(), second.log_prob(Tensor(x)).asnumpy()
    expected = float(weights @ (values[0] - values[1]))
    args = [Tensor(number, F64) for number in other]
    assert ours.kl_loss(name, *args).item() == pytest.approx(expected, rel=2e-3, abs=1e-5)
    if name not in WITHOUT["entropy"]:
        crossed = ours.cross_entropy(name, *args).item()
        assert crossed == pytest.approx(float(-weights @ values[1]), rel=2e-3)
    names = dict(zip([f"{key}_b" for key in ours.parameter_names], args, strict=True))
    assert ours.kl_loss(name, **names).item() == ours.kl_loss(name, *args).item()
    with pytest.raises(ValueError, match="second distribution"):
        ours.kl_loss("Other", *args)


@pytest.mark.parametrize("name", CASES)
def test_the_mode_has_the_greatest_density(name):
    ours, theirs, _, _ = case(name)
    if name in ("Uniform", "HalfNormal", "Laplace", "StudentT"):
        with pytest.raises(NotImplementedError, match="method 'mode' is not implemented"):
            ours.mode()
        return
    mode = ours.mode().item()
    near = [mode - 1, mode + 1] if name in DISCRETE else [mode - 1e-3, mode + 1e-3]
    density = theirs.pmf if name in DISCRETE else theirs.pdf
    assert all(density(mode) >= density(x) for x in near)


@pytest.mark.parametrize("name", CASES)
def test_samples_follow_the_distribution(name):
    ms.set_seed(3)
    ours, theirs, _, _ = case(name)
    if name in ("HalfNormal", "Laplace", "StudentT"):
        with pytest.raises(NotImplementedError, match="method 'sample' is not implemented"):
            ours.sample((2,))
        return
    x = ours.sample((4000,)).asnumpy()
    assert x.shape == (4000,)
    if name in DISCRETE:
        numbers, counts = np.unique(x, return_counts=True)
        np.testing.assert_allclose(counts / 4000, theirs.pmf(numbers), atol=0.03)
    else:
        assert scipy.stats.kstest(x, theirs.cdf).pvalue > 1e-3


# --- derivatives ----------------------------------------------------------------------------------------


@both_modes
@pytest.mark.parametrize("name", CASES)
def test_derivatives_of_log_densities(name, run):
    ours, _, x, _ = CASES[name]
    if name in ("Uniform", "HalfNormal"):
        x = x[(x > 0.3) & (x < 2.0)]  # outside the logarithm is −∞
    args = [getattr(ours, f"_{key}_value").asnumpy() for key in ours.parameter_names]
    position = len(args)

    def function(*args):
        return ours.log_prob(Tensor(x), *args).sum()

    def plain(number):
        changed = [Tensor(number if k + 1 == position else arg, F64) for k, arg in enumerate(args)]
        return function(*changed).item()

    at, step = float(args[position - 1]), 1e-4
    first = (plain(at + step) - plain(at - step)) / (2 * step)
    second = (plain(at + step) - 2 * plain(at) + plain(at - step)) / step**2
    tensors = [Tensor(arg, F64) for arg in args]
    slope = ms.grad(function, position - 1)
    assert_close(run(slope)(*tensors), first, kind="difference", order=1, scale=0.1)
    assert_close(run(ms.grad(slope, position - 1))(*tensors), second, kind="difference", order=2, scale=1)


@pytest.mark.parametrize(
    "name", ["Normal", "LogNormal", "Uniform", "Logistic", "Gumbel", "Cauchy", "Exponential"]
)
def test_gradients_flow_through_samples(name):
    ours = CASES[name][0]
    args = [Tensor(getattr(ours, f"_{key}_value").asnumpy() * 1.0, F64) for key in ours.parameter_names]

    def function(*args):
        ms.set_seed(1)
        return ours.sample((3,), *args).sum()

    for position in range(len(args)):
        actual = ms.grad(function, position)(*args).item()
        step = 1e-6
        moved = [
            function(*[arg + sign * step if k == position else arg for k, arg in enumerate(args)]).item()
            for sign in (1, -1)
        ]
        assert_close(actual, (moved[0] - moved[1]) / (2 * step), kind="difference")


def test_gradients_outside_of_the_support_are_numbers():
    for ours in (msd.LogNormal(0.0, 1.0), msd.Exponential(2.0), msd.Geometric(0.3), msd.Poisson(2.0)):
        gradient = ms.grad(lambda p, ours=ours: ours.prob(Tensor([-1.0, 1.0]), p).sum())(Tensor(0.5))
        assert np.isfinite(gradient.asnumpy())


# --- categories -----------------------------------------------------------------------------------------


@both_modes
def test_categories(run):
    probs = np.array([[0.2, 0.3, 0.5], [0.6, 0.3, 0.1]])
    ours = msd.Categorical(probs, dtype=ms.int32)
    assert ours.batch_shape == (2,)
    close(run(ours.prob)(Tensor([2, 0])), [0.5, 0.6], "elementwise")
    close(run(ours.cdf)(Tensor([1, 0])), [0.5, 0.6], "elementwise")
    close(ours.mean(), probs @ [0, 1, 2], "elementwise")
    close(ours.var(), probs @ [0, 1, 4] - (probs @ [0, 1, 2]) ** 2, "elementwise")
    close(ours.entropy(), -(probs * np.log(probs)).sum(-1), "elementwise")
    assert ours.mode().asnumpy().tolist() == [2, 0]
    other = Tensor(probs[::-1].copy(), ms.float32)
    close(ours.kl_loss("Categorical", other), (probs * np.log(probs / probs[::-1])).sum(-1), "program")
    assert np.isnan(ours.prob(Tensor([3, -1])).asnumpy()).all()
    ms.set_seed(2)
    x = ours.sample((4000,)).asnumpy()
    assert x.shape == (4000, 2)
    assert x.dtype == np.int32
    for column in range(2):
        np.testing.assert_allclose(np.bincount(x[:, column], minlength=3) / 4000, probs[column], atol=0.03)


# --- arguments ------------------------------------------------------------------------------------------


def test_parameters_may_be_given_in_the_call():
    x = Tensor([0.5])
    bare = msd.Normal(dtype=ms.float32)
    with pytest.raises(TypeError, match=r"'mean' was not passed .* Pass it to 'log_prob'"):
        bare.log_prob(x)
    close(bare.log_prob(x, Tensor(1.0), Tensor(2.0)), scipy.stats.norm(1, 2).logpdf([0.5]), "elementwise")
    close(
        bare.log_prob(x, sd=Tensor(2.0), mean=Tensor(1.0)),
        scipy.stats.norm(1, 2).logpdf([0.5]),
        "elementwise",
    )
    assert bare.batch_shape is None
    assert msd.Normal(np.zeros(3), 1.0).batch_shape == (3,)
    assert bare.sample((2,), Tensor([0.0, 1.0]), Tensor(1.0)).shape == (2, 2)
    close(msd.Normal(0.0, 1.0)("cdf", x), scipy.stats.norm.cdf([0.5]), "elementwise")


def test_mistakes():
    with pytest.raises(ValueError, match="'sd' must be above 0"):
        msd.Normal(0.0, -1.0)
    with pytest.raises(ValueError, match=r"'probs' must be in \[0, 1\]"):
        msd.Bernoulli(1.5)
    with pytest.raises(TypeError, match="'dtype' must be a floating-point type"):
        msd.Normal(0.0, 1.0, dtype=ms.int32)
    with pytest.raises(TypeError, match="'value' must be a Tensor"):
        msd.Normal(0.0, 1.0).prob(1.0)
    with pytest.raises(TypeError, match="'seed' must be"):
        msd.Normal(0.0, 1.0, seed=-1)
    with pytest.raises(ValueError, match="not defined"):
        msd.Cauchy(0.0, 1.0).mean()


def test_parameters_of_a_distribution_are_trained():
    class Net(ms.nn.Cell):
        def __init__(self):
            super().__init__()
            self.mean = ms.Parameter(Tensor(0.0), name="mean")
            self.normal = msd.Normal(dtype=ms.float32)

        def construct(self, x):
            return -self.normal.log_prob(x, self.mean, Tensor(1.0)).sum()

    net = Net()
    for mode in (ms.PYNATIVE_MODE, ms.GRAPH_MODE):
        ms.set_context(mode=mode)
        try:
            (gradient,) = ms.grad(net, None, net.trainable_params())(Tensor([1.0, 3.0]))
        finally:
            ms.set_context(mode=ms.PYNATIVE_MODE)
        assert gradient.item() == -4.0


# --- bijectors ------------------------------------------------------------------------------------------

BIJECTORS = [
    msb.Exp(), msb.PowerTransform(0.5), msb.PowerTransform(0.0), msb.ScalarAffine(-2.0, 1.0), msb.Softplus(2.0),
    msb.GumbelCDF(1.0, 2.0), msb.Invert(msb.Exp()), msb.Invert(msb.GumbelCDF()),
]  # fmt: skip


@both_modes
@pytest.mark.parametrize("function", BIJECTORS, ids=lambda each: each.name)
def test_bijectors_have_inverses_and_slopes(function, run):
    x = Tensor([0.3, 0.5, 0.8], F64)
    y = run(function.forward)(x)
    close(run(function.inverse)(y), x.asnumpy())
    slope = np.abs(ms.grad(lambda x: function.forward(x).sum())(x).asnumpy())
    close(run(function.forward_log_jacobian)(x), np.log(slope))
    close(run(function.inverse_log_jacobian)(y), -np.log(slope))
    close(function("forward", x), y.asnumpy())


@both_modes
def test_transformed_distributions(run):
    ours = msd.TransformedDistribution(msb.Exp(), msd.Normal(0.3, 0.7, dtype=F64))
    same = msd.LogNormal(0.3, 0.7, dtype=F64)
    for method in ("log_prob", "prob", "cdf", "survival_function"):
        close(run(getattr(ours, method))(Tensor(X)), getattr(same, method)(Tensor(X)).asnumpy())
    with pytest.raises(NotImplementedError, match="method 'mean' is not implemented"):
        ours.mean()
    moved = msb.ScalarAffine(2.0, 1.0)(msd.Normal(0.3, 0.7, dtype=F64))
    close(moved.mean(), 1.6)
    close(moved.entropy(), scipy.stats.norm(0, 1.4).entropy())
    close(moved.log_prob(Tensor(X)), scipy.stats.norm(1.6, 1.4).logpdf(X))
    assert moved.sample((5,)).shape == (5,)
    assert (
        ops.grad(lambda m: moved.log_prob(Tensor(X), m, Tensor(0.7, F64)).sum())(Tensor(0.3, F64)).shape == ()
    )


@both_modes
def test_a_bijector_of_a_programs_own_passes_its_locals(run):
    """``param = dict(locals())``, with or without the parameters in ``param["param"]``."""

    class Tanh(msb.Bijector):
        def __init__(self, reduce_axis=None, name="Tanh"):
            param = dict(locals())
            super().__init__(name=name, param=param)
            self.reduce_axis = reduce_axis

        def _forward(self, x):
            return ops.tanh(x)

        def _forward_log_jacobian(self, x):
            return ops.log(1 - ops.tanh(x) ** 2)

    class Scale(msb.Bijector):
        def __init__(self, scale=2.0, name="Scale"):
            param = dict(locals())
            param["param"] = {"scale": scale}
            super().__init__(True, name=name, param=param)

        def _forward(self, x):
            return self._scale * x

    tanh, scale = Tanh(-1), Scale(3.0)
    assert tanh.parameters == {"reduce_axis": -1, "name": "Tanh"}
    x = Tensor([0.5, -1.0])
    assert_close(run(lambda x: tanh.forward(x))(x), np.tanh([0.5, -1.0]))
    assert_close(run(lambda x: scale.forward(x))(x), [1.5, -3.0])
    with pytest.raises(TypeError, match="'scale' must be a number"):
        Scale("wide")
