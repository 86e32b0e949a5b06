"""Reduction methods of Tensor with the arguments of MindSpore's Tensor.

``keep_dims`` and ``keepdim`` are synonyms of ``keepdims``, and ``dim`` is a synonym of ``axis``.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from mindgrad.ir.tensor import Tensor
from mindgrad.ops import arithmetic, extremes, reduction
from mindgrad.ops.define import also_named
from mindgrad.ops.registry import public

__all__: list[str] = []

_SYNONYMS = {"correction": "ddof", "dim": "axis", "keep_dims": "keepdims", "keepdim": "keepdims"}


@public("Tensor")
@also_named(**_SYNONYMS)
def sum(
    self: Tensor, axis: Any = None, dtype: Any = None, keepdims: bool = False, initial: Any = None
) -> Tensor:
    """Sum the elements along axes; see :func:`mindgrad.ops.sum`.

    Args:
        axis (int, tuple of int, or None): axis or axes to sum over. ``None`` means all axes.
        dtype (mindgrad.dtype): dtype of the sum. ``None`` means the default of :func:`mindgrad.ops.sum`.
        keepdims (bool): whether to keep the reduced axes with size 1.
        initial (int, float, or None): number to add to the sum.

    Returns:
        Tensor without the reduced axes.

    >>> from mindgrad import Tensor
    >>> x = Tensor([[1.0, 2.0], [3.0, 4.0]])
    >>> print(x.sum(), x.sum(0), x.sum(axis=1, keepdims=True))
    10.0 [4. 6.] [[3.]
     [7.]]
    """
    if isinstance(dtype, bool):  # the call x.sum(0, True) passes ``keepdims`` in the position of ``dtype``
        dtype, keepdims = None, dtype
    found = reduction.sum(self, axis, keepdims, dtype=dtype)
    return found if initial is None else arithmetic.add(found, initial)


def _pairs_along_dim(both: Callable[..., Any]) -> Callable[..., Any]:
    """Let a method return values and indices if called with ``dim`` or one int."""

    def decorated(method: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(method)
        def overloaded(self: Tensor, *args: Any, **kwargs: Any) -> Any:
            by_position = bool(args) and isinstance(args[0], int) and len(args) < 3
            if (by_position or kwargs.get("dim") is not None) and kwargs.keys() <= {"dim", "keepdim"}:
                return both(self, *args, **{_SYNONYMS[name]: value for name, value in kwargs.items()})
            return method(self, *args, **kwargs)

        return overloaded

    return decorated


def _extreme(
    self: Tensor, both: Any, single: Any, axis: Any, keepdims: bool, arguments: dict[str, Any]
) -> Any:
    if arguments.pop("return_indices"):
        return both(self, axis, keepdims, **arguments)
    return single(self, axis, keepdims, **arguments)


@public("Tensor")
@_pairs_along_dim(extremes.max)
@also_named(**_SYNONYMS)
def max(
    self: Tensor, axis: Any = None, keepdims: bool = False, *, initial: Any = None, where: Any = True,
    return_indices: bool = False,
) -> Any:  # fmt: skip
    """Return the largest element along axes, optionally with its index.

    ``x.max()`` and ``x.max(axis=…)`` return values, as :func:`mindgrad.ops.amax`. ``x.max(1)`` and
    ``x.max(dim=1)``, also with ``keepdim``, return ``(values, indices)``, as :func:`mindgrad.ops.max`.

    Args:
        axis (int, tuple of int, or None): axis or axes to reduce. ``None`` means all axes.
        keepdims (bool): whether to keep the reduced axes with size 1.
        initial (int, float, or None): lower bound of the result, and the result for no elements.
        where (bool or Tensor): Boolean mask of the elements to consider; it broadcasts with the tensor.
        return_indices (bool): whether to return also the index along ``axis`` of each result.

    Returns:
        Tensor of the values; or ``(values, indices)`` if called with ``dim``, one int, or ``return_indices``.

    >>> from mindgrad import Tensor
    >>> x = Tensor([[1.0, 2.0], [3.0, 4.0]])
    >>> print(x.max(), x.max(axis=0), *x.max(1))
    4.0 [3. 4.] [2. 4.] [1 1]
    """
    given = dict(initial=initial, where=None if where is True else where, return_indices=return_indices)
    return _extreme(self, extremes.max, extremes.amax, axis, keepdims, given)


@public("Tensor")
@_pairs_along_dim(extremes.min)
@also_named(**_SYNONYMS)
def min(
    self: Tensor, axis: Any = None, keepdims: bool = False, *, initial: Any = None, where: Any = True,
    return_indices: bool = False,
) -> Any:  # fmt: skip
    """Return the smallest element along axes, optionally with its index.

    ``x.min()`` and ``x.min(axis=…)`` return values; ``x.min(1)`` and ``x.min(dim=1)`` return ``(values,
    indices)``.

    Args:
        axis (int, tuple of int, or None): axis or axes to reduce. ``None`` means all axes.
        keepdims (bool): whether to keep the reduced axes with size 1.
        initial (int, float, or None): upper bound of the result, and the result for no elements.
        where (bool or Tensor): Boolean mask of the elements to consider; it broadcasts with the tensor.
        return_indices (bool): whether to return also the index along ``axis`` of each result.

    Returns:
        Tensor of the values; or ``(values, indices)`` if called with ``dim``, one int, or ``return_indices``.

    >>> from mindgrad import Tensor
    >>> x = Tensor([[1.0, 2.0], [3.0, 4.0]])
    >>> print(x.min(), x.min(axis=0), *x.min(1))
    1.0 [1. 2.] [1. 3.] [0 0]
    """
    given = dict(initial=initial, where=None if where is True else where, return_indices=return_indices)
    return _extreme(self, extremes.min, extremes.amin, axis, keepdims, given)


@public("Tensor", "numpy.ptp(x, axis=None, keepdims=False)")
@also_named(**_SYNONYMS)
def ptp(self: Tensor, axis: Any = None, keepdims: bool = False) -> Tensor:
    """Return the largest minus the smallest element along axes.

    Args:
        axis (int, tuple of int, or None): axis or axes to reduce. ``None`` means all axes.
        keepdims (bool): whether to keep the reduced axes with size 1.

    Returns:
        Tensor without the reduced axes.

    >>> from mindgrad import Tensor
    >>> print(Tensor([1.0, 5.0, 3.0]).ptp())
    4.0
    """
    return arithmetic.sub(extremes.amax(self, axis, keepdims), extremes.amin(self, axis, keepdims))
