"""Loop tiling runs a batch some thousand rows at a time, with the rows along the last axis.

    Σ_n g(x_n) = Σ_tiles Σ_{n in tile} g(x_n)          [g(x_n)]_n = the tiles of results, one after another

Proof: rows that do not mix (``optimize.batch_region``) are functions of their own row of the data; sums
over them are linear. Only the order in which rows are added changes.

**When it pays** (measurements: ``docs/decisions/0019-thresholds-of-rewrites.md``). *Tiles*: a gradient stores
every layer of every derivative, in fresh memory with each call; from 30 MB on, tiles that fit the cache halve
the time. *Rows last*: XLA's vectors run along the last axis, which some thousand rows fill better than 20
features.

The estimate of the memory is the size of all products of the program. On other devices nothing is done.
Limits: the number of rows must have a divisor near the target number of tiles; programs with effects are
left alone; the order of additions is another one.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from mindgrad.control.scan import scan
from mindgrad.ir.build import Builder, building
from mindgrad.ir.graph import Constant, Equation, Graph, Variable
from mindgrad.ir.index_map import index_map, relabelled
from mindgrad.ir.partition import is_one_cpu
from mindgrad.ir.rewriting import Rewrite
from mindgrad.optimize.batch_region import Region, batch_region, left_behind, row_label
from mindgrad.rows.contraction import dot
from mindgrad.rows.kinds import zeros
from mindgrad.rows.structural import broadcast_in_dim, reshape, transpose

__all__ = ["tiled"]

TILES = Rewrite(
    "tiles",
    "Σ over all rows = Σ over tiles of Σ over the rows of a tile",
    "the sum over rows was computed in tiles that fit the cache",
)
ROWS_LAST = Rewrite(
    "rows last",
    "a program of rows with the axis of the rows at the end of every value",
    "rows were put last in every value",
)

#: rows of data that are looked at
_ROWS = 1024
#: bytes of products in a program above which tiles pay, and in each tile
_KEPT, _TILE = 30 << 20, 18 << 20
#: products per program, and features per product, where another layout pays
_PRODUCTS, _FEATURES = 8, 64


def tiled(graph: Graph) -> Graph:
    """``graph`` in tiles and with the rows last where that is cheaper; else ``graph`` itself."""
    sizes = {v.shape[0] for v in graph.inputs if v.shape and v.shape[0] >= _ROWS}
    if not sizes or graph.has_effect or not is_one_cpu():
        return graph
    size, region = max(
        ((size, batch_region(graph, size)) for size in sorted(sizes)), key=lambda each: _bytes(each[1])
    )
    products = [e for e in region.rows if e.primitive is dot]
    if len(products) < _PRODUCTS or _leaves_much(graph, region):
        return graph
    narrow = _bytes(region) <= _FEATURES * size * sum(e.outputs[0].dtype.itemsize for e in products)
    count = _count(region)
    if count == 1 and not narrow:
        return graph
    (TILES if count > 1 else ROWS_LAST).fired()
    return _Tiling(graph, region, count).graph()


def _bytes(region: Region) -> int:
    """The size of all products that carry the rows."""
    outputs = [e.outputs[0] for e in region.rows if e.primitive is dot]
    return sum(y.type.size * y.dtype.itemsize for y in outputs)


def _count(region: Region) -> int:
    """The number of tiles: one, or a divisor of the number of rows near the target."""
    total = _bytes(region)
    if total <= _KEPT:
        return 1
    target = math.ceil(total / _TILE)
    near = [n for n in range(max(2, target // 2), 2 * target + 2) if region.size % n == 0]
    return min(near, key=lambda n: abs(n - target), default=1)


def _leaves_much(graph: Graph, region: Region) -> bool:
    """Whether most of what the rows compute is needed as a whole afterwards."""
    left = left_behind(graph, region)
    return 4 * sum(v.type.size * v.dtype.itemsize for v in left) > _bytes(region)


class _Tiling:
    """The program of one tile while it is made, and the loop over the tiles."""

    def __init__(self, graph: Graph, region: Region, count: int) -> None:
        self._graph, self._region, self._count = graph, region, count
        self._rows = region.size // count
        self._body = Builder()
        self._outer = Builder()
        self._outside: dict[Any, Any] = {}
        #: values of the program in the body: those of a tile, the axis of the rows last
        self._inside: dict[Any, Any] = {}
        self._whole: dict[Any, Variable] = {}
        self._scanned: dict[tuple[Any, int], Variable] = {}

    def graph(self) -> Graph:
        """The program that runs over the tiles."""
        graph, region = self._graph, self._region
        with building(self._outer):
            for v in graph.inputs:
                self._outside[v] = self._outer.input(v.type, tainted=v.tainted)
            for equation in region.before:
                self._emit_outside(equation)
            left = left_behind(graph, region)
            sums, given = self._tile(left)
            totals = [e.outputs[0] for e in region.sums]
            for value, atom in zip([*totals, *left], self._loop(sums, given, left), strict=True):
                self._outside[value] = atom
            for equation in region.after:
                self._emit_outside(equation)
            return self._outer.close([self._read(y) for y in graph.outputs])

    def _read(self, atom: Any) -> Any:
        return self._outside[atom] if type(atom) is Variable else atom

    def _emit_outside(self, equation: Equation) -> None:
        made = self._outer.emit_again(equation, [self._read(x) for x in equation.inputs])
        self._outside.update(zip(equation.outputs, made, strict=True))

    # -- the loop ----------------------------------------------------------------------------------

    def _loop(self, sums: list[Any], values: list[Any], left: list[Variable]) -> list[Any]:
        """The sums over all tiles, and the values left behind, in full."""
        constants = [self._outside[atom] for atom in self._whole]
        scanned = [self._rows_first(atom, axis) for atom, axis in self._scanned]
        inputs = [*self._whole.values()]
        if self._count == 1:
            body = self._body.close([*sums, *values], [*inputs, *self._scanned.values()])
            results = self._outer.inline(body, [*constants, *scanned])
            return [*results[: len(sums)], *map(self._in_full, left, results[len(sums) :])]
        with building(self._body):
            carried = self._body.inputs_like(sums)
            added = [c + y for c, y in zip(carried, sums, strict=True)]
        body = self._body.close([*added, *values], [*inputs, *carried, *self._scanned.values()])
        parts = [reshape(x, shape=(self._count, self._rows, *x.shape[1:])) for x in scanned]
        results = scan(
            *constants, *[zeros(y.type) for y in sums], *parts,
            body=body, length=self._count, consts=len(constants), carries=len(sums),
        )  # fmt: skip
        return [*results[: len(sums)], *map(self._in_full, left, results[len(sums) :])]

    def _rows_first(self, atom: Any, axis: int) -> Any:
        x = self._read(atom)
        others = [k for k in range(len(x.shape)) if k != axis]
        return transpose(x, permutation=(axis, *others))

    def _in_full(self, value: Variable, tiles: Any) -> Any:
        """The tiles of ``value``, which have the rows last, as it was."""
        row_dim, last = self._region.places[value], len(value.shape) - 1
        if self._count == 1:
            return transpose(tiles, permutation=(*range(row_dim), last, *range(row_dim, last)))
        # (tiles, rest…, rows) with both in the place of the rows
        before, behind = range(1, row_dim + 1), range(row_dim + 1, last + 1)
        ordered = transpose(tiles, permutation=(*before, 0, last + 1, *behind))
        return reshape(ordered, shape=value.shape)

    # -- one tile ----------------------------------------------------------------------------------

    def _tile(self, left: list[Variable]) -> tuple[list[Any], list[Any]]:
        with building(self._body):
            for v in self._graph.inputs:
                if v in self._region.places:
                    self._inside[v] = self._slice(v, 0)
            sums: dict[Any, Any] = {}
            outside = {*self._region.before, *self._region.after}
            for equation in self._graph.equations:
                if equation in outside:
                    continue
                self._body.source = equation.source
                made = self._emit_tile(equation)
                target = self._inside if equation.outputs[0] in self._region.places else sums
                target[equation.outputs[0]] = made
            self._body.source = None
            return [sums[e.outputs[0]] for e in self._region.sums], [self._inside[v] for v in left]

    def _slice(self, atom: Any, axis: int) -> Any:
        """The tile of data, or of a value that does not depend on the rows, its ``axis`` last."""
        if (atom, axis) not in self._scanned:
            rest = tuple(n for k, n in enumerate(atom.shape) if k != axis)
            self._scanned[atom, axis] = self._body.input(
                atom.type.with_shape((self._rows, *rest)), tainted=atom.tainted
            )
        tile = self._scanned[atom, axis]
        return transpose(tile, permutation=(*range(1, len(tile.shape)), 0))

    def _as_whole(self, atom: Any) -> Any:
        """A value that does not depend on the rows, as it is."""
        if type(atom) is not Variable:
            return atom
        if atom not in self._whole:
            self._whole[atom] = self._body.input(atom.type, tainted=atom.tainted)
        return self._whole[atom]

    def _at(self, atom: Any, row_dim: int) -> Any:
        """The tile of ``atom``, whose axis ``row_dim`` counts the rows, with that axis last."""
        if type(atom) is Variable and atom in self._inside:
            return self._inside[atom]
        shape = (*atom.shape[:row_dim], *atom.shape[row_dim + 1 :], self._rows)
        if type(atom) is Constant and atom.is_splat:
            return Constant(atom.value, atom.type.with_shape(shape))
        if type(atom) is Constant and not atom.value.strides[row_dim]:  # the same for all rows
            return Constant(np.broadcast_to(atom.value.take(0, row_dim)[..., None], shape))
        made_by = atom.made_by if type(atom) is Variable else None
        if made_by is not None and made_by.primitive is broadcast_in_dim:
            dims = made_by.parameters["dims"]
            if row_dim not in dims:
                small = self._as_whole(made_by.inputs[0])
                return broadcast_in_dim(small, shape=shape, dims=tuple(_rest(d, row_dim) for d in dims))
        return self._slice(atom, row_dim)

    def _emit_tile(self, equation: Equation) -> Any:
        """The equation for the rows of a tile, which are last in its operands and in its result."""
        axes = index_map(equation)
        assert axes is not None
        rows = row_label(equation, axes, self._region)
        operands = [
            self._at(x, labels.index(rows)) if rows in labels else self._as_whole(x)
            for x, labels in zip(equation.inputs, axes.operands, strict=True)
        ]
        old, result = list(map(_rows_last(rows), axes.operands)), _rows_last(rows)(axes.results[0])
        form = relabelled(equation, axes, old, (result,), {rows: self._rows})
        if form is None:  # only in the order in which they were
            operands = list(map(_transposed, operands, old, axes.operands))
            form = relabelled(equation, axes, axes.operands, axes.results, {rows: self._rows})
            assert form is not None
        made = equation.primitive(*(operands[::-1] if form.swaps else operands), **form.parameters)
        return _transposed(made, form.results[0], result)


def _rows_last(rows: int) -> Callable[[Sequence[int]], tuple[int, ...]]:
    """The function of labels that puts the label of the rows last, where it is one of them."""
    return lambda labels: (*[x for x in labels if x != rows], *[x for x in labels if x == rows])


def _transposed(atom: Any, labels: Sequence[int], order: Sequence[int]) -> Any:
    """``atom``, whose axes are ``labels``, with its axes in another order."""
    return transpose(atom, permutation=tuple([labels.index(label) for label in order]))


def _rest(axis: int, place: int) -> int:
    return axis - (axis > place)
