"""Install operators, properties, and methods on Tensor.

Operators and properties are in tables. Methods are functions that declare a form ``"Tensor.name"``. The
functions that only serve as methods are in ``ops.tensor_members``, ``ops.reshaping``, ``ops.storage``,
``ops.summaries``, ``ops.overloads``, and ``ops.in_place``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from mindgrad._base.foreign_names import TENSORS, refuse_attributes
from mindgrad.ir.tensor import Tensor
from mindgrad.ops import (
    arithmetic,
    comparison,
    dlpack,
    getitem,
    in_place,  # noqa: F401 - its methods are declared when it is loaded
    interoperation,
    matrix_bands,
    reshaping,
    rounding,
    storage,
    summaries,  # noqa: F401
    tensor_members,
)
from mindgrad.ops.forms import functions_of
from mindgrad.ops.overloads import with_second_names
from mindgrad.ops.registry import Form, public, surface
from mindgrad.ops.selection import Selection
from mindgrad.trace.tensor_hooks import hooks, register_hook

__all__ = ["METHODS", "OPERATORS", "PROPERTIES"]

OPERATORS: dict[str, Callable[..., Any]] = {
    "__add__": arithmetic.add,
    "__radd__": tensor_members.reflected(arithmetic.add),
    "__sub__": arithmetic.sub,
    "__rsub__": tensor_members.reflected(arithmetic.sub),
    "__mul__": arithmetic.mul,
    "__rmul__": tensor_members.reflected(arithmetic.mul),
    "__truediv__": arithmetic.div,
    "__rtruediv__": tensor_members.reflected(arithmetic.div),
    "__floordiv__": arithmetic.floor_divide,
    "__rfloordiv__": tensor_members.reflected(arithmetic.floor_divide),
    "__mod__": arithmetic.floor_mod,
    "__rmod__": tensor_members.reflected(arithmetic.floor_mod),
    "__divmod__": tensor_members.division,
    "__pow__": arithmetic.pow,
    "__rpow__": tensor_members.reflected(arithmetic.pow),
    "__matmul__": tensor_members.matrix_product,
    "__rmatmul__": tensor_members.reflected(tensor_members.matrix_product),
    "__and__": comparison.bitwise_and,
    "__rand__": tensor_members.reflected(comparison.bitwise_and),
    "__or__": comparison.bitwise_or,
    "__ror__": tensor_members.reflected(comparison.bitwise_or),
    "__xor__": comparison.bitwise_xor,
    "__rxor__": tensor_members.reflected(comparison.bitwise_xor),
    "__lshift__": comparison.bitwise_left_shift,
    "__rlshift__": tensor_members.reflected(comparison.bitwise_left_shift),
    "__rshift__": comparison.bitwise_right_shift,
    "__rrshift__": tensor_members.reflected(comparison.bitwise_right_shift),
    "__neg__": arithmetic.neg,
    "__pos__": arithmetic.positive,
    "__abs__": rounding.abs,
    "__invert__": comparison.logical_not,
    "__round__": tensor_members.rounded,
    "__eq__": tensor_members.equals,
    "__ne__": tensor_members.differs,
    "__lt__": comparison.less,
    "__le__": comparison.less_equal,
    "__gt__": comparison.greater,
    "__ge__": comparison.greater_equal,
    "__getitem__": getitem.getitem,
    "__setitem__": getitem.setitem,
    "__iter__": getitem.iterate,
    "__contains__": tensor_members.contains,
    "__array_ufunc__": interoperation.array_ufunc,
    "__array_function__": interoperation.array_function,
    "__dlpack__": dlpack.dlpack,
    "__dlpack_device__": dlpack.dlpack_device,
}

#: name -> method of Tensor
METHODS: dict[str, Callable[..., Any]] = {}

PROPERTIES: dict[str, Callable[..., Any]] = {
    "H": storage.hermitian,
    "T": reshaping.transposed,
    "const_arg": storage.has_const_arg,
    "data": tensor_members.itself,
    "device": storage.device,
    "has_init": tensor_members.is_lazy,
    "mH": matrix_bands.adjoint,
    "mT": reshaping.matrix_transposed,
    "strides": tensor_members.strides,
}


#: doctest runs the examples of the methods in this dict: the methods with other arguments than their
#: functions
__test__: dict[str, Callable[..., Any]] = {}


def _install(forms: list[Form]) -> None:
    methods = functions_of(forms, globals(), "Tensor", receiver="self")
    __test__.update({form.name: methods[form.name] for form in forms if form.arguments})
    METHODS.update(with_second_names(methods))
    for name in methods:
        setattr(Tensor, name, METHODS[name])
        setattr(Selection, name, METHODS[name])


for _method in (hooks, register_hook):
    public("Tensor")(_method)
surface("Tensor", _install)
for _name, _function in OPERATORS.items():
    setattr(Tensor, _name, _function)
    if not _name.startswith(
        ("__array", "__dlpack")
    ):  # a tensor selected by a mask (``ops.selection``) cannot be converted to an array
        setattr(Selection, _name, _function)
for _name, _function in PROPERTIES.items():
    setattr(Tensor, _name, property(_function))
refuse_attributes(Tensor, TENSORS)
setattr(Tensor, "from_numpy", staticmethod(storage.from_numpy))  # noqa: B010 - mypy knows no attribute
