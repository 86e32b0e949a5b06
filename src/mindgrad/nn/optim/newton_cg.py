"""Newton's method with conjugate gradients and a trust region."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from mindgrad.common.parameter import Parameter
from mindgrad.core.ir.tensor import Tensor
from mindgrad.nn.hyperparameters import non_negative, positive, positive_int
from mindgrad.nn.optim.closure import ClosureOptimizer, FlatFunction

__all__ = ["NewtonCG"]

#: a step is accepted if the loss decreases by more than this fraction of the predicted decrease
_ACCEPTED = 1e-4
#: the radius shrinks below the first ratio of actual and predicted decrease, and grows above the second
_POOR, _GOOD = 0.25, 0.75
#: factors of the radius
_SHRINKS, _GROWS = 0.25, 2.0
#: rounding errors of the loss that the ratio ignores (A. R. Conn, N. I. M. Gould, and P. L. Toint,
#: *Trust-Region Methods*, 2000, section 17.4.2)
_ROUNDINGS = 10
#: largest residual of the linear system, as a fraction of the gradient
_LARGEST_RESIDUAL = 0.5


class NewtonCG(ClosureOptimizer):
    """Truncated Newton method with Hessian-vector products and a trust region.

    An iteration minimizes the quadratic model of the loss f approximately, within the radius Δ::

        m(p) = f(x) + gᵀp + ½ pᵀH p,   ‖p‖ ≤ Δ

    with the gradient g and the Hessian H at x. The method of conjugate gradients needs only products of H
    with vectors, which are exact and cost one compiled call each. It stops at the boundary, or if a direction
    has negative curvature, where it follows this direction to the boundary (T. Steihaug, *The conjugate
    gradient method and trust regions in large scale optimization*, 1983). Therefore, the loss need not be
    convex. The method also stops if the residual ‖Hp + g‖ is at most min(½, √‖g‖) ‖g‖, so the convergence is
    superlinear. The step is accepted if the loss decreases enough, and Δ adapts to the ratio of the actual
    and the predicted decrease (J. Nocedal and S. J. Wright, *Numerical Optimization*, 2006, algorithms 4.1
    and 7.2). After a rejected step, the new step follows the computed directions, without further products.

    The radius is part of the optimizer state, so a checkpoint resumes exactly. There is no learning rate.

    Args:
        params (list of Parameter): Parameters to train, in float32 or float64. Parameter groups are not
            supported, because one radius applies to all Parameters.
        max_iter (int): maximum number of iterations in one call of ``step``. A rejected step counts.
        max_cg_iter (int): maximum number of products in one iteration.
        initial_radius (float): radius Δ before the first step, positive.
        max_radius (float): largest radius, at least ``initial_radius``.
        tolerance_grad (float): ``step`` returns if no element of the gradient is larger.
        tolerance_change (float): ``step`` returns if an accepted step changes no element of the Parameters by
            more, or if the radius is at most this number.

    Inputs:
        gradients (tuple of Tensor): not accepted; call ``step``.

    Raises:
        TypeError: If an argument or Parameter has an unsupported type.
        ValueError: If an argument is out of range, or there are parameter groups.
        RuntimeError: If the same Parameter is listed twice.

    The start is close to a saddle point, where the Hessian has a negative eigenvalue:

    >>> import mindgrad as ms
    >>> w = ms.Parameter(ms.Tensor([1.0, 0.01], ms.float64), name="w")
    >>> optimizer = ms.nn.NewtonCG([w])
    >>> loss = optimizer.step(lambda: w[0] ** 2 + w[1] ** 4 - 2 * w[1] ** 2)
    >>> print(w.asnumpy().round(6) + 0.0)
    [0. 1.]
    """

    def __init__(
        self,
        params: Any,
        max_iter: int = 20,
        max_cg_iter: int = 100,
        initial_radius: float = 1.0,
        max_radius: float = 1000.0,
        tolerance_grad: float = 1e-7,
        tolerance_change: float = 1e-12,
    ) -> None:
        super().__init__(1.0, params)
        self._check_single_group()
        owner = self.cls_name
        self.max_iter = positive_int(owner, "max_iter", max_iter)
        self.max_cg_iter = positive_int(owner, "max_cg_iter", max_cg_iter)
        self.initial_radius = positive(owner, "initial_radius", initial_radius)
        self.max_radius = positive(owner, "max_radius", max_radius)
        if self.max_radius < self.initial_radius:
            raise ValueError(
                f"For '{owner}', the 'max_radius' must be at least the 'initial_radius', but got "
                f"{self.max_radius} and {self.initial_radius}."
            )
        self.tolerance_grad = non_negative(owner, "tolerance_grad", tolerance_grad)
        self.tolerance_change = non_negative(owner, "tolerance_change", tolerance_change)
        self.radius = Parameter(
            Tensor(np.full(1, self.initial_radius, np.float64)), name="trust_radius", requires_grad=False
        )

    def advance(self, function: Callable[..., Any], args: Sequence[Any]) -> Any:
        flat = FlatFunction(self.cls_name, function, args, self.parameters)
        x = flat.point()
        value, gradient = flat.evaluate(x)
        radius = float(self.radius.asnumpy()[0])
        path: list[_Segment] = []
        try:
            for _ in range(self.max_iter):
                if not np.isfinite(value) or np.abs(gradient).max() <= self.tolerance_grad:
                    break
                if not path:
                    path = _conjugate_gradients(flat.product, gradient, radius, self.max_cg_iter)
                step, predicted = _last_point(path, radius)
                moved = flat.rounded(x + step)
                new_value, new_gradient = flat.evaluate(moved)
                ratio = _ratio(value, new_value, predicted, flat.precision())
                radius = self._next_radius(radius, ratio, float(np.linalg.norm(step)))
                if ratio > _ACCEPTED:
                    change = float(np.abs(moved - x).max())
                    x, value, gradient, path = moved, new_value, new_gradient, []
                else:
                    change = radius
                if change <= self.tolerance_change:
                    break
        finally:
            flat.move_to(x)
        self.radius.set_data(Tensor(np.full(1, radius, np.float64)))
        return flat.loss

    def _next_radius(self, radius: float, ratio: float, length: float) -> float:
        if ratio < _POOR:
            return _SHRINKS * length
        if ratio > _GOOD and length > 0.99 * radius:
            return min(_GROWS * radius, self.max_radius)
        return radius


def _ratio(value: float, new_value: float, predicted: float, precision: float) -> float:
    """Return the ratio of the actual and the predicted decrease of the loss."""
    if not math.isfinite(new_value):
        return -math.inf
    rounding = _ROUNDINGS * precision * abs(value)
    return (value - new_value + rounding) / (predicted + rounding)


class _Segment(NamedTuple):
    """A line from one iterate of the conjugate gradients to the next.

    The model has the value ``value`` + t ``slope`` + ½ t² ``curvature`` at ``start`` + t ``direction``. The
    line ends at t = ``length``, which is infinite if the curvature is not positive.
    """

    start: np.ndarray
    direction: np.ndarray
    length: float
    value: float
    slope: float
    curvature: float


def _conjugate_gradients(
    product: Callable[[np.ndarray], np.ndarray], gradient: np.ndarray, radius: float, most: int
) -> list[_Segment]:
    """Return the path of the iterates up to the boundary or a small residual."""
    size = float(np.linalg.norm(gradient))
    tolerance = min(_LARGEST_RESIDUAL, math.sqrt(size)) * size
    start, residual, direction = np.zeros_like(gradient), gradient, -gradient
    square, value, path = float(residual @ residual), 0.0, []
    for _ in range(most):
        image = product(direction)
        curvature, slope = float(direction @ image), -square
        length = square / curvature if curvature > 0 else math.inf
        path.append(_Segment(start, direction, length, value, slope, curvature))
        if not curvature > 0:
            break
        start = start + length * direction
        if np.linalg.norm(start) >= radius:
            break
        value += 0.5 * length * slope
        residual = residual + length * image
        before, square = square, float(residual @ residual)
        if math.sqrt(square) <= tolerance:
            break
        direction = -residual + (square / before) * direction
    return path


def _last_point(path: Sequence[_Segment], radius: float) -> tuple[np.ndarray, float]:
    """Return the last point of the path within the radius, and the decrease there."""
    lengths = [_to_boundary(segment.start, segment.direction, radius) for segment in path]
    crossing = (k for k, segment in enumerate(path) if lengths[k] <= segment.length)
    number = next(crossing, len(path) - 1)
    start, direction, length, value, slope, curvature = path[number]
    last = min(length, lengths[number])
    return start + last * direction, -(value + last * slope + 0.5 * last * last * curvature)


def _to_boundary(start: np.ndarray, direction: np.ndarray, radius: float) -> float:
    """Return the positive t with ‖start + t direction‖ = radius."""
    square, mixed = float(direction @ direction), float(start @ direction)
    outside = float(start @ start) - radius * radius
    root = math.sqrt(max(mixed * mixed - square * outside, 0.0))
    # of the two equal expressions, this one has no cancellation
    return -outside / (mixed + root) if mixed + root > 0 else (root - mixed) / square
