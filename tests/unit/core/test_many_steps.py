"""Thousands of steps of training: memory stays bounded, and no step compiles anew."""

import gc
import tracemalloc

import numpy as np
import pytest

import mindgrad as ms
from mindgrad import Tensor, nn, ops
from tests.thorough import size

STEPS = size(6_000, 20_000)


def training(decorate):
    ms.set_seed(0)
    net = nn.Dense(3, 1)
    optimizer = nn.SGD(net.trainable_params(), 1e-3)
    gradient = ms.value_and_grad(lambda x, y: ((net(x) - y) ** 2).mean(), None, optimizer.parameters)

    @decorate
    def step(x, y):
        loss, gradients = gradient(x, y)
        optimizer(gradients)
        return loss

    x = Tensor(np.eye(3, dtype=np.float32))
    return lambda k: step(x, Tensor(np.full((3, 1), k % 7, np.float32)))


def traced_bytes(run, steps):
    """How much the memory of Python's objects grows in these steps."""
    run(0)
    gc.collect()
    before = tracemalloc.get_traced_memory()[0]
    for k in range(steps):
        run(k)
    gc.collect()
    return tracemalloc.get_traced_memory()[0] - before


@pytest.mark.xla  # XLA runs a step of this size faster than the kernels of NumPy
@pytest.mark.timeout(600)
@pytest.mark.parametrize("decorate", [lambda f: f, ms.jit], ids=["eager", "compiled"])
def test_thousands_of_steps_keep_memory_bounded(decorate):
    run = training(decorate)
    for k in range(STEPS - 2_000):
        loss = run(k)
    tracemalloc.start(1)
    try:
        assert traced_bytes(run, 500) < 500_000  # caches that fill up once
        assert traced_bytes(run, 1_500) < 50_000  # thirty bytes for each step
    finally:
        tracemalloc.stop()
    assert ops.isfinite(loss).all()
