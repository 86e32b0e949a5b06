"""The loss of outputs at the present Parameters, and its quadratic model.

    M(δ) = L + gᵀ δ + ½ δᵀ G δ        G = Jᵀ H J, the Gauss–Newton matrix

J is the Jacobian of the outputs, and H is the Hessian of the loss with respect to the outputs. Without a loss
function, the outputs are residuals, L is half their sum of squares, and H is the identity.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from mindgrad import ops
from mindgrad.api.gradient import grad
from mindgrad.api.jvp import jvp
from mindgrad.api.vjp_call import Run
from mindgrad.core.ir.tensor import Tensor
from mindgrad.core.transforms.forward import forward_rule
from mindgrad.core.transforms.reverse import reverse_rule
from mindgrad.curvature.objective import Objective, derivatives, outputs_of
from mindgrad.curvature.weight_space import flat_arrays
from mindgrad.frontend import user_calls
from mindgrad.frontend.programs.object_cache import remembered

__all__ = ["LossModel"]


class LossModel:
    """A loss as a function of Parameters.

    Vectors are flat NumPy vectors in float64.

    Args:
        owner: name of the optimizer, for error messages.
        outputs: function of ``args`` that returns residuals, or the outputs of a model.
        args: arguments of ``outputs``.
        weights: Parameters.
        loss: function of the outputs and ``targets``, or ``None`` for half the sum of squares.
        targets: further arguments of ``loss``.
    """

    def __init__(
        self,
        owner: str,
        outputs: Callable[..., Any],
        args: Sequence[Any],
        weights: Any,
        loss: Callable[..., Any] | None,
        targets: Sequence[Any],
    ) -> None:
        self.objective = Objective(owner, outputs, weights, args)
        self.space = self.objective.space
        self.loss, self.targets = loss, tuple(targets)

    def point(self) -> np.ndarray:
        """Return the elements of all Parameters."""
        return self.space.current().astype(np.float64)

    def value_and_gradient(self) -> tuple[float, np.ndarray]:
        """Return the loss and its gradient at the present Parameters."""
        value, gradients = self._call(_value_and_gradient)
        return float(value.asnumpy()), flat_arrays(gradients).astype(np.float64)

    def value_at(self, point: np.ndarray) -> float:
        """Move the Parameters to ``point``; return the loss, or infinity for NaN."""
        self.space.assign(point)
        value = float(self._call(_value).asnumpy())
        return value if math.isfinite(value) else math.inf

    def curvatures(self, directions: Sequence[np.ndarray]) -> np.ndarray:
        """Return the matrix δᵢᵀ G δⱼ for all pairs of ``directions``."""
        tensors = [x for direction in directions for x in self.space.tree(direction)]
        return self._call(_curvatures, *tensors).asnumpy().astype(np.float64)

    def _call(self, compute: Callable[..., Any], *operands: Tensor) -> Any:
        loss, count = self.loss, len(self.targets)

        def make() -> Callable[..., Any]:
            return lambda run, *operands: compute(run, loss, operands[:count], operands[count:])

        key = ("loss model", compute, loss, count)
        return self.objective.call(remembered(self.objective.function, key, make), *self.targets, *operands)


def _total(loss: Callable[..., Any], targets: Sequence[Any]) -> Callable[[Tensor], Any]:
    def total(y: Tensor) -> Any:
        value = user_calls.run(loss, y, *targets)
        return value.sum() if isinstance(value, Tensor) and value.shape else value

    return total


def _checked(run: Run, loss: Callable[..., Any] | None) -> list[Tensor]:
    outputs = outputs_of(run)
    if loss is not None and len(outputs) != 1:
        raise ValueError(
            f"For '{run.owner}', the outputs must be one Tensor if a loss is given, but the "
            f"function returned {len(outputs)} Tensors. Concatenate them, or return residuals and omit the "
            "loss."
        )
    if loss is None and len(outputs) == 1 and outputs[0].ndim == 0:
        raise ValueError(
            f"For '{run.owner}', the function must return residuals, Tensors with one row for each "
            "sample, but it returned a scalar, which may be a loss. Pass nn.WithLossCell(net, loss_fn), or "
            "pass the argument 'loss' to the optimizer and the model to 'step'."
        )
    return outputs


def _value(run: Run, loss: Any, targets: Sequence[Any], _: Sequence[Tensor]) -> Tensor:
    outputs = _checked(run, loss)
    if loss is not None:
        return _total(loss, targets)(outputs[0])
    total = (outputs[0] * outputs[0]).sum()
    for y in outputs[1:]:
        total = total + (y * y).sum()
    return 0.5 * total


def _value_and_gradient(run: Run, loss: Any, targets: Sequence[Any], _: Sequence[Tensor]) -> tuple:
    value = _value(run, loss, targets, _)
    outputs = outputs_of(run)
    cotangents = outputs if loss is None else [grad(_total(loss, targets))(outputs[0])]
    return value, derivatives(run, reverse_rule, cotangents)[1]


def _curvatures(run: Run, loss: Any, targets: Sequence[Any], directions: Sequence[Tensor]) -> Tensor:
    outputs = outputs_of(run)
    size = len(run.recorded.inputs)
    images = [
        derivatives(run, forward_rule, directions[start : start + size])[1]
        for start in range(0, len(directions), size)
    ]
    if loss is None:
        products = images
    else:
        slope = grad(_total(loss, targets))
        products = [[jvp(slope, (outputs[0],), (x[0],))[1]] for x in images]
    rows = []
    for left in images:
        for right in products:
            terms = [(x * y).sum().reshape(1) for x, y in zip(left, right, strict=True)]
            rows.append(sum(terms[1:], terms[0]))
    return ops.concat(rows).reshape(len(images), len(images))
