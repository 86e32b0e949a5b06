"""Names of ``mindgrad.mint.linalg``, for type checkers and editors.

Written by `scripts/stubs.py` from the registry of public names; do not edit.
"""

from collections.abc import Callable, Sequence
from typing import Any

from mindgrad.core.ir.tensor import Tensor
from mindgrad.ops.statistics import norm as norm

__all__: list[str]

def inv(input: Any) -> Tensor:
    """Invert square matrices; another name of `matrix_inverse`."""
def matrix_norm(A: Any, ord: Any = 'fro', dim: Any = ..., keepdim: bool = False, *, dtype: Any = None) -> Tensor:
    """Compute a matrix norm over two axes."""
def qr(A: Any, mode: str = 'reduced') -> tuple[Tensor, Tensor]:
    """Compute the QR factorization A = Q R."""
def vector_norm(x: Any, ord: float = 2, dim: Any = None, keepdim: bool = False, *, dtype: Any = None) -> Tensor:
    """Compute the vector norm (Σ |x|ᵖ)^(1/p) along axes."""
