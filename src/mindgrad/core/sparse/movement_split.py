"""Split a function into data movement at its ends and computation in between.

    f(x) = R φ(z),    z = S x    ⟹    J_f = R J_φ S,        f(x) = φ(z)    ⟹    ∇²f = Sᵀ ∇²φ S

S selects elements: each element of z is an element of x or a constant. R selects each element of f from the
results of φ or from constants. z consists of several tensors, its *parts*. For example, if f(x) is
``x[1:] * x[:-1]``, the parts are ``x[1:]`` and ``x[:-1]``, and φ multiplies them.

If f reads x through slices, shifts, and gathers, the Jacobian of φ with respect to each part of z is often
diagonal. One tangent of ones for each part then computes this Jacobian. The Jacobian of f with respect to x
has several nonzeros in each row, so it needs more colors.

For sums of functions of few elements, this is partial separability: A. Griewank and Ph. L. Toint,
*Partitioned variable metric updates for large structured optimization problems*, 1982.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from mindgrad.core.ir.graph import Atom, Equation, Graph, Variable, live_equations
from mindgrad.core.ir.rules import Array, Atoms
from mindgrad.core.sparse.sparsity import Known, Propagation, holding

__all__ = ["Cut", "cut"]


class Cut:
    """The split of a function f into φ, S, and R (see the module docstring).

    Attributes:
        graph: φ, a graph from ``(*others, *parts)`` to the results.
        others: inputs of the function that are not differentiated.
        parts: the parts of z, as variables of the original graph.
        sources: S, an integer array for each part of z. For each element of the part, it contains the index
            of the element in the concatenation of all x, or -1 for a constant.
        targets: R, an integer array. For each element of the concatenated outputs of f, it contains the index
            in the concatenated results of φ, or -1 for a constant.
    """

    __slots__ = ("graph", "others", "parts", "sources", "targets")

    def __init__(
        self,
        graph: Graph,
        others: Sequence[Variable],
        parts: Sequence[Variable],
        sources: Sequence[Array],
        targets: Array,
    ) -> None:
        self.graph = graph
        self.others = others
        self.parts = parts
        self.sources = sources
        self.targets = targets


def cut(
    graph: Graph, active: Sequence[int], environment: Known, at_inputs: bool = False, at_outputs: bool = False
) -> Cut:
    """Split ``graph`` into data movement at its ends and computation in between.

    Args:
        graph (Graph): graph to split.
        active (list or tuple of int): indices of the inputs to differentiate with respect to.
        environment (Known): known values of inputs that are not differentiated.
        at_inputs (bool, optional): whether z must be x itself, so that S is the identity. Default: ``False``.
        at_outputs (bool, optional): whether the results of φ must be the outputs of ``graph``, so that R is
            the identity. Default: ``False``.
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


def _numbered(atoms: Atoms) -> list[Any]:
    """Return arrays that number the elements of all ``atoms`` consecutively."""
    ends = np.cumsum([0, *[x.type.size for x in atoms]])
    return [np.arange(start, end) for start, end in pairwise(ends)]


def _stacked(numbers: Sequence[Array]) -> Any:
    """Concatenate ``numbers`` and append -1, so that index -1 (a constant) reads -1."""
    return np.concatenate([*numbers, [-1]])


def _ends(
    run: Propagation, graph: Graph, equations: Sequence[Equation], dependent: set[Atom]
) -> tuple[list[Any], Any]:
    """Find the results of φ: the values after which ``equations`` only move elements.

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
