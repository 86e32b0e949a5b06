"""Core: types, graphs, the builder, and tensors. It contains no operators."""

from mindgrad.ir import verify

__all__ = ["verify"]  # imported first, because MINDGRAD_VERIFY must apply to every graph
