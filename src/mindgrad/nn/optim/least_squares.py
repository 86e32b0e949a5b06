"""Optimizers for nonlinear least squares: Gauss–Newton and Levenberg–Marquardt."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from mindgrad.common.parameter import Parameter
from mindgrad.core.ir.tensor import Tensor
from mindgrad.curvature.residuals import LinearSystem, Residuals, SingularError
from mindgrad.nn.hyperparameters import boolean, non_negative, positive
from mindgrad.nn.optim.closure import ClosureOptimizer

__all__ = ["GaussNewton", "LevenbergMarquardt"]

#: a step length is accepted if the loss decreases by this fraction of the decrease that the slope predicts
_DECREASE = 1e-4
#: the line search halves the step length at most this often
_HALVINGS = 30
#: LevenbergMarquardt raises an error if residuals are infinite or NaN up to this damping
_LARGEST_DAMPING = 1e32
#: LevenbergMarquardt does not decrease the damping below this number
_SMALLEST_DAMPING = 1e-30
#: a decrease of the loss by fewer roundings of the loss counts as zero
_ROUNDINGS = 10


class _LeastSquaresOptimizer(ClosureOptimizer):
    """Base class of optimizers that take a function that returns residuals."""

    def __init__(self, learning_rate: Any, params: Any, memory: Any) -> None:
        super().__init__(learning_rate, params)
        self._check_single_group()
        self.memory = positive(self.cls_name, "memory", memory)
        self._rounding = _ROUNDINGS * max(float(np.finfo(p.dtype.numpy).eps) for p in self.parameters)

    def advance(self, function: Callable[..., Any], args: Sequence[Any]) -> Any:
        residuals = Residuals(self.cls_name, function, args, list(self.parameters), self.memory)
        start = residuals.current()
        system = residuals.linearize()
        end = start
        try:
            end = self._next_point(residuals, system, start)
        finally:
            residuals.space.assign(end)
        return Tensor(np.array(system.loss, residuals.space.dtype))

    def _next_point(self, residuals: Residuals, system: LinearSystem, start: np.ndarray) -> np.ndarray:
        """Return the flat vector of the Parameters after the step."""
        raise NotImplementedError

    def _loss_at(self, residuals: Residuals, point: np.ndarray) -> float:
        moved = residuals.at(point)
        loss = 0.5 * float(moved @ moved)
        return loss if math.isfinite(loss) else math.inf


class GaussNewton(_LeastSquaresOptimizer):
    """The damped Gauss–Newton method for a sum of squared residuals.

    The loss is half the sum of squares of the residuals r. J is the Jacobian of r with respect to the
    Parameters. A step is::

        L(w) = ½ Σᵢ rᵢ(w)²
        δ = μ φ + (JᵀJ + λI)⁻¹ Jᵀ (r − μ J φ)
        w ← w − t δ,   φ ← δ

    with the damping λ, the momentum μ, and the step length t. The system is solved in *weight space* as
    above, or in *residual space* as Jᵀ (JJᵀ + λI)⁻¹, whichever matrix is smaller. Without momentum, δ is the
    step of Levenberg and Marquardt with a constant λ. With momentum, it is the method SPRING, which is useful
    if each step has other data (G. Goldshlager, N. Abrahamsen, and L. Lin, *A Kaczmarz-inspired approach to
    accelerate the optimization of neural network wavefunctions*, 2024).

    One compiled call computes r and J, which also works for residuals that contain derivatives of a network,
    such as residuals of partial differential equations. LAPACK factorizes the matrix in float64. If J exceeds
    ``memory``, the method of conjugate gradients solves the system with products of J and vectors.

    Args:
        params (list of Parameter): Parameters to train, in float32 or float64. Parameter groups are not
            supported.
        learning_rate (float, Tensor, iterable, or LearningRateSchedule): step length t, or the first step
            length that the line search tries. Default: ``1.0``.
        damping (float): λ, at least 0. It has the unit of JᵀJ. Default: ``1e-6``.
        momentum (float): μ, at least 0 and less than 1. Default: ``0.0``.
        line_search (bool): whether to halve t until the loss decreases by 10⁻⁴ of the decrease that the slope
            predicts. If no t does, the Parameters do not change. Default: ``True``.
        memory (float): maximum number of bytes of J. Default: 2 GiB.

    Inputs:
        gradients (tuple of Tensor): not accepted; call ``step`` with a function that returns one Tensor or
            several Tensors of residuals, of any shapes.

    Raises:
        TypeError: If an argument, Parameter, or residual has an unsupported type.
        ValueError: If an argument is out of range, there are parameter groups, or the matrix is singular and
            ``damping`` is 0. Also if a residual is infinite or NaN, or the residuals do not depend on the
            Parameters or are a scalar.
        RuntimeError: If the same Parameter is listed twice.

    Without damping, one step solves a linear least-squares problem:

    >>> import mindgrad as ms
    >>> x = ms.Tensor([0.0, 1.0, 2.0, 3.0])
    >>> y = ms.Tensor([1.0, 3.0, 5.0, 7.0])
    >>> w = ms.Parameter(ms.Tensor([0.0, 0.0]), name="w")
    >>> optimizer = ms.nn.GaussNewton([w], damping=0.0)
    >>> print(optimizer.step(lambda: w[0] + w[1] * x - y), w.asnumpy().round(5))
    42.0 [1. 2.]
    """

    def __init__(
        self,
        params: Any,
        learning_rate: Any = 1.0,
        damping: float = 1e-6,
        momentum: float = 0.0,
        line_search: bool = True,
        memory: float = 2.0**31,
    ) -> None:
        super().__init__(learning_rate, params, memory)
        owner = self.cls_name
        self.damping = non_negative(owner, "damping", damping)
        self.momentum = non_negative(owner, "momentum", momentum)
        if self.momentum >= 1:
            raise ValueError(f"For '{owner}', the 'momentum' must be less than 1, but got {self.momentum}.")
        self.line_search = boolean(owner, "line_search", line_search)
        size = sum(parameter.size for parameter in self.parameters) if self.momentum else 0
        self.last_step = Parameter(Tensor(np.zeros(size)), name="gauss_newton_step", requires_grad=False)

    def _next_point(self, residuals: Residuals, system: LinearSystem, start: np.ndarray) -> np.ndarray:
        try:
            solve = system.solver(self.damping)
            step = solve(system.residuals)
            if self.momentum:
                former = self.momentum * self.last_step.asnumpy()
                moved = former + solve(system.residuals - system.image(former))
                # with momentum, the step may point uphill, so that no step length would be accepted
                step = moved if moved @ system.gradient > 0 or not self.line_search else step
        except SingularError:
            raise ValueError(
                f"For '{self.cls_name}.step', the Gauss–Newton matrix is singular with damping="
                f"{self.damping}. Pass a larger 'damping'."
            ) from None
        length = self._length(residuals, system, start, step)
        if self.momentum and length:
            self.last_step.set_data(Tensor(step))
        return start - length * step

    def _length(
        self, residuals: Residuals, system: LinearSystem, start: np.ndarray, step: np.ndarray
    ) -> float:
        length = float(self.get_lr())
        if not self.line_search:
            return length
        slope = float(step @ system.gradient)
        for _ in range(_HALVINGS):
            loss = self._loss_at(residuals, start - length * step)
            if loss < system.loss - _DECREASE * length * slope:
                return length
            if length * slope <= self._rounding * system.loss:
                break
            length /= 2
        return 0.0


class LevenbergMarquardt(_LeastSquaresOptimizer):
    """The Levenberg–Marquardt method with adaptive damping and acceleration.

    The loss is half the sum of squares of the residuals r. J is the Jacobian of r with respect to the
    Parameters. A step is::

        L(w) = ½ Σᵢ rᵢ(w)²
        v = −(JᵀJ + λI)⁻¹ Jᵀ r
        a = −(JᵀJ + λI)⁻¹ Jᵀ r″,   r″ = ∂²r(w + s v) / ∂s²  at s = 0
        w ← w + v + ½ a

    The *acceleration* a corrects v for the curvature of the residuals. It is used if 2 ‖a‖ is at most
    ``acceleration`` times ‖v‖ (M. K. Transtrum and J. P. Sethna, *Improvements to the Levenberg–Marquardt
    algorithm for nonlinear least-squares minimization*, 2012). One Taylor series computes r″.

    The step is accepted if the loss decreases, that is, if the gain ratio of actual and predicted decrease is
    positive. Then the damping λ is divided by ``decrease``. Otherwise, λ is multiplied by ``increase``, and
    the step is computed again from the same J. In this way, ``step`` takes one accepted step. If the
    predicted decrease is a rounding error of the loss, the Parameters and λ do not change. The damping is a
    part of the optimizer state, so a checkpoint resumes exactly.

    The system is solved in weight space or residual space, as in :class:`GaussNewton`.

    Args:
        params (list of Parameter): Parameters to train, in float32 or float64. Parameter groups are not
            supported.
        damping (float): λ before the first step, positive. It has the unit of JᵀJ. Default: ``0.01``.
        increase (float): factor of λ after a rejected step, greater than 1. Default: ``1.5``.
        decrease (float): divisor of λ after an accepted step, at least 1. Default: ``5.0``.
        acceleration (float): maximum of 2 ‖a‖ / ‖v‖ for which the acceleration is used. With 0, it is not
            computed. Default: ``0.75``.
        memory (float): maximum number of bytes of J. Default: 2 GiB.

    Inputs:
        gradients (tuple of Tensor): not accepted; call ``step`` with a function that returns one Tensor or
            several Tensors of residuals, of any shapes.

    Raises:
        TypeError: If an argument, Parameter, or residual has an unsupported type.
        ValueError: If an argument is out of range, there are parameter groups, or the residuals do not depend
            on the Parameters or are a scalar. Also if residuals are infinite or NaN at the Parameters or
            after steps of any length.
        RuntimeError: If the same Parameter is listed twice.

    The solution of y″ = −y with y(0) = 0 and y(1) = sin(1), as a network:

    >>> import mindgrad as ms
    >>> _ = ms.set_seed(1)
    >>> net = ms.nn.SequentialCell(ms.nn.Dense(1, 8), ms.nn.Tanh(), ms.nn.Dense(8, 1))
    >>> for parameter in net.get_parameters():
    ...     _ = parameter.set_dtype(ms.float64)
    >>> x = ms.ops.linspace(ms.Tensor(0.0, ms.float64), ms.Tensor(1.0, ms.float64), 20).reshape(-1, 1)
    >>> ends = ms.Tensor([[0.0], [1.0]], ms.float64)
    >>> def residuals():
    ...     return ms.laplacian(net)(x).reshape(-1, 1) + net(x), net(ends) - ms.ops.sin(ends)
    >>> optimizer = ms.nn.LevenbergMarquardt(net.trainable_params())
    >>> for _ in range(60):
    ...     loss = optimizer.step(residuals)
    >>> print(abs(net(x) - ms.ops.sin(x)).max() < 1e-5)
    True
    """

    def __init__(
        self,
        params: Any,
        damping: float = 1e-2,
        increase: float = 1.5,
        decrease: float = 5.0,
        acceleration: float = 0.75,
        memory: float = 2.0**31,
    ) -> None:
        super().__init__(1.0, params, memory)
        owner = self.cls_name
        initial = positive(owner, "damping", damping)
        self.increase = positive(owner, "increase", increase)
        if self.increase <= 1:
            raise ValueError(
                f"For '{owner}', the 'increase' must be greater than 1, but got {self.increase}."
            )
        self.decrease = positive(owner, "decrease", decrease)
        if self.decrease < 1:
            raise ValueError(f"For '{owner}', the 'decrease' must be at least 1, but got {self.decrease}.")
        self.acceleration = non_negative(owner, "acceleration", acceleration)
        self.damping = Parameter(
            Tensor(np.full(1, initial)), name="levenberg_marquardt_damping", requires_grad=False
        )

    def _next_point(self, residuals: Residuals, system: LinearSystem, start: np.ndarray) -> np.ndarray:
        damping = float(self.damping.asnumpy()[0])
        loss = 0.0
        while damping <= _LARGEST_DAMPING:
            try:
                step, predicted = self._step(residuals, system, start, damping)
            except SingularError:
                damping *= self.increase
                continue
            before, loss = loss, self._loss_at(residuals, start + step)
            if loss < system.loss:
                damping = max(damping / self.decrease, _SMALLEST_DAMPING)
                self.damping.set_data(Tensor(np.full(1, damping)))
                return start + step
            if math.isfinite(loss) and predicted <= self._rounding * system.loss:
                if before == math.inf:  # the step is so short that it changes nothing, and all others fail
                    break
                return start
            damping *= self.increase
        raise ValueError(
            f"For '{self.cls_name}.step', residuals are infinite or NaN after steps of any length. Check the "
            "residuals near the present Parameters."
        )

    def _step(
        self, residuals: Residuals, system: LinearSystem, start: np.ndarray, damping: float
    ) -> tuple[np.ndarray, float]:
        """Return v + ½ a, and the decrease of the loss that the linear model predicts."""
        residuals.space.assign(start)  # derivatives are computed there, not at the last trial
        solve = system.solver(damping)
        step = -solve(system.residuals)
        square = float(step @ step)
        predicted = 0.5 * (damping * square - float(step @ system.gradient))
        if self.acceleration and square:
            bend = -solve(residuals.second_derivative(step))
            if 4 * float(bend @ bend) <= self.acceleration**2 * square:  # false for NaN
                step = step + 0.5 * bend
        return step, predicted
