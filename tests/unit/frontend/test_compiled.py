"""Compiled functions: what selects a program, Parameters in and out, constants, structures, threads."""

import gc
import pickle
import queue
import subprocess
import sys
import threading
import weakref
from collections import deque, namedtuple
from functools import partial
from types import SimpleNamespace

import jax
import numpy as np
import pytest

import mindgrad as ms
from mindgrad import Parameter, ParameterTuple, Tensor, nn, ops
from mindgrad.core.ir.scope import open_scopes
from mindgrad.frontend.programs.compiled import Compiled, trace
from mindgrad.ops import GradOperation, grad, jvp
from tests.tolerances import assert_close


class Counted:
    """A compiled function that counts how often it was traced."""

    def __init__(self, function):
        self.marks = marks = queue.Queue()

        def counted(*args, **kwargs):
            marks.put(None)  # guards do not compare queues: once, while tracing
            return function(*args, **kwargs)

        self.run = Compiled(counted)

    @property
    def traced(self):
        return self.marks.qsize()

    def __call__(self, *args, **kwargs):
        return self.run(*args, **kwargs)


def wide(*numbers):
    """A Float64 tensor; of one number, one without axes."""
    return Tensor(np.array(numbers if len(numbers) > 1 else numbers[0], np.float64))


def equals(tensor, expected):
    assert_close(tensor, expected, kind="program", each=True)


@pytest.fixture(autouse=True)
def _nothing_is_left_open():
    yield
    assert open_scopes() == []


# -- what selects a program ------------------------------------------------------------------------


def test_equal_types_share_a_program():
    f = Counted(lambda x, y: x * y)
    for number in range(5):
        equals(f(wide(float(number)), wide(3.0)), 3.0 * number)
    assert f.traced == 1
    f(wide(1.0, 2.0), wide(3.0))
    f(Tensor(1.0), Tensor(2.0))
    f(Tensor(1), Tensor(2))
    assert f.traced == 4
    f(Tensor(5), Tensor(6))
    assert f.traced == 4


@pytest.mark.parametrize(
    ("one", "two"),
    [
        (2.0, 3.0),
        (1, 1.0),
        (1, True),
        (0, False),
        (0.0, -0.0),
        (np.float32(0.0), np.float32(-0.0)),
        (np.float64(0.0), np.float64(-0.0)),
        (complex(0.0, 1.0), complex(-0.0, 1.0)),
        (np.int32(1), np.int64(1)),
        (np.float32(0.1), np.float64(0.1)),
        ("sum", "mean"),
        (None, 0),
        ((1, 2), (2, 1)),
        ((1, 2), [1, 2]),
        ([1, [2]], [[1], 2]),
        ({"a": 1}, {"b": 1}),
        ((), None),
        ((1,), 1),
    ],
)
def test_constants_select_a_program(one, two):
    f = Counted(lambda x, constant: x * 1)
    for _ in range(2):
        f(wide(1.0), one)
        f(wide(1.0), two)
    assert f.traced == 2


@pytest.mark.parametrize(
    "make",
    [
        lambda: 2.5, lambda: float("nan"), lambda: np.float32("nan"), lambda: "text", lambda: None, lambda: (1, [2.0, {"a": None}]),
        lambda: ms.float32, lambda: complex(1, 2), lambda: Ellipsis,
    ],
)  # fmt: skip
def test_equal_constants_share_a_program(make):
    f = Counted(lambda x, constant: x * 1)
    for _ in range(3):
        f(wide(1.0), make())
    assert f.traced == 1


def test_the_sign_of_a_zero_constant_is_kept():
    f = Compiled(lambda x, c: x / c)
    for zero in (0.0, np.float32(0.0), np.float64(0.0)):
        assert f(wide(1.0), zero).item() == np.inf
        assert f(wide(1.0), -zero).item() == -np.inf


def test_numbers_are_constants_and_their_programs_differ():
    f = Compiled(lambda x, n, of: of(x) ** n)
    for n in (2, 3.0, 0.5):
        equals(f(wide(4.0), n, ops.sqrt), 2.0**n)
    equals(f(wide(4.0), 2, ops.square), 256)


def test_keywords_and_defaults():
    f = Counted(lambda x, y=None, *, scale=1.0: x * scale if y is None else x * y * scale)
    x = wide(3.0)
    equals(f(x), 3)
    equals(f(x, scale=2.0), 6)
    equals(f(x, x), 9)
    equals(f(x, y=x), 9)
    equals(f(x=x, y=x, scale=0.5), 4.5)
    assert f.traced == 5
    equals(f(y=wide(2.0), scale=0.5, x=x), 3)
    equals(f(wide(1.0), y=wide(5.0)), 5)
    assert f.traced <= 6


def test_tensors_in_containers_are_data():
    point = namedtuple("point", "x y")
    f = Counted(lambda p, d: (p.x * d["a"] + p.y * d["b"][0], d["n"]))
    for k in (1.0, 2.0):
        total, n = f(point(wide(k), wide(3.0)), {"a": wide(2.0), "b": [wide(k)], "n": 7})
        equals(total, 5 * k)
        assert n == 7
    assert f.traced == 1


def test_an_array_is_an_input_that_selects_the_program_by_its_type():
    f = Counted(lambda x, array: (x * array.sum() + array[0], array))
    array = np.array([1.0, 2.0], np.float32)
    for second, total in ((2.0, 7.0), (2.0, 7.0), (5.0, 13.0)):
        array[1] = second
        result, same = f(wide(2.0), array)
        assert float(result) == total
        assert isinstance(same, Tensor)
        assert same.tolist() == [1.0, second]
    assert f.traced == 1


def test_a_large_array_of_no_numbers_or_a_set_is_refused():
    f = Compiled(lambda x, y: x)
    with pytest.raises(TypeError, match=r"can not be a ndarray of <U1 elements and 8000 bytes"):
        f(wide(1.0), np.full(2000, "a"))
    with pytest.raises(TypeError, match=r"can not be a ndarray of object elements"):
        f(wide(1.0), np.array([object()]))
    with pytest.raises(TypeError, match="argument of type set"):
        f(wide(1.0), {1, 2})


def test_cells_and_functions_as_arguments():
    class Scale(nn.Cell):
        def __init__(self, by):
            super().__init__()
            self.by = by

        def construct(self, x):
            return x * self.by

    f = Counted(lambda net, x: net(x))
    two, three = Scale(2.0), Scale(3.0)
    for _ in range(2):
        equals(f(two, wide(1.0)), 2)
        equals(f(three, wide(1.0)), 3)
        equals(f(ops.exp, wide(0.0)), 1)
    assert f.traced == 3
    two.by = 5.0
    equals(f(two, wide(1.0)), 5)
    assert f.traced == 4


# -- what a program gives ----------------------------------------------------------------------------


def test_outputs_of_every_kind():
    table = wide(1.0, 2.0)

    def f(x, y):
        z = x * y
        return {
            "z": z,
            "again": (z, [z, x]),
            "none": None,
            "number": 3,
            "text": "t",
            "table": table,
            "shape": x.shape,
        }

    x, y = wide(2.0), wide(5.0)
    for _ in range(2):
        actual = Compiled(f)(x, y)
        assert list(actual) == ["z", "again", "none", "number", "text", "table", "shape"]
        assert type(actual["again"]) is tuple
        assert type(actual["again"][1]) is list
        equals(actual["z"], 10)
        equals(actual["again"][1][0], 10)
        equals(actual["again"][1][1], 2)
        equals(actual["table"], [1, 2])
        assert (actual["none"], actual["number"], actual["text"], actual["shape"]) == (None, 3, "t", ())


class Held:
    def __init__(self, value):
        self.value = value


class Accumulating(nn.Cell):
    def __init__(self):
        super().__init__()
        self.total = Tensor(0.0)

    def construct(self, x):
        self.total = self.total + x
        return self.total, self


@pytest.mark.parametrize(
    ("function", "content"),
    [
        (lambda x: {x: 1}, "a tensor as the key of a dict"),
        (lambda x: {x}, "a tensor inside an object of type 'set'"),
        (lambda x: [frozenset([x])], "'frozenset'"),
        (lambda x: deque([x]), "'deque'"),
        (lambda x: (x, Held(x * 2)), "'Held'"),
        (lambda x: Held([Held(x)]), "'Held'"),
        (lambda x: SimpleNamespace(v=x), "'SimpleNamespace'"),
        (lambda x: partial(ops.add, x), "'partial'"),
        (lambda x: lambda y: x * y, "'function'"),
    ],
)
def test_result_with_hidden_tensor_raises(function, content):
    with pytest.raises(
        ms.CompileError, match=f"(?s)The result contains .*{content}.*Return tensors in tuples"
    ):
        ms.jit(function)(Tensor(2.0))


def test_result_with_object_without_tensors_is_that_object():
    held, cell = Held(Tensor(3.0)), Accumulating()
    assert ms.jit(lambda x: (x, held))(Tensor(2.0))[1] is held
    total, same = ms.jit(cell)(Tensor(2.0))
    assert (total.item(), same.total.item(), same) == (2.0, 2.0, cell)


def test_a_function_without_tensors():
    f = Counted(lambda *_: 3)
    assert (f(), f(), f(2), f(wide(1.0))) == (3, 3, 3, 3)
    assert f.traced == 3
    assert Compiled(lambda: None)() is None
    equals(Compiled(lambda: ops.zeros((2,), ms.float64) + 1)(), [1, 1])


def test_inputs_keep_their_values_and_types():
    f = Compiled(lambda x: (x + 1, x))
    given = [
        np.array([1.0, 2.0]),
        np.array([1, 2], np.int8),
        np.array([True, False]),
        np.array([1 + 2j]),
        np.zeros((0, 2), np.float16),
    ]
    for array in given:
        x = Tensor(array)
        first = f(x)
        second = f(x)
        for out in (first[1], second[1], x):
            assert out.asnumpy().dtype == array.dtype
            np.testing.assert_array_equal(out.asnumpy(), array)
        np.testing.assert_array_equal(first[0].asnumpy(), (x + 1).asnumpy())


def test_results_do_not_share_memory_that_can_be_written():
    x = wide(1.0, 2.0)
    y = Compiled(lambda x: x)(x)
    array = y.asnumpy()
    array[0] = 7
    equals(y, [1, 2])
    equals(x, [1, 2])
    y[0] = 9.0
    equals(x, [1, 2])


def test_a_captured_tensor_is_a_constant_of_the_program_until_it_changes():
    w = wide(2.0)
    f = Counted(lambda x: x * w)
    for _ in range(2):
        equals(f(wide(3.0)), 6)
    w = wide(5.0)
    for _ in range(2):
        equals(f(wide(3.0)), 15)
    assert f.traced == 2
    w[...] = 7.0  # it is an input by now
    equals(f(wide(3.0)), 21)
    assert f.traced == 2


@pytest.mark.parametrize("size", [1, 64, 65, 5000])
def test_constants_of_every_size(size):
    table = Tensor(np.arange(size, dtype=np.float64))
    f = Compiled(grad(lambda x: ops.reduce_sum(table * x * x * table)))
    for factor in (1.0, 2.0):
        equals(f(Tensor(np.full(size, factor))), 2 * factor * np.arange(size) ** 2)


def test_wide_types_leave_the_user_s_jax_alone():
    code = (
        "import numpy as np, jax, mindgrad as ms\n"
        "from mindgrad.frontend.programs.compiled import Compiled\n"
        "f = Compiled(ms.grad(ms.ops.sin))\n"
        "for dtype in (np.float64, np.float32, np.int64):\n"
        "    x = ms.Tensor(np.array([1], dtype))\n"
        "    y = Compiled(lambda x: x * x)(x)\n"
        "    assert y.asnumpy().dtype == dtype, y.dtype\n"
        "    assert not jax.config.jax_enable_x64\n"
        "    assert jax.numpy.ones(2).dtype == np.float32\n"
        "    assert jax.numpy.asarray(np.ones(2)).dtype == np.float32\n"
        "x = np.float64(1e-9)\n"
        "y = f(ms.Tensor(np.array(1 + x)))\n"
        "assert y.dtype == ms.float64 and abs(y.item() - np.cos(1 + x)) < 1e-15\n"
        "jax.config.update('jax_enable_x64', True)\n"
        "y = Compiled(lambda x: x * 2)(ms.Tensor(np.ones(2, np.float32)))\n"
        "assert y.dtype == ms.float32 and jax.config.jax_enable_x64\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=100)
    assert done.returncode == 0, done.stderr


def test_the_precision_of_64_bits_in_and_out():
    x = np.float64(1) + np.float64(2) ** -50
    assert Compiled(lambda x: x - 1)(Tensor(np.array(x))).item() == 2.0**-50
    large = 2**40 + 1
    assert Compiled(lambda n: n * 2 + 1)(Tensor(large)).item() == 2 * large + 1
    with jax.enable_x64(False):
        assert Compiled(lambda x: x - 1)(Tensor(np.array(x))).item() == 2.0**-50


# -- Parameters --------------------------------------------------------------------------------------


class Counter(nn.Cell):
    """Counts its calls, and multiplies by a weight."""

    def __init__(self):
        super().__init__()
        self.weight = Parameter(wide(2.0))
        self.calls = Parameter(Tensor(0), requires_grad=False)
        self.factor = 1.0

    def construct(self, x):
        self.calls = self.calls + 1
        return x * self.weight * self.factor


def test_parameters_are_read_when_the_program_is_called():
    net = Counter()
    f = Counted(net)
    equals(f(wide(3.0)), 6)
    net.weight.set_data(wide(5.0))
    equals(f(wide(3.0)), 15)
    assert f.traced == 1
    assert net.calls.item() == 2


def test_parameters_are_written_by_every_call():
    net = Counter()
    run = Compiled(grad(net))
    for count in range(1, 4):
        equals(run(wide(3.0)), 2)
        assert net.calls.item() == count
        assert not net.calls.is_traced


def test_a_parameter_read_after_it_is_written():
    p = Parameter(wide(1.0), name="p")

    def f(x):
        before = p * 1
        p.set_data(p + x)
        p.set_data(p * 2)
        return before, p * 1, p

    run = Compiled(f)
    for before in (1.0, 6.0):
        actual = run(wide(2.0))
        after = (before + 2) * 2
        for tensor, expected in zip(actual, (before, after, after), strict=True):
            equals(tensor, expected)
        assert not isinstance(actual[2], Parameter)
        equals(p, after)


def test_two_parameters_that_trade_places():
    a, b = Parameter(wide(1.0), name="a"), Parameter(wide(2.0), name="b")

    def f():
        held = a.value()
        a.set_data(b)
        b.set_data(held)

    run = Compiled(f)
    run()
    assert (a.item(), b.item()) == (2.0, 1.0)
    run()
    assert (a.item(), b.item()) == (1.0, 2.0)


def test_a_parameter_that_is_an_argument_and_read_inside():
    p = Parameter(wide(3.0), name="p")
    f = Compiled(lambda x: x * p)
    equals(f(p), 9)
    equals(f(wide(2.0)), 6)
    equals(Compiled(grad(lambda x: x * p))(p), 3)
    equals(Compiled(grad(lambda x: x * p, None, p))(p), 3)
    by_input, by_weight = Compiled(grad(lambda x: x * x * p, 0, p))(p)
    equals(by_input, 18)
    equals(by_weight, 9)


def test_a_parameter_of_another_type_compiles_again():
    p = Parameter(wide(1.0, 2.0), name="p")
    f = Counted(lambda x: (x * p).sum())
    equals(f(wide(1.0)), 3)
    p.set_data(wide(1.0, 2.0, 3.0), slice_shape=True)
    equals(f(wide(1.0)), 6)
    p.set_dtype(ms.float32)
    assert f(Tensor(1.0)).dtype == ms.float32
    p.set_dtype(ms.float64)
    p.set_data(wide(5.0, 2.0), slice_shape=True)
    equals(f(wide(1.0)), 7)
    assert f.traced == 3, "a program that fits again is used again"


def test_attributes_are_constants_until_they_change():
    net = Counter()
    f = Counted(net)
    x = wide(1.0)
    equals(f(x), 2)
    net.factor = 3.0
    equals(f(x), 6)
    equals(f(x), 6)
    assert f.traced == 2
    net.set_train()
    f(x)
    assert f.traced == 2, "whether it trains is not read"


def test_the_attribute_of_an_inner_cell_counts_too():
    class Outer(nn.Cell):
        def __init__(self):
            super().__init__()
            self.inner = Counter()

        def construct(self, x):
            return self.inner(x) + 1

    net = Outer()
    run = Compiled(grad(net))
    equals(run(wide(1.0)), 2)
    net.inner.factor = 4.0
    equals(run(wide(1.0)), 8)
    net.inner = Counter()
    equals(run(wide(1.0)), 2)


def test_a_cell_made_inside_a_compiled_function():
    class Power(nn.Cell):
        def __init__(self, n):
            super().__init__()
            self.n = n
            self.inner = None

        def construct(self, x):
            return x**self.n

    def f(x):
        made = Power(3)
        made.inner = Power(2)
        return made(x) + made.inner(x)

    equals(Compiled(grad(f))(wide(2.0)), 3 * 4 + 4)
    outside = Power(2)

    def changes(x):
        outside.n = 5
        return outside(x)

    equals(Compiled(changes)(wide(2.0)), 32)
    assert outside.n == 5


def test_the_pullback_of_a_cell_sees_what_its_attributes_are_now():
    class Custom(nn.Cell):
        def __init__(self):
            super().__init__()
            self.number = 2.0
            self.scalar = wide(1.0)
            self.vector = wide(1.0, 1.0)

        def construct(self, x):
            return x * x

        def bprop(self, x, out, dout):
            return (dout * self.number * self.scalar * self.vector,)

    net = Custom()
    for way in (lambda f: f, Compiled):
        run = way(grad(net))
        net.number, net.scalar, net.vector = 2.0, wide(1.0), wide(1.0, 1.0)
        equals(run(wide(1.0, 2.0)), [2, 2])
        net.number = 5.0
        equals(run(wide(1.0, 2.0)), [5, 5])
        net.scalar = wide(3.0)
        equals(run(wide(1.0, 2.0)), [15, 15])
        net.vector = wide(1.0, 2.0)
        equals(run(wide(1.0, 2.0)), [15, 30])


# -- nesting and failures -------------------------------------------------------------------------


def test_a_compiled_function_inside_another_is_part_of_it():
    inner = Counted(lambda x: ops.sin(x) * x)
    outer = Counted(lambda x: inner(x) + inner(x * 2))
    x = wide(0.5)
    equals(outer(x), np.sin(0.5) * 0.5 + np.sin(1.0))
    assert (inner.traced, outer.traced) == (2, 1)
    outer(x)
    assert (inner.traced, outer.traced) == (2, 1)
    equals(grad(outer)(x), np.sin(0.5) + 0.5 * np.cos(0.5) + 2 * (np.sin(1.0) + np.cos(1.0)))


def test_a_compiled_function_under_an_eager_gradient_is_differentiated():
    f = Compiled(lambda x: x**3)
    equals(grad(f)(wide(2.0)), 12)
    equals(grad(grad(f))(wide(2.0)), 12)
    equals(jvp(grad(f), wide(2.0), wide(1.0))[1], 12)


def test_a_failure_while_tracing_leaves_nothing_behind():
    p = Parameter(wide(1.0), name="p")
    fails = [True]

    def f(x):
        p.set_data(p + x)
        if fails[0]:
            raise ArithmeticError("while tracing")
        return x * p

    run = Compiled(grad(f))
    for _ in range(2):
        with pytest.raises(ArithmeticError, match="while tracing"):
            run(wide(2.0))
    equals(p, 1)
    assert not p.is_traced
    fails[0] = False
    equals(run(wide(2.0)), 1 + 2 * 2)
    equals(p, 3)


def test_a_tensor_that_leaves_its_program_is_refused_where_it_is_used():
    left = queue.Queue()

    def f(x):
        left.put(x * 2)  # guards do not compare queues: once, while tracing
        return x

    Compiled(f)(wide(1.0))
    for use in (lambda t: t + 1, lambda t: t.asnumpy(), float, grad(ops.sin), Compiled(lambda t: t * 1)):
        with pytest.raises((RuntimeError, TypeError), match="compil"):
            use(left.queue[0])
    with pytest.raises(RuntimeError, match="Return it from the function"):
        Compiled(lambda x: x * left.queue[0])(wide(1.0))


@pytest.mark.parametrize(
    "use",
    [
        float,
        int,
        lambda x: x.asnumpy(),
        lambda x: x.item(),
        lambda x: np.sin(x),
    ],
)
def test_a_value_is_asked_for_while_compiling(use):
    def f(x):
        use(x)
        return x

    with pytest.raises((RuntimeError, TypeError), match=r"PYNATIVE_MODE|mindgrad\.ops|Use the tensor itself"):
        Compiled(f)(wide(1.0))


def test_programs_are_freed_with_their_function():
    class Big(nn.Cell):
        def __init__(self):
            super().__init__()
            self.table = Tensor(np.ones(2000))

        def construct(self, x):
            return (x * self.table).sum()

    net = Big()
    array = weakref.ref(net.table.numpy())
    Compiled(grad(net))(wide(1.0))
    ms.set_context(mode=ms.GRAPH_MODE)
    try:
        net(wide(1.0))
        GradOperation(get_all=True)(net)(wide(1.0))
        jvp(net, wide(1.0), wide(1.0))
    finally:
        ms.set_context(mode=ms.PYNATIVE_MODE)
    alive = weakref.ref(net)
    del net
    gc.collect()
    assert alive() is None
    assert array() is None


# -- modes and threads -----------------------------------------------------------------------------


def test_graph_mode_compiles_gradients_once():
    traced = queue.Queue()

    def f(x):
        traced.put(type(x))  # guards do not compare queues: once, while tracing
        return ops.sin(x)

    ms.set_context(mode=ms.GRAPH_MODE)
    try:
        for number in (0.1, 0.2, 0.3):
            equals(grad(f)(wide(number)), np.cos(number))
            equals(grad(grad(f))(wide(number)), -np.sin(number))
            equals(jvp(grad(f), wide(number), wide(2.0))[1], -2 * np.sin(number))
        assert traced.qsize() == 3
    finally:
        ms.set_context(mode=ms.PYNATIVE_MODE)
    grad(f)(wide(0.4))
    assert traced.qsize() == 4


def test_threads_compile_a_signature_once():
    f = Counted(grad(lambda x, w: ops.tanh(x * w) * x))
    p = Parameter(wide(0.5), name="p")
    g = Compiled(grad(lambda x: x * x * p))
    barrier, failures = threading.Barrier(4), []

    def work(number):
        try:
            barrier.wait(30)
            for step in range(10):
                x = number + step / 10
                t = np.tanh(2 * x)
                assert_close(f(wide(x), wide(2.0)), t + 2 * x * (1 - t * t), kind="program")
                equals(g(wide(x)), x)
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(90)
    assert failures == []
    assert f.traced == 1


def test_a_training_loop_in_one_program():
    """Gradient, momentum and update of two Parameters: one call per step, no trace but the first."""
    w, b = Parameter(wide(0.0), name="w"), Parameter(wide(0.0), name="b")
    momentum = Parameter(wide(0.0), name="momentum", requires_grad=False)
    weights = ParameterTuple([w, b])

    def loss(x, y):
        return ops.reduce_mean(ops.square(x * w + b - y))

    def step(x, y):
        value, (by_w, by_b) = ms.value_and_grad(loss, None, weights)(x, y)
        momentum.set_data(0.5 * momentum + by_w)
        w.set_data(w - 0.1 * momentum)
        b.set_data(b - 0.1 * by_b)
        return value

    run = Counted(step)
    x = np.array([-1.0, 0.0, 1.0, 2.0])
    y = 3 * x - 1
    state = np.zeros(3)
    for _ in range(25):
        residual = x * state[0] + state[1] - y
        by_w, by_b = 2 * np.mean(residual * x), 2 * np.mean(residual)
        velocity = 0.5 * state[2] + by_w
        equals(run(Tensor(x), Tensor(y)), np.mean(residual**2))
        state = np.array([state[0] - 0.1 * velocity, state[1] - 0.1 * by_b, velocity])
    assert_close([w.item(), b.item(), momentum.item()], state, kind="program")
    assert run.traced == 1


# -- graphs ------------------------------------------------------------------------------------------


def test_trace_gives_the_graph_of_a_derivative():
    graph = trace(grad(lambda x: ops.sin(x) * x), wide(1.0))
    assert graph.count() == {"sin": 1, "cos": 1, "mul": 1, "add": 1}
    assert [v.type.dtype for v in graph.inputs] == [ms.float64]


def test_values_that_nothing_needs_are_not_in_the_program():
    def f(x):
        _ = ops.matmul(x.reshape(2, 1), x.reshape(1, 2))
        return x * 2

    assert trace(f, wide(1.0, 2.0)).count() == {"mul": 1}
    assert len(trace(grad(f), wide(1.0, 2.0))) == 0


@ms.jit
def halved(x):
    return x / 2


def doubled(x):
    return 2 * x


def test_compiled_functions_are_pickled_as_functions_are():
    """For the processes of a pool: a decorated one by its name, else the function that is compiled."""
    assert pickle.loads(pickle.dumps(halved)) is halved
    again = pickle.loads(pickle.dumps(ms.jit(doubled)))
    assert again.__wrapped__ is doubled
    equals(again(wide(1.5)), 3.0)
    net = pickle.loads(pickle.dumps(ms.jit(nn.Dense(2, 1))))
    assert net(ops.ones((1, 2))).shape == (1, 1)
    with pytest.raises((pickle.PicklingError, AttributeError), match="lambda"):
        pickle.dumps(ms.jit(lambda x: x))
