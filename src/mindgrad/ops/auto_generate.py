"""Operators that MindSpore generates from its tables, classes and functions: those of ``ops`` and ``mint``.

Functions of ``mint`` have names that end in ``_ext`` there, and classes in ``Ext``.
"""

import sys as _sys

from mindgrad import mint as _mint
from mindgrad._base.absent import absent as _absent
from mindgrad._base.missing import explain_missing_names as _explain_missing_names
from mindgrad.ops import functional, operations
from mindgrad.ops.functional import *  # noqa: F403
from mindgrad.ops.operations import *  # noqa: F403
from mindgrad.ops.operations.base import operation as _operation

_FUNCTIONS = {
    f"{name}_ext": value
    for module in (_mint.nn.functional, _mint)
    for name, value in vars(module).items()
    if callable(value) and name[0] != "_"
}
globals().update(_FUNCTIONS)


def _sum(x: object, other: object, alpha: object = 1) -> object:
    return _mint.add(x, other, alpha=alpha)


def _difference(x: object, other: object, alpha: object = 1) -> object:
    return _mint.sub(x, other, alpha=alpha)


add_ext, sub_ext = _sum, _difference
_PAIR = "Tensor([1.0, 2.0]), Tensor([3.0, 4.0])"
AddExt = _operation(
    __name__, "AddExt", _sum, example=f"ops.auto_generate.AddExt()({_PAIR}, 2)", prints="[ 7. 10.]"
)
SubExt = _operation(
    __name__, "SubExt", _difference, example=f"ops.auto_generate.SubExt()({_PAIR}, 2)", prints="[-5. -6.]"
)
_X = "Tensor([[1.0, 3.0], [2.0, 4.0]])"
SumExt = _operation(
    __name__, "SumExt", _mint.sum, run=lambda self, x, dim=None, keepdim=False, dtype=None: _mint.sum(
        x, dim, keepdim, dtype=dtype
    ),
    example=f"ops.auto_generate.SumExt()({_X}, 1)", prints="[4. 6.]",
)  # fmt: skip
MeanExt = _operation(
    __name__, "MeanExt", _mint.mean, run=lambda self, x, dim=None, keepdim=False, dtype=None: _mint.mean(
        x, dim, keepdim, dtype=dtype
    ),
    example=f"ops.auto_generate.MeanExt()({_X}, 1)", prints="[2. 3.]",
)  # fmt: skip
CumsumExt = _operation(
    __name__, "CumsumExt", _mint.cumsum, run=lambda self, x, dim, dtype=None: _mint.cumsum(x, dim, dtype),
    example=f"ops.auto_generate.CumsumExt()({_X}, 1)", prints="[[1. 4.]\n [2. 6.]]",
)  # fmt: skip
SortExt = _operation(
    __name__, "SortExt", _mint.sort,
    run=lambda self, x, dim=-1, descending=False, stable=False: _mint.sort(
        x, dim=dim, descending=descending, stable=stable
    ),
    example="ops.auto_generate.SortExt()(Tensor([2.0, 1.0]))[0]", prints="[1. 2.]",
)  # fmt: skip
MatMulExt = _operation(
    __name__, "MatMulExt", _mint.matmul,
    example="ops.auto_generate.MatMulExt()(Tensor([[1.0, 2.0]]), Tensor([[3.0], [4.0]]))", prints="[[11.]]",
)  # fmt: skip
InplaceAddExt = _operation(
    __name__, "InplaceAddExt", _sum, run=lambda self, x, other, alpha=1: x.add_(other, alpha=alpha),
    example=f"ops.auto_generate.InplaceAddExt()({_PAIR}, 2)", prints="[ 7. 10.]",
)  # fmt: skip
SplitWithSize = _operation(
    __name__, "SplitWithSize", functional.split, run=lambda self, x, split_size, dim=0: functional.split(
        x, list(split_size), dim
    ),
    example="ops.auto_generate.SplitWithSize()(Tensor([1.0, 2.0, 3.0]), [1, 2])[1]", prints="[2. 3.]",
)  # fmt: skip
SiLU = _operation(
    __name__, "SiLU", functional.silu, example="ops.auto_generate.SiLU()(Tensor([0.0]))", prints="[0.]"
)

_KERNEL = "is a kernel of Ascend"
FlashAttentionScore = _absent(
    __name__, "FlashAttentionScore", _KERNEL, "Use nn.MultiheadAttention, or matmul and softmax."
)
FlashAttentionScoreGrad = _absent(
    __name__, "FlashAttentionScoreGrad", _KERNEL, "Differentiate matmul and softmax."
)
GroupedMatmul = _absent(__name__, "GroupedMatmul", _KERNEL, "Use ops.matmul for each group.")

__all__ = list(dict.fromkeys([*functional.__all__, *operations.__all__, *_FUNCTIONS]))
__all__ += [
    "AddExt", "CumsumExt", "FlashAttentionScore", "FlashAttentionScoreGrad", "GroupedMatmul", "InplaceAddExt",
    "MatMulExt", "MeanExt",
    "SiLU", "SortExt", "SplitWithSize", "SubExt", "SumExt",
]  # fmt: skip
_explain_missing_names(_sys.modules[__name__])
