"""Reads of attributes of Cells are seen while a program is traced, whatever code makes them.

While some thread traces, the class of the Cells has a ``__getattribute__`` that notes the names: reads by
converted functions, by this package and by libraries count alike. At other times the class has none, so that
eager programs read attributes at full speed. To read ``__dict__`` is to read all attributes.
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

#: the name whose reading stands for all attributes
ALL = "__dict__"

#: internal attributes of a Cell, which select no program
UNREAD = frozenset(["_compiled", "_custom", "_eager", "_made_in", "_derivatives", "_flags"])
#: dictionaries of a Cell, which are changed in place
INVENTORY = ("_params", "_cells", "_hooks")


def _nothing(cell: Any, name: str) -> None:
    """Note nothing."""


class _Local(threading.local):
    def __init__(self) -> None:
        #: the names that were read of each Cell, by its ``id``; ``None``: nothing is traced
        self.names: dict[int, set[str]] | None = None
        #: is called with the Cell and the name at the first read of each
        self.met: Callable[[Any, str], None] = _nothing


_local = _Local()
_lock = threading.Lock()
_traces = [0]
_classes: list[Any] = []


def follow_reads(kind: Any) -> None:
    """Let reads of attributes of the instances of ``kind`` be noted while programs are traced.

    A trace may be open already: a function that is traced may be the first to load the module of ``kind``.
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
    """Note the read of an attribute, the first time before anything else happens."""
    seen = _local.names.setdefault(id(cell), set())  # type: ignore[union-attr]
    if name not in seen and name not in UNREAD:
        seen.add(name)
        _local.met(cell, name)


def _is_own_frame(frame: Any) -> bool:
    # the machinery of this package stores and compares; where it reads everything it says so (note_all)
    return frame.f_code.co_filename.startswith(PACKAGE)


def note_all(cell: Any) -> None:
    """Note that the program being traced depends on all attributes of ``cell``."""
    if _local.names is not None:
        _note(cell, ALL)


def was_read(cell: Any, name: str) -> bool:
    """Whether the trace has read an attribute of ``cell`` so far."""
    names = (_local.names or {}).get(id(cell), ())
    return name in names or ALL in names


@contextmanager
def reads_noted(met: Callable[[Any, str], None]) -> Iterator[None]:
    """While it is open, reads of attributes of Cells on this thread are noted.

    Args:
        met: is called with the Cell and the name at the first read of each.
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
