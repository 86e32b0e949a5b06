"""``grad``, ``value_and_grad``, ``vjp``, ``jvp``, ``linearize``, and ``jit``."""

import dataclasses
import math
import sys

import numpy
import pytest

from mindgrad.core import Tensor, grad, jit, jvp, linearize, value_and_grad, vjp
from mindgrad.core import numpy as np
from mindgrad.core.trace import executor
from tests.tolerances import assert_close

X = numpy.array([0.5, -1.0, 2.0])


def close(a, b, kind="program"):
    assert_close(a, b, kind)


# -- values and structures -------------------------------------------------------------------------------


def test_gradient_of_a_float_is_a_float():
    assert grad(lambda x: x**3)(2.0) == 12.0
    assert type(grad(lambda x: np.sin(x))(2.0)) is float


def test_gradient_has_the_structure_of_its_argument():
    @dataclasses.dataclass
    class Point:
        x: object
        y: object

    def loss(p, c):
        return np.sum(p["w"] * p["b"][0]) + p["b"][1].x * p["b"][1].y * c

    p = {"w": X, "b": (2.0, Point(3.0, 4.0), None)}
    gradient = grad(loss)(p, 5.0)
    close(gradient["w"].asnumpy(), [2.0, 2.0, 2.0])
    assert gradient["b"] == (1.5, Point(20.0, 15.0), None)


def test_argnums_selects_arguments():
    def f(x, y, k):
        return x * y**k

    assert grad(f, 1)(2.0, 3.0, 2) == 12.0
    assert grad(f, (1, 0))(2.0, 3.0, k=2) == (12.0, 9.0)
    assert grad(f, -2)(2.0, 3.0, 2) == 12.0
    assert value_and_grad(f, argnums=(0,))(2.0, 3.0, 2) == (18.0, (9.0,))


def test_aux_is_returned_unchanged():
    def f(x):
        return x * x, {"half": x / 2, "name": "f"}

    assert grad(f, has_aux=True)(3.0) == (6.0, {"half": 1.5, "name": "f"})
    assert value_and_grad(f, has_aux=True)(3.0) == ((9.0, {"half": 1.5, "name": "f"}), 6.0)
    output, pullback, aux = vjp(f, 3.0, has_aux=True)
    assert (output, pullback(1.0), aux["half"]) == (9.0, (6.0,), 1.5)
    assert jvp(f, (3.0,), (2.0,), has_aux=True)[1] == 12.0
    assert linearize(f, 3.0, has_aux=True)[1](2.0) == 12.0


def test_gradient_of_a_constant_is_zero():
    assert grad(lambda x: 3.0)(2.0) == 0.0
    assert grad(lambda x, y: y, (0, 1))(2.0, 3.0) == (0.0, 1.0)


def test_gradient_of_a_complex_input_is_the_direction_of_steepest_ascent():
    gradient = grad(lambda z: np.absolute(z) ** 2)(1.0 + 2.0j)
    assert complex(gradient) == 2.0 + 4.0j


def test_python_control_flow_reads_values():
    def f(x):
        return x * x if x > 0 else -x

    assert (grad(f)(3.0), grad(f)(-3.0)) == (6.0, -1.0)


def test_mixed_precision_keeps_the_dtype_of_tensors():
    x = np.array([1.0, 2.0])
    gradient = grad(lambda x: np.sum(2.0 * x * x))(x)
    assert gradient.dtype == np.float32


# -- higher orders, in each combination ---------------------------------------------------------------------

ORDERS = {
    "grad": lambda f: grad(f),
    "jvp": lambda f: lambda x: jvp(f, (x,), (1.0,))[1],
    "vjp": lambda f: lambda x: vjp(f, x)[1](1.0)[0],
    "linearize": lambda f: lambda x: linearize(f, x)[1](1.0),
    "jit of grad": lambda f: jit(grad(f)),
    "grad of jit": lambda f: grad(jit(f)),
}


@pytest.mark.parametrize("outer", ORDERS)
@pytest.mark.parametrize("middle", ORDERS)
@pytest.mark.parametrize("inner", ["grad", "jvp", "vjp", "jit of grad"])
def test_third_derivative_in_each_combination(inner, middle, outer):
    third = ORDERS[outer](ORDERS[middle](ORDERS[inner](lambda x: np.sin(x) * x**3)))
    x = 0.7
    expected = 6 * math.sin(x) + 18 * x * math.cos(x) - 9 * x**2 * math.sin(x) - x**3 * math.cos(x)
    assert_close(third(x), expected, "program")


def test_tenth_derivative_of_the_sine():
    f = np.sin
    for _ in range(10):
        f = grad(f)
    assert_close(f(0.3), -math.sin(0.3), "program")


def test_perturbations_of_nested_derivatives_are_not_confused():
    assert grad(lambda x: x * grad(lambda y: x + y)(1.0))(5.0) == 1.0
    assert grad(lambda x: x * grad(lambda y: x * y)(2.0))(3.0) == 6.0


def test_vjp_and_jvp_are_adjoint():
    def f(x, y):
        return {"a": np.outer(np.sin(x), y), "b": np.cumsum(x * x)}

    primals = X, numpy.array([1.0, 3.0])
    tangents = numpy.array([1.0, 2.0, -1.0]), numpy.array([0.5, 4.0])
    output, pullback = vjp(f, *primals)
    cotangent = {"a": numpy.cos(output["a"].asnumpy()), "b": numpy.sin(output["b"].asnumpy())}
    pulled = pullback(cotangent)
    pushed = jvp(f, primals, tangents)[1]
    left = sum((g.asnumpy() * t).sum() for g, t in zip(pulled, tangents, strict=True))
    right = sum((cotangent[k] * pushed[k].asnumpy()).sum() for k in "ab")
    assert_close(left, right, "program")
    linear = linearize(f, *primals)[1]
    close(linear(*tangents)["b"].asnumpy(), pushed["b"].asnumpy())


def test_pullback_can_be_called_again_and_differentiated():
    _, pullback = vjp(lambda x: x**3, 2.0)
    assert [pullback(1.0), pullback(2.0)] == [(12.0,), (24.0,)]
    assert grad(lambda c: pullback(c)[0])(1.0) == 12.0


# -- jit --------------------------------------------------------------------------------------------------


def test_jit_traces_once_for_each_type_structure_and_static_value(monkeypatch):
    run = executor.NumPyExecutor().compiled
    traced = []
    monkeypatch.setattr(executor, "compiled", lambda graph: traced.append(graph) or run(graph))
    monkeypatch.setattr(sys.modules["mindgrad.core.api.jit"], "compiled", executor.compiled)

    @jit
    def f(x, k, scale=1.0, *, flag=True):
        return (np.sum(x) ** k if flag else np.max(x)) * scale

    assert [float(f(X, 2)), float(f(X + 1, 2)), float(f(X, 2, 3.0)), float(f(X, 2, 4.0))] == [
        2.25,
        20.25,
        6.75,
        9.0,
    ]
    assert len(traced) == 2  # without and with `scale`
    f(X, 3), f(X[:2], 2), f(X, 2, flag=False), f(X.astype("float32"), 2), f(X, 2)
    assert len(traced) == 6


def test_jit_accepts_static_arguments():
    @jit
    def f(x, shape):
        return np.reshape(x, shape)

    assert f(X, (3, 1)).shape == (3, 1)
    g = jit(lambda x, p: x * p, static_argnums=1)
    assert (g(2.0, 3.0), g(2.0, 4.0)) == (6.0, 8.0)
    h = jit(lambda x, *, p: x * p, static_argnames="p")
    assert h(2.0, p=3.0) == 6.0
    with pytest.raises(TypeError, match="must be hashable"):
        jit(lambda x, s: x)(2.0, {1, 2})


def test_jit_uses_values_of_the_enclosing_function():
    def outer(y):
        inner = jit(lambda x: x * y)
        return inner(3.0) + inner(4.0)

    assert (outer(2.0), grad(outer)(2.0), jit(outer)(2.0), jit(grad(outer))(2.0)) == (14.0, 7.0, 14.0, 7.0)

    held = [1.0]
    shared = jit(lambda x: x * held[0])

    def through(y):
        held[0] = y
        return shared(3.0)

    assert [grad(through)(2.0), grad(through)(5.0)] == [3.0, 3.0]


def test_jit_calls_itself_with_other_static_values():
    @jit
    def power(x, n):
        return x if n == 1 else x * power(x, n - 1)

    assert (power(2.0, 5), grad(power)(2.0, 5)) == (32.0, 80.0)


def test_condition_on_a_traced_tensor_raises():
    if "mindgrad.ops" not in sys.modules:  # a frontend compiles the branches
        with pytest.raises(Exception, match=r"condition of Python code[\s\S]*cond\(condition"):
            jit(lambda x: x if x > 0 else -x)(1.0)


# -- errors -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: grad(lambda x: x)(X), TypeError, r"must return a scalar, but its output has shape \(3,\)"),
        (lambda: grad(lambda x: (x, x))(1.0), TypeError, "returned a tuple.*has_aux=True"),
        (lambda: grad(lambda x: x > 0)(1.0), TypeError, "output of the function must be real"),
        (lambda: grad(lambda x: "text")(1.0), TypeError, "must be real, but it has type str"),
        (
            lambda: grad(lambda x: x)(3),
            TypeError,
            r"argument 0 is of type int, which has no derivative. Pass 3.0",
        ),
        (
            lambda: grad(lambda x: x["a"])({"a": 1.0, "b": [2]}),
            TypeError,
            r"argument 0 at \['b'\]\[0\] is of type int",
        ),
        (lambda: grad(lambda x: x)(np.arange(3)), TypeError, "a tensor of dtype Int64"),
        (lambda: grad(lambda x: x, 1)(1.0), ValueError, "called with 1 positional arguments"),
        (lambda: grad(lambda x, y: x, (0, 0))(1.0, 1.0), ValueError, "no duplicates"),
        (lambda: grad(lambda x: x, "x")(1.0), TypeError, "argnums must be an int"),
        (lambda: grad(3)(1.0), TypeError, "must be a function"),
        (lambda: grad(lambda x: x, has_aux=True)(1.0), TypeError, r"must return a pair \(output, aux\)"),
        (lambda: vjp(lambda x: {"a": x}, 1.0)[1](1.0), TypeError, r"must have the leaves cotangent\['a'\]"),
        (
            lambda: vjp(lambda x: x, X)[1](1.0),
            ValueError,
            r"cotangent has shape \(\), but must have shape \(3,\)",
        ),
        (
            lambda: vjp(lambda x: x, X)[1](np.ones(3)),
            TypeError,
            "has dtype Float32, but must have dtype Float64",
        ),
        (lambda: vjp(lambda x: object(), 1.0), TypeError, "must return tensors and numbers"),
        (lambda: jvp(lambda x: x, 1.0, 1.0), TypeError, "primals must be a tuple or list"),
        (lambda: jvp(lambda x: x, (1.0,), (1.0, 2.0)), TypeError, r"must have the leaves tangents\[0\]"),
        (lambda: linearize(lambda x: x, X)[1](X[:2]), ValueError, r"tangents\[0\] has shape \(2,\)"),
    ],
)
def test_mistake_is_named(call, error, message):
    with pytest.raises(error, match=message):
        call()


def test_tensor_has_the_operators_of_numpy():
    x = Tensor(X)
    pairs = [
        (x + 1, X + 1), (2.0 - x, 2.0 - X), (x * x, X * X), (1 / x, 1 / X), (x // 2, X // 2), (x % 2, X % 2), (2**x, 2**X),
        (x @ x, X @ X), (-x, -X), (abs(x), abs(X)), (x[1:], X[1:]), (x[[2, 0]], X[[2, 0]]), (x[x > 0], X[X > 0]),
        (x == X, X == X), (x < 1, X < 1), (x.sum(), X.sum()), (x.reshape(3, 1).T, X.reshape(3, 1).T),
        (numpy.float64(2) * x, 2 * X), (X + x, X + X),
    ]  # fmt: skip
    for ours, theirs in pairs:
        close(ours.asnumpy(), theirs)
    assert [float(each) for each in x] == X.tolist()
