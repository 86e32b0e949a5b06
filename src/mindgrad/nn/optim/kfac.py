"""K-FAC: natural gradient steps with Kronecker-factored curvature."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from mindgrad.common.parameter import Parameter, ParameterTuple
from mindgrad.core.ir.tensor import Tensor
from mindgrad.curvature.kronecker import kfac
from mindgrad.curvature.kronecker_blocks import Block, DenseBlock, DiagonalBlock, KroneckerBlock
from mindgrad.curvature.loss_model import LossModel
from mindgrad.curvature.loss_rows import KINDS
from mindgrad.nn.hyperparameters import boolean, non_negative, positive_int
from mindgrad.nn.optim.closure import ClosureOptimizer
from mindgrad.nn.wrap.cell_wrapper import WithLossCell

__all__ = ["KFAC", "KroneckerOptimizer"]

#: a step is accepted if the loss decreases by this fraction of the decrease that the slope predicts
_DECREASE = 1e-4
#: ways to combine positions that share a Parameter
_SHARING = ("expand", "reduce", "nearest")
#: maximum number of shorter steps, or of steps with more damping, in one call of ``step``
_TRIALS = 30
#: the damping is divided by this number if the model is accurate, and multiplied by it otherwise
_ADAPTATION = 2.0
#: the damping stays between these numbers
_DAMPING_RANGE = (1e-16, 1e16)
#: a predicted decrease of fewer roundings of the loss counts as zero
_ROUNDINGS = 10


class KroneckerOptimizer(ClosureOptimizer):
    """Base class of optimizers that keep moving averages of Kronecker factors.

    The factors are Parameters. They are created by the first step, or by :meth:`build`.
    """

    def __init__(self, learning_rate: Any, params: Any, options: dict[str, Any], **settings: Any) -> None:
        super().__init__(learning_rate, params, **settings)
        self._check_single_group()
        self._options = options
        self._loss: Any = None
        self._blocks: list[Block] = []
        self.factors = ParameterTuple([])
        self.factor_count = Parameter(Tensor(np.zeros(1, np.int32)), name="factor_count", requires_grad=False)

    def build(self, function: Callable[..., Any], *args: Any) -> None:
        """Create the Parameters of the factors, without a step.

        Their shapes follow from the function, so they do not exist before the first step. Call this method if
        a checkpoint is to be loaded before the first step.

        Args:
            function (Callable or Cell): function that will be passed to ``step``.
            *args (Any): arguments of ``function``.

        Raises:
            TypeError: If ``step`` would raise it.
            ValueError: If ``step`` would raise it.
        """
        model = self._model(function, args)
        self._create(self._measured(model))

    def _model(self, function: Callable[..., Any], args: Sequence[Any]) -> LossModel:
        owner, loss = f"{self.cls_name}.step", self._loss
        targets: Sequence[Any] = ()
        if isinstance(function, WithLossCell) and loss is None:
            function, loss = function.backbone_network, function._loss_fn
        if loss is not None:
            if not args:
                raise ValueError(f"For '{owner}', the last argument must be the targets of the loss.")
            args, targets = args[:-1], args[-1:]
        return LossModel(owner, function, args, list(self.parameters), loss, targets)

    # --- factors -------------------------------------------------------------------------------------

    def _measured(self, model: LossModel) -> list[Block]:
        """Return the blocks of the curvature of the present data."""
        targets = model.targets[0] if model.targets else None
        seed = int(self.global_step.asnumpy()[0])
        objective = model.objective
        return kfac(
            objective.function, list(self.parameters), *objective.args,
            loss=model.loss, targets=targets, seed=seed, **self._options,
        ).blocks  # fmt: skip

    def _create(self, blocks: list[Block]) -> None:
        if self._blocks:
            return
        state = []
        for parameter, block in zip(self.parameters, blocks, strict=True):
            for name, array in _arrays(block).items():
                value = Tensor(np.zeros_like(array))
                state.append(Parameter(value, name=f"{name}.{parameter.name}", requires_grad=False))
        self._blocks = blocks
        self.factors = ParameterTuple(state)

    def _averaged(self, model: LossModel, is_due: bool, decay: float) -> list[Block]:
        """Add the factors of the present data to the averages, and return the blocks."""
        count = int(self.factor_count.asnumpy()[0])
        if is_due or not count:
            blocks = self._measured(model)
            self._create(blocks)
            arrays = [x for block in blocks for x in _arrays(block).values()]
            if [x.shape for x in arrays] != [x.shape for x in self.factors]:
                raise ValueError(
                    f"For '{self.cls_name}.step', the shapes of the Kronecker factors differ from the last "
                    "step, because the function uses the Parameters differently. Create one optimizer for "
                    "each function."
                )
            weight = min(1.0 - 1.0 / (count + 1), decay)
            for state, array in zip(self.factors, arrays, strict=True):
                average = weight * state.asnumpy() + (1.0 - weight) * array
                state.set_data(Tensor(average.astype(array.dtype)))
            self.factor_count.set_data(Tensor(np.full(1, count + 1, np.int32)))
        averages = [x.asnumpy() for x in self.factors]
        if not _are_equal(averages, [x for block in self._blocks for x in _arrays(block).values()]):
            self._blocks = [_with_arrays(block, averages) for block in self._blocks]
        return self._blocks

    def _solve(
        self, blocks: Sequence[Block], vector: np.ndarray, damping: float, factored: bool
    ) -> np.ndarray:
        """Return the product of ``vector`` and the inverse of the damped curvature."""
        parts = np.split(vector, np.cumsum([block.size for block in blocks])[:-1])
        results = []
        for parameter, block, part in zip(self.parameters, blocks, parts, strict=True):
            values = block.damped(damping, factored).astype(np.float64)
            if not values.min() > np.finfo(parameter.dtype.numpy).eps * values.max() * (0 if damping else 1):
                raise ValueError(
                    f"For '{self.cls_name}.step', the curvature of Parameter '{parameter.name}' is "
                    f"singular with damping={damping:g}. Pass a larger 'damping'."
                )
            results.append(block.function(part[:, None], 1.0 / values)[:, 0])
        return np.concatenate(results)


def _arrays(block: Block) -> dict[str, np.ndarray]:
    """Return the arrays that define a block, with names for Parameters."""
    match block:
        case KroneckerBlock():
            return {"left_factor": block.left, "right_factor": block.right}
        case DenseBlock():
            return {"curvature": block.matrix}
        case DiagonalBlock():
            return {"curvature": block.values}
    raise TypeError(f"unknown block {type(block).__name__}")


def _with_arrays(block: Block, arrays: list[np.ndarray]) -> Block:
    """Return a block like ``block`` with the first arrays, and remove these."""
    match block:
        case KroneckerBlock():
            return KroneckerBlock(arrays.pop(0), arrays.pop(0), block.sides)
        case DenseBlock():
            return DenseBlock(arrays.pop(0))
    return DiagonalBlock(arrays.pop(0))


def _are_equal(left: Sequence[np.ndarray], right: Sequence[np.ndarray]) -> bool:
    return all(np.array_equal(x, y) for x, y in zip(left, right, strict=True))


class KFAC(KroneckerOptimizer):
    """K-FAC, a natural gradient method with Kronecker-factored curvature.

    The loss L is half the sum of squares of residuals, or a loss function of the outputs of a model. Its
    Gauss–Newton matrix G is approximated by one block for each Parameter (:func:`mindgrad.curvature.kfac`).
    The factors L and R of a block are moving averages. With the gradient g and the damping λ, a step is::

        Δ = −(L ⊗ R + λI)⁻¹ g
        δ ← α Δ + μ δ
        w ← w + δ

    With ``quadratic_model``, α and μ minimize the model gᵀδ + ½ δᵀ (G + λI) δ with the exact matrix G, which
    needs two products of the Jacobian and a vector. The damping is divided by 2 if the loss decreases by more
    than 3/4 of the decrease that the model predicts without damping, and multiplied by 2 if it decreases by
    less than 1/4 (J. Martens and R. Grosse, *Optimizing Neural Networks with Kronecker-factored Approximate
    Curvature*, 2015, sections 6.5 and 7). Otherwise, α is the learning rate, μ is ``momentum``, and λ is
    constant. Residuals may contain derivatives of the model, such as residuals of partial differential
    equations (F. Dangel, J. Müller, and M. Zeinhofer, *Kronecker-factored approximate curvature for
    physics-informed neural networks*, 2024).

    ``step`` accepts three kinds of functions:

    - without ``loss``, a function that returns one or several Tensors of residuals;
    - without ``loss``, :class:`WithLossCell` with a data argument and a label. :class:`TrainOneStepCell` and
      ``Model.train`` pass this Cell;
    - with ``loss``, a function that returns the outputs of the model. The last argument of ``step`` is then
      the second argument of the loss.

    The state consists of the factors, the last step, and the damping. A checkpoint resumes exactly. If it is
    loaded before the first step, call :meth:`build` before.

    Args:
        params (list of Parameter): Parameters to train, in float32 or float64. Parameter groups are not
            supported.
        learning_rate (float, Tensor, iterable, or LearningRateSchedule): factor α, or factor of the step of
            the quadratic model. Default: ``1.0``.
        damping (float): λ in the first step, at least 0. It has the unit of G. Default: ``1e-2``.
        momentum (float): μ, at least 0 and less than 1. It is ignored with ``quadratic_model``. Default:
            ``0.9``.
        factor_decay (float): weight of the old factors in a moving average, at least 0 and less than 1. In
            step t it is at most 1 − 1/t. Default: ``0.95``.
        update_every (int): number of steps between updates of the factors. Default: ``1``.
        quadratic_model (bool): whether the quadratic model chooses α, μ, and λ. Default: ``True``.
        line_search (bool): whether to take only steps that decrease the loss. Other steps are computed again
            with twice the damping if ``quadratic_model`` is true, and with half the length otherwise.
            Default: ``True``.
        kind (str): ``"exact"``, ``"monte_carlo"``, or ``"empirical"``, see :func:`mindgrad.curvature.kfac`.
            Default: ``"exact"``.
        sharing (str): ``"expand"``, ``"reduce"``, or ``"nearest"``, see :func:`mindgrad.curvature.kfac`.
            Default: ``"expand"``.
        loss (Callable or Cell): loss of the outputs and the targets, or ``None``. It must be a sum or mean
            over rows. Default: ``None``.

    Inputs:
        gradients (tuple of Tensor): not accepted; call ``step``.

    Raises:
        TypeError: If an argument or Parameter has an unsupported type.
        ValueError: If an argument is out of range, there are parameter groups, the function does not depend
            on a Parameter, the loss is infinite or NaN, or a block is singular and ``damping`` is 0.
        RuntimeError: If the same Parameter is listed twice.

    For a linear model with squared loss and one Parameter, a step without damping is a Newton step:

    >>> import mindgrad as ms
    >>> x = ms.Tensor([[1.0, 0.0], [1.0, 1.0], [1.0, 2.0]])
    >>> w = ms.Parameter(ms.ops.zeros((2, 1)), name="w")
    >>> optimizer = ms.nn.KFAC([w], damping=0.0)
    >>> loss = optimizer.step(lambda: x @ w - ms.Tensor([[1.0], [3.0], [5.0]]))
    >>> print(loss, w.asnumpy().ravel().round(4))
    17.5 [1. 2.]
    """

    def __init__(
        self,
        params: Any,
        learning_rate: Any = 1.0,
        damping: float = 1e-2,
        momentum: float = 0.9,
        factor_decay: float = 0.95,
        update_every: int = 1,
        quadratic_model: bool = True,
        line_search: bool = True,
        kind: str = "exact",
        sharing: str = "expand",
        loss: Callable[..., Any] | None = None,
    ) -> None:
        super().__init__(learning_rate, params, {"kind": kind, "sharing": sharing})
        owner = self.cls_name
        self.initial_damping = non_negative(owner, "damping", damping)
        self.momentum = _below_one(owner, "momentum", momentum)
        self.factor_decay = _below_one(owner, "factor_decay", factor_decay)
        self.update_every = positive_int(owner, "update_every", update_every)
        self.quadratic_model = boolean(owner, "quadratic_model", quadratic_model)
        self.line_search = boolean(owner, "line_search", line_search)
        for name, value, choices in (("kind", kind, KINDS), ("sharing", sharing, _SHARING)):
            if value not in choices:
                raise ValueError(
                    f"For '{owner}', the '{name}' must be one of {', '.join(map(repr, choices))}, but got "
                    f"{value!r}."
                )
        self.kind, self.sharing = kind, sharing
        if loss is not None and not callable(loss):
            raise TypeError(
                f"For '{owner}', the 'loss' must be a function or Cell, but got {type(loss).__name__}."
            )
        self._loss = loss
        size = sum(parameter.size for parameter in self.parameters)
        self.last_step = Parameter(Tensor(np.zeros(size)), name="last_step", requires_grad=False)
        self.damping = Parameter(
            Tensor(np.full(1, self.initial_damping)), name="damping", requires_grad=False
        )

    def advance(self, function: Callable[..., Any], args: Sequence[Any]) -> Any:
        model = self._model(function, args)
        start = model.point()
        value, gradient = model.value_and_gradient()
        if not (math.isfinite(value) and np.isfinite(gradient).all()):
            raise ValueError(
                f"For '{self.cls_name}.step', the loss or its gradient is infinite or NaN at the present "
                "Parameters. Start from other values, or check the data."
            )
        is_due = int(self.global_step.asnumpy()[0]) % self.update_every == 0
        blocks = self._averaged(model, is_due, self.factor_decay)
        end = start
        try:
            move = self._moved_by_model if self.quadratic_model else self._moved
            end = move(model, start, value, gradient, blocks)
        finally:
            model.space.assign(end)
        if end is not start:
            self.last_step.set_data(Tensor(end - start))
        return Tensor(np.array(value, model.space.dtype))

    def _rounding(self, model: LossModel, value: float) -> float:
        return _ROUNDINGS * float(np.finfo(model.space.dtype).eps) * abs(value)

    def _moved(
        self, model: LossModel, start: np.ndarray, value: float, gradient: np.ndarray, blocks: Sequence[Block]
    ) -> np.ndarray:
        """Return the next point with a given learning rate and momentum."""
        damping = float(self.damping.asnumpy()[0])
        step = -float(self.get_lr()) * self._solve(blocks, gradient, damping, False)
        carried = step + self.momentum * self.last_step.asnumpy()
        step = carried if carried @ gradient < 0 or not self.line_search else step
        if not self.line_search:
            return start + step
        slope = float(step @ gradient)
        for _ in range(_TRIALS):
            if -slope <= self._rounding(model, value):
                break
            if model.value_at(start + step) <= value + _DECREASE * slope:
                return start + step
            step, slope = step / 2, slope / 2
        return start

    def _moved_by_model(
        self, model: LossModel, start: np.ndarray, value: float, gradient: np.ndarray, blocks: Sequence[Block]
    ) -> np.ndarray:
        """Return the next point with the choices of the quadratic model."""
        damping = float(self.damping.asnumpy()[0])
        rate, last = float(self.get_lr()), self.last_step.asnumpy()
        lowest, highest = _DAMPING_RANGE
        end = start
        for _ in range(_TRIALS):
            model.space.assign(start)
            direction = -self._solve(blocks, gradient, damping, False)
            directions = [direction, last] if last.any() else [direction]
            step, predicted = _minimizer(directions, model.curvatures(directions), gradient, damping)
            if not predicted > self._rounding(model, value):
                break
            step = rate * step
            decrease = value - model.value_at(start + step)
            if self.initial_damping:
                if decrease > 0.75 * predicted:
                    damping = max(damping / _ADAPTATION, lowest)
                elif not decrease >= 0.25 * predicted:
                    damping = min(damping * _ADAPTATION, highest)
            if decrease > 0 or not self.line_search:
                end = start + step
                break
            damping = max(damping * _ADAPTATION, lowest)
        self.damping.set_data(Tensor(np.full(1, damping)))
        return end


def _minimizer(
    directions: Sequence[np.ndarray], curvatures: np.ndarray, gradient: np.ndarray, damping: float
) -> tuple[np.ndarray, float]:
    """Minimize the damped quadratic model over the span of ``directions``.

    Returns the minimizer, and the decrease that the model predicts without damping.
    """
    columns = np.stack(directions, axis=1)
    norms = np.sqrt(np.diag(curvatures) + damping * (columns * columns).sum(axis=0))
    scale = np.divide(
        1.0, norms, out=np.zeros_like(norms), where=norms > 0
    )  # rounding: columns of equal size
    matrix = scale[:, None] * (curvatures + damping * columns.T @ columns) * scale
    factors = scale * np.linalg.lstsq(matrix, -scale * (columns.T @ gradient), rcond=None)[0]
    step = columns @ factors
    return step, -float(gradient @ step + 0.5 * factors @ curvatures @ factors)


def _below_one(owner: str, name: str, value: Any) -> float:
    number = non_negative(owner, name, value)
    if number >= 1:
        raise ValueError(f"For '{owner}', the '{name}' must be less than 1, but got {number}.")
    return number
