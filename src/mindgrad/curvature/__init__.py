"""Curvature of any program: Hessians, Gauss–Newton and Fisher matrices, and Kronecker factors."""

from mindgrad.curvature.diagonal_matrix import diagonal
from mindgrad.curvature.fisher_matrix import fisher
from mindgrad.curvature.gauss_newton_matrix import gauss_newton
from mindgrad.curvature.gram_matrix import gram
from mindgrad.curvature.hessian_matrix import hessian
from mindgrad.curvature.operator import CurvatureOperator

__all__ = ["CurvatureOperator", "diagonal", "fisher", "gauss_newton", "gram", "hessian"]
