"""``x[mask]`` in a compiled function if the values of the mask are unknown.

The shape of ``x[mask]`` depends on the number of selected elements, but every shape in a compiled function
must be known. Often only a reduction of ``x[mask]`` is used, and the shape of the reduction is known:

    exp(x[mask]).sum()  =  where(mask, exp(x), 0).sum()

A ``Selection`` represents ``x[mask]``. It has a dtype but no shape. Pointwise operators are applied
to all elements of ``x``, where 1 replaces the elements that are not selected. Reductions ignore these
elements. Code that reads the shape, and every other operator, raises ``CompileError``.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, NoReturn

import numpy as np

from mindgrad.core.arrays.subscript import unknown_mask_error
from mindgrad.core.base.location import user_frame
from mindgrad.core.base.refusal import SourceLocation, location_of
from mindgrad.core.ir.primitive import Primitive
from mindgrad.core.ir.scope import apply, identity
from mindgrad.core.ir.tensor import Tensor, scalar_tensor
from mindgrad.core.primitives import arithmetic, reduction
from mindgrad.core.primitives.structural import broadcast_in_dim, convert, reshape

__all__ = ["Selection", "selected"]

#: reduction -> neutral element, which replaces the elements that the mask does not select
_NEUTRAL = {
    reduction.reduce_sum: 0, reduction.reduce_prod: 1, reduction.reduce_all: 1, reduction.reduce_any: 0,
    reduction.norm: 0, reduction.logsumexp: -math.inf, reduction.reduce_max: -math.inf,
    reduction.reduce_min: math.inf,
}  # fmt: skip
_EXTREMES = (reduction.reduce_max, reduction.reduce_min)


class _Unknown:
    """Type of a selection; every attribute except ``dtype`` raises an error."""

    def __init__(self, dtype: Any) -> None:
        self.dtype = dtype

    def __getattr__(self, name: str) -> NoReturn:
        unknown_mask_error()


class _Scope:
    """Scope that intercepts operators on selections, before all other scopes."""

    level = 1 << 30

    def record(self, primitive: Primitive, operands: Sequence[Any], parameters: dict[str, Any]) -> Any:
        """Apply a pointwise primitive to selections with the same mask; otherwise raise."""
        first = operands[0]
        is_pointwise = primitive.pointwise or primitive is convert
        if not is_pointwise or primitive.multiple or not all(first.has_mask_of(x) for x in operands):
            unknown_mask_error()
        return first.mapped(lambda *values: apply(primitive, *values, **parameters), *operands[1:])


_SCOPE = _Scope()


class Selection:
    """The parts of ``values`` along the first axis that ``mask`` selects.

    Args:
        values: tensor of shape (n, …).
        mask: Boolean tensor of shape (n,).
        source: the mask before it was flattened. Two selections match if their sources are the same tensor.
        location: source location of the expression ``x[mask]``.
    """

    is_parameter = False
    is_selection = True
    is_traced = True
    _scope = _SCOPE
    _array = None

    def __init__(self, values: Tensor, mask: Tensor, source: Tensor, location: SourceLocation) -> None:
        self.values = values
        self.mask = mask
        self.source = source
        self.location = location

    @property
    def dtype(self) -> Any:
        """Dtype of the elements."""
        return self.values.dtype

    @property
    def type(self) -> Any:
        """Type with the dtype of the elements; reading its shape raises ``CompileError``."""
        return _Unknown(self.dtype)

    _type = type

    def __getattr__(self, name: str) -> NoReturn:
        if name.startswith("__"):
            raise AttributeError(
                f"x[mask] has no '{name}', because its shape depends on the mask, which is not known at "
                "compile time"
            )
        unknown_mask_error()

    def refuse(self) -> NoReturn:
        """Raise ``CompileError`` at the line of ``x[mask]``."""
        unknown_mask_error(self.location)

    def __len__(self) -> int:
        return unknown_mask_error()

    def __bool__(self) -> bool:
        return unknown_mask_error()

    def __repr__(self) -> str:
        return f"<x[mask] of {self.dtype}, being compiled: its shape is not known>"

    def has_mask_of(self, other: Any) -> bool:
        """Return whether ``other`` is a selection with the same mask."""
        return type(other) is Selection and identity(self.source) == identity(other.source)

    def mapped(self, function: Callable[..., Tensor], *others: Any) -> Selection:
        """Apply ``function`` to the values, and to other selections with the same mask."""
        return self._of(function(self.values, *[x.values for x in others]))

    def joined(self, other: Any, function: Callable[[Any, Any], Tensor], is_first: bool) -> Selection:
        """Apply ``function`` to this selection and ``other``.

        ``other`` is a number, a tensor that broadcasts to each part, or a selection with the same mask.
        """
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

    def reduced(self, primitive: Primitive, axes: tuple[int, ...], reduce: Callable[[Tensor], Tensor]) -> Any:
        """Reduce the selected parts over ``axes`` by ``reduce``."""
        if axes and 0 not in axes:
            return self.mapped(reduce)
        dtype = self.dtype
        if primitive not in _NEUTRAL or (primitive in _EXTREMES and not dtype.is_float):
            unknown_mask_error()
        reduction_of_selected = reduce(self._with(_NEUTRAL[primitive]))
        if primitive not in _EXTREMES:
            return reduction_of_selected
        # the maximum and minimum of an empty selection are NaN
        is_any = apply(reduction.reduce_any, self.mask, axes=(0,))
        like = reduction_of_selected.type
        if like.shape:
            is_any = apply(broadcast_in_dim, is_any, shape=like.shape, dims=())
        return apply(arithmetic.select, is_any, reduction_of_selected, scalar_tensor(math.nan, like))

    def count(self, axes: tuple[int, ...]) -> Any:
        """Count the selected elements over ``axes``, as a scalar of the same dtype."""
        sizes = self.values.shape
        if 0 not in axes:
            return math.prod(sizes[axis] for axis in axes)
        number = apply(reduction.reduce_sum, apply(convert, self.mask, dtype=self.dtype), axes=(0,))
        per_part = math.prod(sizes[axis] for axis in axes if axis)
        return apply(arithmetic.mul, number, scalar_tensor(per_part, number.type))

    def _of(self, values: Tensor) -> Selection:
        return Selection(values, self.mask, self.source, self.location)

    def _with(self, number: float) -> Tensor:
        """Return the values, with ``number`` in place of unselected elements."""
        return _chosen(self.mask, self.values, number)


def _chosen(mask: Tensor, values: Tensor, number: float) -> Tensor:
    if values.ndim > 1:
        mask = apply(broadcast_in_dim, mask, shape=values.shape, dims=(0,))
    return apply(arithmetic.select, mask, values, scalar_tensor(number, values.type))


def selected(x: Tensor, mask: Tensor) -> Any:
    """Return ``x[mask]`` for an unknown mask over the first axes of ``x``."""
    rest = x.shape[mask.ndim :]
    flat = apply(reshape, mask, shape=(mask.size,))
    values = apply(reshape, x, shape=(mask.size, *rest))
    return Selection(_chosen(flat, values, 1), flat, mask, location_of(user_frame()))
