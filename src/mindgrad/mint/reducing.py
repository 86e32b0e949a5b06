"""Reductions of ``mint`` that differ from those of ``ops`` in more than the names of arguments."""

from __future__ import annotations

from typing import Any

from mindgrad.ir.tensor import Tensor
from mindgrad.mint.conversions import typed
from mindgrad.ops import functional
from mindgrad.ops.operands import operand

__all__ = ["log_softmax", "max", "median", "min", "norm"]


def _extreme(name: str, both: Any, input: Any, dim: Any, keepdim: bool) -> Any:
    if dim is None:
        return getattr(functional, f"a{name}")(input)
    if isinstance(dim, Tensor):
        return both(input, dim)
    return getattr(functional, name)(input, dim, keepdim)


def max(input: Any, dim: Any = None, keepdim: bool = False, *, other: Any = None) -> Any:
    """``max(x)``: the largest element; ``max(x, dim)``: values and indices; ``max(x, y)``: of each pair.

    >>> from mindgrad import Tensor, mint
    >>> x = Tensor([[1.0, 5.0], [3.0, 2.0]])
    >>> print(mint.max(x), *mint.max(x, 1), mint.max(Tensor([1.0]), Tensor([2.0])))
    5.0 [5. 3.] [1 0] [2.]
    """
    return _extreme("max", functional.maximum, input, dim if other is None else other, keepdim)


def min(input: Any, dim: Any = None, keepdim: bool = False, *, other: Any = None) -> Any:
    """``min(x)``: the smallest element; ``min(x, dim)``: values and indices; ``min(x, y)``: of each pair.

    >>> from mindgrad import Tensor, mint
    >>> x = Tensor([[1.0, 5.0], [3.0, 2.0]])
    >>> print(mint.min(x), *mint.min(x, 1), mint.min(Tensor([1.0]), Tensor([2.0])))
    1.0 [1. 2.] [0 1] [1.]
    """
    return _extreme("min", functional.minimum, input, dim if other is None else other, keepdim)


def median(input: Any, dim: int | None = None, keepdim: bool = False) -> Any:
    """The median, the lower of two: of all elements, or values and indices along ``dim``.

    >>> from mindgrad import Tensor, mint
    >>> print(mint.median(Tensor([3.0, 1.0, 2.0])))
    2.0
    """
    if dim is None:
        return functional.median(operand(input, "median").reshape(-1))[0]  # type: ignore[attr-defined]
    return functional.median(input, dim, keepdim)


def norm(input: Any, p: Any = "fro", dim: Any = None, keepdim: bool = False, *, dtype: Any = None) -> Tensor:
    """The norm of order ``p`` of the elements along ``dim``, of all of them for ``None``.

    Args:
        input: a tensor.
        p: a number for (Σ|x|ᵖ)^(1/p); ``"fro"`` is 2; ``"nuc"``, the sum of singular values, takes two axes.
        dim: an axis, several, or ``None``.
        keepdim: whether these axes stay with size 1.
        dtype: the type to compute in.

    >>> from mindgrad import Tensor, mint
    >>> print(mint.norm(Tensor([[3.0, 0.0], [0.0, 4.0]])), mint.norm(Tensor([[3.0, -4.0]]), 1, 1))
    5.0 [7.]
    """
    if p == "nuc":
        return functional.matrix_norm(input, "nuc", (-2, -1) if dim is None else dim, keepdim, dtype=dtype)
    return functional.vector_norm(input, 2 if p == "fro" else p, dim, keepdim, dtype=dtype)


def default_axis(x: Tensor) -> int:
    """The axis of ``softmax`` and ``log_softmax`` without ``dim``, as MindSpore and PyTorch have it."""
    return 0 if x.ndim in (0, 1, 3) else 1


def log_softmax(input: Any, dim: Any = None, *, dtype: Any = None) -> Tensor:
    """log softmax along ``dim``, by default the second axis, or the first of 0, 1 or 3 axes.

    >>> from mindgrad import Tensor, mint
    >>> print(mint.log_softmax(Tensor([0.0, -1000.0]), 0))
    [    0. -1000.]
    """
    x = typed(input, "log_softmax", dtype)
    return functional.log_softmax(x, default_axis(x) if dim is None else dim)
