"""Strip mining runs a program that stores much per row for a few rows at a time, so that stacks stay in
cache.

    Σ_n g(x_n) = Σ_blocks Σ_{n in block} g(x_n)          [g(x_n)]_n = the blocks of results, one after another

Proof: as for ``optimize.tiles``. Tiles serve many rows with little memory each; blocks serve what a forward
Laplacian makes of few rows: for every value the tangents along all directions, a stack of D tangents of H
features per row of D coordinates. Every value keeps its axes. The data are one input or constant, or the
result of a loop in front of the stacks; all of it may stand in the body of a loop.

**When it pays** (measurements: ``docs/decisions/0019-thresholds-of-rewrites.md``). A block is large enough
for two threads and small enough for the cache; since sums over the rows are read and written in every block,
a block is never smaller than the sums. Where most stacks are needed again behind a sum over the rows (the
gradient of the root of a mean), a first loop computes the sums, and a second one recomputes the stacks. With
one or two products a block must be large; it then saves the memory that the allocator would return to the
system.

Limits: the number of rows of a block divides the number of all rows; programs with effects are left alone, as
are those for other devices.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from mindgrad.control.scan import scan
from mindgrad.ir.build import Builder, building
from mindgrad.ir.graph import Constant, Equation, Graph, Variable
from mindgrad.ir.index_map import index_map, relabelled
from mindgrad.ir.partition import is_one_cpu
from mindgrad.ir.rewriting import Rewrite
from mindgrad.optimize.batch_region import Region, left_behind, region_of, row_label
from mindgrad.optimize.graph_rewriter import inside
from mindgrad.rows.contraction import dot
from mindgrad.rows.kinds import zeros
from mindgrad.rows.structural import broadcast_in_dim, reshape, transpose

__all__ = ["BLOCK", "WORTH", "in_blocks", "keeps_rows_apart"]

BLOCKS = Rewrite(
    "blocks",
    "Σ over all rows = Σ over blocks of Σ over the rows of a block, whose stacks are small",
    "the sum over rows was computed in blocks that fit the cache",
)

#: bytes of the largest value in a block, and how many times as many it must have in full
BLOCK, WORTH = 2**18, 8
#: how many times as many elements as a row of data the largest value has for each row: below, ``tiles``
_WIDTH = 48
#: bytes of weights that stay in the cache between two blocks
_CACHE = 1 << 20
_FEWEST = 4
#: products of a chain of layers: with fewer, such a block is too little work for two threads
_PRODUCTS = 3
#: with fewer products: bytes from which on glibc takes memory from the system anew in each call, and bytes of
#: the largest value in a block
_FRESH, _LARGE_BLOCK = 30 << 20, 8 << 20
#: loops of one program: the first makes sums that the other needs
_LOOPS = 2


def in_blocks(graph: Graph) -> Graph:
    """``graph`` with its stacks in blocks where that is cheaper; else ``graph`` itself."""
    if graph.has_effect or not is_one_cpu():
        return graph
    graph = inside(graph, in_blocks)
    large = [k for k, e in enumerate(graph.equations) if _is_stack(e)]
    if not large:
        return graph
    # results of a loop or branch in front of the stacks can be data
    start = 1 + max(
        (k for k in range(large[0]) if graph.equations[k].primitive.kind == "control"), default=-1
    )
    equations = graph.equations[start:]
    made = {y for e in equations for y in e.outputs}
    read = [x for e in equations for x in e.inputs] + list(graph.outputs)
    live = [x for x in dict.fromkeys(read) if type(x) is Variable and x not in made]
    later = Graph(live, equations, graph.outputs)
    better = _in_loops(later, _LOOPS)
    if better is None:
        return graph
    BLOCKS.fired()
    builder = Builder()
    with building(builder):
        inputs = builder.inputs_like(graph.inputs)
        before = builder.inline(Graph(graph.inputs, graph.equations[:start], live), inputs)
        return builder.close(builder.inline(better, before))


def keeps_rows_apart(equations: Sequence[Equation], x: Variable, stack: int) -> bool:
    """Whether stacks for these equations, of ``stack`` bytes each, will go in blocks of rows of ``x``.

    Args:
        equations: all that depends on ``x`` and is followed by stacks.
        x: the rows.
        stack: bytes of the largest stack.
    """
    if not is_one_cpu() or len(x.shape) < 2 or stack < WORTH * BLOCK:
        return False
    size, row = x.shape[0], x.type.size * x.dtype.itemsize
    if size < 2 or stack < _WIDTH * row or size // _rows(size, BLOCK * size // stack) < _FEWEST:
        return False
    region = region_of(equations, {x: 0})
    return len(region.rows) == len(equations)


def _bytes(values: Iterable[Any]) -> int:
    return sum(v.type.size * v.dtype.itemsize for v in values)


def _is_stack(equation: Equation) -> bool:
    y = equation.outputs[0] if equation.outputs else None
    return (
        y is not None
        and len(y.shape) >= 3
        and y.type.size * y.dtype.itemsize >= WORTH * BLOCK
        and equation.primitive.kind != "control"
        and equation.primitive is not broadcast_in_dim
    )


# -- what is worth it ----------------------------------------------------------------------------------


def _in_loops(graph: Graph, most: int) -> Graph | None:
    """``graph`` in blocks, in at most so many loops; ``None`` where that is not worth it.

    What is needed again behind sums over the rows is computed anew, in a further loop, if it is large.
    """
    chosen = max(_choices(graph), key=lambda choice: choice.carried, default=None)
    if chosen is None:
        return None
    region, data = chosen.region, chosen.data
    left = left_behind(graph, region)
    if 4 * _bytes(left) <= chosen.carried:
        return _Blocks(graph, region, data, chosen.rows).graph()
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
    builder = Builder()
    with building(builder):
        inputs = builder.inputs_like(graph.inputs)
        results = builder.inline(
            _Blocks(start, region_of(start.equations, {data: 0}), data, chosen.rows).graph(), inputs
        )
        return builder.close(builder.inline(remainder, [*inputs, *results]))


class _Choice(NamedTuple):
    """Data whose rows may go in blocks of ``rows``, and the bytes of all that carries them."""

    region: Region
    data: Any
    rows: int
    carried: int


def _choices(graph: Graph) -> Iterable[_Choice]:
    """The data whose stacks are most of the program."""
    every = _bytes(y for e in graph.equations for y in e.outputs)
    read = dict.fromkeys(x for e in graph.equations for x in e.inputs)
    for data in [*graph.inputs, *[x for x in read if type(x) is Constant and not x.is_splat]]:
        if len(data.shape) < 2 or data.shape[0] < _FEWEST or not data.type.size:
            continue
        region = region_of(graph.equations, {data: 0})
        carried = [e.outputs[0] for e in region.rows]
        is_chain = sum(e.primitive is dot for e in region.rows) >= _PRODUCTS
        block, fewest = (BLOCK, _FEWEST) if is_chain else (_LARGE_BLOCK, 2)
        largest = max([_bytes([y]) for y in carried], default=0)
        if largest < WORTH * BLOCK or largest < _WIDTH * _bytes([data]) or 4 * _bytes(carried) < every:
            continue
        if not is_chain and _bytes(_of_products(region)) < _FRESH:
            continue
        target = _target_rows(region, block, largest // data.shape[0])
        rows = _rows(data.shape[0], target)
        if not is_chain and 4 * rows < target:  # too little work in a block of so few
            continue
        if data.shape[0] // rows >= fewest:
            yield _Choice(region, data, rows, _bytes(carried))


def _of_products(region: Region) -> set[Any]:
    """Values that carry the rows and that a product takes or gives: others need not be in memory."""
    made = {e.outputs[0] for e in region.rows}
    products = [e for e in [*region.rows, *region.sums] if e.primitive is dot]
    return {x for e in products for x in (*e.inputs, *e.outputs) if x in made}


def _target_rows(region: Region, block: int, row: int) -> int:
    """The number of rows of ``row`` bytes that fill ``block`` bytes."""
    weights: set[Any] = set()
    for equation in [*region.rows, *region.sums]:
        if equation.primitive is dot:
            axes = index_map(equation)
            assert axes is not None
            rows = row_label(equation, axes, region)
            operands = zip(equation.inputs, axes.operands, strict=True)
            weights.update(x for x, labels in operands if rows not in labels)
    sums = _bytes(e.outputs[0] for e in region.sums)
    return max(block, sums, 4 * (_bytes(weights) - _CACHE)) // row


def _rows(size: int, most: int) -> int:
    """The largest divisor of ``size`` that is at most ``most``."""
    return max(n for n in range(1, min(max(most, 1), size) + 1) if size % n == 0)


# -- how it is done ------------------------------------------------------------------------------------


class _Blocks:
    """The program of one block while it is made, and the loop over the blocks."""

    def __init__(self, graph: Graph, region: Region, data: Any, rows: int) -> None:
        self._graph, self._region, self._rows = graph, region, rows
        self._count = data.shape[0] // rows
        self._outside: dict[Any, Any] = {}
        self._inside: dict[Any, Any] = {}
        self._body = Builder()
        #: inputs of the body: whole values, and blocks of values by their axis of rows
        self._whole: dict[Any, Variable] = {}
        self._sliced: dict[tuple[Any, int], Variable] = {}

    def graph(self) -> Graph:
        """The program that runs over the blocks."""
        graph, region = self._graph, self._region
        outer = Builder()
        with building(outer):
            for v in graph.inputs:
                self._outside[v] = outer.input(v.type, tainted=v.tainted)
            for equation in region.before:
                self._emit_outside(outer, equation)
            left = left_behind(graph, region)
            values = [*[e.outputs[0] for e in region.sums], *left]
            for value, atom in zip(values, self._loop(left), strict=True):
                self._outside[value] = atom
            for equation in region.after:
                self._emit_outside(outer, equation)
            return outer.close([self._read(y) for y in graph.outputs])

    def _read(self, atom: Any) -> Any:
        return self._outside[atom] if type(atom) is Variable else atom

    def _emit_outside(self, outer: Builder, equation: Equation) -> None:
        made = outer.emit_again(equation, [self._read(x) for x in equation.inputs])
        self._outside.update(zip(equation.outputs, made, strict=True))

    def _loop(self, left: Sequence[Variable]) -> list[Any]:
        """The sums over all blocks, and the values that are left behind, in full."""
        region, body = self._region, self._body
        with building(body):
            inner = {*region.rows, *region.sums}
            for equation in self._graph.equations:
                if equation in inner:
                    self._emit_inside(equation)
            sums = [self._inside[e.outputs[0]] for e in region.sums]
            carried = body.inputs_like(sums)
            added = [c + y for c, y in zip(carried, sums, strict=True)]
        outputs = [*added, *[self._inside[v] for v in left]]
        closed = body.close(outputs, [*self._whole.values(), *carried, *self._sliced.values()])
        constants = [self._outside[x] for x in self._whole]
        results = scan(
            *constants, *[zeros(y.type) for y in sums],
            *[self._in_blocks(self._read(x), axis) for x, axis in self._sliced],
            body=closed, length=self._count, consts=len(constants), carries=len(sums),
        )  # fmt: skip
        blocks = zip(results[len(sums) :], left, strict=True)
        return [*results[: len(sums)], *[self._joined(y, region.places[v]) for y, v in blocks]]

    def _in_blocks(self, x: Any, axis: int) -> Any:
        shape = (*x.shape[:axis], self._count, self._rows, *x.shape[axis + 1 :])
        x = reshape(x, shape=shape)
        others = [k for k in range(len(shape)) if k != axis]
        return transpose(x, permutation=(axis, *others)) if axis else x

    def _joined(self, blocks: Any, axis: int) -> Any:
        order = [*range(1, axis + 1), 0, *range(axis + 1, len(blocks.shape))]
        made = transpose(blocks, permutation=tuple(order)) if axis else blocks
        shape = made.shape
        return reshape(made, shape=(*shape[:axis], shape[axis] * shape[axis + 1], *shape[axis + 2 :]))

    # -- one block ---------------------------------------------------------------------------------

    def _emit_inside(self, equation: Equation) -> None:
        axes = index_map(equation)
        assert axes is not None
        rows = row_label(equation, axes, self._region)
        form = relabelled(equation, axes, axes.operands, axes.results, {rows: self._rows})
        assert form is not None
        operands = [
            self._block(x, labels.index(rows) if rows in labels else None)
            for x, labels in zip(equation.inputs, axes.operands, strict=True)
        ]
        made = self._body.emit_again(equation, operands, **form.parameters)
        self._inside.update(zip(equation.outputs, made, strict=True))

    def _block(self, atom: Any, row_dim: int | None) -> Any:
        """The body's block of ``atom``, whose axis ``row_dim`` runs over the rows."""
        if type(atom) is Variable and atom in self._inside:
            return self._inside[atom]
        if type(atom) is Constant and (row_dim is None or atom.shape[row_dim] != self._rows * self._count):
            return atom
        if row_dim is None:
            if atom not in self._whole:
                self._whole[atom] = self._body.input(atom.type, tainted=atom.tainted)
            return self._whole[atom]
        type_ = atom.type.with_shape(_with(atom.shape, row_dim, self._rows))
        if type(atom) is Constant and atom.is_splat:
            return Constant(atom.value, type_)
        made_by = atom.made_by if type(atom) is Variable else None
        if made_by is not None and made_by.primitive is broadcast_in_dim:
            dims = made_by.parameters["dims"]
            if row_dim not in dims:  # the same for all rows
                small = self._block(made_by.inputs[0], None)
                return broadcast_in_dim(small, shape=type_.shape, dims=dims)
        if (atom, row_dim) not in self._sliced:
            self._sliced[atom, row_dim] = self._body.input(type_, tainted=atom.tainted)
        return self._sliced[atom, row_dim]


def _with(shape: Sequence[int], place: int | None, size: int) -> tuple[int, ...]:
    assert place is not None
    return (*shape[:place], size, *shape[place + 1 :])
