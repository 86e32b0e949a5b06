"""Functions that create tensors: constants, ranges, grids, and conversions."""

from __future__ import annotations

import builtins
from collections.abc import Sequence
from typing import Any

import numpy as np

from mindgrad.core.ir.dtype import as_dtype, float32, int64
from mindgrad.core.ir.scope import apply
from mindgrad.core.ir.tensor import Number, Tensor, make_tensor
from mindgrad.core.ir.types import tensor_type
from mindgrad.core.numpy.elementwise import add, multiply, subtract
from mindgrad.core.numpy.shapes import Shape, broadcast_to, ravel, refuse_unknown_sizes, sizes_of
from mindgrad.core.primitives import structural
from mindgrad.core.trace.operands import cast, inexact, operand, promoted

__all__ = [
    "arange", "array", "asarray", "astype", "copy", "empty", "empty_like", "eye", "full", "full_like",
    "geomspace", "identity", "indices", "linspace", "logspace", "meshgrid", "ones", "ones_like", "tri",
    "zeros", "zeros_like",
]  # fmt: skip


def array(object: object, dtype: object = None) -> Tensor:
    """Convert a number, nested list, array, or tensor to a tensor."""
    if isinstance(object, (builtins.bool, int, float, complex)):
        return Tensor(object, dtype)
    x = operand(object, "array")
    if isinstance(object, Tensor):
        if isinstance(x, Number) and dtype is None:  # a traced Python number, which becomes a tensor
            dtype = Tensor(x.sample()).dtype
        x = make_tensor(x._array, x._type, x._scope, x._atom)  # an assignment to its elements keeps `object`
    return x if dtype is None else cast(x, as_dtype(dtype))


asarray = array


def astype(x: object, dtype: object) -> Tensor:
    """Convert ``x`` to element type ``dtype``."""
    return cast(operand(x, "astype"), as_dtype(dtype))


def copy(a: object) -> Tensor:
    """Return a new tensor with the elements of ``a``."""
    return array(a)


def full(shape: Shape, fill_value: object, dtype: object = None) -> Tensor:
    """Create a tensor by broadcasting ``fill_value`` to ``shape``."""
    return broadcast_to(array(fill_value, dtype), sizes_of(shape))


def zeros(shape: Shape, dtype: object = float32) -> Tensor:
    """Create a tensor of zeros. The default element type is float32."""
    return _filled(0, sizes_of(shape), dtype)


def ones(shape: Shape, dtype: object = float32) -> Tensor:
    """Create a tensor of ones. The default element type is float32."""
    return _filled(1, sizes_of(shape), dtype)


empty = zeros


def _filled(number: int, shape: tuple[int, ...], dtype: object) -> Tensor:
    type_ = tensor_type(dtype, shape)
    return make_tensor(np.full(shape, number, type_.dtype.numpy), type_)


def zeros_like(a: object, dtype: object = None) -> Tensor:
    """Create a tensor of zeros with the shape and element type of ``a``."""
    x = operand(a, "zeros_like")
    return _filled(0, x.shape, x.dtype if dtype is None else dtype)


def ones_like(a: object, dtype: object = None) -> Tensor:
    """Create a tensor of ones with the shape and element type of ``a``."""
    x = operand(a, "ones_like")
    return _filled(1, x.shape, x.dtype if dtype is None else dtype)


empty_like = zeros_like


def full_like(a: object, fill_value: object, dtype: object = None) -> Tensor:
    """Broadcast ``fill_value`` to a tensor with the shape and element type of ``a``."""
    x = operand(a, "full_like")
    return full(x.shape, fill_value, x.dtype if dtype is None else dtype)


def arange(start: Any, stop: Any = None, step: Any = 1, dtype: object = None) -> Tensor:
    """Create numbers from ``start`` to ``stop`` in steps of ``step``.

    ``stop`` is excluded. With one argument, the numbers are 0, 1, …. The default element type is int64 for
    ints and float32 for floats.
    """
    refuse_unknown_sizes(start, stop, step)
    numbers = np.arange(start) if stop is None else np.arange(start, stop, step)
    return Tensor(numbers, _dtype_of(numbers, dtype))


def _dtype_of(numbers: np.ndarray, dtype: object) -> Any:
    return dtype if dtype is not None else int64 if numbers.dtype.kind in "iu" else float32


def linspace(start: Any, stop: Any, num: int = 50, endpoint: bool = True, dtype: object = None) -> Tensor:
    """Create ``num`` evenly spaced numbers from ``start`` to ``stop``.

    ``stop`` is included if ``endpoint`` is true.
    """
    fractions = np.arange(num) / builtins.max(num - 1 if endpoint else num, 1)
    if not isinstance(start, Tensor) and not isinstance(stop, Tensor):
        return Tensor(start + (stop - start) * fractions, float32 if dtype is None else dtype)
    first, last = (inexact(x) for x in promoted("linspace", start, stop))
    steps = Tensor(fractions, first.dtype if dtype is None else dtype)
    return add(multiply(first, subtract(1, steps)), multiply(last, steps))


def logspace(
    start: Any, stop: Any, num: int = 50, endpoint: bool = True, base: float = 10.0,
    dtype: object = None,
) -> Tensor:  # fmt: skip
    """Create ``num`` numbers from base^start to base^stop with equidistant exponents."""
    return Tensor(np.logspace(start, stop, num, endpoint, base), float32 if dtype is None else dtype)


def geomspace(start: Any, stop: Any, num: int = 50, endpoint: bool = True, dtype: object = None) -> Tensor:
    """Create a geometric progression of ``num`` numbers from ``start`` to ``stop``."""
    return Tensor(np.geomspace(start, stop, num, endpoint), float32 if dtype is None else dtype)


def eye(N: int, M: int | None = None, k: int = 0, dtype: object = float32) -> Tensor:
    """Create an N × M matrix with ones on its ``k``-th diagonal and zeros elsewhere."""
    return Tensor(np.eye(N, M, k), dtype)


def identity(n: int, dtype: object = float32) -> Tensor:
    """Create the identity matrix of size ``n``."""
    return eye(n, dtype=dtype)


def tri(N: int, M: int | None = None, k: int = 0, dtype: object = float32) -> Tensor:
    """Create an N × M matrix with ones on and below its ``k``-th diagonal, else zeros."""
    return Tensor(np.tri(N, M, k), dtype)


def indices(dimensions: Sequence[int], dtype: object = int64) -> Tensor:
    """Create the index arrays of a grid with the shape ``dimensions``.

    The result has shape ``(len(dimensions), *dimensions)``.
    """
    return Tensor(np.indices(sizes_of(dimensions)), dtype)


def meshgrid(*xi: object, indexing: str = "xy") -> list[Tensor]:
    """Create the coordinate arrays of a grid, one for each of the 1-D arrays ``xi``.

    With ``indexing="xy"``, the first two axes of the grid are exchanged.
    """
    xs = [operand(x, "meshgrid") for x in xi]
    swapped = indexing == "xy" and len(xs) > 1
    order = [1, 0, *range(2, len(xs))] if swapped else list(range(len(xs)))
    sizes = tuple([xs[k].size for k in order])
    return [
        apply(structural.broadcast_in_dim, ravel(x), shape=sizes, dims=(order.index(k),))
        for k, x in enumerate(xs)
    ]
