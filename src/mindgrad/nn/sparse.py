"""Layers that multiply and convert sparse tensors."""

from __future__ import annotations

from typing import Any

from mindgrad.common.sparse_tensor import COOTensor
from mindgrad.core.ir.tensor import Tensor
from mindgrad.nn.cell import Cell
from mindgrad.nn.function_cells import function_cell
from mindgrad.ops.operations.base import boolean
from mindgrad.ops.operations.sparse_ops import sparse_tensor_dense_matmul

__all__ = ["SparseTensorDenseMatmul", "SparseToDense"]


class SparseToDense(Cell):
    """Convert a sparse tensor to a dense tensor.

    Args:
        *args, **kwargs (Any): arguments of :class:`mindgrad.nn.Cell`.

    Inputs:
        sparse_tensor (COOTensor): sparse tensor to convert.

    Outputs:
        Dense Tensor with the shape of ``sparse_tensor``.

    Raises:
        TypeError: If ``sparse_tensor`` is not a COOTensor.

    >>> from mindgrad import COOTensor, Tensor, nn
    >>> print(nn.SparseToDense()(COOTensor(Tensor([[0, 1]]), Tensor([6.0]), (2, 2))))
    [[0. 6.]
     [0. 0.]]
    """

    def construct(self, sparse_tensor: Any) -> Tensor:
        if not isinstance(sparse_tensor, COOTensor):
            kind = type(sparse_tensor).__name__
            raise TypeError(f"For 'SparseToDense', the input must be a COOTensor, but got {kind}.")
        return sparse_tensor.to_dense()


SparseTensorDenseMatmul = function_cell(
    __name__, "SparseTensorDenseMatmul", sparse_tensor_dense_matmul,
    attributes={"adjoint_st": boolean(False), "adjoint_dt": boolean(False)},
    example="nn.SparseTensorDenseMatmul()(Tensor([[0, 1], [1, 2]]), Tensor([1.0, 2.0]), (2, 3), "
    "ops.ones((3, 1)))",
    prints="[[1.]\n [2.]]",
)  # fmt: skip
