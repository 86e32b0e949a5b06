"""Sum second derivatives over many directions, in tiles that fit into the cache.

    Σ_d D²f[p_d, q_d]   needs, for each equation l,   S_l = Σ_tiles Σ_{d in tile} (products of tangents in l)

A forward Laplacian propagates one tangent for each direction, and one second-order term for the sum over all
directions. Each equation adds a sum S_l of products of tangents to the second-order term. A *tile* is a group
of directions that are processed together. A loop over the tiles accumulates the sums S_l of all equations.
After the loop, the second-order term is propagated once. The arithmetic is unchanged, but only the tangents
of one tile are in memory. Timings: ``docs/decisions/0019-thresholds-of-rewrites.md``.

If the samples of a compiled function are independent, the directions are not divided. The function and its
derivatives are divided into tiles of samples instead (``passes.tiling``), which needs half the memory.

Limits: the directions are not split into tiles if the function contains a branch or loop.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from mindgrad.core.ir.build import Builder, current
from mindgrad.core.ir.graph import Atom, Equation, Graph, Variable
from mindgrad.core.ir.rewriting import is_rewriting
from mindgrad.core.ir.rules import Atoms, Tangent
from mindgrad.core.ir.scope import outermost_program
from mindgrad.core.passes.tiled_loop import accumulate_tiles
from mindgrad.core.passes.tiling import keeps_samples_apart, tile_of_directions
from mindgrad.core.primitives.structural import broadcast_in_dim
from mindgrad.core.transforms.forward_laplacian import Collapse, Stack
from mindgrad.core.transforms.linearize import dependent

__all__ = ["Directions", "spread", "summed"]


class Directions(NamedTuple):
    """K pairs of directions of second derivatives, stacked along the first axis.

    Attributes:
        left: the first direction of each pair, of shape ``(K, D)``, or ``(K, …, D)`` if the directions differ
            between points.
        right: the second direction of each pair, or ``None`` if it equals the first.
        weights: weights of the pairs, of shape ``(K,)``, or ``None`` for weights 1.
    """

    left: Atom
    right: Tangent = None
    weights: Tangent = None


def spread(rows: Atom, x: Atom) -> Atom:
    """Broadcast directions ``(K, D)`` to tangents of ``x``, equal at all points."""
    if len(rows.shape) == len(x.shape) + 1:
        return rows
    return broadcast_in_dim(rows, shape=(rows.shape[0], *x.shape), dims=(0, len(x.shape)))


def summed(
    builder: Builder,
    equations: Sequence[Equation],
    x: Variable,
    ys: Atoms,
    directions: Directions,
    is_whole: bool = False,
) -> list[Atom]:
    """Emit the sum of second derivatives Σ_d D²y[p_d, q_d] of each output y in ``ys``.

    Args:
        builder: builder of the current graph, to which equations are added.
        equations: the equations of the function.
        x: differentiated input of the function.
        ys: outputs of the function, which are differentiated.
        directions: the directions of the second derivatives.
        is_whole: whether to always run all directions together, instead of in tiles.
    """
    count = directions.left.shape[0]
    size = count if is_whole else _tile(equations, x, count)
    if size < count:
        found = _in_tiles(builder, equations, x, ys, directions, size)
        if found is not None:
            return found
    sweep = _swept(equations, x, directions, False)
    return [sweep.second_or_zero(y) for y in ys]


def _swept(equations: Sequence[Equation], x: Variable, directions: Directions, is_part: bool) -> Collapse:
    left, right, weights = directions
    sweep = Collapse(left.shape[0], weights, is_part)
    sweep.start(x, Stack(spread(left, x), 0), None if right is None else Stack(spread(right, x), 0))
    sweep.push(equations)
    return sweep


def _tile(equations: Sequence[Equation], x: Variable, count: int) -> int:
    """Return the number of directions of a tile, so that its tangents fit the cache."""
    moving, largest = {x}, x.type.size
    for equation in equations:
        if equation.primitive.jvp is not None and not moving.isdisjoint(equation.inputs):
            moving.update(equation.outputs)
            largest = max(largest, *[y.type.size for y in equation.outputs])
    stack = largest * x.type.dtype.itemsize
    size = tile_of_directions(count, stack)
    return count if size < count and _waits_for_tiles(equations, x, count * stack) else size


def _waits_for_tiles(equations: Sequence[Equation], x: Variable, stack: int) -> bool:
    """Return whether compilation will split the function into tiles of samples.

    In this case, tiles of directions are not needed.
    """
    if outermost_program() is None or not is_rewriting():
        return False
    moving = {x}
    followed = []
    for equation in equations:
        if not moving.isdisjoint(equation.inputs):
            moving.update(equation.outputs)
            followed.append(equation)
    return keeps_samples_apart(followed, x, stack)


def _in_tiles(
    builder: Builder,
    equations: Sequence[Equation],
    x: Variable,
    ys: Atoms,
    directions: Directions,
    size: int,
) -> list[Atom] | None:
    """Emit the sums of :func:`summed` by a loop over tiles of ``size`` directions.

    Returns:
        The sums, or ``None`` if the equations cannot be split into a loop and a part after it.
    """
    stacks = [stack for stack in directions if stack is not None]
    seeds = [None if e is None else Variable(e.type.with_shape((size, *e.shape[1:]))) for e in directions]
    sweep = _swept(equations, x, Directions._make(seeds), True)
    results = [sweep.second_or_zero(y) for y in ys]
    standing, parts = list(sweep.sums), list(sweep.sums.values())
    if dependent(builder, standing, parts)[0]:
        return None
    inputs = [seed for seed in seeds if seed is not None]
    made, needed = dependent(builder, inputs, parts)
    body = Graph([*needed, *inputs], made, parts)
    totals = accumulate_tiles(body, needed, stacks, size, len(parts))
    later, of_later = dependent(builder, standing, results)
    graph = Graph([*of_later, *standing], later, results)
    return current().inline(graph, [*of_later, *totals])
