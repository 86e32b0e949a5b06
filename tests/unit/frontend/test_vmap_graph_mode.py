"""``vmap`` in GRAPH_MODE equals a loop over the elements, whatever is under it and around it."""

import numpy as np
import pytest

import mindgrad as ms
from mindgrad import Tensor, ops
from tests.tolerances import assert_close

RNG = np.random.default_rng(0)
BATCH = Tensor(RNG.normal(size=(4, 3)))
COMPLEX = Tensor(RNG.normal(size=(4, 3)) + 1j * RNG.normal(size=(4, 3)))
HALF = Tensor(RNG.normal(size=(4, 3)).astype(np.float16))


@pytest.fixture(autouse=True)
def graph_mode():
    before = ms.get_context("mode")
    ms.set_context(mode=ms.GRAPH_MODE)
    yield
    ms.set_context(mode=before)


def looped(x):
    y, k = x, x.sum() * 0
    while y.abs().sum() > 1.0:
        y, k = y * 0.7, k + 1
    return y.sum() + k


def branched(x):
    return ops.exp(x).sum() if x.sum() > 0 else (x**3).sum()


def root(x):
    return ms.custom_root(lambda y: y * y * y + y - x.sum(), Tensor(0.5, ms.float64))


def solved(x):
    matrix = ops.eye(3, 3, x.dtype) * 3 + ops.outer(x, x)
    return ops.solve(matrix, x).sum()


FUNCTIONS = {
    "elementwise": lambda x: (ops.tanh(x) * ops.sin(x)).sum(),
    "softmax": lambda x: (ops.softmax(x, -1) * x).sum(),
    "loop": looped,
    "branch": branched,
    "root": root,
    "solve": solved,
    "sort": lambda x: (ops.sort(x)[0] * Tensor([1.0, 2.0, 3.0], ms.float64)).sum(),
    "gather": lambda x: (x[ops.argmax(x)] ** 2 + ops.cumsum(x, 0)).sum(),
}
RUNS = {
    "value": lambda f: f,
    "gradient": ms.grad,
    "tangent": lambda f: lambda x: ms.jvp(f, x, ops.ones_like(x))[1],
    "hessian": ms.hessian,
}


@pytest.mark.parametrize("run", RUNS)
@pytest.mark.parametrize("name", FUNCTIONS)
def test_vmap_in_graph_mode_equals_a_loop(name, run):
    function = RUNS[run](FUNCTIONS[name])
    if (name, run) == ("loop", "hessian"):
        function = ms.grad(lambda x: ms.jvp(looped, x, x)[1])
    each = np.stack([function(x).asnumpy() for x in BATCH])
    assert_close(ms.vmap(function)(BATCH), each, kind="program")


@pytest.mark.parametrize("batch", [COMPLEX, HALF], ids=["complex", "half"])
def test_vmap_in_graph_mode_of_other_types_equals_a_loop(batch):
    gradient = ms.grad(lambda x: ops.abs(x * ops.exp(x) + x * x).sum())
    each = np.stack([gradient(x).asnumpy() for x in batch])
    tolerance = 1e-12 if batch is COMPLEX else 2e-2
    np.testing.assert_allclose(ms.vmap(gradient)(batch).asnumpy(), each, rtol=tolerance, atol=tolerance)


def test_vmap_of_vmap_and_of_a_gradient_around_it_in_graph_mode():
    outer = lambda xs: ms.vmap(FUNCTIONS["softmax"])(xs).sum()
    each = np.stack([ms.grad(FUNCTIONS["softmax"])(x).asnumpy() for x in BATCH])
    assert_close(ms.grad(outer)(BATCH), each, kind="program")
    twice = ms.vmap(ms.vmap(FUNCTIONS["elementwise"]))(ops.stack([BATCH, 2 * BATCH]))
    single = ms.vmap(FUNCTIONS["elementwise"])(2 * BATCH)
    assert_close(twice[1], single, kind="program")
