"""Sums over the first axes in halves: the same sums, only where they are wide."""

import numpy as np
import pytest

import mindgrad as ms
from mindgrad import ops
from mindgrad.core.ir import settings
from mindgrad.core.ir.rewriting import watching
from mindgrad.frontend.programs.compiled import trace
from tests.tolerances import assert_close


def draw(*shape, dtype=np.float32):
    return ms.Tensor(np.random.default_rng(shape).standard_normal(shape).astype(dtype))


def fired(function, *inputs):
    with watching() as counts:
        trace(function, *inputs)
    return counts["halves"]


@pytest.mark.parametrize(
    ("shape", "axes"),
    [((16, 1024), 0), ((128, 1024), 0), ((17, 33, 64), 0), ((3, 7, 64, 64), (0, 1)), ((31, 1100), 0)]
    + [((4, 64, 256), 1), ((2, 2, 64, 1, 256), 2), ((5, 65, 256), 1), ((16, 8, 9, 64), (1, 2))],
)
def test_the_sum_and_its_derivatives(shape, axes):
    x = draw(*shape, dtype=np.float64)
    function = lambda x: (x * x).sum(axes)
    assert fired(function, x) == 1
    values = ms.jit(lambda x: (function(x), ms.grad(lambda x: (function(x) ** 2).sum())(x)))(x)
    squares = (x.asnumpy() ** 2).sum(axes)
    assert_close(values[0], squares, kind="program")
    assert_close(values[1], 4 * x.asnumpy() * np.expand_dims(squares, axes), kind="program", each=True)


def test_it_is_the_more_exact_sum():
    x = draw(128, 4096) + 1000.0
    found = ms.jit(lambda x: x.sum(0))(x).asnumpy()
    exact = x.asnumpy().astype(np.float64).sum(0)
    assert np.abs(found / exact - 1).max() < 3e-7


def test_infinities_and_nan_stay():
    x = np.zeros((16, 4096), np.float32)
    x[:2, 0], x[:, 1], x[3, 2] = (np.inf, -np.inf), np.inf, np.nan
    found = ms.jit(lambda x: x.sum(0))(ms.Tensor(x)).asnumpy()
    np.testing.assert_array_equal(found[:4], [np.nan, np.inf, np.nan, 0])


def test_in_the_body_of_a_loop():
    def function(x):
        total = x.sum(0)
        while total.sum() < 1e6:
            total = total + (x * x).sum(0)
        return total

    x = draw(32, 4096, dtype=np.float64)
    ms.set_context(mode=ms.GRAPH_MODE)
    try:
        assert fired(function, x) == 2
    finally:
        ms.set_context(mode=ms.PYNATIVE_MODE)
    on = ms.jit(function)(x).asnumpy()
    settings.store("rewrites", False)
    try:
        off = ms.jit(function)(x).asnumpy()
    finally:
        settings.store("rewrites", True)
    assert_close(on, off, kind="program")


@pytest.mark.parametrize(
    ("function", "x"),
    [
        (lambda x: x.sum(0), draw(15, 65536)),
        (lambda x: x.sum(0), draw(200, 4096)),
        (lambda x: x.sum(0), draw(64, 1000)),
        (lambda x: x.sum(1), draw(64, 64, 64)),
        (lambda x: x.sum(), draw(64, 4096)),
        (lambda x: x.max(0), draw(64, 4096)),
        (lambda x: x.sum(0), draw(64, 4096, dtype=np.float16)),
        (lambda x: ops.tanh(x), draw(64, 4096)),
    ],
    ids=["few", "many", "narrow", "inner", "all", "maximum", "half precision", "none"],
)
def test_where_it_does_not_pay(function, x):
    assert fired(function, x) == 0


def test_not_off_the_cpu():
    before = settings.get("device_target")
    settings.store("device_target", "GPU")
    try:
        assert fired(lambda x: x.sum(0), draw(64, 4096)) == 0
    finally:
        settings.store("device_target", before)
