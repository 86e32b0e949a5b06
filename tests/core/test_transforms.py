"""``jacobian``, ``hessian``, ``hvp``, ``laplacian``, ``taylor``, and ``vmap``."""

import math

import numpy
import pytest

from mindgrad.core import (
    grad,
    hessian,
    hvp,
    jacfwd,
    jacobian,
    jacrev,
    jit,
    jvp,
    laplacian,
    taylor,
    vmap,
)  # fmt: skip
from mindgrad.core import numpy as np
from mindgrad.core.trace import plans
from tests.tolerances import assert_close

X = numpy.array([0.5, -1.0, 2.0])
A = numpy.array([[1.0, 2.0, 0.5], [0.3, -1.0, 4.0]])


def close(a, b, kind="program"):
    assert_close(a, b, kind)


def both(function):
    """The function, and the function compiled."""
    return [function, jit(function)]


# -- Jacobians and Hessians ------------------------------------------------------------------------------


@pytest.mark.parametrize("transform", [jacobian, jacfwd, jacrev])
def test_jacobian_has_the_axes_of_output_and_input(transform):
    for each in both(transform(lambda x: np.sin(A @ x))):
        close(each(X), numpy.cos(A @ X)[:, None] * A)
    close(transform(lambda x: np.outer(x, x))(X).shape, (3, 3, 3))
    assert transform(lambda t: t**3)(2.0) == 12.0


def test_jacobian_is_nested_by_output_and_input():
    def f(p, t):
        return {"y": p["a"] * t, "s": np.sum(p["a"]) * p["b"]}

    J = jacobian(f, (0, 1))({"a": X, "b": 3.0}, 2.0)
    close(J["y"][0]["a"], 2 * numpy.eye(3))
    close(J["y"][1], X)
    close(J["s"][0]["a"], [3.0] * 3)
    close(J["s"][0]["b"], X.sum())
    _value, aux = jacobian(lambda x: (x * x, "aux"), has_aux=True)(X)
    assert aux == "aux"


def test_hessian_is_symmetric_and_nested():
    def f(p):
        return np.sum(np.exp(A @ p["x"])) * p["k"]

    p = {"x": X, "k": 1.5}
    for each in both(hessian(f)):
        H = each(p)
        close(H["x"]["x"], 1.5 * A.T @ numpy.diag(numpy.exp(A @ X)) @ A)
        close(H["x"]["k"], A.T @ numpy.exp(A @ X))
        close(H["k"]["x"], A.T @ numpy.exp(A @ X))
        assert float(H["k"]["k"]) == 0.0
    close(jacfwd(jacrev(f))(p)["x"]["x"], hessian(f)(p)["x"]["x"])
    assert hessian(lambda t: t**4)(2.0) == 48.0


def test_hvp_is_the_hessian_times_the_vector():
    def f(x):
        return np.sum(np.exp(A @ x))

    v = numpy.array([1.0, -2.0, 0.5])
    (product,) = hvp(f, (X,), (v,))
    close(product, hessian(f)(X).asnumpy() @ v)
    close(product, jvp(grad(f), (X,), (v,))[1])
    close(
        grad(lambda x: np.sum(hvp(f, (x,), (v,))[0]))(X),
        jacobian(lambda x: hessian(f)(x) @ v)(X).asnumpy().sum(0),
    )


# -- Laplacians and Taylor series -----------------------------------------------------------------------


def test_laplacian_is_the_trace_of_the_hessian():
    def f(x):
        return np.exp(np.sum(A @ x)) + np.sum(x**3)

    for each in both(laplacian(f)):
        close(each(X), numpy.trace(hessian(f)(X).asnumpy()))


def test_laplacian_of_a_batch_of_points():
    points = numpy.arange(6.0).reshape(2, 3) / 3
    close(laplacian(lambda x: np.sum(x**3, -1))(points), 6 * points.sum(-1))
    close(vmap(laplacian(lambda x: np.sum(x**3)))(points), 6 * points.sum(-1))
    gradient = grad(lambda x: np.sum(laplacian(lambda y: np.sum(y**4, -1))(x)))(points)
    close(gradient, 24 * points)


def test_taylor_coefficients_of_elementary_functions():
    coefficients = [taylor(f, (0.0,), (1.0,), 6) for f in (np.exp, np.sin, lambda x: 1 / (1 - x))]
    factorials = [math.factorial(k) for k in range(7)]
    close(coefficients[0], [1 / n for n in factorials])
    close(coefficients[1], [0, 1, 0, -1 / 6, 0, 1 / 120, 0])
    close(coefficients[2], [1.0] * 7)


def test_taylor_series_is_the_function_along_the_line():
    v = numpy.array([0.3, -0.1, 0.2])

    def f(x):
        return {"a": np.tanh(A @ x), "b": np.prod(x)}

    for order in (0, 1, 9):
        series = taylor(f, (X,), (v,), order)
        assert series["a"].shape == (order + 1, 2)
    step = 0.1
    powers = step ** numpy.arange(10)
    close(powers @ series["a"].asnumpy(), numpy.tanh(A @ (X + step * v)), "law")
    close(powers @ series["b"].asnumpy(), numpy.prod(X + step * v), "law")
    close(jit(lambda x: taylor(f, (x,), (v,), 3))(X)["a"], taylor(f, (X,), (v,), 3)["a"])


# -- vmap ------------------------------------------------------------------------------------------------


def test_vmap_maps_chosen_axes():
    close(vmap(np.dot, (0, None))(A, X), A @ X)
    close(vmap(lambda x: x * 2, in_axes=1, out_axes=1)(A), 2 * A)
    close(
        vmap(lambda p, k: p["a"] * k, (({"a": 0}), 0))({"a": A}, numpy.array([1.0, 3.0])), A * [[1.0], [3.0]]
    )
    out = vmap(lambda x: {"s": np.sum(x), "x": x}, out_axes={"s": 0, "x": 1})(A)
    close(out["s"], A.sum(1))
    close(out["x"], A.T)
    close(vmap(vmap(lambda a, b: a * b, (None, 0)), (0, None))(X, X), numpy.outer(X, X))


@pytest.mark.parametrize("arrange", [lambda f: f, jit], ids=["eager", "jit"])
def test_vmap_composes_with_derivatives(arrange):
    def f(x, w):
        return np.sum(np.tanh(x * w)) ** 2

    per_sample = arrange(vmap(grad(f, 1), (0, None)))(A, X)
    loop = [grad(f, 1)(row, X).asnumpy() for row in A]
    close(per_sample, loop)
    total = arrange(grad(lambda w: np.sum(vmap(f, (0, None))(A, w))))(X)
    close(total, numpy.sum(loop, 0))
    close(
        arrange(hessian(lambda w: np.sum(vmap(lambda r: f(r, w))(A))))(X),
        sum(hessian(f, 1)(row, X).asnumpy() for row in A),
    )


def test_vmap_of_jit_maps_the_traced_function():
    close(vmap(jit(lambda x: np.sum(x * x)))(A), (A * A).sum(1))
    close(jit(vmap(jit(grad(lambda t: t**3))))(X), 3 * X**2)


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: laplacian(lambda x: np.sum(x))(A), ValueError, "value for each point"),
        (lambda: laplacian(lambda x: np.sum(np.sum(x) * x, -1))(A), ValueError, "depend on one point only"),
        (lambda: laplacian(lambda x: x)(2.0), ValueError, "last axis of the points"),
        (lambda: taylor(np.sin, (0.0,), (1.0,), -1), ValueError, "must not be negative"),
        (lambda: taylor(np.sin, (0.0,), (1.0,), 2.0), TypeError, "must be an int"),
        (lambda: taylor(np.sin, (X,), (X[:2],), 2), ValueError, r"tangents\[0\] has shape \(2,\)"),
        (lambda: hvp(np.sum, (X,), ((X,),)), TypeError, r"must have the leaves tangents\[0\]"),
        (lambda: hessian(lambda x: x)(3), TypeError, "has no derivative"),
        (lambda: vmap(lambda x, y: x)(A, X), RuntimeError, "axis_size of each argument must be the same"),
        (lambda: vmap(lambda x: x, (0, 0))(A), RuntimeError, "length of 'in_axes'"),
        (lambda: vmap(lambda x: x)(2.0), RuntimeError, "has no axis 0"),
        (lambda: vmap(lambda x: x, 5)(A), RuntimeError, "out of bounds"),
    ],
)
def test_mistake_is_named(call, error, message):
    with pytest.raises(error, match=message):
        call()


@pytest.mark.parametrize(
    "derivative",
    [
        lambda f, x: laplacian(f)(x),
        lambda f, x: taylor(f, (x,), (x,), 3),
        lambda f, x: hvp(f, (x,), (x,)),
    ],
)
def test_calls_with_equal_options_use_one_plan(derivative, monkeypatch):
    monkeypatch.setattr(plans, "_PLANS", {})
    f = lambda x: np.sum(np.tanh(x) * x)
    derivative(f, np.array([0.1, 0.2]))
    count = len(plans._PLANS)
    derivative(f, np.array([0.1, 0.2]))
    assert len(plans._PLANS) == count > 0
