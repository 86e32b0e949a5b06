"""Value and derivatives share what they have in common; what is zero or not needed is never computed."""

import numpy as np
import pytest

import mindgrad as ms
from mindgrad import Tensor, ops
from mindgrad.frontend.programs.compiled import trace
from tests.unit.rewrite_checks import compiled

X = Tensor(np.linspace(-1, 1, 6).reshape(3, 2))
WEIGHTS = [Tensor(np.ones((2, 4)) / 3), Tensor(np.ones((4, 4)) / 5), Tensor(np.ones((4, 1)))]


def network(x, a, b, c):
    return ops.matmul(ops.tanh(ops.matmul(ops.tanh(ops.matmul(x, a)), b)), c)


def total(x, a, b, c):
    return network(x, a, b, c).sum()


def program(function, *arguments):
    with compiled():
        return trace(function, *arguments)


def count(graph):
    return graph.count()


def slope(x, a, b, c):
    return ms.grad(total)(x, a, b, c)


def curvature(x, a, b, c):
    return ms.grad(lambda x: slope(x, a, b, c).sum())(x)


def loss(x, a, b, c):
    u, u_x, u_xx = network(x, a, b, c), slope(x, a, b, c), curvature(x, a, b, c)
    return ops.square(u - u_x.sum(1, keepdims=True) + u_xx.sum(1, keepdims=True)).mean()


def everything(x, a, b, c):
    gradient = ms.grad(loss, (1, 2, 3))
    return total(x, a, b, c), slope(x, a, b, c), curvature(x, a, b, c), gradient(x, a, b, c)


@pytest.mark.parametrize("function", [total, slope, curvature, loss, everything])
def test_an_activation_is_computed_once(function):
    counts = count(program(function, X, *WEIGHTS))
    # the slope needs the first activation, and the slope of both
    assert counts["tanh"] == (1 if function is slope else 2)
    assert counts.get("sech_squared", 0) == (0 if function is total else 2)


def test_what_is_computed_of_captured_data_is_one_constant():
    """Data that a function captures are combined anew in each of its calls, with the same result."""
    data, scale = (
        Tensor(np.linspace(-1, 1, 160).reshape(80, 2)),
        Tensor(np.linspace(1, 2, 160).reshape(80, 2)),
    )

    def squared(a, b, c):
        return (network(data * scale, a, b, c) * network(data * scale, a, b, c)[::-1]).sum()

    graph = program(ms.grad(squared, (0, 1, 2)), *WEIGHTS)
    assert count(graph)["tanh"] == 2
    assert (
        count(program(lambda a: ops.matmul(data * scale, a) + ops.matmul(data + scale, a), WEIGHTS[0]))["dot"]
        == 2
    )


def test_no_equation_stands_twice():
    graph = program(everything, X, *WEIGHTS)
    seen = set()
    for equation in graph.equations:
        names = tuple(x if getattr(x, "made_by", None) else id(x) for x in equation.inputs)
        key = (equation.primitive, names, str(equation.parameters))
        assert key not in seen, equation.primitive.name
        seen.add(key)


def test_a_gradient_in_some_inputs_makes_no_other_cotangent():
    of_all = count(program(ms.grad(total, (0, 1, 2, 3)), X, *WEIGHTS))["dot"]
    of_last = count(program(ms.grad(total, 3), X, *WEIGHTS))["dot"]
    # two products forwards and none backwards: the cotangent of the last weight is a sum of rows
    assert of_last == 2
    assert of_all > of_last + 3


def test_a_zero_tangent_makes_no_equation():
    def f(x, y):
        return ops.sin(x) * ops.exp(y) + ops.cos(y)

    x, y = Tensor([0.1, 0.2]), Tensor([0.3, 0.4])
    both = lambda x, y: ms.jvp(f, (x, y), (ops.ones_like(x), ops.zeros_like(y)))
    one = lambda x, y: ms.jvp(lambda x: f(x, y), x, ops.ones_like(x))
    assert count(program(both, x, y)) == count(program(one, x, y))


@pytest.mark.parametrize(
    "constant",
    [ops.floor, ops.sign, ops.stop_gradient, lambda x: ops.cast(x > 0, ms.float32), lambda x: x.argmax()],
)
def test_what_has_no_derivative_gets_no_tangent(constant):
    def f(x):
        return ops.sin(x) + constant(x)

    x = Tensor([0.1, 0.2])
    slope_alone = program(ms.grad(lambda x: ops.sin(x).sum()), x)
    assert count(program(ms.grad(lambda x: f(x).sum()), x)) == count(slope_alone)


def test_a_derivative_that_is_not_asked_for_is_not_computed():
    def first_only(x):
        _, slopes = ms.value_and_grad(lambda x, y: (ops.exp(x) * ops.sin(y)).sum(), (0, 1))(x, x * 2)
        return slopes[0]

    counts = count(program(first_only, Tensor([0.1, 0.2])))
    assert "cos" not in counts
    assert "reduce_sum" not in counts


def test_a_linear_function_has_no_second_derivative():
    def f(x):
        return (3.0 * x.reshape(2, 3).transpose(1, 0) + 1.0).sum()

    graph = program(ms.grad(lambda x: ms.grad(f)(x).sum()), Tensor(np.ones(6)))
    assert len(graph) == 0


@pytest.mark.parametrize("zeros", [ops.zeros_like, lambda y: Tensor(np.zeros(2, np.float32))])
def test_a_zero_tangent_carries_nothing(zeros):
    """Not even where the slope is infinite, in both modes."""

    def f(x, y):
        return x * ops.exp(y) * ops.sqrt(y)

    x, y = Tensor(np.ones(2, np.float32)), Tensor(np.array([0.0, 80.0], np.float32))
    _, eager = ms.jvp(f, (x, y), (x, zeros(y)))
    with compiled():
        _, actual = ms.jit(lambda x, y: ms.jvp(f, (x, y), (x, zeros(y))))(x, y)
    expected = np.exp(y.asnumpy()) * np.sqrt(y.asnumpy())
    np.testing.assert_array_equal(eager.asnumpy(), expected)
    np.testing.assert_allclose(actual.asnumpy(), expected)
