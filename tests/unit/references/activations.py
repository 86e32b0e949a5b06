"""Activations and normalisations."""

import numpy as np

from tests.unit.references.case import Case, normal

X = 2 * normal(3, 5)
IMAGES = 2 * normal(2, 4, 3, 2)


def _channels(w, ndim):
    return w.reshape(1, -1, *[1] * (ndim - 2))


def _normalized(x, axes, eps):
    return (x - x.mean(axes, keepdim=True)) / (x.var(axes, keepdim=True, correction=0) + eps).sqrt()


def _affine(y, w):
    return y * _channels(w["gamma"], y.ndim) + _channels(w["beta"], y.ndim)


def _local_response(x, radius, bias, alpha, beta):
    total = sum(
        x.new_zeros(x.shape) if abs(shift) >= x.shape[1] else _shifted(x * x, shift)
        for shift in range(-radius, radius + 1)
    )
    return x / (bias + alpha * total) ** beta


def _shifted(x, shift):
    zeros = x[:, : abs(shift)] * 0
    kept = x[:, : x.shape[1] - shift] if shift > 0 else x[:, -shift:]
    parts = [zeros, kept] if shift > 0 else [kept, zeros]
    return x.new_tensor(0) + _joined(parts)


def _joined(parts):
    whole = parts[0].new_zeros(parts[0].shape[0], sum(p.shape[1] for p in parts), *parts[0].shape[2:])
    start = 0
    for p in parts:
        whole = whole.slice_scatter(p, 1, start, start + p.shape[1])
        start += p.shape[1]
    return whole


MEAN, VARIANCE = np.array([0.5, -1.0, 2.0]), np.array([0.25, 4.0, 1.5])
_MOVING = "moving_mean_init=Tensor([0.5, -1.0, 2.0]), moving_var_init=Tensor([0.25, 4.0, 1.5])"


def _batch_norm(training, eps=1e-5):
    def theirs(f, t, x, w):
        mean, variance = (None, None) if training else (t.tensor(MEAN), t.tensor(VARIANCE))
        return f.batch_norm(x, mean, variance, w["gamma"], w["beta"], training, eps=eps)

    return theirs


GAMMA = {"gamma": (3,), "beta": (3,)}

CASES = [
    Case("nn.CELU(1.5)", (X,), lambda f, t, x: f.celu(x, 1.5)),
    Case("nn.ELU()", (X,), lambda f, t, x: f.elu(x), compiled=True),
    Case("nn.FastGelu()", (X,), lambda f, t, x: x * t.sigmoid(1.702 * x)),
    Case("nn.GELU()", (X,), lambda f, t, x: f.gelu(x, approximate="tanh"), compiled=True),
    Case("nn.GELU(False)", (X,), lambda f, t, x: f.gelu(x)),
    Case("nn.GLU()", (normal(3, 6),), lambda f, t, x: f.glu(x)),
    Case("nn.GLU(axis=0)", (normal(4, 3),), lambda f, t, x: f.glu(x, 0)),
    Case("nn.HShrink()", (X,), lambda f, t, x: f.hardshrink(x)),
    Case("nn.HSigmoid()", (3 * X,), lambda f, t, x: f.relu6(x + 3) / 6),
    Case("nn.HSwish()", (2 * X,), lambda f, t, x: x * f.relu6(x + 3) / 6, compiled=True),
    Case("nn.Hardtanh(-1.0, 2.0)", (X,), lambda f, t, x: f.hardtanh(x, -1.0, 2.0)),
    Case("nn.LRN(1, 1.5, 0.5, 0.75)", (IMAGES,), lambda f, t, x: _local_response(x, 1, 1.5, 0.5, 0.75)),
    Case("nn.LRN()", (IMAGES,), lambda f, t, x: _local_response(x, 5, 1.0, 1.0, 0.5)),
    Case("nn.LeakyReLU()", (X,), lambda f, t, x: f.leaky_relu(x, 0.2)),
    Case("nn.LogSigmoid()", (4 * X,), lambda f, t, x: f.logsigmoid(x)),
    Case("nn.LogSoftmax()", (X,), lambda f, t, x: f.log_softmax(x, -1), compiled=True),
    Case("nn.LogSoftmax(0)", (X,), lambda f, t, x: f.log_softmax(x, 0)),
    Case("nn.Mish()", (X,), lambda f, t, x: f.mish(x), compiled=True),
    Case("nn.PReLU(4, 0.1)", (IMAGES,), lambda f, t, x, w: f.prelu(x, w["w"]), {"w": (4,)}, compiled=True),
    Case("nn.PReLU()", (X,), lambda f, t, x, w: f.prelu(x, w["w"]), {"w": (1,)}),
    Case("nn.ReLU()", (X,), lambda f, t, x: f.relu(x)),
    Case("nn.ReLU6()", (3 * X,), lambda f, t, x: f.relu6(x)),
    Case("nn.RReLU(0.25, 0.25)", (X,), lambda f, t, x: f.rrelu(x, 0.25, 0.25)),
    Case("nn.SeLU()", (X,), lambda f, t, x: f.selu(x), compiled=True),
    Case("nn.SiLU()", (X,), lambda f, t, x: f.silu(x)),
    Case("nn.Sigmoid()", (X,), lambda f, t, x: t.sigmoid(x)),
    Case("nn.SoftShrink(0.75)", (X,), lambda f, t, x: f.softshrink(x, 0.75)),
    Case("nn.Softmax()", (X,), lambda f, t, x: f.softmax(x, -1)),
    Case("nn.Softmax(1)", (IMAGES,), lambda f, t, x: f.softmax(x, 1)),
    Case("nn.Softmax2d()", (IMAGES,), lambda f, t, x: t.nn.Softmax2d()(x)),
    Case("nn.Softmin()", (X,), lambda f, t, x: f.softmin(x, -1)),
    Case("nn.Softsign()", (X,), lambda f, t, x: f.softsign(x)),
    Case("nn.Tanh()", (X,), lambda f, t, x: t.tanh(x)),
    Case("nn.Tanhshrink()", (X,), lambda f, t, x: f.tanhshrink(x)),
    Case("nn.Threshold(0.5, 9.0)", (X,), lambda f, t, x: f.threshold(x, 0.5, 9.0)),
    # --- normalization: in training with the statistics of the batch, elsewhere with those given -----------
    Case("nn.BatchNorm1d(3).set_train()", (normal(5, 3),), _batch_norm(True), GAMMA, compiled=True),
    Case("nn.BatchNorm1d(3, eps=0.01).set_train()", (normal(2, 3, 4),), _batch_norm(True, 0.01), GAMMA),
    Case(f"nn.BatchNorm1d(3, {_MOVING})", (normal(5, 3),), _batch_norm(False), GAMMA, note="given"),
    Case("nn.BatchNorm2d(3).set_train()", (normal(2, 3, 2, 2),), _batch_norm(True), GAMMA),
    Case(f"nn.BatchNorm2d(3, {_MOVING})", (normal(2, 3, 2, 2),), _batch_norm(False), GAMMA, note="given"),
    Case("nn.BatchNorm2d(3, affine=False).set_train()", (normal(2, 3, 2, 2),), lambda f, t, x: f.batch_norm(x, None, None, training=True)),
    Case("nn.BatchNorm3d(3).set_train()", (normal(2, 3, 2, 1, 2),), _batch_norm(True), GAMMA),
    Case("nn.SyncBatchNorm(3).set_train()", (normal(2, 3, 2, 2),), _batch_norm(True), GAMMA),
    Case("nn.GroupNorm(2, 4)", (IMAGES,), lambda f, t, x, w: f.group_norm(x, 2, w["gamma"], w["beta"], 1e-5), {"gamma": (4,), "beta": (4,)}, compiled=True),
    Case("nn.InstanceNorm1d(3)", (normal(2, 3, 4),), lambda f, t, x, w: f.instance_norm(x, weight=w["gamma"], bias=w["beta"]), GAMMA),
    Case("nn.InstanceNorm2d(3)", (normal(2, 3, 2, 3),), lambda f, t, x, w: f.instance_norm(x, weight=w["gamma"], bias=w["beta"]), GAMMA),
    Case("nn.InstanceNorm2d(3, affine=False)", (normal(2, 3, 2, 3),), lambda f, t, x: f.instance_norm(x)),
    Case("nn.InstanceNorm3d(3, 0.01)", (normal(2, 3, 2, 1, 2),), lambda f, t, x, w: f.instance_norm(x, weight=w["gamma"], bias=w["beta"], eps=0.01), GAMMA),
    Case("nn.LayerNorm((4,))", (normal(2, 3, 4),), lambda f, t, x, w: f.layer_norm(x, (4,), w["gamma"], w["beta"], 1e-7), {"gamma": (4,), "beta": (4,)}, compiled=True),
    Case("nn.LayerNorm((3, 4), begin_norm_axis=1, begin_params_axis=1, epsilon=0.01)", (normal(2, 3, 4),), lambda f, t, x, w: f.layer_norm(x, (3, 4), w["gamma"], w["beta"], 0.01), {"gamma": (3, 4), "beta": (3, 4)}),
    Case("nn.LayerNorm((4,), begin_norm_axis=1)", (normal(2, 3, 4),), lambda f, t, x, w: _normalized(x, (1, 2), 1e-7) * w["gamma"] + w["beta"], {"gamma": (4,), "beta": (4,)}),
]  # fmt: skip
