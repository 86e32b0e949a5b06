"""Jacobians of rows through loops and merged axes."""

import pytest

import mindgrad as ms
from mindgrad import ops
from mindgrad.core import scan
from mindgrad.core.transforms.jacobians import by_rows
from mindgrad.curvature.loop_rows import with_invariants_outside
from mindgrad.curvature.objective import Objective, derivatives
from mindgrad.curvature.row_derivatives import RowDerivatives
from mindgrad.curvature.row_jacobian import row_jacobian_rule
from mindgrad.frontend.programs.compiled import trace
from tests.tolerances import assert_close
from tests.unit.curvature.structured_networks import NETWORKS, tensor

W, U = ms.Parameter(tensor(4, 4), name="W"), ms.Parameter(tensor(3, 4), name="U")
V = ms.Parameter(tensor(4), name="V")


def start(x):
    return ops.zeros((x.shape[0], 4), ms.float64)


def rows_at_axis_one(x):
    """The initial state depends on a weight, and a second carry depends on the first."""

    def body(carry, step):
        h, total = carry
        h = ops.tanh(W @ h + step)
        return (h, total + h.sum(0)), None

    first = ops.broadcast_to(V[:, None], (4, x.shape[0])) * 1.0
    initial = (first, ops.zeros(x.shape[0], ms.float64))
    (h, total), _ = scan(body, initial, ops.tanh(x @ U).permute(1, 2, 0))
    return total * h.sum(0)


def two_loops(x):
    def body(h, step):
        h = ops.tanh(h @ W + step)
        return h, h

    _, first = scan(body, start(x), (x @ U).swapaxes(0, 1))
    _, second = scan(body, start(x), first, reverse=True)
    return ops.square(second).sum((0, 2))


def mixed_rows(x):
    def body(h, step):
        h = ops.tanh(h @ W + step)
        return h - h.mean(0), h

    _, outputs = scan(body, start(x), (x @ U).swapaxes(0, 1))
    return ops.square(outputs).sum((0, 2))


def shared_value_that_changes(x):
    """The matrix that all rows share depends on the iteration."""

    def body(carry, step):
        h, m = carry
        return (ops.tanh(h @ m + step), m * 0.5), None

    (h, _), _ = scan(body, (start(x), W * 1.0), (x @ U).swapaxes(0, 1))
    return h.sum(1)


def nested_loops(x):
    def inner(h, step):
        return ops.tanh(h @ W + step), None

    def outer(h, step):
        h, _ = scan(inner, h, ops.stack([step, step * V]))
        return h, h.sum(1)

    _, outputs = scan(outer, start(x), (x @ U).swapaxes(0, 1))
    return outputs.sum(0)


def time_major_flattened(x):
    """The rows are the inner part of a merged axis."""
    y = ops.tanh(x.swapaxes(0, 1).reshape(-1, 3) @ U)
    return y.reshape(x.shape[1], x.shape[0], 4).sum((0, 2))


def _fast(run):
    return derivatives(run, row_jacobian_rule)[1]


def _slow(run):
    return derivatives(run, by_rows)[1]


FUNCTIONS = [
    rows_at_axis_one, two_loops, mixed_rows, shared_value_that_changes, nested_loops, time_major_flattened,
]  # fmt: skip


@pytest.mark.parametrize("function", FUNCTIONS)
def test_row_jacobian_of_loops_matches_one_pass_for_each_row(function):
    objective = Objective("test", function, [W, U, V], [tensor(5, 6, 3)], needs_all=False)
    for got, want in zip(objective.call(_fast), objective.call(_slow), strict=True):
        assert_close(got.asnumpy(), want.asnumpy().reshape(got.shape), "law")


@pytest.mark.parametrize("name", ["scan", "GRU", "flattened tokens"])
def test_row_derivatives_find_matrices_in_loops_and_merged_axes(name):
    net, function, x = NETWORKS[name]()

    def structured(run):
        found = []

        def rule(builder, xs, ys, vectors=()):
            found[:] = [products is not None for products in RowDerivatives(builder, xs, ys[0]).products]
            return []

        derivatives(run, rule)
        return found

    weights = [w for w in net.trainable_params() if w.ndim == 2]
    assert Objective("test", function, weights, [x]).call(structured) == [True] * len(weights)


def test_row_jacobian_of_a_loop_has_one_backward_loop():
    x = tensor(5, 6, 3)
    graph = trace(lambda x: Objective("test", two_loops, [W, U], [x]).call(_fast), x)
    assert graph.count()["scan"] <= 6


def test_with_invariants_outside_moves_functions_of_constants():
    def function(x):
        def body(h, step):
            return ops.tanh(h @ ops.exp(W) + step), None

        return scan(body, start(x), (x @ U).swapaxes(0, 1))[0]

    graph = trace(function, tensor(5, 6, 3))
    moved = with_invariants_outside(graph)
    (loop,) = [e for e in moved.equations if e.graphs]
    assert "exp" in moved.count()
    assert "exp" not in loop.parameters["body"].count()
