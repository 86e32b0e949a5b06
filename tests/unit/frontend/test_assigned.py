"""Attributes and variables that a compiled program assigns hold afterwards what they hold in eager mode."""

import functools
import types

import pytest

import mindgrad as ms
from mindgrad import Parameter, Tensor, nn, ops


def plain(value):
    """What two runs that agree have in common."""
    if isinstance(value, Tensor):
        assert not value.is_traced
        assert value._array is not None
        return ("tensor", value.dtype, value.asnumpy().tolist())
    if isinstance(value, (tuple, list)):
        return (type(value), *map(plain, value))
    if isinstance(value, dict):
        return {name: plain(each) for name, each in value.items()}
    return value


def held(owner):
    kept = (
        vars(owner)
        if not isinstance(owner, nn.Cell)
        else {n: v for n, v in vars(owner).items() if n[0] != "_"}
    )
    return {
        n: plain(v)
        for n, v in kept.items()
        if not isinstance(v, nn.Cell) and n not in ("cell_type", "config")
    }


def close(one, other):
    if isinstance(one, float) and isinstance(other, float):
        return one == pytest.approx(other, rel=1e-4, abs=1e-6)
    if isinstance(one, (tuple, list)) and isinstance(other, (tuple, list)):
        return len(one) == len(other) and all(map(close, one, other))
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(close(one[k], other[k]) for k in one)
    return one == other and type(one) is type(other)


class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        self.w = Parameter(Tensor(1.5), name="w")


class Constant(Net):
    def construct(self, x):
        self.k = 3
        return x * self.k * self.w


class Last(Net):
    last = None

    def construct(self, x):
        y = ops.sin(x) * self.w
        self.last = y
        return y * self.last


class Running(Net):
    def __init__(self):
        super().__init__()
        self.total = Tensor(0.5)
        self.pair = (Tensor(1.0), [Tensor(2.0)])

    def construct(self, x):
        self.total = self.total + x * self.w
        a, b = self.pair
        self.pair = (a + x, [b[0] * self.total])
        return self.total * b[0]


class FromANumber(Net):
    def __init__(self):
        super().__init__()
        self.total = 0

    def construct(self, x):
        self.total = self.total + x * self.w
        return self.total * x


class Branches(Net):
    def __init__(self):
        super().__init__()
        self.calls, self.last, self.kind = 0, Tensor(0.0), "none"

    def construct(self, x):
        self.kind = "one"
        if x > 0:
            self.calls = 7
            self.last = x * self.w
        elif x < -3:
            self.last = -x
        return x * self.calls + self.last


class Loops(Net):
    def __init__(self):
        super().__init__()
        self.iterations, self.sum = 0, Tensor(0.0)

    def construct(self, x):
        self.iterations = 0
        while ops.abs(x) < 20:
            x = x * 2
            self.sum = self.sum + x * self.w
            self.iterations += 1
            if self.iterations > 3:
                self.sum = self.sum * 0.5
        for k in range(40):
            self.sum = ops.sin(self.sum) + 0.01 * k
        return self.sum * x


class Nested(nn.Cell):
    def __init__(self):
        super().__init__()
        self.inner = Last()
        self.config = types.SimpleNamespace(gain=2.0, seen=None)

    def construct(self, x):
        self.inner.k = 2
        y = self.inner(x)
        self.config.seen = y
        self.config.gain = self.config.gain
        return y * self.inner.last * self.inner.k * self.config.gain


class Deletes(Net):
    def __init__(self):
        super().__init__()
        self.state = (1, "a")

    def construct(self, x):
        self.cache = {"x": x}
        y = self.cache["x"] * self.w
        del self.cache
        self.state = (*self.state[:1], y)
        return y


class Properties(Net):
    @property
    def gain(self):
        return self.hidden

    @gain.setter
    def gain(self, value):
        self.hidden = value * 2

    @functools.cached_property
    def table(self):
        return ops.exp(self.w) * 2

    def construct(self, x):
        self.gain = x
        return self.gain * x * self.table


class TakesLists(Net):
    def construct(self, x):
        self.layers = []
        for _ in range(3):
            x = ops.tanh(x * self.w)
            self.layers.append(x)
        setattr(self, "fi" + "rst", self.layers[0])
        return self.layers[0] * self.layers[2]


class Inside(Net):
    def construct(self, x):
        def loss(y):
            self.seen = y * y * self.w
            self.inner = [self.seen, 1]
            return self.seen * y

        slope = ms.grad(loss)(x)
        if x > 1:
            slope = slope + ms.grad(loss)(slope)
        return slope * self.seen + self.inner[0]


PROGRAMS = [
    Constant, Last, Running, FromANumber, Branches, Loops, Nested, Deletes, Properties, TakesLists, Inside,
]  # fmt: skip
INPUTS = (0.4, -4.5, 1.3)


def run(make, mode, of):
    ms.set_context(mode=mode)
    try:
        net, found = make(), []
        called = of(net)
        for x in INPUTS:
            found.append(plain(called(Tensor(x))))
            found.append([held(each) for _, each in net.cells_and_names()])
            found.append(held(net.config) if hasattr(net, "config") else None)
        return found
    finally:
        ms.set_context(mode=ms.PYNATIVE_MODE)


@pytest.mark.parametrize("make", PROGRAMS)
def test_the_same_values_as_in_eager_mode(make):
    of = lambda net: net
    assert close(run(make, ms.GRAPH_MODE, of), run(make, ms.PYNATIVE_MODE, of))


@pytest.mark.parametrize("make", PROGRAMS)
def test_the_same_under_a_gradient(make):
    of = lambda net: ms.value_and_grad(net, 0, list(net.trainable_params()))
    assert close(run(make, ms.GRAPH_MODE, of), run(make, ms.PYNATIVE_MODE, of))


@pytest.mark.parametrize("make", [Running, Branches, Nested])
def test_the_same_under_a_second_derivative(make):
    of = lambda net: ms.grad(ms.grad(net))
    assert close(run(make, ms.GRAPH_MODE, of), run(make, ms.PYNATIVE_MODE, of))


# -- variables of enclosing functions and of the module ------------------------------------------------


TOTAL = 0.0
SEEN = None


def by_global(x):
    global TOTAL, SEEN
    TOTAL = TOTAL + x * 2
    if x > 1:
        TOTAL = TOTAL * x
    SEEN = 5
    return TOTAL * x


def test_a_global_variable(monkeypatch):
    actual = {}
    for mode in (ms.PYNATIVE_MODE, ms.GRAPH_MODE):
        monkeypatch.setitem(globals(), "TOTAL", 0.0)
        monkeypatch.setitem(globals(), "SEEN", None)
        called = by_global if mode == ms.PYNATIVE_MODE else ms.jit(by_global)
        slope = ms.grad(called)
        actual[mode] = [
            (plain(called(Tensor(x))), plain(slope(Tensor(x))), plain(TOTAL), SEEN) for x in INPUTS
        ]
    assert close(*actual.values())


def by_nonlocal(wrap):
    total, last, calls = Tensor(1.0), None, 0

    def add(x):
        nonlocal total, last, calls
        total = total + x
        last = (x, total)
        calls = calls + 1

    @wrap
    def f(x):
        nonlocal calls
        if x > 0:
            add(x * 2)
        elif x < -1:
            calls = 10
            last_of = ops.abs(x)
            while last_of > 1:
                add(last_of)
                last_of = last_of / 2
        else:
            add(x)
        return total * x

    if wrap is not ms.jit:
        last = (Tensor(0.0), Tensor(0.0))
    last = (Tensor(0.0), Tensor(0.0))
    return f, lambda: (plain(total), plain(last), calls)


def test_variables_of_enclosing_functions():
    results = []
    for wrap in (lambda f: f, ms.jit):
        f, state = by_nonlocal(wrap)
        found = []
        for x in INPUTS:
            found += [plain(f(Tensor(x))), state(), plain(ms.grad(f)(Tensor(x))), state()]
        results.append(found)
    assert close(*results)


def test_functions_made_anew_have_variables_of_their_own():
    def make():
        kept = None

        def f(x):
            nonlocal kept
            kept = x * 3
            return kept

        return ms.jit(f), lambda: kept

    (f, of_f), (g, of_g) = make(), make()
    f(Tensor(1.0))
    assert of_g() is None
    g(Tensor(2.0))
    assert (of_f().item(), of_g().item()) == (3.0, 6.0)


# -- errors ---------------------------------------------------------------------------------------------


def test_after_an_error_all_is_as_before():
    net = Running()
    before = held(net)

    @ms.jit
    def f(x):
        net.total = x
        net.new = x
        if x > 0:
            net.pair = (x, [x])
        return ops.matmul(x, x)

    with pytest.raises((ValueError, TypeError)):
        f(Tensor(1.0))
    assert held(net) == before


class Point:
    def __init__(self, x):
        self.x = x


def refused(function):
    with pytest.raises(ms.CompileError) as caught:
        ms.jit(function)(Tensor(1.0))
    return str(caught.value)


def test_what_is_refused():
    net = Net()

    def an_object(x):
        net.point = Point(x)
        return x

    def a_cell(x):
        net.w = nn.ReLU()
        return x

    def a_function(x):
        nonlocal kept
        kept = lambda: x
        return x

    def one_way(x):
        if x > 0:
            net.new = x
        return x

    def maybe_no_iteration(x):
        while x < 0:
            net.new = x
            x = x + 1
        return x

    kept = None
    assert "an object of type Point that the compiled function creates" in refused(an_object)
    assert "a Cell or a Parameter" in refused(a_cell)
    assert "a function that the compiled function defines" in refused(a_function)
    assert "The attribute 'new' of Net is assigned in only one branch" in refused(one_way)
    assert "The attribute 'new' of Net is assigned only in a loop" in refused(maybe_no_iteration)
    assert kept is None
    assert not hasattr(net, "new")
