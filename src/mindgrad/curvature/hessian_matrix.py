"""Hessians of losses with respect to weights, as operators.

    H v = ∇²L(w) v

A product is the forward derivative of the gradient. At a fixed point it is linear in v, so the values of the
loss and of its gradient are computed once, when the operator is created (``curvature.linear_map``).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from mindgrad.api.linearized import LinearPart
from mindgrad.api.vjp_call import Run
from mindgrad.core.api.hessian import forward_over_reverse
from mindgrad.core.ir.tensor import Tensor
from mindgrad.curvature.linear_map import LinearMap, linear_part
from mindgrad.curvature.objective import Objective
from mindgrad.curvature.operator import DEFAULT_MEMORY, CurvatureOperator

__all__ = ["ProductOperator", "hessian"]


class ProductOperator(CurvatureOperator):
    """A matrix that is known by the products of a linear map."""

    def __init__(self, space: Any, product: LinearMap, is_semidefinite: bool, memory: int) -> None:
        super().__init__(space, is_semidefinite, memory, product.bytes)
        self._product = product

    def _matvec(self, vector: np.ndarray) -> np.ndarray:
        return self._product(vector)

    def _matmat(self, x: np.ndarray) -> np.ndarray:
        return self._product.columns(x, self.block_size)

    def _facts(self) -> list[str]:
        return [f"product: {self._product.flops:.2e} operations by forward over reverse mode"]


def hessian(
    loss: Callable[..., Any], weights: Any, *args: Any, memory: int = DEFAULT_MEMORY
) -> CurvatureOperator:
    """Return the Hessian of a loss with respect to weights, as an operator.

    The operator describes the Hessian at the values that the weights have when the operator is created. It
    runs the loss once, and computes each product in one compiled function, without forming the matrix.

    Args:
        loss (Callable or Cell): function that returns the loss. If it returns several elements, such as one
            loss for each sample, their sum is differentiated.
        weights (Parameter, Tensor, or container): weights to differentiate with respect to, such as
            ``net.trainable_params()`` or a dict of Tensors of a real floating dtype. If the weights are
            Parameters, the loss is called as ``loss(*args)``, and otherwise as ``loss(weights, *args)``.
        *args (Any): further arguments of the loss, which are not differentiated.
        memory (int, optional): number of bytes that dense matrices and blocks of vectors may use. Default:
            256 MiB.

    Returns:
        CurvatureOperator: symmetric operator with one row for each element of the weights. Its vectors have
        dtype float64 if a weight is float64, and float32 otherwise.

    Raises:
        TypeError: If the weights are not Parameters or Tensors of a real floating dtype, or if an output of
            the loss is complex.
        ValueError: If the loss does not depend on a weight, a Parameter is listed twice, or ``memory`` is not
            positive.

    >>> import mindgrad as ms
    >>> w = {"a": ms.Tensor([1.0, 2.0]), "b": ms.Tensor([3.0])}
    >>> H = ms.curvature.hessian(lambda w: (w["a"] ** 2 * w["b"]).sum(), w)
    >>> print(H.to_dense())
    [[6. 0. 2.]
     [0. 6. 4.]
     [2. 4. 0.]]
    >>> product = H @ {"a": ms.Tensor([1.0, 0.0]), "b": ms.Tensor([0.0])}
    >>> print(product["a"], product["b"], f"{H.trace():.1f}")
    [6. 0.] [2.] 12.0

    See Also:
        :func:`mindgrad.curvature.gauss_newton`, :func:`mindgrad.hvp`, :func:`mindgrad.hessian`
    """
    objective = Objective("hessian", loss, weights, args)
    residuals, part = objective.call(_hessian)
    return ProductOperator(objective.space, LinearMap(residuals, part), False, memory)


def _hessian(run: Run) -> tuple[list[Tensor], LinearPart]:
    return linear_part(run, forward_over_reverse)[1:]
