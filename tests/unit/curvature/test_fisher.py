"""Fisher matrices against formulas, samples, and products of gradients."""

import numpy as np
import pytest

import mindgrad as ms
from mindgrad import Tensor, curvature, nn, ops
from tests.tolerances import assert_close

random = np.random.default_rng(0)
X = Tensor(random.standard_normal((6, 3)))
W = {"a": Tensor(random.standard_normal((3, 2)) / 2), "b": Tensor(random.standard_normal(2) / 2)}
LABELS = Tensor(random.integers(0, 2, 6).astype(np.int32))
VALUES = Tensor(random.standard_normal((6, 2)))
BITS = Tensor((random.random((6, 2)) < 0.5).astype(np.float64))
COUNTS = Tensor(random.poisson(1.0, (6, 2)).astype(np.float64))


def model(w):
    return ops.tanh(X @ w["a"]) + w["b"]


def positive(w):
    """A mean and a variance, or two rates."""
    z = model(w)
    return z[:, 0], ops.exp(z[:, 1])


def probabilities(w):
    return ops.sigmoid(model(w))


def rates(w):
    return ops.exp(model(w))


def log_probabilities(w):
    return ops.log_softmax(model(w), -1)


#: loss, model, targets
NATURAL = {
    "squared_error": ("squared_error", model, lambda z, y: 0.5 * ((z - y) ** 2).sum(), VALUES),
    "mse": (nn.MSELoss(), model, nn.MSELoss(), VALUES),
    "mse sum": (nn.MSELoss("sum"), model, nn.MSELoss("sum"), VALUES),
    "mse none": (nn.MSELoss("none"), model, nn.MSELoss("sum"), VALUES),
    "mse function": (ops.mse_loss, model, ops.mse_loss, VALUES),
    "softmax": (nn.CrossEntropyLoss(), model, nn.CrossEntropyLoss(), LABELS),
    "softmax function": (ops.cross_entropy, model, ops.cross_entropy, LABELS),
    "softmax with logits": (
        nn.SoftmaxCrossEntropyWithLogits(True, "mean"), model, nn.CrossEntropyLoss(), LABELS,
    ),
    "binary": (nn.BCEWithLogitsLoss(), model, nn.BCEWithLogitsLoss(), BITS),
    "poisson": (nn.PoissonNLLLoss(), model, nn.PoissonNLLLoss(), COUNTS),
}  # fmt: skip
#: loss, model
OTHERS = {
    "probabilities": (nn.BCELoss(), probabilities),
    "logits of probabilities": (nn.BCEWithLogitsLoss(), model),
    "rates": (nn.PoissonNLLLoss(log_input=False), rates),
    "log probabilities": (nn.NLLLoss(), log_probabilities),
    "gaussian": (nn.GaussianNLLLoss(), positive),
    "squared error": ("squared_error", model),
    "softmax": ("cross_entropy", model),
    "poisson": ("poisson", model),
}


@pytest.mark.parametrize("case", NATURAL)
def test_exact_fisher_equals_gauss_newton_of_natural_parameters(case):
    loss, outputs, full, targets = NATURAL[case]
    F = curvature.fisher(outputs, W, loss=loss)
    G = curvature.gauss_newton(outputs, W, loss=full, targets=targets)
    assert_close(F.to_dense(), G.to_dense(), "ill-conditioned")
    v = random.standard_normal(F.shape[0])
    assert_close(F @ v, G @ v, "ill-conditioned")
    assert F.is_semidefinite


@pytest.mark.parametrize(
    ("loss", "outputs", "other", "equal"),
    [
        (nn.BCELoss(reduction="sum"), probabilities, "binary_cross_entropy", model),
        (nn.PoissonNLLLoss(log_input=False, reduction="sum"), rates, "poisson", model),
        (nn.NLLLoss(reduction="sum"), log_probabilities, "cross_entropy", model),
    ],
)
def test_fisher_does_not_depend_on_the_parametrization(loss, outputs, other, equal):
    F, G = curvature.fisher(outputs, W, loss=loss), curvature.fisher(equal, W, loss=other)
    assert_close(F.to_dense(), G.to_dense(), "ill-conditioned")


def test_exact_fisher_of_mean_and_variance_equals_the_formula():
    F = curvature.fisher(positive, W, loss="gaussian")
    variance = positive(W)[1].asnumpy()
    J = [curvature.gauss_newton(lambda w, k=k: positive(w)[k], {**W}) for k in (0, 1)]
    mean, spread = (j.jacobian for j in J)
    expected = mean.T @ (mean / variance[:, None]) + spread.T @ (spread / (2 * variance[:, None] ** 2))
    assert_close(F.to_dense(), expected, "ill-conditioned")


@pytest.mark.parametrize("case", OTHERS)
def test_monte_carlo_fisher_converges_to_the_exact_fisher(case):
    loss, outputs = OTHERS[case]
    exact = curvature.fisher(outputs, W, loss=loss).to_dense()
    errors = []
    for samples in (20, 4000):
        F = curvature.fisher(outputs, W, loss=loss, kind="monte_carlo", samples=samples, seed=1)
        errors.append(np.linalg.norm(F.to_dense() - exact) / np.linalg.norm(exact))
    assert errors[1] < 0.05
    assert errors[1] < errors[0]


def test_monte_carlo_fisher_depends_on_the_seed_only():
    F, G, other = (
        curvature.fisher(model, W, loss="cross_entropy", kind="monte_carlo", seed=seed).to_dense()
        for seed in (1, 1, 2)
    )
    np.testing.assert_array_equal(F, G)
    assert not np.array_equal(F, other)


@pytest.mark.parametrize("reduction", ["sum", "mean"])
@pytest.mark.parametrize(
    ("loss", "targets"),
    [
        (nn.CrossEntropyLoss(reduction="none"), LABELS),
        (lambda z, y: ops.cross_entropy(z, y, reduction="none"), LABELS),
        (lambda z, y: ops.abs(z - y).sum(-1), VALUES),
    ],
)
@pytest.mark.parametrize("memory", [2**28, 2**8])
def test_empirical_fisher_equals_outer_products_of_gradients(loss, targets, reduction, memory):
    F = curvature.fisher(
        model, W, loss=loss, kind="empirical", targets=targets, reduction=reduction, memory=memory
    )
    gradients = ms.jacobian(lambda w: loss(model(w), targets))(W)
    rows = np.concatenate([gradients[name].asnumpy().reshape(6, -1) for name in "ab"], axis=1)
    expected = rows.T @ rows / (6 if reduction == "mean" else 1)
    assert_close(F.to_dense(), expected, "ill-conditioned")
    assert_close(F @ np.ones(8), expected @ np.ones(8), "ill-conditioned")


class TestErrors:
    def test_unknown_names_raise(self):
        with pytest.raises(ValueError, match="'kind' must be one of"):
            curvature.fisher(model, W, loss="mse", kind="other")
        with pytest.raises(ValueError, match="'loss' must be one of"):
            curvature.fisher(model, W, loss="hinge")
        with pytest.raises(ValueError, match="'reduction' must be"):
            curvature.fisher(model, W, loss="mse", reduction="max")
        with pytest.raises(ValueError, match="'samples' must be positive"):
            curvature.fisher(model, W, loss="mse", kind="monte_carlo", samples=0)

    def test_losses_without_likelihood_raise(self):
        for loss in (nn.L1Loss(), ops.huber_loss, lambda z, y: z):
            with pytest.raises(TypeError, match="not the logarithm of a known likelihood"):
                curvature.fisher(model, W, loss=loss)
        weighted = nn.CrossEntropyLoss(weight=Tensor([1.0, 2.0]))
        with pytest.raises(ValueError, match="'weight' is not the logarithm of a likelihood"):
            curvature.fisher(model, W, loss=weighted)

    def test_empirical_fisher_requires_targets_and_losses_of_samples(self):
        with pytest.raises(ValueError, match="requires 'targets'"):
            curvature.fisher(model, W, loss="mse", kind="empirical")
        with pytest.raises(ValueError, match="one value for each sample"):
            curvature.fisher(
                model, W, loss=lambda z, y: ops.abs(z - y).mean(), kind="empirical", targets=VALUES
            )

    def test_loss_that_mixes_samples_raises(self):
        contrast = lambda z, y: ((z - z.mean(0)) ** 2).sum(-1)
        with pytest.raises(ValueError, match="not a sum over samples"):
            curvature.fisher(model, W, loss=contrast, kind="empirical", targets=VALUES)
