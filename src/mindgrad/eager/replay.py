"""Replay the events of a deferred call, eagerly or into a graph.

    replay(events)(inputs) = the values of the call

A deferred call is a list of events, which refer to values by number. The results of the events are numbered
0, 1, 2, … in order. Input k of the call has the number ``~k``, which is negative.

A *recording* is the list of operators that a differentiated function applies. The recordings of one call are
numbered from 1. There are six kinds of events:

- an operator;
- the start (``open``) or end (``close``) of a recording;
- the transformation of a recording to a derivative (``finish``);
- the conversion of a value to a constant for derivatives (``detach``);
- the use of a value of a recording after the end of the recording (``lift``).

A replay calls the functions that eager mode would have called. If the inputs are arrays, the replay runs
kernels and recordings as in eager mode. If the inputs are symbols, it emits equations as in graph mode,
including nested derivatives.

**Cost.** Each event costs about a microsecond in addition to the functions that it calls.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from mindgrad.core.base.location import Located
from mindgrad.core.ir.graph import Graph, calls_back, communicates
from mindgrad.core.ir.primitive import Primitive
from mindgrad.core.ir.scope import (
    GraphScope,
    Scope,
    apply,
    executing,
    hold_constant,
    innermost,
    lifted,
    opened,
)
from mindgrad.core.ir.tensor import Tensor, make_tensor
from mindgrad.core.ir.types import TensorType
from mindgrad.core.primitives.structural import stop_gradient
from mindgrad.core.trace import graph_recording  # noqa: F401 - derivatives inside a trace need it
from mindgrad.core.trace.record import finish, new_scope

__all__ = ["CLOSE", "DETACH", "FINISH", "LIFT", "OPEN", "Event", "Replay", "needed_events", "obstacle"]

#: kinds of events that are not calls of operators
OPEN, CLOSE, FINISH, DETACH, LIFT = "open", "close", "finish", "detach", "lift"


class Event:
    """One event of a deferred call.

    Attributes:
        primitive: the operator, or the kind of the event.
        operands: the numbers of the operands.
        parameters: for an operator, its parameters. For ``OPEN`` and ``CLOSE``, the number of the recording.
            For ``FINISH``, the tuple ``(recording, transform, applied, is_last, number of outputs to
            transform, whether each extra is given, scope.constant_block())``, whose names are arguments of
            ``trace.record.finish``.
        first: the number of the first result.
        types: the types of the results.
        scopes: for each result, the number of the recording to which it belongs, or 0 outside recordings.
        line: file and line of the operator call in the user's code.
        is_immediate: whether the operator runs immediately, because it is cheap and Python reads its results.
    """

    __slots__ = ("first", "is_immediate", "line", "operands", "parameters", "primitive", "scopes", "types")

    def __init__(
        self,
        primitive: Primitive | str | None,
        operands: tuple[int, ...],
        parameters: Any,
        first: int,
        types: tuple[TensorType, ...],
        scopes: tuple[int, ...],
        line: tuple[str, int],
    ) -> None:
        self.primitive = primitive
        self.operands = operands
        self.parameters = parameters
        self.first = first
        self.types = types
        self.scopes = scopes
        self.line = line
        self.is_immediate = False

    def is_same(self, other: Event) -> bool:
        """Return whether two events are equal, except for their source lines."""
        return (
            self.primitive is other.primitive
            and self.operands == other.operands
            and self.types == other.types
            and self.scopes == other.scopes
            and self.parameters == other.parameters
        )

    @property
    def results(self) -> range:
        """Return the numbers of the values that the event computes."""
        return range(self.first, self.first + len(self.types))


def obstacle(primitive: Primitive, parameters: dict[str, Any]) -> str:
    """Return why an operator cannot be deferred, or an empty string if it can."""
    graphs = [x for x in parameters.values() if isinstance(x, Graph)]
    if primitive.effects.calls_back or any(map(calls_back, graphs)):
        return f"'{primitive.name}' calls back into Python"
    if primitive.communicates or any(map(communicates, graphs)):
        return f"'{primitive.name}' communicates with other processes"
    return ""


def needed_events(events: Sequence[Event], numbers: Iterable[int]) -> tuple[list[Event], set[int]]:
    """Return the events that must run to compute the values ``numbers``.

    Args:
        events: all events of a call, in order.
        numbers: the numbers of the values.

    Returns:
        The events in order, and the numbers of the recordings that these events transform.
    """
    needed = set(numbers)
    chosen: list[Event] = []
    recordings: set[int] = set()
    opened_at = {event.parameters: event for event in events if event.primitive is OPEN}
    for event in reversed(events):
        kind = event.primitive
        if kind is CLOSE or kind is OPEN:
            is_needed = event.parameters in recordings
        else:
            is_needed = False
        is_needed = is_needed or not needed.isdisjoint(event.results)
        if is_needed:
            chosen.append(event)
            needed.update(event.operands)
            if kind is FINISH:
                recordings.add(event.parameters[0])
                needed.update(opened_at[event.parameters[0]].results)
    chosen.reverse()
    return chosen, recordings


class Replay:
    """Executes events in order.

    Args:
        base: scopes that are open during the whole replay, such as the scope of a graph.

    Attributes:
        scopes: the open scopes, innermost last. They record the operators that run inside
            ``executing(replay.scopes)``.
        recordings: maps the number of each recording to its scope and its input tensors.
    """

    __slots__ = ("_base", "_levels", "_open", "recordings", "scopes")

    def __init__(self, base: Sequence[Scope] = ()) -> None:
        self.scopes: list[Scope] = list(base)
        self._base = len(self.scopes)
        #: one flag for each open recording of the call, innermost last. The flag is True if the replay
        #: records operators in the recording
        self._levels: list[bool] = []
        self.recordings: dict[int, tuple[Scope, list[Tensor]]] = {}
        self._open: dict[int, Any] = {}

    def execute(self, event: Event, operands: Sequence[Tensor]) -> Sequence[Tensor]:
        """Execute one event, and return its results.

        The caller must have opened ``executing(self.scopes)``.
        """
        kind: Any = event.primitive
        if type(kind) is not str:
            result = apply(kind, *operands, **event.parameters)
            return result if kind.multiple else (result,)
        if kind is OPEN:
            scope: Scope = new_scope()
            context = opened(scope)
            context.__enter__()
            self._open[event.parameters] = context
            self._levels.append(True)
            inputs = [scope.input(lifted(t)) for t in operands]
            self.recordings[event.parameters] = (scope, inputs)
            return inputs
        if kind is CLOSE:
            self._open.pop(event.parameters).__exit__()
            self._levels.pop()
            return ()
        if kind is DETACH:
            (operand,) = operands
            if isinstance(innermost(), GraphScope):
                return (apply(stop_gradient, operand),)
            return (make_tensor(operand._array, operand.type),)
        if kind is LIFT:
            return [lifted(operands[0])]
        recording, transform, applied, is_last, count, has_extra, block = event.parameters
        scope, inputs = self.recordings[recording]
        chosen, further = operands[:count], iter(operands[count:])
        extras = [lifted(next(further)) if is_present else None for is_present in has_extra]
        level, as_constant = block
        before = hold_constant((self._base + sum(self._levels[:level]), as_constant))
        try:
            outside, results = finish(
                scope, inputs, transform, extras, chosen, list(further), applied, is_last=is_last
            )
        finally:
            hold_constant(before)
        return [*outside, *results]

    def run(
        self,
        events: Sequence[Event],
        leaves: Sequence[Tensor],
        values: dict[int, Tensor],
        recordings: set[int] | None = None,
        last_uses: dict[int, list[int]] | None = None,
        replaced: dict[int, Tensor] | None = None,
        lines: Mapping[Event, tuple[str, int]] | None = None,
    ) -> None:
        """Execute ``events``, and store the results in ``values`` by number.

        Args:
            events: the events, in order.
            leaves: the inputs of the call, by input number.
            values: maps the number of each value to its tensor. The results are added.
            recordings: numbers of the recordings that a derivative requires. The operators of all other
                recordings run without being recorded. Default: all recordings.
            last_uses: maps the position of an event to the numbers of the values that no later event uses.
                The values are freed after this event.
            replaced: maps the number of a value to a tensor that later events use instead of the result of
                the replay.
            lines: maps an event to its source line in this call. Default: ``Event.line``, the line in the
                recorded call.
        """
        with executing(self.scopes):
            for position, event in enumerate(events):
                operands = [leaves[~n] if n < 0 else values[n] for n in event.operands]
                kind = event.primitive
                if (
                    recordings is None
                    or (kind is not OPEN and kind is not CLOSE)
                    or event.parameters in recordings
                ):
                    line = event.line if lines is None else lines.get(event, event.line)
                    with Located(line):
                        results = self.execute(event, operands)
                else:
                    results = operands
                    if kind is OPEN:
                        self._levels.append(False)
                    else:
                        self._levels.pop()
                values.update(zip(event.results, results, strict=False))
                if replaced:
                    values.update((n, replaced[n]) for n in event.results if n in replaced)
                if last_uses is not None:
                    for number in last_uses.get(position, ()):
                        values.pop(number, None)
