"""Scope analysis: find the variables that code reads, binds, changes, or captures.

To *bind* a name is to assign or delete the variable. As in Python, the local variables of a function are the
names that its source binds. Inner functions, lambdas, and classes have separate variables. Comprehensions do,
too, except that ``:=`` inside a comprehension binds a variable of the enclosing function.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator
from functools import cached_property
from typing import Any

__all__ = ["Assignments", "Scope", "binds", "captured", "is_generator", "reads", "within"]

Function = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)

#: built-in functions that can read all variables of their caller
_LOOK_AROUND = frozenset({"locals", "vars", "dir", "eval", "exec"})
#: methods that change a list, dict, set, or deque in place
_MUTATORS = frozenset(
    {
        "add", "append", "appendleft", "clear", "difference_update", "discard", "extend", "extendleft",
        "insert", "intersection_update", "move_to_end", "pop", "popitem", "popleft", "remove", "reverse",
        "rotate", "setdefault", "sort", "symmetric_difference_update", "update",
    }
)  # fmt: skip


def parameters(arguments: ast.arguments) -> list[str]:
    """Return the names of all parameters, in the order of ``code.co_varnames``."""
    found = [each.arg for each in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)]
    return found + [each.arg for each in (arguments.vararg, arguments.kwarg) if each is not None]


def _evaluated_outside(node: Any) -> Iterator[ast.AST]:
    """Yield the parts of a definition that Python evaluates in the enclosing scope.

    These parts are decorators, defaults, annotations, and base classes.
    """
    if isinstance(node, ast.ClassDef):
        yield from (*node.decorator_list, *node.bases, *node.keywords)
        return
    arguments = node.args
    yield from arguments.defaults
    yield from (argument for argument in arguments.kw_defaults if argument is not None)
    if not isinstance(node, ast.Lambda):
        yield from node.decorator_list
        every = (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)
        for argument in (*every, arguments.vararg, arguments.kwarg):
            if argument is not None and argument.annotation is not None:
                yield argument.annotation
        if node.returns is not None:
            yield node.returns


def _own_children(node: ast.AST) -> Iterator[ast.AST]:
    if isinstance(node, (Function, ast.ClassDef)):
        yield from _evaluated_outside(node)
    elif isinstance(node, ast.comprehension):  # omit the target, which is a variable of the comprehension
        yield from (node.iter, *node.ifs)
    else:
        yield from ast.iter_child_nodes(node)


def within(*nodes: ast.AST) -> Iterator[ast.AST]:
    """Yield ``nodes`` and their descendants in source order, without inner functions."""
    waiting = list(reversed(nodes))
    while waiting:
        node = waiting.pop()
        yield node
        waiting.extend(reversed(list(_own_children(node))))


def binds(*nodes: ast.AST) -> dict[str, None]:
    """Return the names that ``nodes`` may assign or delete, in source order."""
    bound: dict[str, None] = {}
    for node in within(*nodes):
        bound.update(dict.fromkeys(_bound_by(node)))
    return bound


def _bound_by(node: ast.AST) -> Iterable[str]:
    """Return the names that ``node`` itself binds; ignore its children."""
    match node:
        case ast.Name(id=each, ctx=ast.Store() | ast.Del()):
            return (each,)
        case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
            return (node.name,)
        case ast.alias():
            return (node.asname or node.name.partition(".")[0],)
        case ast.ExceptHandler(name=str(each)) | ast.MatchAs(name=str(each)) | ast.MatchStar(name=str(each)):
            return (each,)
        case ast.MatchMapping(rest=str(each)):
            return (each,)
    return ()


def reads(*nodes: ast.AST) -> set[str]:
    """Return the names that ``nodes`` may read.

    Names that inner functions read are included, because these functions may run later.
    """
    names: set[str] = set()
    for node in nodes:
        _collect_reads(node, names)
    return names


def _collect_reads(node: ast.AST, names: set[str]) -> None:
    if isinstance(node, ast.Name):
        if not isinstance(node.ctx, ast.Store):
            names.add(node.id)
    elif isinstance(node, Function):
        names |= reads(*_evaluated_outside(node))
        scope = Scope(node)
        names |= (reads(*scope.body) - scope.locals.keys() - scope.globals) | scope.nonlocals
    elif isinstance(node, ast.ClassDef):
        names |= reads(*_evaluated_outside(node), *node.body)
    elif isinstance(node, _COMPREHENSIONS):
        first, *others = node.generators
        names |= reads(first.iter)
        inside = [*first.ifs, *(part for inner in others for part in (inner.iter, *inner.ifs))]
        inside += [node.key, node.value] if isinstance(node, ast.DictComp) else [node.elt]
        targets = {
            inner.id
            for generator in node.generators
            for inner in ast.walk(generator.target)
            if isinstance(inner, ast.Name) and isinstance(inner.ctx, ast.Store)
        }
        names |= reads(*inside, *(inner.target for inner in node.generators)) - targets
    else:
        if isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name):
            names.add(node.target.id)
        for child in ast.iter_child_nodes(node):
            _collect_reads(child, names)


def captured(*nodes: ast.AST) -> set[str]:
    """Return the names that inner functions, generators, and classes may read.

    If ``nodes`` call ``locals`` or a similar function, all names that ``nodes`` bind are included.
    """
    names: set[str] = set()
    for node in within(*nodes):
        if isinstance(node, (Function, ast.ClassDef, ast.GeneratorExp)):
            names |= reads(node)
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in _LOOK_AROUND:
            names |= binds(*nodes).keys()
    return names


def _root(node: ast.AST) -> str | None:
    """Return ``"x"`` for ``x[i][j]``, or ``None`` if ``x`` is not a variable."""
    while isinstance(node, ast.Subscript):
        node = node.value
    return node.id if isinstance(node, ast.Name) else None


def _changed_by(node: ast.AST) -> Iterable[str]:
    """Return the variable whose value ``node`` itself may change in place, if any."""
    root = None
    if isinstance(node, ast.Subscript) and not isinstance(node.ctx, ast.Load):
        root = _root(node)
    elif isinstance(node, ast.AugAssign):
        root = _root(node.target)
    elif isinstance(node, ast.Attribute) and node.attr in _MUTATORS:
        root = _root(node.value)
    return () if root is None else (root,)


class Assignments:
    """The names that statements bind or change in place, cached for each statement.

    The statements must not change while this object is used.
    """

    def __init__(self) -> None:
        self._bound: dict[ast.AST, dict[str, None]] = {}
        self._changed: dict[ast.AST, dict[str, None]] = {}

    def binds(self, nodes: Iterable[ast.AST]) -> dict[str, None]:
        """Return the names that ``nodes`` may assign or delete, like :func:`binds`."""
        return self._gathered(nodes, self._bound, _bound_by)

    def mutates(self, nodes: Iterable[ast.AST]) -> dict[str, None]:
        """Return the variables whose values ``nodes`` may change in place.

        An example is ``x`` in ``x[i] = …``.
        """
        return self._gathered(nodes, self._changed, _changed_by)

    def _gathered(
        self, nodes: Iterable[ast.AST], memo: dict[ast.AST, dict[str, None]], own: Callable[[Any], Any]
    ) -> dict[str, None]:
        names: dict[str, None] = {}
        for node in nodes:
            if not isinstance(node, (ast.stmt, ast.ExceptHandler, ast.match_case)):
                for child in within(node):
                    names.update(dict.fromkeys(own(child)))
                continue
            if node not in memo:
                inside = self._gathered(_own_children(node), memo, own)
                memo[node] = dict.fromkeys(own(node)) | inside
            names.update(memo[node])
        return names


def is_generator(function: Function) -> bool:
    """Return whether ``function`` is a generator function, which contains ``yield``."""
    body = function.body if isinstance(function.body, list) else [function.body]
    return any(isinstance(node, (ast.Yield, ast.YieldFrom)) for node in within(*body))


class Scope:
    """The names that one function binds, declares, or shares with inner functions.

    Attributes:
        body: statements of the function, or the expression of a lambda.
        parameters: names of its parameters.
        locals: names of its local variables, parameters first.
        globals, nonlocals: names that it declares ``global`` and ``nonlocal``.
        captured: names that inner functions may read.
    """

    def __init__(self, function: Function) -> None:
        self.body: list[Any] = function.body if isinstance(function.body, list) else [function.body]
        self.parameters = parameters(function.args)
        self.globals: set[str] = set()
        self.nonlocals: set[str] = set()
        for node in within(*self.body):
            if isinstance(node, ast.Global):
                self.globals |= set(node.names)
            elif isinstance(node, ast.Nonlocal):
                self.nonlocals |= set(node.names)
        self.locals = dict.fromkeys(self.parameters) | binds(*self.body)
        for each in self.globals | self.nonlocals:
            self.locals.pop(each, None)

    @cached_property
    def captured(self) -> set[str]:
        return captured(*self.body)

    @cached_property
    def shared(self) -> set[str]:
        """Return the local variables that an inner function declares ``nonlocal``.

        Any call may assign them, because the called code may call the inner function.
        """
        declared = {name for part in self.body for node in ast.walk(part) if isinstance(node, ast.Nonlocal)
                    for name in node.names}  # fmt: skip
        return declared & set(self.locals)
