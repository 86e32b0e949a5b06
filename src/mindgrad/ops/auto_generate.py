"""Operators of ``ops`` and ``mint``, as in ``mindspore.ops.auto_generate``.

Names of functions of ``mint`` end in ``_ext``, and names of their classes in ``Ext``.
"""

import sys as _sys

from mindgrad import mint as _mint
from mindgrad._base.absent import absent as _absent
from mindgrad._base.missing import explain_missing_names as _explain_missing_names
from mindgrad.mint import conversions as _conversions
from mindgrad.ops import functional, operations
from mindgrad.ops.functional import *  # noqa: F403
from mindgrad.ops.operations import *  # noqa: F403
from mindgrad.ops.operations.base import expose_classes as _expose_classes
from mindgrad.ops.registry import public as _public

_FUNCTIONS = {
    f"{name}_ext": value
    for module in (_mint.nn.functional, _mint)
    for name, value in vars(module).items()
    if callable(value) and name[0] != "_"
}
globals().update(_FUNCTIONS)


@_public(
    "ops.auto_generate.InplaceAddExt()(x, other, alpha=1) -> x.add_(other, alpha=alpha)"
    " >>> ops.auto_generate.InplaceAddExt()(Tensor([1.0, 2.0]), Tensor([3.0, 4.0]), 2) => [ 7. 10.]"
)
def add_ext(x: object, other: object, alpha: object = 1) -> object:
    """Compute ``x + alpha · other``: :func:`mindgrad.mint.add`, positional ``alpha``.

    >>> from mindgrad import Tensor, ops
    >>> print(ops.auto_generate.add_ext(Tensor([1.0]), Tensor([2.0]), 3))
    [7.]
    """
    return _mint.add(x, other, alpha=alpha)


def sub_ext(x: object, other: object, alpha: object = 1) -> object:
    """Compute ``x − alpha · other``: :func:`mindgrad.mint.sub`, positional ``alpha``.

    >>> from mindgrad import Tensor, ops
    >>> print(ops.auto_generate.sub_ext(Tensor([7.0]), Tensor([2.0]), 3))
    [1.]
    """
    return _mint.sub(x, other, alpha=alpha)


_KERNEL = "is a kernel for Ascend devices"
FlashAttentionScoreGrad = _absent(
    __name__, "FlashAttentionScoreGrad", _KERNEL, "Differentiate matmul and softmax."
)
GroupedMatmul = _absent(__name__, "GroupedMatmul", _KERNEL, "Use ops.matmul for each group.")

__all__ = list(dict.fromkeys([*functional.__all__, *operations.__all__, *_FUNCTIONS]))
__all__ += ["FlashAttentionScoreGrad", "GroupedMatmul"]
_expose_classes("ops.auto_generate", globals(), vars(_conversions))
_explain_missing_names(_sys.modules[__name__])
