"""Sparse Jacobians and Hessians as one program: the entries are picked from what colours show.

    data[e] = Σ_{(r, z) ↦ e} T[colour(z), r]

(or ``T[colour(r), z]`` for cotangents; see ``ways``). Several elements of z can be one element of x: then the
entry is the sum of several numbers.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from mindgrad.ir.build import Builder
from mindgrad.ir.graph import Constant, Graph, live_equations, without_effects
from mindgrad.ir.types import TensorType, tensor_type
from mindgrad.rows.indexing import gather, scatter_add
from mindgrad.rows.kinds import accumulate, zeros
from mindgrad.rows.static_slices import concatenate
from mindgrad.rows.structural import convert, reshape
from mindgrad.sparse.colour_seeds import is_scattered
from mindgrad.sparse.sparsity import Known
from mindgrad.sparse.strategies import best_way
from mindgrad.sparse.strategy import Way

__all__ = ["Structure", "compressed"]

#: contributions to one entry that are read side by side; more are added up
_SIDE_BY_SIDE = 4


class Structure:
    """What is known of a sparse matrix before its numbers are.

    Attributes:
        blocks: for each output, for each input a ``csr_array`` with its indices and other numbers.
        colours: how many tangents or cotangents were taken together to find it.
        is_dense: whether compression brings nothing.
        way: how it is computed, in words.
    """

    __slots__ = ("blocks", "colours", "is_dense", "way")

    def __init__(self, blocks: list[list[Any]], way: Way) -> None:
        self.blocks = blocks
        self.colours = way.count
        self.is_dense = way.is_dense
        self.way = way.name


def compressed(
    sparse: Any, builder: Builder, xs: Sequence[Any], ys: Sequence[Any], known: Known,
    second: bool, compiled: bool,
) -> tuple[list[Any], Structure]:  # fmt: skip
    """The entries of the Jacobian of ``ys`` by ``xs``, or with ``second`` of the Hessian of the one y.

    Args:
        sparse: the module ``scipy.sparse``.
        builder: the current builder, which holds the program.
        xs, ys: its inputs that are differentiated and its outputs.
        known: values of other inputs.
        second: whether it is the Hessian.
        compiled: whether the program is made to be compiled.

    Returns:
        The atoms of the entries of each block, block by block, and the structure.
    """
    graph = without_effects(Graph(builder.inputs, live_equations(builder.equations, ys), ys))
    active = [builder.inputs.index(x) for x in xs]
    way = best_way(sparse, graph, active, known, second, compiled)
    row_types = [x.type for x in (xs if second else ys)]
    column_sizes = [x.type.size for x in xs]
    found = _arranged(sparse, way, second, [type.size for type in row_types], column_sizes)
    parts = _parts(way, xs) if compiled else way.cut.parts
    pieces = builder.inline(way.graph, [*way.cut.others, *parts])
    structure = Structure(found.blocks, way)
    return _picked(pieces, way, found, row_types), structure


# -- entries ---------------------------------------------------------------------------------------


def _parts(way: Way, xs: Sequence[Any]) -> list[Any]:
    """z, read from x in one step where its elements lie scattered there.

    As the program has it, whole rows of a table are read, and of these every eleventh number.
    """
    ends = np.cumsum([0, *[x.type.size for x in xs]])
    made = []
    for z, source in zip(way.cut.parts, way.cut.sources, strict=True):
        k = int(np.searchsorted(ends, source[0], "right")) - 1 if len(source) else 0
        is_of_one = len(source) and source.min() >= max(ends[k], 0) and source.max() < ends[k + 1]
        if is_of_one and is_scattered(source):
            flat = reshape(xs[k], shape=(xs[k].type.size,))
            places = Constant((source - ends[k]).astype(np.int32)[:, None])
            z = reshape(gather(flat, places, axes=(0,), fill="zero"), shape=z.shape)
        made.append(z)
    return made


class _Arranged:
    """The entries of the matrix in their order.

    Attributes:
        blocks: as in :class:`Structure`.
        ends: where each block ends among all entries.
        places: for each entry its places among the pieces: one array for each of several contributions,
            the place behind the last piece standing for zero; or
        targets: with one array in ``places``, the entry to which each contribution is added.
        size: the number of entries.
    """

    __slots__ = ("blocks", "ends", "places", "size", "targets")

    def __init__(self, blocks: Any, ends: Any, places: Any, targets: Any, size: int) -> None:
        self.blocks = blocks
        self.ends = ends
        self.places = places
        self.targets = targets
        self.size = size


def _arranged(
    sparse: Any, way: Way, second: bool, row_sizes: Sequence[int], column_sizes: Sequence[int]
) -> _Arranged:
    row, column, colour, element = way.entries
    owner = np.repeat(np.arange(len(way.sizes)), way.sizes)[element]
    first = np.cumsum([0, *way.sizes])[:-1]
    start = way.starts[colour, owner]
    place = start + way.strides[colour, owner] * (element - first[owner])
    source = np.concatenate([*way.cut.sources, np.empty(0, np.int64)])
    row = source[row] if second else row
    column = source[column]
    there = (start >= 0) & (row >= 0) & (column >= 0)
    if not there.all():
        row, column, place = row[there], column[there], place[there]
    height, width = sum(row_sizes), sum(column_sizes)
    key = row * width + column
    if len(row_sizes) > 1 or len(column_sizes) > 1:
        of_row = np.repeat(np.arange(len(row_sizes)), row_sizes)[row]
        of_column = np.repeat(np.arange(len(column_sizes)), column_sizes)[column]
        key += (of_row * len(column_sizes) + of_column) * (height * width)
    if np.any(key[1:] < key[:-1]):
        order = np.argsort(key, kind="stable")
        key, place = key[order], place[order]
    is_new = np.ones(len(key), bool)
    is_new[1:] = key[1:] != key[:-1]
    entry = np.cumsum(is_new) - 1
    key = key[is_new]
    size = len(key)
    total = _total(way)
    at = np.flatnonzero(is_new)
    most = int(np.diff(np.append(at, len(entry))).max(initial=0))
    targets = None
    if most <= _SIDE_BY_SIDE:
        rank = np.arange(len(entry)) - at[entry]
        places = []
        for k in range(max(most, 1)):
            each = np.full(size, total, np.int64)
            each[entry[rank == k]] = place[rank == k]
            places.append(each)
    else:
        places, targets = [place], entry
    blocks, ends = _blocks(sparse, key, row_sizes, column_sizes)
    return _Arranged(blocks, ends, places, targets, size)


def _total(way: Way) -> int:
    """The number of elements of all pieces."""
    return sum(piece.type.size for piece in way.graph.outputs)


def _blocks(sparse: Any, key: Any, row_sizes: Sequence[int], column_sizes: Sequence[int]) -> tuple[Any, Any]:
    height, width = sum(row_sizes), sum(column_sizes)
    above, left = np.cumsum([0, *row_sizes]), np.cumsum([0, *column_sizes])
    blocks: list[list[Any]] = []
    ends = []
    for i, rows in enumerate(row_sizes):
        blocks.append([])
        for j, columns_ in enumerate(column_sizes):
            number = i * len(column_sizes) + j
            low, high = np.searchsorted(key, [number * height * width, (number + 1) * height * width])
            row, column = np.divmod(key[low:high] - number * height * width, max(width, 1))
            indices = (column - left[j]).astype(np.int32)
            per_row = np.bincount(row - above[i], minlength=rows)
            row_ends = np.concatenate([[0], np.cumsum(per_row)]).astype(np.int32)
            for array in (indices, row_ends):  # they are those of every matrix that is made
                array.flags.writeable = False
            like = sparse.csr_array((np.zeros(len(indices)), indices, row_ends), (rows, columns_), copy=False)
            like.has_sorted_indices = like.has_canonical_format = True
            blocks[-1].append(like)
            ends.append(int(high))
    return blocks, ends


def _picked(pieces: Sequence[Any], way: Way, found: _Arranged, types: Sequence[TensorType]) -> list[Any]:
    """The entries of each block."""
    blocks = [type for type, row in zip(types, found.blocks, strict=True) for _ in row]
    if not found.size:
        return [zeros(type.with_shape((0,))) for type in blocks]
    dtype = max((piece.type.dtype for piece in pieces), key=lambda dtype: dtype.itemsize)
    flat = [piece if piece.type.dtype is dtype else convert(piece, dtype=dtype) for piece in pieces]
    nowhere = _total(way)
    if any((each == nowhere).any() for each in found.places):
        flat.append(zeros(tensor_type(dtype, (1,))))
    buffer = flat[0] if len(flat) == 1 else concatenate(*flat, axis=0)
    made = []
    start = 0
    for type, end in zip(blocks, found.ends, strict=True):
        if start == end:
            data: Any = zeros(type.with_shape((0,)))
        elif found.targets is None:
            parts = [each[start:end] for each in found.places]
            data = accumulate([_read(buffer, part) for part in parts if (part != nowhere).any()])
        else:
            mine = np.flatnonzero((found.targets >= start) & (found.targets < end))
            where = Constant((found.targets[mine] - start).astype(np.int32)[:, None])
            given = _read(buffer, found.places[0][mine])
            data = scatter_add(zeros(given.type.with_shape((end - start,))), where, given, axes=(0,))
        made.append(data if data.type.dtype is type.dtype else convert(data, dtype=type.dtype))
        start = end
    return made


def _read(buffer: Any, places: Any) -> Any:
    if np.array_equal(places, np.arange(buffer.type.size)):
        return buffer
    return gather(buffer, Constant(places.astype(np.int32)[:, None]), axes=(0,), fill="zero")
