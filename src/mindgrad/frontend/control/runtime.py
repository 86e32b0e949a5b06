"""The runtime of rewritten functions: run statements as Python, or compile them.

The rewriter (``python.rewrite``) replaces ``if``, loops, calls, and other constructs of a function by calls
of one :class:`Runtime`. Each method checks the value that determines the next step, such as the condition of
an ``if``. If the value is known, the statement runs as Python. If it is a tensor without a known value, the
runtime traces the *bodies*: both branches of the ``if``, or one iteration of the loop. It emits a ``cond``, a
``while``, or a ``scan`` with the graphs of the bodies (``branches``, ``loops``).

The methods for statements share these arguments:

- ``getter``, ``setter``: functions that return and assign the values of all variables that the bodies assign.
- ``names``: the names of these variables.
- ``later``: function that reads all variables used after the statement. It is never called, but its code
  shows which objects the bodies must not change.
- ``stopped``: returns whether ``break`` or ``return`` has ended the loop.
"""

from __future__ import annotations

import itertools
import operator
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from mindgrad.core.base.location import caller_frame
from mindgrad.core.base.refusal import refuse
from mindgrad.core.ir.cost_model import costs
from mindgrad.core.ir.dtype import bool_
from mindgrad.core.ir.graph import Equation
from mindgrad.core.ir.scope import GraphScope, apply, as_it_is, innermost
from mindgrad.core.ir.tensor import Number, Tensor
from mindgrad.core.primitives.logic import logical_not
from mindgrad.core.trace import references
from mindgrad.frontend import (
    aliases,
    effect_log,
    frozen,
    mutation_policy,
    outside_effects,
    owned_objects,
    state,
)
from mindgrad.frontend.control import builtins, equal_calls, snapshots, texts
from mindgrad.frontend.control.attempts import attempt
from mindgrad.frontend.control.branches import VALUE, branch
from mindgrad.frontend.control.exceptions import Exceptions
from mindgrad.frontend.control.first_iterations import FirstIteration
from mindgrad.frontend.control.iteration import END, endless_range, iterator_of, remaining_items
from mindgrad.frontend.control.loops import loop, scanned
from mindgrad.frontend.control.predicates import equations, known_truth, plain_truth, predicate, truth
from mindgrad.frontend.control.variables import FLAGS, UNDEFINED, State, is_symbolic
from mindgrad.frontend.python import comprehensions, convert
from mindgrad.frontend.unconverted_calls import callee_for, constructor_for

__all__ = ["RUNTIME", "Runtime", "call"]


_AUGMENT = {
    "+": operator.iadd, "-": operator.isub, "*": operator.imul, "/": operator.itruediv,
    "//": operator.ifloordiv, "%": operator.imod, "**": operator.ipow, "@": operator.imatmul,
    "&": operator.iand, "|": operator.ior, "^": operator.ixor, "<<": operator.ilshift, ">>": operator.irshift,
}  # fmt: skip


_IN_PLACE = {sign: f"__{function.__name__}__" for sign, function in _AUGMENT.items()}


class Runtime(Exceptions):
    """The object that rewritten code calls under the name ``mg__``."""

    undefined = UNDEFINED

    # -- statements ----------------------------------------------------------------------------

    def if_(
        self,
        test: Any,
        then: Callable[[], None],
        orelse: Callable[[], None],
        getter: Any,
        setter: Any,
        names: Any,
        later: Any = None,
    ) -> None:
        """Run ``if test: then() else: orelse()``."""
        truth = plain_truth(test)
        if isinstance(truth, Tensor):
            branch(truth, (then, orelse), State(getter, setter, names), later)
        elif truth:
            then()
        else:
            orelse()

    def while_(
        self, test: Callable[[], Any], body: Callable[[], None], getter: Any, setter: Any, names: Any
    ) -> None:
        """Run ``while test(): body()``."""
        before = equations()
        first_iteration: FirstIteration | None = None
        while True:
            # a tensor condition with a known value is treated like a Python bool
            first = test()
            if isinstance(first, Tensor):
                first = truth(first)
            if isinstance(first, Tensor):

                def iteration() -> Tensor:
                    body()
                    return predicate(test())

                loop(first, iteration, State(getter, setter, names), first_iteration)
                return
            if not first:
                return
            if equations() - before > costs().scan_equations and self._rest_as_loop(
                test, body, getter, setter, names
            ):
                return
            if first_iteration is None and any(name.startswith(FLAGS) for name in names):
                first_iteration = FirstIteration(body, test, State(getter, setter, names))
            body()

    def _rest_as_loop(self, test: Any, body: Any, getter: Any, setter: Any, names: Any) -> bool:
        """Try to compile the remaining iterations of a long loop to one ``while``.

        The condition of the loop is a Python value, so the loop is unrolled if this fails.

        Returns:
            Whether this succeeded.
        """

        def iteration() -> Tensor:
            body()
            return predicate(test())

        return attempt(lambda: loop(known_truth(True), iteration, State(getter, setter, names)))

    def for_(
        self,
        items: Any,
        body: Callable[[Any], None],
        getter: Any,
        setter: Any,
        names: Any,
        stopped: Any = None,
        later: Any = None,
    ) -> None:
        """Run ``for item in items: body(item)``, and stop when ``stopped()`` is true."""
        if isinstance(items, builtins.TensorRange):
            self._for_range(items, body, getter, setter, names, stopped)
            return
        if stopped is None and self._for_scan(items, body, getter, setter, names):
            return
        before, iterations = equations(), 0
        iterator = iterator_of(items)
        snapshots.refuse_advance(iterator)
        while True:
            flag = False if stopped is None else plain_truth(stopped())
            if isinstance(flag, Tensor):
                break
            if flag or (item := next(iterator, END)) is END:
                return
            body(item)
            iterations += 1
        if type(items) is itertools.count:
            bounds: Any = endless_range(items, later)
            self._for_range(bounds, body, getter, setter, names, stopped)
            return
        remaining = remaining_items(iterator, later)
        if isinstance(items, range) and remaining and _is_long(before, iterations, len(remaining)):
            bounds = builtins.TensorRange(items[iterations], items.stop, items.step)
            if attempt(partial(self._for_range, bounds, body, getter, setter, names, stopped)):
                return
        for each in remaining:
            self._guarded(each, body, getter, setter, names, stopped, later)

    def _guarded(
        self,
        item: Any,
        body: Callable[[Any], None],
        getter: Any,
        setter: Any,
        names: Any,
        stopped: Any,
        later: Any,
    ) -> None:
        """Run ``if not stopped(): body(item)``, where ``stopped()`` returns a tensor."""
        self.if_(self.not_(stopped()), lambda: body(item), _nothing, getter, setter, names, later)

    def _for_scan(
        self, items: Any, body: Callable[[Any], None], getter: Any, setter: Any, names: Any
    ) -> bool:
        """Try to compile a long loop to one ``scan``, and return whether this succeeded."""
        if isinstance(items, range):
            length = len(items)
        elif isinstance(items, Tensor) and items.shape:
            length = items.shape[0]
        else:
            return False
        if length < costs().scan_iterations or not isinstance(innermost(), GraphScope):
            return False
        if isinstance(items, range):
            stack, is_number = Tensor(list(items)), True
        else:
            stack, is_number = (references.read(items) if items.is_parameter else as_it_is(items)), False
        worth: list[bool] = []

        def is_worth(equations: Sequence[Equation]) -> bool:
            size = sum(
                costs().library_call_equations if e.primitive.kind == "multilinear" else 1 for e in equations
            )
            worth.append(size * length > costs().scan_equations)
            return worth[0]

        variables = State(getter, setter, names)
        iteration = lambda slices: body(slices[0])
        done = attempt(lambda: scanned(length, [(stack, is_number)], iteration, variables, is_worth))
        return done and worth[0]

    def _for_range(
        self, items: Any, body: Callable[[Any], None], getter: Any, setter: Any, names: Any, stopped: Any
    ) -> None:
        """Run a ``for`` loop over a range as a ``while`` loop.

        ``items`` is a ``TensorRange``, whose bounds may be tensors.
        """
        index: list[Any] = [items.start]

        count = len(names)

        def get_all() -> tuple:
            values = getter()
            return (*values[:count], index[0], *values[count:])

        def put_all(values: tuple) -> None:
            setter((*values[:count], *values[count + 1 :]))
            index[0] = values[count]

        put_all.__wrapped__ = setter  # type: ignore[attr-defined]

        def continues() -> Any:
            inside = items.contains(index[0])
            return inside if stopped is None else self.and_(self.not_(stopped()), lambda: inside)

        def iteration() -> None:
            item = index[0]
            index[0] = item + items.step
            body(item)

        self.while_(continues, iteration, get_all, put_all, (*names, "the index of the range"))

    # -- expressions ---------------------------------------------------------------------------

    def if_expression(self, test: Any, then: Callable[[], Any], orelse: Callable[[], Any]) -> Any:
        """Evaluate ``then() if test else orelse()``."""
        truth = plain_truth(test)
        if not isinstance(truth, Tensor):
            return then() if truth else orelse()
        result: list[Any] = [UNDEFINED]

        def put(values: tuple) -> None:
            result[0] = values[0]

        def side(value: Callable[[], Any]) -> Callable[[], None]:
            return lambda: result.__setitem__(0, value())

        variables = State(lambda: (result[0],), put, (VALUE,))
        branch(truth, (side(then), side(orelse)), variables)
        return result[0]

    def and_(self, first: Any, *others: Callable[[], Any]) -> Any:
        """Evaluate ``first and others[0]() and …``."""
        value = first
        for k, operand in enumerate(others):
            truth = plain_truth(value)
            if isinstance(truth, Tensor):
                return self._both(truth, value, partial(_rest, self.and_, others[k:]), True)
            if not truth:
                return value
            value = operand()
        return value

    def or_(self, first: Any, *others: Callable[[], Any]) -> Any:
        """Evaluate ``first or others[0]() or …``."""
        value = first
        for k, operand in enumerate(others):
            truth = plain_truth(value)
            if isinstance(truth, Tensor):
                return self._both(truth, value, partial(_rest, self.or_, others[k:]), False)
            if truth:
                return value
            value = operand()
        return value

    def _both(self, truth: Tensor, value: Any, other: Callable[[], Any], is_and: bool) -> Any:
        """Evaluate ``value and other()`` or ``value or other()`` for a tensor ``value``.

        Args:
            truth: ``value``, converted to a scalar Bool tensor.
            value: the first operand.
            other: evaluates the expression that the remaining operands form.
            is_and: whether the operator is ``and``.
        """

        def same() -> Any:
            return truth if value.dtype is bool_ else value

        def second() -> Any:
            result = other()
            truth_value = isinstance(result, bool) or (isinstance(result, Tensor) and result.dtype is bool_)
            # if both operands are Bools, convert both to scalars, so that both branches return the same type
            if truth_value and value.dtype is bool_:
                return predicate(result)
            return result

        return self.if_expression(truth, *((second, same) if is_and else (same, second)))

    def not_(self, x: Any) -> Any:
        """Evaluate ``not x``."""
        known = plain_truth(x)
        return apply(logical_not, known) if isinstance(known, Tensor) else not known

    def in_(self, x: Any, items: Any) -> Any:
        """Evaluate ``x in items``."""
        if isinstance(items, (list, tuple)) and (is_symbolic(x) or any(map(is_symbolic, items))):
            return self.or_(False, *[lambda each=each: x is each or x == each for each in items])
        if isinstance(items, Tensor) and (is_symbolic(x) or is_symbolic(items)):
            return (items == x).any()
        if is_symbolic(x):
            refuse(
                f"A tensor is looked up in a {type(items).__name__}. Keys must be known at compile time",
                "Compare the tensor with the items of a list, x in [1, 2], or with one key, x == key.",
            )
        return x in items

    def is_(self, a: Any, b: Any) -> Any:
        """Evaluate ``a is b``."""
        if a is b or not (isinstance(a, Tensor) or isinstance(b, Tensor)):
            return a is b
        for x, y in ((a, b), (b, a)):
            if type(x) is Number and x.dtype is bool_ and isinstance(y, bool):
                return x if y else self.not_(x)
        if type(a) is Number or type(b) is Number:
            refuse(
                "'is' compares a number that depends on a tensor. Its identity is not known at compile time",
                "Compare the value: k == 2.",
            )
        return aliases.is_same(a, b) if isinstance(a, Tensor) and isinstance(b, Tensor) else False

    def text(self, text: Any) -> Any:
        """Return ``text``, the value of an f-string, and protect it if it is incomplete.

        If the string contains a placeholder for the unknown value of a tensor, operations that read the
        string raise ``CompileError``.
        """
        return texts.marked_text(text)

    def item(self, items: Any, key: Any) -> Any:
        """Evaluate ``items[key]``."""
        if isinstance(key, Tensor) and is_symbolic(key) and not isinstance(items, Tensor):
            return builtins.chosen(items, key, self)
        return items[key]

    def augment(self, sign: str, x: Any, y: Any) -> Any:
        """Evaluate ``x op= y``, such as ``x += y``, and return the new value of ``x``.

        Args:
            sign: the operator without ``=``, such as ``"+"``.
            x, y: the operands.
        """
        if not isinstance(x, (Tensor, int, float, str, tuple)) and hasattr(x, _IN_PLACE[sign]):
            mutation_policy.may_change(x, f"{sign}=")
        return texts.marked_text(_AUGMENT[sign](x, y))

    def bind(self, setter: Callable[[Any], Any], name: str, value: Any) -> Any:
        """Evaluate ``(name := value)`` in a lambda.

        Args:
            setter: assigns the variable, and returns its value.
            name: name of the variable.
            value: value to assign.
        """
        free = setter.__code__.co_freevars  # type: ignore[attr-defined]
        if name in free:
            cell = setter.__closure__[free.index(name)]  # type: ignore[attr-defined, index]
            effect_log.note_assignable(effect_log.Local(cell, name, name))
        return setter(value)

    # -- attributes, items, containers ------------------------------------------------------------

    def attribute(self, owner: Any, name: str) -> Any:
        """Read ``owner.name``. If the user's class defines a property, convert its getter."""
        return builtins.attribute(owner, name, self)

    def set_attribute(self, owner: Any, name: str, value: Any) -> None:
        """Assign ``owner.name = value``."""
        builtins.set_attribute(owner, name, value, self)

    def delete_attribute(self, owner: Any, name: str) -> None:
        """Delete ``owner.name``."""
        builtins.delete_attribute(owner, name, self)

    def set_item(self, owner: Any, key: Any, value: Any) -> None:
        """Assign ``owner[key] = value``."""
        if isinstance(owner, Tensor):
            owner[key] = value  # type: ignore[index]
            return
        if is_symbolic(key):
            refuse(
                f"An item of a {type(owner).__name__} is assigned at an index that is a tensor. Indices "
                "of Python containers must be known at compile time",
                "Use a tensor instead of the container: t[i] = value.",
            )
        mutation_policy.may_change(owner, "[…] =")
        owner[key] = value
        outside_effects.check(owner)

    def delete_item(self, owner: Any, key: Any) -> None:
        """Delete ``owner[key]``."""
        mutation_policy.may_change(owner, "del")
        del owner[key]

    def consumed(self, function: Any, items: Any, test: Any, element: Any, is_list: bool, *rest: Any) -> Any:
        """Evaluate ``function((element(x) for x in items if test(x)), *rest)``."""
        return comprehensions.consumed(self, function, items, test, element, is_list, rest)

    def made(self, container: Any) -> Any:
        """Record that traced code created ``container``, so that the code may change it."""
        return owned_objects.made(container)

    # -- calls ------------------------------------------------------------------------

    def call(self, function: Any) -> Any:
        """Return the function that rewritten code calls in place of ``function``."""
        return call(function)

    def is_itself(self, function: Any, name: str, line: int) -> bool:
        """Return whether a tail call is recursive and must be compiled as a loop.

        Args:
            function: the function that is called.
            name: name of the calling function.
            line: first line of the definition of the calling function.
        """
        if not mutation_policy.tail_calls_are_loops():
            return False  # the first trace uses calls, which support more constructs
        if type(function).__module__.startswith("mindgrad."):
            function = getattr(function, "__wrapped__", None)  # the function that ``jit`` wraps
        code = getattr(function, "__code__", None)
        file = caller_frame().f_code.co_filename
        found = code is not None and (code.co_filename, code.co_name, code.co_firstlineno)
        return found == (file, name, line)


def _rest(operator: Callable[..., Any], operands: Sequence[Callable[[], Any]]) -> Any:
    return operator(operands[0](), *operands[1:])


def _nothing() -> None:
    pass


def _is_long(before: int, iterations: int, remaining: int) -> bool:
    """Return whether the remaining iterations should be compiled to a loop.

    The result is true if unrolling them would add too many equations to the graph.

    Args:
        before: number of equations in the graph before the loop.
        iterations: number of iterations that have been unrolled.
        remaining: number of remaining iterations.
    """
    return remaining >= costs().scan_iterations and (
        equations() - before
    ) * remaining > costs().scan_equations * max(iterations, 1)


RUNTIME = Runtime()
builtins.RUNTIME_OF.append(RUNTIME)


def call(function: Any) -> Any:
    """Return the function that a trace calls in place of ``function``.

    It is the converted form of a user's function, or a wrapper that checks a library function.
    """
    replaced = builtins.replacement(function) or frozen.note_call(function)
    if replaced is not None:
        return replaced
    if isinstance(function, type):
        return constructor_for(function)
    if mutation_policy.may_call(function):
        return function
    converted = convert.convert(function, RUNTIME)
    if converted is not function or convert.is_without_source(function):
        state.read_function(function)
        if convert.calls_itself_plainly(function):
            return equal_calls.shared(function, converted)
    if converted is not function:
        return converted
    return callee_for(function)
