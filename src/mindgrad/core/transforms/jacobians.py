"""Rules for ``trace.record.transformed`` that compute whole Jacobians in one pass.

    by_rows: J_fᵀ eᵢ, stacked over outputs        by_columns: J_f eⱼ, stacked over inputs

The linear part of the derivative runs once, on a batch of all basis vectors (``transforms.batch``). Values
that do not depend on the basis vectors are computed only once. The cost of ``by_rows`` grows with the number
of output elements, the cost of ``by_columns`` with the number of input elements.
"""

from __future__ import annotations

from collections.abc import Sequence

from mindgrad.core.ir.build import Builder
from mindgrad.core.ir.dtype import int32
from mindgrad.core.ir.graph import Atom, Graph, Variable
from mindgrad.core.ir.rules import Atoms, Tangents
from mindgrad.core.ir.types import TensorType
from mindgrad.core.primitives.batching import placed
from mindgrad.core.primitives.comparisons import equal
from mindgrad.core.primitives.kinds import ones, zeros
from mindgrad.core.primitives.structural import convert, iota, reshape
from mindgrad.core.transforms.apply_rule import directional
from mindgrad.core.transforms.batch import push_batch
from mindgrad.core.transforms.forward import forward_rule
from mindgrad.core.transforms.reverse import reverse_rule

__all__ = ["by_columns", "by_fewer", "by_rows", "identity"]


def identity(type: TensorType) -> Atom:
    """Return all unit vectors of tensors of ``type``, stacked along a new first axis.

    For shape (2, 3), the result has shape (6, 2, 3).
    """
    n = type.size
    rows, columns = (iota(shape=(n, n), axis=axis, dtype=int32) for axis in (0, 1))
    return reshape(convert(equal(rows, columns), dtype=type.dtype), shape=(n, *type.shape))


def _swept(graph: Graph, needed: Atoms, types: Sequence[TensorType]) -> list[list[tuple[Atom, int | None]]]:
    """Apply a linear graph to all basis vectors of its inputs.

    Args:
        graph: graph of ``(*needed, *vectors)``, which is linear in the vectors.
        needed: the residuals.
        types: types of the vectors.

    Returns:
        A list with one entry per input vector: the outputs for all basis vectors of this input, as pairs
        (output, batch axis). All other input vectors are zero.
    """
    swept = []
    for k, type in enumerate(types):
        # an input of one element has one basis vector, so the derivative runs without a batch axis
        single = type.size == 1
        vectors = ones(type) if single else identity(type)
        basis = [vectors if j == k else zeros(other) for j, other in enumerate(types)]
        axes = [*[None] * len(needed), *[0 if j == k and not single else None for j in range(len(types))]]
        results, places = push_batch(graph, [*needed, *basis], axes, type.size)
        swept.append(list(zip(results, places, strict=True)))
    return swept


def by_rows(builder: Builder, xs: Sequence[Variable], ys: Atoms, _: Tangents = ()) -> list[Atom]:
    """Compute the Jacobians of ``ys`` with respect to ``xs`` in reverse mode."""
    types = [y.type for y in ys]
    rows = []
    swept = _swept(*directional(builder, reverse_rule, xs, ys, types, is_forward=False), types)
    for y, found in zip(ys, swept, strict=True):
        for x, (ct, at) in zip(xs, found, strict=True):
            front = placed(y.type.size, ct, at, 0)
            rows.append(reshape(front, shape=(*y.shape, *x.shape)))
    return rows


def by_columns(builder: Builder, xs: Sequence[Variable], ys: Atoms, _: Tangents = ()) -> list[Atom]:
    """Compute the Jacobians of ``ys`` with respect to ``xs`` in forward mode."""
    types = [x.type for x in xs]
    swept = _swept(*directional(builder, forward_rule, xs, ys, types, is_forward=True), types)
    rows = []
    for j, y in enumerate(ys):
        for x, found in zip(xs, swept, strict=True):
            t, at = found[j]
            last = placed(x.type.size, t, at, len(y.shape))
            rows.append(reshape(last, shape=(*y.shape, *x.shape)))
    return rows


def by_fewer(builder: Builder, xs: Sequence[Variable], ys: Atoms, _: Tangents = ()) -> list[Atom]:
    """Compute Jacobians in the cheaper mode; if an output is complex, in forward mode."""
    is_forward = sum(x.type.size for x in xs) <= sum(y.type.size for y in ys)
    rule = by_columns if is_forward or any(y.type.dtype.kind == "complex" for y in ys) else by_rows
    return rule(builder, xs, ys)
