"""Optimizers of MindSpore 2.x's ``experimental`` package."""

from mindgrad._base.missing import explain_package as _explain_package
from mindgrad.experimental import optim

__all__ = ["optim"]

_explain_package(__name__)
