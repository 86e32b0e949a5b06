"""Embedding layers, which look up vectors in a table by integer ids."""

from __future__ import annotations

from typing import Any

import numpy as np

from mindgrad._base.checks import one_of
from mindgrad.common.initializer import initializer
from mindgrad.core.ir.dtype import as_dtype, float32
from mindgrad.core.ir.tensor import Tensor
from mindgrad.nn.cell import Cell
from mindgrad.nn.layer.parameters import parameter
from mindgrad.ops.arguments import whole_number
from mindgrad.ops.arithmetic import div, div_no_nan, mul
from mindgrad.ops.clipping import maximum
from mindgrad.ops.comparison import not_equal
from mindgrad.ops.contraction import matmul
from mindgrad.ops.extremes import amax
from mindgrad.ops.indexing import gather, where
from mindgrad.ops.layout import expand_dims, swapaxes
from mindgrad.ops.math import sqrt, square
from mindgrad.ops.matrices import one_hot
from mindgrad.ops.operands import cast, operand
from mindgrad.ops.reduction import flag, sum
from mindgrad.ops.rounding import abs

__all__ = ["Embedding", "EmbeddingLookup", "MultiFieldEmbeddingLookup"]


class Embedding(Cell):
    """A trained table of vectors, looked up by integer ids.

    Args:
        vocab_size (int): number of vectors in the table.
        embedding_size (int): number of elements of each vector.
        use_one_hot (bool): whether to look up vectors by a matrix product with one-hot vectors, which is
            slower.
        embedding_table (Tensor, str, Initializer, or number): initial table, of shape (vocab_size,
            embedding_size).
        dtype (DType): dtype of the embedding table.
        padding_idx (int): id whose vector is initialized with zeros. ``None``: no such id.

    Inputs:
        ids (Tensor): integer tensor of any shape, with ids in [0, vocab_size). In a compiled function, which
            cannot raise an error, the vector of an out-of-range id is NaN.

    Outputs:
        Tensor of shape (*ids.shape, embedding_size).

    Raises:
        TypeError: If an argument has an unsupported type, or ``ids`` does not have an integer dtype.
        ValueError: If ``vocab_size`` or ``embedding_size`` is not positive, or ``padding_idx`` is out of
            range.
        IndexError: If an id is out of range and its value is known (not traced).

    >>> from mindgrad import Tensor, nn
    >>> layer = nn.Embedding(3, 2, embedding_table=Tensor([[0.0, 1.0], [2.0, 3.0], [4.0, 5.0]]))
    >>> print(layer(Tensor([2, 0])))
    [[4. 5.]
     [0. 1.]]
    """

    def __init__(
        self,
        vocab_size: int,
        embedding_size: int,
        use_one_hot: bool = False,
        embedding_table: Any = "normal",
        dtype: Any = float32,
        padding_idx: int | None = None,
    ) -> None:
        super().__init__()
        self.vocab_size = whole_number(vocab_size, "Embedding", "vocab_size", 1)
        self.embedding_size = whole_number(embedding_size, "Embedding", "embedding_size", 1)
        self.use_one_hot = flag(use_one_hot, "Embedding", "use_one_hot")
        self.dtype = as_dtype(dtype)
        self.padding_idx = padding_idx
        shape = (self.vocab_size, self.embedding_size)
        if padding_idx is not None:
            padding_row = whole_number(padding_idx, "Embedding", "padding_idx")
            if not 0 <= padding_row < self.vocab_size:
                raise ValueError(
                    f"For 'Embedding', the 'padding_idx' must be in [0, {vocab_size}), but got {padding_idx}."
                )
            table = np.array(initializer(embedding_table, shape, self.dtype).asnumpy())
            table[padding_row] = 0
            embedding_table = Tensor(table)
        self.embedding_table = parameter("Embedding", embedding_table, shape, "embedding_table", self.dtype)

    def construct(self, ids: Any) -> Tensor:
        numbers = operand(ids, "Embedding")
        if not self.use_one_hot:
            return gather(self.embedding_table, numbers, 0)
        table = operand(self.embedding_table, "Embedding")
        return matmul(cast(one_hot(numbers, self.vocab_size, 1.0, 0.0), table.dtype), table)

    def extend_repr(self) -> str:
        return (
            f"vocab_size={self.vocab_size}, embedding_size={self.embedding_size}, "
            f"use_one_hot={self.use_one_hot}, embedding_table={self.embedding_table}, dtype={self.dtype}, "
            f"padding_idx={self.padding_idx}"
        )


class EmbeddingLookup(Cell):
    """A trained table of vectors with an optional maximum norm, looked up by indices.

    Args:
        vocab_size (int): number of vectors in the table.
        embedding_size (int): number of elements of each vector.
        param_init (Tensor, str, Initializer, or number): initial table, of shape (vocab_size,
            embedding_size).
        target (str): ``"CPU"`` or ``"DEVICE"``, accepted for compatibility; the table is on the device of the
            program.
        slice_mode (str): accepted for compatibility.
        manual_shapes (tuple): accepted for compatibility.
        max_norm (float): maximum norm of a vector of the output. ``None``: no maximum.
        sparse (bool): accepted for compatibility; gradients are dense.
        dtype (DType): dtype of the embedding table.

    Inputs:
        indices (Tensor): integer tensor of any shape, with indices in [0, vocab_size).

    Outputs:
        Tensor of shape (*indices.shape, embedding_size).

    Raises:
        TypeError: If an argument has an unsupported type, or ``indices`` does not have an integer dtype.
        ValueError: If ``vocab_size`` or ``embedding_size`` is not positive, or ``target`` is neither
            ``"CPU"`` nor ``"DEVICE"``.
        IndexError: If an index is out of range and its value is known (not traced).

    >>> from mindgrad import Tensor, nn
    >>> layer = nn.EmbeddingLookup(2, 2, param_init=Tensor([[3.0, 4.0], [0.0, 1.0]]), max_norm=2.5)
    >>> print(layer(Tensor([0, 1])))
    [[1.5 2. ]
     [0.  1. ]]
    """

    #: values of the argument ``slice_mode``, which has no effect
    BATCH_SLICE, FIELD_SLICE = "batch_slice", "field_slice"
    TABLE_ROW_SLICE, TABLE_COLUMN_SLICE = "table_row_slice", "table_column_slice"

    def __init__(
        self,
        vocab_size: int,
        embedding_size: int,
        param_init: Any = "normal",
        target: str = "CPU",
        slice_mode: str = "batch_slice",
        manual_shapes: Any = None,
        max_norm: float | None = None,
        sparse: bool = True,
        dtype: Any = float32,
    ) -> None:
        super().__init__()
        one_of(target, ("CPU", "DEVICE"), "EmbeddingLookup", "target")
        self.vocab_size = whole_number(vocab_size, "EmbeddingLookup", "vocab_size", 1)
        self.embedding_size = whole_number(embedding_size, "EmbeddingLookup", "embedding_size", 1)
        self.target, self.sparse, self.max_norm = target, flag(sparse, "EmbeddingLookup", "sparse"), max_norm
        shape = (self.vocab_size, self.embedding_size)
        self.embedding_table = parameter(
            "EmbeddingLookup", param_init, shape, "embedding_table", as_dtype(dtype)
        )

    def construct(self, indices: Any) -> Tensor:
        rows = gather(self.embedding_table, operand(indices, "EmbeddingLookup"), 0)
        if self.max_norm is None:
            return rows
        length = sqrt(sum(square(rows), -1, True))
        return div(mul(rows, self.max_norm), maximum(length, self.max_norm))


class MultiFieldEmbeddingLookup(EmbeddingLookup):
    """A trained table of vectors, looked up with weights and combined by fields.

    The vectors of a field are combined by ``operator``::

        SUM   y[b, f] = Σ wᵢ table[iᵢ]        over the inputs i of sample b whose field is f
        MEAN  the sum divided by Σ |wᵢ|       zero if Σ |wᵢ| is 0
        MAX   the maximum of wᵢ table[iᵢ]     over nonzero weights; zero if there are none

    Args:
        vocab_size (int): number of vectors in the table.
        embedding_size (int): number of elements of each vector.
        field_size (int): number of fields.
        param_init (Tensor, str, Initializer, or number): initial table, of shape (vocab_size,
            embedding_size).
        target (str): accepted for compatibility, as for :class:`EmbeddingLookup`.
        slice_mode (str): accepted for compatibility.
        feature_num_list (tuple): accepted for compatibility.
        max_norm (float): maximum norm of each vector that is looked up. ``None``: no maximum.
        sparse (bool): accepted for compatibility; gradients are dense.
        operator (str): how the vectors of a field are combined: ``"SUM"``, ``"MEAN"``, or ``"MAX"``.
        dtype (DType): dtype of the embedding table.

    Inputs:
        input_indices (Tensor): integer tensor of shape (batch, n), with indices of vectors in [0,
            vocab_size).
        input_values (Tensor): weights of the vectors, with the shape of ``input_indices``.
        field_ids (Tensor): field of each vector: integers in [0, field_size), with the shape of
            ``input_indices``.

    Outputs:
        Tensor of shape (batch, field_size, embedding_size).

    Raises:
        TypeError: If an argument has an unsupported type.
        ValueError: If a size is not positive, ``operator`` is not ``"SUM"``, ``"MEAN"``, or ``"MAX"``, or the
            inputs are not matrices of the same shape.

    >>> from mindgrad import Tensor, nn
    >>> layer = nn.MultiFieldEmbeddingLookup(3, 2, 2, param_init=Tensor([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]))
    >>> print(layer(Tensor([[0, 1, 2]]), Tensor([[1.0, 1.0, 2.0]]), Tensor([[0, 1, 1]])))
    [[[ 1.  2.]
      [13. 16.]]]
    """

    def __init__(
        self,
        vocab_size: int,
        embedding_size: int,
        field_size: int,
        param_init: Any = "normal",
        target: str = "CPU",
        slice_mode: str = "batch_slice",
        feature_num_list: Any = None,
        max_norm: float | None = None,
        sparse: bool = True,
        operator: str = "SUM",
        dtype: Any = float32,
    ) -> None:
        super().__init__(
            vocab_size, embedding_size, param_init, target, slice_mode, None, max_norm, sparse, dtype
        )
        self.field_size = whole_number(field_size, "MultiFieldEmbeddingLookup", "field_size", 1)
        one_of(operator, ("SUM", "MEAN", "MAX"), "MultiFieldEmbeddingLookup", "operator")
        self.operator = operator

    def construct(self, input_indices: Any, input_values: Any, field_ids: Any) -> Tensor:  # type: ignore[override]
        owner = "MultiFieldEmbeddingLookup"
        indices, weights, fields = (operand(x, owner) for x in (input_indices, input_values, field_ids))
        if indices.ndim != 2 or not indices.shape == weights.shape == fields.shape:
            raise ValueError(
                f"For '{owner}', the inputs must be matrices of the same shape, but their shapes are "
                f"{indices.shape}, {weights.shape} and {fields.shape}."
            )
        rows = mul(super().construct(indices), expand_dims(weights, -1))
        is_member = one_hot(fields, self.field_size, 1.0, 0.0)  # shape (batch, n, fields)
        if self.operator == "MAX":
            counts = mul(is_member, expand_dims(cast(not_equal(weights, 0.0), is_member.dtype), -1))
            mask = expand_dims(not_equal(counts, 0.0), -1)
            greatest = amax(where(mask, expand_dims(rows, 2), -float("inf")), 1)
            return where(expand_dims(not_equal(amax(counts, 1), 0.0), -1), greatest, 0.0)
        by_field = matmul(swapaxes(cast(is_member, rows.dtype), 1, 2), rows)
        if self.operator == "SUM":
            return by_field
        total = sum(mul(is_member, expand_dims(abs(weights), -1)), 1)
        return div_no_nan(by_field, cast(expand_dims(total, -1), rows.dtype))
