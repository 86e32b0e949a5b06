"""Containers of Cells, where MindSpore's programs import them from."""

from mindgrad.nn.container import CellList, SequentialCell

__all__ = ["CellList", "SequentialCell"]
