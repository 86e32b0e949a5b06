"""THOR: momentum with a Kronecker-factored preconditioner that is rarely updated."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from mindgrad._base.checks import of_type
from mindgrad.common.parameter import Parameter
from mindgrad.core.ir.tensor import Tensor
from mindgrad.nn.cell import Cell
from mindgrad.nn.hyperparameters import boolean, non_negative, positive_int
from mindgrad.nn.optim.kfac import KroneckerOptimizer

__all__ = ["thor"]

#: largest norm of all preconditioned gradients together with ``enable_clip_grad``
_LARGEST_NORM = 1.0


class thor(KroneckerOptimizer):
    """THOR, a second-order optimizer that updates its curvature rarely.

    The gradients g of the loss are preconditioned with the Kronecker factors of the empirical Fisher matrix
    (:func:`mindgrad.curvature.kfac`). All ``frequency`` steps, the factors A and G of each Parameter are
    computed from the present batch. With the learning rate η, the momentum μ, and the damping λ, a step is::

        Δ = ((A + π √λ I)⁻¹ ⊗ (G + √λ/π I)⁻¹) g + weight_decay · w
        v ← μ v + Δ
        w ← w − η v              w ← w − η (Δ + μ v) with Nesterov momentum

    π² is the ratio of the average eigenvalues of A and G (J. Martens and R. Grosse, *Optimizing Neural
    Networks with Kronecker-factored Approximate Curvature*, 2015, section 6.3). Parameters without Kronecker
    structure have an exact block or a diagonal, to which λ is added.

    The optimizer is used with ``Model.train``, :class:`TrainOneStepCell`, or ``step`` with
    :class:`WithLossCell`. In MindSpore, layers must be converted first. Here, the factors follow from the
    graph of the network, so :class:`mindgrad.train.ConvertNetUtils` leaves the network unchanged, and
    networks may have any layers. The factors are part of the optimizer state. If a checkpoint is loaded
    before the first step, call ``build(network, *inputs)`` before.

    Args:
        net (Cell): network; its trainable Parameters are trained. They must be float32 or float64.
        learning_rate (float, Tensor, iterable, or LearningRateSchedule): learning rate η, see
            :class:`Optimizer`.
        damping (float or Tensor): λ, positive: a number, or a 1-D Tensor with one number for each step. The
            last number is used for all later steps.
        momentum (float): μ, at least 0.
        weight_decay (float): factor of weight decay, at least 0. Default: ``0.0``.
        loss_scale (float): accepted for compatibility and ignored, because a step evaluates the loss without
            a scale. Default: ``1.0``.
        batch_size (int): number of rows of a batch. For a loss that is a mean over rows, A ⊗ G is then the
            mean over rows. Pass 1 if the loss is a sum. Default: ``32``.
        use_nesterov (bool): whether to use Nesterov momentum. Default: ``False``.
        decay_filter (Callable): function of a Parameter that returns whether weight decay applies to it.
            Default: a function that returns ``True``.
        split_indices (list of int, optional): accepted for compatibility and ignored: it groups the
            communication between devices. Default: ``None``.
        enable_clip_grad (bool): whether to scale all preconditioned gradients so that their norm is at most
            1. Default: ``False``.
        frequency (int): number of steps between updates of the factors. Default: ``100``.

    Inputs:
        gradients (tuple of Tensor): not accepted; call ``step``.

    Raises:
        TypeError: If an argument or Parameter has an unsupported type.
        ValueError: If an argument is out of range, or ``step`` receives a function without a loss.

    >>> import mindgrad as ms
    >>> _ = ms.set_seed(0)
    >>> net = ms.nn.Dense(2, 2)
    >>> optimizer = ms.nn.thor(net, learning_rate=0.5, damping=0.1, momentum=0.9, batch_size=2)
    >>> step = ms.nn.TrainOneStepCell(ms.nn.WithLossCell(net, ms.nn.CrossEntropyLoss()), optimizer)
    >>> x, label = ms.Tensor([[1.0, 0.0], [0.0, 1.0]]), ms.Tensor([0, 1])
    >>> losses = [float(step(x, label)) for _ in range(10)]
    >>> losses[-1] < 0.1 * losses[0]
    True
    """

    def __init__(
        self,
        net: Any,
        learning_rate: Any,
        damping: Any,
        momentum: float,
        weight_decay: float = 0.0,
        loss_scale: float = 1.0,
        batch_size: int = 32,
        use_nesterov: bool = False,
        decay_filter: Callable[[Any], bool] = lambda x: True,
        split_indices: Sequence[int] | None = None,
        enable_clip_grad: bool = False,
        frequency: int = 100,
    ) -> None:
        of_type(net, Cell, "thor", "net")
        options = {"kind": "empirical"}
        super().__init__(
            learning_rate, net.trainable_params(), options, weight_decay=weight_decay, loss_scale=loss_scale
        )
        self.damping = _dampings(damping)
        self.momentum = non_negative("thor", "momentum", momentum)
        self.batch_size = positive_int("thor", "batch_size", batch_size)
        self.use_nesterov = boolean("thor", "use_nesterov", use_nesterov)
        if not callable(decay_filter):
            raise TypeError(
                f"For 'thor', the 'decay_filter' must be a function, but got {type(decay_filter).__name__}."
            )
        decays = [float(weight_decay) * bool(decay_filter(p)) for p in self.parameters]
        self.decay_of_elements = np.repeat(decays, [p.size for p in self.parameters])
        self.split_indices = split_indices
        self.enable_clip_grad = boolean("thor", "enable_clip_grad", enable_clip_grad)
        self.frequency = positive_int("thor", "frequency", frequency)
        size = sum(parameter.size for parameter in self.parameters)
        self.velocity = Parameter(Tensor(np.zeros(size)), name="velocity", requires_grad=False)

    def advance(self, function: Callable[..., Any], args: Sequence[Any]) -> Any:
        model = self._model(function, args)
        if model.loss is None:
            raise ValueError(
                "For 'thor.step', the function must be a network with a loss. Pass nn.WithLossCell(net, "
                "loss_fn), or pass 'loss_fn' to Model."
            )
        count = int(self.global_step.asnumpy()[0])
        value, gradient = model.value_and_gradient()
        blocks = self._averaged(model, count % self.frequency == 0, 0.0)
        damping = float(self.damping[min(count, len(self.damping) - 1)])
        # the factors belong to gradients of a mean: B (L ⊗ R) is the mean over B rows
        change = self._solve(blocks, gradient, damping / self.batch_size, True) / self.batch_size
        start = model.point()
        change = change + self.decay_of_elements * start
        norm = float(np.linalg.norm(change))
        if self.enable_clip_grad and norm > _LARGEST_NORM:
            change = change * (_LARGEST_NORM / norm)
        velocity = self.momentum * self.velocity.asnumpy() + change
        step = change + self.momentum * velocity if self.use_nesterov else velocity
        model.space.assign(start - float(self.get_lr()) * step)
        self.velocity.set_data(Tensor(velocity))
        return Tensor(np.array(value, model.space.dtype))


def _dampings(damping: Any) -> np.ndarray:
    """Return the damping of each step."""
    if isinstance(damping, bool) or not isinstance(damping, (int, float, Tensor, np.ndarray, list, tuple)):
        raise TypeError(
            f"For 'thor', the 'damping' must be a number or Tensor, but got {type(damping).__name__}."
        )
    array = np.atleast_1d(damping.asnumpy() if isinstance(damping, Tensor) else np.asarray(damping))
    array = array.astype(np.float64)
    if array.ndim != 1 or not array.size or not (np.isfinite(array) & (array > 0)).all():
        raise ValueError(
            "For 'thor', the 'damping' must be a positive number, or a 1-D Tensor of positive numbers, "
            f"but got {damping}."
        )
    return array
