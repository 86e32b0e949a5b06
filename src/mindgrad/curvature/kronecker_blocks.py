"""Blocks of curvature matrices: Kronecker products, dense matrices, diagonals.

All blocks are diagonalized once. With A = Q Λ Qᵀ, the matrices (A + λ I)⁻¹, (A + λ I)^(−1/2), and
log det(A + λ I) then follow from Λ. For a Kronecker product, Q = Q₁ ⊗ Q₂ and Λ = Λ₁ ⊗ Λ₂.
"""

from __future__ import annotations

from functools import cached_property
from math import prod

import numpy as np

from mindgrad.curvature.outer_products import Sides, positions_of

__all__ = ["Block", "DenseBlock", "DiagonalBlock", "KroneckerBlock", "nearest_product"]


class Block:
    """A positive semidefinite matrix A = Q Λ Qᵀ for the elements of one weight.

    A subclass defines :attr:`spectrum`, and the products of flat vectors with Q and its transpose.
    """

    size: int

    @property
    def spectrum(self) -> np.ndarray:
        """The eigenvalues Λ, as a flat vector."""
        raise NotImplementedError

    def to_basis(self, x: np.ndarray) -> np.ndarray:
        """Return Qᵀ x for columns x."""
        raise NotImplementedError

    def from_basis(self, x: np.ndarray) -> np.ndarray:
        """Return Q x for columns x."""
        raise NotImplementedError

    def function(self, x: np.ndarray, values: np.ndarray) -> np.ndarray:
        """Return Q diag(values) Qᵀ x for columns x."""
        return self.from_basis(values[:, None] * self.to_basis(x))

    def matmul(self, x: np.ndarray) -> np.ndarray:
        """Return A x for columns x."""
        return self.function(x, self.spectrum)

    def damped(self, damping: float, factored: bool = False) -> np.ndarray:
        """Return the eigenvalues of the damped matrix."""
        return self.spectrum + damping

    def diagonal(self) -> np.ndarray:
        """Return the diagonal of A."""
        raise NotImplementedError


class DenseBlock(Block):
    """A dense matrix."""

    def __init__(self, matrix: np.ndarray) -> None:
        self.matrix = matrix
        self.size = len(matrix)

    @cached_property
    def _eigen(self) -> tuple[np.ndarray, np.ndarray]:
        return _semidefinite(self.matrix)

    @property
    def spectrum(self) -> np.ndarray:
        return self._eigen[0]

    def to_basis(self, x: np.ndarray) -> np.ndarray:
        return self._eigen[1].T @ x

    def from_basis(self, x: np.ndarray) -> np.ndarray:
        return self._eigen[1] @ x

    def matmul(self, x: np.ndarray) -> np.ndarray:
        return self.matrix @ x

    def diagonal(self) -> np.ndarray:
        return np.diagonal(self.matrix).copy()


class DiagonalBlock(Block):
    """A diagonal matrix."""

    def __init__(self, values: np.ndarray) -> None:
        self.values = values.ravel()
        self.size = self.values.size

    @property
    def spectrum(self) -> np.ndarray:
        return self.values

    def to_basis(self, x: np.ndarray) -> np.ndarray:
        return x

    def from_basis(self, x: np.ndarray) -> np.ndarray:
        return x

    def diagonal(self) -> np.ndarray:
        return self.values.copy()


class KroneckerBlock(Block):
    """A Kronecker product of two factors, for the axes of a weight on two sides.

    Args:
        left, right: symmetric factors of shapes ``(blocks, size, size)``.
        sides: the axes of the weight (``curvature.outer_products``).

    Attributes:
        moments: eigenvalues of shape ``(blocks, left size, right size)`` that replace the products of the
            eigenvalues of the factors, or ``None`` (George et al., 2018).
    """

    def __init__(self, left: np.ndarray, right: np.ndarray, sides: Sides) -> None:
        self.left, self.right, self.sides = left, right, sides
        self.shape = (len(left), left.shape[1], right.shape[1])
        self.size = prod(self.shape)
        self.moments: np.ndarray | None = None

    @cached_property
    def eigenvectors(self) -> tuple[np.ndarray, np.ndarray]:
        """Eigenvectors of the left and right factors, as columns."""
        return self._eigen[0][1], self._eigen[1][1]

    @cached_property
    def _eigen(self) -> tuple[tuple[np.ndarray, np.ndarray], tuple[np.ndarray, np.ndarray]]:
        return _semidefinite(self.left), _semidefinite(self.right)

    @property
    def spectrum(self) -> np.ndarray:
        if self.moments is not None:
            return self.moments.ravel()
        (left, _), (right, _) = self._eigen
        return (left[:, :, None] * right[:, None, :]).ravel()

    def damped(self, damping: float, factored: bool = False) -> np.ndarray:
        """Return the eigenvalues of A + damping I, or of two damped factors.

        Factored damping replaces L ⊗ R by (L + π √damping I) ⊗ (R + √damping / π I), where π² is the ratio of
        the average eigenvalues of both factors (Martens and Grosse, 2015, section 6.3).
        """
        if not factored or self.moments is not None:
            return self.spectrum + damping
        (left, _), (right, _) = self._eigen
        means = [np.maximum(x.mean(axis=1, keepdims=True), np.finfo(x.dtype).tiny) for x in (left, right)]
        ratio, root = np.sqrt(means[0] / means[1]), np.sqrt(damping)
        return ((left + ratio * root)[:, :, None] * (right + root / ratio)[:, None, :]).ravel()

    def _split(self, x: np.ndarray) -> np.ndarray:
        """Reorder columns to the shape ``(blocks, left, right, columns)``."""
        order, sizes = positions_of(self.sides)
        inverse = np.argsort(order)
        parts = x.reshape(*[sizes[k] for k in order], x.shape[1])
        return parts.transpose(*inverse, len(sizes)).reshape(*self.shape, x.shape[1])

    def _joined(self, x: np.ndarray) -> np.ndarray:
        order, sizes = positions_of(self.sides)
        return x.reshape(*sizes, x.shape[-1]).transpose(*order, len(sizes)).reshape(self.size, x.shape[-1])

    def _product(self, left: np.ndarray, right: np.ndarray, x: np.ndarray) -> np.ndarray:
        return np.einsum("kia,kabm,kjb->kijm", left, x, right, optimize=True)

    def to_basis(self, x: np.ndarray) -> np.ndarray:
        left, right = self.eigenvectors
        product = self._product(left.swapaxes(1, 2), right.swapaxes(1, 2), self._split(x))
        return product.reshape(self.size, -1)

    def from_basis(self, x: np.ndarray) -> np.ndarray:
        left, right = self.eigenvectors
        return self._joined(self._product(left, right, x.reshape(*self.shape, -1)))

    def matmul(self, x: np.ndarray) -> np.ndarray:
        if self.moments is not None:
            return super().matmul(x)
        return self._joined(self._product(self.left, self.right, self._split(x)))

    def diagonal(self) -> np.ndarray:
        if self.moments is None:
            left, right = [np.diagonal(x, axis1=1, axis2=2) for x in (self.left, self.right)]
            values = left[:, :, None] * right[:, None, :]
        else:
            left, right = self.eigenvectors
            values = self._product(left**2, right**2, self.moments[..., None])[..., 0]
        return self._joined(values.reshape(*self.shape, 1))[:, 0]


def _semidefinite(matrices: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    values, vectors = np.linalg.eigh(matrices)
    return np.maximum(values, 0), vectors


def nearest_product(lefts: list[np.ndarray], rights: list[np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    """Return the Kronecker product nearest to a sum of Kronecker products.

    The product nearest to Σ_s lefts[s] ⊗ rights[s] in the Frobenius norm is a combination L = Σ_s α_s L_s and
    R = Σ_s β_s R_s (C. F. Van Loan and N. Pitsianis, *Approximation with Kronecker products*, 1993). The
    weights α and β are singular vectors of a small matrix, and the power method computes them. They are
    nonnegative, because inner products of positive semidefinite matrices are nonnegative. The result does not
    change if a factor of one term is scaled up and its other factor is scaled down.
    """
    if len(lefts) == 1:
        return lefts[0], rights[0]
    count = len(lefts)
    flat = [np.stack(x, axis=1).reshape(len(x[0]), count, -1).astype(np.float64) for x in (lefts, rights)]
    norms = [np.sqrt((x * x).sum(axis=2, keepdims=True)) for x in flat]
    scale = np.where((norms[0] > 0) & (norms[1] > 0), norms[0] * norms[1], 0)  # of each term
    unit = [np.divide(x, n, out=np.zeros_like(x), where=n > 0) for x, n in zip(flat, norms, strict=True)]
    grams = [x @ x.swapaxes(1, 2) for x in unit]
    # with D = diag(scale), maximize αᵀ G₁ D G₂ β for αᵀ G₁ α = βᵀ G₂ β = 1. Then α ∝ D G₂ β and β ∝ D G₁ α
    alpha = beta = np.where(scale > 0, 1.0, 0.0)
    for _ in range(_POWER_STEPS):
        alpha = _normalized(scale * (grams[1] @ beta), grams[0])
        beta = _normalized(scale * (grams[0] @ alpha), grams[1])
    size = (alpha * (grams[0] @ (scale * (grams[1] @ beta)))).sum(axis=1, keepdims=True)
    left, right = [(w * x).sum(axis=1) for w, x in zip((alpha * size, beta), unit, strict=True)]
    return left.reshape(lefts[0].shape).astype(lefts[0].dtype), right.reshape(rights[0].shape).astype(
        rights[0].dtype
    )


#: steps of the power method. The largest singular value dominates, because all terms are nonnegative
_POWER_STEPS = 30


def _normalized(x: np.ndarray, gram: np.ndarray) -> np.ndarray:
    norm = np.sqrt((x * (gram @ x)).sum(axis=1, keepdims=True))
    return np.divide(x, norm, out=np.zeros_like(x), where=norm > 0)
