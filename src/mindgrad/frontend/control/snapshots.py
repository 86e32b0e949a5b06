"""Snapshots of Python state: detect and undo changes by the trace of a body.

A *body* is the code of one branch or of one loop iteration. A trace runs both branches of an ``if``, but the
compiled function runs only one. A trace runs the body of a loop once or a few times, but the compiled
function runs it in each iteration. Therefore, a body must not change objects that existed before it. For
example, it must not append to an existing list. Assignments to variables and attributes are permitted,
because ``effect_log`` handles them.

Before the trace of a body, a :class:`Snapshot` reads the contents of all objects that the body can access
(``reach``). At the end of the trace, it compares the contents. Large NumPy arrays are not copied, but are
read-only during the trace.
"""

from __future__ import annotations

import contextlib
import io
import threading
import types
from collections.abc import Iterator, Sequence
from typing import Any, NoReturn

import numpy as np

from mindgrad.core.base.refusal import refuse
from mindgrad.frontend.contents import COPIED_BYTES, ITERATOR, Kind, is_generator, kinds_of
from mindgrad.frontend.reach import objects_in_reach
from mindgrad.frontend.user_functions import NOT_THE_USERS

__all__ = ["Snapshot", "check", "entries_of", "iterators_kept", "refuse_advance", "refuse_change"]

_READ_ONLY = "read-only"


# -- snapshots -------------------------------------------------------------------------------------


class _Entry:
    """An object that existed before a branch or iteration, with its original contents."""

    __slots__ = ("kind", "label", "owner", "state")

    def __init__(self, owner: Any, kind: Kind, label: str) -> None:
        self.owner, self.kind, self.label = owner, kind, label
        self.state = kind.read(owner)

    def is_changed(self) -> bool:
        return not self.kind.same(self.kind.read(self.owner), self.state)

    def restore(self) -> bool:
        """Restore the recorded contents of the object, and return whether this succeeded."""
        if self.kind.write is None:
            return False
        self.kind.write(self.owner, self.state)
        return not self.is_changed()


class _Local(threading.local):
    def __init__(self) -> None:
        #: snapshots of the branches and loop iterations that are being traced, innermost last
        self.snapshots: list[Snapshot] = []
        #: for each function that is being traced, innermost last: the existing iterators and files that it
        #: can access, by ``id``
        self.advancing: list[dict[int, _Entry]] = []


_local = _Local()


class Snapshot:
    """The contents of all objects that the bodies of a branch or loop can access.

    A snapshot is a context manager for the trace of each body. At the end of the context, it compares the
    contents.

    Args:
        functions: the functions that run the bodies.
        later: function that reads all variables used after the branch or loop. It is never called. Only
            changes of objects to which these variables refer are errors. If ``later`` is ``None``, all
            changes are errors.

    Raises:
        CompileError: If an object that later code can access has changed. The change is undone first.
    """

    __slots__ = ("_entries", "_later", "_locked", "_read")

    def __init__(self, *functions: Any, later: Any = None) -> None:
        self._entries: dict[int, list[_Entry]] = {}
        self._later = later
        self._read: set[int] | None = None
        large: list[np.ndarray] = []
        for owner, label in objects_in_reach([(function, "") for function in functions]):
            if isinstance(owner, np.ndarray) and (owner.nbytes > COPIED_BYTES or not owner.flags.writeable):
                if _can_be_locked(owner):
                    large.append(owner)
            elif not isinstance(owner, types.FunctionType) or owner.__dict__ or is_generator(owner):
                cls: Any = type(owner)
                self._entries[id(owner)] = [_Entry(owner, kind, label) for kind in kinds_of(cls)]
        reaches = [_reach(function) for function in functions] if large else []
        self._locked = [x for x in large if self.is_read(x) or sum(id(x) in reach for reach in reaches) > 1]

    def leave_out(self, owners: Sequence[Any]) -> None:
        """Permit changes of the objects ``owners``, because the caller restores them."""
        for owner in owners:
            self._entries.pop(id(owner), None)

    def is_read(self, owner: Any) -> bool:
        """Return whether code after the branch or loop can access ``owner``."""
        if self._later is None:
            return True
        if self._read is None:
            self._read = _reach(self._later)
        return id(owner) in self._read

    def renew(self, function: Any) -> Snapshot:
        """Undo changes by the first branch before the trace of the second branch.

        Args:
            function: runs the second branch. Objects that it cannot access are not restored.
        """
        changed = self._changed()
        reach = _reach(function) if changed else ()
        for entry in changed:
            if id(entry.owner) in reach and not entry.restore():
                _refuse(_sentence(entry), is_final=True)
        return self

    def __enter__(self) -> Snapshot:
        for owner in self._locked:
            owner.flags.writeable = False
        _local.snapshots.append(self)
        return self

    def __exit__(self, _: Any, error: Any, trace: Any) -> None:
        _local.snapshots.pop()
        for owner in sorted(self._locked, key=_depth):
            owner.flags.writeable = True
        if self._locked and isinstance(error, ValueError) and _READ_ONLY in str(error):
            _refuse("A NumPy array that was created outside is changed", frame=_users_frame(trace))
        changed = self._changed()
        self._read = None
        wrong = changed if error is not None else [entry for entry in changed if self.is_read(entry.owner)]
        self._read = None
        if wrong:
            is_restored = [entry.restore() for entry in changed].count(False) == 0
            if error is None or (isinstance(error, Exception) and not is_restored):
                _refuse(_sentence(wrong[0]), is_final=not is_restored)

    def _changed(self) -> list[_Entry]:
        return [entry for entries in self._entries.values() for entry in entries if entry.is_changed()]

    def is_changed(self) -> bool:
        """Return whether any object in the snapshot has changed."""
        return bool(self._changed())

    def entries(self, owner: Any) -> list[_Entry]:
        """Return the recorded contents of ``owner``.

        The list is empty if code after the branch or loop cannot access ``owner``.
        """
        entries = self._entries.get(id(owner), [])
        return entries if entries and self.is_read(owner) else []


def _reach(function: Any) -> set[int]:
    return {id(owner) for owner, _ in objects_in_reach([(function, "")])}


def _can_be_locked(owner: np.ndarray) -> bool:
    """Return whether NumPy can make an array read-only and then writeable again."""
    view = owner.view()
    if view.flags.writeable:
        view.flags.writeable = False
        with contextlib.suppress(ValueError):
            view.flags.writeable = True
    return view.flags.writeable


def _depth(owner: np.ndarray) -> int:
    """Return the number of arrays in the chain of bases below a view.

    NumPy permits a view to become writeable only after its base.
    """
    depth = 0
    while isinstance(owner.base, np.ndarray):
        owner, depth = owner.base, depth + 1
    return depth


def _users_frame(trace: Any) -> Any:
    """Return the innermost frame of user code in a traceback."""
    frame = trace.tb_frame
    while trace is not None:
        root = str(trace.tb_frame.f_globals.get("__name__", "")).partition(".")[0]
        if root not in NOT_THE_USERS:
            frame = trace.tb_frame
        trace = trace.tb_next
    return frame


def _sentence(entry: _Entry) -> str:
    kind = type(entry.owner)
    if isinstance(entry.owner, (type, types.FunctionType)):
        return f"An attribute or variable of {entry.owner.__name__} is changed"
    return f"{entry.label or 'An object'} ({kind.__name__}), which was created outside, is {entry.kind.verb}"


def _refuse(subject: str, *, frame: Any = None, is_final: bool = False) -> NoReturn:
    refuse(
        f"{subject} in a branch or loop on a tensor. This would happen at compile time, in every branch, and "
        "not when the function runs",
        "Move this line before or after the branch or loop, keep numbers and tensors in variables or "
        "attributes, or run in PYNATIVE_MODE.",
        frame=frame,
        is_final=is_final,
    )


# -- at the line that changes something ----------------------------------------------------------------


def entries_of(owner: Any) -> list[_Entry]:
    """Return the recorded contents of ``owner`` in all snapshots of the present trace.

    A snapshot is omitted if code after its branch or loop cannot access ``owner``.
    """
    return [entry for snapshot in _local.snapshots for entry in snapshot.entries(owner)]


def check(*owners: Any) -> None:
    """Raise ``CompileError`` if a call has changed one of ``owners``.

    The runtime calls this function directly after the call, so that the error points to the line of the call.
    """
    for owner in owners:
        for entry in entries_of(owner):
            if entry.is_changed():
                _refuse(_sentence(entry), is_final=not entry.restore())


def refuse_advance(iterator: Any) -> None:
    """Raise ``CompileError`` because code is about to advance an existing iterator.

    Nothing is raised if ``iterator`` was created during the trace and in the present body, or if it is not an
    iterator or file.
    """
    if not _can_advance(iterator):
        return
    for entry in entries_of(iterator):
        _refuse(_sentence(entry))
    if _local.advancing and id(iterator) in _local.advancing[-1]:
        _refuse_advanced(_local.advancing[-1][id(iterator)])


def _can_advance(owner: Any) -> bool:
    kind: Any = type(owner)
    return isinstance(owner, io.IOBase) or kinds_of(kind) == (ITERATOR,)


@contextlib.contextmanager
def iterators_kept(roots: Sequence[tuple[Any, str]]) -> Iterator[None]:
    """A context for a trace that must not advance existing iterators or files.

    Args:
        roots: the traced function and its arguments, with labels. At the end, all iterators and files that
            code can access through ``roots`` are compared with their state before the trace.

    Raises:
        CompileError: If an iterator or file was advanced, for example by ``list(iterator)``. It is restored
            first.
    """
    entries: dict[int, _Entry] = {}
    for owner, label in objects_in_reach(roots):
        kind: Any = type(owner)
        if _can_advance(owner):
            entries[id(owner)] = _Entry(owner, kinds_of(kind)[0], label)
    _local.advancing.append(entries)
    try:
        yield
    finally:
        _local.advancing.pop()
        changed = [entry for entry in entries.values() if entry.is_changed()]
        restored = [entry.restore() for entry in changed]
    if changed:
        _refuse_advanced(changed[0], is_final=not all(restored))


def _refuse_advanced(entry: _Entry, *, is_final: bool = False) -> NoReturn:
    refuse(
        f"{_sentence(entry)} in a compiled function. This would happen once, at compile time, and not when "
        "the function runs",
        "Create the iterator in the function, pass its next item as an argument, or run in PYNATIVE_MODE.",
        is_final=is_final,
    )


def refuse_change(owner: Any) -> None:
    """Raise ``CompileError`` if ``owner``, which is about to change, is in a snapshot."""
    for entry in entries_of(owner):
        _refuse(_sentence(entry))
