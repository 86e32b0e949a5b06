"""Elementwise functions of NumPy coerce what is no tensor, and take ``dtype``."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

from mindgrad.ir.tensor import Tensor
from mindgrad.numpy.coercion import converted, floating, tensor
from mindgrad.ops import arithmetic, rounding
from mindgrad.ops.define import NOT_GIVEN, also_named
from mindgrad.ops.registry import Form, public

__all__ = ["elementwise"]


@public("numpy.absolute numpy.abs")
def _absolute(x: Tensor) -> Tensor:
    """The absolute value |x|."""
    return x if x.dtype.kind == "bool" else rounding.abs(x)


@public("numpy.float_power")
def _power_of_floats(x: Tensor, y: Tensor) -> Tensor:
    """``x`` to the power of ``y``, as floating-point numbers."""
    return arithmetic.pow(floating(x, "float_power"), y)


#: the second names of arguments
_SECOND_NAMES = {
    "arccos": {"input": "x"},
    "logical_not": {"a": "x"},
    "negative": {"a": "x"},
    "positive": {"a": "x"},
}

_DOC = """{summary} See :func:`mindgrad.ops.{own}`.

    Args:
        {arguments}
        dtype: the element type of the result; by default as the function gives it.
    """
_ARGUMENTS = {
    1: "x: a tensor, number, or nested list of numbers.",
    2: "x1, x2: tensors, numbers or nested lists, whose shapes broadcast.",
}


def _number(x: Any) -> bool:
    return isinstance(x, (bool, int, float, complex))


def elementwise(form: Form) -> Callable[..., Tensor]:
    """The function of ``mindgrad.numpy`` that takes what becomes a tensor, and ``dtype``."""
    function, name = form.function, form.name
    own = inspect.unwrap(function)
    defaults = [value for value in own.__defaults__ or () if value is not NOT_GIVEN]
    count = own.__code__.co_argcount - len(defaults)
    if count == 1:

        def one(x: Any, dtype: Any = None) -> Tensor:
            return converted(function(tensor(x, name)), dtype)

        wrapper: Callable[..., Tensor] = one
    else:

        def two(x1: Any, x2: Any, dtype: Any = None) -> Tensor:
            # a number beside a tensor takes the tensor's type; two numbers are tensors of their own
            first = x1 if _number(x1) and not _number(x2) else tensor(x1, name)
            second = x2 if _number(x2) and not _number(x1) else tensor(x2, name)
            return converted(function(first, second), dtype)

        wrapper = two
    wrapper.__name__ = wrapper.__qualname__ = name
    summary = (function.__doc__ or "").partition("\n\n")[0]
    if count == 2:
        summary = summary.replace("``x``", "``x1``").replace("``y``", "``x2``")
    wrapper.__doc__ = _DOC.format(summary=summary, own=function.__name__, arguments=_ARGUMENTS[count])
    return also_named(**_SECOND_NAMES[name])(wrapper) if name in _SECOND_NAMES else wrapper
