"""Histograms and polynomials as in NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np

from mindgrad.core.arrays.index_checks import known
from mindgrad.core.ir.dtype import float32
from mindgrad.core.ir.tensor import Tensor
from mindgrad.numpy.analyzing import convolve
from mindgrad.numpy.coercion import floating, tensor, tensors
from mindgrad.ops import (
    arithmetic,
    comparison,
    creation,
    extremes,
    indexing,
    joining,
    layout,
    movement,
    ordering,
    reduction,
)
from mindgrad.ops.arguments import whole_number
from mindgrad.ops.operands import cast

__all__ = [
    "bincount", "histogram", "histogram2d", "histogram_bin_edges", "histogramdd", "polyadd", "polyder",
    "polyint", "polymul", "polysub", "polyval",
]  # fmt: skip

# --- histograms; only derivatives with respect to ``weights`` are nonzero ---


def bincount(x: Any, weights: Any = None, minlength: int = 0, length: int | None = None) -> Tensor:
    """Count the occurrences of 0, 1, …, or sum their weights.

    Args:
        x (Tensor or array_like): 1-D tensor of nonnegative integers.
        weights (Tensor, array_like, or None): weight of each element of ``x``, which is added instead of 1.
            The result is differentiable with respect to the weights.
        minlength (int): minimum size of the result.
        length (int or None): size of the result; required if the values of ``x`` are unknown at
            compile time.

    Returns:
        1-D tensor whose element i is the count, or the sum of weights, of i.

    >>> import mindgrad.numpy as np
    >>> print(np.bincount([0, 2, 2]))
    [1 0 2]
    """
    places = tensor(x, "bincount")
    if length is None:
        values = known(places)
        if values is None:
            raise RuntimeError(
                "For 'bincount', the number of counts depends on values that are not known at compile time. "
                "Pass 'length'."
            )
        length = max(int(values.max(initial=-1)) + 1, minlength)
    one = creation.ones(places.shape, "int32") if weights is None else tensor(weights, "bincount")
    own = comparison.equal(creation.arange(length), layout.expand_dims(places, -1))
    return reduction.reduce_sum(indexing.where(own, layout.expand_dims(one, -1), 0), 0)


def histogram_bin_edges(a: Any, bins: Any = 10, range: Any = None, weights: Any = None) -> Tensor:
    """Return the edges of bins of equal width.

    Args:
        a (Tensor or array_like): elements to count, of any shape.
        bins (int, Tensor, or array_like): number of bins, or the edges of the bins.
        range (tuple of float or None): lower end of the first bin and upper end of the last bin. ``None``
            means the smallest and the largest element.
        weights (object): accepted for compatibility and ignored.

    Returns:
        1-D tensor of the edges, one more than the number of bins.

    >>> import mindgrad.numpy as np
    >>> print(np.histogram_bin_edges([1.0, 3.0], 2))
    [1. 2. 3.]
    """
    if not isinstance(bins, (int, np.integer)):
        return floating(bins, "histogram_bin_edges")
    count = whole_number(bins, "histogram_bin_edges", "bins", least=1)
    x = floating(a, "histogram_bin_edges")
    if range is None:
        low, high = (extremes.amin(x), extremes.amax(x)) if x.size else (tensor(0.0, ""), tensor(1.0, ""))
    else:
        low, high = (floating(end, "histogram_bin_edges") for end in range)
    flat = comparison.equal(low, high)
    low, high = indexing.where(flat, low - 0.5, low), indexing.where(flat, high + 0.5, high)  # type: ignore[operator]
    share = Tensor(np.linspace(0, 1, count + 1), low.dtype)
    return arithmetic.add(low, arithmetic.mul(share, arithmetic.sub(high, low)))


def _bin_of(x: Tensor, edges: Tensor) -> Tensor:
    """Return the index of the bin of each element, −1 for elements outside all bins.

    The last edge belongs to the last bin.
    """
    bins = arithmetic.sub(ordering.searchsorted(edges, x, out_int32=True, right=True), 1)
    count = edges.size - 1
    bins = indexing.where(comparison.equal(x, edges[-1]), count - 1, bins)  # type: ignore[index]
    return indexing.where(comparison.greater_equal(bins, count), -1, bins)


def histogram(a: Any, bins: Any = 10, range: Any = None, weights: Any = None, density: bool = False) -> Any:
    """Count the elements in each bin.

    Args:
        a (Tensor or array_like): elements to count, of any shape.
        bins (int, Tensor, or array_like): number of bins, or the edges of the bins.
        range (tuple of float or None): lower end of the first bin and upper end of the last bin. ``None``
            means the smallest and the largest element.
        weights (Tensor, array_like, or None): weight of each element, which is added instead of 1. The counts
            are differentiable with respect to the weights.
        density (bool): whether to return a density: each count divided by the sum of the counts and the width
            of its bin.

    Returns:
        ``(counts, edges)``: the count of each bin, and the edges of the bins.

    >>> import mindgrad.numpy as np
    >>> counts, edges = np.histogram([1.0, 2.0, 2.5], bins=[0.0, 2.0, 3.0])
    >>> print(counts, edges)
    [1. 2.] [0. 2. 3.]
    """
    counts, edges = histogramdd(
        layout.reshape(tensor(a, "histogram"), (-1, 1)),
        [bins],
        None if range is None else [range],
        weights,
        density,
    )
    return counts, edges[0]


def histogram2d(
    x: Any, y: Any, bins: Any = 10, range: Any = None, weights: Any = None, density: bool = False
) -> Any:
    """Compute the two-dimensional histogram of points.

    Args:
        x, y (Tensor or array_like): coordinates of the points.
        bins (int, tuple of int, or list of array_like): number of bins for both axes, or one number or the
            edges of the bins for each axis.
        range (list of pair or None): lower and upper end of the bins along each axis. ``None`` means the
            smallest and the largest coordinate.
        weights (Tensor, array_like, or None): weight of each point, which is added instead of 1. The counts
            are differentiable with respect to the weights.
        density (bool): whether to return a density: each count divided by the sum of the counts and the area
            of its bin.

    Returns:
        ``(counts, edges of x, edges of y)``.

    >>> import mindgrad.numpy as np
    >>> print(np.histogram2d([0.0, 1.0], [0.0, 1.0], bins=2)[0])
    [[1. 0.]
     [0. 1.]]
    """
    points = joining.stack([floating(each, "histogram2d") for each in (x, y)], 1)
    several = isinstance(bins, (list, tuple)) and len(bins) == 2
    counts, edges = histogramdd(points, bins if several else [bins, bins], range, weights, density)
    return counts, *edges


def histogramdd(
    sample: Any, bins: Any = 10, range: Any = None, weights: Any = None, density: bool = False
) -> tuple[Tensor, list[Tensor]]:
    """Compute the histogram of points in d dimensions.

    Args:
        sample (Tensor or array_like): points of shape (n, d), or d vectors of n coordinates.
        bins (int, tuple of int, or list of array_like): number of bins for all axes, or one number or the
            edges of the bins for each axis.
        range (list of pair or None): lower and upper end of the bins along each axis. ``None`` means the
            smallest and the largest coordinate.
        weights (Tensor, array_like, or None): weight of each point, which is added instead of 1. The counts
            are differentiable with respect to the weights.
        density (bool): whether to return a density: each count divided by the sum of the counts and the
            volume of its bin.

    Returns:
        ``(counts, [edges along each axis])``.

    >>> import mindgrad.numpy as np
    >>> print(np.histogramdd(np.array([[0.0, 0.0], [1.0, 1.0]]), bins=2)[0])
    [[1. 0.]
     [0. 1.]]
    """
    if isinstance(sample, (list, tuple)):
        sample = joining.stack([floating(each, "histogramdd") for each in sample], 1)
    points = floating(sample, "histogramdd")
    axes = points.shape[1]
    is_number = isinstance(bins, (int, np.integer))
    sizes = [bins] * axes if is_number else list(bins)
    ends = [None] * axes if range is None else list(range)
    columns = [points[:, k] for k in np.arange(axes)]  # type: ignore[index]
    edges = [histogram_bin_edges(x, b, r) for x, b, r in zip(columns, sizes, ends, strict=True)]
    if weights is None:
        weights = creation.ones((points.shape[0],), float32)
    # build hits[point, bin of axis 0, bin of axis 1, …] axis by axis: it contains the weight of each point in
    # the bin of this point, and 0 in all other bins
    hits = layout.ravel(floating(weights, "histogramdd"))
    for k, (x, edge) in enumerate(zip(columns, edges, strict=True)):
        own = comparison.equal(layout.expand_dims(_bin_of(x, edge), -1), creation.arange(edge.size - 1))
        own = layout.reshape(own, (own.shape[0], *(1 for _ in np.arange(k)), own.shape[1]))
        hits = indexing.where(own, layout.expand_dims(hits, -1), 0)
    counts = reduction.sum(hits, 0)
    if density:
        counts = arithmetic.true_divide(counts, reduction.sum(counts))
        for k, edge in enumerate(edges):
            width = arithmetic.sub(edge[1:], edge[:-1])  # type: ignore[index]
            counts = arithmetic.true_divide(
                counts, layout.reshape(width, tuple(-1 if j == k else 1 for j in np.arange(axes)))
            )
    return counts, edges


# --- polynomials; coefficients begin with the highest power ---


def _same_length(a1: Any, a2: Any, name: str) -> tuple[Tensor, Tensor]:
    x, y = (layout.atleast_1d(vector) for vector in tensors([a1, a2], name))
    count = max(x.size, y.size)
    x, y = (
        joining.concat((creation.zeros((count - vector.size,), vector.dtype), vector), 0)
        if vector.size < count
        else vector
        for vector in (x, y)
    )
    return x, y


def polyadd(a1: Any, a2: Any) -> Tensor:
    """Add two polynomials.

    Args:
        a1, a2 (Tensor or array_like): coefficients of the polynomials, the highest power first.

    Returns:
        1-D tensor of coefficients, the highest power first.

    >>> import mindgrad.numpy as np
    >>> print(np.polyadd([1, 2], [3, 4, 5]))
    [3 5 7]
    """
    return arithmetic.add(*_same_length(a1, a2, "polyadd"))


def polysub(a1: Any, a2: Any) -> Tensor:
    """Subtract two polynomials.

    Args:
        a1, a2 (Tensor or array_like): coefficients of the polynomials, the highest power first.

    Returns:
        1-D tensor of coefficients, the highest power first.

    >>> import mindgrad.numpy as np
    >>> print(np.polysub([1, 2], [3, 4, 5]))
    [-3 -3 -3]
    """
    return arithmetic.sub(*_same_length(a1, a2, "polysub"))


def polymul(a1: Any, a2: Any) -> Tensor:
    """Multiply two polynomials.

    Args:
        a1, a2 (Tensor or array_like): coefficients of the polynomials, the highest power first.

    Returns:
        1-D tensor of coefficients, the highest power first.

    >>> import mindgrad.numpy as np
    >>> print(np.polymul([1, 1], [1, -1]))
    [ 1  0 -1]
    """
    return convolve(*[layout.atleast_1d(each) for each in tensors([a1, a2], "polymul")])


def polyval(p: Any, x: Any) -> Tensor:
    """Evaluate a polynomial by Horner's rule.

    Args:
        p (Tensor or array_like): coefficients of the polynomial, the highest power first.
        x (Tensor or array_like): values at which to evaluate the polynomial.

    Returns:
        Tensor with the shape of ``x``.

    >>> import mindgrad.numpy as np
    >>> print(np.polyval([1.0, 0.0, -1.0], [2.0, 3.0]))
    [3. 8.]
    """
    coefficients, at = layout.atleast_1d(tensor(p, "polyval")), tensor(x, "polyval")
    value: Any = arithmetic.mul(at, 0)
    for k in np.arange(coefficients.size).tolist():
        value = arithmetic.add(arithmetic.mul(value, at), coefficients[k])  # type: ignore[index]
    return value


def polyder(p: Any, m: int = 1) -> Tensor:
    """Differentiate a polynomial ``m`` times.

    Args:
        p (Tensor or array_like): coefficients of the polynomial, the highest power first.
        m (int): order of the derivative.

    Returns:
        1-D tensor of coefficients, the highest power first.

    >>> import mindgrad.numpy as np
    >>> print(np.polyder([1, 2, 3]))
    [2 2]
    """
    derivative = layout.atleast_1d(tensor(p, "polyder"))
    for _ in np.arange(whole_number(m, "polyder", "m", least=0)):
        count = derivative.size
        if count < 2:
            return creation.zeros((0,), derivative.dtype)
        powers = Tensor(np.arange(count - 1, 0, -1), derivative.dtype)
        derivative = arithmetic.mul(movement.narrow(derivative, 0, 0, count - 1), powers)
    return derivative


def polyint(p: Any, m: int = 1, k: Any = None) -> Tensor:
    """Integrate a polynomial ``m`` times.

    Args:
        p (Tensor or array_like): coefficients of the polynomial, the highest power first.
        m (int): number of integrations.
        k (number, list of number, or None): constants of integration, one for all integrations or one for
            each. ``None`` means 0.

    Returns:
        1-D tensor of coefficients, the highest power first.

    >>> import mindgrad.numpy as np
    >>> print(np.polyint([2.0, 2.0]))
    [1. 2. 0.]
    """
    integral = layout.atleast_1d(floating(p, "polyint"))
    times = whole_number(m, "polyint", "m", least=0)
    constants = [0.0] * times if k is None else list(k) if isinstance(k, (list, tuple)) else [k] * times
    if len(constants) != times:
        raise ValueError(
            f"For 'polyint', 'k' must contain {times} constants, one for each integration, but got "
            f"{len(constants)}."
        )
    for constant in constants:
        powers = Tensor(np.arange(integral.size, 0, -1), integral.dtype)
        last = layout.reshape(cast(tensor(constant, "polyint"), integral.dtype), (1,))
        integral = joining.concat((arithmetic.true_divide(integral, powers), last), 0)
    return integral
