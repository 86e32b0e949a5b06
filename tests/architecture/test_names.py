"""Names of variables say what they are.

A variable whose name says *when* it was made (found, made, given) or nothing at all (each, one, what) may live for
three lines, as the variable of a comprehension does.
"""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[2] / "src" / "mindgrad"
VAGUE = {
    "asked", "each", "found", "given", "held", "here", "kept", "known", "made", "one", "place", "put", "rest", "seen",
    "taken", "there", "wanted", "what", "whole",
}  # fmt: skip
MOST_LINES = 3

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


def test_variables_say_what_they_are():
    faults = [
        f"{path.relative_to(SOURCE).as_posix()}:{fault}"
        for path in sorted(SOURCE.rglob("*.py"))
        for fault in vague_variables(ast.parse(path.read_text()))
    ]
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
def test_vague_variable_is_found(text, name):
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
def test_short_life_is_allowed(text):
    assert not list(vague_variables(ast.parse(text)))
