"""Sparsity patterns, and operations on them.

    union   P ∪ Q        rows   P[s, :]        grouped   Q[g, :] = ⋃_{group(i) = g} P[i, :]

A sparsity pattern states on which input elements each element of a value depends. It is a Boolean SciPy
``csr_array`` with sorted indices, one row for each element of the value, and one column for each input
element. ``None`` represents a pattern without entries.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from mindgrad.core.ir.cost_model import costs
from mindgrad.core.ir.graph import Atom, Variable
from mindgrad.core.ir.rules import Array, Module, Pattern

__all__ = ["Patterns", "TooDense", "check"]


class TooDense(Exception):
    """Raised if a pattern has so many entries that a sparse derivative saves no time."""


def check(count: int) -> None:
    """Raise :class:`TooDense` if a pattern of ``count`` entries would be too large."""
    if count > costs().pattern_entries:
        raise TooDense


class Patterns:
    """Operations on sparsity patterns with the same number of columns.

    Args:
        sparse: the module ``scipy.sparse``.
        width (int): number of columns.
    """

    def __init__(self, sparse: Module | None, width: int) -> None:
        self.sparse: Module = sparse  # type: ignore[assignment]  # ``None``: no pattern is created
        self.width = width

    check = staticmethod(check)

    def union(self, patterns: Sequence[Pattern]) -> Any:
        """Return the union of ``patterns``, or ``None`` if all are empty."""
        distinct = list({id(p): p for p in patterns if p is not None}.values())
        if not distinct:
            return None
        total = distinct[0]
        for pattern in distinct[1:]:
            check(total.nnz + pattern.nnz)
            total = total + pattern
        return total

    def rows(self, pattern: Pattern, source: Array) -> Any:
        """Select rows: row i of the result is row ``source[i]``, or empty if it is -1."""
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

    def grouped(self, pattern: Pattern, group: Array, count: int) -> Any:
        """Unite the rows of each group; row i of ``pattern`` is in group ``group[i]``."""
        group = np.ravel(group)
        if count == 1:
            return self.one_row(np.unique(pattern.indices))
        if count == len(group) and np.array_equal(group, np.arange(count)):
            return pattern
        order = self.sparse.csr_array(
            (np.ones(len(group), bool), (group, np.arange(len(group)))), (count, len(group))
        )
        return self.product(order, pattern)

    def product(self, incidence: Pattern, pattern: Pattern) -> Any:
        per_row = np.diff(pattern.indptr)
        check(int(per_row[incidence.indices].sum(dtype=np.int64)))
        made = incidence @ pattern
        made.sort_indices()
        return made

    def one_row(self, columns: Array) -> Any:
        ends = np.array([0, len(columns)], np.int32)
        return self.sparse.csr_array((np.ones(len(columns), bool), columns, ends), (1, self.width))

    def mixed(self, patterns: Sequence[Pattern], outputs: Sequence[Variable]) -> list[Any]:
        """Return the sparsity patterns of ``outputs`` of an operator that mixes elements.

        Each element of the outputs depends on every input element in one of ``patterns``.
        """
        columns = [p.indices for p in patterns if p is not None]
        if not columns:
            return [None] * len(outputs)
        row = self.one_row(np.unique(np.concatenate(columns)))
        return [self.rows(row, np.zeros(y.type.size, np.int64)) for y in outputs]

    def or_empty(self, pattern: Pattern, size: int) -> Any:
        if pattern is not None:
            return pattern
        return self.sparse.csr_array((size, self.width), dtype=bool)

    def collapsed(self, x: Atom, pattern: Pattern, axes: Sequence[int]) -> tuple[Any, Any]:
        """Return the sparsity pattern of the sum of ``x`` over ``axes``.

        Returns:
            tuple: the pattern, and its row numbers as an array with the shape of the sum, in which ``axes``
                have size 1.
        """
        shape = x.shape
        small = tuple(1 if axis in axes else n for axis, n in enumerate(shape))
        count = math.prod(small)
        group = np.broadcast_to(np.arange(count).reshape(small), shape)
        return self.grouped(pattern, group, count), np.arange(count).reshape(small)

    def stacked(self, patterns: Sequence[Pattern], y: Atom) -> Any:
        if all(p is None for p in patterns):
            return None
        check(sum(p.nnz for p in patterns if p is not None))
        return self.sparse.vstack([self.or_empty(p, y.type.size) for p in patterns], format="csr")
