"""Dropout: functions, classes of operators and layers."""

import numpy as np
import pytest

import mindgrad as ms
from mindgrad import Tensor, mint, nn, ops

N = 20_000


def test_dropout_keeps_the_mean_and_its_gradient_is_its_mask():
    ms.set_seed(1)
    x = Tensor(np.random.default_rng(0).uniform(1, 2, N))
    y = ops.dropout(x, 0.3)
    kept = y.asnumpy() != 0
    assert abs(kept.mean() - 0.7) < 0.015
    assert np.allclose(y.asnumpy()[kept], x.asnumpy()[kept] / 0.7)
    ms.set_seed(1)
    slope = ms.grad(lambda x: ops.dropout(x, 0.3))(x).asnumpy()
    assert np.allclose(slope, kept / 0.7)
    assert ops.dropout(x, 0.3, training=False) is x
    assert (ops.dropout(x, 1.0) == 0).all()


def test_dropout_as_a_class_gives_its_mask():
    ms.set_seed(1)
    x = ops.ones(1000)
    y, mask = ops.Dropout(keep_prob=0.8)(x)
    assert mask.dtype is x.dtype
    assert np.allclose(y.asnumpy(), mask.asnumpy() / 0.8)
    ms.set_seed(1)
    again, _ = ops.Dropout(0.8, Seed0=3)(x)
    assert (again != y).any()
    z, kept = ops.Dropout2D(keep_prob=0.5)(ops.ones((20, 3, 2, 2)))
    assert kept.dtype is ms.bool_
    assert kept.shape == z.shape
    assert np.allclose(z.asnumpy(), kept.asnumpy() / 0.5)
    _, kept = ops.Dropout3D(keep_prob=0.5)(ops.ones((20, 3, 2, 2, 2)))
    assert 10 < kept.asnumpy()[:, :, 0, 0, 0].sum() < 50


@pytest.mark.parametrize("layer", [nn.Dropout1d, nn.Dropout2d, nn.Dropout3d])
def test_channel_dropout_in_evaluation_returns_inputs_of_any_rank(layer):
    x = Tensor(np.ones((1, 8), np.float32))
    assert layer(p=0.2)(x) is x
    with pytest.raises(ValueError, match="axes"):
        layer(p=0.2).set_train()(Tensor([1.0]))


@pytest.mark.parametrize(
    ("layer", "shape"),
    [(nn.Dropout1d, (40, 3, 5)), (nn.Dropout2d, (40, 3, 2, 2)), (nn.Dropout3d, (40, 3, 2, 2, 2))],
)
def test_channels_are_dropped_together(layer, shape):
    ms.set_seed(1)
    net = layer(p=0.25).set_train()
    actual = net(ops.ones(shape)).asnumpy().reshape(40, 3, -1)
    assert (actual == actual[:, :, :1]).all()
    assert 0.6 < (actual != 0).mean() < 0.9
    assert np.allclose(actual[actual != 0], 4 / 3)
    assert (net.set_train(False)(ops.ones(shape)) == 1).all()
    assert (layer().set_train()(ops.ones(shape[1:])).asnumpy().reshape(3, -1).std(1) == 0).all()


@pytest.mark.filterwarnings("ignore:The first argument of nn.Dropout")
def test_dropout_layers_take_both_generations_of_arguments():
    assert repr(nn.Dropout(0.9)) == "Dropout(keep_prob=0.9)"
    assert repr(nn.Dropout(p=0.25)) == "Dropout(p=0.25)"
    x = ops.ones(10)
    assert nn.Dropout(0.9)(x) is x
    assert (nn.Dropout(keep_prob=1.0).set_train()(x) == 1).all()
    assert (nn.Dropout(p=1.0).set_train()(x) == 0).all()


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda: ops.dropout(ops.ones(2), 1.5), ValueError, r"'p' must be in the range \[0, 1\]"),
        (lambda: ops.dropout(ops.ones(2, ms.int32), 0.5), TypeError, "floating-point"),
        (lambda: ops.dropout(ops.ones(2), 0.5, 1), TypeError, "'training' must be bool"),
        (lambda: ops.Dropout(0.0), ValueError, r"'keep_prob' must be in the range \(0, 1\]"),
        (lambda: ops.Dropout2D()(ops.ones(2)), ValueError, "must have 4 axes"),
        (lambda: nn.Dropout(1.5), ValueError, "'keep_prob'"),
        (lambda: nn.Dropout(p=-0.5), ValueError, "'p'"),
        (lambda: nn.Dropout2d("a"), TypeError, "'p' must be a float"),
        (lambda: ops.dropout1d(ops.ones(2)), ValueError, "2 or 3 axes"),
    ],
)
def test_errors(call, error, text):
    with pytest.raises(error, match=text):
        call()


def test_dropout_warns_once_that_its_first_argument_is_keep_prob(monkeypatch):
    monkeypatch.setattr("mindgrad.nn.layer.dropout._warned", [])
    ms.set_seed(1)
    for unambiguous in (nn.Dropout(0.5), nn.Dropout(p=0.3), mint.nn.Dropout(0.3)):
        assert not unambiguous.training
    with pytest.warns(
        UserWarning, match=r"keep_prob=0\.3 drops .* probability 0\.7\. .* nn\.Dropout\(p=0\.3\)"
    ):
        layer = nn.Dropout(0.3)
    assert 0.6 < (layer.set_train()(ops.ones(1000)) == 0).asnumpy().mean() < 0.8
    nn.Dropout(0.3)
