"""Adafactor: steps divided by averages of squares over rows and columns."""

from __future__ import annotations

from typing import Any

from mindgrad import ops
from mindgrad._base.checks import of_type
from mindgrad.common import dtype
from mindgrad.common.initializer import initializer
from mindgrad.common.parameter import Parameter, ParameterTuple
from mindgrad.nn.hyperparameters import boolean, fraction, non_negative
from mindgrad.nn.optim.optimizer import Optimizer, documented
from mindgrad.ops import updates

__all__ = ["AdaFactor"]


@documented
class AdaFactor(Optimizer):
    """The Adafactor optimizer (Shazeer and Stern 2018).

    For a matrix w with the gradient g, in step t = 1, 2, ..., with β = 1 − t^−decay_rate::

        r ← β r + (1 − β) · the mean of g² + eps[0] over each row;   c: the same over each column
        u = g / √(r c / the mean of r)
        u ← u / max(1, RMS(u) / clip_threshold)
        w ← w − α u

    If β₁ > 0, the running average of α u replaces α u. A Parameter with at most one axis has an average for
    each element. α is the learning rate, or min(0.01, 1/√t) with ``relative_step``, times max(eps[1], RMS(w))
    with ``scale_parameter``.

    Args:
        learning_rate (float, Tensor, iterable, or LearningRateSchedule): learning rate, see
            :class:`Optimizer`. Must be ``None`` if ``relative_step`` is ``True``.
        eps (tuple of float): two numbers: eps[0] is added to squares of gradients, and eps[1] is the minimum
            of RMS(w) as a scale.
        clip_threshold (float): maximum root mean square of u.
        decay_rate (float): exponent in β = 1 − t^−decay_rate, between 0 and 1.
        beta1 (float): decay rate β₁ of the running average of updates, at least 0. 0 or ``None``: no average.
        weight_decay (float): weight decay λ: in each step, λ α w is also subtracted from w.
        scale_parameter (bool): whether the learning rate is multiplied by max(eps[1], RMS(w)). A variable
            learning rate (a list or a schedule) is never scaled.
        relative_step (bool): whether to compute the learning rate from the number of steps, as min(0.01,
            1/√t).
        warmup_init (bool): whether the upper bound of the learning rate is 10⁻⁶ t instead of 0.01.
        compression (bool): whether the averages of 1-D Parameters have the dtype float16.

    Raises:
        TypeError, KeyError, RuntimeError: As for :class:`Optimizer`.
        ValueError: If not exactly one of a learning rate and ``relative_step`` is given, ``warmup_init`` is
            set without ``relative_step``, or another argument is out of range.

    >>> import mindgrad as ms
    >>> w = ms.Parameter(ms.Tensor([1.0]), name="w")
    >>> optimizer = ms.nn.AdaFactor([w], 0.5, beta1=0.0, scale_parameter=False, relative_step=False)
    >>> optimizer((ms.Tensor([3.0]),))
    True
    >>> print(w.value())
    [0.5]
    """

    def __init__(
        self,
        params: Any,
        learning_rate: Any = None,
        eps: tuple[float, float] = (1e-30, 1e-3),
        clip_threshold: float = 1.0,
        decay_rate: float = 0.8,
        beta1: float | None = 0.9,
        weight_decay: float = 0.0,
        scale_parameter: bool = True,
        relative_step: bool = True,
        warmup_init: bool = False,
        compression: bool = False,
        loss_scale: float = 1.0,
    ) -> None:
        owner = "AdaFactor"
        boolean(owner, "relative_step", relative_step)
        boolean(owner, "warmup_init", warmup_init)
        if (learning_rate is None) != relative_step:
            raise ValueError(
                f"For '{owner}', pass either a 'learning_rate' or relative_step=True, but got "
                f"{learning_rate} and {relative_step}."
            )
        if warmup_init and not relative_step:
            raise ValueError(f"For '{owner}', warmup_init=True requires relative_step=True.")
        super().__init__(0.0 if learning_rate is None else learning_rate, params, weight_decay, loss_scale)
        of_type(eps, (tuple, list), owner, "eps", "a tuple")
        if len(eps) != 2:
            raise ValueError(f"For '{owner}', the 'eps' must be two numbers, but got {len(eps)}.")
        self.eps = tuple(non_negative(owner, f"eps[{k}]", each) for k, each in enumerate(eps))
        self.relative_step, self.warmup_init = relative_step, warmup_init
        self.clip_threshold = non_negative(owner, "clip_threshold", clip_threshold)
        self.decay_rate = fraction(owner, "decay_rate", decay_rate)
        self.beta1 = non_negative(owner, "beta1", 0.0 if beta1 is None else beta1)
        is_number = learning_rate is None or isinstance(learning_rate, (int, float))
        self.scale_parameter = boolean(owner, "scale_parameter", scale_parameter) and is_number
        self.compression = boolean(owner, "compression", compression)
        self.use_first_moment = self.beta1 > 0
        self.exp_avg = self._state("exp_avg") if self.use_first_moment else self._averages("exp_avg", None)
        self.exp_avg_sq_row = self._averages("exp_avg_sq_row", -1)
        self.exp_avg_sq_col = self._averages("exp_avg_sq_col", -2)
        self.exp_avg_sq = self._averages("exp_avg_sq", 0)

    def _averages(self, name: str, axis: int | None) -> ParameterTuple:
        """Create moving averages, one Parameter for each trained Parameter.

        The averages are Parameters whose names begin with ``name``. For a trained Parameter with at least two
        axes and ``axis`` −1 or −2, the average has the shape of the trained Parameter without this axis. For
        a vector or scalar and ``axis`` 0, the average has the shape of the trained Parameter. In all other
        cases, including ``axis`` ``None``, the average is an unused placeholder with one element.
        """

        def state(parameter: Parameter) -> Parameter:
            shape: tuple[int, ...] = (1,)
            kind = parameter.dtype
            if parameter.ndim > 1 and axis in (-1, -2):
                shape = tuple(size for k, size in enumerate(parameter.shape, -parameter.ndim) if k != axis)
            elif parameter.ndim < 2 and axis == 0:
                shape, kind = parameter.shape, dtype.float16 if self.compression else kind
            zeros = initializer("zeros", shape, kind)
            return Parameter(zeros, f"{name}_{parameter.name}", requires_grad=False)

        return ParameterTuple([state(parameter) for parameter in self.parameters])

    def construct(self, gradients: Any) -> bool:
        gradients = self._prepared(gradients, decayed=False)
        t = ops.reshape(ops.cast(self.global_step, dtype.float32), ()) + 1.0
        rates, decays = self._rates(), self._decays()
        if self.relative_step:
            largest = t * 1e-6 if self.warmup_init else 1e-2
            rates = [ops.minimum(largest, 1.0 / ops.sqrt(t))] * self.param_length
        beta2 = 1.0 - t**-self.decay_rate
        averages = zip(self.exp_avg, self.exp_avg_sq_row, self.exp_avg_sq_col, self.exp_avg_sq, strict=True)
        rows = zip(self.parameters, gradients, rates, decays, averages, strict=True)
        for parameter, gradient, rate, decay, state in rows:
            updates.ada_factor(
                self.eps, self.clip_threshold, self.beta1, beta2, decay, rate, gradient, parameter, *state,
                self.scale_parameter, self.use_first_moment, self.exec_weight_decay,
            )  # fmt: skip
        return True
