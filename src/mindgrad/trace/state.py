"""Parameters of a traced function: inputs if it reads them, outputs if it writes.

Outside every scope, a Parameter represents its stored value. Inside, it represents the value in the innermost
scope that bound or wrote it. If no scope did, the outermost compiled scope makes it an input.
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

#: types of attributes of Parameters whose values guards check
_PLAIN = (bool, int, str, type(None))
_METHODS = (types.MethodType, types.BuiltinFunctionType, types.MethodWrapperType)

#: Parameters that hold the states of random number generators
generators: list[Any] = []
#: high word of the call counters of all generators: the number of the random stream
_stream = 0


def stream() -> int:
    """Return the number of the random stream. Streams of one seed are independent."""
    return _stream


def use_stream(number: int) -> None:
    """Let all generators draw from a stream: the rank in a distributed program."""
    global _stream
    _stream = number
    for generator in generators:
        words = np.array(generator.asnumpy())
        words[-1] = number
        write(generator, Tensor(words))


def read(parameter: Tensor) -> Tensor:
    """Return the tensor that a Parameter represents now, and any other tensor itself."""
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
    """Let ``parameter`` have a new value.

    Outside every scope, the stored value changes immediately. Inside, it changes when the outermost scope
    ends.
    """
    scope = innermost()
    _note(parameter, scope)
    if scope is None:
        parameter.store(value)
        return
    scope.bindings[id(parameter)] = value
    scope.written[id(parameter)] = parameter


def advance(generator: Any, value: Tensor) -> None:
    """Store the new state of a generator immediately, also inside recordings.

    A draw is not part of a recording. If the new state were stored only at the end of a recording, another
    thread could draw from the same state before that. The generator must be stored (:func:`is_stored`).
    """
    _note(generator, innermost())
    generator.store(value)


def is_stored(parameter: Any) -> bool:
    """Return whether the Parameter represents its stored value.

    It does if no function is being compiled and no open scope has bound the Parameter.
    """
    key = id(parameter)
    return not any(isinstance(scope, GraphScope) or key in scope.bindings for scope in open_scopes())


def _note(parameter: Any, scope: Any) -> None:
    for journal in _local.journals:
        if journal.scope is scope and id(parameter) not in journal.before:
            journal.before[id(parameter)] = (parameter, as_it_is(read(parameter)))


class Journal:
    """The values of Parameters before they were written in the innermost scope.

    Attributes:
        scope: the innermost scope.
        before: ``(Parameter, value)`` by the ``id`` of the Parameter.
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
    """Open a journal that records writes of Parameters."""
    opened = Journal()
    _local.journals.append(opened)
    try:
        yield opened
    finally:
        _local.journals.pop()


def float_type() -> Any:
    """Return the floating-point type in which the running Cell computes.

    ``None``: the types of its tensors.
    """
    return _local.float_type


@contextlib.contextmanager
def computing_in(dtype: Any) -> Iterator[None]:
    """Let operators read floating-point Parameters as ``dtype``; ``None``: unchanged."""
    before, _local.float_type = _local.float_type, dtype
    try:
        yield
    finally:
        _local.float_type = before


def noted() -> Dependencies | None:
    """Return the record of the reads of the function being compiled on this thread.

    ``None``: no function is being compiled.
    """
    root: Any = next((scope for scope in open_scopes() if isinstance(scope, GraphScope)), None)
    if root is None:
        return None
    if type(root.dependencies) is not Dependencies:
        root.dependencies = Dependencies()
    return root.dependencies


def is_from_outside(owner: Any) -> bool:
    """Return whether the trace read the contents of ``owner`` but did not create it."""
    record = noted()
    return record is not None and record.compares(owner) and not owned_objects.is_of_program(owner)


def depends_on(owner: Any) -> None:
    """Note that the compiled function depends on attributes of the Cell ``owner``.

    A compiled function is reused only if the attributes that it read are unchanged.
    """
    record = noted()
    if record is not None:
        record.owner(owner)


def depends_on_attribute(owner: Any, name: str) -> None:
    """Note that the compiled function depends on an attribute of a mindgrad object."""
    record = noted()
    if record is not None:
        record.attribute(owner, name, getattr(owner, name))


def read_attribute(owner: Any, name: str) -> Any:
    """Read ``owner.name``, and note that the function being compiled depends on it.

    A read of ``__dict__`` counts as a read of all attributes. Some reads are constants and are not noted:
    attributes of tensors, of objects that the function created, of mindgrad objects that are not Cells, and
    of library modules.
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
    """``hasattr(owner, name)``, which the function being compiled then depends on."""
    if hasattr(owner, name):
        read_attribute(owner, name)
        return True
    record = noted()
    if record is not None and not isinstance(owner, Tensor) and not effect_log.is_known(owner, name):
        record.attribute(owner, name, MISSING)
        effect_log.note_read(effect_log.Attribute(owner, name))
    return False


def read_function(function: Any) -> None:
    """Note that the function being compiled calls ``function`` and uses its variables.

    Guards compare its global and closure variables: numbers, strings, and tuples by value, tensors and other
    objects by identity, lists and dicts by their items.
    """
    record = noted()
    if record is not None:
        record.function(function)


def compilation() -> weakref.ref[GraphScope] | None:
    """Return the function being compiled on this thread, ``None`` if there is none."""
    for scope in open_scopes():
        if isinstance(scope, GraphScope):
            return weakref.ref(scope)
    return None


def is_compiling() -> bool:
    """Return whether a function is being compiled on this thread."""
    return isinstance(innermost(), GraphScope)
