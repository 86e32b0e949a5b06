"""Readable forms of primitives for NumPy and ``jax.numpy``.

The *form* of a primitive is a function that writes it as a readable expression, for example ``a + b`` or
``np.sum(x, axis=0)``. It is called as ``form(target, operands, result type, **parameters)``. It returns the
source text and the precedence of the expression, or ``None`` if the emitted program must call the kernel of
the primitive instead.

Operands of pointwise primitives may be literals, or texts of arrays with a smaller shape, which NumPy
broadcasts (``Expression``). Operands of all other primitives must be arrays with the shape and dtype of their
type.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from mindgrad.core.ir.primitive import REGISTRY
from mindgrad.core.ir.types import TensorType
from mindgrad.inspect.emit.expression import (
    ADD,
    AND,
    ATOM,
    COMPARE,
    MULTIPLY,
    OR,
    POWER,
    SHIFT,
    XOR,
    Expression,
    call,
    infix,
    parenthesized,
    prefix,
)

__all__ = ["COMPARISONS", "FORMS", "SEVERAL", "Form", "alignment", "contraction", "indices"]

Text = tuple[str, int]
Form = Callable[..., Text | None]

#: maps each Python operator on arrays to its precedence
_PRECEDENCE = {
    "+": ADD, "-": ADD, "*": MULTIPLY, "/": MULTIPLY, "&": AND, "|": OR, "^": XOR, "<<": SHIFT,
    "==": COMPARE, "!=": COMPARE, "<": COMPARE, "<=": COMPARE, ">": COMPARE, ">=": COMPARE,
}  # fmt: skip

#: maps the name of each primitive to its form
FORMS: dict[str, Form] = {}


def _form(name: str) -> Callable[[Form], Form]:
    def declare(form: Form) -> Form:
        FORMS[name] = form
        return form

    return declare


# --- pointwise ---------------------------------------------------------------------------------------


@_form("neg")
def _neg(target: Any, xs: Sequence[Expression], result: TensorType) -> Text:
    return prefix("-", xs[0])


@_form("logical_not")
def _not(target: Any, xs: Sequence[Expression], result: TensorType) -> Text:
    return prefix("~", xs[0])


@_form("div")
def _div(target: Any, xs: Sequence[Expression], result: TensorType) -> Text | None:
    return infix("/", MULTIPLY, *xs) if result.dtype.is_inexact else None


@_form("integer_power")
def _integer_power(target: Any, xs: Sequence[Expression], result: TensorType, n: int) -> Text | None:
    if not result.dtype.is_inexact or result.dtype.is_half:
        return None
    return infix("**", POWER, xs[0], Expression(str(n), result, precedence=ATOM if n >= 0 else POWER - 1))


@_form("real_power")
def _real_power(target: Any, xs: Sequence[Expression], result: TensorType, n: float) -> Text | None:
    if not result.dtype.is_float or result.dtype.is_half:
        return None
    return infix("**", POWER, xs[0], Expression(repr(n), result))


@_form("rsqrt")
def _rsqrt(target: Any, xs: Sequence[Expression], result: TensorType) -> Text | None:
    if result.dtype.is_half:
        return None
    return f"1 / {target.module}.sqrt({xs[0].text})", MULTIPLY


@_form("reciprocal")
def _reciprocal(target: Any, xs: Sequence[Expression], result: TensorType) -> Text | None:
    return (f"1 / {parenthesized(xs[0], MULTIPLY + 1)}", MULTIPLY) if not result.dtype.is_half else None


@_form("select")
def _select(target: Any, xs: Sequence[Expression], result: TensorType) -> Text:
    return call(f"{target.module}.where", *[x.text for x in xs])


@_form("relu")
def _relu(target: Any, xs: Sequence[Expression], result: TensorType) -> Text:
    return call(f"{target.module}.maximum", xs[0].text, "0")


@_form("clip")
def _clip(target: Any, xs: Sequence[Expression], result: TensorType) -> Text:
    x, low, high = [x.text for x in xs]
    return call(f"{target.module}.minimum", f"{target.module}.maximum({x}, {low})", high)


@_form("softplus")
def _softplus(target: Any, xs: Sequence[Expression], result: TensorType) -> Text | None:
    return None if result.dtype.is_half else call(f"{target.module}.logaddexp", xs[0].text, "0.0")


@_form("stop_gradient")
def _stop_gradient(target: Any, xs: Sequence[Expression], result: TensorType) -> Text:
    return xs[0].text, xs[0].precedence


# --- shapes ------------------------------------------------------------------------------------------


@_form("convert")
def _convert(target: Any, xs: Sequence[Expression], result: TensorType, dtype: Any) -> Text:
    (x,) = xs
    real = x.type.dtype.kind == "complex" and dtype.kind != "complex"
    text = parenthesized(x, ATOM) + (".real" if real else "")
    return f"{text}.astype({target.dtype(dtype)})", ATOM


@_form("reshape")
def _reshape(target: Any, xs: Sequence[Expression], result: TensorType, shape: tuple[int, ...]) -> Text:
    sizes = ", ".join(map(str, shape)) or "()"
    return f"{parenthesized(xs[0], ATOM)}.reshape({sizes})", ATOM


@_form("transpose")
def _transpose(target: Any, xs: Sequence[Expression], result: TensorType, permutation: Any) -> Text:
    x = parenthesized(xs[0], ATOM)
    if permutation == tuple(reversed(range(len(permutation)))):
        return f"{x}.T", ATOM
    return f"{x}.transpose({', '.join(map(str, permutation))})", ATOM


def alignment(x: Expression, shape: Sequence[int], dims: Sequence[int]) -> str:
    """Return source text of ``x`` with inserted axes of size 1, as in ``x[:, None]``.

    The inserted axes let NumPy broadcast ``x`` to ``shape``. ``dims`` are the axes of ``shape`` that
    correspond to the axes of ``x``.
    """
    missing = [axis for axis in range(len(shape)) if axis not in dims]
    if not dims or max(missing, default=-1) < dims[0]:
        return x.text
    marks = [":" if axis in dims else "None" for axis in range(dims[0], len(shape))]
    return f"{parenthesized(x, ATOM)}[{', '.join(marks)}]"


@_form("iota")
def _iota(target: Any, xs: Any, result: TensorType, shape: Any, axis: int, dtype: Any) -> Text | None:
    if len(shape) != 1:
        return None
    return call(f"{target.module}.arange", str(shape[0]), f"dtype={target.dtype(dtype)}")


@_form("concatenate")
def _concatenate(target: Any, xs: Sequence[Expression], result: TensorType, axis: int) -> Text:
    listed = f"[{', '.join(x.text for x in xs)}]"
    return call(f"{target.module}.concatenate", listed, *([f"axis={axis}"] if axis else []))


def indices(start: Sequence[int], limit: Sequence[int], strides: Sequence[int], shape: Sequence[int]) -> str:
    """Return the source text of the index of a static slice, such as ``1:3, ::2``."""
    parts = []
    for first, end, step, size in zip(start, limit, strides, shape, strict=True):
        text = f"{first or ''}:{'' if end >= size else end}"
        parts.append(text if step == 1 else f"{text}:{step}")
    while len(parts) > 1 and parts[-1] == ":":
        parts.pop()
    return ", ".join(parts)


@_form("slice")
def _slice(
    target: Any, xs: Sequence[Expression], result: TensorType, start: Any, limit: Any, strides: Any
) -> Text:
    (x,) = xs
    return f"{parenthesized(x, ATOM)}[{indices(start, limit, strides, x.type.shape) or '...'}]", ATOM


@_form("pad")
def _pad(
    target: Any, xs: Sequence[Expression], result: TensorType, low: Any, high: Any, interior: Any
) -> Text | None:
    if any(interior) or min((*low, *high), default=0) < 0 or not low:
        return None
    return call(f"{target.module}.pad", xs[0].text, repr(tuple(zip(low, high, strict=True))))


@_form("reverse")
def _reverse(target: Any, xs: Sequence[Expression], result: TensorType, axes: Any) -> Text:
    return call(f"{target.module}.flip", xs[0].text, repr(axes if len(axes) != 1 else axes[0]))


def _unstack(xs: Sequence[Expression], count: int) -> list[str]:
    return [f"{xs[0].text}[{k}]" for k in range(count)]


#: maps the name of a primitive with several results to its form. The form returns one text for each result
SEVERAL: dict[str, Callable[[Sequence[Expression], int], list[str]]] = {"unstack": _unstack}


# --- reductions and products -------------------------------------------------------------------------


def _axis(axes: Sequence[int], rank: int) -> list[str]:
    if len(axes) == rank:
        return []
    return [f"axis={axes[0] if len(axes) == 1 else tuple(axes)}"]


def _reduction(name: str, is_exact_in_half: bool) -> Form:
    def form(target: Any, xs: Sequence[Expression], result: TensorType, axes: Any) -> Text | None:
        (x,) = xs
        if (result.dtype.is_half and not is_exact_in_half) or not axes:
            return None
        arguments = [x.text, *_axis(axes, x.type.rank)]
        if name in ("sum", "prod") and not result.dtype.is_inexact:
            arguments.append(f"dtype={target.dtype(result.dtype)}")
        return call(f"{target.module}.{name}", *arguments)

    return form


for _row, _name in {
    "reduce_sum": "sum", "reduce_prod": "prod", "reduce_max": "max", "reduce_min": "min", "reduce_all": "all",
    "reduce_any": "any",
}.items():  # fmt: skip
    FORMS[_row] = _reduction(_name, _name in ("max", "min"))


@_form("norm")
def _norm(target: Any, xs: Sequence[Expression], result: TensorType, axes: Any) -> Text | None:
    (x,) = xs
    if result.dtype.is_half or not axes:
        return None
    square = infix("**", POWER, x, Expression("2", x.type))[0]
    return call(f"{target.module}.sqrt", call(f"{target.module}.sum", square, *_axis(axes, x.type.rank))[0])


def _cumulative(name: str) -> Form:
    def form(
        target: Any, xs: Sequence[Expression], result: TensorType, axis: int, reverse: bool
    ) -> Text | None:
        if reverse or result.dtype.is_half:
            return None
        typed = [] if result.dtype.is_inexact else [f"dtype={target.dtype(result.dtype)}"]
        return call(f"{target.module}.{name}", xs[0].text, f"axis={axis}", *typed)

    return form


FORMS["cumsum"], FORMS["cumprod"] = _cumulative("cumsum"), _cumulative("cumprod")


def contraction(
    a: Expression, b: Expression, contract: Any, batch: Any, transposed: Callable[[str], str]
) -> Text | None:
    """Return a product of matrices or vectors as source text ``a @ b``.

    The result is ``None`` if ``@`` cannot express the product.

    Args:
        a, b: the operands.
        contract, batch: for each operand, the axes that are summed over, and the batch axes.
        transposed: converts the source text of a matrix to source text of its transpose.
    """
    count = len(batch[0])
    ranks = a.type.rank, b.type.rank
    if batch[0] != tuple(range(count)) or batch[1] != tuple(range(count)) or len(contract[0]) != 1:
        return None
    (left,), (right,) = contract
    texts = [parenthesized(a, MULTIPLY), parenthesized(b, MULTIPLY + 1)]
    if count == 0 and max(ranks) <= 2:
        if ranks[0] == 2 and left == 0:
            texts[0] = transposed(parenthesized(a, ATOM))
        if ranks[1] == 2 and right == 1:
            texts[1] = transposed(parenthesized(b, ATOM))
    elif (left, right) != (ranks[0] - 1, count) or ranks[1] != count + 2 or not _fits(ranks[0], count):
        return None
    return f"{texts[0]} @ {texts[1]}", MULTIPLY


def _fits(rank: int, count: int) -> bool:
    """Return whether ``@`` accepts an operand with these numbers of axes.

    Args:
        rank: number of axes of the operand.
        count: number of batch axes.
    """
    return rank == count + 2 if count else rank >= 2


@_form("dot")
def _dot(target: Any, xs: Sequence[Expression], result: TensorType, contract: Any, batch: Any) -> Text | None:
    if result.dtype.is_half:
        return None
    a, b = xs
    short = contraction(a, b, contract, batch, lambda text: f"{text}.T")
    if short is not None:
        return short
    letters = iter("abcdefghijklmnopqrstuvwxyz")
    names: list[dict[int, str]] = [{}, {}]
    for left, right in (*zip(*batch, strict=True), *zip(*contract, strict=True)):
        names[0][left] = names[1][right] = next(letters)
    for side, x in enumerate((a, b)):
        for axis in range(x.type.rank):
            names[side].setdefault(axis, next(letters))
    inputs = ["".join(names[k][axis] for axis in range(x.type.rank)) for k, x in enumerate((a, b))]
    summed = [names[0][axis] for axis in contract[0]]
    shared = [names[0][axis] for axis in batch[0]]
    output = [*shared, *[c for text in inputs for c in text if c not in summed and c not in shared]]
    arguments = [repr(f"{inputs[0]},{inputs[1]}->{''.join(output)}"), a.text, b.text]
    return call(f"{target.module}.einsum", *arguments, "optimize=True")


@_form("argmax")
def _argmax(target: Any, xs: Sequence[Expression], result: TensorType, axis: int) -> Text:
    return f"{target.module}.argmax({xs[0].text}, axis={axis}).astype({target.dtype(result.dtype)})", ATOM


@_form("argmin")
def _argmin(target: Any, xs: Sequence[Expression], result: TensorType, axis: int) -> Text:
    return f"{target.module}.argmin({xs[0].text}, axis={axis}).astype({target.dtype(result.dtype)})", ATOM


def _operator(sign: str) -> Form:
    return lambda target, xs, result: infix(sign, _PRECEDENCE[sign], *xs)


#: maps the name of each primitive that has a Python operator, but no form above, to this operator
INFIX = {
    name: row.symbol for name, row in REGISTRY.items() if row.symbol in _PRECEDENCE and name not in FORMS
}
FORMS.update((name, _operator(sign)) for name, sign in INFIX.items())
#: names of the comparison primitives
COMPARISONS = [name for name, sign in INFIX.items() if _PRECEDENCE[sign] == COMPARE]
