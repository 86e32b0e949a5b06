"""Operator classes for summaries, which have no effect, and hooks of gradients."""

from __future__ import annotations

from mindgrad.frontend.hooks import HookBackward, InsertGradientOf
from mindgrad.ops import introspection
from mindgrad.ops.registry import public

public(
    "ScalarSummary >>> ops.ScalarSummary()('loss', Tensor(1.0)) => None",
    "TensorSummary >>> ops.TensorSummary()('x', Tensor([1.0])) => None",
    "ImageSummary >>> ops.ImageSummary()('x', ops.ones((1, 3, 2, 2))) => None",
    "HistogramSummary >>> ops.HistogramSummary()('x', Tensor([1.0])) => None",
)(introspection.summary)

__all__ = ["HookBackward", "InsertGradientOf"]
