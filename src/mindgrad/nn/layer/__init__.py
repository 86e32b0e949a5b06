"""Layers: Cells with Parameters, and Cells that apply one function."""

from mindgrad.nn.layer import activation
from mindgrad.nn.layer.activation import *  # noqa: F403

__all__: list[str] = []
__all__ += activation.__all__
