"""Effects of compiled functions on objects from outside raise an error, whatever function makes them."""

import array
import bisect
import collections
import contextvars
import copy
import heapq
import itertools
import operator
import os
import random
import weakref

import numpy as np
import pytest

import mindgrad as ms
from mindgrad import CompileError, Tensor, nn

X = Tensor([1.0, 2.0])
SEEN: list = []


class _Held:
    def __init__(self, held):
        self.held = held


def _make_list():
    return [3.0, 1.0, 2.0]


def _make_dict():
    return {"a": 1.0}


#: the object from outside, and the function that changes it
EFFECTS = {
    "heapq.heappush": (_make_list, lambda h: heapq.heappush(h, 0.0)),
    "heapq.heapify": (_make_list, lambda h: heapq.heapify(h)),
    "heapq.heappop": (_make_list, lambda h: heapq.heappop(h)),
    "bisect.insort": (_make_list, lambda h: bisect.insort(h, 1.5)),
    "random.shuffle": (_make_list, lambda h: random.Random(1).shuffle(h)),
    "operator.setitem": (_make_list, lambda h: operator.setitem(h, 0, 9.0)),
    "operator.delitem": (_make_list, lambda h: operator.delitem(h, 0)),
    "operator.iadd": (_make_list, lambda h: operator.iadd(h, [1.0])),
    "operator.methodcaller": (_make_list, lambda h: operator.methodcaller("append", 1.0)(h)),
    "list.append": (_make_list, lambda h: list.append(h, 1.0)),
    "list.sort": (_make_list, lambda h: list.sort(h)),
    "list.__setitem__": (_make_list, lambda h: h.__setitem__(0, 1.0)),
    "list.__iadd__": (_make_list, lambda h: h.__iadd__([1.0])),
    "sort": (_make_list, lambda h: h.sort()),
    "deque(map(append))": (_make_list, lambda h: collections.deque(map(h.append, [1.0]), maxlen=0)),
    "getattr": (_make_list, lambda h: getattr(h, "append")(1.0)),  # noqa: B009
    "dict.update": (_make_dict, lambda h: dict.update(h, b=1.0)),
    "dict.setdefault": (_make_dict, lambda h: dict.setdefault(h, "b", 1.0)),
    "dict.__setitem__": (_make_dict, lambda h: h.__setitem__("a", 2.0)),
    "operator.ior": (_make_dict, lambda h: operator.ior(h, {"b": 1.0})),
    "OrderedDict.move_to_end": (
        lambda: collections.OrderedDict(a=1, b=2),
        lambda h: h.move_to_end("a"),
    ),
    "Counter.update": (lambda: collections.Counter(a=1), lambda h: h.update("a")),
    "defaultdict": (lambda: collections.defaultdict(float), lambda h: operator.getitem(h, "a")),
    "UserDict": (lambda: collections.UserDict(a=1), lambda h: h.update(a=2)),
    "UserList": (lambda: collections.UserList([1]), lambda h: h.append(2)),
    "ChainMap": (lambda: collections.ChainMap({}, {"a": 1}), lambda h: h.update(a=2)),
    "WeakSet": (weakref.WeakSet, lambda h: h.add(_Held)),
    "memoryview": (lambda: memoryview(bytearray(b"ab")), lambda h: operator.setitem(h, 0, 1)),
    "ndarray.resize": (lambda: np.ones(4), lambda h: h.resize((2, 2), refcheck=False)),
    "array of objects": (lambda: np.array([1, None], object), lambda h: operator.setitem(h, 1, 2)),
    "set.add": (lambda: {1}, lambda h: set.add(h, 2)),
    "set.discard": (lambda: {1}, lambda h: set.discard(h, 1)),
    "deque.append": (lambda: collections.deque([1]), lambda h: h.append(2)),
    "deque.rotate": (lambda: collections.deque([1, 2]), lambda h: h.rotate()),
    "bytearray": (lambda: bytearray(b"a"), lambda h: h.extend(b"b")),
    "bytearray item": (lambda: bytearray(b"a"), lambda h: operator.setitem(h, 0, 1)),
    "array.append": (lambda: array.array("d", [1.0]), lambda h: h.append(2.0)),
    "out=": (lambda: np.ones(3), lambda h: np.add(h, 1.0, out=h)),
    "np.copyto": (lambda: np.ones(3), lambda h: np.copyto(h, 2.0)),
    "ndarray.fill": (lambda: np.ones(3), lambda h: h.fill(2.0)),
    "ndarray.sort": (lambda: np.array([2.0, 1.0]), lambda h: h.sort()),
    "ufunc.at": (lambda: np.ones(3), lambda h: np.add.at(h, [0], 1.0)),
    "large array": (lambda: np.ones(1 << 18), lambda h: h.__iadd__(1.0)),
    "large transposed array": (lambda: np.ones((1 << 9, 1 << 9)).T, lambda h: np.add(h, 1.0, out=h)),
    "ContextVar": (lambda: contextvars.ContextVar("v", default=1.0), lambda h: h.set(2.0) and None),
}


def _contents(held):
    if isinstance(held, contextvars.ContextVar):
        return held.get()
    return list(held.items()) if hasattr(held, "items") else np.array(list(held)).tolist()


def _as_variable(held, change):
    def f(x):
        change(held)
        return x * 2.0

    return f


def _as_attribute(held, change):
    owner = _Held(held)

    def f(x):
        change(owner.held)
        return x * 2.0

    return f


def _of_cell(held, change):
    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.held = held

        def construct(self, x):
            change(self.held)
            return x * 2.0

    return Net()


def _in_containers(held, change):
    outer = {"a": (held,)}

    def f(x):
        change(outer["a"][0])
        return x * 2.0

    return f


@pytest.mark.parametrize("way", [_as_variable, _as_attribute, _of_cell, _in_containers])
@pytest.mark.parametrize("name", EFFECTS)
def test_effect_on_an_object_from_outside_raises(name, way):
    make, change = EFFECTS[name]
    held = make()
    before = _contents(held)
    f = ms.jit(way(held, change))
    for _ in range(2):
        with pytest.raises(CompileError, match=r"changed.* in a compiled function"):
            f(X)
        if not name.startswith("large"):
            assert _contents(held) == before


@pytest.mark.parametrize("method", ["append", "sort", "extend"])
def test_method_saved_outside_raises(method):
    held = [2.0, 1.0]
    call = getattr(held, method)
    arguments = {"append": (1.0,), "sort": (), "extend": ([1.0],)}[method]

    def f(x):
        call(*arguments)
        return x

    with pytest.raises(CompileError):
        ms.jit(f)(X)
    assert held == [2.0, 1.0]


def test_attribute_set_by_object_setattr_raises():
    owner = _Held(1.0)

    def f(x):
        y = x * owner.held
        object.__setattr__(owner, "held", 2.0)
        return y

    with pytest.raises(CompileError):
        ms.jit(f)(X)
    assert owner.held == 1.0


def test_attribute_set_by_object_setattr_that_is_not_read_raises():
    owner = _Held(1.0)

    def f(x):
        object.__setattr__(owner, "held", 2.0)
        return x

    with pytest.raises(CompileError, match=r"The attribute 'held' of _Held is changed by object.__setattr__"):
        ms.jit(f)(X)
    assert owner.held == 1.0


def test_attribute_set_by_object_setattr_of_an_object_made_inside_is_compiled():
    def f(x):
        owner = _Held(1.0)
        object.__setattr__(owner, "held", 2.0)
        return x * owner.held

    np.testing.assert_allclose(ms.jit(f)(X).asnumpy(), [2.0, 4.0])


@pytest.mark.parametrize("run", [eval, exec])
def test_effect_of_evaluated_source_raises(run):
    f = ms.jit(lambda x: run("SEEN.append(1)") or x)
    with pytest.raises(CompileError, match="SEEN"):
        f(X)
    assert SEEN == []


def test_environment_variable_that_is_set_raises():
    def f(x):
        os.environ["MG_EFFECT"] = "1"
        return x

    with pytest.raises(CompileError, match="environ"):
        ms.jit(f)(X)
    assert "MG_EFFECT" not in os.environ


def test_attribute_set_in_vars_raises():
    owner = _Held(1.0)

    def f(x):
        vars(owner).update(held=2.0)
        return x

    with pytest.raises(CompileError):
        ms.jit(f)(X)
    assert owner.held == 1.0


def test_effect_on_an_object_made_inside_is_compiled():
    def f(x):
        heap = sorted([3.0, 1.0])

        def push(value):
            heapq.heappush(heap, value)

        push(0.5)
        counts = collections.Counter()
        counts.update("aa")
        rows = np.zeros(2)
        np.add(rows, 1.0, out=rows)
        return x * heap[0] * counts["a"] * rows[0]

    np.testing.assert_allclose(ms.jit(f)(X).asnumpy(), [1.0, 2.0])


def test_effect_in_a_gradient_in_graph_mode_raises():
    held = [1.0]

    def f(x):
        heapq.heappush(held, 0.0)
        return (x * x).sum()

    ms.set_context(mode=ms.GRAPH_MODE)
    try:
        with pytest.raises(CompileError):
            ms.grad(f)(X)
    finally:
        ms.set_context(mode=ms.PYNATIVE_MODE)
    assert held == [1.0]


def test_message_of_an_effect_names_object_and_line():
    held = [1.0]

    def f(x):
        y = x * 2.0
        heapq.heappush(held, 0.0)
        return y

    with pytest.raises(CompileError) as error:
        ms.jit(f)(X)
    assert "the variable 'held'" in str(error.value)
    assert "heapq.heappush(held, 0.0)" in str(error.value)
    assert "it has been restored" in str(error.value)


class _Single:
    only = None

    def __new__(cls):
        if cls.only is None:
            cls.only = object.__new__(cls)
            cls.only.count, cls.only.seen = 0.0, []
        return cls.only


def test_attribute_of_the_only_instance_is_assigned_in_each_call():
    @ms.jit
    def f(x):
        single = _Single()
        single.count = 5.0
        return x * single.count

    for _ in range(3):
        _Single().count = 1.0
        assert f(Tensor(2.0)).item() == 10.0
        assert _Single().count == 5.0


def test_effect_on_a_list_of_the_only_instance_raises():
    _Single()
    with pytest.raises(CompileError, match="changed"):
        ms.jit(lambda x: _Single().seen.append(1) or x)(X)
    assert _Single().seen == []


def test_attributes_of_a_copy_made_inside_are_assigned():
    """The trace ends, though each trace makes a copy whose tensor it reads and assigns."""
    held = _Held(Tensor([2.0, 3.0]))

    @ms.jit
    def f(x):
        inside = copy.copy(held)
        inside.held = inside.held + 1
        return x * inside.held

    for _ in range(3):
        np.testing.assert_allclose(f(X).asnumpy(), [3.0, 8.0])
    np.testing.assert_allclose(held.held.asnumpy(), [2.0, 3.0])


def test_attribute_that_python_computes_is_no_effect():
    class Proxy:
        def __getattr__(self, name):
            return [name]

        @property
        def fresh(self):
            return object()

    proxy = Proxy()

    @ms.jit
    def f(x):
        return x * len(proxy.anything) if proxy.fresh is not None else x

    assert f(Tensor(2.0)).item() == 2.0


BUFFER = Tensor([0.0, 0.0])


class _Ring(nn.Cell):
    def __init__(self, kind):
        super().__init__()
        self.held = kind(Tensor(np.zeros(2, np.float32)))
        self.place = 0

    def construct(self, x):
        self.held[self.place] = x
        self.place = (self.place + 1) % 2
        return self.held.mean()


def _branch(x):
    if x > 0:
        BUFFER[0] = x
    return BUFFER.sum()


IN_PLACE = {
    "item": lambda x: operator.setitem(BUFFER, 0, x),
    "iadd": lambda x: BUFFER.add_(x),
    "assign": lambda x: ms.ops.assign(BUFFER, BUFFER + x),
    "constant": lambda x: BUFFER.zero_(),
    "list item": lambda x, held=[BUFFER]: operator.setitem(held[0], 0, x),
    "branch": _branch,
}


@pytest.mark.parametrize("name", IN_PLACE)
def test_compiled_change_in_place_of_an_outside_tensor_is_refused(name):
    with pytest.raises(CompileError, match="is changed in place in a compiled function"):
        ms.jit(IN_PLACE[name])(Tensor(1.0))
    assert BUFFER.asnumpy().tolist() == [0, 0]


def test_compiled_change_in_place_of_an_attribute_names_it_and_its_line():
    cell = _Ring(lambda tensor: tensor)
    with pytest.raises(CompileError) as caught:
        ms.jit(cell)(Tensor(1.0))
    assert "the attribute 'held' of _Ring" in str(caught.value)
    assert "self.held[self.place] = x" in str(caught.value)
    assert cell.place == 0


def test_compiled_change_in_place_of_a_parameter_is_kept():
    cell = _Ring(lambda tensor: ms.Parameter(tensor, requires_grad=False))
    step = ms.jit(cell)
    assert [float(step(Tensor(x))) for x in (1.0, 2.0, 3.0)] == [0.5, 1.5, 2.5]


def test_compiled_change_in_place_of_own_tensors_and_arguments_is_allowed():
    def own(x):
        made = Tensor([0.0, 0.0])
        made[0] = x
        rows = [ms.ops.zeros(2) for _ in range(2)]
        rows[1][0] = made[0]
        return rows[1] + made

    assert ms.jit(own)(Tensor(3.0)).asnumpy().tolist() == [6, 0]

    def change(x):
        x[0] = 5.0
        return x.sum()

    x = Tensor([1.0, 2.0])
    assert float(ms.jit(change)(x)) == 7
    assert x.asnumpy().tolist() == [1, 2]


class _WithIterator:
    def __init__(self):
        self.rows = iter(ROWS)


ROWS = [1.0, 2.0, 3.0]
ITERATOR, COUNT, HELD = iter(ROWS), itertools.count(), _WithIterator()

ADVANCES = {
    "next": lambda x: x * next(ITERATOR),
    "method": lambda x: x * HELD.rows.__next__(),
    "attribute": lambda x: x * next(HELD.rows),
    "count": lambda x: x + next(COUNT),
    "islice": lambda x: x * sum(itertools.islice(ITERATOR, 2)),
    "zip": lambda x: x * next(row for row, _ in zip(ITERATOR, "a", strict=False)),
}


@pytest.mark.parametrize("name", ADVANCES)
def test_jit_that_advances_an_outside_iterator_raises(name):
    with pytest.raises(CompileError, match=r"created outside, is advanced in a compiled function"):
        ms.jit(ADVANCES[name])(X)
    assert (next(copy.copy(ITERATOR)), next(copy.copy(HELD.rows)), repr(COUNT)) == (1.0, 1.0, "count(0)")


def test_jit_that_advances_its_own_iterators_computes_as_eager():
    def f(x):
        rows = iter(ROWS)
        for row, factor in zip(rows, itertools.count(2)):
            x = x * row * factor
        return x + next(iter(ROWS)) + sum(row for row in ROWS)

    assert (ms.jit(f)(X) == f(X)).all()
