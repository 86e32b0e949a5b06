"""Operator classes for sparse tensors with separate indices, values, and shape."""

from __future__ import annotations

from typing import Any

from mindgrad.common.sparse_tensor import COOTensor
from mindgrad.ir.tensor import Tensor
from mindgrad.ops import arithmetic, sparse_values
from mindgrad.ops.layout import swapaxes
from mindgrad.ops.operands import operand
from mindgrad.ops.registry import public

_INDICES, _VALUES = "Tensor([[0, 1], [1, 2]])", "Tensor([1.0, 2.0])"


@public("SparseToDense")
def sparse_to_dense(indices: Any, values: Any, sparse_shape: Any) -> Tensor:
    """Create a dense tensor from elements at given indices; zeros elsewhere.

    Args:
        indices (Tensor): integers of shape (n, k). Each row holds the k indices of one of the n elements.
        values (Tensor or number): values of the elements, of shape (n,), or one number for all. Values at the
            same index are added.
        sparse_shape (tuple of int or Tensor): shape of the dense tensor, k ints.

    Returns:
        Tensor of shape ``sparse_shape``.

    Raises:
        TypeError: If an input has the wrong type.
        ValueError: If the shapes do not match.

    >>> from mindgrad import Tensor, ops
    >>> print(ops.SparseToDense()(Tensor([[0, 1], [1, 2]]), Tensor([1.0, 2.0]), (2, 3)))
    [[0. 1. 0.]
     [0. 0. 2.]]
    """
    return _sparse("SparseToDense", indices, values, sparse_shape).to_dense()


@public(
    "SparseTensorDenseMatmul(adjoint_st=False, adjoint_dt=False)(...)"
    f" >>> ops.SparseTensorDenseMatmul()({_INDICES}, {_VALUES}, (2, 3), ops.ones((3, 1))) => [[1.]\n [2.]]"
)
def sparse_tensor_dense_matmul(
    indices: Any,
    values: Any,
    sparse_shape: Any,
    dense: Any,
    adjoint_st: bool = False,
    adjoint_dt: bool = False,
) -> Tensor:
    """Multiply a sparse matrix by a dense matrix.

    The cost is proportional to the number of stored values.

    Args:
        indices (Tensor): integers of shape (n, 2): row and column of each of the n stored elements.
        sparse_shape (tuple of int or Tensor): shape (rows, columns) of the sparse matrix.
        dense (Tensor): dense matrix to multiply by.
        adjoint_st (bool): whether to transpose the sparse matrix.
        adjoint_dt (bool): whether to transpose the dense matrix.

    Returns:
        2-D tensor of the product.

    {as sparse_to_dense}
    """
    x = _sparse("SparseTensorDenseMatmul", indices, values, sparse_shape)
    matrix: Any = operand(dense, "SparseTensorDenseMatmul")
    matrix = swapaxes(matrix, 0, 1) if adjoint_dt else matrix
    sizes, rows, columns = x.shape, x.indices[:, 0], x.indices[:, 1]
    if adjoint_st:
        sizes, rows, columns = sizes[::-1], columns, rows
    if len(sizes) != 2 or matrix.ndim != 2 or matrix.shape[0] != sizes[1]:
        raise ValueError(
            f"For 'SparseTensorDenseMatmul', matrices of the shapes {sizes} and {matrix.shape} cannot be "
            "multiplied: the columns of the first must match the rows of the second."
        )
    terms = x.values.expand_dims(-1) * matrix[columns]
    return terms.new_zeros((sizes[0], matrix.shape[1])).scatter_add(rows.expand_dims(-1), terms)  # type: ignore[no-any-return]


@public(
    f"SparseTensorDenseAdd >>> ops.SparseTensorDenseAdd()({_INDICES}, {_VALUES}, (2, 3), ops.ones((2, 3)))"
    " => [[1. 2. 1.]\n [1. 1. 3.]]"
)
def sparse_tensor_dense_add(x1_indices: Any, x1_values: Any, x1_shape: Any, x2: Any) -> Tensor:
    """Add a sparse and a dense tensor.

    Args:
        x1_indices (Tensor): integers of shape (n, k). Each row holds the k indices of one stored element.
        x1_values (Tensor): values of the stored elements, of shape (n,). Values at the same index are added.
        x1_shape (tuple of int or Tensor): shape of both tensors, k ints.
        x2 (Tensor): dense tensor to add, of shape ``x1_shape``.

    Returns:
        Tensor of the shape of ``x2``.

    {as sparse_to_dense}
    """
    x, dense = (
        _sparse("SparseTensorDenseAdd", x1_indices, x1_values, x1_shape),
        operand(x2, "SparseTensorDenseAdd"),
    )
    if dense.shape != x.shape:
        raise ValueError(
            f"For 'SparseTensorDenseAdd', the shapes must be equal, but are {x.shape} and {dense.shape}."
        )
    return x + dense  # type: ignore[no-any-return]


@public(
    f"SparseAddmm >>> ops.SparseAddmm()({_INDICES}, {_VALUES}, (2, 3), ops.ones((3, 1)), ops.ones((2, 1)),"
    " 1.0, 2.0) => [[3.]\n [4.]]"
)
def sparse_addmm(
    indices: Any, values: Any, sparse_shape: Any, x2_dense: Any, x3_dense: Any, alpha: Any, beta: Any
) -> Tensor:
    """Compute alpha · (sparse matrix) (dense matrix) + beta · (dense matrix).

    Args:
        values (Tensor): values of the n stored elements of the sparse matrix, of shape (n,).
        x2_dense (Tensor): dense matrix in the product.
        x3_dense (Tensor): dense matrix that is added.
        alpha, beta (Tensor or number): factors of the product and of ``x3_dense``, each a number or a tensor
            of one element.

    Returns:
        2-D tensor of the product.

    {as sparse_tensor_dense_matmul}
    """
    product = sparse_tensor_dense_matmul(indices, values, sparse_shape, x2_dense)
    return arithmetic.add(arithmetic.mul(alpha, product), arithmetic.mul(beta, x3_dense))


def _sparse(owner: str, indices: Any, values: Any, shape: Any) -> COOTensor:
    sizes = tuple(shape.asnumpy().tolist()) if isinstance(shape, Tensor) else tuple(shape)
    places, stored = operand(indices, owner), operand(values, owner)
    if stored.ndim == 0:
        stored = stored.broadcast_to((places.shape[0],))  # type: ignore[attr-defined]
    return COOTensor(places, stored, sizes)


# --- reductions over segments of rows -----------------------------------------------------------------


def _segments(name: str, power: float, number: str, prints: str) -> str:
    """Describe a class that sums rows over segments; ``number`` is for the example."""
    inputs, value = ("num_segments", "num_segments") if number else ("", "None")
    return (
        f"{name}()(x, indices, segment_ids, {inputs})(operator='{name}', num_segments={value}, power={power})"
        f" >>> ops.{name}()({_ROWS}{number}) => {prints}"
    )


_ROWS = "Tensor([[1.0], [3.0], [5.0], [7.0]]), Tensor([0, 1, 2, 3]), Tensor([0, 0, 0, 0])"
public(
    _segments("SparseSegmentSum", 0.0, "", "[[16.]]"),
    _segments("SparseSegmentSqrtN", 0.5, "", "[[8.]]"),
    _segments("SparseSegmentSumWithNumSegments", 0.0, ", 1", "[[16.]]"),
    _segments("SparseSegmentSqrtNWithNumSegments", 0.5, ", 1", "[[8.]]"),
    _segments("SparseSegmentMeanWithNumSegments", 1.0, ", 1", "[[4.]]"),
)(sparse_values.segment_of_rows)

__all__: list[str] = []
