"""Cells and layers."""

from mindgrad.nn.cell import Cell

__all__ = ["Cell"]
