"""Sparsity patterns of operators that mix elements, such as matrix products.

The patterns follow from the index map of the operator (``ir.index_map``). Along an axis that is not parallel,
an output element depends on all operand elements. Along an ordered axis, the parameter ``reverse`` states
whether it depends on the elements before or after it. An operator with a more precise pattern, such as a
product with a known sparse matrix, has its own ``pattern`` function (``primitives.patterns``).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from mindgrad.core.ir.graph import Atom, Equation
from mindgrad.core.ir.index_map import ORDERED, PARALLEL, IndexMap, Labels
from mindgrad.core.ir.rules import Pattern
from mindgrad.core.sparse.patterns import check

if TYPE_CHECKING:
    from mindgrad.core.sparse.sparsity import Propagation

__all__ = ["along_axes"]


def along_axes(run: Propagation, equation: Equation, patterns: list, axes: IndexMap) -> list[Any]:
    """Return the sparsity patterns of the results, from the operator's index map."""
    if "reverse" in equation.parameters and ORDERED in axes.kinds.values():
        return _accumulated(run, equation, patterns, axes)
    return [
        run.union(
            [
                _through(run, x, pattern, labels, axes, y, results)
                for x, pattern, labels in zip(equation.inputs, patterns, axes.operands, strict=True)
                if pattern is not None
            ]
        )
        for y, results in zip(equation.outputs, axes.results, strict=True)
    ]


def _accumulated(run: Propagation, equation: Equation, patterns: list, axes: IndexMap) -> list[Any]:
    x = equation.inputs[0]
    axis = next(k for k, label in enumerate(axes.operands[0]) if axes.kind(label) == ORDERED)
    pattern = run.union(patterns)
    if not x.type.size:
        return [pattern]
    length = x.shape[axis]
    check(x.type.size * (length + 1) // 2)
    before, after = np.tril_indices(length)
    if equation.parameters["reverse"]:
        before, after = after, before
    fibres = np.moveaxis(np.arange(x.type.size).reshape(x.shape), axis, -1).reshape(-1, length)
    rows, columns = np.ravel(fibres[:, before]), np.ravel(fibres[:, after])
    incidence = run.sparse.csr_array((np.ones(len(rows), bool), (rows, columns)), (x.type.size,) * 2)
    return [run.product(incidence, pattern)]


def _through(
    run: Propagation, x: Atom, pattern: Pattern, labels: Labels, axes: IndexMap, y: Atom, results: Labels
) -> Any:
    """Return the entries that operand ``x`` adds to the sparsity pattern of ``y``."""
    carried = [k for k, label in enumerate(labels) if axes.kind(label) == PARALLEL and label in results]
    meeting = [k for k in range(len(labels)) if k not in carried]
    reduced, numbers = run.collapsed(x, pattern, meeting)
    carried.sort(key=lambda k: results.index(labels[k]))
    numbers = np.transpose(numbers, (*carried, *meeting))
    is_carried = [any(labels[k] == label for k in carried) for label in results]
    narrow = [n if flag else 1 for n, flag in zip(y.shape, is_carried, strict=True)]
    return run.rows(reduced, np.broadcast_to(numbers.reshape(narrow), y.shape))
