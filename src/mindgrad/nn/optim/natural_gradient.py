"""Natural gradient descent with the exact Fisher matrix of a batch."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod
from typing import Any

import numpy as np

from mindgrad import ops
from mindgrad.api.gradient import value_and_grad
from mindgrad.api.hessian import hvp
from mindgrad.api.vjp_call import Run
from mindgrad.core.ir.tensor import Tensor
from mindgrad.curvature.objective import Objective, derivatives
from mindgrad.curvature.residuals import DenseSystem
from mindgrad.curvature.row_jacobian import row_jacobian_rule
from mindgrad.nn.hyperparameters import positive
from mindgrad.nn.optim.closure import ClosureOptimizer

__all__ = ["NaturalGradient"]

#: a Hessian of the loss may have negative eigenvalues down to this fraction of the largest one
_ROUNDING = 1e-5


class NaturalGradient(ClosureOptimizer):
    """Natural gradient descent with the Fisher matrix of a batch.

    The network computes outputs f for a batch of samples. ``loss_fn`` computes the loss ℓ from the outputs
    and the labels. A step is::

        F = Jᵀ H J,   J = ∂f/∂w,   H = ∂²ℓ/∂f²
        w ← w − η (F + λI)⁻¹ ∇ℓ

    F is the generalized Gauss–Newton matrix. If the loss is the negative logarithm of a probability in an
    exponential family with natural parameters f, then F is the Fisher matrix (J. Martens, *New insights and
    perspectives on the natural gradient method*, 2020). Examples are the cross-entropy with logits and the
    mean squared error. F is exact, not an average over sampled labels.

    H is computed from one product with the Hessian for each output of a sample. The system is solved in the
    space of the weights or in the space of the outputs, whichever is smaller, by LAPACK in float64.

    Args:
        params (list of Parameter): Parameters to train, in float32 or float64. Parameter groups are not
            supported.
        loss_fn (Callable or Cell): function ``loss_fn(outputs, label)`` that returns the sum or mean of the
            losses of all samples. It must be convex in the outputs.
        learning_rate (float, Tensor, iterable, or LearningRateSchedule): learning rate η. Default: ``1.0``.
        damping (float): λ, positive. It has the unit of F. Default: ``1e-3``.
        memory (float): maximum number of bytes of J. Default: 2 GiB.

    Inputs:
        gradients (tuple of Tensor): not accepted. Call ``step(network, *inputs, label)``, where
            ``network(*inputs)`` returns one Tensor of outputs, with the samples along axis 0.

    Raises:
        TypeError: If an argument or Parameter has an unsupported type, or the network does not return one
            Tensor.
        ValueError: If an argument is out of range, there are parameter groups, J exceeds ``memory``, the loss
            is not convex in the outputs, or a derivative is infinite or NaN.
        RuntimeError: If the same Parameter is listed twice.

    >>> import numpy as np, mindgrad as ms
    >>> x = ms.Tensor(np.linspace(-1, 1, 8).reshape(8, 1).astype(np.float32))
    >>> label = ms.Tensor(np.array([0, 0, 0, 1, 0, 1, 1, 1], np.int32))
    >>> net = ms.nn.Dense(1, 2, weight_init="zeros", bias_init="zeros")
    >>> optimizer = ms.nn.NaturalGradient(net.trainable_params(), ms.nn.CrossEntropyLoss())
    >>> losses = [float(optimizer.step(net, x, label)) for _ in range(8)]
    >>> print(f"{losses[0]:.3f} {losses[-1]:.3f}")
    0.693 0.313
    """

    def __init__(
        self,
        params: Any,
        loss_fn: Callable[..., Any],
        learning_rate: Any = 1.0,
        damping: float = 1e-3,
        memory: float = 2.0**31,
    ) -> None:
        super().__init__(learning_rate, params)
        self._check_single_group()
        owner = self.cls_name
        if not callable(loss_fn):
            raise TypeError(
                f"For '{owner}', the 'loss_fn' must be a function or Cell, but got {type(loss_fn).__name__}."
            )
        self.loss_fn = loss_fn
        self.damping = positive(owner, "damping", damping)
        self.memory = positive(owner, "memory", memory)
        # one function for all steps, because it is a part of the key of the compiled function
        self._derivatives = _derivatives(loss_fn, self.memory)

    def advance(self, function: Callable[..., Any], args: Sequence[Any]) -> Any:
        owner = self.cls_name
        if len(args) < 2:
            raise TypeError(
                f"For '{owner}.step', pass the network, its inputs, and the label: step(network, x, label)."
            )
        *inputs, label = args
        objective = Objective(owner, function, list(self.parameters), inputs, needs_all=False)
        computed = objective.call(self._derivatives, label)
        loss, blocks = computed[0], computed[3:]
        slope, hessian = [x.read_only_array().astype(np.float64) for x in computed[1:3]]
        if not (np.isfinite(slope).all() and np.isfinite(hessian).all()):
            raise ValueError(
                f"For '{owner}.step', a derivative of the loss is infinite or NaN at the present Parameters. "
                "Start from other values, or check the data."
            )
        root = _root(owner, hessian)
        rows = [block.read_only_array().astype(np.float64) for block in blocks]
        gradient = np.concatenate([np.tensordot(slope, x, 2) for x in rows])
        factors = [np.matmul(root, x).reshape(-1, x.shape[-1]) for x in rows]
        system = DenseSystem(np.zeros(len(factors[0])), factors)
        step = float(self.get_lr()) * system.inverse(self.damping, gradient)
        objective.space.assign(objective.space.current().astype(np.float64) - step)
        return loss


def _root(owner: str, hessian: np.ndarray) -> np.ndarray:
    """Return S with SᵀS = H for the block H of each sample."""
    values, vectors = np.linalg.eigh(hessian)
    if values.min() < -_ROUNDING * np.abs(values).max():
        raise ValueError(
            f"For '{owner}.step', the loss must be convex in the outputs of the network, but its Hessian has "
            f"the eigenvalue {values.min():.3g}."
        )
    return np.sqrt(np.maximum(values, 0.0))[:, :, None] * vectors.transpose(0, 2, 1)


def _derivatives(loss_fn: Callable[..., Any], memory: float) -> Callable[..., Any]:
    """Return a function that computes the loss, its gradient, its Hessian, and J.

    The gradient has the shape (samples, outputs), the Hessian (samples, outputs, outputs), and the block of J
    for a weight (samples, outputs, size of the weight).
    """

    def compute(run: Run, label: Any) -> list[Any]:
        owner = run.owner
        if len(run.outputs) != 1 or not run.outputs[0].shape:
            raise TypeError(
                f"For '{owner}.step', the network must return one Tensor with the samples along axis 0."
            )
        y = run.outputs[0]
        count, width = y.shape[0], prod(y.shape[1:])
        size = sum(x.size for x in run.recorded.inputs)
        if count * width * size * y.dtype.numpy.itemsize > memory:
            raise ValueError(
                f"For '{owner}.step', the Jacobian of {count * width} outputs by {size} weights exceeds "
                f"{memory:.3g} bytes. Pass a smaller batch or a larger 'memory'."
            )
        (y,), blocks = derivatives(run, row_jacobian_rule)

        def loss_of(outputs: Any) -> Any:
            return ops.reshape(loss_fn(outputs, label), ())

        loss, slope = value_and_grad(loss_of)(y)
        columns = []
        for k in range(width):
            unit = np.zeros((count, width), y.dtype.numpy)
            unit[:, k] = 1.0
            columns.append(ops.reshape(hvp(loss_of)(y, Tensor(unit.reshape(y.shape))), (count, width)))
        hessian = ops.stack(columns, -1)
        rows = [ops.reshape(x, (count, width, -1)) for x in blocks]
        return [loss, ops.reshape(slope, (count, width)), hessian, *rows]

    return compute
