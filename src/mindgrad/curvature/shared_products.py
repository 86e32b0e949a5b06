"""Rewrite a graph so that each weight of a derivative meets data with rows.

    z[n, d] = W₂ (φ′(u[n]) · W₁ e[d])        e[d]: direction d of a derivative, equal for all rows n

A derivative such as a Laplacian multiplies the first weight by constant directions. The product W₁ e[d] has
no rows. If there are many rows, the product of W₂ and W₁ e[d] may be computed first, because it is shared by
all rows. The matrix that then meets data is not a weight. Two rewrites recover the formula above. They do not
change values except for rounding:

- ``dot(p, a · w)``, where w is a weight and a is broadcast, becomes ``dot(p · a, w)``.
- values that are computed from W₁ e[d], such as its square, get a copy for each row.

W₂ then meets data with rows (``curvature.meetings``). W₁ meets the directions, which count as data that are
equal for all rows. The Kronecker factors do not depend on the order of multiplication.
"""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from functools import partial
from math import prod

from mindgrad.core.ir.build import Builder, building
from mindgrad.core.ir.graph import Atom, Equation, Graph, Variable
from mindgrad.core.ir.index_map import Labels, index_map, label_sizes, relabeled
from mindgrad.core.primitives.arithmetic import mul
from mindgrad.core.primitives.batching import at_front
from mindgrad.core.primitives.contraction import dot
from mindgrad.core.primitives.reduction import reduce_sum
from mindgrad.core.primitives.structural import broadcast_in_dim, reshape, transpose
from mindgrad.core.transforms.batch import push_batch
from mindgrad.curvature.loop_rows import LoopUse, loop_use
from mindgrad.curvature.meetings import Meeting
from mindgrad.curvature.outer_products import views_of
from mindgrad.curvature.row_axes import Rows, Use, dependent_variables, uses_of_rows
from mindgrad.curvature.row_jacobian import local_jacobian

__all__ = ["constant_products", "contraction_with_rows", "with_rows_in_products"]

#: bytes of a value with a copy for each row, above which the value stays shared
_MANY_BYTES = 2**27


def with_rows_in_products(graph: Graph, weights: Sequence[Variable]) -> Graph:
    """Return an equivalent graph whose shared products of weights have rows.

    Args:
        graph: a graph with one output, whose axis 0 contains the rows.
        weights: inputs of ``graph``.
    """
    if graph.is_unique or graph.has_effect:
        return graph
    uses = uses_of_rows(graph, weights, graph.outputs[0], partial(loop_use, weights=weights))
    views = views_of(graph, weights)
    changed = {
        equation: use
        for equation, use in uses.items()
        if not isinstance(use, LoopUse) and any(equation.inputs[k] not in views for k in use.shared)
    }
    if not changed:
        return graph
    return _Rewriter(graph, weights, views.keys()).rewritten(changed)


def constant_products(graph: Graph, weights: Sequence[Variable]) -> dict[Atom, Equation]:
    """Return the contractions of a constant and a view of a weight.

    A constant with a free axis as long as the rows may be data, as in batch normalization. It is left out.
    """
    views, dependent = views_of(graph, weights), dependent_variables(graph.equations, weights)
    count = graph.outputs[0].shape[0]
    products: dict[Atom, Equation] = {}
    for equation in graph.equations:
        if equation.primitive is not dot or not any(x in views for x in equation.inputs):
            continue
        for x, contract in zip(equation.inputs, equation.parameters["contract"], strict=True):
            free = [n for axis, n in enumerate(x.shape) if axis not in contract]
            if x not in dependent and count not in free:
                products[equation.outputs[0]] = equation
    return products


def contraction_with_rows(
    meeting: Meeting, operand: int, product: Equation, values: Mapping[Atom, Atom], views: Container[Atom]
) -> tuple[Meeting, int] | None:
    """Return a meeting of the weight in ``product`` that is equivalent to ``meeting``.

    The constant of ``product`` counts as data that are equal for all rows. Returns ``None`` if the cotangents
    of all rows are too large.

    Args:
        meeting: a meeting whose shared operand at index ``operand`` is the result of ``product``.
        product: contraction of a constant and a view of a weight.
        values: the values of the variables of the graph.
        views: the views of weights.

    Returns:
        The meeting, and the index of the view among its operands.
    """
    rows = meeting.use.rows
    weight_at = next(k for k, x in enumerate(product.inputs) if x in views)
    count = rows.count(meeting.equation.outputs[0].shape)
    result = product.outputs[0]
    size = count * result.type.size * result.dtype.numpy.itemsize
    if size > _MANY_BYTES or meeting.use.shared != (operand,):
        return None
    cotangents = [local_jacobian(meeting, operand, ct) for ct in meeting.cotangents]
    constant, w = product.inputs[1 - weight_at], product.inputs[weight_at]
    dims = tuple(range(1, 1 + len(constant.shape)))
    data = broadcast_in_dim(values.get(constant, constant), shape=(count, *constant.shape), dims=dims)
    axes = index_map(product)
    assert axes is not None
    label = 1 + max(label for labels in axes.operands for label in labels)
    order = (label, *axes.results[0])
    of_operands = [(label, *own) if k != weight_at else own for k, own in enumerate(axes.operands)]
    form = relabeled(product, axes, of_operands, (order,), {label: count})
    if form is None or sorted(form.results[0]) != sorted(order):
        return None
    builder = Builder()
    with building(builder):
        builder.source = product.source
        inputs = [builder.input(w.type), builder.input(data.type)]
        given = inputs if (weight_at == 0) != form.swaps else inputs[::-1]
        equation = dot(*given, **form.parameters).made_by
    at = given.index(inputs[0])
    permutation = tuple(map(order.index, form.results[0]))
    cts = tuple([transpose(ct, permutation=permutation) for ct in cotangents])
    pairs = [(values.get(w, w), w), (data, data)]
    xs, variables = zip(*(pairs if at == 0 else pairs[::-1]), strict=True)
    use = Use(Rows((form.results[0].index(label),), rows.start), (None, None), (at == 0, at == 1))
    return Meeting(equation, use, xs, cts, variables), at


class _Rewriter:
    """Emit a graph again, with other equations for meetings.

    Attributes:
        values: dict from variables of the graph to variables of the new graph.
        equations: dict from variables of the graph to the equations that compute them.
    """

    def __init__(self, graph: Graph, weights: Sequence[Variable], views: Container[Atom]) -> None:
        self.graph, self.views = graph, views
        self.products = constant_products(graph, weights)
        self.dependent = dependent_variables(graph.equations, weights)
        self.equations: dict[Atom, Equation] = {
            y: equation for equation in graph.equations for y in equation.outputs
        }
        self.values: dict[Atom, Atom] = {}
        self._copies: dict[tuple[Atom, Rows, int], Atom | None] = {}

    def rewritten(self, changed: dict[Equation, Use]) -> Graph:
        """Return the graph with other equations for the meetings in ``changed``."""
        builder = Builder()
        with building(builder):
            inputs = builder.inputs_like(self.graph.inputs)
            self.values = dict(zip(self.graph.inputs, inputs, strict=True))
            for equation in self.graph.equations:
                builder.source = equation.source
                result = self._of_meeting(equation, changed[equation]) if equation in changed else None
                operands = [self._value(x) for x in equation.inputs]
                results = [result] if result is not None else builder.emit_again(equation, operands)
                self.values.update(zip(equation.outputs, results, strict=True))
            return builder.close([self._value(y) for y in self.graph.outputs])

    def _value(self, x: Atom) -> Atom:
        return self.values.get(x, x)

    def _of_meeting(self, equation: Equation, use: Use) -> Atom | None:
        """Emit a meeting in another form; return ``None`` if no form is known."""
        rows = use.rows
        axes = index_map(equation)
        if len(rows.axes) != 1 or (rows.outer, rows.inner) != (1, 1) or axes is None:
            return None
        if equation.primitive is dot and len(use.shared) == 1:
            result = self._reassociated(equation, use.shared[0], rows)
            if result is not None:
                return result
        label = axes.results[0][rows.axes[0]]
        if label in axes.kinds or any(label in axes.operands[k] for k in use.shared):
            return None
        if equation.primitive is broadcast_in_dim and rows.axes[0] in equation.parameters["dims"]:
            return None  # an axis of size 1 becomes the rows
        count = equation.outputs[0].shape[rows.axes[0]]
        copies = {k: self._copy(equation.inputs[k], rows, count) for k in use.shared}
        present = {k: x for k, x in copies.items() if x is not None}
        if not present:
            return None
        return self._labeled(equation, present, label, axes.results[0], count)

    # --- copies for each row -------------------------------------------------------------------------

    def _copy(self, x: Atom, rows: Rows, count: int) -> Atom | None:
        """Emit copies of ``x`` along a new axis 0.

        Returns ``None`` if ``x`` does not depend on a product of a constant and a weight, or if the copies
        are too large.
        """
        key = (x, rows._replace(axes=()), count)
        if key not in self._copies:
            self._copies[key] = self._new_copy(x, rows, count)
        return self._copies[key]

    def _new_copy(self, x: Atom, rows: Rows, count: int) -> Atom | None:
        if x in self.views or x not in self.dependent or not self._is_small(x, count):
            return None
        if x in self.products:
            dims = tuple(range(1, 1 + len(x.shape)))
            return broadcast_in_dim(self._value(x), shape=(count, *x.shape), dims=dims)
        equation = self.equations[x]
        if len(equation.outputs) > 1:
            return None
        copies = {y: self._copy(y, rows, count) for y in equation.inputs if y in self.dependent}
        if all(y is None for y in copies.values()):
            return None
        inputs = list(dict.fromkeys(y for y in equation.inputs if type(y) is Variable))
        pairs = [(self._value(y), None) if copies.get(y) is None else (copies[y], 0) for y in inputs]
        operands, places = zip(*pairs, strict=True)
        (result,), (at,) = push_batch(Graph(inputs, [equation], equation.outputs), operands, places, count)
        return at_front(count, result, at)

    def _is_small(self, x: Atom, count: int) -> bool:
        return x.type.size * count * x.dtype.numpy.itemsize <= _MANY_BYTES

    def _labeled(
        self, equation: Equation, copies: dict[int, Atom], label: int, order: Labels, count: int
    ) -> Atom | None:
        """Emit an equation whose operands ``copies`` have a leading axis ``label``.

        ``order`` contains the labels of the result. Returns ``None`` if the operator has no such form.
        """
        axes = index_map(equation)
        assert axes is not None
        of_operands = [(label, *own) if k in copies else own for k, own in enumerate(axes.operands)]
        form = relabeled(equation, axes, of_operands, (order,), {label: count})
        if form is None or sorted(form.results[0]) != sorted(order):
            return None
        operands = [copies.get(k, self._value(x)) for k, x in enumerate(equation.inputs)]
        result = equation.primitive(*(operands[::-1] if form.swaps else operands), **form.parameters)
        return transpose(result, permutation=tuple(map(form.results[0].index, order)))

    # --- reassociation -------------------------------------------------------------------------------

    def _reassociated(self, equation: Equation, operand: int, rows: Rows) -> Atom | None:
        """Emit ``dot(p, a · w)`` as ``dot(p · a, w)``.

        The argument ``operand`` is the index of ``a · w``. Returns ``None`` if this operand is not a product
        with a weight, or if ``p · a`` is too large.
        """
        axes = index_map(equation)
        factors = self._factors(equation.inputs[operand])
        assert axes is not None
        if factors is None:
            return None
        (a, of_a), (w, of_w) = factors
        of_p, of_x, of_y = axes.operands[1 - operand], axes.operands[operand], axes.results[0]
        row, sizes = of_y[rows.axes[0]], label_sizes(equation, axes)
        a_labels, w_labels = [tuple([of_x[axis] for axis in dims]) for dims in (of_a, of_w)]
        joined = (*of_p, *[label for label in a_labels if label not in of_p])
        p = self._value(equation.inputs[1 - operand])
        size = prod([sizes[label] for label in joined]) * p.dtype.numpy.itemsize
        if (
            row in of_x or row not in of_p or size > _MANY_BYTES
            or not (set(a_labels) <= set(of_p) or set(w_labels) - set(a_labels))
            or set(of_y) - {*joined, *w_labels}
        ):  # fmt: skip
            return None
        copy = self._copy(a, rows, sizes[row])
        left = (self._value(a), a_labels) if copy is None else (copy, (row, *a_labels))
        product = mul(_spread(p, of_p, joined, sizes), _spread(*left, joined, sizes))
        return _contracted(product, joined, self._value(w), w_labels, of_y, equation)

    def _factors(self, x: Atom) -> tuple[tuple[Atom, Labels], tuple[Atom, Labels]] | None:
        """Return the factors of a product, without repeated axes.

        A factor is a pair of a value and its axes in the product. The second factor is a weight. Returns
        ``None`` if ``x`` is not a product with a weight.
        """
        equation = self.equations.get(x)
        if equation is None or equation.primitive is not mul:
            return None
        pairs = [self._without_repetition(y) for y in equation.inputs]
        pairs.sort(key=lambda pair: (pair[0] in self.views, pair[0].type.size))
        return (pairs[0], pairs[1]) if pairs[1][0] in self.views else None

    def _without_repetition(self, x: Atom) -> tuple[Atom, Labels]:
        equation = self.equations.get(x)
        if equation is not None and equation.primitive is broadcast_in_dim:
            (y,), dims = equation.inputs, equation.parameters["dims"]
            pairs = [(n, axis) for n, axis in zip(y.shape, dims, strict=True) if n == x.shape[axis]]
            shape, remaining = (tuple([pair[k] for pair in pairs]) for k in (0, 1))
            if len(remaining) == len(dims):
                return y, remaining
            before = self.equations.get(y)  # it may insert the axes of size 1
            if before is not None and before.primitive is reshape and before.inputs[0].shape == shape:
                return before.inputs[0], remaining
        return x, tuple(range(len(x.shape)))


def _spread(x: Atom, labels: Labels, onto: Labels, sizes: Mapping[int, int]) -> Atom:
    """Broadcast ``x`` with the given labels to the axes ``onto``."""
    remaining = [label for label in onto if label in labels]
    x = transpose(x, permutation=tuple(map(labels.index, remaining)))
    shape = tuple([sizes[label] for label in onto])
    return broadcast_in_dim(x, shape=shape, dims=tuple(map(onto.index, remaining)))


def _contracted(x: Atom, of_x: Labels, w: Atom, of_w: Labels, of_y: Labels, equation: Equation) -> Atom:
    """Emit the sum of products with the labels ``of_y``, like ``equation``."""
    summed = [label for label in of_x if label not in of_y and label not in of_w]
    x = reduce_sum(x, axes=tuple(map(of_x.index, summed)))
    of_x = tuple([label for label in of_x if label not in summed])
    contract = [label for label in of_x if label in of_w and label not in of_y]
    batch = [label for label in of_x if label in of_w and label in of_y]
    both = [tuple([tuple(map(own.index, labels)) for own in (of_x, of_w)]) for labels in (contract, batch)]
    y = dot(x, w, **{**equation.parameters, "contract": both[0], "batch": both[1]})
    free = [label for own in (of_x, of_w) for label in own if label not in (*contract, *batch)]
    of_result = (*batch, *free)
    return transpose(y, permutation=tuple(map(of_result.index, of_y)))
