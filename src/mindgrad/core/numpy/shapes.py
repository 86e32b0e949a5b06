"""Functions that change the shape of tensors, join tensors, or split them."""

from __future__ import annotations

import builtins
import math
import operator
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any, SupportsIndex

from mindgrad.core.arrays.getitem import element
from mindgrad.core.base.refusal import refuse
from mindgrad.core.ir.tensor import Tensor
from mindgrad.core.numpy.reductions import Axis, axes_of, axis_of
from mindgrad.core.primitives import static_slices, structural
from mindgrad.core.trace.operands import applied, broadcast_shapes, broadcast_together, operand, promoted
from mindgrad.core.trace.operands import broadcast_to as _broadcast_to

__all__ = [
    "append", "array_split", "atleast_1d", "atleast_2d", "atleast_3d", "broadcast_arrays",
    "broadcast_to", "column_stack", "concatenate", "dsplit", "dstack", "expand_dims", "hsplit", "hstack",
    "moveaxis", "ndim", "ravel", "reshape", "rollaxis", "shape", "size", "split", "squeeze", "stack",
    "swapaxes", "transpose", "vsplit", "vstack",
]  # fmt: skip

Shape = SupportsIndex | Sequence[SupportsIndex]


def sizes_of(shape: Shape) -> tuple[int, ...]:
    """Convert ``shape`` to a tuple; an int is a shape with one axis."""
    sizes = (shape,) if isinstance(shape, SupportsIndex) else tuple(shape)
    refuse_unknown_sizes(*sizes)
    if not builtins.all(isinstance(n, SupportsIndex) for n in sizes):
        raise TypeError(f"A shape must be an int or a tuple of ints, but got {shape!r}.")
    return tuple(map(operator.index, sizes))


def refuse_unknown_sizes(*sizes: object) -> None:
    """Raise ``CompileError`` if one of ``sizes`` is a tensor without a value."""
    if builtins.any(isinstance(n, Tensor) and n._array is None for n in sizes):
        refuse(
            "A tensor is a size, or a bound of arange. Its value is not known at compile time, so the shape "
            "of the result is unknown",
            "Pass the size as a Python int, which is static in jit, or use x.shape. To use fewer elements, "
            "write a mask: where(arange(len(x)) < n, x, 0).",
        )


def shape(a: object) -> tuple[int, ...]:
    """Return the sizes of the axes of ``a``."""
    return operand(a, "shape").shape


def ndim(a: object) -> int:
    """Return the number of axes of ``a``."""
    return operand(a, "ndim").ndim


def size(a: object, axis: int | None = None) -> int:
    """Return the number of elements of ``a``, or the size of ``axis``."""
    x = operand(a, "size")
    return x.size if axis is None else x.shape[axis]


def reshape(a: object, shape: Shape) -> Any:
    """Change the shape of ``a``. A size of −1 is replaced by the size that fits."""
    x, sizes = operand(a, "reshape"), sizes_of(shape)
    if -1 in sizes:
        known_size = math.prod(n for n in sizes if n != -1)
        if not known_size or x.size % known_size or sizes.count(-1) > 1:
            raise ValueError(
                f"For 'reshape', a tensor of shape {x.shape} cannot be reshaped to {sizes}: the number of "
                "elements must not change, and at most one size may be −1."
            )
        sizes = tuple([x.size // known_size if n == -1 else n for n in sizes])
    return applied(structural.reshape, x, shape=sizes)


def ravel(a: object) -> Any:
    """Return the elements of ``a`` as a 1-D tensor."""
    return reshape(a, -1) if operand(a, "ravel").size else reshape(a, 0)


def transpose(a: object, axes: Sequence[int] | None = None) -> Any:
    """Permute the axes of ``a``; ``None`` reverses their order."""
    x = operand(a, "transpose")
    order = range(x.ndim)[::-1] if axes is None else axes_of("transpose", axes, x.ndim)
    return applied(structural.transpose, x, permutation=tuple(order))


def moveaxis(a: object, source: int | Sequence[int], destination: int | Sequence[int]) -> Any:
    """Move the axes ``source`` to the positions ``destination``."""
    x = operand(a, "moveaxis")
    sources, targets = axes_of("moveaxis", source, x.ndim), axes_of("moveaxis", destination, x.ndim)
    order = [k for k in range(x.ndim) if k not in sources]
    for target, k in sorted(zip(targets, sources, strict=True)):
        order.insert(target, k)
    return transpose(x, order)


def rollaxis(a: object, axis: int, start: int = 0) -> Any:
    """Move ``axis`` backwards until it is before axis ``start``."""
    x = operand(a, "rollaxis")
    axis, start = axis_of("rollaxis", axis, x.ndim), start + x.ndim if start < 0 else start
    return moveaxis(x, axis, start - 1 if start > axis else start)


def swapaxes(a: object, axis1: int, axis2: int) -> Any:
    """Exchange two axes."""
    x = operand(a, "swapaxes")
    order = list(range(x.ndim))
    first, second = (axis_of("swapaxes", axis, x.ndim) for axis in (axis1, axis2))
    order[first], order[second] = second, first
    return transpose(x, order)


def expand_dims(a: object, axis: int | Sequence[int]) -> Any:
    """Insert axes of size 1 at the positions ``axis``."""
    x = operand(a, "expand_dims")
    count = x.ndim + (len(axis) if isinstance(axis, Sequence) else 1)
    axes, sizes = axes_of("expand_dims", axis, count), iter(x.shape)
    return reshape(x, [1 if k in axes else next(sizes) for k in range(count)])


def squeeze(a: object, axis: Axis = None) -> Any:
    """Remove ``axis``, which must have size 1; by default, all axes of size 1."""
    x = operand(a, "squeeze")
    axes = [k for k, n in enumerate(x.shape) if n == 1] if axis is None else axes_of("squeeze", axis, x.ndim)
    if builtins.any(x.shape[k] != 1 for k in axes):
        raise ValueError(
            f"For 'squeeze', only axes of size 1 can be removed, but the shape is {x.shape} and the axis is "
            f"{axis}."
        )
    return reshape(x, [n for k, n in enumerate(x.shape) if k not in axes])


def broadcast_to(array: object, shape: Shape) -> Any:
    """Broadcast ``array`` to ``shape``."""
    x, sizes = operand(array, "broadcast_to"), sizes_of(shape)
    if broadcast_shapes("broadcast_to", x.shape, sizes) != sizes:
        raise ValueError(f"For 'broadcast_to', shape {x.shape} does not broadcast to {sizes}.")
    return _broadcast_to(x, sizes)


def broadcast_arrays(*args: object) -> list[Any]:
    """Broadcast tensors to their common shape."""
    return broadcast_together("broadcast_arrays", *[operand(x, "broadcast_arrays") for x in args])


def _at_least(
    name: str, count: int, shape_of: Callable[[tuple[int, ...]], tuple[int, ...]], xs: Sequence[object]
) -> Any:
    tensors = [operand(x, name) for x in xs]
    found = [x if x.ndim >= count else reshape(x, shape_of(x.shape)) for x in tensors]
    return found[0] if len(found) == 1 else found


def atleast_1d(*arys: object) -> Any:
    """Convert scalars to tensors of shape ``(1,)``; return other tensors unchanged."""
    return _at_least("atleast_1d", 1, lambda s: (1,), arys)


def atleast_2d(*arys: object) -> Any:
    """Insert leading axes of size 1 until there are two axes."""
    return _at_least("atleast_2d", 2, lambda s: (1,) * (2 - len(s)) + s, arys)


def atleast_3d(*arys: object) -> Any:
    """Insert axes of size 1 until there are three: (n,) becomes (1, n, 1)."""
    forms: dict[int, Callable[..., tuple[int, ...]]] = {
        0: lambda: (1, 1, 1), 1: lambda n: (1, n, 1), 2: lambda m, n: (m, n, 1)
    }  # fmt: skip
    return _at_least("atleast_3d", 3, lambda s: forms[len(s)](*s), arys)


# -- joining and splitting -----------------------------------------------------------------------------


def concatenate(arrays: Sequence[object], axis: int | None = 0) -> Any:
    """Join tensors along an existing axis."""
    if not len(arrays):
        raise ValueError("For 'concatenate', at least one array is required, but got none.")
    xs = promoted("concatenate", *arrays)
    if axis is None:
        xs, axis = [ravel(x) for x in xs], 0
    if len(xs) == 1:
        return xs[0]
    return applied(static_slices.concatenate, *xs, axis=axis_of("concatenate", axis, xs[0].ndim))


def stack(arrays: Sequence[object], axis: int = 0) -> Any:
    """Join tensors along a new axis."""
    xs = promoted("stack", *arrays) if len(arrays) else ()
    return concatenate([expand_dims(x, axis) for x in xs], axis)


def vstack(tup: Sequence[object]) -> Any:
    """Join tensors along the first axis; 1-D tensors become rows."""
    return concatenate([atleast_2d(x) for x in tup], 0)


def hstack(tup: Sequence[object]) -> Any:
    """Join tensors along the second axis, or 1-D tensors along the first axis."""
    xs = [atleast_1d(x) for x in tup]
    return concatenate(xs, 0 if xs[0].ndim == 1 else 1)


def dstack(tup: Sequence[object]) -> Any:
    """Join tensors along the third axis."""
    return concatenate([atleast_3d(x) for x in tup], 2)


def column_stack(tup: Sequence[object]) -> Any:
    """Join 1-D tensors as columns of a matrix."""
    xs = [operand(x, "column_stack") for x in tup]
    return concatenate([x if x.ndim > 1 else reshape(x, (-1, 1)) for x in xs], 1)


def append(arr: object, values: object, axis: int | None = None) -> Any:
    """Join ``arr`` and ``values``; without ``axis``, both are flattened."""
    return concatenate([arr, values], axis)


def split(ary: object, indices_or_sections: int | Sequence[int], axis: int = 0) -> list[Any]:
    """Split a tensor along ``axis`` into equal parts, or before the given indices."""
    x = operand(ary, "split")
    count = x.shape[axis]
    if isinstance(indices_or_sections, int) and count % indices_or_sections:
        raise ValueError(
            f"For 'split', the axis has size {count}, which is not a multiple of {indices_or_sections}. Use "
            "array_split for parts of different sizes."
        )
    return array_split(x, indices_or_sections, axis)


def array_split(ary: object, indices_or_sections: int | Sequence[int], axis: int = 0) -> list[Any]:
    """Split a tensor along ``axis`` into nearly equal parts, or before given indices."""
    x = operand(ary, "array_split")
    axis, count = axis_of("array_split", axis, x.ndim), x.shape[axis]
    if isinstance(indices_or_sections, int):
        size, longer = divmod(count, indices_or_sections)
        bounds = [k * size + builtins.min(k, longer) for k in range(indices_or_sections + 1)]
    else:
        bounds = [0, *indices_or_sections, count]
    before = (slice(None),) * axis
    return [element(x, (*before, slice(a, b))) for a, b in pairwise(bounds)]


def hsplit(ary: object, indices_or_sections: int | Sequence[int]) -> list[Any]:
    """Split a tensor along the second axis, or a 1-D tensor along the first axis."""
    return split(ary, indices_or_sections, 1 if operand(ary, "hsplit").ndim > 1 else 0)


def vsplit(ary: object, indices_or_sections: int | Sequence[int]) -> list[Any]:
    """Split a tensor along the first axis."""
    return split(ary, indices_or_sections, 0)


def dsplit(ary: object, indices_or_sections: int | Sequence[int]) -> list[Any]:
    """Split a tensor along the third axis."""
    return split(ary, indices_or_sections, 2)
