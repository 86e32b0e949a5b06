"""Per-sample gradients, norms, second moments, and clipped sums."""

import numpy as np
import pytest

import mindgrad as ms
from mindgrad import nn, ops
from mindgrad.curvature.per_sample import (
    clipped_gradient,
    per_sample_gradients,
    per_sample_norms,
    second_moments,
)
from mindgrad.frontend.programs.compiled import trace
from tests.tolerances import assert_close
from tests.unit.curvature.structured_networks import NETWORKS, in_float64, mlp, tensor


def one_by_one(loss, weights, x):
    """Return the gradients of all samples, each from a separate call."""
    gradient = ms.grad(lambda x: loss(x).sum(), None, weights)
    rows = [gradient(x[n : n + 1]) for n in range(x.shape[0])]
    return [np.stack([g.asnumpy() for g in column]) for column in zip(*rows, strict=True)]


@pytest.mark.parametrize("name", NETWORKS)
def test_per_sample_functions_match_separate_gradients(name):
    net, function, x = NETWORKS[name]()
    weights = list(net.trainable_params())

    def loss(x):
        return ops.square(function(x)).sum(1)

    expected = one_by_one(loss, weights, x)
    norms = np.sqrt(sum([np.square(g).reshape(len(g), -1).sum(1) for g in expected]))
    scale = np.minimum(1, np.median(norms) / norms)
    for got, want in zip(per_sample_gradients(loss, weights, x), expected, strict=True):
        assert_close(got.asnumpy(), want, "law")
    assert_close(per_sample_norms(loss, weights, x).asnumpy(), norms, "law")
    for got, want in zip(second_moments(loss, weights, x), expected, strict=True):
        assert_close(got.asnumpy(), np.square(want).sum(0), "law")
    clipped = clipped_gradient(loss, weights, x, max_norm=float(np.median(norms)))
    for got, want in zip(clipped, expected, strict=True):
        assert_close(got.asnumpy(), np.tensordot(scale, want, 1), "law")


def test_per_sample_gradients_of_a_tree_match_vmap_of_grad():
    weights = {"w": tensor(3, 2), "b": [tensor(2)]}
    x = tensor(5, 3)

    def loss(weights, x):
        return ops.square(ops.tanh(x @ weights["w"] + weights["b"][0])).sum(-1)

    got = per_sample_gradients(loss, weights, x)
    expected = ms.vmap(ms.grad(loss), (None, 0))(weights, x)
    assert_close(got["w"].asnumpy(), expected["w"].asnumpy(), "law")
    assert_close(got["b"][0].asnumpy(), expected["b"][0].asnumpy(), "law")


def test_per_sample_norms_do_not_build_gradients_of_matrices():
    net = mlp(11, 13, 1)
    x = tensor(7, 11)
    graph = trace(lambda x: per_sample_norms(lambda x: net(x)[:, 0], net.trainable_params(), x), x)
    sizes = [y.type.size for equation in graph.equations for y in equation.outputs]
    assert max(sizes) < 7 * 11 * 13


def test_second_moments_sum_long_sequences_sample_by_sample(monkeypatch):
    net, x = mlp(3, 4, 2), tensor(5, 6, 3)
    weights = list(net.trainable_params())

    def loss(x):
        return ops.square(net(x)).sum((1, 2))

    expected = [np.square(g).sum(0) for g in one_by_one(loss, weights, x)]
    monkeypatch.setattr("mindgrad.curvature.row_derivatives._MANY_BYTES", 0)
    for got, want in zip(second_moments(loss, weights, x), expected, strict=True):
        assert_close(got.asnumpy(), want, "law")


@pytest.mark.parametrize("mode", [ms.PYNATIVE_MODE, ms.GRAPH_MODE])
def test_per_sample_norms_are_equal_in_both_modes(mode):
    net, x = mlp(3, 4, 1), tensor(5, 3)
    weights = list(net.trainable_params())
    expected = per_sample_norms(lambda x: net(x)[:, 0], weights, x).asnumpy()
    ms.set_context(mode=mode)
    assert_close(per_sample_norms(lambda x: net(x)[:, 0], weights, x).asnumpy(), expected, "law")


def test_per_sample_norms_of_an_unused_weight_are_zero():
    w = ms.Parameter(tensor(3), name="w")
    assert not per_sample_norms(lambda x: x.sum(1), [w], tensor(4, 3)).asnumpy().any()


def test_per_sample_norms_raise_if_batch_normalization_mixes_samples():
    net = in_float64(nn.SequentialCell(nn.Dense(3, 4), nn.BatchNorm1d(4), nn.Dense(4, 1)))
    net.set_train()
    with pytest.raises(ValueError, match=r"samples must be independent, .*test_per_sample\.py:\d+"):
        per_sample_norms(lambda x: net(x)[:, 0], net.trainable_params(), tensor(6, 3))


def test_per_sample_norms_accept_batch_normalization_in_evaluation():
    net = in_float64(nn.SequentialCell(nn.Dense(3, 4), nn.BatchNorm1d(4), nn.Dense(4, 1)))
    net.set_train(False)
    weights, x = list(net.trainable_params()), tensor(6, 3)
    expected = one_by_one(lambda x: net(x)[:, 0], weights, x)
    norms = np.sqrt(sum([np.square(g).reshape(6, -1).sum(1) for g in expected]))
    assert_close(per_sample_norms(lambda x: net(x)[:, 0], weights, x).asnumpy(), norms, "law")


def test_per_sample_functions_raise_for_a_scalar_loss():
    net = mlp(3, 1)
    with pytest.raises(ValueError, match="reduction='none'"):
        per_sample_norms(lambda x: net(x).sum(), net.trainable_params(), tensor(6, 3))


@pytest.mark.parametrize("bound", [0, -1.0, float("nan"), True, "1"])
def test_clipped_gradient_raises_for_a_wrong_bound(bound):
    net = mlp(3, 1)
    with pytest.raises(ValueError, match="max_norm"):
        clipped_gradient(lambda x: net(x)[:, 0], net.trainable_params(), tensor(6, 3), max_norm=bound)


def test_clipped_gradient_of_a_zero_gradient_is_zero():
    w = ms.Parameter(tensor(3), name="w")
    (gradient,) = clipped_gradient(lambda x: ops.square(x @ w), [w], tensor(4, 3) * 0.0, max_norm=1.0)
    np.testing.assert_array_equal(gradient.asnumpy(), np.zeros(3))
