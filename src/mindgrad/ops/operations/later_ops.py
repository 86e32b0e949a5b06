"""Operator classes of MindSpore 2.x: counts, lookups, and columns of images."""

from __future__ import annotations

from typing import Any

from mindgrad.core.ir.tensor import Tensor
from mindgrad.ops import (
    arithmetic,
    comparison,
    complexes,
    im2col,
    indexing,
    layout,
    ordering,
    quantiles,
)
from mindgrad.ops.arguments import check_axes
from mindgrad.ops.operands import operand
from mindgrad.ops.operations.base import anything, classes, operation
from mindgrad.ops.registry import public

_IMAGE = "Tensor([[[[1.0, 2.0], [3.0, 4.0]]]])"

# --- counts, lookups, and functions of elements ------------------------------------------------------

public(
    "Quantile(dim: anything('an axis or None')=None, keep_dims=False, ignore_nan=False)(x, q)"
    " -> (nanquantile if self.ignore_nan else quantile)(x, q, self.dim, self.keep_dims)"
    " >>> ops.Quantile()(Tensor([1.0, 2.0, 4.0]), 0.5) => 2.0"
)(quantiles.quantile)
Bincount = operation(
    __name__, "Bincount", ordering.bincount,
    run=lambda self, array, size, weights: _counted(array, size, weights),
    example="ops.Bincount()(Tensor([0, 2, 2]), 4, Tensor([1.0, 1.0, 1.0]))", prints="[1. 0. 2. 0.]",
)  # fmt: skip


def _counted(array: Any, size: Any, weights: Any) -> Tensor:
    """Count the numbers below ``size``; ignore larger numbers."""
    bins = int(operand(size, "Bincount").host_array())
    found = ordering.bincount(array, weights, bins)
    return found[:bins]  # type: ignore[index]


ConjugateTranspose = operation(
    __name__, "ConjugateTranspose", complexes.conj,
    run=lambda self, x, perm: complexes.conj(layout.transpose(x, perm)),
    example="ops.ConjugateTranspose()(Tensor([[1 + 2j, 3 - 1j]]), (1, 0))", prints="[[1.-2.j]\n [3.+1.j]]",
)  # fmt: skip


@public(
    "EmbeddingLookup >>> ops.EmbeddingLookup()(Tensor([[1.0], [2.0]]), Tensor([4, 5]), 4) => [[1.]\n [2.]]"
)
def looked_up_rows(table: Any, indices: Any, offset: Any) -> Tensor:
    """Look up the rows ``indices − offset`` of a table; zeros if out of range.

    Args:
        table (Tensor): table of shape (rows, …).
        indices (Tensor): integer row indices, from which ``offset`` is subtracted.
        offset (int): index that addresses the first row of ``table``.

    Returns:
        Tensor of the selected rows.
    """
    places = arithmetic.sub(operand(indices, "EmbeddingLookup"), offset)
    count = operand(table, "EmbeddingLookup").shape[0]
    inside = comparison.logical_and(comparison.greater_equal(places, 0), comparison.less(places, count))
    rows = indexing.gather(table, indexing.where(inside, places, 0), 0)
    return indexing.where(layout.reshape(inside, (*places.shape, *(1,) * (rows.ndim - places.ndim))), rows, 0)


# --- Im2Col and Col2Im -------------------------------------------------------------------------------

_SLIDING = {
    "dilation": anything("one int or two", 1), "padding": anything("1, 2 or 4 ints", 0),
    "stride": anything("one int or two", 1),
}  # fmt: skip


def _im2col(self: Any, x: Any) -> Tensor:
    images = operand(x, "Im2Col")
    found = im2col.unfold(images, self.ksizes, self.dilations, self.pads, self.strides)
    return layout.reshape(found, (found.shape[0], images.shape[1], -1, found.shape[2]))


def _col2im(self: Any, x: Any, output_size: Any) -> Tensor:
    columns = operand(x, "Col2Im")
    check_axes(columns, "(n, c, k, l)", "Col2Im")
    n, c, k, count = columns.shape
    flat = layout.reshape(columns, (n, c * k, count))
    return im2col.fold(flat, output_size, self.kernel_size, self.dilation, self.padding, self.stride)


Im2Col = operation(
    __name__, "Im2Col", im2col.unfold,
    attributes={
        "ksizes": anything("one int or two"), "strides": anything("one int or two", 1),
        "dilations": anything("one int or two", 1), "pads": anything("1, 2 or 4 ints", 0),
    },
    run=_im2col, example=f"ops.Im2Col(2)({_IMAGE})[0, 0, :, 0]", prints="[1. 2. 3. 4.]",
)  # fmt: skip
Col2Im = operation(
    __name__, "Col2Im", im2col.fold, attributes={"kernel_size": anything("one int or two"), **_SLIDING},
    run=_col2im, example=f"ops.Col2Im(2)(ops.Im2Col(2)({_IMAGE}), (2, 2))[0, 0, 0]", prints="[1. 2.]",
)  # fmt: skip

__all__ = list(classes(globals()))
