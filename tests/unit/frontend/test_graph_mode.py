"""What graph mode makes of control flow: which operators, in which order, and whose lines it names.

That values and derivatives are right is shown by tests/programs/test_control_corpus.py.
"""

import itertools
import traceback

import numpy as np
import pytest

import mindgrad as ms
from mindgrad import Parameter, Tensor, nn, ops
from mindgrad.frontend.programs.compiled import trace
from tests.tolerances import assert_close


def counts(function, *args):
    return trace(function, *args).count()


X = Tensor(0.3)


# -- what loops become ------------------------------------------------------------------------------


def step(x):
    return ops.sin(x) * 1.2 + x * 0.1 - 0.2 * ops.cos(x)


def test_a_short_loop_is_unrolled():
    def f(x):
        for _ in range(3):
            x = step(x)
        return x

    assert "scan" not in counts(f, X)


def test_a_long_loop_is_one_scan():
    def f(x):
        for k in range(200):
            x = step(x) + k
        return x

    assert counts(f, X) == {"scan": 1}


def test_a_loop_over_different_cells_is_unrolled():
    class Layer(nn.Cell):
        def __init__(self, value):
            super().__init__()
            self.w = Parameter(Tensor(value), name="w")

        def construct(self, x):
            for _ in range(4):
                x = step(x * self.w)
            return x

    layers = nn.CellList([Layer(0.1 * k) for k in range(8)])

    def f(x):
        for k in range(8):
            x = layers[k](x)
        return x

    assert "scan" not in counts(f, X)


def test_what_a_scan_appends_and_stacks_is_no_copy():
    def f(x):
        kept = []
        for _ in range(100):
            x = step(x)
            kept.append(x)
        return ops.stack(kept)

    graph = trace(f, X)
    assert graph.count() == {"scan": 1}
    assert graph.outputs[0].shape == (100,)


def test_the_last_item_of_a_growing_list_is_carried():
    def f(x):
        kept = [(x, 1)]
        for k in range(60):
            h, n = kept[-1]
            kept.append((step(h) + 0.01 * n, n + k))
        return kept[-1][0] * kept[30][1] + sum(h for h, _ in kept)

    assert counts(f, X)["scan"] == 1
    compiled = ms.jit(f)
    assert_close(compiled(X), f(X), kind="program")
    assert_close(ms.grad(compiled)(X), ms.grad(f)(X), kind="program")


def test_a_list_that_is_read_where_it_grows_unrolls_the_loop():
    def f(x):
        kept = [x, x]
        for _ in range(60):
            kept.append(step(kept[-2]))
        return sum(kept)

    assert "scan" not in counts(f, X)
    assert_close(ms.jit(f)(X), f(X), kind="program")


def test_a_long_loop_over_python_numbers_is_one_while():
    def f(x):
        k = 0
        while k < 100_000:
            x = step(x)
            k += 1
        return x

    assert counts(f, X)["while"] == 1


def test_a_long_loop_that_a_tensor_leaves_is_one_while():
    def f(x):
        for _ in range(10_000):
            if ops.abs(step(x) - x) < 1e-5:
                break
            x = step(x)
        return x

    assert counts(f, X)["while"] == 1
    assert_close(ms.jit(f)(X), f(X), kind="program")


def test_value_and_gradient_of_a_loop_share_it():
    def f(x):
        while x < 10:
            x = x * 1.5
        return x

    assert counts(ms.value_and_grad(f), X)["while"] == 1


def test_tail_calls_are_a_loop():
    def halved(x, iterations):
        if x > 1:
            return halved(x / 2, iterations + 1)
        return x * iterations

    assert_close(ms.jit(halved)(Tensor(20.0), Tensor(0.0)), 0.625 * 5)
    assert_close(ms.grad(ms.jit(halved))(Tensor(20.0), Tensor(0.0)), 5 / 32)


def test_recursion_through_known_data_is_not_a_loop():
    tree = (0.5, (0.1, 1.0, 2.0), 3.0)

    def leaf(node, x):
        if isinstance(node, float):
            return node * x
        if x < node[0]:
            return leaf(node[1], x)
        return leaf(node[2], x)

    for value in (0.05, 0.3, 0.9):
        want = leaf(tree, Tensor(value)).asnumpy()
        assert_close(ms.jit(lambda x: leaf(tree, x))(Tensor(value)), want)


def by_break_or_else(x, n):
    for _ in range(n):
        x = x * 1.5
        if x > 3:
            y, name = x * 2, "a"
            break
    else:
        y, name = -x, "a"
    return y * x if name == "a" else x


def by_breaks_only(x, n):
    while True:
        x = x * 2
        if x > 10:
            y, k = x * 2, 1
            break
        if x < -10:
            y, k = -x, 2
            break
        if x == 4:
            return x * n
    return y * x * k


@pytest.mark.parametrize("function", [by_break_or_else, by_breaks_only])
def test_names_that_only_the_exits_of_a_loop_define(function):
    compiled, slope = ms.jit(function), ms.grad(ms.jit(function))
    for x in (0.5, 1.3, 2.5, -3.0):
        for n in (0, 4):
            given = Tensor(x), Tensor(n)
            want, want_slope = function(given[0], n), ms.grad(function)(given[0], n)
            assert_close(compiled(*given), want)
            assert_close(slope(*given), want_slope, kind="program")


# -- comprehensions ----------------------------------------------------------------------------------


def filtered(v):
    some = sum(t * t for t in v if t > 0) + sum([ops.sin(t) for t in v if t > 0 if t < 2.5], 1.5)
    if any(t * 2 > 3 for t in v if t < 2.5) and all(t > 0 for t in v if t > -0.5):
        some = some * 2
    return some * (1 if any(k > 5 for k in itertools.count()) else 2) * sum(k for k in range(9) if k % 2)


def test_sums_and_truths_of_filtered_comprehensions():
    compiled, slope = ms.jit(filtered), ms.grad(ms.jit(filtered))
    for numbers in ([0.5, -1.0, 2.0, 3.0], [-1.0, -0.2, 2.0, 3.0]):
        v = Tensor(numbers)
        assert_close(compiled(v), filtered(v))
        assert_close(slope(v), ms.grad(filtered)(v))


def test_a_long_sum_is_one_scan():
    v = Tensor(np.linspace(-1, 1, 300).astype(np.float32))
    for f in (
        lambda x: sum(ops.sin(t) * t for t in x),
        lambda x: sum([ops.sin(t) for t in x if t > 0]),
        lambda x: sum(ops.sin(x * k) for k in range(400)),
        lambda x: x * all(t * t > -1 for t in x),
    ):
        assert len(trace(f, v)) < 10


# -- numbers ----------------------------------------------------------------------------------------


def test_numbers_that_change_keep_pythons_precision_and_widen_nothing():
    def f(x):
        scale, count = 1.0, 0
        while x.sum() > 1:
            scale *= 0.1
            x = x * 0.5
            count += 1
        return x * scale, scale, count

    half = Tensor(np.float16([8.0]))
    x, scale, count = ms.jit(f)(half)
    want = f(half)
    assert x.dtype == ms.float16
    assert (scale, count) == want[1:]
    assert type(count) is int
    assert type(scale) is float


# -- order and effects --------------------------------------------------------------------------------


def test_print_shows_values_in_order(capsys):
    @ms.jit
    def f(x):
        print("before", x)
        while x < 5:
            x = x * 2
            if x > 3:
                print(f"  {x:.1f}", end=";\n")
        return x

    for _ in range(2):
        f(Tensor(1.0))
    assert capsys.readouterr().out == "before 1.0\n  4.0;\n  8.0;\n" * 2


def test_a_gradient_prints_once(capsys):
    @ms.jit
    def f(x):
        while x < 5:
            x = x * 2
            print(x)
        return x

    ms.grad(ms.grad(f))(Tensor(2.0))
    assert capsys.readouterr().out == "4.0\n8.0\n"


def test_the_callers_tensor_keeps_its_value():
    @ms.jit
    def f(x):
        if x.sum() > 0:
            x[0] = 5.0
        x += 1
        return x

    x = Tensor([1.0, 2.0])
    np.testing.assert_array_equal(f(x).asnumpy(), [6.0, 3.0])
    np.testing.assert_array_equal(x.asnumpy(), [1.0, 2.0])


# -- errors -------------------------------------------------------------------------------------------


def test_a_traceback_shows_the_users_lines_only():
    def inner(x):
        if x.sum() > 0:
            return ops.matmul(x, x)
        return x

    @ms.jit
    def outer(x):
        return inner(x) * 2

    with pytest.raises(ValueError, match="matmul") as caught:
        outer(Tensor([[1.0, 2.0, 3.0]]))
    frames = traceback.extract_tb(caught.value.__traceback__)
    assert [frame.name for frame in frames[1:]] == ["outer", "inner"]
    assert {frame.filename for frame in frames} == {__file__}


def test_after_an_error_everything_is_as_before():
    weight = Parameter(Tensor(1.0), name="w")

    @ms.jit
    def f(x):
        if x > 0:
            ops.assign(weight, weight + 1)
            raise ValueError("no")
        return x

    with pytest.raises(ms.CompileError):
        f(Tensor(1.0))
    assert weight.asnumpy() == 1.0
    assert ms.jit(lambda x: x * weight)(Tensor(3.0)).asnumpy() == 3.0


@pytest.mark.parametrize("slots", [2, 8, 1024])
def test_the_slots_of_reverse_mode_change_no_result(slots):
    before = ms.get_context("checkpoint_slots")
    ms.set_context(checkpoint_slots=slots)
    try:

        @ms.jit
        def f(x, n):
            k = 0
            while k < n:
                x = x + ops.sin(3 * x) * 0.01
                k += 1
            return x

        actual = ms.grad(f)(X, Tensor(100, ms.int32)).asnumpy()
    finally:
        ms.set_context(checkpoint_slots=before)
    y, slope = 0.3, 1.0
    for _ in range(100):
        slope *= 1 + 0.03 * np.cos(3 * y)
        y += 0.01 * np.sin(3 * y)
    assert_close(actual, slope, kind="program")


@pytest.mark.parametrize("slots", [1, 0, True, 2.5])
def test_slots_that_are_none(slots):
    with pytest.raises(ValueError, match="checkpoint_slots"):
        ms.set_context(checkpoint_slots=slots)
