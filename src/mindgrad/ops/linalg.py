"""Linear algebra: systems, inverses, determinants, factorisations, powers of matrices.

All take matrices (…, m, n) with any number of batch axes in front, of Float32, Float64, Complex64 or
Complex128; integers are taken as Float32. A matrix without result (singular, not positive definite)
gives values that are not finite, and leaves the others of its batch alone.
"""

from __future__ import annotations

from typing import Any

from mindgrad.core.dtype import float32
from mindgrad.core.primitive import Primitive
from mindgrad.core.scope import apply
from mindgrad.core.tensor import Tensor, make_tensor
from mindgrad.ops import arithmetic, rounding
from mindgrad.ops.arguments import whole_number
from mindgrad.ops.comparison import greater
from mindgrad.ops.complexes import conj, real
from mindgrad.ops.contraction import matmul, matrix_product
from mindgrad.ops.extremes import amax
from mindgrad.ops.math import log
from mindgrad.ops.operands import (
    applied,
    broadcast_shapes,
    broadcast_to,
    choose,
    full_tensor,
    inexact,
    operand,
    promoted,
)
from mindgrad.ops.reduction import flag
from mindgrad.primitives import determinant, linalg, spectral
from mindgrad.primitives.elementwise import safe_reciprocal
from mindgrad.primitives.structural import broadcast_in_dim, concatenate, reshape, slice, transpose
