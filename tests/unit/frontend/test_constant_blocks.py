"""Blocks without derivatives: in both modes as ``stop_gradient`` of what they use."""

import numpy as np
import pytest

import mindgrad as ms
from mindgrad import Tensor, nn, ops
from mindgrad.common.api import _no_grad, _pynative_executor
from tests.tolerances import assert_close

X = Tensor(np.array([1.5, 2.0, 0.5], np.float32))


def cube(x):
    return x * x * x


compiled_cube = ms.jit(cube)


def product(x):
    with _no_grad():
        weight = x * x
    return weight * x


def product_stopped(x):
    return ops.stop_gradient(x * x) * x


def gradient_inside(x):
    with _no_grad():
        slope = ms.grad(lambda y: (y**3 * x).sum())(x)
    return slope * x


def gradient_inside_stopped(x):
    return ops.stop_gradient(3 * x**3) * x


def batch_inside(x):
    with _no_grad():
        y = ms.vmap(cube)(x)
    return y * x


def batch_inside_stopped(x):
    return ops.stop_gradient(cube(x)) * x


def second_order_inside(x):
    with _no_grad():
        y = ms.jvp(cube, (x,), (x,))[1] + ms.hessian(lambda z: cube(z).sum())(x).sum(0)
    return y * x


def second_order_inside_stopped(x):
    return ops.stop_gradient(3 * cube(x) + 6 * x) * x


def values_inside(x):
    with _no_grad():
        y, pull = ms.vjp(lambda z: z**3 * x, x)
        (slope,) = pull(x)
        total, _ = ms.value_and_grad(lambda z: (z * x).sum())(x)
    return (y + slope + total) * x


def values_inside_stopped(x):
    return ops.stop_gradient(4 * x**4 + (x * x).sum()) * x


def equal_calls(x):
    with _no_grad():
        y = compiled_cube(x)
    return compiled_cube(x) + 2 * y


def equal_calls_stopped(x):
    return cube(x) + ops.stop_gradient(2 * cube(x))


def loop_inside(x):
    with _no_grad():
        y = x
        while y.sum() < 100:
            y = y * x
    return y * x


def loop_inside_stopped(x):
    y = x
    while y.sum() < 100:
        y = y * x
    return ops.stop_gradient(y) * x


def loop_around(x):
    y = x
    while y.sum() < 50:
        with _no_grad():
            step = y * 2
        y = y + step * x
    return y


def loop_around_stopped(x):
    y = x
    while y.sum() < 50:
        y = y + ops.stop_gradient(y * 2) * x
    return y


@_no_grad()
def target(x):
    if x.sum() > 0:
        return x * x
    return -x


def decorated(x):
    return target(x) * x


decorated_stopped = product_stopped


def switched(x):
    _pynative_executor.set_enable_grad(False)
    weight = x * x
    _pynative_executor.set_enable_grad(True)
    return weight * x


switched_stopped = product_stopped


@pytest.mark.parametrize(
    "function",
    [
        product, gradient_inside, batch_inside, second_order_inside, values_inside, equal_calls, loop_inside, loop_around,
        decorated, switched,
    ],
)  # fmt: skip
def test_a_block_is_a_constant(function):
    stopped = globals()[function.__name__ + "_stopped"]
    expected = ms.grad(lambda x: stopped(x).sum())(X).asnumpy()

    def total(x):
        return function(x).sum()

    tangent = np.array([1.0, -2.0, 0.5], np.float32)
    for f in (total, ms.jit(total)):
        assert_close(ms.grad(f)(X), expected, kind="program", each=True)
        along = ms.jvp(f, (X,), (Tensor(tangent),))[1]
        assert_close(along, expected @ tangent, kind="program", each=True)
    gradient = ms.grad(total)
    for _ in range(12):  # repeated calls become programs
        result = gradient(X)
    assert_close(result, expected, kind="program", each=True)
    assert_close(ms.jit(gradient)(X), expected, kind="program", each=True)
    assert _pynative_executor.enable_grad()


def test_an_error_ends_the_block():
    def failing(x):
        with _no_grad():
            assert not _pynative_executor.enable_grad()
            raise ValueError("the user's")

    with pytest.raises(ValueError, match="user's"):
        ms.grad(failing)(X)
    assert _pynative_executor.enable_grad()


@pytest.mark.parametrize("mode", [ms.PYNATIVE_MODE, ms.GRAPH_MODE])
def test_parameters_are_constants_inside(mode):
    """The semi-gradient of a temporal difference, and a moving average that is updated beside it."""

    class Loss(nn.Cell):
        def __init__(self):
            super().__init__()
            self.value = nn.Dense(3, 1, weight_init="ones", bias_init="zeros")
            self.mean = ms.Parameter(ops.zeros((1, 3)), requires_grad=False)

        def construct(self, x, following):
            with ms._no_grad():
                target = 1 + 0.9 * self.value(following)
                ops.assign(self.mean, 0.5 * self.mean + 0.5 * self.value.weight)
            return ((self.value(x) - target) ** 2).sum()

    ms.set_context(mode=mode)
    loss = Loss()
    x, following = Tensor([[1.0, 2.0, 3.0]]), Tensor([[2.0, 0.0, 1.0]])
    (weight, bias) = ms.grad(loss, None, loss.trainable_params())(x, following)
    difference = 6 - (1 + 0.9 * 3)
    assert_close(weight, 2 * difference * x.asnumpy(), kind="program", each=True)
    assert_close(bias, [2 * difference], kind="program", each=True)
    np.testing.assert_allclose(loss.mean.asnumpy(), [[0.5, 0.5, 0.5]])


def value_read_inside(x):
    with _no_grad():
        curvature = ms.grad(lambda y: (ms.grad(lambda z: (z**3 * y).sum())(y) * y).sum())(x)
        size = float(curvature.sum())
    return curvature * x * size


def test_value_read_in_a_block_has_derivatives_taken_inside():
    x = X.asnumpy()
    expected = 12 * x**3 * (12 * x**3).sum()
    gradient = ms.grad(lambda x: value_read_inside(x).sum())
    for _ in range(4):
        assert_close(gradient(X), expected, kind="program", each=True)
