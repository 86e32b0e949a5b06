"""Optimizers of MindSpore 2.x's ``experimental`` package."""

from mindgrad._base.missing import explain_room as _explain_room
from mindgrad.experimental import optim

__all__ = ["optim"]

_explain_room(__name__)
