"""Source is found wherever a function was typed, with its real lines and columns, or a reason is given."""

import ast
import doctest
import functools
import linecache
import os
import pty
import subprocess
import sys
import types

import pytest

from mindgrad.trace.python import source as room
from mindgrad.trace.python.convert import convert
from mindgrad.trace.python.source import NoSource, find_source
from tests.unit.plain_runtime import PlainRuntime

SRC = os.path.join(os.path.dirname(__file__), "..", "..", "src")


def found(function):
    source = find_source(function)
    return ast.unparse(source.node.body), source


def returned(function):
    """The expression that a lambda gives."""
    (statement,) = find_source(function).node.body
    return ast.unparse(statement.value)


def test_a_function_has_its_lines_and_columns():
    def f(x):
        return x + 1

    text, source = found(f)
    assert text == "return x + 1"
    assert source.node.name == "f"
    assert source.owner is None
    (statement,) = source.node.body
    line = linecache.getline(source.file, statement.lineno)
    assert line[statement.col_offset : statement.end_col_offset] == "return x + 1"
    assert statement.lineno == f.__code__.co_firstlineno + 1


def test_the_tree_is_the_caller_s():
    def f(x):
        return x

    find_source(f).node.body.clear()
    assert found(f)[0] == "return x"


def test_lambdas_on_one_line():
    # fmt: off
    functions = [lambda x: x + 1, lambda x: x + 2, lambda x, y: x + y, lambda: 0, lambda: 0.0, lambda: -0.0]
    # fmt: on
    expected = ["x + 1", "x + 2", "x + y", "0", "0.0", "-0.0"]
    assert [returned(each) for each in functions] == expected


def test_lambdas_alike_on_one_line_differ_by_column():
    pair = (lambda x: x * x, lambda x: x * x)  # fmt: skip
    columns = [find_source(each).node.body[0].col_offset for each in pair]
    text = linecache.getline(__file__, pair[0].__code__.co_firstlineno)
    assert columns == [text.index("x * x"), text.rindex("x * x")]


def test_lambdas_in_lambdas():
    outer = lambda x: lambda y: lambda: x + y
    assert returned(outer) == "lambda y: lambda: x + y"
    assert returned(outer(1)) == "lambda: x + y"
    assert returned(outer(1)(2)) == "x + y"


def test_a_lambda_over_several_lines_as_an_argument():
    part = functools.partial(
        lambda x, *, scale=(
            2
        ): (
            x
            * scale
        ),
        3,
    )  # fmt: skip
    source = find_source(part.func)
    assert ast.unparse(source.node.body) == "return x * scale"
    assert source.node.body[0].lineno == part.func.__code__.co_firstlineno + 3


def same(function):
    return function


def test_decorated():
    @same
    @functools.cache
    @same
    def f(x, y: int = 1) -> int:
        return x - y

    text, source = found(f.__wrapped__)
    assert text == "return x - y"
    assert source.node.decorator_list[0].lineno == f.__wrapped__.__code__.co_firstlineno
    assert source.node.returns is None


class Outer:
    class Inner:
        def method(self):
            def nested():
                return self.__private, __class__

            return nested

        shared = lambda self: self.__other


def test_methods_know_their_class():
    assert find_source(Outer.Inner.method).owner == "Inner"
    nested = Outer.Inner().method()
    assert find_source(nested).owner == "Inner"
    assert find_source(Outer.Inner.shared).owner == "Inner"


def test_functions_of_one_name():
    functions = []
    for _ in range(2):

        def f(x):
            return x + 1

        functions.append(f)

    def f(x):
        return x + 2

    functions.append(f)
    assert [found(each)[0] for each in functions] == ["return x + 1", "return x + 1", "return x + 2"]


def test_doctests():
    example = """
    >>> def typed(x):
    ...     return x + 41
    >>> ast.unparse(find_source(typed).node.body)
    'return x + 41'
    """
    names = {"ast": ast, "find_source": find_source}
    results = doctest.DocTestRunner().run(
        doctest.DocTestParser().get_doctest(example, names, "typed", None, 0)
    )
    assert results == (0, 2)


def test_a_text_that_only_linecache_knows():
    text = "def typed(x):\n    return x + 41\n"
    linecache.cache["<cell 7>"] = (len(text), None, text.splitlines(keepends=True), "<cell 7>")
    module = {}
    exec(compile(text, "<cell 7>", "exec"), module)
    assert found(module["typed"])[0] == "return x + 41"


def test_future_imports_count():
    text = "from __future__ import annotations\ndef f(x: later) -> never:\n    y: int = x\n    return y\n"
    linecache.cache["<future>"] = (len(text), None, text.splitlines(keepends=True), "<future>")
    module = {}
    exec(compile(text, "<future>", "exec", dont_inherit=True), module)
    assert found(module["f"])[0] == "y: int = x\nreturn y"


def test_no_source():
    module = {}
    exec("def f(x):\n    return x", module)
    with pytest.raises(NoSource, match="made by exec or eval"):
        find_source(module["f"])


def load(path, name="loaded"):
    module = types.ModuleType(name)
    exec(compile(path.read_text(), str(path), "exec"), module.__dict__)
    return module


def test_an_edited_file(tmp_path):
    path = tmp_path / "edited.py"
    path.write_text("def f(x):\n    return x + 2\n\ndef g(x):\n    return x\n")
    module = load(path)
    path.write_text("def f(x):\n    return x - 3\n\ndef g(x):\n    return x\n")
    with pytest.raises(NoSource, match="is not what the running program was made from"):
        find_source(module.f)
    assert found(module.g)[0] == "return x"


def test_a_file_edited_after_it_was_read(tmp_path):
    path = tmp_path / "edited_later.py"
    path.write_text("def f(x):\n    return x + 2\n")
    module = load(path)
    linecache.getlines(str(path))
    path.write_text("# new\ndef f(x):\n    return x - 33\n")
    assert found(module.f)[0] == "return x + 2"
    newer = load(path)
    assert found(newer.f)[0] == "return x - 33"


def test_a_file_that_is_not_python_any_more(tmp_path):
    path = tmp_path / "broken.py"
    path.write_text("def f(x):\n    return x + 2\n")
    module = load(path)
    path.write_text("def f(x:\n")
    with pytest.raises(NoSource, match="is not what"):
        find_source(module.f)


# -- programs that are not files -------------------------------------------------------------------

PROGRAM = """\
import ast
from mindgrad.trace.python.source import find_source
f, g = lambda x: x + 1, lambda x: x + 2
def h(x):
    return (x,
            'é')
for each in f, g, h:
    print(ast.unparse(find_source(each).node.body), each.__code__.co_firstlineno)
"""
PRINTED = "return x + 1 3\nreturn x + 2 3\nreturn (x, 'é') 4\n"
ENVIRONMENT = {**os.environ, "PYTHONPATH": SRC, "PYTHONIOENCODING": "utf-8"}


def output(*command, **options):
    done = subprocess.run(
        [sys.executable, *command],
        env=ENVIRONMENT,
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=60,
        **options,
    )
    return done.stdout + done.stderr


@pytest.mark.parametrize(
    "command",
    [("-c", PROGRAM), ("-W", "ignore", "-Bc", PROGRAM), ("-m", "mindgrad", "-c", PROGRAM, "argument")],
    ids=["c", "options", "mindgrad"],
)
def test_programs_given_as_text(command):
    assert output(*command) == PRINTED


def test_a_program_redirected_to_python(tmp_path):
    path = tmp_path / "program.py"
    path.write_text(PROGRAM, encoding="utf-8")
    with path.open() as file:
        assert output(stdin=file) == PRINTED


TYPED = """\
import ast
from mindgrad.trace.python.source import find_source
f, g = lambda x: x + 1, lambda x: x + 2
def h(x):
    if x:
        return 1
    return 2

def twice(f):
    return f

@twice
def k(x):
    return 3

def h2(x): return x

for each in f, g, h, k, h2:
    print('found', ast.unparse(find_source(each).node.body).split())

quit()
"""


@pytest.mark.filterwarnings("ignore:os.fork:RuntimeWarning")  # the child starts another program at once
def test_a_prompt():
    """What is typed at the prompt of Python, on a terminal."""
    process, terminal = pty.fork()
    if process == 0:
        os.environ.update(ENVIRONMENT, TERM="dumb", PYTHON_BASIC_REPL="1", PYTHONSTARTUP="")
        os.execv(sys.executable, [sys.executable, "-q"])
    for line in TYPED.splitlines():
        os.write(terminal, line.encode() + b"\n")
    text = b""
    try:
        while data := os.read(terminal, 4096):
            text += data
    except OSError:  # the other side has closed
        pass
    os.waitpid(process, 0)
    os.close(terminal)
    printed = [line for line in text.decode().splitlines() if line.startswith("found")]
    assert printed == [
        "found ['return', 'x', '+', '1']",
        "found ['return', 'x', '+', '2']",
        "found ['if', 'x:', 'return', '1', 'return', '2']",
        "found ['return', '3']",
        "found ['return', 'x']",
    ], text.decode()


def test_marks_of_other_tools_are_not_copied():
    """IPython, to show a traceback, lets every node know its parent: also those that all trees share."""
    shared = [ast.parse("a = b\ndel c").body[k] for k in (0, 1)]
    shared = [shared[0].targets[0].ctx, shared[0].value.ctx, shared[1].targets[0].ctx]
    around = ast.parse("\n".join(f"if x{k}: y = (x{k} + 1) * 2" for k in range(2000)))

    def f(x):
        if x > 0:
            return x * 3
        return x

    first = found(f)[1].node
    definitions = [each.node for each in room._files[__file__].definitions["f", f.__code__.co_firstlineno]]
    every = [*shared, *(node for tree in definitions for node in ast.walk(tree))]
    marked = list({id(node): node for node in every}.values())
    for node in marked:
        node.parent = around
    around.parent = shared[0]
    try:
        again = found(f)[1].node
        g = convert(f, PlainRuntime())
        assert g is not f
        assert g(2) == 6
    finally:
        for node in marked:
            del node.parent
    assert ast.dump(again, include_attributes=True) == ast.dump(first, include_attributes=True)
    nodes = [node for node in ast.walk(again) if node._attributes]
    assert len(nodes) > 10
    assert not any(hasattr(node, "parent") for node in nodes)
