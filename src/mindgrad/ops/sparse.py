"""Functions of sparse tensors: elementwise functions, sums, products, conversions.

Elementwise functions apply to the stored values and keep the indices: ``csr_sin(x)`` is a CSRTensor of the
sines. Elements that are not stored remain 0, even for a function f with f(0) ≠ 0.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from mindgrad.common.sparse_tensor import COOTensor, CSRTensor, RowTensor
from mindgrad.ir.tensor import Tensor
from mindgrad.ops import activation, arithmetic, math, rectifiers, rounding
from mindgrad.ops.arguments import axis_in_range
from mindgrad.ops.contraction import matmul
from mindgrad.ops.conversion import cast
from mindgrad.ops.joining import concat
from mindgrad.ops.layout import swapaxes

_ELEMENTWISE: dict[str, Callable[..., Any]] = {
    "abs": rounding.abs, "acos": math.acos, "acosh": math.acosh, "asin": math.asin, "asinh": math.asinh,
    "atan": math.atan, "atanh": math.atanh, "ceil": rounding.ceil, "cos": math.cos, "cosh": math.cosh,
    "exp": math.exp, "expm1": math.expm1, "floor": rounding.floor, "inv": math.inv,
    "isfinite": rounding.isfinite, "isinf": rounding.isinf, "isnan": rounding.isnan, "log": math.log,
    "log1p": math.log1p, "neg": arithmetic.neg, "relu": rectifiers.relu, "relu6": rectifiers.relu6,
    "round": rounding.round, "sigmoid": activation.sigmoid, "sin": math.sin, "sinh": math.sinh,
    "softsign": activation.softsign, "sqrt": math.sqrt, "square": math.square, "tan": math.tan,
    "tanh": math.tanh,
}  # fmt: skip


def _sparse(x: Any, kind: type, operator: str) -> Any:
    if not isinstance(x, kind):
        raise TypeError(f"For '{operator}', the input must be a {kind.__name__}, but got {type(x).__name__}.")
    return x


def _of_values(layout: str, name: str, function: Callable[..., Any]) -> Callable[[Any], Any]:
    kind: type = COOTensor if layout == "coo" else CSRTensor

    def apply_to_values(x: Any) -> Any:
        return _sparse(x, kind, f"{layout}_{name}").with_values(function(x.values))

    apply_to_values.__name__ = apply_to_values.__qualname__ = f"{layout}_{name}"
    example = "COOTensor(Tensor([[0, 1]]), Tensor([1.0]), (2, 2))"
    if layout == "csr":
        example = "CSRTensor(Tensor([0, 1, 1]), Tensor([1]), Tensor([1.0]), (2, 2))"
    apply_to_values.__doc__ = f"""Apply :func:`{name}` to the stored values of a {kind.__name__}.

    Args:
        x ({kind.__name__}): the sparse tensor.

    Returns:
        {kind.__name__} with the same indices.

    Raises:
        TypeError: If ``x`` is not a {kind.__name__}.

    >>> from mindgrad import {kind.__name__}, Tensor, ops
    >>> ops.{layout}_{name}({example}).shape
    (2, 2)

    See Also:
        :func:`mindgrad.ops.{name}`, :func:`mindgrad.ops.{"csr" if layout == "coo" else "coo"}_{name}`
    """
    return apply_to_values


globals().update(
    {
        f"{layout}_{name}": _of_values(layout, name, function)
        for layout in ("coo", "csr")
        for name, function in _ELEMENTWISE.items()
    }
)


# --- arithmetic of sparse tensors ----------------------------------------------------------------------


def coo_add(x1: Any, x2: Any, thresh: Any) -> COOTensor:
    """Add two COOTensors, and drop values with an absolute value below ``thresh``.

    Args:
        x1, x2 (COOTensor): sparse tensors of the same shape.
        thresh (Tensor or number): values of the sum with a smaller absolute value are dropped.

    Returns:
        COOTensor of the sum.

    >>> from mindgrad import COOTensor, Tensor, ops
    >>> x = COOTensor(Tensor([[0, 1]]), Tensor([1.0]), (2, 2))
    >>> print(ops.coo_add(x, x, 0).values)
    [2.]
    """
    return _sparse(x1, COOTensor, "coo_add").add(x2, thresh)


def csr_add(a: Any, b: Any, alpha: Any = 1, beta: Any = 1) -> CSRTensor:
    """Compute α · a + β · b of two CSRTensors.

    Args:
        a, b (CSRTensor): sparse matrices of the same shape.
        alpha, beta (Tensor or number): factors of ``a`` and ``b``.

    Returns:
        CSRTensor of the sum.

    >>> from mindgrad import CSRTensor, Tensor, ops
    >>> x = CSRTensor(Tensor([0, 1, 1]), Tensor([1]), Tensor([1.0]), (2, 2))
    >>> print(ops.csr_add(x, x, Tensor(1.0), Tensor(2.0)).values)
    [3.]
    """
    return _sparse(a, CSRTensor, "csr_add").add(_sparse(b, CSRTensor, "csr_add"), alpha, beta)


def csr_mul(x: Any, y: Any) -> CSRTensor:
    """Multiply stored values by the elements of a dense tensor at their indices.

    Args:
        x (CSRTensor): the sparse matrix.
        y (Tensor or number): dense tensor that broadcasts to the shape of ``x``.

    Returns:
        CSRTensor of the products, with the indices of ``x``.

    >>> from mindgrad import CSRTensor, Tensor, ops
    >>> x = CSRTensor(Tensor([0, 1, 1]), Tensor([1]), Tensor([2.0]), (2, 2))
    >>> print(ops.csr_mul(x, Tensor([[1.0, 3.0], [1.0, 1.0]])).values)
    [6.]
    """
    return _sparse(x, CSRTensor, "csr_mul") * y


def csr_div(x: Any, y: Any) -> CSRTensor:
    """Divide stored values by the elements of a dense tensor at their indices.

    Args:
        x (CSRTensor): the sparse matrix.
        y (Tensor or number): dense tensor that broadcasts to the shape of ``x``.

    Returns:
        CSRTensor of the quotients, with the indices of ``x``.

    >>> from mindgrad import CSRTensor, Tensor, ops
    >>> x = CSRTensor(Tensor([0, 1, 1]), Tensor([1]), Tensor([6.0]), (2, 2))
    >>> print(ops.csr_div(x, Tensor([[1.0, 3.0], [1.0, 1.0]])).values)
    [2.]
    """
    return _sparse(x, CSRTensor, "csr_div") / y


def csr_mv(csr_tensor: Any, dense: Any) -> Tensor:
    """Multiply a sparse matrix by a vector, given as a matrix of one column.

    Args:
        csr_tensor (CSRTensor): the sparse matrix of shape (m, n).
        dense (Tensor): tensor of shape (n, 1).

    Returns:
        Tensor of shape (m, 1).

    >>> from mindgrad import CSRTensor, Tensor, ops
    >>> x = CSRTensor(Tensor([0, 1, 1]), Tensor([1]), Tensor([6.0]), (2, 2))
    >>> print(ops.csr_mv(x, Tensor([[1.0], [2.0]])).flatten())
    [12.  0.]
    """
    return _sparse(csr_tensor, CSRTensor, "csr_mv").mv(dense)


def csr_mm(a: Any, b: Any, trans_a: bool = False, trans_b: bool = False) -> Tensor:
    """Multiply a sparse matrix by a dense or sparse matrix.

    Args:
        a (CSRTensor): the sparse matrix.
        b (Tensor or CSRTensor): second matrix. A sparse matrix is converted to a dense one.
        trans_a, trans_b (bool): whether to transpose ``a`` and ``b``. To transpose ``a``, mindgrad converts
            it to a dense matrix.

    Returns:
        Dense tensor of the product.

    >>> from mindgrad import CSRTensor, Tensor, ops
    >>> x = CSRTensor(Tensor([0, 1, 1]), Tensor([1]), Tensor([6.0]), (2, 2))
    >>> print(ops.csr_mm(x, Tensor([[1.0], [2.0]])).flatten())
    [12.  0.]
    """
    a = _sparse(a, CSRTensor, "csr_mm")
    dense = b.to_dense() if isinstance(b, CSRTensor) else b
    dense = swapaxes(dense, 0, 1) if trans_b else dense
    return matmul(swapaxes(a.to_dense(), 0, 1), dense) if trans_a else a.mm(dense)


def csr_reduce_sum(csr_tensor: Any, axis: int) -> Tensor:
    """Sum the rows (``axis`` 1) or columns (``axis`` 0) of a sparse matrix.

    Args:
        csr_tensor (CSRTensor): the sparse matrix.
        axis (int): axis to sum over: 0 sums each column, 1 sums each row.

    Returns:
        Dense tensor of shape (rows, 1) for ``axis`` 1, or (1, columns) for ``axis`` 0.

    >>> from mindgrad import CSRTensor, Tensor, ops
    >>> x = CSRTensor(Tensor([0, 1, 1]), Tensor([1]), Tensor([6.0]), (2, 2))
    >>> print(ops.csr_reduce_sum(x, 1).flatten())
    [6. 0.]
    """
    return _sparse(csr_tensor, CSRTensor, "csr_reduce_sum").sum(axis)


def csr_gather(indptr: Any, indices: Any, dense: Any, sparse_shape: Any) -> Tensor:
    """Gather the elements of a dense matrix at the indices of a sparse one.

    Args:
        indptr, indices (Tensor): row pointers and column indices, as in a CSRTensor.
        dense (Tensor): the dense matrix.
        sparse_shape (tuple of int): shape (rows, columns) of the sparse matrix.

    Returns:
        1-D tensor of the gathered elements.

    >>> from mindgrad import Tensor, ops
    >>> print(ops.csr_gather(Tensor([0, 1, 2]), Tensor([1, 0]), Tensor([[1.0, 2.0], [3.0, 4.0]]), (2, 2)))
    [2. 3.]
    """
    ones = dense.new_ones((indices.shape[0], *dense.shape[2:]))
    if dense.ndim == 2:
        return (CSRTensor(indptr, indices, ones, sparse_shape) * dense).values
    rows = indptr.searchsorted(Tensor(np.arange(indices.shape[0])), "right") - 1
    return dense[rows, indices]


def csr_softmax(logits: Any, dtype: Any) -> CSRTensor:
    """Compute the softmax of each row over its stored values.

    Args:
        logits (CSRTensor): the sparse matrix.
        dtype (mindgrad.dtype): dtype of the result.

    Returns:
        CSRTensor of the probabilities, with the indices of ``logits``.

    >>> from mindgrad import CSRTensor, Tensor, float32, ops
    >>> x = CSRTensor(Tensor([0, 2]), Tensor([0, 1]), Tensor([3.0, 3.0]), (1, 2))
    >>> print(ops.csr_softmax(x, float32).values)
    [0.5 0.5]
    """
    x = _sparse(logits, CSRTensor, "csr_softmax")
    rows, count = x.rows(), x.shape[0]
    values: Any = cast(x.values, dtype)
    powers: Any = math.exp(values - values.unsorted_segment_max(rows, count)[rows])
    return x.with_values(powers / powers.unsorted_segment_sum(rows, count)[rows])


# --- conversions between sparse formats ----------------------------------------------------------------


def csr_to_coo(tensor: Any) -> COOTensor:
    """Convert a CSRTensor to a COOTensor.

    Args:
        tensor (CSRTensor): the sparse matrix.

    Returns:
        COOTensor with the same elements.

    >>> from mindgrad import CSRTensor, Tensor, ops
    >>> print(ops.csr_to_coo(CSRTensor(Tensor([0, 1, 1]), Tensor([1]), Tensor([6.0]), (2, 2))).indices)
    [[0 1]]
    """
    return _sparse(tensor, CSRTensor, "csr_to_coo").to_coo()


def csr_to_dense(csr_tensor: Any) -> Tensor:
    """Convert a CSRTensor to a dense tensor.

    Args:
        csr_tensor (CSRTensor): the sparse matrix.

    Returns:
        Dense tensor with the same elements, and 0 elsewhere.

    >>> from mindgrad import CSRTensor, Tensor, ops
    >>> print(ops.csr_to_dense(CSRTensor(Tensor([0, 1, 1]), Tensor([1]), Tensor([6.0]), (2, 2))))
    [[0. 6.]
     [0. 0.]]
    """
    return _sparse(csr_tensor, CSRTensor, "csr_to_dense").to_dense()


def dense_to_sparse_coo(tensor: Any) -> COOTensor:
    """Convert a dense tensor to a COOTensor of its nonzero elements.

    Args:
        tensor (Tensor): dense tensor to convert.

    Returns:
        COOTensor of the nonzero elements.

    Raises:
        RuntimeError: If a function is being compiled, in which the number of nonzero elements is unknown.

    >>> from mindgrad import Tensor, ops
    >>> print(ops.dense_to_sparse_coo(Tensor([[0.0, 6.0], [0.0, 0.0]])).indices)
    [[0 1]]
    """
    indices = tensor.nonzero()
    return COOTensor(indices, tensor.gather_nd(indices), tensor.shape)


def dense_to_sparse_csr(tensor: Any) -> CSRTensor:
    """Convert a dense matrix to a CSRTensor of its nonzero elements.

    Args:
        tensor (Tensor): dense matrix to convert.

    Returns:
        CSRTensor of the nonzero elements.

    Raises:
        RuntimeError: If a function is being compiled, in which the number of nonzero elements is unknown.
        ValueError: If ``tensor`` is not a matrix.

    >>> from mindgrad import Tensor, ops
    >>> print(ops.dense_to_sparse_csr(Tensor([[0.0, 6.0], [0.0, 0.0]])).indptr)
    [0 1 1]
    """
    return dense_to_sparse_coo(tensor).to_csr()


def coalesce(x_indices: Any, x_values: Any, x_shape: Any) -> tuple[Tensor, Tensor, Tensor]:
    """Sort sparse elements and add the values at equal indices.

    Args:
        x_indices (Tensor): integers of shape (k, n). Each column holds the k indices of one of the n
            elements.
        x_values (Tensor): values of the n elements, of shape (n,).
        x_shape (Tensor): shape of the sparse tensor, k integers.

    Returns:
        Three tensors: the sorted indices, the values, and the shape.

    >>> from mindgrad import Tensor, ops
    >>> print(ops.coalesce(Tensor([[0, 0]]), Tensor([1.0, 2.0]), Tensor([3]))[1])
    [3.]
    """
    shape = tuple(int(n) for n in x_shape.asnumpy())
    found = COOTensor(x_indices.T, x_values, shape).coalesce()
    return found.indices.T, found.values, x_shape


def coo_concat(sp_input: Any, concat_dim: int = 0) -> COOTensor:
    """Concatenate COOTensors along an axis, and sort the indices.

    Args:
        sp_input (tuple of COOTensor): two or more COOTensors. All axes except ``concat_dim`` must have equal
            sizes.
        concat_dim (int): axis along which to concatenate.

    Returns:
        COOTensor of the joined elements.

    Raises:
        ValueError: If ``sp_input`` has only one COOTensor, the shapes do not match, or ``concat_dim`` is out
            of range.
        CompileError: If the indices are unknown because a function is being compiled.

    >>> from mindgrad import COOTensor, Tensor, ops
    >>> x = COOTensor(Tensor([[0, 1]]), Tensor([1.0]), (2, 2))
    >>> ops.coo_concat([x, x], 1).shape
    (2, 4)
    """
    if len(sp_input) < 2:
        raise ValueError("For 'coo_concat', there must be at least two tensors.")
    first = _sparse(sp_input[0], COOTensor, "coo_concat")
    axis = axis_in_range(concat_dim, len(first.shape), "coo_concat", "concat_dim")
    parts, start = [], 0
    for x in sp_input:
        if x.shape[:axis] + x.shape[axis + 1 :] != first.shape[:axis] + first.shape[axis + 1 :]:
            raise ValueError(
                f"For 'coo_concat', the shapes {first.shape} and {x.shape} must be equal except for the "
                "size of axis 'concat_dim'."
            )
        shift = np.zeros(len(x.shape), np.int64)
        shift[axis] = start
        parts.append(x.indices + Tensor(shift))
        start += x.shape[axis]
    shape = (*first.shape[:axis], start, *first.shape[axis + 1 :])
    indices: Any = concat(parts)
    values: Any = concat([x.values for x in sp_input])
    order = np.argsort(np.ravel_multi_index(tuple(indices.asnumpy().T), shape), kind="stable")
    return COOTensor(indices[Tensor(order)], values[Tensor(order)], shape)


# --- constructors and accessors --------------------------------------------------------------------------

make_coo_tensor = make_sparse_tensor = COOTensor
make_csr_tensor = CSRTensor
make_row_tensor = make_row_tensor_inner = RowTensor


def _part(name: str, kind: type, meaning: str, example: str, prints: str) -> Callable[[Any], Any]:
    *_, attribute = name.split("_tensor_get_")
    member = "shape" if attribute == "dense_shape" and kind is not RowTensor else attribute

    def get(x: Any) -> Any:
        return getattr(_sparse(x, kind, name), member)

    get.__name__ = get.__qualname__ = name
    get.__doc__ = f"""Return {meaning} of a {kind.__name__}.

    Args:
        x ({kind.__name__}): the sparse tensor.

    Returns:
        {"Tuple of int" if member.endswith("shape") else "Tensor"}.

    >>> from mindgrad import {kind.__name__}, Tensor, ops
    >>> print(ops.{name}({example}))
    {prints}
    """
    return get


_PARTS: dict[str, tuple[type, str, list[tuple[str, str, str]]]] = {
    "coo": (COOTensor, "COOTensor(Tensor([[0, 1]]), Tensor([6.0]), (2, 2))", [
        ("dense_shape", "the shape", "(2, 2)"), ("indices", "the indices", "[[0 1]]"),
        ("values", "the values", "[6.]"),
    ]),
    "csr": (CSRTensor, "CSRTensor(Tensor([0, 1, 1]), Tensor([1]), Tensor([6.0]), (2, 2))", [
        ("dense_shape", "the shape", "(2, 2)"), ("indices", "the column indices", "[1]"),
        ("indptr", "the row pointers", "[0 1 1]"), ("values", "the values", "[6.]"),
    ]),
    "row": (RowTensor, "RowTensor(Tensor([1]), Tensor([[6.0]]), (2, 1))", [
        ("dense_shape", "the shape", "(2, 1)"), ("indices", "the row indices", "[1]"),
        ("values", "the values", "[[6.]]"),
    ]),
}  # fmt: skip
globals().update(
    {
        f"{layout}_tensor_get_{attribute}": _part(
            f"{layout}_tensor_get_{attribute}", kind, what, made, prints
        )
        for layout, (kind, made, parts) in _PARTS.items()
        for attribute, what, prints in parts
    }
)


def row_tensor_add(row_tensor1: Any, row_tensor2: Any) -> RowTensor:
    """Add two RowTensors by concatenating their rows.

    Args:
        row_tensor1, row_tensor2 (RowTensor): RowTensors with the same dense shape.

    Returns:
        RowTensor in which an index may occur twice. Its dense form adds the rows with the same index.

    >>> from mindgrad import RowTensor, Tensor, ops
    >>> x = RowTensor(Tensor([1]), Tensor([[6.0]]), (2, 1))
    >>> print(ops.row_tensor_add(x, x).to_dense().flatten())
    [ 0. 12.]
    """
    a, b = (_sparse(x, RowTensor, "row_tensor_add") for x in (row_tensor1, row_tensor2))
    if a.dense_shape != b.dense_shape:
        raise ValueError(f"For 'row_tensor_add', the shapes {a.dense_shape} and {b.dense_shape} differ.")
    return RowTensor(concat([a.indices, b.indices]), concat([a.values, b.values]), a.dense_shape)


__all__ = [
    name
    for name, value in globals().items()
    if name[0] != "_" and (name.startswith("make_") or getattr(value, "__module__", "") == __name__)
]
