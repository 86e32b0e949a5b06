"""Nested derivatives as series, gradients by forward mode: the same values, and only where it holds."""

import math

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import mindgrad as ms
from mindgrad import nn, ops
from mindgrad.frontend.programs.compiled import trace
from tests.tolerances import assert_close
from tests.unit.rewrite_checks import with_and_without

ROWS = 7


def draw(*shape, seed=0):
    return np.random.default_rng([seed, *shape]).standard_normal(shape) * 0.6


FIRST, SECOND, LAST = (ms.Tensor(draw(*s)) for s in [(2, 5), (5, 5), (5, 1)])
ONE = ms.Tensor(draw(1, 5, seed=4))
MATRIX, V = ms.Tensor(draw(8, 8)), ms.Tensor(draw(8))


def net(x):
    """(rows, 2) to (rows, 1)."""
    return ops.matmul(ops.tanh(ops.matmul(ops.tanh(ops.matmul(x, FIRST)), SECOND)), LAST)


def line(x):
    """(rows, 1) to (rows, 1)."""
    return ops.matmul(ops.tanh(ops.matmul(ops.sin(ops.matmul(x, ONE)), SECOND)), LAST)


def both(function, *inputs):
    """What fired; values with and without rewrites must agree."""
    return with_and_without(function, *inputs)[0]


X = ms.Tensor(draw(ROWS, 1, seed=9))
XY = ms.Tensor(draw(ROWS, 2, seed=9))


def nested(function, order):
    for _ in range(order):
        function = ms.grad(function)
    return function


@pytest.mark.parametrize("order", [1, 2, 3, 5])
def test_nested_gradients_of_rows(order):
    fired = both(nested(line, order), X)
    assert fired["diagonal"] == order
    assert fired["series"] >= order - 1


def test_order_ten_against_a_formula():
    x = ms.Tensor(np.array([0.3, 1.1]))
    found = ms.jit(nested(lambda x: ops.exp(2 * x) + ops.sin(x), 10))(x)
    expected = 1024 * np.exp(2 * x.asnumpy()) - np.sin(x.asnumpy())
    assert_close(found, expected, kind="program")


def test_against_jax():
    weights = [np.asarray(w.asnumpy()) for w in (ONE, SECOND, LAST)]

    def reference(x):
        with jax.enable_x64(True):
            first, second, last = map(jnp.asarray, weights)
            f = lambda x: (jnp.tanh(jnp.sin(x * first[0]) @ second) @ last)[0]
            for _ in range(4):
                f = jax.grad(f)
            return np.array([f(each) for each in x[:, 0]])

    found = ms.jit(nested(line, 4))(X).asnumpy()[:, 0]
    assert_close(found, reference(X.asnumpy()), kind="program")


def test_equations_grow_as_the_square_of_the_order():
    x = ms.Tensor(0.3)
    count = {n: len(trace(nested(lambda x: line(ops.reshape(x, (1, 1))).sum(), n), x)) for n in (5, 10, 20)}
    assert count[10] < 4.2 * count[5]
    assert count[20] < 4.2 * count[10]
    assert count[20] < 1200


@pytest.mark.parametrize(
    "function",
    [
        lambda x: line(x).sum(),
        lambda x: line(x).mean(),
        lambda x: -3 * line(x)[::-1].sum() + ops.reshape(line(x), (-1,))[2:4].sum(),
        lambda x: (line(x) + 1.0, ops.stack((x, line(x)))),
    ],
    ids=["sum", "mean", "parts", "several outputs"],
)
def test_what_is_linear_behind_the_rows(function):
    assert both(nested(function, 1), X)["diagonal"] == 1


def test_a_loss_that_is_not_linear_is_reversed():
    fired = both(ms.grad(lambda x: (line(x) ** 2).sum() ** 2), X)
    assert not fired["diagonal"]


def test_rows_that_mix():
    mixing = lambda x: line(x - x.mean())
    assert not both(nested(mixing, 2), X)["diagonal"]
    cumulated = lambda x: ops.cumsum(line(x), 0)
    # a running sum is linear: what is differentiated stands before it
    assert both(nested(cumulated, 1), X)["diagonal"] == 1
    assert not both(ms.grad(lambda x: ops.sin(ops.cumsum(x, 0))), X)["diagonal"]


def test_columns():
    fired = both(ms.grad(net), XY)
    assert fired["columns"] == 2

    def laplacian(x):
        return sum(ms.grad(lambda x, k=k: ms.grad(net)(x)[:, k])(x)[:, k] for k in (0, 1))

    fired = both(laplacian, XY)
    assert fired["series"] == 2
    assert not fired["columns"]
    # one column of two is differentiated again
    mixed = lambda x: ms.grad(lambda x: ms.grad(net)(x)[:, 0])(x)
    both(mixed, XY)
    both(ms.grad(mixed), XY)


def test_mixed_derivatives_of_separate_inputs():
    def u(x, t):
        return net(ops.concat((x, t), 1))

    t = ms.Tensor(draw(ROWS, 1, seed=3))
    u_xt = ms.grad(ms.grad(u, 0), 1)
    both(u_xt, X, t)
    both(ms.grad(ms.grad(u_xt, 1), 0), X, t)
    both(ms.grad(u, (0, 1)), X, t)
    both(lambda x, t: ms.grad(lambda x, t: x * ms.grad(u, 0)(x, t) + ops.sin(u_xt(x, t)), (0, 1))(x, t), X, t)


def test_with_weights_behind():
    def loss(first, last):
        f = lambda x: ops.matmul(ops.tanh(ops.matmul(x, first)), last)
        return ops.square(nested(f, 2)(X) + nested(f, 1)(X) * f(X)).mean()

    both(ms.value_and_grad(loss, (0, 1)), ONE, LAST)
    both(ms.hessian(loss, 0), ONE, LAST)
    both(lambda w: ms.jvp(ms.grad(loss), (w, LAST), (w, LAST))[1], ONE)


def test_with_sens():
    sens = ms.Tensor(draw(ROWS, 1, seed=5))
    gradient = ops.GradOperation(sens_param=True)
    assert both(gradient(line), X, sens)["diagonal"] == 1
    both(lambda x: gradient(gradient_of_square(gradient))(x, sens), X)


def gradient_of_square(gradient):
    return lambda x: gradient(lambda x: line(x) ** 2)(x, x * x)


def test_forward_of_forward_in_one_direction():
    v = ms.Tensor(draw(ROWS, 2, seed=6))
    push = lambda f: lambda x: ms.jvp(f, x, v)[1]
    fired = both(push(push(push(net))), XY)
    assert fired["series"] >= 2
    other = ms.Tensor(draw(ROWS, 2, seed=7))
    assert not both(lambda x: ms.jvp(push(net), x, other)[1], XY)["series"]


def test_under_vmap_taylor_and_laplacian():
    point = lambda x: ops.sin(x) * ops.exp(x)
    both(ms.vmap(nested(point, 2)), ms.Tensor(draw(5)))
    both(lambda x: ms.derivative(nested(line, 2), x, 2)[1], X)
    both(lambda x: ms.taylor(lambda x: net(x) * ms.grad(net)(x), x, 3), XY)
    both(ms.laplacian(lambda x: net(x) * ms.grad(net)(x)[:, :1]), XY)
    both(ms.hessian(lambda x: nested(point, 2)(x).sum()), ms.Tensor(draw(3)))
    both(ms.jacrev(nested(point, 2)), ms.Tensor(draw(3)))


def test_inside_of_control_flow():
    def loop(x, n):
        y = x
        while n > 0:
            y = y + 0.1 * nested(line, 2)(y)
            n = n - 1
        return y

    n = ms.Tensor(3)
    both(loop, X, n)
    both(ms.grad(loop), X, n)
    both(nested(lambda x: loop(x, n), 2), X)

    def branch(x):
        return ms.grad(line)(x) if x.sum() > 100 else nested(line, 2)(x)

    both(ms.grad(branch), X)


def test_what_stays_in_reverse_mode():
    class Doubled(nn.Cell):
        def construct(self, x):
            return x * x

        def bprop(self, x, out, dout):
            return (5 * dout * x,)

    assert not both(ms.grad(lambda x: Doubled()(ops.sin(x))), X)["diagonal"]
    z = ms.Tensor(draw(ROWS) + 1j * draw(ROWS, seed=1))
    assert not both(ms.grad(lambda z: ops.square(z).real()), z)["diagonal"]


def test_conventions_hold():
    at_zero = ms.Tensor(np.array([[0.0], [1.0], [-2.0]]))
    masked = lambda x: ops.select(x > 0, ops.sqrt(ops.abs(x)), x * 0)
    both(ms.grad(masked), at_zero)
    both(ms.grad(lambda x: ops.norm(ops.concat((x, x), 1), dim=1)), at_zero)
    both(nested(lambda x: ops.relu(x) ** 2, 2), at_zero)
    stopped = lambda x: ops.stop_gradient(line(x)) * line(x)
    both(nested(stopped, 2), X)


@pytest.mark.parametrize("dtype", [ms.float16, ms.float32])
def test_dtypes(dtype):
    f = lambda x: ops.sin(x).astype(ms.float64).sum()
    found = ms.jit(nested(f, 2))(X.astype(dtype))
    assert found.dtype == dtype
    assert_close(found, -np.sin(X.asnumpy()), kind="long program")


def test_factorials_of_high_orders():
    x = ms.Tensor(np.array(0.5))
    found = float(ms.jit(nested(lambda x: 1 / (1 - x), 14))(x))
    assert_close(found, math.factorial(14) * 2.0**15, kind="program")


@pytest.mark.parametrize("compiled", [False, True])
def test_half_precision_stays_in_reverse_mode(compiled: bool) -> None:
    """The derivative of each row is beyond the largest number of half precision, the gradient is not."""

    def scaled(x: ms.Tensor) -> ms.Tensor:
        large = (x * 500) * (x * 500)
        return (large * 1e-3).sum()

    gradient = ms.grad(scaled)
    points = ms.Tensor(np.full((8, 1), 0.5), ms.float16)
    result = (ms.jit(gradient) if compiled else gradient)(points).asnumpy()
    assert result.dtype == np.float16
    assert_close(result.astype(np.float64), 250, kind="program")


def _deep(x):
    for _ in "abcdef":
        x = ops.sin(ops.matmul(ops.tanh(ops.matmul(x, MATRIX)), MATRIX))
    return x.sum()


@pytest.mark.parametrize(
    "product",
    [
        lambda x: ms.grad(lambda x: (ms.grad(_deep)(x) * V).sum())(x),
        lambda x: ms.grad(lambda x: ops.matmul(ms.grad(_deep)(x).T, V))(x),
        lambda x: ms.vjp(ms.grad(_deep), x)[1](V)[0],
    ],
    ids=["sum", "matmul", "vjp"],
)
def test_a_hessian_vector_product_of_many_columns_is_one_pass(product):
    x = ms.Tensor(draw(8, seed=1))
    assert len(trace(product, x)) < 4 * len(trace(ms.grad(_deep), x))
    both(product, x)
