"""The house's words: variables are nouns, and docstrings begin with what they describe.

A variable whose name says *when* it was made (found, made, given) or nothing at all (each, one, what) may live for
three lines, as the variable of a comprehension does; beyond that it has the name of what it is. ``docs/glossary.md``
has the words.
"""

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[2] / "src" / "mindgrad"
FILES = sorted(SOURCE.rglob("*.py"))
VAGUE = {
    "asked", "each", "found", "given", "held", "here", "kept", "known", "made", "one", "place", "put", "rest", "seen",
    "taken", "there", "wanted", "what", "whole",
}  # fmt: skip
MOST_LINES = 3
#: rooms whose modules docstrings name as ``room.module``
ROOMS = {
    "_base", "api", "backend", "control", "eager", "execution", "ir", "optimize", "rows", "solvers", "sparse",
    "trace", "transforms",
}  # fmt: skip
QUESTION = re.compile(r"(What|Who|Whom|Whose|Where|Which|How|Why)\b")
#: a time, a rate or a size that one machine gave: those stand in docs/decisions
MEASUREMENT = re.compile(r"\d\s?(ms|µs|us|ns|GB/s|MB/s|GFLOP/s|CPU s)\b|\d(\.\d+)? times (faster|slower)")

Function = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda


def bound(function: Function) -> set[str]:
    """The parameters of a function, and the names that it assigns itself."""
    arguments = function.args
    parameters = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
    names = {x.arg for x in (*parameters, arguments.vararg, arguments.kwarg) if x is not None}
    waiting: list[ast.AST] = list(function.body) if isinstance(function.body, list) else [function.body]
    while waiting:
        node = waiting.pop()
        if isinstance(node, Function):
            continue
        # ``zero, one = 0, 1`` are numbers
        if isinstance(node, ast.Tuple) and {"zero", "one"} <= {getattr(x, "id", "") for x in node.elts}:
            continue
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            names.add(node.id)
        waiting.extend(ast.iter_child_nodes(node))
    return names


def vague_variables(tree: ast.Module) -> Iterator[str]:
    """The vague variables of each function that live for more than :data:`MOST_LINES` lines."""
    for function in ast.walk(tree):
        if not isinstance(function, Function):
            continue
        names = bound(function) & VAGUE
        lines: dict[str, list[int]] = {name: [] for name in sorted(names)}
        for node in ast.walk(function) if names else ():
            name = getattr(node, "id", getattr(node, "arg", None))
            if name in names and isinstance(node, ast.Name | ast.arg):
                lines[name].append(node.lineno)
        for name, uses in lines.items():
            if max(uses) - min(uses) >= MOST_LINES:
                yield f"{min(uses)}: '{name}' lives for {max(uses) - min(uses) + 1} lines; say what it is"


def docstrings(tree: ast.Module) -> Iterator[tuple[ast.AST, str]]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            docstring = ast.get_docstring(node)
            if docstring:
                yield node, docstring


def missing_references(docstring: str) -> list[str]:
    """The names ``room.module`` and ``room/module.py`` in double backticks of modules that do not exist."""
    dotted = re.findall(r"``([a-z_]+)\.([a-z_]+)[^`]*``", docstring)
    paths = re.findall(r"``([a-z_]+)/([a-z_]+)\.py``", docstring)
    return [
        f"{room}.{module}" for room, module in dotted + paths if room in ROOMS and not _exists(room, module)
    ]


def _exists(room: str, module: str) -> bool:
    if (SOURCE / room / f"{module}.py").exists() or (SOURCE / room / module).is_dir():
        return True
    package = SOURCE / room / "__init__.py"
    return package.exists() and re.search(rf"\b{module}\b", package.read_text()) is not None


def faults_of_docstrings(tree: ast.Module) -> list[str]:
    """The faults of the docstrings of one file that can be seen without understanding them."""
    faults = []
    for node, docstring in docstrings(tree):
        where = f"{getattr(node, 'lineno', 1)}: '{docstring.splitlines()[0][:60]}'"
        if QUESTION.match(docstring):
            faults.append(f"{where} begins with a question word: begin with the noun that it describes")
        faults += [
            f"{where} refers to '{name}', which does not exist" for name in missing_references(docstring)
        ]
        if isinstance(node, ast.Module):
            first = docstring.split("\n\n")[0]
            if not first.rstrip().endswith((".", "…", ":", "``")):
                faults.append(f"{where} is no sentence")
            if found := MEASUREMENT.search(docstring):
                faults.append(f"{where} holds a measurement ({found[0]}): it belongs into docs/decisions")
    return faults


@cache
def faults_of(path: Path) -> list[str]:
    """All faults of a file, with its name and line."""
    tree = ast.parse(path.read_text())
    name = path.relative_to(SOURCE).as_posix()
    return [f"{name}:{fault}" for fault in (*vague_variables(tree), *faults_of_docstrings(tree))]


def test_variables_are_nouns_and_docstrings_begin_with_them():
    faults = [fault for path in FILES for fault in faults_of(path)]
    assert not faults, "\n".join(["", *faults])


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("def f(x):\n    found = x\n    a = 1\n    b = 2\n    return found", "found"),
        ("def f(given):\n    a = 1\n    b = 2\n    return given", "given"),
        ("def f(*, place=1):\n    a = 1\n    b = 2\n    return place", "place"),
        ("def f(x):\n    for each in x:\n        a = 1\n        b = 2\n        print(each)", "each"),
        ("def f(x):\n    made = x\n    def g():\n        return 1\n    return made", "made"),
        ("class A:\n    def f(self, x):\n        with x as held:\n            a = 1\n            b = 2\n            held()", "held"),
        ("f = lambda what: (\n    1,\n    2,\n    what)", "what"),
    ],
)  # fmt: skip
def test_a_vague_variable_is_seen(text, name):
    assert any(f"'{name}'" in fault for fault in vague_variables(ast.parse(text)))


@pytest.mark.parametrize(
    "text",
    [
        "def f(x):\n    return [each for each in x]",
        "def f(x):\n    found = x\n    a = 1\n    return found",
        "def f(x):\n    zero, one = 0, 1\n    a = 1\n    b = 2\n    return one",
        "def f(x):\n    x.found = 1\n    a = 1\n    b = 2\n    return x.found",
    ],
)
def test_what_lives_shortly_is_allowed(text):
    assert not list(vague_variables(ast.parse(text)))


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ('"""What a loop keeps."""', "question word"),
        ('def f():\n    """Where it stands."""', "question word"),
        ('"""Loops are unrolled"""', "no sentence"),
        ('"""Loops are unrolled.\n\nIt took 17.4 ms.\n"""', "measurement"),
        ('"""Loops are as in ``control.trips``."""', "does not exist"),
        ('"""Loops are as in ``optimize/halves.py``."""', "does not exist"),
    ],
)
def test_a_fault_of_a_docstring_is_seen(text, fault):
    assert any(fault in message for message in faults_of_docstrings(ast.parse(text)))


def test_a_good_docstring_has_no_fault():
    text = '"""Loop tiling runs a batch in tiles (``optimize.batch_region``), up to 30 MB each."""'
    assert faults_of_docstrings(ast.parse(text)) == []
