"""Gram matrices of residuals, as operators.

    K = J Jᵀ        J: Jacobian of the residuals with respect to the weights

K has one row for each residual. It is the neural tangent kernel of the residuals. Gauss–Newton steps with
fewer residuals than weights solve a system with K.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from mindgrad.api.linearized import LinearPart
from mindgrad.api.vjp_call import Run
from mindgrad.core.ir.tensor import Tensor
from mindgrad.curvature.gauss_newton_matrix import JacobianOperator, Linearized
from mindgrad.curvature.linear_map import kernel_rule, linear_part
from mindgrad.curvature.objective import Objective
from mindgrad.curvature.operator import DEFAULT_MEMORY, CurvatureOperator
from mindgrad.curvature.weight_space import WeightSpace

__all__ = ["gram"]


class GramOperator(JacobianOperator):
    """The matrix J Jᵀ."""

    def _times(self, x: np.ndarray) -> np.ndarray:
        return self.jacobian @ (self.jacobian.T @ x)

    def to_dense(self) -> np.ndarray:
        """Return the matrix as a NumPy array of shape ``(size, size)``."""
        return self.jacobian @ self.jacobian.T if self.stores_jacobian else super().to_dense()

    def diagonal(self) -> np.ndarray:
        """Return the diagonal, the squared norms of the gradients of all residuals."""
        if not self.stores_jacobian:
            return super().diagonal()
        return np.einsum("ij,ij->i", self.jacobian, self.jacobian)


def _kernel(run: Run) -> tuple[Any, list[Tensor], LinearPart, bool]:
    has_effects = bool(run.recorded.written)
    outputs, residuals, part = linear_part(run, kernel_rule, run.outputs)
    return run.result(outputs), residuals, part, has_effects


def gram(
    residuals: Callable[..., Any], weights: Any, *args: Any, memory: int = DEFAULT_MEMORY
) -> CurvatureOperator:
    """Return the Gram matrix J Jᵀ of residuals, as an operator over the residuals.

    J is the Jacobian of the residuals with respect to the weights. The vectors of the operator have the
    structure of the residuals. If the residuals are the outputs of a network, the matrix is its neural
    tangent kernel (A. Jacot, F. Gabriel and C. Hongler, *Neural Tangent Kernel*, 2018).

    Args:
        residuals (Callable or Cell): function that returns a Tensor, or a container of Tensors. If the
            weights are Parameters, it is called as ``residuals(*args)``, and otherwise as
            ``residuals(weights, *args)``.
        weights (Parameter, Tensor, or container): weights to differentiate with respect to, as for
            :func:`hessian`.
        *args (Any): further arguments of ``residuals``, which are not differentiated.
        memory (int, optional): number of bytes that the Jacobian, dense matrices, and blocks of vectors may
            use. Default: 256 MiB.

    Returns:
        CurvatureOperator: positive semidefinite operator with one row for each element of the residuals.

    Raises:
        TypeError: If the weights are not Parameters or Tensors of a real floating dtype, or if a residual is
            not a real floating-point number.
        ValueError: If the residuals do not depend on a weight, a Parameter is listed twice, or ``memory`` is
            not positive.

    >>> import mindgrad as ms
    >>> w, x = ms.Tensor([1.0, 2.0]), ms.Tensor([[1.0, 0.0], [1.0, 1.0], [0.0, 2.0]])
    >>> K = ms.curvature.gram(lambda w, x: x @ w, w, x)
    >>> print(K.to_dense())
    [[1. 1. 0.]
     [1. 2. 2.]
     [0. 2. 4.]]

    See Also:
        :func:`mindgrad.curvature.gauss_newton`, :func:`mindgrad.jacobian`
    """
    model = Objective("gram", residuals, weights, args).fixed()
    at = Linearized(*model.call(_kernel))
    return GramOperator(WeightSpace("gram", at.outputs), model, at, True, memory)
