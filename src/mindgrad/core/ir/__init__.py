"""Core data structures: types, graphs, the builder, and tensors; no operators."""

from mindgrad.core.ir import verify

__all__ = ["verify"]  # imported before any graph exists, so that MINDGRAD_VERIFY applies to all graphs
