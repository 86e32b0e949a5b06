"""Curvature of any program: Hessians, Gauss–Newton and Fisher matrices, and Kronecker factors."""

from mindgrad.curvature.gauss_newton_matrix import gauss_newton
from mindgrad.curvature.hessian_matrix import hessian
from mindgrad.curvature.operator import CurvatureOperator

__all__ = ["CurvatureOperator", "gauss_newton", "hessian"]
