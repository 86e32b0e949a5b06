"""Sparsity propagation: find on which input elements each output element depends.

    P_y = ⋃_k D_k P_{x_k}        D_k[i, j] = whether element i of y can depend on element j of operand k

A pattern is a Boolean matrix with one row for each element of the value and one column for each element of
the differentiated inputs. Each equation maps the patterns of its operands to the patterns of its outputs. The
resulting pattern is valid for all values of the inputs: if an entry of the pattern is false, the derivative
is zero.

- Operators that move elements: run the NumPy kernel on element numbers to find the source of each element.
- Pointwise operators: unite the patterns of the operands.
- Reductions and contractions: multiply by a Boolean matrix.
- Branches: unite the patterns of both branches. Loops: propagate patterns iteration by iteration, or until
  they do not change (``control.loop_patterns``).
- Any other operator: each output element depends on every input element on which an operand depends.

Known values of inputs that are not differentiated make patterns smaller. Examples are the indices of a
gather, a mask, and the zeros of a matrix. If the analysis has used such a value, the pattern is valid only
for this value. The cost is a few passes over the entries of each pattern. A pattern with too many entries
raises ``patterns.TooDense``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from mindgrad.core.ir.graph import Atom, Equation, Graph, Variable, live_equations
from mindgrad.core.ir.index_map import index_map
from mindgrad.core.ir.memo import memoized
from mindgrad.core.ir.rules import Atoms, Module, Pattern, Stored
from mindgrad.core.sparse.operator_patterns import along_axes
from mindgrad.core.sparse.patterns import Patterns

__all__ = ["Known", "Propagation", "dependence", "holding", "known_values"]


def holding(equation: Equation, flags: Sequence[bool]) -> list[bool]:
    """Return ``flags``, with False for operands in which the operator is not linear.

    An example of such an operand is ``indices`` of a gather.
    """
    holders = equation.primitive.linear_operands(len(flags))
    return [flag and k in holders for k, flag in enumerate(flags)]


class Known:
    """Known values of variables that do not depend on the differentiated inputs.

    Attributes:
        values: dict from variables to values that may differ in the next call of the function.
        constants: dict from variables to values that are equal in every call.
        asked: variables in ``values`` that a pattern has used. The pattern is valid only for these values.
    """

    __slots__ = ("asked", "constants", "values")

    def __init__(
        self,
        values: dict[Variable, Stored],
        constants: dict[Variable, Stored] | None = None,
        asked: list[Variable] | None = None,
    ) -> None:
        self.asked = [] if asked is None else asked
        self.values = values
        self.constants = {} if constants is None else constants

    @property
    def is_asked(self) -> bool:
        """Whether a pattern has used a value that may change between calls.

        The pattern must then be computed again if the value changes.
        """
        return bool(self.asked)

    def ask(self, variable: Variable) -> None:
        """Record that a pattern has used the value of ``variable``."""
        self.asked.append(variable)

    def renamed(self, before: Sequence[Variable], after: Sequence[Variable]) -> Known:
        """Return the known values for a copy of the graph, which has new variables.

        Args:
            before: variables of the graph.
            after: the variables of the copy that correspond to ``before``.
        """
        copy_of = dict(zip(before, after, strict=True))
        values, constants = (
            {copy_of[v]: array for v, array in arrays.items() if v in copy_of}
            for arrays in (self.values, self.constants)
        )
        return Known(values, constants, self.asked)


def known_values(graph: Graph, input_values: dict[Variable, Stored], atoms: Atoms) -> tuple[dict, dict]:
    """Compute the values of ``atoms`` that follow from constants and ``input_values``.

    Returns:
        tuple: two dicts from atoms to values. The first contains the values that depend on ``input_values``,
            the second all other values.
    """
    run = Propagation(None, 0, graph, {}, Known(input_values))
    for equation in graph.equations:
        run.note(equation)
    values = {atom: run.value(atom) for atom in atoms}
    by_input = {atom: array for atom, array in values.items() if array is not None and run.is_given(atom)}
    others = {atom: array for atom, array in values.items() if array is not None and atom not in by_input}
    return by_input, others


def dependence(
    sparse: Module, graph: Graph, active: Sequence[int], environment: Known | None = None
) -> list[Any]:
    """Return the sparsity pattern of each output of ``graph``.

    ``None`` represents a pattern without entries.

    Args:
        sparse: the module ``scipy.sparse``.
        graph (Graph): graph to analyze.
        active (list or tuple of int): indices of the differentiated inputs. Their concatenated elements are
            the columns of the pattern.
        environment (Known, optional): known values of inputs that are not differentiated. Default: ``None``.
    """
    sizes = [graph.inputs[k].type.size for k in active]
    width = sum(sizes)
    patterns: dict[Variable, Any] = {}
    start = 0
    for k, size in zip(active, sizes, strict=True):
        columns = np.arange(start, start + size, dtype=np.int32)
        rows = np.arange(size + 1, dtype=np.int32)
        patterns[graph.inputs[k]] = sparse.csr_array((np.ones(size, bool), columns, rows), (size, width))
        start += size
    run = Propagation(sparse, width, graph, patterns, environment)
    run.push()
    return [run.pattern(y) for y in graph.outputs]


@memoized
def _carriers(graph: Graph) -> set[Equation]:
    """Find the equations through which a derivative reaches an output of ``graph``.

    Only these equations contribute to patterns. For example, the derivative rule of a minimum over an axis
    compares the minimum, which depends on all elements, with every element. The result of a comparison has no
    derivative, so this comparison adds no entries to the pattern.
    """
    reached = set(graph.outputs)
    carriers = set()
    for equation in reversed(graph.equations):
        primitive = equation.primitive
        if (
            primitive.jvp is not None
            and not primitive.algebra.stops
            and not reached.isdisjoint(equation.outputs)
        ):
            carriers.add(equation)
            reached.update(equation.inputs)
    return carriers


class Propagation(Patterns):
    """Propagation of sparsity patterns through one graph.

    Args:
        sparse: the module ``scipy.sparse``.
        width (int): number of columns of each pattern.
        graph (Graph): graph to analyze.
        patterns (dict): dict from input variables to their patterns.
        environment (Known, optional): known values of inputs that are not differentiated. Default: ``None``.
    """

    def __init__(
        self,
        sparse: Module | None,
        width: int,
        graph: Graph,
        patterns: dict[Variable, Pattern],
        environment: Known | None = None,
    ) -> None:
        super().__init__(sparse, width)
        self._graph = graph
        self._patterns = {v: p for v, p in patterns.items() if p is not None}
        self._known = environment
        self._values = {} if environment is None else {**environment.constants, **environment.values}
        self._knowable = set(self._values)
        #: variables that depend on ``environment.values``, whose values may differ in the next call
        self._given = set() if environment is None else set(environment.values)

    def pattern(self, atom: Atom) -> Any:
        """Return the sparsity pattern of ``atom``, or ``None`` if it has no nonzeros."""
        return self._patterns.get(atom) if type(atom) is Variable else None

    def push(self) -> None:
        """Compute the patterns of all values between the inputs and the outputs."""
        carriers = _carriers(self._graph)
        for equation in self._graph.equations:
            self.note(equation)
            patterns = [self.pattern(x) for x in equation.inputs]
            if equation not in carriers or all(p is None for p in patterns):
                continue
            outputs = self._rule(equation, patterns)
            self._patterns.update(
                (y, p) for y, p in zip(equation.outputs, outputs, strict=True) if p is not None
            )

    def note(self, equation: Equation) -> None:
        """Mark the results of ``equation`` as known if all its operands are known."""
        if equation.has_effect or equation.primitive.kind == "control":
            return
        if all(type(x) is not Variable or x in self._knowable for x in equation.inputs):
            self._knowable.update(equation.outputs)
            if not self._given.isdisjoint(equation.inputs):
                self._given.update(equation.outputs)

    def is_given(self, atom: Atom) -> bool:
        """Return whether the value of ``atom`` is known but may differ in the next call."""
        return atom in self._given

    def value(self, atom: Atom) -> Any:
        """Return the value of ``atom``, or ``None`` if it is not known.

        If the value may differ in the next call, record that the sparsity pattern is valid only for this
        value.
        """
        if self._known is not None and atom in self._given:
            self._known.ask(atom)
        return self._evaluated(atom)

    def constant(self, atom: Atom) -> Any:
        """Return the value of ``atom`` if it is the same in every call, else ``None``."""
        return None if atom in self._given else self._evaluated(atom)

    def known(self, atom: Atom) -> tuple[Any, bool] | None:
        """Return the value of ``atom``, if known, and whether it may change between calls."""
        array = self._evaluated(atom)
        return None if array is None else (array, atom in self._given)

    def _evaluated(self, atom: Atom) -> Any:
        if type(atom) is not Variable:
            return atom.array()
        if atom not in self._values and atom in self._knowable:
            with np.errstate(all="ignore"):
                for equation in live_equations(self._graph.equations, [atom]):
                    if equation.outputs[0] in self._knowable and equation.outputs[0] not in self._values:
                        operands = [
                            x.array() if type(x) is not Variable else self._values[x] for x in equation.inputs
                        ]
                        results = equation.primitive.numpy(*operands, **equation.parameters)
                        results = results if equation.primitive.multiple else [results]
                        self._values.update(zip(equation.outputs, map(np.asarray, results), strict=True))
        return self._values.get(atom)

    def _rule(self, equation: Equation, patterns: list) -> list[Any]:
        primitive = equation.primitive
        if primitive.moves:
            flags = holding(equation, [p is not None for p in patterns])
            if not any(flags):
                return [None] * len(equation.outputs)
            patterns = [p if flag else None for p, flag in zip(patterns, flags, strict=True)]
            sources = self.moved(equation, flags)
            if sources is not None:
                stacked = [p for p in patterns if p is not None]
                rows = stacked[0] if len(stacked) == 1 else self.sparse.vstack(stacked, format="csr")
                return [self.rows(rows, source) for source in sources]
        by_row = None if primitive.pattern is None else primitive.pattern(self, equation, patterns)
        if by_row is not None:
            return by_row
        if primitive.pointwise:
            return [self.union(patterns)]
        axes = index_map(equation)
        if axes is None:
            return self.mixed(patterns, equation.outputs)
        return along_axes(self, equation, patterns, axes)

    def moved(self, equation: Equation, flags: Sequence[bool]) -> list[Any] | None:
        """Find the operand element from which each output element is copied.

        The elements of all operands whose flag is true (see :func:`holding`) are numbered consecutively. The
        result contains, for each output, an array of these numbers, with -1 for elements that are not copied
        from such an operand. The result is ``None`` if the operator depends on indices that are not known.
        """
        holders = equation.primitive.linear_operands(len(flags))
        operands: list[Any] = []
        start = 1
        for k, (x, flag) in enumerate(zip(equation.inputs, flags, strict=True)):
            if flag:
                operands.append(np.arange(start, start + x.type.size).reshape(x.shape))
                start += x.type.size
            elif k in holders:
                operands.append(np.zeros(x.shape, np.int64))
            else:
                positions = self.value(x)
                if positions is None:
                    return None
                operands.append(positions)
        outputs = equation.primitive.numpy(*operands, **equation.parameters)
        results = outputs if equation.primitive.multiple else [outputs]
        # for an out-of-range index, the kernel returns the smallest integer; replace it by −1
        return [np.maximum(np.ravel(result), 0) - 1 for result in results]

    # -- inner graphs, such as branches and loop bodies --------------------------------------------

    def by_inputs(self, graph: Graph, active: Sequence[int]) -> list[Any]:
        """Return the sparsity patterns of the outputs of ``graph``.

        The columns of the patterns are the elements of the inputs ``active``.
        """
        return dependence(self.sparse, graph, active)

    def inside(
        self, graph: Graph, patterns: Sequence[Pattern], values: Sequence[tuple[Stored, bool] | None]
    ) -> Propagation:
        """Analyze an inner graph, given the patterns and the known values of its inputs."""
        pairs = [(v, value) for v, value in zip(graph.inputs, values, strict=True) if value is not None]
        environment = Known(
            {v: array for v, (array, is_given) in pairs if is_given},
            {v: array for v, (array, is_given) in pairs if not is_given},
            None if self._known is None else self._known.asked,
        )
        run = Propagation(
            self.sparse, self.width, graph, dict(zip(graph.inputs, patterns, strict=True)), environment
        )
        run.push()
        return run
