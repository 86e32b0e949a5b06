"""Cells and layers."""

from mindgrad.nn import layer, loss, optim, wrap
from mindgrad.nn.cell import Cell
from mindgrad.nn.container import CellList, SequentialCell
from mindgrad.nn.grad import ForwardValueAndGrad, Jvp, Vjp
from mindgrad.nn.layer import *  # noqa: F403
from mindgrad.nn.loss import *  # noqa: F403
from mindgrad.nn.optim import *  # noqa: F403
from mindgrad.nn.wrap import *  # noqa: F403

__all__ = ["Cell", "CellList", "ForwardValueAndGrad", "Jvp", "SequentialCell", "Vjp"]
__all__ = list(dict.fromkeys(__all__ + layer.__all__ + loss.__all__ + optim.__all__ + wrap.__all__))
