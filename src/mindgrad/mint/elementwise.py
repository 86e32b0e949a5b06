"""Functions of ``ops`` under the names of ``mint`` and with its arguments ``input`` and ``other``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from mindgrad.ir.tensor import Tensor
from mindgrad.ops import arithmetic, functional
from mindgrad.ops.define import also_named

#: of one tensor
_UNARY = [
    "abs", "absolute", "acos", "acosh", "arccos", "arccosh", "arcsin", "arcsinh", "arctan", "arctanh",
    "asin", "asinh", "atan", "atanh", "bitwise_not", "ceil", "cos", "cosh", "deg2rad", "erf", "erfc",
    "erfinv", "exp", "exp2", "expm1", "fix", "floor", "frac", "imag", "isfinite", "isinf", "isnan",
    "isneginf", "log", "log10", "log1p", "log2", "logical_not", "neg", "negative", "positive", "rad2deg",
    "real", "reciprocal", "rsqrt", "sigmoid", "sign", "sin", "sinc", "sinh", "sqrt", "square", "tan",
    "tanh", "trunc",
]  # fmt: skip
#: of two tensors
_BINARY = [
    "arctan2", "atan2", "bitwise_and", "bitwise_or", "bitwise_xor", "eq", "equal", "floor_divide", "fmod",
    "gcd", "greater", "greater_equal", "gt", "le", "less", "less_equal", "logaddexp", "logaddexp2",
    "logical_and", "logical_or", "logical_xor", "lt", "maximum", "minimum", "mul", "ne", "not_equal",
    "remainder", "xlogy",
]  # fmt: skip
#: of the same arguments in ops
_SAME = [
    "addbmm", "addcdiv", "addcmul", "addmm", "addmv", "allclose", "argmax", "bincount", "broadcast_to",
    "clamp", "clip", "cross", "cumprod", "dot", "dstack", "einsum", "eye", "flip", "float_power",
    "full_like", "histc", "hstack", "inverse", "isclose", "lerp", "mm", "masked_select", "matmul", "mv",
    "nan_to_num", "nonzero", "ones_like", "outer", "polar", "pow", "ravel", "reshape", "roll", "sum",
    "swapaxes", "tile", "tril", "triu", "unbind", "unique_consecutive", "unsqueeze", "vstack",
    "zeros_like",
]  # fmt: skip

#: the second names of arguments
_SECOND_NAMES = {"arcsin": {"x": "input"}, "isnan": {"tensor": "input"}}

_OWN = ["add", "div", "divide", "round", "sub"]

__all__ = list(_OWN + _UNARY + _BINARY + _SAME)


def _of_one(function: Any) -> Callable[..., Any]:
    def renamed(input: Any) -> Any:
        return function(input)

    return renamed


def _of_two(function: Any) -> Callable[..., Any]:
    def renamed(input: Any, other: Any) -> Any:
        return function(input, other)

    return renamed


def _documented(name: str, function: Callable[..., Any], arguments: str) -> Callable[..., Any]:
    text = getattr(functional, name).__doc__
    summary, _, rest = text.partition("\n\n")
    example = rest[rest.index(">>> ") :].replace(f"ops.{name}(", f"mint.{name}(")
    example = example.replace("from mindgrad import Tensor, ops", "from mindgrad import Tensor, mint, ops")
    function.__name__ = function.__qualname__ = name
    function.__module__ = __name__
    function.__doc__ = f"{summary}\n\n    :func:`mindgrad.ops.{name}` of {arguments}.\n\n    {example}"
    return function


globals().update({n: _documented(n, _of_one(getattr(functional, n)), "``input``") for n in _UNARY})
globals().update(
    {n: _documented(n, _of_two(getattr(functional, n)), "``input`` and ``other``") for n in _BINARY}
)
globals().update({name: getattr(functional, name) for name in _SAME})
globals().update({name: also_named(**names)(globals()[name]) for name, names in _SECOND_NAMES.items()})


def add(input: Any, other: Any, *, alpha: Any = 1) -> Tensor:
    """``input + alpha · other``.

    >>> from mindgrad import Tensor, mint
    >>> print(mint.add(Tensor([1.0, 2.0]), Tensor([1.0, 1.0]), alpha=10))
    [11. 12.]
    """
    return arithmetic.add(input, _scaled(other, alpha))


def sub(input: Any, other: Any, *, alpha: Any = 1) -> Tensor:
    """``input − alpha · other``.

    >>> from mindgrad import Tensor, mint
    >>> print(mint.sub(Tensor([1.0, 2.0]), Tensor([1.0, 1.0]), alpha=10))
    [-9. -8.]
    """
    return arithmetic.sub(input, _scaled(other, alpha))


def _scaled(x: Any, factor: Any) -> Any:
    return x if isinstance(factor, (int, float)) and factor == 1 else arithmetic.mul(x, factor)


def div(input: Any, other: Any, *, rounding_mode: str | None = None) -> Tensor:
    """``input / other``, rounded down for ``"floor"`` and towards 0 for ``"trunc"``.

    >>> from mindgrad import Tensor, mint
    >>> print(mint.div(Tensor([7.0, -7.0]), 2, rounding_mode="floor"))
    [ 3. -4.]
    """
    return arithmetic.div(input, other, rounding_mode=rounding_mode)


divide = div


def round(input: Any, *, decimals: int = 0) -> Tensor:
    """``input`` rounded to ``decimals`` places: :func:`mindgrad.ops.round`.

    >>> from mindgrad import Tensor, mint
    >>> print(mint.round(Tensor([1.26]), decimals=1))
    [1.3]
    """
    return functional.round(input, decimals=decimals)
