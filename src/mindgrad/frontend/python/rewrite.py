"""Rewrite the source of a function: replace control flow by calls of the runtime.

The rewritten function has one additional closure variable, ``mg__``, which contains the runtime
(``frontend.control.runtime``). Each ``if`` and loop becomes a call of a method of ``mg__``. The blocks of the
``if`` or loop become inner functions that share the function's variables::

    if c:             def then__1(): nonlocal x; x = f(x)
        x = f(x)  ->  def orelse__1(): pass
                      def get__1(): return (x,)
                      def put__1(values__): nonlocal x; (x,) = values__
                      mg__.if_(c, then__1, orelse__1, get__1, put__1, ("x",), lambda: (x, …))

``get__1`` returns the variables that the ``if`` or loop assigns and that later code reads (``liveness``). For
an unbound variable, it returns ``mg__.undefined``. ``put__1`` assigns the variables, and deletes each
variable whose value is ``mg__.undefined``. The last argument is never called. Its code shows which variables
later code reads.

Before this rewrite, ``jumps`` replaces ``break``, ``continue``, and ``return``. Python determines the local
variables of a function from the assignments in its source, and the rewrite moves assignments to inner
functions. Therefore, the rewritten function begins with ``if False: x = None`` for all local variables.

Inner functions and lambdas are rewritten, too. Generators, coroutines, and classes remain unchanged. With a
runtime that only calls its arguments, the rewritten function does the same as the original, in the same order
(``tests/unit/frontend/test_rewrite.py``).

Known limits: if a variable is read before it is assigned, the rewritten function raises ``NameError`` instead
of its subclass ``UnboundLocalError``. ``vars()``, ``dir()``, and ``exec`` in a block find only the variables
of the inner function for this block.
"""

from __future__ import annotations

import ast
import itertools
from typing import Any

from mindgrad.frontend.python.ast_helpers import (
    RUNTIME,
    assign,
    at,
    constant,
    define,
    either,
    name,
    negation,
    runtime,
    statement,
    thunk,
)
from mindgrad.frontend.python.bindings import Assignments, Scope, is_generator
from mindgrad.frontend.python.expressions import Expressions, mangled
from mindgrad.frontend.python.jumps import is_true, lower_jumps, stops
from mindgrad.frontend.python.liveness import handed_on
from mindgrad.frontend.python.nesting import with_nested_tests
from mindgrad.frontend.python.recursion import tail_calls_as_loop

__all__ = ["rewrite_function"]

Block = list[ast.stmt]
_OPERATORS = {
    ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.MatMult: "@", ast.Div: "/", ast.Mod: "%", ast.Pow: "**",
    ast.LShift: "<<", ast.RShift: ">>", ast.BitOr: "|", ast.BitXor: "^", ast.BitAnd: "&", ast.FloorDiv: "//",
}  # fmt: skip


def rewrite_function(function: ast.FunctionDef, owner: str | None) -> ast.FunctionDef:
    """Rewrite the body of ``function`` in place, and return ``function``.

    Defaults and decorators remain unchanged, because Python evaluates them outside the function.

    Args:
        function: syntax tree of the function.
        owner: name of the class that defines the function, or ``None``.
    """
    _Function(function, owner, itertools.count(1)).rewrite()
    return function


class _Function(Expressions):
    """Rewrites the statements and expressions of one function, in place.

    Args:
        function: syntax tree of the function.
        owner: name of the class that defines the function, or ``None``.
        numbers: yields unique numbers for the names of generated inner functions.
    """

    def __init__(self, function: ast.FunctionDef, owner: str | None, numbers: itertools.count[int]) -> None:
        super().__init__(Scope(function), owner)
        self.function = function
        self.numbers = numbers

    def rewrite(self) -> None:
        function, scope = self.function, self.scope
        head: Block = []
        body = function.body
        if ast.get_docstring(function, clean=False) is not None:
            head, body = [body[0]], body[1:]
        origin = body[0] if body else function
        captured = scope.captured  # compute this cached property before the source changes
        # each recursive call has separate variables, but the iterations of a loop would share the captured
        # variables
        if not captured & scope.locals.keys():
            body = tail_calls_as_loop(function, body, set(captured), set(scope.locals))
        body = with_nested_tests(body)
        lowered = lower_jumps(body, frozenset(scope.parameters))
        self.assignments = Assignments()
        own = self.assignments.binds(lowered)
        self.variables = [*dict.fromkeys([*scope.locals, *own, *scope.nonlocals])]
        self.names, self.later = handed_on(lowered, scope, self.assignments)
        done = self.block(lowered)
        for declare, declared in ((ast.Global, scope.globals), (ast.Nonlocal, scope.nonlocals)):
            if declared:
                head.append(at(declare(sorted(declared)), origin))
        elsewhere = {*scope.parameters, *scope.globals, *scope.nonlocals}
        unbound = [identifier for identifier in self.variables if identifier not in elsewhere]
        if unbound:
            targets = [at(ast.Name(identifier, ast.Store()), origin) for identifier in unbound]
            never = at(ast.Assign(targets, constant(None, origin)), origin)
            head.append(at(ast.If(constant(False, origin), [never], []), origin))
        head += [self._setter(identifier, origin) for identifier in self.setters]
        if self.needs_locals:
            head.append(self._locals(origin))
        function.body = [*head, *done] or [at(ast.Pass(), origin)]

    def _setter(self, identifier: str, origin: ast.AST) -> ast.stmt:
        value = name("value__", origin)
        body = [*self._declared([identifier], origin), assign(identifier, value, origin)]
        body.append(at(ast.Return(name("value__", origin)), origin))
        return define(f"set__{identifier}", ["value__"], body, origin)

    def _locals(self, origin: ast.AST) -> ast.stmt:
        """Create an inner function that returns the local variables, as ``locals()`` does."""
        body: Block = [assign("found__", at(ast.Dict([], []), origin), origin)]
        for identifier in self.variables:
            if identifier in self.scope.locals or identifier in self.scope.nonlocals:
                key = mangled(identifier, self.owner)
                target = at(
                    ast.Subscript(name("found__", origin), constant(key, origin), ast.Store()), origin
                )
                body.append(
                    self._if_bound([at(ast.Assign([target], name(identifier, origin)), origin)], [], origin)
                )
        body.append(at(ast.Return(name("found__", origin)), origin))
        return define("locals__", [], body, origin)

    # -- helper functions ------------------------------------------------------------------------

    def _declared(self, names: Any, origin: ast.AST) -> Block:
        """Create the ``global`` and ``nonlocal`` declarations of an inner function."""
        of_module = [each for each in names if each in self.scope.globals]
        of_function = [each for each in names if each not in self.scope.globals]
        done: Block = [at(ast.Global(of_module), origin)] if of_module else []
        return done + ([at(ast.Nonlocal(of_function), origin)] if of_function else [])

    def _helper(
        self, identifier: str, body: Block, origin: ast.AST, parameters: tuple[str, ...] = ()
    ) -> ast.stmt:
        """Create an inner function that contains ``body`` in rewritten form."""
        declared = self._declared(self.assignments.binds(body), origin)
        return define(identifier, parameters, declared + self.block(body), origin)

    def _if_bound(self, body: Block, otherwise: Block, place: ast.AST) -> ast.stmt:
        handler = ast.ExceptHandler(name("NameError", place), None, otherwise or [at(ast.Pass(), place)])
        return at(ast.Try(body, [at(handler, place)], [], []), place)

    def _get(self, identifier: str, names: tuple[str, ...], origin: ast.AST) -> ast.stmt:
        """Create a getter: a function that returns the values of the variables ``names``.

        The getter first returns all values as one tuple. If this raises ``NameError``, it reads each variable
        in a separate ``try``, and returns ``undefined`` for unbound variables.
        """

        def values(of: list[str]) -> ast.stmt:
            elements = [name(each, origin) for each in of]
            return at(ast.Return(at(ast.Tuple(elements, ast.Load()), origin)), origin)

        if not names:
            return define(identifier, [], [values([])], origin)
        body: Block = [self._if_bound([values(list(names))], [], origin)]
        targets = [f"value__{number}" for number in range(len(names))]
        for target, variable in zip(targets, names, strict=True):
            undefined = at(ast.Attribute(name(RUNTIME, origin), "undefined", ast.Load()), origin)
            bound = assign(target, name(variable, origin), origin)
            body.append(self._if_bound([bound], [assign(target, undefined, origin)], origin))
        return define(identifier, [], [*body, values(targets)], origin)

    def _put(self, identifier: str, names: tuple[str, ...], origin: ast.AST) -> ast.stmt:
        """Create a setter: a function that assigns the variables ``names`` from a tuple.

        The setter deletes each variable whose new value is ``undefined``.
        """
        if not names:
            return define(identifier, ["values__"], [], origin)
        targets = [at(ast.Name(variable, ast.Store()), origin) for variable in names]
        together = at(ast.Tuple(targets, ast.Store()), origin)
        body = self._declared(names, origin)
        body.append(at(ast.Assign([together], name("values__", origin)), origin))
        for variable in names:
            undefined = at(ast.Attribute(name(RUNTIME, origin), "undefined", ast.Load()), origin)
            test = at(ast.Compare(name(variable, origin), [ast.Is()], [undefined]), origin)
            unbind = at(ast.Delete([at(ast.Name(variable, ast.Del()), origin)]), origin)
            body.append(at(ast.If(test, [unbind], []), origin))
        return define(identifier, ["values__"], body, origin)

    def _handed_on(self, node: ast.AST, number: int) -> tuple[Block, list[ast.expr]]:
        """Create the getter and setter for the variables that an ``if`` or loop assigns.

        The variables that later code reads come first.

        Returns:
            The definitions of the getter and setter, and the arguments ``getter, setter, names`` for the
            runtime.
        """
        names, scratch = self.names[node]
        every = names + scratch
        getter, setter = f"get__{number}", f"put__{number}"
        listed = constant(tuple(mangled(each, self.owner) for each in names), node)
        done = [self._get(getter, every, node), self._put(setter, every, node)]
        return done, [name(getter, node), name(setter, node), listed]

    def _later(self, node: ast.AST) -> ast.expr:
        """Create a lambda that reads all variables used after ``node``.

        The lambda is never called.
        """
        read = [name(each, node) for each in sorted(self.later[node])]
        return thunk(at(ast.Tuple(read, ast.Load()), node))

    # -- statements ------------------------------------------------------------------------------

    def block(self, body: Block) -> Block:
        """Rewrite the statements of ``body``, and return the new statements."""
        done: Block = []
        for node in body:
            handler = getattr(self, "do_" + type(node).__name__, None)
            if handler is None:
                done.append(self.generic_visit(node))  # type: ignore[arg-type]
            else:
                done += handler(node)
        return done

    def do_If(self, node: ast.If) -> Block:
        number = next(self.numbers)
        then, orelse = f"then__{number}", f"orelse__{number}"
        helpers, last = self._handed_on(node, number)
        done = [
            self._helper(then, node.body, node),
            self._helper(orelse, node.orelse, node),
            *helpers,
        ]
        args = [self.visit(node.test), name(then, node), name(orelse, node), *last, self._later(node)]
        return [*done, statement(runtime("if_", args, node, until=node.test))]

    def do_While(self, node: ast.While) -> Block:
        number = next(self.numbers)
        test, body = f"test__{number}", f"body__{number}"
        helpers, last = self._handed_on(node, number)
        condition = node.test
        if stops(node):
            condition = negation(either(stops(node), node.test))
            if not is_true(node.test):
                condition = at(ast.BoolOp(ast.And(), [condition, node.test]), node.test)
        result = at(ast.Return(condition), node.test)
        done = [self._helper(test, [result], node.test), self._helper(body, node.body, node), *helpers]
        args = [name(test, node), name(body, node), *last]
        return [*done, statement(runtime("while_", args, node, until=node.test))]

    def do_For(self, node: ast.For) -> Block:
        number = next(self.numbers)
        body = f"body__{number}"
        helpers, last = self._handed_on(node, number)
        target = at(ast.Assign([node.target], name("item__", node.target)), node.target)
        done = [self._helper(body, [target, *node.body], node, ("item__",)), *helpers]
        stopped, later = constant(None, node), constant(None, node)
        if stops(node):
            stopped = thunk(self.visit(either(stops(node), node)))
            later = self._later(node)
        args = [self.visit(node.iter), name(body, node), *last, stopped, later]
        return [*done, statement(runtime("for_", args, node, until=node.iter))]

    def do_Try(self, node: Any) -> Block:
        token = f"token__{next(self.numbers)}"
        node.body = self.block(node.body)
        if node.handlers:
            # error messages show the position of the call of ``try_end``, so give it the position of the
            # first statement
            first = node.body[0]
            node.body.append(statement(runtime("try_end", [name(token, first)], first)))
        for handler in node.handlers:
            handler.type = self.expression(handler.type)
            caught = statement(runtime("caught", [], handler))
            handler.body = [caught, *self.block(handler.body)]
        node.orelse, node.finalbody = self.block(node.orelse), self.block(node.finalbody)
        return [assign(token, runtime("try_begin", [], node, until=node), node), node]

    do_TryStar = do_Try

    def do_With(self, node: ast.With) -> Block:
        before: Block = []
        for item in node.items:
            item.context_expr = self.visit(item.context_expr)
            target = item.optional_vars
            if target is not None and not _is_plain(target):
                if len(node.items) > 1:  # the next item may read the variable that this item assigns
                    return self.do_With(_one_by_one(node))
                temporary = self._temporary()
                item.optional_vars = at(ast.Name(temporary, ast.Store()), target)
                before += self._store(target, name(temporary, target))
        node.body = before + self.block(node.body)
        return [node]

    def do_Match(self, node: ast.Match) -> Block:
        node.subject = self.visit(node.subject)
        for case in node.cases:
            case.guard = self.expression(case.guard)
            case.body = self.block(case.body)
        return [node]

    def do_FunctionDef(self, node: ast.FunctionDef) -> Block:
        node.decorator_list = [runtime("call", [self.visit(each)], each) for each in node.decorator_list]
        node.args.defaults = [self.visit(each) for each in node.args.defaults]
        node.args.kw_defaults = [self.expression(each) for each in node.args.kw_defaults]
        if not is_generator(node):
            _Function(node, self.owner, self.numbers).rewrite()
        return [node]

    def do_AsyncFunctionDef(self, node: ast.AsyncFunctionDef) -> Block:
        return [node]

    def do_ClassDef(self, node: ast.ClassDef) -> Block:
        return [node]

    def do_Global(self, node: ast.AST) -> Block:
        return []  # ``rewrite`` has moved the declaration to the start of the function

    do_Nonlocal = do_Global

    def do_Raise(self, node: ast.Raise) -> Block:
        if node.exc is None:  # a bare ``raise`` remains unchanged
            return [node]
        error, cause = (
            constant(None, node) if each is None else self.part(each) for each in (node.exc, node.cause)
        )
        return [statement(runtime("raise_", [error, cause], node))]

    def do_Assert(self, node: ast.Assert) -> Block:
        if not __debug__:  # under ``python -O``, Python skips ``assert``
            return []
        message = constant(None, node) if node.msg is None else self.part(node.msg)
        return [statement(runtime("assert_", [self.visit(node.test), message], node))]

    # -- assignments -----------------------------------------------------------------------------

    def _temporary(self) -> str:
        return f"value__{next(self.numbers)}"

    def do_Assign(self, node: ast.Assign) -> Block:
        value = self.visit(node.value)
        if all(map(_is_plain, node.targets)):
            node.value = value
            return [node]
        if len(node.targets) == 1:
            return self._store(node.targets[0], value)
        temporary = self._temporary()
        done: Block = [assign(temporary, value, node)]
        for target in node.targets:
            done += self._store(target, name(temporary, node))
        return done

    def do_AnnAssign(self, node: ast.AnnAssign) -> Block:
        # remove the annotation, which Python does not evaluate for local variables. In an inner function, the
        # variable may be nonlocal, and Python forbids annotations of nonlocal variables
        if node.value is not None:
            return self.do_Assign(at(ast.Assign([node.target], node.value), node))
        target = node.target
        if isinstance(target, ast.Attribute):
            return [statement(self.visit(target.value))]
        if isinstance(target, ast.Subscript):
            return [statement(self.visit(each)) for each in (target.value, target.slice)]
        return []

    def _store(self, target: Any, value: ast.expr) -> Block:
        """Create statements that assign ``value`` to ``target``.

        ``value`` is already rewritten. The parts of ``target`` are evaluated in Python's order.
        """
        if _is_plain(target):
            return [at(ast.Assign([target], value), target, until=value)]
        match target:
            case ast.Attribute():
                attribute = constant(mangled(target.attr, self.owner), target)
                return self._store_in("set_attribute", [target.value], [attribute], value, target)
            case ast.Subscript():
                return self._store_in("set_item", [target.value, target.slice], [], value, target)
        parts: list[tuple[ast.expr, str]] = []
        elements: list[ast.expr] = []
        for item in target.elts:
            inner = item.value if isinstance(item, ast.Starred) else item
            parts.append((inner, self._temporary()))
            element = at(ast.Name(parts[-1][1], ast.Store()), item)
            elements.append(
                at(ast.Starred(element, ast.Store()), item) if isinstance(item, ast.Starred) else element
            )
        done: Block = [at(ast.Assign([at(ast.Tuple(elements, ast.Store()), target)], value), target)]
        for inner, temporary in parts:
            done += self._store(inner, name(temporary, inner))
        return done

    def _store_in(
        self, method: str, parts: list[ast.expr], others: list[ast.expr], value: ast.expr, origin: ast.AST
    ) -> Block:
        """Create ``mg__.method(*parts, *others, value)``, but evaluate ``value`` first.

        As in Python, the value of an assignment is evaluated before its target.
        """
        done: Block = []
        if not isinstance(value, ast.Constant) and any(map(_calls, [*parts, value])):
            temporary = self._temporary()
            done.append(assign(temporary, value, value))
            value = name(temporary, value)
        args = [*(self.visit(each) for each in parts), *others, value]
        return [*done, statement(runtime(method, args, origin))]

    def do_AugAssign(self, node: ast.AugAssign) -> Block:
        operator = constant(_OPERATORS[type(node.op)], node)
        done: Block = []

        def once(part: ast.expr) -> ast.expr:
            temporary = self._temporary()
            done.append(assign(temporary, self.visit(part), part))
            return name(temporary, part)

        target = node.target
        if isinstance(target, ast.Name):
            value = runtime("augment", [operator, name(target.id, target), self.visit(node.value)], node)
            return [assign(target.id, value, node)]
        owner = once(target.value)
        if isinstance(target, ast.Attribute):
            old = self.load(owner, target.attr, target)
            value = runtime("augment", [operator, old, self.visit(node.value)], node)
            attribute = constant(mangled(target.attr, self.owner), target)
            args, method = [owner, attribute, value], "set_attribute"
        else:
            key = once(target.slice)
            old = self.item(owner, key, target)
            value = runtime("augment", [operator, old, self.visit(node.value)], node)
            args, method = [owner, key, value], "set_item"
        return [*done, statement(runtime(method, args, node))]

    def do_Delete(self, node: ast.Delete) -> Block:
        done: Block = []
        for target in node.targets:
            match target:
                case ast.Attribute():
                    attribute = constant(mangled(target.attr, self.owner), target)
                    done.append(
                        statement(runtime("delete_attribute", [self.visit(target.value), attribute], node))
                    )
                case ast.Subscript():
                    args = [self.visit(target.value), self.visit(target.slice)]
                    done.append(statement(runtime("delete_item", args, node)))
                case ast.Tuple() | ast.List():
                    done += self.do_Delete(at(ast.Delete(target.elts), node))
                case _:
                    done.append(at(ast.Delete([target]), node))
        return done


def _is_plain(target: ast.AST) -> bool:
    """Return whether an assignment target contains no items or attributes."""
    return not any(isinstance(each, (ast.Attribute, ast.Subscript)) for each in ast.walk(target))


def _calls(part: ast.AST) -> bool:
    """Return whether evaluating ``part`` may call code, which may assign variables."""
    return not all(isinstance(each, (ast.Name, ast.Constant, ast.expr_context)) for each in ast.walk(part))


def _one_by_one(node: ast.With) -> ast.With:
    """Convert ``with a, b: …`` to ``with a: with b: …``."""
    first, *others = node.items
    if not others:
        return node
    inner = _one_by_one(at(ast.With(others, node.body, None), node))
    return at(ast.With([first], [inner], None), node)
