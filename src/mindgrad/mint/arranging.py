"""Shape and indexing functions of ``mint`` that do not only rename arguments."""

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
    """Select one index along an axis.

    Args:
        input (Tensor): tensor to select from.
        dim (int): axis along which to select. The result does not have this axis.
        index (int): index to select. A negative index counts from the end.

    Returns:
        Tensor with one axis less than ``input``, and its dtype.

    Raises:
        ValueError: If ``dim`` is out of range.
        IndexError: If ``index`` is out of range.

    >>> from mindgrad import Tensor, mint
    >>> print(mint.select(Tensor([[1.0, 2.0], [3.0, 4.0]]), 1, 0))
    [1. 3.]
    """
    x = operand(input, "select")
    axis = normalize_axis(dim, x.ndim, "select")
    return x[(slice(None),) * axis + (index,)]  # type: ignore[index]


def scatter(input: Any, dim: int, index: Any, src: Any) -> Tensor:
    """Write the elements of ``src`` to given indices along an axis.

    The indices have the same meaning as in :func:`mindgrad.mint.gather`.

    Args:
        input (Tensor): tensor to start from. It does not change.
        dim (int): axis of ``input`` that ``index`` indexes.
        index (Tensor): integer tensor of indices along ``dim``.
        src (Tensor or number): values to write, of the shape of ``index``, or one number for all indices.

    Returns:
        Tensor of the shape and dtype of ``input``.

    >>> from mindgrad import Tensor, mint
    >>> print(mint.scatter(Tensor([[1.0, 2.0], [3.0, 4.0]]), 1, Tensor([[0], [1]]), Tensor([[9.0], [8.0]])))
    [[9. 2.]
     [3. 8.]]
    """
    x, places = operand(input, "scatter"), operand(index, "scatter")
    source = src if isinstance(src, Tensor) else functional.full(places.shape, src, dtype=x.dtype)
    return functional.tensor_scatter_elements(x, places, cast(source, x.dtype), dim)


def index_add(input: Any, dim: int, index: Any, source: Any, *, alpha: Any = 1) -> Tensor:
    """Add slices of ``source`` to a tensor at given indices.

    Args:
        input (Tensor): tensor to add to. It does not change.
        dim (int): axis of ``input`` that ``index`` indexes.
        index (Tensor): 1-D integer tensor of indices along ``dim``.
        source (Tensor): slices to add, one along ``dim`` for each index.
        alpha (int or float): factor of ``source``.

    Returns:
        Tensor of the shape and dtype of ``input``.

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
    """Choose elements from two tensors, or find the indices of true elements.

    Args:
        condition (Tensor): Boolean tensor.
        input (Tensor or number): values where ``condition`` is true.
        other (Tensor or number): values where ``condition`` is false.

    Returns:
        Tensor of the chosen elements, of the broadcast shape. If only ``condition`` is passed, a tuple of
        int64 tensors with the indices of its true elements, one for each axis.

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
    """Find the indices at which values keep a sequence sorted.

    Args:
        sorted_sequence (Tensor): sequences in ascending order along the last axis.
        values (Tensor or number): values to look up.
        out_int32 (bool): whether the result has dtype int32 instead of int64.
        right (bool): whether to return the index after equal elements instead of the index before
            them.
        side (str, optional): ``"left"`` or ``"right"``, as an alternative to ``right``.
        sorter (Tensor or None): integer tensor of the same shape as ``sorted_sequence`` whose entries sort it
            in ascending order. ``None`` means that ``sorted_sequence`` is sorted.

    Returns:
        Integer tensor of insertion indices, of the shape of ``values``.

    >>> from mindgrad import Tensor, mint
    >>> print(mint.searchsorted(Tensor([1.0, 3.0, 5.0]), Tensor([2.0, 5.0])))
    [1 2]
    """
    found = sorted_sequence if sorter is None else functional.gather_elements(sorted_sequence, -1, sorter)
    return functional.searchsorted(found, values, out_int32=out_int32, right=right, side=side)


def squeeze(input: Any, dim: Any = None) -> Tensor:
    """Remove axes of size 1.

    Args:
        input (Tensor): tensor of any shape.
        dim (int, tuple of int, or None): axes to remove if their size is 1. ``None`` removes all
            axes of size 1.

    Returns:
        Tensor with the elements and dtype of ``input``.

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
    """Return the coordinates of the grid that 1-D tensors span.

    Args:
        *tensors (Tensor): 1-D tensors, each with the coordinates along one axis of the grid.
        indexing (str or None): with ``"ij"``, the first tensor varies along the first axis of the results.
            With ``"xy"``, it varies along the second axis. ``None`` means ``"ij"``.

    Returns:
        Tuple of tensors of the shape of the grid, one for each argument.

    >>> from mindgrad import Tensor, mint
    >>> print(mint.meshgrid(Tensor([1.0, 2.0]), Tensor([3.0, 4.0, 5.0]))[0].shape)
    (2, 3)
    """
    given = tensors[0] if len(tensors) == 1 and isinstance(tensors[0], (tuple, list)) else tensors
    return functional.meshgrid(*given, indexing=indexing or "ij")


# --- vector products and diagonals -------------------------------------------------------------------


def vdot(input: Any, other: Any) -> Tensor:
    """Compute the dot product of two vectors, conjugating the first.

    Args:
        input (Tensor): 1-D tensor whose complex conjugate is used.
        other (Tensor): 1-D tensor of the same size.

    Returns:
        0-D tensor of the dot product.

    >>> from mindgrad import Tensor, mint
    >>> print(mint.vdot(Tensor([1.0, 2.0]), Tensor([3.0, 4.0])))
    11.0
    """
    x = operand(input, "vdot")
    return functional.dot(functional.conj(x) if x.dtype.kind == "complex" else x, other)


def diag(input: Any, diagonal: int = 0) -> Tensor:
    """Return a diagonal of a matrix, or a matrix with a given diagonal.

    Args:
        input (Tensor): a matrix, or a vector with the elements of the diagonal.
        diagonal (int): index of the diagonal. 0 is the main diagonal; positive diagonals are above it.

    Returns:
        1-D tensor of the diagonal if ``input`` is a matrix, or a matrix with this diagonal if ``input`` is a
        vector.

    >>> from mindgrad import Tensor, mint
    >>> print(mint.diag(Tensor([[1.0, 2.0], [3.0, 4.0]])), mint.diag(Tensor([5.0]), 1)[0])
    [1. 4.] [0. 5.]
    """
    x = operand(input, "diag")
    return functional.diagonal(x, diagonal) if x.ndim == 2 else functional.diagflat(x, diagonal)


# --- creation of tensors -----------------------------------------------------------------------------


def linspace(start: Any, end: Any, steps: int, *, dtype: Any = None) -> Tensor:
    """Return ``steps`` equally spaced numbers, including both ends.

    Args:
        start (Tensor or number): first number of the sequence.
        end (Tensor or number): last number of the sequence.
        steps (int): number of elements.
        dtype (mindgrad.dtype): dtype of the result. ``None`` means float32.

    Returns:
        Tensor of shape ``(steps,)``.

    >>> from mindgrad import mint
    >>> print(mint.linspace(0.0, 1.0, 3))
    [0.  0.5 1. ]
    """
    found = functional.linspace(start, end, steps)
    return found if dtype is None else cast(found, dtype)


def zeros(*sizes: Any, size: Any = None, dtype: Any = None) -> Tensor:
    """Return a tensor of zeros.

    The shape is given as ``zeros(2, 3)``, ``zeros((2, 3))``, or ``zeros(size=(2, 3))``.

    Args:
        *sizes (int or tuple of int): shape of the result.
        size (int, tuple of int, or None): shape of the result, if it is passed by keyword.
        dtype (mindgrad.dtype): dtype of the result. ``None`` means float32.

    Returns:
        Tensor of zeros.

    >>> from mindgrad import mint
    >>> print(mint.zeros(2), mint.zeros((1, 2)))
    [0. 0.] [[0. 0.]]
    """
    return functional.zeros(varargs(sizes) if size is None else size, dtype)


def ones(*sizes: Any, size: Any = None, dtype: Any = None) -> Tensor:
    """Return a tensor of ones.

    The shape is given as ``ones(2, 3)``, ``ones((2, 3))``, or ``ones(size=(2, 3))``.

    Args:
        *sizes (int or tuple of int): shape of the result.
        size (int, tuple of int, or None): shape of the result, if it is passed by keyword.
        dtype (mindgrad.dtype): dtype of the result. ``None`` means float32.

    Returns:
        Tensor of ones.

    >>> from mindgrad import mint
    >>> print(mint.ones(2))
    [1. 1.]
    """
    return functional.ones(varargs(sizes) if size is None else size, dtype)


def empty(*size: Any, dtype: Any = None, device: Any = None, pin_memory: bool = False) -> Tensor:
    """Return a tensor of unspecified values; in mindgrad they are zeros.

    Args:
        *size (int or tuple of int): shape of the result, as ``empty(2, 3)`` or ``empty((2, 3))``.
        dtype (mindgrad.dtype): dtype of the result. ``None`` means float32.
        device (str or None): accepted for compatibility and ignored.
        pin_memory (bool): accepted for compatibility and ignored.

    Returns:
        Tensor of zeros.

    >>> from mindgrad import mint
    >>> mint.empty(2, 3).shape
    (2, 3)
    """
    return zeros(*size, dtype=dtype)


def clone(input: Any) -> Tensor:
    """Copy a tensor; derivatives pass through the copy.

    Args:
        input (Tensor): tensor of any shape.

    Returns:
        Tensor with the shape, dtype, and elements of ``input``.

    >>> from mindgrad import Tensor, mint
    >>> print(mint.clone(Tensor([1.0, 2.0])))
    [1. 2.]
    """
    return operand(input, "clone").copy()  # type: ignore[attr-defined]
