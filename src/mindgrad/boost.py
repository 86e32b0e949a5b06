"""MindSpore's ``boost``, which trades accuracy for speed on Ascend.

Gradient accumulation is supported. The other names are placeholders that raise ``NotImplementedError`` when
they are called.
"""

from mindgrad._base.absent import absent as _absent
from mindgrad._base.missing import explain_package as _explain_package
from mindgrad.nn.wrap.accumulation import GradientAccumulation, gradient_accumulation_op, gradient_clear_op

_STEP = "Use nn.TrainOneStepCell."
_NET = "Use the net as it is."

AdaSum = _absent(
    __name__, "AdaSum", "adds gradients of several processes adaptively", "Use nn.DistributedGradReducer."
)
AutoBoost = _absent(__name__, "AutoBoost", "rebuilds nets and optimizers for speed", _NET)
BoostTrainOneStepCell = _absent(
    __name__, "BoostTrainOneStepCell", "is a training step with freezing and accumulation", _STEP
)
BoostTrainOneStepWithLossScaleCell = _absent(
    __name__, "BoostTrainOneStepWithLossScaleCell", "is a training step with freezing and accumulation",
    "Use nn.TrainOneStepWithLossScaleCell.",
)  # fmt: skip
DimReduce = _absent(__name__, "DimReduce", "trains in a low-dimensional subspace of the Parameters", _STEP)
FreezeOpt = _absent(
    __name__, "FreezeOpt", "freezes Parameters step by step", "Set requires_grad of Parameters."
)
GradientFreeze = _absent(
    __name__, "GradientFreeze", "freezes Parameters at random", "Set requires_grad of Parameters."
)
GroupLossScaleManager = _absent(
    __name__, "GroupLossScaleManager", "scales the losses of groups of layers", "Use DynamicLossScaleManager."
)
LessBN = _absent(__name__, "LessBN", "removes batch normalization from a net", _NET)
OptimizerProcess = _absent(
    __name__, "OptimizerProcess", "rebuilds optimizers", "Pass groups of Parameters to the optimizer."
)
ParameterProcess = _absent(
    __name__, "ParameterProcess", "regroups Parameters", "Pass groups of Parameters to the optimizer."
)
freeze_cell = _absent(
    __name__, "freeze_cell", "freezes Parameters step by step", "Set requires_grad of Parameters."
)

__all__ = [
    "AdaSum", "AutoBoost", "BoostTrainOneStepCell", "BoostTrainOneStepWithLossScaleCell", "DimReduce",
    "FreezeOpt", "GradientAccumulation", "GradientFreeze", "GroupLossScaleManager", "LessBN",
    "OptimizerProcess", "ParameterProcess", "freeze_cell", "gradient_accumulation_op", "gradient_clear_op",
]  # fmt: skip

_explain_package(__name__)
