"""Containers of Cells, where MindSpore's programs import them from."""

from mindgrad.nn.container import CellDict, CellList, SequentialCell

__all__ = ["CellDict", "CellList", "SequentialCell"]
