"""Selections: ``x[mask]`` in a compiled function whose mask is not known until the program runs.

The number of selected elements decides the shape of ``x[mask]``, and a program needs every shape. Often only
a reduction of the selection is used, whose shape is known:

    exp(x[mask]).sum()  =  where(mask, exp(x), 0).sum()

A selection stands for ``x[mask]``. It has an element type and no shape. Pointwise operators are applied to
all elements of ``x``, with 1 in place of those that are not selected; reductions leave these out. Code that
reads the shape, and every other operator, raises ``CompileError`` where it is used.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, NoReturn

import numpy as np

from mindgrad.ir.primitive import Primitive
from mindgrad.ir.scope import apply, identity
from mindgrad.ir.tensor import Tensor, scalar_tensor
from mindgrad.ops.subscript import unknown_mask_error
from mindgrad.rows import arithmetic, reduction
from mindgrad.rows.structural import broadcast_in_dim, convert, reshape

__all__ = ["Selection", "selected"]

#: for each reduction the value that leaves an element out of it
_NEUTRAL = {
    reduction.reduce_sum: 0, reduction.reduce_prod: 1, reduction.reduce_all: 1, reduction.reduce_any: 0,
    reduction.norm: 0, reduction.logsumexp: -math.inf, reduction.reduce_max: -math.inf,
    reduction.reduce_min: math.inf,
}  # fmt: skip
_EXTREMES = (reduction.reduce_max, reduction.reduce_min)


class _Unknown:
    """The type of a selection: an element type without a shape."""

    def __init__(self, dtype: Any) -> None:
        self.dtype = dtype

    def __getattr__(self, name: str) -> NoReturn:
        unknown_mask_error()


class _Scope:
    """The scope that operators on selections are applied in: it takes precedence over all others."""

    level = 1 << 30

    def record(self, primitive: Primitive, operands: Sequence[Any], parameters: dict[str, Any]) -> Any:
        """Apply a pointwise primitive to selections by one mask; refuse every other."""
        first = operands[0]
        is_pointwise = primitive.pointwise or primitive is convert
        if not is_pointwise or primitive.multiple or not all(first.has_mask_of(x) for x in operands):
            unknown_mask_error()
        return first.mapped(lambda *values: apply(primitive, *values, **parameters), *operands[1:])


_SCOPE = _Scope()


class Selection:
    """Parts of ``values`` along the first axis, those that ``mask`` selects.

    Args:
        values: a tensor of shape (n, …).
        mask: a tensor of Booleans of shape (n,).
        source: the mask as it was given, by which selections are known to be alike.
    """

    is_parameter = False
    is_selection = True
    is_traced = True
    _scope = _SCOPE
    _array = None

    def __init__(self, values: Tensor, mask: Tensor, source: Tensor) -> None:
        self.values = values
        self.mask = mask
        self.source = source

    @property
    def dtype(self) -> Any:
        """The element type."""
        return self.values.dtype

    @property
    def type(self) -> Any:
        """The element type; a shape is refused."""
        return _Unknown(self.dtype)

    _type = type

    def __getattr__(self, name: str) -> NoReturn:
        if name.startswith("__"):
            raise AttributeError(f"x[mask] of a mask that is not known at compile time has no '{name}'")
        unknown_mask_error()

    def refuse(self) -> NoReturn:
        """Raise ``CompileError``: the shape is needed."""
        unknown_mask_error()

    def __len__(self) -> int:
        return self.refuse()

    def __bool__(self) -> bool:
        return self.refuse()

    def __repr__(self) -> str:
        return f"<x[mask] of {self.dtype}, being compiled: its shape is not known>"

    def has_mask_of(self, other: Any) -> bool:
        """Whether ``other`` is a selection by the same mask."""
        return type(other) is Selection and identity(self.source) == identity(other.source)

    def mapped(self, function: Callable[..., Tensor], *others: Any) -> Selection:
        """The selection of ``function`` of the values, and of those of selections by the same mask."""
        return self._of(function(self.values, *[x.values for x in others]))

    def joined(self, other: Any, function: Callable[[Any, Any], Tensor], is_first: bool) -> Selection:
        """``function`` of this selection and ``other``: a number, a smaller tensor, or a selection alike."""
        if type(other) is Selection:
            if not self.has_mask_of(other):
                unknown_mask_error()
            other = other.values
        elif isinstance(other, (Tensor, np.ndarray, list, tuple)):
            shape = np.shape(other) if not isinstance(other, Tensor) else other.shape
            if len(shape) >= self.values.ndim and shape[: len(shape) - self.values.ndim + 1] != (1,):
                unknown_mask_error()
        pair = (self.values, other) if is_first else (other, self.values)
        return self._of(function(*pair))

    def reduced(self, row: Primitive, axes: tuple[int, ...], reduce: Callable[[Tensor], Tensor]) -> Any:
        """``reduce``, which applies ``row`` over ``axes``, of the selected parts."""
        if axes and 0 not in axes:
            return self.mapped(reduce)
        dtype = self.dtype
        if row not in _NEUTRAL or (row in _EXTREMES and not dtype.is_float):
            unknown_mask_error()
        reduction_of_selected = reduce(self._with(_NEUTRAL[row]))
        if row not in _EXTREMES:
            return reduction_of_selected
        # of no elements there is no extreme
        is_any = apply(reduction.reduce_any, self.mask, axes=(0,))
        like = reduction_of_selected.type
        if like.shape:
            is_any = apply(broadcast_in_dim, is_any, shape=like.shape, dims=())
        return apply(arithmetic.select, is_any, reduction_of_selected, scalar_tensor(math.nan, like))

    def count(self, axes: tuple[int, ...]) -> Any:
        """The number of selected elements over ``axes``, as a scalar tensor of the element type."""
        sizes = self.values.shape
        if 0 not in axes:
            return math.prod(sizes[axis] for axis in axes)
        number = apply(reduction.reduce_sum, apply(convert, self.mask, dtype=self.dtype), axes=(0,))
        per_part = math.prod(sizes[axis] for axis in axes if axis)
        return apply(arithmetic.mul, number, scalar_tensor(per_part, number.type))

    def _of(self, values: Tensor) -> Selection:
        return Selection(values, self.mask, self.source)

    def _with(self, number: float) -> Tensor:
        """The values with ``number`` in place of those that are not selected."""
        return _chosen(self.mask, self.values, number)


def _chosen(mask: Tensor, values: Tensor, number: float) -> Tensor:
    if values.ndim > 1:
        mask = apply(broadcast_in_dim, mask, shape=values.shape, dims=(0,))
    return apply(arithmetic.select, mask, values, scalar_tensor(number, values.type))


def selected(x: Tensor, mask: Tensor) -> Any:
    """``x[mask]``, where the mask has the shape of the first axes of ``x`` and values that are not known."""
    rest = x.shape[mask.ndim :]
    flat = apply(reshape, mask, shape=(mask.size,))
    values = apply(reshape, x, shape=(mask.size, *rest))
    return Selection(_chosen(flat, values, 1), flat, mask)
