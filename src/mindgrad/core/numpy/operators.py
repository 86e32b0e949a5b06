"""Attach Python operators, and a few methods of NumPy arrays, to tensors.

After ``core.numpy`` is imported, ``x + y``, ``x @ y``, ``x[0]``, and ``x.sum()`` work. If ``mindgrad.ops`` is
loaded, its operators and methods are used instead.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from mindgrad.core.arrays.getitem import element, iterate
from mindgrad.core.ir.array_conversion import is_other_array
from mindgrad.core.ir.tensor import Tensor
from mindgrad.core.numpy import creation, elementwise, movement, products, reductions, shapes
from mindgrad.core.trace.operands import operand

__all__ = ["BINARY", "METHODS", "UNARY"]

#: binary operators. For example, ``add`` implements ``__add__``, and with exchanged operands ``__radd__``
BINARY: dict[str, Callable[..., Any]] = {
    "add": elementwise.add,
    "sub": elementwise.subtract,
    "mul": elementwise.multiply,
    "truediv": elementwise.divide,
    "floordiv": elementwise.floor_divide,
    "mod": elementwise.mod,
    "pow": elementwise.power,
    "matmul": products.matmul,
    "and": elementwise.bitwise_and,
    "or": elementwise.bitwise_or,
    "xor": elementwise.bitwise_xor,
    "lshift": elementwise.left_shift,
    "rshift": elementwise.right_shift,
}
UNARY: dict[str, Callable[..., Any]] = {
    "neg": elementwise.negative,
    "pos": elementwise.positive,
    "abs": elementwise.absolute,
    "invert": elementwise.invert,
    "eq": elementwise.equal,
    "ne": elementwise.not_equal,
    "lt": elementwise.less,
    "le": elementwise.less_equal,
    "gt": elementwise.greater,
    "ge": elementwise.greater_equal,
    "iter": iterate,
    "round": elementwise.round,
}
#: methods and properties of NumPy arrays that tensors also have
METHODS: dict[str, Any] = {
    **{
        name: getattr(module, name)
        for module, names in {
            elementwise: ("clip", "conj"),
            products: ("dot", "trace"),
            reductions: (
                "all", "any", "argmax", "argmin", "cumprod", "cumsum", "max", "mean", "min", "prod", "std",
                "sum", "var",
            ),
            creation: ("astype",),
            movement: ("diagonal", "repeat", "take"),
            shapes: ("ravel", "squeeze", "swapaxes"),
        }.items()
        for name in names
    },
    "reshape": lambda x, *shape: shapes.reshape(x, shape if len(shape) != 1 else shape[0]),
    "transpose": lambda x, *axes: shapes.transpose(x, axes or None),
    "T": property(shapes.transpose),
    "real": property(elementwise.real),
    "imag": property(elementwise.imag),
}  # fmt: skip


#: types of the second operand of an operator, besides arrays of other libraries. For other types, Python
#: tries the method of the second operand
_OPERANDS = (Tensor, bool, int, float, complex, np.ndarray, np.generic, list, tuple)


def _operator(function: Callable[..., object], is_reflected: bool = False) -> Callable[..., Any]:
    def apply(x: Tensor, y: object) -> Any:
        if not isinstance(y, _OPERANDS) and not is_other_array(y):
            return NotImplemented
        return function(y, x) if is_reflected else function(x, y)

    return apply


def _read(x: Tensor, index: object) -> Any:
    return element(operand(x, "getitem"), index)


def _refuse_assignment(x: Tensor, index: object, value: object) -> None:
    raise TypeError("Tensors are immutable, so x[index] = value fails. Use x = np.updated(x, index, value).")


def _attach() -> None:
    """Attach the operators and methods, unless ``mindgrad.ops`` has attached its own."""
    if "__add__" in vars(Tensor):
        return
    for name, function in BINARY.items():
        setattr(Tensor, f"__{name}__", _operator(function))
        setattr(Tensor, f"__r{name}__", _operator(function, True))
    for name, function in UNARY.items():
        setattr(Tensor, f"__{name}__", function)
    Tensor.__getitem__ = _read  # type: ignore[method-assign, assignment]
    Tensor.__setitem__ = _refuse_assignment  # type: ignore[method-assign, assignment]
    for name, method in METHODS.items():
        setattr(Tensor, name, method)


_attach()
