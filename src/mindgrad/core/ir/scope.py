"""Scopes collect the operators of a function that is differentiated or compiled.

    no scope       an operator runs immediately
    Recorder       an operator runs immediately, and the call is recorded   (gradient in eager mode)
    GraphScope     an operator becomes an equation, and does not run        (compiled function)

In eager mode, a call of a function can be deferred (``ir.deferral``). The deferred call then receives the
operators instead of these scopes. A gradient inside it has a :class:`DeferredScope`.

Every gradient call opens a new scope. The *level* of a scope is its nesting depth. An operator belongs to the
scope with the highest level among its operands. An operand of a lower level is *captured*: it becomes an
input of the inner graph. Inner graphs therefore have no free variables, and tangents of different levels
cannot be confused.

The body of a loop or branch also has a scope (:class:`BodyScope`). All operators that are called in the body
belong to this scope, even if all their operands are from outside, because a branch that is not taken must not
run.
"""

from __future__ import annotations

import threading
import weakref
from collections.abc import Callable, Hashable, Sequence
from typing import TYPE_CHECKING, Generic, TypeVar

import numpy as np

from mindgrad.core.base.location import user_location
from mindgrad.core.ir.build import Builder
from mindgrad.core.ir.graph import Atom, Equation, Variable
from mindgrad.core.ir.kernels import run_kernel
from mindgrad.core.ir.pending import PendingArray
from mindgrad.core.ir.primitive import Primitive
from mindgrad.core.ir.rules import Atoms, Results, Statics, Stored
from mindgrad.core.ir.tensor import LEFT_BEHIND, Tensor, assign, make_tensor
from mindgrad.core.ir.types import TensorType

if TYPE_CHECKING:
    from mindgrad.core.ir.deferral import Deferral

__all__ = [
    "LEFT_BEHIND", "BodyScope", "DeferredScope", "GraphScope", "Scope", "apply", "as_it_is", "constant_block",
    "current_deferral", "defer_to", "executing", "held_constant", "hold_constant", "identity", "innermost",
    "lifted", "open_scopes", "opened", "outermost_program", "rebind",
]  # fmt: skip


#: pair of a level, and a function that converts values of scopes up to this level to constants
#: (:func:`hold_constant`)
ConstantBlock = tuple[int, Callable[[Tensor], Tensor] | None]


#: the class of a scope
S = TypeVar("S", bound="Scope")


class _Local(threading.local):
    def __init__(self) -> None:
        self.scopes: list[Scope] = []
        #: scope of the innermost loop body or branch that is being traced
        self.body: BodyScope | None = None
        #: the deferred eager call that records the operators of this thread; ``None`` if operators are not
        #: deferred
        self.deferral: Deferral | None = None
        #: derivatives treat values as constants if their scope is nested at most this deep
        #: (:func:`hold_constant`)
        self.constant_level = 0
        self.as_constant: Callable[[Tensor], Tensor] | None = None


_local = _Local()

_new_tensor = Tensor.__new__


def open_scopes() -> list[Scope]:
    """Return the open scopes of this thread, outermost first."""
    return _local.scopes


def outermost_program() -> GraphScope | None:
    """Return the outermost open scope of a function that is being compiled."""
    return next((scope for scope in _local.scopes if isinstance(scope, GraphScope)), None)


def current_deferral() -> Deferral | None:
    """Return the deferred call that receives operators on this thread, or ``None``."""
    return _local.deferral


def defer_to(deferral: Deferral | None) -> None:
    """Pass later operators of this thread to ``deferral``; ``None`` ends the deferral."""
    _local.deferral = deferral


def hold_constant(block: ConstantBlock) -> ConstantBlock:
    """Treat values of outer scopes as constants on this thread.

    Args:
        block: the highest level of these scopes, and the function that converts a value to a constant.
            ``(0, None)`` turns the conversion off.

    Returns:
        The previous setting.
    """
    before = _local.constant_level, _local.as_constant
    _local.constant_level, _local.as_constant = block
    return before


def constant_block() -> ConstantBlock:
    """Return the level and the function set by :func:`hold_constant`."""
    return _local.constant_level, _local.as_constant


class executing:
    """Context manager that replaces this thread's open scopes and deferred call.

    Args:
        scopes: the open scopes, outermost first. Scopes that are opened in the block are added to this list.
        deferral: the deferred call that receives the operators, or ``None``.
    """

    __slots__ = ("before", "constants", "deferral", "scopes")

    def __init__(self, scopes: list[Scope], deferral: Deferral | None = None) -> None:
        self.scopes = scopes
        self.deferral = deferral

    def __enter__(self) -> None:
        local = _local
        self.before = (local.scopes, local.body, local.deferral)
        local.scopes, local.body, local.deferral = self.scopes, None, self.deferral
        self.constants = hold_constant((0, None))

    def __exit__(self, *_: object) -> None:
        _local.scopes, _local.body, _local.deferral = self.before
        hold_constant(self.constants)


def innermost() -> Scope | None:
    """Return the innermost open scope of this thread."""
    scopes = _local.scopes
    return scopes[-1] if scopes else None


class opened(Generic[S]):
    """Context manager that opens ``scope``, and closes it at the end of the block."""

    __slots__ = ("deferral", "outer_body", "scope")

    def __init__(self, scope: S) -> None:
        self.scope = scope

    def __enter__(self) -> S:
        local, scope = _local, self.scope
        scopes = local.scopes
        scopes.append(scope)
        scope.level = len(scopes)
        self.outer_body = local.body
        self.deferral = local.deferral
        if isinstance(scope, GraphScope):
            local.deferral = None  # while a graph is traced, the scope itself records the operators
            if isinstance(scope, BodyScope):
                local.body = scope
        return scope

    def __exit__(self, *_: object) -> None:
        local, scope = _local, self.scope
        local.scopes.pop()
        scope.level = 0
        scope.runs = None  # break the reference cycle: tensors in ``runs`` refer to this scope
        local.body = self.outer_body
        local.deferral = self.deferral
        if scope.restored:
            for tensor, before, _line in scope.restored.values():
                assign(tensor, before)


def as_it_is(tensor: Tensor) -> Tensor:
    """Return a copy of ``tensor`` that later assignments ``x[0] = 1`` do not change."""
    copy = _new_tensor(Tensor)
    copy._array, copy._type = tensor._array, tensor._type
    copy._scope, copy._atom = tensor._scope, tensor._atom
    return copy


def lifted(tensor: Tensor) -> Tensor:
    """Return ``tensor``, or its value in the open scopes if its own scope is closed.

    A differentiated function may store a value in a list or an attribute instead of returning it. If the
    value is used after the derivative is complete, it becomes an ordinary tensor. If an outer scope is still
    open, the value may depend on tensors of the outer scope, so it becomes a tensor of the outer scope.
    """
    scope = tensor._scope
    if scope is None:
        return tensor
    while scope is not None and scope.lifts and not scope.level and _local.scopes:
        tensor = scope.lift(tensor._atom)
        scope = tensor._scope
    if isinstance(scope, DeferredScope) and not scope.level and scope.deferral is not None:
        return scope.deferral.lifted(tensor)
    return tensor


def rebind(tensor: Tensor, value: Tensor) -> None:
    """Replace the value of the object ``tensor``, as the assignment ``x[0] = 1`` does.

    A compiled function can change only references. If the traced code changes another tensor from outside the
    function, the tensor gets its old value back when tracing ends.
    """
    scopes = _local.scopes
    body = _local.body
    if body is not None and scopes[-1] is body and tensor._scope is not body:
        body.changed.setdefault(id(tensor), (tensor, as_it_is(tensor)))
    elif not tensor.is_traced:
        program = outermost_program()
        if program is not None:
            program.restored.setdefault(id(tensor), (tensor, as_it_is(tensor), user_location()))
    is_of_scope = tensor._scope is value._scope
    assign(tensor, value)
    if value.is_traced and not is_of_scope:  # tensors that the function itself created need not be tracked
        value._scope.rebound.append(weakref.ref(tensor))


def identity(tensor: Tensor) -> tuple[int, Hashable]:
    """Return a cache key that is equal for two Tensor objects with the same value.

    The key consists of the ``id`` of the scope and the atom, or of the ``id`` of the array and the type.
    """
    if tensor.is_traced:
        atom = tensor._atom
        return (id(tensor._scope), atom if isinstance(atom, int) else id(atom))
    array = tensor._array
    if type(array) is PendingArray and array.value is not None:
        array = array.value
    return (id(array), tensor.type)


class Scope:
    """Base class of all scopes.

    Attributes:
        level: nesting depth: 1 for the outermost scope, 0 after the scope is closed.
        bindings: dict from the ``id`` of a reference to the tensor with its value inside the scope.
        written: references to which code inside the scope has assigned a value.
        rebound: weak references to tensors that got a value of this scope by item assignment.
        restored: tensors from outside the scope that item assignment inside it changed. Each is stored with
            its old value and the source line of the first change. The line is ``None`` if only the object,
            but not its elements, changed. The tensors get their old values when the scope is closed.
        runs: storage of ``frontend.replayed_forward`` for the recorded runs in the scope, or ``None``.
        opaque: whether a loop, branch, or other compiled function inside the scope takes derivatives.
    """

    __slots__ = ("__weakref__", "bindings", "level", "opaque", "rebound", "restored", "runs", "written")

    #: whether tensors of this scope have values, so that :func:`lifted` can still return them after the scope
    #: is closed
    lifts = False

    def __init__(self) -> None:
        self.level = 0
        self.runs: dict[int, Stored] | None = None
        self.bindings: dict[int, Tensor] = {}
        self.written: dict[int, Stored] = {}
        self.rebound: list[weakref.ref[Tensor]] = []
        self.restored: dict[int, tuple[Tensor, Tensor, tuple[str, int] | None]] = {}
        self.opaque = False

    def still_rebound(self) -> list[Tensor]:
        """Return tensors in ``rebound`` that exist and still have a value of this scope."""
        if not self.rebound:
            return []
        found = {id(t): t for t in (each() for each in self.rebound) if t is not None and t._scope is self}
        return list(found.values())

    def input(self, tensor: Tensor) -> Tensor:
        """Create an input of this scope that represents ``tensor``, a value from outside."""
        raise RuntimeError("Scope.input is abstract. Use a Recorder or a GraphScope.")

    def record(self, primitive: Primitive, tensors: Sequence[Tensor], parameters: Statics) -> Results:
        """Apply ``primitive`` to ``tensors`` inside this scope."""
        raise RuntimeError("Scope.record is abstract. Use a Recorder or a GraphScope.")

    def lift(self, number: int) -> Tensor:
        """Return value ``number`` of this closed scope as a tensor of the outer scope."""
        raise RuntimeError("Scope.lift is abstract. Only a Recorder stores values.")


class DeferredScope(Scope):
    """Scope of a gradient inside a deferred call, whose tensors are computed later.

    Attributes:
        deferral: the deferred call that contains the gradient; ``None`` after the call has ended.
        index: number of this scope among the :class:`DeferredScope` objects of the call, starting at 1.
        shadow: pair (scope, input tensors) of an ordinary recording of the gradient. It exists if the
            operators of the call were executed one by one instead of deferred; otherwise ``None``.
    """

    __slots__ = ("deferral", "index", "shadow")

    def __init__(self, deferral: Deferral, index: int) -> None:
        super().__init__()
        self.deferral: Deferral | None = deferral
        self.index = index
        self.shadow: tuple[Scope, list[Tensor]] | None = None

    def record(self, primitive: Primitive, tensors: Sequence[Tensor], parameters: Statics) -> Results:
        # executed if a function is compiled inside a gradient call, for operators whose operands are all
        # created outside the function
        return self.deferral.record(primitive, tensors, parameters)  # type: ignore[union-attr]  # not None during the call


class GraphScope(Scope):
    """Scope that emits equations into a builder. Its tensors have no values.

    Args:
        values_are_inputs: whether the value of a tensor from outside becomes an input of the graph.
            Otherwise, it becomes a constant.

    Attributes:
        captures: pairs of an input variable and the tensor from outside that it represents.
        parameters: dict that maps inputs to the references that became these inputs (only in the outermost
            scope).
        dependencies: objects whose Python attributes were read while the function was traced.
        differentiated: the functions that were differentiated inside the scope; ``transforms.zero_gradients``
            reads them.
        has_scalars: whether a ``np.float64`` is an input (only in the outermost scope).
    """

    __slots__ = (
        "_captured", "_values_are_inputs", "builder", "captures", "dependencies", "differentiated",
        "has_scalars", "parameters",
    )  # fmt: skip

    def __init__(self, values_are_inputs: bool = False) -> None:
        super().__init__()
        self._values_are_inputs = values_are_inputs
        self.builder = Builder()
        self.captures: list[tuple[Variable, Tensor]] = []
        self.parameters: dict[Variable, Tensor] = {}
        self.dependencies: dict[int, tuple[object, int]] = {}
        self.differentiated: list[tuple[Sequence[Equation], Atoms, list[tuple[Variable, Tensor]]]] = []
        self._captured: dict[tuple[int, Hashable], tuple[Atom, Stored, Stored]] = {}
        self.has_scalars = False

    def input(self, tensor: Tensor) -> Tensor:
        variable = self._variable(tensor)
        self._capture(variable, tensor)
        return make_tensor(None, tensor.type, self, variable)

    def _variable(self, tensor: Tensor) -> Variable:
        """Create an input with the type of ``tensor``, and with its marks if it has any."""
        tainted = isinstance(tensor._scope, GraphScope) and tensor._atom.tainted
        return self.builder.input(tensor.type, tainted=tainted)

    def _capture(self, variable: Variable, tensor: Tensor) -> None:
        self.captures.append((variable, tensor if tensor.is_parameter else as_it_is(tensor)))

    def symbol(self, type: TensorType) -> Tensor:
        """Create an input without a value from outside, such as a loop carry."""
        return make_tensor(None, type, self, self.builder.input(type))

    def tensor(self, atom: Atom) -> Tensor:
        """Create a tensor of this scope for the variable or constant ``atom``."""
        return make_tensor(None, atom.type, self, atom)

    def atom(self, tensor: Tensor) -> Atom:
        """Return the variable or constant of ``tensor``; capture outside tensors."""
        if tensor._scope is self:
            return tensor._atom
        key = identity(tensor)
        found = self._captured.get(key)
        if found is not None:
            return found[0]
        array = tensor._array
        is_value = array is not None and (np.ndim(array) > 0 or type(array) is PendingArray)
        if tensor.is_traced or tensor.is_parameter or (self._values_are_inputs and is_value):
            variable = self._variable(tensor)
            self._capture(variable, tensor)
            atom: Atom = variable
        elif array is None:
            raise RuntimeError(LEFT_BEHIND)
        else:
            if type(array) is PendingArray:
                array = array.get()
            if isinstance(array, np.ndarray) and array.size > 1 and not any(array.strides):
                array = array.flat[0]  # all elements share one memory location, as in ops.zeros
            splat = getattr(array, "ndim", 0) == 0 and tensor.type.rank > 0
            atom = self.builder.constant(np.asarray(array), tensor.type if splat else None)
        # keep these objects alive: the key contains their ids, which Python could otherwise reuse
        self._captured[key] = (atom, tensor._array, tensor._atom)
        return atom

    def close_program(self) -> None:
        """Set ``opaque`` in the enclosing scope if derivatives were taken in this scope."""
        if (outer := innermost()) is not None:
            outer.opaque |= self.opaque or bool(self.differentiated)

    def record(self, primitive: Primitive, tensors: Sequence[Tensor], parameters: Statics) -> Results:
        atoms = tuple([t._atom if t._scope is self else self.atom(t) for t in tensors])
        result = self.builder.trace(primitive, atoms, parameters, user_location())
        if primitive.multiple:
            return tuple(self.tensor(atom) for atom in result)
        return make_tensor(None, result.type, self, result)


class BodyScope(GraphScope):
    """Scope of a loop body or branch that is being traced.

    Attributes:
        changed: tensors from outside the body that item assignment in the body has changed, with their old
            values.
    """

    __slots__ = ("changed",)

    def __init__(self) -> None:
        super().__init__()
        self.changed: dict[int, tuple[Tensor, Tensor]] = {}

    def undo(self) -> None:
        """Restore the old values of the tensors in ``changed``."""
        for tensor, before in self.changed.values():
            assign(tensor, before)


def held_constant(tensors: Sequence[Tensor]) -> tuple[Tensor, ...]:
    """Convert tensors to constants if :func:`hold_constant` applies to them."""
    # suspend the setting while `as_constant` runs, because its operators would call this function again
    level, as_constant = block = hold_constant((0, None))
    try:
        return tuple(
            [
                t if as_constant is None or t._scope is None or t._scope.level > level else as_constant(t)
                for t in tensors
            ]
        )
    finally:
        hold_constant(block)


def apply(primitive: Primitive, *tensors: Tensor, **parameters: object) -> Results:
    """Apply ``primitive``: run it, record it, defer it, or emit an equation.

    The types of ``tensors`` must already be promoted to operand types that the primitive accepts.
    """
    local = _local
    if local.as_constant is not None:
        tensors = held_constant(tensors)
    deferral = local.deferral
    if deferral is not None:
        return deferral.record(primitive, tensors, parameters)
    scope = None
    level = 0
    for tensor in tensors:
        of = tensor._scope
        if of is not None:
            if of.level > level:
                scope = of
                level = of.level
            elif not of.level and _local.scopes and lifted(tensor) is not tensor:
                return apply(primitive, *map(lifted, tensors), **parameters)
    if scope is not None:
        body = _local.body
        if body is not None and body.level > level:
            scope = body
        return scope.record(primitive, tensors, parameters)
    if not tensors:
        inner = innermost()
        if isinstance(inner, GraphScope):
            return inner.record(primitive, (), parameters)
    value = run_kernel(primitive, tensors, parameters)
    if primitive.multiple:
        return tuple(make_tensor(v) for v in value)
    return make_tensor(value, tensors[0]._type if primitive.keeps_type else None)
