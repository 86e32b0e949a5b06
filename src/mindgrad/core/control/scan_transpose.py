"""Transpose a linear scan: transpose its body, and choose how to sum cotangents.

The cotangent of a constant is a sum c̄ = Σ_t c̄_t over the iterations t. It is computed in one of two ways:

    summed     the loop accumulates c̄ in its carry
    deferred   the loop stacks some values, its *leaves*, and one or a few products after the loop compute c̄
               from the stacks (``control.sum_hoisting``)

A sum is deferred if stacking the leaves is less work than accumulating. For example, the gradient of a weight
matrix is one product of stacked vectors, instead of one outer product per iteration.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from mindgrad.core.control.subgraphs import marks_of, transposed_body
from mindgrad.core.control.sum_hoisting import Totals
from mindgrad.core.ir.build import Builder, building
from mindgrad.core.ir.cost_model import costs
from mindgrad.core.ir.graph import Graph
from mindgrad.core.ir.memo import memoized
from mindgrad.core.primitives.kinds import zeros

__all__ = ["TransposedIteration", "transposed_iteration"]

Indices = tuple[int, ...]


class TransposedIteration:
    """One iteration of the transposed scan.

    The *residuals* are the constants and slices in which the original scan is not linear.

    Attributes:
        body: graph ``(*constant residuals, *sums, *cotangents of the carry, *residual slices, *cotangents of
            ys) ↦ (*sums, *cotangents of the carry, *cotangents of slices, *leaves that are not yet
            stacked)``.
        summed: positions of the constants whose cotangents are accumulated in the loop.
        parts: indices of the parts of the carry that have a cotangent.
        sliced: positions of the scanned inputs whose slices have a cotangent.
        deferred: positions of the constants whose cotangents are computed after the loop.
        leaves: indices of the leaves in the list ``(*residual slices, *cotangents of ys, *cotangents of
            slices, *leaves that are not yet stacked)``.
        after: graph ``(*constant residuals, *stacked leaves) ↦ cotangents of deferred``.
    """

    __slots__ = ("after", "body", "deferred", "leaves", "parts", "sliced", "summed")

    def __init__(
        self, body: Graph, directions: Indices, length: int, consts: int, carries: int, start: Indices,
        ys: Indices, marks: Indices,
    ) -> None:  # fmt: skip
        end = consts + carries
        parts, of_parts, of_ys_marks = start, dict(zip(start, marks, strict=False)), marks[len(start) :]
        while True:
            given = (*[of_parts[k] for k in parts], *of_ys_marks)
            pulled, reached = transposed_body(body, directions, (*parts, *ys), given)
            before_iteration, of_parts = of_parts, dict(of_parts)
            for k, mark in zip(reached, marks_of(pulled.outputs), strict=True):
                if consts <= k < end:
                    of_parts[k - consts] = of_parts.get(k - consts, 0) | mark
            if of_parts == before_iteration:
                break
            parts = tuple(sorted(of_parts))
        self.parts = parts
        self.sliced = tuple([k for k in reached if k >= end])
        others = [k for k in range(len(body.inputs)) if k not in directions]
        count = sum(k < consts for k in others)
        residuals, given_cts = pulled.inputs[: len(others)], pulled.inputs[len(others) :]
        builder = Builder()
        with building(builder):
            fixed, of_carry, slices, of_ys = [
                builder.inputs_like(like)
                for like in (
                    residuals[:count],
                    given_cts[: len(parts)],
                    residuals[count:],
                    given_cts[len(parts) :],
                )
            ]
            cotangents = dict(
                zip(reached, builder.inline(pulled, [*fixed, *slices, *of_carry, *of_ys]), strict=True)
            )
            before = [
                cotangents[consts + k] if consts + k in cotangents else zeros(body.outputs[k].type)
                for k in parts
            ]
            of_consts = {k: cotangents[k] for k in reached if k < consts}
            iteration = Graph(builder.inputs, builder.equations, list(cotangents.values()))
            stacked = [*slices, *of_ys]
            of_slices = [cotangents[k] for k in self.sliced]
            self.deferred = _deferred(iteration, [*of_carry, *stacked], stacked, of_slices, of_consts)
            self.summed = tuple([k for k in of_consts if k not in self.deferred])
            sums = builder.inputs_like(body.inputs[k] for k in self.summed)
            totals = [total + cotangents[k] for total, k in zip(sums, self.summed, strict=True)]
            later = Totals(iteration, [*of_carry, *stacked], [of_consts[k] for k in self.deferred], of_slices)
            fresh = [x for x in later.leaves if x not in stacked and x not in of_slices]
            places = {x: k for k, x in enumerate([*stacked, *of_slices, *fresh])}
            self.leaves = tuple([places[x] for x in later.leaves])
            self.body = builder.close(
                [*totals, *before, *of_slices, *fresh],
                [*fixed, *sums, *of_carry, *slices, *of_ys],
            )
        self.after = later.graph(fixed, length)


def _deferred(
    iteration: Graph,
    varying: Sequence[Any],
    stacked: Sequence[Any],
    of_slices: Sequence[Any],
    of_consts: dict[int, Any],
) -> Indices:
    """Return the constants whose cotangents are computed after the loop.

    For these constants, stacking the leaves is less work than accumulating the cotangent.

    Args:
        iteration: graph of one transposed iteration.
        varying: inputs of ``iteration`` whose values change between iterations.
        stacked: inputs of ``iteration`` that are slices of existing stacks.
        of_slices: outputs of ``iteration`` that the loop stacks in any case.
        of_consts: the contribution of the iteration to the cotangent of each constant.
    """
    available = {*stacked, *of_slices}
    chosen: list[int] = []
    for _ in range(2):  # twice, because a constant can share leaves with a constant that is chosen after it
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
        directions: positions of the inputs in which the body is linear, including the whole carry.
        length: number of iterations.
        consts: number of constants.
        carries: number of parts of the carry.
        start: indices of the parts of the last carry whose cotangents are nonzero.
        ys: indices of the stacked outputs whose cotangents are nonzero.
        marks: marks (``ir.graph``) of these cotangents, for ``start``, then for ``ys``.
    """
    return TransposedIteration(body, directions, length, consts, carries, start, ys, marks)
