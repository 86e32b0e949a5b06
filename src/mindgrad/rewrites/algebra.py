"""Products of differences: each term is multiplied by itself where that is cheaper.

    A · (u ± v)      = A · (u − c) ± A · (v ± c)            for every c
    Q_k (x_i − μ_k)  = Q_k (x_i − c) − Q_k (μ_k − c)

where ``u`` and ``v`` are repeated along different axes, so that their difference is much larger than both.
All differences of n points and k centres in d dimensions are n·k·d numbers, which have to be written
before they can be multiplied, k products of d x d with d x n; behind the rewrite it is one product
of (k d) x d with d x n. The derivative inherits that: the gradient in the matrix is again one product, with
``x`` instead of the differences; that in μ sums over i *before* it multiplies, which leaves out a
product as large as that of the function.

Proof: a product is linear in each operand; ``c`` is added to both terms with opposite signs.

**Rounding.** ``x − μ`` is exact where both are close, and A x − A μ is not: digits are lost as far as the
terms are larger than their difference. So both are taken relative to ``c``, the mean of the smaller
term over the axes that the other has not, a constant to every derivative (the product does not
depend on it). A common offset of the data costs nothing then; what is left is |u − c| / |u − v|, the
spread of the data over the distance that is looked at. Where the mean is not finite, c is 0: an infinite
element spoils its own row only.

**When it pays.** Bytes that are written and read, and floating-point operations, of which a core does
about eight while it moves a byte (measured: 40 GFLOP/s in small float64 products against 5 GB/s of
fresh memory): ``_pays``. Both terms must be a quarter of the difference at most, and the difference have
4,096 elements. Half precision keeps its differences: products of half precision are rounded to it.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

from mindgrad.core.graph import Equation, Graph
from mindgrad.core.rewriting import Rewrite
from mindgrad.primitives.arithmetic import add, select, sub
from mindgrad.primitives.contraction import dot
from mindgrad.primitives.kinds import full, zeros
from mindgrad.primitives.logic import isfinite
from mindgrad.primitives.reduction import reduce_sum
from mindgrad.primitives.structural import broadcast_in_dim, stop_gradient, transpose
from mindgrad.rewrites.rebuilding import rebuilt
from mindgrad.rewrites.repetition import (
    Axes,
    Repeated,
    is_view,
    product_size,
    repeated,
    repeated_product,
    seen_through,
)

__all__ = ["distributed"]

DISTRIBUTION = Rewrite("distribution", "A · (u ± v) = A · (u − c) ± A · (v ± c), u and v smaller than u ± v")
REPETITION = Rewrite(
    "repetition", "Σ_j A[b,i,j] x[j] for every b = (A as one matrix) · x; Σ_j A[i,j] x = (Σ_j A[i,j]) x"
)

#: floating-point operations that take as long as moving a byte
_OPERATIONS_PER_BYTE = 8
#: a difference of fewer elements is left alone
_ELEMENTS = 4096
#: the terms of a difference are at most this part of it
_PART = 4


class _Difference(NamedTuple):
    """``first ± second``, seen through permutations of its axes and axes of size 1."""

    first: Repeated
    second: Repeated
    is_sum: bool


def distributed(graph: Graph) -> Graph:
    """``graph`` with products of large differences and of repeated operands in their cheaper forms."""
    if not any(e.primitive is dot and _improvement(e, e.inputs) for e in graph.equations):
        return graph

    def replace(equation: Equation, read: Callable[[Any], Any]) -> Any:
        if equation.primitive is not dot:
            return None
        operands = tuple([read(x) for x in equation.inputs])
        found = _improvement(equation, operands)
        if found is None:
            return None
        k, seen = found
        contract, batch = equation.parameters["contract"], equation.parameters["batch"]
        if isinstance(seen, Repeated):
            REPETITION.fired()
            return repeated_product(operands, k, seen, contract, batch)
        DISTRIBUTION.fired()
        terms = [repeated_product(operands, k, term, contract, batch) for term in _centred(seen)]
        return (add if seen.is_sum else sub)(*terms)

    return rebuilt(graph, replace)


def _improvement(equation: Equation, operands: tuple[Any, ...]) -> tuple[int, Repeated | _Difference] | None:
    """The operand of a product, and what it is seen as, that allows a cheaper one."""
    contract, batch = equation.parameters["contract"], equation.parameters["batch"]
    if not operands[0].type.dtype.is_inexact or operands[0].type.dtype.itemsize < 4:
        return None
    for k, x in enumerate(operands):
        if x.type.size < _ELEMENTS:
            continue
        found = repeated(x)
        if found.size < x.type.size and any(
            found.axes[axis] is None and x.shape[axis] != 1 for axis in (*contract[k], *batch[k])
        ):
            return k, found
        difference = _difference(x)
        if difference is not None and _pays(operands, k, difference, contract, batch):
            return k, difference
    return None


def _difference(x: Any) -> _Difference | None:
    """``x`` as a sum or difference of two values that are repeated."""
    views: list[Equation] = []
    made_by: Equation | None = getattr(x, "made_by", None)
    while made_by is not None and is_view(made_by):
        views.append(made_by)
        made_by = getattr(made_by.inputs[0], "made_by", None)
    if made_by is None or (made_by.primitive is not sub and made_by.primitive is not add):
        return None
    terms = []
    for operand in made_by.inputs:
        term = repeated(operand)
        if term.size * _PART > x.type.size:
            return None
        axes = term.axes
        for view in reversed(views):
            axes = seen_through(view, axes)
        terms.append(Repeated(term.atom, axes))
    first, second = terms
    return _Difference(first, second, made_by.primitive is add)


def _pays(operands: tuple[Any, ...], k: int, x: _Difference, contract: Axes, batch: Axes) -> bool:
    inner = math.prod([operands[k].shape[axis] for axis in contract[k]])
    whole = Repeated(operands[k], tuple(range(len(operands[k].shape))))
    result = product_size(operands, k, whole, contract, batch)
    itemsize = operands[k].type.dtype.itemsize
    written = [product_size(operands, k, term, contract, batch) for term in (x.first, x.second)]
    # the difference is written and read; the result of the rewrite is a difference too, which what
    # uses it may compute as it reads
    before = 2 * result * inner + _OPERATIONS_PER_BYTE * itemsize * (2 * operands[k].type.size + result)
    after = 2 * sum(written) * inner + _OPERATIONS_PER_BYTE * itemsize * (sum(written) + result)
    return after < before


def _centred(x: _Difference) -> tuple[Repeated, Repeated]:
    """Both terms relative to the mean of the smaller one over the axes that the other has not."""
    first, second = x.first, x.second
    small, other = (first, second) if first.size <= second.size else (second, first)
    common = [k for k, axis in enumerate(small.axes) if axis is not None and other.axes[k] is not None]
    kept = sorted(axis for k, axis in enumerate(small.axes) if axis is not None and k in common)
    averaged = tuple([axis for axis in range(len(small.atom.shape)) if axis not in kept])
    count = math.prod([small.atom.shape[axis] for axis in averaged])
    total = reduce_sum(stop_gradient(small.atom), axes=averaged)
    mean = total * full(total.type, 1 / count)
    centre = select(isfinite(mean), mean, zeros(mean.type))
    # which axis of the value each axis of the centre is
    places = {axis: k for k, axis in enumerate(small.axes) if axis is not None}
    names = [places[axis] for axis in kept]

    def shifted(term: Repeated, row: Any) -> Repeated:
        order = sorted(range(len(names)), key=lambda at: term.axes[names[at]])  # type: ignore[arg-type,return-value]
        dims = tuple([term.axes[names[at]] for at in order])
        moved = transpose(centre, permutation=tuple(order))
        return Repeated(row(term.atom, broadcast_in_dim(moved, shape=term.atom.shape, dims=dims)), term.axes)

    return shifted(first, sub), shifted(second, add if x.is_sum else sub)
