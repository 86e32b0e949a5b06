"""Graphs for one iteration of the reverse pass of a ``while`` loop.

``control.while_pullback`` uses these graphs. Let x be the carry before an iteration. The reverse pass
computes the cotangent x̄ of x from the cotangent x̄⁺ of the carry after the iteration, and adds the
contribution of the iteration to the cotangents c̄ of the constants. It evaluates four graphs:

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
from typing import NamedTuple

from mindgrad.core.control.batches import batched_graph
from mindgrad.core.control.subgraphs import in_loop, is_in_loop, marks_of, split, transposed_body
from mindgrad.core.control.sum_hoisting import summed_graph
from mindgrad.core.ir.build import Builder, building
from mindgrad.core.ir.cost_model import costs
from mindgrad.core.ir.graph import DISCARDS, Atom, Equation, Graph, Variable, live_equations
from mindgrad.core.ir.memo import memoized
from mindgrad.core.ir.rules import Static
from mindgrad.core.primitives.kinds import zeros

__all__ = ["LinearIteration", "Marks", "linear_iteration"]

Indices = tuple[int, ...]
#: for each carry component: the marks (``ir.graph``) of its cotangent, or ``None`` if the cotangent is zero
Marks = tuple["int | None", ...]


class LinearIteration(NamedTuple):
    """The graphs of the reverse pass, as described at the top of this module.

    Attributes:
        needed: indices of the carry components on which the coefficients depend.
        rows: number of iterations in a chunk.
        outside: graph from the constants of the loop to values that ``step`` or ``totals`` uses and that
            depend only on constants.
        expensive: graph ``(*consts, *needed carry components) ↦ expensive subexpressions``. If ``rows``
            exceeds 1, it has no outputs.
        coefficients: graph ``(*consts, *needed carry components, *expensive) ↦ coefficients``.
        step: graph ``(*outside, *coefficients, *cotangents of moving) ↦ cotangents of moving``. If ``rows``
            is 1, its further results are the contributions to the cotangents of the constants.
        totals: graph ``(weights, *outside, *coefficients, *cotangents of moving) ↦ cotangents of the
            constants``. Coefficients and cotangents have a leading axis of ``rows`` iterations. The weights
            are a vector of ones (:meth:`Totals.emit`). If ``rows`` is 1, it has no outputs.
    """

    needed: Indices
    rows: int
    outside: Static
    expensive: Static
    coefficients: Static
    step: Static
    totals: Static


class _Transposed(NamedTuple):
    """The transpose of one iteration, and graphs of the values that it uses.

    Attributes:
        outside: graph from the constants to the *known* values (all values except cotangents) that do not
            depend on the carry.
        values: graph from constants and carry to all known values; the first are the outputs of ``outside``.
        pulled: graph ``(*known values, *cotangents of the next carry) ↦ (*cotangents of the constants,
            *cotangents of the carry)``.
    """

    outside: Graph
    values: Graph
    pulled: Graph


def _transposed(
    body: Graph, consts: int, active_consts: Indices, moving: Indices, marks: Marks
) -> _Transposed:
    active_inputs = (*active_consts, *[consts + k for k in moving])
    with in_loop():
        part = split(body, active_inputs, moving)
    used = [x for x in _operands(part.linear) if not x.linear]
    of_carry = _dependents(part.equations, part.inputs[consts:])
    outside = [x for x in used if x not in of_carry]
    residuals = [*outside, *[x for x in used if x in of_carry]]
    first = len(residuals)
    pulled, reached = _transposed_step(part.linear_graph(residuals), first, len(active_consts), marks)
    cotangents = dict(zip(reached, pulled.outputs, strict=True))
    outputs = [
        cotangents[k] if k in cotangents else zeros(body.inputs[at].type)
        for k, at in enumerate(active_inputs, first)
    ]
    return _Transposed(
        Graph(part.inputs[:consts], live_equations(part.equations, outside), outside),
        Graph(part.inputs, live_equations(part.equations, used), residuals),
        Graph(pulled.inputs, pulled.equations, outputs),
    )


def _in_sequence(
    body: Graph, consts: int, active_consts: Indices, moving: Indices, marks: Marks
) -> tuple[LinearIteration, LinearIteration]:
    """Return the graphs of the reverse pass of one iteration, in two versions.

    The first version computes the cotangents of the constants in ``totals``, the second in ``step``.
    """
    outside, values, pulled = _transposed(body, consts, active_consts, moving, marks)
    fixed, first, count = len(outside.outputs), len(values.outputs), len(active_consts)
    # split the transposed iteration: `waiting` equations depend on cotangents, `ready` equations do not
    cts = pulled.inputs[first:]
    linear = _dependents(pulled.equations, cts)
    varying = _dependents(pulled.equations, pulled.inputs[fixed:first])
    waiting = [e for e in pulled.equations if not linear.isdisjoint(e.outputs)]
    ready = [e for e in pulled.equations if linear.isdisjoint(e.outputs)]
    found = [x for x in (*_operands(waiting), *pulled.outputs) if x in varying and x not in linear]
    coefficients = list(dict.fromkeys(found))
    equations = [*[e for e in ready if varying.isdisjoint(e.outputs)], *waiting]
    inputs: list = [*pulled.inputs[:fixed], *coefficients, *cts]
    totals, step, joined = [
        Graph(inputs, live_equations(equations, outputs), outputs)
        for outputs in (
            pulled.outputs[:count],
            pulled.outputs[count:],
            [*pulled.outputs[count:], *pulled.outputs[:count]],
        )
    ]
    builder = Builder()
    with building(builder):
        atoms = builder.inline(values, builder.inputs_like(body.inputs))
        known = Graph(pulled.inputs[:first], live_equations(ready, coefficients), coefficients)
        residuals = builder.close(builder.inline(known, atoms))
    used = {*_operands(residuals.equations), *residuals.outputs}
    needed = tuple([k for k, v in enumerate(residuals.inputs[consts:]) if v in used])
    inputs = [*residuals.inputs[:consts], *[residuals.inputs[consts + k] for k in needed]]
    residuals = Graph(inputs, residuals.equations, residuals.outputs)
    divided = LinearIteration(needed, 1, outside, Graph(inputs, (), ()), residuals, step, totals)
    return divided, divided._replace(step=joined, totals=Graph(joined.inputs, (), ()))


def _batched(iteration: LinearIteration, consts: int, rows: int) -> LinearIteration:
    """Return ``iteration`` with graphs that process ``rows`` iterations together.

    Only the graph ``step`` still processes one iteration.
    """
    coefficients, totals = iteration.coefficients, iteration.totals
    flags = tuple([k >= consts for k in range(len(coefficients.inputs))])
    coefficients = batched_graph(coefficients, flags, (True,) * len(coefficients.outputs), rows)
    fixed = len(iteration.outside.outputs)
    totals = summed_graph(totals, tuple([k >= fixed for k in range(len(totals.inputs))]), rows)
    expensive = Graph(coefficients.inputs, (), ())
    return iteration._replace(rows=rows, expensive=expensive, coefficients=coefficients, totals=totals)


def _separated(iteration: LinearIteration) -> LinearIteration:
    """Move functions such as ``exp`` to ``expensive`` if they have several uses.

    XLA would compute such a function again for every use. In float64 on a CPU, this costs one call of the C
    library per element.
    """
    residuals = iteration.coefficients
    uses = Counter([*[x for e in residuals.equations for x in e.inputs], *residuals.outputs])
    is_expensive = [e.primitive.work.is_function and uses[e.outputs[0]] > 1 for e in residuals.equations]
    values = [e.outputs[0] for e, flag in zip(residuals.equations, is_expensive, strict=True) if flag]
    others = [e for e, flag in zip(residuals.equations, is_expensive, strict=True) if not flag]
    return iteration._replace(
        expensive=Graph(residuals.inputs, live_equations(residuals.equations, values), values),
        coefficients=Graph(
            [*residuals.inputs, *values], live_equations(others, residuals.outputs), residuals.outputs
        ),
    )


def _fitting(coefficients: Graph, rows: int) -> int:
    """Return the number of iterations of a chunk, at most ``rows``.

    The number is chosen so that the values of a chunk stay small. The result 1 means no chunks.
    """
    largest = max([y.type.size for e in coefficients.equations for y in e.outputs], default=0)
    while rows > costs().joint_block_iterations and rows * largest > costs().block_elements:
        rows //= 2
    while rows > 1 and rows * largest > costs().joint_elements:
        rows //= 2
    return rows if rows >= costs().fewest_joint_iterations else 1


def _operands(equations: Iterable[Equation]) -> list[Variable]:
    return list(dict.fromkeys(x for e in equations for x in e.inputs if type(x) is Variable))


def _dependents(equations: Iterable[Equation], variables: Iterable[Atom]) -> set[Atom]:
    """Return ``variables`` and all values computed from them."""
    dependents = set(variables)
    for equation in equations:
        if not dependents.isdisjoint(equation.inputs):
            dependents.update(equation.outputs)
    return dependents


def _is_plain(graph: Graph) -> bool:
    """Return whether ``graph`` can be evaluated for a batch of iterations together."""
    return all(e.primitive.kind != "control" and (e.primitive.can_batch) for e in graph.equations)


def _transposed_step(graph: Graph, first: int, consts: int, marks: Marks) -> tuple[Graph, Indices]:
    """Transpose a linear iteration, with marks of cotangents valid in all iterations.

    An iteration can add marks to the cotangents that the next iteration receives. The transposition is
    therefore repeated until the marks do not change. Cotangents that are zero in all iterations are left out.

    Args:
        graph: graph from values, tangents of ``consts`` constants, and tangents of the carry to the tangents
            of the next carry.
        first: number of inputs of ``graph`` that are values. The tangents are the inputs after them.
        consts: number of constants of the loop that have tangents.
        marks: marks of the cotangent of each component of the last carry; ``None`` for a zero cotangent.

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
            # The marks no longer grow. Now drop the mark DISCARDS of each carry component whose cotangent
            # before the iteration does not have it
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
        moving: indices of the carry components whose cotangents are computed.
        slots: maximum number of iterations in a chunk, a power of two.
        marks: marks of the cotangents of the last carry.
    """
    rows = min(slots, costs().joint_inner_iterations if is_in_loop() else costs().joint_iterations)
    return _linear_iteration(body, consts, active_consts, moving, rows, marks)


@memoized
def _linear_iteration(
    body: Graph, consts: int, active_consts: Indices, moving: Indices, rows: int, marks: Marks
) -> LinearIteration:
    divided, joined = _in_sequence(body, consts, active_consts, moving, marks)
    if _is_plain(divided.coefficients) and _is_plain(divided.totals):
        rows = _fitting(divided.coefficients, rows)
        if rows > 1:
            return _batched(divided, consts, rows)
    return _separated(joined)


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
