"""Structures: the operators of an eager call, without the values of its inputs.

    structure(f, x) = structure(f, x')  ⟹  one compiled function computes f(x) and f(x')

A structure contains the events of a call, the types of its inputs, the values of inputs that are constants,
the numbers of the values that outlive the call, and the compiled segments. ``eager.deferral`` uses the
structure to predict the next call. A structure refers to values by number (``eager.replay``).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from mindgrad.core.backend.executable import Executable
from mindgrad.core.ir import settings
from mindgrad.core.ir.array_facts import is_infinite
from mindgrad.core.ir.cost_model import HOST
from mindgrad.core.ir.types import TensorType
from mindgrad.eager.replay import OPEN, Event

__all__ = ["Leaf", "Segment", "Structure", "bytes_of"]

#: an input with at most this many elements is compared by value in each call. The compiled function treats it
#: as a constant until its value changes
_FEW = HOST.compared_elements

#: last event of every structure. No operator equals this event, so a call with more operators than the
#: recorded call diverges at it
_END = Event(None, (), None, 0, (), (), ("", 0))


class Leaf:
    """An input of a deferred call: a tensor that existed before the call.

    Attributes:
        type: the type of the tensor.
        constant: the bytes of the array if the array is a constant of the compiled function; otherwise
            ``None``.
        array: the array if it is a constant of the compiled function; otherwise ``None``.
        is_infinite: whether an element of the array is infinite or NaN. In this case, derivatives treat 0 × ∞
            as 0.
        is_differentiated: whether the call computes a derivative with respect to this input. If so, the
            structure also serves arrays with a different value of ``is_infinite``.
    """

    __slots__ = ("array", "constant", "is_differentiated", "is_infinite", "type")

    def __init__(self, type: TensorType, array: Any, is_variable: bool) -> None:
        self.type = type
        self.constant = None if is_variable else bytes_of(array)
        self.array = array if self.constant is not None else None
        self.is_infinite = self.constant is None and is_infinite(array)
        self.is_differentiated = False

    def is_same(self, other: Leaf) -> bool:
        """Return whether one compiled function can serve both inputs."""
        return (
            self.type is other.type
            and self.constant == other.constant
            and self.is_infinite == other.is_infinite
        )

    def is_unlike(self, array: Any) -> bool:
        """Return whether exactly one of ``array`` and this input is finite.

        The result is false if ``array`` is not a host array.
        """
        return isinstance(array, (np.ndarray, np.generic)) and is_infinite(array) is not self.is_infinite


def bytes_of(array: Any) -> bytes | None:
    """Return the bytes of a small host array, or ``None`` for other arrays.

    For an array that repeats one element, the result is the bytes of this element, followed by ``*``.
    """
    if isinstance(array, np.generic):
        return array.tobytes()
    if type(array) is not np.ndarray:
        return None
    if array.size > 1 and not any(array.strides):
        return array.flat[0].tobytes() + b"*"
    return array.tobytes() if array.size <= _FEW else None


class Segment:
    """One compiled function of a call (``eager.segments``).

    A segment ends before Python reads a value outside a recording, or at the end of the call.

    Attributes:
        end: the number of events of the call before the end of the segment.
        executable: the compiled function.
        inputs: the numbers of the values that the segment reads. Input k of the call has the number ``~k``.
        donated: the input numbers of Parameters whose old arrays the segment may overwrite with its results.
        outputs: the numbers of the values that the segment returns.
        version: in the last segment, the version of the structure at the start of the compilation.
        known: in the last segment, the numbers of the values that all segments together compute.
    """

    __slots__ = ("donated", "end", "executable", "inputs", "known", "outputs", "version")

    def __init__(
        self,
        end: int,
        executable: Executable,
        inputs: Sequence[int],
        donated: Sequence[int],
        outputs: Sequence[int],
    ) -> None:
        self.end = end
        self.executable = executable
        self.inputs = tuple(inputs)
        self.donated = tuple(donated)
        self.outputs = tuple(outputs)
        self.version = 0
        self.known: frozenset[int] = frozenset(outputs)


class Structure:
    """The events and inputs that repeated calls have in common.

    Attributes:
        events: the recorded operators and steps of recordings, followed by an end marker that equals no
            operator.
        leaves: the inputs of the call: tensors that were created outside the call.
        outputs: the numbers of the values that were still referenced at the end of any call.
        replaced: pairs (input number, value number), one for each Parameter that every call assigns. The
            input is the old array of the Parameter, and the value is its new array.
        program: the compiled segments in the order of a call, or ``None`` before the compilation.
        requests: maps the number of a value that Python reads inside a recording to the number of reads, or
            to the compiled function for this value.
        cuts: maps a position in ``events`` to the numbers of the values that Python reads there, outside
            recordings. A segment ends at each position.
        version: counter that increases when compiled code becomes invalid, for example because a constant has
            changed.
        confirmed: number of calls that followed the prediction.
        is_queued: whether the compilation has been submitted.
        obstacle: why calls must not be deferred, or an empty string if they may be deferred.
        is_checked: whether a value that is not finite raises an error (``debug_nans``).
    """

    __slots__ = (
        "__weakref__", "_last_uses", "confirmed", "cuts", "events", "is_checked", "is_queued", "leaves",
        "obstacle", "outputs", "program", "replaced", "requests", "version",
    )  # fmt: skip

    def __init__(self, events: Sequence[Event], leaves: Sequence[Leaf], obstacle: str = "") -> None:
        self.events = [*events, _END]
        self.leaves = list(leaves)
        for number in {n for event in events if event.primitive is OPEN for n in event.operands if n < 0}:
            self.leaves[~number].is_differentiated = True
        self.outputs: set[int] = set()
        self.replaced: set[tuple[int, int]] = set()
        self.program: list[Segment] | None = None
        self.requests: dict[int, int | Segment] = {}
        self.cuts: dict[int, set[int]] = {}
        self.version = 0
        self.confirmed = 0
        self.is_queued = False
        self.obstacle = obstacle
        self.is_checked: bool = settings.options["debug_nans"]
        self._last_uses: dict[int, list[int]] | None = None

    def __len__(self) -> int:
        return len(self.events) - 1

    def is_same(self, other: Structure) -> bool:
        """Return whether both structures have equal events and equal inputs."""
        return (
            len(self.events) == len(other.events)
            and all(a.is_same(b) for a, b in zip(self.events, other.events, strict=True))
            and self.has_leaves_of(other, len(other.leaves))
            and len(self.leaves) == len(other.leaves)
        )

    def has_leaves_of(self, other: Structure, count: int) -> bool:
        """Return whether the first ``count`` inputs of both structures are equal."""
        if count > len(self.leaves) or count > len(other.leaves):
            return False
        pairs = zip(self.leaves[:count], other.leaves[:count], strict=True)
        return all(a is b or a.is_same(b) for a, b in pairs)

    def begins_like(self, other: Structure, count: int) -> bool:
        """Return whether the first ``count`` events of both structures are equal."""
        if count > len(self):
            return False
        pairs = zip(self.events[:count], other.events[:count], strict=True)
        return all(a is b or a.is_same(b) for a, b in pairs)

    def vary(self, index: int) -> None:
        """Convert input ``index`` to a variable, because its constant value has changed.

        The compiled segments contain the old value, so they are discarded.
        """
        leaf = self.leaves[index]
        self.leaves[index] = Leaf(leaf.type, leaf.array, is_variable=True)
        self.leaves[index].is_differentiated = leaf.is_differentiated
        self.changed()

    def changed(self) -> None:
        """Discard all compiled code of the structure."""
        self.version += 1
        self.program = None
        self.is_queued = False
        self.requests = {}

    def current(self) -> list[Segment] | None:
        """Return the compiled segments, or ``None`` if there are no valid ones.

        Another thread may have invalidated the segments.
        """
        program = self.program
        return None if program is None or program[-1].version != self.version else program

    def last_uses(self) -> dict[int, list[int]]:
        """Map the position of each event to the numbers of the values used last there.

        A replay frees these values after the event.
        """
        if self._last_uses is None:
            last: dict[int, int] = {}
            for position, event in enumerate(self.events):
                last.update((n, position) for n in (*event.operands, *event.results) if n >= 0)
            uses: dict[int, list[int]] = {}
            for number, position in last.items():
                uses.setdefault(position, []).append(number)
            self._last_uses = uses
        return self._last_uses
