"""A gradient across rows as one equation: columns that nobody reads are not made."""

import numpy as np
import pytest

import mindgrad as ms
from mindgrad import ops
from mindgrad.core.base.tree import flatten
from mindgrad.core.control.lazy import expand_lazy
from mindgrad.core.ir import graph
from mindgrad.core.ir.evaluate import evaluate
from mindgrad.core.ir.rewriting import watching
from mindgrad.core.passes.peepholes import expand_columns
from mindgrad.core.transforms.batch import batch
from mindgrad.core.transforms.forward import forward
from mindgrad.core.transforms.taylor import taylor
from mindgrad.frontend.programs.compiled import trace
from mindgrad.frontend.tracing import Trace
from tests.tolerances import assert_close
from tests.unit.rewrite_checks import with_and_without

ROWS, SIZE = 5, 6
RANDOM = np.random.default_rng(11)
FIRST, LAST = (ms.Tensor(RANDOM.standard_normal(shape) * 0.5) for shape in [(SIZE, 7), (7, 1)])
X = ms.Tensor(RANDOM.standard_normal((ROWS, SIZE)))
WEIGHT = ms.Tensor(RANDOM.standard_normal((ROWS, 1)))


def net(x):
    return ops.matmul(ops.tanh(ops.matmul(x, FIRST)), LAST)


def slope(x):
    return ms.grad(net)(x)


def weighted(x, weight):
    return ms.grad(lambda x: (weight * net(x)).sum())(x)


def slopes(x):
    """By the formula for one hidden layer."""
    first, last = FIRST.asnumpy(), LAST.asnumpy()
    return ((1 - np.tanh(x @ first) ** 2) * last[:, 0]) @ first.T


def recorded(function, *inputs):
    """The program of a function as it is recorded, with gradients as equations."""
    return Trace(function, *flatten((inputs, {}))).graph


def names(graph):
    return [equation.primitive.name for equation in graph.equations]


def test_a_gradient_is_one_equation():
    graph = recorded(slope, X)
    assert names(graph) == ["per_sample_gradient"]
    (found,) = evaluate(graph, [X.asnumpy()])
    assert_close(found, slopes(X.asnumpy()), kind="program")


def test_its_columns_are_what_reverse_mode_gives():
    inputs = [X.asnumpy(), WEIGHT.asnumpy()]
    graph = recorded(weighted, X, WEIGHT)
    assert "per_sample_gradient" in names(graph)
    apart = expand_columns(graph)
    assert names(apart).count("taylor_coefficients") == SIZE
    for each in (expand_lazy(graph), expand_lazy(apart)):
        assert_close(
            evaluate(each, inputs)[0], inputs[1] * slopes(inputs[0]), kind="ill-conditioned", each=True
        )
    assert expand_columns(expand_lazy(graph)) is expand_lazy(graph)


@pytest.mark.parametrize(
    ("read", "expected"),
    [
        (lambda g: g[:, 2], lambda g: g[:, 2]),
        (lambda g: g[1:4, 2:3], lambda g: g[1:4, 2:3]),
        (lambda g: g[::2, -1], lambda g: g[::2, -1]),
    ],
)
def test_a_column_is_a_derivative_along_one_direction(read, expected):
    graph = recorded(lambda x: read(slope(x)), X)
    assert names(graph).count("taylor_coefficients") == 1
    assert "per_sample_gradient" not in names(graph)
    _, (found,) = with_and_without(lambda x: read(slope(x)), X)
    assert_close(found, expected(slopes(X.asnumpy())), kind="program")


def test_a_part_that_is_no_column_is_one_of_the_gradient():
    read = lambda x: slope(x)[:, 1:4]
    assert names(recorded(read, X)) == ["per_sample_gradient", "slice"]
    _, (found,) = with_and_without(read, X)
    assert_close(found, slopes(X.asnumpy())[:, 1:4], kind="program")


def test_other_transforms_see_the_program_that_it_stands_for():
    graph = recorded(weighted, X, WEIGHT)
    plain = expand_lazy(graph)
    x, weight = X.asnumpy(), WEIGHT.asnumpy()
    tangent = np.cos(x)
    for made in (
        lambda g: (forward(g, [0]), [x, weight, tangent]),
        lambda g: (taylor(g, [0], 2), [x, weight, tangent, 0.3 * x]),
        lambda g: (batch(g, [0, None], 3), [np.stack([x, 2 * x, -x]), weight]),
    ):
        for ours, theirs in zip(*(evaluate(*made(each)) for each in (graph, plain)), strict=True):
            assert_close(ours, theirs, kind="program", each=True)


def test_a_loop_over_the_coordinates_makes_one_derivative_in_each_turn():
    def diagonal(x):
        return ops.stack([ms.grad(lambda x, k=k: slope(x)[:, k])(x)[:, k] for k in range(SIZE)], 1)

    with watching() as fired:
        graph = recorded(diagonal, X)
    # the inner gradient is the same in each turn, and made once
    assert fired["diagonal"] == 1 + SIZE
    assert names(graph).count("taylor_coefficients") == SIZE
    _, (actual,) = with_and_without(diagonal, X)
    y = np.tanh(X.asnumpy() @ FIRST.asnumpy())
    expected = (-2 * y * (1 - y * y) * LAST.asnumpy()[:, 0]) @ (FIRST.asnumpy() ** 2).T
    assert_close(actual, expected, kind="program")


def test_a_product_with_a_one_hot_vector_makes_one_derivative():
    unit = ms.Tensor(np.broadcast_to(np.eye(SIZE)[2], (ROWS, SIZE)).copy())
    product = lambda x: ops.GradOperation(sens_param=True)(slope)(x, unit)
    graph = recorded(product, X)
    assert names(graph) == ["per_sample_gradient"]
    (column,) = graph.equations
    # of the program behind it, one second derivative: that of the third column along the other direction
    assert names(column.parameters["program"]).count("taylor_coefficients") == 1
    _, (actual,) = with_and_without(product, X)
    assert_close(actual[:, 1], with_and_without(lambda x: product(x)[:, 1], X)[1][0], kind="program")
    none = ms.Tensor(np.zeros((ROWS, SIZE)))
    _, (actual,) = with_and_without(lambda x: ops.GradOperation(sens_param=True)(slope)(x, none), X)
    assert not actual.any()


def test_what_is_made_once_belongs_to_its_numbers():
    """Programs that differ in a number, in a cotangent or in what they capture are not mixed up."""

    def several(x, weight):
        total = 0
        for k in range(3):
            scaled = lambda x, k=k: net(x) * float(k + 1)
            total = total + ms.grad(scaled)(x) * ops.GradOperation(sens_param=True)(net)(x, weight * k)
        return total + weighted(x, weight) - weighted(x, 2.0 * weight)

    _, (actual,) = with_and_without(several, X, WEIGHT)
    y, weight = slopes(X.asnumpy()), WEIGHT.asnumpy()
    expected = sum((k + 1) * y * (k * weight * y) for k in range(3)) - weight * y
    assert_close(actual, expected, kind="ill-conditioned", each=True)


def test_in_the_body_of_a_loop_a_gradient_is_one_reverse_sweep():
    def descended(x, n):
        k = n * 0
        while k < n:
            x = x - 0.1 * slope(x)
            k = k + 1
        return x

    steps = ms.Tensor(3)
    graph = trace(descended, X, steps)
    (loop,) = (equation for equation in graph.equations if equation.primitive.name == "while")
    body = loop.parameters["body"]
    assert names(body).count("dot") == 2
    _, (actual,) = with_and_without(descended, X, steps)
    expected = X.asnumpy()
    for _ in range(3):
        expected = expected - 0.1 * slopes(expected)
    assert_close(actual, expected, kind="program")


def test_in_the_body_of_a_loop_a_laplacian_is_collapsed():
    def heated(x, n):
        k = n * 0
        while k < n:
            second = sum(ms.grad(lambda x, j=j: slope(x)[:, j])(x)[:, j] for j in range(SIZE))
            x = x + 0.1 * ops.expand_dims(second, 1)
            k = k + 1
        return x

    fired, _ = with_and_without(heated, X, ms.Tensor(3))
    assert fired["collapse"] == 1


def test_a_large_constant_is_looked_at_once_however_many_columns_read_it(monkeypatch):
    features = ms.Tensor(RANDOM.standard_normal((40, 60)))
    looks = []
    monkeypatch.setattr(graph, "is_finite", lambda array: looks.append(array.size) or True)
    trace(ms.grad(lambda x: ops.square(ops.matmul(features, x)).sum()), ms.Tensor(np.ones(60)))
    assert 1 <= looks.count(40 * 60) <= 4  # of 60 columns, and the tensor's own
