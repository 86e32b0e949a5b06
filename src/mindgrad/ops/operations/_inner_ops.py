"""Internal operators of MindSpore that programs import nevertheless."""

from __future__ import annotations

from typing import Any

from mindgrad._base.absent import absent
from mindgrad.core.ir.dtype import DType
from mindgrad.core.ir.tensor import Tensor
from mindgrad.ops import diagonals, flow, getitem
from mindgrad.ops.operations.base import boolean, operation
from mindgrad.ops.operations.collective_ops import Receive, Send
from mindgrad.ops.operations.primitive import Primitive

_QUANTISED = "Compute in float32, or in float16 with amp."

MatrixSetDiag = operation(
    __name__, "MatrixSetDiag", diagonals.matrix_set_diag,
    example="ops.operations._inner_ops.MatrixSetDiag()(Tensor([[1.0, 2.0], [3.0, 4.0]]), Tensor([0.0, 0.0]))",
    prints="[[0. 2.]\n [3. 0.]]",
)  # fmt: skip


class TopTypeof(Primitive):
    """The kind of a value as a string, such as ``"Tensor"`` or ``"Tuple"``.

    >>> from mindgrad import Tensor
    >>> from mindgrad.ops.operations._inner_ops import TopTypeof
    >>> TopTypeof()((Tensor([1.0]), 2))
    'Tuple'
    """

    def __init__(self, prim: Any = None) -> None:
        """Do nothing."""

    def __call__(self, x: Any) -> str:
        kinds: list[tuple[type, str]] = [
            (Tensor, "Tensor"), (bool, "Bool"), (int, "Int"), (float, "Float"), (str, "String"),
            (tuple, "Tuple"), (list, "List"), (dict, "Dictionary"), (slice, "Slice"), (DType, "TypeType"),
            (type(None), "TypeNone"), (type(...), "Ellipsis"),
        ]  # fmt: skip
        return next((name for kind, name in kinds if isinstance(x, kind)), type(x).__name__)


TensorCopySlices = operation(
    __name__, "TensorCopySlices", getitem.updated,
    run=lambda self, x, value, begin, end, strides: getitem.updated(
        x, tuple(map(slice, begin, end, strides)), value
    ),
    example="ops.operations._inner_ops.TensorCopySlices()(ops.zeros(3), ops.ones(2), (1,), (3,), (1,))",
    prints="[0. 1. 1.]",
)  # fmt: skip
ConvertToDynamic = operation(
    __name__, "ConvertToDynamic", flow.identity, attributes={"is_dynamic_rank": boolean(False)},
    run=lambda self, x: x, example="ops.operations._inner_ops.ConvertToDynamic()(Tensor([1.0]))",
    prints="[1.]",
)  # fmt: skip
AntiQuant = absent(__name__, "AntiQuant", "computes with quantized weights on Ascend", _QUANTISED)
Dequant = absent(__name__, "Dequant", "computes with quantized weights on Ascend", _QUANTISED)
Quant = absent(__name__, "Quant", "computes with quantized weights on Ascend", _QUANTISED)
Generator = absent(__name__, "Generator", "is the state of random numbers", "Use mindgrad.Generator.")

__all__ = [
    "AntiQuant", "ConvertToDynamic", "Dequant", "Generator", "MatrixSetDiag", "Quant",
    "Receive", "Send", "TensorCopySlices", "TopTypeof",
]  # fmt: skip
