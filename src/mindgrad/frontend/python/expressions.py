"""Convert conditional expressions and comparisons to calls of the runtime.

======================================  =====================================================
Python                                  rewritten (``mg__`` is the runtime)
======================================  =====================================================
``a and b``, ``a or b``, ``not a``      ``mg__.and_(a, lambda: b)``, ``or_``, ``mg__.not_(a)``
``a if c else b``                       ``mg__.if_expression(c, lambda: a, lambda: b)``
``a < b < c``                           ``and_`` of the comparisons, ``b`` evaluated once
``a in b``, ``a is b``                  ``mg__.in_(a, b)``, ``mg__.is_(a, b)``
``f"{a}"``, ``"%s" % a``                ``mg__.text(f"{a}")``, for any ``%``
``f(x)``                                ``mg__.call(f)(x)``
``o.a``, ``o[k]``                       ``mg__.attribute(o, "a")``, ``mg__.item(o, k)``
``[…]``, ``{…}`` and comprehensions     ``mg__.made([…])``
``super()``                             ``super(__class__, self)``
======================================  =====================================================

All other expressions remain unchanged.

If an operand becomes a lambda, a ``:=`` in it must still assign a variable of the enclosing function, which
is impossible in a lambda. Therefore, ``(x := value)`` becomes ``mg__.bind(set__x, "x", value)``, and a
definition of the function ``set__x`` is added at the start of the enclosing function. A definition cannot be
added to a lambda of the user. If such a lambda contains a ``:=``, its ``and``, ``or``, and ``if`` are not
rewritten.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import Any

from mindgrad.frontend.python.ast_helpers import PART, at, call, constant, name, runtime, thunk
from mindgrad.frontend.python.bindings import Scope, parameters, within
from mindgrad.frontend.python.comprehensions import CONSUMERS

__all__ = ["Expressions", "mangled"]


def mangled(attribute: str, owner: str | None) -> str:
    """Return ``_owner__attribute`` for a private attribute, as Python does in a class."""
    if owner is None or not attribute.startswith("__") or attribute.endswith("__") or "." in attribute:
        return attribute
    owner = owner.lstrip("_")
    return f"_{owner}{attribute}" if owner else attribute


def _is_none(node: ast.AST) -> bool:
    return isinstance(node, ast.Constant) and node.value is None


def _is_literal(key: ast.AST) -> bool:
    """Return whether ``key`` in ``items[key]`` is a literal, a slice, or a tuple.

    Such a key is not a tensor, so ``items[key]`` is not rewritten.
    """
    match key:
        case ast.UnaryOp():
            return _is_literal(key.operand)
        case ast.Constant() | ast.Slice() | ast.Tuple():
            return True
    return False


class Expressions(ast.NodeTransformer):
    """Rewrites the expressions of one function, in place.

    Args:
        scope: the names of the function.
        owner: name of the class that defines the function, for private names, or ``None``.

    Attributes:
        setters: names of the variables for which a function ``set__…`` must be defined.
        needs_locals: whether a function ``locals__`` must be defined, because the function calls
            ``locals()``.
    """

    def __init__(self, scope: Scope, owner: str | None) -> None:
        self.scope = scope
        self.owner = owner
        self.setters: dict[str, None] = {}
        self.needs_locals = False
        self._part = False  # whether the expression is inside a generated lambda
        self._lambdas: list[ast.Lambda] = []  # the user's lambdas around the expression

    def expression(self, node: Any) -> Any:
        """Rewrite the expression ``node``; return ``None`` if the expression is missing."""
        return None if node is None else self.visit(node)

    def part(self, node: ast.expr) -> ast.expr:
        """Rewrite the expression ``node``, and return the expression ``lambda: node``."""
        before, self._part = self._part, True
        try:
            return thunk(self.visit(node))
        finally:
            self._part = before

    def _keeps(self, parts: Sequence[ast.expr]) -> bool:
        return bool(self._lambdas) and any(isinstance(node, ast.NamedExpr) for node in within(*parts))

    # -- conditional evaluation ------------------------------------------------------------------

    def visit_BoolOp(self, node: ast.BoolOp) -> ast.AST:
        first, *others = node.values
        if self._keeps(others):
            return self.generic_visit(node)
        method = "and_" if isinstance(node.op, ast.And) else "or_"
        return runtime(method, [self.visit(first), *map(self.part, others)], node)

    def visit_UnaryOp(self, node: ast.UnaryOp) -> ast.AST:
        self.generic_visit(node)
        return runtime("not_", [node.operand], node) if isinstance(node.op, ast.Not) else node

    def visit_IfExp(self, node: ast.IfExp) -> ast.AST:
        if self._keeps([node.body, node.orelse]):
            return self.generic_visit(node)
        args = [self.visit(node.test), self.part(node.body), self.part(node.orelse)]
        return runtime("if_expression", args, node)

    def visit_Compare(self, node: ast.Compare) -> ast.AST:
        if self._keeps(node.comparators[1:]):
            return self.generic_visit(node)
        return self._comparison(self.visit(node.left), node.ops, node.comparators, node)

    def _comparison(
        self, left: ast.expr, ops: Sequence[ast.cmpop], rights: Sequence[ast.expr], node: ast.AST
    ) -> ast.expr:
        """Rewrite ``left op right op …``, where ``left`` is already rewritten."""
        origin = at(ast.Pass(), left, until=rights[0])
        if len(ops) == 1:
            return self._compare(left, ops[0], self.visit(rights[0]), at(origin, node))
        # create (lambda part__, middle__: and_(part__ < middle__, lambda: middle__ < …))(left, right)
        middle = name("middle__", rights[0])
        first = self._compare(name(PART, left), ops[0], middle, origin)
        right = self.visit(rights[0])
        before, self._part = self._part, True
        end = at(ast.Pass(), rights[0], until=rights[-1])
        others = self._comparison(name("middle__", rights[0]), ops[1:], rights[1:], end)
        self._part = before
        both = runtime("and_", [first, thunk(others)], node)
        arguments = [at(ast.arg(parameter), node) for parameter in (PART, "middle__")]
        function = at(ast.Lambda(ast.arguments([], arguments, None, [], [], None, []), both), node)
        return call(function, [left, right], node)

    def _compare(self, left: ast.expr, op: ast.cmpop, right: ast.expr, origin: ast.AST) -> ast.expr:
        method = {ast.In: "in_", ast.NotIn: "in_", ast.Is: "is_", ast.IsNot: "is_"}.get(type(op))
        if method == "is_" and (_is_none(left) or _is_none(right)):
            method = None  # ``x is None`` remains unchanged, because no tensor can represent None
        if method is not None:
            found = runtime(method, [left, right], origin)
            return runtime("not_", [found], origin) if isinstance(op, (ast.NotIn, ast.IsNot)) else found
        return at(ast.Compare(left, [op], [right]), origin)

    def visit_JoinedStr(self, node: ast.JoinedStr) -> ast.AST:
        self.generic_visit(node)
        return runtime("text", [node], node)

    def visit_FormattedValue(self, node: ast.FormattedValue) -> ast.AST:
        node.value = self.visit(node.value)
        if node.format_spec is not None:
            # a format specification is a JoinedStr, but must not become a call. Therefore, rewrite only its
            # children
            self.generic_visit(node.format_spec)
        return node

    def visit_BinOp(self, node: ast.BinOp) -> ast.AST:
        is_format = isinstance(node.op, ast.Mod)
        self.generic_visit(node)
        return runtime("text", [node], node) if is_format else node

    # -- names -----------------------------------------------------------------------------------

    def visit_NamedExpr(self, node: ast.NamedExpr) -> ast.AST:
        self.generic_visit(node)
        if not self._part:
            return node
        identifier = node.target.id  # type: ignore[attr-defined]
        self.setters[identifier] = None
        setter, variable = name(f"set__{identifier}", node), constant(mangled(identifier, self.owner), node)
        return runtime("bind", [setter, variable, node.value], node)

    def visit_Lambda(self, node: ast.Lambda) -> ast.AST:
        arguments = node.args
        arguments.defaults = [self.visit(each) for each in arguments.defaults]
        arguments.kw_defaults = [self.expression(each) for each in arguments.kw_defaults]
        before, self._part = self._part, False
        self._lambdas.append(node)
        node.body = self.visit(node.body)
        self._lambdas.pop()
        self._part = before
        return node

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        self.generic_visit(node)
        if not isinstance(node.ctx, ast.Load):
            return node  # a target of a comprehension: ``[… for o.a in xs]``
        return self.load(node.value, node.attr, node)

    def load(self, owner: ast.expr, attribute: str, node: ast.AST) -> ast.expr:
        """Create the call ``mg__.attribute(owner, name)``, which evaluates ``owner.name``.

        ``owner`` is already rewritten.
        """
        return runtime("attribute", [owner, constant(mangled(attribute, self.owner), node)], node)

    def visit_Subscript(self, node: ast.Subscript) -> ast.AST:
        self.generic_visit(node)
        if not isinstance(node.ctx, ast.Load) or _is_literal(node.slice):
            return node
        return self.item(node.value, node.slice, node)

    def item(self, owner: ast.expr, key: ast.expr, node: ast.AST) -> ast.expr:
        """Create the call ``mg__.item(owner, key)``, which evaluates ``owner[key]``.

        ``owner`` and ``key`` are already rewritten.
        """
        return runtime("item", [owner, key], node)

    # -- calls and containers --------------------------------------------------------------------

    def visit_Call(self, node: ast.Call) -> ast.AST:
        special = self._special(node) or self._consumed(node)
        if special is not None:
            return special
        function = node.func
        self.generic_visit(node)
        node.func = runtime("call", [node.func], function)
        return node

    def _special(self, node: ast.Call) -> ast.expr | None:
        """Rewrite ``super()`` and ``locals()``, which inspect the frame of their caller.

        Return ``None`` for other calls.
        """
        if not isinstance(node.func, ast.Name) or node.args or node.keywords:
            return None
        function = node.func.id
        if function in self.scope.locals or function in self.scope.globals | self.scope.nonlocals:
            return None
        if function == "super" and self.owner is not None:
            own = parameters(self._lambdas[-1].args) if self._lambdas else self.scope.parameters
            return call(node.func, [name("__class__", node), name(own[0], node)], node) if own else node
        if function == "locals" and not self._lambdas:
            self.needs_locals = True
            return call(name("locals__", node), [], node)
        return None

    def _consumed(self, node: ast.Call) -> ast.expr | None:
        """Rewrite ``sum``, ``any``, or ``all`` of a comprehension with one ``for``.

        Return ``None`` for other calls.
        """
        if (
            not isinstance(node.func, ast.Name)
            or node.func.id not in CONSUMERS
            or node.keywords
            or not node.args
        ):
            return None
        written, *others = node.args
        if (
            not isinstance(written, (ast.GeneratorExp, ast.ListComp))
            or len(written.generators) != 1
            or len(others) > 1
        ):
            return None
        (loop,) = written.generators
        inside = [written.elt, *loop.ifs]
        kinds = (ast.NamedExpr, ast.Await, ast.Yield, ast.YieldFrom, ast.Lambda)
        if loop.is_async or not isinstance(loop.target, ast.Name):
            return None
        if any(isinstance(each, kinds) for part in inside for each in ast.walk(part)):
            return None
        items = self.visit(loop.iter)
        tests = loop.ifs
        test: ast.expr = constant(None, written)
        if tests:
            joined = (
                tests[0] if len(tests) == 1 else at(ast.BoolOp(ast.And(), tests), tests[0], until=tests[-1])
            )
            test = self._of_item(joined, loop.target.id)
        element = self._of_item(written.elt, loop.target.id)
        is_list = constant(isinstance(written, ast.ListComp), written)
        args = [node.func, items, test, element, is_list, *map(self.visit, others)]
        return runtime("consumed", args, node)

    def _of_item(self, value: ast.expr, variable: str) -> ast.expr:
        """Create ``lambda part__, variable: value``, a function of one item."""
        before, self._part = self._part, True
        body = self.visit(value)
        self._part = before
        arguments = [at(ast.arg(each), value) for each in (PART, variable)]
        return at(ast.Lambda(ast.arguments([], arguments, None, [], [], None, []), body), value)

    def _made(self, node: ast.AST) -> ast.AST:
        self.generic_visit(node)
        if not isinstance(getattr(node, "ctx", None), (ast.Store, ast.Del)):
            return runtime("made", [node], node)  # type: ignore[list-item]
        return node

    visit_List = visit_Set = visit_Dict = visit_ListComp = visit_SetComp = visit_DictComp = _made
