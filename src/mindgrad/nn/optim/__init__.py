"""Optimisers: Cells that change Parameters, given their gradients."""

from mindgrad._base.absent import absent
from mindgrad.nn.optim.ada_grad import Adagrad
from mindgrad.nn.optim.adadelta import Adadelta
from mindgrad.nn.optim.adafactor import AdaFactor
from mindgrad.nn.optim.adam import Adam, AdamOffload, AdamWeightDecay
from mindgrad.nn.optim.adamax import AdaMax
from mindgrad.nn.optim.asgd import ASGD
from mindgrad.nn.optim.ftrl import FTRL
from mindgrad.nn.optim.lamb import Lamb
from mindgrad.nn.optim.lars import LARS
from mindgrad.nn.optim.lazyadam import LazyAdam
from mindgrad.nn.optim.momentum import Momentum
from mindgrad.nn.optim.optimizer import Optimizer
from mindgrad.nn.optim.proximal_ada_grad import ProximalAdagrad
from mindgrad.nn.optim.rmsprop import RMSProp
from mindgrad.nn.optim.rprop import Rprop
from mindgrad.nn.optim.sgd import SGD

AdaSumByDeltaWeightWrapCell = absent(
    __name__,
    "AdaSumByDeltaWeightWrapCell",
    "adds the updates of several processes",
    "Use the optimiser itself.",
)
AdaSumByGradWrapCell = absent(
    __name__, "AdaSumByGradWrapCell", "adds the gradients of several processes", "Use the optimiser itself."
)
thor = absent(
    __name__, "thor", "is a second-order optimiser with layers of its own",
    "Use another optimiser, or a second-order method with mindgrad.hvp or mindgrad.ggnvp.",
)  # fmt: skip

__all__ = [
    "ASGD",
    "FTRL",
    "LARS",
    "SGD",
    "AdaMax",
    "AdaSumByDeltaWeightWrapCell",
    "AdaSumByGradWrapCell",
    "Adadelta",
    "AdaFactor",
    "Adagrad",
    "Adam",
    "AdamOffload",
    "AdamWeightDecay",
    "Lamb",
    "LazyAdam",
    "Momentum",
    "Optimizer",
    "ProximalAdagrad",
    "RMSProp",
    "Rprop",
    "thor",
]  # fmt: skip
