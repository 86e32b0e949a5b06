"""``mint.linalg``: norms and factorisations of matrices."""

from __future__ import annotations

from typing import Any

from mindgrad.ir.tensor import Tensor
from mindgrad.ops import functional

__all__ = ["inv", "matrix_norm", "norm", "qr", "vector_norm"]


def inv(input: Any) -> Tensor:
    """The inverse of a matrix.

    >>> from mindgrad import Tensor, mint
    >>> print(mint.linalg.inv(Tensor([[2.0, 0.0], [0.0, 4.0]])))
    [[0.5  0.  ]
     [0.   0.25]]
    """
    return functional.inverse(input)


def qr(A: Any, mode: str = "reduced") -> tuple[Tensor, Tensor]:
    """Q and R of ``A = Q R``.

    >>> from mindgrad import Tensor, mint
    >>> q, r = mint.linalg.qr(Tensor([[3.0, 1.0], [4.0, 1.0]]))
    >>> print(abs(r[0, 0]))
    5.0
    """
    return functional.qr(A, mode)


def vector_norm(x: Any, ord: Any = 2, dim: Any = None, keepdim: bool = False, *, dtype: Any = None) -> Tensor:
    """(Σ |x|ᵒʳᵈ)^(1/ord) along ``dim``, of all elements for ``None``.

    >>> from mindgrad import Tensor, mint
    >>> print(mint.linalg.vector_norm(Tensor([3.0, 4.0])))
    5.0
    """
    return functional.vector_norm(x, ord, dim, keepdim, dtype=dtype)


def matrix_norm(
    A: Any, ord: Any = "fro", dim: Any = (-2, -1), keepdim: bool = False, *, dtype: Any = None
) -> Tensor:
    """The norm of matrices: ``"fro"``, ``"nuc"``, 1, −1, 2, −2, inf or −inf.

    >>> from mindgrad import Tensor, mint
    >>> print(mint.linalg.matrix_norm(Tensor([[3.0, 0.0], [0.0, 4.0]])))
    5.0
    """
    return functional.matrix_norm(A, ord, dim, keepdim, dtype=dtype)


def norm(A: Any, ord: Any = None, dim: Any = None, keepdim: bool = False, *, dtype: Any = None) -> Tensor:
    """The norm of a vector or matrix: :func:`mindgrad.ops.norm`.

    >>> from mindgrad import Tensor, mint
    >>> print(mint.linalg.norm(Tensor([3.0, 4.0])))
    5.0
    """
    return functional.norm(A, ord, dim, keepdim, dtype=dtype)
