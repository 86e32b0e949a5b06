"""Linear algebra without iteration: triangular and general systems, inverse, Cholesky, QR.

All rows take a batch of matrices ``(…, m, n)`` of Float32, Float64, Complex64 or Complex128. A matrix
for which there is no result (singular, not positive definite) gives values that are not finite; the
others of its batch are not affected.

Formulas: M. B. Giles, "Collected matrix derivative results for forward and reverse mode algorithmic
differentiation" (2008); I. Murray, "Differentiation of the Cholesky decomposition" (2016);
S. F. Walter, L. Lehmann, "Algorithmic differentiation of linear algebra functions" (2010);
M. Seeger et al., "Auto-differentiating linear algebra" (2017).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from mindgrad.core.primitive import Primitive
from mindgrad.core.types import TensorType
from mindgrad.primitives.arithmetic import sub
from mindgrad.primitives.batching import at_front, moved
from mindgrad.primitives.complexes import complex, imag
from mindgrad.primitives.kinds import accumulate, general, zeros
from mindgrad.primitives.matrices import (
    adjoint,
    batched_in_front,
    check_matrix,
    check_square,
    columns,
    diagonal,
    hermitian,
    identity,
    lower,
    masked,
    matmul,
    on_failure_nan,
    positive_definite,
    swapped,
    upper,
    well_conditioned,
)
from mindgrad.primitives.samples import case, reals
from mindgrad.primitives.structural import reshape

__all__ = ["cholesky", "inverse", "qr", "solve", "triangular_solve"]


# --- systems ---------------------------------------------------------------------------------------


def _system_type(name: str, a: TensorType, b: TensorType, left: bool = True) -> TensorType:
    check_square(name, a)
    check_matrix(name, a, b)
    if b.shape[-2 if left else -1] != a.shape[-1]:
        raise ValueError(
            f"For '{name}', the right-hand side must have as many {'rows' if left else 'columns'} "
            f"as the matrix of shape {a.shape}, but has the shape {b.shape}."
        )
    return b


def _system_batch(row: Any, size: int, xs: Any, at: Any, left: bool, parameters: dict) -> Any:
    """One matrix with many right-hand sides is factored once: they become more columns (rows)."""
    a, b = xs
    if at[0] is not None:
        return row(at_front(size, a, at[0]), at_front(size, b, at[1]), **parameters), 0
    rank = len(b.shape)
    place = rank - 1 if left else rank - 2
    b = moved(b, at[1], place)
    *batch, rows, columns_ = b.shape if left else (*b.shape[:-2], b.shape[-2], b.shape[-1])
    wide = b.shape
    joined = (*wide[:-2], wide[-2] * wide[-1]) if left else (*wide[:-3], wide[-3] * size, wide[-1])
    return reshape(row(a, reshape(b, shape=joined), **parameters), shape=wide), place


def _triangle(a: Any, lower_part: bool, unit_diagonal: bool) -> Any:
    """The triangle that a system reads, in a tangent: a unit diagonal does not change."""
    return (lower if lower_part else upper)(a, strict=unit_diagonal)
