"""Strategies for sparse Jacobians and Hessians, and choice of the cheapest one.

    T[k] = J_φ s_k, s_k = Σ_{color(z) = k} e_z        or        T[k] = J_φᵀ c_k, c_k = Σ_{color(r) = k} e_r

``sparse.movement_split`` splits the function f(x) into data movement and a function φ(z). The sparsity
pattern of φ is computed and colored. The strategies differ in three ways:

- forward mode with one tangent s_k per color of columns, or reverse mode with one cotangent c_k per color of
  rows;
- each color separately, so that zero tangents cost nothing, or all colors as one batch;
- the Jacobian of φ with respect to z, or the Jacobian of f with respect to x.

All strategies that may be best are built. The strategy that computes the fewest elements is used.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from mindgrad.core.ir.build import Builder
from mindgrad.core.ir.cost_model import costs
from mindgrad.core.ir.graph import Constant, Equation, Graph, Variable, all_equations
from mindgrad.core.ir.rules import Array, Atoms, Module, Pattern
from mindgrad.core.ir.types import TensorType
from mindgrad.core.primitives.structural import reshape
from mindgrad.core.sparse.color_seeds import at_once, computed_once, is_scattered, seed_of
from mindgrad.core.sparse.coloring import columns, star
from mindgrad.core.sparse.movement_split import Cut, cut
from mindgrad.core.sparse.patterns import TooDense
from mindgrad.core.sparse.sparsity import Known, dependence
from mindgrad.core.sparse.strategy import Places, Way
from mindgrad.core.transforms.apply_rule import step
from mindgrad.core.transforms.forward import forward_rule, push_tangents
from mindgrad.core.transforms.linearize import linearize
from mindgrad.core.transforms.reverse import reverse_rule
from mindgrad.core.transforms.transpose import pull_cotangents

__all__ = ["best_way"]


#: A matrix is computed densely if more than the fraction ``_NEARLY`` of its entries can be nonzero, or if the
#: number of colors exceeds ``_NEARLY`` times its smaller dimension. Matrices whose smaller dimension is at
#: most ``_SMALL`` are never computed densely for this reason
_NEARLY, _SMALL = 0.75, 4


def best_way(
    sparse: Module, graph: Graph, active: Sequence[int], environment: Known, second: bool, compiled: bool
) -> Way:
    """Return the cheapest strategy for the Jacobian or Hessian of ``graph``.

    Args:
        sparse: the module ``scipy.sparse``.
        graph (Graph): graph to differentiate.
        active (list or tuple of int): indices of the inputs to differentiate with respect to.
        environment (Known): known values of inputs that are not differentiated.
        second (bool): whether to compute the Hessian of the single output, instead of the Jacobian.
        compiled (bool): whether the result is going to be compiled.
    """
    best = _best(sparse, graph, active, environment, second)
    if compiled:
        inputs = best.graph.inputs[len(best.cut.others) :]
        far = [v for v, source in zip(inputs, best.cut.sources, strict=True) if is_scattered(source)]
        best.graph = computed_once(best.graph, far)
    return best


def _best(sparse: Module, graph: Graph, active: Sequence[int], environment: Known, second: bool) -> Way:
    plain = cut(graph, active, environment, at_inputs=True, at_outputs=second)
    split = cut(graph, active, environment, at_outputs=second)
    if (
        len(split.parts) > costs().single_parts
        or sum(z.type.size for z in split.parts) > costs().single_entries
    ):
        split = plain
    levels: list[_Level] = []
    for option in [split] if split.parts == plain.parts else [split, plain]:
        try:
            levels.append(_Level(sparse, option, environment, second, levels[0] if levels else None))
        except TooDense:
            continue
    if not levels:
        return _Level(sparse, plain, environment, second, None, is_full=True).dense()
    first, last = levels[0], levels[-1]
    if last.is_dense:
        return last.dense()
    singly = first.forwards_singly()
    if singly is not None and singly.count <= min(costs().few_colors, first.widest):
        return singly
    ways = [singly]
    if not second:
        ways += [first.backwards_singly()]
    # The remaining strategies color individual elements, which is slow. They rarely need fewer colors than
    # the number of nonzeros in the fullest row. Skip them if an earlier strategy needs at most twice that
    # number of colors
    if all(way is None or way.count > 2 * last.widest for way in ways):
        ways += [level.forwards() for level in levels]
        ways += [last.by_star()] if first.is_symmetric else []
        ways += [] if second else [first.backwards()]
    best = min((way for way in ways if way is not None), key=lambda way: way.cost)
    best.is_dense = min(last.pattern.shape) > _SMALL and best.count > _NEARLY * min(last.pattern.shape)
    return best


class _Level:
    """Builds the strategies for one split of the function.

    Attributes:
        cut: split of the function into data movement and computation.
        graph: φ; for a Hessian, the gradient of φ with respect to z.
        pattern: a Boolean ``csr_array`` that states which results of ``graph`` depend on which elements of z.
        is_symmetric: whether the matrix is symmetric, as a Hessian is.
        widest: largest number of entries in a row of the pattern.
        is_dense: whether the fraction of entries that can be nonzero exceeds ``_NEARLY``.
    """

    def __init__(
        self,
        sparse: Module,
        split: Cut,
        environment: Known,
        second: bool,
        finer: _Level | None,
        is_full: bool = False,
    ) -> None:
        self._sparse = sparse
        self.cut = split
        self._second = second
        self._constants = len(split.others)
        # for a Hessian, the graph has a scalar output; replace it by the graph of its gradient
        self.graph = step(split.graph, self._constants, _gradient) if second else split.graph
        self._source = np.concatenate([*split.sources, np.empty(0, np.int64)])
        self._parts = [z.type for z in split.parts]
        self._results = [y.type for y in self.graph.outputs]
        self.is_symmetric = second and not _has_own_derivative(split.graph)
        shape = sum(y.size for y in self._results), len(self._source)
        if is_full:
            if math.prod(shape) > costs().dense_entries:
                raise ValueError(
                    f"the matrix has {shape[0]} rows and {shape[1]} columns, and too many entries may be "
                    f"nonzero. Compute its products with vectors instead: jvp, vjp, or hvp."
                )
            self.pattern = sparse.csr_array(np.ones(shape, bool))
        else:
            self.pattern = self._propagated(environment) if finer is None else finer._projected(shape[1])
        self.widest = int(np.diff(self.pattern.indptr).max(initial=0))
        self.is_dense = min(shape) > _SMALL and self.pattern.nnz > _NEARLY * math.prod(shape)

    def _propagated(self, environment: Known) -> Any:
        """Compute the sparsity pattern of the Jacobian or Hessian of φ with respect to z."""
        graph, first = self.graph, self._constants
        # `step` has copied the graph for a Hessian. The copy has new variables in the same order, so rename
        # the variables of the environment
        renamed = environment.renamed(self.cut.others, graph.inputs[:first])
        patterns = dependence(self._sparse, graph, range(first, len(graph.inputs)), renamed)
        rows = [
            self._sparse.csr_array((type.size, len(self._source)), dtype=bool) if p is None else p
            for p, type in zip(patterns, self._results, strict=True)
        ]
        if not rows:
            return self._sparse.csr_array((0, len(self._source)), dtype=bool)
        pattern = rows[0] if len(rows) == 1 else self._sparse.vstack(rows, format="csr")
        if self.is_symmetric:  # an entry that is missing on one side of the diagonal is zero
            pattern = pattern.multiply(pattern.T.tocsr()).tocsr().astype(bool)
        pattern.sort_indices()
        return pattern

    def _projected(self, width: int) -> Any:
        """Return the sparsity pattern with respect to x, instead of z.

        ``width`` is the number of elements of x.
        """
        moved = np.flatnonzero(self._source >= 0)
        select = self._sparse.csr_array(
            (np.ones(len(moved), bool), (moved, self._source[moved])), (len(self._source), width)
        )
        pattern = self.pattern @ select
        if self._second:
            pattern = select.T.tocsr() @ pattern
        pattern.sort_indices()
        return pattern

    # -- forwards ----------------------------------------------------------------------------------

    def forwards_singly(self) -> Way | None:
        """Build the strategy that computes the tangents of each column color separately."""
        if not self._is_straight():
            return None
        colors, count = self._colored(self.pattern, self._parts)
        if count * len(self.graph.equations) > costs().unrolled_equations:
            return None
        entries = self._forward_entries(_spread(colors, self._parts))

        def push(primal: Sequence[Equation], zs: Atoms, ys: Atoms) -> Callable[[int], list[Any]]:
            def pushed(k: int) -> list[Any]:
                seeds = [seed_of(z.type, own, k) for z, own in zip(zs, colors, strict=True)]
                tangents = {z: seed for z, seed in zip(zs, seeds, strict=True) if seed is not None}
                push_tangents(primal, tangents)
                return [tangents.get(y) for y in ys]

            return pushed

        return self._singly(
            f"{count} tangents, each computed separately", push, self._results, entries, count
        )

    def forwards(self) -> Way | None:
        """Build the strategy that computes the tangents of all column colors as one batch."""
        colors, count = self._colored(self.pattern, self._parts)
        by_element = _spread(colors, self._parts)
        if len(self._parts) > 1:
            together, fewer = columns(self.pattern, self.pattern.shape[1:])
            if fewer < count:
                colors, count, by_element = _divided(together, self._parts), fewer, together
        return self._forward_batch(colors, count, by_element)

    def by_star(self) -> Way | None:
        """Build the strategy that computes the tangents of a star coloring as a batch."""
        if self.pattern.nnz > costs().single_entries:
            return None
        by_element, count = star(self.pattern)
        return self._forward_batch(_divided(by_element, self._parts), count, by_element)

    def dense(self) -> Way:
        """Build the strategy with one tangent per column, or with one cotangent per row."""
        height, width = self.pattern.shape
        self.is_symmetric = False  # every column has its own color, so each entry can be read directly
        if self._second or width <= height:
            every = np.arange(width, dtype=np.int32)
            way = self._forward_batch(_divided(every, self._parts), width, every)
        else:
            every = np.arange(height, dtype=np.int32)
            way = self._backward_batch(_divided(every, self._results), height, every)
        way.is_dense = True
        return way

    def _forward_batch(self, colors: Sequence[Array], count: int, by_element: Array) -> Way:
        seeds = [(type, own, count) for type, own in zip(self._parts, colors, strict=True)]
        entries = self._forward_entries(by_element)
        rule = at_once(forward_rule, seeds, count)
        return self._at_once(f"{count} tangents at once", rule, self._results, entries, count)

    def _forward_entries(self, color: Array) -> Places:
        """Choose the tangent T[k] from which each nonzero of the matrix is read.

        k is the color of the column of the nonzero. If the matrix is symmetric, k may also be the color of
        the row.
        """
        rows, elements, indices = self._coordinates()
        if not self.is_symmetric:
            return rows, indices, color[indices], elements
        own, other = color[indices].astype(np.int64), color[elements].astype(np.int64)
        count = int(color.max(initial=0)) + 1
        # count the nonzeros of each color in each row. An entry can be read directly if no other nonzero in
        # the same row has the same color
        occurrences = np.bincount(elements * count + own, minlength=len(color) * count)
        by_column, by_row = (
            occurrences[elements * count + own] == 1,
            occurrences[indices * count + other] == 1,
        )
        if not (by_column | by_row).all():
            raise AssertionError("the coloring hides an entry. This is a bug in mindgrad; please report it.")
        turned = by_row & (~by_column | (other < own))
        return rows, indices, np.where(turned, other, own), np.where(turned, indices, elements)

    # -- backwards ---------------------------------------------------------------------------------

    def backwards_singly(self) -> Way | None:
        """Build the strategy that computes the cotangents of each row color separately."""
        if not self._is_straight() or self.pattern.nnz > costs().single_entries:
            return None
        colors, count = self._colored(self.pattern.T.tocsr(), self._results)
        if count * len(self.graph.equations) > costs().unrolled_equations:
            return None

        def pull(primal: Sequence[Equation], zs: Atoms, ys: Atoms) -> Callable[[int], list[Any]]:
            builder = self._builder
            directions, tangents = linearize(builder, zs, ys)
            linear = list(builder.linear_equations)

            def pulled(k: int) -> list[Any]:
                seeds = [seed_of(y.type, own, k) for y, own in zip(ys, colors, strict=True)]
                return pull_cotangents(linear, tangents, seeds, directions)

            return pulled

        entries = self._backward_entries(_spread(colors, self._results))
        return self._singly(
            f"{count} cotangents, each computed separately", pull, self._parts, entries, count
        )

    def backwards(self) -> Way | None:
        """Build the strategy that computes the cotangents of all row colors as one batch."""
        if self.pattern.nnz > costs().single_entries:
            return None
        colors, count = self._colored(self.pattern.T.tocsr(), self._results)
        return self._backward_batch(colors, count, _spread(colors, self._results))

    def _backward_batch(self, colors: Sequence[Array], count: int, by_element: Array) -> Way:
        seeds = [(type, own, count) for type, own in zip(self._results, colors, strict=True)]
        entries = self._backward_entries(by_element)
        rule = at_once(reverse_rule, seeds, count)
        return self._at_once(f"{count} cotangents at once", rule, self._parts, entries, count)

    def _backward_entries(self, color: Array) -> Places:
        rows, elements, indices = self._coordinates()
        return rows, indices, color[elements], indices

    # -- shared steps ------------------------------------------------------------------------------

    def _is_straight(self) -> bool:
        """Return whether the graph permits a separate computation for each color.

        The graph must have no branches and loops, few inputs, and few results.
        """
        return (
            len(self._parts) <= costs().single_parts
            and len(self._results) <= costs().single_parts
            and not any(equation.primitive.kind == "control" for equation in self.graph.equations)
        )

    def _colored(self, pattern: Pattern, types: Sequence[TensorType]) -> tuple[list[Any], int]:
        """Color the columns of ``pattern``, separately for each tensor of columns.

        The columns are the elements of tensors with the given ``types``. Two tensors can have the same colors
        if no row has nonzeros in both tensors.

        Returns:
            tuple: a list of the colors of each tensor (an integer if all its elements have one color), and
                the number of colors.
        """
        ends = np.cumsum([0, *[type.size for type in types]])
        owner = np.repeat(np.arange(len(types)), np.diff(ends))
        of_value = self._sparse.csr_array(
            (np.ones(len(owner), np.int32), (np.arange(len(owner)), owner)), (len(owner), len(types))
        )
        counts = pattern.astype(np.int32) @ of_value
        most = np.ravel(counts.max(axis=0).toarray()) if counts.nnz else np.zeros(len(types))
        holds = (counts != 0).astype(np.int32)
        meet = (holds.T @ holds).toarray() != 0
        colors: list[Any] = []
        spans: list[tuple[int, int]] = []
        for k, type in enumerate(types):
            own: Any = 0
            count = min(int(most[k]), 1)
            if most[k] > 1:
                own, count = columns(pattern[:, ends[k] : ends[k + 1]], type.shape)
            start = 0
            for low, high in sorted(spans[j] for j in range(k) if meet[k, j]):
                if low < start + count and start < high:
                    start = high
            colors.append(start + own)
            spans.append((start, start + count))
        return colors, max([high for _, high in spans], default=0)

    def _coordinates(self) -> tuple[Any, Any, Any]:
        """Return, for each entry, its row in the matrix, row in the pattern, and column."""
        pattern = self.pattern
        if self._second:
            rows = elements = np.repeat(np.arange(pattern.shape[0]), np.diff(pattern.indptr))
            return rows, elements, pattern.indices.astype(np.int64)
        targets = self.cut.targets
        present = np.flatnonzero(targets >= 0)
        if not np.array_equal(targets, np.arange(pattern.shape[0])):
            pattern = pattern[targets[present]]
        rows = np.repeat(present, np.diff(pattern.indptr))
        return rows, targets[rows], pattern.indices.astype(np.int64)

    def _singly(
        self, name: str, derive: Callable, derived: Sequence[TensorType], entries: Places, count: int
    ) -> Way:
        """Build a strategy that computes the derivative of each color separately.

        Args:
            name: description of the strategy.
            derive: receives the equations, inputs, and outputs of the graph, and returns a function that maps
                a color to the derivatives for this color.
            derived: types of the derivatives for one color.
            entries: for each nonzero of the matrix, its row, its column, its color, and its index in the
                derivatives for this color (see :class:`Way`).
            count: number of colors.
        """
        sizes = [type.size for type in derived]
        _, _, color, element = entries
        read = np.zeros((count, len(sizes)), bool)
        read[color, np.repeat(np.arange(len(sizes)), sizes)[element]] = True
        starts = np.full((count, len(sizes)), -1, np.int64)
        strides = np.ones((count, len(sizes)), np.int64)

        def rule(builder: Builder, zs: Atoms, ys: Atoms, _: object = ()) -> list[Any]:
            self._builder = builder
            derived_by = derive(list(builder.equations), zs, ys)
            pieces: list[Any] = []
            position = 0
            for k in range(count):
                for j, t in enumerate(derived_by(k)):
                    if t is None or not read[k, j]:
                        continue
                    if isinstance(t, Constant) and t.is_splat:
                        strides[k, j] = 0
                        t = Constant(t.value, t.type.with_shape((1,)))
                    starts[k, j] = position
                    pieces.append(reshape(t, shape=(t.type.size,)))
                    position += t.type.size
            return pieces

        graph = step(self.graph, self._constants, rule)
        return Way(name, self.cut, graph, starts, strides, sizes, entries)

    def _at_once(
        self, name: str, rule: Callable, derived: Sequence[TensorType], entries: Places, count: int
    ) -> Way:
        """Build a strategy that computes the derivatives for all colors as one batch.

        ``rule`` returns a list of arrays, like the types ``derived``. Each array contains the derivatives for
        all colors, one color after another.
        """
        sizes = np.array([type.size for type in derived], np.int64)
        before = np.cumsum([0, *sizes])[:-1] * count
        starts = before[None, :] + np.arange(count)[:, None] * sizes[None, :]
        graph = step(self.graph, self._constants, rule)
        return Way(name, self.cut, graph, starts, np.ones_like(starts), sizes.tolist(), entries)


def _spread(colors: Sequence[Array], types: Sequence[TensorType]) -> Any:
    """Concatenate the colors of the elements of all tensors to one vector."""
    each = [np.broadcast_to(np.ravel(own), (type.size,)) for own, type in zip(colors, types, strict=True)]
    return np.concatenate([*each, np.empty(0, np.int32)]).astype(np.int32)


def _divided(by_element: Array, types: Sequence[TensorType]) -> list[Any]:
    """Split the vector ``by_element`` of element colors into one array per tensor."""
    return list(np.split(by_element, np.cumsum([type.size for type in types])[:-1])) if types else []


def _has_own_derivative(graph: Graph) -> bool:
    """Return whether ``graph`` has user-defined derivatives.

    A Hessian that is computed from a user-defined gradient need not be symmetric.
    """
    return any(equation.primitive.inner.by_user for equation in all_equations(graph.equations))


def _gradient(builder: Builder, xs: Sequence[Variable], ys: Atoms, _: object = ()) -> list[Any]:
    return reverse_rule(builder, xs, ys, [None] * len(ys))
