"""Parameters that a traced program reads become its inputs, and those that it writes its outputs.

A Parameter stands for its stored value outside every scope. Inside, the innermost scope that bound
or wrote it says what it stands for now; the outermost compiled scope makes it an input.
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

#: values of attributes of Parameters that select a program
_PLAIN = (bool, int, str, type(None))
_METHODS = (types.MethodType, types.BuiltinFunctionType, types.MethodWrapperType)

#: the Parameters that hold the states of generators of random numbers
generators: list[Any] = []
#: the high word of their counts of calls
_stream = 0


def stream() -> int:
    """The number of the stream of random numbers: from one seed, each has its own."""
    return _stream


def use_stream(number: int) -> None:
    """Let all generators draw from stream ``number``: that of one of several processes, its rank."""
    global _stream
    _stream = number
    for generator in generators:
        words = np.array(generator.asnumpy())
        words[-1] = number
        write(generator, Tensor(words))


def read(parameter: Tensor) -> Tensor:
    """The tensor that ``parameter`` stands for at this point of the program (others: themselves)."""
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
    """Let ``parameter`` be ``value`` from here on.

    Outside every scope the stored value changes now; inside, when the outermost scope ends.
    """
    scope = innermost()
    _note(parameter, scope)
    if scope is None:
        parameter.store(value)
        return
    scope.bindings[id(parameter)] = value
    scope.written[id(parameter)] = parameter


def advance(generator: Any, value: Tensor) -> None:
    """Let the state of a generator, which :func:`is_stored`, be ``value`` now: also inside of recordings.

    Nothing of a draw is recorded, so its state need not wait for the end of a recording, where another
    thread would draw from the same one meanwhile.
    """
    _note(generator, innermost())
    generator.store(value)


def is_stored(parameter: Any) -> bool:
    """Whether the Parameter stands for its stored value: no program is compiled, none has written it."""
    key = id(parameter)
    return not any(isinstance(scope, GraphScope) or key in scope.bindings for scope in open_scopes())


def _note(parameter: Any, scope: Any) -> None:
    for journal in _local.journals:
        if journal.scope is scope and id(parameter) not in journal.before:
            journal.before[id(parameter)] = (parameter, as_it_is(read(parameter)))


class Journal:
    """The values that Parameters had before they were written in the innermost scope.

    Attributes:
        scope: that scope.
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
    """A context whose journal records writes of Parameters."""
    opened = Journal()
    _local.journals.append(opened)
    try:
        yield opened
    finally:
        _local.journals.pop()


def float_type() -> Any:
    """The floating-point type that the Cell that runs now computes in; ``None``: those of its tensors."""
    return _local.float_type


@contextlib.contextmanager
def computing_in(dtype: Any) -> Iterator[None]:
    """While it is open operators read floating-point Parameters as ``dtype`` (``None``: as they are)."""
    before, _local.float_type = _local.float_type, dtype
    try:
        yield
    finally:
        _local.float_type = before


def noted() -> Dependencies | None:
    """The record of reads of the program being compiled on this thread; ``None``: none is compiled."""
    root: Any = next((scope for scope in open_scopes() if isinstance(scope, GraphScope)), None)
    if root is None:
        return None
    if type(root.dependencies) is not Dependencies:
        root.dependencies = Dependencies()
    return root.dependencies


def is_from_outside(owner: Any) -> bool:
    """Whether the trace has read the contents of ``owner``, and has not made it."""
    record = noted()
    return record is not None and record.compares(owner) and not owned_objects.is_of_program(owner)


def depends_on(owner: Any) -> None:
    """Note that the program being compiled depends on the Python attributes of the Cell ``owner``.

    A compiled program is used again only while those that it has read are as they were.
    """
    record = noted()
    if record is not None:
        record.owner(owner)


def depends_on_attribute(owner: Any, name: str) -> None:
    """Note that the program being compiled depends on ``owner.name``, an attribute of this package's own."""
    record = noted()
    if record is not None:
        record.attribute(owner, name, getattr(owner, name))


def read_attribute(owner: Any, name: str) -> Any:
    """``owner.name``, and a note that the program being compiled depends on it; on all of ``__dict__``.

    Not noted: attributes of tensors, of objects that the program has made, of objects of this package that
    are not Cells, and of modules that are not the user's, which are constants.
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
    """Whether a method is one of the class of ``owner``, or of ``owner`` if it is a class."""
    return method.__self__ is owner or method.__self__ is type(owner)


def has_attribute(owner: Any, name: str) -> bool:
    """``hasattr(owner, name)``, and a note that the program being compiled depends on it."""
    if hasattr(owner, name):
        read_attribute(owner, name)
        return True
    record = noted()
    if record is not None and not isinstance(owner, Tensor) and not effect_log.is_known(owner, name):
        record.attribute(owner, name, MISSING)
        effect_log.note_read(effect_log.Attribute(owner, name))
    return False


def read_function(function: Any) -> None:
    """Note that the program being compiled calls ``function``, with the variables that it uses.

    Its global variables and those of its closure select the program: numbers, strings and tuples by
    value, tensors and other objects by identity, lists and dicts by their items.
    """
    record = noted()
    if record is not None:
        record.function(function)


def compilation() -> weakref.ref[GraphScope] | None:
    """The program being compiled on this thread, ``None`` if there is none."""
    for scope in open_scopes():
        if isinstance(scope, GraphScope):
            return weakref.ref(scope)
    return None


def is_compiling() -> bool:
    """Whether a program is being compiled on this thread."""
    return isinstance(innermost(), GraphScope)
