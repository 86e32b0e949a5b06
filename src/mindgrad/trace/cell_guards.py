"""Guards on attributes of Cells check that those that a trace read still hold the same values.

Reads are seen by whatever code makes them (converted, of this package, of a library): while some thread
traces, the class of the Cells has a ``__getattribute__`` that notes the names. At other times it has none,
so that eager programs read attributes at full speed. Whoever reads ``__dict__`` reads all attributes.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from mindgrad._base.location import PACKAGE
from mindgrad.trace.signature import same
from mindgrad.trace.state_equality import CONTAINERS

__all__ = ["MISSING", "CellGuard", "follow_reads", "note_all", "reads_noted", "was_read"]

MISSING = type("Missing", (), {"__repr__": lambda _: "nothing"})()

#: the name whose reading stands for all attributes
_ALL = "__dict__"

#: internal attributes of a Cell, which traced code does not read
_OWN = frozenset(["_changes", "_compiled", "_custom", "_made_in", "_derivatives"])
#: dictionaries that are changed in place
_INVENTORY = ("_params", "_cells", "_hooks")


class _Local(threading.local):
    def __init__(self) -> None:
        #: the names that were read of each Cell, by its ``id``; ``None``: nothing is traced
        self.names: dict[int, set[str]] | None = None


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
        if names is not None and (name != _ALL or not _is_own_frame(sys._getframe(1))):
            names.setdefault(id(self), set()).add(name)
        return super(kind, self).__getattribute__(name)

    return __getattribute__


def _is_own_frame(frame: Any) -> bool:
    # the machinery of this package stores and compares; where it reads everything it says so (note_all)
    return frame.f_code.co_filename.startswith(PACKAGE)


def note_all(cell: Any) -> None:
    """Note that the program being traced depends on all attributes of ``cell``."""
    if _local.names is not None:
        _local.names.setdefault(id(cell), set()).add(_ALL)


def was_read(cell: Any, name: str) -> bool:
    """Whether the trace has read an attribute of ``cell`` so far."""
    names = (_local.names or {}).get(id(cell), ())
    return name in names or _ALL in names


@contextmanager
def reads_noted() -> Iterator[None]:
    """While it is open, reads of attributes of Cells on this thread are noted."""
    outer, _local.names = _local.names, {}
    with _lock:
        _traces[0] += 1
        if _traces[0] == 1:
            for kind, noting in _classes:
                kind.__getattribute__ = noting
    try:
        yield
    finally:
        _local.names = outer
        with _lock:
            _traces[0] -= 1
            if not _traces[0]:
                for kind, _ in _classes:
                    del kind.__getattribute__


class CellGuard:
    """The attributes of one Cell as a trace found them, and whether those that it read still are so.

    Attributes:
        cell: the Cell.
        values: its attributes before the trace assigned any.
        skipped: the names of attributes that the program assigns or takes as inputs.
    """

    __slots__ = ("_names", "_version", "cell", "skipped", "values")

    def __init__(self, cell: Any) -> None:
        self.cell = cell
        self._version = cell.attributes_version
        self.values = _attributes(cell)
        self.skipped: set[str] = set()
        # shared with the trace, which goes on reading
        names = _local.names
        self._names: set[str] = {_ALL} if names is None else names.setdefault(id(cell), set())

    def copy(self) -> CellGuard:
        """A copy of the guard with its own note of the version of the Cell that was compared last."""
        guard: CellGuard = object.__new__(CellGuard)
        for slot in self.__slots__:
            setattr(guard, slot, getattr(self, slot))
        return guard

    def assign(self, name: str, before: Any) -> None:
        """Let the value of an attribute be that of before the trace assigned it; ``MISSING``: none."""
        self.values.pop(name, None)
        if before is not MISSING:
            self.values[name] = before

    def holds(self) -> bool:
        """Whether all attributes that were read are as they were."""
        version = self.cell.attributes_version
        if version == self._version:
            return True
        if next(self.changed(), None) is not None:
            return False
        self._version = version
        return True

    def differing(self) -> Iterator[tuple[str, Any, Any]]:
        """Attributes that were read and are other objects now: name, value before, value now."""
        now = _attributes(self.cell)
        for name in (*now, *self.values.keys() - now.keys()) if _ALL in self._names else self._names:
            before, after = self.values.get(name, MISSING), now.get(name, MISSING)
            if before is not after and name not in self.skipped and name not in _OWN:
                yield name, before, after

    def changed(self) -> Iterator[tuple[str, Any, Any]]:
        """The shifting attributes that differ in value too."""
        for name, before, after in self.differing():
            if isinstance(before, CONTAINERS) or not same(before, after):
                yield name, before, after


def _attributes(cell: Any) -> dict[str, Any]:
    attributes = dict(vars(cell))
    for name in _INVENTORY:
        if name in attributes:
            attributes[name] = tuple(attributes[name].items())
    return attributes
