"""Liveness analysis: find the variables that code after an ``if`` or loop reads.

A name is *live* at a point of the code if later code may read it. The analysis visits the statements of one
function backward, after ``jumps`` has replaced the jumps. Let ``live`` be the set of names that are live
after a statement. Then ``before(statement, live)`` is the set of names that are live before the statement::

    before(x = e, live)              = before(e, live − {x})
    before(if c: a else: b, live)    = before(c, before(a, live) ∪ before(b, live))
    before(while c: a, live)         = the least L with  L = before(c, live ∪ before(a, L)) ∪ E
    before(for t in e: a, live)      = before(e, L),  L = live ∪ before(t = item; a, L) ∪ E

If flags end the loop, E consists of ``live`` and these flags. Otherwise, E is empty.

An ``if`` or loop *hands on* the variables that it assigns and that are live after it. They become results of
the compiled branch or loop. All other variables that it assigns are temporaries of one branch or iteration.
The type of a temporary may differ between branches.

Names that inner functions capture, and names declared ``global`` or ``nonlocal``, are always live. A variable
whose value may be changed in place counts as assigned and read.

The analysis passes over each loop body two or three times, for each enclosing loop.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import Any

from mindgrad.frontend.python.bindings import Assignments, Scope, binds, reads
from mindgrad.frontend.python.jumps import stops

__all__ = ["handed_on"]

Names = frozenset[str]
_LAZY = (ast.Lambda, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


def handed_on(
    body: Sequence[ast.stmt], scope: Scope, assignments: Assignments
) -> tuple[dict[ast.AST, tuple[tuple[str, ...], tuple[str, ...]]], dict[ast.AST, Names]]:
    """Find the variables that each ``if`` and loop assigns and later code reads.

    Args:
        body: the statements, after ``jumps`` has replaced the jumps.
        scope: names of the function before ``jumps`` added its flags.
        assignments: the names that the statements assign and change.

    Returns:
        Two dictionaries whose keys are statements. The first one contains ``(handed on, scratch)`` for each
        ``if`` and loop. Later code reads the variables that are handed on. The statement also assigns the
        scratch variables, but later code does not read them; their old values are restored for the other
        branch and after the statement. The second dictionary contains the names that are live after each
        ``if`` and ``for``, including names that the caller and other functions may read.
    """
    analysis = _Liveness(body, scope, assignments)
    analysis.block(body, frozenset())
    names = {node: (tuple(names), tuple(scratch)) for node, (names, scratch) in analysis.names.items()}
    return names, analysis.later


class _Liveness:
    def __init__(self, body: Sequence[ast.stmt], scope: Scope, assignments: Assignments) -> None:
        own = scope.locals | assignments.binds(body)
        self.own = {each: None for each in own if each not in scope.globals | scope.nonlocals}
        self.always: Names = frozenset(scope.captured | scope.globals | scope.nonlocals)
        self.shared = sorted(scope.shared)
        self.assignments = assignments
        self.names: dict[ast.AST, tuple[list[str], list[str]]] = {}
        self.outside: Names = self.always | frozenset(scope.parameters) | (reads(*body) - self.own.keys())
        self.later: dict[ast.AST, Names] = {}

    def block(self, body: Sequence[ast.stmt], live: Names, raised: Names = frozenset()) -> Names:
        """Return the names that are live before ``body``.

        Args:
            body: the statements.
            live: names that are live after ``body``.
            raised: names that are live if an exception in ``body`` is caught.
        """
        for each in reversed(body):
            live = self.statement(each, live | raised, raised)
        return live

    def statement(self, node: Any, live: Names, raised: Names) -> Names:
        match node:
            case ast.If():
                self.note(node, [*node.body, *node.orelse], live)
                self.later[node] = live | self.outside
                inside = self.block(node.body, live, raised) | self.block(node.orelse, live, raised)
                return self.expression(node.test, inside)
            case ast.While():
                return self.loop(node, live, raised)
            case ast.For():
                return self.expression(node.iter, self.loop(node, live, raised))
            case ast.With():
                inside = self.block(node.body, live, raised | live)
                for item in reversed(node.items):
                    if item.optional_vars is not None:
                        inside = self.target(item.optional_vars, inside)
                    inside = self.expression(item.context_expr, inside)
                return inside
            case ast.Try() | ast.TryStar():
                return self.attempt(node, live, raised)
            case ast.Match():
                # a pattern that does not match may still assign some of its names, so no name counts as
                # overwritten
                inside = live
                for case in node.cases:
                    inside |= self.block(case.body, live, raised)
                    inside |= reads(case.pattern, *([case.guard] if case.guard else []))
                return self.expression(node.subject, inside)
            case ast.Assign():
                for target in reversed(node.targets):
                    live = self.target(target, live)
                return self.expression(node.value, live)
            case ast.AnnAssign():
                if node.value is None:
                    return live | reads(node.target)
                return self.expression(node.value, self.target(node.target, live))
            case ast.AugAssign():
                return self.expression(node.value, live) | reads(node)
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
                return (live - {node.name}) | reads(node)
            case ast.Import() | ast.ImportFrom():
                return live - binds(node).keys()
            case ast.Expr() | ast.Return():
                return live if node.value is None else self.expression(node.value, live)
        return live | reads(node)

    def attempt(self, node: Any, live: Names, raised: Names) -> Names:
        after = self.block(node.finalbody, live, raised)
        caught = after | raised
        for handler in node.handlers:
            inside = self.block(handler.body, after, after | raised)
            inside -= {handler.name}
            caught |= inside | (reads(handler.type) if handler.type is not None else set())
        orelse = self.block(node.orelse, after, after | raised)
        return self.block(node.body, orelse, caught)

    def loop(self, node: Any, live: Names, raised: Names) -> Names:
        """Return the names that are live at the start of each iteration of a loop."""
        is_for = isinstance(node, ast.For)
        if is_for:
            self.later[node] = live | self.outside
        ends = live.union(stops(node))
        head = ends if is_for or stops(node) else self.expression(node.test, live)
        while True:
            inside = self.block(node.body, head, raised)
            if is_for:
                grown = head | self.target(node.target, inside)
            else:
                grown = head | self.expression(node.test, live | inside)
            if grown == head:
                break
            head = grown
        parts = [node.target, *node.body] if is_for else [node.test, *node.body]
        carried = head if is_for else head | (inside & binds(node.test).keys())
        self.note(node, parts, carried)
        return head

    def note(self, construct: ast.AST, parts: Sequence[ast.AST], live: Names) -> None:
        live |= self.always
        bound = self.assignments.binds(parts)
        names = [name for name in bound if name in live]
        mutated = self.assignments.mutates(parts)
        changed = [name for name in mutated if name in self.own and name not in names]
        # each repeated pass over a loop can only add live names, so the last pass stores the complete result
        calls = any(isinstance(node, ast.Call) for part in parts for node in ast.walk(part))
        shared = [name for name in self.shared if calls and name not in names and name not in changed]
        handed = names + changed + shared
        scratch = [name for name in bound if name not in handed]
        self.names[construct] = (handed, scratch)

    def target(self, node: Any, live: Names) -> Names:
        """Return the names that are live before a value is assigned to ``node``."""
        match node:
            case ast.Name():
                return live - {node.id}
            case ast.Tuple() | ast.List():
                for element in reversed(node.elts):
                    live = self.target(element, live)
                return live
            case ast.Starred():
                return self.target(node.value, live)
        return live | reads(node)

    def expression(self, node: ast.AST, live: Names) -> Names:
        """Return the names that are live before the expression ``node``.

        Python may skip a ``:=``, for example after ``and``. Such a ``:=`` does not count as overwriting its
        name.
        """
        match node:
            case ast.Name():
                return live | {node.id}
            case ast.NamedExpr():
                return self.expression(node.value, live - {node.target.id})
            case ast.BoolOp():
                first, *others = node.values
                return self.expression(first, self.skippable(others, live))
            case ast.Compare():
                first, *others = node.comparators
                live = self.expression(first, self.skippable(others, live))
                return self.expression(node.left, live)
            case ast.IfExp():
                branches = self.expression(node.body, live) | self.expression(node.orelse, live)
                return self.expression(node.test, branches)
        if isinstance(node, _LAZY):
            return live | reads(node)
        for child in reversed(list(ast.iter_child_nodes(node))):
            live = self.expression(child, live)
        return live

    def skippable(self, parts: Sequence[ast.expr], live: Names) -> Names:
        """Return the names that are live before the operands ``parts``.

        After each operand, Python may skip all remaining operands, as in ``and``, ``or``, and chained
        comparisons.
        """
        inside = live
        for each in reversed(parts):
            inside = live | self.expression(each, inside)
        return inside
