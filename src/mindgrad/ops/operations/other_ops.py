"""Assignment to Parameters, and what lets gradients through or not, as classes."""

from __future__ import annotations

from mindgrad.ops import introspection
from mindgrad.ops.operations.base import boolean, classes, operation
from mindgrad.trace.hooks import HookBackward, InsertGradientOf  # noqa: F401

_ASSIGNMENT = {"use_locking": boolean(False)}
_PARAMETER = 'Parameter(Tensor([1.0]), name="w")'


ScalarSummary = operation(
    __name__,
    "ScalarSummary",
    introspection.summary,
    example="ops.ScalarSummary()('loss', Tensor(1.0))",
    prints="None",
)
TensorSummary = operation(
    __name__,
    "TensorSummary",
    introspection.summary,
    example="ops.TensorSummary()('x', Tensor([1.0]))",
    prints="None",
)
ImageSummary = operation(
    __name__, "ImageSummary", introspection.summary,
    example="ops.ImageSummary()('x', ops.ones((1, 3, 2, 2)))", prints="None",
)  # fmt: skip
HistogramSummary = operation(
    __name__, "HistogramSummary", introspection.summary, example="ops.HistogramSummary()('x', Tensor([1.0]))",
    prints="None",
)  # fmt: skip

__all__ = list(classes(globals()) + ["HookBackward", "InsertGradientOf"])
