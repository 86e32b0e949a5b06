"""Products and norms as in NumPy, such as ``np.matmul`` and ``np.dot``."""

from __future__ import annotations

from typing import Any

from mindgrad.core.ir.tensor import Tensor
from mindgrad.numpy.coercion import converted, tensor
from mindgrad.ops import arithmetic, contraction, joining, layout, linalg, movement, vectors
from mindgrad.ops.operands import broadcast_shapes, promoted

__all__ = [
    "cross", "dot", "inner", "kron", "matmul", "outer", "tensordot",
]  # fmt: skip


def _pair(a: Any, b: Any, name: str) -> list[Tensor]:
    return promoted(name, tensor(a, name), tensor(b, name), broadcast=False)


def matmul(x1: Any, x2: Any, dtype: Any = None) -> Tensor:
    """Compute the matrix product; see :func:`mindgrad.ops.matmul`.

    Args:
        x1, x2 (Tensor or array_like): matrices, of shapes (…, m, k) and (…, k, n).
        dtype (mindgrad.dtype): dtype of the result. ``None`` means the promoted dtype.

    Returns:
        Tensor of shape (…, m, n).

    >>> import mindgrad.numpy as np
    >>> print(np.matmul([[1.0, 2.0]], [3.0, 4.0]))
    [11.]
    """
    return converted(contraction.matmul(*_pair(x1, x2, "matmul")), dtype)


def dot(a: Any, b: Any) -> Tensor:
    """Sum products over the last axis of ``a`` and the second-to-last axis of ``b``.

    Args:
        a, b (Tensor or array_like): operands of the product.

    Returns:
        Tensor of the sums of products.

    >>> import mindgrad.numpy as np
    >>> print(np.dot([1.0, 2.0], [3.0, 4.0]))
    11.0
    """
    x, y = _pair(a, b, "dot")
    if not x.ndim or not y.ndim:
        return arithmetic.mul(x, y)
    return contraction.tensordot(x, y, ([x.ndim - 1], [max(y.ndim - 2, 0)]))


def inner(a: Any, b: Any) -> Tensor:
    """Sum products over the last axes of two tensors.

    Args:
        a, b (Tensor or array_like): operands of the product.

    Returns:
        Tensor of the sums of products.

    >>> import mindgrad.numpy as np
    >>> print(np.inner([1.0, 2.0], [3.0, 4.0]))
    11.0
    """
    return contraction.inner(*_pair(a, b, "inner"))


def outer(a: Any, b: Any) -> Tensor:
    """Compute the outer product of two flattened tensors.

    Args:
        a, b (Tensor or array_like): operands of the product.

    Returns:
        2-D tensor whose element (i, j) is the product of element i of ``a`` and element j of ``b``.

    >>> import mindgrad.numpy as np
    >>> print(np.outer([1, 2], [3, 4]))
    [[3 4]
     [6 8]]
    """
    return contraction.outer(*[layout.ravel(x) for x in _pair(a, b, "outer")])


def tensordot(a: Any, b: Any, axes: Any = 2) -> Tensor:
    """Sum products over several axes; see :func:`mindgrad.ops.tensor_dot`.

    Args:
        a, b (Tensor or array_like): operands of the product.
        axes (int, or pair of int or tuple of int): number of trailing axes of ``a`` and leading axes of ``b``
            to sum over, or a pair of the axes of ``a`` and the axes of ``b``.

    Returns:
        Tensor of the sums of products.

    >>> import mindgrad.numpy as np
    >>> print(np.tensordot(np.ones((2, 3)), np.ones((2, 3))))
    6.0
    """
    x, y = _pair(a, b, "tensordot")
    return contraction.tensordot(x, y, axes)


def kron(a: Any, b: Any) -> Tensor:
    """Compute the Kronecker product.

    Args:
        a, b (Tensor or array_like): operands of the product.

    Returns:
        Tensor of the Kronecker product.

    >>> import mindgrad.numpy as np
    >>> print(np.kron([1, 2], [1, 1]))
    [1 1 2 2]
    """
    return linalg.kron(*_pair(a, b, "kron"))


def cross(
    a: Any, b: Any, axisa: int = -1, axisb: int = -1, axisc: int = -1, axis: int | None = None
) -> Tensor:
    """Compute the cross product of vectors of two or three elements.

    Args:
        a, b (Tensor or array_like): tensors of vectors with two or three elements. A missing third element is
            0.
        axisa, axisb (int): axis of the vectors in ``a`` and in ``b``.
        axisc (int): axis of the vectors in the result. If both operands have vectors of two elements, the
            product is a number and the result has no such axis.
        axis (int or None): if given, replaces ``axisa``, ``axisb``, and ``axisc``.

    Returns:
        Tensor of the cross products.

    >>> import mindgrad.numpy as np
    >>> print(np.cross([1, 2, 3], [4, 5, 6]), np.cross([1, 2], [3, 4]))
    [-3  6 -3] -2
    """
    if axis is not None:
        axisa = axisb = axisc = axis
    x, y = (
        layout.moveaxis(vector, place, -1)
        for vector, place in zip(_pair(a, b, "cross"), (axisa, axisb), strict=True)
    )
    if {x.shape[-1], y.shape[-1]} - {2, 3}:
        raise ValueError(
            f"For 'cross', the vectors must have two or three elements, but got {x.shape[-1]} and "
            f"{y.shape[-1]}."
        )
    flat = x.shape[-1] == y.shape[-1] == 2
    x, y = (
        vector
        if vector.shape[-1] == 3
        else joining.concat((vector, movement.narrow(vector, -1, 0, 1) * 0), -1)  # type: ignore[operator]
        for vector in (x, y)
    )
    shape = broadcast_shapes("cross", x.shape, y.shape)
    found = vectors.cross(movement.broadcast_to(x, shape), movement.broadcast_to(y, shape), -1)
    return found[..., 2] if flat else layout.moveaxis(found, -1, axisc)  # type: ignore[index]
