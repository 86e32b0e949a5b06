"""Loops that are left by a jump: what they carry, where they begin, and that this changes no result."""

import numpy as np
import pytest

import mindgrad as ms
from mindgrad import Tensor, ops
from mindgrad.core.control.while_ import while_
from mindgrad.core.ir.rewriting import watching
from mindgrad.frontend.programs.compiled import trace
from tests.tolerances import assert_close


def search(x):
    rate, successes = 0.1, 0
    while True:
        if (x * x).sum() <= 1e-3:
            return x
        if successes == 3:
            rate, successes = rate * 2, 0
        else:
            step = x - rate * x
            if ops.abs(step).max() <= 1e-3:
                return x
            x, successes = step, successes + 1


def falls(x):
    v = x * 0.0
    while True:
        ahead = x + 0.1 * v
        if ahead[0] < -1.0:
            break
        x, v = ahead, v - 0.5 * ops.cos(x)
    return x / v


def first_iteration_differs(x):
    is_first = True
    while True:
        if is_first:
            x = x * 3.0
            is_first = False
        x = x * 0.7
        if x.sum() < 0.5:
            return x


def first_iteration_appends(x):
    seen = []
    while True:
        if len(seen) == 0:
            x = x * 3.0
            seen.append(x)
        x = x * 0.7
        if x.sum() < 0.5:
            return x + seen[0]


def none_before(x):
    last = None
    while True:
        last = x if last is None else last * 0.5 + x
        x = x * 0.7
        if x.sum() < 0.5:
            return last


def known_iterations_first(x):
    k = 0
    while True:
        k += 1
        if k > 3 and x.sum() < 0.5:
            return x * k
        x = x * 0.9


def returns_what_was_before(x):
    before = x
    while True:
        before, x = x, x * 0.7
        if x.sum() < 0.5:
            return before
        if x[0] < 0.1:
            return x * 2.0


def returns_of_one_variable_changed_between(x):
    while True:
        if x.sum() < 0.5:
            return x
        x = x * 0.7
        if x[0] < 0.2:
            return x
        x = x + 0.01


def nested(x):
    total = x * 0.0
    while True:
        y = x
        while True:
            if y.sum() < 0.3:
                break
            if y[0] > 5.0:
                return y
            y = y * 0.5
        total = total + y
        x = x * 0.8
        if x.sum() < 0.5:
            return total


def defined_in_a_iteration(x):
    while True:
        y = x * 2.0
        if y.sum() < 1.0:
            break
        x = x * 0.7
    return x + y


def never_iterations(x):
    n = 0
    while True:
        if x.sum() < 100.0:
            break
        x, n = x * 0.5, n + 1
    return x + n


def changes_elements(x):
    x = x * 1.0
    while True:
        x[0] = x[0] * 0.5
        if x[0] < 0.3:
            return x


def a_test_and_a_jump(x):
    n = 0
    while n < 4:
        if x.sum() < 0.5:
            return x * 10.0
        x, n = x * 0.7, n + 1
    return x


def changes_elements_and_goes_on(x):
    x = x * 1.0
    while True:
        if x.sum() < 1.0:
            return x
        x[0] = x[0] * 0.5
        if x[1] > 50.0:
            return x
        x[1] = x[1] * 0.5


def changes_elements_where_it_leaves(x):
    x = x * 1.0
    while True:
        if x.sum() < 1.0:
            x[1] = 7.0
            return x
        x = x * 0.5


FUNCTIONS = [
    search, falls, first_iteration_differs, first_iteration_appends, none_before, known_iterations_first, returns_what_was_before,
    returns_of_one_variable_changed_between, nested, defined_in_a_iteration, never_iterations, changes_elements,
    a_test_and_a_jump, changes_elements_and_goes_on, changes_elements_where_it_leaves,
]  # fmt: skip
POINTS = [np.array([1.5, 0.8]), np.array([0.1, 0.2]), np.array([7.0, 3.0])]


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f.__name__)
def test_compiled_is_eager(function):
    def total(x):
        return (function(x) * Tensor(np.array([1.0, 2.0]))).sum()

    compiled = ms.jit(function)
    gradient = ms.jit(ms.grad(total))
    for point in POINTS:
        x = Tensor(point)
        assert_close(compiled(x).numpy(), function(x).numpy(), kind="program")
        assert_close(gradient(x).numpy(), ms.grad(total)(x).numpy(), kind="program")


def _loops(function):
    graph = trace(function, Tensor(POINTS[0]))
    return graph, [equation for equation in graph.equations if equation.primitive is while_]


def test_what_a_branch_assigns_to_elements_is_in_every_name():
    def first(x):
        x = x * 1.0
        if x.sum() < 1.0:
            x[1] = 7.0
            return x
        return x * 2.0

    def other(x):
        x = x * 1.0
        if x.sum() < 1.0:
            x[1] = 7.0
            y = x
        else:
            y = x * 2.0
        return y

    for function in (first, other):
        for point in POINTS:
            x = Tensor(point)
            np.testing.assert_array_equal(ms.jit(function)(x).numpy(), function(x).numpy())


@pytest.mark.parametrize(
    ("function", "carries", "branches"), [(search, 4, 1), (falls, 2, 0), (known_iterations_first, 4, 2)]
)
def test_a_loop_carries_what_changes_and_begins_with_its_first_iteration(function, carries, branches):
    """``search``: x, rate, successes and its flag; no value to return, no test, no first iteration outside."""
    graph, (loop,) = _loops(function)
    assert "cond" not in graph.count()
    assert len(loop.outputs) == carries
    assert loop.parameters["body"].count().get("cond", 0) == branches


def test_exit_at_the_head_is_the_condition():
    _, (loop,) = _loops(falls)
    assert "cos" not in loop.parameters["condition"].count()
    assert {"less", "slice"} <= set(loop.parameters["condition"].count())


def test_first_iterations_that_differ_stay_outside():
    for function in (first_iteration_differs, first_iteration_appends, none_before):
        graph, _ = _loops(function)
        assert graph.equations[0].primitive is not while_


def test_gradient_of_a_loop_by_one_number_is_forward_mode():
    def f(t):
        x = t * Tensor(POINTS[0])
        while x.sum() > 1.0:
            x = ops.sin(x) * 0.9
        return (x * x).sum()

    t = Tensor(1.3, ms.float64)
    with watching() as counts:
        graph = trace(ms.grad(f), t)
    assert counts["loop"] == 1
    assert "while_pullback" not in graph.count()
    second = ms.jit(ms.grad(ms.grad(f)))(t).numpy()
    assert_close(ms.jit(ms.grad(f))(t).numpy(), ms.grad(f)(t).numpy(), kind="program")
    assert_close(second, ms.grad(ms.grad(f))(t).numpy(), kind="program")


def test_gradient_by_a_rule_of_the_user_stays_that():
    class Half(ms.nn.Cell):
        def construct(self, x):
            return x * 0.5

        def bprop(self, x, out, dout):
            return (dout * 7.0,)

    half = Half()

    def f(t):
        while t > 1.0:
            t = half(t)
        return t

    t = Tensor(3.0, ms.float64)
    with watching() as counts:
        assert ms.jit(ms.grad(f))(t).numpy() == 49.0
    assert not counts["loop"]


def test_a_long_loop_over_a_parameter_is_compiled():
    rows = ms.Parameter(Tensor(np.linspace(0.9, 1.1, 400, dtype=np.float32).reshape(200, 2)), name="rows")

    @ms.jit
    def product(x):
        for row in rows:
            x = x * row
        return x

    expected = np.prod(rows.asnumpy(), axis=0)
    assert_close(product(Tensor(np.ones(2, np.float32))).asnumpy(), expected, "contraction", length=400)
