"""Rewritten source does what the original does: with a runtime that runs everything as Python.

Every case runs as it is and rewritten, and has to give the same value or exception, and the same side
effects in the same order (they write into ``log``). Random programs do the same, and once more with a
runtime that runs too much and hands on only what the rewriting says (see ``plain_runtime``).
"""

# ruff: noqa: F841

import contextlib
import itertools
import linecache
import types

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mindgrad.frontend.python.convert import convert
from tests.thorough import size
from tests.unit.plain_runtime import HavocRuntime, PlainRuntime
from tests.unit.random_functions import Program
from tests.unit.rewritten_functions import CASES, Base, Derived, closures, log


def outcome(function, *args):
    """What a call gives, and what it writes into the log."""
    log.clear()
    try:
        result = ("value", function(*args))
    except NameError:
        result = ("raised", NameError, "")  # not UnboundLocalError: a known limit
    except Exception as error:
        chain = (type(error.__cause__), type(error.__context__), error.__suppress_context__)
        result = ("raised", type(error), str(error), chain)
    return result, list(log)


@pytest.mark.parametrize(("function", "args"), CASES)
def test_a_case_runs_as_it_did(function, args):
    converted = convert(function, PlainRuntime())
    assert converted is not function
    assert outcome(converted, *args) == outcome(function, *args)


def test_a_second_call_shares_nothing():
    converted = convert(closures, PlainRuntime())
    assert outcome(converted, 4) == outcome(converted, 4) == outcome(closures, 4)


@pytest.mark.parametrize(
    "function", [Base.step, Derived.step, Base.doubled.fget], ids=lambda f: f.__qualname__
)
def test_a_method_alone(function):
    converted = convert(function, PlainRuntime())
    assert converted is not function
    args = (3,) * (function.__code__.co_argcount - 1)
    assert converted(Derived(2), *args) == function(Derived(2), *args)


def names_of(function, *args):
    runtime = PlainRuntime()
    convert(function, runtime)(*args)
    return [(kind, set(names)) for kind, names in runtime.constructs]


def test_only_what_is_read_later_is_handed_on():
    def f(x):
        if x > 0:
            y, temporary = x, 2 * x
            z = temporary
        else:
            y, other = 0, x
            z = other
        dead = 1
        while y < 3:
            square = y * y
            y = y + 1
            last = square
        for i in range(2):
            each = i + x
            z = z + each
        return z, last

    assert names_of(f, 1) == [("if", {"y", "z"}), ("while", {"y", "last"}), ("for", {"z"})]


def test_flags_and_results_are_handed_on():
    def f(x):
        for i in range(x):
            if i == 2:
                return i
            if i == 1:
                continue
            x = x + 1
        return x

    kinds = names_of(f, 4)
    assert kinds[0] == ("for", {"x", "result__", "returned__"})
    assert ("if", {"x", "result__", "returned__"}) in kinds
    assert kinds[-1] == ("if", {"result__"})


def test_what_is_changed_in_place_is_handed_on():
    def f(items, table, n):
        if n:
            items.append(1)
            table["a"][0] = 2
            n += 1
        return None

    assert names_of(f, [], {"a": [0]}, 1) == [("if", {"items", "table", "n"})]


def test_what_inner_functions_see_is_handed_on():
    def f(n):
        show = lambda: x
        if n:
            x = 1
        else:
            x, y = 2, 3
        return show()

    assert names_of(f, 1) == [("if", {"x"})]


def test_the_walrus_of_a_test_reaches_the_body():
    def f(n):
        while (m := n - 1) > 0:
            n = m
        return n

    assert names_of(f, 3) == [("while", {"n", "m"})]


def test_names_read_where_an_exception_is_caught():
    def f(n):
        x = 0
        try:
            if n:
                x = 1
            x = 1 // n
        except ZeroDivisionError:
            return x
        return -1

    assert names_of(f, 1) == [("if", {"x"}), ("if", {"result__"})] or names_of(f, 1)[0] == ("if", {"x"})


def test_variables_can_be_unbound():
    """`get` gives `undefined` for an unbound variable, and `put` of it unbinds."""
    seen = []

    class Runtime(PlainRuntime):
        def if_(self, test, then, orelse, get, put, names, later):
            seen.append(dict(zip(names, get(), strict=True)))
            then()
            seen.append(dict(zip(names, get(), strict=True)))
            put([self.undefined for _ in names])

    def f():
        x = 1
        if True:
            x, y = 2, 3
        return x, y

    runtime = Runtime()
    with pytest.raises(NameError):
        convert(f, runtime)()
    assert seen == [{"x": 1, "y": runtime.undefined}, {"x": 2, "y": 3}]


# -- random programs -------------------------------------------------------------------------------


numbers = itertools.count()


def made(text):
    """The function ``program`` of a text that ``linecache`` knows."""
    file = f"<program {next(numbers)}>"
    linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
    module = types.ModuleType("programs")
    module.__dict__.update(nothing=contextlib.nullcontext())
    exec(compile(text, file, "exec"), module.__dict__)
    return module.program, file


def check_program(runtime, seed, depth):
    text = Program(seed, depth).text
    program, file = made(text)
    try:
        converted = convert(program, runtime())
        assert converted is not program
        for args in ((0, 0), (1, 2), (3, -1)):
            assert outcome(converted, *args) == outcome(program, *args), text
    finally:
        del linecache.cache[file]


@pytest.mark.parametrize("runtime", [PlainRuntime, HavocRuntime])
@settings(max_examples=size(100, 200))
@given(seed=st.integers(0, 2**32), depth=st.integers(1, 4))
def test_a_random_program_runs_as_it_did(runtime, seed, depth):
    check_program(runtime, seed, depth)


def test_assertions():
    # as text of its own: pytest rewrites the assertions of this file
    program, _ = made("def program(x):\n    assert x, nothing\n    assert x > 1\n    return x\n")
    converted = convert(program, PlainRuntime())
    for x in range(3):
        assert outcome(converted, x) == outcome(program, x)


def test_assertions_of_tests_are_the_user_s_own():
    def f(x):
        assert x, "text"
        return x

    converted = convert(f, PlainRuntime())
    assert converted is not f
    assert converted(1) == 1
    with pytest.raises(AssertionError, match=r"^text$"):
        converted(0)
