"""Wrapper Cells, which add a loss, a gradient, or a training step to a net."""

from mindgrad.nn.wrap.cell_wrapper import (
    ParameterUpdate,
    TrainOneStepCell,
    WithEvalCell,
    WithGradCell,
    WithLossCell,
)
from mindgrad.nn.wrap.grad_reducer import DistributedGradReducer
from mindgrad.nn.wrap.loss_scale import (
    DynamicLossScaleUpdateCell,
    FixedLossScaleUpdateCell,
    TrainOneStepWithLossScaleCell,
)

__all__ = [
    "DistributedGradReducer", "DynamicLossScaleUpdateCell", "FixedLossScaleUpdateCell", "ParameterUpdate",
    "TrainOneStepCell", "TrainOneStepWithLossScaleCell", "WithEvalCell", "WithGradCell", "WithLossCell",
]  # fmt: skip
