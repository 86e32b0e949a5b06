"""Vector functions: cross product, distance, difference, integral, covariance."""

from __future__ import annotations

from typing import Any

import numpy as np

from mindgrad.ir.tensor import Tensor
from mindgrad.ops import (
    arithmetic,
    clipping,
    comparison,
    complexes,
    contraction,
    creation,
    extremes,
    indexing,
    joining,
    layout,
    math,
    movement,
    reduction,
    rounding,
    statistics,
)
from mindgrad.ops.arguments import axis_in_range, whole_number
from mindgrad.ops.flow import stop_gradient
from mindgrad.ops.operands import choose, inexact, operand, promoted
from mindgrad.ops.registry import public

__all__ = [
    "cdist", "corrcoef", "cov", "cross", "cumulative_trapezoid", "diff", "dist", "pdist", "renorm",
    "trapezoid", "trapz",
]  # fmt: skip

# --- vector products and distances ------------------------------------------------------------------------


@public("Tensor.cross mint", "Cross(dim=-65530)(x, y)(dim=None if self.dim == -65530 else self.dim)")
def cross(input: Any, other: Any, dim: int | None = None) -> Tensor:
    """Compute the cross product of vectors of three elements.

    The result is x₁y₂ − x₂y₁, x₂y₀ − x₀y₂, x₀y₁ − x₁y₀.

    Args:
        input, other (Tensor): tensors whose shapes broadcast.
        dim (int or None): axis of the vectors, of size 3. ``None`` means the first axis of size 3.

    Returns:
        Tensor of the broadcast shape.

    Raises:
        ValueError: If axis ``dim`` does not have size 3, or ``dim`` is ``None`` and no axis has size 3.

    >>> from mindgrad import Tensor, ops
    >>> print(ops.cross(Tensor([1.0, 0.0, 0.0]), Tensor([0.0, 1.0, 0.0])))
    [0. 0. 1.]
    """
    x, y = promoted("Cross", input, other)
    if dim is None:
        dim = next((axis for axis, size in enumerate(x.shape) if size == 3), None)
        if dim is None:
            raise ValueError(f"For 'Cross', no axis has three elements: the shape is {x.shape}.")
    axis = axis_in_range(dim, x.ndim, "Cross", "dim")
    if x.shape[axis] != 3:
        raise ValueError(f"For 'Cross', the axis {dim} must have three elements, but the shape is {x.shape}.")
    first = arithmetic.mul(movement.roll(x, -1, axis), movement.roll(y, -2, axis))
    return arithmetic.sub(first, arithmetic.mul(movement.roll(x, -2, axis), movement.roll(y, -1, axis)))


@public("Tensor")
def dist(input: Any, other: Any, p: float = 2) -> Tensor:
    """Compute the p-norm of the difference of two tensors, over all elements.

    The derivative is 0 if the tensors are equal.

    Args:
        input, other (Tensor): tensors whose shapes broadcast.
        p (int or float): order p of the norm.

    Returns:
        0-D tensor of the distance.

    >>> from mindgrad import Tensor, ops
    >>> print(ops.dist(Tensor([1.0, 2.0]), Tensor([4.0, 6.0])))
    5.0
    """
    x, y = promoted("Dist", input, other)
    return statistics.vector_norm(layout.ravel(arithmetic.sub(x, y)), p)


@public(
    "Cdist(p=2.0)(x, y)",
    "mint.cdist(x1, x2, p=2.0, compute_mode: unused='use_mm_for_euclid_dist_if_necessary')(p=float(p))",
)
def cdist(x1: Any, x2: Any, p: float = 2.0) -> Tensor:
    """Compute the p-norm distances between all vectors of two sets.

    The distances are ‖x1[…, i, :] − x2[…, j, :]‖. The derivative is 0 if two vectors are equal.

    Args:
        x1 (Tensor): tensor of shape (…, n, d).
        x2 (Tensor): tensor of shape (…, m, d).
        p (float): nonnegative order p of the norm.

    Returns:
        Tensor of the distances, of shape (…, n, m).

    Raises:
        ValueError: If the vectors have different lengths, an input has fewer than two axes, or ``p < 0``.

    >>> from mindgrad import Tensor, ops
    >>> print(ops.cdist(Tensor([[0.0, 0.0]]), Tensor([[3.0, 4.0], [0.0, 1.0]])))
    [[5. 1.]]
    """
    x, y = promoted("Cdist", x1, x2, broadcast=False)
    if x.ndim < 2 or y.ndim < 2 or x.shape[-1] != y.shape[-1]:
        raise ValueError(
            f"For 'Cdist', the inputs must have the shapes (…, n, d) and (…, m, d), but got {x.shape} and "
            f"{y.shape}."
        )
    if p < 0:
        raise ValueError(f"For 'Cdist', the order 'p' must be at least 0, but got {p}.")
    apart = arithmetic.sub(layout.expand_dims(x, -2), layout.expand_dims(y, -3))
    return statistics.vector_norm(apart, p, -1)


@public("Pdist(p=2.0)(x)")
def pdist(input: Any, p: float = 2.0) -> Tensor:
    """Compute the p-norm distances between the vectors of a set, each pair once.

    Args:
        input (Tensor): tensor of shape (…, n, d).
        p (float): nonnegative order p of the norm.

    Returns:
        Tensor of shape (…, n (n − 1) / 2): the distances between vectors i and j with i < j.

    Raises:
        ValueError: If ``input`` has fewer than two axes.

    >>> from mindgrad import Tensor, ops
    >>> print(ops.pdist(Tensor([[0.0, 0.0], [3.0, 4.0], [0.0, 1.0]])))
    [5.        1.        4.2426405]
    """
    x: Any = operand(input, "Pdist")
    if x.ndim < 2:
        raise ValueError(f"For 'Pdist', the input must have the shape (…, n, d), but its shape is {x.shape}.")
    first, second = np.triu_indices(x.shape[-2], 1)
    apart = arithmetic.sub(
        indexing.gather(x, Tensor(first), x.ndim - 2), indexing.gather(x, Tensor(second), x.ndim - 2)
    )
    return statistics.vector_norm(apart, p, -1)


@public("Tensor", "Renorm(p: number, dim: integer, maxnorm: number)(x)")
def renorm(input: Any, p: int, axis: int, maxnorm: float) -> Tensor:
    """Scale slices along an axis so that their p-norm is at most ``maxnorm``.

    Args:
        input (Tensor): tensor of at least two axes.
        p (int or float): order p of the norm.
        axis (int): axis along which the slices are stacked.
        maxnorm (int or float): upper bound of the norm of a slice.

    Returns:
        Tensor of the shape of ``input``.

    >>> from mindgrad import Tensor, ops
    >>> print(ops.renorm(Tensor([[3.0, 4.0], [0.3, 0.4]]), 2, 0, 1.0))
    [[0.6 0.8]
     [0.3 0.4]]
    """
    x = operand(input, "Renorm")
    place = axis_in_range(axis, x.ndim, "Renorm")
    others = tuple(k for k in range(x.ndim) if k != place)
    size = statistics.vector_norm(x, p, others, True)
    # the divisor is at least maxnorm > 0
    return arithmetic.mul(x, arithmetic.true_divide(maxnorm, clipping.maximum(size, maxnorm)))


# --- differences and integrals along an axis --------------------------------------------------------------


def _neighbors(x: Tensor, axis: int) -> tuple[Tensor, Tensor]:
    """The elements along ``axis`` without the first, and without the last."""
    count = max(x.shape[axis] - 1, 0)
    return movement.narrow(x, axis, x.shape[axis] - count, count), movement.narrow(x, axis, 0, count)


@public("Tensor.diff", "mint.diff(input, n=1, dim=-1, prepend=None, append=None)")
def diff(x: Any, n: int = 1, axis: int = -1, prepend: Any = None, append: Any = None) -> Tensor:
    """Compute the differences x[i + 1] − x[i] along an axis, ``n`` times.

    Args:
        x (Tensor): tensor of at least one axis.
        n (int): number of times that differences are computed.
        axis (int): axis along which differences are computed.
        prepend, append (Tensor, number, or None): values that are joined before and after ``x`` along
            ``axis`` before the differences are computed.

    Returns:
        Tensor with ``n`` fewer elements along ``axis``.

    Raises:
        ValueError: If ``n`` is negative, or ``axis`` is out of range.

    >>> from mindgrad import Tensor, ops
    >>> print(ops.diff(Tensor([1.0, 4.0, 9.0])), ops.diff(Tensor([1.0, 4.0, 9.0]), n=2))
    [3. 5.] [2.]
    """
    tensor = operand(x, "Diff")
    dim = axis_in_range(axis, tensor.ndim, "Diff")
    count = whole_number(n, "Diff", "n", least=0)
    shape = tuple(1 if k == dim else size for k, size in enumerate(tensor.shape))
    pieces = [
        movement.broadcast_to(each, shape) if not each.ndim else each
        for each in [operand(each, "Diff", tensor) for each in (prepend, append) if each is not None]
    ]
    if prepend is not None:
        tensor = joining.concat((pieces[0], tensor), dim)
    if append is not None:
        tensor = joining.concat((tensor, pieces[-1]), dim)
    for _ in range(count):
        tensor = arithmetic.sub(*_neighbors(tensor, dim))
    return tensor


def _areas(operator: str, y: Any, x: Any, dx: Any, dim: Any) -> tuple[Tensor, int]:
    """The areas of the trapezoids between neighboring elements, and their axis."""
    values = inexact(operand(y, operator))
    axis = axis_in_range(dim, values.ndim, operator, "dim")
    after, before = _neighbors(values, axis)
    height = arithmetic.mul(0.5, arithmetic.add(after, before))
    if x is None:
        return arithmetic.mul(height, dx), axis
    places = operand(x, operator)
    if places.ndim == 1:
        steps = arithmetic.sub(*_neighbors(places, 0))
        steps = layout.reshape(steps, tuple(-1 if k == axis else 1 for k in range(values.ndim)))
    else:
        steps = arithmetic.sub(*_neighbors(places, axis))
    return arithmetic.mul(height, steps), axis


@public("numpy.trapz(y, x=None, dx=1.0, axis=-1)(x=None if x is None else tensor(x, 'trapz'))")
def trapz(y: Any, x: Any = None, *, dx: float = 1.0, dim: int = -1) -> Tensor:
    """Integrate along an axis by the trapezoidal rule.

    The integral is Σ (x[i + 1] − x[i]) (y[i + 1] + y[i]) / 2.

    Args:
        y (Tensor): values of the function at the sample points.
        x (Tensor or None): sample points along ``dim``: 1-D, or of the shape of ``y``. ``None``
            means spacing ``dx``.
        dx (int or float): spacing of the sample points if ``x`` is not given.
        dim (int): axis along which to integrate.

    Returns:
        Tensor of the integrals, without axis ``dim``.

    >>> from mindgrad import Tensor, ops
    >>> print(ops.trapz(Tensor([0.0, 1.0, 4.0])), ops.trapz(Tensor([0.0, 1.0]), Tensor([1.0, 3.0])))
    3.0 1.0
    """
    areas, axis = _areas("Trapz", y, x, dx, dim)
    return reduction.sum(areas, axis)


trapezoid = trapz


def cumulative_trapezoid(y: Any, x: Any = None, *, dx: float = 1.0, dim: int = -1) -> Tensor:
    """Integrate cumulatively along an axis by the trapezoidal rule.

    Returns:
        Tensor with one element fewer along ``dim``.

    {as trapz}

    >>> from mindgrad import Tensor, ops
    >>> print(ops.cumulative_trapezoid(Tensor([0.0, 1.0, 4.0])))
    [0.5 3. ]
    """
    areas, axis = _areas("CumulativeTrapezoid", y, x, dx, dim)
    return areas.cumsum(axis)  # type: ignore[attr-defined]


# --- covariance and correlation ---------------------------------------------------------------------------


@public("Tensor")
def cov(input: Any, *, correction: int = 1, fweights: Any = None, aweights: Any = None) -> Tensor:
    """Compute the covariance matrix of variables (rows) over observations (columns).

    Element (i, j) is Σ_k w[k] (x[i, k] − mean_i) conj(x[j, k] − mean_j), divided by the sum of the weights w
    minus a correction.

    Args:
        input (Tensor): observations, of shape (variables, observations), or (observations,) for one variable.
        correction (int): number to subtract from the sum of the weights: 1 for the unbiased estimate, 0 for
            the simple average.
        fweights (Tensor or None): 1-D integer tensor with the number of repetitions of each observation.
            ``None`` means 1.
        aweights (Tensor or None): 1-D tensor with the weight of each observation. ``None`` means 1.

    Returns:
        Tensor of shape (variables, variables), or 0-D if ``input`` is 1-D.

    Raises:
        ValueError: If ``input`` has more than two axes.

    >>> from mindgrad import Tensor, ops
    >>> print(ops.cov(Tensor([[0.0, 1.0, 2.0], [2.0, 1.0, 0.0]])))
    [[ 1. -1.]
     [-1.  1.]]
    """
    x = inexact(operand(input, "Cov"))
    if x.ndim > 2:
        raise ValueError(f"For 'Cov', the input must have at most two axes, but its shape is {x.shape}.")
    rows = layout.reshape(x, (1, -1)) if x.ndim < 2 else x
    weights = None
    for each in (fweights, aweights):
        if each is not None:
            weight = operand(each, "Cov").astype(rows.dtype)  # type: ignore[attr-defined]
            weights = weight if weights is None else arithmetic.mul(weights, weight)
    if weights is None:
        weights = creation.ones((rows.shape[1],), rows.dtype)
    total = reduction.sum(weights)
    mean = arithmetic.true_divide(reduction.sum(arithmetic.mul(rows, weights), 1, True), total)
    apart = arithmetic.sub(rows, mean)
    if aweights is None or not correction:
        divisor = arithmetic.sub(total, correction)
    else:
        weight = operand(aweights, "Cov").astype(rows.dtype)  # type: ignore[attr-defined]
        share = arithmetic.true_divide(reduction.sum(arithmetic.mul(weights, weight)), total)
        divisor = arithmetic.sub(total, arithmetic.mul(correction, share))
    other = layout.swapaxes(complexes.conj(apart) if x.dtype.kind == "complex" else apart, 0, 1)
    product = contraction.matmul(arithmetic.mul(apart, weights), other)
    found = arithmetic.true_divide(product, divisor)
    return layout.reshape(found, ()) if x.ndim < 2 else found


def corrcoef(input: Any) -> Tensor:
    """Compute the correlation coefficients between variables.

    Element (i, j) is the covariance of variables i and j, divided by the product of their standard
    deviations.

    Args:
        input (Tensor): observations, of shape (variables, observations), or (observations,) for one variable.

    Returns:
        Tensor of shape (variables, variables).

    >>> from mindgrad import Tensor, ops
    >>> print(ops.corrcoef(Tensor([[0.0, 1.0, 2.0], [4.0, 2.0, 0.0]])))
    [[ 1. -1.]
     [-1.  1.]]
    """
    covariance = cov(input)
    if not covariance.ndim:
        return arithmetic.true_divide(covariance, covariance)
    spread = math.sqrt(complexes.real(covariance.diagonal()))  # type: ignore[attr-defined]
    return arithmetic.true_divide(arithmetic.true_divide(covariance, layout.expand_dims(spread, 1)), spread)


def multiplied_in_range(x: Tensor, axis: int, least: float) -> tuple[Tensor, Tensor]:
    """Divide vectors by a power of two so that their products stay in range.

    The second result is the power, without ``axis``. It is 1 unless products would overflow or underflow.
    """
    information = np.finfo(np.float32 if x.dtype.is_half else x.dtype.numpy)
    low, high = [2.0 ** round(float(np.log2(bound)) * 0.3) for bound in (information.tiny, information.max)]
    top = stop_gradient(extremes.amax(rounding.abs(x), axis, keepdims=True))
    unit = choose(comparison.greater(top, high), high * high, creation.ones_like(top))
    if not least:  # a positive ``least`` is larger than any product that underflows
        is_low = comparison.logical_and(comparison.greater(top, 0), comparison.less(top, low))
        unit = choose(is_low, low * low, unit)
    return arithmetic.div(x, unit), layout.squeeze(unit, axis)
