"""Products and norms as in NumPy: ``np.matmul``, ``np.dot``, ``np.cross``, ``np.norm``."""

from __future__ import annotations

from typing import Any

from mindgrad.ir.tensor import Tensor
from mindgrad.numpy.coercion import converted, tensor
from mindgrad.ops import arithmetic, contraction, joining, layout, linalg, movement, vectors
from mindgrad.ops.operands import broadcast_shapes, promoted

__all__ = [
    "cross", "dot", "inner", "kron", "matmul", "outer", "tensordot",
]  # fmt: skip


def _pair(a: Any, b: Any, name: str) -> list[Tensor]:
    return promoted(name, tensor(a, name), tensor(b, name), broadcast=False)


def matmul(x1: Any, x2: Any, dtype: Any = None) -> Tensor:
    """The product of matrices; see :func:`mindgrad.ops.matmul`.

    >>> import mindgrad.numpy as np
    >>> print(np.matmul([[1.0, 2.0]], [3.0, 4.0]))
    [11.]
    """
    return converted(contraction.matmul(*_pair(x1, x2, "matmul")), dtype)


def dot(a: Any, b: Any) -> Tensor:
    """The sum of products over the last axis of ``a`` and the second to last of ``b``.

    >>> import mindgrad.numpy as np
    >>> print(np.dot([1.0, 2.0], [3.0, 4.0]))
    11.0
    """
    x, y = _pair(a, b, "dot")
    if not x.ndim or not y.ndim:
        return arithmetic.mul(x, y)
    return contraction.tensordot(x, y, ([x.ndim - 1], [max(y.ndim - 2, 0)]))


def inner(a: Any, b: Any) -> Tensor:
    """The sum of products over the last axes.

    >>> import mindgrad.numpy as np
    >>> print(np.inner([1.0, 2.0], [3.0, 4.0]))
    11.0
    """
    return contraction.inner(*_pair(a, b, "inner"))


def outer(a: Any, b: Any) -> Tensor:
    """All products of elements of two flattened tensors.

    >>> import mindgrad.numpy as np
    >>> print(np.outer([1, 2], [3, 4]))
    [[3 4]
     [6 8]]
    """
    return contraction.outer(*[layout.ravel(x) for x in _pair(a, b, "outer")])


def tensordot(a: Any, b: Any, axes: Any = 2) -> Tensor:
    """The sum of products over several axes; see :func:`mindgrad.ops.tensor_dot`.

    >>> import mindgrad.numpy as np
    >>> print(np.tensordot(np.ones((2, 3)), np.ones((2, 3))))
    6.0
    """
    x, y = _pair(a, b, "tensordot")
    return contraction.tensordot(x, y, axes)


def kron(a: Any, b: Any) -> Tensor:
    """The Kronecker product.

    >>> import mindgrad.numpy as np
    >>> print(np.kron([1, 2], [1, 1]))
    [1 1 2 2]
    """
    return linalg.kron(*_pair(a, b, "kron"))


def cross(
    a: Any, b: Any, axisa: int = -1, axisb: int = -1, axisc: int = -1, axis: int | None = None
) -> Tensor:
    """The vector product of vectors of two or three elements.

    Args:
        a, b: tensors of vectors; one of two elements has 0 as its third.
        axisa, axisb: the axes of the vectors.
        axisc: the axis of the result; two vectors of two elements have a number as product, without an axis.
        axis: all three at once.

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
