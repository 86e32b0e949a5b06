"""Structures as arguments and results of compiled functions, and of gradients: types and values are kept."""

import dataclasses
import queue
import time
from collections import Counter, OrderedDict, defaultdict, namedtuple
from dataclasses import dataclass, field
from typing import Any, ClassVar, NamedTuple

import numpy as np
import pytest

import mindgrad as ms
from mindgrad import Parameter, ParameterTuple, Tensor, nn, ops
from mindgrad.core.base.tree import differences, flatten, map_leaves, paths, unflatten
from mindgrad.frontend.programs.compiled import Compiled
from tests.tolerances import assert_close

Pair = namedtuple("Pair", "x y", defaults=[None])


class Typed(NamedTuple):
    x: Any
    n: int = 3

    def total(self):
        return self.x * self.n


@dataclass
class Point:
    x: Any
    y: Any = None
    unit: ClassVar[float] = 2.0

    def norm(self):
        return (self.x * self.x + self.y * self.y) * self.unit


@dataclass(frozen=True)
class Frozen:
    inner: Any
    name: str = "f"
    size: int = field(default=2, compare=False)


@dataclass
class Derived(Point):
    z: Any = field(default_factory=list)
    made: Any = field(init=False)
    unset: Any = field(init=False, repr=False)

    def __post_init__(self):
        self.made = (self.x, "made")


@dataclass(slots=True)
class Slotted:
    x: Any
    y: Any = 1.0


@dataclass(kw_only=True)
class Keywords:
    x: Any
    held: dict = field(default_factory=dict)


class Numbers(list):
    """A list that takes numbers only."""

    def __init__(self, items=()):
        for each in items:
            assert isinstance(each, (int, float))
        super().__init__(items)


class Plus(tuple):
    __slots__ = ()

    def __new__(cls, *items):
        return super().__new__(cls, items)


def wide(*numbers):
    return Tensor(np.array(numbers if len(numbers) > 1 else numbers[0], np.float64))


def alike(a, b):
    """Check that two structures have one form and equal tensors."""
    assert type(a) is type(b)
    if isinstance(a, Tensor):
        assert a.dtype == b.dtype
        assert_close(a, b, kind="program")
    elif dataclasses.is_dataclass(a):
        names = [f.name for f in dataclasses.fields(a)]
        assert [hasattr(a, n) for n in names] == [hasattr(b, n) for n in names]
        for name in [n for n in names if hasattr(a, n)]:
            alike(getattr(a, name), getattr(b, name))
        assert getattr(a, "__dict__", {}).keys() == getattr(b, "__dict__", {}).keys()
    elif isinstance(a, dict):
        assert list(a) == list(b)
        for key in a:
            alike(a[key], b[key])
        if isinstance(a, defaultdict):
            assert a.default_factory is b.default_factory
    elif isinstance(a, (tuple, list)):
        assert len(a) == len(b)
        for x, y in zip(a, b, strict=True):
            alike(x, y)
    else:
        assert a == b


def a_defaultdict(factory, **items):
    return defaultdict(factory, items)


STRUCTURES = {
    "tuple": lambda x: (x, x * 2),
    "empty": lambda x: (x, (), [], {}, None),
    "list": lambda x: [x, [x * 2, [None]]],
    "dict": lambda x: {"b": x, "a": {"z": x * 2}, 3: 1.5},
    "order of keys": lambda x: {"a": x, "b": {"y": 1, "x": x}},
    "ordered dict": lambda x: OrderedDict(b=x, a=OrderedDict()),
    "defaultdict": lambda x: a_defaultdict(list, b=x, a=[x]),
    "counter": lambda x: (x, Counter("aab")),
    "named tuple": lambda x: Pair(x, Pair(x * 3)),
    "typed named tuple": lambda x: Typed(x),
    "dataclass": lambda x: Point(x, x * 2),
    "frozen": lambda x: Frozen(Frozen((x, [x * 2]), "inner"), size=7),
    "derived": lambda x: Derived(x, x * 2, [x]),
    "slots": lambda x: Slotted(x),
    "keywords": lambda x: Keywords(x=x, held={"y": x * 4}),
    "list subclass": lambda x: (x, Numbers([1, 2.5])),
    "tuple subclass": lambda x: Plus(x, 1),
    "constants": lambda x: (x, True, 2, 3.5, 1j, "text", b"b", ms.float32, np.float32(1.5), slice(None), ...),
    "a tuple made in C": lambda x: (x, time.gmtime(0)),
    "deep": lambda x: {"a": [(Point({"k": [x]}, (x * 2,)), None)], "b": Pair([x * 3], Frozen(x))},
}


@pytest.mark.parametrize("name", STRUCTURES)
def test_a_tree_is_rebuilt_as_it_was(name):
    made = STRUCTURES[name](wide(1.0, 2.0))
    leaves, structure = flatten(made)
    alike(unflatten(structure, leaves), made)
    assert flatten(STRUCTURES[name](wide(1.0, 2.0)))[1] == structure
    assert hash(structure) == hash(flatten(made)[1])
    assert len(paths(structure)) == len(leaves)
    assert differences(structure, structure) == ""
    alike(map_leaves(lambda x: x, made), made)


@pytest.mark.parametrize("name", STRUCTURES)
def test_what_goes_through_a_compiled_function_keeps_its_type(name):
    traced = queue.Queue()

    def same(given):
        traced.put(None)  # guards do not compare queues: once, while tracing
        return given

    run = Compiled(same)
    for x in (wide(1.0, 2.0), wide(5.0, 6.0)):
        given = STRUCTURES[name](x)
        alike(run(given), given)
        alike(run(given=given), given)
    assert traced.qsize() == 2, "the positional and the keyword call, each once"


@pytest.mark.parametrize("name", STRUCTURES)
def test_what_a_compiled_function_makes_keeps_its_type(name):
    run = Compiled(STRUCTURES[name])
    for x in (wide(1.0, 2.0), wide(5.0, 6.0)):
        alike(run(x), STRUCTURES[name](x))


@pytest.mark.parametrize("way", [lambda f: f, ms.jit, Compiled], ids=["eager", "jit", "compiled"])
@pytest.mark.parametrize("name", STRUCTURES)
def test_auxiliary_results_of_gradients_keep_their_types(name, way):
    def f(x):
        return (x * x).sum(), STRUCTURES[name](x * 3)

    x = wide(1.0, 2.0)
    slope, (aux,) = way(ms.grad(f, has_aux=True))(x)
    alike(slope, x * 2)
    alike(aux, STRUCTURES[name](x * 3))


def tensors(tree):
    return [leaf for leaf in flatten(tree)[0] if isinstance(leaf, Tensor)]


DATA = {
    "tuple": lambda x: (x, (x * 2, None)),
    "list": lambda x: [x, [x * 2]],
    "dict": lambda x: {"b": x, "a": {"z": x * 2}},
    "ordered dict": lambda x: OrderedDict(b=x, a=[x]),
    "defaultdict": lambda x: a_defaultdict(list, b=x, a=[x]),
    "named tuple": lambda x: Pair(x, Pair(x * 3)),
    "dataclass": lambda x: Point(x, x * 2),
    "frozen": lambda x: Frozen((x, [x * 2])),
    "derived": lambda x: Derived(x, x * 2, [x]),
    "slots": lambda x: Slotted(x, x * 2),
    "deep": lambda x: {"a": [(Point({"k": [x]}, (x * 2,)), None)], "b": Pair([x * 3], Frozen(x))},
}


@pytest.mark.parametrize("way", [lambda f: f, ms.jit, Compiled], ids=["eager", "jit", "compiled"])
@pytest.mark.parametrize("name", DATA)
def test_gradients_have_the_structure_of_what_is_mutable(name, way):
    x = wide(1.0, 2.0)

    def loss(held, factor):
        return sum((t * t * factor).sum() for t in tensors(held))

    given = DATA[name](x)
    for gradient in (ms.grad(loss), ops.GradOperation()(loss)):
        found = way(gradient)(ms.mutable(given), wide(1.0))
        # where a constant stands there is one, where a tensor stands its gradient
        alike(found, map_leaves(lambda leaf: leaf * 2 if isinstance(leaf, Tensor) else leaf, given))


@pytest.mark.parametrize("way", [lambda f: f, Compiled], ids=["eager", "compiled"])
def test_methods_of_structures_are_differentiated(way):
    x = wide(3.0)
    point = ms.mutable(Point(x, wide(4.0)))
    assert isinstance(point, Point)
    slope = way(ms.grad(lambda p: p.norm()))(point)
    alike(slope, Point(wide(12.0), wide(16.0)))
    alike(way(ms.grad(lambda t: t.total()))(ms.mutable(Typed(x, 5.0)))[0], wide(5.0))
    second = way(ms.grad(lambda p: ms.grad(lambda q: q.norm())(p).x))
    alike(second(point), Point(wide(4.0), wide(0.0)))


@pytest.mark.parametrize("way", [lambda f: f, Compiled], ids=["eager", "compiled"])
def test_structures_that_are_not_mutable_are_constants_of_a_gradient(way):
    f = lambda x, p: (x * p.x).sum()
    alike(way(ops.GradOperation(get_all=True)(f))(wide(2.0), Point(wide(5.0))), (wide(5.0),))
    run = way(lambda x, p: ms.grad(f)(x, p))
    for k in (1.0, 2.0):
        alike(run(wide(2.0), Point(wide(k))), wide(k))


def test_dataclasses_are_data_of_a_compiled_function():
    traced = queue.Queue()

    def f(p, options):
        traced.put(None)  # guards do not compare queues: once, while tracing
        return p.norm() * options.size

    run = Compiled(f)
    for k in (1.0, 2.0):
        alike(run(Point(wide(k), wide(0.0)), Frozen(None)), wide(4 * k * k))
    assert traced.qsize() == 1
    alike(run(Point(wide(1.0), wide(0.0)), Frozen(None, size=5)), wide(10.0))
    assert traced.qsize() == 2


def test_what_a_function_does_to_a_structure_stays_inside():
    point = Point(wide(1.0), [wide(2.0)])
    held = point.x

    def f(p):
        q = dataclasses.replace(p, x=p.x * 2)
        return q

    found = Compiled(f)(point)
    alike(found.x, wide(2.0))
    assert point.x is held


def test_a_dataclass_that_is_changed_in_a_loop_and_a_branch():
    def f(p, n):
        k = Tensor(0)
        while k < n:
            if p.x > 10.0:
                p = Point(p.x - 10.0, p.y + 1)
            else:
                p = Point(p.x * 2, p.y)
            k = k + 1
        return p

    x, y, n = wide(3.0), wide(0.0), Tensor(6)
    eager = f(Point(x, y), n)
    alike(Compiled(f)(Point(x, y), n), eager)
    slope = lambda x: f(Point(x, y), n).x
    alike(Compiled(ms.grad(slope))(x), ms.grad(slope)(x))


def test_a_parameter_tuple_as_an_argument():
    weights = ParameterTuple([Parameter(wide(2.0), name="a"), Parameter(wide(3.0), name="b")])
    run = Compiled(lambda w, x: w[0] * w[1] * x)
    alike(run(weights, wide(2.0)), wide(12.0))
    alike(run(weights, wide(1.0)), wide(6.0))


def test_cells_in_structures():
    net = nn.SequentialCell(_Times(2.0))
    run = Compiled(lambda nets, x: nets["net"](x) + nets["more"][0](x))
    alike(run({"net": net, "more": [_Times(3.0)]}, wide(1.0)), wide(5.0))


class _Times(nn.Cell):
    def __init__(self, factor):
        super().__init__()
        self.factor = factor

    def construct(self, x):
        return x * self.factor


def test_the_number_type_of_counters():
    def count(x):
        n = 0
        while x > 1.0:
            x = x / 2
            n += 1
        return n, x

    eager = count(wide(10.0))
    compiled = Compiled(count)(wide(10.0))
    alike(compiled, eager)
    assert compiled[0] == 4


@pytest.mark.parametrize(
    ("given", "kind"),
    [({1, 2}, "set"), (bytearray(b"x"), "bytearray"), (Point(wide(1.0), {1}), "set")],
)  # fmt: skip
def test_what_no_program_takes_is_refused(given, kind):
    with pytest.raises(TypeError, match=kind):
        Compiled(lambda x, g: x)(wide(1.0), given)


def test_mutable_refuses_what_is_no_data():
    for given in ("text", None, {1}, ["text"]):
        with pytest.raises(TypeError, match="mutable"):
            ms.mutable(given)
