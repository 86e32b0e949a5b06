"""Plans of eager mode: differentiate a recording once, and reuse the derivative.

    plan(structure of a recording)(values of the recording) = transform(recording)

A recording consists of the operators that a function ran in eager mode, and of the values that they computed.
Its *structure* is everything except the values. A plan is the list of operators that compute a derivative.
Plans are cached by structure: the next recording with an equal structure runs the cached plan on its own
values.

A *mark* is a bit flag of a value. For example, the mark ``INFINITE`` means that an element may be infinite or
NaN (``ir.graph``).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Mapping, Sequence
from itertools import zip_longest

import numpy as np

from mindgrad.core.base.collection import only_young_garbage
from mindgrad.core.base.location import Located
from mindgrad.core.ir import kernels
from mindgrad.core.ir.array_facts import is_infinite
from mindgrad.core.ir.build import SET_LATER, Builder, building
from mindgrad.core.ir.cost_model import HOST
from mindgrad.core.ir.graph import INFINITE, UNIFORM, Atom, Equation, Variable, silent
from mindgrad.core.ir.kernels import (
    compacted,
    run_and_free,
    run_arrays,
    run_compact,
    run_step,
    silently,
)
from mindgrad.core.ir.recorder import Recorder
from mindgrad.core.ir.rules import Array, Atoms, Source, Stored, Tangents, Transform
from mindgrad.core.ir.scope import apply
from mindgrad.core.ir.tensor import Tensor, make_tensor
from mindgrad.core.ir.types import TensorType
from mindgrad.core.primitives.kinds import is_zero, zeros
from mindgrad.core.transforms.zero_gradients import Unchecked, smooth_variables, steps_of, warn_of_zeros

__all__ = ["Plan", "finish_recorder"]

_PLANS: dict[Hashable, Plan] = {}
_PLANS_KEPT = 2048


class Plan:
    """The operators of a derivative, for all recordings with one structure.

    A plan stores its values in numbered *slots*. *Extras* are the cotangents or tangents that the derivative
    receives. ``loads``, ``given``, and ``constants`` fill slots before the first step. Each step applies one
    operator, which reads and fills slots.

    Attributes:
        loads: pairs (slot, index of the recorded value that is stored in this slot).
        given: pairs (slot, index of the extra that is stored in this slot).
        constants: triples (slot, array, type) of the constants that are stored in slots.
        steps: tuples (primitive, operand slots, result slots, parameters).
        results: slots that contain the results of the plan after the last step.
    """

    __slots__ = (
        "compact", "constants", "dead", "given", "initial", "is_silent", "loads", "marks", "results", "size",
        "smooth", "sources", "steps", "zeroing",
    )  # fmt: skip

    def __init__(
        self,
        recorder: Recorder,
        transform: Transform,
        xs: Sequence[int],
        ys: Sequence[tuple],
        extras: Sequence[Tensor | None],
        marks: Mapping[int, int],
        is_enclosed: bool,
    ) -> None:
        builder = Builder()
        builder.knows_infinite = True
        with building(builder):
            atoms = _rebuild(builder, recorder, marks)
            equations = list(builder.equations)
            recorded = set(equations)
            vectors = [None if e is None else builder.input(e.type) for e in extras]
            # an output that is not in the recording does not depend on the inputs. A zero constant replaces
            # it, so that its derivative is zero
            outputs = [zeros(t.type) if n is None else atoms[n] for n, t in ys]
            produced = transform(builder, [atoms[n] for n in xs], outputs, vectors)
        if not isinstance(produced, Sequence) or not all(isinstance(y, Atom) for y in produced):
            raise TypeError(f"{transform} must return a list of variables or constants, not {produced!r}.")
        excusing = [atoms[n] for n in recorder.differentiated]
        #: recorded operators that make a derivative zero, such as comparisons, with their source lines. A
        #: warning about zero gradients lists them
        self.zeroing: list[tuple[Source, str]] = []
        if any(map(is_zero, produced)) and not isinstance(transform, Unchecked):
            self.zeroing = steps_of(equations, [atoms[n] for n in xs], outputs, excusing)
        smooth = smooth_variables(equations, [*outputs, *excusing]) if produced and is_enclosed else ()
        #: indices of the values from outside the recording on which the outputs depend smoothly, so that a
        #: zero derivative with respect to them is not a mistake. Only an enclosing scope reads them
        self.smooth = [n for n, _ in recorder.leaves if atoms[n] in smooth]
        number_of: dict[Atom, int] = {}
        for number, atom in enumerate(atoms):
            if atom is not None:
                number_of.setdefault(atom, number)
        slots = _Slots(recorder, number_of, vectors)
        self.sources: list[tuple[str, int] | None] = []
        #: pairs (slot, marks) of cotangents on which derivative rules have set marks
        self.marks: list[tuple[int, int]] = []
        for equation in _needed(builder.equations, recorded, number_of, produced):
            slots.add(equation)
            self.marks += [
                (slots.of(y), y.tainted & SET_LATER) for y in equation.outputs if y.tainted & SET_LATER
            ]
            self.sources += [equation.source] * (len(slots.steps) - len(self.sources))
        self.results = [slots.whole(slots.of(atom), atom) for atom in produced]
        self.loads, self.given, self.constants = slots.loads, slots.given, slots.constants
        self.steps, self.size = slots.steps, len(slots.numbers)
        self.is_silent = not any(step[0] is not None and step[0].kind == "control" for step in self.steps)
        self.initial: list[Stored] = [None] * self.size
        for position, array, _ in self.constants:
            self.initial[position] = array
        self.compact = compacted(self.steps) if self.is_silent else None
        #: for each step, the slots that no later step reads, so that large arrays in them can be freed.
        #: ``None`` if all arrays are small
        self.dead = self._dead() if slots.largest >= HOST.freed_bytes else None

    def _dead(self) -> list[list[int]]:
        needed = {*self.results, *[slot for slot, *_ in self.constants]}
        dead = []
        for _, operands, results, _ in reversed(self.steps):
            slots = {*operands, *results} - needed
            dead.append(list(slots))
            needed |= slots
        return dead[::-1]

    def run(self, recorder: Recorder, extras: Sequence[Tensor | None], is_last: bool) -> list[Tensor]:
        """Run the plan on the arrays of a recording, and return the results.

        Args:
            recorder: the recording whose values the plan loads.
            extras: the cotangents or tangents that the derivative receives.
            is_last: whether the values of ``recorder`` may be freed while the plan runs, because they are not
                needed again.
        """
        slots = self.initial.copy()
        values = recorder.values if self.dead is None or not is_last else recorder.handed_over()
        for position, number in self.loads:
            slots[position] = values[number]
        del values
        for position, index in self.given:
            slots[position] = extras[index].host_array()  # type: ignore[union-attr]  # a zero extra has no slot
        if kernels.check is not None:
            with np.errstate(all="ignore"):
                for step, source in zip_longest(self.steps, self.sources):
                    with Located(source):
                        run_step(step, slots)
        elif self.compact is None or not kernels.runs_on_host:
            run_arrays(self.steps, slots)
        elif self.dead is not None:
            silently(run_and_free, (self.compact, self.dead, slots), {})
        else:
            silently(run_compact, (self.compact, slots), {})
        return [make_tensor(slots[position]) for position in self.results]

    def apply(self, tensor_of: Callable[[int], Tensor], extras: Sequence[Tensor | None]) -> list[Tensor]:
        """Run the plan on tensors, so that an enclosing scope records its operators.

        The enclosing scope can then differentiate the derivative again. ``tensor_of`` returns the tensor for
        the index of a recorded value.
        """
        for tensor in map(tensor_of, self.smooth):
            if isinstance(tensor._scope, Recorder):
                tensor._scope.differentiated[tensor._atom] = None
        slots: list[Stored] = [None] * self.size
        for position, number in self.loads:
            slots[position] = tensor_of(number)
        for position, index in self.given:
            slots[position] = extras[index]
        for position, array, type in self.constants:
            slots[position] = make_tensor(array, type)
        is_checking = kernels.check is not None
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
    """Set mark bits on the variable of a cotangent, for derivatives of higher order."""
    scope, atom = tensor._scope, tensor._atom
    if isinstance(scope, Recorder):
        scope.marks[atom] = mark
    elif type(atom) is Variable and not atom.linear:
        atom.tainted |= mark


def _needed(
    equations: Sequence[Equation],
    recorded: Collection[Equation],
    computed: Mapping[Atom, int],
    produced: Atoms,
) -> list[Equation]:
    """Select the equations that compute ``produced`` from recorded values.

    The keys of ``computed`` are atoms (variables and constants) whose values were recorded, so equations that
    compute only such atoms are left out. Equations of the derivative that have side effects, such as
    printing, are always selected.
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

    ``add`` also appends the steps of the plan.

    A *splat* is an array of equal elements that is stored as one element. A pointwise operator accepts a
    splat; for all other operators, a step expands it to the full array.

    Args:
        recorder: the recording whose values the plan loads.
        known: maps each atom with a recorded value to the index of this value.
        given: the atoms of the cotangents or tangents.
    """

    def __init__(self, recorder: Recorder, known: Mapping[Atom, int], given: Tangents) -> None:
        self._recorder, self._known = recorder, known
        self._extras = {atom: k for k, atom in enumerate(given) if atom is not None}
        #: the number of the slot of each atom
        self.numbers: dict[Hashable, int] = {}
        self._splats: set[int] = set()
        self.loads: list[tuple[int, int]] = []
        self.given: list[tuple[int, int]] = []
        self.constants: list[tuple[int, Array, TensorType]] = []
        self.steps: list[tuple] = []
        #: size of the largest result of a step, in bytes
        self.largest = 0

    def of(self, atom: Atom) -> int:
        """Return the slot of a variable or constant; create the slot if it does not exist."""
        position = self.numbers.get(atom)
        if position is not None:
            return position
        position = self.numbers[atom] = len(self.numbers)
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

    def whole(self, position: int, atom: Atom) -> int:
        """Return a slot with the full array of ``atom``, even if ``atom`` is a splat."""
        if position not in self._splats:
            return position
        key = ("whole", position)
        spread = self.numbers.get(key)
        if spread is None:
            spread = self.numbers[key] = len(self.numbers)
            if type(atom) is not Variable:  # expand a constant once, for all runs of the plan
                self.constants.append((spread, np.broadcast_to(atom.value, atom.type.shape), atom.type))
                return spread
            self.steps.append((None, (position,), (spread,), atom.type.shape))
        return spread

    def add(self, equation: Equation) -> None:
        """Append a step that applies the operator of ``equation``."""
        operands = tuple([self.of(x) for x in equation.inputs])
        if not equation.primitive.pointwise:
            operands = tuple([self.whole(p, x) for p, x in zip(operands, equation.inputs, strict=True)])
        elif operands and all(p in self._splats for p in operands):
            operands = (self.whole(operands[0], equation.inputs[0]), *operands[1:])
        results = tuple([self.of(y) for y in equation.outputs])
        self.largest = max(self.largest, *[y.type.size * y.dtype.itemsize for y in equation.outputs], 0)
        parameters = equation.parameters
        if equation.has_effect and not self._known.keys().isdisjoint(equation.outputs):
            parameters = silent(parameters)  # the recording already had the side effects, such as printing
        self.steps.append((equation.primitive, operands, results, parameters))


def _rebuild(builder: Builder, recorder: Recorder, marks: Mapping[int, int]) -> list[Stored]:
    """Emit the operators of a recording into ``builder``.

    Returns, for each recorded value, its variable or constant. ``marks`` maps the index of a value from
    outside the recording to its marks.
    """
    atoms: list[Stored] = [None] * len(recorder.values)
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
    transform: Transform,
    extras: Sequence[Tensor | None],
    chosen: Sequence[Tensor],
    primals: Sequence[Tensor],
    is_last: bool = False,
) -> tuple[list[Tensor], list[Tensor]]:
    """Compute the results of ``trace.record.finish`` in eager mode.

    A cached plan is used if one exists for the structure of the recording. If ``is_last`` is true, large
    values of the recording are freed as soon as the plan does not need them.
    """
    values = recorder.values
    xs: list[int] = []
    enclosed = False
    # The cache key contains everything on which the plan depends. It is one flat list, in which the number of
    # inputs and outputs comes first, so that two different recordings cannot have equal keys
    structure: list[object] = [transform, len(inputs), len(chosen), *recorder.entries, *recorder.sources]
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
        # Mark values from outside the recording that contain infinity, so that derivatives treat products 0 ·
        # ∞ with them as 0. Infinite values that the recording computed already have the mark
        if n not in xs:
            mark = INFINITE if is_infinite(array) else 0
            if array.ndim == 0 and t.ndim and not t.is_traced:
                mark |= UNIFORM
            if mark:
                marks[n] = mark
                structure.append((n, mark))
    key = (*structure, enclosed)
    plan = _PLANS.get(key)
    if plan is None:
        ys = [(t._atom, None) if t._scope is recorder else (None, t) for t in chosen]
        with only_young_garbage:
            plan = Plan(recorder, transform, xs, ys, extras, marks, enclosed)
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
