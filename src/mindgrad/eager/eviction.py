"""Delete the least recently used compiled calls above a memory limit.

A *structure* is the recorded list of operators of a call (``eager.structure``). Its *segments* are the
compiled functions for this call.
"""

from __future__ import annotations

import collections
import threading
import weakref
from collections.abc import Sequence
from contextlib import suppress

from mindgrad.eager.structure import Segment, Structure

__all__ = ["keep", "used"]

#: the limit in bytes, and the estimated bytes of the compiled code of one structure and of each operator in
#: it. The bytes of large constants are added to this estimate.
_MOST_BYTES, _BYTES_PER_PROGRAM, _BYTES_PER_OPERATOR = 2**30, 2**17, 2**12

_lock = threading.Lock()
#: maps the ``id`` of each structure with compiled segments to a weak reference to the structure and its size
#: in bytes; the most recently used structure is last
_with_programs: collections.OrderedDict[int, tuple[weakref.ref[Structure], int]] = collections.OrderedDict()


def used(structure: Structure) -> None:
    """Mark ``structure`` as the most recently used, so that it is evicted last."""
    with suppress(KeyError):  # another thread may have evicted this structure
        _with_programs.move_to_end(id(structure))


def keep(structure: Structure, program: Sequence[Segment]) -> None:
    """Register the segments of ``structure``; above the limit, delete the oldest ones."""
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
