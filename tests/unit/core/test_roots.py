"""Powers of roots and norms, whose derivatives at 0 exist: in both modes, as people write them."""

import numpy as np
import pytest

import mindgrad as ms
from mindgrad import Tensor, ops
from mindgrad.frontend.programs.compiled import trace
from tests.tolerances import assert_close

#: function, first and second derivative at 0; of vectors, the curvature in every direction
NUMBERS = {
    "sqrt(x)**2": (lambda x: ops.sqrt(x) ** 2, 1.0, 0.0),
    "sqrt(x)*sqrt(x)": (lambda x: ops.sqrt(x) * ops.sqrt(x), 1.0, 0.0),
    "3*sqrt(x)*x*sqrt(x)": (lambda x: 3.0 * ops.sqrt(x) * x * ops.sqrt(x), 0.0, 6.0),
    "sqrt(x)**3": (lambda x: ops.sqrt(x) ** 3, 0.0, np.inf),
    "sqrt(x)**4": (lambda x: ops.sqrt(x) ** 4, 0.0, 2.0),
    "(x**0.5)**2": (lambda x: (x**0.5) ** 2, 1.0, 0.0),
    "(x**1.5)**2": (lambda x: (x**1.5) ** 2, 0.0, 0.0),
    "(x**(1/3))**3": (lambda x: (x ** (1 / 3)) ** 3, 1.0, 0.0),
    "abs(x)**2": (lambda x: ops.abs(x) ** 2, 0.0, 2.0),
    "(abs(x)/2)**2": (lambda x: (ops.abs(x) / 2.0) ** 2, 0.0, 0.5),
}
VECTORS = {
    "norm(v)**2": (lambda v: ops.norm(v) ** 2, 2.0),
    "norm(v)*norm(v)": (lambda v: ops.norm(v) * ops.norm(v), 2.0),
    "square(norm(v))": (lambda v: ops.square(ops.norm(v)), 2.0),
    "pow(norm(v), 2.0)": (lambda v: ops.pow(ops.norm(v), 2.0), 2.0),
    "norm(v)**4": (lambda v: ops.norm(v) ** 4, 0.0),
    "sqrt(sum(v*v))**2": (lambda v: ops.sqrt((v * v).sum()) ** 2, 2.0),
    "sqrt(sum(v*v)/2)**2": (lambda v: ops.sqrt((v * v).sum() / 2) ** 2, 1.0),
    "(norm(v)/0.5)**2": (lambda v: (ops.norm(v) / 0.5) ** 2, 8.0),
    "norm, keepdim": (lambda v: (ops.norm(v, dim=-1, keepdim=True) ** 2).sum(), 2.0),
    "hypot(a, b)**2": (lambda v: ops.hypot(v[0], v[1]) ** 2, 2.0),
    "exp(-norm(v)**2)": (lambda v: ops.exp(-(ops.norm(v) ** 2)), -2.0),
    "exp(-r*r)": (lambda v: ops.exp(-ops.norm(v) * ops.norm(v)), -2.0),
    "exp(-0.5*r*r)": (lambda v: ops.exp(-0.5 * ops.norm(v) * ops.norm(v)), -1.0),
}


def of_all(functions, point):
    return [(ms.grad(f)(point), ms.hessian(f)(point)) for f in functions]


@pytest.mark.parametrize("mode", ["eager", "compiled"])
def test_a_power_of_a_root_has_its_derivatives_at_zero(mode):
    run = ms.jit(of_all) if mode == "compiled" else of_all
    made = run([f for f, _, _ in NUMBERS.values()], Tensor(0.0, ms.float64))
    for (name, (_, first, second)), (gradient, hessian) in zip(NUMBERS.items(), made, strict=True):
        assert (gradient.item(), hessian.item()) == (first, second), name
    made = run([f for f, _ in VECTORS.values()], Tensor(np.zeros(2)))
    for (name, (_, curvature)), (gradient, hessian) in zip(VECTORS.items(), made, strict=True):
        np.testing.assert_array_equal(gradient.asnumpy(), 0.0, name)
        np.testing.assert_array_equal(hessian.asnumpy(), curvature * np.eye(2), name)


def test_powers_are_built_without_the_root():
    x = Tensor(np.ones(3))
    graph = trace(lambda x: ops.exp(-0.5 * (ops.norm(x) / 3.0) ** 2), x)
    assert graph.count().keys().isdisjoint({"norm", "sqrt"})
    assert trace(lambda x: ops.sqrt(x) ** 3, x).count() == {"real_power": 1}


def test_outside_of_the_domain_a_power_is_not_a_number():
    def function(x):
        return (ops.sqrt(x) ** 2).sum()

    x = Tensor([-1.0, 4.0, np.inf, np.nan])
    for run in (lambda f: f, ms.jit):
        value = run(lambda x: ops.sqrt(x) ** 2)(x).asnumpy()
        np.testing.assert_array_equal(value, np.array([np.nan, 4.0, np.inf, np.nan], np.float32))
        np.testing.assert_array_equal(run(ms.grad(function))(x).asnumpy()[:2], [np.nan, 1.0])
        masked = ms.grad(lambda x: ops.where(x > 0, ops.sqrt(x) ** 2, 0.0).sum())
        np.testing.assert_array_equal(run(masked)(x).asnumpy()[:3], [0.0, 1.0, 1.0])


@pytest.mark.parametrize("dtype", [ms.float16, ms.bfloat16, ms.float32, ms.float64])
def test_values_change_by_rounding_only(dtype):
    x = Tensor(np.array([[300.0, 1e-4, 3.0], [1.0, 2.0, 2.0]])).astype(dtype)

    def function(x):
        r = ops.norm(x, dim=-1)
        return (r / 100.0) ** 2, ops.abs(x) ** 2 / 4, (ops.sqrt(ops.abs(x)) / 7) ** 2, 2.0 * r * r / 1e3

    eager, compiled = function(x), ms.jit(function)(x)
    tolerance = {ms.float16: 4e-3, ms.bfloat16: 4e-2, ms.float32: 1e-6, ms.float64: 1e-14}[dtype]
    for ours, theirs in zip(compiled[:3], eager[:3], strict=True):
        assert ours.dtype == theirs.dtype == dtype
        np.testing.assert_allclose(
            ours.astype(ms.float64).asnumpy(), theirs.astype(ms.float64).asnumpy(), rtol=tolerance
        )


def test_the_square_of_a_complex_modulus_is_smooth():
    z = Tensor(np.zeros(2, np.complex128))

    def slope(z):
        return ms.grad(lambda z: (ops.abs(z) ** 2).sum())(z)

    for run in (slope, ms.jit(slope)):
        np.testing.assert_array_equal(run(z).asnumpy(), 0.0)
        tangent = ms.jvp(run, z, Tensor(np.array([1.0, 1j])))[1]
        np.testing.assert_array_equal(tangent.asnumpy(), [2.0, 2j])


#: a function of its inverse, a point inside of the domain, one at its edge and one outside
PAIRS = {
    "cos(acos(x))": (lambda x: ops.cos(ops.acos(x)), [0.5, 1.0, 1.5]),
    "sin(asin(x))": (lambda x: ops.sin(ops.asin(x)), [0.5, -1.0, -1.5]),
    "tanh(atanh(x))": (lambda x: ops.tanh(ops.atanh(x)), [0.5, 1.0, 1.5]),
    "cosh(acosh(x))": (lambda x: ops.cosh(ops.acosh(x)), [2.0, 1.0, 0.5]),
    "exp(log(x))": (lambda x: ops.exp(ops.log(x)), [2.0, 0.0, -1.0]),
    "expm1(log1p(x))": (lambda x: ops.expm1(ops.log1p(x)), [2.0, -1.0, -2.0]),
}


@pytest.mark.parametrize("wrap", [lambda f: f, ms.jit], ids=["eager", "compiled"])
@pytest.mark.parametrize("name", PAIRS)
def test_a_function_of_its_inverse_has_slope_one_and_keeps_its_domain(name, wrap):
    function, points = PAIRS[name]
    x = Tensor(np.array(points))
    assert_close(wrap(function)(x), [*points[:2], np.nan], kind="ill-conditioned")
    slope = wrap(ms.grad(lambda x: function(x).sum()))(x).asnumpy()
    assert_close(slope[:2], 1.0, kind="ill-conditioned")
    assert np.isnan(slope[2])
    masked = wrap(ms.grad(lambda x: ops.where(Tensor([True, True, False]), function(x), 0).sum()))(x)
    assert_close(masked, [1.0, 1.0, 0.0], kind="ill-conditioned")


@pytest.mark.parametrize("wrap", [lambda f: f, ms.jit], ids=["eager", "compiled"])
def test_a_root_of_a_square_has_its_curvature_and_a_root_of_x_squared_keeps_its_corner(wrap):
    zero = Tensor(0.0, ms.float64)
    curvature = wrap(ms.grad(ms.grad(lambda x: ops.sqrt(x**4))))(zero)
    assert curvature.item() == 2.0
    assert wrap(ms.grad(lambda x: ops.sqrt(x**2)))(Tensor(-3.0)).item() == -1.0
    assert wrap(ms.grad(lambda x: ops.sqrt(x**6)))(Tensor(-1.0)).item() == -3.0
