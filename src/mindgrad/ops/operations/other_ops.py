"""Assignment to Parameters, and what lets gradients through or not, as classes."""

from __future__ import annotations

from mindgrad.ops import flow, introspection
from mindgrad.ops.operations.base import boolean, classes, operation
from mindgrad.trace.hooks import HookBackward, InsertGradientOf  # noqa: F401

_ASSIGNMENT = {"use_locking": boolean(False)}
_PARAMETER = 'Parameter(Tensor([1.0]), name="w")'

Assign = operation(__name__, "Assign", flow.assign)
AssignAdd = operation(
    __name__, "AssignAdd", flow.assign_add, attributes=_ASSIGNMENT,
    run=lambda self, variable, value: flow.assign_add(variable, value),
    example=f"ops.AssignAdd()({_PARAMETER}, Tensor([2.0]))", prints="[3.]",
)  # fmt: skip
AssignSub = operation(
    __name__, "AssignSub", flow.assign_sub, attributes=_ASSIGNMENT,
    run=lambda self, variable, value: flow.assign_sub(variable, value),
    example=f"ops.AssignSub()({_PARAMETER}, Tensor([2.0]))", prints="[-1.]",
)  # fmt: skip
Depend = operation(__name__, "Depend", flow.depend)
StopGradient = operation(__name__, "StopGradient", flow.stop_gradient)

Partial = operation(__name__, "Partial", introspection.partial)
Print = operation(__name__, "Print", introspection.print_)
SameTypeShape = operation(__name__, "SameTypeShape", introspection.same_type_shape)
ScalarCast = operation(__name__, "ScalarCast", introspection.scalar_cast)
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
