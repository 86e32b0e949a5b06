"""Programs of thousands of operators in a chain: every walk over a graph is a loop, not a recursion."""

import sys

import numpy as np
import pytest

import mindgrad as ms
from mindgrad import Tensor, nn, ops
from mindgrad.core.base.trampoline import trampolined
from mindgrad.core.passes.pipeline import before_compilation
from mindgrad.frontend.programs.compiled import trace
from tests.thorough import size
from tests.tolerances import assert_close

LAYERS = size(2000, 5000)  # Python allows a recursion of 1000 calls
X = Tensor(np.array([0.6, 0.7]))
MATRIX = Tensor(np.eye(2) * 0.9999)


def unrolled(step, count=LAYERS):
    """``step`` applied ``count`` times: a program of as many steps, for there is no loop in its source."""

    def run(x):
        for each in [step] * count:
            x = each(x)
        return x

    return run


def tanh_step(h):
    return h + 0.001 * ops.tanh(h)


def derivatives_of_tanh_steps():
    h, slope = 0.6, 1.0
    for _ in range(LAYERS):
        h, slope = h + 0.001 * np.tanh(h), slope * (1 + 0.001 / np.cosh(h) ** 2)
    return slope


def test_transforms_of_thousands_of_layers():
    limit = sys.getrecursionlimit()
    deep = unrolled(tanh_step)
    total = lambda x: deep(x).sum()
    slope = derivatives_of_tanh_steps()
    gradient = ms.grad(total)(X).asnumpy()
    assert_close(gradient[0], slope, kind="ill-conditioned")
    assert_close(ms.jvp(deep, X, ops.ones_like(X))[1], gradient, kind="ill-conditioned")
    assert_close(ms.vmap(deep)(ops.stack([X, X]))[1], deep(X), kind="program")
    assert sys.getrecursionlimit() == limit


@pytest.mark.parametrize(
    ("step", "operators"),
    [
        (tanh_step, 3),
        (lambda h: MATRIX @ h, 1),
        (lambda h: ops.concat([h[1:], h[:1]]) * 1.0001, 3),
        (lambda h: ops.broadcast_to(h[None], (2, 2))[0] * 0.9999, 4),
        (lambda h: ops.where(h > 0.5, h * 1.0001, h + 0.0001), 2),
        (lambda h: h - 0.0001 * h**2, 3),
    ],
    ids=["tanh", "matmul", "slices", "broadcast", "where", "power"],
)
def test_second_derivatives_of_deep_programs_agree(step, operators):
    """A chain of ``operators`` in each step, longer than Python's limit of recursion."""
    deep = unrolled(step, size(1200 // operators, 1100))
    total = lambda x: deep(x).sum()
    hessian = ms.hessian(total)(X).asnumpy()
    assert_close(ms.laplacian(total)(X).asnumpy().sum(), np.trace(hessian), kind="ill-conditioned")
    along = ms.derivative(lambda t: total(X + t), Tensor(np.array(0.0)), 2)[1].item()
    assert_close(along, hessian.sum(), kind="ill-conditioned")


def test_rewrites_of_deep_matrix_products():
    weights = Tensor(np.full((3, 3), 0.01, np.float32))
    graph = trace(ms.grad(lambda w: unrolled(lambda x: w @ x, 1500)(ops.ones((3, 3))).sum()), weights)
    assert len(before_compilation(graph).equations) > 1500
    recomputed = ms.grad(lambda w: ms.recompute(unrolled(lambda x: w @ x, 1500), ops.ones((3, 3))).sum())
    assert np.isfinite(recomputed(weights).asnumpy()).all()


def test_a_network_of_thousands_of_layers():
    class Layer(nn.Cell):
        def __init__(self, weight):
            super().__init__()
            self.weight = weight

        def construct(self, x):
            return x + 0.0001 * ops.tanh(self.weight * x)

    weights = [ms.Parameter(Tensor(np.full(2, 1 + k / LAYERS)), name=f"w{k}") for k in range(LAYERS)]
    net = nn.SequentialCell(*[Layer(weight) for weight in weights])
    assert len(net.trainable_params()) == LAYERS
    value, gradients = ms.value_and_grad(lambda x: net(x).sum(), None, net.trainable_params())(X)
    assert np.isfinite(value.item())
    assert len(gradients) == LAYERS


def test_tools_print_deep_programs():
    gradient = ms.grad(lambda x: unrolled(tanh_step, 1500)(x).sum())
    assert len(str(ms.source(gradient, X))) > 10_000
    assert "1 row" in str(ms.draw(gradient, X))


def kepler(m):
    return ms.custom_root(lambda e: e - 0.5 * ops.sin(e) - m, m + 0.3)


def root_in_root(m):
    return ms.custom_root(lambda q: q * q - kepler(m), Tensor(np.array(1.2)))


def guess_in_root(m):
    log = lambda m: ms.custom_root(lambda y: ops.exp(y) - m, 0.5 * m)
    return ms.custom_root(lambda q: q * q - log(m + 3), Tensor(np.array(1.0)))


def deep_equation(a):
    return ms.custom_root(
        lambda q: unrolled(lambda h: h + 0.01 * ops.tanh(h), 200)(q) - a, Tensor(np.array(0.5))
    )


def loop_equation(a):
    def f(q):
        h = q
        for _ in range(60):
            h = h + 0.01 * ops.tanh(h)
        return h - a

    return ms.custom_root(f, Tensor(np.array(0.5)))


def deep_minimum(a):
    return ms.argmin(
        lambda q: (unrolled(lambda h: h + 0.01 * ops.tanh(h), 120)(q) - a) ** 2, Tensor(np.array(0.3))
    )


@pytest.mark.parametrize(
    ("function", "run"),
    [
        (root_in_root, lambda f: f),
        (root_in_root, ms.jit),
        (guess_in_root, lambda f: f),
        (deep_equation, lambda f: f),
        (loop_equation, lambda f: f),
        (loop_equation, ms.jit),
        (deep_minimum, lambda f: f),
    ],
)
def test_taylor_mode_of_implicit_functions_equals_nested_gradients(function, run):
    x = Tensor(np.array(1.0))
    wanted = [ms.grad(function)(x).item(), ms.grad(ms.grad(function))(x).item()]
    for order, want in enumerate(wanted, 1):
        found = run(lambda t, order=order: ms.derivative(function, t, order)[1])(x)
        assert_close(found, want, kind="ill-conditioned")
    found = run(lambda t: ms.jet(function, t, Tensor(np.array([1.0, 0.0])))[1])(x)
    assert_close(found, wanted, kind="ill-conditioned")


def test_trampolined_returns_results_of_deep_generators():
    def depth(nested):
        return 1 + (yield depth(nested[0])) if nested else 0

    nested = ()
    for _ in range(LAYERS):
        nested = (nested,)
    assert trampolined(depth(nested)) == LAYERS
