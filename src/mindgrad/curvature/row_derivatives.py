"""Derivatives of the rows of an output, as outer products or Jacobians.

A weight is *structured* if all its uses are contractions, convolutions, or lookups of the same two groups of
axes. Its derivative is then a sum of outer products (``curvature.outer_products``). For all other weights,
the whole Jacobian is computed.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from mindgrad.core.control.lazy import expand_lazy
from mindgrad.core.control.scan import scan
from mindgrad.core.ir.build import Builder, building
from mindgrad.core.ir.graph import Atom, Equation, Variable
from mindgrad.core.ir.types import tensor_type
from mindgrad.core.primitives.comparisons import equal
from mindgrad.core.primitives.contraction import dot
from mindgrad.core.primitives.kinds import zeros
from mindgrad.core.primitives.reduction import reduce_sum
from mindgrad.core.primitives.static_slices import concatenate
from mindgrad.core.primitives.structural import broadcast_in_dim, convert, iota, reshape
from mindgrad.core.transforms.apply_rule import between
from mindgrad.core.transforms.sample_independence import mixing
from mindgrad.curvature.loop_rows import with_invariants_outside
from mindgrad.curvature.meetings import Meeting, meetings_of_rows, rows_as_vector
from mindgrad.curvature.outer_products import OuterProducts, arrange, outer_products, views_of
from mindgrad.curvature.row_axes import dependent_variables
from mindgrad.curvature.row_jacobian import jacobians, placed_rows, row_jacobian_rule, values_of
from mindgrad.curvature.shared_products import constant_products, contraction_with_rows, with_rows_in_products

__all__ = ["RowDerivatives", "contraction_of", "moments_of_products"]


class RowDerivatives:
    """The derivatives of the rows of ``y`` with respect to ``weights``.

    Attributes:
        products: for each weight, the outer products whose sum is its derivative, or ``None`` if the weight
            is not structured.
        reasons: for each weight that is not structured, the equation that prevents it.
        meetings: for each weight, the meetings in which it is used.
    """

    def __init__(self, builder: Builder, weights: Sequence[Variable], y: Atom) -> None:
        y = rows_as_vector(y)
        self.builder, self.weights, self.y = builder, list(weights), y
        self.products: list[list[OuterProducts] | None] = [[] for _ in weights]
        self.reasons: dict[int, Equation | None] = {}
        self.meetings: list[list[Meeting]] = [[] for _ in weights]
        self._all: list[Meeting] = []
        if y in self.weights:
            self.products = [None for _ in weights]
            self.reasons = dict.fromkeys(range(len(self.weights)))
            return
        graph, needed = between(builder, weights, [y])
        graph = with_invariants_outside(expand_lazy(graph))
        self.graph = graph = with_rows_in_products(graph, graph.inputs[len(needed) :])
        self.inner = graph.inputs[len(needed) :]
        self.values = values_of(graph, [*needed, *weights])
        self._all = meetings_of_rows(graph, self.values, self.inner, graph.outputs[0])
        self._find_products()

    def _find_products(self) -> None:
        views, constants = views_of(self.graph, self.inner), constant_products(self.graph, self.inner)
        influence: dict[Atom, set[int]] = {}
        for k, w in enumerate(self.inner):
            for x in dependent_variables(self.graph.equations, [w]):
                influence.setdefault(x, set()).add(k)
        for meeting in self._all:
            for operand in meeting.use.shared:
                shared = meeting.variables[operand]
                view = views.get(shared)
                if shared in constants:
                    changed = contraction_with_rows(meeting, operand, constants[shared], self.values, views)
                    if changed is not None:
                        meeting, operand = changed
                        view = views[meeting.variables[operand]]
                of_meeting = None if view is None else outer_products(meeting, operand, view)
                for k in influence[shared]:
                    self.meetings[k].append(meeting)
                    products = self.products[k]
                    if products is None:
                        continue
                    if of_meeting is None or (products and products[0].sides != of_meeting.sides):
                        self.products[k] = None
                        self.reasons[k] = meeting.equation
                    else:
                        products.append(of_meeting)

    # --- whole Jacobians -----------------------------------------------------------------------------

    def jacobians(self, indices: Sequence[int]) -> list[Atom]:
        """Emit Jacobians by some weights, of shape ``(elements, *weight.shape)``."""
        if not indices:
            return []
        if not hasattr(self, "graph"):
            return row_jacobian_rule(self.builder, [self.weights[k] for k in indices], [self.y])
        weights = [self.inner[k] for k in indices]
        return jacobians(self.graph, self.values, self._all, weights, self.y.shape)

    def jacobian(self, index: int) -> Atom:
        """Emit the Jacobian by one weight, from its outer products if it is structured."""
        if not self.products[index]:
            return self.jacobians([index])[0]
        matrices = [contraction_of(a, b) for a, b in self.pairs(index)]
        shape = self.weights[index].shape
        parts = [arrange(m, self.products[index][0].sides, shape) for m in matrices]  # type: ignore[index]
        if len(parts) == 1:
            return parts[0]
        rows = self.y.shape[0]
        stacked = concatenate(*[reshape(x, shape=(rows, 1, *shape)) for x in parts], axis=1)
        return reshape(stacked, shape=(rows * len(parts), *shape))

    # --- factors -------------------------------------------------------------------------------------

    def factors(self, index: int) -> tuple[list[Atom], list[Atom]]:
        """Emit both factors of a structured weight, joined along the positions.

        The factors have shape ``(rows, positions, blocks, size)``. A list has one item for each component of
        the output, or one item if the factor does not depend on the component.
        """
        products = self.products[index]
        assert products
        joined = []
        for side in (0, 1):
            columns = [self._dense(x, side) for x in products]
            count = max(map(len, columns))
            columns = [x * count if len(x) < count else x for x in columns]
            joined.append([_along_positions([x[c] for x in columns]) for c in range(count)])
        return joined[0], joined[1]

    def pairs(self, index: int) -> list[tuple[Atom, Atom]]:
        """Emit the result of :meth:`factors` as a pair for each component."""
        left, right = self.factors(index)
        count = max(len(left), len(right))
        return list(zip(left * (count // len(left)), right * (count // len(right)), strict=True))

    def vectors(self, product: OuterProducts, side: int) -> list[Atom]:
        """Return the left (0) or right (1) factor, with lookups as unit vectors."""
        factor = (product.left, product.right)[side]
        if factor[0] is None:
            factor = (unit_vectors(product.lookup, product.sides[0][1], product.cotangents[0]),)
        return list(factor)  # type: ignore[arg-type]

    def _dense(self, product: OuterProducts, side: int) -> list[Atom]:
        return [self.placed(x, product) for x in self.vectors(product, side)]

    def placed(self, x: Atom, product: OuterProducts) -> Atom:
        """Move the rows of an equation to their position among the rows of the output."""
        return placed_rows(x, product.rows, self.y.shape[0])

    # --- mixed rows ----------------------------------------------------------------------------------

    def mixing_equation(self) -> Equation | None:
        """Return an equation that certainly mixes rows, or ``None``."""
        count = self.y.shape[0]
        views = dependent_variables(self.graph.equations, self.inner) if hasattr(self, "graph") else set()
        data = (
            [x for x in self.graph.inputs if x not in self.inner and x.shape[:1] == (count,)] if views else []
        )
        for meeting in self._all:
            for operand in meeting.use.shared:
                shared = meeting.variables[operand]
                for x in data:
                    culprit = mixing(self.graph.equations, x, (0,), shared)
                    if culprit is not None:
                        return culprit
        return None


def _along_positions(parts: Sequence[Atom]) -> Atom:
    return concatenate(*parts, axis=1) if len(parts) > 1 else parts[0]


def unit_vectors(lookup: Atom | None, size: int, like: Atom) -> Atom:
    """Emit unit vectors of shape ``(rows, positions, 1, size)``.

    They are 1 at the indices ``lookup``.
    """
    assert lookup is not None
    shape = (*lookup.shape, 1, size)
    index = broadcast_in_dim(lookup, shape=shape, dims=(0, 1))
    return convert(equal(index, iota(shape=shape, axis=3, dtype=lookup.dtype)), dtype=like.dtype)


def contraction_of(left: Atom, right: Atom) -> Atom:
    """Emit Σ_t left[n, t] ⊗ right[n, t] in each block."""
    return dot(left, right, contract=((1,), (1,)), batch=((0, 2), (0, 2)))


def moments_of_products(left: Atom, right: Atom) -> Atom:
    """Emit Σ_n (Σ_t left[n, t] ⊗ right[n, t])², with elementwise squares.

    The result has the shape ``(blocks, left size, right size)``.
    """
    if left.shape[1] == 1:
        return dot(left * left, right * right, contract=((0, 1), (0, 1)), batch=((2,), (2,)))
    shape = (left.shape[2], left.shape[3], right.shape[3])
    if left.shape[0] * prod(shape) * left.dtype.numpy.itemsize <= _MANY_BYTES:
        gradients = contraction_of(left, right)
        return reduce_sum(gradients * gradients, axes=(0,))
    builder = Builder()
    with building(builder):
        total = builder.input(tensor_type(left.dtype, shape))
        parts = [builder.input(x.type.with_shape(x.shape[1:])) for x in (left, right)]
        gradient = dot(*parts, contract=((0,), (0,)), batch=((1,), (1,)))
        body = builder.close([total + gradient * gradient])
    return scan(zeros(total.type), left, right, body=body, length=left.shape[0], consts=0, carries=1)[0]


#: bytes of the Jacobian of one weight, above which second moments are summed row by row
_MANY_BYTES = 2**26
