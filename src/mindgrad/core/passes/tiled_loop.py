"""Tiled loop: evaluate the batch region of a graph for some samples at a time.

    Σ_n g(x_n) = Σ_tiles Σ_{n in tile} g(x_n)          [g(x_n)]_n = the results of the tiles, concatenated

A *tile* is a slice of the batch. The *batch region* contains the equations that treat samples independently,
and sums over the samples (``passes.batch_region``). ``passes.tiling`` decides which graphs are divided
into tiles.

Proof: in the batch region, sample n of a value depends only on sample n of the batch, and sums over the
samples are linear. Only the order of additions changes.

In a tile, either every value has its original axis order, or every value has the batch axis last. A value
that is computed outside the loop enters it in one of two ways. A value without a batch axis is a constant of
the loop. A value with a batch axis is divided, so that each iteration receives one slice.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from mindgrad.core.control.scan import scan
from mindgrad.core.ir.build import Builder, building
from mindgrad.core.ir.graph import Atom, Constant, Equation, Graph, Variable
from mindgrad.core.ir.index_map import Labels, index_map, relabeled, repetition
from mindgrad.core.ir.rules import Atoms
from mindgrad.core.passes.batch_region import Region, batch_label, left_behind
from mindgrad.core.primitives.kinds import zeros
from mindgrad.core.primitives.static_slices import pad
from mindgrad.core.primitives.structural import broadcast_in_dim, reshape, transpose

__all__ = ["TiledLoop", "accumulate_tiles"]


def accumulate_tiles(
    body: Graph,
    constants: Atoms,
    arrays: Atoms,
    size: int,
    sums: int,
    axes: Sequence[int] = (),
) -> list[Atom]:
    """Run ``body`` for each tile of ``arrays``; add or stack each result.

    Args:
        body: graph whose inputs are the constants and one tile of each array.
        constants: operands that are passed whole to every tile.
        arrays: operands that are divided into tiles. The last tile is padded with zeros.
        size: number of elements of a tile along the divided axis.
        sums: the first ``sums`` results of ``body`` are added over all tiles. All other results are stacked.
        axes: for each array, the axis that is divided. Default: the first axis.
    """
    axes = axes or (0,) * len(arrays)
    builder = Builder()
    with building(builder):
        inputs = builder.inputs_like(body.inputs)
        results = builder.inline(body, inputs)
    count = len(constants)
    divided = zip(arrays, axes, inputs[count:], strict=True)
    return _summed(builder, results, sums, [*zip(constants, inputs[:count], strict=True)], [*divided], size)


def _summed(
    builder: Builder,
    results: Atoms,
    sums: int,
    constants: Sequence[tuple[Atom, Variable]],
    arrays: Sequence[tuple[Atom, int, Variable]],
    size: int,
) -> list[Atom]:
    """Emit the loop over the tiles; return the sums, then the stacked results.

    Args:
        builder: builder that contains the equations of the body.
        results: results of the body.
        sums: the first ``sums`` results are added over all tiles. All other results are stacked.
        constants: pairs (constant of the loop, input of the body that receives it).
        arrays: triples (divided array, its divided axis, input of the body that receives one tile of it).
        size: number of elements of a tile along the divided axis.
    """
    with building(builder):
        carry = builder.inputs_like(results[:sums])
        added = [total + part for total, part in zip(carry, results, strict=False)]
    tiles = [tile for _, _, tile in arrays]
    iteration = builder.close([*added, *results[sums:]], [*[x for _, x in constants], *carry, *tiles])
    length = -(-arrays[0][0].shape[arrays[0][1]] // size)
    return list(
        scan(
            *[x for x, _ in constants],
            *[zeros(y.type) for y in carry],
            *[_divided(x, axis, length, size) for x, axis, _ in arrays],
            body=iteration, length=length, consts=len(constants), carries=sums,
        )
    )  # fmt: skip


def _divided(x: Atom, axis: int, length: int, size: int) -> Atom:
    """Divide ``axis`` of ``x`` into ``length`` tiles, stacked along a new first axis."""
    missing = length * size - x.shape[axis]
    if missing:
        none = (0,) * len(x.shape)
        x = pad(x, low=none, high=(*none[:axis], missing, *none[axis + 1 :]), interior=none)
    x = reshape(x, shape=(*x.shape[:axis], length, size, *x.shape[axis + 1 :]))
    return transpose(x, permutation=(axis, *[k for k in range(len(x.shape)) if k != axis])) if axis else x


def _joined(tiles: Atom, axis: int) -> Atom:
    """Concatenate tiles along ``axis``. ``tiles`` stacks them along the first axis."""
    if axis:
        order = (*range(1, axis + 1), 0, *range(axis + 1, len(tiles.shape)))
        tiles = transpose(tiles, permutation=order)
    shape = tiles.shape
    return reshape(tiles, shape=(*shape[:axis], shape[axis] * shape[axis + 1], *shape[axis + 2 :]))


class TiledLoop:
    """Builder of the body for one tile, and of the graph that loops over the tiles.

    Args:
        graph: the graph to divide into tiles.
        region: the equations of ``graph``, grouped by how they depend on the batch.
        size: number of samples of the batch.
        rows: number of samples of a tile, a divisor of ``size``.
        batch_last: whether every value in a tile has the batch axis last.
    """

    def __init__(self, graph: Graph, region: Region, size: int, rows: int, batch_last: bool) -> None:
        self._graph, self._region = graph, region
        self._size, self._rows, self._batch_last = size, rows, batch_last
        self._body, self._outer = Builder(), Builder()
        #: dicts that map each variable of the old graph to its value in the new graph: ``_outside`` for
        #: values outside the loop, and ``_inside`` for values of one tile
        self._outside: dict[Atom, Atom] = {}
        self._inside: dict[Atom, Atom] = {}
        #: inputs of the loop body: ``_whole`` maps a value without a batch axis to its input, and ``_sliced``
        #: maps (value, batch axis) to the input that receives one slice of the value
        self._whole: dict[Atom, Variable] = {}
        self._sliced: dict[tuple[Atom, int], Variable] = {}

    def graph(self) -> Graph:
        """Build the graph with the loop over the tiles."""
        graph, region = self._graph, self._region
        with building(self._outer):
            for v in graph.inputs:
                self._outside[v] = self._outer.input(v.type, tainted=v.tainted)
            for equation in region.before:
                self._emit_outside(equation)
            left = left_behind(graph, region)
            totals = [e.outputs[0] for e in region.sums]
            for value, atom in zip([*totals, *left], self._loop(totals, left), strict=True):
                self._outside[value] = atom
            for equation in region.after:
                self._emit_outside(equation)
            return self._outer.close([self._read(y) for y in graph.outputs])

    def _read(self, atom: Atom) -> Atom:
        return self._outside[atom] if type(atom) is Variable else atom

    def _emit_outside(self, equation: Equation) -> None:
        made = self._outer.emit_again(equation, [self._read(x) for x in equation.inputs])
        self._outside.update(zip(equation.outputs, made, strict=True))

    def _loop(self, totals: Sequence[Variable], left: Sequence[Variable]) -> list[Atom]:
        """Emit the loop over the tiles; return the values that are read after the loop.

        The returned values are the sums ``totals`` and, for the whole batch, the values ``left``, which have
        a batch axis.
        """
        region = self._region
        inner = {*region.rows, *region.sums}
        with building(self._body):
            for equation in self._graph.equations:
                if equation in inner:
                    self._body.source = equation.source
                    self._inside[equation.outputs[0]] = self._emit_tile(equation)
            self._body.source = None
            tiles = [self._in_place(self._inside[v], region.places[v]) for v in left]
        results, count = [*[self._inside[y] for y in totals], *tiles], len(totals)
        constants = [(self._outside[x], whole) for x, whole in self._whole.items()]
        arrays = [(self._read(x), axis, part) for (x, axis), part in self._sliced.items()]
        if self._rows == self._size:
            body = self._body.close(results, [*self._whole.values(), *self._sliced.values()])
            return list(self._outer.inline(body, [*[x for x, _ in constants], *[x for x, _, _ in arrays]]))
        results = _summed(self._body, results, count, constants, arrays, self._rows)
        stacks = zip(results[count:], left, strict=True)
        return [*results[:count], *[_joined(y, region.places[v]) for y, v in stacks]]

    # -- one tile ----------------------------------------------------------------------------------

    def _order(self, labels: Labels, rows: int) -> Labels:
        """Return ``labels``, with the batch label ``rows`` last if tiles have this order."""
        if not self._batch_last or rows not in labels:
            return labels
        return (*[label for label in labels if label != rows], rows)

    def _in_place(self, tile: Atom, axis: int) -> Atom:
        """Transpose a value of a tile back to its original axis order."""
        last = len(tile.shape) - 1
        if not self._batch_last:
            return tile
        return transpose(tile, permutation=(*range(axis), last, *range(axis, last)))

    def _emit_tile(self, equation: Equation) -> Atom:
        """Emit ``equation`` for the samples of a tile."""
        axes = index_map(equation)
        assert axes is not None
        rows = batch_label(equation, axes, self._region)
        operands = [
            self._at(x, labels.index(rows)) if rows in labels else self._as_whole(x)
            for x, labels in zip(equation.inputs, axes.operands, strict=True)
        ]
        old = [self._order(labels, rows) for labels in axes.operands]
        result = self._order(axes.results[0], rows)
        form = relabeled(equation, axes, old, (result,), {rows: self._rows})
        if form is None:  # this operator needs its axes in their old order
            operands = list(map(_transposed, operands, old, axes.operands))
            form = relabeled(equation, axes, axes.operands, axes.results, {rows: self._rows})
            assert form is not None
        made = equation.primitive(*(operands[::-1] if form.swaps else operands), **form.parameters)
        return _transposed(made, form.results[0], result)

    def _as_whole(self, atom: Atom) -> Atom:
        """Return the input of the loop body for ``atom``, which is equal for all tiles."""
        if type(atom) is not Variable:
            return atom
        if atom not in self._whole:
            self._whole[atom] = self._body.input(atom.type, tainted=atom.tainted)
        return self._whole[atom]

    def _at(self, atom: Atom, axis: int) -> Atom:
        """Return the slice of ``atom`` that the current tile needs along ``axis``.

        ``axis`` is the batch axis of ``atom``.
        """
        if type(atom) is Variable and atom in self._inside:
            return self._inside[atom]
        others = [k for k in range(len(atom.shape)) if k != axis]
        order = [*others, axis] if self._batch_last else list(range(len(atom.shape)))
        sizes = [self._rows if k == axis else n for k, n in enumerate(atom.shape)]
        shape = tuple([sizes[k] for k in order])
        if type(atom) is Constant:
            if atom.is_splat:
                return Constant(atom.value, atom.type.with_shape(shape))
            if not atom.value.strides[axis]:  # a broadcast constant, equal for all samples
                one = np.expand_dims(atom.value.take(0, axis), axis).transpose(order)
                return Constant(np.broadcast_to(one, shape))
        repeated = repetition(atom)
        if repeated is not None and axis not in repeated[1]:
            small, dims = repeated
            return broadcast_in_dim(self._as_whole(small), shape=shape, dims=tuple(map(order.index, dims)))
        if (atom, axis) not in self._sliced:
            type_ = atom.type.with_shape(tuple(sizes))
            self._sliced[atom, axis] = self._body.input(type_, tainted=atom.tainted)
        return transpose(self._sliced[atom, axis], permutation=tuple(order))


def _transposed(atom: Atom, labels: Labels, order: Labels) -> Atom:
    """Transpose ``atom``, so that its axis labels ``labels`` have the order ``order``."""
    return transpose(atom, permutation=tuple([labels.index(label) for label in order]))
