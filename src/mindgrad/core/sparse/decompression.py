"""Decompression: read the entries of a sparse matrix from its products with seeds.

    data[e] = Σ T[color(z), r]    over all (r, z) that contribute to entry e

e is an entry of the matrix J, r a row, and z a column. ``T[k] = J s_k`` is the product of J with the seed of
color k (``sparse.color_seeds``). In reverse mode, the colors belong to the rows, so the term is
``T[color(r), z]``. The function is differentiated with respect to z, a tensor of elements that are read from
the inputs x (``sparse.movement_split``). If several elements of z are copies of the same element of x, their
contributions are added.

The products are stored as flat arrays, the *pieces* (``sparse.strategy``).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from mindgrad.core.ir.build import Builder
from mindgrad.core.ir.cost_model import costs
from mindgrad.core.ir.graph import Atom, Constant, Graph, live_equations, without_effects
from mindgrad.core.ir.rules import Array, Atoms, Module
from mindgrad.core.ir.types import TensorType, tensor_type
from mindgrad.core.primitives.indexing import gather, scatter_add
from mindgrad.core.primitives.kinds import accumulate, zeros
from mindgrad.core.primitives.static_slices import concatenate
from mindgrad.core.primitives.structural import convert, reshape
from mindgrad.core.sparse.color_seeds import is_scattered
from mindgrad.core.sparse.sparsity import Known
from mindgrad.core.sparse.strategies import best_way
from mindgrad.core.sparse.strategy import Way

__all__ = ["Structure", "compressed"]


class Structure:
    """The sparsity structure of a Jacobian or Hessian, without its values.

    Attributes:
        blocks: ``blocks[output][input]`` is a ``csr_array`` with the row and column indices of the nonzeros.
            All its stored values are zero.
        colors: number of tangents or cotangents that compute the matrix.
        is_dense: whether nearly every column, or row, needs a separate tangent or cotangent.
        way: name of the strategy, for messages.
    """

    __slots__ = ("blocks", "colors", "is_dense", "way")

    def __init__(self, blocks: list[list], way: Way) -> None:
        self.blocks = blocks
        self.colors = way.count
        self.is_dense = way.is_dense
        self.way = way.name


def compressed(
    sparse: Module, builder: Builder, xs: Atoms, ys: Atoms, environment: Known,
    second: bool, compiled: bool,
) -> tuple[list[Any], Structure]:  # fmt: skip
    """Emit the entries of a sparse Jacobian or Hessian into ``builder``.

    Args:
        sparse: the module ``scipy.sparse``.
        builder (Builder): current builder, which has the equations of the function.
        xs, ys (list or tuple): variables of the differentiated inputs, and of the outputs.
        environment (Known): known values of inputs that are not differentiated.
        second (bool): whether to build the Hessian of the single output.
        compiled (bool): whether the graph is going to be compiled.

    Returns:
        A list with one tensor of entries for each block, and the structure.
    """
    graph = without_effects(Graph(builder.inputs, live_equations(builder.equations, ys), ys))
    active = [builder.inputs.index(x) for x in xs]  # type: ignore[arg-type]  # all are inputs
    way = best_way(sparse, graph, active, environment, second, compiled)
    row_types = [x.type for x in (xs if second else ys)]
    column_sizes = [x.type.size for x in xs]
    layout = _arranged(sparse, way, second, [type.size for type in row_types], column_sizes)
    parts = _parts(way, xs) if compiled else way.cut.parts
    pieces = builder.inline(way.graph, [*way.cut.others, *parts])
    structure = Structure(layout.blocks, way)
    return _picked(pieces, way, layout, row_types), structure


# -- entries ---------------------------------------------------------------------------------------


def _parts(way: Way, xs: Atoms) -> list[Any]:
    """Return the parts of z (``sparse.movement_split``), read from the inputs ``xs``.

    If the elements of a part are scattered over one input, one gather reads them. This can be cheaper than
    the equations of the original function, which may first read whole rows of a table, and then a few
    elements of the rows.
    """
    ends = np.cumsum([0, *[x.type.size for x in xs]])
    parts = []
    for z, source in zip(way.cut.parts, way.cut.sources, strict=True):
        k = int(np.searchsorted(ends, source[0], "right")) - 1 if len(source) else 0
        is_of_one = len(source) and source.min() >= max(ends[k], 0) and source.max() < ends[k + 1]
        if is_of_one and is_scattered(source):
            flat = reshape(xs[k], shape=(xs[k].type.size,))
            places = Constant((source - ends[k]).astype(np.int32)[:, None])
            z = reshape(gather(flat, places, axes=(0,), fill="zero"), shape=z.shape)
        parts.append(z)
    return parts


class _Arranged:
    """The indices with which the entries are read from the concatenated pieces.

    The indices have one of two forms. If each entry is a sum of few contributions, ``places[k]`` contains,
    for each entry, the index of its contribution number k. An index after the last piece means that there is
    no such contribution. Otherwise, ``places[0]`` contains the indices of all contributions, and ``targets``
    contains the entry to which each of them is added.

    Attributes:
        blocks: as in :class:`Structure`.
        ends: for each block, the index after its last entry in the list of all entries.
        places: list of index arrays.
        targets: entry to which each contribution is added; ``None`` in the first form.
        size: number of entries of all blocks.
    """

    __slots__ = ("blocks", "ends", "places", "size", "targets")

    def __init__(
        self, blocks: list[list], ends: Array, places: list[Array], targets: Array | None, size: int
    ) -> None:
        self.blocks = blocks
        self.ends = ends
        self.places = places
        self.targets = targets
        self.size = size


def _arranged(
    sparse: Module, way: Way, second: bool, row_sizes: Sequence[int], column_sizes: Sequence[int]
) -> _Arranged:
    row, column, color, element = way.entries
    owner = np.repeat(np.arange(len(way.sizes)), way.sizes)[element]
    first = np.cumsum([0, *way.sizes])[:-1]
    start = way.starts[color, owner]
    position = start + way.strides[color, owner] * (element - first[owner])
    source = np.concatenate([*way.cut.sources, np.empty(0, np.int64)])
    row = source[row] if second else row
    column = source[column]
    is_entry = (start >= 0) & (row >= 0) & (column >= 0)
    if not is_entry.all():
        row, column, position = row[is_entry], column[is_entry], position[is_entry]
    height, width = sum(row_sizes), sum(column_sizes)
    key = row * width + column
    if len(row_sizes) > 1 or len(column_sizes) > 1:
        of_row = np.repeat(np.arange(len(row_sizes)), row_sizes)[row]
        of_column = np.repeat(np.arange(len(column_sizes)), column_sizes)[column]
        key += (of_row * len(column_sizes) + of_column) * (height * width)
    if np.any(key[1:] < key[:-1]):
        order = np.argsort(key, kind="stable")
        key, position = key[order], position[order]
    is_new = np.ones(len(key), bool)
    is_new[1:] = key[1:] != key[:-1]
    entry = np.cumsum(is_new) - 1
    key = key[is_new]
    size = len(key)
    total = _total(way)
    first_contribution = np.flatnonzero(is_new)
    most = int(np.diff(np.append(first_contribution, len(entry))).max(initial=0))
    targets = None
    if most <= costs().parallel_entries:
        rank = np.arange(len(entry)) - first_contribution[entry]
        positions = []
        for k in range(max(most, 1)):
            positions_of_rank = np.full(size, total, np.int64)
            positions_of_rank[entry[rank == k]] = position[rank == k]
            positions.append(positions_of_rank)
    else:
        positions, targets = [position], entry
    blocks, ends = _blocks(sparse, key, row_sizes, column_sizes)
    return _Arranged(blocks, ends, positions, targets, size)


def _total(way: Way) -> int:
    """Return the number of elements in the products with the seeds of all colors."""
    return sum(piece.type.size for piece in way.graph.outputs)


def _blocks(
    sparse: Module, key: Array, row_sizes: Sequence[int], column_sizes: Sequence[int]
) -> tuple[Any, Any]:
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
            for array in (indices, row_ends):  # read-only: the results of all calls share them
                array.flags.writeable = False
            like = sparse.csr_array((np.zeros(len(indices)), indices, row_ends), (rows, columns_), copy=False)
            like.has_sorted_indices = like.has_canonical_format = True
            blocks[-1].append(like)
            ends.append(int(high))
    return blocks, ends


def _picked(pieces: Atoms, way: Way, layout: _Arranged, types: Sequence[TensorType]) -> list[Any]:
    """Emit the nonzeros of each block of the matrix, read from ``pieces``."""
    blocks = [type for type, row in zip(types, layout.blocks, strict=True) for _ in row]
    if not layout.size:
        return [zeros(type.with_shape((0,))) for type in blocks]
    dtype = max((piece.type.dtype for piece in pieces), key=lambda dtype: dtype.itemsize)
    flat = [piece if piece.type.dtype is dtype else convert(piece, dtype=dtype) for piece in pieces]
    nowhere = _total(way)
    if any((positions == nowhere).any() for positions in layout.places):
        flat.append(zeros(tensor_type(dtype, (1,))))
    buffer = flat[0] if len(flat) == 1 else concatenate(*flat, axis=0)
    data_of_blocks = []
    start = 0
    for type, end in zip(blocks, layout.ends, strict=True):
        if start == end:
            data: Any = zeros(type.with_shape((0,)))
        elif layout.targets is None:
            parts = [positions[start:end] for positions in layout.places]
            data = accumulate([_read(buffer, part) for part in parts if (part != nowhere).any()])
        else:
            of_block = np.flatnonzero((layout.targets >= start) & (layout.targets < end))
            entries = Constant((layout.targets[of_block] - start).astype(np.int32)[:, None])
            contributions = _read(buffer, layout.places[0][of_block])
            data = scatter_add(
                zeros(contributions.type.with_shape((end - start,))), entries, contributions, axes=(0,)
            )
        data_of_blocks.append(data if data.type.dtype is type.dtype else convert(data, dtype=type.dtype))
        start = end
    return data_of_blocks


def _read(buffer: Atom, places: Array) -> Any:
    if np.array_equal(places, np.arange(buffer.type.size)):
        return buffer
    return gather(buffer, Constant(places.astype(np.int32)[:, None]), axes=(0,), fill="zero")
