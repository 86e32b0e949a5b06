"""Column coloring: group the columns of a sparse matrix into colors.

One tangent computes all columns of the same color. There are two kinds of coloring:

    columns             Two columns j, k of one color have no nonzero in the same row. Each entry of
                        J (e_j + e_k) is therefore an entry of column j or of column k.
    star (for H = Hᵀ)   Entry (i, j) can be read from row i if no other nonzero of this row has the color of
                        column j. Because of symmetry, it can also be read from row j if no other nonzero of
                        this row has the color of column i.

References: A. R. Curtis, M. J. D. Powell and J. K. Reid, *On the estimation of sparse Jacobian matrices*,
1974. A. H. Gebremedhin, F. Manne and A. Pothen, *What color is your Jacobian?*, 2005.

The minimum number of colors is hard to compute. In a matrix of finite differences, however, the positions of
the nonzeros in each row differ by the same few vectors, the *steps*. A periodic function
``(a · position) mod p`` of the grid position is a coloring if it maps no step to 0. The smallest such p is
often the minimum number of colors, so this *lattice* coloring is tried first. If it fails, the coloring is
greedy: each column, in order, gets the first color that no column with a nonzero in the same row has.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from mindgrad.core.ir.cost_model import costs
from mindgrad.core.ir.rules import Pattern

__all__ = ["columns", "star"]


def columns(pattern: Pattern, shape: tuple[int, ...]) -> tuple[Any, int]:
    """Color the columns so that no row has two nonzeros of the same color.

    Args:
        pattern: sparsity pattern, a Boolean ``csr_array`` with sorted indices.
        shape (tuple of int): shape of the input tensor whose elements are the columns of the matrix.

    Returns:
        tuple: the color of each column, and the number of colors.
    """
    width = pattern.shape[1]
    least = int(np.diff(pattern.indptr).max(initial=0))
    if least <= 1:
        return np.zeros(width, np.int32), least
    if least == width:
        return np.arange(width, dtype=np.int32), width
    lattice = _lattice(pattern, shape, least)
    if lattice is not None and lattice[1] == least:
        return lattice
    greedy = _greedy(pattern)
    return lattice if lattice is not None and lattice[1] <= greedy[1] else greedy


def _steps(pattern: Pattern, shape: tuple[int, ...], most: int) -> Any:
    """Return the steps: differences between the grid positions of nonzeros in a row.

    ``shape`` is the shape of the grid, and ``most`` is the largest number of nonzeros in a row. Returns
    ``None`` if there are too many nonzeros or steps.
    """
    indices, ends = pattern.indices, pattern.indptr
    if len(indices) * most > costs().coloring_products:
        return None
    position = np.unravel_index(indices, shape)
    wide = [2 * n for n in shape]
    code = np.zeros(len(indices), np.int64)
    for coordinate, n in zip(position, wide, strict=True):
        code = code * n + coordinate
    row = np.repeat(np.arange(pattern.shape[0]), np.diff(ends))
    steps: Any = np.empty(0, np.int64)
    for k in range(1, most):
        together = row[k:] == row[:-k]
        steps = np.union1d(steps, (code[k:] - code[:-k])[together])
        if len(steps) > costs().coloring_steps:
            return None
    # decode each step to a vector, whose component along an axis of size n is between −n and n
    vectors = []
    for n in reversed(wide):
        part = (steps + n // 2) % n - n // 2
        vectors.append(part)
        steps = (steps - part) // n
    return np.stack(vectors[::-1], 1)


def _lattice(pattern: Pattern, shape: tuple[int, ...], least: int) -> tuple[Any, int] | None:
    """Find the coloring ``(a · position) mod p`` with the smallest p.

    The search tries p from ``least`` to twice ``least``, where ``least`` is the largest number of nonzeros in
    a row. It returns ``None`` if it finds no coloring, or if the search would take too long.
    """
    shape = tuple(n for n in shape if n > 1)
    steps = _steps(pattern, shape, least) if 0 < len(shape) <= 3 else None
    if steps is None:
        return None
    for p in range(least, 2 * least + 1):
        if p ** len(shape) * len(steps) > costs().coloring_products:
            return None
        tried = np.stack(np.meshgrid(*[np.arange(p)] * len(shape), indexing="ij"), -1).reshape(-1, len(shape))
        fits = np.ones(len(tried), bool)
        for step in steps:  # test one step after another: most candidates (a, p) fail at the first step
            fits[fits] = (tried[fits] @ step) % p != 0
            if not fits.any():
                break
        else:
            a = tried[np.argmax(fits)]
            grid = np.zeros(shape, np.int64)
            for axis, factor in enumerate(a):
                grid += (factor * np.arange(shape[axis])).reshape(
                    [-1 if k == axis else 1 for k in range(len(shape))]
                )
            return (np.ravel(grid) % p).astype(np.int32), p
    return None


def _greedy(pattern: Pattern) -> tuple[Any, int]:
    by_column = pattern.T.tocsr()
    rows, ends = by_column.indices.tolist(), by_column.indptr.tolist()
    colors_of_row = [0] * pattern.shape[0]
    colors = [0] * pattern.shape[1]
    start = 0
    for j, end in enumerate(ends[1:]):
        own = rows[start:end]
        start = end
        forbidden = 0
        for i in own:
            forbidden |= colors_of_row[i]
        free = ~forbidden & (forbidden + 1)  # lowest unset bit of ``forbidden``, the first free color
        for i in own:
            colors_of_row[i] |= free
        colors[j] = free.bit_length() - 1
    result = np.array(colors, np.int32)
    return result, int(result.max(initial=-1)) + 1


def star(pattern: Pattern) -> tuple[Any, int]:
    """Find a star coloring of a symmetric pattern.

    Columns i and j are *neighbors* if entry (i, j) is nonzero. In a star coloring, neighbors have different
    colors, and every path of four neighboring columns has at least three colors. Therefore, entry (i, j) or
    entry (j, i) can be read from a product of the matrix with the sum of the unit vectors of one color. Both
    entries have the same value.

    Args:
        pattern: symmetric sparsity pattern, a Boolean ``csr_array``.

    Returns:
        tuple: the color of each column, and the number of colors.
    """
    count = pattern.shape[0]
    ends, indices = pattern.indptr.tolist(), pattern.indices.tolist()
    neighbors = [[w for w in indices[ends[v] : ends[v + 1]] if w != v] for v in range(count)]
    color = [0] * count  # color of each column, as one set bit; 0 for a column without a color
    around = [0] * count  # for each column, the colors of its neighbors, as a bit mask
    # for each column v, as a bit mask: the colors of those neighbors of v that have a further neighbor, not
    # v, with the color of v
    twice = [0] * count
    number: list[dict[int, int]] = [{} for _ in range(count)]  # for each column: color -> number of neighbors
    for v in sorted(range(count), key=lambda v: -len(neighbors[v])):
        forbidden = 0
        own = number[v]
        for w in neighbors[v]:
            if not color[w]:
                forbidden |= around[w]
            else:
                forbidden |= color[w] | twice[w]
                if own[color[w]] > 1:
                    forbidden |= around[w]
        free = color[v] = ~forbidden & (forbidden + 1)
        for w in neighbors[v]:
            if color[w] and own[color[w]] > 1:
                twice[w] |= free
            around[w] |= free
            occurrences = number[w][free] = number[w].get(free, 0) + 1
            if occurrences > 1 and color[w]:
                if occurrences == 2:
                    for u in neighbors[w]:
                        if color[u] == free:
                            twice[u] |= color[w]
                else:
                    twice[v] |= color[w]
    result = np.array([c.bit_length() - 1 for c in color], np.int32)
    return result, int(result.max(initial=-1)) + 1
