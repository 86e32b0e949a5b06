"""Every derivative of ``odeint`` against closed forms, and of event times: roots whose equation solves an equation."""

import numpy as np
import pytest

import mindgrad as ms
from mindgrad import Tensor, ops
from tests.thorough import THOROUGH

TOLERANCES = [1e-4, 1e-7, 1e-10]


def double(x):
    return Tensor(np.asarray(x, np.float64))


def closed(p):
    """The sum with weights 1, 2, … of y at the later times, where ``y' = -k y + t``; ``p = (k, y0, *times)``."""
    k, start, first, *times = p
    ends = [t / k - 1 / k**2 + (start - first / k + 1 / k**2) * np.exp(-k * (t - first)) for t in times]
    return sum(weight * y for weight, y in enumerate(ends, 1))


def gradient_of_closed(p):
    """By complex steps, which have no rounding to speak of."""
    return np.array([closed(p + 1e-30j * e).imag / 1e-30 for e in np.eye(len(p))])


def hessian_of_closed(p):
    rows = [
        (gradient_of_closed(p + 1e-5 * e) - gradient_of_closed(p - 1e-5 * e)) / 2e-5 for e in np.eye(len(p))
    ]
    return np.array(rows)


def solved(p, rtol, adjoint):
    k, start, times = p[0], p[1], p[2:]
    states = ms.odeint(lambda y, t: -k * y + t, start, times, rtol=rtol, atol=rtol, adjoint=adjoint)
    return (states[1:] * ops.arange(1, times.shape[0]).astype(ms.float64)).sum()


POINTS = {
    "one time": [0.7, 1.3, 0.2, 1.5],
    "many times": [0.7, 1.3, 0.2, 0.9, 1.1, 1.9],
    "backwards": [0.7, 1.3, 1.8, 1.2, 0.4],
}


def interpolation(name, rtol, power):
    """States between two steps are interpolated to order 4, one less than the steps; each derivative costs one."""
    return 0.0 if name == "one time" else rtol**power


points = pytest.mark.parametrize("name", POINTS)


@points
@pytest.mark.parametrize("rtol", TOLERANCES)
@pytest.mark.parametrize("adjoint", [False, True])
def test_odeint_first_derivatives_equal_closed_forms(name, rtol, adjoint):
    """Reverse mode has each partial derivative; forward mode has a sum of them with unequal weights."""
    p, v = np.array(POINTS[name]), np.linspace(1, 2, len(POINTS[name]))
    function = lambda p: solved(p, rtol, adjoint)
    wanted, bound = gradient_of_closed(p), 40 * rtol + interpolation(name, rtol, 0.8)
    np.testing.assert_allclose(function(double(p)).item(), closed(p), rtol=0, atol=bound)
    np.testing.assert_allclose(ms.grad(function)(double(p)).asnumpy(), wanted, rtol=0, atol=bound)
    if not adjoint:
        along = ms.jvp(function, double(p), double(v))[1].item()
        np.testing.assert_allclose(along, wanted @ v, rtol=0, atol=bound)


@pytest.mark.parametrize(
    ("name", "rtol"),
    # the tightest tolerance takes most of the time, and has the same interpolation
    [(name, rtol) for name in POINTS for rtol in TOLERANCES[: 3 if THOROUGH or name == "one time" else 2]],
)
def test_odeint_second_derivatives_equal_closed_forms(name, rtol):
    p, v = np.array(POINTS[name]), np.linspace(1, 2, len(POINTS[name]))
    function, wanted = lambda p: solved(p, rtol, False), hessian_of_closed(p)
    bound = 200 * rtol + 1e-8 + interpolation(name, rtol, 0.6)
    along = lambda f: lambda p: ms.jvp(f, p, double(v))[1]
    np.testing.assert_allclose(
        along(along(function))(double(p)).item(), v @ wanted @ v, rtol=0, atol=20 * bound
    )
    reverse = ms.grad(lambda p: (ms.grad(function)(p) * double(v)).sum())(double(p))
    np.testing.assert_allclose(reverse.asnumpy(), wanted @ v, rtol=0, atol=4 * bound)
    mixed = along(ms.grad(function))(double(p))
    np.testing.assert_allclose(mixed.asnumpy(), wanted @ v, rtol=0, atol=4 * bound)


@points
@pytest.mark.parametrize("adjoint", [False, True])
def test_odeint_compiled_derivatives_equal_closed_forms(name, adjoint):
    p = np.array(POINTS[name])
    gradient = ms.grad(lambda p: solved(p, 1e-7, adjoint))
    np.testing.assert_allclose(
        ms.jit(gradient)(double(p)).asnumpy(), gradient_of_closed(p), rtol=0, atol=4e-6
    )
    curved = ms.jit(ms.grad(lambda p: gradient(p).sum()))
    wanted = hessian_of_closed(p).sum(0)
    np.testing.assert_allclose(curved(double(p)).asnumpy(), wanted, rtol=0, atol=1e-4)


GRAVITY = 9.81


def impact(v, rtol, adjoint=False):
    """When a ball that is thrown up with the speed ``v`` from a height of 3 reaches the ground."""

    def height(end):
        states = ms.odeint(
            lambda y, t: ops.stack([y[1], ops.ones_like(y[1]) * -GRAVITY]),
            ops.stack([double(3.0), v]),
            ops.stack([ops.zeros_like(end), end]),
            rtol=rtol,
            atol=rtol,
            adjoint=adjoint,
        )
        return states[-1, 0]

    return ms.custom_root(height, double(2.0))


@pytest.mark.parametrize("rtol", TOLERANCES)
@pytest.mark.parametrize("adjoint", [False, True])
def test_event_time_derivatives_equal_closed_forms(rtol, adjoint):
    speed = np.sqrt(1 + 2 * GRAVITY * 3)
    first, second = (1 + 1 / speed) / GRAVITY, (1 / speed - 1 / speed**3) / GRAVITY
    function, v = lambda v: impact(v, rtol, adjoint), double(1.0)
    for gradient in (ms.grad(function), ms.jit(ms.grad(function))):
        np.testing.assert_allclose(gradient(v).item(), first, rtol=1e-9 if not adjoint else 10 * rtol)
    if not adjoint:
        np.testing.assert_allclose(ms.jvp(function, v, double(1.0))[1].item(), first, rtol=1e-9)
        np.testing.assert_allclose(ms.grad(ms.grad(function))(v).item(), second, rtol=1e-8)


def test_root_derivative_sees_operands_through_simplifications():
    """The equation slices a value that is joined from the parameter outside of it."""

    def root(a):
        joined = ops.stack([a, 2 * a])
        return ms.custom_root(lambda x: x * joined[1] + joined.sum() * x - joined[0], double(0.5))

    a = double(1.5)  # 5 a x = a: the root is 1/5 whatever a is
    for gradient in (ms.grad(root), ms.jit(ms.grad(root)), lambda a: ms.jvp(root, a, double(1.0))[1]):
        np.testing.assert_allclose(gradient(a).item(), 0.0, atol=1e-15)
    scaled = lambda a: root(a) * a + ms.custom_root(lambda x: x - ops.stack([a, a])[0] ** 2, double(0.5))
    np.testing.assert_allclose(ms.grad(scaled)(a).item(), 0.2 + 2 * 1.5, rtol=1e-12)
