"""Curvature of any program: Hessians, Gauss–Newton and Fisher matrices."""

from mindgrad.curvature.block_diagonal import BlockDiagonalOperator
from mindgrad.curvature.diagonal_matrix import diagonal
from mindgrad.curvature.fisher_matrix import fisher
from mindgrad.curvature.gauss_newton_matrix import gauss_newton
from mindgrad.curvature.gram_matrix import gram
from mindgrad.curvature.hessian_matrix import hessian
from mindgrad.curvature.kronecker import ekfac, kfac
from mindgrad.curvature.laplace_approximation import Laplace, laplace
from mindgrad.curvature.operator import CurvatureOperator
from mindgrad.curvature.per_sample import (
    clipped_gradient,
    per_sample_gradients,
    per_sample_norms,
    second_moments,
)

__all__ = [
    "BlockDiagonalOperator", "CurvatureOperator", "Laplace", "clipped_gradient", "diagonal", "ekfac",
    "fisher", "gauss_newton", "gram", "hessian", "kfac", "laplace", "per_sample_gradients",
    "per_sample_norms", "second_moments",
]  # fmt: skip
