"""Roots, fixed points, minima and linear systems: their derivatives against closed forms, jax and NumPy."""

import warnings

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import scipy

import mindgrad as ms
from mindgrad import Parameter, Tensor, nn, ops
from mindgrad.inspect import profile
from tests.tolerances import assert_close

MODES = [ms.PYNATIVE_MODE, ms.GRAPH_MODE]


@pytest.fixture(autouse=True)
def eager():
    before = ms.get_context("mode")
    ms.set_context(mode=ms.PYNATIVE_MODE)
    yield
    ms.set_context(mode=before)


def double(x):
    return Tensor(np.asarray(x, np.float64))


def cube_root(a):
    return ms.custom_root(lambda x, a: x * x * x - a, double(1.0), args=(a,))


@pytest.mark.parametrize("mode", MODES)
def test_a_root_has_all_derivatives_in_both_modes_of_differentiation(mode):
    ms.set_context(mode=mode)

    def everything(a):
        first = ms.grad(cube_root)
        return cube_root(a), first(a), ms.jvp(first, a, double(1.0))[1], ms.grad(ms.grad(first))(a)

    run = ms.jit(everything) if mode == ms.GRAPH_MODE else everything
    found = [x.item() for x in run(double(8.0))]
    expected = [2, 1 / 3 * 8 ** (-2 / 3), -2 / 9 * 8 ** (-5 / 3), 10 / 27 * 8 ** (-8 / 3)]
    assert_close(found, expected, kind="ill-conditioned", each=True)


def test_a_taylor_series_of_a_root():
    _, third = ms.derivative(cube_root, double(8.0), order=3)
    assert_close(third, 10 / 27 * 8 ** (-8 / 3), kind="ill-conditioned")


MATRIX = np.array([[3.0, 0.5, -0.2], [0.1, 2.0, 0.4], [-0.3, 0.2, 2.5]])
POINT = np.array([1.0, -0.5, 2.0])


def system(a, v, exp, tanh):
    return lambda x: a @ x + tanh(x) * 0.3 + exp(-x * x) - v


def root_of(a, v, how=None):
    return ms.custom_root(system(a, v, ops.exp, ops.tanh), double(np.zeros(3)), tangent_solve=how)


def jax_root_of(a, v):
    def newton(f, x):
        return jax.lax.fori_loop(0, 30, lambda _, x: x - jnp.linalg.solve(jax.jacobian(f)(x), f(x)), x)

    def tangent(g, y):
        return jnp.linalg.solve(jax.jacobian(g)(y), y)

    return jax.lax.custom_root(system(a, v, jnp.exp, jnp.tanh), jnp.zeros(3), newton, tangent)


@pytest.mark.parametrize("how", ["dense", "bicgstab", lambda g, b: ms.custom_linear_solve(g, b, "dense")])
def test_a_system_of_equations_agrees_with_jax(how):
    with jax.enable_x64(True):
        expected = jax.jit(jax.grad(lambda a, v: (jax_root_of(a, v) ** 2).sum(), (0, 1)))(MATRIX, POINT)
        second = jax.jit(jax.hessian(lambda v: (jax_root_of(MATRIX, v) ** 2).sum()))(POINT)
    a, v = double(MATRIX), double(POINT)
    found = ms.grad(lambda a, v: (root_of(a, v, how) ** 2).sum(), (0, 1))(a, v)
    for x, y in zip(found, expected, strict=True):
        assert_close(x, y, kind="ill-conditioned")
    slope = ms.grad(lambda v: (root_of(a, v, how) ** 2).sum())
    assert_close(ms.jacrev(slope)(v), second, kind="ill-conditioned")
    assert_close(ms.jacfwd(slope)(v), second, kind="ill-conditioned")


class Residual(nn.Cell):
    def __init__(self):
        super().__init__()
        self.w = Parameter(double(0.7), name="w")
        self.b = Parameter(double([0.1, 0.2]), name="b")

    def construct(self, x, a):
        return ops.tanh(self.w * x) + self.b - a * x


class Implicit(nn.Cell):
    def __init__(self):
        super().__init__()
        self.f = Residual()

    def construct(self, a):
        return (ms.custom_root(self.f, double([1.0, 1.0]), args=(a,)) ** 2).sum()


@pytest.mark.parametrize("mode", MODES)
def test_weights_inside_of_the_equation_have_gradients(mode):
    ms.set_context(mode=mode)
    net = Implicit()
    a = double([2.0, 3.0])
    of_a, (of_w, of_b) = ms.grad(net, 0, net.trainable_params())(a)
    ms.set_context(mode=ms.PYNATIVE_MODE)

    def moved(parameter, direction):
        before, values = parameter.asnumpy().copy(), []
        for sign in (1, -1):
            parameter.set_data(double(before + sign * 1e-6 * direction))
            values.append(net(a).item())
        parameter.set_data(double(before))
        return (values[0] - values[1]) / 2e-6

    assert_close(of_w, moved(net.f.w, 1.0), kind="iteration")
    assert_close(of_b.asnumpy()[1], moved(net.f.b, np.array([0.0, 1.0])), kind="iteration")
    assert_close(
        of_a.asnumpy()[0],
        (net(a + double([1e-6, 0])) - net(a - double([1e-6, 0]))).item() / 2e-6,
        kind="iteration",
    )


@pytest.mark.parametrize("mode", MODES)
def test_each_element_of_a_batch_is_an_equation_of_its_own(mode):
    ms.set_context(mode=mode)
    a = double([1.0, 8.0, 27.0])

    def everything(a):
        roots = ms.vmap(cube_root)
        return roots(a), ms.vmap(ms.grad(cube_root))(a), ms.grad(lambda a: (roots(a) ** 2).sum())(a)

    run = ms.jit(everything) if mode == ms.GRAPH_MODE else everything
    roots, of_each, of_sum = run(a)
    x = np.array([1.0, 2.0, 3.0])
    assert_close(roots, x, kind="ill-conditioned")
    assert_close(of_each, 1 / (3 * x * x), kind="ill-conditioned")
    assert_close(of_sum, 2 * x / (3 * x * x), kind="ill-conditioned")


def test_a_batch_of_dense_systems():
    vs = double(np.stack([POINT, POINT * 2, -POINT]))
    a = double(MATRIX)
    loss = lambda v: (root_of(a, v, "dense") ** 2).sum()
    each = np.stack([ms.grad(loss)(v).asnumpy() for v in vs])
    assert_close(ms.vmap(ms.grad(loss))(vs), each, kind="ill-conditioned")
    assert_close(ms.grad(lambda vs: ms.vmap(loss)(vs).sum())(vs), each, kind="ill-conditioned")


def test_the_solver_is_the_users_and_is_not_differentiated():
    """The derivative of bisection itself is zero."""

    def bisection(f, x):
        low, high = x * 0, x * 0 + 4.0
        while high - low > 1e-13:
            middle = (low + high) / 2
            if f(middle) > 0:
                high = middle
            else:
                low = middle
        return low

    def root(a):
        return ms.custom_root(lambda x: x * x - a, double(1.0), bisection)

    for run in (ms.grad(root), ms.jit(ms.grad(root))):
        assert_close(run(double(2.0)), 0.5 / np.sqrt(2), kind="law")
    assert_close(ms.jit(ms.grad(ms.grad(root)))(double(2.0)), -0.25 / 2**1.5, kind="law")


def test_the_gradient_saves_nothing_of_the_iteration():
    ms.set_context(mode=ms.GRAPH_MODE)

    def solve(f, x):
        while ops.abs(f(x)) > 1e-12:
            x = x - f(x) / 2
        return x

    def root(a):
        return ms.custom_root(lambda x: x * x - a, double(1.0), solve)

    counts = profile.measure(ms.value_and_grad(root), double(2.0)).counts
    assert counts["while"] == 1
    assert "while_pullback" not in counts


def test_fixed_point():
    def found(a):
        return ms.fixed_point(lambda x: ops.cos(a * x), double(0.5))

    x, slope = ms.value_and_grad(found)(double(0.9))
    x = x.item()
    assert_close(x, np.cos(0.9 * x), kind="law")
    s = np.sin(0.9 * x)
    assert_close(slope, -x * s / (1 + 0.9 * s), kind="ill-conditioned")


@pytest.mark.parametrize("mode", MODES)
def test_argmin_of_a_ridge_regression(mode):
    ms.set_context(mode=mode)
    design, target = MATRIX[:, :2], POINT

    def weights(strength):
        def loss(parts):
            w = ops.stack([parts["a"], parts["b"]])
            return ((double(design) @ w - double(target)) ** 2).sum() + strength * (w * w).sum()

        found = ms.argmin(loss, {"a": double(0.0), "b": double(0.0)})
        return found["a"] + 2 * found["b"]

    def exact(strength):
        w = np.linalg.solve(design.T @ design + strength * np.eye(2), design.T @ target)
        return w[0] + 2 * w[1]

    value, slope = ms.value_and_grad(weights)(double(0.5))
    assert_close(value, exact(0.5), kind="ill-conditioned")
    assert_close(slope, (exact(0.5 + 1e-6) - exact(0.5 - 1e-6)) / 2e-6, kind="difference")


def test_argmin_goes_down_where_newton_would_go_up():
    x, info = ms.argmin(lambda x: ops.cos(x).sum(), double([0.3]), has_aux=True)
    assert info.converged.item()
    assert_close(np.cos(x.asnumpy()), -1.0, kind="ill-conditioned")


@pytest.mark.parametrize("how", ["auto", "dense", "bicgstab", "cg"])
def test_linear_systems_agree_with_the_inverse(how):
    def matrix(a):
        return a.T @ a if how == "cg" else a

    def solved(a, v):
        m = matrix(a)
        return (ms.custom_linear_solve(lambda x: m @ x, v, how, symmetric=how == "cg") ** 2).sum()

    def inverted(a, v):
        return ((ops.inverse(matrix(a)) @ v) ** 2).sum()

    def both(f):
        second = ms.grad(lambda a, v: (ms.grad(f, 1)(a, v) ** 2).sum())
        return *ms.grad(f, (0, 1))(a, v), second(a, v)

    a, v = double(MATRIX), double(POINT)
    for x, y in zip(both(solved), both(inverted), strict=True):
        assert_close(x, y, kind="ill-conditioned")


def test_a_diagonal_system_is_seen_and_needs_no_matrix():
    a = double(np.linspace(1, 2, 5000))
    ms.set_context(mode=ms.GRAPH_MODE)

    def roots(a):
        return ms.custom_root(lambda x: x * x - a, a * 0 + 1).sum()

    found = profile.measure(ms.grad(roots), a).counts
    assert "solve" not in found
    assert_close(ms.grad(roots)(a), 0.5 / np.sqrt(a.asnumpy()), kind="ill-conditioned")


def test_what_does_not_converge_says_so():
    _, info = ms.custom_root(lambda x: x * x + 1, double(1.5), has_aux=True)
    assert not info.converged.item()
    _, info = ms.fixed_point(lambda x: 2 * x, double(1.0), has_aux=True, maxiter=7)
    assert (info.iterations.item(), info.converged.item()) == (7, False)
    _, info = ms.custom_linear_solve(
        lambda x: double(MATRIX) @ x, double(POINT), "bicgstab", has_aux=True, maxiter=1
    )
    assert not info.converged.item()
    _, info = ms.custom_root(lambda x: x * x - 2, double(1.5), has_aux=True)
    assert info.converged.item()
    assert 2 < info.iterations.item() < 8


FAILING = {
    "custom_root": lambda x: ms.custom_root(lambda z: z * z + x, double(1.5)),
    "fixed_point": lambda x: ms.fixed_point(lambda z: 2 * z * x, double(1.0), maxiter=7),
    "argmin": lambda x: ms.argmin(lambda z: z * x, double(1.0), maxiter=7),
    "odeint": lambda x: ms.odeint(lambda y, t: y * y * x, double(1.0), double([0.0, 2.0]), max_steps=50)[0],
}


@pytest.mark.parametrize("name", FAILING)
def test_what_does_not_converge_warns_at_the_users_line_once(name):
    solved, one = FAILING[name], double(1.0)
    with pytest.warns(UserWarning, match=f"'{name}' did not .*has_aux=True") as caught:
        ms.grad(solved)(one)
    assert [(w.filename, w.lineno) for w in caught] == [(__file__, solved.__code__.co_firstlineno)]
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("default")
        for x in (1.0, 1.25, 1.5):
            solved(double(x))
    assert len(caught) == 1
    ms.jit(solved)(one)
    ms.vmap(solved)(double([1.0, 2.0]))


def test_what_has_no_elements_is_its_own_root():
    assert ms.custom_root(lambda x: x * x - 2, double(np.zeros((0, 3)))).shape == (0, 3)


def test_a_search_that_meets_nan_does_not_claim_to_have_converged():
    _, info = ms.custom_root(lambda x: ops.log(x) - 1, (double(-1.0)), has_aux=True)
    assert not info.converged.item()
    _, info = ms.fixed_point(lambda x: (ops.log(x[0]), x[1]), (double(-1.0), double(1.0)), has_aux=True)
    assert not info.converged.item()


ONE, TWO = Tensor(1.0), Tensor([1.0, 2.0])
ERRORS = [
    (lambda: ms.custom_root(3, ONE), TypeError, "should be callable"),
    (lambda: ms.custom_root(lambda x: x, 1.0), TypeError, "initial_guess must be a Tensor"),
    (lambda: ms.custom_root(lambda x: x, Tensor(1)), TypeError, "of the same precision, but got Int64"),
    (lambda: ms.custom_root(lambda x: x.sum(), TWO), ValueError, r"the shape \(\) instead of \(2,\)"),
    (lambda: ms.custom_root(lambda x: (x, x), TWO), TypeError, "returned a tuple of 2 Tensors"),
    (
        lambda: ms.custom_root(lambda x: x * x - 2, ONE, tangent_solve="lu"),
        ValueError,
        "'bicgstab', but got 'lu'",
    ),
    (lambda: ms.custom_root(lambda x: x, ONE, lambda f, x: TWO), ValueError, "'solve' must return"),
    (lambda: ms.custom_root(lambda x: x, ONE, lambda f, x: x, has_aux=True), ValueError, "a tuple"),
    (lambda: ms.argmin(lambda x: x * x, TWO), ValueError, "one Tensor of one element"),
    (lambda: ms.custom_linear_solve(lambda x: x * x, TWO), ValueError, "not linear: its derivative"),
    (lambda: ms.custom_linear_solve(lambda x: x + 1, TWO), ValueError, "not linear: it adds"),
]


@pytest.mark.parametrize(("call", "error", "text"), ERRORS)
def test_errors(call, error, text):
    with pytest.raises(error, match=text):
        call()


def test_a_solver_that_uses_what_is_differentiated_is_refused():
    def loss(a):
        return ms.custom_root(lambda x: a @ x - 1, TWO, tangent_solve=lambda g, b: a @ b)[0]

    with pytest.raises(RuntimeError, match="may use only its arguments and constants"):
        ms.grad(loss)(Tensor([[1.0, 2.0], [0.0, 3.0]]))


def through_a_loop(a):
    def f(x):
        y, iterations = x, x * 0
        while iterations < 5:
            y, iterations = y * 1.1 + 0.1 * x * x, iterations + 1
        return y - a

    return ms.custom_root(f, double(1.0))


def within_a_root(a):
    def f(x):
        return ms.custom_root(lambda y: y * y * y + y - x, double(1.0)) + x - a

    return ms.custom_root(f, double(1.0))


def of_a_differential_equation(a):
    """The speed at which a pendulum reaches the angle ``a`` after one second."""

    def f(speed):
        y = ms.odeint(
            lambda y, t: ops.stack([y[1], -ops.sin(y[0])]),
            ops.stack([speed * 0, speed]),
            double([0.0, 1.0]),
            rtol=1e-10,
            atol=1e-12,
        )
        return y[-1, 0] - a

    return ms.custom_root(f, double(0.5))


@pytest.mark.parametrize("compiled", [False, True])
@pytest.mark.parametrize("root", [through_a_loop, within_a_root])
def test_roots_of_programs_with_loops_and_roots_in_them(root, compiled):
    def derivatives(a):
        return root(a), ms.grad(root)(a), ms.grad(ms.grad(root))(a)

    run = ms.jit(derivatives) if compiled else derivatives
    low, here, high = ([x.item() for x in run(double(a))] for a in (3 - 1e-5, 3.0, 3 + 1e-5))
    assert_close(here[1:], (np.array(high) - low)[:2] / 2e-5, kind="iteration")


def test_a_shooting_method():
    slope = ms.grad(of_a_differential_equation)(double(0.6)).item()
    values = [of_a_differential_equation(double(a)).item() for a in (0.6 - 1e-5, 0.6 + 1e-5)]
    assert_close(slope, (values[1] - values[0]) / 2e-5, kind="iteration")


def logistic(dtype):
    """The cost of a logistic regression, whose minimum rounding makes flat."""
    rng = np.random.default_rng(0)
    a = Tensor(rng.normal(size=(60, 3)), dtype)
    y = Tensor((rng.random(60) < 1 / (1 + np.exp(-a.asnumpy() @ [1.0, -2.0, 0.5]))).astype(float), dtype)

    def cost(w, shift=0.0):
        z = a @ w
        return -(y * z - ops.softplus(z)).sum() + 0.5 * 0.999 * (w * w).sum() + shift

    return cost


@pytest.mark.parametrize("shift", [0.0, -30.0, 1e6])
@pytest.mark.parametrize("dtype", [ms.float64, ms.float32])
def test_argmin_converges_where_decreases_are_below_rounding(dtype, shift):
    cost = logistic(dtype)
    run = lambda: ms.argmin(lambda w: cost(w, shift), ops.zeros(3, dtype), has_aux=True)
    for found, info in (run(), ms.jit(run)()):
        assert info.converged.item()
        assert info.iterations.item() <= 12
        bound = 1e-11 if dtype is ms.float64 else 1e-4
        np.testing.assert_allclose(ms.grad(cost)(found).asnumpy(), 0.0, atol=bound)


def bratu(u, strength):
    wide = ops.pad(u, (1, 1))
    return (wide[2:] - 2 * u + wide[:-2]) * 51**2 + strength * ops.exp(u)


def sparse_newton(f, u):
    for _ in range(8):
        jacobian = ms.jacobian(f, sparse=True)(u)
        u = u + Tensor(scipy.sparse.linalg.spsolve(jacobian.tocsc(), -f(u).asnumpy()))
    return u


def test_a_solver_of_the_user_makes_sparse_jacobians_under_derivatives():
    def peak(strength):
        start = ops.zeros(50, ms.float64)
        return ms.custom_root(lambda u: bratu(u, strength), start, sparse_newton).max()

    at, step = double(2.0), 1e-4
    slope = (peak(at + step) - peak(at - step)).item() / (2 * step)
    gradient = ms.grad(peak)
    for _ in range(12):  # operator by operator, and as a program once it repeats
        assert_close(gradient(at), slope, kind="difference")
    curvature = (gradient(at + step) - gradient(at - step)).item() / (2 * step)
    assert_close(ms.grad(gradient)(at), curvature, kind="difference")
    assert_close(ms.jvp(peak, at, double(1.0))[1], slope, kind="difference")
    assert_close(ms.derivative(peak, at, 2)[1], curvature, kind="difference")


def test_a_solver_of_the_user_reads_weights_as_they_are_now():
    weight = ms.Parameter(double(1.0), name="weight")

    def root(x):
        ops.assign(weight, weight * 4)
        return ms.custom_root(lambda u: u * u - weight * x, x, lambda f, u: double(brent(f)))

    def brent(f):
        return scipy.optimize.brentq(lambda t: f(double(t)).item(), 0, 50)

    assert_close(ms.grad(root)(double(4.0)), 0.5, kind="ill-conditioned")  # sqrt(4 x)
    assert weight.asnumpy() == 4


def test_a_sparse_jacobian_under_a_derivative_is_still_refused():
    with pytest.raises(RuntimeError, match="SciPy matrix, which cannot be created inside"):
        ms.grad(lambda u: ms.jacobian(lambda v: bratu(v, 2.0), sparse=True)(u).sum())(
            ops.zeros(50, ms.float64)
        )
