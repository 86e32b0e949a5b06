"""Eager calls that are compiled behave as calls that run operator by operator.

Each test runs the same calls operator by operator, and compiled from the third call on. The inputs differ from
call to call, so that a value of one call that got into a program would be seen in the next.
"""

import contextlib
import copy
import gc
import os
import pickle
import re
import resource
import subprocess
import sys
import textwrap
import threading
import traceback
import weakref
from pathlib import Path

import jax
import numpy as np
import pytest

import mindgrad as ms
from mindgrad import Parameter, Tensor, nn, ops
from mindgrad.core.ir import settings
from mindgrad.core.ir.cost_model import HOST
from mindgrad.eager import tiers
from tests.tiers import arrays as values
from tests.tiers import eager, is_compiled
from tests.tolerances import assert_close

SOURCE = Path(ms.__file__).parents[1]


@pytest.fixture(autouse=True)
def compiled_at_once():
    before = settings.get("eager")
    settings.store("eager", "compiled")
    yield
    settings.store("eager", before)
    ms.set_context(mode=ms.PYNATIVE_MODE, pynative_synchronize=False)


def tensor(*numbers):
    return Tensor(np.array(numbers, np.float32))


def vector(number, size=20):
    """A tensor of more elements than are compared by value."""
    return Tensor(np.linspace(0.1, 1.0, size, dtype=np.float32) * number)


class Cell(nn.Cell):
    """A Cell that is a function."""

    def __init__(self, function):
        super().__init__()
        self.function = function

    def construct(self, *args):
        return self.function(*args)


def results_of(make, calls, switch):
    """What ``make()`` gives for the arguments in ``calls``, and what was called."""
    with eager(switch):
        ms.set_seed(3)
        made = make()
        return [values(made(*arguments)) for arguments in calls], made


def same_in_all_tiers(make, calls):
    """Compiled calls of ``make()`` return what calls operator by operator return; returns the function."""
    cold, _ = results_of(make, calls, "numpy")
    ms.clear_cache()
    hot, made = results_of(make, calls, "compiled")
    for number, (ours, theirs) in enumerate(zip(hot, cold, strict=True)):
        assert len(ours) == len(theirs)
        for x, y in zip(ours, theirs, strict=True):
            if not isinstance(y, np.ndarray):
                assert x == y
                continue
            assert (x.shape, x.dtype) == (y.shape, y.dtype)
            assert_close(x, y, "program", each=True, scale=0.1, what=f"call {number}")
    return made


def run(program, **environment):
    """The program in a process of its own; its output is a test's business."""
    return subprocess.run(
        [sys.executable, "-c", textwrap.dedent(program)],
        env={**os.environ, "PYTHONPATH": str(SOURCE), "MINDGRAD_EAGER": "", **environment},
        capture_output=True, text=True, timeout=100,
    )  # fmt: skip


# -- values that are asked for in between --------------------------------------------------------------


def test_values_are_asked_for_in_a_plain_cell(capsys):
    def reads(x, seen):
        y = x * 2
        print(y[1])
        seen.append(y.asnumpy().tolist())
        z = ops.sin(y).sum()
        seen.append(z.item())
        if z > 0:
            z = z + 10
        return z * np.float32(np.max(np.asarray(y))), [float(z), int(y[1])]

    seen = []
    made = same_in_all_tiers(lambda: Cell(lambda x: reads(x, seen)), [(tensor(0.3, k),) for k in range(6)])
    assert is_compiled(made)
    lines = capsys.readouterr().out.splitlines()
    assert lines == [str(2.0 * k) for k in range(6)] * 2
    assert seen[:12:2] == seen[12::2]
    assert_close(seen[1:12:2], seen[13::2], dtype=np.float32)


def doubled_until_large(x, k):
    while (x * x).sum() < 100:
        x = x * k
    return x.sum()


def cube_root(x, k):
    return ms.custom_root(lambda y: y * y * y + k * y - x.sum(), x.sum()).sum()


def test_the_adjoint_of_a_differential_equation_with_weights_is_compiled():
    """The zeros that it starts from are of the size of the weights, and made in each call."""
    weights = Tensor(np.linspace(-0.5, 0.5, 81).reshape(9, 9))
    times = Tensor(np.array([0.0, 0.5]))

    def energy(x):
        y = ms.odeint(lambda y, t: ops.tanh(ops.matmul(weights, y)), x, times, adjoint=True)
        return (y * y).sum()

    calls = [(Tensor(np.linspace(0, 1 + k, 9)),) for k in range(4)]
    assert is_compiled(same_in_all_tiers(lambda: ms.grad(energy), calls))


@pytest.mark.parametrize("function", [doubled_until_large, cube_root])
def test_batches_of_loops_and_roots_is_compiled(function):
    """Their bodies are traced in each call; the Python runs in each, for nobody knows that it need not."""
    calls = [(tensor([0.3, 1 + k], [0.2, 2.0]), Tensor(2.0)) for k in range(6)]
    made = same_in_all_tiers(lambda: ms.vmap(ms.grad(function, (0, 1)), (0, None)), calls)
    assert is_compiled(made)


@pytest.mark.filterwarnings("ignore:.* reads the value of a tensor that is being differentiated")
def test_values_are_asked_for_in_a_differentiated_function(capsys):
    seen = []

    def f(x):
        y = x * x
        print(y)
        seen.append(y.asnumpy().tolist())
        z = (ops.exp(-y) * x).sum()
        if z > 0.3:
            z = z * y.sum().item()
        seen.append(float(ops.stop_gradient(z).asnumpy()))
        return z

    made = same_in_all_tiers(lambda: ms.value_and_grad(f), [(tensor(0.2 * k, 0.3),) for k in range(6)])
    assert is_compiled(made)
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 12
    assert lines[:6] == lines[6:]
    assert_close(seen[1:12:2], seen[13::2], dtype=np.float32)
    assert seen[:12:2] == seen[12::2]


def test_a_value_that_is_asked_for_in_some_calls_only():
    seen = []

    def f(x, at):
        y = ops.cos(x)
        for k in range(4):
            y = ops.sin(y) * x
            if at[0] == k:
                seen.append(y.asnumpy())
        return y

    calls = [(vector(1 + 0.1 * k), [k % 5]) for k in range(12)]
    assert is_compiled(same_in_all_tiers(lambda: Cell(f), calls))
    half = len(seen) // 2
    assert_close(seen[:half], seen[half:], kind="program", each=True, scale=0.1)


def test_a_refused_numpy_function_is_refused_in_hot_calls_too():
    guilty = [False]

    def f(x):
        y = x * x
        return (np.sin(y) if guilty[0] else ops.sin(y)).sum()

    gradient = ms.grad(f)
    for k in range(4):
        gradient(tensor(k, 1))
    assert is_compiled(gradient)
    guilty[0] = True
    with pytest.raises(TypeError, match="its derivative would be lost"):
        gradient(tensor(3, 1))


# -- Python in between ---------------------------------------------------------------------------------


def test_python_runs_at_every_call():
    counts = {"cell": 0, "gradient": 0}

    def counted(x, name):
        counts[name] += 1
        return (x * x * counts[name]).sum()

    cell, gradient = Cell(lambda x: counted(x, "cell")), ms.grad(lambda x: counted(x, "gradient"))
    for k in range(1, 9):
        assert cell(tensor(1, 2)).item() == 5 * k
        assert gradient(tensor(1, 2)).asnumpy().tolist() == [2 * k, 4 * k]
        assert counts == {"cell": k, "gradient": k}
    assert is_compiled(cell)
    assert is_compiled(gradient)


@pytest.mark.parametrize("derive", [Cell, ms.grad, ms.value_and_grad])
def test_both_branches_is_compiled(derive):
    def f(x):
        y = x * 2
        if x.sum() > 0:
            return (ops.sin(y) * x).sum()
        return (y * y * y - 1).sum()

    calls = [(vector((-1) ** k * (1 + 0.1 * k)),) for k in range(12)]
    made = same_in_all_tiers(lambda: derive(f), calls)
    assert is_compiled(made)
    with eager("numpy"):
        expected = values(derive(f)(vector(0.7)))
    for sign in (1, -1, 1):
        made(vector(sign))
    for ours, theirs in zip(values(made(vector(0.7))), expected, strict=True):
        assert_close(ours, theirs, kind="program", each=True)


def test_eager_call_that_leaves_a_compiled_branch_computes_the_other_one():
    """The value that decides is computed by a part of the program of the branch that was expected."""

    def f(x):
        y = ops.exp(x) * x
        if float(y.sum()) > 3:
            return ops.sin(y) + 1
        return ops.cos(y) * 2

    signs = [1, 1, 1, -1, -1, -1, 1, -1, 1, 1, -1]
    made = same_in_all_tiers(
        lambda: Cell(f), [(vector(sign * (1 + 0.1 * k)),) for k, sign in enumerate(signs)]
    )
    assert is_compiled(made)


def test_eager_calls_that_always_differ_are_not_compiled():
    def f(x, orders):
        for _ in range(orders[0]):
            x = ops.sin(x) + 1
        return x

    made = same_in_all_tiers(lambda: Cell(f), [(vector(1), [k]) for k in range(24)])
    (line,) = ms.cache_info(made).eager
    assert ": not compiled: each call applies different operators, the last time at line" in line
    assert Path(__file__).name in line


def test_numbers_that_vary_are_inputs():
    for numbers in [
        (0.1, 0.2, 0.3, 0.4, 0.5, 0.6), (1, 1, 1, True, 1.0, 2), (1.0, 1.0, 1.0, 1, True, 1.0),
        (0.0, 0.0, 0.0, -0.0, 0, 0.0), (1.0, 1.0, 1.0, np.inf, 1.0, np.nan), (2, 2, 2, np.float32(2), 2.0, 2),
    ]:  # fmt: skip
        for f in (lambda x, n: x * n[0], lambda x, n: 1 / (x * x * n[0]), lambda x, n: x ** n[0]):
            cold, _ = results_of(lambda f=f: Cell(f), [(tensor(0, 1, 3), [n]) for n in numbers], "numpy")
            hot, _ = results_of(lambda f=f: Cell(f), [(tensor(0, 1, 3), [n]) for n in numbers], "compiled")
            for (x,), (y,) in zip(hot, cold, strict=True):
                assert x.dtype == y.dtype
                assert_close(x, y)
                assert (np.signbit(x) == np.signbit(y))[~np.isnan(y)].all()
    scaled = Cell(lambda x, factor: x * factor[0])
    for k in range(20):
        assert scaled(tensor(1, 2), [0.5 * k]).asnumpy().tolist() == [0.5 * k, k]
    assert is_compiled(scaled)
    assert "went another way" not in ms.cache_info(scaled).eager[0]


def test_axes_and_indices_that_are_equal_and_not_the_same():
    x = Tensor(np.arange(6, dtype=np.float32).reshape(2, 3))
    for f, choices in [
        (lambda x, i: x[i[0]], [1, 1, 1, True, 1, Tensor(1), slice(1, 2), None, ..., (1, True), (True, 1)]),
        (lambda x, i: x.sum(i[0]), [0, 0, 0, (0,), 0, (0, 1), -2, None]),
        (lambda x, i: ops.full((2,), i[0]), [1, 1, 1, 1.0, True, -1, 0]),
        (lambda x, i: ops.clip_by_value(x, *i[0]), [(0, 1), (0, 1), (0, 1), (0.0, 1.0), (0.5, 2)]),
    ]:
        same_in_all_tiers(lambda f=f: Cell(f), [(x, [choice]) for choice in choices])


def test_infinite_values_absorb_as_they_do_in_eager_calls():
    def f(x, s):
        return ops.where(x > 0, ops.log(x) * s, x * 0).sum()

    def g(x, w):
        return (ops.sqrt(x) * w).sum()

    inf, nan = np.inf, np.nan
    points = [(0, 1), (0, 1), (0, 4), (0, 1), (inf, 1), (nan, 1), (-inf, 0), (1, 2), (inf, 0), (0, 0)]
    factors = [(1, 1), (0, inf)]
    calls = [(tensor(*p), tensor(*q)) for p in points for q in factors]
    for function in (f, g):
        same_in_all_tiers(lambda h=function: ms.grad(h, (0, 1)), calls)
        same_in_all_tiers(lambda h=function: ms.grad(lambda x, s: ms.grad(h)(x, s).sum()), calls)


def test_the_learning_rate_is_changed_between_steps():
    def make():
        w = Parameter(vector(1), name="w")
        optimizer = nn.Momentum([w], 0.1, 0.9)

        def step(k):
            if k % 2:
                optimizer.learning_rate.set_data(Tensor(0.01 * k, ms.float32))
            optimizer((vector(2),))
            return w.value()

        step.optimizer = optimizer
        return step

    assert is_compiled(same_in_all_tiers(make, [(k,) for k in range(8)]).optimizer)


def test_two_sizes_of_batches_alternate():
    def make():
        net = nn.SequentialCell([nn.Dense(3, 4, weight_init="ones"), nn.Tanh()])
        return ms.value_and_grad(lambda x: net(x).sum(), None, net.trainable_params())

    calls = [(Tensor(np.full((4 if k % 2 else 6, 3), 0.1 * k, np.float32)),) for k in range(10)]
    made = same_in_all_tiers(make, calls)
    assert is_compiled(made)
    assert len(ms.cache_info(made).eager) == 2


def test_the_same_tensor_twice():
    x, y = vector(1), vector(2)
    pairs = [(x, y), (x, y), (x, y), (x, x), (y, x), (y, y), (x, x), (x, x), (x, y)]
    same_in_all_tiers(lambda: Cell(lambda a, b: a * 2 - b), pairs)
    same_in_all_tiers(lambda: ms.grad(lambda a, b: (a * a * b).sum(), (0, 1)), pairs)
    constants = [Tensor(3.0), Tensor(3.0), Tensor(4.0)]  # two that are equal, and one that is not
    for order in [(0, 0), (0, 1)]:
        cell = Cell(lambda x, c: x * c[0] + c[1])
        for k, pair in enumerate([order] * 3 + [(0, 2), (2, 0), (2, 2), (0, 1)]):
            numbers = [constants[n] for n in pair]
            expected = (k + np.array([1, 2])) * numbers[0].item() + numbers[1].item()
            assert cell(tensor(k + 1, k + 2), numbers).asnumpy().tolist() == expected.tolist()


# -- mistakes ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("derive", [Cell, ms.grad])
def test_mistakes_are_reported_as_in_eager_calls(derive):
    def f(x, y):
        z = x * 2
        return (z @ y).sum()  # the line

    line = f.__code__.co_firstlineno + 2
    right = (Tensor(np.ones((2, 3), np.float32)), Tensor(np.ones((3, 2), np.float32)))
    other = right[0], [np.ones((4, 2), np.float32)]

    def g(x, box):
        return f(x, Tensor(box[0]))

    seen = []
    for switch in ("numpy", "compiled"):
        with eager(switch):
            made, boxed = derive(f), derive(g)
            for _ in range(4):
                made(*right)
                boxed(right[0], [np.ones((3, 2), np.float32)])
            assert (switch == "numpy") or (is_compiled(made) and is_compiled(boxed))
            for function, arguments in ((made, (right[0], Tensor(other[1][0]))), (boxed, other)):
                with pytest.raises(ValueError, match="4") as caught:
                    function(*arguments)
                lines = [
                    entry.lineno for entry in traceback.extract_tb(caught.tb) if entry.filename == __file__
                ]
                assert line in lines
                seen.append(str(caught.value))
                assert (
                    function(*(right if function is made else (right[0], [right[1].asnumpy()]))) is not None
                )
    assert seen[:2] == seen[2:]


def test_exceptions_leave_parameters_as_in_eager_calls():
    class Stored(nn.Cell):
        def __init__(self):
            super().__init__()
            self.p, self.q = Parameter(vector(1), name="p"), Parameter(vector(2), name="q")

        def construct(self, x, raised):
            self.p.set_data(self.p + x)
            y = self.p * 2
            if raised[0] == 1:
                raise KeyError("first")
            self.q.set_data(self.q + self.p)
            if raised[0] == 2:
                raise KeyError("second")
            return y

    def make():
        cell = Stored()

        def call(x, raised):
            with contextlib.suppress(KeyError):
                cell(x, raised)
            return cell.p.value(), cell.q.value()

        call.cell = cell
        return call

    calls = [(vector(0.1 * k), [{5: 1, 6: 2, 9: 1}.get(k, 0)]) for k in range(12)]
    assert is_compiled(same_in_all_tiers(make, calls).cell)


@pytest.mark.parametrize("reads", [False, True], ids=["whole", "in segments"])
def test_tensors_from_before_an_exception_can_be_read(reads):
    left, raises = [], [False]

    def f(x):
        y = ops.sin(x)
        left.append(y)
        if raises[0] == 1:
            raise KeyError("early")
        if reads:
            y.asnumpy()
        z = y * y
        left.append(z)
        if raises[0] == 2:
            raise KeyError("late")
        return z + 1

    cell = Cell(f)
    for k in range(5):
        cell(vector(k))
    assert is_compiled(cell)
    for where in (1, 2, 1):
        left.clear()
        raises[0] = where
        with pytest.raises(KeyError):
            cell(vector(3))
        sine = np.sin(vector(3).asnumpy())
        if where == 2:
            assert_close(left[1] + 0, sine**2, kind="program", each=True)
        assert_close(left[0], sine, kind="program", each=True)
        gradient = ms.grad(lambda a: (a * left[0]).sum())(vector(1))
        assert_close(gradient, sine, kind="program", each=True)
        raises[0] = 0
        assert_close(cell(vector(2)), np.sin(vector(2).asnumpy()) ** 2 + 1, kind="program")
    assert is_compiled(cell)


def test_a_differentiated_function_raises():
    left, raises = [], [False]

    def f(x):
        y = x * x
        if raises[0]:
            left.append(y)
            raise KeyError("here")
        return (y * x).sum()

    gradient = ms.grad(f)
    for k in range(4):
        gradient(vector(k))
    assert is_compiled(gradient)
    raises[0] = True
    with pytest.raises(KeyError):
        gradient(vector(3))
    square = vector(3).asnumpy() ** 2
    # inside of another gradient first, where it is a constant, then as it is
    outer = ms.grad(lambda a: (a * left[0]).sum())
    for _ in range(4):
        assert_close(outer(vector(1)), square)
    assert_close(left[0], square)
    raises[0] = False
    assert_close(gradient(vector(2)), 3 * vector(2).asnumpy() ** 2, kind="program", each=True)


# -- item assignment -----------------------------------------------------------------------------------


def test_item_assignment_to_arguments_and_to_tensors_from_outside():
    def make():
        outside = tensor(5, 6, 7)

        def assigns(x):
            x[0] = x[1] * 2
            outside[1] = x[0]
            return x + outside

        cell = Cell(assigns)

        def call(k):
            x = tensor(k, k + 1, k + 2)
            result = cell(x)
            return result, x, outside  # (a Cell assigns to the argument itself)

        call.cell = cell
        return call

    assert is_compiled(same_in_all_tiers(make, [(k,) for k in range(6)]).cell)


def test_item_assignment_under_a_derivative():
    outside = [None]

    def f(x):
        y = x * 1
        y[0] = x[1] * x[2]
        x[1] = 3.0  # of a copy
        outside[0][0] = ops.stop_gradient(y[0])
        return (y * x).sum()

    def make():
        outside[0] = tensor(1, 2, 3)
        gradient = ms.grad(f)

        def call(k):
            x = tensor(k, 2, k + 1)
            return gradient(x), x, outside[0]

        return call

    same_in_all_tiers(make, [(k,) for k in range(6)])


def test_item_assignment_to_parameters():
    class Assigned(nn.Cell):
        def __init__(self):
            super().__init__()
            self.p = Parameter(tensor(1, 2, 3), name="p")

        def construct(self, x):
            self.p[0] = x[1] + self.p[0]
            return self.p * x

    def make():
        cell = Assigned()

        def call(x):
            return cell(x), cell.p.value()

        call.cell = cell
        return call

    assert is_compiled(same_in_all_tiers(make, [(tensor(k, 1, k * k),) for k in range(6)]).cell)


# -- derivatives that users say themselves ---------------------------------------------------------------


def test_stop_gradient():
    f = lambda x: (ops.stop_gradient(x * x) * x).sum()
    calls = [(vector(k),) for k in range(5)]
    assert is_compiled(same_in_all_tiers(lambda: ms.grad(f), calls))
    assert is_compiled(same_in_all_tiers(lambda: ms.grad(lambda x: (ms.grad(f)(x) * x).sum()), calls))


@pytest.mark.parametrize("kind", ["HookBackward", "InsertGradientOf", "forward", "forward_pre", "backward"])
def test_hooks_are_called_at_every_call(kind):
    seen = []

    def notes(value):
        seen.append(value.asnumpy().sum())

    def make():
        net = nn.Dense(3, 3, weight_init="ones", bias_init="zeros")
        if kind == "forward":
            net.register_forward_hook(lambda cell, inputs, output: notes(ops.stop_gradient(output)))
        elif kind == "forward_pre":
            net.register_forward_pre_hook(lambda cell, inputs: (inputs[0] * 2,))
        elif kind == "backward":
            net.register_backward_hook(lambda name, inward, outward: notes(inward[0]))
        hook = {
            "HookBackward": ops.HookBackward(lambda g: notes(g[0]) or g[0] * 2),
            "InsertGradientOf": ops.InsertGradientOf(lambda g: g * 2 + len(seen)),
        }.get(kind, lambda x: x)

        def f(x):
            seen.append(0.0)
            return (net(hook(x)) * x).sum()

        return ms.grad(f)

    def calls():
        return [(Tensor(np.full((2, 3), k + 1, np.float32)),) for k in range(6)]

    ours = []
    for switch in ("numpy", "compiled"):
        seen.clear()
        ours.append((results_of(make, calls(), switch)[0], list(seen)))
    assert len(ours[0][1]) == (6 if kind in ("InsertGradientOf", "forward_pre") else 12)
    assert_close(ours[0][1], ours[1][1], kind="program")
    assert_close(ours[0][0], ours[1][0])


def test_hooks_and_functions_of_the_user_are_called_by_layers_that_were_compiled():
    x, seen = Tensor(np.ones((2, 3), np.float32)), []

    def hook(cell, inputs, output):
        seen.append(float(output.asnumpy().sum()))

    dense = nn.Dense(3, 3, weight_init="ones", bias_init="zeros")
    for _ in range(4):
        dense(x)
    assert is_compiled(dense)
    handle = dense.register_forward_hook(hook)
    for _ in range(4):
        dense(x)
    assert seen == [18.0] * 4
    handle.remove()
    for _ in range(4):
        dense(x)
    assert len(seen) == 4
    construct = dense.construct
    dense.construct = lambda x: seen.append(1.0) or construct(x) * 2
    for _ in range(4):
        assert dense(x).asnumpy().tolist() == [[6.0] * 3] * 2
    assert len(seen) == 8

    calls = []

    def loss(output, label):
        calls.append(os.getpid())
        return ((output - label) ** 2).mean()

    with_loss = nn.WithLossCell(nn.Dense(3, 3), loss)
    for _ in range(6):
        with_loss(x, x)
    assert len(calls) == 6

    chain = nn.SequentialCell([nn.Dense(3, 3), nn.ReLU()])
    for _ in range(4):
        chain(x)
    chain.append(Cell(lambda x: calls.append(0) or x + 1))
    for _ in range(4):
        assert (chain(x).asnumpy() >= 1).all()
    assert len(calls) == 10


def test_cells_with_a_derivative_of_their_own():
    class Own(nn.Cell):
        def construct(self, x):
            return x * x

        def bprop(self, x, out, dout):
            return ((3 + out) * x * dout,)

    own = Own()
    calls = [(vector(k),) for k in range(5)]
    assert is_compiled(same_in_all_tiers(lambda: ms.grad(lambda x: own(x).sum()), calls))
    slope = lambda x: ms.grad(lambda x: own(x).sum())(x).sum()
    assert is_compiled(same_in_all_tiers(lambda: ms.grad(slope), calls))
    assert (ms.grad(slope)(vector(1)).asnumpy() > 3).all()


def test_closures_that_are_given_back():
    def f(x):
        y = ops.sin(x) * x
        return (y * y).sum()

    def make():
        def call(x):
            value, pull = ms.ops.vjp(f, x)
            return value, pull(value)

        return call

    same_in_all_tiers(make, [(vector(k),) for k in range(6)])
    kept, keeps = [], [False]

    def inner(x):
        value, pull = ms.ops.vjp(lambda a: (a * a * a).sum(), x)
        if keeps[0]:
            kept.append(pull)
        return value * 2

    cell = Cell(inner)
    for k in range(4):
        cell(vector(k))
    assert is_compiled(cell)
    keeps[0] = True  # in a hot call
    assert np.isclose(cell(vector(2)).item(), 2 * (vector(2).asnumpy() ** 3).sum())
    gradient = values(kept[0](Tensor(2.0)))[0]
    assert_close(gradient, 6 * vector(2).asnumpy() ** 2, kind="program", each=True)
    assert np.isclose(cell(vector(3)).item(), 2 * (vector(3).asnumpy() ** 3).sum())


# -- what outlives a call --------------------------------------------------------------------------------


def test_tensors_left_behind_can_be_read_later():
    class Leaves(nn.Cell):
        def __init__(self):
            super().__init__()
            self.last = None

        def construct(self, x, log):
            y = ops.sin(x)
            self.last = y
            log.append(y * 2)
            log.append({"a": (y + 1, 3)})
            return y.sum()

    cell, log = Leaves(), []
    for k in range(6):
        cell(vector(k), log)
        if k == 2:  # from here on other tensors survive than before
            log.clear()
            results = [[] for _ in range(3)]
    assert is_compiled(cell)
    assert len(results) == 3
    for k, (double, record) in zip((3, 4, 5), zip(log[::2], log[1::2], strict=True), strict=True):
        sine = np.sin(vector(k).asnumpy())
        assert_close(double, 2 * sine, kind="program", each=True, scale=0.1)
        assert_close(record["a"][0] - 1, sine, kind="program")
    assert_close(copy.deepcopy(cell.last), np.sin(vector(5).asnumpy()), kind="program", each=True)
    assert_close(pickle.loads(pickle.dumps(cell.last)), cell.last)


def test_tensors_left_behind_by_a_differentiated_function():
    left = []

    def f(x):
        y = x * x
        left.append(y)
        return (y * x).sum()

    gradient = ms.grad(f)
    for k in range(6):
        assert_close(gradient(vector(k)), 3 * vector(k).asnumpy() ** 2, kind="program", each=True)
    for k, y in enumerate(left):
        assert_close(y, vector(k).asnumpy() ** 2)
        slope = ms.grad(lambda a, y=y: (a * y).sum())(vector(1))
        assert_close(slope, vector(k).asnumpy() ** 2)


def test_old_values_of_parameters_that_somebody_holds():
    w = Parameter(vector(1), name="w")
    optimizer = nn.SGD([w], 0.5)
    for _ in range(5):
        optimizer((vector(1),))
    assert is_compiled(optimizer)
    for _ in range(3):
        old, view = w.value(), np.asarray(w.value())
        expected = view.copy()
        optimizer((vector(1),))
        optimizer((vector(2),))
        assert (old.asnumpy() == expected).all()
        assert (view == expected).all()
        assert_close(w, expected - 1.5 * vector(1).asnumpy(), kind="program", each=True, scale=0.1)

    class Swap(nn.Cell):
        def __init__(self):
            super().__init__()
            self.a, self.b = Parameter(vector(1), name="a"), Parameter(vector(2), name="b")

        def construct(self, x):
            old = self.a.value()
            self.a.set_data(self.b * 1)
            self.b.set_data(old + x)
            return old, self.a.value()

    def make():
        cell = Swap()

        def call(x):
            return *cell(x), cell.a.value(), cell.b.value()

        call.cell = cell
        return call

    assert is_compiled(same_in_all_tiers(make, [(vector(k),) for k in range(7)]).cell)


def test_parameters_that_share_an_array():
    class Shared(nn.Cell):
        def __init__(self):
            super().__init__()
            value = vector(1)
            self.a, self.b = Parameter(value, name="a"), Parameter(value, name="b")

        def construct(self, x):
            return (self.a * x * self.b).sum()

    def make():
        net = Shared()
        optimizer = nn.Momentum(net.trainable_params(), 0.1, 0.9)
        train = nn.TrainOneStepCell(net, optimizer)

        def call(x):
            return train(x), net.a.value(), net.b.value()

        return call

    same_in_all_tiers(make, [(vector(0.1 * k),) for k in range(7)])


def test_hot_cells_are_copied_and_pickled():
    net = nn.SequentialCell([nn.Dense(3, 4), nn.Tanh()])
    cell, x = Cell(lambda x: x * 2), Tensor(np.ones((2, 3), np.float32))
    outer = nn.SequentialCell([net, Scaled()])
    for _ in range(5):
        expected, nested, _ = net(x).asnumpy(), outer(x).asnumpy(), cell(x)
    assert is_compiled(net)
    assert is_compiled(outer)
    for copied in (copy.deepcopy(net), pickle.loads(pickle.dumps(net))):
        for _ in range(4):
            assert_close(copied(x), expected)
        copied[0].weight.set_data(copied[0].weight * 0)
        assert not np.allclose(copied(x).asnumpy(), expected)
        assert_close(net(x), expected)
    copied = copy.deepcopy(outer)
    assert_close(copied(x), nested)
    copied[1].factor = 5.0
    assert_close(copied(x), nested / 3 * 5)
    assert_close(outer(x), nested)


class Scaled(nn.Cell):
    """A factor that is an attribute; dropout while training."""

    def __init__(self):
        super().__init__()
        self.factor = 3.0
        self.dropout = nn.Dropout(p=0.5)

    def construct(self, x):
        return self.dropout(x) * self.factor


def test_attributes_and_the_mode_of_training_change_between_calls():
    def make():
        cell = Scaled()
        cell.set_train(False)

        def call(x, factor, training):
            cell.factor = factor
            cell.set_train(training)
            return cell(x)

        call.cell = cell
        return call

    calls = [(vector(1), 1.0 + k // 4, bool(k // 2 % 2)) for k in range(16)]
    assert is_compiled(same_in_all_tiers(make, calls).cell)

    layer = nn.BatchNorm1d(4)
    x = Tensor(np.arange(12, dtype=np.float32).reshape(3, 4))
    for training in (True, False, True, False):
        layer.set_train(training)
        for _ in range(3):
            before = layer.moving_mean.asnumpy()
            result = layer(x).asnumpy()
            assert (layer.moving_mean.asnumpy() != before).all() == training
            assert np.allclose(result.mean(0), 0, atol=1e-3) == training


def test_random_numbers_are_those_of_eager_calls():
    def f(x):
        y = ops.dropout(x, 0.5) + ops.rand(20)
        return (y * x).sum() + ops.randint(0, 50, (3,)).sum()

    calls = [(vector(1),) for _ in range(6)]
    for derive in (Cell, ms.value_and_grad):
        assert is_compiled(same_in_all_tiers(lambda d=derive: d(f), calls))
    sequence = []
    for switch in ("numpy", "compiled"):
        with eager(switch):
            cell = Cell(lambda x: x + ops.randint(0, 1000, (4,)))
            ms.set_seed(7)
            for _ in range(5):  # operators outside of hot calls draw from the same sequence
                sequence += [
                    cell(Tensor(0)).asnumpy().tolist(),
                    ops.randint(0, 1000, (4,)).asnumpy().tolist(),
                ]
            ms.set_seed(7)
            sequence.append(cell(Tensor(0)).asnumpy().tolist())
    assert sequence[:11] == sequence[11:]
    assert sequence[0] == sequence[10]


# -- switches --------------------------------------------------------------------------------------------


def test_synchronized_calls_run_one_by_one():
    cell = Cell(lambda x: x + 1)
    ms.set_context(pynative_synchronize=True)
    for _ in range(4):
        cell(vector(1))
    assert ms.cache_info(cell).eager == ()
    ms.set_context(pynative_synchronize=False)
    for _ in range(4):
        cell(vector(1))
    assert is_compiled(cell)
    ms.set_context(pynative_synchronize=True)
    before = ms.cache_info(cell).eager
    assert (cell(vector(2)).asnumpy() == vector(2).asnumpy() + 1).all()
    assert ms.cache_info(cell).eager == before


def test_graph_mode_has_no_tiers():
    seen = []
    cell = Cell(lambda x: x * 2)
    gradient = ms.grad(lambda x: (seen.append(1) if isinstance(x, int) else None) or (x * x).sum())
    ms.set_context(mode=ms.GRAPH_MODE)
    for k in range(4):
        assert (cell(vector(k)).asnumpy() == 2 * vector(k).asnumpy()).all()
        assert (gradient(vector(k)).asnumpy() == 2 * vector(k).asnumpy()).all()
    assert ms.cache_info(cell).eager == ()
    assert ms.cache_info(gradient).eager == ()
    ms.set_context(mode=ms.PYNATIVE_MODE)
    for k in range(4):
        assert (cell(vector(k)).asnumpy() == 2 * vector(k).asnumpy()).all()
    assert is_compiled(cell)


SLOW = """
    import sys, time
    import numpy as np
    import mindgrad as ms
    from mindgrad import Tensor, nn, ops
    from mindgrad.eager import tiers

    def slow(x):
        for _ in range(30):
            x = ops.sin(x) + ops.cos(x) * 0.5
        return x.sum()

    x = Tensor(np.linspace(0, 1, 20_000))
    gradient = ms.value_and_grad(slow)
"""


def test_the_variable_turns_tiers_off():
    program = (
        SLOW
        + """
    for _ in range(60):
        gradient(x)
    print(ms.cache_info(gradient).eager, "jax" in sys.modules)
    """
    )
    done = run(program, MINDGRAD_EAGER="numpy")
    assert (done.returncode, done.stdout.strip()) == (0, "() False"), done.stderr


def test_the_log_has_a_line_for_each_change_of_tier_and_numpys_generator_is_untouched():
    program = (
        SLOW
        + """
    np.random.seed(5)
    first = gradient(x)
    for _ in range(300):
        value = gradient(x)
        if "compiling in the background" in str(ms.cache_info(gradient).eager):
            break
    tiers.wait_until_compiled()
    last = [gradient(x) for _ in range(3)][-1]
    assert ": compiled: " in ms.cache_info(gradient).eager[0], ms.cache_info(gradient).eager
    for a, b in zip(first, last):
        np.testing.assert_allclose(a.asnumpy(), b.asnumpy(), rtol=1e-9)
    after = np.random.rand()
    assert "jax" in sys.modules
    np.random.seed(5)
    assert after == np.random.rand()
    """
    )
    done = run(program, MINDGRAD_LOG="eager")
    assert done.returncode == 0, done.stderr
    lines = [line for line in done.stderr.splitlines() if line.startswith("mindgrad eager: ")]
    assert len(lines) == 2, done.stderr
    assert re.match(
        r"mindgrad eager: \w*slow\(.*\): compiling in the background: \d+ calls took .* s", lines[0]
    )
    assert re.match(
        r"mindgrad eager: \w*slow\(.*\): compiled: \d+ operators are one program, compiled in ", lines[1]
    )


def test_eager_calls_import_jax_in_the_thread_of_the_call():
    """SciPy looks for jax in ``sys.modules``, and fails if another thread has imported it in part."""
    program = (
        SLOW
        + """
    import threading
    threads = []
    class Finder:
        def find_spec(self, name, path=None, target=None):
            if name == "jax":
                threads.append(threading.current_thread() is threading.main_thread())
    sys.meta_path.insert(0, Finder())
    for _ in range(300):
        gradient(x)
        if "jax" in sys.modules:
            break
    print(threads)
    """
    )
    done = run(program)
    assert (done.returncode, done.stdout.strip()) == (0, "[True]"), done.stderr


def test_a_process_ends_while_something_is_being_compiled():
    program = (
        SLOW
        + """
    def deep(x):
        for _ in range(10):
            x = ops.sin(x) * ops.exp(-x) + ops.matmul(x.reshape(2, 5), x.reshape(5, 2)).sum()
        return x.sum()

    gradient, x = ms.grad(lambda x: (ms.grad(deep)(x) * x).sum()), Tensor(np.linspace(0, 1, 10))
    while "compiling" not in str(ms.cache_info(gradient).eager):
        gradient(x)
    assert "compiled:" not in str(ms.cache_info(gradient).eager)  # the process waits some seconds for it
    print(time.time(), flush=True)
    sys.exit(7)
    """
    )
    done = subprocess.run(
        [sys.executable, "-c", "import subprocess, sys, time\n"
         "done = subprocess.run([sys.executable, '-c', sys.argv[1]], capture_output=True, text=True)\n"
         "print(done.returncode, time.time() - float(done.stdout), done.stderr)", textwrap.dedent(program)],
        env={**os.environ, "PYTHONPATH": str(SOURCE), "MINDGRAD_EAGER": ""}, capture_output=True, text=True,
        timeout=100,
    )  # fmt: skip
    status, seconds, *rest = done.stdout.split(maxsplit=2)
    assert status == "7", done.stdout + done.stderr
    assert float(seconds) < 60, done.stdout
    assert not rest, done.stdout


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
def test_a_forked_process_computes_operator_by_operator():
    program = (
        SLOW
        + """
    import os, warnings
    from mindgrad.core.ir import settings
    settings.store("eager", "compiled")
    warnings.simplefilter("ignore")
    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.dense = nn.Dense(3, 3)
        def construct(self, x):
            return ops.tanh(self.dense(x)) * 2
    net, y = Net(), Tensor(np.ones((2, 3), np.float32))
    small = Tensor(np.linspace(0, 1, 20))
    train = nn.TrainOneStepCell(nn.WithLossCell(net, nn.MSELoss()), nn.Adam(net.trainable_params()))
    for _ in range(4):
        loss = train(y, y)
        expected = [gradient(small)[1].asnumpy(), net(y).asnumpy()]
    assert ": compiled" in ms.cache_info(net).eager[0] and ": compiled" in ms.cache_info(gradient).eager[0]
    child = os.fork()
    if child == 0:
        try:
            for _ in range(4):
                assert np.allclose(gradient(small)[1].asnumpy(), expected[0])
                assert np.allclose(net(y).asnumpy(), expected[1], atol=1e-6)
            losses = [train(y, y).item() for _ in range(4)]
            assert losses[-1] < loss.item()
        except BaseException as error:
            print(repr(error))
            os._exit(1)
        os._exit(23)
    _, status = os.waitpid(child, 0)
    assert os.waitstatus_to_exitcode(status) == 23
    assert np.allclose(gradient(small)[1].asnumpy(), expected[0])
    assert ": compiled" in ms.cache_info(gradient).eager[0]
    """
    )
    done = run(program)
    assert done.returncode == 0, done.stdout + done.stderr


# -- threads ---------------------------------------------------------------------------------------------


def run_threads(*functions):
    errors = []

    def guarded(function):
        try:
            function()
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=guarded, args=(each,)) for each in functions]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert not any(thread.is_alive() for thread in threads)
    if errors:
        raise errors[0]


@pytest.mark.parametrize("switch", ["compiled", ""])
def test_threads_with_equal_and_different_nets(switch, monkeypatch):
    # what takes long enough to be compiled by itself is another test's business
    monkeypatch.setattr(tiers, "HOST", HOST._replace(shortest_seconds=0.0, compiling_seconds=1e-3))
    factor = [1.0]

    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.w = Parameter(tensor(1, 2), name="w")

        def construct(self, x):
            y = x * self.w
            if y.sum() > 0:
                y = y * 2
            return y + factor[0]

    shared = Net()
    gradient = ms.grad(lambda x: (x * x * x).sum())

    def work(own):
        net = shared if own is None else own
        for k in range(60):
            x = tensor(1, k * (-1) ** k)
            expected = x.asnumpy() * [1, 2]
            expected = (expected * 2 if expected.sum() > 0 else expected) + 1
            assert_close(net(x), expected)
            assert_close(gradient(x), 3 * x.asnumpy() ** 2)

    with eager(switch):
        run_threads(*[lambda own=own: work(own) for own in [None] * 4 + [Net() for _ in range(4)]])
        tiers.wait_until_compiled()
        if switch == "compiled":
            assert is_compiled(shared)


def test_another_thread_keeps_more_while_a_program_is_compiled():
    left, begun, continues = [], threading.Event(), threading.Event()
    main = threading.current_thread()

    def f(x):
        y = x * 2
        if threading.current_thread() is not main:
            left.append(y)
            begun.set()
            continues.wait(20)
        z = y
        for _ in range(60):
            z = ops.sin(z) * y
        return z

    cell = Cell(f)
    cell(vector(1))
    slow = threading.Thread(target=lambda: cell(vector(2)))
    slow.start()
    begun.wait(20)
    timer = threading.Timer(0.02, continues.set)  # while the next call is compiled
    timer.start()
    cell(vector(3))
    slow.join(20)
    for k in (4, 5):
        left.clear()
        run_threads(lambda k=k: cell(vector(k)))
        assert_close(left[0], 2 * vector(k).asnumpy())


def test_a_thread_reads_a_parameter_during_a_hot_call():
    class Counted(nn.Cell):
        def __init__(self):
            super().__init__()
            self.p = Parameter(vector(1), name="p")

        def construct(self, x, between):
            self.p.set_data(self.p + x)
            between()
            self.p.set_data(self.p * 2)
            return self.p + 0

    cell, seen = Counted(), []

    def between():
        run_threads(lambda: seen.append(cell.p.asnumpy()))

    expected = vector(1).asnumpy()
    for k in range(6):
        x = vector(k)
        result = cell(x, between)
        assert_close(seen[-1], expected + x.asnumpy(), kind="program", each=True)
        expected = 2 * (expected + x.asnumpy())
        assert_close(result, expected, kind="program", each=True)
        assert_close(cell.p, expected, kind="program", each=True)


# -- memory ----------------------------------------------------------------------------------------------


def resident():
    """Bytes of memory that the process has now."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * resource.getpagesize()


@pytest.mark.xla
@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="the system does not say")
@pytest.mark.parametrize("changes", [False, True], ids=["hot", "changing"])
def test_memory_stays_flat(changes):
    w = Parameter(vector(1, 4000), name="w")
    orders = [3]
    left = []

    def loss(x):
        y = x * w
        for _ in range(orders[0]):
            y = ops.sin(y)
        left[:] = [y]
        return (y * x).sum()

    optimizer = nn.SGD([w], 0.001)
    gradient = ms.value_and_grad(Cell(loss) if changes else loss, None, [w])

    def steps(count):
        for k in range(count):
            if changes:
                orders[0] = k % 11
            optimizer(gradient(vector(k % 7, 4000))[1])

    steps(300)
    gc.collect()
    before = resident()
    steps(1500)
    assert resident() - before < 24 * 2**20


def test_steps_leave_no_cycles_that_hold_arrays():
    w = Parameter(vector(1, LENGTH), name="w")
    net = Cell(lambda x: (ops.sin(x * w) * x).sum())
    gradient, optimizer = ms.value_and_grad(net, None, [w]), nn.Momentum([w], 0.01, 0.9)
    references = []

    def step(k):
        x = vector(k, LENGTH)
        value, slope = gradient(x)
        optimizer(slope)
        net(x)
        references[:] = [weakref.ref(x), weakref.ref(slope[0]), weakref.ref(value)]

    for k in range(5):
        step(k)
    assert is_compiled(gradient)
    raising = cell_that_raises(references)
    gc.collect()
    gc.disable()
    try:
        for k in range(5):
            step(k + 0.5)
            assert [reference() is None for reference in references] == [True] * 3
        with contextlib.suppress(KeyError):
            raising(vector(9, LENGTH))
        assert [reference() is None for reference in references] == [True] * len(references)
        assert arrays_in_cycles() == {}
    finally:
        gc.enable()


#: vectors of this length are known by it: threads of other tests may leave cycles of their own at any time
LENGTH = 1871


def arrays_in_cycles():
    """The types of the objects in unreachable cycles that hold such vectors, with the types of these.

    When an array's memory is freed cannot be asked: jax frees an operand of a program in a later call of its own.
    """
    gc.set_debug(gc.DEBUG_SAVEALL)
    try:
        gc.collect()
        arrays = {}
        for value in gc.garbage:
            for referent in (value, *gc.get_referents(value)):
                if isinstance(referent, np.ndarray | Tensor | jax.Array) and referent.shape == (LENGTH,):
                    arrays.setdefault(f"{type(value)} {str(value)[:200]}", []).append(str(type(referent)))
        return arrays
    finally:
        gc.set_debug(0)
        gc.garbage.clear()


def test_arrays_in_cycles_are_seen():
    gc.collect()
    cycle = [np.zeros(LENGTH)]
    cycle.append(cycle)
    del cycle
    (arrays,) = arrays_in_cycles().values()
    assert len(arrays) == 1


def cell_that_raises(references):
    """A Cell with a compiled program that raises when it is called next."""
    raises = [False]

    def f(x):
        y = x * 2
        if raises[0]:
            references[:] = [weakref.ref(x), weakref.ref(y)]
            raise KeyError
        return y + 1

    cell = Cell(f)
    for k in range(4):
        cell(vector(k, LENGTH))
    raises[0] = True
    return cell
