"""Python state that a body changes where a tensor decides: right, or refused."""

import array
import collections
import contextlib
import dataclasses
import functools
import heapq
import io
import itertools
import operator
import random
import types

import numpy as np
import pytest

import mindgrad as ms
from mindgrad import Tensor, nn, ops
from tests.tolerances import assert_close

X = (1.0, 2.0)
REFUSED, EXACT = [], []


def refused(function):
    REFUSED.append(function)
    return function


def exact(function):
    EXACT.append(function)
    return function


# -- iterators -----------------------------------------------------------------------------------


def _generator():
    yield from [1, 2, 3, 4]


def _equal_yields():
    for _ in [1, 2, 3]:
        yield 1


ITERATORS = {
    "list": lambda: iter([1, 2, 3, 4]),
    "tuple": lambda: iter((1, 2, 3, 4)),
    "range": lambda: iter(range(1, 5)),
    "dict": lambda: iter({1: 2, 3: 4, 5: 6}),
    "reversed": lambda: reversed([1, 2, 3]),
    "generator": _generator,
    "generator of equal items": _equal_yields,
    "map": lambda: map(abs, [1, 2, 3]),
    "filter": lambda: filter(None, [1, 2, 3]),
    "zip": lambda: (a + b for a, b in zip([1, 2], [3, 4], strict=True)),
    "enumerate": lambda: map(sum, enumerate([1, 2, 3])),
    "count": lambda: itertools.count(3),
    "cycle": lambda: itertools.cycle([1, 2, 3]),
    "chain": lambda: itertools.chain([1, 2], [3]),
    "islice": lambda: itertools.islice([1, 2, 3, 4], 3),
    "accumulate": lambda: itertools.accumulate([1, 2, 3]),
    "product": lambda: map(sum, itertools.product([1, 2], [3, 4])),
    "pairwise": lambda: map(sum, itertools.pairwise([1, 2, 3, 4])),
    "tee": lambda: itertools.tee([1, 2, 3])[0],
}


@pytest.mark.parametrize("kind", ITERATORS)
@pytest.mark.parametrize("how", ["next", "native"])
def test_an_iterator_from_outside_is_not_advanced(kind, how):
    def advanced(x):
        it, k = ITERATORS[kind](), 0
        if x.sum() > 0:
            k = next(it) if how == "next" else operator.call(it.__next__)
        return x * next(it) + k

    with pytest.raises(ms.CompileError, match=r"which was created outside, is advanced"):
        ms.jit(advanced)(Tensor(X))


@refused
def shared_by_two_loops(x):
    it, s = iter([1, 2, 3, 4]), x * 0
    if x.sum() > 0:
        for v in it:
            s = s + v
            if v == 2:
                break
    for v in it:
        s = s + 10 * v
    return s


@refused
def unpacked(x):
    it = iter([1, 2])
    a = [*it] if x.sum() > 0 else [1, 2]
    return x * (sum(a) + len(list(it)))


@refused
def member_of_an_iterator(x):
    it = iter([1, 2, 3])
    k = 0
    if x.sum() > 0:
        k = 1 if 2 in it else 0
    return x * len(list(it)) + k


@refused
def with_a_default(x):
    it, k = iter([1]), 0
    if x.sum() > 0:
        k = next(it, 0)
    return x * next(it, 9) + k


@refused
def in_a_while(x):
    it, i = iter([1, 2, 3, 4]), x.sum() * 0
    while i < 2:
        x, i = x * next(it), i + 1
    return x * next(it)


@refused
def drained_behind_a_break(x):
    it, s = iter([1, 2, 3, 4, 5]), x * 0
    for v in it:
        s = s + v
        if s.sum() > 3:
            break
    return s * (1 + len(list(it)))


@refused
def drained_within_another(x):
    it, s = iter([1, 2, 3, 4, 5]), x * 0
    for k, v in enumerate(it):
        s = s + v + k
        if s.sum() > 3:
            break
    return s * (1 + len(list(it)))


@refused
def a_generator_that_counts(x):
    log, s = [], x * 0

    def numbers():
        for i in range(5):
            log.append(i)
            yield i

    for v in numbers():
        s = s + v
        if s.sum() > 3:
            break
    return s * len(log)


@refused
def an_iterator_of_the_caller(x):
    it = iter([1, 2, 3, 4])

    def first(x):
        for v in it:
            if x.sum() > v:
                return x * v
        return x

    y = first(x)
    return y + len(list(it))


@refused
def sent(x):
    def totals():
        total = 0
        while True:
            total += (yield total) or 0

    it, k = totals(), 0
    next(it)
    if x.sum() > 0:
        k = it.send(5)
    return x * it.send(1) + k


@refused
def without_an_end(x):
    for v in itertools.cycle([1, 2]):
        x = x + v
        if x.sum() > 9:
            break
    return x


@exact
def drained_and_not_used_again(x):
    it, s = iter([1, 2, 3, 4, 5]), x * 0
    for v in it:
        s = s + v
        if s.sum() > 3:
            break
    return s


@exact
def a_break_that_is_known_takes_no_item(x):
    it, s = iter([1, 2, 3, 4]), x * 0
    for v in it:
        s = s + v
        if v == 2:
            break
    return s * next(it)


@exact
def counted_until_a_tensor_says_so(x):
    for k in itertools.count(2, 3):
        x = x + k
        if x.sum() > 30:
            break
    return x


@exact
def advanced_in_a_long_loop(x):
    it = iter(range(100))
    for _ in range(20):
        x = ops.sin(x) * ops.cos(x) * ops.tanh(x) * ops.exp(-x) + next(it)
    return x * next(it)


@exact
def behind_an_early_return(x):
    it, q, r, elements = iter([2, 3]), collections.deque(), np.random.default_rng(0), np.zeros(100_000)
    if x.sum() > 0:
        return x
    q.append(1)
    elements[0] = 2
    return x * next(it) * len(q) * float(r.random()) * float(elements[0])


@exact
def advanced_on_both_ways_and_not_used_again(x):
    it = iter([2, 3])
    if x.sum() > 0:
        return x * next(it)
    return x + next(it)


@exact
def advanced_until_a_break(x):
    layers = iter([ops.sin, ops.cos, ops.tanh])
    for _ in range(3):
        x = next(layers)(x)
        if x.sum() > 1:
            break
    return x


@refused
def a_generator_on_both_ways(x):
    it = _generator()
    if x.sum() > 0:
        return x * next(it)
    return x + next(it)


@refused
def an_iterator_that_is_a_parameter(x):
    def first(x, it):
        if x.sum() > 0:
            return x * next(it)
        return x

    it = iter([1, 2, 3])
    return first(x, it) + first(x, it)


@refused
def a_second_iterator_behind_a_break(x):
    it, other, s = iter([1, 2, 3, 4]), iter([10, 20, 30]), x * 0
    for v in it:
        s = s + v + next(other)
        if s.sum() > 30:
            break
    return s + next(other)


@refused
def a_closure_sees_it_later(x):
    q = collections.deque()

    def count():
        return len(q)

    if x.sum() > 0:
        q.append(1)
    return x * count()


@refused
def random_numbers_of_the_module(x):
    k = float(np.random.rand()) if x.sum() > 0 else 0.0  # noqa: NPY002
    return x * float(np.random.rand()) + k  # noqa: NPY002


@refused
def python_random_numbers(x):
    k = 0.0
    if x.sum() > 0:
        k = random.random()
    return x * random.random() + k


# -- other state -------------------------------------------------------------------------------


class Holder:
    log: list = []

    def __init__(self):
        self.count, self.queue, self.it = 0, collections.deque(), iter([1, 2, 3])

    def __getitem__(self, key):
        self.count += 1
        return key

    def __enter__(self):
        self.count += 1
        return self

    def __exit__(self, *_):
        self.count += 10

    def __contains__(self, _):
        self.count += 1
        return True

    def bump(self):
        self.count += 1
        return self.count


class Slots:
    __slots__ = ("count",)

    def __init__(self):
        self.count = 0

    def __len__(self):
        self.count += 1
        return 3


@dataclasses.dataclass
class Record:
    count: int = 0

    def __len__(self):
        self.count += 1
        return 3


CHANGES = {
    "ndarray": (lambda: np.zeros(2), lambda a: a.__setitem__(0, 1)),
    "ndarray, large": (lambda: np.zeros(100_000), lambda a: a.__setitem__(0, 1)),
    "ndarray, view": (lambda: np.zeros(4)[1:], lambda a: a.fill(3)),
    "ndarray, out": (lambda: np.zeros(2), lambda a: np.add(a, 1, out=a)),
    "deque": (collections.deque, lambda q: q.append(1)),
    "Counter": (collections.Counter, lambda c: c.subtract("a")),
    "defaultdict": (lambda: collections.defaultdict(int), lambda d: d["a"]),
    "OrderedDict": (lambda: collections.OrderedDict(a=1, b=2), lambda d: d.move_to_end("a")),
    "UserList": (lambda: collections.UserList([1]), lambda d: d.append(2)),
    "bytearray": (lambda: bytearray(b"ab"), lambda b: b.append(1)),
    "array": (lambda: array.array("i", [1]), lambda b: b.append(1)),
    "Random": (lambda: random.Random(0), lambda r: r.random()),
    "Generator": (lambda: np.random.default_rng(0), lambda r: r.random()),
    "RandomState": (lambda: np.random.RandomState(0), lambda r: r.rand()),
    "StringIO": (io.StringIO, lambda f: f.write("abc")),
    "heap": (lambda: [3, 1, 2], heapq.heapify),
    "shuffled list": (lambda: [3, 1, 2, 4], lambda x: random.Random(0).shuffle(x)),
    "set": (lambda: {1}, lambda s: set.add(s, 2)),
    "namespace": (lambda: types.SimpleNamespace(n=0), lambda n: vars(n).update(n=1)),
    "object": (Holder, lambda h: h[3]),
    "queue of an object": (Holder, lambda h: h.queue.append(3)),
    "iterator of an object": (Holder, lambda h: next(h.it)),
    "contains": (Holder, lambda h: 3 in h),
    "class": (Holder, lambda h: operator.iadd(type(h).log, [1])),
    "slots": (Slots, len),
    "dataclass": (Record, len),
    "exit stack": (contextlib.ExitStack, lambda s: s.callback(print)),
    "nested": (lambda: ([collections.deque()], {}), lambda t: t[0][0].append(1)),
}


@pytest.mark.parametrize("kind", CHANGES)
@pytest.mark.parametrize("where", ["branch", "loop", "expression"])
def test_what_was_made_outside_is_not_changed(kind, where):
    make, change = CHANGES[kind]

    def changed(x):
        state = make()
        if where == "branch":
            if x.sum() > 0:
                change(state)
        elif where == "loop":
            i = x.sum() * 0
            while i < 2:
                change(state)
                i = i + 1
        else:
            _ = change(state) if x.sum() > 0 else None
        return x * len(str(state))

    with pytest.raises(ms.CompileError, match=r"outside|in one branch of this 'if'"):
        ms.jit(changed)(Tensor(X))


def test_what_was_refused_is_as_it_was():
    log, table, elements, large = collections.deque([1]), {"a": 1}, np.zeros(3), np.zeros(100_000)

    def changed(x):
        if x.sum() > 0:
            for _ in [*map(log.append, [2]), table.update.__call__(b=2), np.copyto(elements, 1)]:
                pass
        return x

    with pytest.raises(ms.CompileError):
        ms.jit(changed)(Tensor(X))
    assert [*log] == [1]
    assert table == {"a": 1}
    assert not elements.any()

    def written(x):
        if x.sum() > 0:
            large[3] = 1.0
        return x

    with pytest.raises(ms.CompileError, match=r"large\[3\] = 1.0"):
        ms.jit(written)(Tensor(X))
    assert large.flags.writeable
    assert not large.any()


@refused
def a_context_manager(x):
    log = []

    @contextlib.contextmanager
    def logged():
        log.append(1)
        yield
        log.append(2)

    if x.sum() > 0:
        with logged():
            x = x * 2
    return x * len(log)


@refused
def an_object_as_context(x):
    h = Holder()
    if x.sum() > 0:
        with h:
            x = x * 2
    return x * h.count


@refused
def a_global(x):
    if x.sum() > 0:
        _append_to_global()
    return x


QUEUE: collections.deque = collections.deque()


def _append_to_global():
    QUEUE.append(1)


@refused
def a_deque_in_a_while(x):
    q, i = collections.deque([1, 2, 3]), x.sum() * 0
    while i < 2:
        x, i = x + q.popleft(), i + 1
    return x + len(q)


@refused
def in_a_nested_branch(x):
    q = collections.deque()
    if x.sum() > 0:
        x = x * 2
        if x.sum() > 1:
            q.append(1)
    return x * len(q)


@exact
def made_and_used_inside(x):
    if x.sum() > 0:
        q = collections.deque([1, 2])
        q.append(3)
        it = iter(q)
        elements = np.zeros(3)
        elements[1] = next(it) + next(it)
        x = x * len(q) * float(elements[1])
    return x


@functools.cache
def _table(n):
    return np.eye(n)


class Lazy:
    @functools.cached_property
    def table(self):
        return np.arange(3.0)


@exact
def caches_fill(x):
    lazy = Lazy()
    if x.sum() > 0:
        return x * float(_table(3)[0, 0]) * float(lazy.table[1])
    return x * float(_table(4).sum())


@exact
def arrays_are_read(x):
    small, large = np.arange(5.0), np.ones((300, 300))
    if x.sum() > 0:
        y = x * float(np.dot(small, small)) * float(large.sum())
    else:
        y = x * float(np.sort(small)[0] + np.linalg.norm(large))
    large[0, 0] = 5
    return y * float(large[0, 0])


@exact
def attributes_of_an_object(x):
    h = Holder()
    if x.sum() > 0:
        h.bump()
    return x * h.count


@exact
def a_decorator_that_counts(x):
    def counted(f):
        @functools.wraps(f)
        def wrapper(*args):
            wrapper.calls += 1
            return f(*args)

        wrapper.calls = 0
        return wrapper

    twice = counted(lambda v: v * 2)
    if x.sum() > 0:
        x = twice(x)
    return x * twice.calls


@exact
def state_in_a_long_loop(x):
    q, elements = collections.deque(maxlen=2), np.zeros(20)
    for i in range(20):
        q.append(i)
        elements[i] = i
        x = ops.sin(x) * ops.cos(x) * ops.tanh(x) * ops.exp(-x) + i
    return x * sum(q) + float(elements.sum())


@pytest.mark.filterwarnings("ignore::mindgrad.FrozenValueWarning")  # given before what is refused
@pytest.mark.parametrize("function", REFUSED, ids=lambda f: f.__name__)
def test_refused(function):
    with pytest.raises(ms.CompileError) as caught:
        ms.jit(function)(Tensor(X))
    text = str(caught.value)
    assert all(each in text for each in (__file__, "^^^", "Instead: "))


@pytest.mark.parametrize("function", EXACT, ids=lambda f: f.__name__)
def test_exact(function):
    for x in (X, (-1.0, -2.0)):
        expected = function(Tensor(x)).asnumpy()
        assert_close(ms.jit(function)(Tensor(x)), expected)


class Net(nn.Cell):
    """A Cell that holds state of its own, and Cells that do."""

    def __init__(self):
        super().__init__()
        self.inner = nn.SequentialCell([Part(), Part()])

    def construct(self, x):
        if x.sum() > 0:
            x = self.inner(x)
        return x


class Part(nn.Cell):
    def __init__(self):
        super().__init__()
        self.queue = collections.deque()

    def construct(self, x):
        self.queue.append(1)
        return x * 2


def test_state_of_cells_inside():
    with pytest.raises(ms.CompileError, match="he attribute 'queue' of Part"):
        ms.jit(Net())(Tensor(X))


def test_state_that_an_attribute_got_while_tracing():
    class Renewed(nn.Cell):
        def __init__(self):
            super().__init__()
            self.queue = None

        def construct(self, x):
            if x.sum() > 5:
                x = x + 1
            queue = QUEUE
            holder = Holder()
            holder.queue = queue
            if x.sum() > 0:
                holder.queue.append(1)
            return x

    with pytest.raises(ms.CompileError, match="'queue'"):
        ms.jit(Renewed())(Tensor(X))
