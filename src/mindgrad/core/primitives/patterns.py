"""Sparsity patterns that are more precise than index maps.

    pattern(run, equation, patterns) = the pattern of each output, from the patterns of the operands

A *pattern* lists, for each element of a value, the elements of the inputs on which it depends. It is a sparse
Boolean matrix with one row for each element of the value. These rules use values that are known at compile
time: zeros of factors, windows of convolutions, and positions of lookups. ``run`` is the object that
propagates patterns (``sparse.sparsity``); it combines patterns and stores the known values.
"""

from __future__ import annotations

import math

import numpy as np

from mindgrad.core.ir.cost_model import costs
from mindgrad.core.ir.graph import Equation
from mindgrad.core.ir.rules import Pattern, Propagation, Results

__all__ = [
    "contracted", "convolved", "multiplied", "read_anywhere", "selected", "sliced_anywhere",
    "updated_anywhere", "written_anywhere",
]  # fmt: skip


# -- pointwise ---------------------------------------------------------------------------------------


def selected(run: Propagation, equation: Equation, patterns: list) -> list | None:
    """Return the sparsity pattern of a ``select`` with a constant condition."""
    predicate = run.constant(equation.inputs[0])
    if predicate is None:
        return None
    stacked = [run.or_empty(p, predicate.size) for p in patterns[1:]]
    number = np.arange(predicate.size)
    source = np.where(np.ravel(predicate), number, number + len(number))
    return [run.rows(run.sparse.vstack(stacked, format="csr"), source)]


def multiplied(run: Propagation, equation: Equation, patterns: list) -> list | None:
    """Return the sparsity pattern of a product with a constant factor that has zeros."""
    for x, other in ((0, 1), (1, 0)):
        if patterns[x] is not None and patterns[other] is None:
            factor = run.constant(equation.inputs[other])
            if factor is not None and not np.all(factor):
                number = np.arange(factor.size)
                return [run.rows(patterns[x], np.where(np.ravel(factor) == 0, -1, number))]
    return None


# -- reads and writes at unknown positions -----------------------------------------------------------


def read_anywhere(run: Propagation, equation: Equation, patterns: list) -> list:
    """Return the sparsity pattern of a gather whose positions are unknown."""
    x, indices = equation.inputs
    reduced, numbers = run.collapsed(x, patterns[0], equation.parameters["axes"])
    first = np.zeros(indices.shape, np.int64)
    return [run.rows(reduced, equation.primitive.numpy(numbers, first, **equation.parameters))]


def sliced_anywhere(run: Propagation, equation: Equation, patterns: list) -> list:
    """Return the sparsity pattern of a dynamic slice whose start is unknown."""
    x, shape = equation.inputs[0], equation.outputs[0].shape
    axes = [k for k, (n, size) in enumerate(zip(x.shape, shape, strict=True)) if n != size]
    reduced, numbers = run.collapsed(x, patterns[0], axes)
    return [run.rows(reduced, np.broadcast_to(numbers, shape))]


def updated_anywhere(run: Propagation, equation: Equation, patterns: list) -> list:
    """Return the sparsity pattern of an array with an update at an unknown position."""
    written = None if patterns[1] is None else run.mixed([patterns[1]], equation.outputs)[0]
    return [run.union([patterns[0], written])]


def written_anywhere(run: Propagation, equation: Equation, patterns: list) -> list:
    """Return the sparsity pattern of a scatter whose positions are unknown."""
    x, indices, updates = equation.inputs
    unwritten, update = patterns[0], patterns[2]
    if update is None:
        return [unwritten]
    axes, batch = equation.parameters["axes"], equation.parameters.get("batch", ())
    lookups = range(len(batch), len(indices.shape) - 1)
    reduced, numbers = run.collapsed(updates, update, tuple(lookups))
    # order the axes as (batch, indexed, window), as in the kernel of `scatter_add`
    window = tuple(k for k in range(len(x.shape)) if k not in axes and k not in batch)
    order = (*batch, *axes, *window)
    sizes = [x.shape[k] for k in order]
    narrow = [1 if k in axes else x.shape[k] for k in order]
    spread = np.broadcast_to(numbers.reshape(narrow), sizes)
    return [run.union([unwritten, run.rows(reduced, np.transpose(spread, np.argsort(order)))])]


# -- products ----------------------------------------------------------------------------------------


def contracted(run: Propagation, equation: Equation, patterns: list) -> list:
    """Return the sparsity pattern of a contraction: a union over both operands."""
    parts = [_factor(run, equation, k, p) for k, p in enumerate(patterns) if p is not None]
    return [run.union(parts)]


def _factor(run: Propagation, equation: Equation, k: int, pattern: Pattern) -> Results:
    """Return the pattern that operand ``k`` contributes to a contraction."""
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
        run.check(len(at) * f)
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


def convolved(run: Propagation, equation: Equation, patterns: list) -> list:
    """Return the sparsity pattern of a convolution: the union over the window."""
    x, w = equation.inputs
    lead, rank = len(x.shape) - len(w.shape) + 1, len(w.shape)  # numbers of sample axes, and of axes of w
    shape = (math.prod(x.shape[:lead]), *equation.outputs[0].shape[lead:])
    groups = equation.parameters["groups"]
    is_last = equation.parameters.get("channels_last", False)
    outputs = rank - 1 if is_last else 0  # axis of the output channels in the kernel
    channels = rank - 1 if is_last else 1  # axis of the output channels in the result
    taps = w.shape[:-1] if is_last else w.shape[1:]
    parts = []
    if patterns[1] is not None:
        reduced, numbers = run.collapsed(w, patterns[1], [axis for axis in range(rank) if axis != outputs])
        narrow = [w.shape[outputs] if axis == channels else 1 for axis in range(rank)]
        parts.append(run.rows(reduced, np.broadcast_to(numbers.reshape(narrow), shape)))
    if patterns[0] is not None:
        if math.prod(taps) > costs().window_positions:
            return run.mixed(patterns, equation.outputs)
        numbers = np.arange(1.0, x.type.size + 1).reshape((shape[0], *x.shape[lead:]))
        per_group = shape[channels] // groups
        for tap in np.ndindex(*taps):
            # To find which element each output reads at one kernel position, number the elements of x, and
            # convolve these numbers with a kernel that is 1 only at this position
            single = np.zeros((*taps, groups) if is_last else (groups, *taps))
            single[(*tap, slice(None)) if is_last else (slice(None), *tap)] = 1.0
            convolved = equation.primitive.numpy(numbers, single, **equation.parameters)
            source = np.repeat(np.rint(convolved).astype(np.int64) - 1, per_group, axis=channels)
            parts.append(run.rows(patterns[0], source))
    return [run.union(parts)]
