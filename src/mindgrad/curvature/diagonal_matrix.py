"""Diagonals of curvature matrices, as operators."""

from __future__ import annotations

from typing import Any

import numpy as np

from mindgrad.curvature.operator import CurvatureOperator

__all__ = ["DiagonalOperator", "diagonal"]


class DiagonalOperator(CurvatureOperator):
    """A diagonal matrix.

    Args:
        space: the vectors that the matrix multiplies.
        entries: the diagonal, as a flat vector.
    """

    def __init__(self, space: Any, entries: np.ndarray) -> None:
        super().__init__(space, bool((entries >= 0).all()))
        self._entries = np.asarray(entries, self.dtype)

    def _matvec(self, vector: np.ndarray) -> np.ndarray:
        return self._entries * vector

    def _matmat(self, x: np.ndarray) -> np.ndarray:
        return self._entries[:, None] * x

    def diagonal(self) -> np.ndarray:
        """Return the diagonal as a flat vector."""
        return self._entries.copy()

    def to_dense(self) -> np.ndarray:
        """Return the matrix as a NumPy array of shape ``(size, size)``."""
        return np.diag(self._entries)

    @property
    def is_small(self) -> bool:
        """Whether a system is solved directly, which is always true."""
        return True

    def _solve_dense(self, b: np.ndarray, damping: float) -> np.ndarray:
        shifted = self._entries + self.dtype.type(damping)
        if not np.all(np.abs(shifted) > np.finfo(self.dtype).eps * np.abs(shifted).max(initial=0)):
            raise self._singular(damping)
        return b / shifted


def diagonal(operator: CurvatureOperator, samples: int | None = None, seed: int = 0) -> CurvatureOperator:
    """Return the diagonal of a curvature matrix, as an operator.

    Args:
        operator (CurvatureOperator): the matrix, such as the result of :func:`gauss_newton`.
        samples (int, optional): number of random vectors v of an estimate, the mean of ``v * (A @ v)`` with
            signs ``v = ±1`` (C. Bekas, E. Kokiopoulou and Y. Saad, *An estimator for the diagonal of a
            matrix*, 2007). Default: ``None``, the exact diagonal.
        seed (int, optional): seed of the random vectors. Default: ``0``.

    Returns:
        CurvatureOperator: diagonal operator with the same vectors.

    Raises:
        TypeError: If ``operator`` is not a curvature operator.
        ValueError: If ``samples`` is not positive.

    >>> import mindgrad as ms
    >>> w = ms.Tensor([1.0, 2.0, 3.0])
    >>> D = ms.curvature.diagonal(ms.curvature.hessian(lambda w: (w[0] * w**3).sum(), w))
    >>> print(D.diagonal(), D.solve(ms.Tensor([12.0, 12.0, 18.0])))
    [12. 12. 18.] [1. 1. 1.]

    See Also:
        :func:`mindgrad.curvature.hessian`, :func:`mindgrad.curvature.gauss_newton`,
        :func:`mindgrad.curvature.fisher`
    """
    if not isinstance(operator, CurvatureOperator):
        raise TypeError(
            f"For 'diagonal', the first argument must be a curvature operator, such as the result of "
            f"gauss_newton, but got {type(operator).__name__}."
        )
    if samples is None:
        return DiagonalOperator(operator.space, operator.diagonal())
    if samples < 1:
        raise ValueError(f"For 'diagonal', 'samples' must be positive, but is {samples}.")
    random = np.random.default_rng(seed)
    total = np.zeros(operator.shape[0])
    for start in range(0, samples, operator.block_size):
        count = min(operator.block_size, samples - start)
        signs = random.choice(np.array([-1, 1], operator.dtype), (operator.shape[0], count))
        total += np.sum(signs * operator.matmat(signs), axis=1)
    return DiagonalOperator(operator.space, total / samples)
