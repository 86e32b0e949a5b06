"""Layout propagation: move transposes towards the outputs, or remove them.

    f(xᵀ, yᵀ) = f(x, y)ᵀ        for a pointwise f
    Σ_i xᵀ    = (Σ_σ(i) x)ᵀ     and every other reduction; σ is the permutation of the transpose
    A · xᵀ    = a product that contracts a different axis of x

The rewrite rebuilds the graph and does not emit its transposes. Instead, it stores the axis order of each
value of the new graph: axis i of the old value is axis ``order[i]`` of the new value. If an operator supports
operands in the new order, its equation is emitted for them. The values of the graph do not change, because a
transpose only renames axes. A broadcast is emitted in the axis order that its reader needs.

**When it pays** (measurements: ``docs/decisions/0009-rewrites-of-algebra.md``). The axes of a product are
(batch, free axes of the first operand, free axes of the second operand). In this order, a long batch axis is
often last. XLA's vector instructions then run along this axis in every pointwise operator, and sums over
features need no shuffles of vector elements. But ``einsum`` transposes the product to the order that its
caller requests, and on a CPU, XLA moves the data for this transpose. Therefore the rewrite runs only if a
pointwise operator or a reduction reads a large transpose of a computed value (``transposed_elements`` in
``ir.cost_model``).

**Limits.** Only pointwise operators, reductions, products, and changes of shape accept operands in a new
order. For any other equation, the operands are transposed back.

**Narrow products.** A long last axis also saves time in graphs without transposes. For example, the values of
a small network on a large batch have the shape (batch, 20), and 20 is not a multiple of the vector length 8
or 16. The rewrite exchanges the operands of such products, so that the batch axis is last in the result. All
values that are computed from the result have the same order. The rewrite applies on CPUs, to graphs with at
least two such products, and to widths up to 24. Graphs in tiles (``passes.tiling``) already have the batch
axis last.

**Convolutions.** XLA's CPU kernels need images with the channels last. If the channels are first, XLA
transposes the operands and the result of every convolution. Therefore the rewrite passes the operands of a
convolution in the order that its primitive prefers. The values between convolutions have the same order, in
the forward and the backward pass. Weights, optimizer moments, and values that are combined with them have the
original order (``passes.anchors``). If most elements of the results of convolutions are in images with fewer
than ``vector_channels`` channels, the rewrite does not apply.

**Reduced products.** Consider a matrix product, pointwise operators on its result, and then a reduction over
the first axis. The rewrite transposes the product, so that the reduction is over the last axis, whose terms
are contiguous in memory. Broadcast operands of the pointwise operators are emitted in the new order. The
rewrite applies to reductions of 33 to 8,191 terms with at least twice as many results. For fewer terms, the
original order, with a long last axis, is faster.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from mindgrad.core.ir.build import Builder, building
from mindgrad.core.ir.cost_model import costs, is_one_cpu
from mindgrad.core.ir.graph import Atom, Constant, Equation, Graph, Variable
from mindgrad.core.ir.index_map import REDUCED, IndexMap, Labels, Uniform, index_map, relabeled
from mindgrad.core.ir.rewriting import Rewrite
from mindgrad.core.ir.types import Shape
from mindgrad.core.passes.anchors import anchored_values
from mindgrad.core.passes.broadcast_elimination import free_axes, repeated
from mindgrad.core.primitives.contraction import dot
from mindgrad.core.primitives.structural import broadcast_in_dim, transpose

__all__ = ["remove_transposes", "transpose_narrow_products", "transpose_reduced_products"]

LAYOUT = Rewrite(
    "layout",
    "f(xᵀ) = f(x)ᵀ for a pointwise operator f; similar laws for sums and products",
    "arrays are transposed so that their long axes are last",
)
NARROW = Rewrite(
    "narrow products",
    "x · W = (Wᵀ · xᵀ)ᵀ for a matrix x with many rows and a small matrix W",
    "products of a matrix with many rows and a small matrix are transposed",
)


REDUCED_LAST = Rewrite(
    "reduced axis last",
    "Σ_i (A · B)_ij = Σ_i (Bᵀ · Aᵀ)_ji; the same law holds for every other reduction",
    "products are transposed so that the axis of a reduction is last",
)


class _Placed(NamedTuple):
    """A value in a new axis order: its old axis i is axis ``order[i]`` of ``atom``."""

    atom: Any
    order: Shape


class _Spread(NamedTuple):
    """A broadcast of ``inner`` that has not been emitted yet (``broadcast_in_dim``)."""

    inner: _Placed
    shape: Shape
    dims: Shape


_Value = _Placed | _Spread


CHANNELS = Rewrite(
    "channels last",
    "x ∗ w = (xᵀ ∗ wᵀ)ᵀ for a convolution ∗, where ᵀ moves the channel axis to the end",
    "convolutions and the operators between them run with the channel axis last",
)


def remove_transposes(graph: Graph) -> Graph:
    """Remove large transposes, and emit convolutions in their preferred axis order."""
    preferring = _preferring(graph)
    if preferring:
        CHANNELS.fired(len(preferring))
    elif not _is_worth_while(graph):
        return graph
    else:
        LAYOUT.fired()
    return _carried_along(graph, set(), preferring)


def transpose_narrow_products(graph: Graph) -> Graph:
    """Exchange the operands of products with many rows, so that the long axis is last."""
    narrow = _narrow_products(graph)
    if not narrow or not is_one_cpu():
        return graph
    NARROW.fired(len(narrow))
    return _carried_along(graph, narrow)


def transpose_reduced_products(graph: Graph) -> Graph:
    """Transpose matrix products whose results are reduced over their first axis."""
    candidates = [e for e in graph.equations if e.primitive is dot and _is_turnable(e)]
    if not candidates:
        return graph
    uses = Counter(x for e in graph.equations for x in e.inputs)
    uses.update(graph.outputs)
    readers = {x: e for e in graph.equations for x in e.inputs}
    turned: set[Equation] = set()
    products = 0
    for equation in candidates:
        chain = _reduced_chain(equation, uses, readers)
        if chain:
            turned.update(chain)
            products += 1
    if not turned or not is_one_cpu():
        return graph
    REDUCED_LAST.fired(products)
    return _carried_along(graph, turned)


def _carried_along(
    graph: Graph, turned: set[Equation], preferring: Mapping[Equation, tuple[Labels, ...]] = {}
) -> Graph:
    """Rebuild ``graph`` without transposes, and track the axis order of each value.

    Args:
        graph: the graph to rebuild.
        turned: matrix products whose two operands are exchanged, so that their results are transposed. The
            set also contains pointwise equations of broadcasts that are emitted in the reversed axis order.
        preferring: dict that maps each equation with a preferred axis order to the axis labels of its
            operands in this order.
    """
    anchored = anchored_values(graph, set(preferring)) if preferring else set()
    builder = Builder()
    values: dict[Any, Any] = {v: _plain(builder.input(v.type, tainted=v.tainted)) for v in graph.inputs}
    with building(builder):
        for equation in graph.equations:
            builder.source = equation.source
            operands: Sequence[_Value] = [
                values[x] if type(x) is Variable else _constant(x) for x in equation.inputs
            ]
            if equation in preferring:
                operands = _as_preferred(operands, index_map(equation), preferring[equation])
            carried = _carried(equation, operands, turned)
            if carried is not None:
                result = equation.outputs[0]
                is_turned = result in anchored and isinstance(carried, _Placed)
                values[result] = _plain(_in_order(carried)) if is_turned else carried
                continue
            emitted = builder.emit(
                equation.primitive, tuple([_in_order(x) for x in operands]), equation.parameters
            )
            results = emitted if equation.primitive.multiple else (emitted,)
            values.update(zip(equation.outputs, map(_plain, results), strict=True))
        outputs = [_in_order(values[x]) if type(x) is Variable else x for x in graph.outputs]
        builder.source = None
    return builder.close(outputs)


def _preferring(graph: Graph) -> dict[Equation, tuple[Labels, ...]]:
    """Return, for each equation with a preferred axis order, the labels in this order.

    Returns an empty dict if most results have few channels, because vector instructions along a short channel
    axis are not efficient.
    """
    preferring: dict[Equation, tuple[Labels, ...]] = {}
    if not costs().channels_last or not is_one_cpu():
        return preferring
    wide = narrow = 0
    for equation in graph.equations:
        treatment = equation.primitive.axes
        if treatment is not None and treatment.prefers:
            axes = treatment.index_map([x.shape for x in equation.inputs], equation.parameters)
            labels = treatment.preferred(axes, equation.parameters)
            if labels is not None:
                preferring[equation] = labels
                result, channels = equation.outputs[0].type, axes.results[0].index(labels[1][-1])
                if result.shape[channels] < costs().vector_channels:
                    narrow += result.size
                else:
                    wide += result.size
    return preferring if narrow <= wide else {}


def _as_preferred(
    operands: Sequence[_Value], axes: IndexMap | None, labels: tuple[Labels, ...]
) -> list[_Placed]:
    """Transpose each operand to its preferred axis order, given by ``labels``."""
    assert axes is not None  # only operators with an index map prefer an order
    orders = [
        tuple([ordered.index(label) for label in old])
        for old, ordered in zip(axes.operands, labels, strict=True)
    ]
    return [_Placed(_in(x, order), order) for x, order in zip(operands, orders, strict=True)]


def _is_worth_while(graph: Graph) -> bool:
    """Return whether a pointwise operator or a reduction reads a large transpose."""
    moved = {
        e.outputs[0]
        for e in graph.equations
        if e.primitive is transpose
        and e.outputs[0].type.size >= costs().transposed_elements
        and type(e.inputs[0]) is Variable
        and e.inputs[0].made_by is not None
        and e.parameters["permutation"] != tuple(range(len(e.parameters["permutation"])))
    }
    return bool(moved) and any(
        not moved.isdisjoint(e.inputs) and (e.primitive.pointwise or _reduces(e)) for e in graph.equations
    )


def _reduces(equation: Equation) -> bool:
    axes = index_map(equation) if len(equation.inputs) == 1 else None
    return axes is not None and REDUCED in axes.kinds.values()


def _narrow_products(graph: Graph) -> set[Equation]:
    """Find the products of a first operand with many rows and a small second operand.

    Returns an empty set if there are fewer than two such products, or if the first operands of all of them
    are inputs of the graph.
    """
    products: set[Equation] = set()
    computed = False
    long, short = costs().long_rows, costs().short_sides
    for equation in graph.equations:
        if equation.primitive is dot and not equation.parameters["batch"][0]:
            contract = equation.parameters["contract"]
            shapes = [x.type.shape for x in equation.inputs]
            if math.prod([shapes[0][axis] for axis in contract[0]]) > short:
                continue
            rows, columns = [
                math.prod([shape[axis] for axis in free_axes(len(shape), contract[k], ())])
                for k, shape in enumerate(shapes)
            ]
            if rows >= long and columns <= short:
                products.add(equation)
                computed = computed or equation.inputs[0] not in graph.inputs
    return products if computed and len(products) > 1 else set()


def _is_turnable(product: Equation) -> bool:
    """Return whether to transpose ``product`` if its first axis is reduced afterwards."""
    type_ = product.outputs[0].type
    if product.parameters["batch"][0] or len(type_.shape) != 2 or type_.size < costs().turned_elements:
        return False
    rows, columns = type_.shape
    return rows in costs().turned_terms and columns >= 2 * rows


def _reduced_chain(
    product: Equation, uses: Counter[Atom], readers: dict[Atom, Equation]
) -> list[Equation] | None:
    """Find the pointwise equations from a product to a reduction over its first axis.

    Returns the product and the pointwise equations, or ``None`` if they do not end in such a reduction.
    """
    (y,), chain = product.outputs, [product]
    while uses[y] == 1 and (equation := readers.get(y)) is not None:
        if not equation.primitive.pointwise:
            return chain if _reduces(equation) and equation.parameters.get("axes") == (0,) else None
        for x in equation.inputs:
            sides = [] if x is y else _repeated_sides(x, uses)
            if sides is None:
                return None
            chain += sides
        chain.append(equation)
        (y,) = equation.outputs
    return None


def _repeated_sides(x: Atom, uses: Counter[Atom]) -> list[Equation] | None:
    """Find the pointwise equations that compute ``x`` from broadcasts only.

    These equations can be emitted in another axis order. Returns ``None`` if ``x`` also depends on a value
    that is not a broadcast.
    """
    sides, waiting = [], [x]
    while waiting:
        if repeated(x := waiting.pop()).size >= x.type.size and not (type(x) is Constant and x.is_splat):
            made_by = getattr(x, "made_by", None)
            if made_by is None or not made_by.primitive.pointwise or uses[x] > 1:
                return None
            sides.append(made_by)
            waiting += reversed(made_by.inputs)
    return sides


# --- values in a new axis order ----------------------------------------------------------------------


def _ascending(count: int) -> Shape:
    return tuple(range(count))


def _plain(atom: Atom) -> _Placed:
    return _Placed(atom, _ascending(len(atom.shape)))


def _constant(atom: Constant) -> _Value:
    repetition = repeated(atom)
    if repetition.atom is atom:
        return _plain(atom)
    dims = tuple([k for k, axis in enumerate(repetition.axes) if axis is not None])
    return _Spread(_plain(repetition.atom), atom.shape, dims)


def _inverse(order: Shape) -> Shape:
    return tuple([int(axis) for axis in np.argsort(order)])


def _shape(value: _Value) -> Shape:
    if isinstance(value, _Spread):
        return value.shape
    shape = value.atom.shape
    return tuple([shape[axis] for axis in value.order])


def _is_flexible(value: _Value) -> bool:
    return isinstance(value, _Spread) or type(value.atom) is Constant


def _in(value: _Value, order: Shape) -> Atom:
    """Emit ``value`` in a new axis order: old axis i becomes axis ``order[i]``."""
    old_axes = _inverse(order)  # for each axis of the result, the corresponding axis of the old value
    if isinstance(value, _Placed):
        return _transposed(value.atom, tuple([value.order[axis] for axis in old_axes]))
    inner, shape, dims = value
    targets = [order[axis] for axis in dims]
    by_target = sorted(range(len(targets)), key=targets.__getitem__)
    moved = _transposed(inner.atom, tuple([inner.order[j] for j in by_target]))
    return broadcast_in_dim(
        moved, shape=tuple([shape[axis] for axis in old_axes]), dims=tuple(sorted(targets))
    )


def _in_order(value: _Value) -> Atom:
    return _in(value, _ascending(len(_shape(value))))


def _transposed(atom: Atom, permutation: Shape) -> Atom:
    if type(atom) is Constant and not atom.is_splat and permutation != _ascending(len(permutation)):
        return Constant(np.ascontiguousarray(np.transpose(atom.value, permutation)))
    return transpose(atom, permutation=permutation)


# --- equations that accept operands in a new order ---------------------------------------------------


def _carried(equation: Equation, operands: Sequence[_Value], turned: set[Equation]) -> _Value | None:
    primitive = equation.primitive
    if primitive is transpose:
        return _transpose(equation, operands)
    if primitive is broadcast_in_dim:
        return _broadcast(equation, operands)
    axes = index_map(equation)
    if axes is None or primitive.multiple:
        return None
    if isinstance(primitive.axes, Uniform):
        return _uniform(equation, operands, turned, axes)
    return _relabeled(equation, operands, equation in turned, axes)


def _uniform(
    equation: Equation, operands: Sequence[_Value], turned: set[Equation], axes: IndexMap
) -> _Value | None:
    """Emit an operator whose operands must all have the same axis order."""
    orders = Counter([x.order for x in operands if isinstance(x, _Placed) and not _is_flexible(x)])
    if not orders and axes.kinds:  # a concatenation: the only such operator with an axis that is not parallel
        return None
    if not orders:
        # apply the operator before repetition: f(repeated x, repeated y) = repeated f(x, y)
        spreads = [x for x in operands if isinstance(x, _Spread)]
        if spreads and all(_is_as(x, spreads[0]) for x in operands):
            first = spreads[0]
            small = equation.primitive(*[_part(x, first) for x in operands], **equation.parameters)
            return _Spread(_Placed(small, first.inner.order), first.shape, first.dims)
        order = _ascending(len(_shape(operands[0])))
        order = order[::-1] if equation in turned else order
    else:
        order = _most(orders, bool(turned))
    return _relabeled(equation, [_Placed(_in(x, order), order) for x in operands], False, axes)


def _relabeled(
    equation: Equation, operands: Sequence[_Value], is_turned: bool, axes: IndexMap
) -> _Placed | None:
    """Emit an operator for operands in new axis orders, if it supports them."""
    primitive = equation.primitive
    if primitive is dot:
        operands = [x if isinstance(x, _Placed) else _plain(_in_order(x)) for x in operands]
    placed = [x for x in operands if isinstance(x, _Placed)]
    if len(placed) != len(operands):
        return None
    labels = [
        tuple([old[axis] for axis in _inverse(x.order)]) for x, old in zip(placed, axes.operands, strict=True)
    ]
    result = axes.results[0]
    if primitive is dot:  # the free axes of an operand keep their current order
        shared = [label for label in result if all(label in of_one for of_one in labels)]
        sides = [[label for label in of_one if label in result and label not in shared] for of_one in labels]
        result = (*shared, *sides[is_turned], *sides[not is_turned])
    form = relabeled(equation, axes, labels, (result,))
    if form is None:
        return None
    atoms = [x.atom for x in placed]
    made = primitive(*(atoms[::-1] if form.swaps else atoms), **form.parameters)
    return _Placed(made, tuple([form.results[0].index(label) for label in axes.results[0]]))


def _most(orders: Counter[Shape], prefers_new: bool) -> Shape:
    """Return the most frequent axis order.

    In a tie, ``prefers_new`` decides whether a new order or the original order is returned.
    """
    return max(orders, key=lambda order: (orders[order], (order == _ascending(len(order))) != prefers_new))


def _is_as(x: _Value, spread: _Spread) -> bool:
    """Return whether ``x`` is a scalar constant or a broadcast like ``spread``.

    A broadcast is like ``spread`` if it broadcasts a value of the same shape along the same axes.
    """
    if isinstance(x, _Placed):
        return type(x.atom) is Constant and x.atom.is_splat
    return x.dims == spread.dims and _shape(x.inner) == _shape(spread.inner)


def _part(x: _Value, spread: _Spread) -> Atom:
    if isinstance(x, _Spread):
        return _in(x.inner, spread.inner.order)
    inner = spread.inner.atom.type
    return Constant(x.atom.value, x.atom.type.with_shape(inner.shape))


def _transpose(equation: Equation, operands: Sequence[_Value]) -> _Value:
    (x,), permutation = operands, equation.parameters["permutation"]
    if isinstance(x, _Placed):
        return _Placed(x.atom, tuple([x.order[axis] for axis in permutation]))
    dims = tuple([permutation.index(axis) for axis in x.dims])
    order = sorted(range(len(dims)), key=dims.__getitem__)
    inner = _Placed(x.inner.atom, tuple([x.inner.order[j] for j in order]))
    return _Spread(inner, tuple([x.shape[axis] for axis in permutation]), tuple(sorted(dims)))


def _broadcast(equation: Equation, operands: Sequence[_Value]) -> _Value:
    (x,), shape, dims = operands, equation.parameters["shape"], equation.parameters["dims"]
    if isinstance(x, _Spread):
        return _Spread(x.inner, shape, tuple([dims[axis] for axis in x.dims]))
    return _Spread(x, shape, dims)
