"""Losses. Where PyTorch cannot differentiate twice, or in the targets, the formula stands in its place."""

import numpy as np

from tests.unit.references.case import Case, normal, shares, whole, within

X, Y, Z = (2 * normal(4, 3, salt=salt) for salt in "xyz")
P, Q = within(4, 3, salt="p"), within(4, 3, salt="q")
SIGNS = np.where(normal(4, 3, salt="signs") > 0, 1.0, -1.0)
SHARES = shares(4, 3)
CLASSES = whole(2, 0, 1, 1)
MAPS, MAP_CLASSES = normal(2, 3, 2, 2), whole([[0, 2], [1, 1]], [[2, 2], [0, 1]])
W = "Tensor(np.array([0.5, 2.0, 1.25]))"
MASK = whole([1, 0, 0], [0, 1, 1], [1, 1, 0], [0, 0, 1])


def _w(t):
    return t.tensor([0.5, 2.0, 1.25], dtype=t.float64)


def _reduced(reduction, loss):
    return {"mean": loss.mean, "sum": loss.sum, "none": lambda: loss}[reduction]()


def _each_reduction(made, inputs, theirs, **more):
    """A row for each reduction; `made` has a place for the name of one."""
    return [
        Case(made.format(f"reduction='{r}'"), inputs, lambda f, t, *x, r=r: theirs(f, t, r, *x), **more)
        for r in ("mean", "sum", "none")
    ]


def _multi_margin(t, x, target, p, margin, weight):
    """(1/c) Σ_{i≠y} w_y max(0, margin − x_y + x_i)^p of each row."""
    own = x.gather(1, target.long()[:, None])
    each = (margin - own + x).clamp(min=0) ** p * weight[target.long()][:, None]
    return (each * (1 - t.nn.functional.one_hot(target.long(), x.shape[1]))).sum(1) / x.shape[1]


def _multilabel_margin(t, x, target):
    """(1/c) Σ over classes j named before the first −1 and others i of max(0, 1 − (x_j − x_i)) of each row."""
    rows = []
    for row, labels in zip(x, target.tolist(), strict=True):
        named = labels[: labels.index(-1)] if -1 in labels else labels
        others = [i for i in range(len(labels)) if i not in named]
        rows.append(
            sum((1 - row[j] + row[i]).clamp(min=0) for j in named for i in others) / len(labels)
            + 0 * row.sum()
        )
    return t.stack(rows)


def _binary(p, q):
    return -(q * p.log() + (1 - q) * (1 - p).log())


def _dice(x, y, smooth=1e-5):
    return 1 - 2 * (x * y).sum() / ((x * x).sum() + (y * y).sum() + smooth)


def _focal(t, x, target, gamma, weight=None):
    logs = t.nn.functional.log_softmax(x, 1).gather(1, target.long())
    loss = -((1 - logs.exp()) ** gamma) * logs
    if weight is not None:
        loss = loss * weight[target.long()]
    return loss.reshape(len(x), -1).mean(1)


def _soft(t, x):
    return t.nn.functional.softplus(x, threshold=500)


CASES = [
    *_each_reduction("nn.L1Loss({})", (X, Y), lambda f, t, r, x, y: f.l1_loss(x, y, reduction=r)),
    Case("nn.MAELoss()", (X, Y), lambda f, t, x, y: f.l1_loss(x, y)),
    *_each_reduction("nn.MSELoss({})", (X, Y), lambda f, t, r, x, y: f.mse_loss(x, y, reduction=r)),
    Case("nn.RMSELoss()", (X, Y), lambda f, t, x, y: f.mse_loss(x, y).sqrt(), compiled=True),
    Case("nn.SmoothL1Loss()", (X, Y), lambda f, t, x, y: f.smooth_l1_loss(x, y, reduction="none")),
    *_each_reduction("nn.SmoothL1Loss(0.7, {})", (X, Y), lambda f, t, r, x, y: f.smooth_l1_loss(x, y, reduction=r, beta=0.7)),
    *_each_reduction("nn.HuberLoss({}, delta=1.5)", (X, Y), lambda f, t, r, x, y: f.huber_loss(x, y, reduction=r, delta=1.5)),
    *_each_reduction("nn.CosineEmbeddingLoss(-0.5, {})", (X, Y, whole(1, -1, 1, -1)), lambda f, t, r, x, y, s: f.cosine_embedding_loss(x, y, s, -0.5, reduction=r)),
    *_each_reduction("nn.SoftMarginLoss({})", (X, SIGNS), lambda f, t, r, x, s: _reduced(r, _soft(t, -s * x))),
    *_each_reduction("nn.MarginRankingLoss(0.3, {})", (X, Y, SIGNS), lambda f, t, r, x, y, s: f.margin_ranking_loss(x, y, s, 0.3, reduction=r), fixed=(2,)),
    *_each_reduction("nn.TripletMarginLoss({})", (X, Y, Z), lambda f, t, r, x, y, z: f.triplet_margin_loss(x, y, z, reduction=r)),
    Case("nn.TripletMarginLoss(3, True, 1e-4, margin=3.0)", (X, Y, Z), lambda f, t, x, y, z: f.triplet_margin_loss(x, y, z, 3.0, 3, 1e-4, True), compiled=True),
    *_each_reduction("nn.TripletMarginWithDistanceLoss(lambda a, b: ops.abs(a - b).sum(-1), True, margin=2.0, {})", (X, Y, Z), lambda f, t, r, x, y, z: f.triplet_margin_with_distance_loss(x, y, z, distance_function=lambda a, b: (a - b).abs().sum(-1), margin=2.0, swap=True, reduction=r)),
    Case("nn.TripletMarginWithDistanceLoss()", (X, Y, Z), lambda f, t, x, y, z: f.triplet_margin_with_distance_loss(x, y, z)),
    *_each_reduction("nn.HingeEmbeddingLoss(1.5, {})", (X, SIGNS), lambda f, t, r, x, s: f.hinge_embedding_loss(x, s, 1.5, reduction=r), fixed=(1,)),
    *_each_reduction("nn.MultiMarginLoss(1, 0.5, {})", (X, CLASSES), lambda f, t, r, x, c: _reduced(r, _multi_margin(t, x, c, 1, 0.5, t.ones(3)))),
    Case(f"nn.MultiMarginLoss(2, weight={W})", (X, CLASSES), lambda f, t, x, c: _multi_margin(t, x, c, 2, 1.0, _w(t)).mean()),
    Case("nn.MultilabelMarginLoss(reduction='none')", (X, whole([2, 0, -1], [1, -1, 0], [0, -1, -1], [2, 1, 0])), lambda f, t, x, c: _multilabel_margin(t, x, c), note="formula"),
    Case("nn.MultilabelMarginLoss()", (X, whole([2, 0, -1], [1, -1, 0], [0, -1, -1], [2, -1, 0])), lambda f, t, x, c: _multilabel_margin(t, x, c).mean(), note="formula"),
    *_each_reduction(f"nn.MultiLabelSoftMarginLoss({W}, {{}})", (X, Q), lambda f, t, r, x, q: f.multilabel_soft_margin_loss(x, q, _w(t), reduction=r)),
    *_each_reduction("nn.BCELoss({})", (P, Q), lambda f, t, r, p, q: _reduced(r, _binary(p, q))),
    Case(f"nn.BCELoss({W})", (P, Q), lambda f, t, p, q: f.binary_cross_entropy(p, q, _w(t)), fixed=(1,)),
    *_each_reduction("nn.BCEWithLogitsLoss({})", (X, Q), lambda f, t, r, x, q: f.binary_cross_entropy_with_logits(x, q, reduction=r)),
    Case(f"nn.BCEWithLogitsLoss(weight={W}, pos_weight=3 * {W})", (X, Q), lambda f, t, x, q: f.binary_cross_entropy_with_logits(x, q, _w(t), pos_weight=3 * _w(t)), compiled=True),
    *_each_reduction("nn.CrossEntropyLoss({})", (X, CLASSES), lambda f, t, r, x, c: f.cross_entropy(x, c.long(), reduction=r)),
    *_each_reduction(f"nn.CrossEntropyLoss({W}, 1, label_smoothing=0.2, {{}})", (X, CLASSES), lambda f, t, r, x, c: f.cross_entropy(x, c.long(), _w(t), ignore_index=1, reduction=r, label_smoothing=0.2)),
    *_each_reduction(f"nn.CrossEntropyLoss({W}, {{}}, label_smoothing=0.2)", (X, SHARES), lambda f, t, r, x, q: f.cross_entropy(x, q, _w(t), reduction=r, label_smoothing=0.2)),
    Case(f"nn.CrossEntropyLoss({W})", (MAPS, MAP_CLASSES), lambda f, t, x, c: f.cross_entropy(x, c.long(), _w(t)), compiled=True),
    *_each_reduction(f"nn.NLLLoss({W}, 2, {{}})", (X, CLASSES), lambda f, t, r, x, c: f.nll_loss(x, c.long(), _w(t), ignore_index=2, reduction=r)),
    Case("nn.NLLLoss()", (MAPS, MAP_CLASSES), lambda f, t, x, c: f.nll_loss(x, c.long())),
    *_each_reduction("nn.KLDivLoss({})", (X, SHARES), lambda f, t, r, x, q: f.kl_div(x, q, reduction=r)),
    Case("nn.KLDivLoss('batchmean')", (X, SHARES), lambda f, t, x, q: f.kl_div(x, q, reduction="batchmean"), compiled=True),
    *_each_reduction("nn.PoissonNLLLoss({})", (X, 3 * Q), lambda f, t, r, x, q: f.poisson_nll_loss(x, q, reduction=r)),
    Case("nn.PoissonNLLLoss(full=True)", (X, 3 * Q), lambda f, t, x, q: f.poisson_nll_loss(x, q, full=True)),
    Case("nn.PoissonNLLLoss(False, False, 0.01)", (P, 3 * Q), lambda f, t, p, q: f.poisson_nll_loss(p, q, log_input=False, eps=0.01)),
    *_each_reduction("nn.GaussianNLLLoss({})", (X, Y, P), lambda f, t, r, x, y, v: f.gaussian_nll_loss(x, y, v, reduction=r)),
    Case("nn.GaussianNLLLoss(full=True)", (X, Y, P[:, :1]), lambda f, t, x, y, v: f.gaussian_nll_loss(x, y, v, full=True), compiled=True),
    Case("nn.SoftmaxCrossEntropyWithLogits()", (X, SHARES), lambda f, t, x, q: f.cross_entropy(x, q, reduction="none")),
    Case("nn.SoftmaxCrossEntropyWithLogits(True, 'mean')", (X, CLASSES), lambda f, t, x, c: f.cross_entropy(x, c.long())),
    Case("nn.SoftmaxCrossEntropyWithLogits(True, 'sum')", (X, CLASSES), lambda f, t, x, c: f.cross_entropy(x, c.long(), reduction="sum")),
    # --- MindSpore's own ---------------------------------------------------------------------------------
    Case("nn.DiceLoss()", (P, Q), lambda f, t, p, q: _dice(p, q)),
    Case("nn.DiceLoss(0.5)", (P, Q), lambda f, t, p, q: _dice(p, q, 0.5), compiled=True),
    Case("nn.MultiClassDiceLoss()", (X, Q), lambda f, t, x, q: sum(_dice(f.softmax(x, -1)[:, c], q[:, c]) for c in range(3)) / 3),
    Case(f"nn.MultiClassDiceLoss({W}, 1, 'sigmoid')", (X, Q), lambda f, t, x, q: sum(_w(t)[c] * _dice(t.sigmoid(x)[:, c], q[:, c]) for c in (0, 2)) / 3),
    *_each_reduction("nn.FocalLoss({})", (X, CLASSES[:, None]), lambda f, t, r, x, c: _reduced(r, _focal(t, x, c, 2.0))),
    Case(f"nn.FocalLoss({W}, 1.5)", (MAPS, MAP_CLASSES[:, None]), lambda f, t, x, c: _focal(t, x, c, 1.5, _w(t)).mean(), compiled=True),
    *_each_reduction("nn.FocalLoss(gamma=3.0, {})", (X, MASK), lambda f, t, r, x, m: _reduced(r, -((1 - f.softmax(x, 1)) ** 3) * f.log_softmax(x, 1) * m)),
]  # fmt: skip
