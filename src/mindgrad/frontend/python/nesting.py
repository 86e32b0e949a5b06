"""Rewrite ``if a and (m := b)`` to nested ``if`` statements.

    if a and (m := f(x)) > 1:            if a:
        return x * m              ->         if (m := f(x)) > 1:
    return x                                     return x * m
                                         return x

If ``a`` is a tensor, the ``and`` is compiled to a branch, and only one side of the branch assigns ``m``. A
read of ``m`` in the body would then raise ``CompileError``. In the nested form, ``m`` has a value at every
read.

The rewrite duplicates the ``else`` block. Therefore, an ``if`` remains unchanged if its ``else`` block is
long or contains another ``if`` of this form.
"""

from __future__ import annotations

import ast
from typing import Any

from mindgrad.frontend.python.ast_helpers import at
from mindgrad.frontend.python.bindings import within
from mindgrad.frontend.python.source import copied

__all__ = ["with_nested_tests"]

#: an ``else`` block is duplicated only if it has at most this many syntax nodes
_LONGEST = 400


def with_nested_tests(body: list[ast.stmt]) -> list[ast.stmt]:
    """Rewrite ``if`` statements whose condition contains ``and`` and a later ``:=``.

    They become nested ``if`` statements. Inner functions in ``body`` are left unchanged.
    """
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
    """Return whether ``test`` contains a ``:=`` that ``and`` or ``or`` may skip."""
    if not isinstance(test, ast.BoolOp):
        return False
    return any(isinstance(node, ast.NamedExpr) for node in within(*test.values[1:]))
