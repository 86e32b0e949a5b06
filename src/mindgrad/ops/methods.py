"""The operators and methods of Tensor: one table, each entry a function of ``mindgrad.ops``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from mindgrad.core.tensor import Tensor
from mindgrad.ops import arithmetic, contraction, math

__all__ = ["METHODS", "OPERATORS"]


def _reflected(function: Callable[..., Any]) -> Callable[..., Any]:
    return lambda self, other: function(other, self)


OPERATORS: dict[str, Callable[..., Any]] = {
    "__add__": arithmetic.add,
    "__radd__": _reflected(arithmetic.add),
    "__sub__": arithmetic.sub,
    "__rsub__": _reflected(arithmetic.sub),
    "__mul__": arithmetic.mul,
    "__rmul__": _reflected(arithmetic.mul),
    "__truediv__": arithmetic.div,
    "__rtruediv__": _reflected(arithmetic.div),
    "__neg__": arithmetic.neg,
    "__matmul__": contraction.matmul,
}

METHODS: dict[str, Callable[..., Any]] = {
    "sin": math.sin,
    "cos": math.cos,
    "tanh": math.tanh,
    "exp": math.exp,
    "log": math.log,
}


def _install() -> None:
    for name, function in {**OPERATORS, **METHODS}.items():
        # a function, not a reference to one: methods bind ``self``
        setattr(Tensor, name, _method(function, name))


def _method(function: Callable[..., Any], name: str) -> Callable[..., Any]:
    def method(self: Tensor, *args: Any, **kwargs: Any) -> Any:
        return function(self, *args, **kwargs)

    method.__name__ = name
    method.__qualname__ = f"Tensor.{name}"
    method.__doc__ = function.__doc__
    return method


_install()
