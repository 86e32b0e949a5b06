"""The compile cache: what makes a program stale, what does not, and what it tells about itself."""

import copy
import functools
import gc
import operator
import queue
import threading
import types
import warnings
import weakref
from dataclasses import dataclass

import numpy as np
import pytest

import mindgrad as ms
from mindgrad import Parameter, Tensor, nn, ops
from mindgrad.frontend import state
from mindgrad.frontend.programs.compiled import Compiled
from tests.tolerances import assert_close


def wide(*numbers):
    return Tensor(np.array(numbers if len(numbers) > 1 else numbers[0], np.float64))


def value(tensor):
    return tensor.asnumpy().tolist()


@pytest.fixture(autouse=True)
def _own_cache():
    ms.clear_cache()
    yield
    ms.clear_cache()


@pytest.fixture
def graph_mode():
    ms.set_context(mode=ms.GRAPH_MODE)
    yield
    ms.set_context(mode=ms.PYNATIVE_MODE)


def misses(f):
    return ms.cache_info(f).misses


# -- attributes --------------------------------------------------------------------------------------


class Plain:
    """An object that is no Cell."""

    rate = 0.25

    def __init__(self, **attributes):
        self.__dict__.update(attributes)

    @property
    def doubled(self):
        return self.factor * 2

    def method(self, x):
        return x * self.factor


class Slotted:
    __slots__ = ("factor",)


class Delegating:
    """Looks attributes up in a dict, as configurations do."""

    def __init__(self, held):
        self.__dict__["held"] = held

    def __getattr__(self, name):
        try:
            return self.__dict__["held"][name]
        except KeyError:
            raise AttributeError(name) from None


def set_attribute(name, value):
    return lambda o: setattr(o, name, value)


@pytest.mark.parametrize(
    ("make", "use", "change", "before", "after"),
    [
        (lambda: Plain(factor=2.0), lambda o, x: x * o.factor, set_attribute("factor", 3.0), 2.0, 3.0),
        (lambda: Plain(factor=2.0), lambda o, x: o.method(x), set_attribute("factor", 3.0), 2.0, 3.0),
        (lambda: Plain(factor=2.0), lambda o, x: x * o.doubled, set_attribute("factor", 3.0), 4.0, 6.0),
        (Plain, lambda o, x: x * o.rate, set_attribute("rate", 3.0), 0.25, 3.0),
        (lambda: Plain(n=1), lambda o, x: x / o.n if isinstance(o.n, int) else x * 9, set_attribute("n", 1.0), 1.0, 9.0),
        (lambda: Plain(zero=0.0), lambda o, x: 1 / (x * o.zero), set_attribute("zero", -0.0), np.inf, -np.inf),
        (lambda: Plain(kind="a"), lambda o, x: x * 2 if o.kind == "a" else x * 3, set_attribute("kind", "b"), 2.0, 3.0),
        (lambda: Plain(on=None), lambda o, x: x if o.on is None else x * 3, set_attribute("on", True), 1.0, 3.0),
        (lambda: Plain(sizes=(1, (2.0, 3.0))), lambda o, x: x * o.sizes[1][0], set_attribute("sizes", (1, (7.0, 3.0))), 2.0, 7.0),
        (lambda: Plain(layers=[2.0, 5.0]), lambda o, x: x * sum(o.layers), lambda o: o.layers.append(1.0), 7.0, 8.0),
        (lambda: Plain(layers=[2.0, 5.0]), lambda o, x: x * o.layers[0], lambda o: o.layers.__setitem__(0, 9.0), 2.0, 9.0),
        (lambda: Plain(layers=[1, 2]), lambda o, x: x if isinstance(o.layers[0], bool) else -x, lambda o: o.layers.__setitem__(0, True), -1.0, 1.0),
        (lambda: Plain(cfg={"a": {"b": [1.0]}}), lambda o, x: x * o.cfg["a"]["b"][0], lambda o: o.cfg["a"]["b"].__setitem__(0, 4.0), 1.0, 4.0),
        (lambda: Plain(cfg={"a": 1.0}), lambda o, x: x * len(o.cfg), lambda o: o.cfg.update(b=2.0), 1.0, 2.0),
        (lambda: Plain(cfg={"a": 1.0, "b": 2.0}), lambda o, x: x * next(iter(o.cfg.values())), lambda o: o.cfg.update(a=o.cfg.pop("a")), 1.0, 2.0),
        (lambda: Plain(names={"a"}), lambda o, x: x if "b" in o.names else -x, lambda o: o.names.add("b"), -1.0, 1.0),
        (lambda: Plain(table=wide(2.0)), lambda o, x: x * o.table, set_attribute("table", wide(5.0)), 2.0, 5.0),
        (lambda: Plain(table=wide(2.0)), lambda o, x: x * o.table, lambda o: o.table.__setitem__(..., 5.0), 2.0, 5.0),
        (lambda: Plain(table=np.array([2.0])), lambda o, x: x * float(o.table[0]), lambda o: o.table.fill(5.0), 2.0, 5.0),
        (lambda: Plain(inner=Plain(factor=2.0)), lambda o, x: x * o.inner.factor, lambda o: setattr(o.inner, "factor", 3.0), 2.0, 3.0),
        (lambda: Plain(inner=Plain(factor=2.0)), lambda o, x: x * o.inner.factor, set_attribute("inner", Plain(factor=4.0)), 2.0, 4.0),
        (lambda: Plain(objects=[Plain(factor=2.0)]), lambda o, x: x * o.objects[0].factor, lambda o: setattr(o.objects[0], "factor", 3.0), 2.0, 3.0),
        (lambda: Plain(f=ops.square), lambda o, x: o.f(x * 2), set_attribute("f", lambda x: x * 10), 4.0, 20.0),
        (lambda: Plain(p=Parameter(wide(2.0), name="p")), lambda o, x: x * o.p, set_attribute("p", Parameter(wide(6.0), name="q")), 2.0, 6.0),
        (lambda: Delegating({"lr": 2.0}), lambda o, x: x * o.lr, lambda o: o.held.update(lr=3.0), 2.0, 3.0),
        (lambda: types.SimpleNamespace(a=2.0), lambda o, x: x * o.a, set_attribute("a", 3.0), 2.0, 3.0),
        (lambda: type("Config", (), {"lr": 2.0}), lambda o, x: x * o.lr, set_attribute("lr", 3.0), 2.0, 3.0),
    ],
)  # fmt: skip
def test_an_attribute_that_was_read_and_changes_compiles_again(make, use, change, before, after):
    held = make()
    f = Compiled(lambda x: use(held, x))
    for _ in range(2):
        assert value(f(wide(1.0))) == before
    assert f.cache_info().misses == 1
    change(held)
    for _ in range(2):
        assert value(f(wide(1.0))) == after
    assert f.cache_info().misses == 2


def test_slots_count_too():
    held = Slotted()
    held.factor = 2.0
    f = Compiled(lambda x: x * held.factor)
    assert value(f(wide(1.0))) == 2.0
    held.factor = 3.0
    assert value(f(wide(1.0))) == 3.0


def test_an_attribute_that_is_not_read_does_not_matter():
    held = Plain(factor=2.0, count=0, log=[])
    f = Compiled(lambda x: x * held.factor)
    for _ in range(3):
        f(wide(1.0))
        held.count += 1
        held.log.append(1.0)
    assert f.cache_info().misses == 1


def test_equal_values_are_no_change():
    held = Plain(factor=2.0, sizes=(1, 2), table=wide(1.0, 2.0), name="x" * 50)
    f = Compiled(lambda x: x * held.factor * held.sizes[0] * held.table + len(held.name))
    for _ in range(3):
        f(wide(1.0))
        held.factor, held.sizes, held.table, held.name = float("2"), (1, int("2")), wide(1.0, 2.0), "x" * 50
    assert f.cache_info()[:2] == (2, 1)


def test_a_value_that_returns_finds_its_program():
    held = Plain(factor=2.0)
    f = Compiled(lambda x: x * held.factor)
    for factor in (2.0, 3.0, 2.0, 3.0, 2.0):
        held.factor = factor
        assert value(f(wide(1.0))) == factor
    assert f.cache_info().misses == 2


class Net(nn.Cell):
    def __init__(self, factor=1.0):
        super().__init__()
        self.weight = Parameter(wide(1.0), name="weight")
        self.factor = factor
        self.layers = [2.0, 3.0]
        self.cfg = {"gain": 1.0}

    def construct(self, x):
        x = x * self.weight * self.factor * self.cfg["gain"]
        for each in self.layers:
            x = x * each
        return x


def test_attributes_of_cells(graph_mode):
    net = Net()
    assert value(net(wide(1.0))) == 6.0
    for k in range(3):
        net.weight.set_data(wide(float(k)))
        assert value(net(wide(1.0))) == 6.0 * k
    assert misses(net) == 1, "the value of a Parameter is data"
    net.weight.set_data(wide(1.0))
    net.layers.append(5.0)
    assert value(net(wide(1.0))) == 30.0
    net.cfg["gain"] = 2.0
    assert value(net(wide(1.0))) == 60.0
    net.layers = [1.0]
    assert value(net(wide(1.0))) == 2.0
    net.factor = 7.0
    assert value(net(wide(1.0))) == 14.0
    net.factor = 1.0
    assert value(net(wide(1.0))) == 2.0
    assert misses(net) == 5
    net.layers[:] = [2.0, 3.0, 5.0]
    assert value(net(wide(1.0))) == 60.0


def test_attributes_of_cells_that_are_not_called(graph_mode):
    net = Net()
    f = Compiled(lambda x: x * net.factor)
    assert value(f(wide(1.0))) == 1.0
    net.factor = 2.0
    assert value(f(wide(1.0))) == 2.0


def test_cells_in_plain_lists(graph_mode):
    class Outer(nn.Cell):
        def __init__(self):
            super().__init__()
            self.nets = [Net(1.0), Net(2.0)]

        def construct(self, x):
            for net in self.nets:
                x = net(x)
            return x

    outer = Outer()
    assert value(outer(wide(1.0))) == 72.0
    outer.nets[0].factor = 10.0
    assert value(outer(wide(1.0))) == 720.0
    outer.nets.pop()
    assert value(outer(wide(1.0))) == 60.0
    outer.nets[0] = Net(3.0)
    assert value(outer(wide(1.0))) == 18.0


class Unread(nn.Cell):
    """Attributes that no program reads, as public programs keep them beside their Parameters."""

    def __init__(self):
        super().__init__()
        self.weight = Parameter(wide(3.0), name="weight")
        self.factor, self.steps, self.grads, self.last = 2.0, 0, [wide(1.0)], wide(1.0)

    def construct(self, x):
        return (x * self.weight * self.factor).sum()


@pytest.mark.parametrize("make", [lambda net: net, ms.grad, lambda net: ops.GradOperation(get_by_list=True)(net, [net.weight])], ids=["value", "grad", "weights"])  # fmt: skip
def test_attributes_that_are_not_read_select_nothing(graph_mode, make):
    net = Unread()
    f = make(net)
    for step in range(4):
        net.steps = step
        net.grads = [wide(float(step)), wide(1.0)]
        net.last = Tensor(np.ones(step))
        net.history = {"losses": [float(step)]}
        net.set_train(step % 2 == 0)
        f(wide([1.0, 2.0]))
    assert ms.cache_info().misses == 1, ms.cache_info()


WAYS_TO_READ = {
    "plain": lambda cell, x: x * cell.factor,
    "getattr": lambda cell, x: x * getattr(cell, "factor"),  # noqa: B009
    "default": lambda cell, x: x * getattr(cell, "factor", 1.0),
    "__getattribute__": lambda cell, x: x * cell.__getattribute__("factor"),
    "__dict__": lambda cell, x: x * cell.__dict__["factor"],
    "vars": lambda cell, x: x * vars(cell)["factor"],
    "library": lambda cell, x: x * operator.attrgetter("factor")(cell),
    "generator": lambda cell, x: x * next(factors(cell)),
    "comprehension": lambda cell, x: sum([x * cell.factor for _ in range(1)]),
    "branch": lambda cell, x: x * cell.factor if x.sum() > 0 else x,
    "copy": lambda cell, x: x * copy.copy(cell).factor,
    "derivative": lambda cell, x: ms.grad(lambda y: (y * y * cell.factor).sum())(x) / 2,
    "mapped": lambda cell, x: ms.vmap(lambda y: y * cell.factor)(x),
}


def factors(owner):
    yield owner.factor


def inline(x):
    """Reads names of its own by ``vars()``."""
    factor = 2.0
    return x * vars()["factor"] * factor


class Reads(nn.Cell):
    def __init__(self, read):
        super().__init__()
        self.read, self.factor, self.steps = read, 2.0, 0

    def construct(self, x):
        return self.read(self, x)


@pytest.mark.parametrize("way", WAYS_TO_READ)
def test_every_way_to_read_an_attribute_selects_the_program(graph_mode, way):
    net = Reads(WAYS_TO_READ[way])
    for factor in (2.0, 5.0, 7.0):
        net.factor = factor
        assert value(net(wide([1.0, 3.0]))) == [factor, 3.0 * factor]


@pytest.mark.parametrize("way", [way for way in WAYS_TO_READ if way != "__getattribute__"])
def test_every_way_to_read_an_attribute_of_an_object_selects_the_program(way):
    held = Plain(factor=2.0)
    f = Compiled(lambda x: WAYS_TO_READ[way](held, x))
    for factor in (2.0, 5.0, 7.0):
        held.factor = factor
        assert value(f(wide([1.0, 3.0]))) == [factor, 3.0 * factor]


@pytest.mark.parametrize("way", ["plain", "vars", "__dict__", "library", "generator"])
@pytest.mark.parametrize("make", [lambda: Reads(None), lambda: Plain(factor=2.0)], ids=["Cell", "object"])
def test_an_attribute_that_is_read_before_the_program_assigns_it(make, way):
    def run(held, x):
        y = WAYS_TO_READ[way](held, x)
        held.factor = 5.0
        return y

    held = make()
    f = Compiled(lambda x: run(held, x))
    assert [value(f(wide(1.0))) for _ in range(3)] == [2.0, 5.0, 5.0]


def test_names_of_the_function_itself():
    assert value(Compiled(inline)(wide(1.0))) == 4.0


def test_an_attribute_that_was_asked_for_and_comes_later(graph_mode):
    class Later(nn.Cell):
        gain = 2.0

        def construct(self, x):
            return x * self.gain if not hasattr(self, "offset") else x + self.offset

    net = Later()
    assert value(net(wide(1.0))) == 2.0
    net.gain = 3.0
    assert value(net(wide(1.0))) == 3.0
    net.offset = 10.0
    assert value(net(wide(1.0))) == 11.0
    del net.offset
    assert value(net(wide(1.0))) == 3.0


def test_parameters_that_are_listed_while_tracing_count_all(graph_mode):
    class Counts(nn.Cell):
        def __init__(self):
            super().__init__()
            self.first = Parameter(wide(1.0), name="first")

        def construct(self, x):
            return x * len(list(self.get_parameters()))

    net = Counts()
    assert value(net(wide(1.0))) == 1.0
    net.second = Parameter(wide(1.0), name="second")
    assert value(net(wide(1.0))) == 2.0
    net.more = ms.ParameterTuple([Parameter(wide(1.0), name=name) for name in "ab"])
    assert value(net(wide(1.0))) == 4.0


def test_a_construct_of_an_instance_selects_the_program(graph_mode):
    net = Net()
    net.construct = lambda x: x * 2.0
    assert value(net(wide(1.0))) == 2.0
    net.construct = lambda x: x * 3.0
    assert value(net(wide(1.0))) == 3.0
    del net.construct
    assert value(net(wide(1.0))) == 6.0


class Scaled(nn.Dense):
    """A layer of mindgrad whose method and class attribute unconverted code reads."""

    factor = 2.0

    def __init__(self):
        super().__init__(1, 1, weight_init="ones", has_bias=False)

    def __len__(self):
        return int(self.factor)


def test_attributes_that_unconverted_layers_read_select_the_program(graph_mode, monkeypatch):
    x = Tensor([[1.0]])
    outer = nn.SequentialCell(Scaled())
    assert outer(x).item() == 1.0
    monkeypatch.setattr(Scaled, "construct", lambda self, x: x * len(self))
    assert outer(x).item() == 2.0
    monkeypatch.setattr(Scaled, "factor", 5.0)
    assert outer(x).item() == 5.0
    outer[0].factor = 7.0
    assert outer(x).item() == 7.0


def test_a_cell_that_a_library_function_reads_selects_the_program(graph_mode):
    nets = [Net(3.0), Net(2.0)]

    @ms.jit
    def first(x):
        ordered = list(nets)
        ordered.sort(key=lambda net: net.factor)
        return x * len(str(ordered[0])) * 0.0 + x * ordered[0].factor

    assert value(first(wide(1.0))) == 2.0
    nets[0].factor = 1.0
    assert value(first(wide(1.0))) == 1.0


def test_a_missing_attribute_that_is_added_selects_the_program(graph_mode):
    class Optional(nn.Cell):
        def construct(self, x):
            try:
                factor = self.extra
            except AttributeError:
                factor = 1.0
            return x * factor

    net = Optional()
    assert value(net(wide(1.0))) == 1.0
    net.extra = 4.0
    assert value(net(wide(1.0))) == 4.0


def test_training_flags_keep_a_program_each(graph_mode):
    net = nn.SequentialCell(nn.Dropout(p=0.5), Net())
    for _ in range(3):
        for train in (True, False):
            net.set_train(train)
            net(wide(1.0))
    assert misses(net) == 2


def test_a_hook_that_is_added_and_removed(graph_mode):
    net = Net()
    assert value(net(wide(1.0))) == 6.0
    handle = net.register_forward_hook(lambda cell, given, out: out * 2)
    assert value(net(wide(1.0))) == 12.0
    handle.remove()
    assert value(net(wide(1.0))) == 6.0
    assert misses(net) == 2


# -- variables -----------------------------------------------------------------------------------------

scale = 2.0
table = wide(1.0)
sizes = [1.0, 2.0]
options = {"gain": 3.0}
net = None
slope = ms.grad(lambda x: x * x)


def helper(x):
    return x * scale


def deeper(x):
    return helper(x) + sizes[0]


@pytest.mark.parametrize(
    ("f", "changes", "before", "after"),
    [
        (lambda x: x * scale, {"scale": 3.0}, 2.0, 3.0),
        (lambda x: helper(x), {"scale": 3.0}, 2.0, 3.0),
        (lambda x: deeper(x), {"scale": 4.0}, 3.0, 5.0),
        (lambda x: sum([h(x) for h in (helper,)]), {"scale": 4.0}, 2.0, 4.0),
        (lambda x: x * table, {"table": wide(7.0)}, 1.0, 7.0),
        (lambda x: x * sum(sizes), {"sizes": [5.0]}, 3.0, 5.0),
        (lambda x: x * options["gain"], {"options": {"gain": 5.0}}, 3.0, 5.0),
        (lambda x: helper(x), {"helper": lambda x: x * 9}, 2.0, 9.0),
        (lambda x: slope(x), {"slope": ms.grad(lambda x: x * x * x)}, 2.0, 3.0),
        (lambda x: slope(x), {"slope": ms.grad(ops.relu)}, 2.0, 1.0),
        (lambda x: x * Plain.rate, {"Plain": type("Plain", (), {"rate": 8.0})}, 0.25, 8.0),
        (lambda x: (lambda y: y * scale)(x), {"scale": 5.0}, 2.0, 5.0),
    ],
)
def test_a_global_that_is_bound_anew_compiles_again(monkeypatch, f, changes, before, after):
    run = Compiled(f)
    for _ in range(2):
        assert value(run(wide(1.0))) == before
    for name, new in changes.items():
        monkeypatch.setitem(globals(), name, new)
    for _ in range(2):
        assert value(run(wide(1.0))) == after
    assert run.cache_info().misses == 2


def test_a_global_that_is_changed_in_place(monkeypatch):
    monkeypatch.setitem(globals(), "sizes", [1.0, 2.0])
    f = Compiled(lambda x: x * sum(sizes))
    assert value(f(wide(1.0))) == 3.0
    sizes.append(4.0)
    assert value(f(wide(1.0))) == 7.0


def test_a_net_that_is_made_anew(monkeypatch, graph_mode):
    monkeypatch.setitem(globals(), "net", Net(2.0))
    f = ms.grad(lambda x: net(x))
    assert value(f(wide(1.0))) == 12.0
    monkeypatch.setitem(globals(), "net", Net(3.0))
    assert value(f(wide(1.0))) == 18.0


def test_closure_variables():
    factor, held = 2.0, [1.0]

    def inner(x):
        return x * factor + held[0]

    f = Compiled(lambda x: inner(x))
    assert value(f(wide(1.0))) == 3.0
    factor = 3.0
    assert value(f(wide(1.0))) == 4.0
    held[0] = 5.0
    assert value(f(wide(1.0))) == 8.0
    held = [0.0]
    assert value(f(wide(1.0))) == 3.0
    assert f.cache_info().misses == 4


def test_a_helper_that_is_defined_again_as_it_was(monkeypatch):
    def define():
        def made(x):
            return x * 2

        return made

    monkeypatch.setitem(globals(), "helper", define())
    f = Compiled(lambda x: helper(x))
    for _ in range(3):
        f(wide(1.0))
        monkeypatch.setitem(globals(), "helper", define())
    assert f.cache_info().misses == 1


def test_what_a_trace_makes_itself_is_no_dependency():
    def f(x):
        held = Plain(factor=2.0)
        steps = []

        def add(y):
            steps.append(y)
            return y * held.factor

        for _ in range(3):
            x = add(x)
        return x * len(steps)

    run = Compiled(f)
    for _ in range(3):
        assert value(run(wide(1.0))) == 24.0
    assert run.cache_info()[:2] == (2, 1)


def test_parameters_that_change_type_are_named():
    p = Parameter(wide(1.0), name="p")
    f = Compiled(lambda x: x * p)
    f(wide(1.0))
    p.set_dtype(ms.float32)
    assert f(Tensor(1.0)).dtype == ms.float32
    p.set_dtype(ms.float64)
    f(wide(1.0))
    assert f.cache_info()[:2] == (1, 2)


# -- arguments ----------------------------------------------------------------------------------------


def test_mutable_numbers_are_data():
    f = Compiled(lambda x, n: x * n + n)
    for n in (2.0, 3.0, -0.5):
        assert value(f(wide(4.0), ms.mutable(n))) == 5 * n
    assert f(Tensor(np.float32(4.0)), ms.mutable(2.0)).dtype == ms.float32
    for n in (2, 3):
        assert value(f(wide(4.0), ms.mutable(n))) == 5 * n
    assert f.cache_info().misses == 3


def test_mutable_containers_are_data():
    f = Compiled(lambda x, pair: x * pair[0] + pair[1]["k"])
    for k in (1.0, 2.0):
        assert value(f(wide(4.0), ms.mutable((k, {"k": wide(k)})))) == 5 * k
    assert f.cache_info().misses == 1


@pytest.mark.parametrize("size", [10, 5000])
def test_constants_of_any_size(size):
    held = Tensor(np.arange(size, dtype=np.float64))
    f = Compiled(lambda x: (x * held).sum())
    total = size * (size - 1) / 2
    assert value(f(wide(2.0))) == 2 * total
    assert value(f(wide(3.0))) == 3 * total
    held[0] = 5.0
    assert value(f(wide(3.0))) == 3 * (total + 5)
    assert f.cache_info().misses == 2


@pytest.mark.xla
def test_large_constants_are_operands_of_the_program():
    f = Compiled(lambda x: x * Tensor(np.arange(5000.0)) + Tensor(np.arange(3.0)).sum())
    f(Tensor(np.zeros(5000)))
    program = next(iter(f._programs.values()))[0]
    assert [a.shape for a in program.executable.extra] == [(5000,)]


def test_functions_as_arguments():
    f = Compiled(lambda of, x: of(x))

    def times(k):
        return lambda x: x * k

    for k in (2.0, 3.0, 2.0, 3.0):
        assert value(f(times(k), wide(1.0))) == k
        assert value(f(functools.partial(lambda k, x: x + k, k), wide(1.0))) == 1 + k
    assert f.cache_info()[:2] == (4, 4)


def test_a_function_argument_whose_variable_changes():
    factor = 2.0

    def times(x):
        return x * factor

    f = Compiled(lambda of, x: of(x))
    assert value(f(times, wide(1.0))) == 2.0
    factor = 3.0
    assert value(f(times, wide(1.0))) == 3.0
    assert value(f(lambda x: times(x), wide(1.0))) == 3.0


def test_the_mode_selects_a_program():
    f = Compiled(lambda x: x * 2)
    f(wide(1.0))
    ms.set_context(mode=ms.GRAPH_MODE)
    try:
        f(wide(1.0))
        f(wide(1.0))
    finally:
        ms.set_context(mode=ms.PYNATIVE_MODE)
    f(wide(1.0))
    assert f.cache_info()[:2] == (2, 2)
    assert "the mode changed from PYNATIVE_MODE to GRAPH_MODE" in f.cache_info().reasons[1]


# -- functions made anew --------------------------------------------------------------------------------


def test_a_lambda_that_is_made_at_every_call(graph_mode):
    inner = Net()
    x = wide(3.0)
    for _ in range(4):
        assert value(ms.grad(lambda x: inner(x) * 2)(x)) == 12.0
        assert value(ms.grad(ms.grad(lambda x: inner(x) * x))(x)) == 12.0
        assert value(ms.jvp(lambda x: inner(x) ** 2, x, wide(1.0))[1]) == 216.0
        assert value(ms.jit(lambda x: inner(x) + 1)(x)) == 19.0
        assert value(ms.ops.GradOperation(get_all=True)(lambda x: inner(x))(x)[0]) == 6.0
    assert misses(None) == 5
    assert ms.cache_info().hits == 15


def test_a_lambda_that_is_made_at_every_call_sees_its_own_variables(graph_mode):
    def gradient(k):
        return ms.grad(lambda x: x * x * k)

    for k in (1, 2, 1, 2, 3):
        assert value(gradient(k)(wide(1.0))) == 2 * k
    assert misses(None) == 3
    for k in (1.0, 2.0, 1.0, 2.0, 3.0):  # the second makes it an input
        assert value(gradient(k)(wide(1.0))) == 2 * k
    assert misses(None) == 5

    made, k = [], 1.0
    for _ in range(2):
        made.append(ms.grad(lambda x: x * k))
    assert [value(f(wide(1.0))) for f in made] == [1.0, 1.0]
    k = 5.0
    assert [value(f(wide(1.0))) for f in made] == [5.0, 5.0]

    def pair(k):
        def set_to(new):
            nonlocal k
            k = new

        return ms.jit(lambda x: x * k), set_to

    (one, set_one), (two, set_two) = pair(1.0), pair(1.0)
    assert (value(one(wide(1.0))), value(two(wide(1.0)))) == (1.0, 1.0)
    set_two(7.0)
    assert (value(one(wide(1.0))), value(two(wide(1.0)))) == (1.0, 7.0)
    set_one(9.0)
    assert (value(one(wide(1.0))), value(two(wide(1.0)))) == (9.0, 7.0)
    set_one(7.0)
    assert (value(one(wide(1.0))), value(two(wide(1.0)))) == (7.0, 7.0)


def test_a_function_that_is_given_to_jit_at_every_call():
    net = Net()
    for number in range(1, 4):
        assert value(ms.jit(helper)(wide(number))) == 2.0 * number
        assert value(ms.jit(net)(wide(number))) == 6.0 * number
    assert ms.cache_info()[:2] == (4, 2)


def test_two_lambdas_of_one_line_are_two(graph_mode):
    found = [ms.grad(f)(wide(3.0)).item() for f in (lambda x: x * x, lambda x: x * x * x)]
    assert found == [6.0, 27.0]
    plus, minus = (lambda x, k=k: x * k for k in (1.0, -1.0))
    assert [ms.grad(f)(wide(3.0)).item() for f in (plus, minus)] == [1.0, -1.0]


def _differentiated():
    """A net whose gradient was compiled; a weak reference to it, which nothing else keeps alive."""
    inner = Net()
    ms.grad(lambda x: inner(x) * 2)(wide(1.0))
    held.append(inner)
    return weakref.ref(inner)


held: list = []


@pytest.mark.xla
def test_programs_of_lambdas_live_as_long_as_what_they_read(graph_mode):
    gc.collect()
    others = ms.cache_info().currsize  # what tests of other files keep alive
    alive = _differentiated()
    assert ms.cache_info().currsize == others + 1
    held.clear()
    gc.collect()
    assert alive() is None
    assert ms.cache_info().currsize == others


# -- what it tells ----------------------------------------------------------------------------------------


def test_the_names_of_lru_cache():
    @ms.jit
    def f(x):
        return x * 2

    assert f.cache_info()[:4] == (0, 0, f.cache_info().maxsize, 0)
    f(wide(1.0))
    f(wide(2.0))
    f(Tensor(1.0))
    info = f.cache_info()
    assert (info.hits, info.misses, info.currsize) == (1, 2, 2)
    assert info.maxsize > 1000
    assert ms.cache_info(f) == info
    f.cache_clear()
    assert f.cache_info().currsize == 0
    f(wide(1.0))
    assert f.cache_info().misses == 1


def twice(x):
    return 2 * x


def thrice(x):
    return 3 * x


FUNCTIONS = (twice,)


def test_cache_info_of_a_changed_tuple_of_functions_prints_names_and_lines(monkeypatch):
    first = ms.jit(lambda x: FUNCTIONS[0](x))
    first(wide(1.0))
    monkeypatch.setitem(globals(), "FUNCTIONS", (thrice, 1, "a"))
    first(wide(1.0))
    lines = [each.__code__.co_firstlineno for each in (twice, thrice)]
    assert (
        first.cache_info()
        .reasons[-1]
        .endswith(
            f"the global variable 'FUNCTIONS' changed from (the function twice (line {lines[0]}),) to "
            f"(the function thrice (line {lines[1]}), 1, 'a')"
        )
    )


@pytest.mark.parametrize(
    ("calls", "reason"),
    [
        ([(wide(1.0), 2.0), (wide(1.0, 2.0), 2.0)], "argument 'x' changed from Float64[] to Float64[2]"),
        ([(wide(1.0), 2.0), (Tensor(1.0), 2.0)], "argument 'x' changed from Float64[] to Float32[]"),
        ([(wide(1.0), 2.0), (wide(1.0), 0.1)], "argument 'c' changed from 2.0 to 0.1"),
        ([(wide(1.0), "a"), (wide(1.0), "b")], "argument 'c' changed from 'a' to 'b'"),
        ([(wide(1.0), 2.0), (wide(1.0), wide(2.0))], "argument 'c' changed from 2.0 to a Tensor Float64[]"),
        ([(wide(1.0), 2), (wide(1.0), 2.0)], "argument 'c' changed from 2 to 2.0"),
        ([(wide(1.0), [1, (2,)]), (wide(1.0), [1, (3,)])], "argument 'c', at [1][0] changed from 2 to 3"),
        ([(wide(1.0), {"a": 2}), (wide(1.0), {"a": 3})], "argument 'c', at ['a'] changed from 2 to 3"),
        ([(wide(1.0), [1]), (wide(1.0), [1, 2])], "argument 'c' changed from a list of 1 to a list of 2"),
        ([(wide(1.0), [1]), (wide(1.0), (1,))], "argument 'c' changed from a list of 1 to a tuple of 1"),
        ([(wide(1.0), {"a": 1}), (wide(1.0), {"b": 1})], "the keys of argument 'c' changed from ['a'] to ['b']"),
        ([(wide(1.0), 1), (wide(1.0),)], "the arguments changed from 2 positional to 1 positional"),
        ([(wide(1.0), ops.exp), (wide(1.0), ops.sin)], "argument 'c' changed from the function exp to the function sin"),
        ([(wide(1.0), twice), (wide(1.0), ops.sin)],
         f"argument 'c' changed from the function twice (line {twice.__code__.co_firstlineno}) to the function sin"),
    ],
)  # fmt: skip
def test_the_reason_of_a_compilation(calls, reason):
    f = Compiled(lambda x, c=None: x * 1)
    for call in calls:
        f(*call)
    first, second = f.cache_info().reasons
    assert first.endswith(": first call")
    assert second.endswith(f": {reason}")
    assert "test_cache.py:" in second


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (lambda held: setattr(held, "factor", 3.0), "the attribute 'factor' of Plain changed from 2.0 to 3.0"),
        (lambda held: held.layers.append(1.0), "the contents of the attribute 'layers' of Plain changed"),
        (lambda held: setattr(held.net, "factor", 3.0), "the attribute 'factor' of Net changed from 1.0 to 3.0"),
        (lambda held: held.net.weight.set_dtype(ms.float32), "Parameter 'weight' changed from Float64[] to Float32[]"),
        (lambda held: held.net.set_train(), "the attribute 'training' of Net changed from False to True"),
        (lambda held: setattr(held, "net", Net()), "the attribute 'net' of Plain changed to a different object (an object of type Net)"),
        (lambda held: delattr(held, "rate_"), "the attribute 'rate_' of Plain was deleted"),
    ],
)  # fmt: skip
def test_the_reason_of_a_changed_attribute(change, reason):
    held = Plain(factor=2.0, layers=[1.0], net=Net(), rate_=1.0)

    def f(x):
        rate = held.rate_ if hasattr(held, "rate_") else 1.0
        rate = rate * 2 if held.net.training else rate
        return held.net(x) * held.factor * len(held.layers) * rate

    run = Compiled(f)
    run(wide(1.0))
    change(held)
    run(wide(1.0))
    assert run.cache_info().reasons[1].endswith(f": {reason}")


def of_a_gradient(power):
    """A function that calls a gradient function, and has called it in eager mode."""
    first = ms.value_and_grad(lambda x: (x**power).sum())

    def f(x):
        return first(x)[0]

    f(wide([1.0, 2.0]))
    return f


def test_eager_calls_of_a_gradient_do_not_compile_its_callers_again():
    functions = [of_a_gradient(3) for _ in range(3)]
    compiled = [Compiled(f) for f in functions]
    for run in compiled:
        run(wide([1.0, 2.0]))
    info = compiled[-1].cache_info()
    assert (info.hits, info.misses) == (2, 1), info


def test_the_reason_of_another_function_names_its_variable():
    functions = [of_a_gradient(power) for power in (2, 3)]
    compiled = [Compiled(f) for f in functions]
    for run in compiled:
        run(wide([1.0, 2.0]))
    *_, reason = compiled[-1].cache_info().reasons
    assert reason.endswith(
        "the variable 'power' that of_a_gradient.<locals>.<lambda> uses changed from 2 to 3"
    )


def test_the_reason_of_a_changed_variable(monkeypatch):
    factor = 1.0
    f = Compiled(lambda x: x * factor * scale)
    f(wide(1.0))
    factor = 2.0
    f(wide(1.0))
    monkeypatch.setitem(globals(), "scale", 5.0)
    f(wide(1.0))
    _, second, third = f.cache_info().reasons
    assert "the variable 'factor' that" in second
    assert second.endswith("changed from 1.0 to 2.0")
    assert third.endswith("the global variable 'scale' changed from 2.0 to 5.0")


def test_gradient_functions_are_named_after_what_they_differentiate(graph_mode):
    inner = Net()
    ms.grad(inner)(wide(1.0))
    ms.grad(inner)(wide(1.0, 2.0))
    info = ms.cache_info(inner)
    assert (info.misses, info.currsize) == (2, 2)
    assert info.reasons[1].startswith("grad of Net (")
    assert info.reasons[1].endswith("argument 'x' changed from Float64[] to Float64[2]")
    assert ms.cache_info(ms.grad(inner)) == info
    assert str(info).splitlines()[0] == "0 hits, 2 misses, 2 programs"


def test_a_function_that_is_compiled_again_and_again_says_so_once():
    f = Compiled(lambda x, rate: x**rate)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for k in range(30):
            f(wide(1.0), np.float64(k))
    (warning,) = caught
    text = str(warning.message)
    assert "argument 'rate' changed from" in text
    assert "Pass a Tensor, or mutable(number)." in text
    assert "cache_info()" in text
    assert warning.filename == __file__


def test_lambdas_that_differ_at_every_call_say_so_once(graph_mode, capfd):
    for rate in range(40):
        ms.grad(lambda x: x * rate)(wide(1.0))  # noqa: B023 it is used at once
    (line,) = capfd.readouterr().err.splitlines()
    assert line.startswith("mindgrad: grad of test_lambdas_that_differ")
    assert "the variable 'rate' that " in line
    assert "Define the function once, outside the loop, and pass changing values as Tensors" in line


def test_several_functions_of_one_factory_that_are_used_again_are_quiet():
    made = [ms.jit(_times(float(k))) for k in range(12)]
    for _ in range(3):
        for k, f in enumerate(made[:8]):
            assert value(f(wide(1.0))) == k
    for k, f in enumerate(made):
        assert value(f(wide(1.0))) == k


def _times(k):
    return lambda x: x * k


@pytest.mark.xla
def test_clearing_forgets_programs_and_keeps_values():
    others = ms.cache_info().currsize  # what tests of other files keep alive
    p = Parameter(wide(1.0), name="p")

    def step(x):
        p.set_data(p + x)
        return p * 2

    f = ms.jit(step)
    f(wide(1.0))
    f(wide(1.0))
    assert ms.cache_info().currsize == others + 1
    ms.clear_cache()
    assert ms.cache_info()[:2] == (0, 0)
    assert ms.cache_info().currsize == others
    assert value(f(wide(1.0))) == 8.0
    assert ms.cache_info()[:2] == (0, 1)


# -- threads ----------------------------------------------------------------------------------------------


def test_threads_compile_different_functions_at_once_and_each_once():
    held = Plain(factor=2.0)
    functions = [Compiled(lambda x, k=k: ops.tanh(x * held.factor) * k) for k in (1.0, 2.0)]
    net = Net()
    barrier, failures = threading.Barrier(6), []

    def work(number):
        try:
            barrier.wait(30)
            for step in range(20):
                x = float(number + step)
                for k, f in enumerate(functions):
                    assert_close(f(wide(x)), np.tanh(2 * x) * (k + 1), kind="program")
                assert value(gradient(wide(x))) == 6.0
        except BaseException as error:
            failures.append(error)

    gradient = Compiled(ms.grad(net))
    threads = [threading.Thread(target=work, args=(number,)) for number in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(90)
    assert failures == []
    assert functions[0].cache_info()[:2] == (238, 2), "two functions of one lambda"
    assert gradient.cache_info()[:2] == (119, 1)


def test_notes_outside_of_a_program_cost_nothing_and_keep_nothing():
    held = Plain(factor=2.0)
    assert state.read_attribute(held, "factor") == 2.0
    with pytest.raises(AttributeError, match="missing"):
        state.read_attribute(held, "missing")
    alive = weakref.ref(held)
    state.read_function(held.method)
    del held
    gc.collect()
    assert alive() is None


@dataclass(frozen=True)
class Options:
    rate: float
    name: str = "a"


def test_equal_records_are_one_signature():
    f = Compiled(lambda x, options: x * options.rate if options.name == "a" else x)
    for rate in (2.0, 2.0, 3.0):
        assert value(f(wide(1.0), Options(rate))) == rate
    assert value(f(wide(1.0), Options(2.0, "b"))) == 1.0
    assert f.cache_info()[:2] == (1, 3)


# -- what Python calls itself -----------------------------------------------------------------------


class Bag:
    """Reads its attributes in methods that no rewritten code calls."""

    def __init__(self, *items):
        self.items = list(items)

    def __len__(self):
        return len(self.items)

    def __getitem__(self, index):
        return self.items[index]

    def __iter__(self):
        return iter(self.items)

    def __call__(self, x):
        return x * self.items[0]


@pytest.mark.parametrize(
    ("use", "after"),
    [
        (lambda bag, x: x * len(bag), 3.0),
        (lambda bag, x: x * bag[0], 7.0),
        (lambda bag, x: x * sum(each for each in bag), 14.0),
        (lambda bag, x: bag(x), 7.0),
        (lambda bag, x: x if 7.0 in bag else x * 0, 1.0),
    ],
)
def test_attributes_that_special_methods_read(use, after):
    bag = Bag(3.0, 2.0)
    f = Compiled(lambda x: use(bag, x))
    f(wide(1.0))
    f(wide(1.0))
    bag.items[:] = [7.0, 2.0, 5.0]
    assert value(f(wide(1.0))) == after
    assert f.cache_info()[:2] == (1, 2)


class Changing:
    factor = 2.0

    def scaled(self, x, by=1.0):
        return x * self.factor * by


def test_methods_and_functions_that_are_patched(monkeypatch):
    held = Changing()
    f = Compiled(lambda x: held.scaled(x))
    assert value(f(wide(1.0))) == 2.0
    monkeypatch.setattr(Changing, "factor", 3.0)
    assert value(f(wide(1.0))) == 3.0
    monkeypatch.setattr(Changing.scaled, "__defaults__", (10.0,))
    assert value(f(wide(1.0))) == 30.0
    monkeypatch.setattr(Changing, "scaled", lambda self, x: x * 100)
    assert value(f(wide(1.0))) == 100.0
    held.scaled = lambda x: x * 7
    assert value(f(wide(1.0))) == 7.0
    assert f.cache_info()[:2] == (0, 5)


def test_code_that_is_replaced_in_place(monkeypatch):
    def helper(x):
        return x * 2

    def another(x):
        return x * 5

    f = Compiled(lambda x: helper(x))
    assert value(f(wide(1.0))) == 2.0
    helper.__code__ = another.__code__
    assert value(f(wide(1.0))) == 5.0
    assert f.cache_info().reasons[1].endswith("helper was redefined")


def test_an_attribute_that_was_not_there():
    held = Plain()
    noted = queue.Queue()

    def f(x):
        is_there = state.has_attribute(held, "gain")
        noted.put(is_there)  # guards do not compare queues: once, while tracing
        return x * (2.0 if is_there else 1.0)

    run = Compiled(f)
    assert [value(run(wide(1.0))) for _ in range(2)] == [1.0, 1.0]
    held.gain = None
    assert [value(run(wide(1.0))) for _ in range(2)] == [2.0, 2.0]
    del held.gain
    assert value(run(wide(1.0))) == 1.0
    assert list(noted.queue) == [False, True]


@pytest.mark.parametrize("mode", [ms.PYNATIVE_MODE, ms.GRAPH_MODE])
def test_a_fresh_lambda_over_other_derivatives_and_a_changing_tensor(mode):
    """The tensor becomes an input, held in a variable of a function that is gone when the next one comes."""
    ms.set_context(mode=mode)
    try:

        def run(function, gain):
            derivative = ms.grad(function)
            return ms.jit(lambda x: derivative(x) * gain)(wide(1.0))

        slopes = {ops.sin: np.cos(1.0), ops.square: 2.0, ops.exp: np.exp(1.0), ops.log: 1.0, ops.neg: -1.0}
        for gain, (function, slope) in enumerate(slopes.items()):
            assert_close(value(run(function, wide(float(gain)))), slope * gain, kind="program")
        reasons = ms.cache_info().reasons
        assert not any("forgotten" in reason for reason in reasons), reasons
    finally:
        ms.set_context(mode=ms.PYNATIVE_MODE)
