"""Peephole rewrites, which replace equations that match a pattern.

Each rewrite finds the equations to replace, and emits each replacement from the operands of the equation. The
docstring of each rewrite states its law, and when it pays.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Collection, Container, Iterable
from typing import Any, NamedTuple

import numpy as np

from mindgrad.core.control.lazy_hessian import lazy_hessian
from mindgrad.core.control.per_sample_gradient import per_sample_gradient, written_out
from mindgrad.core.control.taylor_coefficients import taylor_coefficients
from mindgrad.core.ir.cost_model import costs, is_one_cpu
from mindgrad.core.ir.graph import Atom, Constant, Equation, Graph, Variable
from mindgrad.core.ir.rewriting import Rewrite
from mindgrad.core.ir.rules import Atoms
from mindgrad.core.passes.graph_rewriter import Read, rebuild, rewrite_inner
from mindgrad.core.primitives.arithmetic import div, mul, neg, select
from mindgrad.core.primitives.comparisons import equal
from mindgrad.core.primitives.elementwise import safe_quotient
from mindgrad.core.primitives.indexing import gather
from mindgrad.core.primitives.kinds import accumulate, full, ones, zeros
from mindgrad.core.primitives.reduction import reduce_sum
from mindgrad.core.primitives.static_slices import concatenate, slice, slice_axis
from mindgrad.core.primitives.structural import reshape

__all__ = [
    "drop_bounds_checks", "expand_columns", "replace_hessian_traces", "share_reciprocals",
    "sink_scalar_factors", "split_sums",
]  # fmt: skip


def _replace(
    graph: Graph, rewrite: Rewrite | None, equations: Collection[Equation],
    emit: Callable[[Equation, Read], Atom | Atoms], simplifies: bool = True,
) -> Graph:  # fmt: skip
    """Replace each of ``equations`` by the result of ``emit(equation, read)``.

    ``read`` maps a variable or constant of ``graph`` to its value in the new graph. ``simplifies`` is passed
    to :func:`graph_rewriter.rebuild`.
    """
    if not equations:
        return graph
    if rewrite is not None:
        rewrite.fired(len(equations))
    replaced = set(equations)
    return rebuild(graph, lambda e, read: emit(e, read) if e in replaced else None, simplifies)


# -- quotients -----------------------------------------------------------------------------------------

ONE_RECIPROCAL = Rewrite(
    "shared reciprocal",
    "c / x = c · (1 / x)",
    "quotients by powers of the same value are computed from its reciprocal",
)


def share_reciprocals(graph: Graph) -> Graph:
    """Compute quotients with the same divisor from one reciprocal.

        c / x = c · r,   (c / x) / x = (c · r) · r            r = 1 / x,  1/1024 ≤ |c| ≤ 1

    Proof: if x is a normal floating-point number, its reciprocal is finite, so only the rounding differs. The
    bound |c| ≤ 1 ensures that the rewrite does not lose digits of a normal quotient: if r is subnormal, c / x
    is subnormal, too.

    Derivatives of norms and potentials contain many quotients by powers of the same value. The rewrite
    computes one division for each x instead of several. It applies to floats, and only if x divides at least
    two values.
    """
    graph = rewrite_inner(graph, share_reciprocals)
    bases = _bases(graph)
    quotients = [e for e in graph.equations if _is_quotient(e) and e.outputs[0] in bases]
    divisors = Counter(e.inputs[1] for e in quotients)

    def emit(equation: Equation, read: Read) -> Any:
        a, b = map(read, equation.inputs)
        quotient = a * div(ones(b.type), b)
        if equation.primitive is div:
            return quotient
        return select(equal(b, zeros(b.type)), zeros(b.type), quotient)

    shared = [e for e in quotients if divisors[bases[e.outputs[0]]] > 1]
    return _replace(graph, ONE_RECIPROCAL, shared, emit)


def _is_quotient(equation: Equation) -> bool:
    return equation.primitive is div or equation.primitive is safe_quotient


def _bases(graph: Graph) -> dict[Atom, Variable]:
    """Map each value of the form c / xⁿ, and each product of such values, to x."""
    bases: dict[Atom, Variable] = {}
    for equation in graph.equations:
        row, operands = equation.primitive, equation.inputs
        is_quotient = _is_quotient(equation)
        if not is_quotient and not bases:
            continue
        if is_quotient and type(operands[1]) is Variable and operands[1].dtype.kind == "float":
            if _is_near_one(operands[0]) or bases.get(operands[0]) is operands[1]:
                bases[equation.outputs[0]] = operands[1]
        elif row is neg or row.kind == "pointwise multilinear":
            base = bases.get(operands[0])
            if base is not None and all(bases.get(x) is base for x in operands):
                bases[equation.outputs[0]] = base
    return bases


def _is_near_one(x: Atom) -> bool:
    """Return whether ``x`` is a constant c with 1/1024 ≤ |c| ≤ 1."""
    return type(x) is Constant and x.is_splat and bool(1 / 1024 <= abs(x.value[()]) <= 1)


# -- lookups at constant indices -----------------------------------------------------------------------

UNTESTED = Rewrite(
    "unchecked lookups",
    "select(0 ≤ i < n, x[i], NaN) = x[i] for constant i with 0 ≤ i < n",
    "constant indices are checked at compile time instead of at each lookup",
)


def drop_bounds_checks(graph: Graph) -> Graph:
    """Remove the bounds checks from lookups at constant in-range indices.

        select(0 ≤ i < n, x[i], NaN) = x[i]        for constant i with 0 ≤ i < n

    A lookup at an out-of-range index returns NaN or 0 (``primitives.indexing``). Therefore a compiled lookup
    compares each index with the size of the axis, and selects NaN or the element. If XLA fuses the lookup
    into its readers, every reader repeats these comparisons. This rewrite checks constant indices once, at
    compile time, and then marks the lookup as in range. Examples of constant indices are the pattern of a
    sparse matrix and the triangles of a mesh.
    """
    graph = rewrite_inner(graph, drop_bounds_checks)

    def emit(equation: Equation, read: Read) -> Any:
        return gather(*map(read, equation.inputs), **{**equation.parameters, "inside": True})

    known = [e for e in graph.equations if e.primitive is gather and _is_inside(e)]
    return _replace(graph, UNTESTED, known, emit)


def _is_inside(lookup: Equation) -> bool:
    """Return whether all indices of a lookup are constant and in range."""
    x, indices = lookup.inputs
    if type(indices) is not Constant or lookup.parameters.get("inside") or not indices.type.size:
        return False
    positions = indices.smallest() if not indices.is_splat else indices.value
    sizes = np.array([x.shape[axis] for axis in lookup.parameters["axes"]])
    return bool(np.all(positions >= 0) and np.all(positions < sizes))


# -- sums ----------------------------------------------------------------------------------------------

HALVES = Rewrite(
    "halves",
    "Σ_{k<K} x_k = Σ_{k<K/2} (x_k + x_{k+K/2}), for sums over axes other than the last",
    "long sums are computed as sums of pairs of their halves",
)


def split_sums(graph: Graph) -> Graph:
    """Add the two halves of an axis until one element is left: pairwise summation.

        Σ_{k<K} x_k = Σ_{k<K/2} (x_k + x_{k+K/2})        (+ the last term if K is odd)

    Proof: addition is associative and commutative up to rounding. The rounding error becomes smaller, because
    each term takes part in log K additions instead of up to K.

    **When it pays** (measurements: ``docs/decisions/0019-thresholds-of-rewrites.md``). On a CPU, XLA computes
    a sum over the first axis as a separate pass over a copy of its operand. For some sums, XLA calls a
    library kernel that is slow for wide results. In contrast, XLA fuses the slices and additions of this
    rewrite with the preceding equations, and uses vector instructions and all threads. The rewrite applies to
    sums over axes that do not include the last axis. It is fastest for 16 to 128 terms. For fewer terms, it
    suffices to compile without the library kernels (``backend.options``). If other axes precede the summed
    axes, the rewrite pays for small operands, such as the tiles of ``passes.tiling``.

    **Limits.** The rewrite is only for CPUs. The rewrite leaves these sums unchanged:

    - sums in a graph with many such sums, such as a large network with normalizations. XLA compiles the
      rewritten sums slowly, and a call saves little time (``docs/decisions/0029-channels-last.md``);
    - sums of float16 and bfloat16, because XLA accumulates a sum in float32, but would round each half to 16
      bits.
    """
    if not is_one_cpu():
        return graph
    graph = rewrite_inner(graph, split_sums)
    sums = list(filter(_is_worth_splitting, graph.equations))

    def emit(equation: Equation, read: Read) -> Any:
        return _sum_of_halves(read(equation.inputs[0]), equation.parameters["axes"])

    return _replace(graph, HALVES, sums if len(sums) <= costs().halved_sums else (), emit)


def _is_worth_splitting(equation: Equation) -> bool:
    if equation.primitive is not reduce_sum:
        return False
    (x,), axes = equation.inputs, equation.parameters["axes"]
    if not axes or not x.dtype.is_inexact or x.dtype.itemsize < 4 or axes != (*range(axes[0], axes[-1] + 1),):
        return False
    outer, terms, inner = _sizes(x.shape, axes)
    if outer == 1:
        return terms in costs().halved_terms and inner >= costs().halved_width
    is_long = costs().halved_inner <= terms < costs().halved_terms.stop
    return is_long and inner >= costs().halved_inner and x.type.size in costs().halved_elements


def _sizes(shape: tuple[int, ...], axes: tuple[int, ...]) -> tuple[int, int, int]:
    """Return the number of elements before, along, and after the consecutive ``axes``."""
    return (
        math.prod(shape[: axes[0]]),
        math.prod(shape[axes[0] : axes[-1] + 1]),
        math.prod(shape[axes[-1] + 1 :]),
    )


def _sum_of_halves(x: Atom, axes: tuple[int, ...]) -> Atom:
    shape, axis = x.shape, axes[0]
    front, behind = shape[:axis], shape[axes[-1] + 1 :]
    x = reshape(x, shape=(*front, _sizes(shape, axes)[1], *behind))
    while (count := x.shape[axis]) > 1:
        half = count // 2
        total = slice_axis(x, axis, 0, half) + slice_axis(x, axis, half, 2 * half)
        x = concatenate(total, slice_axis(x, axis, 2 * half, count), axis=axis) if count % 2 else total
    return reshape(x, shape=(*front, *behind))


# -- scalar factors ------------------------------------------------------------------------------------

FACTORS = Rewrite(
    "factors",
    "(c A) · B = c (A · B) = A · (c B)",
    "scalar factors of products are moved to the smallest operands",
)


class _Scaled(NamedTuple):
    """A value that is the product ``factor · unscaled`` of a scalar and an array."""

    factor: complex
    unscaled: Any


def sink_scalar_factors(graph: Graph) -> Graph:
    """Move the scalar factor of a product to its smallest operand or result.

        (c A) · B = c (A · B) = A · (c B)        for a scalar c

    Proof: a product is linear in each operand. Only the rounding differs, and if c is a power of two, the
    results are equal.

    **When it pays.** XLA does not move factors. Scaling a value costs one operation for each of its elements,
    so the smallest of A, B, and A · B should be scaled. A factor of the result is moved if no other equation
    reads the unscaled result. A factor of the operand A is moved only if ``c A`` is probably stored as an
    additional array. This happens if another equation reads A, or if A is not the result of a pointwise
    operator; otherwise XLA fuses the scaling. The scaled value must have at least ``scaled_elements``
    elements (``ir.cost_model``), and the smallest operand or result at most a quarter of them.

    **Limits.** Products in float16 and bfloat16 are left unchanged, because one of ``c A`` and A · B can
    overflow although the other is finite.
    """
    graph = rewrite_inner(graph, sink_scalar_factors)
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

    def emit(equation: Equation, read: Read) -> Any:
        scaled = of_results.get(equation)
        factor, product = (1.0, equation) if scaled is None else (scaled.factor, scaled.unscaled.made_by)
        slots = of_operands.get(product, {})
        operands = [read(slots[k].unscaled if k in slots else x) for k, x in enumerate(product.inputs)]
        return _product(product, operands, factor * math.prod([scaled.factor for scaled in slots.values()]))

    return _replace(graph, FACTORS, {**of_results, **of_operands}, emit, simplifies=False)


def _product(equation: Equation, operands: list[Atom], factor: complex) -> Atom:
    """Emit ``factor`` times a product, by scaling its smallest operand or result."""
    k = min(range(len(operands)), key=lambda k: operands[k].type.size)
    result = equation.outputs[0]
    if operands[k].type.size < result.type.size:
        operands[k] = _times(factor, operands[k])
        return equation.primitive(*operands, **equation.parameters)
    return _times(factor, equation.primitive(*operands, **equation.parameters))


def _times(factor: complex, x: Atom) -> Atom:
    return full(x.type, factor) * x


def _of_operands(
    products: Iterable[Equation], factors: Container[Equation], uses: Counter[Atom]
) -> dict[Equation, dict[int, _Scaled]]:
    """Find the scaled operands of products whose scalar factor should be moved.

    The result maps each product to a dict from the index of an operand to the operand, split into factor and
    array.
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
    """Return whether a contraction has a large and a much smaller operand or result."""
    if equation.primitive.kind != "multilinear":
        return False
    largest = max([x.type.size for x in (*equation.inputs, *equation.outputs)])
    return largest >= costs().scaled_elements and _smallest(equation) * costs().distributed_part <= largest


def _is_array(unscaled: Atom, uses: Counter[Atom]) -> bool:
    """Return whether ``unscaled`` is probably stored in memory, and not fused."""
    made_by = getattr(unscaled, "made_by", None)
    return made_by is None or not made_by.primitive.pointwise or uses[unscaled] > 1


def _smallest(product: Equation) -> int:
    return min(x.type.size for x in (*product.inputs, *product.outputs))


def _small_size(x: Atom) -> int:
    """Return the size up to which a value should be scaled instead of ``x``.

    The result is −1 if ``x`` is so small that moving its factor does not pay.
    """
    return x.type.size // costs().distributed_part if x.type.size >= costs().scaled_elements else -1


def _scaled(equation: Equation | None) -> _Scaled | None:
    """Return the result of ``equation`` as a scalar times a value, or ``None``."""
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


# -- diagonals of Hessians -----------------------------------------------------------------------------

TRACE = Rewrite(
    "trace", "tr ∇²y = Σ_j ∂_j² y", "the trace or diagonal of a Hessian is computed without the matrix"
)


class _Diagonal(NamedTuple):
    """A weighted sum of diagonal elements of a Hessian.

    ``factors`` maps the index of each element to its weight.
    """

    hessian: Equation
    factors: dict[int, float]


def replace_hessian_traces(graph: Graph) -> Graph:
    """Compute the trace or diagonal of a Hessian without the matrix.

        tr ∇²y = Σ_j ∂_j² y        (∇²y)_jj = ∂_j² y

    The following equations read only the diagonal of a Hessian (``control.lazy_hessian``): ``trace``,
    ``diagonal``, ``einsum('ii')``, the sum of an elementwise product with a diagonal matrix, and elements
    ``[i, i]``. This rewrite replaces them by second derivatives along unit vectors.
    ``passes.derivative_fusion`` then computes the sum of these derivatives as one forward Laplacian.

    **When it pays.** For D dimensions, the Hessian costs 4 D passes. A sum over its diagonal costs D + 2
    passes, and one diagonal element costs 2 passes. A diagonal that is read as a vector is still computed
    from the Hessian.

    **Limits.** The differentiated function maps one vector to a scalar.
    """
    reads = _reads(graph) if any(e.primitive is lazy_hessian for e in graph.equations) else {}
    elements = (
        [e for e in graph.equations if not e.primitive.multiple and e.outputs[0] in reads] if reads else ()
    )

    def emit(equation: Equation, read: Read) -> Any:
        y = equation.outputs[0]
        return reshape(_sum_of_diagonal(reads[y], read), shape=y.shape)

    return _replace(graph, TRACE, elements, emit)


def _reads(graph: Graph) -> dict[Variable, _Diagonal]:
    """Return the scalars that are weighted sums of diagonal elements of a Hessian."""
    matrices: dict[Atom, Equation] = {}
    diagonals: dict[Atom, _Diagonal] = {}
    numbers: dict[Variable, _Diagonal] = {}
    for equation in graph.equations:
        if equation.primitive.multiple:
            continue
        (y,) = equation.outputs
        source: Any = equation.inputs[0] if equation.inputs else None
        if equation.primitive is lazy_hessian:
            matrices[y] = equation
        elif equation.primitive is reduce_sum and source in diagonals:
            if len(equation.parameters["axes"]) == len(source.shape):
                numbers[y] = diagonals[source]
        else:
            diagonal = _diagonal(equation, matrices)
            if diagonal is None:
                continue
            (numbers if y.type.size == 1 else diagonals)[y] = diagonal
    return numbers


def _diagonal(equation: Equation, matrices: dict[Atom, Equation]) -> _Diagonal | None:
    """Return the Hessian diagonal elements that an equation reads.

    Returns ``None`` if the equation also reads other elements.
    """
    primitive, parameters = equation.primitive, equation.parameters
    if primitive is mul:
        for matrix, weights in (equation.inputs, equation.inputs[::-1]):
            if matrix in matrices and type(weights) is Constant:
                values = weights.array()
                if np.array_equal(values, np.diag(np.diag(values))):
                    return _Diagonal(matrices[matrix], dict(enumerate(map(float, np.diag(values)))))
        return None
    hessian = matrices.get(_unshaped(equation.inputs[0])) if equation.inputs else None
    if hessian is None:
        return None
    size = hessian.outputs[0].shape[0]
    if primitive is gather and parameters["axes"] == (0, 1) and type(equation.inputs[1]) is Constant:
        places = equation.inputs[1].array().reshape(-1, 2)
        if np.array_equal(places[:, 0], places[:, 1]) and len(set(places[:, 0])) == len(places):
            return _Diagonal(hessian, dict.fromkeys((places[:, 0] % size).tolist(), 1.0))
    if primitive is slice:
        flat = np.arange(size * size).reshape(equation.inputs[0].shape)
        steps = zip(parameters["start"], parameters["limit"], parameters["strides"], strict=True)
        taken = flat[tuple(np.s_[start:limit:step] for start, limit, step in steps)].ravel()
        if np.array_equal(taken // size, taken % size):
            return _Diagonal(hessian, dict.fromkeys((taken % size).tolist(), 1.0))
    return None


def _unshaped(x: Atom) -> Atom:
    made_by = getattr(x, "made_by", None)
    return made_by.inputs[0] if made_by is not None and made_by.primitive is reshape else x


def _sum_of_diagonal(diagonal: _Diagonal, read: Read) -> Any:
    """Emit Σ_j c_j ∂_j² y, with one ``taylor_coefficients`` equation per term."""
    program, argnum = diagonal.hessian.parameters["program"], diagonal.hessian.parameters["argnum"]
    x = program.inputs[argnum]
    operands = [read(each) for each in diagonal.hessian.inputs]
    terms = []
    for column, factor in diagonal.factors.items():
        if factor:
            unit = Constant(np.eye(1, x.shape[0], column, dtype=x.dtype.numpy)[0])
            terms.append(
                2 * factor * taylor_coefficients(*operands, unit, program=program, argnum=argnum, order=2)[1]
            )
    return accumulate(terms) if terms else zeros(diagonal.hessian.outputs[0].type.with_shape(()))


# -- columns of per-sample gradients -------------------------------------------------------------------


def expand_columns(graph: Graph) -> Graph:
    """Replace each ``per_sample_gradient`` equation by separate graphs of its columns."""
    columns = [e for e in graph.equations if e.primitive is per_sample_gradient]
    return _replace(graph, None, columns, lambda e, read: written_out(e, list(map(read, e.inputs))))
