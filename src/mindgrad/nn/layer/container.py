"""Containers of Cells, in the module that MindSpore programs import them from."""

from mindgrad.nn.container import CellDict, CellList, SequentialCell

__all__ = ["CellDict", "CellList", "SequentialCell"]
