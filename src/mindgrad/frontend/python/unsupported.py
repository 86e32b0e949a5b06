"""Reject unsupported syntax before any code runs.

This module rejects syntax that no compiled function supports, such as ``yield``. For other constructs, the
support depends on values. For example, ``float(x)`` is supported if ``x`` is not a tensor. The runtime
rejects such constructs when the trace reaches them.
"""

from __future__ import annotations

import ast
import inspect
import types
from collections.abc import Sequence
from typing import Any, NoReturn

from mindgrad.core.base.refusal import SourceLocation, refuse
from mindgrad.frontend.python.bindings import within

__all__ = ["check", "is_generator_function", "refuse_depth", "refuse_generator"]

_GENERATORS = inspect.CO_GENERATOR | inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR
_JUMPS = (ast.Return, ast.Break, ast.Continue)


def is_generator_function(code: types.CodeType) -> bool:
    """Return whether ``code`` belongs to a generator or async function."""
    return bool(code.co_flags & _GENERATORS)


def refuse_generator(function: types.FunctionType) -> NoReturn:
    """Raise ``CompileError`` because ``function`` is a generator or async function."""
    code = function.__code__
    location = SourceLocation(code.co_filename, code.co_firstlineno, None, None, code.co_name)
    if code.co_flags & inspect.CO_GENERATOR:
        refuse(
            f"'{code.co_name}' is a generator function (it contains 'yield'). A compiled function "
            "returns all values at its end",
            "Collect the values in a list and return it. Generators that are used only inside the "
            "compiled function are supported.",
            at=location,
        )
    refuse(
        f"'{code.co_name}' is an async function. A compiled function cannot wait for other tasks",
        "Compile a function without async and await, and call it from the async function.",
        at=location,
    )


def refuse_depth(function: types.FunctionType) -> NoReturn:
    """Raise ``CompileError`` because the syntax of ``function`` is nested too deeply."""
    code = function.__code__
    refuse(
        f"'{code.co_name}' is nested too deeply. Possible causes are nested blocks, a long elif chain, many "
        "early returns, or an expression with a thousand operators",
        "Split it into several functions.",
        at=SourceLocation(code.co_filename, code.co_firstlineno, None, None, code.co_name),
    )


def check(function: ast.FunctionDef, name: str, file: str) -> None:
    """Raise ``CompileError`` if a jump leaves a ``finally`` block.

    Args:
        function: the function. Its inner functions are checked, too.
        name: name of the function, for messages.
        file: name of its source file, for messages.
    """
    for node in within(*function.body):
        if isinstance(node, (ast.Try, ast.TryStar)):
            for jump in _leaving(node.finalbody, _JUMPS):
                word = type(jump).__name__.lower()
                _refuse_node(
                    f"'{word}' leaves a 'finally' block, which would discard an exception",
                    f"Put the '{word}' after the try statement.",
                    jump, name, file,
                )  # fmt: skip
        elif isinstance(node, ast.FunctionDef):
            check(node, node.name, file)


def _refuse_node(reason: str, instead: str, node: Any, name: str, file: str) -> None:
    end = node.end_col_offset if node.end_lineno == node.lineno else None
    refuse(reason, instead, at=SourceLocation(file, node.lineno, node.col_offset, end, name))


def _leaving(body: Sequence[ast.AST], kinds: tuple[type, ...]) -> list[ast.AST]:
    """Find the jumps in ``body`` that leave it.

    A ``break`` or ``continue`` of a loop inside ``body`` does not leave ``body``.
    """
    jumps: list[ast.AST] = []
    for node in body:
        if isinstance(node, kinds):
            jumps.append(node)
        elif isinstance(node, (ast.For, ast.While, ast.AsyncFor)):
            jumps += _leaving(node.body, (ast.Return,)) + _leaving(node.orelse, kinds)
        elif not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.expr)):
            jumps += _leaving(list(ast.iter_child_nodes(node)), kinds)
    return jumps
