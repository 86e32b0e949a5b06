"""Creation functions as in NumPy, such as ``np.array`` and ``np.zeros``."""

from __future__ import annotations

from typing import Any

import numpy as np

from mindgrad.ir.dtype import float32, int32
from mindgrad.ir.tensor import Tensor
from mindgrad.numpy.coercion import converted, element_type, floating, tensor
from mindgrad.ops import arithmetic, layout, math, matrices, movement, window_functions
from mindgrad.ops.arguments import sizes, whole_number
from mindgrad.ops.reduction import whole_as_int64

__all__ = [
    "arange", "array", "asarray", "asfarray", "copy", "diag", "diag_indices", "empty_like", "eye", "full",
    "full_like", "geomspace", "identity", "linspace", "logspace", "ones_like", "trace", "tri",
    "tril_indices", "tril_indices_from", "triu_indices", "triu_indices_from", "vander", "zeros_like",
]  # fmt: skip

# --- tensors from data --------------------------------------------------------------------------------------


def array(obj: Any, dtype: Any = None, copy: bool = True, ndmin: int = 0) -> Tensor:
    """Convert data to a tensor: floats to float32, integers to int32.

    Args:
        obj (Tensor or array_like): data to convert: a tensor, number, NumPy array, or nested list of numbers
            and tensors.
        dtype (mindgrad.dtype): dtype of the result. ``None`` means the dtype of the data if it is a tensor,
            and otherwise float32 for floats and int32 for integers.
        copy (bool): whether to copy ``obj`` if it is a tensor, so that later assignments to its elements do
            not change the result.
        ndmin (int): minimum number of axes of the result. Leading axes of size 1 are added if the data has
            fewer axes.

    Returns:
        Tensor of the data.

    >>> import mindgrad.numpy as np
    >>> np.array([1, 2])
    Tensor(shape=[2], dtype=Int32, value= [1, 2])
    """
    values = tensor(obj, "array", dtype)
    if values.ndim < ndmin:
        return layout.reshape(values, (*(1 for _ in range(ndmin - values.ndim)), *values.shape))
    return values.__copy__() if copy and values is obj else values  # type: ignore[attr-defined,no-any-return]


def asarray(a: Any, dtype: Any = None) -> Tensor:
    """Convert data to a tensor without a copy.

    Args:
        a (Tensor or array_like): data to convert.
        dtype (mindgrad.dtype): dtype of the result. ``None`` means the dtype of the data if it is a tensor,
            and otherwise float32 for floats and int32 for integers.

    Returns:
        Tensor of the data.

    >>> import mindgrad.numpy as np
    >>> print(np.asarray([1.5, 2]).dtype)
    Float32
    """
    return tensor(a, "asarray", dtype)


def asfarray(a: Any, dtype: Any = float32) -> Tensor:
    """Convert data to a floating-point tensor.

    Args:
        a (Tensor or array_like): data to convert.
        dtype (mindgrad.dtype): floating-point dtype of the result.

    Returns:
        Tensor of dtype ``dtype``.

    >>> import mindgrad.numpy as np
    >>> print(np.asfarray([1, 2]))
    [1. 2.]
    """
    wanted = element_type(dtype) or float32
    return tensor(a, "asfarray", wanted if wanted.is_float else float32)


def copy(a: Any) -> Tensor:
    """Copy a tensor.

    Args:
        a (Tensor or array_like): tensor to copy.

    Returns:
        Tensor of the shape and dtype of ``a``.

    >>> import mindgrad.numpy as np
    >>> print(np.copy([1.0]))
    [1.]
    """
    return tensor(a, "copy").__copy__()


# --- constant tensors: full, zeros, ones --------------------------------------------------------------------


def full(shape: Any, fill_value: Any, dtype: Any = None) -> Tensor:
    """Create a tensor filled with a value.

    Args:
        shape (int or tuple of int): shape of the result.
        fill_value (Tensor or array_like): value of the elements. It broadcasts to ``shape``.
        dtype (mindgrad.dtype): dtype of the result. ``None`` means the dtype of ``fill_value``.

    Returns:
        Tensor of shape ``shape``.

    >>> import mindgrad.numpy as np
    >>> print(np.full((2, 2), [1, 2]))
    [[1 2]
     [1 2]]
    """
    return movement.broadcast_to(tensor(fill_value, "full", dtype), sizes(shape, "full", "shape", least=0))


def _like(name: str, a: Any, value: Any, dtype: Any, shape: Any) -> Tensor:
    prototype = tensor(a, name)
    return full(prototype.shape if shape is None else shape, value, dtype or prototype.dtype)


def zeros_like(a: Any, dtype: Any = None, shape: Any = None) -> Tensor:
    """Create a tensor of zeros in the shape of another tensor.

    Args:
        a (Tensor or array_like): tensor whose shape and dtype are used.
        dtype (mindgrad.dtype): dtype of the result. ``None`` means the dtype of the tensor.
        shape (int, tuple of int, or None): shape of the result. ``None`` means the shape of the tensor.

    Returns:
        Tensor of zeros.

    >>> import mindgrad.numpy as np
    >>> print(np.zeros_like([1, 2]))
    [0 0]
    """
    return _like("zeros_like", a, 0, dtype, shape)


def ones_like(a: Any, dtype: Any = None, shape: Any = None) -> Tensor:
    """Create a tensor of ones in the shape of another tensor.

    Args:
        a (Tensor or array_like): tensor whose shape and dtype are used.
        dtype (mindgrad.dtype): dtype of the result. ``None`` means the dtype of the tensor.
        shape (int, tuple of int, or None): shape of the result. ``None`` means the shape of the tensor.

    Returns:
        Tensor of ones.

    >>> import mindgrad.numpy as np
    >>> print(np.ones_like([1, 2]))
    [1 1]
    """
    return _like("ones_like", a, 1, dtype, shape)


def empty_like(prototype: Any, dtype: Any = None, shape: Any = None) -> Tensor:
    """Create a tensor of zeros in the shape of another tensor.

    Args:
        prototype (Tensor or array_like): tensor whose shape and dtype are used.
        dtype (mindgrad.dtype): dtype of the result. ``None`` means the dtype of the tensor.
        shape (int, tuple of int, or None): shape of the result. ``None`` means the shape of the tensor.

    Returns:
        Tensor of zeros.

    >>> import mindgrad.numpy as np
    >>> np.empty_like([1, 2]).shape
    (2,)
    """
    return _like("empty_like", prototype, 0, dtype, shape)


def full_like(a: Any, fill_value: Any, dtype: Any = None, shape: Any = None) -> Tensor:
    """Create a tensor filled with a value in the shape of another tensor.

    Args:
        a (Tensor or array_like): tensor whose shape and dtype are used.
        fill_value (Tensor or array_like): value of the elements.
        dtype (mindgrad.dtype): dtype of the result. ``None`` means the dtype of the tensor.
        shape (int, tuple of int, or None): shape of the result. ``None`` means the shape of the tensor.

    Returns:
        Tensor filled with ``fill_value``.

    >>> import mindgrad.numpy as np
    >>> print(np.full_like([1.0, 2.0], 7))
    [7. 7.]
    """
    return _like("full_like", a, fill_value, dtype, shape)


# --- sequences: arange, linspace, logspace, geomspace -------------------------------------------------------


def arange(start: Any, stop: Any = None, step: Any = None, dtype: Any = None) -> Tensor:
    """Return numbers from ``start`` up to ``stop``, which is excluded.

    Args:
        start (int or float): first number. If it is the only argument, it is ``stop`` and the
            first number is 0.
        stop (int, float, or None): exclusive upper bound of the numbers.
        step (int, float, or None): difference between neighboring numbers. ``None`` means 1.
        dtype (mindgrad.dtype): dtype of the result. ``None`` means int32 for ints and float32 for
            floats.

    Returns:
        1-D tensor of the numbers.

    >>> import mindgrad.numpy as np
    >>> print(np.arange(3), np.arange(1, 2, 0.5))
    [0 1 2] [1.  1.5]
    """
    low, high = (0, start) if stop is None else (start, stop)
    numbers = [x.item() if isinstance(x, Tensor) else x for x in (low, high, 1 if step is None else step)]
    whole = all(isinstance(x, (int, np.integer)) for x in numbers)
    wanted = element_type(dtype) or (int32 if whole else float32)
    return Tensor(np.arange(*numbers), wanted)


def linspace(
    start: Any,
    stop: Any,
    num: int = 50,
    endpoint: bool = True,
    retstep: bool = False,
    dtype: Any = None,
    axis: int = 0,
) -> Any:
    """Return equally spaced numbers from ``start`` to ``stop``.

    The result is differentiable with respect to ``start`` and ``stop``.

    Args:
        start, stop (Tensor or array_like): first number, and end of the interval.
        num (int): number of elements of the result.
        endpoint (bool): whether ``stop`` is the last number. If it is false, ``stop`` is excluded.
        retstep (bool): whether to return also the spacing, as ``(numbers, spacing)``.
        dtype (mindgrad.dtype): dtype of the result. ``None`` means float32.
        axis (int): index of the axis of the numbers in the result if ``start`` or ``stop`` is not 0-D.

    Returns:
        Tensor of the numbers, with ``num`` elements along ``axis``.

    >>> import mindgrad.numpy as np
    >>> print(np.linspace(0, 1, 5))
    [0.   0.25 0.5  0.75 1.  ]
    """
    count = whole_number(num, "linspace", "num", least=0)
    divisions = count - 1 if endpoint else count
    if isinstance(start, (int, float)) and isinstance(stop, (int, float)):
        found, step = np.linspace(start, stop, count, endpoint=endpoint, retstep=True)
        numbers, distance = Tensor(found, float32), tensor(float(step), "linspace")
    else:
        first, last = floating(start, "linspace"), floating(stop, "linspace")
        distance = arithmetic.true_divide(arithmetic.sub(last, first), divisions if divisions > 0 else np.nan)
        # interpolate from both ends, so that ``start`` and ``stop`` are exact
        column = (np.arange(count) / max(divisions, 1)).reshape(count, *(1 for _ in distance.shape))
        share = Tensor(column, distance.dtype)
        numbers = arithmetic.add(arithmetic.mul(first, arithmetic.sub(1, share)), arithmetic.mul(last, share))
        numbers = layout.moveaxis(numbers, 0, axis) if numbers.ndim > 1 else numbers
    numbers = converted(numbers, dtype)
    return (numbers, distance) if retstep else numbers


def logspace(
    start: Any,
    stop: Any,
    num: int = 50,
    endpoint: bool = True,
    base: Any = 10.0,
    dtype: Any = None,
    axis: int = 0,
) -> Tensor:
    """Return powers of ``base`` with equally spaced exponents.

    Args:
        start, stop (Tensor or array_like): first exponent, and end of the interval of exponents.
        num (int): number of elements of the result.
        endpoint (bool): whether ``stop`` is the last exponent. If it is false, ``stop`` is excluded.
        base (float): base of the powers.
        dtype (mindgrad.dtype): dtype of the result. ``None`` means float32.
        axis (int): index of the axis of the numbers in the result if ``start`` or ``stop`` is not 0-D.

    Returns:
        Tensor of the powers, with ``num`` elements along ``axis``.

    >>> import mindgrad.numpy as np
    >>> print(np.logspace(0, 2, 3))
    [  1.  10. 100.]
    """
    return converted(arithmetic.pow(base, linspace(start, stop, num, endpoint, axis=axis)), dtype)


def geomspace(
    start: Any, stop: Any, num: int = 50, endpoint: bool = True, dtype: Any = None, axis: int = 0
) -> Tensor:
    """Return positive numbers from ``start`` to ``stop`` with constant ratios.

    Args:
        start, stop (Tensor or array_like): first number, and end of the interval.
        num (int): number of elements of the result.
        endpoint (bool): whether ``stop`` is the last number. If it is false, ``stop`` is excluded.
        dtype (mindgrad.dtype): dtype of the result. ``None`` means float32.
        axis (int): index of the axis of the numbers in the result if ``start`` or ``stop`` is not 0-D.

    Returns:
        Tensor of the numbers, with ``num`` elements along ``axis``.

    >>> import mindgrad.numpy as np
    >>> print(np.geomspace(1, 4, 3))
    [1. 2. 4.]
    """
    low, high = (math.log2(floating(x, "geomspace")) for x in (start, stop))
    return converted(math.exp2(linspace(low, high, num, endpoint, axis=axis)), dtype)


# --- matrices: eye, tri, diag, vander -----------------------------------------------------------------------


def eye(N: int, M: int | None = None, k: int = 0, dtype: Any = float32) -> Tensor:
    """Create a matrix with ones on a diagonal.

    Args:
        N (int): number of rows.
        M (int or None): number of columns. ``None`` means ``N``.
        k (int): index of the diagonal. 0 is the main diagonal; positive diagonals are above it.
        dtype (mindgrad.dtype): dtype of the result.

    Returns:
        Tensor of shape (N, M).

    >>> import mindgrad.numpy as np
    >>> print(np.eye(2, 3, 1))
    [[0. 1. 0.]
     [0. 0. 1.]]
    """
    return Tensor(np.eye(N, M, k), element_type(dtype))


def identity(n: int, dtype: Any = float32) -> Tensor:
    """Create the identity matrix.

    Args:
        n (int): number of rows and columns.
        dtype (mindgrad.dtype): dtype of the result.

    Returns:
        Tensor of shape (n, n).

    >>> import mindgrad.numpy as np
    >>> print(np.identity(2))
    [[1. 0.]
     [0. 1.]]
    """
    return eye(n, dtype=dtype)


def tri(N: int, M: int | None = None, k: int = 0, dtype: Any = float32) -> Tensor:
    """Create a matrix with ones on and below a diagonal.

    {as eye}

    >>> import mindgrad.numpy as np
    >>> print(np.tri(2, 3))
    [[1. 0. 0.]
     [1. 1. 0.]]
    """
    return Tensor(np.tri(N, M, k), element_type(dtype))


def diag(v: Any, k: int = 0) -> Tensor:
    """Return a diagonal of a matrix, or a matrix with a given diagonal.

    Args:
        v (Tensor or array_like): a matrix, or a vector with the elements of the diagonal.
        k (int): index of the diagonal. 0 is the main diagonal; positive diagonals are above it.

    Returns:
        1-D tensor of the diagonal if ``v`` is a matrix, or a matrix with this diagonal if ``v`` is a vector.

    >>> import mindgrad.numpy as np
    >>> print(np.diag([1, 2]), np.diag([[1, 2], [3, 4]], 1))
    [[1 0]
     [0 2]] [2]
    """
    x = tensor(v, "diag")
    if x.ndim not in (1, 2):
        raise ValueError(f"For 'diag', the input must have one or two axes, but its shape is {x.shape}.")
    return matrices.diag_embed(x, k) if x.ndim == 1 else matrices.diagonal(x, k)


def trace(a: Any, offset: int = 0, axis1: int = 0, axis2: int = 1, dtype: Any = None) -> Tensor:
    """Sum a diagonal; integers and Booleans are summed as int64.

    Args:
        a (Tensor or array_like): tensor with at least two axes.
        offset (int): index of the diagonal. 0 is the main diagonal; positive diagonals are above it.
        axis1, axis2 (int): axes of the rows and of the columns of the matrices.
        dtype (mindgrad.dtype): dtype of the result. ``None`` means int64 for integers and the
            dtype of the tensor otherwise.

    Returns:
        Tensor of the sums, without ``axis1`` and ``axis2``.

    >>> import mindgrad.numpy as np
    >>> print(np.trace([[1, 2], [3, 4]]))
    5
    """
    x = whole_as_int64(tensor(a, "trace"), "trace", dtype)
    return matrices.trace(x, offset, axis1, axis2)


def vander(x: Any, N: int | None = None, increasing: bool = False) -> Tensor:
    """Return the Vandermonde matrix of a vector.

    Args:
        x (Tensor or array_like): 1-D tensor.
        N (int or None): number of powers, which is the number of columns. ``None`` means the number of
            elements of ``x``.
        increasing (bool): whether the powers increase from left to right.

    Returns:
        Tensor of shape (n, N), where n is the number of elements of ``x``.

    >>> import mindgrad.numpy as np
    >>> print(np.vander([2, 3], 2))
    [[2 1]
     [3 1]]
    """
    values = tensor(x, "vander")
    return converted(window_functions.vander(values, N, increasing), values.dtype)


# --- indices of triangles and diagonals ---------------------------------------------------------------------


def _places(found: Any) -> tuple[Tensor, ...]:
    return tuple(Tensor(each, int32) for each in found)


def tril_indices(n: int, k: int = 0, m: int | None = None) -> tuple[Tensor, ...]:
    """Return the indices on and below a diagonal of an n × m matrix.

    Args:
        n (int): number of rows.
        k (int): index of the diagonal. 0 is the main diagonal; positive diagonals are above it.
        m (int or None): number of columns. ``None`` means ``n``.

    Returns:
        Tuple of two integer tensors: the row indices and the column indices.

    >>> import mindgrad.numpy as np
    >>> rows, columns = np.tril_indices(2)
    >>> print(rows, columns)
    [0 1 1] [0 0 1]
    """
    return _places(np.tril_indices(n, k, m))


def triu_indices(n: int, k: int = 0, m: int | None = None) -> tuple[Tensor, ...]:
    """Return the indices on and above a diagonal of an n × m matrix.

    Args:
        n (int): number of rows.
        k (int): index of the diagonal. 0 is the main diagonal; positive diagonals are above it.
        m (int or None): number of columns. ``None`` means ``n``.

    Returns:
        Tuple of two integer tensors: the row indices and the column indices.

    >>> import mindgrad.numpy as np
    >>> rows, columns = np.triu_indices(2)
    >>> print(rows, columns)
    [0 0 1] [0 1 1]
    """
    return _places(np.triu_indices(n, k, m))


def tril_indices_from(arr: Any, k: int = 0) -> tuple[Tensor, ...]:
    """Return the indices on and below a diagonal of a given matrix.

    Args:
        arr (Tensor or array_like): matrix whose shape is used.
        k (int): index of the diagonal. 0 is the main diagonal; positive diagonals are above it.

    Returns:
        Tuple of two integer tensors: the row indices and the column indices.

    >>> import mindgrad.numpy as np
    >>> len(np.tril_indices_from(np.ones((2, 2))))
    2
    """
    rows, columns = tensor(arr, "tril_indices_from").shape
    return tril_indices(rows, k, columns)


def triu_indices_from(arr: Any, k: int = 0) -> tuple[Tensor, ...]:
    """Return the indices on and above a diagonal of a given matrix.

    Args:
        arr (Tensor or array_like): matrix whose shape is used.
        k (int): index of the diagonal. 0 is the main diagonal; positive diagonals are above it.

    Returns:
        Tuple of two integer tensors: the row indices and the column indices.

    >>> import mindgrad.numpy as np
    >>> len(np.triu_indices_from(np.ones((2, 2))))
    2
    """
    rows, columns = tensor(arr, "triu_indices_from").shape
    return triu_indices(rows, k, columns)


def diag_indices(n: int, ndim: int = 2) -> tuple[Tensor, ...]:
    """Return the indices of the main diagonal of a tensor with axes of size ``n``.

    Args:
        n (int): size of each axis.
        ndim (int): number of axes.

    Returns:
        Tuple of index tensors, one for each axis.

    >>> import mindgrad.numpy as np
    >>> print(np.diag_indices(2)[0])
    [0 1]
    """
    return _places(np.diag_indices(n, ndim))
