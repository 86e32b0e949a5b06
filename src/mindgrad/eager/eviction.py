"""Eviction of programs by use: those that were not run for longest go when all take more than a bound."""

from __future__ import annotations

import collections
import threading
import weakref
from collections.abc import Sequence
from contextlib import suppress

from mindgrad.eager.structure import Segment, Structure

__all__ = ["keep", "used"]

#: bytes of programs that are kept; a program is estimated by its operators and its large constants
_MOST_BYTES, _BYTES_PER_PROGRAM, _BYTES_PER_OPERATOR = 2**30, 2**17, 2**12

_lock = threading.Lock()
#: structures that have programs, those that were used last at the end
_with_programs: collections.OrderedDict[int, tuple[weakref.ref[Structure], int]] = collections.OrderedDict()


def used(structure: Structure) -> None:
    """Note that the program of ``structure`` was run."""
    with suppress(KeyError):  # another thread may have taken it out
        _with_programs.move_to_end(id(structure))


def keep(structure: Structure, program: Sequence[Segment]) -> None:
    """Note that ``structure`` has a program; those that were not used for longest lose theirs for it."""
    constants = sum(array.nbytes for segment in program for array in segment.executable.extra)
    weight = _BYTES_PER_PROGRAM + _BYTES_PER_OPERATOR * len(structure) + constants
    key = id(structure)
    with _lock:
        _with_programs[key] = (weakref.ref(structure, lambda _: _with_programs.pop(key, None)), weight)
        # a list, made in one go: other threads change the order meanwhile
        total = sum(size for _, size in list(_with_programs.values()))
        while total > _MOST_BYTES and len(_with_programs) > 1:
            _, (reference, size) = _with_programs.popitem(last=False)
            total -= size
            oldest = reference()
            if oldest is not None:
                oldest.changed()
