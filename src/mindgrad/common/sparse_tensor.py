"""Sparse tensors: COO (coordinates), CSR (compressed rows), and row tensors.

Sparse tensors are containers of ordinary tensors. They can be arguments and results of compiled functions,
and are differentiated with respect to ``values``. Most products use only the stored values. ``to_dense``
creates the complete tensor.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from mindgrad._base.checks import of_type
from mindgrad.core.ir.dtype import DType, bool_, int32
from mindgrad.core.ir.tensor import Tensor

__all__ = ["COOTensor", "CSRTensor", "RowTensor", "SparseTensor"]


def _integers(owner: str, name: str, value: Any, rank: int) -> Any:
    of_type(value, Tensor, owner, name)
    if value.dtype.kind not in ("int", "uint"):
        raise TypeError(f"For '{owner}', the '{name}' must contain integers, but its dtype is {value.dtype}.")
    if value.ndim != rank:
        raise ValueError(
            f"For '{owner}', the '{name}' must have {rank} axes, but its shape is {value.shape}."
        )
    return value


def _sizes(owner: str, shape: Any) -> tuple[int, ...]:
    if not isinstance(shape, (tuple, list)) or not all(isinstance(size, (int, np.integer)) for size in shape):
        raise TypeError(f"For '{owner}', the 'shape' must be a tuple of ints, but got {shape!r}.")
    return tuple(shape)


class _Stored:
    """The attributes and methods that COO and CSR tensors have in common."""

    values: Any
    shape: tuple[int, ...]

    @property
    def dtype(self) -> DType:
        """Dtype of the stored values."""
        return self.values.dtype

    @property
    def size(self) -> int:
        """Number of stored values."""
        return self.values.size

    @property
    def itemsize(self) -> int:
        """Number of bytes of one stored value."""
        return self.values.itemsize

    @property
    def ndim(self) -> int:
        """Number of axes of the dense tensor."""
        return len(self.shape)

    def with_values(self, values: Any) -> Any:
        """Return a sparse tensor with the same indices and new values."""
        raise NotImplementedError

    def astype(self, dtype: Any) -> Any:
        """Return a sparse tensor with the values converted to another dtype."""
        return self.with_values(self.values.astype(dtype))

    def abs(self) -> Any:
        """Return a sparse tensor with the absolute values."""
        return self.with_values(self.values.abs())

    def __neg__(self) -> Any:
        return self.with_values(-self.values)


@dataclass(init=False, eq=False, repr=False)
class COOTensor(_Stored):
    """A sparse tensor in coordinate format: indices and values of nonzero elements.

    Args:
        indices (Tensor, optional): integer tensor of shape (n, k): row i contains the k indices of the i-th
            stored element. Required without ``coo_tensor``. Default: ``None``.
        values (Tensor, optional): values of the stored elements, of shape (n,). Values with the same indices
            are added. Required without ``coo_tensor``. Default: ``None``.
        shape (tuple of int, optional): shape of the dense tensor, a tuple of k ints. Required without
            ``coo_tensor``. Default: ``None``.
        coo_tensor (COOTensor, optional): sparse tensor to copy, instead of the other arguments. Default:
            ``None``.

    Raises:
        TypeError: If ``indices``, ``values``, ``shape``, or another argument has an unsupported type.
        ValueError: If the shapes of the indices and the values do not match each other or ``shape``.

    >>> import mindgrad as ms
    >>> from mindgrad import COOTensor, Tensor
    >>> def total(values):
    ...     return (COOTensor(Tensor([[0, 1], [1, 2]]), values, (2, 3)).to_dense() ** 2).sum()
    >>> print(COOTensor(Tensor([[0, 1], [1, 2]]), Tensor([1.0, 2.0]), (2, 3)).to_dense())
    [[0. 1. 0.]
     [0. 0. 2.]]
    >>> print(ms.grad(total)(Tensor([1.0, 2.0])))
    [2. 4.]

    See Also:
        :class:`mindgrad.CSRTensor`, :class:`mindgrad.RowTensor`
    """

    indices: Any
    values: Any
    shape: Any

    def __init__(
        self, indices: Any = None, values: Any = None, shape: Any = None, coo_tensor: Any = None
    ) -> None:
        if coo_tensor is not None:
            indices, values, shape = coo_tensor.indices, coo_tensor.values, coo_tensor.shape
        self.indices = _integers("COOTensor", "indices", indices, 2)
        self.values, self.shape = of_type(values, Tensor, "COOTensor", "values"), _sizes("COOTensor", shape)
        if self.values.ndim != 1 or self.indices.shape != (self.values.shape[0], len(self.shape)):
            raise ValueError(
                f"For 'COOTensor', the 'indices' of shape {self.indices.shape} and the 'values' of shape "
                f"{self.values.shape} do not match a tensor of shape {self.shape}. The shapes must be (n, "
                "number of axes) and (n,)."
            )

    def with_values(self, values: Any) -> COOTensor:
        return COOTensor(self.indices, values, self.shape)

    def to_dense(self) -> Tensor:
        """Return the dense tensor. Booleans at the same index are combined with *or*."""
        if self.values.dtype is bool_:
            return self.astype(int32).to_dense() > 0  # type: ignore[operator,no-any-return]
        return self.values.new_zeros(self.shape).scatter_add(self.indices, self.values)  # type: ignore[no-any-return]

    def to_tuple(self) -> tuple[Tensor, Tensor, tuple[int, ...]]:
        """Return the tuple ``(indices, values, shape)``."""
        return self.indices, self.values, self.shape

    def to_csr(self) -> CSRTensor:
        """Return the matrix in compressed row format.

        Raises:
            ValueError: If the tensor is not a matrix.
        """
        if self.ndim != 2:
            raise ValueError(f"For 'to_csr', the tensor must be a matrix, but its shape is {self.shape}.")
        rows, columns = self.indices[:, 0], self.indices[:, 1]
        order = (rows * self.shape[1] + columns).argsort()
        starts = rows[order].searchsorted(Tensor(np.arange(self.shape[0] + 1)))
        return CSRTensor(starts.astype(rows.dtype), columns[order], self.values[order], self.shape)

    def coalesce(self) -> COOTensor:
        """Return an equal tensor that stores each index once, in ascending order.

        Raises:
            CompileError: If the indices are unknown because a function is being compiled.
        """
        places = np.ravel_multi_index(tuple(self.indices.asnumpy().T), self.shape)
        single, inverse = np.unique(places, return_inverse=True)
        indices = np.stack(np.unravel_index(single, self.shape), -1).astype(self.indices.dtype.numpy)
        zeros = self.values.new_zeros((len(single),))
        values = zeros.scatter_add(Tensor(inverse.reshape(-1, 1)), self.values)
        return COOTensor(Tensor(indices), values, self.shape)

    def add(self, other: COOTensor, thresh: Any = 0) -> COOTensor:
        """Return the sum of two sparse tensors, without values below ``thresh``.

        Args:
            other (COOTensor): sparse tensor of the same shape, which is added to this one.
            thresh (number, optional): values of the sum with an absolute value below this threshold are
                removed. Default: ``0``.

        Raises:
            TypeError: If ``other`` is not a COOTensor.
            ValueError: If the shapes of the two tensors differ.
            CompileError: If the indices are unknown because a function is being compiled.
        """
        of_type(other, COOTensor, "add", "other")
        if other.shape != self.shape:
            raise ValueError(
                f"For 'add', the shapes must be equal, but they are {self.shape} and {other.shape}."
            )
        own, count = self.values.astype((self.values[:0].sum() + other.values[:0].sum()).dtype), self.size
        values = own.new_zeros((count + other.size,))
        values[:count], values[count:] = own, other.values
        indices = np.concatenate([self.indices.asnumpy(), other.indices.asnumpy()])
        both = COOTensor(Tensor(indices), values, self.shape).coalesce()
        stays = np.flatnonzero(np.abs(both.values.asnumpy()) >= float(thresh))
        return COOTensor(both.indices[Tensor(stays)], both.values[Tensor(stays)], self.shape)

    def __add__(self, other: Any) -> Any:
        if isinstance(other, Tensor):
            return other.scatter_add(self.indices, self.values)  # type: ignore[attr-defined]
        return self.add(other)

    def __sub__(self, other: Any) -> Any:
        return self + -other

    def __mul__(self, other: Any) -> COOTensor:
        if isinstance(other, Tensor) and other.ndim:
            other = other.broadcast_to(self.shape).gather_nd(self.indices)  # type: ignore[attr-defined]
        return self.with_values(self.values * other)

    __rmul__ = __mul__

    def __truediv__(self, other: Any) -> COOTensor:
        return self * (1.0 / other)

    def __repr__(self) -> str:
        return (
            f"COOTensor(shape={list(self.shape)}, dtype={self.dtype}, indices={self.indices!r}, "
            f"values={self.values!r})"
        )


SparseTensor = COOTensor


@dataclass(init=False, eq=False, repr=False)
class CSRTensor(_Stored):
    """A sparse matrix in compressed sparse row format.

    Args:
        indptr (Tensor, optional): integer tensor of shape (rows + 1,). The values of row i are
            ``values[indptr[i]:indptr[i + 1]]``. Required without ``csr_tensor``. Default: ``None``.
        indices (Tensor, optional): integer tensor of shape (n,) with the column of each value, row by row.
            Required without ``csr_tensor``. Default: ``None``.
        values (Tensor, optional): values of the stored elements, row by row, of shape (n,). Required without
            ``csr_tensor``. Default: ``None``.
        shape (tuple of int, optional): shape of the dense matrix: the numbers of rows and columns. Required
            without ``csr_tensor``. Default: ``None``.
        csr_tensor (CSRTensor, optional): sparse matrix to copy, instead of the other arguments. Default:
            ``None``.

    Raises:
        TypeError: If ``indices``, ``values``, ``shape``, or another argument has an unsupported type.
        ValueError: If the shapes of the indices and the values do not match each other or ``shape``.

    >>> import mindgrad as ms
    >>> from mindgrad import CSRTensor, Tensor
    >>> def product(values, x):
    ...     return CSRTensor(Tensor([0, 1, 2]), Tensor([1, 2]), values, (2, 3)).mv(x)
    >>> x = Tensor([[1.0], [2.0], [3.0]])
    >>> print(product(Tensor([1.0, 2.0]), x).T, ms.grad(product)(Tensor([1.0, 2.0]), x))
    [[2. 6.]] [2. 3.]

    See Also:
        :class:`mindgrad.COOTensor`
    """

    indptr: Any
    indices: Any
    values: Any
    shape: Any

    def __init__(
        self,
        indptr: Any = None,
        indices: Any = None,
        values: Any = None,
        shape: Any = None,
        csr_tensor: Any = None,
    ) -> None:
        if csr_tensor is not None:
            indptr, indices = csr_tensor.indptr, csr_tensor.indices
            values, shape = csr_tensor.values, csr_tensor.shape
        self.indptr = _integers("CSRTensor", "indptr", indptr, 1)
        self.indices = _integers("CSRTensor", "indices", indices, 1)
        self.values, self.shape = of_type(values, Tensor, "CSRTensor", "values"), _sizes("CSRTensor", shape)
        fits = len(self.shape) == 2 and self.indptr.shape[0] == self.shape[0] + 1
        if not fits or self.values.shape != self.indices.shape:
            raise ValueError(
                f"For 'CSRTensor', 'indptr', 'indices' and 'values' of shapes {self.indptr.shape}, "
                f"{self.indices.shape} and {self.values.shape} do not match a matrix of shape "
                f"{self.shape}. The shapes must be (rows + 1,), (n,) and (n,)."
            )

    def with_values(self, values: Any) -> CSRTensor:
        return CSRTensor(self.indptr, self.indices, values, self.shape)

    def rows(self) -> Any:
        """Return the row index of each stored value."""
        numbers = Tensor(np.arange(self.values.shape[0]))
        return (self.indptr.searchsorted(numbers, "right") - 1).astype(self.indices.dtype)

    def to_coo(self) -> COOTensor:
        """Return the matrix in coordinate format."""
        rows = self.rows()
        places = rows.new_zeros((rows.shape[0], 2))
        places[:, 0], places[:, 1] = rows, self.indices
        return COOTensor(places, self.values, self.shape)

    def to_dense(self) -> Tensor:
        """Return the dense matrix."""
        return self.to_coo().to_dense()

    def to_tuple(self) -> tuple[Tensor, Tensor, Tensor, tuple[int, ...]]:
        """Return the tuple ``(indptr, indices, values, shape)``."""
        return self.indptr, self.indices, self.values, self.shape

    def mm(self, matrix: Any) -> Tensor:
        """Multiply by a dense matrix, or by a CSRTensor, which is converted to dense.

        Args:
            matrix (Tensor or CSRTensor): right factor of the matrix product.
        """
        dense = matrix.to_dense() if isinstance(matrix, CSRTensor) else matrix
        if dense.ndim != 2 or dense.shape[0] != self.shape[1]:
            raise ValueError(
                f"For 'mm', the second matrix must have {self.shape[1]} rows, the number of columns of the "
                f"first, but its shape is {dense.shape}."
            )
        terms = self.values.expand_dims(-1) * dense[self.indices]  # type: ignore[index]
        zeros = terms.new_zeros((self.shape[0], dense.shape[1]))
        return zeros.scatter_add(self.rows().expand_dims(-1), terms)

    def mv(self, dense_vector: Any) -> Tensor:
        """Multiply by a vector, given as a matrix with one column.

        Args:
            dense_vector (Tensor): the vector, of shape (columns, 1).
        """
        return self.mm(dense_vector)

    def sum(self, axis: int) -> Tensor:
        """Sum over rows or columns.

        Args:
            axis (int): axis to sum over. 0 returns the sums of the columns with shape (1, columns), and 1
                returns the sums of the rows with shape (rows, 1).

        Raises:
            ValueError: If ``axis`` is neither 0 nor 1.
        """
        if axis not in (0, 1, -1, -2):
            raise ValueError(f"For 'sum', the 'axis' must be 0 or 1, but got {axis!r}.")
        by_row = axis in (1, -1)
        count = self.shape[0] if by_row else self.shape[1]
        places = (self.rows() if by_row else self.indices).expand_dims(-1)
        sums = self.values.new_zeros((count,)).scatter_add(places, self.values)
        return sums.reshape(-1, 1) if by_row else sums.reshape(1, -1)

    def add(self, b: CSRTensor, alpha: Any = 1, beta: Any = 1) -> CSRTensor:
        """Return the linear combination ``α · self + β · b`` of two sparse matrices.

        Args:
            b (CSRTensor): a sparse matrix of the same shape.
            alpha (number, optional): factor α of this matrix. Default: ``1``.
            beta (number, optional): factor β of ``b``. Default: ``1``.
        """
        return (
            self.with_values(self.values * alpha).to_coo().add(b.with_values(b.values * beta).to_coo())
        ).to_csr()

    def __mul__(self, other: Any) -> CSRTensor:
        if isinstance(other, Tensor) and other.ndim:
            other = other.broadcast_to(self.shape)[self.rows(), self.indices]  # type: ignore[attr-defined]
        return self.with_values(self.values * other)

    __rmul__ = __mul__

    def __truediv__(self, other: Any) -> CSRTensor:
        return self * (1.0 / other)

    def __add__(self, other: CSRTensor) -> CSRTensor:
        return self.add(other)

    def __sub__(self, other: CSRTensor) -> CSRTensor:
        return self.add(other, 1, -1)

    def __repr__(self) -> str:
        return (
            f"CSRTensor(shape={list(self.shape)}, dtype={self.dtype}, indptr={self.indptr!r}, "
            f"indices={self.indices!r}, values={self.values!r})"
        )


@dataclass(init=False, eq=False, repr=False)
class RowTensor:
    """A tensor with few nonzero rows, such as the gradient of an embedding.

    Args:
        indices (Tensor, optional): integer tensor of shape (n,): indices of the stored rows along the first
            axis. Required without ``row_tensor``. Default: ``None``.
        values (Tensor, optional): the stored rows, a tensor of shape (n, ...). Required without
            ``row_tensor``. Default: ``None``.
        shape (tuple of int, optional): shape of the dense tensor. Required without ``row_tensor``.
            Default: ``None``.
        row_tensor (RowTensor, optional): row tensor to copy, instead of the other arguments. Default:
            ``None``.

    Raises:
        TypeError: If ``indices``, ``values``, ``shape``, or another argument has an unsupported type.
        ValueError: If the shapes of the indices and the values do not match each other or ``shape``.

    >>> from mindgrad import RowTensor, Tensor
    >>> rows = RowTensor(Tensor([1]), Tensor([[1.0, 2.0]]), (3, 2))
    >>> rows.dense_shape
    (3, 2)
    >>> print(rows.to_dense()[1])
    [1. 2.]

    See Also:
        :class:`mindgrad.COOTensor`
    """

    indices: Any
    values: Any
    dense_shape: Any

    def __init__(
        self, indices: Any = None, values: Any = None, shape: Any = None, row_tensor: Any = None
    ) -> None:
        if row_tensor is not None:
            indices, values, shape = row_tensor.indices, row_tensor.values, row_tensor.dense_shape
        self.indices = _integers("RowTensor", "indices", indices, 1)
        self.values, self.dense_shape = (
            of_type(values, Tensor, "RowTensor", "values"),
            _sizes("RowTensor", shape),
        )
        if self.values.shape != (self.indices.shape[0], *self.dense_shape[1:]):
            raise ValueError(
                f"For 'RowTensor', the 'indices' of shape {self.indices.shape} and the 'values' of shape "
                f"{self.values.shape} do not match a tensor of shape {self.dense_shape}. The shapes must "
                "be (n,) and (n, further sizes of the tensor)."
            )

    @property
    def dtype(self) -> DType:
        """Dtype of the stored values."""
        return self.values.dtype

    def to_dense(self) -> Tensor:
        """Return the dense tensor. Rows that are stored twice are added."""
        zeros = self.values.new_zeros(self.dense_shape)
        return zeros.scatter_add(self.indices.expand_dims(-1), self.values)

    def __repr__(self) -> str:
        return (
            f"RowTensor(shape={list(self.dense_shape)}, dtype={self.dtype}, indices={self.indices!r}, "
            f"values={self.values!r})"
        )


RowTensorInner = RowTensor
