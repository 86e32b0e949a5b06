"""What expressions assign beside their value, where a tensor decides how much of them is evaluated."""

import functools

import numpy as np
import pytest

import mindgrad as ms
from mindgrad import Tensor
from tests.tolerances import assert_close

INPUTS = ([1.0, 2.0], [-1.0, -2.0], [-5.0, 6.0])
COUNT = 0
PROGRAMS = []


def program(function):
    PROGRAMS.append(function)
    return function


class Counter:
    def __init__(self):
        self.count = 0
        self.total = Tensor([0.0, 0.0])

    def add(self, x):
        self.count += 1
        self.total = self.total + x
        return x

    @property
    def doubled(self):
        self.count += 10
        return 2.0


@program
def conditional_expression(x):
    n = 0

    def g(k):
        nonlocal n
        n = n * 10 + k
        return k

    y = (g(1) if x[0] > 0 else g(2)) if x.sum() > 0 else (g(3) if x[1] > 0 else g(4))
    return x * (y + n)


@program
def tensor_in_a_conditional_expression(x):
    v = ms.ops.sin(x)

    def g(z):
        nonlocal v
        v = v * 0.5 + z
        return v * z

    b = v if x.sum() > 2 else g(x)
    return b + v


@program
def short_circuits(x):
    n = 0

    def g(k):
        nonlocal n
        n = n * 10 + k
        return x.sum() > k - 2

    either = x.sum() > 0 or g(1) or not (x[0] > 0 or g(2))
    both = g(3) and x[1] > 0 and g(4)
    return x * (n + (5 if either and both else 0))


@program
def chained_comparison(x):
    n = 0

    def g(k):
        nonlocal n
        n = n * 10 + k
        return x.sum() * k

    return x * n if g(1) < g(2) < g(3) < g(0) < g(5) else x * (n + 0.5)


@program
def membership(x):
    n = 0

    def g(k):
        nonlocal n
        n += 1
        return x[0] * k

    _ = x[0] in [g(5), g(1), g(2)] or g(1) > 0
    return x * n


@program
def any_of_a_generator(x):
    n = 0

    def g(i):
        nonlocal n
        n += 1
        return x.sum() > i

    one = any(g(i) for i in range(4))
    return x * n + (1 if one else 2)


@program
def all_of_a_list(x):
    n = 0

    def g(i):
        nonlocal n
        n += 1
        return x.sum() > i

    # all items are there before the first counts
    every = all([g(i) for i in range(4) if g(i - 1)])  # noqa: C419
    return x * n + (1 if every else 2)


@program
def any_of_numbers_is_a_truth_value(x):
    values = (item for item in (0, 3))
    return x * (any(values) + all([2, 3]) + any(v for v in [4]))


@program
def key_functions(x):
    n = 0

    def key(i):
        nonlocal n
        n += i
        return -i

    best = max([1, 2, 3], key=key) if x.sum() < 0 else sorted([4, 5], key=key)[0]
    return x * (best + n)


@program
def attributes(x):
    c = Counter()
    y = x * c.doubled if x.sum() < 0 else c.add(x)
    _ = x.sum() > 0 or c.add(x).sum() > 0
    return y * c.count + c.total


@program
def a_global(x):
    global COUNT
    COUNT = 0

    def g():
        global COUNT
        COUNT += 1
        return 1.0

    y = x * g() if x.sum() < 0 else x * 3
    z = x * g() if x.sum() > 0 else x * (g() + g())
    return y + z * COUNT


@program
def loop_tests(x):
    n = k = 0

    def g(z):
        nonlocal n
        n += 1
        return ms.ops.abs(z).sum() < 20

    while k < 10 and (x.sum() > 1000 or g(x)):
        x = x * 2
        k += 1
    return x * n + k


@program
def expressions_in_a_loop(x):
    n = 0

    def g(z):
        nonlocal n
        n += 1
        return z * 2

    for _ in range(12):
        x = g(x) if ms.ops.abs(x).sum() < 30 else x + 1
    return x * n


@program
def a_lambda_of_the_user(x):
    n = 0

    def g(z):
        nonlocal n
        n += 1
        return z

    f = lambda z: g(z) if z.sum() < 0 else z * 2
    return (f(x) + f(-x)) * (n + 1)


@program
def a_partial_and_a_default(x):
    n = 0

    def g(k, z=0.0):
        nonlocal n
        n += k
        return z

    def h(z, k=g(5) if x.sum() < 0 else 5.0):  # noqa: B008
        return z * k

    h3 = functools.partial(g, 3)
    return (h(x) + (h3(x) if x.sum() < 0 else x)) * (n + 1)


@program
def a_method_of_a_class_inside(x):
    n = 0

    class A:
        def add(self, z):
            nonlocal n
            n += 1
            return z

    y = A().add(x) if x.sum() < 0 else x
    return (y + (A().add(x) if x.sum() > 0 else x)) * (n + 1)


@program
def calls_of_calls(x):
    def h(z):
        n = 0

        def g(y):
            nonlocal n
            n += 1
            if y.sum() > 2:
                return y
            n += 5
            return y * 2

        y = g(z) if z.sum() > 0 else g(g(z))
        return y * n

    return h(x) + h(-x) * 0.5


@program
def named_numbers(x):
    y = (n := 1) * x if x.sum() > 0 else (n := 2) * x
    return y * n


@program
def named_tensors(x):
    y = (m := x * 2) if x.sum() > 0 else (m := x * 3)
    return y * m


@program
def a_name_that_has_a_value_before(x):
    m, k = 1.0, 0
    _ = x.sum() > 0 and (m := x.sum() * 2) > 1
    while k < 5 and (m := m + x.sum()) < 7:
        k = k + 1
    return x * m + k


@program
def a_name_behind_and(x):
    if (n := x.sum()) > 0 and (m := n * 2) > 1 and (k := m + n) > 5:
        return x * m * k
    elif x[1] > 0 and (m := n * 3) < 0:
        y = m
    else:
        y = n
    return x * y


@program
def names_in_comprehensions(x):
    ys = [(last := x * i) for i in range(3)] if x.sum() > 0 else [(last := x + i) for i in range(3)]
    return ys[0] + last


def values(function):
    return [function(Tensor(np.float32(x))).asnumpy() for x in INPUTS]


@pytest.mark.parametrize("function", PROGRAMS, ids=lambda f: f.__name__)
def test_compiled_as_in_eager_mode(function):
    compiled = ms.jit(function)
    for ours, theirs in zip(values(compiled), values(function), strict=True):
        assert_close(ours, theirs, kind="program", each=True)
    misses = compiled.cache_info().misses
    values(compiled)
    assert compiled.cache_info().misses == misses, "what the program assigns inside selects none"


def test_the_gradient_of_the_way_that_was_taken():
    for function in (tensor_in_a_conditional_expression, expressions_in_a_loop, a_name_behind_and):
        total = lambda x, f=function: f(x).sum()
        slope, compiled = ms.grad(total), ms.grad(ms.jit(total))
        for ours, theirs in zip(values(compiled), values(slope), strict=True):
            assert_close(ours, theirs, kind="program")


def refusal(function):
    with pytest.raises(ms.CompileError) as caught:
        ms.jit(function)(Tensor([1.0, 2.0]))
    return str(caught.value)


def test_a_name_that_one_way_binds():
    def f(x):
        _ = x.sum() > 0 and (m := x.sum() * 2) > 1
        return x * m

    text = refusal(f)
    assert text.startswith(
        "The variable 'm' has no value here: it is assigned in only one branch of this expression"
    )
    assert "return x * m" in text


def test_an_iterator_whose_items_assign():
    def f(x):
        n = 0

        def g(i):
            nonlocal n
            n += 1
            return x.sum() > i

        return x * n if any(map(g, range(4))) else x

    text = refusal(f)
    assert text.startswith(
        "'any' stops at an item that depends on a tensor, and computing the next item assigns"
    )
    assert "the variable 'n'" in text


def test_an_endless_iterator_ends_where_it_is_decided():
    def f(x):
        n = 0

        def numbers():
            nonlocal n
            while True:
                n += 1
                yield n > 3

        return x * (any(numbers()) + n)

    assert ms.jit(f)(Tensor([1.0])).asnumpy() == 5


class Slotted:
    __slots__ = ("held",)

    @property
    def twice(self):
        return 2 * self.held

    @twice.setter
    def twice(self, value):
        self.held = value / 2


OUTSIDE = Slotted()


def assign_to_tensor(x):
    x.requires_grad = False
    return x


def assign_other_to_tensor(x):
    x.note = 1
    return x


def assign_no_slot(x):
    OUTSIDE.other = x
    return x


@pytest.mark.parametrize("function", [assign_to_tensor, assign_other_to_tensor, assign_no_slot])
def test_attribute_that_an_object_cannot_have_raises_as_in_python(function):
    errors = []
    for run in (function, ms.jit(function)):
        with pytest.raises(AttributeError, match="object has no attribute") as caught:
            run(Tensor([1.0]))
        errors.append(str(caught.value))
    assert errors[0] == errors[1]


def test_attributes_and_properties_of_slots_are_assigned_in_compiled_code():
    def held(x):
        OUTSIDE.held = 2 * x
        return x

    def by_property(x):
        OUTSIDE.twice = x
        return x

    ms.jit(held)(Tensor([1.0]))
    assert OUTSIDE.held.asnumpy() == [2.0]
    run = ms.jit(by_property)
    for value in (1.0, 3.0):
        run(Tensor([value]))
        assert OUTSIDE.held.asnumpy() == [value / 2]
