"""``cond``, ``while_loop``, ``fori_loop``, and ``scan``."""

import math

import numpy
import pytest

from mindgrad.core import cond, fori_loop, grad, hessian, jit, jvp, scan, vmap, while_loop
from mindgrad.core import numpy as np
from tests.tolerances import assert_close

X = numpy.array([0.5, -1.0, 2.0])


def both(function):
    """The function, and the function compiled."""
    return [function, jit(function)]


def close(a, b, kind="program"):
    assert_close(a, b, kind)


def test_cond_runs_one_branch():
    def f(x):
        return cond(np.sum(x) > 0, lambda y: {"a": y * y}, lambda y: {"a": -y}, x)["a"]

    for each in both(f):
        close(each(X), X * X)
        close(each(-X), X)
    for each in both(grad(lambda x: np.sum(f(x)))):
        close(each(X), 2 * X)
        close(each(-X), -numpy.ones(3))


def test_cond_of_numbers_has_second_derivatives():
    def f(x):
        return cond(x > 1, lambda x: x**3, lambda x: 2 * x, x)

    for each in both(grad(grad(f))):
        assert [each(2.0), each(0.5)] == [12.0, 0.0]


def test_cond_captures_tensors_of_the_enclosing_function():
    def f(x, w):
        return np.sum(cond(x[0] > 0, lambda: w * x, lambda: w))

    for each in both(grad(f, (0, 1))):
        gx, gw = each(X, 2 * X)
        close(gx, 2 * X)
        close(gw, X)


def test_while_loop_has_derivatives_of_any_order():
    def f(x):
        return while_loop(lambda c: c[0] < 3, lambda c: (c[0] + 1, c[1] * c[1]), (0, x))[1]

    assert [each(1.5) for each in both(f)] == [1.5**8] * 2
    for each in both(grad(f)):
        assert_close(each(1.5), 8 * 1.5**7, "program")
    for each in both(grad(grad(f))):
        assert_close(each(1.5), 56 * 1.5**6, "program")
    assert_close(jvp(grad(f), (1.5,), (1.0,))[1], 56 * 1.5**6, "program")


def test_while_loop_returns_counters_as_ints():
    count, value = while_loop(lambda c: c[1] < 100.0, lambda c: (c[0] + 1, c[1] * 2), (0, 1.0))
    assert (count, value) == (7, 128.0)
    assert type(count) is int


def test_newton_by_while_loop_is_differentiable():
    def root(a):
        return while_loop(lambda x: np.absolute(x * x - a) > 1e-13, lambda x: (x + a / x) / 2, 1.0)

    for each in both(grad(root)):
        assert_close(each(2.0), 1 / (2 * math.sqrt(2.0)), "program")


def test_fori_loop_sums_the_exponential_series():
    def f(x):
        return fori_loop(1, 25, lambda k, c: (c[0] * x / k, c[1] + c[0] * x / k), (1.0, 1.0))[1]

    for each in (f, grad(f), grad(grad(f)), jit(grad(f))):
        assert_close(each(1.3), math.exp(1.3), "program")
    assert fori_loop(0, 5, lambda i, s: s + i, 0) == 10


def test_scan_stacks_outputs_and_returns_the_carry():
    def f(x, decay):
        return scan(lambda c, row: (decay * c + np.sum(row["a"]), {"c": c, "x": row["a"]}), 0.0, {"a": x})

    x = numpy.arange(6.0).reshape(3, 2)
    for each in both(f):
        last, ys = each(x, 0.5)
        assert float(last) == 0.25 + 0.5 * 5 + 9
        close(ys["c"], [0.0, 1.0, 5.5])
        close(ys["x"], x)
    for each in both(grad(lambda x, decay: f(x, decay)[0], (0, 1))):
        gx, gd = each(x, 0.5)
        close(gx, numpy.array([[0.25] * 2, [0.5] * 2, [1.0] * 2]))
        assert gd == 2 * 0.5 * 1 + 5


def test_number_in_a_carry_takes_the_dtype_of_the_tensor_that_it_becomes():
    x = np.array([1.0, 2.0, 3.0])
    for each in both(lambda x: scan(lambda c, y: (c + y, c), 0.0, x)):
        last, before = each(x)
        assert (last.dtype, before.dtype) == (np.float32, np.float32)
        assert before.tolist() == [0.0, 1.0, 3.0]
    total = while_loop(lambda c: c[0] < 3, lambda c: (c[0] + 1, c[1] + x[0]), (0, 0))
    assert (total[0], total[1].dtype, float(total[1])) == (3, np.float32, 3.0)


def test_scan_runs_in_reverse_and_without_slices():
    last, ys = scan(lambda c, x: (c + x, c), 0.0, X, reverse=True)
    close(ys, [1.0, 2.0, 0.0])
    last, ys = scan(lambda c, _: (2 * c, None), 1.0, length=5)
    assert (last, ys) == (32.0, None)


def test_loops_can_be_batched_and_nested():
    def power(x, n):
        return while_loop(lambda c: c[0] > 0, lambda c: (c[0] - 1, c[1] * x), (n, np.ones_like(x)))[1]

    n = np.array([1, 2, 3])
    close(vmap(power)(X, n), X ** numpy.array([1, 2, 3]))
    close(vmap(grad(power), (0, 0))(X, n), [1.0, -2.0, 12.0])
    close(vmap(lambda x: cond(x > 0, lambda: x * x, lambda: -x))(X), [0.25, 1.0, 4.0])
    close(
        hessian(lambda x: np.sum(vmap(lambda y: fori_loop(0, 3, lambda i, z: z * y, 1.0))(x)))(X),
        numpy.diag(6 * X),
    )
    total = scan(lambda c, x: (c + fori_loop(0, 2, lambda i, y: y * y, x), None), 0.0, X)[0]
    assert_close(float(total), (X**4).sum(), "program")


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: cond(X > 0, lambda: 1.0, lambda: 2.0), TypeError, "predicate must be a scalar"),
        (lambda: cond(True, lambda: (1.0, 2.0), lambda: 2.0), TypeError, "must have the same structure"),
        (
            lambda: cond(True, lambda: X, lambda: X[:2]),
            TypeError,
            r"\[3\] in true_fun.*shapes \(3,\) and \(2,\)",
        ),
        (lambda: while_loop(lambda c: True, lambda c: (c, c), 1.0), TypeError, "carry of the same structure"),
        (lambda: while_loop(lambda c: X > 0, lambda c: c, 1.0), TypeError, "condition must be a scalar"),
        (
            lambda: while_loop(lambda c: c < 1, lambda c: c * X, 1.0),
            TypeError,
            r"carry has type Float64\[\] before",
        ),
        (
            lambda: while_loop(lambda c: c < 1, lambda c: c + 0.5, 0),
            TypeError,
            r"carry has type Int64\[\] before",
        ),
        (lambda: scan(lambda c, x: c, 0.0, X), TypeError, r"must return a pair \(carry, y\)"),
        (lambda: scan(lambda c, x: (c, c), 0.0, {"a": X, "b": X[:2]}), ValueError, "same size along axis 0"),
        (lambda: scan(lambda c, x: (c, c), 0.0), ValueError, "length is required"),
    ],
)
def test_mistake_is_named(call, error, message):
    with pytest.raises(error, match=message):
        call()
