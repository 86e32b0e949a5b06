"""Normalization: values against formulas in NumPy, two derivatives, moving statistics in both modes."""

import numpy as np
import pytest

import mindgrad as ms
from mindgrad import Tensor, nn, ops
from tests.tolerances import assert_close
from tests.unit.derivative_checks import as_parameters, check

RNG = np.random.default_rng(3)


def normalized(x, axes, eps):
    return (x - x.mean(axes, keepdims=True)) / np.sqrt(x.var(axes, keepdims=True) + eps)


def of_channels(w, x):
    return w.reshape(1, -1, *[1] * (x.ndim - 2))


SHAPES = {
    nn.BatchNorm1d: [(5, 3), (4, 3, 6)],
    nn.BatchNorm2d: [(2, 3, 4, 5)],
    nn.BatchNorm3d: [(2, 3, 2, 3, 2)],
}


@pytest.mark.parametrize(("layer", "shape"), [(k, s) for k, all in SHAPES.items() for s in all])
def test_batch_norm_in_training(layer, shape):
    x = RNG.normal(size=shape) * 2 + 1
    cell = layer(3, eps=1e-3, momentum=0.8)
    cell.set_train()
    function, values = as_parameters(cell)
    axes = (0, *range(2, len(shape)))

    def formula(x, gamma, beta):
        return normalized(x, axes, 1e-3) * of_channels(gamma, x) + of_channels(beta, x)

    check(function, formula, x, *values)


def test_moving_statistics_follow_the_batches():
    cell = nn.BatchNorm1d(3, momentum=0.8).set_train()
    mean, variance = np.zeros(3), np.ones(3)
    for _ in range(3):
        x = RNG.normal(size=(7, 3)).astype(np.float32) * 3 + 2
        cell(Tensor(x))
        mean, variance = 0.8 * mean + 0.2 * x.mean(0), 0.8 * variance + 0.2 * x.var(0, ddof=1)
    assert_close(cell.moving_mean, mean, kind="program")
    assert_close(cell.moving_variance, variance, kind="program")
    cell.set_train(False)
    expected = (x - mean) / np.sqrt(variance + 1e-5)
    assert_close(cell(Tensor(x)), expected, kind="program")
    assert_close(cell.moving_mean, mean, kind="program")  # stays


def test_a_batch_of_one_element_leaves_finite_statistics():
    cell = nn.BatchNorm1d(2, momentum=0.75).set_train()
    cell(Tensor([[1.0, 2.0]]))
    assert cell.moving_mean.asnumpy().tolist() == [0.25, 0.5]
    assert cell.moving_variance.asnumpy().tolist() == [0.75, 0.75]


def test_batch_norm_elsewhere_is_affine():
    x = RNG.normal(size=(4, 3))
    mean, variance = RNG.normal(size=3), RNG.uniform(0.5, 2, 3)
    cell = nn.BatchNorm1d(
        3, moving_mean_init=Tensor(mean), moving_var_init=Tensor(variance), dtype=ms.float64
    )
    function, values = as_parameters(cell)
    check(function, lambda x, g, b: (x - mean) / np.sqrt(variance + 1e-5) * g + b, x, *values)


def test_use_batch_statistics_decides_alone():
    x = Tensor(RNG.normal(size=(4, 3)).astype(np.float32))
    always = nn.BatchNorm1d(3, use_batch_statistics=True)
    assert_close(always(x), normalized(x.asnumpy(), (0,), 1e-5), kind="contraction")
    assert (always.moving_mean.asnumpy() != 0).all()
    never = nn.BatchNorm1d(3, use_batch_statistics=False).set_train()
    assert_close(never(x), x.asnumpy() / np.sqrt(1 + 1e-5))
    assert (never.moving_mean.asnumpy() == 0).all()


class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        init = Tensor(np.linspace(-1, 1, 12, dtype=np.float32).reshape(4, 3))
        self.dense = nn.Dense(3, 4, weight_init=init, bias_init="zeros")
        self.norm = nn.BatchNorm1d(4)
        self.out = nn.Dense(4, 1, weight_init="ones", bias_init="zeros")

    def construct(self, x):
        return self.out(ops.tanh(self.norm(self.dense(x)))).sum()


def trained(steps):
    """Gradients and statistics of a net after a few calls of value and gradient, and one plain call."""
    net = Net().set_train()
    both = ms.value_and_grad(net, 0, net.trainable_params())
    rng = np.random.default_rng(0)
    for _ in range(steps):
        x = Tensor(rng.normal(size=(6, 3)).astype(np.float32))
        value, gradients = both(x)
    net(x)
    found = [value, gradients[0], *gradients[1], net.norm.moving_mean, net.norm.moving_variance]
    return [each.asnumpy() for each in found]


def test_statistics_under_gradients_are_the_same_compiled():
    eager = trained(3)
    rng = np.random.default_rng(0)
    mean = np.zeros(4)
    weight = np.linspace(-1, 1, 12).reshape(4, 3)
    batches = [rng.normal(size=(6, 3)).astype(np.float32) for _ in range(3)]
    for x in [*batches, batches[-1]]:  # once for each call, never more
        mean = 0.9 * mean + 0.1 * (x @ weight.T).mean(0)
    assert_close(eager[-2], mean, kind="program")
    ms.set_context(mode=ms.GRAPH_MODE)
    for a, b in zip(trained(3), eager, strict=True):
        assert_close(a, b, kind="program", scale=1)


def test_training_and_evaluation_are_two_programs():
    ms.set_context(mode=ms.GRAPH_MODE)
    cell = nn.BatchNorm2d(2)
    x = Tensor(RNG.normal(size=(2, 2, 3, 3)).astype(np.float32))
    outside = cell(x).asnumpy()
    inside = cell.set_train()(x).asnumpy()
    assert_close(inside, normalized(x.asnumpy(), (0, 2, 3), 1e-5), kind="contraction")
    assert_close(outside, x.asnumpy() / np.sqrt(1 + 1e-5))
    assert (cell.set_train(False)(x).asnumpy() != outside).any()  # the statistics have moved


def test_half_precision_keeps_the_statistics():
    cell = nn.BatchNorm1d(2).to_float(ms.float16).set_train()
    x = Tensor(np.full((2048, 2), 300.0, np.float32) + RNG.normal(size=(2048, 2)).astype(np.float32))
    y = cell(x)
    assert y.dtype == ms.float16
    assert cell.moving_mean.dtype == ms.float32
    np.testing.assert_allclose(cell.moving_mean.asnumpy(), 30, rtol=1e-3)  # the mean of random numbers


# --- the others --------------------------------------------------------------------------------------


@pytest.mark.parametrize(("shape", "first"), [((3, 4), -1), ((2, 3, 4), -2)])
def test_layer_norm(shape, first):
    x = RNG.normal(size=shape)
    cell = nn.LayerNorm(shape[first:], first, first, epsilon=1e-3)
    function, values = as_parameters(cell)
    axes = tuple(range(len(shape) + first, len(shape)))
    check(function, lambda x, g, b: normalized(x, axes, 1e-3) * g + b, x, *values)
    assert [p.name for p in cell.trainable_params()] == ["gamma", "beta"]


def test_layer_norm_as_a_function():
    x, w, b = RNG.normal(size=(2, 3, 4)), RNG.normal(size=(3, 4)), RNG.normal(size=(3, 4))
    check(
        lambda x, w, b: ops.layer_norm(x, (3, 4), w, b),
        lambda x, w, b: normalized(x, (1, 2), 1e-5) * w + b,
        x, w, b,
    )  # fmt: skip


def test_group_norm():
    x = RNG.normal(size=(2, 6, 3, 2))
    function, values = as_parameters(nn.GroupNorm(3, 6))

    def formula(x, gamma, beta):
        y = normalized(x.reshape(2, 3, 2, 3, 2), (2, 3, 4), 1e-5).reshape(x.shape)
        return y * of_channels(gamma, x) + of_channels(beta, x)

    check(function, formula, x, *values)


@pytest.mark.parametrize(
    ("layer", "shape"),
    [
        (nn.InstanceNorm1d, (2, 3, 5)),
        (nn.InstanceNorm2d, (2, 3, 4, 2)),
        (nn.InstanceNorm3d, (2, 3, 2, 2, 3)),
    ],
)
def test_instance_norm(layer, shape):
    x = RNG.normal(size=shape)
    function, values = as_parameters(layer(3))
    axes = tuple(range(2, len(shape)))
    check(
        function,
        lambda x, g, b: normalized(x, axes, 1e-5) * of_channels(g, x) + of_channels(b, x),
        x, *values,
    )  # fmt: skip


def test_batch_norm_as_a_function():
    x, mean, variance = RNG.normal(size=(4, 3, 2)), RNG.normal(size=3), RNG.uniform(0.5, 2, 3)
    w, b = RNG.normal(size=3), RNG.normal(size=3)
    check(
        lambda x, m, v, w, b: ops.batch_norm(x, m, v, w, b),
        lambda x, m, v, w, b: (x - of_channels(m, x)) / np.sqrt(of_channels(v, x) + 1e-5) * of_channels(w, x) + of_channels(b, x),
        x, mean, variance, w, b,
    )  # fmt: skip
    found = ops.batch_norm(*map(Tensor, (x, mean, variance, w, b)), training=True)
    expected = normalized(x, (0, 2), 1e-5) * of_channels(w, x) + of_channels(b, x)
    assert_close(found, expected, kind="program")


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda: nn.BatchNorm2d(3)(Tensor(np.ones((2, 3)))), ValueError, r"For 'BatchNorm2d', the input must have 4 axes and 3 channels"),
        (lambda: nn.BatchNorm1d(3)(Tensor(np.ones((2, 4)))), ValueError, r"2 or 3 axes and 3 channels .* \(2, 4\)"),
        (lambda: nn.BatchNorm1d(0), ValueError, "'num_features' must be at least 1"),
        (lambda: nn.BatchNorm1d(3, momentum=1.5), ValueError, "'momentum' must be from 0 to 1"),
        (lambda: nn.BatchNorm1d(3, use_batch_statistics=1), ValueError, "must be a bool or None"),
        (lambda: nn.BatchNorm2d(3, data_format="NHWC"), ValueError, "must be 'NCHW', but got 'NHWC'; move the channels"),
        (lambda: nn.BatchNorm2d(3, gamma_init=Tensor([1.0])), ValueError, r"initial value of 'gamma' must have the shape \(3,\)"),
        (lambda: nn.LayerNorm(3), TypeError, "must be a tuple or list of ints"),
        (lambda: nn.LayerNorm((3,))(Tensor(np.ones((3, 4)))), ValueError, r"beginning with axis -1, must be \(3,\)"),
        (lambda: nn.GroupNorm(4, 6), ValueError, "must be a multiple of 'num_groups'"),
        (lambda: nn.GroupNorm(3, 6)(Tensor(np.ones((2, 3)))), ValueError, "must have 6 channels"),
        (lambda: nn.InstanceNorm2d(3)(Tensor(np.ones((2, 3, 4)))), ValueError, "must have 4 axes and 3 channels"),
        (lambda: nn.BatchNorm1d(3).set_train()(Tensor(np.ones((0, 3)))), ValueError, "must not be empty"),
    ],
)  # fmt: skip
def test_refusals(call, error, text):
    with pytest.raises(error, match=text):
        call()
