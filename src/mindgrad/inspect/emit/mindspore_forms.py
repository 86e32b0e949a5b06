"""Readable forms of primitives for MindSpore 2.10: functions of ``mindspore.ops``.

A *form* writes a primitive as an expression (``array_forms``). If neither this module nor
``mindspore_helpers`` has a rule for a primitive, it cannot be emitted for MindSpore.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from mindgrad.core.ir.types import TensorType
from mindgrad.inspect.emit.array_forms import COMPARISONS, Form, contraction
from mindgrad.inspect.emit.array_forms import FORMS as ARRAY_FORMS
from mindgrad.inspect.emit.expression import ATOM, MULTIPLY, POWER, Expression, call, infix, parenthesized

__all__ = ["FORMS"]

Text = tuple[str, int]

#: maps the name of a primitive to the function of ``ops`` with the same operands and result
_FUNCTIONS = {
    **{name: name for name in (
        "abs", "acos", "acosh", "asin", "asinh", "atan", "atan2", "atanh", "bitwise_and", "bitwise_or",
        "bitwise_xor", "ceil", "cholesky", "conj", "cos", "cosh", "det", "digamma", "erf", "erfc", "erfinv",
        "exp", "exp2", "expm1", "floor", "floor_div", "fmod", "hypot", "imag", "inverse", "isfinite", "isinf",
        "isnan", "lgamma", "log", "log10", "log1p", "log2", "logaddexp", "logical_and", "logical_not",
        "logical_or", "logical_xor", "maximum", "minimum", "pow", "real", "reciprocal", "relu", "relu6",
        "round", "rsqrt", "sigmoid", "sign", "sin", "sinh", "softsign", "sqrt", "tan", "tanh", "tanhshrink",
        "trunc", "xlogy",
    )},
    "mod": "floor_mod", "select": "where",
}  # fmt: skip

FORMS: dict[str, Form] = {}


def _function(name: str) -> Form:
    return lambda target, xs, result, **parameters: call(f"ops.{name}", *[x.text for x in xs])


for _row, _name in _FUNCTIONS.items():
    FORMS[_row] = _function(_name)
for _row in ("add", "sub", "mul", "div", *COMPARISONS):
    FORMS[_row] = ARRAY_FORMS[_row]
for _row in ("neg", "integer_power", "real_power", "reshape", "slice", "stop_gradient"):
    FORMS[_row] = ARRAY_FORMS[_row]


def _form(name: str) -> Callable[[Form], Form]:
    def declare(form: Form) -> Form:
        FORMS[name] = form
        return form

    return declare


@_form("clip")
def _clip(target: Any, xs: Sequence[Expression], result: TensorType) -> Text:
    x, low, high = [target.typed(each) for each in xs]
    return call("ops.minimum", f"ops.maximum({x}, {low})", high)


@_form("convert")
def _convert(target: Any, xs: Sequence[Expression], result: TensorType, dtype: Any) -> Text:
    (x,) = xs
    text = parenthesized(x, ATOM)
    if x.type.dtype.kind == "complex" and dtype.kind != "complex":
        text = f"ops.real({x.text})"
    return f"{text}.astype({target.dtype(dtype)})", ATOM


@_form("transpose")
def _transpose(target: Any, xs: Sequence[Expression], result: TensorType, permutation: Any) -> Text:
    if permutation == (1, 0):
        return f"{parenthesized(xs[0], ATOM)}.T", ATOM
    return call("ops.transpose", xs[0].text, repr(permutation))


@_form("iota")
def _iota(target: Any, xs: Any, result: TensorType, shape: Any, axis: int, dtype: Any) -> Text | None:
    if len(shape) != 1:
        return None
    return f"ops.arange({shape[0]}).astype({target.dtype(dtype)})", ATOM


@_form("concatenate")
def _concatenate(target: Any, xs: Sequence[Expression], result: TensorType, axis: int) -> Text:
    listed = [x.text for x in xs if 0 not in x.type.shape] or [xs[0].text]
    if len(listed) == 1:
        return listed[0], xs[0].precedence
    return call("ops.cat", f"[{', '.join(listed)}]", f"axis={axis}")


@_form("reverse")
def _reverse(target: Any, xs: Sequence[Expression], result: TensorType, axes: Any) -> Text:
    return call("ops.flip", xs[0].text, repr(tuple(axes)))


def _reduction(method: str) -> Form:
    def form(target: Any, xs: Sequence[Expression], result: TensorType, axes: Any) -> Text | None:
        (x,) = xs
        if not axes:
            return x.text, x.precedence
        return f"{parenthesized(x, ATOM)}.{method}({_axes(axes)})", ATOM

    return form


def _axes(axes: Sequence[int]) -> str:
    return f"axis={axes[0] if len(axes) == 1 else tuple(axes)}"


FORMS["reduce_sum"] = _reduction("sum")
FORMS["reduce_all"], FORMS["reduce_any"] = _reduction("all"), _reduction("any")


def _extreme(function: str) -> Form:
    def form(target: Any, xs: Sequence[Expression], result: TensorType, axes: Any) -> Text:
        (x,) = xs
        return call(f"ops.{function}", x.text, repr(tuple(axes))) if axes else (x.text, x.precedence)

    return form


FORMS["reduce_max"], FORMS["reduce_min"] = _extreme("amax"), _extreme("amin")


@_form("reduce_prod")
def _prod(target: Any, xs: Sequence[Expression], result: TensorType, axes: Any) -> Text:
    text, precedence = xs[0].text, xs[0].precedence
    for axis in sorted(axes, reverse=True):
        text, precedence = call("ops.prod", text, f"axis={axis}")
    return text, precedence


@_form("logsumexp")
def _logsumexp(target: Any, xs: Sequence[Expression], result: TensorType, axes: Any) -> Text | None:
    return call("ops.logsumexp", xs[0].text, repr(tuple(axes))) if axes else None


@_form("norm")
def _norm(target: Any, xs: Sequence[Expression], result: TensorType, axes: Any) -> Text:
    (x,) = xs
    if not axes:
        return call("ops.abs", x.text)
    square = infix("**", POWER, x, Expression("2", x.type))[0]
    return call("ops.sqrt", f"({square}).sum({_axes(axes)})")


def _cumulative(name: str) -> Form:
    def form(target: Any, xs: Sequence[Expression], result: TensorType, axis: int, reverse: bool) -> Text:
        (x,) = xs
        if reverse:
            return call("ops.flip", f"ops.{name}(ops.flip({x.text}, ({axis},)), {axis})", f"({axis},)")
        return call(f"ops.{name}", x.text, str(axis))

    return form


FORMS["cumsum"], FORMS["cumprod"] = _cumulative("cumsum"), _cumulative("cumprod")


@_form("dot")
def _dot(target: Any, xs: Sequence[Expression], result: TensorType, contract: Any, batch: Any) -> Text | None:
    a, b = xs
    if min(a.type.rank, b.type.rank) < 1 or 0 in (*a.type.shape, *b.type.shape):
        return None
    return contraction(a, b, contract, batch, lambda text: f"{text}.T")


@_form("complex")
def _complex(target: Any, xs: Sequence[Expression], result: TensorType) -> Text:
    return call("ops.Complex()", *[target.typed(x) for x in xs])


def _index(name: str) -> Form:
    def form(target: Any, xs: Sequence[Expression], result: TensorType, axis: int) -> Text:
        return f"ops.{name}({xs[0].text}, {axis}).astype({target.dtype(result.dtype)})", ATOM

    return form


FORMS["argmax"], FORMS["argmin"] = _index("argmax"), _index("argmin")


@_form("polygamma")
def _polygamma(target: Any, xs: Sequence[Expression], result: TensorType, n: int) -> Text:
    return call("ops.polygamma", f"ms.Tensor({n}, ms.int32)", xs[0].text)


@_form("softplus")
def _softplus(target: Any, xs: Sequence[Expression], result: TensorType) -> Text:
    x = target.typed(xs[0])
    return call("ops.logaddexp", x, f"ops.zeros_like({x})")


@_form("cbrt")
def _cbrt(target: Any, xs: Sequence[Expression], result: TensorType) -> Text:
    x = target.typed(xs[0])
    return f"ops.sign({x}) * ops.abs({x}) ** (1 / 3)", MULTIPLY


@_form("bitwise_not")
def _bitwise_not(target: Any, xs: Sequence[Expression], result: TensorType) -> Text:
    return f"-1 - {parenthesized(xs[0], MULTIPLY)}", MULTIPLY - 1
