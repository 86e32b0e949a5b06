"""Convert recursive tail calls to iterations of a loop.

    def f(x, n):                     def f(x, n):
        if n > 0:                        while True:
            return f(g(x), n - 1)  ->        if n > 0:
        return x                                 x, n = g(x), n - 1; continue
                                             return x

A *tail call* is a call directly after ``return``. If a tensor decides when a recursion ends, the trace of the
function never ends, because both branches are traced. In contrast, a loop on a tensor can be compiled.
Therefore, a function whose trace did not end is traced again in this form (``tracing.trace_of``).

At each tail call, the rewritten code checks whether the name ``f`` still refers to the same function. If not,
it makes an ordinary call. The following functions are not converted:

- functions with ``*args`` or ``**kwargs``,
- functions whose tail calls omit arguments with defaults,
- functions whose variables an inner function captures,
- functions in which every ``return`` is a tail call.

Limit: a variable that one iteration has assigned still has its value in the next iteration. In a real call,
it would be unbound, and a read would raise ``UnboundLocalError``.
"""

from __future__ import annotations

import ast
from typing import Any

from mindgrad.frontend.python.ast_helpers import at, constant, runtime
from mindgrad.frontend.python.jumps import completes, escapes

__all__ = ["tail_calls_as_loop"]

Block = list[ast.stmt]


def tail_calls_as_loop(function: ast.FunctionDef, body: Block, captured: set[str], bound: set[str]) -> Block:
    """Convert ``body`` to a loop if it contains a tail call of ``function``.

    Args:
        function: the function that contains ``body``.
        body: the statements of the function without its docstring.
        captured: variables of the function that inner functions use.
        bound: variables that the function assigns, including parameters.

    Returns:
        A list that contains the loop, or ``body`` if it is not converted.
    """
    args = function.args
    parameters = [each.arg for each in (*args.posonlyargs, *args.args, *args.kwonlyargs)]
    if args.vararg or args.kwarg or captured & set(parameters) or function.name in bound:
        return body
    calls = _TailCalls(function, parameters)
    done = calls.block(body)
    if not calls.found or not (calls.has_end or completes(body)):
        return body
    end = at(ast.Return(constant(None, body[-1])), body[-1])
    return [at(ast.While(constant(True, function), [*done, end], []), body[0])]


class _TailCalls:
    """Replaces recursive tail calls, except in loops, ``with``, and ``try``."""

    def __init__(self, function: ast.FunctionDef, parameters: list[str]) -> None:
        self.function = function
        self.parameters = parameters
        self.found = False
        self.has_end = False  # whether the function has a ``return`` that is not a tail call

    def block(self, body: Block) -> Block:
        done: Block = []
        for statement in body:
            if isinstance(statement, ast.If):
                made = ast.If(statement.test, self.block(statement.body), self.block(statement.orelse))
                done.append(at(made, statement))
            elif isinstance(statement, ast.Return):
                done += self._return(statement)
            else:
                self.has_end |= "return" in escapes([statement])
                done.append(statement)
        return done

    def _return(self, node: ast.Return) -> Block:
        call = node.value
        arguments = self._arguments(call)
        if arguments is None or not isinstance(call, ast.Call):
            self.has_end = True
            return [node]
        self.found = True
        names, values = list(arguments), list(arguments.values())
        target: Any = at(
            ast.Tuple([at(ast.Name(parameter, ast.Store()), node) for parameter in names], ast.Store()), node
        )
        assigned = at(ast.Assign([target], at(ast.Tuple(values, ast.Load()), node)), node)
        first = min([self.function.lineno, *[parameter.lineno for parameter in self.function.decorator_list]])
        test = runtime(
            "is_itself", [call.func, constant(self.function.name, node), constant(first, node)], node
        )
        again = [assigned, at(ast.Continue(), node)] if names else [at(ast.Continue(), node)]
        return [at(ast.If(test, again, [node]), node)]

    def _arguments(self, call: ast.expr | None) -> dict[str, ast.expr] | None:
        """Return the argument for each parameter if ``call`` is a recursive call.

        The result is ``None`` if ``call`` is not a recursive call, or omits arguments.
        """
        if not isinstance(call, ast.Call):
            return None
        expected = self.parameters
        called = call.func
        if isinstance(called, ast.Attribute) and isinstance(called.value, ast.Name):
            if not expected or called.value.id != expected[0] or called.attr != self.function.name:
                return None
            expected = expected[1:]
        elif not isinstance(called, ast.Name) or called.id != self.function.name:
            return None
        if any(isinstance(each, ast.Starred) for each in call.args) or len(call.args) > len(expected):
            return None
        arguments = dict(zip(expected, call.args, strict=False))
        for keyword in call.keywords:
            if keyword.arg is None or keyword.arg in arguments or keyword.arg not in expected:
                return None
            arguments[keyword.arg] = keyword.value
        return arguments if set(arguments) == set(expected) else None
