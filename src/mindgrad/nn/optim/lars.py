"""Layer-wise adaptive rate scaling (LARS), a wrapper of another optimizer."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from mindgrad import ops
from mindgrad._base.checks import of_type
from mindgrad.nn.cell import Cell
from mindgrad.nn.hyperparameters import boolean, positive
from mindgrad.nn.optim.optimizer import Optimizer
from mindgrad.ops import updates

__all__ = ["LARS"]


def _is_scaled(parameter: Any) -> bool:
    name = parameter.name.lower()
    return not any(word in name for word in ("layernorm", "bias"))


class LARS(Cell):
    """Layer-wise adaptive rate scaling of gradients for another optimizer.

    A gradient g of the Parameter w becomes::

        g ← (g + λ w) · c ‖w‖ / (‖g‖ + λ ‖w‖ + ε)

    for each Parameter that ``lars_filter`` selects (You, Gitman, and Ginsburg 2017). λ is the weight decay of
    ``optimizer``; LARS applies it, so ``optimizer`` does not. With ``use_clip``, the factor is divided by the
    learning rate and is at most 1.

    Args:
        optimizer (Optimizer): optimizer that receives the scaled gradients.
        epsilon (float): ε, a small positive number that prevents division by zero.
        coefficient (float): trust coefficient c, positive.
        use_clip (bool): whether to divide the factor of the gradient by the learning rate and limit it to 1.
        lars_filter (Callable): function of a Parameter that returns whether to scale its gradient. By
            default, it selects names with neither ``layernorm`` nor ``bias``.

    Inputs:
        gradients (tuple of Tensor): gradients, one for each Parameter of ``optimizer``.

    Outputs:
        The output of ``optimizer``.

    Raises:
        TypeError: If ``optimizer`` is not an Optimizer, or an argument has an unsupported type.
        ValueError: If ``epsilon`` or ``coefficient`` is not positive.

    >>> import mindgrad as ms
    >>> w = ms.Parameter(ms.Tensor([3.0, 4.0]), name="w")
    >>> optimizer = ms.nn.LARS(ms.nn.SGD([w], 1.0), epsilon=1e-8, coefficient=0.5)
    >>> _ = optimizer((ms.Tensor([10.0, 0.0]),))
    >>> print(w.asnumpy().round(4))
    [0.5 4. ]
    """

    def __init__(
        self,
        optimizer: Optimizer,
        epsilon: float = 1e-5,
        coefficient: float = 0.001,
        use_clip: bool = False,
        lars_filter: Callable[[Any], bool] = _is_scaled,
    ) -> None:
        super().__init__(auto_prefix=False)
        of_type(optimizer, Optimizer, "LARS", "optimizer", "an Optimizer")
        self.opt = optimizer
        self.parameters = optimizer.parameters
        self.epsilon, self.coefficient = (
            positive("LARS", "epsilon", epsilon),
            positive("LARS", "coefficient", coefficient),
        )
        self.use_clip = boolean("LARS", "use_clip", use_clip)
        self.lars_flag = tuple([bool(lars_filter(parameter)) for parameter in self.parameters])
        decays = optimizer.decay_flags if optimizer.exec_weight_decay else (False,) * optimizer.param_length
        self.decay_flag = tuple(decays)
        optimizer.exec_weight_decay = False

    def construct(self, gradients: Any) -> Any:
        gradients = self.opt.flatten_gradients(gradients)
        rates, decays = self.opt._rates(), self.opt._decays()
        rows = zip(self.parameters, gradients, rates, decays, self.decay_flag, self.lars_flag, strict=True)
        scaled = []
        for parameter, gradient, rate, decay, decays_own, applies in rows:
            decay = decay if decays_own else 0.0
            slope = self.opt.scale_grad((gradient,))[0]
            if applies:
                squares = ops.sum(ops.square(parameter)), ops.sum(ops.square(slope))
                change = updates.lars(
                    parameter, slope, *squares, decay, rate, self.epsilon, self.coefficient, self.use_clip
                )
            else:
                change = slope + decay * parameter
            scaled.append(change * self.opt.loss_scale)  # type: ignore[operator]
        return self.opt(tuple(scaled))
