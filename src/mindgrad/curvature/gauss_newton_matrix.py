"""Gauss–Newton matrices of models and losses, as operators.

    G = Jᵀ H J        J: Jacobian of the outputs with respect to the weights        H: Hessian of the loss

There are two ways to compute products with G. The first composes a forward derivative of the model, the
Hessian of the loss, and a reverse derivative of the model. The second stores J, which one reverse pass
computes if the outputs have independent rows (``curvature.row_jacobian``). If J fits into memory, dense
matrices, diagonals, and solutions always use it, and products use it if the estimated cost is lower.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from math import prod
from typing import Any

import numpy as np

from mindgrad.api.linearized import LinearPart
from mindgrad.api.vjp_call import Run
from mindgrad.core.api.hessian import forward_over_reverse, generalized
from mindgrad.core.api.hessian import gauss_newton as gauss_newton_rule
from mindgrad.core.base.tree import flatten, unflatten
from mindgrad.core.ir.cost_model import costs
from mindgrad.core.ir.scope import apply
from mindgrad.core.ir.tensor import Tensor
from mindgrad.core.primitives.structural import stop_gradient
from mindgrad.core.trace import references
from mindgrad.curvature.linear_map import LinearMap, jacobian_matrix, linear_part
from mindgrad.curvature.objective import Objective
from mindgrad.curvature.operator import (
    DEFAULT_MEMORY,
    CurvatureOperator,
    block_width,
    solve_general,
    solve_symmetric,
)
from mindgrad.frontend import user_calls

__all__ = ["GaussNewtonOperator", "JacobianOperator", "Linearized", "gauss_newton", "gauss_newton_operator"]


#: the Jacobian is not stored if it needs more reverse passes than this
_MOST_PASSES = 64


class ModelWithLoss:
    """A model and its loss: outputs, detached outputs, and the loss.

    The last ``count`` arguments are further arguments of the loss, such as targets. The loss reads copies of
    the outputs without a derivative, so that model and loss are differentiated separately.
    """

    #: two of these functions are equal if these attributes are equal
    compared_by = ("model", "loss", "count")

    def __init__(self, model: Callable[..., Any], loss: Callable[..., Any], count: int) -> None:
        self.model = model
        self.loss = loss
        self.count = count

    def __call__(self, *args: Any) -> tuple[Any, list[Tensor], Any]:
        cut = len(args) - self.count
        outputs = user_calls.run(self.model, *args[:cut])
        leaves, structure = flatten(outputs)
        detached = [apply(stop_gradient, references.read(x)) if isinstance(x, Tensor) else x for x in leaves]
        loss = user_calls.run(self.loss, unflatten(structure, detached), *args[cut:])
        return outputs, [x for x in detached if isinstance(x, Tensor)], loss


class Linearized:
    """A model at fixed weights.

    Attributes:
        outputs: the outputs of the model.
        product: the map v ↦ G v of the matrix that is computed.
        has_effects: whether the model draws random numbers or assigns Parameters, so that a second run may
            return other outputs.
    """

    def __init__(self, outputs: Any, residuals: list[Tensor], part: LinearPart, has_effects: bool) -> None:
        self.outputs = outputs
        self.product = LinearMap(residuals, part)
        self.has_effects = has_effects


def _plain(run: Run) -> tuple[Any, list[Tensor], LinearPart, bool]:
    has_effects = bool(run.recorded.written)
    outputs, residuals, part = linear_part(run, gauss_newton_rule)
    return run.result(outputs), residuals, part, has_effects


def _with_loss(run: Run) -> tuple[Any, list[Tensor], LinearPart, bool]:
    has_effects = bool(run.recorded.written)
    count = len(run.result(run.recorded.outputs)[1])
    outputs, residuals, part = linear_part(run, generalized(count))
    return run.result(outputs)[0], residuals, part, has_effects


def _hessian_of_loss(run: Run) -> tuple[list[Tensor], LinearPart]:
    return linear_part(run, forward_over_reverse)[1:]


def gauss_newton_operator(
    owner: str,
    outputs: Callable[..., Any],
    weights: Any,
    args: Sequence[Any],
    loss: Callable[..., Any] | None,
    further: Sequence[Any],
    is_semidefinite: bool,
    memory: int,
) -> GaussNewtonOperator:
    """Return the Gauss–Newton matrix of a model and a loss.

    ``further`` are the arguments of the loss after the outputs of the model. For the other arguments, see
    :func:`gauss_newton`.
    """
    model = Objective(owner, outputs, weights, args).fixed()
    if loss is None:
        return GaussNewtonOperator(model, Linearized(*model.call(_plain)), None, True, memory)
    if not callable(loss):
        raise TypeError(f"For '{owner}', 'loss' must be a function or Cell, but got {type(loss).__name__}.")
    both = ModelWithLoss(outputs, loss, len(further))
    at = Linearized(*Objective(owner, both, weights, (*args, *further)).call(_with_loss))
    curved = Objective(owner, loss, at.outputs, further, needs_all=False).fixed()
    return GaussNewtonOperator(model, at, curved, is_semidefinite, memory)


class JacobianOperator(CurvatureOperator):
    """A matrix that is a product with the Jacobian J of a model, such as Jᵀ J or J Jᵀ.

    Args:
        space: the vectors that the matrix multiplies.
        model: the model, with fixed values of the weights.
        at: the model at these weights.
        is_semidefinite, memory: see :class:`CurvatureOperator`.
    """

    def __init__(
        self, space: Any, model: Objective, at: Linearized, is_semidefinite: bool, memory: int
    ) -> None:
        super().__init__(space, is_semidefinite, memory, at.product.bytes)
        self._model = model
        self._product = at.product
        self._has_effects = at.has_effects
        self._output_shapes = [tuple(x.shape) for x in flatten(at.outputs)[0] if isinstance(x, Tensor)]

    @cached_property
    def rows(self) -> int:
        """The number of elements of the outputs of the model."""
        return sum(map(prod, self._output_shapes))

    @property
    def elements(self) -> int:
        """The number of elements of the Jacobian."""
        return self.rows * self._model.space.size

    @property
    def stores_jacobian(self) -> bool:
        """Whether the operator may store the Jacobian.

        The Jacobian and one more matrix of its size must fit into ``memory``. In addition, a row of an output
        must have at most 64 elements, because the Jacobian needs one reverse pass for each of them. A model
        with random numbers or assigned Parameters is not run again, so its Jacobian is not stored.
        """
        if self._has_effects:
            return False
        passes = max(prod(shape[1:]) for shape in self._output_shapes)
        is_short = passes <= _MOST_PASSES
        return is_short and 2 * self.elements * self.dtype.itemsize <= self.memory

    @property
    def multiplies_jacobian(self) -> bool:
        """Whether products use the Jacobian.

        Products use the Jacobian if it fits into ``memory``, and if its cost is lower than the cost of the
        derivatives. The cost is the number of operations plus the number of bytes that are moved, weighted by
        the cost model of the device.
        """
        return self.stores_jacobian and self._costs[0] < self._costs[1]

    @cached_property
    def _costs(self) -> tuple[float, float]:
        """Costs of a product by the Jacobian, and by derivatives."""
        per_element = 4 + costs().flops_per_byte * 2 * self.dtype.itemsize
        by_derivatives = self._product.flops + costs().flops_per_byte * self._product.bytes
        return float(per_element * self.elements), float(by_derivatives)

    @cached_property
    def jacobian(self) -> np.ndarray:
        """The Jacobian of the outputs, with one column for each weight."""
        return self._model.call(jacobian_matrix).asnumpy()

    def _times(self, x: np.ndarray) -> np.ndarray:
        """Multiply with the factors of the matrix."""
        raise NotImplementedError

    def _matvec(self, vector: np.ndarray) -> np.ndarray:
        return self._times(vector) if self.multiplies_jacobian else self._product(vector)

    def _matmat(self, x: np.ndarray) -> np.ndarray:
        return self._times(x) if self.multiplies_jacobian else self._product.columns(x, self.block_size)

    def _facts(self) -> list[str]:
        by_matrix, by_derivatives = self._costs
        used = "the Jacobian" if self.multiplies_jacobian else "derivatives"
        if not self.stores_jacobian:
            reason = "the model has effects" if self._has_effects else "the Jacobian is too large"
        else:
            reason = (
                f"estimated cost {by_matrix:.1e} with the Jacobian, {by_derivatives:.1e} with derivatives"
            )
        return [
            f"outputs: {self.rows} elements",
            f"product: by {used} ({reason})",
            f"dense matrices and diagonals: by {'the Jacobian' if self.stores_jacobian else 'columns'}",
        ]


class GaussNewtonOperator(JacobianOperator):
    """The matrix Jᵀ H J of a model and a loss.

    Args:
        model: the model, with fixed values of the weights.
        at: the model at these weights, with the map v ↦ Jᵀ H J v.
        loss: the loss as a function of the outputs of the model; ``None`` if H is the identity.
        is_semidefinite: whether H has no negative eigenvalue.
        memory: see :class:`CurvatureOperator`.
    """

    def __init__(
        self,
        model: Objective,
        at: Linearized,
        loss: Objective | None,
        is_semidefinite: bool,
        memory: int,
    ) -> None:
        super().__init__(model.space, model, at, is_semidefinite, memory)
        self._loss = loss

    def _times(self, x: np.ndarray) -> np.ndarray:
        return self.jacobian.T @ self._curved(self.jacobian @ x)

    def _curved(self, x: np.ndarray) -> np.ndarray:
        """Return H x for a vector or matrix x over the outputs."""
        if self._loss is None:
            return x
        hessian = self._hessian
        if x.ndim == 1:
            return hessian(x)
        return hessian.columns(x, block_width(x.shape[1], hessian.bytes, self.memory))

    @cached_property
    def _hessian(self) -> LinearMap:
        assert self._loss is not None
        return LinearMap(*self._loss.call(_hessian_of_loss))

    # --- matrices ------------------------------------------------------------------------------------

    def to_dense(self) -> np.ndarray:
        """Return the matrix as a NumPy array of shape ``(size, size)``."""
        if not self.stores_jacobian:
            return super().to_dense()
        return self.jacobian.T @ self._curved(self.jacobian)

    def diagonal(self) -> np.ndarray:
        """Return the diagonal as a flat vector."""
        if not self.stores_jacobian:
            return super().diagonal()
        return np.einsum("ij,ij->j", self.jacobian, self._curved(self.jacobian))

    @property
    def is_small(self) -> bool:
        """Whether a dense solution, over the weights or outputs, fits into ``memory``."""
        return super().is_small or self._solves_outputs

    @property
    def _solves_outputs(self) -> bool:
        return self.rows < self.shape[0] and self.stores_jacobian and self._fits(self.rows)

    def _solve_dense(self, b: np.ndarray, damping: float) -> np.ndarray:
        if damping == 0 or not self._solves_outputs:
            return super()._solve_dense(b, damping)
        # (λ I + Jᵀ H J)⁻¹ b = (b − Jᵀ (λ I + H J Jᵀ)⁻¹ H J b) / λ
        jacobian = self.jacobian
        kernel = self._curved(jacobian @ jacobian.T)
        kernel[np.diag_indices(self.rows)] += damping
        right = self._curved(jacobian @ b)
        solve = solve_general if self._loss is not None else solve_symmetric
        return (b - jacobian.T @ solve(kernel, right, self._singular(damping))) / damping


def gauss_newton(
    outputs: Callable[..., Any],
    weights: Any,
    *args: Any,
    loss: Callable[..., Any] | None = None,
    targets: Any = None,
    memory: int = DEFAULT_MEMORY,
) -> CurvatureOperator:
    """Return the Gauss–Newton matrix Jᵀ H J of a model and a loss, as an operator.

    J is the Jacobian of the outputs of the model with respect to the weights, and H is the Hessian of the
    loss with respect to these outputs. The operator describes the matrix at the values that the weights and
    arguments have when the operator is created. If the Jacobian fits into ``memory`` and is cheaper for many
    products, the operator stores it; ``explain`` reports the estimated costs. The Jacobian is computed when
    it is first needed. Until then, do not change other state that ``outputs`` reads.

    Args:
        outputs (Callable or Cell): the model, or a function that returns residuals. If the weights are
            Parameters, it is called as ``outputs(*args)``, and otherwise as ``outputs(weights, *args)``.
        weights (Parameter, Tensor, or container): weights to differentiate with respect to, as for
            :func:`hessian`.
        *args (Any): further arguments of ``outputs``, which are not differentiated.
        loss (Callable or Cell, optional): function of the outputs, and of the targets if they are given. If
            it returns several elements, their sum is used. Default: ``None``, half the sum of squares, so H
            is the identity.
        targets (Tensor or container, optional): second argument of ``loss``. Default: ``None``, the loss has
            one argument.
        memory (int, optional): number of bytes that the Jacobian, dense matrices, and blocks of vectors may
            use. Default: 256 MiB.

    Returns:
        CurvatureOperator: symmetric operator with one row for each element of the weights. It is positive
        semidefinite if the loss is convex.

    Raises:
        TypeError: If the weights are not Parameters or Tensors of a real floating dtype, ``loss`` is not
            callable, or an output is complex.
        ValueError: If the outputs do not depend on a weight, targets are given without a loss, a Parameter is
            listed twice, or ``memory`` is not positive.

    N. N. Schraudolph, *Fast curvature matrix-vector products for second-order gradient descent*, 2002.

    >>> import mindgrad as ms
    >>> x, y = ms.Tensor([0.0, 1.0, 2.0]), ms.Tensor([1.0, 2.0, 3.0])
    >>> w = ms.Tensor([1.0, 0.5])
    >>> model = lambda w, x: w[0] * x + w[1]
    >>> G = ms.curvature.gauss_newton(model, w, x)
    >>> print(G.to_dense())
    [[5. 3.]
     [3. 3.]]
    >>> step = G.solve(ms.grad(lambda w: 0.5 * ((model(w, x) - y) ** 2).sum())(w))
    >>> print(w - step)  # one Gauss–Newton step fits a linear model
    [1. 1.]
    >>> G = ms.curvature.gauss_newton(model, w, x, loss=ms.nn.MSELoss(), targets=y)
    >>> print(G.diagonal().round(3))
    [3.333 2.   ]

    See Also:
        :func:`mindgrad.curvature.hessian`, :func:`mindgrad.curvature.fisher`, :func:`mindgrad.ggnvp`
    """
    if loss is None and targets is not None:
        raise ValueError("For 'gauss_newton', 'targets' are arguments of a loss, but 'loss' is None.")
    further = () if targets is None else (targets,)
    return gauss_newton_operator("gauss_newton", outputs, weights, args, loss, further, loss is None, memory)
