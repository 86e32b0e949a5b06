"""Tiles: a batch some rows at a time gives what the whole batch gives, and only where that pays."""

import numpy as np
import pytest

import mindgrad as ms
from mindgrad import ops
from mindgrad.core.ir import settings
from mindgrad.core.ir.rewriting import watching
from mindgrad.frontend.programs.compiled import trace
from tests.unit.rewrite_checks import with_and_without, with_costs

ROWS = 2048


def draw(*shape, seed=0):
    return np.random.default_rng([seed, *shape]).standard_normal(shape).astype(np.float32) * 0.5


WEIGHTS = [ms.Tensor(draw(*shape, seed=k)) for k, shape in enumerate([(2, 8), (8,), (8, 8), (8, 1)])]
X, T = ms.Tensor(draw(ROWS, 1)), ms.Tensor(draw(ROWS, 1, seed=1))


def net(x, t, first, bias, second, last):
    hidden = ops.tanh(ops.matmul(ops.concat((x, t), 1), first) + bias)
    return ops.matmul(ops.tanh(ops.matmul(hidden, second)), last)


def residual(x, t, *weights):
    u_x = ms.grad(lambda x: net(x, t, *weights))
    u_t = ms.grad(lambda t: net(x, t, *weights))
    return u_t(t) + net(x, t, *weights) * u_x(x) - 0.1 * ms.grad(u_x)(x)


def loss(x, t, *weights):
    return ops.square(residual(x, t, *weights)).mean()


def batched_products(x, t, *weights):
    """Products of every row with itself, rows in the second place, reductions and movements of all kinds."""
    rows = ops.concat((ops.tanh(ops.matmul(x, weights[0][:1])), ops.sin(t)), 1)
    rows = ops.cumsum(ops.flip(rows, (1,)), 1)
    gram = ops.matmul(rows.expand_dims(2), rows.expand_dims(1))  # (rows, 9, 9)
    turned = ops.matmul(weights[2], ops.transpose(rows[:, :8], (1, 0)))  # (8, rows)
    scored = ops.logsumexp(ops.transpose(turned, (1, 0)), 1) + gram.max((1, 2)) + ops.norm(gram, dim=(1, 2))
    padded = ops.pad(ops.reshape(gram, (ROWS, 81)), (1, 2))
    return (scored * padded[:, 5] * x[:, 0]).sum() + ops.matmul(ops.transpose(rows, (1, 0)), rows).sum()


def both(function, *inputs):
    """What fired; values with and without rewrites must agree, in float32."""
    return with_and_without(function, *inputs)[0]


@pytest.fixture
def small(monkeypatch):
    """Sizes at which a small program is worth its tiles."""
    with_costs(monkeypatch, whole_bytes=1 << 18, tile_bytes=1 << 17, tiled_products=1)


def in_weights(function):
    return ms.value_and_grad(function, tuple(range(2, 6)))


def test_the_gradient_of_a_residual(small):
    assert both(in_weights(loss), X, T, *WEIGHTS)["tiles"] == 1


def test_with_the_rows_last_only(monkeypatch):
    with_costs(monkeypatch, tiled_products=1)
    fired = both(in_weights(loss), X, T, *WEIGHTS)
    assert (fired["batch axis last"], fired["tiles"]) == (1, 0)


def test_values_that_are_left(small):
    assert both(residual, X, T, *WEIGHTS)["tiles"] == 1


@pytest.mark.parametrize("kept", [1 << 18, 1 << 40], ids=["tiles", "one"])
def test_movements_and_products(small, monkeypatch, kept):
    with_costs(monkeypatch, whole_bytes=kept)
    fired = both(ms.value_and_grad(batched_products, (0, 2, 4)), X, T, *WEIGHTS)
    assert fired["tiles"] + fired["batch axis last"] == 1


def test_data_that_is_a_constant_of_the_program(small):
    def captured(scale, *weights):
        return ops.square(net(X * scale, T, *weights)).mean()

    assert both(ms.value_and_grad(captured, (0, 1)), X, *WEIGHTS)["tiles"] == 1


def test_rows_that_mix_are_left_whole(small):
    def centered(x, t, *weights):
        u = net(x, t, *weights)
        return ops.square(u - u.mean(0)).mean()

    both(in_weights(centered), X, T, *WEIGHTS)


def test_no_divisor_near(small):
    rows = 2039  # a prime
    fired = both(in_weights(loss), X[:rows], T[:rows], *WEIGHTS)
    assert not fired["tiles"]


def test_not_where_it_does_not_pay():
    assert not both(in_weights(loss), X[:512], T[:512], *WEIGHTS)["tiles"]


def test_not_off_the_cpu(small):
    before = settings.get("device_target")
    settings.store("device_target", "GPU")
    try:
        with watching() as fired:
            trace(in_weights(loss), X, T, *WEIGHTS)
    finally:
        settings.store("device_target", before)
    assert not fired["tiles"]
