"""Graphs for one iteration of the reverse pass of a ``while`` loop.

``control.while_pullback`` uses these graphs. Let x be the carry before an iteration. The reverse pass
computes the cotangent x̄ of x from the cotangent x̄⁺ of the carry after the iteration, and adds to the
cotangents c̄ of the constants. It evaluates four graphs:

    expensive      e = E(c, x)          subexpressions of A that are expensive and used more than once
    coefficients   d = A(c, x, e)       values that do not depend on cotangents
    step           x̄ = B(c, d, x̄⁺)      the linear map of cotangents
    totals         c̄ = Σ C(c, d, x̄⁺)    contributions to the cotangents of the constants, summed by matrix
                                        products over iterations (``control.sum_hoisting``)

Only ``step`` must run iteration by iteration, last one first. The other graphs run once for each *chunk* of
``rows`` iterations, on values with a leading axis of iterations. If the body contains a branch, a loop, or an
operator without a batching rule, ``rows`` is 1, and values have no such axis.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Any

from mindgrad.core.control.batches import batched_graph
from mindgrad.core.control.subgraphs import in_loop, is_in_loop, marks_of, split, transposed_body
from mindgrad.core.control.sum_hoisting import summed_graph
from mindgrad.core.ir.build import Builder, building
from mindgrad.core.ir.cost_model import costs
from mindgrad.core.ir.graph import DISCARDS, Equation, Graph, Variable, live_equations
from mindgrad.core.ir.memo import memoized
from mindgrad.core.primitives.kinds import zeros

__all__ = ["LinearIteration", "Marks", "linear_iteration"]

Indices = tuple[int, ...]
#: the marks (``ir.graph``) of the cotangent of each part of a carry; ``None`` for a zero cotangent
Marks = tuple["int | None", ...]


class LinearIteration:
    """The graphs of the reverse pass, as described at the top of this module.

    Attributes:
        rows: number of iterations in a chunk.
        needed: indices of the parts of the carry on which the coefficients depend.
        outside: graph from the constants of the loop to the values that depend only on constants and that
            ``step`` or ``totals`` uses.
        expensive: graph ``(*consts, *needed parts of the carry) ↦ expensive subexpressions``. If ``rows``
            exceeds 1, it has no outputs.
        coefficients: graph ``(*consts, *needed parts of the carry, *expensive) ↦ coefficients``.
        step: graph ``(*outside, *coefficients, *cotangents of moving) ↦ cotangents of moving``. If ``rows``
            is 1, its further results are the contributions to the cotangents of the constants.
        totals: graph ``(weights, *outside, *coefficients, *cotangents of moving) ↦ cotangents of the
            constants``. Coefficients and cotangents have a leading axis of ``rows`` iterations. The weights
            are a vector of ones (:meth:`Totals.emit`). If ``rows`` is 1, it has no outputs.
    """

    __slots__ = ("coefficients", "expensive", "needed", "outside", "rows", "step", "totals")

    def __init__(
        self, body: Graph, consts: int, active_consts: Indices, moving: Indices, rows: int, marks: Marks
    ) -> None:
        active_inputs = (*active_consts, *[consts + k for k in moving])
        with in_loop():
            part = split(body, active_inputs, moving)
        used = [x for x in _operands(part.linear) if not x.linear]
        of_consts = _dependents(part.equations, part.inputs[consts:])
        outside = [x for x in used if x not in of_consts]
        others = [x for x in used if x in of_consts]
        self.outside = Graph(part.inputs[:consts], live_equations(part.equations, outside), outside)
        first, count = len(used), len(active_consts)
        pulled, reached = _transposed_step(part.linear_graph([*outside, *others]), first, count, marks)
        cotangents = dict(zip(reached, pulled.outputs, strict=True))
        pulled_outputs: list[Any] = [
            cotangents[first + k] if first + k in cotangents else zeros(body.inputs[at].type)
            for k, at in enumerate(active_inputs)
        ]
        # split the transposed iteration: `waiting` equations depend on cotangents, `ready` equations do not
        fixed, cts = pulled.inputs[: len(outside)], pulled.inputs[first:]
        linear = _dependents(pulled.equations, cts)
        varying = _dependents(pulled.equations, pulled.inputs[len(outside) : first])
        waiting = [e for e in pulled.equations if not linear.isdisjoint(e.outputs)]
        ready = [e for e in pulled.equations if linear.isdisjoint(e.outputs)]
        coefficients = [x for x in (*_operands(waiting), *pulled_outputs) if x in varying and x not in linear]
        coefficients = list(dict.fromkeys(coefficients))
        free = [e for e in ready if varying.isdisjoint(e.outputs)]
        inputs: list[Variable] = [*fixed, *coefficients, *cts]
        step, contributions = [
            Graph(inputs, live_equations([*free, *waiting], outputs), outputs)
            for outputs in (pulled_outputs[count:], pulled_outputs[:count])
        ]
        self.step = step
        builder = Builder()
        with building(builder):
            operands = builder.inputs_like(body.inputs)
            values = Graph(part.inputs, live_equations(part.equations, used), [*outside, *others])
            atoms = builder.inline(values, operands)
            known = Graph(pulled.inputs[:first], live_equations(ready, coefficients), coefficients)
            residuals = builder.close(builder.inline(known, atoms))
        used_atoms = {*_operands(residuals.equations), *residuals.outputs}
        self.needed = tuple([k for k, v in enumerate(residuals.inputs[consts:]) if v in used_atoms])
        saved = [residuals.inputs[consts + k] for k in self.needed]
        self.coefficients = Graph(
            [*residuals.inputs[:consts], *saved], residuals.equations, residuals.outputs
        )
        self.totals = contributions
        self.rows = self._fitting(rows) if _is_plain(residuals) and _is_plain(contributions) else 1
        if self.rows > 1:
            flags = [k >= consts for k in range(consts + len(saved))]
            self.coefficients = batched_graph(
                self.coefficients, tuple(flags), (True,) * len(coefficients), self.rows
            )
            self.expensive = Graph(self.coefficients.inputs, (), ())
            flags = [k >= len(fixed) for k in range(len(inputs))]
            self.totals = summed_graph(contributions, tuple(flags), self.rows)
        else:
            self._join([*free, *waiting], [*pulled_outputs[count:], *pulled_outputs[:count]])
            self._separate()

    def _join(self, equations: list[Equation], outputs: list[Any]) -> None:
        """Make ``step`` also compute the contributions to the constants' cotangents."""
        self.step = Graph(self.step.inputs, live_equations(equations, outputs), outputs)
        self.totals = Graph(self.step.inputs, (), ())

    def _separate(self) -> None:
        """Move functions such as ``exp`` to ``expensive`` if they have several uses.

        XLA would compute such a function again for every use. For float64 on a CPU, each element is a call of
        the C library.
        """
        residuals = self.coefficients
        uses = Counter([*[x for e in residuals.equations for x in e.inputs], *residuals.outputs])
        is_expensive = [e.primitive.work.is_function and uses[e.outputs[0]] > 1 for e in residuals.equations]
        values = [e.outputs[0] for e, flag in zip(residuals.equations, is_expensive, strict=True) if flag]
        others = [e for e, flag in zip(residuals.equations, is_expensive, strict=True) if not flag]
        self.expensive = Graph(residuals.inputs, live_equations(residuals.equations, values), values)
        self.coefficients = Graph(
            [*residuals.inputs, *values], live_equations(others, residuals.outputs), residuals.outputs
        )

    def _fitting(self, rows: int) -> int:
        largest = max([y.type.size for e in self.coefficients.equations for y in e.outputs], default=0)
        while rows > costs().joint_block_iterations and rows * largest > costs().block_elements:
            rows //= 2
        while rows > 1 and rows * largest > costs().joint_elements:
            rows //= 2
        return rows if rows >= costs().fewest_joint_iterations else 1


def _operands(equations: Iterable[Equation]) -> list[Variable]:
    return list(dict.fromkeys(x for e in equations for x in e.inputs if type(x) is Variable))


def _dependents(equations: Iterable[Equation], variables: Iterable[Any]) -> set[Any]:
    """Return ``variables`` and all values computed from them."""
    dependents = set(variables)
    for equation in equations:
        if not dependents.isdisjoint(equation.inputs):
            dependents.update(equation.outputs)
    return dependents


def _is_plain(graph: Graph) -> bool:
    """Return whether the graph can be batched over iterations."""
    return all(e.primitive.kind != "control" and (e.primitive.can_batch) for e in graph.equations)


def _transposed_step(graph: Graph, first: int, consts: int, marks: Marks) -> tuple[Graph, Indices]:
    """Transpose a linear iteration, with marks that are valid in all iterations.

    An iteration can add marks to the cotangents that the next iteration receives. The transposition is
    therefore repeated until the marks do not change. Cotangents that are zero in all iterations are not used.

    Args:
        graph: graph from values, tangents of ``consts`` constants, and tangents of the carry to the tangents
            of the next carry.
        first: number of inputs of ``graph`` that are values. The tangents are the inputs after them.
        consts: number of constants of the loop that have tangents.
        marks: marks of the cotangent of each part of the last carry; ``None`` for a zero cotangent.

    Returns:
        The transposed graph, and the inputs of ``graph`` whose cotangents it computes.
    """
    directions = tuple(range(first, len(graph.inputs)))
    of_parts = {k: mark for k, mark in enumerate(marks) if mark is not None}
    while True:
        present = tuple(sorted(of_parts))
        given = tuple([of_parts[k] for k in present])
        pulled, reached = transposed_body(graph, directions, present, given)
        found = zip(reached, marks_of(pulled.outputs), strict=True)
        before = {k - first - consts: mark for k, mark in found if k >= first + consts}
        more = of_parts | {k: mark | of_parts.get(k, 0) for k, mark in before.items()}
        if more == of_parts:
            # remove each mark DISCARDS that the cotangent before the iteration does not have
            more = {k: mark & (before.get(k, 0) | ~DISCARDS) for k, mark in of_parts.items()}
            if more == of_parts:
                break
        of_parts = more
    inputs = dict(zip(present, pulled.inputs[first:], strict=True))
    cts = [inputs[k] if k in inputs else Variable(graph.outputs[k].type) for k in range(len(marks))]
    return Graph([*pulled.inputs[:first], *cts], pulled.equations, pulled.outputs), reached


def linear_iteration(
    body: Graph, consts: int, active_consts: Indices, moving: Indices, slots: int, marks: Marks
) -> LinearIteration:
    """Return the graphs of the reverse pass of a loop.

    Args:
        body: body of the loop.
        consts: number of constants of the loop.
        active_consts: positions of the constants whose cotangents are computed.
        moving: indices of the parts of the carry whose cotangents are computed.
        slots: maximum number of iterations in a chunk, a power of two.
        marks: marks of the cotangents of the last carry.
    """
    rows = min(slots, costs().joint_inner_iterations if is_in_loop() else costs().joint_iterations)
    return _linear_iteration(body, consts, active_consts, moving, rows, marks)


@memoized
def _linear_iteration(
    body: Graph, consts: int, active_consts: Indices, moving: Indices, rows: int, marks: Marks
) -> LinearIteration:
    return LinearIteration(body, consts, active_consts, moving, rows, marks)


@memoized
def reverse_iteration(
    body: Graph, consts: int, active_consts: Indices, moving: Indices, marks: Marks
) -> Graph:
    """Return the graph of one iteration of the reverse pass.

    Its inputs are ``(*constants, *carry, *cotangents of moving after the iteration)``. Its outputs are the
    contributions to the cotangents of the constants ``active_consts``, then the cotangents of ``moving``
    before the iteration.
    """
    iteration = linear_iteration(body, consts, active_consts, moving, 1, marks)
    builder = Builder()
    with building(builder):
        inputs = builder.inputs_like(body.inputs)
        cotangents = builder.inputs_like([body.inputs[consts + k] for k in moving])
        constants = inputs[:consts]
        needed = [*constants, *[inputs[consts + k] for k in iteration.needed]]
        fixed = builder.inline(iteration.outside, constants)
        expensive = builder.inline(iteration.expensive, needed)
        known = [*fixed, *builder.inline(iteration.coefficients, [*needed, *expensive]), *cotangents]
        pulled = builder.inline(iteration.step, known)
        return builder.close([*pulled[len(moving) :], *pulled[: len(moving)]])
