"""Nonlinear least squares: residuals, linearizations, and damped systems.

    loss(w) = ½ ‖r(w)‖²        δ = (JᵀJ + λI)⁻¹ Jᵀ y = Jᵀ (JJᵀ + λI)⁻¹ y,   J = ∂r/∂w

One compiled function computes the residuals r and the Jacobian J. The smaller of the Gram matrices JᵀJ
(*weight space*) and JJᵀ (*residual space*) is computed by BLAS, which needs half the products of a general
matrix product, or by the GPU. LAPACK factorizes it in float64. If J exceeds a memory bound, conjugate
gradients solve the system with products of J and vectors.
"""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable, Sequence
from math import prod
from typing import Any

import numpy as np

from mindgrad.api.vjp_call import Run
from mindgrad.core.api.jit import jit
from mindgrad.core.base.scipy_modules import SciPyModule
from mindgrad.core.control.lazy import expand_lazy
from mindgrad.core.ir.build import Builder
from mindgrad.core.ir.dtype import float64
from mindgrad.core.ir.graph import Atom, Variable
from mindgrad.core.ir.rules import Atoms, Tangents
from mindgrad.core.ir.settings import options
from mindgrad.core.ir.tensor import Tensor, make_tensor
from mindgrad.core.numpy import concatenate
from mindgrad.core.transforms.apply_rule import between
from mindgrad.core.transforms.forward import forward_rule
from mindgrad.core.transforms.reverse import reverse_rule
from mindgrad.core.transforms.taylor import taylor
from mindgrad.curvature.objective import Objective, derivatives, outputs_of
from mindgrad.curvature.row_axes import dependent_variables
from mindgrad.curvature.row_jacobian import row_jacobian_rule
from mindgrad.curvature.weight_space import flat_arrays

blas: Any = SciPyModule("linalg.blas")
lapack: Any = SciPyModule("linalg.lapack")

__all__ = ["DenseSystem", "DeviceSystem", "LinearSystem", "ProductSystem", "Residuals", "SingularError"]

#: conjugate gradients stop if the residual of the linear system is this fraction of its right side
_TOLERANCE = 1e-8


class SingularError(ValueError):
    """A linear system without damping has no unique solution."""


class LinearSystem:
    """The linearization of residuals at the present weights.

    Attributes:
        residuals: the flat vector r, in float64.
        gradient: the gradient Jᵀr of the loss ½ ‖r‖².
        loss: ½ ‖r‖².
    """

    def __init__(self, residuals: np.ndarray, gradient: np.ndarray) -> None:
        self.residuals = residuals
        self.gradient = gradient
        self.loss = 0.5 * float(residuals @ residuals)

    def image(self, vector: np.ndarray) -> np.ndarray:
        """Return J ``vector``."""
        raise NotImplementedError

    def solver(self, damping: float) -> Callable[[np.ndarray], np.ndarray]:
        """Return the function y ↦ (JᵀJ + λI)⁻¹ Jᵀy with λ = ``damping``.

        Raises:
            SingularError: If the matrix is not positive definite within rounding errors.
        """
        raise NotImplementedError


class DenseSystem(LinearSystem):
    """A linearization with the matrix J.

    Args:
        residuals: the flat vector r.
        blocks: the columns of J that belong to each weight.
    """

    def __init__(self, residuals: np.ndarray, blocks: Sequence[Any]) -> None:
        self.blocks = blocks
        self.count = len(residuals)
        self.sizes = [block.shape[1] for block in blocks]
        self.in_residual_space = self.count < sum(self.sizes)
        super().__init__(residuals, self._pulled(residuals))
        self.gram = self._gram()

    def _gram(self) -> np.ndarray:
        """Return JJᵀ in residual space, or JᵀJ. Only the elements below the diagonal are needed."""
        if not self.in_residual_space:
            return blas.dsyrk(1.0, np.concatenate(self.blocks, 1).T, lower=1)
        gram = np.zeros((self.count, self.count), order="F")
        for block in self.blocks:
            gram = blas.dsyrk(1.0, block.T, 1.0, gram, trans=1, lower=1, overwrite_c=1)
        return gram

    def image(self, vector: np.ndarray) -> np.ndarray:
        """Return J ``vector``."""
        parts = np.split(vector, np.cumsum(self.sizes)[:-1])
        return np.sum([block @ part for block, part in zip(self.blocks, parts, strict=True)], 0)

    def _pulled(self, vector: np.ndarray) -> np.ndarray:
        return np.concatenate([block.T @ vector for block in self.blocks])

    def solver(self, damping: float) -> Callable[[np.ndarray], np.ndarray]:
        """Return the function y ↦ (JᵀJ + λI)⁻¹ Jᵀy with λ = ``damping``."""
        solve = self._gram_solver(damping)
        if self.in_residual_space:
            return lambda y: self._pulled(solve(y))
        return lambda y: solve(self._pulled(y))

    def inverse(self, damping: float, vector: np.ndarray) -> np.ndarray:
        """Return (JᵀJ + λI)⁻¹ ``vector`` with λ = ``damping``.

        In residual space, λ must be positive.
        """
        solve = self._gram_solver(damping)
        if self.in_residual_space:
            return (vector - self._pulled(solve(self.image(vector)))) / damping
        return solve(vector)

    def _gram_solver(self, damping: float) -> Callable[[np.ndarray], np.ndarray]:
        matrix = self.gram.copy(order="F")
        matrix[np.diag_indices(len(matrix))] += damping
        factor, info = lapack.dpotrf(matrix, lower=1, overwrite_a=1)
        diagonal = np.diag(factor)
        rounding = len(matrix) * np.finfo(np.float64).eps
        if info or not diagonal.min() ** 2 > (0 if damping else rounding * diagonal.max() ** 2):
            raise SingularError
        return lambda y: lapack.dpotrs(factor, y, lower=1)[0]


class DeviceSystem(DenseSystem):
    """A linearization whose matrix J stays on a GPU.

    The GPU also computes the Gram matrix, which is the only matrix that is copied to the host. The blocks are
    Tensors.
    """

    def image(self, vector: np.ndarray) -> np.ndarray:
        """Return J ``vector``."""
        parts = np.split(vector, np.cumsum(self.sizes)[:-1])
        return _image_on_device(list(map(make_tensor, parts)), self.blocks).asnumpy()

    def _pulled(self, vector: np.ndarray) -> np.ndarray:
        return _pulled_on_device(make_tensor(vector), self.blocks).asnumpy()

    def _gram(self) -> np.ndarray:
        compute = _rows_gram_on_device if self.in_residual_space else _columns_gram_on_device
        return compute(self.blocks).asnumpy()


@jit
def _image_on_device(parts: Sequence[Tensor], blocks: Sequence[Tensor]) -> Tensor:
    products = [block.astype(float64) @ part for part, block in zip(parts, blocks, strict=True)]
    return functools.reduce(operator.add, products)


@jit
def _pulled_on_device(vector: Tensor, blocks: Sequence[Tensor]) -> Tensor:
    return concatenate([vector @ block.astype(float64) for block in blocks])


@jit
def _rows_gram_on_device(blocks: Sequence[Tensor]) -> Tensor:
    wide = [block.astype(float64) for block in blocks]
    return functools.reduce(operator.add, [block @ block.T for block in wide])


@jit
def _columns_gram_on_device(blocks: Sequence[Tensor]) -> Tensor:
    matrix = concatenate([block.astype(float64) for block in blocks], 1)
    return matrix.T @ matrix


class ProductSystem(LinearSystem):
    """A linearization that computes products of J and vectors, and stores no matrix.

    The products are computed at the present Parameters, so the caller does not change them before a product.

    Args:
        objective: the residuals as an objective.
        residuals: the flat vector r.
        shapes: the shapes of the outputs of the function.
    """

    def __init__(self, objective: Objective, residuals: np.ndarray, shapes: Sequence[Sequence[int]]) -> None:
        self.objective = objective
        self.shapes = shapes
        self.most = 2 * min(len(residuals), objective.space.size)  # rounding errors delay the convergence
        super().__init__(residuals, self._pulled(residuals))

    def image(self, vector: np.ndarray) -> np.ndarray:
        """Return J ``vector``."""
        return _flat(self.objective.call(_pushed, *_tensors(self.objective, vector)))

    def _pulled(self, vector: np.ndarray) -> np.ndarray:
        ends = np.cumsum([prod(shape) for shape in self.shapes])
        parts = zip(np.split(vector, ends[:-1]), self.shapes, strict=True)
        return _flat(self.objective.call(_pulled, *[make_tensor(x.reshape(shape)) for x, shape in parts]))

    def solver(self, damping: float) -> Callable[[np.ndarray], np.ndarray]:
        """Return the function y ↦ (JᵀJ + λI)⁻¹ Jᵀy with λ = ``damping``."""
        return lambda y: self._conjugate_gradients(damping, y)

    def _conjugate_gradients(self, damping: float, y: np.ndarray) -> np.ndarray:
        """Solve min ‖Jx − y‖² + λ ‖x‖² (CGLS, Å. Björck, *Numerical Methods for Least Squares Problems*)."""
        x = np.zeros(self.objective.space.size)
        misfit = y.copy()
        direction = slope = self._pulled(misfit)
        square = float(slope @ slope)
        limit = _TOLERANCE**2 * square
        for _ in range(self.most):
            if square <= limit:
                break
            image = self.image(direction)
            curvature = float(image @ image + damping * (direction @ direction))
            if not curvature > 0:
                raise SingularError
            length = square / curvature
            x = x + length * direction
            misfit = misfit - length * image
            slope = self._pulled(misfit) - damping * x
            before, square = square, float(slope @ slope)
            direction = slope + (square / before) * direction
        return x


class Residuals:
    """Residuals as a function of Parameters.

    Args:
        owner: name of the optimizer, for error messages.
        function: function that returns one Tensor or several Tensors of residuals.
        args: arguments of the function.
        weights: Parameters.
        memory: maximum number of bytes of the Jacobian.
    """

    def __init__(
        self, owner: str, function: Callable[..., Any], args: Sequence[Any], weights: Any, memory: float
    ) -> None:
        self.objective = Objective(owner, function, weights, args, needs_all=False)
        self.space = self.objective.space
        self._linearized = _linearized_within(float(memory))

    def current(self) -> np.ndarray:
        """Return the elements of all Parameters, in float64."""
        return self.space.current().astype(np.float64)

    def linearize(self) -> LinearSystem:
        """Compute residuals and Jacobian at the present Parameters.

        Raises:
            TypeError: If a residual is not a real floating-point Tensor.
            ValueError: If the residuals do not depend on the Parameters, or are infinite or NaN.
        """
        outputs, blocks, is_dependent = self.objective.call(self._linearized)
        residuals = _flat(outputs)
        if not is_dependent:
            raise ValueError(
                f"For '{self.objective.owner}.step', the residuals do not depend on the Parameters of the "
                "optimizer. Compute them from these Parameters."
            )
        if not np.isfinite(residuals).all():
            raise ValueError(
                f"For '{self.objective.owner}.step', a residual is infinite or NaN at the present "
                "Parameters. Start from other values, or check the data."
            )
        if blocks is None:
            return ProductSystem(self.objective, residuals, [y.shape for y in outputs])
        if options["device_target"] != "CPU":
            return DeviceSystem(residuals, blocks)
        return DenseSystem(residuals, [x.read_only_array().astype(np.float64, copy=False) for x in blocks])

    def at(self, vector: np.ndarray) -> np.ndarray:
        """Move the Parameters to ``vector``, and return the residuals there."""
        self.space.assign(vector)
        return _flat(self.objective.call(outputs_of))

    def second_derivative(self, direction: np.ndarray) -> np.ndarray:
        """Return the second derivative of the residuals along ``direction``."""
        return 2.0 * _flat(self.objective.call(_second_coefficients, *_tensors(self.objective, direction)))


def _flat(tensors: Sequence[Tensor]) -> np.ndarray:
    return flat_arrays(tensors).astype(np.float64, copy=False)


def _tensors(objective: Objective, vector: np.ndarray) -> list[Tensor]:
    return list(objective.space.tree(vector))


def _checked(run: Run) -> list[Tensor]:
    for y in run.outputs:
        if y.dtype.kind != "float":
            raise TypeError(
                f"For '{run.owner}.step', residuals must be real floating-point numbers, but got a Tensor of "
                f"dtype {y.dtype}."
            )
    if len(run.outputs) == 1 and not run.outputs[0].shape:
        raise ValueError(
            f"For '{run.owner}.step', the function must return residuals, whose squares are summed, but it "
            "returned a scalar, which may be a loss. Return the residuals, or reshape a single residual to "
            "the shape (1,)."
        )
    return run.outputs


def _pushed(run: Run, *vectors: Tensor) -> list[Tensor]:
    return derivatives(run, forward_rule, vectors)[1]


def _pulled(run: Run, *vectors: Tensor) -> list[Tensor]:
    cotangents = [ct.astype(y.dtype) for ct, y in zip(vectors, run.outputs, strict=True)]
    return derivatives(run, reverse_rule, cotangents)[1]


def _second_coefficients(run: Run, *vectors: Tensor) -> list[Tensor]:
    return derivatives(run, _second_coefficient_rule, vectors)[1]


@functools.cache
def _linearized_within(memory: float) -> Callable[[Run], Any]:
    """Return a function that computes residuals and the blocks of J.

    It returns ``None`` instead of blocks that exceed ``memory``.
    """

    def linearized(run: Run) -> tuple[list[Tensor], list[Tensor] | None, bool]:
        outputs = _checked(run)
        count = sum(y.size for y in outputs)
        size = sum(x.size for x in run.recorded.inputs)
        if not derivatives(run, _dependence_rule)[1]:
            return outputs_of(run), None, False
        itemsize = max(y.dtype.numpy.itemsize for y in outputs)
        if count * size * itemsize > memory:
            return outputs_of(run), None, True
        outputs, blocks = derivatives(run, row_jacobian_rule)
        return outputs, [x.reshape(count, -1) for x in blocks], True

    return linearized


def _dependence_rule(builder: Builder, xs: Sequence[Variable], ys: Atoms, _: Tangents = ()) -> list[Atom]:
    """Return the outputs that depend on ``xs``."""
    dependent = dependent_variables(builder.equations, xs)
    return [y for y in ys if y in dependent]


def _second_coefficient_rule(
    builder: Builder, xs: Sequence[Variable], ys: Atoms, vectors: Tangents
) -> list[Atom]:
    """Emit the coefficients of s² of the outputs along the line x + s v."""
    graph, others = between(builder, xs, ys)
    active = range(len(others), len(others) + len(xs))
    series = taylor(expand_lazy(graph), active, order=2, degree=1)
    directions = [v for v in vectors if v is not None]
    results = builder.inline(series, [*others, *xs, *directions])
    return list(results[len(ys) + 1 :: 2])
