"""Equal calls of a plain recursion are traced once; of any other function each call is."""

from __future__ import annotations

import ast
import inspect
import textwrap

import numpy as np

import mindgrad
from mindgrad import Tensor, ops
from mindgrad.frontend.control import equal_calls
from mindgrad.frontend.python.plain_recursion import is_plain_recursion
from mindgrad.inspect import profile
from tests.tolerances import assert_close

FACTOR = 2.0
CALLS: list[int] = []


def minor(a, row, columns):
    """As a determinant is written."""
    if len(columns) == 1:
        return a[row, columns[0]]
    total, sign = 0.0, 1
    for j, column in enumerate(columns):
        total = total + sign * a[row, column] * minor(a, row + 1, columns[:j] + columns[j + 1 :])
        sign = -sign
    return total


def determinant(a):
    return minor(a, 0, tuple(range(len(a))))


def power(x, n, *, scale=1.0):
    """Two kinds of numbers, a keyword, a branch on a tensor and a constant of the module."""
    if n == 0:
        return scale
    total = 0.0
    total += power(x, n - 1, scale=scale)
    if total > 1:
        total = total * FACTOR
    return total + power(x, n - 1, scale=scale) * x + power(x, n - 1, scale=-scale)


def counted(x, n):
    CALLS.append(n)
    return x if n == 0 else counted(x, n - 1) * counted(x, n - 1)


def filled(x, n, made):
    made[n] = x
    return x if n == 0 else filled(x, n - 1, made) + filled(x, n - 1, made)


def shifted(x, n):
    x += 1.0
    return x if n == 0 else shifted(x, n - 1) + shifted(x, n - 1)


def read(x, n):
    return x if n == 0 else read(x, n - 1) + ops.sin(read(x, n - 1))


def outer(x, n):
    global FACTOR
    FACTOR = n
    return x if n == 0 else outer(x, n - 1) + outer(x, n - 1)


def node(function):
    return ast.parse(textwrap.dedent(inspect.getsource(function))).body[0]


def test_determinant_calls_each_minor_once(monkeypatch):
    count = 0

    def counting(function, converted):
        def run(*args):
            nonlocal count
            count += 1
            return converted(*args)

        return original(function, run)

    original = equal_calls.shared
    monkeypatch.setattr(equal_calls, "shared", counting)
    a = np.random.default_rng(0).random((6, 6))
    result = mindgrad.jit(determinant)(Tensor(a))
    assert_close(result, np.linalg.det(a), kind="ill-conditioned")
    # a minor of r rows is one of as many sets of columns
    assert count == sum(len(list(_sets(6, r))) for r in range(1, 7)) == 63


def _sets(n, size):
    return (bits for bits in range(2**n) if bits.bit_count() == size)


def test_gradient_is_that_of_the_inverse():
    a = np.random.default_rng(1).random((5, 5))
    result = mindgrad.jit(mindgrad.grad(determinant))(Tensor(a)).asnumpy()
    assert_close(result, np.linalg.det(a) * np.linalg.inv(a).T, kind="program")
    found = [profile.measure(determinant, Tensor(np.ones((n, n)))).equations for n in (6, 8)]
    assert found[1] < 6 * found[0]  # 56 times as many calls


def test_results_are_those_of_python():
    for x in (0.3, 1.7):
        for scale in (1.0, -0.0):
            result = mindgrad.jit(lambda x, scale=scale: power(x, 3, scale=scale))(
                Tensor(x, mindgrad.float64)
            )
            assert_close(result, power(x, 3, scale=scale), kind="program")


def test_plain_is_only_what_computes():
    assert is_plain_recursion(node(minor))
    assert is_plain_recursion(node(power))
    for function in (counted, filled, shifted, read, outer, determinant):
        assert not is_plain_recursion(node(function)), function.__name__


def test_a_name_that_stands_for_something_else_is_seen(monkeypatch):
    convert = lambda *args: None
    assert equal_calls.shared(minor, convert) is not convert
    monkeypatch.setitem(minor.__globals__, "len", lambda columns: 1)
    assert equal_calls.shared(minor, convert) is convert
    monkeypatch.delitem(minor.__globals__, "len")
    monkeypatch.setitem(power.__globals__, "FACTOR", Tensor(2.0))
    assert equal_calls.shared(power, convert) is convert


def pair(x, n):
    if n == 0:
        return x * 1.0, n
    return x + pair(x, n - 1)[0], x + pair(x, n - 1)[0]


def same(x, n):
    return x if n == 0 else (same(x, n - 1), same(x, n - 1))


def test_each_call_has_a_tensor_of_its_own():
    @mindgrad.jit
    def assigned(x):
        a, b = pair(x, 1)
        a[0] = 5.0
        c, d = same(x, 1)
        c[1] = 7.0
        return a, b, c, d

    a, b, c, d = (each.asnumpy().tolist() for each in assigned(Tensor([1.0, 2.0])))
    assert (a, b) == ([5.0, 4.0], [2.0, 4.0])
    assert c == d == [1.0, 7.0]  # one tensor, as in Python
