"""What is converted, what is called as it is, and that a converted function is the function otherwise."""

import contextlib
import functools
import inspect
import json
import linecache
import os.path
import threading
import traceback
import types

import numpy as np
import pytest
import scipy.special

import mindgrad as ms
from mindgrad.core.base.location import PACKAGE
from mindgrad.core.base.refusal import CompileError, location_of, refuse, without_own_frames
from mindgrad.frontend.python import convert as package
from mindgrad.frontend.python.convert import convert, convertible, reason_unconverted, refuse_unconvertible
from tests.unit.plain_runtime import PlainRuntime

RUNTIME = PlainRuntime()


def plain(x, y=2, *, z=3):
    """Says hello."""
    if x:
        return x + y + z
    return y


class Owner:
    def __init__(self, start):
        self.start = start

    def method(self, x):
        return self.start if x else -self.start

    @classmethod
    def of_class(cls, x):
        return cls(x).start if x else cls

    @staticmethod
    def of_none(x):
        return x if x else "none"

    def __call__(self, x):
        return self.method(x)

    def generator(self):
        yield self.start

    async def coroutine(self):
        return self.start


# -- what is converted -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("function", "args"),
    [
        (plain, (1,)),
        (lambda x: x or 4, (0,)),
        (Owner(3).method, (1,)),
        (Owner.of_class, (2,)),
        (Owner(1).of_class, (2,)),
        (Owner.of_none, (0,)),
        (Owner.__dict__["of_none"], (0,)),
        (Owner(3), (1,)),
        (functools.partial(plain, 1, z=5), ()),
        (functools.partial(functools.partial(Owner(3).method), 1), ()),
    ],
    ids=["function", "lambda", "method", "classmethod", "classmethod-of-object", "staticmethod",
         "staticmethod-object", "object", "partial", "partial-of-method"],
)  # fmt: skip
def test_converted(function, args):
    assert convertible(function)
    assert reason_unconverted(function) == ""
    assert convert(function, RUNTIME)(*args) == function(*args)


@pytest.mark.parametrize(
    ("function", "reason"),
    [
        (len, "not written in Python"),
        ([].append, "not written in Python"),
        (Owner, "not written in Python"),
        (np.sin, "not written in Python"),
        (np.linalg.norm, None),
        (np.vander, None),
        (json.dumps, "standard library"),
        (os.path.join, "standard library"),
        (contextlib.nullcontext, "not written in Python"),
        (scipy.special.softmax, "belongs to scipy"),
        (ms.ops.sin, "belongs to mindgrad"),
        (ms.nn.Cell(), "belongs to mindgrad"),
        (ms.nn.Cell().set_train, "belongs to mindgrad"),
        (functools.partial(len), "not written in Python"),
        (Owner(1).generator, "generator"),
        (Owner(1).coroutine, "generator or async"),
        (eval("lambda x: x"), "created by exec or eval"),
        (functools.lru_cache(plain), "not written in Python"),
    ],
    ids=lambda each: None if callable(each) else str(each),
)
def test_called_as_it_is(function, reason):
    assert not convertible(function)
    assert convert(function, RUNTIME) is function
    if reason is not None:
        assert reason in reason_unconverted(function)


def test_a_library_of_the_user_s_is_converted(tmp_path):
    path = tmp_path / "site-packages" / "own" / "layers.py"
    path.parent.mkdir(parents=True)
    path.write_text("def f(x):\n    return 1 if x else 2\n")
    module = {"__name__": "own.layers"}
    exec(compile(path.read_text(), str(path), "exec"), module)
    assert convertible(module["f"])


def test_inner_functions_are_not_converted_again():
    def outer(x):
        def inner(y):
            return y if x else -y

        several = [inner, lambda y: inner(y) and y, *[lambda y: y for _ in range(2) if x]]

        class Local:
            def method(self):
                return 1 if x else 2

        def generator():
            yield from (lambda: 1 if x else 2, lambda: x)

        return several, Local().method, [*generator()]

    several, method, generated = convert(outer, RUNTIME)(1)
    for each in several:
        assert convert(each, RUNTIME) is each
        assert reason_unconverted(each) == ""
    # classes and generators stay as they were written: what they make is converted when it is called
    for each in [method, *generated]:
        assert convert(each, RUNTIME) is not each
        assert convert(each, RUNTIME)() == each() == 1


def test_converting_a_converted_function_changes_nothing():
    converted = convert(plain, RUNTIME)
    assert convert(converted, RUNTIME) is converted


# -- it is the same function -----------------------------------------------------------------------


def test_what_a_function_has_is_kept():
    plain.attribute = 5
    converted = convert(plain, RUNTIME)
    kept = ["name", "qualname", "doc", "module", "defaults", "kwdefaults", "dict", "annotations", "globals"]
    for each in (f"__{name}__" for name in kept):
        assert getattr(converted, each) == getattr(plain, each), each
    assert inspect.signature(converted) == inspect.signature(plain)
    assert inspect.getsource(converted) == inspect.getsource(plain)
    assert converted.__code__.co_firstlineno == plain.__code__.co_firstlineno
    assert converted.__code__.co_filename == plain.__code__.co_filename


def test_cells_are_shared():
    count = 0

    def increase(by):
        nonlocal count
        if by:
            count += by
        return count

    converted = convert(increase, RUNTIME)
    assert [converted(2), increase(1), converted(0)] == [2, 3, 3]
    count = 10
    assert converted(1) == 11 == count


def test_one_code_of_two_closures():
    def make(k):
        return lambda x: k if x else -k

    one, two = make(1), make(2)
    assert convert(one, RUNTIME).__code__ is convert(two, RUNTIME).__code__
    assert [convert(one, RUNTIME)(1), convert(two, RUNTIME)(0)] == [1, -2]


def test_two_runtimes():
    class Other(PlainRuntime):
        def if_(self, test, then, orelse, get, put, names, later):
            then()

    assert convert(plain, Other())(0) == 5
    assert convert(plain, RUNTIME)(0) == 2


def test_a_code_that_is_gone_is_forgotten():
    text = "def f(x):\n    return 1 if x else 2\n"
    linecache.cache["<gone>"] = (len(text), None, text.splitlines(keepends=True), "<gone>")
    before = len(package._codes)
    module = {}
    exec(compile(text, "<gone>", "exec"), module)
    assert convert(module["f"], RUNTIME)(1) == 1
    assert len(package._codes) > before
    module.clear()
    assert len(package._codes) <= before


def test_threads_convert_once():
    def f(x):
        return 1 if x else 2

    codes, gate = [], threading.Barrier(8)

    def work():
        gate.wait()
        codes.append(convert(f, RUNTIME).__code__)

    threads = [threading.Thread(target=work) for _ in range(8)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert len({id(each) for each in codes}) == 1


def test_names_of_inner_functions():
    def outer(x):
        if x:

            def inner():
                return [lambda: 1]

            class Local:
                def method(self): ...

        return inner, inner()[0], Local, Local.method

    names = [each.__qualname__ for each in convert(outer, RUNTIME)(1)]
    assert names == [each.__qualname__ for each in outer(1)]


# -- tracebacks ------------------------------------------------------------------------------------


def failing(x):
    total = 0
    for i in range(3):
        if x:
            total = [1 and inner_failure(i) for _ in range(1)]
    return total


def inner_failure(i):
    return 1 / i if i is not None else 0


def raised(function, *args):
    try:
        function(*args)
    except Exception as error:
        return error
    raise AssertionError("nothing was raised")


def without_test_frames(error):
    """As at the boundary of a compiled call; the frames of this test's runtime count as the package's."""
    entries = []
    entry = error.__traceback__.tb_next
    while entry is not None:
        if not entry.tb_frame.f_code.co_filename.endswith("plain_runtime.py"):
            entries.append(entry)
        entry = entry.tb_next
    following = None
    for entry in reversed(entries):
        following = types.TracebackType(following, entry.tb_frame, entry.tb_lasti, entry.tb_lineno)
    return without_own_frames(error.with_traceback(following))


def test_a_traceback_shows_the_user_s_lines():
    expected = raised(failing, 1)
    error = without_test_frames(raised(convert(failing, RUNTIME), 1))
    lines = [(each.name, each.line) for each in traceback.extract_tb(error.__traceback__)]
    assert lines == [
        ("failing", "total = [1 and inner_failure(i) for _ in range(1)]"),
        ("inner_failure", "return 1 / i if i is not None else 0"),
    ] or lines == [(each.name, each.line) for each in traceback.extract_tb(expected.__traceback__.tb_next)]
    last = traceback.extract_tb(error.__traceback__)[-1]
    original = traceback.extract_tb(expected.__traceback__)[-1]
    assert (last.colno, last.end_colno, last.lineno) == (original.colno, original.end_colno, original.lineno)


def test_recursion_shows_every_call():
    def down(n):
        if n:
            return 1 + down(n - 1)
        raise KeyError("bottom")

    error = without_test_frames(raised(convert(down, RUNTIME), 3))
    names = [(each.name, each.line) for each in traceback.extract_tb(error.__traceback__)]
    assert names == [("down", "return 1 + down(n - 1)")] * 3 + [("down", 'raise KeyError("bottom")')]


def test_all_frames_on_request(monkeypatch):
    monkeypatch.setenv("MINDGRAD_TRACEBACK", "full")
    error = raised(ms.Tensor, object())
    entries = len(traceback.extract_tb(error.__traceback__))
    assert without_own_frames(error) is error
    assert len(traceback.extract_tb(error.__traceback__)) == entries > 2
    monkeypatch.delenv("MINDGRAD_TRACEBACK")
    (only,) = traceback.extract_tb(without_own_frames(error).__traceback__)
    assert only.filename == __file__


def test_a_bare_raise_adds_no_frame():
    """How public functions hand errors on: seen from outside, they are not there."""
    text = "def public(f):\n    try:\n        return f()\n    except Exception as error:\n"
    text += "        without_own_frames(error)\n        raise\n"
    module = {"without_own_frames": without_own_frames}
    exec(compile(text, PACKAGE + "/public.py", "exec"), module)
    public = module["public"]
    error = raised(public, lambda: public(lambda: 1 / 0))
    names = [entry.name for entry in traceback.extract_tb(error.__traceback__)]
    assert names == ["raised", "<lambda>", "<lambda>"]


def test_a_refusal_stands_alone():
    def f():
        try:
            raise KeyError
        except KeyError:
            refuse("no")

    assert raised(f).__suppress_context__


def test_causes_lose_own_frames_too():
    def f():
        try:
            ms.Tensor(object())
        except Exception as error:
            raise KeyError("outer") from error

    error = without_own_frames(raised(f))
    for each in (error, error.__cause__):
        assert {entry.filename for entry in traceback.extract_tb(each.__traceback__)} == {__file__}


# -- refusals --------------------------------------------------------------------------------------


def refusal(function, *args):
    with pytest.raises(CompileError) as caught:
        function(*args)
    return str(caught.value)


def test_a_refusal_underlines_what_is_being_evaluated():
    class Refusing(PlainRuntime):
        def attribute(self, owner, name):
            # this file is the user's: the frame of the rewritten code is named
            refuse("no attributes", "Use none.", frame=inspect.currentframe().f_back)

    def f(x):
        y = x if x else None
        if y:
            return 1 + len(x.values) * 2

    line = f.__code__.co_firstlineno + 3
    assert refusal(convert(f, Refusing()), [1]) == (
        f'no attributes\n  File "{__file__}", line {line}, in f\n'
        "    return 1 + len(x.values) * 2\n"
        "                   ^^^^^^^^\n"
        "  Instead: Use none."
    )


@pytest.mark.parametrize("kind", ["if", "while", "for"])
def test_the_head_of_a_statement_is_underlined(kind):
    class Refusing(PlainRuntime):
        def if_(self, *args):
            refuse("no", frame=inspect.currentframe().f_back)

        while_ = for_ = if_

    def by_if(x):
        if x > 1 and x:
            x = 3

    def by_while(x):
        while x > 1 and x:
            x = 3

    def by_for(x):
        for x in range(x):  # noqa: B020
            x = 3

    text = refusal(convert({"if": by_if, "while": by_while, "for": by_for}[kind], Refusing()), 2)
    head = {"if": "if x > 1 and x", "while": "while x > 1 and x", "for": "for x in range(x)"}[kind]
    assert text.splitlines()[3] == "    " + "^" * len(head)


def test_columns_count_characters():
    text = "def f(x):\n    größe, 変数 = 1, 2; return größe + 変数 + x.missing\n"
    linecache.cache["<wide>"] = (len(text), None, text.splitlines(keepends=True), "<wide>")
    module = {}
    exec(compile(text, "<wide>", "exec"), module)
    location = location_of(raised(module["f"], 1).__traceback__.tb_next.tb_frame)
    assert text.splitlines()[1][location.column : location.end_column] == "x.missing"
    lines = refusal(lambda: refuse("no", at=location)).splitlines()
    # Chinese characters take two columns of a terminal each
    assert lines[3].index("^") - lines[2].index("x.missing") == 4
    assert lines[3].count("^") == 9


def test_a_long_line_is_cut_around_what_is_meant():
    source = "value = " + " + ".join(f"name{k}" for k in range(100)) + "\n"
    linecache.cache["<long>"] = (len(source), None, [source], "<long>")
    begin = source.index("name50")
    lines = refusal(lambda: refuse("no", at=("<long>", 1, begin, begin + 6, "f"))).splitlines()
    assert len(lines[2]) < 130
    marked = lines[3].index("^")
    assert lines[2][marked : lines[3].rindex("^") + 1] == "name50"


def test_without_source_or_columns():
    assert refusal(lambda: refuse("no", at=("<nothing>", 3))) == 'no\n  File "<nothing>", line 3'
    text = refusal(lambda: refuse("no", "A.\nB.", at=(__file__, 1, None, None, "f")))
    assert text.endswith("\n  Instead: A.\n           B.")
    assert "^" not in text


def test_a_refusal_can_be_caught_as_mindspore_s_errors():
    for kind in (TypeError, RuntimeError):
        with pytest.raises(kind, match=r"^no"):
            refuse("no")


@pytest.mark.parametrize("jump", ["return 1", "break", "continue"])
def test_jumps_out_of_finally_are_refused(jump):
    head = ["def f(x):", "    for i in x:", "        try:", "            g()", "        finally:"]
    text = "\n".join(
        [*head, "            for j in x:", "                break", f"            if i: {jump}", ""]
    )
    linecache.cache["<finally>"] = (len(text), None, text.splitlines(keepends=True), "<finally>")
    module = {}
    exec(compile(text, "<finally>", "exec"), module)
    lines = refusal(convert, module["f"], RUNTIME).splitlines()
    assert lines[0].startswith(f"'{jump.split()[0]}' leaves a 'finally' block")
    assert lines[1:4] == [
        '  File "<finally>", line 8, in f',
        f"    if i: {jump}",
        "          " + "^" * len(jump),
    ]
    del linecache.cache["<finally>"]


def test_generators_are_refused_only_as_such():
    text = refusal(refuse_unconvertible, Owner(1).generator)
    assert text.startswith("'generator' is a generator function (it contains 'yield')")
    assert "in generator\n    def generator(self):\n" in text
    assert "'coroutine' is an async function" in refusal(refuse_unconvertible, Owner(1).coroutine)
    refuse_unconvertible(plain)
    refuse_unconvertible(len)


def test_hundreds_of_levels():
    def function(count):
        tests = "".join(f"    if x == {k}: return {k}\n" for k in range(count))
        text = f"def f(x):\n{tests}    return -1\n"
        linecache.cache["<deep>"] = (len(text), None, text.splitlines(keepends=True), "<deep>")
        module = {}
        exec(compile(text, "<deep>", "exec"), module)
        return module["f"]

    f = convert(function(100), RUNTIME)
    assert [f(0), f(99), f(100)] == [0, 99, -1]
    text = refusal(convert, function(1000), RUNTIME)
    assert text.startswith("'f' is nested too deeply")
    assert '"<deep>", line 1, in f\n    def f(x):\n' in text


def test_a_function_met_in_deep_recursion_is_not_said_to_be_nested():
    text = "def late(x):\n" + "    if x > 0:\n        x = -(-(-(x + 1)))\n" * 30 + "    return x\n"
    linecache.cache["<late>"] = (len(text), None, text.splitlines(keepends=True), "<late>")
    module = {}
    exec(compile(text, "<late>", "exec"), module)
    met = []

    def down():
        """Until there is no package: the function is converted with hardly a frame left."""
        try:
            down()
        except RecursionError:
            if not met:
                met.append(convert(module["late"], RUNTIME))

    down()
    assert met[0] is not module["late"]
    assert met[0](-1) == module["late"](-1) == -1
