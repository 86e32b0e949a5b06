"""Optimizers with mutable parameter groups, and learning rate schedulers for them."""

from mindgrad._base.missing import explain_package as _explain_package
from mindgrad.experimental.optim import lr_scheduler
from mindgrad.experimental.optim.adam import Adam, AdamW
from mindgrad.experimental.optim.optimizer import Optimizer
from mindgrad.experimental.optim.sgd import SGD

__all__ = ["SGD", "Adam", "AdamW", "Optimizer", "lr_scheduler"]

_explain_package(__name__)
