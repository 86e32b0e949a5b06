"""Python state during a trace: recorded reads, random streams, and Cell dtypes.

The functions whose names begin with ``read_`` or ``depends_on`` create entries of the guards of the function
that is being compiled (``guards``).
"""

from __future__ import annotations

import contextlib
import threading
import types
from collections.abc import Iterator
from typing import Any

import numpy as np

from mindgrad.core.ir.scope import GraphScope, open_scopes
from mindgrad.core.ir.tensor import Tensor
from mindgrad.core.trace import references
from mindgrad.frontend import effect_log, owned_objects
from mindgrad.frontend.cell_guards import ALL
from mindgrad.frontend.guards import MISSING, Dependencies
from mindgrad.frontend.user_functions import cached_names, in_package, is_cell, is_constant

__all__ = [
    "computing_in", "depends_on", "depends_on_attribute", "float_type", "generators", "has_attribute",
    "is_from_outside", "note_all", "noted", "read_attribute", "read_function", "stream", "use_stream",
]  # fmt: skip

#: types of the Parameter attributes that guards compare
_PLAIN = (bool, int, str, type(None))
_METHODS = (types.MethodType, types.BuiltinFunctionType, types.MethodWrapperType)

#: Parameters that contain the states of all random number generators
generators: list[Any] = []
#: identifier of the stream from which all generators draw. Generators with equal seeds draw different numbers
#: from different streams. The last word in the state of each generator contains this identifier
_stream = 0


def stream() -> int:
    """Return the identifier of the stream from which random number generators draw.

    Generators with the same seed and different streams draw independent numbers.
    """
    return _stream


def use_stream(number: int) -> None:
    """Set the stream from which all random number generators draw.

    In a distributed program, the identifier ``number`` of the stream is the rank of the process, so that each
    process draws different numbers.
    """
    global _stream
    _stream = number
    for generator in generators:
        words = np.array(generator.asnumpy())
        words[-1] = number
        references.write(generator, Tensor(words))


class _Local(threading.local):
    def __init__(self) -> None:
        self.float_type: Any = None


_local = _Local()


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
    """Return the guards of the function that is being compiled on this thread.

    The result is ``None`` if no function is being compiled.
    """
    root: Any = next((scope for scope in open_scopes() if isinstance(scope, GraphScope)), None)
    if root is None:
        return None
    if type(root.dependencies) is not Dependencies:
        root.dependencies = Dependencies()
    return root.dependencies


def is_from_outside(owner: Any) -> bool:
    """Return whether ``owner`` existed before the trace and guards compare it."""
    record = noted()
    return record is not None and record.compares(owner) and not owned_objects.is_of_program(owner)


def depends_on(owner: Any) -> None:
    """Record that the function being compiled calls the Cell ``owner``.

    Guards then compare the class and ``construct`` of the Cell.
    """
    record = noted()
    if record is not None:
        record.owner(owner)


def note_all(cell: Any) -> None:
    """Record that the function being compiled depends on all attributes of ``cell``."""
    record = noted()
    if record is not None:
        record.read_of_cell(cell, ALL)


def depends_on_attribute(owner: Any, name: str) -> None:
    """Record that the compiled function depends on ``owner.name``."""
    record = noted()
    if record is not None:
        record.attribute(owner, name, getattr(owner, name))


def read_attribute(owner: Any, name: str) -> Any:
    """Read ``owner.name``, and record that the function being compiled depends on it.

    A read of ``__dict__`` counts as a read of all attributes. Guards do not compare attributes of tensors, of
    objects that the trace created, or of mindgrad objects other than Cells and Parameters. Functions and
    classes in library modules are constants of the compiled function.
    """
    try:
        value = getattr(owner, name)
    except AttributeError:
        if hasattr(type(owner), "parameters_and_names"):
            has_attribute(owner, name)
        raise
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
            record.read_of_cell(owner, ALL)
            return value
        for held in [*value]:
            read_attribute(owner, held)
        for computed in cached_names(kind):
            record.method(owner, computed)
    elif isinstance(descriptor := getattr(kind, name, None), property) and not isinstance(owner, Tensor):
        record.method(owner, name)
        if is_cell(kind) and in_package(descriptor.fget):  # this property of mindgrad runs unconverted
            record.read_of_cell(owner, ALL)
    else:
        record.attribute(owner, name, value)
        effect_log.note_read(effect_log.Attribute(owner, name))
    return value


def _is_bound_to(method: Any, owner: Any) -> bool:
    """Return whether ``method`` is bound to ``owner`` or to the class of ``owner``."""
    return method.__self__ is owner or method.__self__ is type(owner)


def has_attribute(owner: Any, name: str) -> bool:
    """Return ``hasattr(owner, name)``; record that the function depends on it."""
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

    Guards compare the global and closure variables of ``function``. Numbers, strings, and tuples are compared
    by value, and lists and dicts by their items. Tensors and other objects are compared by identity.
    """
    record = noted()
    if record is not None:
        record.function(function)
