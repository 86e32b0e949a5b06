"""Laplace approximations against closed forms and dense formulas."""

import numpy as np
import pytest
from scipy.stats import multivariate_normal

import mindgrad as ms
from mindgrad import Tensor, curvature, nn, ops
from tests.tolerances import assert_close

random = np.random.default_rng(0)
X, Y = random.standard_normal((9, 3)), random.standard_normal((9, 1))
NEW = random.standard_normal((4, 3))
TAU, SIGMA = 0.7, 0.4


def linear(w, x):
    return x @ w


def fitted(tau=TAU, sigma=SIGMA):
    """Return the covariance and the mean of the exact posterior."""
    covariance = np.linalg.inv(X.T @ X / sigma**2 + tau * np.eye(3))
    return covariance, covariance @ X.T @ Y / sigma**2


def regression(structure="gauss_newton", loss="squared_error", **options):
    data = (Tensor(X), Tensor(Y))
    return curvature.laplace(linear, loss, data, Tensor(fitted()[1]), structure, TAU, SIGMA, **options)


class TestLinearRegression:
    def test_predictive_equals_the_exact_posterior(self):
        covariance, mean = fitted()
        found, variance = regression().predictive(Tensor(NEW))
        assert_close(found.asnumpy(), NEW @ mean, "ill-conditioned")
        expected = np.einsum("ni,ij,nj->n", NEW, covariance, NEW)[:, None] + SIGMA**2
        assert_close(variance.asnumpy(), expected, "ill-conditioned")

    def test_marginal_likelihood_equals_the_exact_evidence(self):
        evidence = multivariate_normal(cov=SIGMA**2 * np.eye(9) + X @ X.T / TAU).logpdf(Y.ravel())
        posterior = regression()
        assert float(posterior.log_marginal_likelihood()) == pytest.approx(evidence)
        given = posterior.log_marginal_likelihood(prior_precision=TAU, noise=SIGMA)
        assert float(given) == pytest.approx(evidence)

    def test_log_determinant_equals_the_determinant_of_the_precision(self):
        expected = -np.linalg.slogdet(fitted()[0])[1]
        assert float(regression().log_determinant()) == pytest.approx(expected)

    @pytest.mark.parametrize("name", ["log_marginal_likelihood", "log_determinant"])
    def test_gradients_equal_finite_differences(self, name):
        function = getattr(regression(), name)
        found = ms.grad(function, (0, 1))(*[Tensor(np.float64(v)) for v in (TAU, SIGMA)])
        step = 1e-6
        values = [
            float(function(TAU + dt, SIGMA + ds)) for dt, ds in ((step, 0), (-step, 0), (0, step), (0, -step))
        ]
        for k in (0, 1):
            expected = (values[2 * k] - values[2 * k + 1]) / (2 * step)
            assert float(found[k]) == pytest.approx(expected)

    def test_gradient_by_the_prior_precision_equals_the_formula(self):
        covariance, mean = fitted()
        found = ms.grad(regression().log_marginal_likelihood)(Tensor(np.float64(TAU)))
        expected = 0.5 * (3 / TAU - float((mean**2).sum()) - np.trace(covariance))
        assert float(found) == pytest.approx(expected)

    def test_assigned_hyperparameters_are_used(self):
        posterior = regression()
        posterior.prior_precision, posterior.noise = 2.0, Tensor(0.5, ms.float64)
        expected = -np.linalg.slogdet(fitted(2.0, 0.5)[0])[1]
        assert float(posterior.log_determinant()) == pytest.approx(expected)
        variance = posterior.predictive(Tensor(NEW))[1].asnumpy()
        expected = np.einsum("ni,ij,nj->n", NEW, fitted(2.0, 0.5)[0], NEW)[:, None] + 0.25
        assert_close(variance, expected, "ill-conditioned")

    def test_batches_losses_and_data_sets_have_equal_posteriors(self):
        expected = float(regression().log_marginal_likelihood())
        batches = [(Tensor(X[:4]), Tensor(Y[:4])), (Tensor(X[4:]), Tensor(Y[4:]))]
        dataset = ms.dataset.NumpySlicesDataset((X, Y), column_names=["x", "y"], shuffle=False).batch(3)
        w = Tensor(fitted()[1])
        for loss, data in ((nn.MSELoss(), batches), (ops.mse_loss, dataset), ("mse", batches)):
            found = curvature.laplace(linear, loss, data, w, prior_precision=TAU, noise=SIGMA)
            assert float(found.log_marginal_likelihood()) == pytest.approx(expected)

    def test_samples_have_the_moments_of_the_posterior(self):
        posterior = regression()
        drawn = np.stack([w.asnumpy().ravel() for w in posterior.sample(20000, seed=1)])
        covariance, mean = fitted()
        assert np.abs(drawn.mean(0) - mean.ravel()).max() < 0.01
        assert np.abs(np.cov(drawn.T) - covariance).max() < 0.002
        first = posterior.sample(2, seed=3)
        np.testing.assert_array_equal(first[1].asnumpy(), posterior.sample(2, seed=3)[1].asnumpy())

    def test_diagonal_ignores_correlations(self):
        posterior = regression("diagonal")
        precision = (X**2).sum(0) / SIGMA**2 + TAU
        assert float(posterior.log_determinant()) == pytest.approx(np.log(precision).sum())
        variance = posterior.predictive(Tensor(NEW))[1].asnumpy()
        np.testing.assert_allclose(variance, (NEW**2 / precision).sum(1, keepdims=True) + SIGMA**2)
        drawn = np.stack([w.asnumpy().ravel() for w in posterior.sample(20000)])
        assert np.abs(drawn.var(0) * precision - 1).max() < 0.05


class TestKroneckerFactors:
    def test_posterior_of_one_linear_layer_is_exact(self):
        posterior = regression("kfac")
        covariance = fitted()[0]
        expected = -np.linalg.slogdet(covariance)[1]
        assert float(posterior.log_determinant()) == pytest.approx(expected)
        variance = posterior.predictive(Tensor(NEW))[1]
        exact = np.einsum("ni,ij,nj->n", NEW, covariance, NEW)[:, None] + SIGMA**2
        assert_close(variance, exact, "ill-conditioned")
        drawn = np.stack([w.asnumpy().ravel() for w in posterior.sample(20000)])
        assert np.abs(np.cov(drawn.T) - covariance).max() < 0.002

    def test_log_determinant_of_a_network_equals_the_dense_blocks(self):
        ms.set_seed(0)
        net = nn.SequentialCell(nn.Dense(3, 4), nn.Tanh(), nn.Dense(4, 3))
        x, y = Tensor(X.astype(np.float32)), Tensor(random.integers(0, 3, 9).astype(np.int32))
        posterior = curvature.laplace(net, "cross_entropy", (x, y), curvature="kfac")
        A = curvature.kfac(net, net.trainable_params(), x, loss=posterior._likelihood.expected)
        expected = np.linalg.slogdet(A.to_dense().astype(np.float64) + np.eye(A.shape[0]))[1]
        assert_close(float(posterior.log_determinant()), expected, "ill-conditioned", dtype=np.float32)
        assert posterior.predictive(x).shape == (9, 3)

    def test_several_batches_raise(self):
        batches = [(Tensor(X[:4]), Tensor(Y[:4])), (Tensor(X[4:]), Tensor(Y[4:]))]
        with pytest.raises(ValueError, match="requires all data in one pair"):
            curvature.laplace(linear, "mse", batches, Tensor(fitted()[1]), "kfac")


class TestClassification:
    def network(self):
        ms.set_seed(0)
        net = nn.SequentialCell(nn.Dense(3, 4), nn.Tanh(), nn.Dense(4, 3))
        x, y = Tensor(X.astype(np.float32)), Tensor(random.integers(0, 3, 9).astype(np.int32))
        return net, x, y

    def test_log_determinant_equals_the_dense_matrix(self):
        net, x, y = self.network()
        posterior = curvature.laplace(net, nn.CrossEntropyLoss(), (x, y), prior_precision=2.0)
        loss = nn.CrossEntropyLoss(reduction="sum")
        G = curvature.gauss_newton(net, net.trainable_params(), x, loss=loss, targets=y).to_dense()
        expected = np.linalg.slogdet(G.astype(np.float64) + 2 * np.eye(len(G)))[1]
        assert float(posterior.log_determinant()) == pytest.approx(expected)
        w = posterior.mean
        evidence = -float(loss(net(x), y)) - w @ w + 0.5 * len(w) * np.log(2.0) - 0.5 * expected
        assert float(posterior.log_marginal_likelihood()) == pytest.approx(evidence)

    def test_last_layer_has_the_weights_of_the_last_layer_only(self):
        net, x, y = self.network()
        posterior = curvature.laplace(net, "cross_entropy", (x, y), curvature="last_layer")
        assert posterior.mean.size == 15
        assert [w.shape for w in posterior.sample()[0]] == [(3, 4), (3,)]
        assert posterior.predictive(x).shape == (9, 3)

    def test_predictive_probabilities_are_less_certain_than_the_network(self):
        net, x, y = self.network()
        posterior = curvature.laplace(net, "cross_entropy", (x, y), prior_precision=10.0)
        plain = ops.softmax(net(x), -1).asnumpy()
        probit = posterior.predictive(x).asnumpy()
        sampled = posterior.predictive(x, method="monte_carlo", samples=4000).asnumpy()
        for p in (probit, sampled):
            assert_close(p.sum(1), 1.0, "program")
            assert p.max(1).mean() < plain.max(1).mean()
        assert np.abs(sampled - probit).max() < 0.05

    def test_large_prior_precision_returns_the_probabilities_of_the_network(self):
        net, x, y = self.network()
        posterior = curvature.laplace(net, "cross_entropy", (x, y), prior_precision=1e8)
        assert_close(posterior.predictive(x), ops.softmax(net(x), -1), "program")

    def test_binary_probit_equals_the_formula(self):
        w, y = Tensor(np.array([0.5, -1.0, 0.2])), Tensor((random.random(9) < 0.5).astype(np.float64))
        posterior = curvature.laplace(linear, "binary_cross_entropy", (Tensor(X), y), w)
        p = 1 / (1 + np.exp(-X @ w.asnumpy()))
        covariance = np.linalg.inv((X * (p * (1 - p))[:, None]).T @ X + np.eye(3))
        variance = np.einsum("ni,ij,nj->n", NEW, covariance, NEW)
        expected = 1 / (1 + np.exp(-NEW @ w.asnumpy() / np.sqrt(1 + np.pi / 8 * variance)))
        assert_close(posterior.predictive(Tensor(NEW)).asnumpy(), expected, "ill-conditioned")


def test_posterior_keeps_the_weights_of_its_creation():
    net = nn.Dense(3, 1, has_bias=False)
    data = (Tensor(X.astype(np.float32)), Tensor(Y.astype(np.float32)))
    posterior = curvature.laplace(net, nn.MSELoss(), data)
    before = posterior.predictive(data[0])[0].asnumpy()
    net.weight.set_data(net.weight * 2.0)
    np.testing.assert_array_equal(posterior.predictive(data[0])[0].asnumpy(), before)


class TestErrors:
    data = (Tensor(X), Tensor(Y))
    w = Tensor(np.zeros((3, 1)))

    def test_unknown_options_raise(self):
        with pytest.raises(ValueError, match="'curvature' must be one of"):
            regression("block")
        with pytest.raises(TypeError, match="neither a regression nor a classification"):
            regression(loss=nn.L1Loss())
        with pytest.raises(TypeError, match="'poisson' is neither"):
            regression(loss="poisson")
        with pytest.raises(ValueError, match=r"does not fit|needs .* MiB"):
            regression(memory=100)
        with pytest.raises(ValueError, match="'method' must be"):
            regression().predictive(Tensor(NEW), method="laplace")

    @pytest.mark.parametrize("value", [0.0, -1.0, float("nan")])
    def test_hyperparameters_that_are_not_positive_raise(self, value):
        for name in ("prior_precision", "noise"):
            with pytest.raises(ValueError, match=f"'{name}' must be positive"):
                curvature.laplace(linear, "mse", self.data, self.w, **{name: value})
            with pytest.raises(ValueError, match=f"'{name}' must be positive"):
                regression().log_marginal_likelihood(**{name: value})

    def test_noise_of_a_classification_raises(self):
        y = Tensor(np.zeros((9, 1)))
        posterior = curvature.laplace(linear, "binary_cross_entropy", (Tensor(X), y), self.w)
        with pytest.raises(ValueError, match="only a regression has 'noise'"):
            posterior.log_determinant(noise=1.0)

    def test_wrong_data_raise(self):
        with pytest.raises(ValueError, match="contains no samples"):
            curvature.laplace(linear, "mse", [], self.w)
        with pytest.raises(ValueError, match="must be a pair"):
            curvature.laplace(linear, "mse", [Tensor(X)], self.w)
        with pytest.raises(ValueError, match=r"must have the shape \(9, 1\)"):
            curvature.laplace(linear, "mse", (Tensor(X), Tensor(Y[:, 0])), self.w)
        with pytest.raises(ValueError, match="must return one Tensor"):
            curvature.laplace(lambda w, x: (x @ w).sum(), "mse", self.data, self.w)

    def test_missing_weights_raise(self):
        with pytest.raises(TypeError, match="pass 'weights'"):
            curvature.laplace(linear, "mse", self.data)
        with pytest.raises(TypeError, match="requires a list of Parameters"):
            curvature.laplace(linear, "mse", self.data, self.w, "last_layer")
