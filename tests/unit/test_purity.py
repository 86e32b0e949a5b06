"""Functions whose Python need not run at each call, and those whose Python somebody can see."""

import contextlib
import logging
import math
import sys

import numpy as np
import pytest

import mindgrad as ms
from mindgrad import Parameter, Tensor, nn, ops
from mindgrad._base.tree import flatten
from mindgrad.eager import tiers
from mindgrad.eager.purity import impurity
from mindgrad.ir.cost_model import HOST
from tests.tiers import eager

SCALE = 3.0
WEIGHTS = [1.0, 2.0]
LARGE = Tensor(np.ones(10_000, np.float32))
SMALL = Tensor(np.ones(3, np.float32))
calls = []
log = logging.getLogger(__name__)


def helper(x, k=2):
    return ops.sin(x) * k


def counts(x):
    calls.append(1)
    return x * x


def draws(x):
    return x * np.random.rand()  # noqa: NPY002


class Cell(nn.Cell):
    def __init__(self, function):
        super().__init__()
        self.function = function

    def construct(self, x):
        return self.function(x)


class Square(nn.Cell):
    def construct(self, x):
        return x * x


class Block(nn.Cell):
    def __init__(self, inner):
        super().__init__()
        self.inner = inner
        self.layers = nn.CellList([nn.Dense(3, 3), Square()])
        self.scale = Parameter(Tensor([2.0, 2.0, 2.0]), name="scale")
        self.widths = [3, 3]
        self.calls = 0

    def half(self, x):
        return x / 2

    def construct(self, x):
        for layer in self.layers:
            x = layer(x)
        outs = ()
        for width in self.widths:
            outs += (self.half(x) * width * self.scale,)
        return self.inner(ops.stack(outs).sum(0).reshape(x.shape))


class Counting(nn.Cell):
    def __init__(self):
        super().__init__()
        self.calls = 0

    def construct(self, x):
        self.calls += 1
        return x * x


class Computed(nn.Cell):
    @property
    def factor(self):
        calls.append(1)
        return 2.0

    def construct(self, x):
        return x * self.factor


class Deciding(nn.Cell):
    def construct(self, x):
        with contextlib.suppress(ValueError):
            return x * 2
        return x


class Settings:
    rate = 2.0


settings_of_user = Settings()

PURE = {
    "operators": lambda x: ops.tanh(x) * SCALE + math.pi,
    "a helper": lambda x: helper(x, 3) + helper(x),
    "numbers": lambda x: sum([x * k for k in range(3)]) / len(x.shape),
    "a local list": lambda x: ops.stack([y for y in [x, x * 2] if y is not None]),
    "a gradient": lambda x: ms.grad(helper)(x),
    "a list that is read": lambda x: x * WEIGHTS[0],
    "a small tensor": lambda x: x * SMALL,
    "a Cell": Block(Square()),
    "NumPy's constants": lambda x: x * np.sqrt(2.0) * np.pi,
    "methods": lambda x: x.reshape(-1).sum().astype(ms.float64),
    "a layer": nn.SequentialCell(nn.Dense(3, 2), nn.ReLU()),
    "an optimiser": nn.Adam(nn.Dense(3, 2).trainable_params()),
}


@pytest.mark.parametrize("name", PURE)
def test_pure(name):
    assert impurity(PURE[name]) == ""


def with_hook():
    cell = Square()
    cell.register_forward_hook(lambda cell, inputs, output: calls.append(1))
    return cell


def appends_to(container, x):
    container += [x]
    return x


def assigning():
    total = 0

    def f(x):
        nonlocal total
        total = x
        return x * x

    return f


IMPURE = {
    "print": (lambda x: print(x), "print"),
    "a call that appends": (counts, "append"),
    "one inside of another": (lambda x: helper(x) + counts(x), "append"),
    "random numbers": (draws, "rand"),
    "an attribute": (Counting(), "assigns '.calls'"),
    "a Cell in a Cell": (Block(Counting()), "assigns '.calls'"),
    "a Cell in a layer": (nn.SequentialCell(nn.Dense(3, 2), Counting()), "assigns '.calls'"),
    "a property": (Computed(), "factor"),
    "a context manager": (Deciding(), "with"),
    "a hook": (with_hook(), "hook"),
    "a large tensor": (lambda x: x * LARGE[:3], "LARGE"),
    "an object": (lambda x: x * settings_of_user.rate, "an object of Settings"),
    "a logger": (lambda x: (log.info("x"), x)[1], "an object of Logger"),
    "a container outside": (lambda x: appends_to(WEIGHTS, x), "the container 'WEIGHTS'"),
    "a container in one": (lambda x: [appends_to(row, x) for row in ROWS][0], "the container 'ROWS'"),  # noqa: RUF015
    "a variable outside": (assigning(), "assigns 'total'"),
    "an element": (lambda x: x.__setitem__(0, 1.0), "__setitem__"),
    "in place": (lambda x: x.add_(1.0), "add_"),
    "ops.print_": (lambda x: ops.print_(x), "print_"),
    "the mode": (lambda x: ms.set_context(mode=0), "set_context"),
    "a seed": (lambda x: (ms.set_seed(1), x)[1], "set_seed"),
    "a Parameter made inside": (lambda x: Parameter(x, name="p"), "Parameter"),
    "a method of an object that a list holds": (
        lambda x: ops.stack([c.set_train()(x) for c in CELLS]),
        "set_train",
    ),
    "a file": (lambda x: open("x"), "open"),  # noqa: SIM115
    "a loss of the user's": (ms.value_and_grad(counts), "append"),
    "a partial derivative": (ms.vmap(ms.grad(lambda x: counts(x).sum())), "append"),
}
CELLS = [Square()]
ROWS = [[1.0], [2.0]]


@pytest.mark.parametrize("name", IMPURE)
def test_impure(name):
    function, reason = IMPURE[name]
    assert reason in impurity(function)


# -- calls -----------------------------------------------------------------------------------------------


def times(function, *args, count=5):
    """The results of calls that are hot from the third on at the latest."""
    with eager("compiled"):
        return [function(*args) for _ in range(count)]


def test_python_of_a_pure_function_is_left_out_and_that_of_others_runs_at_each_call():
    calls.clear()
    x = Tensor([1.0, 2.0, 3.0])
    impure = ms.grad(lambda x: counts(x).sum())
    times(impure, x)
    assert len(calls) == 5
    assert "its Python runs at each call: it uses '.append'" in ms.cache_info(impure).eager[0]
    pure = ms.grad(lambda x: helper(x).sum())
    times(pure, x)
    assert "hot: it is one program" in ms.cache_info(pure).eager[0]


def test_a_breakpoint_in_a_pure_function_is_reached_when_it_is_hot():
    gradient = ms.grad(lambda x: helper(x).sum())
    x = Tensor([1.0, 2.0, 3.0])
    times(gradient, x)
    lines = []

    def tracer(frame, event, _):
        if frame.f_code is helper.__code__:
            lines.append(event)
        return tracer

    before = sys.gettrace()
    sys.settrace(tracer)
    try:
        times(gradient, x, count=1)
    finally:
        sys.settrace(before)
    assert "line" in lines


def test_what_is_read_of_python_is_seen_to_change(monkeypatch):
    x = Tensor([1.0, 2.0, 3.0])
    net = Block(Square())
    for layer in net.layers[0].get_parameters():
        layer.set_data(ops.ones_like(layer))
    function = ms.grad(lambda x: (net(x) * SCALE + WEIGHTS[0] * x).sum())

    def both():
        with eager("numpy"):
            cold = function(x)
        for hot in times(function, x, count=3):
            np.testing.assert_allclose(hot.asnumpy(), cold.asnumpy(), rtol=1e-6)
        return cold.asnumpy()

    results = [both()]
    monkeypatch.setitem(globals(), "SCALE", 5.0)
    results.append(both())
    monkeypatch.setitem(globals(), "WEIGHTS", WEIGHTS.copy())
    results.append(both())
    WEIGHTS[0] = -1e6
    results.append(both())
    net.widths = [3, 5]
    results.append(both())
    net.layers[1] = nn.ReLU()
    results.append(both())
    net.scale.set_data(Tensor([1.0, 0.5, 2.0]))
    results.append(both())
    monkeypatch.setattr(Block, "half", lambda self, x: x / 4)
    results.append(both())
    same = [np.allclose(one, other) for one, other in zip(results[1:], results, strict=False)]
    assert same == [False, True, *[False] * 5], same


def test_a_function_that_changes_its_mind_runs_its_python_again():
    net = Block(Square())
    net.factor = 1
    gradient = ms.grad(lambda x: net(x).sum() * net.factor)
    x = Tensor([1.0, 2.0, 3.0])
    with eager("compiled"):
        for k in range(12):
            net.factor = k
            with eager("numpy"):
                cold = gradient(x)
            np.testing.assert_allclose(gradient(x).asnumpy(), cold.asnumpy(), rtol=1e-6)
    assert "what it reads of Python changes between calls" in ms.cache_info(gradient).eager[0]


def test_a_hook_that_is_added_later_runs():
    net = Block(Square())
    x = Tensor([1.0, 2.0, 3.0])
    times(net, x)
    seen = []
    net.inner.register_forward_hook(lambda cell, inputs, output: seen.append(1))
    times(net, x, count=4)
    assert len(seen) == 4


def test_a_hook_of_a_parameter_that_is_added_later_runs():
    net = nn.Dense(3, 2)
    gradient = ms.grad(lambda x: net(x).sum(), None, net.weight)
    x = Tensor([[1.0, 2.0, 3.0]])
    times(gradient, x)
    seen = []
    handle = net.weight.register_hook(lambda slope: seen.append(slope.shape))
    times(gradient, x, count=4)
    handle.remove()
    assert seen == [(2, 3)] * 4


def test_an_argument_that_is_given_back_is_the_same_tensor():
    x = Tensor([1.0, 2.0, 3.0])

    class Same(nn.Cell):
        def construct(self, x):
            return x, x * 2

    for first, _ in times(Same(), x):
        assert first is x


def test_lists_as_arguments_can_be_changed():
    def first(xs):
        xs.append(xs[0] * 2)
        return (xs[0] * xs[1]).sum()

    gradient = ms.grad(first)
    with eager("compiled"):
        for _ in range(4):
            xs = [Tensor([1.0]), Tensor([2.0])]
            gradient(xs)
            assert len(xs) in (2, 3)
            assert "its Python runs at each call" in ms.cache_info(gradient).eager[0]


def test_infinite_arguments_absorb_as_they_do_cold():
    gradient = ms.grad(lambda x, m: ops.softmax(x + m).prod(), (0, 1))
    x = Tensor([1.0, 2.0, 3.0])
    for mask in ([0.0, 0.0, 0.0], [0.0, -math.inf, 0.0]):
        m = Tensor(mask, ms.float32)
        with eager("numpy"):
            cold = gradient(x, m)
        for hot in times(gradient, x, m, count=3):
            for one, other in zip(hot, cold, strict=True):
                np.testing.assert_allclose(one.asnumpy(), other.asnumpy(), rtol=1e-6)


def test_functions_that_are_made_anew_use_what_they_close_over():
    x = Tensor([1.0, 2.0, 3.0])
    with eager("compiled"):
        for k in range(8):
            slope = ms.grad(lambda x, k=k: (x**2).sum() * k)(x)
            np.testing.assert_allclose(slope.asnumpy(), 2 * k * x.asnumpy())
            factor = Tensor([float(k)])
            slope = ms.grad(lambda x, factor=factor: (x * factor).sum())(x)
            np.testing.assert_allclose(slope.asnumpy(), [k, k, k])


# -- short calls -----------------------------------------------------------------------------------------


@pytest.fixture
def impatient(monkeypatch):
    """Short calls are traced as soon as they may be."""
    monkeypatch.setattr(tiers, "HOST", HOST._replace(tracing_seconds=0.0, shortest_seconds=10.0))


def short(function, *args, count=30):
    """The results of calls the last of which run as kernels."""
    with eager(""):
        return [function(*args) for _ in range(count)]


def test_a_short_call_runs_as_kernels(impatient):
    net = nn.Dense(3, 2)
    gradient = ms.value_and_grad(lambda x: ops.tanh(net(x)).sum(), 0, net.trainable_params())
    x = Tensor([[1.0, 2.0, 3.0]])
    results = short(gradient, x)
    assert "hot: a call takes" in ms.cache_info(gradient).eager[0], ms.cache_info(gradient).eager
    for hot in results[-1], short(gradient, x, count=1)[0]:
        for one, other in zip(flatten(hot)[0], flatten(results[0])[0], strict=True):
            np.testing.assert_allclose(one.asnumpy(), other.asnumpy(), rtol=1e-6)
    net.weight.set_data(net.weight * 2)
    with eager("numpy"):
        expected = gradient(x)
    for one, other in zip(flatten(short(gradient, x, count=1)[0])[0], flatten(expected)[0], strict=True):
        np.testing.assert_allclose(one.asnumpy(), other.asnumpy(), rtol=1e-6)


def test_a_short_call_sees_what_changes(impatient, monkeypatch):
    x = Tensor([1.0, 2.0, 3.0])
    gradient = ms.grad(lambda x: (x * x).sum() * SCALE)
    np.testing.assert_allclose(short(gradient, x)[-1].asnumpy(), 6 * x.asnumpy())
    monkeypatch.setitem(globals(), "SCALE", 5.0)
    for slope in short(gradient, x):
        np.testing.assert_allclose(slope.asnumpy(), 10 * x.asnumpy())
    with pytest.raises(TypeError, match=r"sin|str"):
        short(ms.grad(lambda x: ops.sin(x).sum()), "no tensor")


def test_short_calls_that_somebody_can_see_run_their_python(impatient):
    calls.clear()
    gradient = ms.grad(lambda x: counts(x).sum())
    short(gradient, Tensor([1.0, 2.0]))
    assert len(calls) == 30
    assert "cold: a call takes" in ms.cache_info(gradient).eager[0]
    assert "'.append'" in ms.cache_info(gradient).eager[0]


def test_short_calls_write_parameters(impatient):
    results = []
    for switch in ("numpy", ""):
        weight = Parameter(Tensor([[1.0, 2.0]]), name="weight")
        optimizer = nn.Adam([weight], learning_rate=0.1)
        with eager(switch):
            steps = []
            for k in range(60):
                optimizer((Tensor([[0.5 + k, -1.0]]),))
                steps.append(weight.asnumpy().copy())
        results.append(steps)
    assert "hot: a call takes" in ms.cache_info(optimizer).eager[0], ms.cache_info(optimizer).eager
    for one, other in zip(*results, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-6)


def test_short_calls_draw_what_cold_ones_draw(impatient):
    results = []
    for switch in ("numpy", ""):
        ms.set_seed(5)
        layer = nn.Dropout(p=0.5).set_train()
        with eager(switch):
            results.append([layer(ops.ones((8,))).asnumpy() for _ in range(40)])
    assert "hot: a call takes" in ms.cache_info(layer).eager[0], ms.cache_info(layer).eager
    np.testing.assert_array_equal(*results)


def test_short_calls_of_lambdas_made_anew_stay_cold(impatient):
    x = Tensor([1.0, 2.0, 3.0])
    with eager(""):
        for k in range(40):
            slope = ms.grad(lambda x, k=k: (x**2).sum() * k)(x)
            np.testing.assert_allclose(slope.asnumpy(), 2 * k * x.asnumpy())


def test_half_precision_is_not_compiled_in_vain():
    def loss(x):
        return ops.square(ops.sin(x.astype(ms.float16))).sum()

    slope = ms.grad(loss)
    with eager("compiled"):
        for _ in range(4):
            slope(Tensor(np.ones(30, np.float32)))
    (line,) = ms.cache_info(loss).eager
    assert "half precision" in line
    assert ms.cache_info(loss).misses == 0
