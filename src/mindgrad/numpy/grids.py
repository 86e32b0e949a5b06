"""Grids, window functions, and random numbers as in NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np

from mindgrad.ir.dtype import float32, int32
from mindgrad.ir.tensor import Tensor
from mindgrad.numpy.coercion import converted, element_type, tensor, tensors
from mindgrad.ops import layout, random, repeating
from mindgrad.ops.arguments import sizes, whole_number

__all__ = ["indices", "ix_", "meshgrid", "mgrid", "ogrid", "rand", "randint", "randn"]

# --- grids of indices ---


def indices(dimensions: Any, dtype: Any = int32, sparse: bool = False) -> Any:
    """Return the index coordinates of all elements of a grid of a given shape.

    Args:
        dimensions (tuple of int): shape of the grid.
        dtype (mindgrad.dtype): dtype of the result.
        sparse (bool): whether to return a tuple of tensors that broadcast to ``dimensions`` instead of one
            dense tensor.

    Returns:
        Integer tensor of shape ``(len(dimensions), *dimensions)``, or a tuple of ``len(dimensions)`` tensors
        if ``sparse`` is true.

    >>> import mindgrad.numpy as np
    >>> print(np.indices((2, 2)))
    [[[0 0]
      [1 1]]
    <BLANKLINE>
     [[0 1]
      [0 1]]]
    """
    shape = sizes(dimensions, "indices", "dimensions", least=0)
    coordinates: Any = np.indices(shape, sparse=True) if sparse else np.indices(shape)
    return (
        tuple(Tensor(each, element_type(dtype)) for each in coordinates)
        if sparse
        else Tensor(coordinates, element_type(dtype))
    )


def ix_(*args: Any) -> tuple[Tensor, ...]:
    """Return an open grid: vector k is reshaped to lie along axis k.

    Args:
        *args (Tensor or array_like): 1-D tensors, one for each axis of the grid.

    Returns:
        Tuple of integer tensors that broadcast to the grid, one for each argument.

    >>> import mindgrad.numpy as np
    >>> [each.shape for each in np.ix_([0, 1], [2, 3, 4])]
    [(2, 1), (1, 3)]
    """
    vectors = [tensor(x, "ix_") for x in args]
    if any(x.ndim != 1 for x in vectors):
        raise ValueError("For 'ix_', every input must be a 1-D array.")
    count = len(vectors)
    return tuple(
        layout.reshape(x, tuple(-1 if k == j else 1 for j in range(count))) for k, x in enumerate(vectors)
    )


def meshgrid(*xi: Any, sparse: bool = False, indexing: str = "xy") -> Any:
    """Return the coordinates of the grid that vectors span.

    Args:
        *xi (Tensor or array_like): 1-D tensors, each with the coordinates along one axis of the grid.
        sparse (bool): whether each result has size 1 along all axes but its own, instead of the shape of the
            grid.
        indexing (str): with ``"xy"``, the first vector varies along the second axis of the results. With
            ``"ij"``, it varies along the first axis.

    Returns:
        Tuple of coordinate tensors, one for each argument.

    >>> import mindgrad.numpy as np
    >>> print(np.meshgrid([1, 2], [3, 4, 5])[0])
    [[1 2]
     [1 2]
     [1 2]]
    """
    vectors = [layout.ravel(x) for x in tensors(xi, "meshgrid")]
    if not sparse:
        return repeating.meshgrid(*vectors, indexing=indexing)
    coordinates = list(ix_(*vectors))
    if indexing == "xy" and len(coordinates) > 1:
        coordinates = [layout.swapaxes(x, 0, 1) for x in coordinates]
    return tuple(coordinates)


class _Grid:
    """Coordinates of a grid: ``np.mgrid[a:b, c:d:5j]``, or open with ``np.ogrid``.

    A complex step is the number of points, including the end of the slice.

    >>> import mindgrad.numpy as np
    >>> print(np.mgrid[0:2, 0:2][1], np.ogrid[0:1:3j])
    [[0 1]
     [0 1]] [0.  0.5 1. ]
    """

    def __init__(self, sparse: bool) -> None:
        self._sparse = sparse

    def __getitem__(self, key: Any) -> Any:
        coordinates: Any = (np.ogrid if self._sparse else np.mgrid)[key]
        return (
            tuple(tensor(x, "ogrid") for x in coordinates)
            if isinstance(coordinates, (tuple, list))
            else tensor(coordinates, "mgrid")
        )


mgrid = _Grid(False)
ogrid = _Grid(True)


# --- random numbers -----------------------------------------------------------------------------------------


def rand(*shape: int, dtype: Any = float32) -> Tensor:
    """Draw uniform random numbers from the interval [0, 1).

    Args:
        *shape (int): sizes of the axes of the result.
        dtype (mindgrad.dtype): dtype of the result.

    Returns:
        Tensor of random numbers.

    >>> import mindgrad.numpy as np
    >>> np.rand(2, 3).shape
    (2, 3)
    """
    return random.rand(*shape, dtype=element_type(dtype))


def randn(*shape: int, dtype: Any = float32) -> Tensor:
    """Draw normal random numbers with mean 0 and variance 1.

    Args:
        *shape (int): sizes of the axes of the result.
        dtype (mindgrad.dtype): dtype of the result.

    Returns:
        Tensor of random numbers.

    >>> import mindgrad.numpy as np
    >>> np.randn(2, 3).shape
    (2, 3)
    """
    return random.randn(*shape, dtype=element_type(dtype))


def randint(minval: int, maxval: int | None = None, shape: Any = None, dtype: Any = int32) -> Tensor:
    """Draw random integers from [``minval``, ``maxval``).

    Args:
        minval (int): inclusive lower bound. If ``maxval`` is ``None``, ``minval`` is the exclusive upper
            bound and the lower bound is 0.
        maxval (int or None): exclusive upper bound of the integers.
        shape (int, tuple of int, or None): shape of the result. ``None`` means 0-D.
        dtype (mindgrad.dtype): dtype of the result.

    Returns:
        Tensor of random integers.

    >>> import mindgrad.numpy as np
    >>> bool((np.randint(3, 5, (4,)) >= 3).all())
    True
    """
    low, high = (0, minval) if maxval is None else (minval, maxval)
    size = () if shape is None else sizes(shape, "randint", "shape", least=0)
    bounds = [whole_number(n, "randint", name) for n, name in ((low, "minval"), (high, "maxval"))]
    return converted(random.randint(bounds[0], bounds[1], size), dtype)
