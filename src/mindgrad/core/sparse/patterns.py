"""Sparsity patterns, and operations on them.

    union   P ∪ Q        rows   P[s, :]        grouped   Q[g, :] = ⋃_{group(i) = g} P[i, :]

A pattern states which elements of a value depend on which input elements. It is a Boolean SciPy ``csr_array``
with sorted indices, one row for each element of the value, and one column for each input element. ``None``
represents a pattern without entries.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from mindgrad.core.ir.cost_model import costs
from mindgrad.core.ir.graph import Variable

__all__ = ["Patterns", "TooDense", "check"]


class TooDense(Exception):
    """Raised if a pattern has so many entries that a sparse derivative saves no time."""


def check(count: int) -> None:
    """Raise :class:`TooDense` if a pattern of ``count`` entries would be too large."""
    if count > costs().pattern_entries:
        raise TooDense


class Patterns:
    """Operations on patterns with the same columns.

    Args:
        sparse: the module ``scipy.sparse``.
        width (int): number of columns.
    """

    def __init__(self, sparse: Any, width: int) -> None:
        self.sparse = sparse
        self.width = width

    check = staticmethod(check)

    def union(self, patterns: Sequence[Any]) -> Any:
        """Return the union of ``patterns``; ``None`` if all are empty."""
        distinct = list({id(p): p for p in patterns if p is not None}.values())
        if not distinct:
            return None
        total = distinct[0]
        for pattern in distinct[1:]:
            check(total.nnz + pattern.nnz)
            total = total + pattern
        return total

    def rows(self, pattern: Any, source: Any) -> Any:
        """Select rows: row i of the result is row ``source[i]``, or empty if this is -1."""
        source = np.ravel(source)
        count = pattern.shape[0]
        if len(source) == count and np.array_equal(source, np.arange(count)):
            return pattern
        outside = source < 0
        if outside.any():
            ends = np.append(pattern.indptr, pattern.indptr[-1])
            pattern = self.sparse.csr_array(
                (pattern.data, pattern.indices, ends), (count + 1, self.width), copy=False
            )
            source = np.where(outside, count, source)
        check(int(np.diff(pattern.indptr)[source].sum(dtype=np.int64)))
        return pattern[source]

    def grouped(self, pattern: Any, group: Any, count: int) -> Any:
        """Return the pattern whose row g is the union of all rows i with ``group[i] = g``."""
        group = np.ravel(group)
        if count == 1:
            return self.one_row(np.unique(pattern.indices))
        if count == len(group) and np.array_equal(group, np.arange(count)):
            return pattern
        order = self.sparse.csr_array(
            (np.ones(len(group), bool), (group, np.arange(len(group)))), (count, len(group))
        )
        return self.product(order, pattern)

    def product(self, incidence: Any, pattern: Any) -> Any:
        per_row = np.diff(pattern.indptr)
        check(int(per_row[incidence.indices].sum(dtype=np.int64)))
        made = incidence @ pattern
        made.sort_indices()
        return made

    def one_row(self, columns: Any) -> Any:
        ends = np.array([0, len(columns)], np.int32)
        return self.sparse.csr_array((np.ones(len(columns), bool), columns, ends), (1, self.width))

    def mixed(self, patterns: Sequence[Any], outputs: Sequence[Variable]) -> list[Any]:
        """Return the patterns of an operator that mixes all elements of its operands.

        Each element of the outputs depends on every input element in one of ``patterns``.
        """
        columns = [p.indices for p in patterns if p is not None]
        if not columns:
            return [None] * len(outputs)
        row = self.one_row(np.unique(np.concatenate(columns)))
        return [self.rows(row, np.zeros(y.type.size, np.int64)) for y in outputs]

    def or_empty(self, pattern: Any, size: int) -> Any:
        if pattern is not None:
            return pattern
        return self.sparse.csr_array((size, self.width), dtype=bool)

    def collapsed(self, x: Any, pattern: Any, axes: Sequence[int]) -> tuple[Any, Any]:
        """Return the pattern of a sum of ``x`` over ``axes``.

        Returns:
            tuple: the pattern, and its row numbers as an array of the shape of the sum (``axes`` have size
                1).
        """
        shape = x.shape
        small = tuple(1 if axis in axes else n for axis, n in enumerate(shape))
        count = math.prod(small)
        group = np.broadcast_to(np.arange(count).reshape(small), shape)
        return self.grouped(pattern, group, count), np.arange(count).reshape(small)

    def stacked(self, patterns: Sequence[Any], y: Any) -> Any:
        if all(p is None for p in patterns):
            return None
        check(sum(p.nnz for p in patterns if p is not None))
        return self.sparse.vstack([self.or_empty(p, y.type.size) for p in patterns], format="csr")
