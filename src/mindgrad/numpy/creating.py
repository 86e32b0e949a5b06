"""Creation functions as in NumPy: ``np.array``, ``np.zeros``, ``np.arange`` and related functions."""

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

# --- from data ----------------------------------------------------------------------------------------------


def array(obj: Any, dtype: Any = None, copy: bool = True, ndmin: int = 0) -> Tensor:
    """Data as a tensor: floats as Float32, integers as Int32, unless ``dtype`` says otherwise.

    Args:
        obj: a tensor, number, NumPy array, or nested list of numbers and tensors.
        dtype: the element type; that of a tensor stays by default.
        copy: a tensor becomes another object, which later assignments to elements do not change.
        ndmin: how many axes there are at least; axes of size 1 are put in front.

    >>> import mindgrad.numpy as np
    >>> np.array([1, 2])
    Tensor(shape=[2], dtype=Int32, value= [1, 2])
    """
    values = tensor(obj, "array", dtype)
    if values.ndim < ndmin:
        return layout.reshape(values, (*(1 for _ in range(ndmin - values.ndim)), *values.shape))
    return values.__copy__() if copy and values is obj else values  # type: ignore[attr-defined,no-any-return]


def asarray(a: Any, dtype: Any = None) -> Tensor:
    """Data as a tensor: :func:`array` without its further arguments.

    >>> import mindgrad.numpy as np
    >>> print(np.asarray([1.5, 2]).dtype)
    Float32
    """
    return tensor(a, "asarray", dtype)


def asfarray(a: Any, dtype: Any = float32) -> Tensor:
    """Data as a tensor of floating-point numbers.

    >>> import mindgrad.numpy as np
    >>> print(np.asfarray([1, 2]))
    [1. 2.]
    """
    wanted = element_type(dtype) or float32
    return tensor(a, "asfarray", wanted if wanted.is_float else float32)


def copy(a: Any) -> Tensor:
    """A tensor of its own with the same value.

    >>> import mindgrad.numpy as np
    >>> print(np.copy([1.0]))
    [1.]
    """
    return tensor(a, "copy").__copy__()


# --- from a shape -------------------------------------------------------------------------------------------


def full(shape: Any, fill_value: Any, dtype: Any = None) -> Tensor:
    """``fill_value``, a number or what broadcasts, in a shape.

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
    """Zeros of the shape and element type of ``a``, unless others are given.

    >>> import mindgrad.numpy as np
    >>> print(np.zeros_like([1, 2]))
    [0 0]
    """
    return _like("zeros_like", a, 0, dtype, shape)


def ones_like(a: Any, dtype: Any = None, shape: Any = None) -> Tensor:
    """Ones of the shape and element type of ``a``, unless others are given.

    >>> import mindgrad.numpy as np
    >>> print(np.ones_like([1, 2]))
    [1 1]
    """
    return _like("ones_like", a, 1, dtype, shape)


def empty_like(prototype: Any, dtype: Any = None, shape: Any = None) -> Tensor:
    """Zeros of the shape and element type of ``prototype``, unless others are given.

    >>> import mindgrad.numpy as np
    >>> np.empty_like([1, 2]).shape
    (2,)
    """
    return _like("empty_like", prototype, 0, dtype, shape)


def full_like(a: Any, fill_value: Any, dtype: Any = None, shape: Any = None) -> Tensor:
    """``fill_value`` in the shape and element type of ``a``, unless others are given.

    >>> import mindgrad.numpy as np
    >>> print(np.full_like([1.0, 2.0], 7))
    [7. 7.]
    """
    return _like("full_like", a, fill_value, dtype, shape)


# --- ranges -------------------------------------------------------------------------------------------------


def arange(start: Any, stop: Any = None, step: Any = None, dtype: Any = None) -> Tensor:
    """Numbers from ``start``, or 0, up to and without ``stop``: Int32 for ints, Float32 for floats.

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
    """Numbers at equal distances from ``start`` to ``stop``; derivatives pass to both.

    Args:
        start, stop: numbers or tensors.
        num: how many.
        endpoint: whether ``stop`` is the last.
        retstep: whether to give ``(numbers, distance)``.
        dtype: the element type, by default Float32.
        axis: where the new axis stands if ``start`` or ``stop`` has axes.

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
        # both ends exactly: as much of the first as is missing of the last
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
    """``base`` to the powers of numbers at equal distances: see :func:`linspace`.

    >>> import mindgrad.numpy as np
    >>> print(np.logspace(0, 2, 3))
    [  1.  10. 100.]
    """
    return converted(arithmetic.pow(base, linspace(start, stop, num, endpoint, axis=axis)), dtype)


def geomspace(
    start: Any, stop: Any, num: int = 50, endpoint: bool = True, dtype: Any = None, axis: int = 0
) -> Tensor:
    """Positive numbers from ``start`` to ``stop``, each a constant multiple of the one before.

    >>> import mindgrad.numpy as np
    >>> print(np.geomspace(1, 4, 3))
    [1. 2. 4.]
    """
    low, high = (math.log2(floating(x, "geomspace")) for x in (start, stop))
    return converted(math.exp2(linspace(low, high, num, endpoint, axis=axis)), dtype)


# --- matrices -----------------------------------------------------------------------------------------------


def eye(N: int, M: int | None = None, k: int = 0, dtype: Any = float32) -> Tensor:
    """A matrix with ones on its diagonal number ``k``.

    >>> import mindgrad.numpy as np
    >>> print(np.eye(2, 3, 1))
    [[0. 1. 0.]
     [0. 0. 1.]]
    """
    return Tensor(np.eye(N, M, k), element_type(dtype))


def identity(n: int, dtype: Any = float32) -> Tensor:
    """The identity matrix.

    >>> import mindgrad.numpy as np
    >>> print(np.identity(2))
    [[1. 0.]
     [0. 1.]]
    """
    return eye(n, dtype=dtype)


def tri(N: int, M: int | None = None, k: int = 0, dtype: Any = float32) -> Tensor:
    """A matrix with ones on and below its diagonal number ``k``.

    >>> import mindgrad.numpy as np
    >>> print(np.tri(2, 3))
    [[1. 0. 0.]
     [1. 1. 0.]]
    """
    return Tensor(np.tri(N, M, k), element_type(dtype))


def diag(v: Any, k: int = 0) -> Tensor:
    """A matrix with a vector on its diagonal number ``k``; of a matrix that diagonal.

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
    """The sum of a diagonal; integers and truth values are summed as Int64.

    >>> import mindgrad.numpy as np
    >>> print(np.trace([[1, 2], [3, 4]]))
    5
    """
    x = whole_as_int64(tensor(a, "trace"), "trace", dtype)
    return matrices.trace(x, offset, axis1, axis2)


def vander(x: Any, N: int | None = None, increasing: bool = False) -> Tensor:
    """The Vandermonde matrix; see :func:`mindgrad.ops.vander`.

    >>> import mindgrad.numpy as np
    >>> print(np.vander([2, 3], 2))
    [[2 1]
     [3 1]]
    """
    values = tensor(x, "vander")
    return converted(window_functions.vander(values, N, increasing), values.dtype)


# --- indices ------------------------------------------------------------------------------------------------


def _places(found: Any) -> tuple[Tensor, ...]:
    return tuple(Tensor(each, int32) for each in found)


def tril_indices(n: int, k: int = 0, m: int | None = None) -> tuple[Tensor, ...]:
    """The places on and below the diagonal number ``k`` of an n × m matrix.

    >>> import mindgrad.numpy as np
    >>> rows, columns = np.tril_indices(2)
    >>> print(rows, columns)
    [0 1 1] [0 0 1]
    """
    return _places(np.tril_indices(n, k, m))


def triu_indices(n: int, k: int = 0, m: int | None = None) -> tuple[Tensor, ...]:
    """The places on and above the diagonal number ``k`` of an n × m matrix.

    >>> import mindgrad.numpy as np
    >>> rows, columns = np.triu_indices(2)
    >>> print(rows, columns)
    [0 0 1] [0 1 1]
    """
    return _places(np.triu_indices(n, k, m))


def tril_indices_from(arr: Any, k: int = 0) -> tuple[Tensor, ...]:
    """:func:`tril_indices` of the shape of a matrix.

    >>> import mindgrad.numpy as np
    >>> len(np.tril_indices_from(np.ones((2, 2))))
    2
    """
    rows, columns = tensor(arr, "tril_indices_from").shape
    return tril_indices(rows, k, columns)


def triu_indices_from(arr: Any, k: int = 0) -> tuple[Tensor, ...]:
    """:func:`triu_indices` of the shape of a matrix.

    >>> import mindgrad.numpy as np
    >>> len(np.triu_indices_from(np.ones((2, 2))))
    2
    """
    rows, columns = tensor(arr, "triu_indices_from").shape
    return triu_indices(rows, k, columns)


def diag_indices(n: int, ndim: int = 2) -> tuple[Tensor, ...]:
    """The places on the main diagonal of a tensor of ``ndim`` axes of size ``n``.

    >>> import mindgrad.numpy as np
    >>> print(np.diag_indices(2)[0])
    [0 1]
    """
    return _places(np.diag_indices(n, ndim))
