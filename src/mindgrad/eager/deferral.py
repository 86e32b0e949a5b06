"""Deferred execution of one eager call: compute all values at its end.

    deferred(f)(x) = f(x), bitwise identical if operators run one by one, and up to rounding in compiled code

The *structure* of a call is the list of its operators, recorded as *events*, without the values. The
structure of an earlier call serves as the *prediction* of a new call. At first, the operators of the new call
do not run. Each operator is compared with the event at the same position of the prediction, and returns a
tensor with a *pending array*, which has no value yet. Then one of three things happens:

- The whole call follows the prediction. Compiled segments compute all values that outlive the call. Until the
  segments are compiled, the events are replayed operator by operator.
- The call *diverges*: an operator differs from the prediction. The events so far are replayed immediately.
  The remaining operators run one by one, and are recorded for the next call.
- Python reads a value during the call. The value is computed immediately from the values on which it depends,
  and the call continues.

**Cost.** A deferred operator costs one comparison and two small objects.

**Limits.** Operators that call back into Python (hooks) and calls that return a recording (``vjp``) are not
deferred.
"""

from __future__ import annotations

import threading
import weakref
from collections.abc import Sequence
from typing import Any

import numpy as np

from mindgrad.core.base.location import user_location
from mindgrad.core.ir import settings
from mindgrad.core.ir.pending import PendingArray
from mindgrad.core.ir.primitive import Primitive
from mindgrad.core.ir.scope import DeferredScope, Scope, constant_block, executing
from mindgrad.core.ir.tensor import Tensor, make_tensor
from mindgrad.eager.call_values import GIVES_BACK, CallValues, execute_now, executed
from mindgrad.eager.replay import (
    CLOSE,
    DETACH,
    FINISH,
    LIFT,
    OPEN,
    Event,
    Replay,
    needed_events,
    obstacle,
)
from mindgrad.eager.structure import Leaf, Segment, Structure, bytes_of
from mindgrad.frontend.programs.donation import settled, window

__all__ = ["Deferral"]


class Deferral:
    """One call that is deferred, or recorded while it runs operator by operator.

    Args:
        structures: the structures of earlier calls of this kind, the likeliest first. If there are none, the
            call runs operator by operator and is recorded.
        arguments: the arguments of the call. Tensors among them never become constants of compiled code.

    Attributes:
        structure: the predicted structure, or ``None`` while operators run one by one.
        diverged_at: file and line of the first operator that differed from the prediction, or ``None``.
    """

    __slots__ = (
        "_by_scope", "_candidates", "_count", "_events", "_expected", "_lines", "_obstacle", "_pendings",
        "_position", "_recordings", "_replay", "_scopes", "_specifications", "_thread", "_values",
        "diverged_at", "structure",
    )  # fmt: skip

    def __init__(self, structures: Sequence[Structure] = (), arguments: Sequence[Any] = ()) -> None:
        self._candidates = structures
        self.structure = structures[0] if structures else None
        self._expected: list[Event] | None = structures[0].events if structures else None
        self._position = 0
        self._thread = threading.get_ident()
        is_checked = structures[0].is_checked if structures else settings.options["debug_nans"]
        self._values = CallValues(arguments, is_checked)
        self._pendings = self._values.pendings
        self._lines = self._values.lines
        self._scopes: list[DeferredScope | None] = [None]
        self._recordings: list[tuple[DeferredScope, weakref.ref[Any]]] = []
        self.diverged_at: tuple[str, int] | None = None
        # ``None`` while operators are deferred. Otherwise, this object runs the operators one by one
        self._replay = None if structures else Replay()
        self._events: list[Event] = []
        self._specifications: list[Leaf] = []
        self._by_scope: dict[int, int] = {}
        self._count, self._obstacle = 0, ""

    # -- called by operators and recordings ----------------------------------------------------------

    def record(self, primitive: Primitive, tensors: Sequence[Tensor], parameters: dict[str, Any]) -> Any:
        """Apply ``primitive`` to ``tensors``, and return the result.

        If the operator is equal to the predicted event, it is deferred. Otherwise, it runs now.
        """
        expected = self._expected
        if expected is not None:
            event = expected[self._position]
            numbers = event.operands
            if (
                event.primitive is primitive
                and len(numbers) == len(tensors)
                and event.parameters == parameters
            ):
                for tensor, number in zip(tensors, numbers):  # noqa: B905  (``strict`` slows down operators)
                    array = tensor._array
                    if type(array) is PendingArray and array.deferral is self:
                        if array.number != number:
                            break
                    elif number >= 0 or not self._is_leaf(tensor, array, ~number):
                        break
                else:
                    self._position += 1
                    if self._lines is not None:
                        self._lines[event] = user_location()
                    if event.is_immediate:
                        results = self._results(event)
                        execute_now(event, tensors, results)
                        return tuple(results) if primitive.multiple else results[0]
                    if not primitive.multiple:
                        number = event.first
                        type_ = event.types[0]
                        array = PendingArray(self, number, type_)
                        self._pendings.append(array)
                        result = Tensor.__new__(Tensor)
                        result._array = array
                        result._type = type_
                        scope = event.scopes[0]
                        if scope:
                            result._scope = self._scopes[scope]
                            result._atom = number
                        else:
                            result._scope = result._atom = None
                        return result
                    return tuple(self._results(event))
            if self._switched():
                return self.record(primitive, tensors, parameters)
        results = self._run_now(primitive, tensors, parameters)
        return tuple(results) if primitive.multiple else results[0]

    def new_scope(self) -> DeferredScope:
        """Create and return the scope of a recording in this call."""
        scope = DeferredScope(self, len(self._scopes))
        self._scopes.append(scope)
        return scope

    def opens(self, scope: DeferredScope, tensors: Sequence[Tensor]) -> list[Tensor]:
        """Open the recording ``scope``, and return its inputs.

        The inputs represent ``tensors`` inside the recording.
        """
        return self._step(OPEN, tensors, scope.index)

    def closes(self, scope: DeferredScope) -> None:
        """Close the recording ``scope``."""
        self._step(CLOSE, (), scope.index)

    def returns(self, scope: DeferredScope, recorded: Any) -> None:
        """Store a weak reference to the recording ``recorded``, whose scope is ``scope``.

        The reference shows at the end of the call whether the recording outlives the call. For example, the
        function that ``vjp`` returns keeps a recording alive.
        """
        self._recordings.append((scope, weakref.ref(recorded)))

    def recording(self, scope: DeferredScope) -> tuple[Scope, list[Tensor]] | None:
        """Return the scope and inputs of a recording whose operators have run.

        The result is ``None`` while the call is deferred.
        """
        return None if self._replay is None else self._replay.recordings[scope.index]

    def finishes(
        self,
        scope: DeferredScope,
        transform: Any,
        extras: Sequence[Tensor | None],
        chosen: Sequence[Tensor],
        outer_results: Sequence[Tensor],
        applied: Any = None,
        *,
        is_last: bool = False,
    ) -> tuple[list[Tensor], list[Tensor]]:
        """Defer or execute ``trace.record.finish`` for a recording of this call.

        ``finish`` transforms the recording to a derivative. Its docstring explains the arguments and results.
        """
        parameters = (
            scope.index, transform, applied, is_last, len(chosen), tuple([x is not None for x in extras]),
            constant_block(),
        )  # fmt: skip
        operands = [*chosen, *[x for x in extras if x is not None], *outer_results]
        results = self._step(FINISH, operands, parameters)
        return results[: len(outer_results)], results[len(outer_results) :]

    def detached(self, tensor: Tensor) -> Tensor:
        """Return a tensor with the value of ``tensor`` that derivatives treat as constant."""
        array = tensor._array
        if tensor._scope is None or type(array) is not PendingArray or array.deferral is not self:
            return make_tensor(array, tensor.type)
        return self._step(DETACH, (tensor,), None)[0]

    def lifted(self, tensor: Tensor) -> Tensor:
        """Convert a value of a finished recording to a value of the enclosing recording."""
        array = tensor._array
        if type(array) is not PendingArray or array.deferral is not self:
            return tensor
        return self._step(LIFT, (tensor,), None)[0]

    def stores(self, parameter: Any) -> None:
        """Remember the array of ``parameter``, which this call is about to replace.

        The array is restored if the call fails.
        """
        if id(parameter) not in self._values.stored:
            self._values.stored[id(parameter)] = (parameter, parameter._array)

    def requested(self, pending: PendingArray) -> Any:
        """Compute and return the array of a pending value that Python reads in the call."""
        if pending.shadow is not None:
            pending.value = pending.shadow._array
            return pending.value
        structure = self.structure
        assert structure is not None, "a value whose operator has run has a shadow"
        with window:  # another thread may be computing this value
            is_abandoned = not self._pendings  # the call raised an exception, so its segments no longer run
            if pending.value is None and not is_abandoned and threading.get_ident() == self._thread:
                self._values.run_segments(structure, self._position)
            if pending.value is not None:
                return pending.value
            leaves = self._values.leaf_tensors()
        segment = structure.requests.get(pending.number, 0)
        if isinstance(segment, Segment):
            pending.value = self._values.run_request(structure, segment, structure.events[: self._position])
            return pending.value
        events, recordings = needed_events(structure.events[: self._position], [pending.number])
        if is_abandoned:
            pass
        elif not recordings and all(self._values.is_quick(event) for event in events):
            for event in events:  # these operators are cheap, so later calls run them immediately
                event.is_immediate = True
        elif self._is_recording():
            structure.requests[pending.number] = segment + 1
        elif structure.program is None:
            structure.cuts.setdefault(self._position, set()).add(pending.number)
        values: dict[int, Tensor] = {}
        Replay().run(events, leaves, values, recordings, lines=self._lines)
        pending.value = values[pending.number]._array
        return pending.value

    def _is_recording(self) -> bool:
        return any(scope is not None and scope.level for scope in self._scopes)

    # -- while the call follows the prediction -------------------------------------------------------

    def _is_leaf(self, tensor: Tensor, array: Any, index: int) -> bool:
        """Return whether a tensor from outside the call matches predicted input ``index``.

        If so, the tensor becomes this input of the call.
        """
        if type(array) is not np.ndarray:
            array = settled(array)
        type_ = tensor._type or tensor.type
        known = self._values.leaf_numbers.get((id(array), type_))
        if known is not None:
            return known == index
        structure = self.structure
        if index != len(self._values.leaves) or structure is None:
            return False
        leaf = structure.leaves[index]
        if leaf.type is not type_:
            return False
        # skip the comparison of values if the input is the same array as in the recorded call, and no code
        # can write to this array
        is_known = leaf.array is array is not None and not (array.flags.writeable or tensor.is_parameter)
        if leaf.constant is not None and not is_known:
            is_on_host = isinstance(array, (np.ndarray, np.generic))
            value = None if tensor.is_parameter else bytes_of(array if is_on_host else np.asarray(array))
            if value != leaf.constant:
                if value is None:
                    return False
                structure.vary(index)
        elif leaf.constant is None and not leaf.is_differentiated and leaf.is_unlike(array):
            return False
        self._values.add_leaf(array, type_, tensor)
        return True

    def _results(self, event: Event) -> list[Tensor]:
        results = []
        for number, type_, scope in zip(event.results, event.types, event.scopes, strict=True):
            array = PendingArray(self, number, type_)
            self._pendings.append(array)
            owner = self._scopes[scope]
            results.append(make_tensor(array, type_, owner, None if owner is None else number))
        return results

    def _step(self, kind: str, tensors: Sequence[Tensor], parameters: Any) -> list[Tensor]:
        """Defer or execute an event that is not an operator, and return its results.

        Args:
            kind: ``OPEN``, ``CLOSE``, ``FINISH``, ``DETACH``, or ``LIFT`` (``eager.replay``).
            tensors: the operands.
            parameters: the parameters of the event (:class:`Event`).
        """
        expected = self._expected
        if expected is not None:
            event = expected[self._position]
            if (
                event.primitive is kind
                and len(event.operands) == len(tensors)
                and event.parameters == parameters
                and all(map(self._is_operand, tensors, event.operands))
            ):
                self._position += 1
                return self._results(event)
            if self._switched():
                return self._step(kind, tensors, parameters)
        return self._run_now(kind, tensors, parameters)

    def _is_operand(self, tensor: Tensor, number: int) -> bool:
        array = tensor._array
        if type(array) is PendingArray and array.deferral is self:
            return array.number == number
        return number < 0 and self._is_leaf(tensor, array, ~number)

    # -- after the call has diverged from the prediction ---------------------------------------------

    def _switched(self) -> bool:
        """Replace the prediction by another recorded structure that begins like this call.

        If there is no such structure, the rest of the call runs operator by operator.

        Returns:
            Whether the prediction was replaced.
        """
        before, position = self.structure, self._position
        assert before is not None
        candidates = list(self._candidates)
        following = candidates[candidates.index(before) + 1 :] if before in candidates else []
        for other in following:
            if other.begins_like(before, position) and other.has_leaves_of(before, len(self._values.leaves)):
                self.structure, self._expected = other, other.events
                self._values.change_program()
                return True
        self.run_one_by_one()
        return False

    def run_one_by_one(self) -> None:
        """End the deferral: run the deferred events now, and later operators one by one."""
        structure = self.structure
        assert structure is not None
        self.diverged_at = user_location()
        position = self._position
        self._replay = replay = self._values.replayed(structure.events[:position])
        self._by_scope = {id(scope): index for index, (scope, _) in replay.recordings.items()}
        self._events = structure.events[:position]
        self._specifications = structure.leaves[: len(self._values.leaves)]
        self._count = sum(len(event.types) for event in self._events)
        self.structure = self._expected = None

    def _run_now(self, kind: Any, tensors: Sequence[Tensor], parameters: Any) -> list[Tensor]:
        """Execute an event now, and record it for the structure of this call.

        The results have pending arrays with *shadows*, the tensors that the replay has computed.

        Args:
            kind: an operator, or the kind of an event.
            tensors: the operands.
            parameters: the parameters of the operator or event.
        """
        replay = self._replay
        assert replay is not None
        # an input of a recording is differentiated, so it must not become a constant
        numbers = tuple([self._number(t, kind is OPEN) for t in tensors])
        operands = [executed(t) for t in tensors]
        if type(kind) is not str and not self._obstacle:
            self._obstacle = obstacle(kind, parameters)
        scopes = replay.scopes
        event = Event(kind, numbers, parameters, self._count, (), (), user_location())
        with executing(scopes):
            shadows = replay.execute(event, operands)
        if kind is OPEN:
            self._release(replay)
            self._by_scope[id(replay.recordings[parameters][0])] = parameters
        by_scope = self._by_scope
        event.types = tuple([s.type for s in shadows])
        event.scopes = tuple([by_scope.get(id(s._scope), 0) for s in shadows])
        self._events.append(event)
        results = []
        for number, shadow, scope in zip(event.results, shadows, event.scopes, strict=True):
            array = PendingArray(self, number, shadow.type)
            array.shadow = shadow
            owner = self._scopes[scope]
            results.append(make_tensor(array, shadow.type, owner, None if owner is None else number))
        self._count += len(shadows)
        return results

    def _release(self, replay: Replay) -> None:
        """Delete the recordings to which no object refers any more, to free their values."""
        for scope, recorded in self._recordings:
            if recorded() is None and scope.index in replay.recordings:
                self._by_scope.pop(id(replay.recordings.pop(scope.index)[0]), None)

    def _number(self, tensor: Tensor, is_variable: bool) -> int:
        array = tensor._array
        if type(array) is PendingArray and array.deferral is self:
            return array.number
        array = settled(array)
        type_ = tensor.type
        number = self._values.leaf_numbers.get((id(array), type_))
        if number is None:
            number = self._values.add_leaf(array, type_, tensor)
            is_variable = is_variable or tensor.is_parameter or id(array) in self._values.arguments
            self._specifications.append(Leaf(type_, array, is_variable))
        return ~number

    # -- the end of the call -------------------------------------------------------------------------

    def ends(self, results: Sequence[Tensor]) -> Structure:
        """End the call, and compute all values that outlive it.

        Args:
            results: the tensors among the results of the call.

        Returns:
            The structure of the call. If the call followed the prediction, it is the prediction itself.
        """
        structure = self.structure
        if structure is not None and self._position != len(structure):
            self.run_one_by_one()
            structure = None
        if structure is None:
            structure = self._structure_of_run()
        else:
            try:
                self._values.compute(structure, self._surviving())
            except FloatingPointError as error:
                self.abandon(error)
                raise
        for tensor in results:
            if type(tensor._array) is PendingArray:
                tensor._array = tensor._array.get()
        self._settle_stored()
        self._forget()
        return structure

    def abandon(self, error: BaseException) -> None:
        """End a call that raised ``error``.

        Values assigned to Parameters are computed now, and other values are computed when they are read. If
        ``debug_nans`` raised the error, the previous values of the Parameters are restored.
        """
        if self._lines is not None and isinstance(error, FloatingPointError):
            self._values.restore()
        self._settle_stored()
        self._values.stored = {}
        self._pendings.clear()
        if self._replay is not None:
            self._forget()

    def _settle_stored(self) -> None:
        """Replace pending arrays of assigned Parameters by their values.

        A Parameter that another thread has assigned meanwhile is not changed.
        """
        for parameter, _ in self._values.stored.values():
            pending = parameter._array
            array = settled(pending)
            # hold the lock `window`, because another thread may assign the same Parameter, for example the
            # state of a random generator
            with window:
                if parameter._array is pending:
                    parameter._array = array

    def _forget(self) -> None:
        for scope in self._scopes:
            if scope is not None:
                scope.deferral = None
        self._values = CallValues()
        self._pendings = self._values.pendings
        self._events, self._specifications, self._recordings, self._scopes = [], [], [], [None]
        self._by_scope = {}
        self._replay, self._candidates, self._expected = None, (), None

    def _structure_of_run(self) -> Structure:
        replay = self._replay
        assert replay is not None
        reason = self._obstacle
        for scope in self._surviving():
            scope.shadow = replay.recordings[scope.index]
            reason = reason or GIVES_BACK
        return Structure(self._events, self._specifications, reason)

    def _surviving(self) -> list[DeferredScope]:
        """Return the scopes of the recordings to which an object outside the call refers."""
        return [scope for scope, recorded in self._recordings if recorded() is not None]
