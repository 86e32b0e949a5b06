"""Overflow checks of results: ``FloatStatus``, and Ascend's overflow flags.

Training loops on Ascend clear a flag, compute, and read the flag. On other devices, they check whether
results are finite. mindgrad has no such flags: the operators return 0, so a loop that relies on them never
skips a step. The layer ``nn.TrainOneStepWithLossScaleCell`` checks the gradients.
"""

from __future__ import annotations

from typing import Any

from mindgrad._base.absent import absent
from mindgrad.core.ir.dtype import float32
from mindgrad.core.ir.tensor import Tensor
from mindgrad.ops import creation, flow, layout, reduction, rounding
from mindgrad.ops.operands import cast, operand
from mindgrad.ops.operations.base import classes, operation
from mindgrad.ops.registry import public


@public("FloatStatus")
def overflowed(x: Any) -> Tensor:
    """Return 1 if an element is infinite or NaN, and 0 otherwise.

    Args:
        x (Tensor): floating-point tensor.

    Returns:
        float32 tensor of shape (1,).

    Raises:
        TypeError: If ``x`` is not a tensor.

    >>> from mindgrad import Tensor, ops
    >>> print(ops.FloatStatus()(Tensor([1.0, float("inf")])))
    [1.]
    """
    finite = reduction.all(rounding.isfinite(operand(x, "FloatStatus")))
    return layout.reshape(1.0 - cast(finite, float32), (1,))  # type: ignore[operator]


@public("Eps")
def spacing(x: Any) -> Tensor:
    """Return the machine epsilon of the dtype of a tensor.

    The machine epsilon is the distance from 1 to the next larger number.

    Args:
        x (Tensor): floating-point tensor.

    Returns:
        Tensor with the shape and dtype of ``x``.

    Raises:
        TypeError: If ``x`` does not have a floating-point dtype.

    >>> from mindgrad import Tensor, ops
    >>> print(ops.Eps()(Tensor([1.0])))
    [1.1920929e-07]
    """
    tensor = operand(x, "Eps")
    if not tensor.dtype.is_float:
        raise TypeError(
            f"For 'Eps', the input must have a floating-point dtype, but its dtype is {tensor.dtype}."
        )
    bits = {"Float16": 10, "Float32": 23, "Float64": 52, "BFloat16": 7}[str(tensor.dtype)]
    return creation.full_like(tensor, 2.0**-bits)


@public("NPUAllocFloatStatus")
def flag_of_zeros() -> Tensor:
    """Return Ascend's overflow flags, eight zeros, because no flag is ever set.

    Returns:
        float32 tensor of shape (8,).

    >>> from mindgrad import ops
    >>> print(ops.NPUAllocFloatStatus()())
    [0. 0. 0. 0. 0. 0. 0. 0.]
    """
    return creation.zeros((8,), float32)


@public("NPUGetFloatStatus", "NPUClearFloatStatus >>> ops.NPUClearFloatStatus()(Tensor([0.0])) => [0.]")
def flag_unchanged(x: Any) -> Tensor:
    """Return Ascend's overflow flags unchanged; other devices do not have them.

    Args:
        x (Tensor): result of ``NPUAllocFloatStatus``.

    Returns:
        ``x``.

    >>> from mindgrad import Tensor, ops
    >>> print(ops.NPUGetFloatStatus()(Tensor([0.0])))
    [0.]
    """
    return flow.identity(x)


identity = operation(
    __name__, "identity", flow.identity, example="ops.operations.identity()(Tensor([1.0]))", prints="[1.]"
)

# --- classes that can be imported but not called -------------------------------------------------------

_DEVICE = "is an operator of Ascend"
_KERNEL = "compiles a custom kernel for MindSpore"
_OWN = "Write a function of existing operators, or call a NumPy function by ops.Custom or pure_callback."

DynamicRNN = absent(__name__, "DynamicRNN", _DEVICE, "Use nn.LSTM.")
DynamicGRUV2 = absent(__name__, "DynamicGRUV2", _DEVICE, "Use nn.GRU.")
CustomOpBuilder = absent(__name__, "CustomOpBuilder", _KERNEL, _OWN)
CustomRegOp = absent(__name__, "CustomRegOp", _KERNEL, _OWN)
DataType = absent(__name__, "DataType", _KERNEL, _OWN)
AiCPURegOp = absent(__name__, "AiCPURegOp", _KERNEL, _OWN)
TBERegOp = absent(__name__, "TBERegOp", _KERNEL, _OWN)
PyFunc = absent(__name__, "PyFunc", "calls Python from a compiled program", _OWN)
_SERVER = "Leave it out: each process has all Parameters."
Push = absent(__name__, "Push", "sends gradients to a parameter server", _SERVER)
Pull = absent(__name__, "Pull", "gets Parameters from a parameter server", _SERVER)
LSTM = absent(__name__, "LSTM", "is a kernel for recurrent layers", "Use nn.LSTM.")
_ABSENT = [
    "AiCPURegOp", "CustomOpBuilder", "CustomRegOp", "DataType", "DynamicGRUV2",
    "DynamicRNN", "LSTM", "Pull", "Push", "PyFunc", "TBERegOp",
]  # fmt: skip

#: the operator classes, except ``identity``, because ``ops.identity`` is a function
__all__ = list(_ABSENT + [name for name in classes(globals()) if name != "identity"])
