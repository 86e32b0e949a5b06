"""Reductions and order statistics of ``mint`` take ``dim``; their indices are Int64."""

from __future__ import annotations

from typing import Any

from mindgrad.ir.dtype import int64
from mindgrad.ir.tensor import Tensor
from mindgrad.ops import functional
from mindgrad.ops.operands import cast, operand
from mindgrad.ops.reduction import whole_as_int64

__all__ = [
    "all", "amax", "amin", "any", "argmin", "argsort", "count_nonzero", "cummax", "cummin", "cumsum", "diff",
    "log_softmax", "logsumexp", "max", "mean", "median", "min", "nansum", "norm", "prod", "softmax", "sort",
    "std", "std_mean", "topk", "var", "var_mean",
]  # fmt: skip


def _typed(input: Any, dtype: Any, operator: str) -> Tensor:
    x = operand(input, operator)
    return x if dtype is None else cast(x, dtype)


def _places(x: Tensor) -> Tensor:
    """Indices as Int64, the type that all functions of ``mint`` give them."""
    return cast(x, int64)


def _with_places(pair: tuple[Tensor, Tensor]) -> tuple[Tensor, Tensor]:
    return pair[0], _places(pair[1])


def all(input: Any, dim: Any = None, keepdim: bool = False) -> Tensor:
    """Whether all elements along ``dim`` (an int, a tuple, or ``None``: every axis) are true.

    >>> from mindgrad import Tensor, mint
    >>> print(mint.all(Tensor([[True, False], [True, True]]), dim=1))
    [False  True]
    """
    return functional.all(input, dim, keepdim)


def any(input: Any, dim: Any = None, keepdim: bool = False) -> Tensor:
    """Whether an element along ``dim`` is true; arguments as for :func:`all`.

    >>> from mindgrad import Tensor, mint
    >>> print(mint.any(Tensor([[True, False], [False, False]]), dim=1))
    [ True False]
    """
    return functional.any(input, dim, keepdim)


def amax(input: Any, dim: Any = (), keepdim: bool = False) -> Tensor:
    """The largest elements along ``dim``; ties share the derivative.

    >>> from mindgrad import Tensor, mint
    >>> print(mint.amax(Tensor([[1.0, 5.0], [3.0, 2.0]]), 1))
    [5. 3.]
    """
    return functional.amax(input, None if dim == () else dim, keepdim)


def amin(input: Any, dim: Any = (), keepdim: bool = False) -> Tensor:
    """The smallest elements along ``dim``; ties share the derivative.

    >>> from mindgrad import Tensor, mint
    >>> print(mint.amin(Tensor([[1.0, 5.0], [3.0, 2.0]]), 1))
    [1. 2.]
    """
    return functional.amin(input, None if dim == () else dim, keepdim)


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


def argmin(input: Any, dim: int | None = None, keepdim: bool = False) -> Tensor:
    """The indices of the smallest elements; ``dim=None``: in the flattened tensor.

    >>> from mindgrad import Tensor, mint
    >>> print(mint.argmin(Tensor([[1.0, 5.0], [3.0, 2.0]]), 1))
    [0 1]
    """
    return _places(functional.argmin(input, dim, keepdim))


def argsort(input: Any, dim: int = -1, descending: bool = False, stable: bool = False) -> Tensor:
    """The indices that put the elements in order; equal ones stay in theirs.

    >>> from mindgrad import Tensor, mint
    >>> print(mint.argsort(Tensor([3.0, 1.0, 2.0])))
    [1 2 0]
    """
    return _places(functional.argsort(input, dim, descending))


def sort(input: Any, *, dim: int = -1, descending: bool = False, stable: bool = False) -> Any:
    """The elements in order, and their indices.

    >>> from mindgrad import Tensor, mint
    >>> print(*mint.sort(Tensor([3.0, 1.0, 2.0])))
    [1. 2. 3.] [1 2 0]
    """
    return _with_places(functional.sort(input, dim, descending))


def topk(input: Any, k: int, dim: int = -1, largest: bool = True, sorted: bool = True) -> Any:
    """The ``k`` largest (or smallest) elements along ``dim``, and their indices.

    >>> from mindgrad import Tensor, mint
    >>> print(*mint.topk(Tensor([3.0, 1.0, 2.0]), 2))
    [3. 2.] [0 2]
    """
    return _with_places(functional.topk(input, k, dim, largest, sorted))


def median(input: Any, dim: int | None = None, keepdim: bool = False) -> Any:
    """The median, the lower of two: of all elements, or values and indices along ``dim``.

    >>> from mindgrad import Tensor, mint
    >>> print(mint.median(Tensor([3.0, 1.0, 2.0])))
    2.0
    """
    if dim is None:
        return functional.median(operand(input, "median").reshape(-1))[0]  # type: ignore[attr-defined]
    return functional.median(input, dim, keepdim)


def count_nonzero(input: Any, dim: Any = None) -> Tensor:
    """The number of elements along ``dim`` that are not 0.

    >>> from mindgrad import Tensor, mint
    >>> print(mint.count_nonzero(Tensor([[1.0, 0.0], [3.0, 2.0]]), 1))
    [1 2]
    """
    return functional.count_nonzero(input, () if dim is None else dim)


def cummax(input: Any, dim: int) -> Any:
    """The largest elements so far along ``dim``, and their indices.

    >>> from mindgrad import Tensor, mint
    >>> print(mint.cummax(Tensor([1.0, 3.0, 2.0]), 0)[0])
    [1. 3. 3.]
    """
    return functional.cummax(input, dim)


def cummin(input: Any, dim: int) -> Any:
    """The smallest elements so far along ``dim``, and their indices.

    >>> from mindgrad import Tensor, mint
    >>> print(mint.cummin(Tensor([2.0, 3.0, 1.0]), 0)[0])
    [2. 2. 1.]
    """
    return _with_places(functional.cummin(input, dim))


def cumsum(input: Any, dim: int, dtype: Any = None) -> Tensor:
    """The sums so far along ``dim``; of integers and truth values as Int64, if no ``dtype`` is given.

    >>> from mindgrad import Tensor, mint
    >>> print(mint.cumsum(Tensor([1.0, 2.0, 3.0]), 0))
    [1. 3. 6.]
    """
    return functional.cumsum(whole_as_int64(input, "cumsum", dtype), dim)


def diff(input: Any, n: int = 1, dim: int = -1, prepend: Any = None, append: Any = None) -> Tensor:
    """The differences of neighbouring elements along ``dim``, ``n`` times.

    >>> from mindgrad import Tensor, mint
    >>> print(mint.diff(Tensor([1.0, 4.0, 9.0])))
    [3. 5.]
    """
    return functional.diff(input, n, dim, prepend, append)


def logsumexp(input: Any, dim: Any, keepdim: bool = False) -> Tensor:
    """log Σ exp x along ``dim``.

    >>> from mindgrad import Tensor, mint
    >>> print(mint.logsumexp(Tensor([1000.0, -1000.0]), 0))
    1000.0
    """
    return functional.logsumexp(input, dim, keepdim)


def mean(input: Any, dim: Any = None, keepdim: bool = False, *, dtype: Any = None) -> Tensor:
    """The mean along ``dim``; of elements converted to ``dtype``, if it is given.

    >>> from mindgrad import Tensor, mint
    >>> print(mint.mean(Tensor([[1.0, 5.0], [3.0, 2.0]]), 0, keepdim=True))
    [[2.  3.5]]
    """
    return functional.mean(_typed(input, dtype, "mean"), dim, keepdim)


def nansum(input: Any, dim: Any = None, keepdim: bool = False, *, dtype: Any = None) -> Tensor:
    """The sum along ``dim`` of the elements that are numbers.

    >>> from mindgrad import Tensor, mint
    >>> print(mint.nansum(Tensor([1.0, float("nan"), 2.0])))
    3.0
    """
    return functional.nansum(input, dim, keepdim, dtype=dtype)


def prod(input: Any, dim: Any = None, keepdim: bool = False, *, dtype: Any = None) -> Tensor:
    """The product along ``dim``.

    >>> from mindgrad import Tensor, mint
    >>> print(mint.prod(Tensor([[1.0, 5.0], [3.0, 2.0]]), 1))
    [5. 6.]
    """
    return functional.prod(input, dim, keepdim, dtype)


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


def softmax(input: Any, dim: int, *, dtype: Any = None) -> Tensor:
    """exp x / Σ exp x along ``dim``.

    >>> from mindgrad import Tensor, mint
    >>> print(mint.softmax(Tensor([0.0, 0.0]), 0))
    [0.5 0.5]
    """
    return functional.softmax(input, dim, dtype=dtype)


def log_softmax(input: Any, dim: Any = None, *, dtype: Any = None) -> Tensor:
    """log softmax along ``dim``, by default the second axis, or the first of 0, 1 or 3 axes.

    >>> from mindgrad import Tensor, mint
    >>> print(mint.log_softmax(Tensor([0.0, -1000.0]), 0))
    [    0. -1000.]
    """
    x = _typed(input, dtype, "log_softmax")
    return functional.log_softmax(x, default_axis(x) if dim is None else dim)


def var(input: Any, dim: Any = None, *, correction: int = 1, keepdim: bool = False) -> Tensor:
    """Σ (x − mean)² / (n − ``correction``) along ``dim``.

    >>> from mindgrad import Tensor, mint
    >>> print(mint.var(Tensor([1.0, 2.0, 3.0])), mint.var(Tensor([1.0, 3.0]), correction=0))
    1.0 1.0
    """
    return functional.var(input, dim, correction, keepdim)


def std(input: Any, dim: Any = None, *, correction: int = 1, keepdim: bool = False) -> Tensor:
    """The root of :func:`var`.

    >>> from mindgrad import Tensor, mint
    >>> print(mint.std(Tensor([1.0, 2.0, 3.0])))
    1.0
    """
    return functional.std(input, dim, correction, keepdim)


def var_mean(input: Any, dim: Any = None, *, correction: int = 1, keepdim: bool = False) -> Any:
    """:func:`var` and :func:`mean`.

    >>> from mindgrad import Tensor, mint
    >>> print(*mint.var_mean(Tensor([1.0, 2.0, 3.0])))
    1.0 2.0
    """
    return functional.var_mean(input, dim, correction, keepdim)


def std_mean(input: Any, dim: Any = None, *, correction: int = 1, keepdim: bool = False) -> Any:
    """:func:`std` and :func:`mean`.

    >>> from mindgrad import Tensor, mint
    >>> print(*mint.std_mean(Tensor([1.0, 2.0, 3.0])))
    1.0 2.0
    """
    return functional.std_mean(input, dim, correction, keepdim)
