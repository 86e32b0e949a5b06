"""Core without knowledge of operators: types, graphs, builder, and tensors."""

from mindgrad.ir import verify

__all__ = ["verify"]  # imported first, because MINDGRAD_VERIFY must apply to every graph
