"""Transposition of linear scans, and the choice of how cotangents are summed.

The cotangent of a constant is a sum c̄ = Σ_t c̄_t over the iterations t. It is computed in one of two ways:

    summed     the loop accumulates c̄ in its carry
    deferred   the loop stacks some values, its *leaves*, and one or a few products after the loop compute c̄
               from the stacks (``control.sum_hoisting``)

A sum is deferred if stacking the leaves is less work than accumulating c̄. For example, the gradient of a
weight matrix is one product of stacked vectors, instead of one outer product per iteration.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from mindgrad.core.control.subgraphs import marks_of, transposed_body
from mindgrad.core.control.sum_hoisting import Totals
from mindgrad.core.ir.build import Builder, building
from mindgrad.core.ir.cost_model import costs
from mindgrad.core.ir.graph import Atom, Graph, Variable
from mindgrad.core.ir.memo import memoized
from mindgrad.core.ir.rules import Atoms
from mindgrad.core.primitives.kinds import zeros

__all__ = ["TransposedIteration", "transposed_iteration"]

Indices = tuple[int, ...]


class TransposedIteration(NamedTuple):
    """One iteration of the transposed scan.

    The *residuals* are the constants and slices with respect to which the original scan is not linear.

    Attributes:
        body: graph ``(*constant residuals, *sums, *cotangents of the carry, *residual slices, *cotangents of
            ys) ↦ (*sums, *cotangents of the carry, *cotangents of slices, *leaves that are not yet
            stacked)``.
        summed: positions of the constants whose cotangents are accumulated in the loop.
        parts: indices of the carry components that have a cotangent.
        sliced: positions of the scanned inputs whose slices have a cotangent.
        deferred: positions of the constants whose cotangents are computed after the loop.
        leaves: indices of the leaves in the list ``(*residual slices, *cotangents of ys, *cotangents of
            slices, *leaves that are not yet stacked)``.
        after: graph ``(*constant residuals, *stacked leaves) ↦ cotangents of deferred``.
    """

    body: Graph
    summed: Indices
    parts: Indices
    sliced: Indices
    deferred: Indices
    leaves: Indices
    after: Graph


def _transposed(
    body: Graph, directions: Indices, consts: int, carries: int, start: Indices, ys: Indices, marks: Indices
) -> tuple[Graph, Indices, Indices]:
    """Transpose the body of a scan, with marks (``ir.graph``) valid in all iterations.

    Returns:
        The graph ``(*residuals, *cotangents of parts, *cotangents of ys) ↦ cotangents``, the inputs of
        ``body`` to which these cotangents belong, and ``parts``, the indices of the carry components that
        have a cotangent.
    """
    parts, of_parts, of_ys = start, dict(zip(start, marks, strict=False)), marks[len(start) :]
    while True:
        given = (*[of_parts[k] for k in parts], *of_ys)
        pulled, reached = transposed_body(body, directions, (*parts, *ys), given)
        before, of_parts = of_parts, dict(of_parts)
        for k, mark in zip(reached, marks_of(pulled.outputs), strict=True):
            if consts <= k < consts + carries:
                of_parts[k - consts] = of_parts.get(k - consts, 0) | mark
        if of_parts == before:
            return pulled, reached, parts
        parts = tuple(sorted(of_parts))


def _deferred(
    iteration: Graph,
    varying: Sequence[Variable],
    stacked: Atoms,
    of_slices: Atoms,
    of_consts: dict[int, Atom],
) -> Indices:
    """Return the constants whose cotangents are computed after the loop.

    Stacking the leaves of these cotangents is less work than accumulating the cotangents in the loop.

    Args:
        iteration: graph of one transposed iteration.
        varying: inputs of ``iteration`` whose values change between iterations.
        stacked: inputs of ``iteration`` that are slices of existing stacks.
        of_slices: outputs of ``iteration`` that the loop stacks in any case.
        of_consts: the contribution of the iteration to the cotangent of each constant.
    """
    available = {*stacked, *of_slices}
    chosen: list[int] = []
    for _ in range(2):  # twice: a constant can share leaves with a constant that is chosen later
        for k, ct in of_consts.items():
            if k not in chosen:
                leaves = [x for x in Totals(iteration, varying, [ct], of_slices).leaves if x not in available]
                if costs().stacked_part * sum(x.type.size for x in leaves) <= ct.type.size:
                    chosen.append(k)
                    available.update(leaves)
    return tuple(sorted(chosen))


@memoized
def transposed_iteration(
    body: Graph, directions: Indices, length: int, consts: int, carries: int, start: Indices, ys: Indices,
    marks: Indices,
) -> TransposedIteration:  # fmt: skip
    """Transpose one iteration of a linear scan.

    Args:
        body: the body of the scan.
        directions: positions of the inputs with respect to which the body is linear, including the whole
            carry.
        length: number of iterations.
        consts: number of constants.
        carries: number of carry components.
        start: indices of the components of the last carry whose cotangents are nonzero.
        ys: indices of the stacked outputs whose cotangents are nonzero.
        marks: marks (``ir.graph``) of the nonzero cotangents, first for ``start``, then for ``ys``.
    """
    pulled, reached, parts = _transposed(body, directions, consts, carries, start, ys, marks)
    sliced = tuple([k for k in reached if k >= consts + carries])
    known = [k for k in range(len(body.inputs)) if k not in directions]
    count = sum(k < consts for k in known)
    residuals, cts = pulled.inputs[: len(known)], pulled.inputs[len(known) :]
    groups = residuals[:count], cts[: len(parts)], residuals[count:], cts[len(parts) :]
    builder = Builder()
    with building(builder):
        fixed, of_carry, slices, of_ys = map(builder.inputs_like, groups)
        outputs = builder.inline(pulled, [*fixed, *slices, *of_carry, *of_ys])
        cotangents = dict(zip(reached, outputs, strict=True))
        before = [
            cotangents[consts + k] if consts + k in cotangents else zeros(body.outputs[k].type) for k in parts
        ]
        of_consts = {k: cotangents[k] for k in reached if k < consts}
        iteration = Graph(builder.inputs, builder.equations, outputs)
        stacked = [*slices, *of_ys]
        of_slices = [cotangents[k] for k in sliced]
        deferred = _deferred(iteration, [*of_carry, *stacked], stacked, of_slices, of_consts)
        summed = tuple([k for k in of_consts if k not in deferred])
        sums = builder.inputs_like(body.inputs[k] for k in summed)
        totals = [total + cotangents[k] for total, k in zip(sums, summed, strict=True)]
        later = Totals(iteration, [*of_carry, *stacked], [of_consts[k] for k in deferred], of_slices)
        fresh = [x for x in later.leaves if x not in stacked and x not in of_slices]
        places = {x: k for k, x in enumerate([*stacked, *of_slices, *fresh])}
        transposed = builder.close(
            [*totals, *before, *of_slices, *fresh], [*fixed, *sums, *of_carry, *slices, *of_ys]
        )
    leaves = tuple([places[x] for x in later.leaves])
    return TransposedIteration(
        transposed, summed, parts, sliced, deferred, leaves, later.graph(fixed, length)
    )
