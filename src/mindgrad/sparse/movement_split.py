"""Where a program only moves the elements of its inputs or results, and where it computes with them.

    f(x) = R φ(z),    z = S x    ⟹    J_f = R J_φ S,        f(x) = φ(z)    ⟹    ∇²f = Sᵀ ∇²φ S

R and S select: each element of z is one of x, each element of f one of the results of φ, or a constant.
What reads x through slices, shifts and gathers has a Jacobian by z that is often made of diagonals, one
tangent of ones for each part of z, where by x the columns of all parts meet; and the parts of z by which a
result is linear, or on which it does not depend at all, are seen before anything is computed. (For sums of
functions of few elements this is partial separability: A. Griewank and Ph. L. Toint, *Partitioned variable
metric updates for large structured optimization problems*, 1982.)
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from mindgrad.ir.graph import Equation, Graph, Variable, live_equations
from mindgrad.sparse.sparsity import MOVING, Known, Propagation, holding

__all__ = ["Cut", "cut"]


class Cut:
    """A program between its cuts.

    Attributes:
        graph: φ, a graph from ``(*others, *parts)`` to the results.
        others: the inputs that are not differentiated.
        parts: z, variables of the program.
        sources: for each part the number of the element of x that each of its elements is, -1 for none;
            the elements of all x are counted together.
        targets: for each element of the outputs, which are counted together, the number of the element of
            the results that it is, -1 for none.
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
    graph: Graph, active: Sequence[int], known: Known, at_inputs: bool = False, at_outputs: bool = False
) -> Cut:
    """``graph`` between what only moves elements of its inputs and what only moves those of its results.

    Args:
        graph: the program.
        active: indices of the inputs that are differentiated.
        known: what is known of others.
        at_inputs: whether z is to be x itself.
        at_outputs: whether the results are to be the outputs themselves.
    """
    run = Propagation(None, 0, graph, {}, known)
    differentiated = [graph.inputs[k] for k in active]
    source: dict[Any, Any] = dict(zip(differentiated, _numbered(differentiated), strict=True))
    computed: set[Any] = set()
    parts: dict[Any, None] = dict.fromkeys(differentiated if at_inputs else ())
    kept = []
    for equation in graph.equations:
        primitive, inputs = equation.primitive, equation.inputs
        run.note(equation)
        flags = [type(x) is Variable and x in source for x in inputs]
        if not at_inputs and any(flags) and primitive.name in MOVING and computed.isdisjoint(inputs):
            held = holding(equation, flags)
            found = run.moved(equation, flags) if held == flags else None
            if found is not None:
                stacked = _stacked([source[x] for x, flag in zip(inputs, flags, strict=True) if flag])
                source.update((y, stacked[m]) for y, m in zip(equation.outputs, found, strict=True))
                continue
        kept.append(equation)
        parts.update((x, None) for x, flag in zip(inputs, flags, strict=True) if flag)
        if any(flags) or not computed.isdisjoint(inputs):
            computed.update(equation.outputs)
    tail = [] if at_outputs else kept
    results, targets = _ends(run, graph, tail, computed | set(source))
    parts.update((y, None) for y in results if y in source)
    others = [v for v in graph.inputs if v not in parts]
    inner = Graph([*others, *parts], live_equations(kept, results), results)
    return Cut(inner, others, list(parts), [source[z] for z in parts], targets)


def _numbered(atoms: Sequence[Any]) -> list[Any]:
    """The numbers of the elements of ``atoms``, counted together."""
    ends = np.cumsum([0, *[x.type.size for x in atoms]])
    return [np.arange(start, end) for start, end in pairwise(ends)]


def _stacked(numbers: Sequence[Any]) -> Any:
    """``numbers`` behind one another, and -1, which is found at the place -1: what comes from nowhere."""
    return np.concatenate([*numbers, [-1]])


def _ends(
    run: Propagation, graph: Graph, equations: Sequence[Equation], dependent: set[Any]
) -> tuple[list[Any], Any]:
    """What the outputs are made of by moving elements, and which element of it each of theirs is."""
    reached = {y for y in graph.outputs if y in dependent}
    tail = []
    for equation in reversed(equations):
        if equation.primitive.name in MOVING and not reached.isdisjoint(equation.outputs):
            flags = holding(equation, [x in dependent for x in equation.inputs])
            found = run.moved(equation, flags) if any(flags) else None
            if found is not None:
                inputs = [x for x, flag in zip(equation.inputs, flags, strict=True) if flag]
                tail.append((equation.outputs, inputs, found))
                reached.update(inputs)
    made = {y for outputs, _, _ in tail for y in outputs}
    results = [
        x for x in dict.fromkeys([*graph.outputs, *[x for _, xs, _ in tail for x in xs]]) if x in dependent
    ]
    results = [x for x in results if x not in made]
    place = dict(zip(results, _numbered(results), strict=True))
    for outputs, inputs, found in reversed(tail):
        stacked = _stacked([place[x] for x in inputs])
        place.update((y, stacked[m]) for y, m in zip(outputs, found, strict=True))
    targets = [place[y] if y in place else np.full(y.type.size, -1) for y in graph.outputs]
    return results, _stacked(targets)[:-1]
