"""Kinds of primitives: constructors that derive all rules from one or two rules.

    kind         value                  tangent                    the primitive defines
    pointwise    y_i = f(x_i, …)        ẏ = Σ_k p_k ẋ_k            ``partials(y, *xs)``
    linear       y = L x                ẏ = L ẋ                    ``transpose``
    multilinear  y = B(x₁, x₂)          ẏ = B(ẋ₁, x₂) + B(x₁, ẋ₂)  ``transpose`` for each operand
    general      any                    ẏ = ``jvp(y, xs, ts)``     ``jvp``; its equations are transposed
    constant     derivative zero        ẏ = 0                      no rule

**Infinite partials.** ``0 · ∞`` is NaN in IEEE arithmetic. However, if a selection such as ``where`` discards
a value, its derivative must be zero even if a partial derivative is infinite. An operator whose partials can
be infinite or NaN at a point of its domain is declared ``singular``. Its results, and all values computed
from them, get the mark ``INFINITE``. :func:`product` replaces infinite elements of a marked factor by 0 if
the other factor is exactly zero (``primitives.exact_zeros``). Factors without marks are multiplied directly.
A sum of products (matrix product, convolution) cannot check each term. Therefore its transposes replace
infinite elements of an operand if all cotangents that multiply them are zero (``primitives.shielding``).
"""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from typing import overload

import numpy as np

from mindgrad.core.base.nearest import nearest
from mindgrad.core.ir import rules
from mindgrad.core.ir.dtype import DType
from mindgrad.core.ir.graph import ABSORBING, APPLY, CUT, DISCARDS, INFINITE, Atom, Constant, Variable
from mindgrad.core.ir.primitive import Primitive, invalid
from mindgrad.core.ir.rules import Atoms, Partial, Results, Rule, Tangent, Tangents
from mindgrad.core.ir.types import TensorType

__all__ = [
    "accumulate", "checked", "constant", "cut", "elementwise", "full", "general", "linear", "marked",
    "multilinear", "ones", "pointwise_constant", "pointwise_linear", "product", "same_type", "zeros",
]  # fmt: skip

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
    """Return a constant of ``type`` in which every element equals ``number``."""
    return Constant(np.asarray(number, type.dtype.numpy), type)


def zeros(type: TensorType) -> Constant:
    """Return a constant of ``type`` whose elements are all 0."""
    return full(type, 0)


def is_zero(atom: Atom) -> bool:
    """Return whether ``atom`` is a constant whose elements are all zero."""
    return type(atom) is Constant and not atom.value.any()


def ones(type: TensorType) -> Constant:
    """Return a constant of ``type`` whose elements are all 1."""
    return full(type, 1)


def accumulate(terms: Tangents) -> Tangent:
    """Add tangents or cotangents, where ``None`` means zero."""
    total = None
    for term in terms:
        if term is not None:
            total = term if total is None else total + term
    return total


@overload
def product(slope: Atom | complex, tangent: Atom, singular: int = False) -> Atom: ...
@overload
def product(slope: Atom | complex, tangent: Tangent, singular: int = False) -> Tangent: ...
def product(slope: Atom | complex, tangent: Tangent, singular: int = False) -> Tangent:
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
    if not isinstance(slope, (Variable, Constant)):
        return slope * tangent
    factor: Atom = APPLY["unshielded"](slope)
    is_plain = factor.linear or tangent.linear or not tangent.dtype.is_inexact
    if not is_plain and (factor.tainted | tangent.tainted) & ABSORBING:
        factor, tangent = APPLY["shielded_factors"](factor, tangent)
    return factor * tangent


def cut(cotangent: Atom) -> Atom:
    """Mark a cotangent that has zeros because a slice or lookup skipped elements."""
    return marked(cotangent, CUT | DISCARDS)


def marked(cotangent: Atom, mark: int) -> Atom:
    """Set the bit ``mark``, such as ``CUT``, unless all elements are one constant."""
    if type(cotangent) is Variable:
        cotangent.tainted |= mark
    elif type(cotangent) is Constant and not cotangent.is_splat:
        cotangent.marks |= mark
    return cotangent


def _applied(slope: Partial, tangent: Tangent, singular: bool) -> Tangent:
    """Multiply a tangent by ``slope``, a partial derivative or a tuple of its factors."""
    for factor in reversed(slope) if isinstance(slope, tuple) else (slope,):
        tangent = product(factor, tangent, singular)  # type: ignore[arg-type]  # no factor is None
    return tangent


def checked(primitive: Primitive, rule: str, results: Tangents, like: Atoms) -> list[tuple[Atom, Atom]]:
    """Return pairs of an atom in ``like`` and its result of ``rule``, without zeros.

    Raises:
        TypeError: If the number or the types of ``results`` do not match ``like``.
    """
    where = f"the {rule} of the operator '{primitive.name}' must return"
    if not isinstance(results, (tuple, list)) or len(results) != len(like):
        raise TypeError(f"{where} {len(like)} values, but returned {results!r}.")
    pairs = [(x, t) for x, t in zip(like, results, strict=True) if t is not None]
    for x, t in pairs:
        if getattr(t, "type", None) is not x.type:
            raise TypeError(f"{where} a value of type {x.type} for {x!r}, but returned {t!r}.")
    return pairs


def _declared(name: str, kind: str, fields: dict[str, object]) -> Primitive:
    """Create a primitive from its fields."""
    for field in [*(fields.keys() - _FIELDS), *({"type_rule", "numpy", "xla"} - fields.keys())]:
        fault = f"unknown{nearest(field, _NAMES)}" if field in fields else "missing"
        raise TypeError(f"In the declaration of the operator {name!r}, the field {field!r} is {fault}.")
    return Primitive(name, kind, **fields)  # type: ignore[arg-type]  # fields of Primitive


_FIELDS = inspect.signature(Primitive).parameters.keys()
#: fields of a primitive, and arguments of the functions in this module
_NAMES = [*_FIELDS, "accepts", "operands", "partials", "result", "singular"]


def same_type(name: str, accepts: str, count: int | None = None) -> rules.TypeRule:
    """Return the type rule of operators whose operands and results have the same type.

    ``accepts`` is a key of :data:`ACCEPTS`, such as ``"inexact"``, which selects the permitted kinds of
    types. ``count`` is the number of operands, or ``None`` if any number is permitted.
    """
    if accepts not in ACCEPTS:
        raise invalid(name, "accepts", f"one of {', '.join(ACCEPTS)}", accepts)
    kinds = ACCEPTS[accepts]

    def type_rule(*types: TensorType, **_: object) -> TensorType:
        if count is not None and len(types) != count:
            raise TypeError(f"For '{name}', the number of operands must be {count}, but got {len(types)}.")
        first = types[0]
        for each in types:
            if each is not first:
                raise TypeError(
                    f"For '{name}', the operands must have the same type, but got "
                    f"{', '.join(map(repr, types))}."
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
    numpy: rules.Kernel,
    xla: str | rules.XlaKernel,
    partials: rules.Partials,
    samples: object,
    accepts: str = "inexact",
    singular: bool | Rule = False,
    type_rule: rules.TypeRule | None = None,
    **fields: object,
) -> Primitive:
    """Create a differentiable pointwise operator from its partial derivatives.

    Args:
        name: name of the operator, which must be unique in the registry.
        numpy: NumPy kernel, a function of the operands and parameters.
        xla: name of the function of ``jax.lax`` that computes the operator, or a function
            ``xla(jax, *arrays)``.
        partials: ``partials(y, *xs, **parameters)`` returns one partial derivative per operand, built from
            primitives, or ``None`` for an operand without derivative. A tuple ``(a, b)`` represents the
            partial derivative a · b, which is multiplied by a tangent t as a · (b · t). This is useful if a ·
            b can overflow or underflow although a · b · t does not, as for 1 / x².
        samples: one domain per operand (see ``primitives.samples``), or one domain for all operands, or, for
            an operator with parameters, a list of cases.
        accepts: name of the permitted element types, such as ``"inexact"``.
        singular: whether a partial derivative can be infinite or NaN inside the domain of the operator, or
            ``singular(**parameters)`` if this depends on parameters.
    """

    def jvp(y: Atom, xs: Atoms, ts: Tangents, **parameters: object) -> Results:
        slopes = partials(y, *xs, **parameters)
        if not isinstance(slopes, (list, tuple)) or len(slopes) != len(xs):
            raise invalid(name, "partials", f"a function that returns a list of {len(xs)} partials", slopes)
        is_singular = singular(**parameters) if callable(singular) else singular
        return accumulate(
            [s if s is None else _applied(s, t, is_singular) for s, t in zip(slopes, ts, strict=True)]
        )

    def taint(*_: object, **parameters: object) -> str:
        return "starts" if singular(**parameters) else "passes"  # type: ignore[operator]

    fields.setdefault("taint", taint if callable(singular) else "starts" if singular else "passes")
    count = _operand_count(name, partials)
    rule = type_rule or same_type(name, accepts, None if isinstance(samples, list) else count)
    samples = _pointwise_samples(samples, count, accepts)
    fields |= {"type_rule": rule, "numpy": numpy, "xla": xla, "jvp": jvp, "samples": samples}
    return _declared(name, "elementwise", fields)


def _pointwise_samples(samples: object, operands: int, accepts: str) -> tuple | list:
    return samples if isinstance(samples, list) else (samples, operands, accepts)


def _operand_count(name: str, partials: rules.Partials) -> int:
    parameters = inspect.signature(partials).parameters.values() if callable(partials) else ()
    count = sum(p.kind is p.POSITIONAL_OR_KEYWORD for p in parameters) - 1
    if count < 1:
        raise invalid(
            name, "partials", "a function of the output and the operands, as lambda y, x: …", partials
        )
    return count


def pointwise_constant(
    name: str,
    *,
    numpy: rules.Kernel,
    xla: str | rules.XlaKernel,
    samples: object,
    operands: int = 1,
    accepts: str = "any",
    result: DType | None = None,
    type_rule: rules.TypeRule | None = None,
    **fields: object,
) -> Primitive:
    """Create a pointwise operator with derivative zero, such as a comparison or floor.

    ``result`` is the element type of the output if it differs from the type of the operands.
    """
    same = same_type(name, accepts, None if isinstance(samples, list) else operands)

    def rule(*types: TensorType, **parameters: object) -> TensorType:
        found = same(*types, **parameters)
        return found if result is None else found.with_dtype(result)

    fields |= {"type_rule": type_rule or rule, "numpy": numpy, "xla": xla}
    fields["samples"] = _pointwise_samples(samples, operands, accepts)
    return _declared(name, "pointwise constant", fields)


def constant(name: str, **fields: object) -> Primitive:
    """Create an operator whose derivative is zero, such as argmax or iota."""
    return _declared(name, "constant", fields)


def linear(
    name: str,
    *,
    transpose: rules.Transpose,
    linear_in: Sequence[int] | None = None,
    kind: str = "linear",
    **fields: object,
) -> Primitive:
    """Create an operator that is jointly linear in some of its operands.

    With operands x₁, x₂, this means ``L(a x₁ + b y₁, a x₂ + b y₂) = a L(x₁, x₂) + b L(y₁, y₂)``.

    Args:
        transpose: ``transpose(ct, *xs, **parameters)`` returns one cotangent per operand, or a single
            cotangent if there is one operand.
        linear_in: positions of the operands in which the operator is linear. Operands such as index tensors
            and masks are left out. Default: all operands.
    """

    def jvp(y: Atom, xs: Atoms, ts: Tangents, **parameters: object) -> Results:
        slots = range(len(xs)) if linear_in is None else linear_in
        if all(ts[i] is None for i in slots):
            return None
        operands = list(xs)
        for i in slots:
            operands[i] = zeros(xs[i].type) if (t := ts[i]) is None else t
        return primitive(*operands, **parameters)

    def transposed(ct: Atom, *xs: Atom, **parameters: object) -> Tangents:
        found = transpose(ct, *xs, **parameters)
        return found if isinstance(found, (list, tuple)) else [found]

    fields = {"jvp": jvp, "taint": "passes", **fields, "transpose": transposed, "linear_in": linear_in}
    primitive: Primitive[Atom] = _declared(name, kind, fields)
    return primitive


def pointwise_linear(
    name: str, *, accepts: str = "number", samples: object, operands: int = 1, **fields: object
) -> Primitive:
    """Create a linear pointwise operator, whose operands share one shape."""
    fields.setdefault("type_rule", same_type(name, accepts, operands))
    given = _pointwise_samples(samples, operands, accepts)
    return linear(name, kind="pointwise linear", samples=given, **fields)  # type: ignore[arg-type]  # fields of Primitive


def multilinear(
    name: str,
    *,
    transpose: Sequence[rules.Transpose],
    pointwise: bool = False,
    accepts: str = "number",
    samples: object = None,
    **fields: object,
) -> Primitive:
    """Create an operator that is linear in each operand, such as mul, dot, or conv.

    Args:
        name: name of the operator.
        transpose: one function for each operand. ``transpose[k](ct, *xs, **parameters)`` returns the
            cotangent of operand ``k``, where ``ct`` is the cotangent of the result, and ``xs`` are all
            operands.
        pointwise: whether the operator computes each element of the result from the elements of the operands
            at the same index.
        accepts: the dtypes that a pointwise operator accepts, as in ``same_type``.
        samples: example operands for tests.
        **fields: further arguments of ``Primitive``.
    """

    def jvp(y: Atom, xs: Atoms, ts: Tangents, **parameters: object) -> Results:
        terms = []
        for k, t in enumerate(ts):
            if t is not None:
                operands = (*xs[:k], t, *xs[k + 1 :])
                if pointwise:
                    terms.append(product(operands[0], t) if k else product(operands[1], t))
                else:
                    terms.append(primitive(*operands, **parameters))
        return accumulate(terms)

    def transposed(ct: Atom, *xs: Atom, **parameters: object) -> Tangents:
        if len(xs) != len(transpose) or sum(x.linear for x in xs) > 1:
            fault = f"needs {len(transpose)} operands and one tangent, but got {xs}"
            raise TypeError(f"the operator '{name}' {fault}. Forward rules must be linear in the tangents.")
        return [
            rule(ct, *xs, **parameters) if x.linear else None for rule, x in zip(transpose, xs, strict=True)
        ]

    if not isinstance(transpose, (tuple, list)) or not all(map(callable, transpose)):
        raise invalid(name, "transpose", "a list with one function for each operand", transpose)
    kind = "pointwise multilinear" if pointwise else "multilinear"
    if pointwise:
        fields.setdefault("type_rule", same_type(name, accepts, len(transpose)))
        samples = (samples, len(transpose), accepts)
    fields = {"jvp": jvp, "taint": "passes", **fields, "transpose": transposed, "samples": samples}
    primitive: Primitive[Atom] = _declared(name, kind, fields)
    return primitive


def general(name: str, *, jvp: rules.Jvp, **fields: object) -> Primitive:
    """Create an operator whose derivative is defined by the forward rule ``jvp``."""
    return _declared(name, "general", {"taint": "passes", **fields, "jvp": jvp})
