"""Matrix exponential by scaling and squaring.

N. J. Higham, "The scaling and squaring method for the matrix exponential revisited" (2005): with
s such that ‖A‖₁ / 2ˢ ≤ 5.37, e^A is the Padé approximant [13/13] of e^(A/2ˢ), squared s times.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from mindgrad.core.arrays.index_checks import known
from mindgrad.core.ir.dtype import int32
from mindgrad.core.ir.tensor import Tensor
from mindgrad.ops import arithmetic, clipping, comparison, layout, linalg, math, rounding
from mindgrad.ops.contraction import matmul
from mindgrad.ops.creation import eye
from mindgrad.ops.extremes import amax
from mindgrad.ops.flow import stop_gradient
from mindgrad.ops.linalg import matrix_operand
from mindgrad.ops.operands import broadcast_to, cast, choose, inexact, operand
from mindgrad.ops.reduction import sum as sum_of
from mindgrad.ops.registry import public

__all__ = ["matrix_exp"]

_RADIUS = 5.371920351148152
#: coefficients of the numerator of the [13/13] Padé approximant of exp, divided by the first coefficient
_COEFFICIENTS = [
    c / 64764752532480000
    for c in (
        64764752532480000, 32382376266240000, 7771770303897600, 1187353796428800, 129060195264000,
        10559470521600, 670442572800, 33522128640, 1323241920, 40840800, 960960, 16380, 182, 1,
    )
]  # fmt: skip
#: number of times that the exponential is squared if the norm of the matrix is unknown at compile time. It
#: suffices for norms up to 3.5e5
_MOST = 16


@public("MatrixExp")
def matrix_exp(input: Any) -> Tensor:
    """Compute the matrix exponential I + A + A²/2 + A³/6 + ….

    A compiled function does not know the norms of the matrices. Therefore, it computes sixteen squarings and
    discards the unnecessary ones. Sixteen squarings are enough for norms up to 3.5·10⁵.

    Args:
        input (Tensor): square matrices of shape (…, n, n).

    Returns:
        Tensor of the same shape as ``input``; float32 for integers.

    {errors of square matrices input}

    >>> from mindgrad import Tensor, ops
    >>> print(ops.matrix_exp(Tensor([[0.0, 1.0], [0.0, 0.0]])))
    [[1. 1.]
     [0. 1.]]
    """
    a = matrix_operand(inexact(operand(input, "MatrixExp")), "MatrixExp")
    if a.ndim < 2 or a.shape[-1] != a.shape[-2]:
        raise ValueError(f"For 'MatrixExp', the matrices must be square, but the shape is {a.shape}.")
    if not a.size:
        return a
    norm = amax(sum_of(rounding.abs(stop_gradient(a)), -2), -1)
    halvings = rounding.ceil(math.log2(clipping.maximum(arithmetic.div(norm, _RADIUS), 1.0)))
    values = known(halvings)
    if values is not None:
        finite = values[np.isfinite(values)]
        most = int(finite.max()) if finite.size else 0
        y = _approximant(arithmetic.mul(a, 2.0**-most))
        for _ in range(most):
            y = matmul(y, y)
        return y
    halvings = clipping.minimum(halvings, float(_MOST))
    scale = math.exp2(arithmetic.neg(halvings))
    y = _approximant(arithmetic.mul(a, cast(_over_matrices(scale, a), a.dtype)))
    counts = _over_matrices(cast(halvings, int32), a)
    for k in range(_MOST):
        y = choose(comparison.greater(counts, k), matmul(y, y), y)
    return y


def _over_matrices(x: Tensor, like: Tensor) -> Tensor:
    return broadcast_to(layout.reshape(x, (*x.shape, 1, 1)), like.shape)


def _approximant(a: Tensor) -> Tensor:
    """Return the Padé approximant, a quotient of two polynomials of degree 13."""
    b = _COEFFICIENTS
    identity = broadcast_to(eye(a.shape[-1], dtype=a.dtype), a.shape)
    a2 = matmul(a, a)
    a4 = matmul(a2, a2)
    a6 = matmul(a4, a2)

    def combined(first: int) -> Tensor:
        """Return the even terms, or the odd terms divided by a, that start at b[first]."""
        high = _sum((b[first + 12], a6), (b[first + 10], a4), (b[first + 8], a2))
        low = _sum((b[first + 6], a6), (b[first + 4], a4), (b[first + 2], a2), (b[first], identity))
        return arithmetic.add(matmul(a6, high), low)

    odd, even = matmul(a, combined(1)), combined(0)
    return linalg.solve(arithmetic.sub(even, odd), arithmetic.add(even, odd))


def _sum(*terms: tuple[float, Tensor]) -> Tensor:
    found = [arithmetic.mul(x, factor) for factor, x in terms]
    total = found[0]
    for each in found[1:]:
        total = arithmetic.add(total, each)
    return total
