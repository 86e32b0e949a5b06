"""Distribution: multiply the terms of a sum or difference separately, if cheaper.

    A · (u ± v)      = A · (u − c) ± A · (v ± c)            for every c
    Q_k (x_i − μ_k)  = Q_k (x_i − c) − Q_k (μ_k − c)        an example: points x_i, centers μ_k, matrices Q_k

The rewrite applies if ``u`` and ``v`` are broadcast along different axes, so that their sum or difference has
many more elements than each of them. In the example with n points and k centers in d dimensions, all
differences have n·k·d elements. The original graph stores them, and then computes k products of shape (d, d)
with (d, n). The rewrite computes one product of shape (k d, d) with (d, n).

The derivatives become cheaper, too. The gradient with respect to Q is again one product, with ``x`` instead
of the differences. The gradient with respect to μ sums over i *before* it multiplies, which saves another
large product.

Proof: a product is linear in each operand, and the terms with ``c`` cancel.

**Merged products.** In the example, the product r = A v with v = μ is equal for all points. The vector r can
become an additional column of A if u gets an additional element 1:

    A u + r = [A, r] · [u, 1]

The derivative with respect to ``r`` is a sum over the samples; the product that computes the derivative with
respect to A then also computes this sum. Merging pays if A has 8 to 24 columns.

**Rounding.** If ``x`` and μ are close, ``x − μ`` is exact, but A x − A μ loses digits if the terms are larger
than their difference. Therefore both terms are shifted by ``c``, the mean of the smaller term over the axes
that the other term does not have. Derivatives treat ``c`` as a constant, because the result does not depend
on it. After the shift, a common offset of the data costs no digits. The remaining loss of digits grows with
|u − c| / |u − v|, the spread of the data relative to the distance. If the mean is not finite, c is 0, so that
an infinite element affects only its own sample.

**When it pays.** The cost model (``_pays``) counts bytes that are written and read, and floating-point
operations. A core computes about eight operations in the time of moving one byte. Both terms must have at
most a quarter of the elements of the difference, and the difference must have at least 4,096 elements
(``docs/decisions/0009-rewrites-of-algebra.md``). Differences in float16 and bfloat16 are left unchanged,
because both products would be rounded to 16 bits before the subtraction.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

from mindgrad.core.ir.cost_model import costs
from mindgrad.core.ir.graph import Atom, Equation, Graph, Variable
from mindgrad.core.ir.rewriting import Rewrite
from mindgrad.core.ir.rules import Tangent
from mindgrad.core.passes.broadcast_elimination import (
    Axes,
    Repeated,
    free_axes,
    is_view,
    product_size,
    repeated,
    repeated_product,
    seen_through,
)
from mindgrad.core.passes.graph_rewriter import Read, rebuild
from mindgrad.core.primitives.arithmetic import add, neg, select, sub
from mindgrad.core.primitives.contraction import dot
from mindgrad.core.primitives.kinds import full, ones, zeros
from mindgrad.core.primitives.logic import isfinite
from mindgrad.core.primitives.reduction import reduce_sum
from mindgrad.core.primitives.static_slices import concatenate
from mindgrad.core.primitives.structural import broadcast_in_dim, reshape, stop_gradient, transpose

__all__ = ["distribute_products"]

DISTRIBUTION = Rewrite(
    "distribution",
    "A · (u ± v) = A · (u − c) ± A · (v ± c) for u and v with fewer elements than u ± v",
    "products with sums are computed from the terms of the sums, which have fewer elements",
)
REPETITION = Rewrite(
    "repeated operands",
    "Σ_j A[b,i,j] x[j] = M · x with rows (b, i) of M; Σ_j A[i,j] x = (Σ_j A[i,j]) x",
    "an operand that is a broadcast of a smaller array is multiplied before it is broadcast",
)

MERGING = Rewrite(
    "merged products", "A u + r = [A, r] · [u, 1]", "a sum of products is computed as one product"
)


class _Difference(NamedTuple):
    """A value ``first ± second`` whose terms are broadcast to its shape."""

    first: Repeated
    second: Repeated
    is_sum: bool


def distribute_products(graph: Graph) -> Graph:
    """Rewrite the products in ``graph`` whose operands are large sums or broadcasts."""
    if not any(e.primitive is dot and _improvement(e, e.inputs) for e in graph.equations):
        return graph

    def replace(equation: Equation, read: Read) -> Any:
        if equation.primitive is not dot:
            return None
        operands = tuple([read(x) for x in equation.inputs])
        improvement = _improvement(equation, operands)
        if improvement is None:
            return None
        k, pattern = improvement
        contract, batch = equation.parameters["contract"], equation.parameters["batch"]
        if isinstance(pattern, Repeated):
            REPETITION.fired()
            return repeated_product(operands, k, pattern, contract, batch)
        DISTRIBUTION.fired()
        centered = _Difference(*_centered(pattern), pattern.is_sum)
        merged = _merged(operands, k, centered, contract, batch)
        if merged is not None:
            MERGING.fired()
            return merged
        first, second = [
            repeated_product(operands, k, term, contract, batch) for term in (centered.first, centered.second)
        ]
        return (add if pattern.is_sum else sub)(first, second)

    return rebuild(graph, replace)


def _improvement(equation: Equation, operands: tuple[Atom, ...]) -> tuple[int, Repeated | _Difference] | None:
    """Find an operand of a product that is a broadcast, or a large sum or difference.

    Returns the index of the operand and its description, or ``None`` if no cheaper product exists.
    """
    contract, batch = equation.parameters["contract"], equation.parameters["batch"]
    if not operands[0].type.dtype.is_inexact or operands[0].type.dtype.itemsize < 4:
        return None
    for k, x in enumerate(operands):
        if x.type.size < costs().distributed_elements:
            continue
        repetition = repeated(x)
        if repetition.size < x.type.size and any(
            repetition.axes[axis] is None and x.shape[axis] != 1 for axis in (*contract[k], *batch[k])
        ):
            return k, repetition
        difference = _difference(x)
        if difference is not None and _pays(operands, k, difference, contract, batch):
            return k, difference
    return None


def _difference(x: Atom) -> _Difference | None:
    """Return ``x`` as a sum or difference of broadcasts of much smaller values.

    Returns ``None`` if ``x`` does not have this form.
    """
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
        if term.size * costs().distributed_part > x.type.size:
            return None
        axes = term.axes
        for view in reversed(views):
            axes = seen_through(view, axes)
        terms.append(Repeated(term.atom, axes))
    first, second = terms
    return _Difference(first, second, made_by.primitive is add)


def _pays(operands: tuple[Atom, ...], k: int, x: _Difference, contract: Axes, batch: Axes) -> bool:
    inner = math.prod([operands[k].shape[axis] for axis in contract[k]])
    whole = Repeated(operands[k], tuple(range(len(operands[k].shape))))
    result = product_size(operands, k, whole, contract, batch)
    itemsize = operands[k].type.dtype.itemsize
    written = [product_size(operands, k, term, contract, batch) for term in (x.first, x.second)]
    # The original graph writes and reads the difference. The rewritten graph ends with a sum or difference of
    # products, whose bytes are counted only once, because XLA may fuse it with its readers.
    before = 2 * result * inner + costs().flops_per_byte * itemsize * (2 * operands[k].type.size + result)
    after = 2 * sum(written) * inner + costs().flops_per_byte * itemsize * (sum(written) + result)
    return after < before


def _centered(x: _Difference) -> tuple[Repeated, Repeated]:
    """Shift both terms by the mean ``c`` of the smaller term.

    The shift reduces rounding errors (see the module docstring). The mean is taken over the axes that the
    larger term does not have.
    """
    first, second = x.first, x.second
    small, other = (first, second) if first.size <= second.size else (second, first)
    common = [k for k, axis in enumerate(small.axes) if axis is not None and other.axes[k] is not None]
    shared = sorted(axis for k, axis in enumerate(small.axes) if axis is not None and k in common)
    averaged = tuple([axis for axis in range(len(small.atom.shape)) if axis not in shared])
    count = math.prod([small.atom.shape[axis] for axis in averaged])
    total = reduce_sum(stop_gradient(small.atom), axes=averaged)
    mean = total * full(total.type, 1 / count)
    center = select(isfinite(mean), mean, zeros(mean.type))
    # map each axis of the smaller term to the corresponding axis of the difference
    places = {axis: k for k, axis in enumerate(small.axes) if axis is not None}
    names = [places[axis] for axis in shared]

    def shifted(term: Repeated, row: Callable[[Atom, Atom], Atom]) -> Repeated:
        order = sorted(range(len(names)), key=lambda at: term.axes[names[at]])  # type: ignore[arg-type,return-value]
        dims = tuple([term.axes[names[at]] for at in order])
        moved = transpose(center, permutation=tuple(order))
        return Repeated(row(term.atom, broadcast_in_dim(moved, shape=term.atom.shape, dims=dims)), term.axes)

    return shifted(first, sub), shifted(second, add if x.is_sum else sub)


# --- merged products ---------------------------------------------------------------------------------


def _merged(operands: tuple[Atom, ...], k: int, x: _Difference, contract: Axes, batch: Axes) -> Tangent:
    """Emit the product ``A (u ± v)`` as ``[A, r] · [u, 1]`` with ``r = ±A v``.

    The term v must be equal for all samples, so that r has only axes of A. Returns ``None`` if not exactly
    one term is equal for all samples, or if the merged product is not cheaper.
    """
    free = free_axes(len(operands[k].shape), contract[k], batch[k])
    flat = [all(term.axes[axis] is None for axis in free) for term in (x.first, x.second)]
    if flat == [False, False] or flat == [True, True] or len(contract[k]) != 1:
        return None
    rows, column = (x.second, x.first) if flat[0] else (x.first, x.second)
    (mine,), (theirs,), other = contract[k], contract[1 - k], operands[1 - k]
    row_dim = rows.axes[mine]
    result = math.prod(other.shape) // other.shape[theirs] * math.prod([operands[k].shape[a] for a in free])
    is_many = costs().distributed_part * other.type.size <= result
    if row_dim is None or not is_many or other.shape[theirs] not in costs().merged_columns:
        return None
    # A v has the axes (batch, free axes of A); transpose them into the order of the axes of A
    axes = sorted((*contract[k], *batch[k]))
    small = Variable(operands[k].type.with_shape(tuple([operands[k].shape[axis] for axis in axes])))
    sides = [other, other]
    sides[k] = small
    contracts, batches = list(contract), list(batch)
    contracts[k] = tuple([axes.index(axis) for axis in contract[k]])
    batches[k] = tuple([axes.index(axis) for axis in batch[k]])
    narrowed = Repeated(column.atom, tuple([column.axes[axis] for axis in axes]))
    product = repeated_product(sides, k, narrowed, (contracts[0], contracts[1]), (batches[0], batches[1]))
    order = [*batch[1 - k], *free_axes(len(other.shape), contract[1 - k], batch[1 - k])]
    product = transpose(product, permutation=tuple(sorted(range(len(order)), key=order.__getitem__)))
    product = reshape(product, shape=tuple([1 if a == theirs else n for a, n in enumerate(other.shape)]))
    # if the operand is a difference, negate its subtracted term: either the samples u or the column r
    atom = rows.atom
    if not x.is_sum:
        product, atom = (product, neg(atom)) if flat[0] else (neg(product), atom)
    unit_shape = tuple([1 if a == row_dim else n for a, n in enumerate(atom.shape)])
    longer = Repeated(concatenate(atom, ones(atom.type.with_shape(unit_shape)), axis=row_dim), rows.axes)
    shape = tuple([n + 1 if a == mine else n for a, n in enumerate(operands[k].shape)])
    sides[k] = Variable(operands[k].type.with_shape(shape))
    sides[1 - k] = concatenate(other, product, axis=theirs)
    return repeated_product(sides, k, longer, contract, batch)
