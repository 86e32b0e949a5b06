"""Shape and indexing functions of ``mint`` that differ from those of ``ops`` in more than names."""

from __future__ import annotations

from typing import Any

from mindgrad.ir.tensor import Tensor
from mindgrad.ops import functional
from mindgrad.ops.arguments import varargs
from mindgrad.ops.axes import normalize_axis
from mindgrad.ops.operands import cast, operand

__all__ = [
    "clone", "diag", "empty", "index_add", "linspace", "meshgrid", "ones", "scatter", "searchsorted",
    "select", "squeeze", "vdot", "where", "zeros",
]  # fmt: skip


def select(input: Any, dim: int, index: int) -> Tensor:
    """The elements at ``index`` along ``dim``, without this axis.

    >>> from mindgrad import Tensor, mint
    >>> print(mint.select(Tensor([[1.0, 2.0], [3.0, 4.0]]), 1, 0))
    [1. 3.]
    """
    x = operand(input, "select")
    axis = normalize_axis(dim, x.ndim, "select")
    return x[(slice(None),) * axis + (index,)]  # type: ignore[index]


def scatter(input: Any, dim: int, index: Any, src: Any) -> Tensor:
    """``input`` with the elements of ``src``, or this number, at the places that :func:`gather` reads.

    >>> from mindgrad import Tensor, mint
    >>> print(mint.scatter(Tensor([[1.0, 2.0], [3.0, 4.0]]), 1, Tensor([[0], [1]]), Tensor([[9.0], [8.0]])))
    [[9. 2.]
     [3. 8.]]
    """
    x, places = operand(input, "scatter"), operand(index, "scatter")
    source = src if isinstance(src, Tensor) else functional.full(places.shape, src, dtype=x.dtype)
    return functional.tensor_scatter_elements(x, places, cast(source, x.dtype), dim)


def index_add(input: Any, dim: int, index: Any, source: Any, *, alpha: Any = 1) -> Tensor:
    """``input`` plus ``alpha · source``, whose parts along ``dim`` belong to the indices.

    >>> from mindgrad import Tensor, mint
    >>> print(mint.index_add(Tensor([1.0, 2.0]), 0, Tensor([0, 0]), Tensor([10.0, 20.0])))
    [31.  2.]
    """
    x, added = operand(input, "index_add"), operand(source, "index_add")
    axis = normalize_axis(dim, x.ndim, "index_add")
    places = operand(index, "index_add").reshape([-1 if k == axis else 1 for k in range(x.ndim)])  # type: ignore[attr-defined]
    if not (isinstance(alpha, (int, float)) and alpha == 1):
        added = functional.mul(added, alpha)
    return functional.tensor_scatter_elements(
        x, functional.broadcast_to(places, added.shape), added, axis, "add"
    )


def where(condition: Any, input: Any = None, other: Any = None) -> Any:
    """``input`` where the condition holds and ``other`` elsewhere; of a condition alone, its places.

    >>> from mindgrad import Tensor, mint
    >>> print(mint.where(Tensor([True, False]), 1.0, 2.0), *mint.where(Tensor([True, False])))
    [1. 2.] [0]
    """
    if input is None and other is None:
        return functional.nonzero(condition, as_tuple=True)
    return functional.where(condition, input, other)


def searchsorted(
    sorted_sequence: Any,
    values: Any,
    *,
    out_int32: bool = False,
    right: bool = False,
    side: str | None = None,
    sorter: Any = None,
) -> Tensor:
    """The indices of values in a sorted sequence; with ``sorter`` the indices that sort it.

    >>> from mindgrad import Tensor, mint
    >>> print(mint.searchsorted(Tensor([1.0, 3.0, 5.0]), Tensor([2.0, 5.0])))
    [1 2]
    """
    found = sorted_sequence if sorter is None else functional.gather_elements(sorted_sequence, -1, sorter)
    return functional.searchsorted(found, values, out_int32=out_int32, right=right, side=side)


def squeeze(input: Any, dim: Any = None) -> Tensor:
    """Without axes of size 1: all of them, or those in ``dim`` that have it.

    >>> from mindgrad import mint
    >>> mint.squeeze(mint.ones((1, 2, 1)), 0).shape, mint.squeeze(mint.ones((1, 2)), 1).shape
    ((2, 1), (1, 2))
    """
    x = operand(input, "squeeze")
    if dim is None:
        return functional.squeeze(x)
    axes = [
        normalize_axis(axis, x.ndim, "squeeze") for axis in (dim if isinstance(dim, (tuple, list)) else [dim])
    ]
    axes = [axis for axis in axes if x.shape[axis] == 1]
    return functional.squeeze(x, tuple(axes)) if axes else x


def meshgrid(*tensors: Any, indexing: str | None = None) -> tuple[Tensor, ...]:
    """The coordinates of a grid; the first changes along the first axis (``"ij"``) unless it is ``"xy"``.

    >>> from mindgrad import Tensor, mint
    >>> print(mint.meshgrid(Tensor([1.0, 2.0]), Tensor([3.0, 4.0, 5.0]))[0].shape)
    (2, 3)
    """
    given = tensors[0] if len(tensors) == 1 and isinstance(tensors[0], (tuple, list)) else tensors
    return functional.meshgrid(*given, indexing=indexing or "ij")


# --- matrices ----------------------------------------------------------------------------------------


def vdot(input: Any, other: Any) -> Tensor:
    """Σ x̄ y of two vectors.

    >>> from mindgrad import Tensor, mint
    >>> print(mint.vdot(Tensor([1.0, 2.0]), Tensor([3.0, 4.0])))
    11.0
    """
    x = operand(input, "vdot")
    return functional.dot(functional.conj(x) if x.dtype.kind == "complex" else x, other)


def diag(input: Any, diagonal: int = 0) -> Tensor:
    """A diagonal of a matrix, or the matrix with this diagonal.

    >>> from mindgrad import Tensor, mint
    >>> print(mint.diag(Tensor([[1.0, 2.0], [3.0, 4.0]])), mint.diag(Tensor([5.0]), 1)[0])
    [1. 4.] [0. 5.]
    """
    x = operand(input, "diag")
    return functional.diagonal(x, diagonal) if x.ndim == 2 else functional.diagflat(x, diagonal)


# --- tensors of numbers ------------------------------------------------------------------------------


def linspace(start: Any, end: Any, steps: int, *, dtype: Any = None) -> Tensor:
    """``steps`` numbers at equal distances, both ends included.

    >>> from mindgrad import mint
    >>> print(mint.linspace(0.0, 1.0, 3))
    [0.  0.5 1. ]
    """
    found = functional.linspace(start, end, steps)
    return found if dtype is None else cast(found, dtype)


def zeros(*sizes: Any, size: Any = None, dtype: Any = None) -> Tensor:
    """Zeros: ``zeros(2, 3)``, ``zeros((2, 3))`` or ``zeros(size=(2, 3))``.

    >>> from mindgrad import mint
    >>> print(mint.zeros(2), mint.zeros((1, 2)))
    [0. 0.] [[0. 0.]]
    """
    return functional.zeros(varargs(sizes) if size is None else size, dtype)


def ones(*sizes: Any, size: Any = None, dtype: Any = None) -> Tensor:
    """Ones: ``ones(2, 3)``, ``ones((2, 3))`` or ``ones(size=(2, 3))``.

    >>> from mindgrad import mint
    >>> print(mint.ones(2))
    [1. 1.]
    """
    return functional.ones(varargs(sizes) if size is None else size, dtype)


def empty(*size: Any, dtype: Any = None, device: Any = None, pin_memory: bool = False) -> Tensor:
    """A tensor of unspecified values; here they are zeros.

    >>> from mindgrad import mint
    >>> mint.empty(2, 3).shape
    (2, 3)
    """
    return zeros(*size, dtype=dtype)


def clone(input: Any) -> Tensor:
    """A copy, through which derivatives flow.

    >>> from mindgrad import Tensor, mint
    >>> print(mint.clone(Tensor([1.0, 2.0])))
    [1. 2.]
    """
    return operand(input, "clone").copy()  # type: ignore[attr-defined]
