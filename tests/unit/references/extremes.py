"""Numbers so large or small that a formula written down plainly fails, equal numbers, and unusual sizes.

Left out is what PyTorch itself does not give: Mish' second derivative (NaN from 90 on), SoftMarginLoss of far
numbers (infinite), the second derivative of a norm at zero (NaN; here 0, docs/conventions.md); and nearest
neighbors for a broken factor, which follow from the sizes alone in MindSpore.
"""

import numpy as np

from tests.unit.references.case import Case, normal, shares, whole, within

LINE = np.array([-1e4, -800, -90, -30, -1e-12, 1e-12, 30, 90, 800, 1e4])
ROWS = np.array([[1000.0, -1000, 0], [-1000, 1000, 30], [50, -50, 1e-3]])
HARD = np.array([[1.0, 0, 1], [0, 1, 0], [1, 1, 0]])
FLAT = np.array([[2.0, 2, 2], [2, 3, 1], [2, 0, 0]])
TIES = np.round(normal(1, 2, 6, 5))
IMAGES, VOLUMES = normal(1, 2, 5, 6), normal(1, 2, 3, 4, 5)
MASK = normal(4, 3, 5)
_SCALED = {"gamma": (3,), "beta": (3,)}


def _focal(f, x, c):
    logs = f.log_softmax(x, 1).gather(1, c.long())
    return (-((1 - logs.exp()) ** 2) * logs).mean()


def _layer_norm(f, t, x, w):
    return f.layer_norm(x, (3,), w["gamma"], w["beta"], 1e-7)


def _attended(f, t, q, k, v, w):
    found, weights = f.multi_head_attention_forward(
        q, k, v, 4, 2, w["in_proj_weight"], w["in_proj_bias"], None, None, False, 0.0,
        w["out_proj.weight"], w["out_proj.bias"], attn_mask=t.tensor(MASK),
    )  # fmt: skip
    return found, weights


CASES = [
    Case("nn.Sigmoid()", (LINE,), lambda f, t, x: t.sigmoid(x)),
    Case("nn.LogSigmoid()", (LINE,), lambda f, t, x: f.logsigmoid(x)),
    Case("nn.SiLU()", (LINE,), lambda f, t, x: f.silu(x)),
    Case("nn.GELU()", (LINE,), lambda f, t, x: f.gelu(x, approximate="tanh")),
    Case("nn.GELU(False)", (LINE,), lambda f, t, x: f.gelu(x)),
    Case("nn.FastGelu()", (LINE,), lambda f, t, x: x * t.sigmoid(1.702 * x)),
    Case("nn.ELU()", (LINE,), lambda f, t, x: f.elu(x)),
    Case("nn.CELU()", (LINE,), lambda f, t, x: f.celu(x)),
    Case("nn.SeLU()", (LINE,), lambda f, t, x: f.selu(x)),
    Case("nn.Softsign()", (LINE,), lambda f, t, x: f.softsign(x)),
    Case("nn.Tanh()", (LINE,), lambda f, t, x: t.tanh(x)),
    Case("nn.Tanhshrink()", (LINE,), lambda f, t, x: f.tanhshrink(x)),
    Case("nn.HSwish()", (LINE,), lambda f, t, x: x * f.relu6(x + 3) / 6),
    Case("nn.Softmax()", (ROWS,), lambda f, t, x: f.softmax(x, -1)),
    Case("nn.Softmax(0)", (normal(3),), lambda f, t, x: f.softmax(x, 0)),
    Case("nn.LogSoftmax()", (ROWS,), lambda f, t, x: f.log_softmax(x, -1)),
    Case("nn.ReduceLogSumExp(1)", (ROWS,), lambda f, t, x: x.logsumexp(1), note="far"),
    Case("nn.LayerNorm((3,))", (FLAT,), _layer_norm, _SCALED),
    Case("nn.LayerNorm((3,))", (1e6 + normal(2, 3),), _layer_norm, _SCALED, note="far"),
    Case("nn.BatchNorm1d(3).set_train()", (FLAT,), lambda f, t, x, w: f.batch_norm(x, None, None, w["gamma"], w["beta"], True, eps=1e-5), _SCALED),
    # --- losses --------------------------------------------------------------------------------------------
    Case("nn.CrossEntropyLoss()", (ROWS, whole(1, 0, 2)), lambda f, t, x, c: f.cross_entropy(x, c.long())),
    Case("nn.CrossEntropyLoss()", (normal(3), np.array(1, np.int32)), lambda f, t, x, c: f.cross_entropy(x, c.long())),
    Case("nn.CrossEntropyLoss(label_smoothing=0.3)", (normal(2, 3, 2, 2), shares(2, 3, 2, 2)), lambda f, t, x, q: f.cross_entropy(x, q, label_smoothing=0.3)),
    Case("nn.FocalLoss()", (ROWS, whole([1], [0], [2])), lambda f, t, x, c: _focal(f, x, c)),
    Case("nn.BCEWithLogitsLoss()", (ROWS, within(3, 3)), lambda f, t, x, q: f.binary_cross_entropy_with_logits(x, q)),
    Case("nn.BCEWithLogitsLoss()", (ROWS, HARD), lambda f, t, x, q: f.binary_cross_entropy_with_logits(x, q), note="hard"),
    Case("nn.MultiLabelSoftMarginLoss()", (ROWS, HARD), lambda f, t, x, q: f.multilabel_soft_margin_loss(x, q), fixed=(1,)),
    Case("nn.KLDivLoss()", (normal(3, 3), HARD), lambda f, t, x, q: f.kl_div(x, q), fixed=(1,)),
    Case("nn.PoissonNLLLoss(full=True)", (normal(3, 3), 3 * HARD), lambda f, t, x, q: f.poisson_nll_loss(x, q, full=True), fixed=(1,)),
    Case("nn.HuberLoss()", (np.array([1e200, -1e200, 1, 0]), np.zeros(4)), lambda f, t, x, y: f.huber_loss(x, y), fixed=(1,)),
    Case("nn.TripletMarginLoss()", (normal(3, 3), normal(3, 3), normal(3, 3, salt="far")), lambda f, t, x, y, z: f.triplet_margin_loss(x, y, z), note="equal"),
    Case("nn.CosineEmbeddingLoss()", (np.array([[0.0, 0, 0], [1, 2, 3]]), np.array([[1.0, 0, 0], [1, 2, 3]]), whole(1, -1)), lambda f, t, x, y, s: f.cosine_embedding_loss(x, y, s), note="zero"),
    # --- equal numbers: the first in memory is the greatest ------------------------------------------------
    Case("nn.MaxPool2d(2, 2)", (TIES,), lambda f, t, x: f.max_pool2d(x, 2, 2)),
    Case("nn.MaxPool2d(3, 2, 'pad', 1)", (TIES,), lambda f, t, x: f.max_pool2d(x, 3, 2, 1)),
    Case("nn.MaxPool2d(3, 1, ceil_mode=True)", (TIES,), lambda f, t, x: f.max_pool2d(x, 3, 1, ceil_mode=True)),
    Case("nn.MaxPool3d(2, 2, 'pad', 1, ceil_mode=True, return_indices=True)", (np.round(VOLUMES),), lambda f, t, x: f.max_pool3d(x, 2, 2, 1, 1, True, True)),
    Case("nn.MaxPool1d(3, 2, 'pad', 1, 2, True, True)", (np.round(normal(1, 2, 8)),), lambda f, t, x: f.max_pool1d(x, 3, 2, 1, 2, True, True)),
    Case("nn.AdaptiveMaxPool2d((4, 5))", (TIES,), lambda f, t, x: f.adaptive_max_pool2d(x, (4, 5))),
    # --- sizes ---------------------------------------------------------------------------------------------
    Case("nn.AvgPool1d(3, 2, 'pad', 1, True, False)", (normal(1, 2, 8),), lambda f, t, x: f.avg_pool1d(x, 3, 2, 1, True, False)),
    Case("nn.AvgPool1d(3, 3, 'pad', 1, True)", (normal(1, 2, 8),), lambda f, t, x: f.avg_pool1d(x, 3, 3, 1, True)),
    Case("nn.LPPool1d(2, 3, 2)", (within(1, 2, 8),), lambda f, t, x: f.lp_pool1d(x, 2.0, 3, 2)),
    Case("nn.LPPool2d(3, 2)", (within(1, 2, 5, 6),), lambda f, t, x: f.lp_pool2d(x, 3.0, 2)),
    Case("nn.MaxUnpool1d(2)", (normal(1, 2, 4), whole([[0, 3, 4, 7], [1, 2, 5, 6]])), lambda f, t, x, i: f.max_unpool1d(x, i.long(), 2)),
    Case("nn.MaxUnpool2d(2)", (normal(1, 1, 2, 2), whole([[[0, 3], [8, 15]]])), lambda f, t, x, i: f.max_unpool2d(x, i.long(), 2)),
    Case("nn.MaxUnpool3d(2)", (normal(1, 1, 1, 2, 2), whole([[[[0, 7], [20, 31]]]])), lambda f, t, x, i: f.max_unpool3d(x, i.long(), 2)),
    Case("nn.AvgPool2d(2, 3, 'pad', 1, True)", (IMAGES,), lambda f, t, x: f.avg_pool2d(x, 2, 3, 1, True)),
    Case("nn.AvgPool3d(2, 2, 'pad', 1, True, False)", (VOLUMES,), lambda f, t, x: f.avg_pool3d(x, 2, 2, 1, True, False)),
    Case("nn.AvgPool3d(2, 2, 'pad', 1, True, True, 3)", (VOLUMES,), lambda f, t, x: f.avg_pool3d(x, 2, 2, 1, True, True, 3)),
    Case("nn.AdaptiveAvgPool2d((7, 8))", (IMAGES,), lambda f, t, x: f.adaptive_avg_pool2d(x, (7, 8))),
    Case("nn.AdaptiveMaxPool2d((7, 8), True)", (IMAGES,), lambda f, t, x: f.adaptive_max_pool2d(x, (7, 8), True)),
    Case("nn.AdaptiveMaxPool3d((2, 5, 1), True)", (VOLUMES,), lambda f, t, x: f.adaptive_max_pool3d(x, (2, 5, 1), True)),
    Case("nn.Upsample(1, mode='linear', align_corners=True)", (normal(1, 2, 5),), lambda f, t, x: f.interpolate(x, 1, mode="linear", align_corners=True)),
    Case("nn.Upsample((1, 3), mode='bicubic', align_corners=True)", (IMAGES,), lambda f, t, x: f.interpolate(x, (1, 3), mode="bicubic", align_corners=True)),
    Case("nn.Upsample((3, 2, 4))", (normal(1, 2, 2, 3, 2),), lambda f, t, x: f.interpolate(x, (3, 2, 4))),
    Case("nn.Upsample((3, 2, 4), mode='trilinear', align_corners=True)", (normal(1, 2, 2, 3, 2),), lambda f, t, x: f.interpolate(x, (3, 2, 4), mode="trilinear", align_corners=True)),
    Case("nn.Upsample(3, mode='area')", (normal(1, 2, 5),), lambda f, t, x: f.interpolate(x, 3, mode="area")),
    Case("nn.MultiheadAttention(4, 2)", tuple(normal(n, 2, 4, salt=salt) for n, salt in ((3, "q"), (5, "k"), (5, "v"))), _attended, {"in_proj_weight": (12, 4), "in_proj_bias": (12,), "out_proj.weight": (4, 4), "out_proj.bias": (4,)}, takes="*x, attn_mask=Tensor(MASK)", note="added mask"),
]  # fmt: skip
