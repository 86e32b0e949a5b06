"""Structures: what calls of eager mode that are made in the same way have in common.

    structure(f, x) = structure(f, x')  ⟹  one program gives f(x) and f(x')

A structure is the list of events of a call, the types of the tensors from outside and the values of those
that are constants, which values outlived the call, and what was compiled of it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from mindgrad.backend.executable import Executable
from mindgrad.eager.replay import OPEN, Event
from mindgrad.execution.placement import is_infinite
from mindgrad.ir import settings
from mindgrad.ir.cost_model import HOST
from mindgrad.ir.types import TensorType

__all__ = ["Leaf", "Segment", "Structure", "bytes_of"]

#: arrays of at most so many elements are compared by value, and constants of the program where they are equal
_FEW = HOST.compared_elements

#: the end of every structure, which no operator is
_END = Event(None, (), None, 0, (), (), ("", 0))


class Leaf:
    """A tensor from outside of a deferred call.

    Attributes:
        type: its type.
        constant: its bytes, if it is a constant of the program.
        array: its array then.
        is_infinite: whether an element is infinite or NaN, so that derivatives shield it from exact zeros.
        is_differentiated: whether it is the input of a recording, for which that makes no difference.
    """

    __slots__ = ("array", "constant", "is_differentiated", "is_infinite", "type")

    def __init__(self, type: TensorType, array: Any, is_variable: bool) -> None:
        self.type = type
        self.constant = None if is_variable else bytes_of(array)
        self.array = array if self.constant is not None else None
        self.is_infinite = self.constant is None and is_infinite(array)
        self.is_differentiated = False

    def is_same(self, other: Leaf) -> bool:
        """Whether one can stand for the other."""
        return (
            self.type is other.type
            and self.constant == other.constant
            and self.is_infinite == other.is_infinite
        )

    def is_unlike(self, array: Any) -> bool:
        """Whether ``array``, of the host, is infinite or NaN and the leaf's was not, or vice versa."""
        return isinstance(array, (np.ndarray, np.generic)) and is_infinite(array) is not self.is_infinite


def bytes_of(array: Any) -> bytes | None:
    """The elements of a small array of the host; of an array that repeats one element only that."""
    if isinstance(array, np.generic):
        return array.tobytes()
    if type(array) is not np.ndarray:
        return None
    if array.size > 1 and not any(array.strides):
        return array.flat[0].tobytes() + b"*"
    return array.tobytes() if array.size <= _FEW else None


class Segment:
    """The compiled part of a call between two reads of values.

    It ends where Python reads a value at level zero, or at the end of the call.

    Attributes:
        end: the number of events before its end.
        executable: what runs.
        inputs: the numbers of the values that it takes, of leaves the inverse.
        donated: the leaves whose memory it takes over.
        outputs: the numbers of the values that it gives.
        version: the version of the structure that it was compiled of.
        known: the numbers of the values that it and the segments before it give.
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
    """The events of a call, as far as the calls that are made in the same way have them in common.

    Attributes:
        events: the events, and an end that no operator is.
        leaves: the tensors from outside.
        outputs: the numbers of the values that outlived a call.
        replaced: pairs (leaf, value): a Parameter held the one before a call, and the other after it.
        program: what was compiled of it, in the order of a call; ``None`` if nothing was.
        requests: for a value that was asked for inside of a recording, how often, or the program for it.
        cuts: by the number of events before it, values that were asked for while nothing was recorded.
        version: changes when a constant turns out to vary.
        confirmed: calls that were as predicted.
        obstacle: why it must not be deferred; empty if it may.
        is_checked: whether values that are not finite are errors in its calls (``debug_nans``).
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
        """Whether a call that one predicts is predicted by the other."""
        return (
            len(self.events) == len(other.events)
            and all(a.is_same(b) for a, b in zip(self.events, other.events, strict=True))
            and self.has_leaves_of(other, len(other.leaves))
            and len(self.leaves) == len(other.leaves)
        )

    def has_leaves_of(self, other: Structure, count: int) -> bool:
        """Whether the first ``count`` leaves of both are the same."""
        if count > len(self.leaves) or count > len(other.leaves):
            return False
        pairs = zip(self.leaves[:count], other.leaves[:count], strict=True)
        return all(a is b or a.is_same(b) for a, b in pairs)

    def begins_like(self, other: Structure, count: int) -> bool:
        """Whether the first ``count`` events of both are the same."""
        if count > len(self):
            return False
        pairs = zip(self.events[:count], other.events[:count], strict=True)
        return all(a is b or a.is_same(b) for a, b in pairs)

    def vary(self, index: int) -> None:
        """Take a leaf that has another value now as an input."""
        leaf = self.leaves[index]
        self.leaves[index] = Leaf(leaf.type, leaf.array, is_variable=True)
        self.leaves[index].is_differentiated = leaf.is_differentiated
        self.changed()

    def changed(self) -> None:
        """Forget what was compiled."""
        self.version += 1
        self.program = None
        self.is_queued = False
        self.requests = {}

    def current(self) -> list[Segment] | None:
        """The program, unless another thread has found meanwhile that a constant of it varies."""
        program = self.program
        return None if program is None or program[-1].version != self.version else program

    def last_uses(self) -> dict[int, list[int]]:
        """The values that no event after one uses, by its position."""
        if self._last_uses is None:
            last: dict[int, int] = {}
            for position, event in enumerate(self.events):
                last.update((n, position) for n in (*event.operands, *event.results) if n >= 0)
            uses: dict[int, list[int]] = {}
            for number, position in last.items():
                uses.setdefault(position, []).append(number)
            self._last_uses = uses
        return self._last_uses
