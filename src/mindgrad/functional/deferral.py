"""Deferred execution: one call of eager mode, whose operators are recorded and run as one program at its end.

    deferred(f)(x) = f(x), bit for bit where operators run one by one, to rounding where a program ran

Operators of a call whose structure is known do not run: each is compared with what the last calls did at this
place, and its result is a tensor whose array is pending. When the call ends as predicted, one program makes all
values that outlive it. Until there is a program, the same events are replayed operator by operator; and where a
call goes another way than predicted, what was recorded is replayed at once and the rest runs as in eager mode,
recorded for the next time. A value that somebody asks for in between is computed from what it depends on.

Cost: a comparison and two small objects for each operator. Limits: operators with side effects on Python (hooks)
are not deferred, nor are calls that give back a recording (``vjp``).
"""

from __future__ import annotations

import sys
import weakref
from collections.abc import Sequence
from typing import Any

import numpy as np

from mindgrad._base.location import user_location
from mindgrad._base.signals import Deferred as SignalsDeferred
from mindgrad.backend.executable import Executable, array_type, copy_on_device
from mindgrad.backend.xla import compile_ahead, to_device
from mindgrad.core.build import building
from mindgrad.core.graph import Graph, Variable, is_finite
from mindgrad.core.pending import PendingArray
from mindgrad.core.primitive import Primitive
from mindgrad.core.rewriting import without_rewrites
from mindgrad.core.scope import DeferredScope, GraphScope, apply, executing, opened
from mindgrad.core.tensor import Tensor, make_tensor
from mindgrad.core.types import TensorType
from mindgrad.functional.donation import donatable, settled, window
from mindgrad.functional.replay import CLOSE, DETACH, FINISH, LIFT, OPEN, Event, Replay, needed_events
from mindgrad.rewrites.order import before_compilation

__all__ = ["Deferral", "Leaf", "Segment", "Structure", "compile_structure"]

#: arrays of at most so many elements are compared by value, and constants of the program where they are equal
_FEW = 16
#: arrays of at most so many elements are handed to a program as they are
_SMALL = 16384

_GIVEN_BACK = "it gives back a recording, to be differentiated later"

#: the end of every structure, which no operator is
_END = Event(None, (), None, 0, (), (), ("", 0))


class Leaf:
    """A tensor from outside of a deferred call.

    Attributes:
        type: its type.
        constant: its bytes, if it is a constant of the program.
        array: its array then.
        is_infinite: whether an element is infinite or NaN, so that it absorbs in derivatives.
    """

    __slots__ = ("array", "constant", "is_infinite", "type")

    def __init__(self, type: TensorType, array: Any, is_variable: bool) -> None:
        self.type = type
        self.constant = None if is_variable else _bytes_of(array)
        self.array = array if self.constant is not None else None
        self.is_infinite = self.constant is None and _is_infinite(array)

    def is_same(self, other: Leaf) -> bool:
        """Whether one can stand for the other."""
        return (
            self.type is other.type
            and self.constant == other.constant
            and self.is_infinite == other.is_infinite
        )


def _bytes_of(array: Any) -> bytes | None:
    """The elements of a small array of the host; of an array that repeats one element only that."""
    if isinstance(array, np.generic):
        return array.tobytes()
    if type(array) is not np.ndarray:
        return None
    if array.size > 1 and not any(array.strides):
        return array.flat[0].tobytes() + b"*"
    return array.tobytes() if array.size <= _FEW else None


def _is_infinite(array: Any) -> bool:
    return isinstance(array, (np.ndarray, np.generic)) and not is_finite(array)


class Segment:
    """The program of a part of a call: from one value that is asked for at level zero to the next, or the end.

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
    """

    __slots__ = (
        "_last_uses", "confirmed", "cuts", "events", "is_queued", "leaves", "obstacle", "outputs", "program",
        "replaced", "requests", "version",
    )  # fmt: skip

    def __init__(self, events: Sequence[Event], leaves: Sequence[Leaf], obstacle: str = "") -> None:
        self.events = [*events, _END]
        self.leaves = list(leaves)
        self.outputs: set[int] = set()
        self.replaced: set[tuple[int, int]] = set()
        self.program: list[Segment] | None = None
        self.requests: dict[int, int | Segment] = {}
        self.cuts: dict[int, set[int]] = {}
        self.version = 0
        self.confirmed = 0
        self.is_queued = False
        self.obstacle = obstacle
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
        """The values that are not used after an event, by its position, those that outlive the call left out."""
        if self._last_uses is None:
            last: dict[int, int] = {}
            for position, event in enumerate(self.events):
                last.update((n, position) for n in (*event.operands, *event.results) if n >= 0)
            uses: dict[int, list[int]] = {}
            for number, position in last.items():
                uses.setdefault(position, []).append(number)
            self._last_uses = uses
        return self._last_uses


class Deferral:
    """One call that is deferred, or recorded while it runs operator by operator.

    Args:
        structures: what calls of this kind have done so far, the likeliest first; none: this one is recorded.
        arguments: the arguments of the call, whose tensors are no constants.

    Attributes:
        structure: the prediction, ``None`` while operators run one by one.
        diverged_at: file and line where the call went another way than predicted.
    """

    __slots__ = (
        "_by_scope", "_candidates", "_count", "_events", "_expected", "_leaf_numbers", "_leaves", "_numbered",
        "_obstacle", "_pendings", "_position", "_recordings", "_replay", "_scopes", "_segment", "_specifications",
        "_stored", "_types", "_variables", "diverged_at", "structure",
    )  # fmt: skip

    def __init__(self, structures: Sequence[Structure] = (), arguments: Sequence[Any] = ()) -> None:
        self._candidates = structures
        self._variables = {id(x._array) for x in arguments if isinstance(x, Tensor)}
        self.structure = structures[0] if structures else None
        self._expected: list[Event] | None = structures[0].events if structures else None
        self._position = 0
        self._pendings: list[PendingArray] = []
        self._numbered: dict[int, PendingArray] = {}
        self._segment = 0
        self._leaves: list[Any] = []
        self._types: list[TensorType] = []
        self._leaf_numbers: dict[tuple[int, TensorType], int] = {}
        self._scopes: list[DeferredScope | None] = [None]
        self._recordings: list[tuple[DeferredScope, weakref.ref[Any]]] = []
        self._stored: dict[int, tuple[Any, Any]] = {}
        self.diverged_at: tuple[str, int] | None = None
        # while operators run one by one
        self._replay = None if structures else Replay()
        self._events: list[Event] = []
        self._specifications: list[Leaf] = []
        self._by_scope: dict[int, int] = {}
        self._count = 0
        self._obstacle = ""

    # -- what operators and recordings call ----------------------------------------------------------

    def record(self, primitive: Primitive, tensors: Sequence[Tensor], parameters: dict[str, Any]) -> Any:
        """Apply ``primitive``: as predicted, or now."""
        expected = self._expected
        if expected is not None:
            event = expected[self._position]
            numbers = event.operands
            if (
                event.primitive is primitive
                and len(numbers) == len(tensors)
                and event.parameters == parameters
            ):
                for tensor, number in zip(tensors, numbers):  # noqa: B905  (this is the innermost loop)
                    array = tensor._array
                    if type(array) is PendingArray and array.deferral is self:
                        if array.number != number:
                            break
                    elif number >= 0 or not self._is_leaf(tensor, array, ~number):
                        break
                else:
                    self._position += 1
                    if event.is_immediate:
                        results = self._results(event)
                        self._executed_now(event, tensors, results)
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
        """A scope for a recording of this call."""
        scope = DeferredScope(self, len(self._scopes))
        self._scopes.append(scope)
        return scope

    def opens(self, scope: DeferredScope, tensors: Sequence[Tensor]) -> list[Tensor]:
        """The tensors of the recording ``scope``, now open, that stand for ``tensors``."""
        return self._step(OPEN, tensors, scope.index)

    def closes(self, scope: DeferredScope) -> None:
        """Close the recording ``scope``."""
        self._step(CLOSE, (), scope.index)

    def returns(self, scope: DeferredScope, recorded: Any) -> None:
        """Note the object that stands for the recording ``scope``, which may outlive the call."""
        self._recordings.append((scope, weakref.ref(recorded)))

    def finishes(
        self,
        scope: DeferredScope,
        _: Sequence[Tensor],
        transform: Any,
        extras: Sequence[Tensor | None],
        chosen: Sequence[Tensor],
        kept: Sequence[Tensor],
        shortcut: Any = None,
        applied: Any = None,
    ) -> tuple[list[Tensor], list[Tensor]]:
        """What ``functional.record.finish`` gives for a recording of this call."""
        parameters = (
            scope.index, transform, shortcut, applied, len(chosen), tuple([x is not None for x in extras])
        )  # fmt: skip
        operands = [*chosen, *[x for x in extras if x is not None], *kept]
        results = self._step(FINISH, operands, parameters)
        return results[: len(kept)], results[len(kept) :]

    def detached(self, tensor: Tensor) -> Tensor:
        """The value of ``tensor``, which nothing differentiates."""
        array = tensor._array
        if tensor._scope is None or type(array) is not PendingArray or array.deferral is not self:
            return make_tensor(array, tensor.type)
        return self._step(DETACH, (tensor,), None)[0]

    def lifted(self, tensor: Tensor) -> Tensor:
        """A value of a recording that has ended, as the recordings that are open still see it."""
        array = tensor._array
        if type(array) is not PendingArray or array.deferral is not self:
            return tensor
        return self._step(LIFT, (tensor,), None)[0]

    def stores(self, parameter: Any) -> None:
        """Note that the stored value of ``parameter`` is about to be replaced by a value of this call."""
        if id(parameter) not in self._stored:
            self._stored[id(parameter)] = (parameter, parameter._array)

    def requested(self, pending: PendingArray) -> Any:
        """The array of a value that somebody asks for."""
        if pending.shadow is not None:
            pending.value = pending.shadow._array
            return pending.value
        structure = self.structure
        assert structure is not None, "a value that ran has a shadow"
        with window:  # in which another thread may be computing it
            program = structure.current()
            is_abandoned = not self._pendings  # then its segments have nowhere to put their values
            if pending.value is None and program is not None and not is_abandoned:
                self._run_segments(program[:-1], self._position)
            if pending.value is not None:
                return pending.value
            leaves = [settled(array) for array in self._leaves]
        segment = structure.requests.get(pending.number, 0)
        if isinstance(segment, Segment):
            operands = [_operand(leaves[~k], self._types[~k]) for k in segment.inputs]
            pending.value = segment.executable.run(operands, [], segment.executable.extra)[0]
            return pending.value
        events, recordings = needed_events(structure.events[: self._position], [pending.number])
        if is_abandoned:
            pass
        elif not recordings and all(self._is_quick(event) for event in events):
            for event in events:  # from the next call on it is known where it arises
                event.is_immediate = True
        elif self._is_recording():
            structure.requests[pending.number] = segment + 1
        elif structure.program is None:
            structure.cuts.setdefault(self._position, set()).add(pending.number)
        values: dict[int, Tensor] = {}
        tensors = [make_tensor(*pair) for pair in zip(leaves, self._types, strict=False)]
        Replay().run(events, tensors, values, recordings)
        pending.value = values[pending.number]._array
        return pending.value

    def _is_recording(self) -> bool:
        """Whether a recording is open."""
        return any(scope is not None and scope.level for scope in self._scopes)

    def _is_quick(self, event: Event) -> bool:
        """Whether an event takes NumPy no time: integers and truth values from outside of recordings."""
        return (
            isinstance(event.primitive, Primitive)
            and not any(event.scopes)
            and all(t.size <= _SMALL and t.dtype.kind in ("int", "uint", "bool") for t in event.types)
            and all(
                self._types[~n].size <= _SMALL and isinstance(self._leaves[~n], (np.ndarray, np.generic))
                for n in event.operands
                if n < 0
            )
        )

    def _executed_now(self, event: Event, tensors: Sequence[Tensor], results: Sequence[Tensor]) -> None:
        """Compute the results of an event whose values are asked for in each call."""
        with executing([]):
            found = apply(event.primitive, *[_executed(t) for t in tensors], **event.parameters)  # type: ignore[arg-type]
        values = found if type(found) is tuple else (found,)
        for result, value in zip(results, values, strict=True):
            result._array.value = value._array

    # -- as predicted --------------------------------------------------------------------------------

    def _is_leaf(self, tensor: Tensor, array: Any, index: int) -> bool:
        """Whether a tensor from outside is the leaf ``index``, an earlier one or the next."""
        if type(array) is PendingArray or array is None or type(array).__name__ == "Taken":
            array = settled(array)
        type_ = tensor.type
        known = self._leaf_numbers.get((id(array), type_))
        if known is not None:
            return known == index
        structure = self.structure
        if index != len(self._leaves) or structure is None:
            return False
        leaf = structure.leaves[index]
        if leaf.type is not type_:
            return False
        if leaf.constant is not None:
            is_on_host = isinstance(array, (np.ndarray, np.generic))
            value = None if tensor.is_parameter else _bytes_of(array if is_on_host else np.asarray(array))
            if value != leaf.constant:
                if value is None:
                    return False
                structure.vary(index)
        elif isinstance(array, (np.ndarray, np.generic)):
            if _is_infinite(array) is not leaf.is_infinite:
                return False
        self._leaf_numbers[id(array), type_] = index
        self._leaves.append(array)
        self._types.append(type_)
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
        """An event that is no operator."""
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

    # -- otherwise -----------------------------------------------------------------------------------

    def _switched(self) -> bool:
        """Whether another known structure begins as this call did: then it is the prediction.

        If there is none, the call goes on operator by operator.
        """
        before, position = self.structure, self._position
        assert before is not None
        candidates = list(self._candidates)
        following = candidates[candidates.index(before) + 1 :] if before in candidates else []
        for other in following:
            if other.begins_like(before, position) and other.has_leaves_of(before, len(self._leaves)):
                self.structure, self._expected = other, other.events
                return True
        self.run_one_by_one()
        return False

    def run_one_by_one(self) -> None:
        """Execute what was deferred now, and the rest of the call operator by operator."""
        structure = self.structure
        assert structure is not None
        self.diverged_at = user_location()
        position = self._position
        values: dict[int, Tensor] = {}
        replay = Replay()
        replay.run(structure.events[:position], self._leaf_tensors(), values)
        for pending in self._pendings:
            pending.shadow = values.get(pending.number)
        self._pendings = []
        self._replay = replay
        self._by_scope = {id(scope): index for index, (scope, _) in replay.recordings.items()}
        self._events = structure.events[:position]
        self._specifications = structure.leaves[: len(self._leaves)]
        self._count = sum(len(event.types) for event in self._events)
        self.structure = self._expected = None

    def _leaf_tensors(self) -> list[Tensor]:
        return [make_tensor(settled(a), t) for a, t in zip(self._leaves, self._types, strict=True)]

    def _run_now(self, kind: Any, tensors: Sequence[Tensor], parameters: Any) -> list[Tensor]:
        """Execute an event now, and record it."""
        replay = self._replay
        assert replay is not None
        # what is differentiated is no constant
        numbers = tuple([self._number(t, kind is OPEN) for t in tensors])
        operands = [_executed(t) for t in tensors]
        if type(kind) is not str and not self._obstacle and _has_effect(kind, parameters):
            self._obstacle = f"'{kind.name}' calls back into Python"
        scopes = replay.scopes
        event = Event(kind, numbers, parameters, self._count, (), (), user_location())
        with executing(scopes):
            shadows = replay.execute(event, operands)
        if kind is OPEN:
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

    def _number(self, tensor: Tensor, is_variable: bool) -> int:
        array = tensor._array
        if type(array) is PendingArray and array.deferral is self:
            return array.number
        array = settled(array)
        type_ = tensor.type
        known = self._leaf_numbers.get((id(array), type_))
        if known is None:
            known = self._leaf_numbers[id(array), type_] = len(self._leaves)
            self._leaves.append(array)
            self._types.append(type_)
            is_variable = is_variable or tensor.is_parameter or id(array) in self._variables
            self._specifications.append(Leaf(type_, array, is_variable))
        return ~known

    # -- its end -------------------------------------------------------------------------------------

    def ends(self, results: Sequence[Tensor]) -> Structure:
        """End the call: all values that outlive it are computed now.

        Args:
            results: the tensors among the results of the call.

        Returns:
            What the call did; the prediction itself if it was right.
        """
        structure = self.structure
        if structure is not None and self._position != len(structure):
            self.run_one_by_one()
            structure = None
        if structure is None:
            structure = self._structure_of_run()
        else:
            self._compute(structure)
        for tensor in results:
            if type(tensor._array) is PendingArray:
                tensor._array = tensor._array.get()
        for parameter, _ in self._stored.values():
            parameter._array = settled(parameter._array)
        self._forget()
        return structure

    def abandon(self) -> None:
        """End a call that raised: what it stored in Parameters is computed, the rest when it is asked for."""
        for parameter, _ in self._stored.values():
            parameter._array = settled(parameter._array)
        self._stored = {}
        self._pendings = []
        if self._replay is not None:
            self._forget()

    def _forget(self) -> None:
        self._leaves, self._pendings, self._events, self._specifications = [], [], [], []
        for scope in self._scopes:
            if scope is not None:
                scope.deferral = None
        self._leaf_numbers, self._stored, self._scopes, self._by_scope = {}, {}, [None], {}
        self._recordings, self._numbered = [], {}
        self._replay, self._candidates, self._expected = None, (), None

    def _structure_of_run(self) -> Structure:
        replay = self._replay
        assert replay is not None
        obstacle = self._obstacle
        for scope in self._surviving():
            scope.shadow = replay.recordings[scope.index]
            obstacle = obstacle or _GIVEN_BACK
        return Structure(self._events, self._specifications, obstacle)

    def _surviving(self) -> list[DeferredScope]:
        """The recordings that outlive the call."""
        return [scope for scope, recorded in self._recordings if recorded() is not None]

    def _compute(self, structure: Structure) -> None:
        """Compute the values that outlive a call that was as predicted."""
        pendings = self._pendings
        self._numbered = {}
        alive = [p for p in pendings if sys.getrefcount(p) > 3]  # the list, the loop and the count hold it
        surviving = self._surviving()
        missing = [p for p in alive if p.value is None]
        numbers = {p.number for p in missing}
        pairs = self._replaced(structure)
        if surviving:
            structure.obstacle = _GIVEN_BACK
        program = structure.current()
        if program is not None and not surviving:
            # not the structure's outputs: another thread may have added some while this was compiled
            if numbers.issubset(program[-1].known):
                if self._run_program(structure, program, pendings):
                    return
            else:
                structure.outputs |= numbers
                structure.changed()
        structure.confirmed += 1
        structure.outputs |= numbers
        if structure.confirmed == 1:
            structure.replaced = pairs
        else:
            structure.replaced &= pairs
        values: dict[int, Tensor] = {}
        replay = Replay()
        if surviving:
            replay.run(structure.events[:-1], self._leaf_tensors(), values)
            for scope in surviving:
                scope.shadow = replay.recordings[scope.index]
        else:
            last_uses = {
                k: [n for n in uses if n not in numbers] for k, uses in structure.last_uses().items()
            }
            replay.run(structure.events[:-1], self._leaf_tensors(), values, None, last_uses)
        for pending in missing:
            shadow = values[pending.number]
            pending.value = shadow._array
            if surviving:
                pending.shadow = shadow

    def _replaced(self, structure: Structure) -> set[tuple[int, int]]:
        pairs = set()
        for parameter, before in self._stored.values():
            now = parameter._array
            number = self._leaf_numbers.get((id(before), parameter.type))
            if number is not None and type(now) is PendingArray and now.deferral is self:
                if structure.leaves[number].type is now.type:
                    pairs.add((number, now.number))
        return pairs

    def _run_program(
        self, structure: Structure, program: list[Segment], pendings: Sequence[PendingArray]
    ) -> bool:
        """Whether the program ran; if it failed, nothing has changed."""
        originals: list[Any] = []
        last = program[-1]
        try:
            self._run_segments(program[:-1], last.end)
            if not last.donated:
                self._fill(last, last.executable.run(self._operands(last), [], last.executable.extra))
                return True
            with window, SignalsDeferred():
                operands = self._operands(last)
                originals = self._donated(structure, last)
                donated = donatable(originals, [self._types[k] for k in last.donated])
                self._fill(last, last.executable.run(operands, donated, last.executable.extra))
            return True
        except Exception as error:
            if any(not isinstance(array, np.ndarray) and array.is_deleted() for array in originals):
                raise
            for k, array in zip(last.donated, originals, strict=False):
                self._leaves[k] = array
            structure.changed()
            structure.obstacle = f"its program failed: {type(error).__name__}: {error}"
            return False

    def _run_segments(self, program: list[Segment], position: int) -> None:
        """Run the segments that end at ``position`` or before, as far as they have not run."""
        while self._segment < len(program) and program[self._segment].end <= position:
            segment = program[self._segment]
            self._fill(segment, segment.executable.run(self._operands(segment), [], segment.executable.extra))
            self._segment += 1

    def _operands(self, segment: Segment) -> list[Any]:
        leaves, types = self._leaves, self._types
        return [_operand(leaves[~k], types[~k]) if k < 0 else self._value(k) for k in segment.inputs]

    def _value(self, number: int) -> Any:
        pending = self._by_number()[number]
        return _operand(pending.get(), pending.type)

    def _by_number(self) -> dict[int, PendingArray]:
        if len(self._numbered) != len(self._pendings):
            self._numbered = {p.number: p for p in self._pendings}
        return self._numbered

    def _fill(self, segment: Segment, results: Sequence[Any]) -> None:
        by_number = self._by_number()
        for number, array in zip(segment.outputs, results, strict=True):
            pending = by_number[number]
            if pending.value is None:
                pending.value = array

    def _donated(self, structure: Structure, segment: Segment) -> list[Any]:
        """The arrays that the program takes over, with nothing of this call holding on to them any more."""
        pairs = dict(self._replaced(structure))
        originals = []
        for k in segment.donated:
            array = self._leaves[k]
            if k in pairs:
                self._leaves[k] = None
            else:  # the Parameter is not written this time
                array = copy_on_device(_on_device(array, self._types[k]))
            originals.append(array)
            del array
        self._stored = {key: (parameter, None) for key, (parameter, _) in self._stored.items()}
        return originals


#: arrays of the host that are on the device too, by their identity
_copies: dict[int, tuple[weakref.ref[Any], Any]] = {}


def _on_device(array: Any, type_: TensorType) -> Any:
    """``array`` on the device; one of the host is moved once, as long as it lives: nobody writes into it."""
    if type(array) is array_type() and array.shape == type_.shape:
        return array
    key = id(array)
    known = _copies.get(key)
    if known is not None and known[0]() is array:
        return known[1]
    whole = np.asarray(array)
    if whole.shape != type_.shape or not whole.size:
        return to_device(np.broadcast_to(whole, type_.shape))
    moved = to_device(whole)
    if type(array) is np.ndarray and array.size > _FEW:
        _copies[key] = (weakref.ref(array, lambda _: _copies.pop(key, None)), moved)
    return moved


def _operand(array: Any, type_: TensorType) -> Any:
    """``array`` as a program takes it: what is small goes there with the call, which is quicker than alone."""
    if (
        isinstance(array, (np.ndarray, np.generic))
        and array.size <= _SMALL
        and array.shape == type_.shape
        and array.itemsize <= 4
    ):
        return array
    return _on_device(array, type_)


def _executed(tensor: Tensor) -> Tensor:
    """The tensor of operator-by-operator execution that ``tensor`` stands for."""
    array = tensor._array
    if type(array) is not PendingArray:
        return tensor if not tensor.is_parameter else make_tensor(settled(array), tensor.type)
    if array.shadow is not None:
        return array.shadow
    return make_tensor(array.get(), tensor.type)


def _has_effect(primitive: Primitive, parameters: dict[str, Any]) -> bool:
    return primitive.effect or any(isinstance(x, Graph) and x.has_effect for x in parameters.values())


# -- compiling ---------------------------------------------------------------------------------------


def compile_structure(structure: Structure) -> list[Segment]:
    """Compile what gives the values of ``structure`` that outlive a call, and those that are asked for before.

    Raises:
        NotImplementedError: it has side effects.
    """
    version = structure.version
    count = len(structure)
    segments: list[Segment] = []
    known: set[int] = set()
    for cut in sorted(structure.cuts):  # a copy: calls go on meanwhile
        outputs = _outputs(structure, cut) - known
        segments.append(_compiled(structure, structure.events[:cut], outputs, known))
        known |= outputs
    last = _compiled(structure, structure.events[:count], structure.outputs - known, known, is_last=True)
    last.version, last.known = version, last.known | known
    return [*segments, last]


def compile_request(structure: Structure, number: int) -> Segment:
    """Compile what gives one value that is asked for inside of a recording."""
    last = next(k for k, event in enumerate(structure.events) if number in event.results)
    events, recordings = needed_events(structure.events[: last + 1], [number])
    return _compiled(structure, events, {number}, set(), recordings=recordings)


def _outputs(structure: Structure, end: int) -> set[int]:
    """The values of no recording that are used behind the event number ``end``."""
    own = {
        n for event in structure.events[:end] for n, scope in zip(event.results, event.scopes) if not scope
    }  # noqa: B905
    used = {n for event in structure.events[end:] for n in event.operands}
    return own & (used | structure.outputs | structure.cuts[end])


def _compiled(
    structure: Structure,
    events: Sequence[Event],
    outputs: set[int],
    known: set[int],
    recordings: set[int] | None = None,
    is_last: bool = False,
) -> Segment:
    """Compile ``outputs`` of ``events``, of which the values ``known`` are inputs.

    Where numbers of half precision are computed with, the program rounds and overflows where the operators do:
    loss scales depend on it.
    """
    if any(t.dtype.is_float and t.dtype.itemsize == 2 for event in events for t in event.types):
        with without_rewrites():
            return _compiled_as_it_is(structure, events, outputs, known, recordings, is_last)
    return _compiled_as_it_is(structure, events, outputs, known, recordings, is_last)


def _compiled_as_it_is(
    structure: Structure,
    events: Sequence[Event],
    outputs: set[int],
    known: set[int],
    recordings: set[int] | None,
    is_last: bool,
) -> Segment:
    scope = GraphScope()
    replaced = {value: leaf for leaf, value in structure.replaced if value in outputs} if is_last else {}
    # those that are replaced come first: jax puts the first result of a type into the first donated memory
    numbers = sorted(outputs, key=lambda n: (n not in replaced, n))
    inside = {n for event in events if event.primitive is OPEN for n in event.operands}
    types = {n: t for event in events for n, t in zip(event.results, event.types, strict=True)}
    with opened(scope):
        symbols: dict[int, Variable] = {}
        leaves: list[Tensor] = []
        for k, leaf in enumerate(structure.leaves):
            if leaf.constant is not None:
                leaves.append(make_tensor(leaf.array, leaf.type))
                continue
            tainted = leaf.is_infinite and ~k not in inside
            symbols[~k] = scope.builder.input(leaf.type, tainted=tainted)
            leaves.append(scope.tensor(symbols[~k]))
        for n in sorted(known):
            symbols[n] = scope.builder.input(types[n])
        given = {n: scope.tensor(symbols[n]) for n in known}
        values: dict[int, Tensor] = {}
        Replay([scope]).run(events, leaves, values, recordings, None, given)
        with building(scope.builder):
            atoms = [scope.atom(values[n]) for n in numbers]
            graph = scope.builder.close(atoms)
    if graph.has_effect:
        raise NotImplementedError("an operator of it calls back into Python")
    used = {x for equation in graph.equations for x in equation.inputs} | set(graph.outputs)
    inputs = [k for k, symbol in symbols.items() if symbol in used]
    graph = Graph([symbols[k] for k in inputs], graph.equations, graph.outputs)
    graph = before_compilation(graph)
    pairs = [leaf for value in numbers if (leaf := replaced.get(value)) is not None]
    donated = [k for k in dict.fromkeys(pairs) if ~k in inputs]
    plain = [k for k in inputs if ~k not in donated]
    executable = compile_ahead(graph, [inputs.index(~k) for k in donated], is_exact=True)
    return Segment(len(events), executable, plain, donated, numbers)
