"""Embeddings: rows of a table, by number."""

from __future__ import annotations

from typing import Any

import numpy as np

from mindgrad.common.initializer import initializer
from mindgrad.core.dtype import as_dtype, float32
from mindgrad.core.tensor import Tensor
from mindgrad.nn.cell import Cell
from mindgrad.nn.layer.parameters import parameter
from mindgrad.ops.arguments import whole_number
from mindgrad.ops.arithmetic import div, mul
from mindgrad.ops.clipping import maximum
from mindgrad.ops.contraction import matmul
from mindgrad.ops.indexing import gather
from mindgrad.ops.math import sqrt, square
from mindgrad.ops.matrices import one_hot
from mindgrad.ops.operands import cast, operand
from mindgrad.ops.reduction import flag, sum

__all__ = ["Embedding", "EmbeddingLookup"]


class Embedding(Cell):
    """The rows of a trained table at the numbers of the input.

    Args:
        vocab_size: the number of rows.
        embedding_size: the length of a row.
        use_one_hot: whether rows are found by a product with one-hot vectors, which is slower.
        embedding_table: the initial table: an initialiser, its name, a number or a Tensor.
        dtype: the element type of the table.
        padding_idx: the number of a row that is 0 at first.

    Inputs:
        ids: integers of any shape, in [0, vocab_size). Others raise IndexError; where they are data of a
            compiled program, which cannot raise, their rows are NaN.

    Outputs:
        Tensor of the shape of ``ids`` and ``embedding_size`` more.

    Raises:
        TypeError: an argument is of another type, or ``ids`` holds no integers.
        ValueError: a size is not positive, or ``padding_idx`` is out of range.
        IndexError: a known number is out of range.

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
            place = whole_number(padding_idx, "Embedding", "padding_idx")
            if not 0 <= place < self.vocab_size:
                raise ValueError(
                    f"For 'Embedding', the 'padding_idx' must be in [0, {vocab_size}), but got {padding_idx}."
                )
            table = np.array(initializer(embedding_table, shape, self.dtype).asnumpy())
            table[place] = 0
            embedding_table = Tensor(table)
        self.embedding_table = parameter("Embedding", embedding_table, shape, "embedding_table", self.dtype)

    def construct(self, ids: Any) -> Tensor:
        """See the class."""
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
    """The rows of a trained table at the numbers of the input, held to a greatest length if one is set.

    Args:
        vocab_size: the number of rows.
        embedding_size: the length of a row.
        param_init: the initial table: an initialiser, its name, a number or a Tensor.
        target: ``"CPU"`` or ``"DEVICE"``, accepted for compatibility: the table lies where the program runs.
        slice_mode, manual_shapes: how MindSpore divides the table among processes, accepted for
            compatibility.
        max_norm: the greatest length of a row of the result; ``None``: any.
        sparse: accepted for compatibility: gradients are dense.
        dtype: the element type of the table.

    Inputs:
        indices: integers of any shape, in [0, vocab_size).

    Outputs:
        Tensor of the shape of ``indices`` and ``embedding_size`` more.

    Raises:
        TypeError: an argument is of another type, or ``indices`` holds no integers.
        ValueError: a size is not positive, or ``target`` is another.
        IndexError: a known number is out of range.

    >>> from mindgrad import Tensor, nn
    >>> layer = nn.EmbeddingLookup(2, 2, param_init=Tensor([[3.0, 4.0], [0.0, 1.0]]), max_norm=2.5)
    >>> print(layer(Tensor([0, 1])))
    [[1.5 2. ]
     [0.  1. ]]
    """

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
        if target not in ("CPU", "DEVICE"):
            raise ValueError(
                f"For 'EmbeddingLookup', the 'target' must be 'CPU' or 'DEVICE', but got {target!r}."
            )
        self.vocab_size = whole_number(vocab_size, "EmbeddingLookup", "vocab_size", 1)
        self.embedding_size = whole_number(embedding_size, "EmbeddingLookup", "embedding_size", 1)
        self.target, self.sparse, self.max_norm = target, flag(sparse, "EmbeddingLookup", "sparse"), max_norm
        shape = (self.vocab_size, self.embedding_size)
        self.embedding_table = parameter(
            "EmbeddingLookup", param_init, shape, "embedding_table", as_dtype(dtype)
        )

    def construct(self, indices: Any) -> Tensor:
        """See the class."""
        rows = gather(self.embedding_table, operand(indices, "EmbeddingLookup"), 0)
        if self.max_norm is None:
            return rows
        length = sqrt(sum(square(rows), -1, True))
        return div(mul(rows, self.max_norm), maximum(length, self.max_norm))
