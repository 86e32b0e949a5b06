"""Optimizers: Cells that update Parameters from their gradients."""

from mindgrad._base.absent import absent
from mindgrad.nn.optim.ada_grad import FTRL, Adadelta, Adagrad, ProximalAdagrad, RMSProp
from mindgrad.nn.optim.adafactor import AdaFactor
from mindgrad.nn.optim.adam import Adam, AdaMax, AdamOffload, AdamWeightDecay, Lamb, LazyAdam
from mindgrad.nn.optim.closure import ClosureOptimizer
from mindgrad.nn.optim.lars import LARS
from mindgrad.nn.optim.lbfgs import LBFGS
from mindgrad.nn.optim.least_squares import GaussNewton, LevenbergMarquardt
from mindgrad.nn.optim.muon import Muon
from mindgrad.nn.optim.natural_gradient import NaturalGradient
from mindgrad.nn.optim.newton_cg import NewtonCG
from mindgrad.nn.optim.optimizer import Optimizer
from mindgrad.nn.optim.sgd import ASGD, SGD, Momentum, Rprop
from mindgrad.nn.optim.soap import SOAP

AdaSumByDeltaWeightWrapCell = absent(
    __name__,
    "AdaSumByDeltaWeightWrapCell",
    "adds the updates of several processes",
    "Use the optimizer itself.",
)
AdaSumByGradWrapCell = absent(
    __name__, "AdaSumByGradWrapCell", "adds the gradients of several processes", "Use the optimizer itself."
)
thor = absent(
    __name__, "thor", "is a second-order optimizer with special layers",
    "Use another optimizer, or a second-order method with mindgrad.hvp or mindgrad.ggnvp.",
)  # fmt: skip

__all__ = [
    "ASGD", "FTRL", "LARS", "LBFGS", "SGD", "SOAP", "AdaFactor", "AdaMax", "AdaSumByDeltaWeightWrapCell",
    "AdaSumByGradWrapCell", "Adadelta", "Adagrad", "Adam", "AdamOffload", "AdamWeightDecay",
    "ClosureOptimizer", "GaussNewton", "Lamb", "LazyAdam", "LevenbergMarquardt", "Momentum", "Muon",
    "NaturalGradient", "NewtonCG", "Optimizer", "ProximalAdagrad", "RMSProp", "Rprop", "thor",
]  # fmt: skip
