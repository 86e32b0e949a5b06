"""Read and write Parameters and Python state in a traced function.

A *scope* is the context in which operators are recorded to a graph (``ir.scope``). A Parameter that a traced
function reads becomes an input of the graph. A Parameter that it writes becomes an output. Each scope
*binds* Parameters: it maps them to their current values. A read returns the value in the innermost scope that
binds the Parameter. Outside every scope, it returns the stored value.

The functions ``read_…`` and ``depends_on…`` record which Python state the function reads, so that guards can
compare it before later calls (``guards``).
"""

from __future__ import annotations

import contextlib
import threading
import types
import weakref
from collections.abc import Iterator
from typing import Any

import numpy as np

from mindgrad.ir.scope import GraphScope, as_it_is, innermost, open_scopes
from mindgrad.ir.tensor import Tensor
from mindgrad.trace import cell_guards, effect_log, owned_objects
from mindgrad.trace.guards import MISSING, Dependencies
from mindgrad.trace.user_functions import cached_names, is_constant

__all__ = [
    "Journal", "advance", "compilation", "computing_in", "depends_on", "depends_on_attribute", "float_type",
    "generators", "has_attribute", "is_compiling", "is_from_outside", "is_stored", "journal", "noted", "read",
    "read_attribute", "read_function", "stream", "use_stream", "write",
]  # fmt: skip

#: types of the attributes of Parameters that guards compare
_PLAIN = (bool, int, str, type(None))
_METHODS = (types.MethodType, types.BuiltinFunctionType, types.MethodWrapperType)

#: Parameters that contain the states of random number generators
generators: list[Any] = []
#: number of the random stream, stored as the last word of the state of each generator
_stream = 0


def stream() -> int:
    """Return the number of the random stream.

    Generators with the same seed and different streams draw independent numbers.
    """
    return _stream


def use_stream(number: int) -> None:
    """Make all random number generators draw from the stream ``number``.

    In a distributed program, ``number`` is the rank of the process, so that each process draws other numbers.
    """
    global _stream
    _stream = number
    for generator in generators:
        words = np.array(generator.asnumpy())
        words[-1] = number
        write(generator, Tensor(words))


def read(parameter: Tensor) -> Tensor:
    """Return the current value of a Parameter in a trace, or another tensor unchanged.

    The first read in a compiled function makes the Parameter an input of the graph.
    """
    if not parameter.is_parameter:
        return parameter
    scopes = open_scopes()
    if not scopes:
        return parameter
    key = id(parameter)
    for scope in reversed(scopes):
        bound = scope.bindings.get(key)
        if bound is not None:
            return bound
    root = scopes[0]
    if isinstance(root, GraphScope):
        symbol = root.symbol(parameter.type)
        root.bindings[key] = symbol
        root.parameters.append(parameter)
        return symbol
    return parameter


def write(parameter: Any, value: Tensor) -> None:
    """Assign ``value`` to ``parameter``.

    Outside every scope, the stored value changes immediately. Inside a scope, it changes when the outermost
    scope ends.
    """
    scope = innermost()
    _note(parameter, scope)
    if scope is None:
        parameter.store(value)
        return
    scope.bindings[id(parameter)] = value
    scope.written[id(parameter)] = parameter


def advance(generator: Any, value: Tensor) -> None:
    """Store the new state of a random number generator immediately, even in a scope.

    If the state were stored only when the scope ends, another thread could draw the same numbers before that.
    :func:`is_stored` must be true for the generator.
    """
    _note(generator, innermost())
    generator.store(value)


def is_stored(parameter: Any) -> bool:
    """Return whether a read of the Parameter returns its stored value.

    This is true unless a function is being compiled, or an open scope binds the Parameter.
    """
    key = id(parameter)
    return not any(isinstance(scope, GraphScope) or key in scope.bindings for scope in open_scopes())


def _note(parameter: Any, scope: Any) -> None:
    for journal in _local.journals:
        if journal.scope is scope and id(parameter) not in journal.before:
            journal.before[id(parameter)] = (parameter, as_it_is(read(parameter)))


class Journal:
    """The previous values of the Parameters that are written in a scope.

    Attributes:
        scope: the innermost scope when the journal is opened. Writes in other scopes are not recorded.
        before: maps the ``id`` of a Parameter to the Parameter and its value before the first write.
    """

    __slots__ = ("before", "scope")

    def __init__(self) -> None:
        self.scope = innermost()
        self.before: dict[int, tuple[Any, Tensor]] = {}


class _Local(threading.local):
    def __init__(self) -> None:
        self.float_type: Any = None
        self.journals: list[Journal] = []


_local = _Local()


@contextlib.contextmanager
def journal() -> Iterator[Journal]:
    """Record the previous value of each Parameter that is written in this context."""
    opened = Journal()
    _local.journals.append(opened)
    try:
        yield opened
    finally:
        _local.journals.pop()


def float_type() -> Any:
    """Return the dtype that :func:`computing_in` has set, or ``None``.

    ``None`` means that operators compute in the dtypes of their tensors.
    """
    return _local.float_type


@contextlib.contextmanager
def computing_in(dtype: Any) -> Iterator[None]:
    """A context in which operators cast floating-point Parameters to ``dtype``.

    ``None`` means that they do not cast Parameters.
    """
    before, _local.float_type = _local.float_type, dtype
    try:
        yield
    finally:
        _local.float_type = before


def noted() -> Dependencies | None:
    """Return the recorded reads of the function being compiled on this thread.

    ``None``: no function is being compiled.
    """
    root: Any = next((scope for scope in open_scopes() if isinstance(scope, GraphScope)), None)
    if root is None:
        return None
    if type(root.dependencies) is not Dependencies:
        root.dependencies = Dependencies()
    return root.dependencies


def is_from_outside(owner: Any) -> bool:
    """Return whether guards compare ``owner``, and the trace did not create it."""
    record = noted()
    return record is not None and record.compares(owner) and not owned_objects.is_of_program(owner)


def depends_on(owner: Any) -> None:
    """Record that the function being compiled calls the Cell ``owner``.

    Guards then compare the class and ``construct`` of the Cell.
    """
    record = noted()
    if record is not None:
        record.owner(owner)


def depends_on_attribute(owner: Any, name: str) -> None:
    """Record that the compiled function depends on ``owner.name``."""
    record = noted()
    if record is not None:
        record.attribute(owner, name, getattr(owner, name))


def read_attribute(owner: Any, name: str) -> Any:
    """Read ``owner.name``, and record that the function being compiled depends on it.

    A read of ``__dict__`` counts as a read of all attributes. Guards do not compare attributes of tensors, of
    objects that the trace created, or of mindgrad objects except Cells and Parameters. Functions and classes
    of library modules are constants of the compiled function.
    """
    value = getattr(owner, name)
    if isinstance(owner, Tensor) and not (owner.is_parameter and isinstance(value, _PLAIN)):
        return value
    record = noted()
    if record is None or effect_log.is_known(owner, name):
        return value
    kind: Any = type(owner)
    if kind is super:
        record.inherited(owner.__self_class__, owner.__thisclass__, name)
        return value
    if name in getattr(owner, "__dict__", ()) and owned_objects.is_of_program(owner):
        return value
    if isinstance(value, _METHODS) and _is_bound_to(value, owner):
        record.method(owner, name)
        return value
    if isinstance(owner, types.ModuleType):
        if is_constant(owner, value):
            record.constant(owner, name, value)
            return value
    elif isinstance(owner, Tensor):
        pass
    elif kind.__module__.partition(".")[0] == "mindgrad" and not hasattr(kind, "construct"):
        return value
    if name == "__dict__":
        if hasattr(kind, "parameters_and_names"):
            record.owner(owner)
            cell_guards.note_all(owner)
            return value
        for held in [*value]:
            read_attribute(owner, held)
        for computed in cached_names(kind):
            record.method(owner, computed)
    elif isinstance(getattr(kind, name, None), property) and not isinstance(owner, Tensor):
        record.method(owner, name)
    else:
        record.attribute(owner, name, value)
        effect_log.note_read(effect_log.Attribute(owner, name))
    return value


def _is_bound_to(method: Any, owner: Any) -> bool:
    """Return whether a method is bound to ``owner`` or to its class."""
    return method.__self__ is owner or method.__self__ is type(owner)


def has_attribute(owner: Any, name: str) -> bool:
    """Return ``hasattr(owner, name)``, and record that the function depends on it."""
    if hasattr(owner, name):
        read_attribute(owner, name)
        return True
    record = noted()
    if record is not None and not isinstance(owner, Tensor) and not effect_log.is_known(owner, name):
        record.attribute(owner, name, MISSING)
        effect_log.note_read(effect_log.Attribute(owner, name))
    return False


def read_function(function: Any) -> None:
    """Record that the function being compiled calls ``function``.

    Guards compare the global and closure variables of ``function``: numbers, strings, and tuples by value,
    tensors and other objects by identity, lists and dicts by their items.
    """
    record = noted()
    if record is not None:
        record.function(function)


def compilation() -> weakref.ref[GraphScope] | None:
    """Return a weak reference to the scope of the outermost trace, or ``None``."""
    for scope in open_scopes():
        if isinstance(scope, GraphScope):
            return weakref.ref(scope)
    return None


def is_compiling() -> bool:
    """Return whether a function is being compiled on this thread."""
    return isinstance(innermost(), GraphScope)
