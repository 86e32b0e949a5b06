"""Rewrite an ``if`` so that a ``:=`` after ``and`` in its test always runs.

    if a and (m := f(x)) > 1:            if a:
        return x * m              ->         if (m := f(x)) > 1:
    return x                                     return x * m
                                         return x

If ``a`` is a tensor, the ``and`` becomes a branch, and ``m`` has a value in only one of its two parts. In the
nested ``if``, ``m`` has a value at every read.

The ``else`` block is duplicated. If the ``else`` block is long, or contains such an ``if`` itself, the ``if``
is not rewritten, and code that reads ``m`` raises ``CompileError``.
"""

from __future__ import annotations

import ast
from typing import Any

from mindgrad.frontend.python.ast_helpers import at
from mindgrad.frontend.python.bindings import within
from mindgrad.frontend.python.source import copied

__all__ = ["with_nested_tests"]

#: largest number of syntax nodes in an ``else`` block that is duplicated
_LONGEST = 400


def with_nested_tests(body: list[ast.stmt]) -> list[ast.stmt]:
    """Rewrite the statements of one function, without its inner functions."""
    nesting = _Nesting()
    return [nesting.visit(each) for each in body]


class _Nesting(ast.NodeTransformer):
    def visit_If(self, node: ast.If) -> ast.AST:
        self.generic_visit(node)
        test = node.test
        if not isinstance(test, ast.BoolOp) or not isinstance(test.op, ast.And) or not _binds(test):
            return node
        if node.orelse and (
            len([*within(*node.orelse)]) > _LONGEST
            or any(isinstance(each, ast.If) and _binds(each.test) for each in within(*node.orelse))
        ):
            return node
        first, *others = test.values
        rest = others[0] if len(others) == 1 else at(ast.BoolOp(test.op, others), others[0], until=others[-1])
        inner: Any = at(ast.If(rest, node.body, copied(node.orelse)), node)
        if len(others) > 1:
            inner = self.visit_If(inner)
        return at(ast.If(first, [inner], node.orelse), node)

    def _stay(self, node: Any) -> Any:
        return node

    visit_FunctionDef = visit_AsyncFunctionDef = visit_ClassDef = visit_Lambda = _stay


def _binds(test: ast.expr) -> bool:
    """Return whether a ``:=`` in the test may be skipped by ``and`` or ``or``."""
    if not isinstance(test, ast.BoolOp):
        return False
    return any(isinstance(node, ast.NamedExpr) for node in within(*test.values[1:]))
