"""Recognize plain recursion: a function that calls itself and has no side effects.

    def minor(a, row, columns):
        if len(columns) == 1:
            return a[row, columns[0]]
        total = 0.0
        for j, column in enumerate(columns):
            total += (-1) ** j * a[row, column] * minor(a, row + 1, columns[:j] + columns[j + 1 :])
        return total

Two calls of such a function with equal arguments return equal results, so only one of them is traced
(``frontend.control.equal_calls``). The source of the function must have three properties:

- Its statements assign only local variables.
- It calls only itself, and built-in functions that do not change their arguments.
- If ``+=`` changes a variable, all values of the variable are literals or results of arithmetic. Therefore,
  ``+=`` cannot change a list that other code can access.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable

__all__ = ["READERS", "is_plain_recursion"]

#: built-in functions that do not change their arguments
READERS = frozenset(
    {"abs", "bool", "divmod", "enumerate", "float", "int", "len", "max", "min", "pow", "range", "reversed",
     "round", "sorted", "sum", "tuple", "zip"}
)  # fmt: skip
_ATTRIBUTES = frozenset({"T", "dtype", "ndim", "shape", "size"})
_NODES = (
    ast.Assign, ast.AugAssign, ast.AnnAssign, ast.BinOp, ast.BoolOp, ast.Break, ast.Compare, ast.Constant,
    ast.Continue, ast.Expr, ast.For, ast.GeneratorExp, ast.If, ast.IfExp, ast.List, ast.ListComp, ast.Name,
    ast.Pass, ast.Return, ast.Slice, ast.Starred, ast.Subscript, ast.Tuple, ast.UnaryOp, ast.While,
    ast.comprehension, ast.expr_context, ast.operator, ast.unaryop, ast.boolop, ast.cmpop, ast.keyword,
)  # fmt: skip
_OWN_VALUES = (ast.BinOp, ast.UnaryOp, ast.Constant)


def is_plain_recursion(function: ast.FunctionDef) -> bool:
    """Return whether the source shows that ``function`` is a plain recursion."""
    names = function.args
    parameters = {each.arg for each in (*names.posonlyargs, *names.args, *names.kwonlyargs)}
    if function.decorator_list or names.vararg or names.kwarg or function.name in parameters:
        return False
    nodes = [node for statement in function.body for node in ast.walk(statement)]
    callees = [node.func for node in nodes if isinstance(node, ast.Call)]
    called = {callee.id for callee in callees if isinstance(callee, ast.Name)}
    return (
        function.name in called
        and len(callees) == sum(isinstance(callee, ast.Name) for callee in callees)
        and called <= READERS | {function.name}
        and all(map(_only_computes, nodes))
        and _changes_own_values(nodes, parameters)
    )


def _only_computes(node: ast.AST) -> bool:
    if isinstance(node, ast.Attribute):
        return node.attr in _ATTRIBUTES and isinstance(node.ctx, ast.Load)
    if isinstance(node, ast.Subscript):
        return isinstance(node.ctx, ast.Load)
    return isinstance(node, (*_NODES, ast.Call))


def _changes_own_values(nodes: Iterable[ast.AST], parameters: set[str]) -> bool:
    """Return whether ``+=`` changes only variables with literal or computed values."""
    changed, owned, others = set(), set(), set(parameters)
    for node in nodes:
        if isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name):
            changed.add(node.target.id)
            owned.add(id(node.target))
        elif isinstance(node, ast.Assign) and isinstance(node.value, _OWN_VALUES):
            owned.update(id(target) for target in node.targets if isinstance(target, ast.Name))
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store) and id(node) not in owned:
            others.add(node.id)
    return changed.isdisjoint(others)
