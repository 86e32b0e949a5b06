"""Variance and standard deviation of ``x[mask]`` for a mask of unknown values."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from mindgrad.core.ir.scope import apply
from mindgrad.core.primitives import reduction as primitives
from mindgrad.core.primitives.elementwise import sqrt
from mindgrad.core.primitives.structural import reshape
from mindgrad.ops import arithmetic, reduction
from mindgrad.ops.axes import normalize_axes
from mindgrad.ops.comparison import greater
from mindgrad.ops.operands import accepted, cast, choose, inexact
from mindgrad.ops.reduction import reduced, widened

__all__ = ["spread_of_selected"]


def spread_of_selected(
    operator: str, x: Any, axis: Any, ddof: Any, keep: bool, spread_of: Callable[..., Any]
) -> tuple[Any, Any]:
    """Return the spread and the mean of ``x[mask]``.

    ``spread_of`` computes both if only axes of known sizes are reduced.
    """
    axes = normalize_axes(axis, x.values.ndim, operator)
    if 0 not in axes:
        spread, average = (
            x.mapped(lambda v, k=k: spread_of(operator, v, axes, ddof, keep)[k]) for k in (0, 1)
        )
        return spread, average
    kind = inexact(x).dtype
    accepted(primitives.norm, operator, inexact(x.values), axes=())
    x = widened(inexact(x))
    average = reduction.mean(x, axes, True)
    deviations, count = arithmetic.sub(x, average), x.count(axes)
    left = choose(greater(count, ddof), arithmetic.sub(count, ddof), math.nan)
    if operator == "Std":
        spread = arithmetic.div(reduced(primitives.norm, operator, deviations, axes, keep), apply(sqrt, left))
    else:
        squares = arithmetic.mul(deviations, deviations)
        spread = arithmetic.div(reduced(primitives.reduce_sum, operator, squares, axes, keep), left)
    return cast(spread, kind), cast(apply(reshape, average, shape=spread.shape), kind)
