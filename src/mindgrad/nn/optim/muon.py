"""Muon: momentum whose matrices are orthogonalized by Newton–Schulz iterations."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from mindgrad import ops
from mindgrad._base.checks import of_type
from mindgrad.common import dtype
from mindgrad.nn.hyperparameters import boolean, fraction, positive, positive_int, real
from mindgrad.nn.optim.optimizer import Optimizer, documented, rate_at, wide_dtype
from mindgrad.nn.optim.rates import checked_rate, held_rate

__all__ = ["Muon"]

#: factor of √max(m, n) with which an orthogonal update has the root mean square of a step of AdamW (J. Liu et
#: al., *Muon is Scalable for LLM Training*, 2025)
_RMS = 0.2


def _is_matrix(parameter: Any) -> bool:
    return parameter.ndim >= 2 and "embedding" not in parameter.name.lower()


@documented
class Muon(Optimizer):
    """The Muon optimizer: orthogonalized momentum for matrices, and AdamW for others.

    For an m × n matrix W with the gradient G (K. Jordan et al., *Muon: An optimizer for hidden layers in
    neural networks*, 2024)::

        B ← μ B + (1 − μ) G
        U = (1 − μ) G + μ B with Nesterov momentum, else B
        W ← W − η √max(1, m/n) · orthogonalized(U) − η λ W

    ``orthogonalized`` replaces the singular values of U by values between about 0.7 and 1.2. It divides U by
    its Frobenius norm, and repeats X ← a X + (b A + c A²) X with A = X Xᵀ, the Newton–Schulz iteration.

    ``muon_filter`` selects the matrices. A convolution kernel, or another Parameter with more than two axes,
    counts as the matrix whose rows are the elements of the first axis. AdamW with a separate learning rate
    updates all other Parameters, by default the vectors, the scalars, and the embedding tables::

        m ← β₁ m + (1 − β₁) g
        v ← β₂ v + (1 − β₂) g²
        w ← w − η (m / (1 − β₁ᵗ) / (√(v / (1 − β₂ᵗ)) + ε) + λ w)

    The last layer of a classifier or language model should usually be trained by AdamW, too: exclude it with
    ``muon_filter``. For Parameters in float16 and bfloat16, the state is in float32.

    ``torch.optim.Muon`` accepts only matrices, its default learning rate is 10⁻³, and its default weight
    decay is 0.1. The other defaults agree. It orthogonalizes in bfloat16; mindgrad uses the dtype of the
    state.

    Args:
        learning_rate (float, Tensor, iterable, or LearningRateSchedule): learning rate η of the matrices, see
            :class:`Optimizer`.
        momentum (float): decay rate μ of the running average B, at least 0 and below 1.
        nesterov (bool): whether to use Nesterov momentum.
        ns_steps (int): number of Newton–Schulz iterations.
        weight_decay (float or Cell): weight decay λ. Without parameter groups, it applies only to Parameters
            whose names contain neither ``beta`` nor ``gamma``.
        ns_coefficients (tuple of float): coefficients a, b, and c of the iteration.
        eps (float): smallest divisor of U. A smaller norm is replaced by it.
        adjust_lr_fn (str): factor of the learning rate of a matrix: ``"original"`` or ``None`` for
            √max(1, m/n), or ``"match_rms_adamw"`` for 0.2 √max(m, n). With the latter, matrices can use the
            learning rate of AdamW.
        muon_filter (Callable): function of a Parameter that returns whether to orthogonalize its update. By
            default, it selects Parameters with at least two axes whose names do not contain ``embedding``.
        adam_learning_rate (float, Tensor, iterable, or LearningRateSchedule): learning rate of AdamW. A group
            with the key ``lr`` uses that learning rate for all its Parameters instead.
        adam_beta1 (float): decay rate β₁ of AdamW, between 0 and 1.
        adam_beta2 (float): decay rate β₂ of AdamW, between 0 and 1.
        adam_eps (float): ε of AdamW.

    >>> import mindgrad as ms
    >>> w = ms.Parameter(ms.Tensor([[1.0, 0.0], [0.0, 1.0]]), name="w")
    >>> b = ms.Parameter(ms.Tensor([1.0, 1.0]), name="b")
    >>> optimizer = ms.nn.Muon([w, b], 0.5, ns_coefficients=(1.5, -0.5, 0.0), ns_steps=30)
    >>> optimizer((ms.Tensor([[0.0, 4.0], [1.0, 0.0]]), ms.Tensor([1.0, -1.0])))
    True
    >>> print(w.asnumpy().round(4), b.asnumpy().round(4))
    [[ 1.  -0.5]
     [-0.5  1. ]] [0.9997 1.0003]
    """

    def __init__(
        self,
        params: Any,
        learning_rate: Any = 0.02,
        momentum: float = 0.95,
        nesterov: bool = True,
        ns_steps: int = 5,
        weight_decay: Any = 0.0,
        ns_coefficients: Sequence[float] = (3.4445, -4.775, 2.0315),
        eps: float = 1e-7,
        adjust_lr_fn: str | None = None,
        muon_filter: Callable[[Any], bool] = _is_matrix,
        adam_learning_rate: Any = 3e-4,
        adam_beta1: float = 0.9,
        adam_beta2: float = 0.95,
        adam_eps: float = 1e-10,
        loss_scale: float = 1.0,
    ) -> None:
        super().__init__(learning_rate, params, weight_decay, loss_scale)
        owner = self.cls_name
        self.momentum = real(owner, "momentum", momentum)
        if not 0 <= self.momentum < 1:
            raise ValueError(f"For '{owner}', the 'momentum' must be in [0, 1), but got {self.momentum}.")
        self.nesterov = boolean(owner, "nesterov", nesterov)
        self.ns_steps = positive_int(owner, "ns_steps", ns_steps)
        self.ns_coefficients = self._checked_coefficients(ns_coefficients)
        self.eps = positive(owner, "eps", eps)
        if adjust_lr_fn not in (None, "original", "match_rms_adamw"):
            raise ValueError(
                f"For '{owner}', the 'adjust_lr_fn' must be 'original', 'match_rms_adamw', or None, but got "
                f"{adjust_lr_fn!r}."
            )
        self.adjust_lr_fn = adjust_lr_fn
        self.adam_learning_rate = held_rate(checked_rate(owner, adam_learning_rate), "adam_learning_rate")
        self.adam_beta1 = fraction(owner, "adam_beta1", adam_beta1)
        self.adam_beta2 = fraction(owner, "adam_beta2", adam_beta2)
        self.adam_eps = positive(owner, "adam_eps", adam_eps)
        self.muon_flags = self._matrix_flags(muon_filter)
        flagged = list(zip(self.parameters, self.muon_flags, strict=True))
        others = [parameter for parameter, is_matrix in flagged if not is_matrix]
        self.momenta = self._wide_state("muon_momentum", [p for p, is_matrix in flagged if is_matrix])
        self.moment1 = self._wide_state("adam_m", others)
        self.moment2 = self._wide_state("adam_v", others)

    def _checked_coefficients(self, coefficients: Any) -> tuple[float, ...]:
        of_type(coefficients, (tuple, list), self.cls_name, "ns_coefficients", "a tuple")
        if len(coefficients) != 3:
            raise ValueError(
                f"For '{self.cls_name}', the 'ns_coefficients' must be three numbers, but got "
                f"{len(coefficients)}."
            )
        return tuple([real(self.cls_name, "ns_coefficients", each) for each in coefficients])

    def _matrix_flags(self, muon_filter: Any) -> tuple[bool, ...]:
        """Return for each Parameter whether its update is orthogonalized."""
        if not callable(muon_filter):
            raise TypeError(
                f"For '{self.cls_name}', the 'muon_filter' must be a function of a Parameter, but got "
                f"{type(muon_filter).__name__}."
            )
        flags = tuple([bool(muon_filter(parameter)) for parameter in self.parameters])
        for parameter, is_matrix in zip(self.parameters, flags, strict=True):
            if is_matrix and parameter.ndim < 2:
                raise ValueError(
                    f"For '{self.cls_name}', the 'muon_filter' selects the Parameter '{parameter.name}', "
                    f"which must have at least 2 axes, but its shape is {parameter.shape}."
                )
        return flags

    def _hold_rates(self, learning_rate: Any, entries: list[Any]) -> None:
        self._has_group_rate = tuple([member.rate is not None for member in entries])
        super()._hold_rates(learning_rate, entries)

    def construct(self, gradients: Any) -> bool:
        t = ops.reshape(ops.cast(self.global_step, dtype.float32), ()) + 1.0
        left1, left2 = 1.0 - ops.pow(self.adam_beta1, t), 1.0 - ops.pow(self.adam_beta2, t)
        adam_rate = rate_at(self.adam_learning_rate, self.global_step)
        momenta, moments = iter(self.momenta), iter(zip(self.moment1, self.moment2, strict=True))
        rows = self._rows(
            gradients, self._decays(), self.decay_flags, self.muon_flags, self._has_group_rate, decayed=False
        )
        for parameter, gradient, rate, decay, applies, is_matrix, has_rate in rows:
            slope = ops.cast(gradient, wide_dtype(parameter))
            if is_matrix:
                update = self._orthogonal_update(slope, next(momenta))
            else:
                update = self._adam_update(slope, *next(moments), left1, left2)
                rate = rate if has_rate else adam_rate
            if applies and self.exec_weight_decay:
                update = update + parameter * decay
            ops.assign_sub(parameter, ops.cast(rate * update, parameter.dtype))
        return True

    def _orthogonal_update(self, slope: Any, momentum: Any) -> Any:
        """Update the momentum, and return its orthogonalized and scaled matrix."""
        average = ops.assign(momentum, self.momentum * momentum + (1.0 - self.momentum) * slope)
        if self.nesterov:
            average = (1.0 - self.momentum) * slope + self.momentum * average
        matrix = ops.reshape(average, (slope.shape[0], -1))
        rows, columns = matrix.shape
        if self.adjust_lr_fn == "match_rms_adamw":
            scale = _RMS * math.sqrt(max(rows, columns))
        else:
            scale = math.sqrt(max(1.0, rows / columns))
        update = scale * _orthogonalized(matrix, self.ns_steps, self.ns_coefficients, self.eps)
        return ops.reshape(update, slope.shape)

    def _adam_update(self, slope: Any, moment1: Any, moment2: Any, left1: Any, left2: Any) -> Any:
        """Update the moments, and return the step of Adam with bias correction."""
        mean = ops.assign(moment1, self.adam_beta1 * moment1 + (1.0 - self.adam_beta1) * slope)
        square = ops.assign(moment2, self.adam_beta2 * moment2 + (1.0 - self.adam_beta2) * ops.square(slope))
        return (mean / left1) / (ops.sqrt(square / left2) + self.adam_eps)


def _orthogonalized(matrix: Any, steps: int, coefficients: Sequence[float], eps: float) -> Any:
    """Return a matrix with the same singular vectors and singular values close to 1."""
    a, b, c = coefficients
    is_tall = matrix.shape[0] > matrix.shape[1]
    x = ops.transpose(matrix, (1, 0)) if is_tall else matrix
    x = x / ops.maximum(ops.sqrt(ops.sum(ops.square(x))), eps)
    for _ in range(steps):
        gram = ops.matmul(x, ops.transpose(x, (1, 0)))
        x = a * x + ops.matmul(b * gram + c * ops.matmul(gram, gram), x)
    return ops.transpose(x, (1, 0)) if is_tall else x
