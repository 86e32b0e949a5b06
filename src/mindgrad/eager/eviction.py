"""Evict the least recently used compiled calls above a limit of memory."""

from __future__ import annotations

import collections
import threading
import weakref
from collections.abc import Sequence
from contextlib import suppress

from mindgrad.eager.structure import Segment, Structure

__all__ = ["keep", "used"]

#: limit of the total size of compiled calls, and the estimated bytes of a call and of each of its operators;
#: large constants count in addition
_MOST_BYTES, _BYTES_PER_PROGRAM, _BYTES_PER_OPERATOR = 2**30, 2**17, 2**12

_lock = threading.Lock()
#: structures with compiled segments, the most recently used last
_with_programs: collections.OrderedDict[int, tuple[weakref.ref[Structure], int]] = collections.OrderedDict()


def used(structure: Structure) -> None:
    """Mark ``structure`` as the most recently used."""
    with suppress(KeyError):  # another thread may have evicted it
        _with_programs.move_to_end(id(structure))


def keep(structure: Structure, program: Sequence[Segment]) -> None:
    """Register the compiled segments of ``structure``, and evict others to make space."""
    constants = sum(array.nbytes for segment in program for array in segment.executable.extra)
    weight = _BYTES_PER_PROGRAM + _BYTES_PER_OPERATOR * len(structure) + constants
    key = id(structure)
    with _lock:
        _with_programs[key] = (weakref.ref(structure, lambda _: _with_programs.pop(key, None)), weight)
        # copy the values in one atomic step, because other threads change the order
        total = sum(size for _, size in list(_with_programs.values()))
        while total > _MOST_BYTES and len(_with_programs) > 1:
            _, (reference, size) = _with_programs.popitem(last=False)
            total -= size
            oldest = reference()
            if oldest is not None:
                oldest.changed()
