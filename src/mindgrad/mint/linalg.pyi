"""Names of ``mindgrad.mint.linalg``, for type checkers and editors.

Written by `scripts/stubs.py` from the registry of public names; do not edit.
"""

from collections.abc import Callable, Sequence
from typing import Any

from mindgrad.ir.tensor import Tensor
from mindgrad.ops.statistics import norm as norm

__all__: list[str]

def inv(input: Any) -> Tensor:
    """The inverse of square matrices; the same as `matrix_inverse`."""
def matrix_norm(A: Any, ord: Any = 'fro', dim: Any = ..., keepdim: bool = False, *, dtype: Any = None) -> Tensor:
    """The norm of matrices that stand on two axes."""
def qr(A: Any, mode: str = 'reduced') -> tuple[Tensor, Tensor]:
    """Q with orthonormal columns and R upper triangular, with Q R = A."""
def vector_norm(x: Any, ord: float = 2, dim: Any = None, keepdim: bool = False, *, dtype: Any = None) -> Tensor:
    """(Σ |x|ᵖ)^(1/p) over ``dim``: the norm of order p of vectors."""
