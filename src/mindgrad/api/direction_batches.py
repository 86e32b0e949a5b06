"""Collapsed sweeps over many directions run in portions that fit into the cache.

    Σ_d D²f[p_d, q_d]   with   S_l = Σ_portions Σ_{d in portion} (products of tangents in equation l)

Directions are coupled only by sums of products of their tangents. So a loop over portions of the directions
adds up these sums for all equations, and the single second-order term follows after the loop. The arithmetic
is the same, the memory that of one portion. Timings: ``docs/decisions/0019-thresholds-of-rewrites.md``.

A compiled program whose rows do not mix gets all directions at once instead: it is run for a few rows at a
time (``optimize.blocks``), its derivatives too, and needs half the memory.

Limits: a branch or loop of the program itself needs all directions at once.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

from mindgrad.control.scan import scan
from mindgrad.ir import settings
from mindgrad.ir.build import Builder, building, current
from mindgrad.ir.graph import Equation, Graph, Variable
from mindgrad.ir.rewriting import is_rewriting
from mindgrad.ir.scope import outermost_program
from mindgrad.optimize.blocks import keeps_rows_apart
from mindgrad.rows.kinds import zeros
from mindgrad.rows.static_slices import pad
from mindgrad.rows.structural import broadcast_in_dim, reshape
from mindgrad.transforms.forward_laplacian import Collapse, Stack
from mindgrad.transforms.linearize import dependent

__all__ = ["Directions", "spread", "summed"]

#: bytes of the stack of one value in a portion, and how many times as many the whole must have
_PORTION = {"CPU": 2**19}
_PORTION_ELSEWHERE = 2**28
_WORTH = 4


class Directions(NamedTuple):
    """Along what the points move; every part has the directions in front.

    Attributes:
        left: of shape ``(K, D)``, or ``(K, …, D)`` for directions of its own for every point.
        right: the other direction of each pair; ``None`` if it is the same.
        weights: of shape ``(K,)``, or ``None``.
    """

    left: Any
    right: Any = None
    weights: Any = None


def spread(rows: Any, x: Any) -> Any:
    """Directions as stacks of tangents of ``x``: those that all points share are repeated."""
    if len(rows.shape) == len(x.shape) + 1:
        return rows
    return broadcast_in_dim(rows, shape=(rows.shape[0], *x.shape), dims=(0, len(x.shape)))


def summed(
    builder: Builder,
    equations: Sequence[Equation],
    x: Any,
    ys: Sequence[Any],
    directions: Directions,
    is_whole: bool = False,
) -> list[Any]:
    """Σ_d D²y[p_d, q_d] of each of ``ys``, emitted into ``builder``.

    Args:
        builder: the current builder.
        equations: those of the program.
        x: what moves.
        ys: what it is asked for.
        directions: along what.
        is_whole: whether all directions go together in any case.
    """
    count = directions.left.shape[0]
    size = count if is_whole else _portion(equations, x, count)
    if size < count:
        found = _in_portions(builder, equations, x, ys, directions, size)
        if found is not None:
            return found
    sweep = _swept(equations, x, directions, False)
    return [sweep.second_or_zero(y) for y in ys]


def _swept(equations: Sequence[Equation], x: Any, directions: Directions, is_part: bool) -> Collapse:
    left, right, weights = directions
    sweep = Collapse(left.shape[0], weights, is_part)
    sweep.start(x, Stack(spread(left, x), 0), None if right is None else Stack(spread(right, x), 0))
    sweep.push(equations)
    return sweep


def _portion(equations: Sequence[Equation], x: Any, count: int) -> int:
    """The number of directions in one portion."""
    moving, largest = {x}, x.type.size
    for equation in equations:
        if equation.primitive.jvp is not None and not moving.isdisjoint(equation.inputs):
            moving.update(equation.outputs)
            largest = max(largest, *[y.type.size for y in equation.outputs])
    stack = largest * x.type.dtype.itemsize
    bytes_kept = _PORTION.get(str(settings.get("device_target")), _PORTION_ELSEWHERE)
    if count * stack <= _WORTH * bytes_kept or _waits_for_blocks(equations, x, count * stack):
        return count
    portions = math.ceil(count / max(1, bytes_kept // max(stack, 1)))
    return math.ceil(count / portions)


def _waits_for_blocks(equations: Sequence[Equation], x: Any, stack: int) -> bool:
    """Whether the program will be compiled in blocks of rows."""
    if outermost_program() is None or not is_rewriting():
        return False
    moving = {x}
    followed = []
    for equation in equations:
        if not moving.isdisjoint(equation.inputs):
            moving.update(equation.outputs)
            followed.append(equation)
    return keeps_rows_apart(followed, x, stack)


def _in_portions(
    builder: Builder,
    equations: Sequence[Equation],
    x: Any,
    ys: Sequence[Any],
    directions: Directions,
    size: int,
) -> list[Any] | None:
    """The same by a loop over portions of ``size`` directions; ``None`` where that cannot be."""
    stacks = [stack for stack in directions if stack is not None]
    seeds = [None if e is None else Variable(e.type.with_shape((size, *e.shape[1:]))) for e in directions]
    sweep = _swept(equations, x, Directions(*seeds), True)
    results = [sweep.second_or_zero(y) for y in ys]
    standing, parts = list(sweep.sums), list(sweep.sums.values())
    if dependent(builder, standing, parts)[0]:
        return None
    inputs = [seed for seed in seeds if seed is not None]
    made, needed = dependent(builder, inputs, parts)
    body = _adding(Graph([*needed, *inputs], made, parts), len(needed))
    portions = math.ceil(stacks[0].shape[0] / size)
    slices = [_divided(stack, portions, size) for stack in stacks]
    totals = scan(
        *needed, *[zeros(part.type) for part in parts], *slices,
        body=body, length=portions, consts=len(needed), carries=len(parts),
    )  # fmt: skip
    later, of_later = dependent(builder, standing, results)
    graph = Graph([*of_later, *standing], later, results)
    return current().inline(graph, [*of_later, *totals])


def _adding(graph: Graph, consts: int) -> Graph:
    """The trip of the loop: what ``graph`` gives is added to the carry, which stands behind the constants."""
    builder = Builder()
    with building(builder):
        fixed = builder.inputs_like(graph.inputs[:consts])
        carry = builder.inputs_like(graph.outputs)
        slices = builder.inputs_like(graph.inputs[consts:])
        found = builder.inline(graph, [*fixed, *slices])
        return builder.close([total + part for total, part in zip(carry, found, strict=True)])


def _divided(stack: Any, portions: int, size: int) -> Any:
    """Directions in portions; the last is filled up with zeros, along which nothing moves."""
    missing = portions * size - stack.shape[0]
    if missing:
        rank = len(stack.shape)
        stack = pad(stack, low=(0,) * rank, high=(missing, *[0] * (rank - 1)), interior=(0,) * rank)
    return reshape(stack, shape=(portions, size, *stack.shape[1:]))
