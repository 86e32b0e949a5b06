"""Kinds of primitives: constructors that derive all rules from one or two.

    kind         value                  tangent                    the primitive defines
    pointwise    y_i = f(x_i, …)        ẏ = Σ_k p_k ẋ_k            ``partials(y, *xs)``
    linear       y = L x                ẏ = L ẋ                    ``transpose``
    multilinear  y = B(x₁, x₂)          ẏ = B(ẋ₁, x₂) + B(x₁, ẋ₂)  ``transpose`` for each operand
    general      any                    ẏ = ``jvp(y, xs, ts)``     ``jvp``; its equations are transposed
    constant     derivative zero        ẏ = 0                      no rule

**Infinite partials.** ``0 · ∞`` is NaN in IEEE arithmetic. However, if a selection such as ``where`` discards
a value, its derivative must be zero even if a partial derivative is infinite. An operator whose partials can
be infinite or NaN at a point of its domain is declared ``singular``. Its results get the mark ``INFINITE``,
and so do all values computed from them. :func:`product` replaces infinite elements of a marked factor by 0 if
the other factor is exactly zero (``primitives.exact_zeros``). Values without marks are multiplied directly. A
sum of products (matrix product, convolution) cannot check each term. Therefore its transposes replace
infinite elements of an operand if all cotangents that multiply them are zero (``primitives.shielding``).
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from mindgrad.ir.graph import ABSORBING, CUT, DISCARDS, INFINITE, Atom, Constant, Variable
from mindgrad.ir.primitive import Primitive
from mindgrad.ir.types import TensorType

__all__ = [
    "accumulate",
    "constant",
    "cut",
    "elementwise",
    "full",
    "general",
    "linear",
    "marked",
    "multilinear",
    "ones",
    "pointwise_constant",
    "pointwise_linear",
    "product",
    "same_type",
    "zeros",
]

ACCEPTS: dict[str, tuple[str, ...]] = {
    "float": ("float",),
    "inexact": ("float", "complex"),
    "real": ("int", "uint", "float"),
    "number": ("int", "uint", "float", "complex"),
    "complex": ("complex",),
    "integer": ("int", "uint"),
    "bits": ("bool", "int", "uint"),
    "bool": ("bool",),
    "ordered": ("bool", "int", "uint", "float"),
    "any": ("bool", "int", "uint", "float", "complex"),
}


def full(type: TensorType, number: complex) -> Constant:
    """Return a constant of ``type`` whose elements all equal ``number``."""
    return Constant(np.asarray(number, type.dtype.numpy), type)


def zeros(type: TensorType) -> Constant:
    """Return a constant of ``type`` whose elements are all 0."""
    return full(type, 0)


def is_zero(atom: Any) -> bool:
    """Whether ``atom`` is a constant whose elements are all zero."""
    return type(atom) is Constant and not atom.value.any()


def ones(type: TensorType) -> Constant:
    """Return a constant of ``type`` whose elements are all 1."""
    return full(type, 1)


def accumulate(terms: Sequence[Any]) -> Any:
    """Add tangents or cotangents; ``None`` means zero."""
    total = None
    for term in terms:
        if term is not None:
            total = term if total is None else total + term
    return total


def product(slope: Any, tangent: Any, singular: bool = False) -> Any:
    """Return ``slope · tangent``, where 0 · ∞ is 0 for exact zeros.

    Args:
        slope: a partial derivative: a variable, a constant, or a number.
        tangent: a tangent or cotangent; ``None`` means zero.
        singular: whether the slope can be infinite or NaN in the function's domain.
    """
    if tangent is None:
        return None
    if type(slope) is Variable and singular:
        slope.tainted |= INFINITE
    if not isinstance(slope, Atom):
        return slope * tangent
    slope = Atom.operators["unshielded"](slope)
    is_plain = slope.linear or tangent.linear or not tangent.dtype.is_inexact
    if not is_plain and (slope.tainted | tangent.tainted) & ABSORBING:
        slope, tangent = Atom.operators["shielded_factors"](slope, tangent)
    return slope * tangent


def cut(cotangent: Any) -> Any:
    """Mark a cotangent as zero for the elements that a slice or lookup did not read."""
    return marked(cotangent, CUT | DISCARDS)


def marked(cotangent: Any, mark: int) -> Any:
    """Set a mark (``ir.graph``), except on a constant whose elements are all equal."""
    if type(cotangent) is Variable:
        cotangent.tainted |= mark
    elif type(cotangent) is Constant and not cotangent.is_splat:
        cotangent.marks |= mark
    return cotangent


def _applied(slope: Any, tangent: Any, singular: bool) -> Any:
    """Multiply a tangent by a partial derivative, which can be a tuple of factors."""
    for factor in reversed(slope) if isinstance(slope, tuple) else (slope,):
        tangent = product(factor, tangent, singular)
    return tangent


def same_type(name: str, accepts: str) -> Callable[..., TensorType]:
    """Return a type rule of an operator whose operands and result have one type.

    ``accepts`` is the name of the permitted kinds of types in :data:`ACCEPTS`, such as ``"inexact"``.
    """
    kinds = ACCEPTS[accepts]

    def type_rule(*types: TensorType, **_: Any) -> TensorType:
        first = types[0]
        for each in types:
            if each is not first:
                raise TypeError(
                    f"For '{name}', the operands must have one type, but got {', '.join(map(repr, types))}."
                )
        if first.dtype.kind not in kinds:
            raise TypeError(
                f"For '{name}', the input must be a tensor of {' or '.join(kinds)} type, "
                f"but got {first.dtype}."
            )
        return first

    type_rule.keeps_type = True  # type: ignore[attr-defined]
    return type_rule


def elementwise(
    name: str,
    *,
    numpy: Callable[..., Any],
    xla: str | Callable[..., Any],
    partials: Callable[..., Sequence[Any]],
    samples: Any,
    accepts: str = "inexact",
    singular: bool | Callable[..., bool] = False,
    type_rule: Callable[..., Any] | None = None,
    **fields: Any,
) -> Primitive:
    """Create a differentiable pointwise operator from its partial derivatives.

    Args:
        name: name of the operator, which must be unique in the registry.
        numpy: NumPy kernel, a function of the operands and parameters.
        xla: name of the function of ``jax.lax`` that computes the operator, or a function
            ``xla(jax, *arrays)``.
        partials: ``partials(y, *xs, **parameters)`` returns one partial derivative per operand, built from
            primitives, or ``None`` for an operand without derivative. A tuple ``(a, b)`` means the partial a
            · b, and the tangent t is multiplied as a · (b · t). This is useful if a · b can overflow or
            underflow although a · b · t does not, as for 1 / x².
        samples: one domain per operand (see ``primitives.samples``), or one domain for all, or a list of
            cases for an operator with parameters.
        accepts: name of the permitted element types, such as ``"inexact"``.
        singular: whether a partial can be infinite or NaN inside the domain, or ``singular(**parameters)`` if
            this depends on parameters.
    """

    def jvp(y: Any, xs: Sequence[Any], ts: Sequence[Any], **parameters: Any) -> Any:
        slopes = partials(y, *xs, **parameters)
        is_singular = singular(**parameters) if callable(singular) else singular
        return accumulate(
            [
                None if slope is None else _applied(slope, t, is_singular)
                for slope, t in zip(slopes, ts, strict=True)
            ]
        )

    def taint(*_: Any, **parameters: Any) -> str:
        return "starts" if singular(**parameters) else "passes"  # type: ignore[operator]

    fields.setdefault("taint", taint if callable(singular) else "starts" if singular else "passes")
    return Primitive(
        name,
        "elementwise",
        type_rule=type_rule or same_type(name, accepts),
        numpy=numpy,
        xla=xla,
        jvp=jvp,
        samples=_pointwise_samples(samples, _operand_count(partials), accepts),
        **fields,
    )


def _pointwise_samples(samples: Any, operands: int, accepts: str) -> Any:
    return samples if isinstance(samples, list) else (samples, operands, accepts)


def _operand_count(partials: Callable[..., Any]) -> int:
    parameters = inspect.signature(partials).parameters.values()
    return sum(p.kind is p.POSITIONAL_OR_KEYWORD for p in parameters) - 1


def pointwise_constant(
    name: str,
    *,
    numpy: Callable[..., Any],
    xla: str | Callable[..., Any],
    samples: Any,
    operands: int = 1,
    accepts: str = "any",
    result: Any = None,
    type_rule: Callable[..., Any] | None = None,
    **fields: Any,
) -> Primitive:
    """Create a pointwise operator with derivative zero: comparison, logic, floor.

    ``result`` is the element type of the output if it differs from the type of the operands.
    """
    same = same_type(name, accepts)

    def rule(*types: TensorType, **parameters: Any) -> TensorType:
        found = same(*types, **parameters)
        return found if result is None else found.with_dtype(result)

    return Primitive(
        name,
        "pointwise constant",
        type_rule=type_rule or rule,
        numpy=numpy,
        xla=xla,
        samples=_pointwise_samples(samples, operands, accepts),
        **fields,
    )


def constant(name: str, **fields: Any) -> Primitive:
    """Create an operator whose derivative is zero (argmax, one_hot, iota)."""
    return Primitive(name, "constant", **fields)


def linear(
    name: str,
    *,
    transpose: Callable[..., Any],
    linear_in: Sequence[int] | None = None,
    kind: str = "linear",
    **fields: Any,
) -> Primitive:
    """Create an operator that is jointly linear in some operands.

    With operands x₁, x₂, this means ``L(a x₁ + b y₁, a x₂ + b y₂) = a L(x₁, x₂) + b L(y₁, y₂)``.

    Args:
        transpose: ``transpose(ct, *xs, **parameters)`` returns one cotangent per operand, or a single
            cotangent if there is one operand.
        linear_in: indices of the operands in which the operator is linear, without indices and masks.
            Default: all operands.
    """

    def jvp(y: Any, xs: Sequence[Any], ts: Sequence[Any], **parameters: Any) -> Any:
        slots = range(len(xs)) if linear_in is None else linear_in
        if all(ts[i] is None for i in slots):
            return None
        operands = list(xs)
        for i in slots:
            operands[i] = zeros(xs[i].type) if ts[i] is None else ts[i]
        return primitive(*operands, **parameters)

    def transposed(ct: Any, *xs: Any, **parameters: Any) -> Any:
        found = transpose(ct, *xs, **parameters)
        return found if isinstance(found, (list, tuple)) else [found]

    fields.setdefault("jvp", jvp)
    primitive = Primitive(name, kind, transpose=transposed, taint="passes", linear_in=linear_in, **fields)
    return primitive


def pointwise_linear(
    name: str, *, accepts: str = "number", samples: Any, operands: int = 1, **fields: Any
) -> Primitive:
    """Create a linear pointwise operator, whose operands share one shape."""
    fields.setdefault("type_rule", same_type(name, accepts))
    given = _pointwise_samples(samples, operands, accepts)
    return linear(name, kind="pointwise linear", samples=given, **fields)


def multilinear(
    name: str,
    *,
    transpose: Sequence[Callable[..., Any]],
    pointwise: bool = False,
    accepts: str = "number",
    samples: Any = None,
    **fields: Any,
) -> Primitive:
    """Create an operator that is linear in each operand: mul, dot, convolution.

    ``transpose[k](ct, *xs, **parameters)`` returns the cotangent of operand ``k``.
    """

    def jvp(y: Any, xs: Sequence[Any], ts: Sequence[Any], **parameters: Any) -> Any:
        terms = []
        for k, t in enumerate(ts):
            if t is not None:
                operands = (*xs[:k], t, *xs[k + 1 :])
                if pointwise:
                    terms.append(product(*operands) if k else product(operands[1], t))
                else:
                    terms.append(primitive(*operands, **parameters))
        return accumulate(terms)

    def transposed(ct: Any, *xs: Any, **parameters: Any) -> list[Any]:
        return [
            rule(ct, *xs, **parameters) if x.linear else None for rule, x in zip(transpose, xs, strict=True)
        ]

    kind = "pointwise multilinear" if pointwise else "multilinear"
    if pointwise:
        fields.setdefault("type_rule", same_type(name, accepts))
        samples = (samples, len(transpose), accepts)
    fields.setdefault("taint", "passes")
    fields.setdefault("jvp", jvp)
    primitive = Primitive(name, kind, transpose=transposed, samples=samples, **fields)
    return primitive


def general(name: str, *, jvp: Callable[..., Any], **fields: Any) -> Primitive:
    """Create an operator from a JVP rule.

    Reverse mode transposes the equations that this rule emits.
    """
    fields.setdefault("taint", "passes")
    return Primitive(name, "general", jvp=jvp, **fields)
