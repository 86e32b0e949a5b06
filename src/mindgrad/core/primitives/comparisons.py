"""Comparisons: = ≠ < ≤ > ≥. Their results are Boolean, so they have no derivative."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from mindgrad.core.ir.dtype import bool_
from mindgrad.core.primitives.kinds import pointwise_constant
from mindgrad.core.primitives.samples import reals

if TYPE_CHECKING:
    from mindgrad.core.ir.primitive import Primitive
    from mindgrad.core.ir.rules import Kernel

__all__ = ["equal", "greater", "greater_equal", "less", "less_equal", "not_equal"]


def _comparison(name: str, symbol: str, numpy: Kernel, xla: str, accepts: str = "any") -> Primitive:
    return pointwise_constant(
        name, symbol=symbol, numpy=numpy, xla=xla, operands=2, accepts=accepts, result=bool_, samples=reals()
    )


equal = _comparison("equal", "==", np.equal, "eq")
not_equal = _comparison("not_equal", "!=", np.not_equal, "ne")
less = _comparison("less", "<", np.less, "lt", "ordered")
less_equal = _comparison("less_equal", "<=", np.less_equal, "le", "ordered")
greater = _comparison("greater", ">", np.greater, "gt", "ordered")
greater_equal = _comparison("greater_equal", ">=", np.greater_equal, "ge", "ordered")
