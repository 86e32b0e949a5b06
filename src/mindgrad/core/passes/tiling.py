"""Loop tiling: compute some samples at a time, so that values stay in cache.

The rewrite divides a batch into *tiles*, which are slices of several samples, and computes one tile in each
iteration of a loop (``passes.tiled_loop``). The thresholds are in the cost model (``ir.cost_model``). A
*product* is a contraction, such as a matrix product. Three forms of graphs are tiled:

**Stacks of tangents.** A forward Laplacian computes the tangents of every value along all directions. Each
sample with D coordinates thus has a *stack* of D tangents with H features each. A tile is large enough for
two threads and small enough for the cache. Every tile reads and writes the sums over the samples, so a tile
is never smaller than these sums. The batch is an input, a constant, or the result of a loop before the
stacks. The stacks may also be in the body of a loop. Two cases are special:

- Most stacks are needed again after a sum over the samples, as in the gradient of the root of a mean. In this
  case, a first loop computes the sums, and a second loop recomputes the stacks.
- The graph has only one or two products. In this case, tiles must be large. Tiling pays because without it,
  each call would request the memory of the stacks from the operating system and return it.

**Large batches.** A gradient stores the values of every layer, in memory that is allocated in each call.
Tiles of a few thousand samples that fit the cache are 2× faster than the whole batch. In a tile, the batch
axis is the last axis of every value, because XLA's vector instructions run along the last axis: a thousand
samples fill vectors better than 20 features. If all values fit the cache, one tile contains all samples, so
that the rewrite only moves the batch axis.

**Directions** (:func:`tile_of_directions`). A forward Laplacian is emitted for some directions at a time,
unless its graph will be divided into tiles of stacks.

**Limits.** Graphs are tiled only for CPUs, and only if they have no effects. The size of a tile divides the
size of the batch. Tiling changes the order of additions. For measurements, see
``docs/decisions/0019-thresholds-of-rewrites.md``.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from mindgrad.core.ir.build import Builder, building
from mindgrad.core.ir.cost_model import costs, is_one_cpu
from mindgrad.core.ir.graph import Atom, Constant, Equation, Graph, Variable
from mindgrad.core.ir.index_map import index_map, repetition
from mindgrad.core.ir.rewriting import Rewrite
from mindgrad.core.passes.batch_region import Region, batch_label, batch_region, left_behind, region_of
from mindgrad.core.passes.graph_rewriter import rewrite_inner
from mindgrad.core.passes.tiled_loop import TiledLoop

__all__ = ["keeps_samples_apart", "tile_of_directions", "tile_samples"]

BLOCKS = Rewrite(
    "blocks",
    "Σ over all samples = Σ over blocks of (Σ over the samples of a block)",
    "sums over samples are computed block by block, so that stacks of tangents fit the cache",
)
TILES = Rewrite(
    "tiles",
    "Σ over all samples = Σ over tiles of (Σ over the samples of a tile)",
    "sums over samples are computed tile by tile, so that all values of a tile fit the cache",
)
ROWS_LAST = Rewrite(
    "batch axis last",
    "f(xᵀ) = f(x)ᵀ for a function f of independent samples",
    "the batch axis is moved to the end of every value",
)

#: Maximum number of loops over tiles in one graph. A second loop is needed for equations that read both
#: stacks and sums over all samples, because only the first loop computes these sums
_LOOPS = 2


def tile_samples(graph: Graph) -> Graph:
    """Return ``graph``, divided into tiles of samples if this is cheaper."""
    if graph.has_effect or not is_one_cpu():
        return graph
    return _with_rows_last(_in_stack_tiles(graph))


def _bytes(values: Iterable[Atom]) -> int:
    return sum(v.type.size * v.dtype.itemsize for v in values)


def _products(equations: Iterable[Equation]) -> list[Equation]:
    """Return the contractions among ``equations``.

    XLA stores the operands of a contraction, so tiling contractions can save memory traffic.
    """
    return [e for e in equations if e.primitive.kind == "multilinear"]


# -- large batches ---------------------------------------------------------------------------------------


def _with_rows_last(graph: Graph) -> Graph:
    """Return ``graph`` with the batch axis of large values last, in tiles if it pays."""
    sizes = {v.shape[0] for v in graph.inputs if v.shape and v.shape[0] >= costs().tiled_rows}
    if not sizes or graph.has_effect:
        return graph
    regions = [batch_region(graph, size) for size in sorted(sizes)]
    region = max(regions, key=lambda each: _bytes(_results(each)))
    results = _results(region)
    stored = _bytes(results)
    if len(results) < costs().tiled_products or 4 * _bytes(left_behind(graph, region)) > stored:
        return graph
    width = stored / (region.size * sum(y.dtype.itemsize for y in results))
    count = _count(region.size, stored)
    if count == 1 and width > costs().tiled_features:
        return graph
    (TILES if count > 1 else ROWS_LAST).fired()
    return TiledLoop(graph, region, region.size, region.size // count, batch_last=True).graph()


def _results(region: Region) -> list[Atom]:
    """Return the results of all matrix products of ``region`` that have a batch axis."""
    return [e.outputs[0] for e in _products(region.rows)]


def _count(size: int, stored: int) -> int:
    """Return the number of tiles for ``stored`` bytes; 1 if tiling does not pay.

    A tile has about ``tile_bytes`` (``ir.cost_model``). The number is a divisor of ``size``, the number of
    samples.
    """
    if stored <= costs().whole_bytes:
        return 1
    target = math.ceil(stored / costs().tile_bytes)
    near = [n for n in range(max(2, target // 2), 2 * target + 2) if size % n == 0]
    return min(near, key=lambda n: abs(n - target), default=1)


# -- stacks of tangents ----------------------------------------------------------------------------------


def _in_stack_tiles(graph: Graph) -> Graph:
    """Tile the samples of stacks of tangents, in ``graph`` and in its loop bodies."""
    if graph.has_effect:
        return graph
    graph = rewrite_inner(graph, _in_stack_tiles)
    least = costs().stack_tiles * costs().stack_tile_bytes
    large = [k for k, e in enumerate(graph.equations) if e.outputs and _is_stack(e, least)]
    if not large:
        return graph
    # Tile only equations after the last loop or branch that precedes the stacks. The result of that loop or
    # branch is then an input of the tiled equations, and can be the batch that is divided into tiles
    start = 1 + max(
        (k for k in range(large[0]) if graph.equations[k].primitive.kind == "control"), default=-1
    )
    equations = graph.equations[start:]
    made = {y for e in equations for y in e.outputs}
    read = [x for e in equations for x in e.inputs] + list(graph.outputs)
    live = [x for x in dict.fromkeys(read) if type(x) is Variable and x not in made]
    better = _in_loops(Graph(live, equations, graph.outputs), _LOOPS)
    if better is None:
        return graph
    BLOCKS.fired()
    builder = Builder()
    with building(builder):
        inputs = builder.inputs_like(graph.inputs)
        before = builder.inline(Graph(graph.inputs, graph.equations[:start], live), inputs)
        return builder.close(builder.inline(better, before))


def _is_stack(equation: Equation, least: int) -> bool:
    """Return whether ``equation`` computes a stack of at least ``least`` bytes."""
    y = equation.outputs[0]
    return (
        len(y.type.shape) >= 3
        and y.type.size * y.type.dtype.itemsize >= least
        and equation.primitive.kind != "control"
        and repetition(y) is None
    )


def _in_loops(graph: Graph, most: int) -> Graph | None:
    """Return ``graph``, evaluated in tiles by at most ``most`` loops over the tiles.

    If equations after the sums read large values of the first loop, a second loop recomputes these values.
    Returns ``None`` if tiling does not pay.
    """
    chosen = max(_choices(graph), key=lambda choice: choice.carried, default=None)
    if chosen is None:
        return None
    region, data = chosen.region, chosen.data
    left = left_behind(graph, region)
    if 4 * _bytes(left) <= chosen.carried:
        return TiledLoop(graph, region, data.shape[0], chosen.rows, batch_last=False).graph()
    if most == 1 or not region.sums:
        return None
    boundary = [e.outputs[0] for e in region.sums] + [v for v in left if _bytes([v]) <= _bytes([data])]
    is_known = {*boundary}
    later = [e for e in graph.equations if is_known.isdisjoint(e.outputs)]
    remainder = _in_loops(Graph([*graph.inputs, *boundary], later, graph.outputs), most - 1)
    if remainder is None:
        return None
    after = {*region.after}
    start = Graph(graph.inputs, [e for e in graph.equations if e not in after], boundary)
    again = region_of(start.equations, {data: 0})
    first = TiledLoop(start, again, data.shape[0], chosen.rows, batch_last=False)
    builder = Builder()
    with building(builder):
        inputs = builder.inputs_like(graph.inputs)
        results = builder.inline(first.graph(), inputs)
        return builder.close(builder.inline(remainder, [*inputs, *results]))


class _Choice(NamedTuple):
    """A batch that can be divided into tiles.

    Attributes:
        region: the equations of the graph, grouped by how they depend on this batch.
        data: the input or constant that is the batch.
        rows: number of samples of one tile.
        carried: total size, in bytes, of all values with a batch axis.
    """

    region: Region
    data: Atom
    rows: int
    carried: int


def _choices(graph: Graph) -> Iterable[_Choice]:
    """Find the batches that are worth tiling.

    The values that depend on such a batch have a large part of the bytes of all values of ``graph``.
    """
    model = costs()
    least = model.stack_tiles * model.stack_tile_bytes
    every = _bytes(y for e in graph.equations for y in e.outputs)
    read = dict.fromkeys(x for e in graph.equations for x in e.inputs)
    batches: list[Atom] = [*graph.inputs, *[x for x in read if type(x) is Constant and not x.is_splat]]
    for data in batches:
        if len(data.shape) < 2 or data.shape[0] < model.fewest_tiles or not data.type.size:
            continue
        region = region_of(graph.equations, {data: 0})
        carried = [e.outputs[0] for e in region.rows]
        largest = max([_bytes([y]) for y in carried], default=0)
        if largest < max(least, model.stack_width * _bytes([data])) or 4 * _bytes(carried) < every:
            continue
        is_chain = len(_products(region.rows)) >= model.stack_products
        if not is_chain and _bytes(_of_products(region)) < model.whole_bytes:
            continue
        tile = model.stack_tile_bytes if is_chain else model.lone_stack_tile_bytes
        target = _target_rows(region, tile, largest // data.shape[0])
        rows = _rows(data.shape[0], target)
        if not is_chain and 4 * rows < target:  # each iteration would compute too little to pay for the loop
            continue
        if data.shape[0] // rows >= (model.fewest_tiles if is_chain else 2):
            yield _Choice(region, data, rows, _bytes(carried))


def _of_products(region: Region) -> set[Atom]:
    """Return the operands and results of contractions that have a batch axis."""
    made = {e.outputs[0] for e in region.rows}
    products = _products([*region.rows, *region.sums])
    return {x for e in products for x in (*e.inputs, *e.outputs) if x in made}


def _target_rows(region: Region, tile: int, row: int) -> int:
    """Return the number of samples of a tile.

    A sample has ``row`` bytes, and a tile about ``tile`` bytes. If a tile reads many bytes of weights, or the
    sums over the samples have many bytes, tiles are larger.
    """
    weights: set[Any] = set()
    for equation in _products([*region.rows, *region.sums]):
        axes = index_map(equation)
        assert axes is not None
        rows = batch_label(equation, axes, region)
        operands = zip(equation.inputs, axes.operands, strict=True)
        weights.update(x for x, labels in operands if rows not in labels)
    sums = _bytes(e.outputs[0] for e in region.sums)
    return max(tile, sums, 4 * (_bytes(weights) - costs().weight_bytes)) // row


def _rows(size: int, most: int) -> int:
    """Return the largest divisor of ``size`` that is at most ``most``."""
    return max(n for n in range(1, min(max(most, 1), size) + 1) if size % n == 0)


# -- queries of other modules, before a graph is complete ------------------------------------------------


def keeps_samples_apart(equations: Sequence[Equation], x: Variable, stack: int) -> bool:
    """Return whether :func:`tile_samples` will tile the stacks of these equations.

    Args:
        equations: the equations that depend on ``x``. Each of their results will have a stack of tangents.
        x: the batch.
        stack: number of bytes of the largest stack.
    """
    model = costs()
    if not is_one_cpu() or len(x.shape) < 2 or stack < model.stack_tiles * model.stack_tile_bytes:
        return False
    size = x.shape[0]
    if size < 2 or stack < model.stack_width * _bytes([x]):
        return False
    if size // _rows(size, model.stack_tile_bytes * size // stack) < model.fewest_tiles:
        return False
    region = region_of(equations, {x: 0})
    return len(region.rows) == len(equations)


def tile_of_directions(count: int, stack: int) -> int:
    """Return how many of ``count`` directions a forward Laplacian computes together."""
    model = costs()
    if count * stack <= model.direction_tiles * model.direction_tile_bytes:
        return count
    tiles = math.ceil(count / max(1, model.direction_tile_bytes // max(stack, 1)))
    return math.ceil(count / tiles)
