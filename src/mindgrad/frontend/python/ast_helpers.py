"""Build nodes of a syntax tree with the source positions of the user's code.

Each new node gets the line and columns of its *origin*, the node in the user's source that it replaces.
Therefore, tracebacks and errors in rewritten code show the user's source.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Sequence
from typing import Any

__all__ = [
    "assign", "at", "call", "constant", "define", "either", "function_arguments", "name", "negation",
    "runtime", "statement", "thunk",
]  # fmt: skip

#: name of the closure variable through which rewritten code calls the runtime
RUNTIME = "mg__"
#: name of the first parameter of generated lambdas. It distinguishes them from the user's lambdas
PART = "part__"


def at(node: Any, origin: ast.AST, until: ast.AST | None = None) -> Any:
    """Set the source position of a new node, and return the node.

    Args:
        node: the new node.
        origin: node of the user's source at which the position begins.
        until: node of the user's source at which the position ends. Default: ``origin``.
    """
    end = until if until is not None else origin
    node.lineno, node.col_offset = origin.lineno, origin.col_offset  # type: ignore[attr-defined]
    node.end_lineno, node.end_col_offset = end.end_lineno, end.end_col_offset  # type: ignore[attr-defined]
    return node


def name(identifier: str, origin: ast.AST) -> ast.expr:
    """Create an expression that reads the variable ``identifier``."""
    return at(ast.Name(identifier, ast.Load()), origin)


def constant(value: Any, origin: ast.AST) -> ast.expr:
    """Create a literal with the value ``value``."""
    return at(ast.Constant(value), origin)


def assign(identifier: str, value: ast.expr, origin: ast.AST) -> ast.stmt:
    """Create the statement ``identifier = value``."""
    return at(ast.Assign([at(ast.Name(identifier, ast.Store()), origin)], value), origin)


def statement(value: ast.expr) -> ast.stmt:
    """Create a statement that evaluates the expression ``value``."""
    return at(ast.Expr(value), value)


def call(
    function: ast.expr, args: Sequence[ast.expr], origin: ast.AST, until: ast.AST | None = None
) -> ast.expr:
    """Create the expression ``function(*args)``."""
    return at(ast.Call(function, list(args), []), origin, until)


def runtime(method: str, args: Sequence[ast.expr], origin: ast.AST, until: ast.AST | None = None) -> ast.expr:
    """Create the expression ``mg__.method(*args)``, a call of the runtime."""
    function = at(ast.Attribute(name(RUNTIME, origin), method, ast.Load()), origin, until)
    return call(function, args, origin, until)


def function_arguments(*names: str) -> ast.arguments:
    """Create positional parameters called ``names``, without defaults."""
    args = [ast.arg(each) for each in names]
    return ast.arguments([], args, None, [], [], None, [])


def thunk(body: ast.expr) -> ast.expr:
    """Create the expression ``lambda: body``."""
    arguments = ast.arguments([], [], at(ast.arg(PART), body), [], [], None, [])
    return at(ast.Lambda(arguments, body), body)


def define(identifier: str, parameters: Iterable[str], body: list[ast.stmt], origin: ast.AST) -> ast.stmt:
    """Create a statement that defines an inner function called ``identifier``."""
    arguments = function_arguments(*parameters)
    for argument in arguments.args:
        at(argument, origin)
    function = ast.FunctionDef(identifier, arguments, body or [at(ast.Pass(), origin)], [])
    function.type_params = []  # type: ignore[attr-defined]  # a field since Python 3.12
    return at(function, origin)


def negation(value: ast.expr) -> ast.expr:
    """Create the expression ``not value``."""
    return at(ast.UnaryOp(ast.Not(), value), value)


def either(names: Sequence[str], origin: ast.AST) -> ast.expr:
    """Create the expression ``a or b or …`` for the variables called ``names``."""
    values = [name(identifier, origin) for identifier in names]
    return values[0] if len(values) == 1 else at(ast.BoolOp(ast.Or(), values), origin)
