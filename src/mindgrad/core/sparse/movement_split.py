"""Split a graph into data movement at its ends and computation in between.

    f(x) = R φ(z),    z = S x    ⟹    J_f = R J_φ S,        f(x) = φ(z)    ⟹    ∇²f = Sᵀ ∇²φ S

R and S are selections: each element of z is an element of x, and each element of f is a result of φ, or a
constant. If f reads x through slices, shifts, and gathers, the Jacobian of φ with respect to z often consists
of diagonals. One tangent of ones for each part of z then computes it. With respect to x, the columns of all
parts overlap. The split also shows, before any computation, in which parts of z a result is linear, and on
which it does not depend.

For sums of functions of few elements, this is partial separability: A. Griewank and Ph. L. Toint,
*Partitioned variable metric updates for large structured optimization problems*, 1982.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from mindgrad.core.ir.graph import Equation, Graph, Variable, live_equations
from mindgrad.core.sparse.sparsity import Known, Propagation, holding

__all__ = ["Cut", "cut"]


class Cut:
    """A graph without the data movement at its inputs and outputs.

    Attributes:
        graph: φ, a graph from ``(*others, *parts)`` to the results.
        others: inputs of the graph that are constants in the derivative.
        parts: z, a list of variables of the original graph.
        sources: S as an integer array for each part. An entry is the index of the element in the
            concatenation of all x, or -1 for a constant.
        targets: R as an integer array. For each element of the concatenated outputs, it has the index in the
            concatenation of the results, or -1 for a constant.
    """

    __slots__ = ("graph", "others", "parts", "sources", "targets")

    def __init__(
        self,
        graph: Graph,
        others: Sequence[Variable],
        parts: Sequence[Variable],
        sources: Sequence[Any],
        targets: Any,
    ) -> None:
        self.graph = graph
        self.others = others
        self.parts = parts
        self.sources = sources
        self.targets = targets


def cut(
    graph: Graph, active: Sequence[int], environment: Known, at_inputs: bool = False, at_outputs: bool = False
) -> Cut:
    """Remove the equations that only move elements of the inputs or of the results.

    Args:
        graph (Graph): graph to split.
        active (list or tuple of int): indices of the inputs to differentiate with respect to.
        environment (Known): known values of inputs that are not differentiated.
        at_inputs (bool, optional): whether z must be x itself. Default: ``False``.
        at_outputs (bool, optional): whether the results must be the outputs themselves. Default: ``False``.
    """
    run = Propagation(None, 0, graph, {}, environment)
    differentiated = [graph.inputs[k] for k in active]
    numbers: dict[Any, Any] = dict(zip(differentiated, _numbered(differentiated), strict=True))
    computed: set[Any] = set()
    parts: dict[Any, None] = dict.fromkeys(differentiated if at_inputs else ())
    computing = []
    for equation in graph.equations:
        primitive, inputs = equation.primitive, equation.inputs
        run.note(equation)
        flags = [type(x) is Variable and x in numbers for x in inputs]
        if not at_inputs and any(flags) and primitive.moves and computed.isdisjoint(inputs):
            moving = holding(equation, flags)
            sources = run.moved(equation, flags) if moving == flags else None
            if sources is not None:
                stacked = _stacked([numbers[x] for x, flag in zip(inputs, flags, strict=True) if flag])
                numbers.update((y, stacked[m]) for y, m in zip(equation.outputs, sources, strict=True))
                continue
        computing.append(equation)
        parts.update((x, None) for x, flag in zip(inputs, flags, strict=True) if flag)
        if any(flags) or not computed.isdisjoint(inputs):
            computed.update(equation.outputs)
    tail = [] if at_outputs else computing
    results, targets = _ends(run, graph, tail, computed | set(numbers))
    parts.update((y, None) for y in results if y in numbers)
    others = [v for v in graph.inputs if v not in parts]
    inner = Graph([*others, *parts], live_equations(computing, results), results)
    return Cut(inner, others, list(parts), [numbers[z] for z in parts], targets)


def _numbered(atoms: Sequence[Any]) -> list[Any]:
    """Number the elements of all ``atoms`` consecutively."""
    ends = np.cumsum([0, *[x.type.size for x in atoms]])
    return [np.arange(start, end) for start, end in pairwise(ends)]


def _stacked(numbers: Sequence[Any]) -> Any:
    """Concatenate ``numbers`` and -1, so that the index -1 (no source) reads -1."""
    return np.concatenate([*numbers, [-1]])


def _ends(
    run: Propagation, graph: Graph, equations: Sequence[Equation], dependent: set[Any]
) -> tuple[list[Any], Any]:
    """Find the results from which ``equations`` only move elements to the outputs.

    Returns:
        tuple: the results, and the selection R as in :class:`Cut`.
    """
    reached = {y for y in graph.outputs if y in dependent}
    tail = []
    for equation in reversed(equations):
        if equation.primitive.moves and not reached.isdisjoint(equation.outputs):
            flags = holding(equation, [x in dependent for x in equation.inputs])
            sources = run.moved(equation, flags) if any(flags) else None
            if sources is not None:
                inputs = [x for x, flag in zip(equation.inputs, flags, strict=True) if flag]
                tail.append((equation.outputs, inputs, sources))
                reached.update(inputs)
    defined = {y for outputs, _, _ in tail for y in outputs}
    results = [
        x for x in dict.fromkeys([*graph.outputs, *[x for _, xs, _ in tail for x in xs]]) if x in dependent
    ]
    results = [x for x in results if x not in defined]
    numbers = dict(zip(results, _numbered(results), strict=True))
    for outputs, inputs, sources in reversed(tail):
        stacked = _stacked([numbers[x] for x in inputs])
        numbers.update((y, stacked[m]) for y, m in zip(outputs, sources, strict=True))
    targets = [numbers[y] if y in numbers else np.full(y.type.size, -1) for y in graph.outputs]
    return results, _stacked(targets)[:-1]
