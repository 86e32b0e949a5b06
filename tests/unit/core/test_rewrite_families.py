"""Laplacians as users write them: one collapsed sweep, whatever the spelling."""

import numpy as np
import pytest

import mindgrad as ms
from mindgrad import ops
from mindgrad.frontend.programs.compiled import trace
from tests.tolerances import assert_close
from tests.unit.rewrite_checks import with_and_without

ROWS, SIZE = 5, 6


def draw(*shape, seed=0):
    return np.random.default_rng([seed, *shape]).standard_normal(shape) * 0.5


FIRST, BIAS, LAST = (ms.Tensor(draw(*shape)) for shape in [(SIZE, 7), (7,), (7, 1)])
X = ms.Tensor(draw(ROWS, SIZE, seed=3))


def net(x):
    return ops.matmul(ops.tanh(ops.matmul(x, FIRST) + BIAS), LAST)


def point(x):
    return net(ops.reshape(x, (1, SIZE)))[0, 0]


def by_nested_gradients(x):
    total = 0
    for k in range(SIZE):
        total = total + ms.grad(lambda x, k=k: ms.grad(net)(x)[:, k])(x)[:, k]
    return total


def by_products_with_one_hot_sens(x):
    gradient = ops.GradOperation(sens_param=True)
    total = 0
    for k in range(SIZE):
        unit = ms.Tensor(np.broadcast_to(np.eye(SIZE)[k], (ROWS, SIZE)).copy())
        total += gradient(ms.grad(net))(x, unit)[:, k]
    return total


def seconds(x, column):
    return [ms.grad(lambda x, k=k: ms.grad(net)(x)[:, k])(x)[:, column(k)] for k in range(SIZE)]


def by_hessian(read):
    return lambda x: ms.vmap(lambda x: read(ms.hessian(point)(x)))(x)


SPELLINGS = {
    "nested gradients": by_nested_gradients,
    "one-hot sens": by_products_with_one_hot_sens,
    "a stack": lambda x: ops.stack(seconds(x, lambda k: k)).sum(0),
    "columns side by side": lambda x: ops.concat(seconds(x, lambda k: slice(k, k + 1)), 1).sum(1),
    "a mean": lambda x: SIZE * ops.stack(seconds(x, lambda k: k), 1).mean(1),
    "trace": by_hessian(ops.trace),
    "diagonal": by_hessian(lambda h: ops.diagonal(h).sum()),
    "einsum": by_hessian(lambda h: ops.einsum("ii", h)),
    "mask": by_hessian(lambda h: (h * ops.eye(SIZE, SIZE, ms.float64)).sum()),
    "elements": by_hessian(lambda h: sum(h[k, k] for k in range(SIZE))),
}


def laplacian(x):
    """By the formula for one hidden layer."""
    first, bias, last = (w.asnumpy() for w in (FIRST, BIAS, LAST))
    y = np.tanh(x @ first + bias)
    return (-2 * y * (1 - y * y) * (first * first).sum(0)) @ last[:, 0]


@pytest.mark.parametrize("spelling", SPELLINGS)
def test_a_laplacian_is_collapsed(spelling):
    fired, (found,) = with_and_without(SPELLINGS[spelling], X)
    assert fired["collapse"] == 1
    assert_close(found, laplacian(X.asnumpy()), kind="program")


def test_all_spellings_are_one_program_in_size():
    sizes = {name: len(trace(function, X)) for name, function in SPELLINGS.items()}
    assert max(sizes.values()) < 2 * min(sizes.values()), sizes


def test_the_biharmonic_operator():
    operator = lambda f: lambda x: ops.trace(ms.hessian(f)(x))
    natural = lambda x: ms.vmap(operator(operator(point)))(x)
    fired, (found,) = with_and_without(natural, X)
    assert fired["trace"] >= 1
    assert_close(found, ms.biharmonic(net)(X).asnumpy().ravel(), kind="program")


def test_separate_inputs():
    def u(x, y, z):
        return net(ops.concat((x, y, z, y, x, z), 1))

    def sum_of_seconds(x, y, z):
        seconds = [ms.grad(ms.grad(u, k), k)(x, y, z) for k in range(3)]
        return seconds[0] - 2.5 * seconds[1] + seconds[2] / 3

    columns = [X[:, k : k + 1] for k in range(3)]
    fired, _ = with_and_without(sum_of_seconds, *columns)
    assert fired["collapse"] == 1


def test_first_derivatives_of_separate_inputs_are_one_gradient():
    def u(x, y, z):
        return net(ops.concat((x, y, z, x, y, z), 1))

    columns = [X[:, k : k + 1] for k in range(3)]
    fired, _ = with_and_without(lambda *c: sum(g * g for g in ms.grad(u, (0, 1, 2))(*c)), *columns)
    assert fired["columns"] == 3


def test_derivatives_of_a_laplacian():
    def loss(first):
        f = lambda x: ops.matmul(ops.tanh(ops.matmul(x, first)), LAST)
        second = lambda k: ms.grad(lambda x: ms.grad(f)(x)[:, k])(X)[:, k]
        return ops.square(sum(second(k) for k in range(SIZE)) + f(X)[:, 0]).mean()

    fired, _ = with_and_without(ms.grad(loss), FIRST)
    assert fired["collapse"] == 1
    with_and_without(ms.grad(lambda x: by_nested_gradients(x).sum()), X)


def test_a_hessian_that_is_read_otherwise():
    for read in (
        lambda h: h,
        lambda h: ops.diagonal(h),
        lambda h: ops.trace(h) * h,
        lambda h: h[0, 1] + h[2, 2],
        lambda h: ops.diagonal(h, 1).sum(),
        lambda h: (h * ops.ones((SIZE, SIZE), ms.float64)).sum(),
        lambda h: (h * 0.0).sum() + h[1, 1],
    ):
        with_and_without(by_hessian(read), X)
        with_and_without(lambda x, read=read: read(ms.hessian(point)(x)), X[0])


def test_derivatives_of_a_hessian():
    determinant = lambda x: ops.det(ms.hessian(point)(x) + ops.eye(SIZE, SIZE, ms.float64))
    with_and_without(ms.grad(determinant), X[0])
    with_and_without(ms.grad(lambda x: ops.trace(ms.hessian(point)(x))), X[0])
    with_and_without(lambda x: ms.jvp(ms.hessian(point), x, x)[1], X[0])
    with_and_without(lambda x: ms.derivative(lambda x: ops.trace(ms.hessian(point)(x)), x, 2)[1], X[0])


def test_second_derivatives_that_are_read_one_by_one():
    def separate(x):
        return ops.stack([ms.grad(lambda x, k=k: ms.grad(net)(x)[:, k])(x)[:, k] for k in range(SIZE)])

    fired, _ = with_and_without(separate, X)
    assert not fired["collapse"]
