"""Cells and layers."""

from mindgrad.nn.cell import Cell
from mindgrad.nn.container import CellList, SequentialCell
from mindgrad.nn.grad import ForwardValueAndGrad, Jvp, Vjp

__all__ = ["Cell", "CellList", "ForwardValueAndGrad", "Jvp", "SequentialCell", "Vjp"]
