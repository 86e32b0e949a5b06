"""Scalar factors: scale the smallest operand or result of a product.

    (c A) · B = c (A · B) = A · (c B)        for a scalar c

Proof: a product is linear in each operand. Only the rounding differs, and if c is a power of two, the results
are equal.

**When it pays.** XLA does not move factors. Scaling a value costs one operation for each of its elements, so
the smallest of A, B, and A · B should be scaled. A factor of the result is moved if no other equation reads
the unscaled result. A factor of the operand A is moved only if ``c A`` is probably stored as an additional
array. This happens if another equation reads A, or if A is not the result of a pointwise operator; otherwise
XLA fuses the scaling. The scaled value must have at least ``scaled_elements`` elements (``ir.cost_model``),
and the smallest operand or result at most a quarter of them.

**Limits.** Products in float16 and bfloat16 are left unchanged, because one of ``c A`` and A · B can overflow
although the other is finite.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Container, Iterable
from typing import Any, NamedTuple

from mindgrad.ir.cost_model import costs
from mindgrad.ir.graph import Constant, Equation, Graph
from mindgrad.ir.rewriting import Rewrite
from mindgrad.optimize.graph_rewriter import inside, rebuilt
from mindgrad.primitives.arithmetic import mul, neg
from mindgrad.primitives.kinds import full

__all__ = ["factors_moved"]

FACTORS = Rewrite(
    "factors",
    "(c A) · B = c (A · B) = A · (c B)",
    "scalar factors of products are moved to the smallest operands",
)


class _Scaled(NamedTuple):
    """A value ``factor · unscaled``."""

    factor: complex
    unscaled: Any


def factors_moved(graph: Graph) -> Graph:
    """Move scalar factors from large operands and results of products to small ones."""
    graph = inside(graph, factors_moved)
    products = dict.fromkeys(filter(_is_uneven, graph.equations))
    factors = dict.fromkeys(e for e in graph.equations if e.primitive is mul or e.primitive is neg)
    if not products or not factors:
        return graph
    uses = Counter(x for equation in graph.equations for x in equation.inputs)
    uses.update(graph.outputs)
    of_operands = _of_operands(products, factors, uses)
    of_results = {
        equation: scaled
        for equation in factors
        if not products.keys().isdisjoint([getattr(x, "made_by", None) for x in equation.inputs])
        and (scaled := _scaled(equation)) is not None
        and (product := getattr(scaled.unscaled, "made_by", None)) in products
        and uses[scaled.unscaled] == 1
        and min(x.type.size for x in product.inputs) <= _small_size(scaled.unscaled)
    }
    if not of_operands and not of_results:
        return graph

    def replace(equation: Equation, read: Callable[[Any], Any]) -> Any:
        if equation in of_results:
            factor, unscaled = of_results[equation]
            product: Equation = unscaled.made_by
        elif equation in of_operands:
            factor, product = 1.0, equation
        else:
            return None
        slots = of_operands.get(product, {})
        FACTORS.fired()
        operands = [read(slots[k].unscaled if k in slots else x) for k, x in enumerate(product.inputs)]
        return _product(product, operands, factor * math.prod([scaled.factor for scaled in slots.values()]))

    return rebuilt(graph, replace, simplifies=False)


def _product(equation: Equation, operands: list[Any], factor: complex) -> Any:
    """Emit the product of ``operands`` and ``factor``; scale the smallest array."""
    k = min(range(len(operands)), key=lambda k: operands[k].type.size)
    result = equation.outputs[0]
    if operands[k].type.size < result.type.size:
        operands[k] = _times(factor, operands[k])
        return equation.primitive(*operands, **equation.parameters)
    return _times(factor, equation.primitive(*operands, **equation.parameters))


def _times(factor: complex, x: Any) -> Any:
    return full(x.type, factor) * x


def _of_operands(
    products: Iterable[Equation], factors: Container[Any], uses: Counter[Any]
) -> dict[Equation, dict[int, _Scaled]]:
    """Find the operands of products whose scalar factor should be moved.

    The result maps each product to a dict from operand indices to operands without their factors.
    """
    slots: dict[Any, list[tuple[Equation, int]]] = {}
    for equation in products:
        for k, x in enumerate(equation.inputs):
            if getattr(x, "made_by", None) in factors:
                slots.setdefault(x, []).append((equation, k))
    moved: dict[Equation, dict[int, _Scaled]] = {}
    for x, places in slots.items():
        scaled = _scaled(x.made_by)
        if scaled is None or uses[x] != len(places) or not _is_array(scaled.unscaled, uses):
            continue
        if all(_smallest(equation) <= _small_size(x) for equation, _ in places):
            for equation, k in places:
                moved.setdefault(equation, {})[k] = scaled
    return moved


def _is_uneven(equation: Equation) -> bool:
    """Whether one operand or result of a contraction is much smaller than another."""
    if equation.primitive.kind != "multilinear":
        return False
    largest = max([x.type.size for x in (*equation.inputs, *equation.outputs)])
    return largest >= costs().scaled_elements and _smallest(equation) * costs().distributed_part <= largest


def _is_array(unscaled: Any, uses: Counter[Any]) -> bool:
    """Whether a value without its factor is probably stored in memory, and not fused."""
    made_by = getattr(unscaled, "made_by", None)
    return made_by is None or not made_by.primitive.pointwise or uses[unscaled] > 1


def _smallest(product: Equation) -> int:
    return min(x.type.size for x in (*product.inputs, *product.outputs))


def _small_size(x: Any) -> int:
    """Return the largest size of a value that should be scaled instead of ``x``.

    The result is −1 if ``x`` is so small that moving its factor does not pay.
    """
    return x.type.size // costs().distributed_part if x.type.size >= costs().scaled_elements else -1


def _scaled(equation: Equation | None) -> _Scaled | None:
    """Write the result of ``equation`` as a scalar times a value, if possible."""
    if equation is None or not equation.outputs or not equation.outputs[0].type.dtype.is_inexact:
        return None
    if equation.outputs[0].type.dtype.is_half:
        return None
    if equation.primitive is neg:
        return None if type(equation.inputs[0]) is Constant else _Scaled(-1, equation.inputs[0])
    if equation.primitive is not mul:
        return None
    for number, other in (equation.inputs, equation.inputs[::-1]):
        if type(number) is Constant and number.is_splat and type(other) is not Constant:
            is_factor = not number.tainted and number.value != 0
            return _Scaled(number.value.item(), other) if is_factor else None
    return None
