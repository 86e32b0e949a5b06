"""Values of one deferred call: inputs, pending results, and their computation.

``eager.deferral`` compares the operators of a call with a predicted structure (``eager.structure``). This
module computes their results: with the compiled segments of the structure, or by a replay, which runs the
operators one by one. Until then, a result is a *pending* array, which has no value.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from mindgrad.core.backend.executable import copy_on_device
from mindgrad.core.backend.finite_results import are_finite, locate_fault
from mindgrad.core.backend.host_arrays import SMALL, on_device, program_operand
from mindgrad.core.base._cpython import unshared
from mindgrad.core.base.signals import Deferred as SignalsDeferred
from mindgrad.core.ir.pending import PendingArray
from mindgrad.core.ir.primitive import Primitive
from mindgrad.core.ir.rewriting import without_rewrites
from mindgrad.core.ir.scope import DeferredScope, apply, executing
from mindgrad.core.ir.tensor import Tensor, make_tensor
from mindgrad.core.ir.types import TensorType
from mindgrad.eager.replay import Event, Replay, needed_events
from mindgrad.eager.segments import traced_events
from mindgrad.eager.structure import Segment, Structure
from mindgrad.frontend.programs.donation import donatable, settled, window

__all__ = ["GIVES_BACK", "CallValues", "execute_now", "executed"]

#: reason, for messages, why a call that returns a recording, such as ``vjp``, is not deferred
GIVES_BACK = "it returns a recording that is differentiated later"


class CallValues:
    """The values of a deferred call.

    Inputs and results are numbered separately, each from 0. In segments and events, input k has the number
    ``~k``.

    Attributes:
        arguments: maps the ``id`` of each argument array to the position of the argument.
        leaves, types: the arrays and the tensor types of the inputs.
        leaf_numbers: maps (``id``, type) of each input array to the number of the input.
        pendings: the pending arrays of the results, while the call follows the prediction.
        stored: maps the ``id`` of each Parameter that the call has assigned to the pair (Parameter, its
            previous array).
        lines: maps each event to its source line if ``debug_nans`` is set; otherwise ``None``.
    """

    __slots__ = (
        "_program", "_segment", "arguments", "leaf_numbers", "leaves", "lines", "pendings", "stored", "types",
    )  # fmt: skip

    def __init__(self, arguments: Sequence[Any] = (), is_checked: bool = False) -> None:
        self.arguments = {id(x._array): k for k, x in enumerate(arguments) if isinstance(x, Tensor)}
        self.leaves: list[Any] = []
        self.types: list[TensorType] = []
        self.leaf_numbers: dict[tuple[int, TensorType], int] = {}
        self.pendings: list[PendingArray] = []
        self.stored: dict[int, tuple[Any, Any]] = {}
        self._program: Sequence[Segment] | None = None
        self._segment = 0
        self.lines: dict[Event, tuple[str, int]] | None = {} if is_checked else None

    def add_leaf(self, array: Any, type: TensorType, tensor: Tensor) -> int:
        """Add an input, and return its number.

        The list ``leaves`` keeps the array alive, so that no other array gets the same ``id``.
        """
        number = self.leaf_numbers[id(array), type] = len(self.leaves)
        self.leaves.append(array)
        self.types.append(type)
        return number

    def leaf_tensors(self) -> list[Tensor]:
        """Return the inputs as tensors."""
        pairs = list(zip(self.leaves, self.types, strict=False))  # another thread may append an input
        return [make_tensor(settled(array), type_) for array, type_ in pairs]

    def replaced(self, structure: Structure) -> set[tuple[int, int]]:
        """Return pairs (input number, result number) of the assigned Parameters.

        The input is the old array of the Parameter, and the result is its new array. A pair is returned only
        if both arrays have the same type, because the memory of the old array is reused for the new array.
        """
        pairs = set()
        for parameter, before in self.stored.values():
            now = parameter._array
            number = self.leaf_numbers.get((id(before), parameter.type))
            if number is not None and self._is_own(now) and structure.leaves[number].type is now.type:
                pairs.add((number, now.number))
        return pairs

    def _is_own(self, array: Any) -> bool:
        """Return whether ``array`` is pending and this call must compute it."""
        pendings = self.pendings
        return (
            type(array) is PendingArray and array.number < len(pendings) and pendings[array.number] is array
        )

    def is_quick(self, event: Event) -> bool:
        """Return whether NumPy computes the result of ``event`` in negligible time.

        The result is true for operators on small integer and Boolean arrays outside recordings.
        """
        return (
            isinstance(event.primitive, Primitive)
            and not any(event.scopes)
            and all(t.size <= SMALL and t.dtype.kind in ("int", "uint", "bool") for t in event.types)
            and all(
                self.types[~n].size <= SMALL and isinstance(self.leaves[~n], (np.ndarray, np.generic))
                for n in event.operands
                if n < 0
            )
        )

    def run_program(self, structure: Structure) -> bool:
        """Run the compiled segments of ``structure``, and return whether this succeeded.

        If it fails, Parameters keep their old values, and the caller must run the operators one by one.
        """
        originals: list[Any] = []
        program = self._begun(structure)
        if not program:  # the value of a constant has changed, so another thread has discarded the segments
            return False
        last = program[-1]
        try:
            self.run_segments(structure, last.end)
            if not last.donated:
                results = last.executable.run(self._operands(last), [], last.executable.extra)
                self._fill(structure, last, results)
                return True
            with window, SignalsDeferred():
                operands = self._operands(last)
                originals = self._donated(structure, last)
                donated = donatable(originals, [self.types[k] for k in last.donated])
                results = last.executable.run(operands, donated, last.executable.extra)
                self._fill(structure, last, results)
            return True
        except FloatingPointError:  # with ``debug_nans``, a check found NaN or infinity
            raise
        except Exception as error:
            if any(not isinstance(array, np.ndarray) and array.is_deleted() for array in originals):
                raise
            for k, array in zip(last.donated, originals, strict=False):
                self.leaves[k] = array
            structure.changed()
            structure.obstacle = f"its program failed: {type(error).__name__}: {error}"
            return False

    def _begun(self, structure: Structure) -> Sequence[Segment]:
        """Return the compiled segments that this call runs.

        After the first segment has run, the call continues with the same list of segments, even if the
        structure changes.
        """
        if self._program is None or not self._segment:
            self._program = structure.current() or ()
        return self._program

    def change_program(self) -> None:
        """Make the call read its segments again after its predicted structure changed."""
        self._program, self._segment = None, 0

    def given_by(self, structure: Structure) -> frozenset[int]:
        """Return the numbers of the values that the compiled segments compute."""
        program = self._begun(structure)
        return program[-1].known if program else frozenset()

    def run_segments(self, structure: Structure, position: int) -> None:
        """Run the segments that end at or before event ``position`` and have not run yet.

        The last segment is excluded, because it runs at the end of the call and may overwrite Parameters.
        """
        program = self._begun(structure)
        while self._segment < len(program) - 1 and program[self._segment].end <= position:
            segment = program[self._segment]
            results = segment.executable.run(self._operands(segment), [], segment.executable.extra)
            self._fill(structure, segment, results)
            self._segment += 1

    def run_request(self, structure: Structure, segment: Segment, events: Sequence[Event]) -> Any:
        """Run the compiled function of one value that Python reads, and return the value.

        Args:
            structure: the predicted structure.
            segment: the compiled function.
            events: the events before the read. If ``debug_nans`` is set and the value is not finite, they are
                searched for the cause.
        """
        leaves = self.leaf_tensors()
        operands = [program_operand(leaves[~k]._array, leaves[~k].type) for k in segment.inputs]
        results = segment.executable.run(operands, [], segment.executable.extra)
        if self.lines is not None:
            needed, recordings = needed_events(events, segment.outputs)
            self._check(structure, needed, segment.outputs, results, recordings)
        return results[0]

    def _operands(self, segment: Segment) -> list[Any]:
        leaves, types = self.leaves, self.types
        return [program_operand(leaves[~k], types[~k]) if k < 0 else self._value(k) for k in segment.inputs]

    def _value(self, number: int) -> Any:
        pending = self.pendings[number]
        return program_operand(pending.get(), pending.type)

    def _fill(self, structure: Structure, segment: Segment, results: Sequence[Any]) -> None:
        self._check(structure, structure.events[: segment.end], segment.outputs, results)
        for number, array in zip(segment.outputs, results, strict=True):
            pending = self.pendings[number]
            if pending.value is None:
                pending.value = array

    def _check(
        self,
        structure: Structure,
        events: Sequence[Event],
        numbers: Sequence[int],
        results: Sequence[Any],
        recordings: set[int] | None = None,
    ) -> None:
        """Raise an error if ``debug_nans`` is set and ``results`` are not finite.

        The error shows the line of the first event whose result is not finite.

        Args:
            structure: the predicted structure.
            events: the events that have computed ``results``.
            numbers: the numbers of ``results``.
            results: the arrays to check.
            recordings: the recordings of ``events`` that are differentiated. Default: all recordings.
        """
        if self.lines is None or are_finite(results):
            return
        with without_rewrites():
            graph, inputs = traced_events(structure, events, numbers, set(), recordings, self.lines)
        leaves = self.leaf_tensors()
        locate_fault(graph, [leaves[~k].host_array() for k in inputs])

    def restore(self) -> None:
        """Restore the arrays of Parameters that a failed call has replaced."""
        for parameter, array in self.stored.values():
            if array is not None:
                parameter._array = array
        self.stored = {}

    def _donated(self, structure: Structure, segment: Segment) -> list[Any]:
        """Return the arrays to donate to ``segment``; drop all other references to them.

        An array can be donated only if no other reference to it exists (``frontend.programs.donation``).
        """
        pairs = dict(self.replaced(structure))
        originals = []
        for k in segment.donated:
            array = self.leaves[k]
            if k in pairs:
                self.leaves[k] = None
            else:  # this call does not replace the Parameter, so donate a copy of its array
                array = copy_on_device(on_device(array, self.types[k]))
            originals.append(array)
            del array
        self.stored = {key: (parameter, None) for key, (parameter, _) in self.stored.items()}
        return originals

    def replayed(self, events: Sequence[Event]) -> Replay:
        """Run the first events of a call, which are ``events``, one by one.

        Each pending array receives its *shadow*, the tensor that the replay has computed. The rest of the
        call uses the shadows.
        """
        pendings = self.pendings
        values: dict[int, Tensor] = {}
        replay = Replay()
        scopes = [scope for event in events for scope in event.scopes]
        # reuse values that compiled segments have already computed, because Python may have used them in a
        # condition
        computed = {
            p.number: make_tensor(p.value, p.type)
            for p in pendings
            if p.value is not None and not scopes[p.number]
        }
        replay.run(events, self.leaf_tensors(), values, replaced=computed, lines=self.lines)
        for pending in pendings:
            pending.shadow = values.get(pending.number)
        pendings.clear()
        return replay

    def compute(self, structure: Structure, surviving: Sequence[DeferredScope]) -> None:
        """Compute the results that are still referenced at the end of a call.

        The call must have followed the prediction to its end.

        Args:
            structure: the predicted structure.
            surviving: scopes of the recordings to which an object outside the call refers, such as the
                function that ``vjp`` returns.
        """
        pendings = self.pendings
        # a pending result to which no other object refers cannot outlive the call
        alive = [p for p, is_unused in zip(pendings, unshared(pendings), strict=True) if not is_unused]
        missing = [p for p in alive if p.value is None]
        numbers = {p.number for p in missing}
        if surviving:
            structure.obstacle = GIVES_BACK
        program = structure.current()
        if program is not None and not surviving:
            # ``structure.outputs`` may differ from the outputs of the compiled program, because another
            # thread may have extended it. Therefore, compare with the program
            if numbers.issubset(self.given_by(structure)):
                if self.run_program(structure):
                    return
            else:
                structure.outputs |= numbers
                structure.changed()
        pairs = self.replaced(structure)
        structure.confirmed += 1
        structure.outputs |= numbers
        if structure.confirmed == 1:
            structure.replaced = pairs
        else:
            structure.replaced &= pairs
        values: dict[int, Tensor] = {}
        replay = Replay()
        if surviving:
            replay.run(structure.events[:-1], self.leaf_tensors(), values, lines=self.lines)
            for scope in surviving:
                scope.shadow = replay.recordings[scope.index]
        else:
            last_uses = {
                k: [n for n in uses if n not in numbers] for k, uses in structure.last_uses().items()
            }
            leaves = self.leaf_tensors()
            replay.run(structure.events[:-1], leaves, values, None, last_uses, lines=self.lines)
        for pending in missing:
            shadow = values[pending.number]
            pending.value = shadow._array
            if surviving:
                pending.shadow = shadow


def executed(tensor: Tensor) -> Tensor:
    """Return ``tensor`` with its computed value.

    If a replay has computed a pending tensor, the result is the tensor of the replay.
    """
    array = tensor._array
    if type(array) is not PendingArray:
        return tensor if not tensor.is_parameter else make_tensor(settled(array), tensor.type)
    if array.shadow is not None:
        return array.shadow
    return make_tensor(array.get(), tensor.type)


def execute_now(event: Event, tensors: Sequence[Tensor], results: Sequence[Tensor]) -> None:
    """Run the operator of ``event``, and store its values in the pending ``results``."""
    with executing([]):
        computed = apply(event.primitive, *map(executed, tensors), **event.parameters)  # type: ignore[arg-type]
    for result, value in zip(results, computed if type(computed) is tuple else (computed,), strict=True):
        result._array.value = value._array
