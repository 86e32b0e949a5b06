"""Statistics: variance, standard deviation, median, and vector and matrix norms."""

from __future__ import annotations

import math as _math
from typing import Any

from mindgrad.core.ir.dtype import as_dtype, int64
from mindgrad.core.ir.scope import apply
from mindgrad.core.ir.tensor import Tensor
from mindgrad.core.primitives import reduction as primitives
from mindgrad.core.primitives.eigh_svd import svdvals
from mindgrad.core.primitives.sorting import argsort
from mindgrad.core.primitives.structural import reshape, transpose
from mindgrad.ops import arithmetic, clipping, extremes, reduction, rounding
from mindgrad.ops.axes import normalize_axes, normalize_axis
from mindgrad.ops.comparison import greater, less, logical_and, not_equal
from mindgrad.ops.extremes import taken_along
from mindgrad.ops.flow import stop_gradient
from mindgrad.ops.joining import stack
from mindgrad.ops.movement import slice_axis
from mindgrad.ops.operands import accepted, applied, cast, choose, inexact, is_selection, operand
from mindgrad.ops.reduction import flag, reduced, widened, with_reduced_axes
from mindgrad.ops.registry import public
from mindgrad.ops.selected_spread import spread_of_selected

__all__ = [
    "clip_by_global_norm", "clip_by_norm", "matrix_norm", "median", "norm", "reduce_std", "std", "std_mean",
    "var", "var_mean", "vector_norm",
]  # fmt: skip


# --- variance and median -----------------------------------------------------------------------------


def _centered(operator: str, x: Any, axis: Any, ddof: Any) -> tuple[Tensor, Tensor, tuple[int, ...], float]:
    """Return (x − mean, mean, axes, n − ddof); float16 and bfloat16 become float32."""
    if not isinstance(ddof, int):
        raise TypeError(f"For '{operator}', the 'ddof' must be an int or bool, but got {ddof!r}.")
    x = inexact(operand(x, operator))
    accepted(primitives.norm, operator, x, axes=())
    x = widened(x)
    axes = normalize_axes(axis, x.ndim, operator)
    average = reduction.mean(x, axes, True) if axes else x
    left = _math.prod(x.shape[i] for i in axes) - ddof
    return arithmetic.sub(x, average), average, axes, left if left > 0 else _math.nan


@public(
    "Tensor.var",
    "mint.var(input, dim=None, *, correction=1, keepdim=False)",
    "numpy.var(x: floating, axis=None, ddof=0, keepdims=False)",
)
def var(input: Any, axis: Any = None, ddof: Any = 0, keepdims: bool = False) -> Tensor:
    """Compute the variance Σ (x − mean)² / (n − ddof) along axes.

    Its derivative is 2 (x − mean) / (n − ddof).

    Args:
        input (Tensor or number): real values of any shape; integers are converted to float32.
        axis (int, tuple of int, or None): axis or axes to reduce. ``None`` and ``()`` mean all
            axes.
        ddof (int or bool): number to subtract from the number of elements n in the divisor n − ddof. ``True``
            means 1.
        keepdims (bool): whether to keep the reduced axes with size 1.

    Returns:
        Tensor without the reduced axes. The result is NaN if n − ddof is not positive.

    Raises:
        TypeError: If ``keepdims`` is not a bool, ``axis`` or ``ddof`` is not an int, or ``input`` is
            complex or not a tensor.
        ValueError: If ``axis`` is out of range or repeats an axis.

    >>> from mindgrad import Tensor, ops
    >>> print(ops.var(Tensor([1.0, 3.0, 5.0]), ddof=1))
    4.0
    """
    return var_mean(input, axis, ddof, keepdims)[0]


@public("mint.var_mean(input, dim=None, *, correction=1, keepdim=False)")
def var_mean(input: Any, axis: Any = None, ddof: Any = 0, keepdims: bool = False) -> tuple[Tensor, Tensor]:
    """Compute the variance and the mean along axes.

    Returns:
        Two tensors without the reduced axes: the variance and the mean.

    {as var}

    >>> from mindgrad import Tensor, ops
    >>> variance, average = ops.var_mean(Tensor([1.0, 3.0, 5.0]), ddof=1)
    >>> print(variance, average)
    4.0 3.0
    """
    return _spread("Var", input, axis, ddof, keepdims)


@public(
    "Tensor.std",
    "mint.std(input, dim=None, *, correction=1, keepdim=False)",
    "numpy.std(x: floating, axis=None, ddof=0, keepdims=False)",
)
def std(input: Any, axis: Any = None, ddof: Any = 0, keepdims: bool = False) -> Tensor:
    """Compute the standard deviation along axes.

    The derivative (x − mean) / ((n − ddof) std) is 0 if all elements are equal.

    {as var}

    >>> from mindgrad import Tensor, ops
    >>> print(ops.std(Tensor([1.0, 3.0, 5.0]), ddof=1))
    2.0
    """
    return std_mean(input, axis, ddof, keepdims)[0]


@public("mint.std_mean(input, dim=None, *, correction=1, keepdim=False)")
def std_mean(input: Any, axis: Any = None, ddof: Any = 0, keepdims: bool = False) -> tuple[Tensor, Tensor]:
    """Compute the standard deviation and the mean along axes.

    Returns:
        Two tensors without the reduced axes: the standard deviation and the mean.

    {as var}

    >>> from mindgrad import Tensor, ops
    >>> deviation, average = ops.std_mean(Tensor([1.0, 3.0, 5.0]), ddof=1)
    >>> print(deviation, average)
    2.0 3.0
    """
    return _spread("Std", input, axis, ddof, keepdims)


def _spread(operator: str, input: Any, axis: Any, ddof: Any, keep: Any) -> tuple[Tensor, Tensor]:
    flag(keep, operator, "keepdims")
    if is_selection(input):
        return spread_of_selected(operator, input, axis, ddof, keep, _spread)
    deviations, average, axes, left = _centered(operator, input, axis, ddof)
    shape, kind = deviations.shape, inexact(operand(input, operator)).dtype
    if operator == "Std":
        spread = arithmetic.div(apply(primitives.norm, deviations, axes=axes), _math.sqrt(left))
    else:
        spread = arithmetic.div(
            apply(primitives.reduce_sum, arithmetic.mul(deviations, deviations), axes=axes), left
        )
    if not keep:
        average = apply(reshape, average, shape=spread.shape)
    return cast(with_reduced_axes(spread, shape, axes, keep), kind), cast(average, kind)


@public("ReduceStd(axis: integers=(), unbiased=True, keep_dims=False)(x)")
def reduce_std(
    input_x: Any, axis: Any = (), unbiased: bool = True, keep_dims: bool = False
) -> tuple[Tensor, Tensor]:
    """Compute the standard deviation and the mean along axes.

    Args:
        input_x (Tensor or number): real values of any shape; integers are converted to float32.
        axis (int, tuple of int, or None): axis or axes to reduce. ``()`` and ``None`` mean all
            axes.
        unbiased (bool): whether to divide by n − 1 instead of n.
        keep_dims (bool): whether to keep the reduced axes with size 1.

    Returns:
        Two tensors without the reduced axes: the standard deviation and the mean.

    >>> from mindgrad import Tensor, ops
    >>> deviation, average = ops.reduce_std(Tensor([1.0, 3.0, 5.0]))
    >>> print(deviation, average)
    2.0 3.0
    """
    flag(unbiased, "ReduceStd", "unbiased")
    return std_mean(input_x, axis, unbiased, keep_dims)


@public("Tensor")
def median(input: Any, axis: int = -1, keepdims: bool = False) -> tuple[Tensor, Tensor]:
    """Return the median along an axis, and its index.

    If the number of elements is even, the median is the smaller of the two middle elements.

    Args:
        input (Tensor or number): real values of any shape.
        axis (int): axis to reduce.
        keepdims (bool): whether to keep the reduced axis with size 1.

    Returns:
        Two tensors: the medians, and their int64 indices along ``axis``. If an element along the axis is NaN,
        the median is NaN. The derivative flows to the selected element.

    Raises:
        TypeError: If ``keepdims`` is not a bool, ``axis`` is not an int, or ``input`` is complex or not a
            tensor.
        ValueError: If ``axis`` is out of range, or ``input`` has no elements.

    >>> from mindgrad import Tensor, ops
    >>> values, places = ops.median(Tensor([[5.0, 1.0, 3.0]]), 1)
    >>> print(values, places)
    [3.] [2]
    """
    x = operand(input, "Median")
    flag(keepdims, "Median", "keepdims")
    axis = normalize_axis(axis, x.ndim, "Median")
    if not x.ndim:
        return x, cast(not_equal(x, x), int64)
    # index of the first NaN, if there is one
    first = extremes.place_of_extreme(primitives.argmax, "Median", x, axis)
    accepted(argsort, "Median", x, axis=axis, descending=False)
    order = apply(argsort, x, axis=axis, descending=False)
    middle = (x.shape[axis] - 1) // 2
    places = apply(reshape, slice_axis(order, axis, middle, middle + 1), shape=first.shape)
    places = choose(reduction.any(rounding.isnan(x), axis), first, places)
    return taken_along(x, places, axis, keepdims)


# --- norms of vectors and matrices -------------------------------------------------------------------


def _real_sizes(operator: str, x: Any, dtype: Any) -> Tensor:
    """Return the real input of a norm: |x| for complex x."""
    x = inexact(operand(x, operator))
    if dtype is not None:
        x = cast(x, as_dtype(dtype))
    return rounding.abs(x) if x.dtype.kind == "complex" else x


def _order(operator: str, order: Any) -> float:
    if isinstance(order, bool) or not isinstance(order, (int, float)):
        raise TypeError(
            f"For '{operator}', the 'ord' must be a number, None, 'fro' or 'nuc', but got {order!r}."
        )
    return float(order)


@public(
    "LpNorm(axis: integers, p=2, keep_dims=False, epsilon: unused number=1e-12)(x)"
    "(ord=self.p) >>> ops.LpNorm(axis=1)(Tensor([[3.0, 4.0]])) => [5.]",
    "mint.linalg.vector_norm(x, ord=2, dim=None, keepdim=False, *, dtype=None)",
)
def vector_norm(
    x: Any, ord: float = 2, axis: Any = None, keepdims: bool = False, *, dtype: Any = None
) -> Tensor:
    """Compute the vector norm (Σ |x|ᵖ)^(1/p) along axes.

    The derivative at a zero vector is 0, the subgradient of least norm.

    Args:
        x (Tensor or number): values of any shape; integers are converted to float32.
        ord (int or float): order p of the norm. ``inf`` means the largest |x|, ``-inf`` the smallest |x|, and
            0 the number of nonzero elements.
        axis (int, tuple of int, or None): axis or axes of the vectors. ``None`` and ``()`` mean
            all axes.
        keepdims (bool): whether to keep the reduced axes with size 1.
        dtype (mindgrad.dtype): dtype in which to compute. ``None`` means the dtype of ``x``.

    Returns:
        Real tensor without the reduced axes.

    Raises:
        TypeError: If ``keepdims`` is not a bool, ``ord`` is not a number, ``axis`` is not an int, or ``x``
            is not a tensor.
        ValueError: If ``axis`` is out of range or repeats an axis.

    >>> from mindgrad import Tensor, ops
    >>> print(ops.vector_norm(Tensor([3.0, -4.0])), ops.vector_norm(Tensor([3.0, -4.0]), 1))
    5.0 7.0
    """
    operator = "VectorNorm"
    order = _order(operator, ord)
    x = _real_sizes(operator, x, dtype)
    if order == 2:
        return reduced(primitives.norm, operator, x, axis, keepdims, "keepdims")
    if order == 0:
        return reduced(
            primitives.reduce_sum, operator, cast(not_equal(x, 0), x.dtype), axis, keepdims, "keepdims"
        )
    sizes = rounding.abs(x)
    if order == _math.inf:
        return reduced(primitives.reduce_max, operator, sizes, axis, keepdims, "keepdims")
    if order == -_math.inf:
        return reduced(primitives.reduce_min, operator, sizes, axis, keepdims, "keepdims")
    if order == 1:
        return reduced(primitives.reduce_sum, operator, sizes, axis, keepdims, "keepdims")
    # compute the norm as unit · ‖x / unit‖, so that powers neither overflow nor underflow. The result does
    # not depend on ``unit``, so ``unit`` needs no gradient
    unit: Any = 1.0
    if x.size:
        extreme = primitives.reduce_max if order > 0 else primitives.reduce_min
        unit = stop_gradient(reduced(extreme, operator, sizes, axis, True, "keepdims"))
        unit = choose(logical_and(greater(unit, 0), less(unit, _math.inf)), unit, 1.0)
        sizes = arithmetic.div(sizes, unit)
    total = reduced(primitives.reduce_sum, operator, arithmetic.pow(sizes, order), axis, keepdims, "keepdims")
    root = arithmetic.pow(total, 1 / order)
    return arithmetic.mul(root, apply(reshape, unit, shape=root.shape)) if x.size else root


@public("mint.linalg.matrix_norm(A, ord='fro', dim=(-2, -1), keepdim=False, *, dtype=None)")
def matrix_norm(
    A: Any, ord: Any = "fro", axis: Any = (-2, -1), keepdims: bool = False, *, dtype: Any = None
) -> Tensor:
    """Compute a matrix norm over two axes.

    Args:
        A (Tensor): tensor with at least two axes; integers are converted to float32.
        ord (int, float, or str): ``"fro"`` is √Σ |a|², ``"nuc"`` is the sum of the singular values. 2 (−2) is
            the largest (smallest) singular value. 1 (−1) is the largest (smallest) column sum of |a|.
            ``inf`` (``-inf``) is the largest (smallest) row sum.
        axis (tuple of int): axis of the rows and axis of the columns of the matrices.
        keepdims (bool): whether to keep the reduced axes with size 1.
        dtype (mindgrad.dtype): dtype in which to compute. ``None`` means the dtype of ``A``.

    Returns:
        Real tensor of the norms, without the two axes.

    Raises:
        TypeError: If ``keepdims`` is not a bool, ``ord`` has the wrong type, or ``axis`` is not a pair
            of ints.
        ValueError: If ``axis`` is out of range or repeats an axis, or ``ord`` is not one of the values above.

    >>> from mindgrad import Tensor, ops
    >>> print(ops.matrix_norm(Tensor([[3.0, 0.0], [0.0, 4.0]])))
    5.0
    """
    operator = "MatrixNorm"
    flag(keepdims, operator, "keepdims")
    x = inexact(operand(A, operator))
    if dtype is not None:
        x = cast(x, as_dtype(dtype))
    if not isinstance(axis, (tuple, list)) or len(axis) != 2:
        raise TypeError(f"For '{operator}', the 'axis' must be a pair of ints, but got {axis!r}.")
    row, column = (normalize_axis(each, x.ndim, operator) for each in axis)
    if x.ndim < 2 or row == column:
        raise ValueError(
            f"For '{operator}', the 'axis' must name two axes, but got {axis} for the shape {x.shape}."
        )
    if ord == "fro":
        return reduced(primitives.norm, operator, _real_sizes(operator, x, None), (row, column), keepdims)
    if ord == "nuc" or _order(operator, ord) in (2, -2):
        singular = _singular_values(x, row, column)
        if ord == "nuc":
            norm = reduction.sum(singular, -1)
        else:
            norm = (extremes.amax if ord > 0 else extremes.amin)(singular, -1)
        return with_reduced_axes(norm, x.shape, (row, column), keepdims)
    if abs(ord) not in (1, _math.inf):
        raise ValueError(
            f"For '{operator}', the 'ord' must be 'fro', 'nuc', 1, -1, 2, -2, inf or -inf, but got {ord}."
        )
    summed, searched = (row, column) if abs(ord) == 1 else (column, row)
    sums = reduction.sum(rounding.abs(x), summed, True)
    norm = (extremes.amax if ord > 0 else extremes.amin)(sums, (summed, searched))
    return with_reduced_axes(norm, x.shape, (row, column), keepdims)


def _singular_values(x: Tensor, row: int, column: int) -> Tensor:
    others = tuple(i for i in range(x.ndim) if i not in (row, column))
    x = apply(transpose, x, permutation=(*others, row, column))
    return applied(svdvals, "MatrixNorm", x)


@public(
    "Tensor mint.linalg",
    "EuclideanNorm(keep_dims=False)(x, axes=None)(ord=None, dim=axes)",
    "numpy.norm(x: floating, ord=None, axis=None, keepdims=False)",
)
def norm(A: Any, ord: Any = None, dim: Any = None, keepdim: bool = False, *, dtype: Any = None) -> Tensor:
    """Compute a vector or matrix norm.

    The derivative at zero is 0, the subgradient of least norm.

    Args:
        ord (int, float, str, or None): order of the norm, as for :func:`vector_norm` and :func:`matrix_norm`.
            ``None`` means √Σ |a|².
        dim (int, tuple of int, or None): one axis for a vector norm, or a pair of axes for a matrix norm. If
            ``dim`` and ``ord`` are ``None``, all elements form one vector. If only ``dim`` is ``None``, ``A``
            must be a vector or a matrix.

    Raises:
        TypeError: If ``keepdim`` is not a bool, ``dim`` is not an int or pair, or ``A`` is not a tensor.
        ValueError: If ``dim`` is out of range, or ``ord`` is not a valid order of a vector or matrix norm.

    {as vector_norm}

    >>> from mindgrad import Tensor, ops
    >>> print(ops.norm(Tensor([[3.0, 0.0], [0.0, 4.0]])), ops.norm(Tensor([[3.0, 4.0]]), dim=1))
    5.0 [5.]
    """
    operator = "Norm"
    flag(keepdim, operator, "keepdim")
    x = operand(A, operator)
    if ord is None:
        return vector_norm(x, 2, dim, keepdim, dtype=dtype)
    if dim is None and x.ndim > 2:
        raise ValueError(
            f"For '{operator}', 'dim' is required together with 'ord', because the input has more than two "
            f"axes: its shape is {x.shape}."
        )
    pair = tuple(range(x.ndim)) if dim is None else tuple(dim) if isinstance(dim, (tuple, list)) else (dim,)
    if len(pair) == 2:
        return matrix_norm(x, ord, pair, keepdim, dtype=dtype)
    if isinstance(ord, str):
        raise ValueError(
            f"For '{operator}', the 'ord' {ord!r} is a matrix norm, which needs two axes, but 'dim' is "
            f"{dim} for an input of shape {x.shape}."
        )
    return vector_norm(x, ord, dim, keepdim, dtype=dtype)


# --- clipping by norm --------------------------------------------------------------------------------


def clip_by_norm(x: Any, max_norm: float, norm_type: float = 2.0, error_if_nonfinite: bool = False) -> Any:
    """Scale tensors so that their total norm is at most ``max_norm``.

    Args:
        x (Tensor, or tuple or list of Tensor): tensors to scale; integers are converted to float32.
        max_norm (int or float): upper bound of the total norm.
        norm_type (int or float): order p of the total norm.
        error_if_nonfinite (bool): whether to raise an error if the total norm is infinite or NaN. It has no
            effect in compiled functions, because the norm is unknown at compile time.

    Returns:
        The scaled tensors, as a tensor, tuple, or list like ``x``.

    Raises:
        TypeError: If ``x`` is not a tensor, tuple, or list, or ``max_norm`` is not a number.
        RuntimeError: If the total norm is not finite and ``error_if_nonfinite`` is true.

    >>> from mindgrad import Tensor, ops
    >>> print(ops.clip_by_norm(Tensor([3.0, 4.0]), 1.0, 2))
    [0.6 0.8]
    """
    operator = "ClipByNorm"
    bound, order = _order(operator, max_norm), _order(operator, norm_type)
    total = _total_norm(operator, [x] if isinstance(x, Tensor) else x, order)
    known = flag(error_if_nonfinite, operator, "error_if_nonfinite") and total._array is not None
    if known and not _math.isfinite(total.item()):
        raise RuntimeError(
            f"For '{operator}', the norm must be finite, because error_if_nonfinite is True, but it is "
            f"{total}."
        )
    return _scaled(x, total, bound)


def clip_by_global_norm(x: Any, clip_norm: float = 1.0, use_norm: Any = None) -> Any:
    """Scale tensors so that their total 2-norm is at most ``clip_norm``.

    Args:
        x (tuple or list of Tensor): tensors to scale, such as the gradients of a model.
        clip_norm (int or float): upper bound of the total norm.
        use_norm (None): must be ``None``, as in MindSpore.

    Returns:
        Tuple of the scaled tensors.

    Raises:
        TypeError: If ``x`` is not a tuple or list of tensors, or ``clip_norm`` is not a number.
        ValueError: If ``use_norm`` is not ``None``.

    >>> from mindgrad import Tensor, ops
    >>> print(ops.clip_by_global_norm((Tensor([3.0, 4.0]),), 1.0)[0])
    [0.6 0.8]
    """
    if use_norm is not None:
        raise ValueError(
            "For 'ClipByGlobalNorm', the 'use_norm' must be None, because the norm is always the global norm."
        )
    bound = _order("ClipByGlobalNorm", clip_norm)
    return tuple(_scaled(x, _total_norm("ClipByGlobalNorm", x, 2.0), bound))


def _total_norm(operator: str, tensors: Any, order: float) -> Tensor:
    if not isinstance(tensors, (tuple, list)) or not tensors:
        raise TypeError(
            f"For '{operator}', the input must be a tuple or list of tensors, but got "
            f"{type(tensors).__name__}."
        )
    norms = [vector_norm(each, order) for each in tensors]
    return norms[0] if len(norms) == 1 else vector_norm(stack(norms), order)


def _scaled(x: Any, total: Tensor, bound: float) -> Any:
    # bound / max(total, bound) never divides by 0, and is exactly 1 if the norm is at most the bound
    factor = arithmetic.div(bound, clipping.maximum(total, bound))
    if isinstance(x, Tensor):
        return cast(arithmetic.mul(x, factor), inexact(x).dtype)
    return type(x)(_scaled(each, total, bound) for each in x)
