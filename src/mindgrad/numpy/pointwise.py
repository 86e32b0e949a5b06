"""Elementwise functions as in NumPy: accept array-likes and an argument ``dtype``."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

from mindgrad.ir.tensor import Tensor
from mindgrad.numpy.coercion import converted, floating, tensor
from mindgrad.ops import arithmetic, rounding
from mindgrad.ops.define import NOT_GIVEN, also_named
from mindgrad.ops.form_docs import FunctionDoc
from mindgrad.ops.forms import moved_example
from mindgrad.ops.registry import Form, public

__all__ = ["elementwise"]


@public("numpy.absolute numpy.abs")
def _absolute(x: Tensor) -> Tensor:
    """Compute the absolute value |x|.

    Args:
        x (Tensor): the values.

    Returns:
        Tensor of the shape of ``x``.

    >>> from mindgrad import numpy
    >>> print(numpy.absolute([-1.0, 2.0]))
    [1. 2.]
    """
    return x if x.dtype.kind == "bool" else rounding.abs(x)


@public("numpy.float_power")
def _power_of_floats(x: Tensor, y: Tensor) -> Tensor:
    """Raise ``x`` to the power of ``y`` in floating-point numbers.

    Args:
        x, y (Tensor): operands whose shapes broadcast.

    Returns:
        Floating-point tensor of the broadcast shape.

    >>> from mindgrad import numpy
    >>> print(numpy.float_power([1, 2], 2))
    [1. 4.]
    """
    return arithmetic.pow(floating(x, "float_power"), y)


#: function -> {alternative argument name: argument name}
_SECOND_NAMES = {
    "arccos": {"input": "x"},
    "logical_not": {"a": "x"},
    "negative": {"a": "x"},
    "positive": {"a": "x"},
}

#: type of an operand in generated docstrings
_OPERAND = "Tensor or array_like"
_ARGUMENTS = {
    1: f"    x ({_OPERAND}): the input, of any shape.",
    2: f"    x1, x2 ({_OPERAND}): the operands, whose shapes broadcast.",
}
_DTYPE = (
    "    dtype (mindgrad.dtype, optional): data type of the result. The function determines it by default."
)


def _number(x: Any) -> bool:
    return isinstance(x, (bool, int, float, complex))


def elementwise(form: Form) -> Callable[..., Tensor]:
    """Derive a function of ``mindgrad.numpy`` that accepts array-likes and ``dtype``."""
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
            # keep a Python number if the other operand is a tensor, which then determines the dtype
            first = x1 if _number(x1) and not _number(x2) else tensor(x1, name)
            second = x2 if _number(x2) and not _number(x1) else tensor(x2, name)
            return converted(function(first, second), dtype)

        wrapper = two
    wrapper.__name__ = wrapper.__qualname__ = name
    if function.__doc__:  # None under ``python -OO``
        wrapper.__doc__ = _documentation(form, count)
    return also_named(**_SECOND_NAMES[name])(wrapper) if name in _SECOND_NAMES else wrapper


def _documentation(form: Form, count: int) -> str:
    """Write the docstring of an elementwise function with ``count`` operands."""
    names = ("x",) if count == 1 else ("x1", "x2")
    code = inspect.unwrap(form.function).__code__
    doc = FunctionDoc.of(form.function, dict(zip(names, code.co_varnames, strict=False)))
    summary = doc.summary
    if count == 2:
        summary = summary.replace("``x``", "``x1``").replace("``y``", "``x2``")
    parts = [summary, *doc.notes, f"Args:\n{_ARGUMENTS[count]}\n{_DTYPE}"]
    parts += [f"{header}:\n{text}" for header, text in doc.sections.items()]
    if doc.example:
        parts.append(moved_example(doc.example, form.function.__name__, "numpy", form.name))
    parts.append(doc.see_also(f"mindgrad.numpy.{form.name}"))
    return "\n\n".join(part for part in parts if part).replace("\n", "\n    ").replace("\n    \n", "\n\n")
