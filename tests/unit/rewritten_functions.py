"""Functions that use the statements and expressions of Python in tricky ways.

Each is a case of ``test_rewrite``: it runs as it is and rewritten, for each of its arguments, and what it
does is written into ``log``. What looks odd in them is what they are for.
"""

# ruff: noqa: B007, B008, B018, B023, B032, B904, C416, F821, F823, F841, F842, PIE804, RUF021, RUF059

import contextlib
import functools
import itertools

import pytest

log = []
GLOBAL = 10


def note(value, result=None):
    """Write ``value`` into the log; gives it, or ``result``."""
    log.append(value)
    return value if result is None else result


class Noted:
    """An object all of whose uses are noted."""

    def __init__(self, name="o"):
        object.__setattr__(self, "name", name)

    def __str__(self):
        return self.name

    def __getattr__(self, key):
        if key.startswith("__"):
            raise AttributeError(key)
        log.append(("get", self.name, key))
        return 5

    def __setattr__(self, key, value):
        log.append(("set", self.name, key, str(value)))

    def __delattr__(self, key):
        log.append(("del", self.name, key))

    def __getitem__(self, key):
        log.append(("getitem", self.name, key))
        return 7

    def __setitem__(self, key, value):
        log.append(("setitem", self.name, key, value))

    def __delitem__(self, key):
        log.append(("delitem", self.name, key))

    def __lt__(self, other):
        log.append(("lt", self.name))
        return True

    def __contains__(self, key):
        log.append(("in", self.name, key))
        return key == 1

    def __enter__(self):
        log.append(("enter", self.name))
        return self

    def __exit__(self, kind, error, traceback):
        log.append(("exit", self.name, kind and kind.__name__))
        return self.name == "swallows"


CASES = []


def case(*inputs):
    """Runs the function for each of the tuples of arguments."""

    def register(function):
        CASES.extend(
            pytest.param(function, args, id=f"{function.__name__}-{k}")
            for k, args in enumerate(inputs or [()])
        )
        return function

    return register


NUMBERS = [(each,) for each in range(9)]

# -- jumps -----------------------------------------------------------------------------------------


@case(*NUMBERS)
def early_returns(n):
    if n == 0:
        return "zero"
    note(n)
    if n < 3:
        if n == 1:
            return "one"
        note("two")
    elif n == 3:
        return "three"
    else:
        if n == 4:
            return "four"
        note("more")
    if n == 5:
        return
    return n, "end"


@case(*NUMBERS)
def falls_off_the_end(n):
    if n > 4:
        return n
    note("end")


@case((0,), (3,))
def nothing_returned(n):
    n += 1
    note(n)


@case(*NUMBERS)
def both_return(n):
    if n % 2:
        return "odd"
    else:
        return "even"
    note("never")


@case(*itertools.product(range(6), range(4)))
def loops_with_everything(n, m):
    for i in range(n):
        if i == 1:
            continue
        for j in range(m):
            if j == 2:
                continue
            if i == 3 and j == 1:
                break
            if i == 4:
                return ("inner", i, j)
            note((i, j))
        else:
            note("else of inner")
            if i == 2:
                continue
            note("after")
        note("end of body")
        if i > 4:
            break
    else:
        note("else of outer")
        return "else"
    return "broken"


@case(*itertools.product(range(7), range(3)))
def while_else(n, m):
    i = 0
    while i < n:
        i += 1
        if i == 5:
            break
        k = 0
        while True:
            k += 1
            if k > m:
                break
            if k == 2 and i == 4:
                return "deep"
            if k % 2:
                continue
            note((i, k))
        note(i)
    else:
        i = -1
    return i


@case(*NUMBERS)
def endless_until_return(n):
    while True:
        n += 1
        if n > 5:
            return n


@case((0,), (1,), (5,))
def endless_until_raise(n):
    while True:
        n -= 1
        if n < 0:
            raise ValueError(n)


@case(*NUMBERS)
def break_in_else_of_inner(n):
    for i in range(n):
        for j in range(i):
            if j == 3:
                note("found")
                break
        else:
            note("not found")
            if i == 2:
                continue
            if i == 3:
                break
        note((i, j if i else None))
    return "done"


@case(*NUMBERS)
def loop_of_one_iteration(n):
    for i in range(n):
        break
    else:
        return "none"
    while n:
        return i, n
    return "zero"


@case(*NUMBERS)
def return_in_else_of_loop(n):
    for i in range(n):
        if i == 4:
            break
    else:
        return "short"
    note(i)
    for _ in range(2):
        if n == 6:
            continue
        if n == 7:
            return "seven"
    return "long"


@case(*NUMBERS)
def variables_of_the_loop_stay(n):
    item = "before"
    for item in range(n):
        square = item * item
    return item, square


@case(*NUMBERS)
def mixed_jumps(n):
    out = []
    for i in range(n):
        if i % 2:
            if i == 5:
                break
            elif i == 3:
                continue
            out.append(("odd", i))
        else:
            if i == 6:
                return "six"
            out.append(("even", i))
        out.append("tail")
    return out


@case(*NUMBERS)
def iterator_is_not_drawn_too_far(n):
    numbers = iter(range(10))
    for i in numbers:
        if i == n:
            break
    return next(numbers, "none")


@case(())
def list_grows_in_loop():
    items = [1]
    for each in items:
        if len(items) < 5:
            items.append(each + 1)
    return items


# -- exceptions, with ------------------------------------------------------------------------------


@case(*NUMBERS)
def exceptions(n):
    try:
        note("body")
        if n == 1:
            raise KeyError("one")
        if n == 2:
            return "returned"
        if n == 3:
            raise ValueError("three")
        if n == 4:
            1 / 0
        note("end of body")
    except KeyError as error:
        note(str(error))
        return "key"
    except (ValueError, TypeError):
        note("value")
    else:
        note("else")
        if n == 5:
            return "else"
    finally:
        note("finally")
    return "after"


@case(*NUMBERS)
def exceptions_in_loops(n):
    for i in range(n):
        try:
            if i == 1:
                continue
            if i == 6:
                break
            if i == 3:
                raise ValueError(i)
            note(i)
        except ValueError as error:
            found = error.args
            continue
        else:
            note("else")
        finally:
            note("finally")
        note("after")
    return n


@case(*NUMBERS)
def raised_again(n):
    try:
        try:
            if n:
                raise ValueError(n)
            return "nothing"
        except ValueError as error:
            if n == 1:
                raise
            if n == 2:
                raise KeyError from error
            if n == 3:
                raise KeyError("three") from None
            if n == 4:
                raise KeyError("four")
            note(error.args)
        return error  # unbound by now
    finally:
        note("end")


@case((0,), (1,), (2,))
def with_statements(n):
    with Noted("a") as a, Noted("b") as b:
        if n == 1:
            return a.x
        if n == 2:
            raise ValueError(b.name)
    with Noted("swallows"):
        raise KeyError
    note("after")
    with Noted("swallows"):
        if n == 0:
            return note("value")
        raise KeyError
    return "end"


@case(())
def with_targets():
    box = Noted("box")
    values = [0, 0]
    with Noted("a") as box.a, contextlib.nullcontext((1, 2)) as (x, values[0]):
        note((x, values))
    return x, values


@case((0,), (1,), (2,))
def loops_in_with_in_loops(n):
    for i in range(3):
        with Noted(f"outer{i}"):
            for j in range(3):
                with Noted(f"inner{j}"):
                    if j == n:
                        break
                    if i == 2:
                        return "out"
            else:
                continue
            note("end")


# -- expressions -----------------------------------------------------------------------------------


@case(*itertools.product([0, 1, ""], [0, 2], [0, 3]))
def booleans(a, b, c):
    return [
        note(a) and note(b) and note(c),
        note(a) or note(b) or note(c),
        (note(a) or note(b)) and not note(c),
        not a,
        note(a) if note(b) else note(c),
        (a if b else c) if c else (b or a),
    ]


@case(*itertools.product([0, 1, 2], [0, 1, 2], [1, 3]))
def comparisons(a, b, c):
    return [
        note(a) < note(b) < note(c),
        note(a) <= note(b) != note(c) > note(0),
        a < b,
        note(a) in (1, 2),
        a not in [b, c],
        a is b is not None,
        note(a) in {b, c} in ([], {b, c}),
        a < (b if c > 1 else c) < 5,
    ]


@case(())
def comparisons_of_objects():
    return [Noted("a") < Noted("b") < Noted("c"), 1 in Noted("d"), 2 not in Noted("e")]


@case(*NUMBERS)
def walrus(n):
    out = []
    if (m := n * 2) > 4 and (k := m - 4) > 2 or (k := 100):
        out.append((m, k))
    while (m := m - 3) > 0:
        out.append(m)
    out.append([y for x in range(n) if (y := x * x) > 3 or (z := x)])
    value = (z, y) if (z := n) > 3 and (y := n) else (y := -1)
    return out, value, y, m, k


@case((0,), (1,), (4,))
def walrus_in_lambda(n):
    f = lambda x: (y := x + 1) + (y if (z := x) else z)
    g = lambda x: x and (y := x + 1) and y + 1
    h = lambda x: 0 < x < (y := 3) < y + 1
    return f(n), g(n), h(n)


@case((0,), (1,), (4,))
def walrus_while_with_break(n):
    numbers = iter([3, 2, 1, 0, 5])
    while (each := next(numbers, 0)) > 0:
        if each == n:
            break
    else:
        each = "none"
    return each


@case(*NUMBERS)
def comprehensions(n):
    x = "kept"
    squares = [x * x for x in range(n) if x % 2 if x != 3]
    pairs = {(i, j) for i in range(n) for j in range(i) if i + j > 2}
    table = {str(k): [k * j for j in range(k)] for k in range(n) if k > 1 or not k}
    total = sum(i if i > 2 else -i for i in range(n))
    nested = [[i < j < n for j in range(3)] for i in range(2)]
    lazy = (note(i) for i in range(n) if note(i, True))
    note("before")
    return x, squares, sorted(pairs), table, total, nested, list(lazy), any(i == 3 for i in range(n))


@case((3,))
def comprehension_over_tested(n):
    return [y for x in ([1, 2] if n > 2 else [3]) for y in (x and [x, n] or [0]) if 0 < y < 3]


@case((0,), (3,), (7,))
def f_strings(n):
    return f"{n!r:>5} {'many' if n > 5 else 'few'} {n and 1} {n=} {[x for x in range(n)]} {n:{n + 3}}"


# -- assignments -----------------------------------------------------------------------------------


@case(())
def unpacking():
    a, (b, *c), *d = 1, (2, 3, 4), 5, 6
    [e, f] = g = (7, 8)
    first, *_ = "xyz"
    h: int = 9
    i: str
    return a, b, c, d, e, f, g, first, h, *d, *[1, *c]


@case(())
def unpacking_into_objects():
    o, values = Noted(), [0, 0, 0]
    o.x, values[note(0)], (values[1], *o.rest), k = note("value", iter([1, 2, (3, 4, 5), 6]))
    k, values[k - 5] = 1, 2
    i, values[i] = 0, 50
    note("multi")
    o.a = values[note(2)] = b = note("right")
    o[note("key")] = note("r")
    note("o", o).attr = note("second")
    o.typed: int = 3
    values[0]: int
    return values, k, b


@case((2,))
def unpacking_too_much(n):
    x = y = None
    try:
        x, (y, z), w = 1, (2, 3, 4), 5
    except ValueError:
        note((x, y))
    a, b = range(n + 1)


@case(())
def augmented():
    o, values, key = Noted(), [1, [2], 3], {"k": 2}
    x = [1]
    y = x
    x += [2]
    x *= 2
    note("o", o).a += note(1)
    note("o", o)[note("k")] -= note(2)
    values[note(1)] += [note(5)]
    values[-1] **= 2
    key["k"] //= 2
    key["k"] |= 4
    n = 7
    n -= 1
    n /= 2
    n @= Matrix()
    return x, y, x is y, values, key, n


class Matrix:
    def __rmatmul__(self, other):
        return ("matmul", other)


@case(())
def deletion():
    a, b, c, o, items = 1, 2, 3, Noted(), [1, 2, 3, 4]
    del a, (b, items[0]), o.x, o[note(1)], items[1:2]
    try:
        note(a)
    except NameError:
        note("gone")
    b = 4
    return b, c, items


@case((True,), (False,))
def deletion_in_branches(flag):
    x = 1
    if flag:
        del x
    else:
        x = 2
    return x


@case(*NUMBERS)
def unbound_in_some_branches(n):
    if n > 3:
        x = 1
    if n > 5:
        y = x
    for i in range(n - 6):
        z = i
    return x, y, z


@case(())
def bound_only_where_never_reached():
    return GLOBAL
    GLOBAL = 1


@case((1,), (0,))
def globals_are_assigned(n):
    global GLOBAL
    before = GLOBAL
    if n:
        GLOBAL += 1
    for GLOBAL in range(3):
        pass
    after = [(GLOBAL := GLOBAL + 1) for _ in range(2)] if n or (GLOBAL := 50) else 0
    result = (before, after, GLOBAL)
    GLOBAL = 10
    return result


@case((0,), (1,), (3,))
def imports(n):
    if n:
        import math
        import os.path as p
        from math import sqrt as root
    else:
        math = p = root = None
    return math and (math.pi, root(4.0), p.join("a", "b"))


# -- functions -------------------------------------------------------------------------------------


@case(*NUMBERS)
def closures(n):
    total = 0
    if n > 2:
        step = 2
    else:
        step = 1

    def add(amount=3, *more, scale=1, **named):
        """Adds."""
        nonlocal total
        if amount > 2:
            total += amount * step * scale
            return "large"
        for each in more:
            total += each
        return named

    found = [add(), add(1, 2, 3), add(5, scale=2), add(0, key=n)]
    step = 10
    add()
    return total, found, add.__doc__, add.__name__, add.__qualname__, add.__kwdefaults__


@case(*NUMBERS)
def lambdas_see_the_last_value(n):
    functions = [lambda: i for i in range(n)]
    others = []
    for k in range(n):
        others.append(lambda x=k: (x, k))
    return [f() for f in functions], [f() for f in others]


@case(*NUMBERS)
def recursion(n):
    def fibonacci(k):
        return k if k < 2 else fibonacci(k - 1) + fibonacci(k - 2)

    def even(k):
        if k == 0:
            return True
        return odd(k - 1)

    def odd(k):
        return False if k == 0 else even(k - 1)

    return fibonacci(n), even(n), odd(n)


@case(*NUMBERS)
def recursive_itself(n):
    if n < 2:
        return n
    return recursive_itself(n - 1) + recursive_itself(n - 2)


@case(*NUMBERS)
def tail_calls(n):
    def down(k, total=0):
        if k == 0:
            return total
        if k == 3:
            return down(k=k - 1, total=total + 100)
        return down(k - 1, total + k)

    def keep(k, functions):
        own = k * k
        if k == 0:
            return [f() for f in functions]
        return keep(k - 1, (*functions, lambda: own))

    def swap(a, b, k):
        if k:
            return swap(b, a + 1, k - 1)
        else:
            return a, b

    return down(n), keep(n, ()), swap(0, 10, n)


class Counted:
    """A decorator that is an object."""

    def __init__(self, function):
        functools.update_wrapper(self, function)
        self.function = function

    def __call__(self, *args):
        note("called")
        return self.function(*args)


@case((0,), (3,))
def decorated_tail_calls(n):
    @Counted
    def down(k):
        if k:
            return down(k - 1)
        return "end"

    return down(n)


def twice(function):
    @functools.wraps(function)
    def wrapper(*args, **kwargs):
        return note("wrapper"), function(*args, **kwargs), function(*args, **kwargs)

    return wrapper


@case((0,), (2,))
def decorators(n):
    @twice
    @note("decorator", twice)
    def f(x, /, y=note("default", 2), *, z: int = 3):
        return x + y + z if x else None

    return f(n), f(n, z=1)


@twice
def decorated(n):
    if n:
        return note(n)
    return "none"


case((0,), (1,))(decorated)


@case((0,), (3,))
def generators_inside(n):
    def numbers(limit):
        for i in range(limit):
            if i == 1:
                continue
            received = yield i
            note(received)
        return "end"

    def delegating():
        yield (yield from numbers(n))

    return list(numbers(n)), list(delegating())


@case((1,), (5,))
def starred_calls(n):
    def f(*args, **kwargs):
        return args, kwargs

    values = [1, 2]
    return f(*values, n, *range(2), a=1, **{"b": 2, "c": n if n > 2 else 0})


@case((0,), (4,))
def classes_inside(n):
    base = Noted

    class Inner(base):
        kind = "big" if n > 3 else "small"

        def method(self, x):
            if x > 3:
                return (self.kind, __class__.__name__, super().__init__("p"), self.__class__.__qualname__)
            return "small"

    made = Inner("i")
    return made.method(n), Inner.__qualname__, Inner.method.__qualname__


@case((0,), (1,))
def locals_of_the_function(n):
    if n:
        x = 1
    for i in range(n):
        inner = sorted(locals())
    return locals(), inner if n else None


@case(("a",), (2,), ([1, 2],), ([1, 9, 3],), ({"k": 5},), (None,), (7.5,))
def matching(value):
    for _ in range(2):
        match value:
            case "a" | "b":
                return "letter"
            case int(x) if x > 1:
                found = ("int", x)
            case [1, y]:
                found = ("pair", y)
                break
            case [first, *rest]:
                found = (first, rest)
                continue
            case {"k": inner, **others}:
                found = (inner, others)
            case None:
                return None
            case _:
                found = "other"
        note("after match")
    return found


@case((0,), (2,))
def conditional_function(n):
    if n:

        def f(x):
            return x + 1
    else:
        f = lambda x: x - 1
    return f(n), f.__name__


@case((0,), (3,))
def docstring_only(n):
    """Nothing else."""


@case((0,), (5,))
def consumed_comprehensions(n):
    total = sum(k * k for k in range(n) if k % 2 if k > 1) + sum([k for k in range(n)], start := 10)
    firsts = [any(k == m for k in (1, 2)) for m in range(n)]
    texts = all(text and text.strip() for text in ("a", " " * n))
    mixed = sum((a * b for a in range(n) for b in range(a)), 0) + sum(k for k, _ in enumerate(range(n)))
    return total, start, firsts, texts, mixed, sum(x for x in [0.1] * 10), max(k for k in range(n + 1))


# -- methods ---------------------------------------------------------------------------------------


class Base:
    def __init__(self, start):
        self.__secret = start
        self._items = [start]

    @property
    def doubled(self):
        return self.__secret * 2 if self.__secret else "none"

    def __hidden(self, __private=4):
        return __private if self.__secret else -__private

    def step(self, n):
        if n > 2:
            self.__secret += n
            self._items[0] += n
        else:
            del self.__secret
            self.__secret = -1
        __local = [self.__hidden(k) for k in range(2) if self.__secret]
        for __each in range(n):
            __local.append(__each)
        return self.__secret, self.doubled, __local, self.__hidden()

    @classmethod
    def make(cls, n):
        return cls(n) if n else cls(1)

    @staticmethod
    def plain(n):
        return n and n + 1

    def __call__(self, n):
        return self.step(n) if n else "called"


class Derived(Base):
    def step(self, n):
        if n > 1:
            found = super().step(n)
        else:
            found = [super(Derived, self).step(k) for k in range(2)]

        def inner(this):
            return super().doubled if this else None

        return found, inner(self), (lambda me: super().doubled)(self), __class__.__name__


@case((0,), (1,), (4,))
def methods(n):
    base, derived = Base(n), Derived.make(n)
    return base.step(n), derived.step(n), base(n), derived(n), Base.plain(n), vars(base), vars(derived)


@case((0, 5), (3, 1), (6, 2), (6, 9))
def names_of_exits(n, limit):
    for k in range(n):
        if k * k > limit:
            first, (second, *_) = k, (k + 1, 0)
            break
        if k > 4:
            first = second = "long"
            break
    else:
        first, second = -n, None
    while True:
        n += 1
        if n % 5 == 0:
            third = [n]
            break
        if n > 90:
            return "far"
    try:
        while True:
            for fourth in third:
                if fourth:
                    del fourth
                    break
            break
        return first, second, third, fourth
    except NameError as error:
        return first, second, third, isinstance(error, NameError)
