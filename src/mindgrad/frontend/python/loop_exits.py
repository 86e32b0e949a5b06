"""Find variables that have a value after a loop because ``break`` passes it on.

    for t in e:                   for t in e:
        if c:                         if c:
            y = a            ->           y = a
            break                         leave__1__y = y; break
    else:                         if not broke__1: y = b
        y = b                     else: y = leave__1__y

In this example, ``y`` always has a value after the loop, but not at the end of an iteration that does not
break. Therefore, ``y`` cannot be a carry of the compiled loop. An additional variable, ``leave__1__y``,
passes the value of ``y`` out of the loop. It is read only if the ``break`` was taken (``jumps``).

The analysis uses only the source of the function. To *bind* a name is to assign the variable. A name is bound
at a statement if all paths to the statement bind it. Names that only the loop itself reads do not require an
additional variable.
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

from mindgrad.frontend.python.bindings import binds

__all__ = ["LEAVE", "leaving", "note_exits"]

#: prefix of the variables that pass values out of a loop at a ``break``
LEAVE = "leave__"
Names = frozenset[str]


def leaving(loop: ast.AST) -> tuple[str, ...]:
    """Return the variables whose values a ``break`` must pass out of ``loop``.

    :func:`note_exits` has stored them in the node.
    """
    return getattr(loop, "leaving", ())


def note_exits(body: Sequence[ast.stmt], bound: Names) -> None:
    """Find the variables whose values a ``break`` must pass out of its loop.

    They are stored as an attribute of the loop's node.

    Args:
        body: the statements of a function.
        bound: names of the variables that have a value at the start.
    """
    _Exits(body).block(body, bound)


_FUNCTIONS: tuple[type, ...] = (
    ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda, ast.ListComp, ast.SetComp, ast.DictComp,
    ast.GeneratorExp,
)  # fmt: skip


class _Exits:
    def __init__(self, body: Sequence[ast.stmt]) -> None:
        # ``reads`` counts how often the function reads each name. ``shared`` contains the names that other
        # functions can read
        self.reads = _reads(body)
        nodes = [node for statement in body for node in ast.walk(statement)]
        self.shared = _reads(node for node in nodes if isinstance(node, _FUNCTIONS)).keys() | {
            name for node in nodes if isinstance(node, ast.Global | ast.Nonlocal) for name in node.names
        }
        #: for each enclosing loop, innermost last: the names that are bound at each ``break``
        self.breaks: list[list[Names]] = []

    def block(self, body: Sequence[ast.stmt], bound: Names | None) -> Names | None:
        """Return the names that are bound after ``body``.

        The result is ``None`` if the end of ``body`` cannot be reached.
        """
        for statement in body:
            if bound is None:
                return None
            bound = self.statement(statement, bound)
        return bound

    def statement(self, node: Any, bound: Names) -> Names | None:
        match node:
            case ast.Break():
                self.breaks[-1].append(bound)
                return None
            case ast.Continue() | ast.Return() | ast.Raise():
                return None
            case ast.If():
                return _either(self.block(node.body, bound), self.block(node.orelse, bound))
            case ast.While() | ast.For():
                return self.loop(node, bound)
            case ast.With():
                for item in node.items:
                    bound |= _of(item.optional_vars)
                return self.block(node.body, bound)
            case ast.Try() | ast.TryStar():
                for part in (node.body, *(handler.body for handler in node.handlers), node.orelse):
                    self.block(part, bound)
                return self.block(node.finalbody, bound)
            case ast.Match():
                for case in node.cases:
                    self.block(case.body, bound)
                return bound
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
                return bound | {node.name}
            case ast.Delete():
                return bound - {name for target in node.targets for name in _names(target)}
            case ast.Assign():
                return bound.union(*map(_of, node.targets))
            case ast.AnnAssign() | ast.AugAssign():
                return bound if node.value is None else bound | _of(node.target)
            case ast.Import() | ast.ImportFrom():
                return bound | binds(node).keys()
        return bound

    def loop(self, node: Any, bound: Names) -> Names:
        is_endless = isinstance(node, ast.While) and isinstance(node.test, ast.Constant) and node.test.value
        self.breaks.append([])
        self.block(node.body, bound | _of(node.target) if isinstance(node, ast.For) else bound)
        breaks = self.breaks.pop()
        otherwise = None if is_endless else self.block(node.orelse, bound)
        if not breaks:
            return bound if otherwise is None else otherwise
        left = frozenset.intersection(*breaks)
        after = left if otherwise is None else left & otherwise
        inside = _reads([node])
        node.leaving = tuple(
            sorted(n for n in after - bound if n in self.shared or self.reads[n] > inside[n])
        )
        return after


def _reads(nodes: Iterable[ast.AST]) -> Counter[str]:
    """Count how often ``nodes`` read, change, or delete each name."""
    counts: Counter[str] = Counter()
    for root in nodes:
        for node in ast.walk(root):
            if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Store):
                counts[node.id] += 1
            elif isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name):
                counts[node.target.id] += 1
    return counts


def _either(first: Names | None, second: Names | None) -> Names | None:
    if first is None or second is None:
        return second if first is None else first
    return first & second


def _names(target: ast.AST) -> Names:
    return frozenset([target.id]) if isinstance(target, ast.Name) else frozenset()


def _of(target: ast.AST | None) -> Names:
    """Return the variables in ``target``, the target of an assignment."""
    match target:
        case ast.Tuple() | ast.List():
            return frozenset().union(*map(_of, target.elts))
        case ast.Starred():
            return _of(target.value)
        case ast.Name():
            return frozenset([target.id])
    return frozenset()
