"""Reductions of ``mint`` that do not only rename arguments."""

from __future__ import annotations

from typing import Any

from mindgrad.core.ir.tensor import Tensor
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
    """Return the largest element, along an axis or of two tensors.

    ``max(x)`` returns the largest element, ``max(x, dim)`` values and indices along an axis, and ``max(x,
    y)`` the larger element of each pair.

    Args:
        input (Tensor): real tensor.
        dim (int, Tensor, or None): axis to reduce, or a second tensor to compare with. ``None`` means all
            elements.
        keepdim (bool): whether to keep the reduced axis with size 1.
        other (Tensor or None): second tensor to compare with, if it is passed by keyword.

    Returns:
        ``(values, indices)`` if ``dim`` is an axis; otherwise a tensor of the values.

    >>> from mindgrad import Tensor, mint
    >>> x = Tensor([[1.0, 5.0], [3.0, 2.0]])
    >>> print(mint.max(x), *mint.max(x, 1), mint.max(Tensor([1.0]), Tensor([2.0])))
    5.0 [5. 3.] [1 0] [2.]
    """
    return _extreme("max", functional.maximum, input, dim if other is None else other, keepdim)


def min(input: Any, dim: Any = None, keepdim: bool = False, *, other: Any = None) -> Any:
    """Return the smallest element, along an axis or of two tensors.

    ``min(x)`` returns the smallest element, ``min(x, dim)`` values and indices along an axis, and ``min(x,
    y)`` the smaller element of each pair.

    {as max}

    >>> from mindgrad import Tensor, mint
    >>> x = Tensor([[1.0, 5.0], [3.0, 2.0]])
    >>> print(mint.min(x), *mint.min(x, 1), mint.min(Tensor([1.0]), Tensor([2.0])))
    1.0 [1. 2.] [0 1] [1.]
    """
    return _extreme("min", functional.minimum, input, dim if other is None else other, keepdim)


def median(input: Any, dim: int | None = None, keepdim: bool = False) -> Any:
    """Return the median, along an axis or of all elements.

    If the number of elements is even, the median is the smaller of the two middle elements.

    Args:
        input (Tensor): real tensor.
        dim (int or None): axis to reduce. ``None`` means all elements.
        keepdim (bool): whether to keep the reduced axis with size 1.

    Returns:
        ``(values, indices)`` if ``dim`` is an axis; otherwise a tensor of the values.

    >>> from mindgrad import Tensor, mint
    >>> print(mint.median(Tensor([3.0, 1.0, 2.0])))
    2.0
    """
    if dim is None:
        return functional.median(operand(input, "median").reshape(-1))[0]  # type: ignore[attr-defined]
    return functional.median(input, dim, keepdim)


def norm(input: Any, p: Any = "fro", dim: Any = None, keepdim: bool = False, *, dtype: Any = None) -> Tensor:
    """Compute a vector or matrix norm along axes.

    Args:
        input (Tensor): floating-point or complex tensor.
        p (int, float, or str): order of the norm. A number p means (Σ|x|ᵖ)^(1/p), ``"fro"`` means p = 2, and
            ``"nuc"`` means the sum of the singular values over two axes.
        dim (int, tuple of int, or None): axes to reduce. ``None`` means all axes.
        keepdim (bool): whether to keep the reduced axes with size 1.
        dtype (mindgrad.dtype): dtype in which to compute. ``None`` means the dtype of ``input``.

    Returns:
        Tensor of the norms, without the reduced axes.

    >>> from mindgrad import Tensor, mint
    >>> print(mint.norm(Tensor([[3.0, 0.0], [0.0, 4.0]])), mint.norm(Tensor([[3.0, -4.0]]), 1, 1))
    5.0 [7.]
    """
    if p == "nuc":
        return functional.matrix_norm(input, "nuc", (-2, -1) if dim is None else dim, keepdim, dtype=dtype)
    return functional.vector_norm(input, 2 if p == "fro" else p, dim, keepdim, dtype=dtype)


def default_axis(x: Tensor) -> int:
    """Return the default axis of ``softmax`` and ``log_softmax``, as in PyTorch."""
    return 0 if x.ndim in (0, 1, 3) else 1


def log_softmax(input: Any, dim: Any = None, *, dtype: Any = None) -> Tensor:
    """Compute the logarithm of the softmax along an axis.

    Args:
        input (Tensor): floating-point tensor with at least one axis.
        dim (int or None): axis whose probabilities sum to 1. ``None`` means axis 0 for tensors of
            0, 1, or 3 axes, and axis 1 otherwise.
        dtype (mindgrad.dtype): dtype in which to compute. ``None`` means the dtype of ``input``.

    Returns:
        Tensor with the shape of ``input``.

    >>> from mindgrad import Tensor, mint
    >>> print(mint.log_softmax(Tensor([0.0, -1000.0]), 0))
    [    0. -1000.]
    """
    x = typed(input, "log_softmax", dtype)
    return functional.log_softmax(x, default_axis(x) if dim is None else dim)
