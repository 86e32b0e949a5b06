"""Patterns of rows that mix elements follow from their axes, but for contractions, convolutions and writes.

    RULES[name](run, equation, patterns) = the pattern of each output, for the patterns of the operands

Those three see more: the zeros of a known matrix, the window, the positions.

``run`` is the propagation (``sparse.sparsity``), which combines patterns and has the known values.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from mindgrad.ir.graph import Equation
from mindgrad.ir.index_map import ORDERED, PARALLEL, IndexMap
from mindgrad.rows.indexing import gather
from mindgrad.sparse.patterns import check

__all__ = ["RULES", "along_axes", "from_anywhere"]

#: positions of a convolution's window that are followed
_WINDOW = 512


def from_anywhere(run: Any, equation: Equation, patterns: list[Any]) -> Any:
    """The pattern of a read or write at unknown positions: any position along the axes that it indexes."""
    name, xs, parameters = equation.primitive.name, equation.inputs, equation.parameters
    shape = equation.outputs[0].shape
    x = xs[0]
    if name == "gather":
        axes = parameters["axes"]
        reduced, numbers = run.collapsed(x, patterns[0], axes)
        first = np.zeros(xs[1].shape, np.int64)
        return run.rows(reduced, equation.primitive.numpy(numbers, first, **parameters))
    if name == "dynamic_slice":
        axes = [k for k, (n, size) in enumerate(zip(x.shape, shape, strict=True)) if n != size]
        reduced, numbers = run.collapsed(x, patterns[0], axes)
        return run.rows(reduced, np.broadcast_to(numbers, shape))
    if name == "scatter_set":
        return _written(run, equation, patterns)
    written = None if patterns[1] is None else run.mixed([patterns[1]], equation.outputs)[0]
    return run.union([patterns[0], written])


def _written(run: Any, equation: Equation, patterns: list[Any]) -> Any:
    """The pattern of writes at unknown positions: each element may be written by any of them."""
    x, indices, updates = equation.inputs
    unwritten, update = patterns[0], patterns[2]
    if update is None:
        return unwritten
    axes, batch = equation.parameters["axes"], equation.parameters.get("batch", ())
    lookups = range(len(batch), len(indices.shape) - 1)
    reduced, numbers = run.collapsed(updates, update, tuple(lookups))
    # axes (batch, indexed, window), as the kernel orders those of x
    window = tuple(k for k in range(len(x.shape)) if k not in axes and k not in batch)
    order = (*batch, *axes, *window)
    sizes = [x.shape[k] for k in order]
    narrow = [1 if k in axes else x.shape[k] for k in order]
    spread = np.broadcast_to(numbers.reshape(narrow), sizes)
    return run.union([unwritten, run.rows(reduced, np.transpose(spread, np.argsort(order)))])


def _added(run: Any, equation: Equation, patterns: list[Any]) -> list[Any]:
    x, indices, updates = equation.inputs
    positions = run.value(indices)
    if patterns[2] is None:
        return [patterns[0]]
    if positions is None:
        return [_written(run, equation, patterns)]
    numbers = np.arange(1, x.type.size + 1).reshape(x.shape)
    parameters = equation.parameters
    # reading the element numbers of x at the same positions tells the target of each update
    read = gather.numpy(numbers, positions, parameters["axes"], parameters.get("batch", ()), "zero")
    target = np.ravel(read) - 1
    inside = np.flatnonzero(target >= 0)
    incidence = run.sparse.csr_array(
        (np.ones(len(inside), bool), (target[inside], inside)), (x.type.size, updates.type.size)
    )
    return [run.union([patterns[0], run.product(incidence, patterns[2])])]


def _accumulated(run: Any, equation: Equation, patterns: list[Any]) -> list[Any]:
    x, axis = equation.inputs[0], equation.parameters["axis"]
    if not x.type.size:
        return patterns
    length = x.shape[axis]
    check(x.type.size * (length + 1) // 2)
    before, after = np.tril_indices(length)
    if equation.parameters["reverse"]:
        before, after = after, before
    fibres = np.moveaxis(np.arange(x.type.size).reshape(x.shape), axis, -1).reshape(-1, length)
    rows, columns = np.ravel(fibres[:, before]), np.ravel(fibres[:, after])
    incidence = run.sparse.csr_array((np.ones(len(rows), bool), (rows, columns)), (x.type.size,) * 2)
    return [run.product(incidence, patterns[0])]


def _contracted(run: Any, equation: Equation, patterns: list[Any]) -> list[Any]:
    parts = [_factor(run, equation, k, p) for k, p in enumerate(patterns) if p is not None]
    return [run.union(parts)]


def _factor(run: Any, equation: Equation, k: int, pattern: Any) -> Any:
    """The pattern of a contraction through its operand ``k``."""
    contract, batch = equation.parameters["contract"], equation.parameters["batch"]
    x, other = equation.inputs[k], equation.inputs[1 - k]
    mine, theirs = contract[k], contract[1 - k]
    free = [a for a in range(len(x.shape)) if a not in mine and a not in batch[k]]
    others = [a for a in range(len(other.shape)) if a not in theirs and a not in batch[1 - k]]
    b, f, o = (
        math.prod(shape[a] for a in axes)
        for shape, axes in ((x.shape, batch[k]), (x.shape, free), (other.shape, others))
    )
    inner = math.prod(x.shape[a] for a in mine)
    numbers = (
        np.arange(x.type.size).reshape(x.shape).transpose((*batch[k], *free, *mine)).reshape(b, f, inner)
    )
    product = np.arange(b * f * o).reshape((b, f, o) if k == 0 else (b, o, f))
    if k == 1:
        product = product.transpose(0, 2, 1)
    matrix = run.constant(other)
    if matrix is not None and not np.all(matrix):
        matrix = matrix.transpose((*batch[1 - k], *theirs, *others)).reshape(b, inner, o)
        at, c, j = np.nonzero(matrix)
        check(len(at) * f)
        rows, columns = np.ravel(product[at, :, j]), np.ravel(numbers[at, :, c])
        incidence = run.sparse.csr_array(
            (np.ones(len(rows), bool), (rows, columns)), (b * f * o, x.type.size)
        )
        return run.product(incidence, pattern)
    group = np.empty(x.type.size, np.int64)
    group[np.ravel(numbers)] = np.repeat(np.arange(b * f), inner)
    reduced = run.grouped(pattern, group, b * f)
    source = np.empty(b * f * o, np.int64)
    source[np.ravel(product)] = np.repeat(np.arange(b * f), o)
    return run.rows(reduced, source)


def _convolved(run: Any, equation: Equation, patterns: list[Any]) -> list[Any]:
    x, w = equation.inputs
    output = equation.outputs[0]
    groups = equation.parameters["groups"]
    parts = []
    if patterns[1] is not None:
        reduced, numbers = run.collapsed(w, patterns[1], range(1, len(w.shape)))
        narrow = (1, w.shape[0], *[1] * (len(w.shape) - 2))
        parts.append(run.rows(reduced, np.broadcast_to(numbers.reshape(narrow), output.shape)))
    if patterns[0] is not None:
        if math.prod(w.shape[1:]) > _WINDOW:
            return run.mixed(patterns, equation.outputs)
        numbers = np.arange(1.0, x.type.size + 1).reshape(x.shape)
        per_group = output.shape[1] // groups
        for tap in np.ndindex(*w.shape[1:]):
            # a kernel with a single weight only moves the elements of x
            single = np.zeros((groups, *w.shape[1:]))
            single[:, *tap] = 1.0
            convolved = equation.primitive.numpy(numbers, single, **equation.parameters)
            source = np.repeat(np.rint(convolved).astype(np.int64) - 1, per_group, axis=1)
            parts.append(run.rows(patterns[0], source))
    return [run.union(parts)]


def along_axes(run: Any, equation: Equation, patterns: list[Any], axes: IndexMap) -> list[Any]:
    """The patterns by the map of the axes: elements meet along all that are not parallel."""
    if ORDERED in axes.kinds.values():
        return _accumulated(run, equation, patterns)
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


def _through(run: Any, x: Any, pattern: Any, labels: Any, axes: IndexMap, y: Any, results: Any) -> Any:
    """The pattern of the result ``y`` through the operand ``x``."""
    carried = [k for k, label in enumerate(labels) if axes.kind(label) == PARALLEL and label in results]
    meeting = [k for k in range(len(labels)) if k not in carried]
    reduced, numbers = run.collapsed(x, pattern, meeting)
    carried.sort(key=lambda k: results.index(labels[k]))
    numbers = np.transpose(numbers, (*carried, *meeting))
    is_carried = [any(labels[k] == label for k in carried) for label in results]
    narrow = [n if flag else 1 for n, flag in zip(y.shape, is_carried, strict=True)]
    return run.rows(reduced, np.broadcast_to(numbers.reshape(narrow), y.shape))


RULES: dict[str, Any] = {"dot": _contracted, "conv": _convolved, "scatter_add": _added}
