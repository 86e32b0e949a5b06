"""Recorders: scopes of eager gradients, which run and record each operator."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from contextlib import nullcontext

import numpy as np

from mindgrad.core.base.location import Located, user_location
from mindgrad.core.ir import kernels
from mindgrad.core.ir.cost_model import HOST
from mindgrad.core.ir.kernels import run_kernel
from mindgrad.core.ir.pending import PendingArray
from mindgrad.core.ir.primitive import Primitive
from mindgrad.core.ir.rules import Results, Statics, Stored
from mindgrad.core.ir.scope import Scope, as_it_is, held_constant, identity, lifted
from mindgrad.core.ir.tensor import Tensor, make_tensor

__all__ = ["LocatedRecorder", "Recorder"]

_new_tensor = Tensor.__new__


class Recorder(Scope):
    """Scope that runs each operator immediately and records it.

    Every value has a number, which is its index in ``values``.

    Attributes:
        values: the arrays of all operands and results of the recorded operators.
        entries: for each recorded operator, a tuple of the primitive, the numbers of its operands, the items
            of its parameters, the number of its first result, and the count of results.
        leaves: pairs (number, tensor) of the values that were computed outside the recording.
        marks: maps the number of a value to its marks (``ir.graph``), without the marks that follow from
            the ``taint`` rules of operators.
    """

    __slots__ = ("_lifted", "_numbers", "differentiated", "entries", "leaves", "lines", "marks", "values")
    lifts = True
    #: source line (file, line) of each recorded operator. Only a :class:`LocatedRecorder` records source
    #: lines
    sources: Sequence[tuple[str, int]] = ()

    def __init__(self) -> None:
        # `Scope.__init__`, inlined for speed, because each call of a gradient function creates a recorder
        self.level, self.runs, self.opaque = 0, None, False
        self.bindings, self.written, self.rebound, self.restored = {}, {}, [], {}
        self.values: list[Stored] = []
        self.entries: list[tuple[Primitive, tuple[int, ...], tuple, int, int]] = []
        self.leaves: list[tuple[int, Tensor]] = []
        self.marks: dict[int, int] = {}
        #: maps the index of an entry without a derivative to its source line, for warnings about zero
        #: gradients
        self.lines: dict[int, tuple[str, int]] = {}
        #: Indices of recorded values. A function that was differentiated inside this scope depends smoothly
        #: on them, so its gradient is not zero by mistake (``transforms.zero_gradients``)
        self.differentiated: dict[int, None] = {}
        self._numbers: dict[tuple[int, Hashable], int] = {}
        self._lifted: tuple[dict[int, Tensor], dict[int, int]] | None = None

    def input(self, tensor: Tensor) -> Tensor:
        number = self._leaf(tensor)
        return make_tensor(self.values[number], tensor._type, self, number)

    def _leaf(self, tensor: Tensor) -> int:
        array = tensor._array
        if type(array) is not np.ndarray and not isinstance(array, (np.ndarray, np.generic)):
            if kernels.runs_on_host:
                array = tensor.host_array()
            elif type(array) is PendingArray:
                array = array.get()
        number = len(self.values)
        self.values.append(array)
        self.leaves.append((number, as_it_is(tensor)))
        return number

    def number(self, tensor: Tensor) -> int:
        """Return the number of ``tensor``; assign a number to a tensor from outside."""
        if tensor._scope is self:
            return tensor._atom
        key = identity(tensor)
        number = self._numbers.get(key)
        if number is None:
            number = self._numbers[key] = self._leaf(tensor)
        return number

    def record(
        self, primitive: Primitive, tensors: Sequence[Tensor], parameters: Statics, computed: Results = None
    ) -> Results:
        if len(tensors) == 1 and tensors[0]._scope is self:
            numbers: tuple[int, ...] = (tensors[0]._atom,)
        else:
            numbers = tuple([t._atom if t._scope is self else self.number(t) for t in tensors])
        value = run_kernel(primitive, tensors, parameters) if computed is None else computed
        values = self.values
        first = len(values)
        items = tuple(parameters.items()) if parameters else ()
        if primitive.jvp is None:
            self.lines[len(self.entries)] = user_location()
        if primitive.multiple:
            self.entries.append((primitive, numbers, items, first, len(value)))
            values.extend(value)
            return tuple(make_tensor(v, None, self, first + k) for k, v in enumerate(value))
        self.entries.append((primitive, numbers, items, first, 1))
        values.append(value)
        tensor = _new_tensor(Tensor)  # `make_tensor`, inlined for speed
        tensor._array, tensor._type = value, tensors[0]._type if primitive.keeps_type else None
        tensor._scope, tensor._atom = self, first
        return tensor

    def handed_over(self) -> list[Stored]:
        """Return all recorded values for a gradient, and keep only small ones here.

        The gradient can then free each value after its last use. If a value that was not kept is needed
        again, :meth:`lift` recomputes it.
        """
        values = self.values.copy()
        for primitive, _, _, first, count in self.entries:
            if primitive.effects.observable or primitive.kind == "control":
                continue
            for number in range(first, first + count):
                if getattr(values[number], "nbytes", 0) >= HOST.freed_bytes:
                    self.values[number] = None
        return values

    def makers(self) -> dict[int, int]:
        """Return a dict from the number of each result to the index of its entry."""
        return {first + i: k for k, (*_, first, n) in enumerate(self.entries) for i in range(n)}

    def lift(self, number: int) -> Tensor:
        """Return the value with number ``number`` as a tensor of the enclosing scope.

        If the value depends on tensors of the enclosing scope, the operators that compute it are recorded
        there.
        """
        if self._lifted is None:
            self._lifted = dict(self.leaves), self.makers()
        outside, made_by = self._lifted
        pending, entries = [number], set()
        while pending:
            n = pending.pop()
            if n not in outside and made_by[n] not in entries:
                entries.add(made_by[n])
                pending.extend(self.entries[made_by[n]][1])
        for entry in sorted(entries):
            self._lift_entry(entry, outside)
        return outside[number]

    def _lift_entry(self, entry: int, outside: dict[int, Tensor]) -> None:
        primitive, operand_numbers, parameters, first, count = self.entries[entry]
        numbers = range(first, first + count)
        # the scopes of the operands may be closed, so replace the operands by tensors of outer scopes
        operands = held_constant([lifted(outside[n]) for n in operand_numbers])
        values = [self.values[n] for n in numbers]
        if any(value is None for value in values):  # `handed_over` has freed large values
            computed = run_kernel(primitive, operands, dict(parameters))
            values = list(computed) if primitive.multiple else [computed]
        traced = [t._scope for t in operands if t.is_traced]
        results: Results = map(make_tensor, values)
        if traced:
            result = tuple(values) if primitive.multiple else values[0]
            scope, line = max(traced, key=lambda scope: scope.level), self.lines.get(entry)
            with Located(line) if line else nullcontext():
                results = scope.record(primitive, operands, dict(parameters), result)
            results = results if primitive.multiple else (results,)
        outside.update(zip(numbers, results, strict=True))


class LocatedRecorder(Recorder):
    """Recorder that also stores the source line of each operator."""

    __slots__ = ("sources",)

    def __init__(self) -> None:
        super().__init__()
        self.sources: list[tuple[str, int]] = []

    def record(
        self, primitive: Primitive, tensors: Sequence[Tensor], parameters: Statics, computed: Results = None
    ) -> Results:
        result = super().record(primitive, tensors, parameters, computed)
        self.sources.append(user_location())
        return result
