"""Names that a loop's exits define: bound where it is left by ``break``, and nowhere before the loop.

    for t in e:                   for t in e:
        if c:                         if c:
            y = a            ->           y = a
            break                         leave__1__y = y; break
    else:                         if not broke__1: y = b
        y = b                     else: y = leave__1__y

Such a name has a value behind the loop whichever way the loop ends, but none after a trip that goes on. It
is handed on by a name of its own, which like a flag is read only where the loop was left (``jumps``).
Names are looked for in the text of the function alone, statement by statement: bound is what every way to
a statement binds.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import Any

from mindgrad.trace.python.bindings import binds

__all__ = ["LEAVE", "leaving", "note_exits"]

#: how the names begin that hand on what a loop's exits define
LEAVE = "leave__"
Names = frozenset[str]


def leaving(loop: ast.AST) -> tuple[str, ...]:
    """The names that the exits of a loop define, and that it hands on."""
    return getattr(loop, "leaving", ())


def note_exits(body: Sequence[ast.stmt], bound: Names) -> None:
    """Note at every loop which names its exits define; ``bound`` are those that have a value before."""
    _Exits().block(body, bound)


class _Exits:
    def __init__(self) -> None:
        #: of every loop around a statement the names bound at each ``break``
        self.breaks: list[list[Names]] = []

    def block(self, body: Sequence[ast.stmt], bound: Names | None) -> Names | None:
        """What is bound behind the statements; ``None`` if nothing leads there."""
        for each in body:
            if bound is None:
                return None
            bound = self.statement(each, bound)
        return bound

    def statement(self, each: Any, bound: Names) -> Names | None:
        match each:
            case ast.Break():
                self.breaks[-1].append(bound)
                return None
            case ast.Continue() | ast.Return() | ast.Raise():
                return None
            case ast.If():
                return _either(self.block(each.body, bound), self.block(each.orelse, bound))
            case ast.While() | ast.For():
                return self.loop(each, bound)
            case ast.With():
                for item in each.items:
                    bound |= _of(item.optional_vars)
                return self.block(each.body, bound)
            case ast.Try() | ast.TryStar():
                for part in (each.body, *(handler.body for handler in each.handlers), each.orelse):
                    self.block(part, bound)
                return self.block(each.finalbody, bound)
            case ast.Match():
                for case in each.cases:
                    self.block(case.body, bound)
                return bound
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
                return bound | {each.name}
            case ast.Delete():
                return bound - {name for target in each.targets for name in _names(target)}
            case ast.Assign():
                return bound.union(*map(_of, each.targets))
            case ast.AnnAssign() | ast.AugAssign():
                return bound if each.value is None else bound | _of(each.target)
            case ast.Import() | ast.ImportFrom():
                return bound | binds(each).keys()
        return bound

    def loop(self, each: Any, bound: Names) -> Names:
        is_endless = isinstance(each, ast.While) and isinstance(each.test, ast.Constant) and each.test.value
        self.breaks.append([])
        self.block(each.body, bound | _of(each.target) if isinstance(each, ast.For) else bound)
        breaks = self.breaks.pop()
        otherwise = None if is_endless else self.block(each.orelse, bound)
        if not breaks:
            return bound if otherwise is None else otherwise
        left = frozenset.intersection(*breaks)
        found = left if otherwise is None else left & otherwise
        each.leaving = tuple(sorted(found - bound))
        return found


def _either(one: Names | None, other: Names | None) -> Names | None:
    if one is None or other is None:
        return other if one is None else one
    return one & other


def _names(target: ast.AST) -> Names:
    return frozenset([target.id]) if isinstance(target, ast.Name) else frozenset()


def _of(target: ast.AST | None) -> Names:
    """The variables that assigning to a target binds."""
    match target:
        case ast.Tuple() | ast.List():
            return frozenset().union(*map(_of, target.elts))
        case ast.Starred():
            return _of(target.value)
        case ast.Name():
            return frozenset([target.id])
    return frozenset()
