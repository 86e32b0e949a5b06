"""Replace ``break``, ``continue``, and ``return`` by ``if`` statements and flags.

The rewriter converts the blocks of an ``if`` or loop to functions, and a jump cannot leave a function. If a
branch always jumps, the statements after the ``if`` move into its other branch::

    if c: return a          if c: result__ = a
    b = 1            ->     else:
    return b                    b = 1
                                result__ = b

If a branch jumps only sometimes, or the jump is in a loop, the jump is replaced by an assignment of True to a
Bool variable, its *flag*. The following statements run only if the flag is False, and a loop ends if the flag
is True. The ``else`` block of a loop runs only if the flag of the loop's ``break`` is False. No statement is
duplicated, so the length of the rewritten code is proportional to the length of the source.

A jump out of a ``finally`` block discards an exception, which flags cannot express. ``unsupported`` rejects
such a jump.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import Any, NamedTuple

from mindgrad.frontend.python.ast_helpers import assign, at, constant, either, name, negation
from mindgrad.frontend.python.loop_exits import LEAVE, leaving, note_exits

__all__ = ["RESULT", "completes", "escapes", "is_true", "lower_jumps", "stops"]

RESULT = "result__"
RETURNED = "returned__"

Block = list[ast.stmt]


def escapes(body: Sequence[ast.stmt]) -> set[str]:
    """Return the kinds of jumps that may leave ``body``.

    The kinds are "return", "break", and "continue".
    """
    kinds: set[str] = set()
    for statement in body:
        match statement:
            case ast.Return() | ast.Break() | ast.Continue():
                kinds.add(type(statement).__name__.lower())
            case ast.While() | ast.For():
                kinds |= (escapes(statement.body) & {"return"}) | escapes(statement.orelse)
            case ast.If():
                kinds |= escapes(statement.body) | escapes(statement.orelse)
            case ast.With():
                kinds |= escapes(statement.body)
            case ast.Match():
                kinds.update(*(escapes(case.body) for case in statement.cases))
            case ast.Try() | ast.TryStar():
                kinds |= escapes(statement.body) | escapes(statement.orelse) | escapes(statement.finalbody)
                kinds.update(*(escapes(handler.body) for handler in statement.handlers))
    return kinds


def completes(body: Sequence[ast.stmt]) -> bool:
    """Return whether ``body`` may run to its end, without a jump."""
    return all(_completes(each) for each in body)


def _completes(statement: ast.stmt) -> bool:
    match statement:
        case ast.Return() | ast.Break() | ast.Continue() | ast.Raise():
            return False
        case ast.If():
            return completes(statement.body) or completes(statement.orelse)
        case ast.While() | ast.For():
            if "break" in escapes(statement.body):
                return True
            return not (isinstance(statement, ast.While) and is_true(statement.test)) and completes(
                statement.orelse
            )
        case ast.Match():
            last = statement.cases[-1]
            exhaustive = last.guard is None and isinstance(last.pattern, ast.MatchAs)
            exhaustive = exhaustive and last.pattern.pattern is None  # type: ignore[attr-defined]
            return not exhaustive or any(completes(case.body) for case in statement.cases)
        case ast.Try() | ast.TryStar():
            if not completes(statement.finalbody):
                return False
            normally = completes(statement.body) and completes(statement.orelse)
            return normally or any(completes(handler.body) for handler in statement.handlers)
    return True  # a ``with`` that ends with a jump may complete, too, because it may suppress an exception


def is_true(test: ast.expr) -> bool:
    """Return whether ``test`` is a true literal, as in ``while True``."""
    return isinstance(test, ast.Constant) and bool(test.value)


class _Context(NamedTuple):
    """The statements around a jump, which determine how the jump is replaced.

    Attributes:
        noted: kinds of jumps ("return", "break", "continue") that must set their flag.
        broke, continued: names of the flags of the innermost loop.
        leaving: for each variable whose value a ``break`` passes out of the loop, its name and the name of
            the additional variable (``loop_exits``).
    """

    noted: frozenset[str]
    broke: str
    continued: str
    leaving: tuple[tuple[str, str], ...] = ()

    def noting(self, kinds: set[str]) -> _Context:
        return self._replace(noted=self.noted | kinds)

    def flags(self, kinds: set[str]) -> list[str]:
        every = {"break": self.broke, "continue": self.continued, "return": RETURNED}
        return [flag for kind, flag in every.items() if kind in kinds]


def stops(loop: ast.For | ast.While) -> list[str]:
    """Return the names of the flags that end the rewritten ``loop``."""
    return getattr(loop, "stops", [])


def lower_jumps(body: Block, bound: frozenset[str] = frozenset()) -> Block:
    """Replace all jumps in the body of a function.

    The rewritten body has at most one ``return``, at its end.

    Args:
        body: the statements, which are changed in place.
        bound: names of the parameters, which have a value at the start.
    """
    body = _reached(body)
    note_exits(body, bound)
    if "return" in escapes(body) and completes(body):
        end = at(ast.Pass(), body[-1])
        end.lineno = end.end_lineno  # errors of the implicit ``return None`` refer to the last line
        end.col_offset = max(0, end.end_col_offset - 1)
        body = [*body, at(ast.Return(None), end)]
    lowering = _Lowering()
    lowered = lowering.block(body, _Context(frozenset(), "", ""))
    if not lowering.returns:
        return lowered
    last = lowered[-1]
    if lowering.returns == 1 and isinstance(last, ast.Assign) and _assigns(last, RESULT):
        return [*lowered[:-1], at(ast.Return(last.value), last)]
    if RETURNED in lowering.flagged:
        first = lowered[0]
        lowered = [assign(RETURNED, constant(False, first), first), *lowered]
    return [*lowered, at(ast.Return(name(RESULT, last)), last)]


def _reached(body: Block) -> Block:
    """Remove unreachable statements from ``body``."""
    for index, statement in enumerate(body):
        for field in ("body", "orelse", "finalbody"):
            inner = getattr(statement, field, None)
            if inner and not isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
                setattr(statement, field, _reached(inner))
        for part in (*getattr(statement, "handlers", ()), *getattr(statement, "cases", ())):
            part.body = _reached(part.body)
        if isinstance(statement, (ast.Try, ast.TryStar)) and not completes(statement.body):
            statement.orelse = []
        if isinstance(statement, ast.While) and is_true(statement.test):
            statement.orelse = []
        if not _completes(statement):
            return body[: index + 1]
    return body


def _assigns(each: ast.Assign, identifier: str) -> bool:
    target = each.targets[0]
    return isinstance(target, ast.Name) and target.id == identifier


def _some(body: Block, place: ast.AST) -> Block:
    return body or [at(ast.Pass(), place)]


class _Lowering:
    def __init__(self) -> None:
        self.loops = 0
        self.returns = 0
        self.flagged: set[str] = set()

    def block(self, body: Block, context: _Context) -> Block:
        """Replace all jumps in ``body``, and return the new statements."""
        done: Block = []
        for index, node in enumerate(body):
            following = body[index + 1 :]
            if isinstance(node, (ast.Return, ast.Break, ast.Continue)):
                return done + self.jump(node, context)
            if isinstance(node, (ast.While, ast.For)):
                return done + self.loop(node, following, context)
            kinds = escapes([node])
            if kinds and following and isinstance(node, ast.If):
                if not completes(node.body):
                    node.orelse, following = node.orelse + following, []
                elif not completes(node.orelse):
                    node.body, following = node.body + following, []
            inner = context.noting(kinds) if following else context
            self.parts(node, inner)
            done.append(node)
            if kinds:
                if following:
                    done.append(self.unless(kinds, node, self.block(following, context), context))
                return done
        return done

    def parts(self, node: Any, context: _Context) -> None:
        """Replace the jumps in the blocks of an ``if``, ``with``, ``match``, or ``try``."""
        match node:
            case ast.If():
                node.body = _some(self.block(node.body, context), node)
                node.orelse = self.block(node.orelse, context)
            case ast.With():
                node.body = _some(self.block(node.body, context), node)
            case ast.Match():
                for case in node.cases:
                    case.body = _some(self.block(case.body, context), node)
            case ast.Try() | ast.TryStar():
                kinds = escapes(node.body)
                orelse = self.block(node.orelse, context)
                inner = context.noting(kinds) if orelse else context
                if orelse and kinds:
                    orelse = [self.unless(kinds, node, orelse, context)]
                node.body, node.orelse = (
                    _some(self.block(node.body, inner), node),
                    orelse,
                )
                for handler in node.handlers:
                    handler.body = _some(self.block(handler.body, context), handler)
                if node.finalbody:
                    node.finalbody = _some(self.block(node.finalbody, context), node)

    def jump(self, node: Any, context: _Context) -> Block:
        kind = type(node).__name__.lower()
        done: Block = []
        if kind == "return":
            self.returns += 1
            done.append(assign(RESULT, node.value or constant(None, node), node))
        if kind == "break":
            done += [assign(saved, name(variable, node), node) for variable, saved in context.leaving]
        if kind == "break" or kind in context.noted:
            (flag,) = context.flags({kind})
            self.flagged.add(flag)
            done.append(assign(flag, constant(True, node), node))
        return done

    def unless(self, kinds: set[str], origin: ast.AST, body: Block, context: _Context) -> ast.stmt:
        """Create an ``if`` that runs ``body`` only if no jump in ``kinds`` was taken."""
        test = negation(either(context.flags(kinds), origin))
        return at(ast.If(test, _some(body, origin), []), origin)

    def loop(self, node: ast.While | ast.For, following: Block, context: _Context) -> Block:
        kinds = escapes(node.body)
        self.loops += 1
        number = self.loops
        names = tuple([(variable, f"{LEAVE}{number}__{variable}") for variable in leaving(node)])
        inner = _Context(frozenset(kinds & {"return"}), f"broke__{number}", f"continued__{number}", names)
        body = _some(self.block(node.body, inner), node)
        if inner.continued in self.flagged:
            body.insert(0, assign(inner.continued, constant(False, node), node))
        ends = inner.flags(kinds & {"break", "return"})
        done: Block = []
        if "break" in kinds:
            done.append(assign(inner.broke, constant(False, node), node))
        orelse = node.orelse
        if orelse and "break" in kinds:
            test = negation(name(inner.broke, orelse[0]))
            place = orelse[0]
            orelse = [
                at(ast.If(test, orelse, [assign(n, name(saved, place), place) for n, saved in names]), place)
            ]
        elif names:
            orelse = [assign(n, name(saved, node), node) for n, saved in names]
        node.body, node.orelse = body, []
        node.stops = ends  # type: ignore[union-attr]
        done.append(node)
        after = orelse + following
        if after:
            lowered = self.block(after, context)
            if "return" in kinds:
                lowered = [self.unless({"return"}, after[0], lowered, context)] if lowered else []
            done += lowered
        return done
