"""Templates: programs that serve several sizes, derived from two traces.

``frontend.programs.open_sizes`` describes the steps, and ``frontend.programs.open_axes`` defines open axes
and symbols. A template stores the graph of the first trace, its open axes, and its *lifted* constants. A
lifted constant depends on a size, such as the factor 1/n of a mean. Therefore, it becomes an operand of the
program.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from mindgrad.core.backend.executable import Executable
from mindgrad.core.backend.xla import compile_ahead, to_device
from mindgrad.core.ir.build import Builder, building
from mindgrad.core.ir.cost_model import HOST
from mindgrad.core.ir.graph import Constant, Equation, Graph, Variable
from mindgrad.core.ir.rewriting import without_rewrites
from mindgrad.core.ir.tensor import Tensor
from mindgrad.core.ir.types import tensor_type
from mindgrad.core.passes.pipeline import before_compilation
from mindgrad.core.primitives.structural import broadcast_in_dim
from mindgrad.frontend.programs.open_axes import NotOpen, OpenAxes, Opens, Sizes, shape_at
from mindgrad.frontend.programs.same_programs import difference
from mindgrad.frontend.tracing import Trace

__all__ = ["SharedTrace", "Template"]

#: the uses of one constant in a graph, as pairs (index of the equation, index of the operand). If the
#: constant is a result of the graph, the first index is the number of equations
Places = list[tuple[int, int]]


class SharedTrace:
    """The trace of a call, and the template of a program that serves several sizes.

    Attributes:
        traced: the trace of the call.
        is_new: whether the shared program was compiled for this call. It is ``False`` if a call with other
            sizes has compiled the program before.
    """

    def __init__(self, traced: Trace, template: Template, sizes: Sizes, constants: list[Constant]) -> None:
        self.traced, self.is_new = traced, False
        self._template, self._sizes, self._constants = template, sizes, constants
        self._capacities = {s: max(HOST.open_capacity, 1 << (n - 1).bit_length()) for s, n in sizes.items()}
        self._graph = template.padded(self._capacities)

    def executable(self, donated: Sequence[int], pending_results: int) -> Executable:
        """Return an executable that pads inputs, runs the program, and slices the results."""
        template, graph, axes = self._template, self.traced.graph, self._template.axes
        key = tuple(self._capacities.values()), tuple(donated)
        shared = template.programs.get(key)
        if shared is None:
            self.is_new = True
            padded = before_compilation(self._graph)
            shared = compile_ahead(padded, donated, pending_results=pending_results)
            template.programs[key] = shared
        inputs = _changes([x.shape for x in graph.inputs], axes.inputs, self._capacities)
        outputs = {k: y.shape for k, y in enumerate(graph.outputs) if any(axes.outputs[k])}
        operands = [np.asarray(n, np.int32) for n in self._sizes.values()]
        operands += template.operands(self._constants, self._capacities)
        operands = list(map(to_device, operands))

        def run(arrays: Sequence[Any], donations: Sequence[Any], extra: Sequence[Any]) -> list[Any]:
            padded = list(arrays)
            for k, shape in inputs.items():
                padded[k] = to_device(_padded(padded[k], shape))
            results = shared.run([*padded, *operands], donations, extra)
            for k, shape in outputs.items():
                results[k] = np.array(np.asarray(results[k])[tuple(map(slice, shape))])
            return results

        made = Executable(run, shared.extra)
        made.compiled = shared.compiled
        return made


def _changes(shapes: Sequence[Any], opens: Sequence[Opens], sizes: Sizes) -> dict[int, Any]:
    """Return a dict of the shapes that differ for ``sizes``, by index in ``shapes``."""
    changed = [shape_at(shape, each, sizes) for shape, each in zip(shapes, opens, strict=True)]
    return {k: new for k, (old, new) in enumerate(zip(shapes, changed, strict=True)) if old != new}


def _padded(array: Any, shape: Any) -> np.ndarray:
    array = np.asarray(array)
    padded = np.zeros(shape, array.dtype)
    padded[tuple(map(slice, array.shape))] = array
    return padded


class Template:
    """A program with open sizes, derived from two traces.

    Args:
        inputs: for each input, the open size of each axis, or ``None`` for a fixed size.
        first: the first trace, preceded by its sizes by symbol.
        second: the second trace, preceded by its sizes by symbol.

    Attributes:
        graph: the graph of the first trace.
        axes: the open axes of ``graph``.
        unlike: the equation in which this program differs from the last trace that :meth:`serves` rejected,
            or ``None`` if it is unknown.
        programs: the compiled executables, with the key ``(capacities, donated inputs)``.

    Raises:
        NotOpen: If the two traces do not define one program for all sizes.
    """

    def __init__(
        self, inputs: Sequence[Opens], first: tuple[Sizes, Trace], second: tuple[Sizes, Trace]
    ) -> None:
        sizes, traced = first
        self.graph: Graph = traced.graph
        self.programs: dict[Any, Executable] = {}
        self.unlike: Equation | None = None
        self._sizes = sizes, second[0]
        other = second[1].graph
        self.axes = OpenAxes(self.graph, sizes, other, second[0], inputs)
        self._symbols = sorted({self.axes.symbol(s) for s in sizes})
        #: for each lifted constant: its uses, and its values in the two traces
        self._lifted: list[tuple[Places, Constant, Constant]] = []
        groups: dict[Any, tuple[Places, Constant, Constant]] = {}
        for position, x in _operands(self.graph):
            y = _operand(other, position)
            if type(x) is Variable or type(y) is Variable or _is_same(x, y):
                continue
            key: Any = (x.key, y.key, self.axes.opens_at(position))
            if x.is_splat and y.is_splat:  # equal scalars share one operand, even if their shapes differ
                key = (x.dtype, x.key[1:], y.key[1:])
            groups.setdefault(key, ([], x, y))[0].append(position)
        self._lifted = list(groups.values())
        unlike = self._difference(other, second[0], [y for _, _, y in self._lifted])
        if unlike:
            raise NotOpen(unlike if isinstance(unlike, Equation) else None)

    def serves(self, traced: Trace, sizes: Sizes) -> SharedTrace | None:
        """Return a :class:`SharedTrace` if this program equals the trace of a call.

        This program is emitted for ``sizes`` and compared with the graph of ``traced``. The result is
        ``None`` if they differ.
        """
        graph, first = traced.graph, len(traced.written)
        results = range(first, first + len([x for x in traced.results if isinstance(x, Tensor)]))
        if (
            len(graph.inputs) != len(self.graph.inputs)
            or len(graph.outputs) != len(self.axes.outputs)
            or any(any(opens) and k not in results for k, opens in enumerate(self.axes.outputs))
        ):
            return None
        actual = {s: sizes[s] for s in self._symbols}
        if any(actual[self.axes.symbol(s)] != n for s, n in sizes.items()):
            return None
        for constants in (self._constants_of(graph), self._constants_for(actual, graph)):
            if constants is None:
                continue
            unlike = self._difference(graph, actual, constants)
            if not unlike:
                try:
                    return SharedTrace(traced, self, actual, constants)
                except NotOpen as error:
                    unlike = error.equation or True
            self.unlike = unlike if isinstance(unlike, Equation) else None
        return None

    def _difference(self, graph: Graph, sizes: Sizes, constants: list[Constant]) -> Equation | bool:
        """Compare this program, emitted for ``sizes`` and ``constants``, with ``graph``.

        Returns:
            The first equation that differs. If all equations agree, a bool: whether the graphs differ
            otherwise, for example in their numbers of equations.
        """
        builder = Builder()
        operands = {
            place: Constant(c.value, c.type.with_shape(self._shape(place, sizes))) if c.is_splat else c
            for (places, _, _), c in zip(self._lifted, constants, strict=True)
            for place in places
        }
        try:
            with without_rewrites(), building(builder):
                inputs = builder.inputs_like(graph.inputs)
                written = builder.close(self.axes.emitted(builder, inputs, sizes, operands))
        except NotOpen as error:
            return error.equation or True
        return difference(written, graph)

    def _shape(self, place: tuple[int, int], sizes: Sizes) -> Any:
        return shape_at(_operand(self.graph, place).shape, self.axes.opens_at(place), sizes)

    def _constants_of(self, graph: Graph) -> list[Constant] | None:
        """Read the values of the lifted constants from the graph of a call.

        The result is ``None`` if the graph does not have the equations of this program.
        """
        if len(graph) != len(self.graph):
            return None
        constants = []
        for (place, *_), a, b in self._lifted:
            is_number = a.is_splat and b.is_splat
            x = _operand(graph, place)
            if type(x) is not Constant:
                return None
            if is_number and not x.is_splat:  # the trace stores equal elements as a full array
                if (x.value != x.value.flat[0]).any():
                    return None
                x = Constant(x.value.flat[0], x.type)
            constants.append(x)
        return constants

    def _constants_for(self, sizes: Sizes, graph: Graph) -> list[Constant] | None:
        """Compute the lifted scalars for one size from their values in the two traces.

        The values must be computed for size 1, because the trace simplifies some operators for this size, so
        that ``graph`` does not contain all lifted constants. If ``graph`` contains a scalar close to a
        computed scalar, the scalar in ``graph`` is used.
        """
        if len(sizes) != 1:
            return None
        ((symbol, size),) = sizes.items()
        a, b = [each[symbol] for each in self._sizes]
        present = [x for _, x in _operands(graph) if type(x) is Constant and x.is_splat]
        constants = []
        for _, x, y in self._lifted:
            if not (x.is_splat and y.is_splat and x.dtype.kind in ("float", "int", "uint")):
                return None
            number = _through(float(x.value), float(y.value), a, b, size)
            values = [c.value for c in present if c.dtype is x.dtype and np.isclose(c.value, number, 1e-5)]
            value = np.asarray(values[0] if values else number, x.dtype.numpy)
            constants.append(Constant(value, x.type))
        return constants

    def padded(self, capacities: Sizes) -> Graph:
        """Build the graph for inputs that are padded to the sizes ``capacities``.

        The additional inputs of this graph are the actual sizes and the lifted constants.
        """
        builder = Builder()
        with building(builder):
            inputs = [
                builder.input(x.type.with_shape(shape_at(x.shape, opens, capacities)), tainted=x.tainted)
                for x, opens in zip(self.graph.inputs, self.axes.inputs, strict=True)
            ]
            counts = {s: builder.input(tensor_type("int32", ())) for s in self._symbols}
            lifted = {}
            for places, x, y in self._lifted:
                is_number = x.is_splat and y.is_splat
                shape = () if is_number else self._shape(places[0], capacities)
                value = builder.input(x.type.with_shape(shape))
                for place in places:
                    whole = self._shape(place, capacities)
                    lifted[place] = broadcast_in_dim(value, shape=whole, dims=()) if is_number else value
            outputs = self.axes.emitted(builder, inputs, capacities, lifted, counts)
            return builder.close(outputs)

    def operands(self, constants: list[Constant], capacities: Sizes) -> list[np.ndarray]:
        """Convert the lifted ``constants`` to arrays, padded to the sizes ``capacities``."""
        arrays = []
        for (places, x, y), constant in zip(self._lifted, constants, strict=True):
            if x.is_splat and y.is_splat:
                arrays.append(constant.array().ravel()[:1].reshape(()))
            else:
                arrays.append(_padded(constant.array(), self._shape(places[0], capacities)))
        return arrays


def _through(x: float, y: float, a: int, b: int, size: int) -> float:
    """Return the value at ``size`` of a function through the points (a, x) and (b, y).

    The function is c·nᵖ with a constant c, if p is a nonzero multiple of 1/2. Otherwise, it is a straight
    line. A result close to an integer is rounded.
    """
    power = 2 * math.log(y / x) / math.log(b / a) if x * y > 0 else 0.0
    if round(power) and abs(power - round(power)) < 1e-3:
        number = x * (size / a) ** (round(power) / 2)
    else:
        number = x + (y - x) * (size - a) / (b - a)
    return round(number) if abs(number - round(number)) < 1e-4 else number


def _operands(graph: Graph) -> Iterator[tuple[tuple[int, int], Any]]:
    """Yield ``((equation, operand), atom)`` for all operands, followed by the results."""
    for index, each in enumerate([*[e.inputs for e in graph.equations], graph.outputs]):
        for position, atom in enumerate(each):
            yield (index, position), atom


def _operand(graph: Graph, place: tuple[int, int]) -> Any:
    index, position = place
    return graph.outputs[position] if index == len(graph) else graph.equations[index].inputs[position]


def _is_same(x: Constant, y: Constant) -> bool:
    if x.is_splat and y.is_splat:
        return x.dtype is y.dtype and x.value.tobytes() == y.value.tobytes()
    return x.key == y.key
