"""Cells and layers."""

from mindgrad.nn.cell import Cell
from mindgrad.nn.container import CellList, SequentialCell

__all__ = ["Cell", "CellList", "SequentialCell"]
