"""Record the attributes of Cells that any code reads during a trace.

During a trace on any thread, the class ``Cell`` has a ``__getattribute__`` that records the name of each
attribute that is read. Therefore, guards compare all attributes that converted functions, mindgrad, or
libraries have read. At other times, the class does not have this method, so eager code reads attributes at
full speed. A read of ``__dict__`` counts as a read of all attributes.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from mindgrad._base.location import PACKAGE

__all__ = ["ALL", "INVENTORY", "MISSING", "UNREAD", "follow_reads", "note_all", "reads_noted", "was_read"]

MISSING = type("Missing", (), {"__repr__": lambda _: "nothing"})()

#: attribute name that represents all attributes of a Cell, because ``__dict__`` contains them
ALL = "__dict__"

#: internal attributes of a Cell that guards ignore
UNREAD = frozenset(["_compiled", "_custom", "_eager", "_made_in", "_derivatives", "_flags"])
#: dicts of a Cell whose items guards compare, because mindgrad changes these dicts in place
INVENTORY = ("_params", "_cells", "_hooks")


def _nothing(cell: Any, name: str) -> None:
    """Do nothing. This is the callback outside traces."""


class _Local(threading.local):
    def __init__(self) -> None:
        #: maps the ``id`` of a Cell to the names of its attributes read so far; ``None`` outside traces
        self.names: dict[int, set[str]] | None = None
        #: callback for the first read of each attribute, with the Cell and the attribute name
        self.met: Callable[[Any, str], None] = _nothing


_local = _Local()
_lock = threading.Lock()
_traces = [0]
_classes: list[Any] = []


def follow_reads(kind: Any) -> None:
    """Record reads of attributes of instances of ``kind`` during traces.

    If a trace is running, recording begins immediately. A running trace may call this function by importing
    the module that defines ``kind``.
    """
    noting = _noting(kind)
    with _lock:
        _classes.append((kind, noting))
        if _traces[0]:
            kind.__getattribute__ = noting


def _noting(kind: Any) -> Any:
    def __getattribute__(self: Any, name: str) -> Any:
        names = _local.names
        if names is not None and (name != ALL or not _is_own_frame(sys._getframe(1))):
            _note(self, name)
        return super(kind, self).__getattribute__(name)

    return __getattribute__


def _note(cell: Any, name: str) -> None:
    """Record that code is about to read an attribute of a Cell."""
    seen = _local.names.setdefault(id(cell), set())  # type: ignore[union-attr]
    if name not in seen and name not in UNREAD:
        seen.add(name)
        _local.met(cell, name)


def _is_own_frame(frame: Any) -> bool:
    # mindgrad's own reads of ``__dict__`` do not count; code that uses all attributes calls ``note_all``
    return frame.f_code.co_filename.startswith(PACKAGE)


def note_all(cell: Any) -> None:
    """Record that the traced function depends on all attributes of ``cell``."""
    if _local.names is not None:
        _note(cell, ALL)


def was_read(cell: Any, name: str) -> bool:
    """Return whether the trace has read an attribute of ``cell`` so far."""
    names = (_local.names or {}).get(id(cell), ())
    return name in names or ALL in names


@contextmanager
def reads_noted(met: Callable[[Any, str], None]) -> Iterator[None]:
    """A context for a trace that records the reads of Cell attributes on this thread.

    Args:
        met: callback for the first read of each attribute, with the Cell and the attribute name.
    """
    outer = _local.names, _local.met
    _local.names, _local.met = {}, met
    with _lock:
        _traces[0] += 1
        if _traces[0] == 1:
            for kind, noting in _classes:
                kind.__getattribute__ = noting
    try:
        yield
    finally:
        _local.names, _local.met = outer
        with _lock:
            _traces[0] -= 1
            if not _traces[0]:
                for kind, _ in _classes:
                    del kind.__getattribute__
