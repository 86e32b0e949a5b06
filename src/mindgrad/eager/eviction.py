"""Delete the least recently used compiled calls if they exceed a memory limit.

A *structure* is the recorded list of operators of a call (``eager.structure``). Its *segments* are the
compiled functions for the call.
"""

from __future__ import annotations

import collections
import threading
import weakref
from collections.abc import Sequence
from contextlib import suppress

from mindgrad.eager.structure import Segment, Structure

__all__ = ["keep", "used"]

#: ``_MOST_BYTES``: maximum size of the compiled code of all eager calls. ``_BYTES_PER_PROGRAM``,
#: ``_BYTES_PER_OPERATOR``: estimated size of the code of one structure, and additional size for each
#: operator. The size of large constants is added to the estimate. Above the maximum, the least recently used
#: structures lose their code
_MOST_BYTES, _BYTES_PER_PROGRAM, _BYTES_PER_OPERATOR = 2**30, 2**17, 2**12

_lock = threading.Lock()
#: maps the ``id`` of each structure with compiled segments to a weak reference to the structure and the size
#: of its code in bytes. The most recently used structure is last
_with_programs: collections.OrderedDict[int, tuple[weakref.ref[Structure], int]] = collections.OrderedDict()


def used(structure: Structure) -> None:
    """Mark ``structure`` as the most recently used one; its code is deleted last."""
    with suppress(KeyError):  # another thread may have removed this structure
        _with_programs.move_to_end(id(structure))


def keep(structure: Structure, program: Sequence[Segment]) -> None:
    """Register the compiled segments ``program`` of ``structure``.

    If the total size of all segments exceeds the limit, the segments of the least recently used structures
    are deleted.
    """
    constants = sum(array.nbytes for segment in program for array in segment.executable.extra)
    weight = _BYTES_PER_PROGRAM + _BYTES_PER_OPERATOR * len(structure) + constants
    key = id(structure)
    with _lock:
        _with_programs[key] = (weakref.ref(structure, lambda _: _with_programs.pop(key, None)), weight)
        # copy the values in one atomic step, because other threads may change the dict
        total = sum(size for _, size in list(_with_programs.values()))
        while total > _MOST_BYTES and len(_with_programs) > 1:
            _, (reference, size) = _with_programs.popitem(last=False)
            total -= size
            oldest = reference()
            if oldest is not None:
                oldest.changed()
