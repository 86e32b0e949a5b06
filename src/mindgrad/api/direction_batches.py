"""Collapsed sweeps over many directions run in tiles that fit into the cache.

    Σ_d D²f[p_d, q_d]   with   S_l = Σ_tiles Σ_{d in tile} (products of tangents in equation l)

Directions are coupled only by sums of products of their tangents. So a loop over tiles of the directions
adds up these sums for all equations, and the single second-order term follows after the loop. The arithmetic
is the same, the memory that of one tile. Timings: ``docs/decisions/0019-thresholds-of-rewrites.md``.

A compiled program whose rows do not mix gets all directions at once instead: it is run for a few rows at a
time (``optimize.tiling``), its derivatives too, and needs half the memory.

Limits: a branch or loop of the program itself needs all directions at once.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from mindgrad.ir.build import Builder, current
from mindgrad.ir.graph import Equation, Graph, Variable
from mindgrad.ir.rewriting import is_rewriting
from mindgrad.ir.scope import outermost_program
from mindgrad.optimize.tiled_loop import accumulated
from mindgrad.optimize.tiling import keeps_rows_apart, tile_of_directions
from mindgrad.rows.structural import broadcast_in_dim
from mindgrad.transforms.forward_laplacian import Collapse, Stack
from mindgrad.transforms.linearize import dependent

__all__ = ["Directions", "spread", "summed"]


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
    size = count if is_whole else _tile(equations, x, count)
    if size < count:
        found = _in_tiles(builder, equations, x, ys, directions, size)
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


def _tile(equations: Sequence[Equation], x: Any, count: int) -> int:
    """The number of directions in one tile."""
    moving, largest = {x}, x.type.size
    for equation in equations:
        if equation.primitive.jvp is not None and not moving.isdisjoint(equation.inputs):
            moving.update(equation.outputs)
            largest = max(largest, *[y.type.size for y in equation.outputs])
    stack = largest * x.type.dtype.itemsize
    size = tile_of_directions(count, stack)
    return count if size < count and _waits_for_tiles(equations, x, count * stack) else size


def _waits_for_tiles(equations: Sequence[Equation], x: Any, stack: int) -> bool:
    """Whether the program will be compiled in tiles of rows."""
    if outermost_program() is None or not is_rewriting():
        return False
    moving = {x}
    followed = []
    for equation in equations:
        if not moving.isdisjoint(equation.inputs):
            moving.update(equation.outputs)
            followed.append(equation)
    return keeps_rows_apart(followed, x, stack)


def _in_tiles(
    builder: Builder,
    equations: Sequence[Equation],
    x: Any,
    ys: Sequence[Any],
    directions: Directions,
    size: int,
) -> list[Any] | None:
    """The same by a loop over tiles of ``size`` directions; ``None`` where that cannot be."""
    stacks = [stack for stack in directions if stack is not None]
    seeds = [None if e is None else Variable(e.type.with_shape((size, *e.shape[1:]))) for e in directions]
    sweep = _swept(equations, x, Directions(*seeds), True)
    results = [sweep.second_or_zero(y) for y in ys]
    standing, parts = list(sweep.sums), list(sweep.sums.values())
    if dependent(builder, standing, parts)[0]:
        return None
    inputs = [seed for seed in seeds if seed is not None]
    made, needed = dependent(builder, inputs, parts)
    body = Graph([*needed, *inputs], made, parts)
    totals = accumulated(body, needed, stacks, size, len(parts))
    later, of_later = dependent(builder, standing, results)
    graph = Graph([*of_later, *standing], later, results)
    return current().inline(graph, [*of_later, *totals])
