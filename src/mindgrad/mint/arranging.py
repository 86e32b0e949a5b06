"""Shape and indexing functions of ``mint`` take ``dim``; so do those that create tensors."""

from __future__ import annotations

from typing import Any

from mindgrad.ir.tensor import Tensor
from mindgrad.ops import functional
from mindgrad.ops.arguments import varargs
from mindgrad.ops.axes import normalize_axis
from mindgrad.ops.operands import cast, operand

__all__ = [
    "arange", "baddbmm", "bmm", "cat", "cdist", "chunk", "clone", "concat", "diag", "empty", "empty_like",
    "flatten", "full", "gather", "index_add", "index_select", "linspace", "meshgrid", "narrow", "ones",
    "permute", "repeat_interleave", "scatter", "scatter_add", "searchsorted", "select", "split", "squeeze",
    "stack", "t", "take", "trace", "transpose", "vdot", "where", "zeros",
]  # fmt: skip


def cat(tensors: Any, dim: int = 0) -> Tensor:
    """The tensors, one behind the other along ``dim``.

    >>> from mindgrad import Tensor, mint
    >>> print(mint.cat((Tensor([1.0]), Tensor([2.0, 3.0]))))
    [1. 2. 3.]
    """
    return functional.cat(tensors, dim)


concat = cat


def stack(tensors: Any, dim: int = 0) -> Tensor:
    """The tensors side by side, along a new axis.

    >>> from mindgrad import Tensor, mint
    >>> print(mint.stack((Tensor([1.0, 2.0]), Tensor([3.0, 4.0])), dim=1))
    [[1. 3.]
     [2. 4.]]
    """
    return functional.stack(tensors, dim)


def chunk(input: Any, chunks: int, dim: int = 0) -> tuple[Tensor, ...]:
    """Parts along ``dim``, ``chunks`` of them or fewer.

    >>> from mindgrad import Tensor, mint
    >>> print(*mint.chunk(Tensor([1.0, 2.0, 3.0]), 2))
    [1. 2.] [3.]
    """
    return functional.chunk(input, chunks, dim)


def split(tensor: Any, split_size_or_sections: Any, dim: int = 0) -> tuple[Tensor, ...]:
    """Parts along ``dim`` of one size, the last maybe smaller, or of the sizes in a list.

    >>> from mindgrad import Tensor, mint
    >>> print(*mint.split(Tensor([1.0, 2.0, 3.0]), [1, 2]))
    [1.] [2. 3.]
    """
    return functional.split(tensor, split_size_or_sections, dim)


def narrow(input: Any, dim: int, start: int, length: int) -> Tensor:
    """``length`` elements along ``dim``, from ``start`` on.

    >>> from mindgrad import Tensor, mint
    >>> print(mint.narrow(Tensor([1.0, 2.0, 3.0]), 0, 1, 2))
    [2. 3.]
    """
    return functional.narrow(input, dim, start, length)


def select(input: Any, dim: int, index: int) -> Tensor:
    """The elements at ``index`` along ``dim``, without this axis.

    >>> from mindgrad import Tensor, mint
    >>> print(mint.select(Tensor([[1.0, 2.0], [3.0, 4.0]]), 1, 0))
    [1. 3.]
    """
    x = operand(input, "select")
    axis = normalize_axis(dim, x.ndim, "select")
    return x[(slice(None),) * axis + (index,)]  # type: ignore[index]


def index_select(input: Any, dim: int, index: Any) -> Tensor:
    """The elements at the indices along ``dim``.

    >>> from mindgrad import Tensor, mint
    >>> print(mint.index_select(Tensor([[1.0, 2.0], [3.0, 4.0]]), 1, Tensor([1, 1])))
    [[2. 2.]
     [4. 4.]]
    """
    return functional.index_select(input, dim, index)


def gather(input: Any, dim: int, index: Any) -> Tensor:
    """For each element of ``index`` what stands there along ``dim``, at its own place along the others.

    >>> from mindgrad import Tensor, mint
    >>> print(mint.gather(Tensor([[1.0, 2.0], [3.0, 4.0]]), 1, Tensor([[0], [1]])))
    [[1.]
     [4.]]
    """
    return functional.gather_elements(input, dim, index)


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


def scatter_add(input: Any, dim: int, index: Any, src: Any) -> Tensor:
    """``input`` plus the elements of ``src`` at the places that :func:`gather` reads.

    >>> from mindgrad import Tensor, mint
    >>> print(mint.scatter_add(Tensor([1.0, 2.0]), 0, Tensor([0, 0]), Tensor([10.0, 20.0])))
    [31.  2.]
    """
    return functional.tensor_scatter_elements(input, index, src, dim, "add")


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


def take(input: Any, index: Any) -> Tensor:
    """The elements at the indices of the flattened tensor.

    >>> from mindgrad import Tensor, mint
    >>> print(mint.take(Tensor([[1.0, 2.0], [3.0, 4.0]]), Tensor([3, 0])))
    [4. 1.]
    """
    return functional.take(input, index)


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


def flatten(input: Any, start_dim: int = 0, end_dim: int = -1) -> Tensor:
    """The axes from ``start_dim`` to ``end_dim`` as one.

    >>> from mindgrad import mint
    >>> mint.flatten(mint.ones((2, 3, 4)), 1).shape, mint.flatten(mint.ones((2, 3))).shape
    ((2, 12), (6,))
    """
    return functional.flatten(input, start_dim=start_dim, end_dim=end_dim)


def permute(input: Any, dims: Any) -> Tensor:
    """The axes in another order.

    >>> from mindgrad import mint
    >>> mint.permute(mint.ones((2, 3, 4)), (2, 0, 1)).shape
    (4, 2, 3)
    """
    return functional.permute(input, tuple(dims))


def transpose(input: Any, dim0: int, dim1: int) -> Tensor:
    """Two axes exchanged.

    >>> from mindgrad import mint
    >>> mint.transpose(mint.ones((2, 3, 4)), 0, 2).shape
    (4, 3, 2)
    """
    return functional.swapaxes(input, dim0, dim1)


def t(input: Any) -> Tensor:
    """A matrix transposed; a vector or number as it is.

    >>> from mindgrad import mint
    >>> mint.t(mint.ones((2, 3))).shape
    (3, 2)
    """
    return functional.t(input)


def repeat_interleave(
    input: Any, repeats: Any, dim: int | None = None, *, output_size: int | None = None
) -> Tensor:
    """Each element ``repeats`` times, along ``dim`` or of the flattened tensor.

    >>> from mindgrad import Tensor, mint
    >>> print(mint.repeat_interleave(Tensor([1.0, 2.0]), 2))
    [1. 1. 2. 2.]
    """
    return functional.repeat_interleave(input, repeats, dim)


def meshgrid(*tensors: Any, indexing: str | None = None) -> tuple[Tensor, ...]:
    """The coordinates of a grid; the first changes along the first axis (``"ij"``) unless it is ``"xy"``.

    >>> from mindgrad import Tensor, mint
    >>> print(mint.meshgrid(Tensor([1.0, 2.0]), Tensor([3.0, 4.0, 5.0]))[0].shape)
    (2, 3)
    """
    given = tensors[0] if len(tensors) == 1 and isinstance(tensors[0], (tuple, list)) else tensors
    return functional.meshgrid(*given, indexing=indexing or "ij")


# --- matrices ----------------------------------------------------------------------------------------


def bmm(input: Any, mat2: Any) -> Tensor:
    """The products of two batches of matrices.

    >>> from mindgrad import mint
    >>> print(mint.bmm(mint.ones((1, 1, 3)), mint.ones((1, 3, 1))))
    [[[3.]]]
    """
    return functional.bmm(input, mat2)


def baddbmm(input: Any, batch1: Any, batch2: Any, *, beta: Any = 1, alpha: Any = 1) -> Tensor:
    """``beta · input + alpha · batch1 @ batch2``.

    >>> from mindgrad import mint
    >>> print(mint.baddbmm(mint.ones((1, 1, 1)), mint.ones((1, 1, 3)), mint.ones((1, 3, 1)), alpha=2))
    [[[7.]]]
    """
    return functional.baddbmm(input, batch1, batch2, beta, alpha)


def vdot(input: Any, other: Any) -> Tensor:
    """Σ x̄ y of two vectors.

    >>> from mindgrad import Tensor, mint
    >>> print(mint.vdot(Tensor([1.0, 2.0]), Tensor([3.0, 4.0])))
    11.0
    """
    x = operand(input, "vdot")
    return functional.dot(functional.conj(x) if x.dtype.kind == "complex" else x, other)


def cdist(
    x1: Any, x2: Any, p: float = 2.0, compute_mode: str = "use_mm_for_euclid_dist_if_necessary"
) -> Tensor:
    """The distances of all points of ``x1`` and ``x2`` in the ``p`` norm.

    >>> from mindgrad import Tensor, mint
    >>> print(mint.cdist(Tensor([[0.0, 0.0]]), Tensor([[3.0, 4.0]])))
    [[5.]]
    """
    return functional.cdist(x1, x2, float(p))


def diag(input: Any, diagonal: int = 0) -> Tensor:
    """A diagonal of a matrix, or the matrix with this diagonal.

    >>> from mindgrad import Tensor, mint
    >>> print(mint.diag(Tensor([[1.0, 2.0], [3.0, 4.0]])), mint.diag(Tensor([5.0]), 1)[0])
    [1. 4.] [0. 5.]
    """
    x = operand(input, "diag")
    return functional.diagonal(x, diagonal) if x.ndim == 2 else functional.diagflat(x, diagonal)


def trace(input: Any) -> Tensor:
    """The sum of the diagonal of a matrix.

    >>> from mindgrad import Tensor, mint
    >>> print(mint.trace(Tensor([[1.0, 2.0], [3.0, 4.0]])))
    5.0
    """
    return functional.trace(input)


# --- tensors of numbers ------------------------------------------------------------------------------


def arange(start: Any = 0, end: Any = None, step: Any = 1, *, dtype: Any = None) -> Tensor:
    """The numbers from ``start`` to below ``end``.

    >>> from mindgrad import mint
    >>> print(mint.arange(3), mint.arange(1, 2, 0.5))
    [0 1 2] [1.  1.5]
    """
    return functional.arange(start, end, step, dtype=dtype)


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


def full(size: Any, fill_value: Any, *, dtype: Any = None) -> Tensor:
    """One number everywhere.

    >>> from mindgrad import mint
    >>> print(mint.full((2,), 7.0))
    [7. 7.]
    """
    return functional.full(size, fill_value, dtype=dtype)


def empty(*size: Any, dtype: Any = None, device: Any = None, pin_memory: bool = False) -> Tensor:
    """A tensor of unspecified values; here they are zeros.

    >>> from mindgrad import mint
    >>> mint.empty(2, 3).shape
    (2, 3)
    """
    return zeros(*size, dtype=dtype)


def empty_like(input: Any, *, dtype: Any = None, device: Any = None, pin_memory: bool = False) -> Tensor:
    """:func:`empty` in the shape of ``input``.

    >>> from mindgrad import Tensor, mint
    >>> mint.empty_like(Tensor([1.0])).shape
    (1,)
    """
    return functional.zeros_like(input, dtype=dtype)


def clone(input: Any) -> Tensor:
    """A copy, through which derivatives flow.

    >>> from mindgrad import Tensor, mint
    >>> print(mint.clone(Tensor([1.0, 2.0])))
    [1. 2.]
    """
    return operand(input, "clone").copy()  # type: ignore[attr-defined]
