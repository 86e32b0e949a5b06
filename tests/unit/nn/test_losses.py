"""Losses: values against formulas in NumPy, two derivatives, reductions, both modes, errors."""

import numpy as np
import pytest
from scipy.special import expit, log_softmax, logsumexp

import mindgrad as ms
from mindgrad import Tensor, nn, ops
from tests.tolerances import assert_close
from tests.unit.derivative_checks import check

RNG = np.random.default_rng(7)


X, Y, Z = (RNG.normal(size=(4, 3)) * 2 for _ in range(3))
SIGNS = np.array([[1, -1, 1], [-1, -1, 1], [1, 1, 1], [-1, 1, -1]])
P = expit(X)  # within (0, 1)
SHARES = np.exp(log_softmax(Y, 1))
CLASSES = np.array([2, 0, 1, 1])
WEIGHTS = np.array([0.5, 2.0, 1.25])


def softplus(x):
    return np.logaddexp(0, x)


def bent(d, bound):
    return np.where(np.abs(d) < bound, d * d / 2, bound * (np.abs(d) - bound / 2))


def norm(x):
    return np.sqrt((x * x).sum(-1))


def smoothed(x, t, weights, epsilon):
    """Cross entropy for classes, element by element."""
    logs = log_softmax(x, 1)
    classes = x.shape[1]
    p = np.eye(classes)[t] * (1 - epsilon) + epsilon / classes
    return -(p * weights * logs).sum(1)


ELEMENTWISE = {
    "l1": (ops.l1_loss, lambda x, t: np.abs(x - t), (X, Y)),
    "mse": (ops.mse_loss, lambda x, t: (x - t) ** 2, (X, Y)),
    "smooth_l1": (lambda x, t, reduction: ops.smooth_l1_loss(x, t, 0.7, reduction), lambda x, t: bent(x - t, 0.7) / 0.7, (X, Y)),
    "huber": (lambda x, t, reduction: ops.huber_loss(x, t, reduction, 1.5), lambda x, t: bent(x - t, 1.5), (X, Y)),
    "soft_margin": (ops.soft_margin_loss, lambda x, t: softplus(-t * x), (X, SIGNS * 1.0)),
    "margin_ranking": (lambda x, y, reduction: ops.margin_ranking_loss(x, y, Tensor(SIGNS), 0.3, reduction), lambda x, y: np.maximum(0, -SIGNS * (x - y) + 0.3), (X, Y)),
    "hinge_embedding": (lambda x, reduction: ops.hinge_embedding_loss(x, Tensor(SIGNS), 1.5, reduction), lambda x: np.where(SIGNS > 0, x, np.maximum(0, 1.5 - x)), (X,)),
    "triplet": (lambda x, y, z, reduction: ops.triplet_margin_loss(x, y, z, 2.0, reduction=reduction), lambda x, y, z: np.maximum(0, norm(x - y + 1e-6) - norm(x - z + 1e-6) + 2), (X, Y, Z)),
    "triplet_swap": (lambda x, y, z, reduction: ops.triplet_margin_loss(x, y, z, 5.0, 3, swap=True, reduction=reduction), lambda x, y, z: np.maximum(0, (abs(x - y + 1e-6) ** 3).sum(-1) ** (1 / 3) - np.minimum((abs(x - z + 1e-6) ** 3).sum(-1), (abs(y - z + 1e-6) ** 3).sum(-1)) ** (1 / 3) + 5), (X, Y, Z)),
    "cosine_embedding": (lambda x, y, reduction: ops.cosine_embedding_loss(x, y, Tensor([1, -1, 1, -1]), -0.9, reduction), lambda x, y: np.where(np.array([1, -1, 1, -1]) == 1, 1 - (c := (x * y).sum(1) / np.sqrt(((x * x).sum(1) + 1e-12) * ((y * y).sum(1) + 1e-12))), np.maximum(0, c + 0.9)), (X, Y)),
    "gaussian": (lambda x, t, v, reduction: ops.gaussian_nll_loss(x, t, v, True, reduction=reduction), lambda x, t, v: 0.5 * (np.log(v) + (x - t) ** 2 / v + np.log(2 * np.pi)), (X, Y, P)),
    "gaussian_row": (lambda x, t, v, reduction: ops.gaussian_nll_loss(x, t, v, reduction=reduction), lambda x, t, v: 0.5 * (np.log(v[:, None]) + (x - t) ** 2 / v[:, None]), (X, Y, P[:, 0])),
    "bce": (ops.binary_cross_entropy, lambda p, t: -(t * np.log(p) + (1 - t) * np.log(1 - p)), (P, SHARES)),
    "bce_weight": (lambda p, t, w, reduction: ops.binary_cross_entropy(p, t, w, reduction), lambda p, t, w: -w * (t * np.log(p) + (1 - t) * np.log(1 - p)), (P, SHARES, WEIGHTS)),
    "bce_logits": (lambda x, t, w, q, reduction: ops.binary_cross_entropy_with_logits(x, t, w, q, reduction), lambda x, t, w, q: w * (q * t * softplus(-x) + (1 - t) * softplus(x)), (X, SHARES, P, WEIGHTS)),
    "kl": (ops.kl_div, lambda x, p: p * (np.log(p) - x), (X, SHARES)),
    "poisson": (lambda x, t, reduction: nn.PoissonNLLLoss(full=True, reduction=reduction)(x, t), lambda x, t: np.exp(x) - t * x + np.where(t > 1, t * np.log(t) - t + 0.5 * np.log(2 * np.pi * t), 0), (X, np.abs(Y) + 0.01)),
    "poisson_rate": (lambda x, t, reduction: nn.PoissonNLLLoss(log_input=False, reduction=reduction)(x, t), lambda x, t: x - t * np.log(x + 1e-8), (P, Y)),
    "nll": (lambda x, w, reduction: ops.nll_loss(x, Tensor(CLASSES), w, reduction="none") if reduction == "none" else ops.nll_loss(x, Tensor(CLASSES), w, reduction="sum") / (1 if reduction == "sum" else 4), lambda x, w: -w[CLASSES] * x[np.arange(4), CLASSES], (X, WEIGHTS)),
    "cross_entropy_shares": (lambda x, p, w, reduction: ops.cross_entropy(x, p, w, reduction=reduction, label_smoothing=0.2), lambda x, p, w: -(w * (p * 0.8 + 0.2 / 3) * log_softmax(x, 1)).sum(1), (X, SHARES, WEIGHTS)),
    "multi_margin": (lambda x, reduction: ops.multi_margin_loss(x, Tensor(CLASSES), 2, 0.5, Tensor(WEIGHTS), reduction), lambda x: (np.where(np.eye(3)[CLASSES] == 1, 0, WEIGHTS[CLASSES][:, None] * np.maximum(0, 0.5 - x[np.arange(4), CLASSES][:, None] + x) ** 2)).sum(1) / 3, (X,)),
    "multilabel_soft": (lambda x, t, reduction: ops.multilabel_soft_margin_loss(x, t, Tensor(WEIGHTS), reduction), lambda x, t: (WEIGHTS * (t * softplus(-x) + (1 - t) * softplus(x))).mean(1), (X, SHARES)),
    "softmax_cross_entropy": (lambda x, p, reduction: nn.SoftmaxCrossEntropyWithLogits(reduction=reduction)(x, p), lambda x, p: -(p * log_softmax(x, 1)).sum(1), (X, SHARES)),
}  # fmt: skip


@pytest.mark.parametrize("name", ELEMENTWISE)
def test_values_and_derivatives(name):
    function, formula, inputs = ELEMENTWISE[name]
    check(lambda *xs: function(*xs, reduction="none"), formula, *inputs)
    whole = formula(*inputs)
    tensors = [Tensor(x) for x in inputs]
    assert_close(function(*tensors, reduction="mean"), whole.mean(), kind="law")
    assert_close(function(*tensors, reduction="sum"), whole.sum(), kind="law")


@pytest.mark.parametrize("epsilon", [0.0, 0.3])
def test_cross_entropy_of_classes(epsilon):
    t = np.array([2, -1, 1, 1])  # the second is ignored
    kept = t >= 0

    def mean(x, w):
        loss = np.where(kept, smoothed(x, np.maximum(t, 0), w, epsilon), 0)
        if epsilon:  # torch's and MindSpore's: the smooth part is not weighted by the class of the target
            smooth = np.where(kept, -(w * log_softmax(x, 1)).sum(1), 0) * epsilon / 3
            loss = np.where(kept, -(1 - epsilon) * w[t] * log_softmax(x, 1)[np.arange(4), t], 0) + smooth
        return loss.sum() / w[t][kept].sum()

    check(
        lambda x, w: ops.cross_entropy(x, Tensor(t), w, ignore_index=-1, label_smoothing=epsilon),
        mean, X, WEIGHTS,
    )  # fmt: skip


def test_cross_entropy_takes_more_axes_and_one():
    x, t = RNG.normal(size=(2, 3, 4, 5)), RNG.integers(0, 3, (2, 4, 5))
    expected = -np.take_along_axis(log_softmax(x, 1), t[:, None], 1)[:, 0]
    actual = ops.cross_entropy(Tensor(x), Tensor(t), reduction="none")
    assert_close(actual, expected, kind="program")
    actual = ops.cross_entropy(Tensor(X[0]), Tensor(1))
    assert_close(actual, -log_softmax(X[0])[1], kind="program")


def test_large_logits_are_exact():
    x = Tensor([[1e4, 0.0]])
    assert ops.cross_entropy(x, Tensor([1])).asnumpy() == 1e4
    assert ops.cross_entropy(x, Tensor([0])).asnumpy() == 0
    assert ops.binary_cross_entropy_with_logits(x, Tensor([[0.0, 1.0]]), reduction="sum") > 1e4 - 1
    gradient = ms.grad(lambda x: ops.cross_entropy(x, Tensor([1])))(x)
    np.testing.assert_array_equal(gradient.asnumpy(), [[1.0, -1.0]])
    third = ms.grad(lambda x: ms.grad(lambda x: ops.cross_entropy(x, Tensor([1])))(x).sum())(x)
    assert np.isfinite(third.asnumpy()).all()


def test_probabilities_at_the_ends_stay_finite():
    p = Tensor(np.array([0.0, 0.0, 1.0, 1.0]))
    t = Tensor(np.array([0.0, 1.0, 0.0, 1.0]))
    loss = ops.binary_cross_entropy(p, t, reduction="none").asnumpy()
    assert_close(loss, [0, -np.log(1e-12), -np.log(1e-12), 0], kind="law")
    gradient = ms.grad(lambda p: ops.binary_cross_entropy(p, t, reduction="sum"))(p).asnumpy()
    assert_close(gradient, [1, -1e12, 1e12, -1], kind="law", each=True)
    # an impossible event has no share in the divergence, whatever its logarithm
    x = Tensor(np.array([[-np.inf, 0.0]]))
    assert ops.kl_div(x, Tensor(np.array([[0.0, 1.0]])), "sum") == 0


def test_half_precision_is_computed_in_float32():
    x = Tensor(np.full(4096, 300.0), ms.float16)
    loss = ops.mse_loss(x, x * 0 + 299.0)
    assert loss.dtype == ms.float16
    assert loss.asnumpy() == 1
    assert nn.CrossEntropyLoss()(Tensor([[1.0, 2.0]], ms.float16), Tensor([0])).dtype == ms.float16


def test_kl_div_of_batches_and_cosine_similarity():
    expected = (SHARES * (np.log(SHARES) - X)).sum() / 4
    assert_close(ops.kl_div(Tensor(X), Tensor(SHARES), "batchmean"), expected, kind="program")
    check(ops.cosine_similarity, lambda x, y: (x * y).sum(1) / (norm(x) * norm(y)), X, Y)
    assert ops.cosine_similarity(Tensor([[0.0, 0.0]]), Tensor([[1.0, 2.0]])) == 0
    gradient = ms.grad(ops.cosine_similarity)(Tensor([[0.0, 0.0]]), Tensor([[1.0, 2.0]]))
    assert np.isfinite(gradient.asnumpy()).all()


def test_multilabel_margin():
    t = np.array([[1, -1, 0], [2, 0, -1], [-1, 1, 2], [0, 1, 2]])

    def formula(x):
        loss = np.zeros(4)
        for n, row in enumerate(t):
            chosen = row[: list(row).index(-1)] if -1 in row else row
            for j in chosen:
                loss[n] += sum(max(0, 1 - (x[n, j] - x[n, i])) for i in range(3) if i not in chosen) / 3
        return loss

    check(lambda x: ops.multilabel_margin_loss(x, Tensor(t), "none"), formula, X)


# --- Cells -------------------------------------------------------------------------------------------


def test_cells_are_the_functions():
    x, t = Tensor(X), Tensor(Y)
    pairs = [
        (nn.L1Loss()(x, t), ops.l1_loss(x, t)),
        (nn.MAELoss("sum")(x, t), ops.l1_loss(x, t, "sum")),
        (nn.MSELoss()(x, t), ops.mse_loss(x, t)),
        (nn.RMSELoss()(x, t), ops.mse_loss(x, t).sqrt()),
        (nn.SmoothL1Loss(0.5, "mean")(x, t), ops.smooth_l1_loss(x, t, 0.5, "mean")),
        (nn.SmoothL1Loss()(x, t).sum(), ops.smooth_l1_loss(x, t).sum()),
        (nn.HuberLoss("sum", 2.0)(x, t), ops.huber_loss(x, t, "sum", 2.0)),
        (nn.BCELoss()(Tensor(P), Tensor(SHARES)), ops.binary_cross_entropy(Tensor(P), Tensor(SHARES))),
        (nn.BCEWithLogitsLoss("sum", Tensor(WEIGHTS), Tensor(P))(x, Tensor(SHARES)), ops.binary_cross_entropy_with_logits(x, Tensor(SHARES), Tensor(WEIGHTS), Tensor(P), "sum")),
        (nn.CrossEntropyLoss(Tensor(WEIGHTS), 0)(x, Tensor(CLASSES)), ops.cross_entropy(x, Tensor(CLASSES), Tensor(WEIGHTS), 0)),
        (nn.NLLLoss()(x, Tensor(CLASSES)), ops.nll_loss(x, Tensor(CLASSES))),
        (nn.KLDivLoss("batchmean")(x, Tensor(SHARES)), ops.kl_div(x, Tensor(SHARES), "batchmean")),
        (nn.TripletMarginLoss(margin=3.0)(x, t, Tensor(Z)), ops.triplet_margin_loss(x, t, Tensor(Z), 3.0)),
    ]  # fmt: skip
    for found, expected in pairs:
        np.testing.assert_array_equal(found.asnumpy(), expected.asnumpy())


def test_sparse_softmax_cross_entropy():
    found = nn.SoftmaxCrossEntropyWithLogits(sparse=True)(Tensor(X), Tensor(CLASSES))
    assert_close(found, smoothed(X, CLASSES, 1.0, 0.0), kind="program")
    loss, derivative = ops.SoftmaxCrossEntropyWithLogits()(Tensor(X), Tensor(SHARES))
    assert_close(derivative, np.exp(log_softmax(X, 1)) - SHARES, kind="program")
    assert loss.shape == (4,)
    mean = ops.SparseSoftmaxCrossEntropyWithLogits()(Tensor(X), Tensor(CLASSES))
    slope = ops.SparseSoftmaxCrossEntropyWithLogits(is_grad=True)(Tensor(X), Tensor(CLASSES))
    assert_close(mean, smoothed(X, CLASSES, 1.0, 0.0).mean(), kind="program")
    true = ms.grad(lambda x: ops.SparseSoftmaxCrossEntropyWithLogits()(x, Tensor(CLASSES)))(Tensor(X))
    assert_close(slope, true, kind="program")


def test_dice_and_focal():
    def dice(x, t):
        return 1 - 2 * (x * t).sum() / ((x * x).sum() + (t * t).sum() + 1e-5)

    check(nn.DiceLoss(), dice, P, SHARES)
    check(
        nn.MultiClassDiceLoss(Tensor(WEIGHTS), ignore_indiex=1),
        lambda x, t: sum(WEIGHTS[c] * dice(np.exp(log_softmax(x, 1))[:, c], t[:, c]) for c in (0, 2)) / 3,
        X, SHARES,
    )  # fmt: skip
    p = np.exp(log_softmax(X, 1))
    expected = (
        -WEIGHTS[CLASSES] * (1 - p)[np.arange(4), CLASSES] ** 2 * log_softmax(X, 1)[np.arange(4), CLASSES]
    )
    found = nn.FocalLoss(Tensor(WEIGHTS), reduction="none")(Tensor(X), Tensor(CLASSES[:, None]))
    assert_close(found, expected, kind="program")
    full = nn.FocalLoss(Tensor(WEIGHTS), reduction="sum")(Tensor(X), Tensor(np.eye(3)[CLASSES]))
    assert_close(full, expected.sum(), kind="program")
    check(lambda x: nn.FocalLoss(gamma=1.5)(x, Tensor(CLASSES[:, None])), None, X)


def test_a_loss_of_ones_own():
    class Quartic(nn.LossBase):
        def construct(self, base, target):
            return self.get_loss((base - target) ** 4, weights=0.5)

    x, t = Tensor(X), Tensor(Y)
    assert_close(Quartic()(x, t), 0.5 * ((X - Y) ** 4).mean(), kind="program")
    assert_close(Quartic("sum")(x, t), 0.5 * ((X - Y) ** 4).sum(), kind="program")
    assert Quartic(None)(x, t).shape == (4, 3)
    assert Quartic().get_axis(x) == (0, 1)
    assert nn.loss.loss._Loss is nn.LossBase

    class Doubled(nn.MSELoss):
        def __init__(self, factor):
            super().__init__(reduction="sum")
            self.factor = factor
            self.average = False  # older programs set these flags themselves

        def construct(self, logits, labels):
            return self.factor * super().construct(logits, labels)

    assert_close(Doubled(2.0)(x, t), 2 * ((X - Y) ** 2).sum(), kind="program")


# --- compiled, and errors ----------------------------------------------------------------------------


def test_compiled_losses_are_the_same():
    names = [name for name in ELEMENTWISE if name not in ("gaussian_row", "triplet_swap")]
    classes = Tensor(CLASSES)

    def every(x, y, z, p, shares):
        given = {id(X): x, id(Y): y, id(Z): z, id(P): p, id(SHARES): shares}
        total = ops.cross_entropy(x, classes, label_smoothing=0.1) + nn.CrossEntropyLoss()(x * 300, classes)
        for name in names:
            function, _, inputs = ELEMENTWISE[name]
            total = total + function(*[given.get(id(a), Tensor(a)) for a in inputs], reduction="mean")
        return total

    inputs = [Tensor(a) for a in (X, Y, Z, P, SHARES)]
    both = ms.value_and_grad(every, (0, 1, 2, 3, 4))
    expected = both(*inputs)
    ms.set_context(mode=ms.GRAPH_MODE)
    found = both(*inputs)
    assert_close(found[0], expected[0], kind="program")
    for a, b in zip(found[1], expected[1], strict=True):
        assert_close(a, b, kind="program")


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda: nn.MSELoss("average"), ValueError, "'reduction' must be one of 'mean', 'sum', 'none', but got 'average'"),
        (lambda: nn.MSELoss("batchmean"), ValueError, "'batchmean'"),
        (lambda: ops.mse_loss(Tensor(X), Tensor(Y[:3])), ValueError, r"\(4, 3\) and \(3, 3\) do not broadcast"),
        (lambda: ops.smooth_l1_loss(Tensor(X), Tensor(Y[:3])), ValueError, r"must be equal, but they are \(4, 3\), \(3, 3\)"),
        (lambda: ops.smooth_l1_loss(Tensor(X), Tensor(Y), 0.0), ValueError, "'beta' must be greater than 0"),
        (lambda: ops.huber_loss(Tensor(X), Tensor(Y), delta=-1.0), ValueError, "'delta' must be greater than 0"),
        (lambda: ops.cross_entropy(Tensor(X), Tensor(CLASSES[:3])), ValueError, r"must have the shape \(4,\)"),
        (lambda: ops.cross_entropy(Tensor(X), Tensor(np.ones(4))), ValueError, "A target that contains classes must have an integer dtype"),
        (lambda: ops.cross_entropy(Tensor(X), Tensor(CLASSES), Tensor(Y)), ValueError, "one element for each class"),
        (lambda: ops.cross_entropy(Tensor(X), Tensor(CLASSES), label_smoothing=2.0), ValueError, "from 0 to 1"),
        (lambda: ops.cross_entropy(Tensor(X), Tensor(CLASSES + 5)), IndexError, "out of range"),
        (lambda: ops.nll_loss(Tensor(X), Tensor(np.ones(4))), TypeError, "must contain integer classes"),
        (lambda: ops.binary_cross_entropy(Tensor(P), Tensor(SHARES), Tensor(np.ones((5, 1, 1)))), ValueError, "must broadcast to the shape"),
        (lambda: ops.cosine_embedding_loss(Tensor(X), Tensor(Y), Tensor([1, 1])), ValueError, "must have at least two axes"),
        (lambda: ops.multi_margin_loss(Tensor(X), Tensor(CLASSES), 3), ValueError, "'p' must be 1 or 2"),
        (lambda: ops.gaussian_nll_loss(Tensor(X), Tensor(Y), Tensor(P[:2])), ValueError, "do not broadcast"),
        (lambda: nn.MSELoss()("x", Tensor(X)), TypeError, "must be a Tensor or a number"),
        (lambda: nn.SoftmaxCrossEntropyWithLogits(sparse=1), TypeError, "'sparse' must be a bool"),
        (lambda: nn.LossBase()(Tensor(X), Tensor(Y)), NotImplementedError, "Define the method construct"),
    ],
)  # fmt: skip
def test_refusals(call, error, text):
    with pytest.raises(error, match=text):
        call()


def test_formulas_are_not_those_of_the_house():
    """The oracle for log_softmax is scipy's, checked here against its definition."""
    assert_close(log_softmax(X, 1), X - logsumexp(X, 1, keepdims=True), kind="program")


def test_triplets_with_a_distance_of_ones_own():
    given = [Tensor(a) for a in (X, Y, Z)]
    for swap in (False, True):
        expected = ops.triplet_margin_loss(*given, 4.0, swap=swap)
        assert_close(
            nn.TripletMarginWithDistanceLoss(None, swap, margin=4.0)(*given), expected, kind="program"
        )
    check(
        nn.TripletMarginWithDistanceLoss(lambda a, b: ((a - b) ** 2).sum(-1), reduction="none", margin=50.0),
        lambda x, y, z: np.maximum(0, ((x - y) ** 2).sum(-1) - ((x - z) ** 2).sum(-1) + 50),
        X, Y, Z,
    )  # fmt: skip
    with pytest.raises(TypeError, match="must be a function"):
        nn.TripletMarginWithDistanceLoss(3)
