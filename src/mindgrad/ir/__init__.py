"""The heart: types, the graph, its builder, and tensors. It names no operator."""

from mindgrad.ir import verify

__all__ = ["verify"]  # imported first: MINDGRAD_VERIFY is about every graph
