"""Plans of eager mode: derive a recording once, and reuse the derivative.

    plan(structure of a recording)(values) = transform(recording)

A recording consists of the operators that a function ran in eager mode, and their values. Its *structure* is
everything except the values. A plan is the list of operators that compute the derivative. Plans are cached by
structure: the next recording with an equal structure runs the cached plan on its own values.

A *mark* is a bit flag of a value, such as ``INFINITE``: an element may be infinite or NaN (``ir.graph``).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from itertools import zip_longest
from typing import Any

import numpy as np

from mindgrad._base.collection import only_young_garbage
from mindgrad._base.location import Located
from mindgrad.execution.placement import is_infinite
from mindgrad.ir.build import SET_LATER, Builder, building
from mindgrad.ir.cost_model import HOST
from mindgrad.ir.graph import INFINITE, UNIFORM, Equation, Variable, silent
from mindgrad.ir.kernels import (
    compacted,
    is_checking_kernels,
    run_and_free,
    run_arrays,
    run_compact,
    run_step,
    runs_functions,
    runs_on_host,
    silently,
)
from mindgrad.ir.recorder import Recorder
from mindgrad.ir.scope import apply
from mindgrad.ir.tensor import Tensor, make_tensor
from mindgrad.ir.types import TensorType
from mindgrad.primitives.kinds import is_zero, zeros
from mindgrad.transforms.zero_gradients import Unchecked, smooth_variables, steps_of, warn_of_zeros

__all__ = ["Plan", "finish_recorder"]

_PLANS: dict[Any, Plan] = {}
_PLANS_KEPT = 2048


class Plan:
    """The derivative of a recording, which serves all recordings with equal structure.

    A plan stores its values in numbered *slots*. *Extras* are the cotangents or tangents of the derivative.
    ``loads``, ``given``, and ``constants`` fill slots, and each step reads and fills slots.

    Attributes:
        loads: pairs (slot, index of the recorded value that is stored in this slot).
        given: pairs (slot, index of the extra that is stored in this slot).
        constants: triples (slot, array, type) of the constants that are stored in slots.
        steps: tuples (primitive, operand slots, result slots, parameters).
        results: slots that contain the results of the plan after the last step.
    """

    __slots__ = (
        "compact",
        "constants",
        "dead",
        "given",
        "initial",
        "is_silent",
        "loads",
        "marks",
        "results",
        "size",
        "smooth",
        "sources",
        "steps",
        "zeroing",
    )

    def __init__(
        self, recorder: Recorder, transform: Any, xs: Any, ys: Any, extras: Any, marks: Mapping[int, int]
    ) -> None:
        builder = Builder()
        builder.knows_infinite = True
        with building(builder):
            atoms = _rebuild(builder, recorder, marks)
            equations = list(builder.equations)
            recorded = set(equations)
            vectors = [None if e is None else builder.input(e.type) for e in extras]
            # an output that the recorded operators did not compute has no derivative, so zeros replace it
            outputs = [zeros(t.type) if n is None else atoms[n] for n, t in ys]
            produced = transform(builder, [atoms[n] for n in xs], outputs, vectors)
        excusing = [atoms[n] for n in recorder.differentiated]
        #: the recorded operators, such as comparisons, that make a derivative zero. A warning names them
        self.zeroing: list[tuple[Any, str]] = []
        if any(map(is_zero, produced)) and not isinstance(transform, Unchecked):
            self.zeroing = steps_of(equations, [atoms[n] for n in xs], outputs, excusing)
        smooth = smooth_variables(equations, [*outputs, *excusing]) if produced else ()
        #: indices of the outer values on which the results depend through differentiable operators
        self.smooth = [n for n, _ in recorder.leaves if atoms[n] in smooth]
        number_of: dict[Any, int] = {}
        for number, atom in enumerate(atoms):
            if atom is not None:
                number_of.setdefault(atom, number)
        slots = _Slots(recorder, number_of, vectors)
        self.sources: list[Any] = []
        #: pairs (slot, marks) of the cotangents on which derivative rules have set marks
        self.marks: list[tuple[int, int]] = []
        for equation in _needed(builder.equations, recorded, number_of, produced):
            slots.add(equation)
            self.marks += [
                (slots.of(y), y.tainted & SET_LATER) for y in equation.outputs if y.tainted & SET_LATER
            ]
            self.sources += [equation.source] * (len(slots.steps) - len(self.sources))
        self.results = [slots.whole(slots.of(atom), atom) for atom in produced]
        self.loads, self.given, self.constants = slots.loads, slots.given, slots.constants
        self.steps, self.size = slots.steps, slots.count
        self.is_silent = not any(step[0] is not None and runs_functions(step[0]) for step in self.steps)
        self.initial: list[Any] = [None] * self.size
        for position, array, _ in self.constants:
            self.initial[position] = array
        self.compact = compacted(self.steps) if self.is_silent else None
        #: for each step, the slots that can be freed after it; ``None`` if all values are small
        self.dead = self._dead() if slots.largest >= HOST.freed_bytes else None

    def _dead(self) -> list[list[int]]:
        needed = {*self.results, *[slot for slot, *_ in self.constants]}
        dead = []
        for _, operands, results, _ in reversed(self.steps):
            slots = {*operands, *results} - needed
            dead.append(list(slots))
            needed |= slots
        return dead[::-1]

    def run(self, recorder: Recorder, extras: Sequence[Any], is_last: bool) -> list[Tensor]:
        """Run the plan on the arrays of a recording.

        Args:
            recorder: the recording whose values the plan loads.
            extras: the cotangents or tangents of the derivative.
            is_last: whether the values of ``recorder`` may be freed while the plan runs.
        """
        slots = self.initial.copy()
        values = recorder.values if self.dead is None or not is_last else recorder.handed_over()
        for position, number in self.loads:
            slots[position] = values[number]
        del values
        for position, index in self.given:
            slots[position] = extras[index].host_array()
        if is_checking_kernels():
            with np.errstate(all="ignore"):
                for step, source in zip_longest(self.steps, self.sources):
                    with Located(source):
                        run_step(step, slots)
        elif self.compact is None or not runs_on_host():
            run_arrays(self.steps, slots)
        elif self.dead is not None:
            silently(run_and_free, (self.compact, self.dead, slots), {})
        else:
            silently(run_compact, (self.compact, slots), {})
        return [make_tensor(slots[position]) for position in self.results]

    def apply(self, tensor_of: Callable[[int], Tensor], extras: Sequence[Any]) -> list[Tensor]:
        """Run the plan on tensors of an enclosing scope.

        The scope records each operator, so that the derivative can be differentiated again.
        """
        for tensor in map(tensor_of, self.smooth):
            if isinstance(tensor._scope, Recorder):
                tensor._scope.differentiated[tensor._atom] = None
        slots: list[Any] = [None] * self.size
        for position, number in self.loads:
            slots[position] = tensor_of(number)
        for position, index in self.given:
            slots[position] = extras[index]
        for position, array, type in self.constants:
            slots[position] = make_tensor(array, type)
        is_checking = is_checking_kernels()
        for index, (primitive, operands, results, parameters) in enumerate(self.steps):
            if primitive is None:
                source = slots[operands[0]]
                slots[results[0]] = make_tensor(np.broadcast_to(source.host_array(), parameters))
                continue
            tensors = [slots[p] for p in operands]
            if is_checking:
                with Located(self.sources[index]):
                    result = apply(primitive, *tensors, **parameters)
            else:
                result = apply(primitive, *tensors, **parameters)
            if primitive.multiple:
                for position, output in zip(results, result, strict=True):
                    slots[position] = output
            else:
                slots[results[0]] = result
        for position, mark in self.marks:
            _mark(slots[position], mark)
        return [slots[position] for position in self.results]


def _mark(tensor: Tensor, mark: int) -> None:
    """Set the marks of a cotangent in the enclosing scope, which may differentiate it."""
    scope, atom = tensor._scope, tensor._atom
    if isinstance(scope, Recorder):
        scope.marks[atom] = mark
    elif type(atom) is Variable and not atom.linear:
        atom.tainted |= mark


def _needed(
    equations: Sequence[Equation], recorded: Collection[Equation], computed: Mapping[Any, int], produced: Any
) -> list[Equation]:
    """Select the equations that compute ``produced`` from recorded values.

    Recorded values (``computed``) are available, so their equations are not selected. Equations of the
    derivative that have side effects, such as printing, are always selected.
    """
    needed = {atom for atom in produced if type(atom) is Variable}
    steps: list[Equation] = []
    for equation in reversed(equations):
        is_effect = equation.is_only_effect and equation not in recorded
        if is_effect or any(y in needed and y not in computed for y in equation.outputs):
            steps.append(equation)
            needed.update(x for x in equation.inputs if type(x) is Variable)
    steps.reverse()
    return steps


class _Slots:
    """The assignment of atoms (variables and constants) to the slots of a plan.

    It also collects the steps of the plan.

    A *splat* is an array of equal elements that is stored as one element. A pointwise operator accepts a
    splat; for all other operators, a step expands it to the full array.

    Args:
        recorder: the recording whose values the plan loads.
        known: dict that maps each atom with a recorded value to the index of this value.
        given: the atoms of the cotangents or tangents.
    """

    def __init__(self, recorder: Recorder, known: Mapping[Any, int], given: Sequence[Any]) -> None:
        self._recorder, self._known = recorder, known
        self._extras = {atom: k for k, atom in enumerate(given) if atom is not None}
        self._slots: dict[Any, int] = {}
        self._splats: set[int] = set()
        self.loads: list[tuple[int, int]] = []
        self.given: list[tuple[int, int]] = []
        self.constants: list[tuple[int, Any, TensorType]] = []
        self.steps: list[tuple[Any, tuple[int, ...], tuple[int, ...], Any]] = []
        #: size, in bytes, of the largest result of a step
        self.largest = 0

    @property
    def count(self) -> int:
        """The number of slots."""
        return len(self._slots)

    def of(self, atom: Any) -> int:
        """Return the slot of an atom; create it if needed."""
        position = self._slots.get(atom)
        if position is not None:
            return position
        position = self._slots[atom] = len(self._slots)
        if type(atom) is not Variable:
            self.constants.append((position, atom.value, atom.type))
            if atom.is_splat and atom.type.rank:
                self._splats.add(position)
        elif atom in self._known:
            number = self._known[atom]
            self.loads.append((position, number))
            if np.ndim(self._recorder.values[number]) == 0 and atom.type.rank:
                self._splats.add(position)
        elif atom in self._extras:
            self.given.append((position, self._extras[atom]))
        return position

    def whole(self, position: int, atom: Any) -> int:
        """Return a slot with the full array of ``atom``, also if it is a splat."""
        if position not in self._splats:
            return position
        key = ("whole", position)
        spread = self._slots.get(key)
        if spread is None:
            spread = self._slots[key] = len(self._slots)
            if type(atom) is not Variable:  # expand a constant once, for all runs of the plan
                self.constants.append((spread, np.broadcast_to(atom.value, atom.type.shape), atom.type))
                return spread
            self.steps.append((None, (position,), (spread,), atom.type.shape))
        return spread

    def add(self, equation: Equation) -> None:
        """Add a step that applies the operator of ``equation``."""
        operands = tuple([self.of(x) for x in equation.inputs])
        if not equation.primitive.pointwise:
            operands = tuple([self.whole(p, x) for p, x in zip(operands, equation.inputs, strict=True)])
        elif operands and all(p in self._splats for p in operands):
            operands = (self.whole(operands[0], equation.inputs[0]), *operands[1:])
        results = tuple([self.of(y) for y in equation.outputs])
        self.largest = max(self.largest, *[y.type.size * y.dtype.itemsize for y in equation.outputs], 0)
        parameters = equation.parameters
        if equation.has_effect and not self._known.keys().isdisjoint(equation.outputs):
            parameters = silent(parameters)  # the side effects of the operator happened during the recording
        self.steps.append((equation.primitive, operands, results, parameters))


def _rebuild(builder: Builder, recorder: Recorder, marks: Mapping[int, int]) -> list[Any]:
    """Emit the equations of a recording into ``builder``.

    Returns the variable or constant of each recorded value. ``marks`` maps the index of a value from outside
    the recording to its marks.
    """
    atoms: list[Any] = [None] * len(recorder.values)
    for number, tensor in recorder.leaves:
        atoms[number] = builder.input(tensor.type, tainted=marks.get(number, 0))
    sources = recorder.sources
    for entry, (primitive, operands, parameters, first, count) in enumerate(recorder.entries):
        builder.source = sources[entry] if sources else recorder.lines.get(entry)
        made = builder.emit(primitive, tuple([atoms[n] for n in operands]), dict(parameters))
        atoms[first : first + count] = made if primitive.multiple else (made,)
        if first in recorder.marks and type(atoms[first]) is Variable:
            atoms[first].tainted |= recorder.marks[first]
    builder.source = None
    return atoms


def finish_recorder(
    recorder: Recorder,
    inputs: Sequence[Tensor],
    transform: Any,
    extras: Sequence[Tensor | None],
    chosen: Sequence[Tensor],
    primals: Sequence[Tensor],
    is_last: bool = False,
) -> tuple[list[Tensor], list[Tensor]]:
    """Compute the results of ``record.finish`` with a plan, which is cached.

    If ``is_last`` is true, large values of the recording are freed as soon as the plan does not need them.
    """
    values = recorder.values
    xs: list[int] = []
    enclosed = False
    # The cache key: everything on which the plan depends. It is a flat list, so lengths precede elements.
    structure: list[Any] = [transform, len(inputs), len(chosen), *recorder.entries, *recorder.sources]
    if recorder.marks or recorder.lines or recorder.differentiated:
        structure.append(
            (tuple(recorder.marks.items()), tuple(recorder.lines.items()), *recorder.differentiated)
        )
    for t in inputs:
        xs.append(t._atom)
        structure.append(t._atom)
    for t in chosen:
        structure.append(t._atom if t._scope is recorder else t._type or t.type)
    for e in extras:
        if e is None:
            structure.append(None)
        else:
            structure.append(e._type or e.type)
            enclosed = enclosed or e.is_traced
    marks: dict[int, int] = {}
    for n, t in recorder.leaves:
        array = values[n]
        structure.append((n, t._type or t.type, array.ndim))
        enclosed = enclosed or (t._scope is not None and t.is_traced)
        # mark infinite values from outside the recording, so that products treat zero times infinity as zero,
        # as they do for infinite values that are computed inside
        if n not in xs:
            mark = INFINITE if is_infinite(array) else 0
            if array.ndim == 0 and t.ndim and not t.is_traced:
                mark |= UNIFORM
            if mark:
                marks[n] = mark
                structure.append((n, mark))
    key = tuple(structure)
    plan = _PLANS.get(key)
    if plan is None:
        ys = [(t._atom, None) if t._scope is recorder else (None, t) for t in chosen]
        with only_young_garbage:
            plan = Plan(recorder, transform, xs, ys, extras, marks)
        if len(_PLANS) >= _PLANS_KEPT:
            _PLANS.pop(next(iter(_PLANS)))
        _PLANS[key] = plan
    if plan.zeroing:
        warn_of_zeros(plan.zeroing)
    if not enclosed:
        outside = [make_tensor(t._array, t._type) if t._scope is recorder else t for t in primals]
        return outside, plan.run(recorder, extras, is_last)
    outside = [recorder.lift(t._atom) if t._scope is recorder else t for t in primals]
    return outside, plan.apply(recorder.lift, extras)
