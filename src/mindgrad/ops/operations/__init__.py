"""Operator classes of MindSpore r1.x, such as ``ops.MatMul()(x, y)``.

An object fixes the attributes of an operator, and a call applies the function of the same name.
"""

from typing import TYPE_CHECKING as _TYPE_CHECKING
from typing import Any as _Any

from mindgrad._base.missing import explain_package as _explain_package
from mindgrad._base.shared_docs import document_all as _document_all
from mindgrad._base.shared_docs import with_sections as _with_sections
from mindgrad.ops.operations import (
    alignment_ops,
    array_ops,
    box_ops,
    collective_ops,
    custom_ops,
    later_ops,
    layer_ops,
    linalg_ops,
    loop_ops,
    loss_ops,
    math_ops,
    nn_ops,
    other_ops,
    part_ops,
    primitive,
    random_ops,
    rl_ops,
    sparse_ops,
    special_ops,
    status_ops,
    uneven_collective_ops,
    update_ops,
)
from mindgrad.ops.operations._embedding_cache_ops import UpdateCache  # noqa: F401
from mindgrad.ops.operations.base import Operation
from mindgrad.ops.operations.base import expose_classes as _expose_classes
from mindgrad.ops.operations.status_ops import identity  # noqa: F401
from mindgrad.ops.registry import CLASSES as _CLASSES

if _TYPE_CHECKING:
    # type checkers do not see the classes that are created from the registry

    def __getattr__(name: str) -> _Any: ...


__all__ = ["Operation"]
# modules with operator classes that ``expose_classes`` cannot create from one function
for _module in (
    alignment_ops, array_ops, box_ops, collective_ops, custom_ops, later_ops, layer_ops, linalg_ops, loop_ops,
    loss_ops, math_ops, nn_ops, other_ops, part_ops, primitive, random_ops, rl_ops, sparse_ops, special_ops,
    status_ops,
    uneven_collective_ops, update_ops,
):  # fmt: skip
    __all__ += _module.__all__
    _document_all(vars(_module))
    globals().update({name: getattr(_module, name) for name in _module.__all__})

_with_sections(Operation)
_expose_classes(_CLASSES, globals())
_explain_package(__name__)
