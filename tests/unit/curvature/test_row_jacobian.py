"""The Jacobian of independent rows equals the Jacobian in reverse mode, and needs one pass."""

from itertools import pairwise

import numpy as np
import pytest

import mindgrad as ms
from mindgrad import nn, ops
from mindgrad.core.control.lazy import expand_lazy
from mindgrad.core.trace.closed_program import trace
from mindgrad.core.transforms.jacobians import by_rows
from mindgrad.curvature.objective import Objective, derivatives
from mindgrad.curvature.row_axes import uses_of_rows
from mindgrad.curvature.row_jacobian import row_jacobian_rule
from tests.tolerances import assert_close

N = 6


def tensor(*shape, seed=0):
    return ms.Tensor(np.random.default_rng(seed).normal(size=shape))


def network(*sizes, seed=1):
    rng = np.random.default_rng(seed)
    layers = []
    for fan, width in pairwise(sizes):
        layers += [nn.Dense(fan, width, dtype=ms.float64), nn.Tanh()]
    net = nn.SequentialCell(*layers[:-1])
    for p in net.get_parameters():
        p.set_data(ms.Tensor(rng.normal(size=p.shape)))
    return net


X, XB, F = tensor(N, 2), tensor(4, 2, seed=2), tensor(N, seed=3)
NET = network(2, 5, 1)
WIDE = network(2, 4, 3)
W = ms.Parameter(tensor(2, 5, seed=4), name="w")


def poisson():
    return ops.cat([ms.laplacian(NET)(X).reshape(-1) + F, NET(XB).reshape(-1) / 3.0])


def nested_gradients():
    def total(x):
        return NET(x).sum()

    def partial(x, axis):
        return ms.grad(total)(x)[:, axis].sum()

    second = ms.grad(lambda x: partial(x, 1))(X)[:, 1]
    return second + NET(X)[:, 0] * ms.grad(total)(X)[:, 0]


def rows_of_two_slices():
    u = NET(ops.cat([X, XB]))
    return ops.cat([u[:N] ** 2 * F[:, None], ops.sin(u[N:])])


def neighbors():
    u = NET(X)[:, 0]
    return u[1:] * u[:-1]


def centered():
    u = WIDE(X)
    return u - u.mean(0)


def recurrent():
    h = ops.zeros((N, 5), ms.float64)
    for _ in range(3):
        h = ops.tanh(X @ W + h * W.sum())
    return h.sum(1)


def grid(transposes=False):
    x = X.reshape(3, 2, 2)
    return NET(x.swapaxes(0, 1) if transposes else x).reshape(-1)


def mapped_hessians():
    def residual(x):
        return ms.hessian(lambda q: NET(q[None])[0, 0])(x).trace() + NET(x[None])[0, 0]

    return ms.vmap(residual)(X)


PROGRAMS = {
    "poisson": (poisson, NET),
    "nested gradients": (nested_gradients, NET),
    "two slices": (rows_of_two_slices, NET),
    "neighbors": (neighbors, NET),
    "several components": (lambda: ops.softmax(WIDE(X)), WIDE),
    "batch mean": (centered, WIDE),
    "recurrent": (recurrent, [W]),
    "grid": (grid, NET),
    "transposed grid": (lambda: grid(transposes=True), NET),
    "mapped Hessians": (mapped_hessians, NET),
    "functions of weights": (lambda: ops.tanh(X @ (W * W).exp()) @ ops.ones(5, ms.float64) + W.sum(), [W]),
    "sorted rows": (lambda: ops.sort(NET(X)[:, 0])[0], NET),
    "scalar": (lambda: (NET(X)[:, 0], (W * W).sum()), [W, *NET.trainable_params()]),
    "a weight": (lambda: (W, X @ W), [W]),
    "an unused weight": (lambda: NET(X)[:, 0], [*NET.trainable_params(), W]),
}


def matrices(run):
    return derivatives(run, row_jacobian_rule)[1]


def matrices_of_reverse_mode(run):
    return derivatives(run, by_rows)


@pytest.mark.parametrize("name", PROGRAMS)
def test_row_jacobian_equals_reverse_mode(name):
    function, owner = PROGRAMS[name]
    weights = owner if isinstance(owner, list) else list(owner.trainable_params())
    objective = Objective("test", function, weights, needs_all=False)
    outputs, blocks = objective.call(matrices_of_reverse_mode)
    count = len(weights)
    for k, matrix in enumerate(objective.call(matrices)):
        parts = [
            block.asnumpy().reshape(y.size, *weights[k].shape)
            for y, block in zip(outputs, blocks[k::count], strict=True)
        ]
        assert matrix.shape == (sum(y.size for y in outputs), *weights[k].shape)
        assert_close(matrix.asnumpy(), np.concatenate(parts), "program", scale=1.0)


def test_weights_may_be_a_tree_of_tensors():
    weights = {"a": tensor(2, 3), "b": [tensor(3)]}

    def function(weights, x):
        return ops.tanh(x @ weights["a"] + weights["b"][0]).sum(1)

    objective = Objective("test", function, weights, (X,))
    _, blocks = objective.call(matrices_of_reverse_mode)
    for matrix, block in zip(objective.call(matrices), blocks, strict=True):
        assert_close(matrix.asnumpy(), block.asnumpy())


@pytest.mark.parametrize("function", [poisson, nested_gradients, rows_of_two_slices, grid, mapped_hessians])
def test_only_weights_are_shared(function):
    """No value of the size of the batch is shared, so one pass is enough for all rows."""
    graph = expand_lazy(trace(function, []).graph)
    uses = uses_of_rows(graph, graph.inputs, graph.outputs[0])
    shared = [e.inputs[k] for e, use in uses.items() for k in use.shared]
    assert shared
    assert all(x.type.size <= 2 * 5 for x in shared)


def test_values_that_mix_rows_are_shared():
    graph = expand_lazy(trace(centered, []).graph)
    uses = uses_of_rows(graph, graph.inputs, graph.outputs[0])
    shared = {e.inputs[k] for e, use in uses.items() for k in use.shared}
    assert any(x not in graph.inputs for x in shared)


def test_new_data_does_not_compile_again():
    def value(x):
        objective = Objective("test", lambda: NET(x)[:, 0], NET.trainable_params())
        return objective.call(matrices)[0]

    first = value(tensor(N, 2, seed=7)).asnumpy()
    second = value(tensor(N, 2, seed=8)).asnumpy()
    assert not np.allclose(first, second)
