"""Forward Laplacian: a sum of second derivatives over many directions in one pass.

    collapse(G)(x, p, q, c) = (G(x), J p_d, J q_d, Σ_d D²G(x)[p_d, q_d] + J c)

J is the Jacobian of G at x, D²G its second derivative, and p_d and q_d are the directions with index d. If
``p = q`` are the unit vectors and ``c = 0``, the last result is the Laplacian. Other pairs of directions
yield any operator ``Σ a_ij ∂_i ∂_j``. References: R. Li et al., *A computational framework for neural
network-based variational Monte Carlo with Forward Laplacian*, Nature Machine Intelligence 2024; F. Dangel et
al., *Collapsing Taylor mode automatic differentiation*, 2025.

For every value ``y`` of the graph, the pass computes a *stack* of tangents, one per direction. It also
computes a single second-order term ``c_y``, which is summed over all directions. The pass sums over the
directions at each equation and not at the end. This is correct because all later terms are linear in the sum.
For ``y = f(x)``, the terms follow from the forward rules of the operators:

    pointwise     c_y = Σ_k f_k c_k + Σ_kl f_kl · (Σ_d p_kd q_ld)       f_k, f_kl: partial derivatives
    linear        c_y = f(c_x)
    multilinear   c_y = B(c_a, b) + B(a, c_b) + Σ_d (B(p_ad, q_bd) + B(q_ad, p_bd))
    general       c_y = jvp(y, x; c_x) + Σ_d (the forward derivative along q_d of jvp(y, x; p_d))

In the pointwise rule, ``f_kl`` or the sum over directions can exceed the range of the dtype, even if ``c_y``
does not. The rule is therefore used only if ``f_kl`` is a single finite factor (``has_moderate_partials``).
Otherwise the general rule applies, which multiplies each tangent by one factor after the other. A branch or a
loop becomes one equation that computes second derivatives along each direction, batched over the directions.
Each of the D directions receives the fraction ``c / D`` of the second-order term, because the results of all
directions are summed.

The pass costs D + 2 times as much as the graph if ``p = q``, and otherwise 2 D + 2 times as much. Separate
second derivatives along each direction would cost 2 D + 2 or 4 D times as much. The pass is cheaper because
it computes products with ``f_kl`` once instead of once per direction. Two stacks are in memory at a time.
Limits: an operator that depends on a stack needs a batching rule, and a loop carries second-order terms of
every direction.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from mindgrad.core.ir.build import Builder, building, current
from mindgrad.core.ir.graph import Atom, Constant, Equation, Graph, Variable, derivative_of, is_all
from mindgrad.core.ir.index_map import repetition
from mindgrad.core.ir.rules import Atoms, Rule, Tangent
from mindgrad.core.primitives.batching import aligned, placed
from mindgrad.core.primitives.exact_zeros import nonzeros
from mindgrad.core.primitives.kinds import accumulate, product, zeros
from mindgrad.core.primitives.reduction import reduce_sum
from mindgrad.core.primitives.structural import broadcast_in_dim
from mindgrad.core.transforms.batch import push_batch
from mindgrad.core.transforms.equation_derivatives import (
    equation_tangents,
    first_derivative,
    has_moderate_partials,
    nested_forward,
    second_derivative,
    second_partials,
    second_series,
)

__all__ = ["Collapse", "Stack", "collapse"]


class Stack(NamedTuple):
    """Tangents of a value along all directions.

    Attributes:
        atom: the tangents, with an additional axis of directions.
        at: position of the axis of directions.
    """

    atom: Atom
    at: int


def collapse(
    graph: Graph, active: Sequence[int], size: int, paired: bool = False, straight: bool = False
) -> Graph:
    """Return the graph that computes values, tangents, and summed second derivatives.

    Args:
        graph: the graph G. The module docstring defines the symbols.
        active: positions of the inputs that have directions.
        size: number D of directions, at least 1.
        paired: whether there is a second stack of directions ``q``; otherwise ``q = p``.
        straight: whether the second-order terms ``c`` of the inputs are zero. The graph then has no inputs
            for these terms.

    Returns:
        A graph with inputs ``(*inputs, p of each active input, q of each if paired, c of each unless
        straight)`` and outputs ``(*outputs, J p of each output, J q of each if paired, c of each output)``.
        The axis of directions is the first axis of each stack.
    """
    builder = Builder()
    with building(builder):
        inputs = builder.inputs_like(graph.inputs)
        moved = [inputs[k] for k in active]
        stacks = [
            [builder.input(x.type.with_shape((size, *x.shape)), tainted=x.tainted) for x in moved]
            for _ in range(2 if paired else 1)
        ]
        terms = [None] * len(moved) if straight else builder.inputs_like(moved)
        outputs = builder.inline(graph, inputs)
        sweep = Collapse(size)
        for k, x in enumerate(moved):
            left, right = stacks[0][k], stacks[1][k] if paired else None
            sweep.start(x, Stack(left, 0), None if right is None else Stack(right, 0), terms[k])
        sweep.push(list(builder.equations))
        sides = [sweep.left, sweep.right] if paired else [sweep.left]
        derivatives = [sweep.at_front(y, side) for side in sides for y in outputs]
        derivatives += [sweep.second_or_zero(y) for y in outputs]
        return builder.close([*outputs, *derivatives])


class Collapse:
    """Emits stacks of tangents and second-order terms into the current builder.

    Args:
        size: number of directions.
        weights: variable or constant ``w`` of shape ``(size,)``. The second directions are then
            ``q_d = w_d p_d``, so that no second stack is needed.
        is_part: whether this pass handles only some of the directions, and the caller adds up the results of
            several passes. Each sum over all directions is then represented by a new variable.

    Attributes:
        left, right: dicts from each variable that depends on the inputs to its stack ``p`` or ``q``.
            ``right`` is the same object as ``left`` if ``p`` and ``q`` are equal or differ only by the
            weights.
        second: dict from variables to their second-order terms ``c``.
        sums: if ``is_part``, a dict from each variable that represents a sum over all directions to the sum
            over the directions of this pass.
    """

    __slots__ = ("_is_part", "_weights", "left", "right", "second", "size", "sums")

    def __init__(self, size: int, weights: Atom | None = None, is_part: bool = False) -> None:
        self.size = size
        self.sums: dict[Variable, Atom] = {}
        self._is_part = is_part
        self.left: dict[Atom, Stack] = {}
        self.right = self.left
        self.second: dict[Atom, Atom] = {}
        self._weights = weights

    def start(self, x: Atom, left: Stack, right: Stack | None = None, second: Tangent = None) -> None:
        """Set the stacks ``p`` and ``q`` and the second-order term of the input ``x``.

        If one input has a stack ``right``, all inputs must have one.
        """
        self.left[x] = left
        if right is not None:
            if self.right is self.left:
                self.right = {}
            self.right[x] = right
        if second is not None:
            self.second[x] = second

    # -- results ----------------------------------------------------------------------------------

    def value(self, y: Atom) -> Atom:
        return current().value(y)

    def second_or_zero(self, y: Atom) -> Atom:
        """Return the second-order term ``c_y``, or a constant zero if ``y`` has none."""
        term = self.second.get(y)
        return zeros(y.type) if term is None else term

    def at_front(self, y: Atom, side: dict[Atom, Stack]) -> Atom:
        """Return the stack of ``y`` in ``side``, with a leading axis of directions."""
        stack = side.get(y)
        if stack is None:
            return zeros(y.type.with_shape((self.size, *y.shape)))
        return placed(self.size, stack.atom, stack.at, 0)

    # -- the pass ---------------------------------------------------------------------------------

    def push(self, equations: Iterable[Equation]) -> None:
        """Emit the stacks and second-order terms of all values that depend on the inputs."""
        equations = list(equations)
        builder = current()
        builder.differentiate(self.left)
        if all(equation.primitive.kind != "control" for equation in equations):
            for equation in equations:
                self._follow(equation)
            return
        for equation, is_selected in builder.replay(equations):
            builder.again(equation)
            if is_selected:
                self._follow(equation)

    def _follow(self, equation: Equation) -> None:
        moves = any(x in self.left or x in self.second for x in equation.inputs)
        if not moves or equation.primitive.jvp is None:
            return
        builder = current()
        outer = builder.source
        if equation.primitive.kind == "control":  # the new branch or loop also computes the original results
            builder.source = equation.source
            self._control(equation)
        else:
            builder.source = derivative_of(equation.source)
            self._emit(equation)
        builder.source = outer

    def _emit(self, equation: Equation) -> None:
        """Emit the stacks and second-order terms of the outputs of one operator."""
        xs = [self.value(x) for x in equation.inputs]
        ys = [self.value(y) for y in equation.outputs]
        moved = [k for k, x in enumerate(equation.inputs) if x in self.left]
        for side in [self.left] if self.right is self.left else [self.left, self.right]:
            for y, stack in zip(equation.outputs, self._stacks(equation, xs, moved, side), strict=True):
                if stack is not None:
                    side[y] = stack
        terms = [
            [t] for t in equation_tangents(equation, ys, xs, [self.second.get(x) for x in equation.inputs])
        ]
        for listed, term in zip(terms, self._curvature(equation, xs, ys, moved), strict=True):
            listed.append(term)
        for y, listed in zip(equation.outputs, terms, strict=True):
            total = accumulate(listed)
            if total is not None:
                self.second[y] = total

    def _stacks(
        self, equation: Equation, xs: Atoms, moved: Sequence[int], side: dict[Atom, Stack]
    ) -> list[Stack | None]:
        """Return the tangents of each output along all directions, from the forward rule."""
        if not moved:
            return [None] * len(equation.outputs)
        stacks = [side[equation.inputs[k]] for k in moved]
        exact = [nonzeros(stack.atom) is not None for stack in stacks]
        results = self._batched(first_derivative(equation, xs, moved, exact), xs, stacks)
        return [None if result is None else self._stack(*result) for result in results]

    def _batched(
        self, rule: tuple[Graph, list[bool]], xs: Atoms, stacks: Sequence[Stack]
    ) -> list[tuple[Atom, int | None] | None]:
        """Batch a graph from ``equation_derivatives`` over the directions of ``stacks``.

        Args:
            rule: the graph, and for each output of the operator whether the graph computes its derivative.
            xs: operands of the operator.
            stacks: the directions.

        Returns:
            For each output, a pair of its derivative and the position of the axis of directions, or ``None``
            if the graph does not compute the derivative.
        """
        graph, present = rule
        variables = [x for x in xs if type(x) is Variable]
        axes = [*[None] * len(variables), *[stack.at for stack in stacks]]
        outputs, places = push_batch(graph, [*variables, *[s.atom for s in stacks]], axes, self.size)
        following = zip(outputs, places, strict=True)
        return [next(following) if is_present else None for is_present in present]

    def _stack(self, atom: Atom, at: int | None) -> Stack:
        return Stack(atom, at) if at is not None else Stack(placed(self.size, atom, None, 0), 0)

    # -- second order -----------------------------------------------------------------------------

    def _weighted(self, x: Atom) -> Stack:
        """Return the stack ``right`` of ``x``, multiplied by the weights if there are any."""
        stack = self.right[x]
        if self._weights is None:
            return stack
        spread = broadcast_in_dim(self._weights, shape=stack.atom.shape, dims=(stack.at,))
        return Stack(spread * stack.atom, stack.at)

    def _total(self, atom: Atom, at: int | None) -> Atom:
        """Return the sum of ``atom`` over ``at``, its axis of directions."""
        if at is None:
            atom, at = placed(self.size, atom, None, 0), 0
        return self._whole(reduce_sum(atom, axes=(at,)))

    def _whole(self, total: Atom) -> Atom:
        """Return the sum over all directions, given the sum ``total`` of this pass.

        If this pass has only some of the directions, the result is a new variable, for which the caller
        substitutes the sum of all passes.
        """
        if not self._is_part or type(total) is Constant:
            return total
        standing = Variable(total.type, tainted=total.tainted)
        self.sums[standing] = total
        return standing

    def _curvature(self, equation: Equation, xs: Atoms, ys: Atoms, moved: Sequence[int]) -> list[Tangent]:
        """Return Σ_d D²f[p_d, q_d] for each output; ``None`` means zero."""
        primitive = equation.primitive
        nothing: list[Tangent] = [None] * len(equation.outputs)
        if not moved or primitive.is_linear or (primitive.is_product and len(moved) < 2):
            return nothing
        is_pointwise = primitive.pointwise and not primitive.multiple
        if is_pointwise and has_moderate_partials(equation, xs, moved):
            return [self._pointwise(equation, xs, ys[0], moved)]
        if primitive.algebra.contracted is not None and not any(x.tainted for x in xs):
            return [self._contraction(equation)]
        sides = [[self.left[x], self._weighted(x)] for x in (equation.inputs[k] for k in moved)]
        stacks = [side[k] for k in (0, 1) for side in sides]
        exact = [nonzeros(stack.atom) is not None for stack in stacks]
        results = self._batched(second_derivative(equation, xs, moved, exact), xs, stacks)
        return [None if result is None else self._total(*result) for result in results]

    def _pairs(self, a: Atom, b: Atom) -> Atom:
        """Return Σ_d p_ad q_bd; if ``a`` and ``b`` differ, add Σ_d q_ad p_bd."""
        left, right = self.left[a], self._weighted(b)
        total = self._summed(left, right)
        if a is b:
            return total
        if self.right is self.left:
            return total + total
        return total + self._summed(self.right[a], self.left[b])

    def _summed(self, a: Stack, b: Stack) -> Atom:
        """Return Σ_d a_d b_d, the sum over directions of the products of two stacks."""
        (left, right), at = aligned(self.size, [a.atom, b.atom], [a.at, b.at])
        repeated, others = repetition(left), repetition(right)
        if repeated and others and repeated[1] == others[1] and at in repeated[1]:
            (small, dims), (other, _) = repeated, others
            total = self._total(product(small, other), dims.index(at))
            shape = (*left.shape[:at], *left.shape[at + 1 :])
            kept = tuple(d - (d > at) for d in dims if d != at)
            return broadcast_in_dim(total, shape=shape, dims=kept)
        return self._total(product(left, right), at)

    def _pointwise(self, equation: Equation, xs: Atoms, y: Atom, moved: Sequence[int]) -> Tangent:
        """Return the term Σ_kl f_kl · (Σ_d p_kd q_ld) of a pointwise operator.

        The module docstring defines the symbols.
        """
        graph, pairs = second_partials(equation, xs, moved)
        found = current().inline(graph, [x for x in xs if type(x) is Variable])
        terms = []
        for (k, l), slope in zip(pairs, found, strict=True):
            if is_all(slope, 0):
                continue
            a, b = equation.inputs[k], equation.inputs[l]
            total = self._pairs(a, b)
            if k != l and a is b:  # both operands are the same variable
                total = total + total
            terms.append(product(slope, total, y.tainted))
        return accumulate(terms)

    def _contraction(self, equation: Equation) -> Atom:
        """Return the term Σ_d D²f[p_d, q_d] of a contraction such as a matrix product."""
        a, b = equation.inputs
        first = self._contracted(equation, self.left[a], self._weighted(b))
        if self.right is self.left:
            return first + first
        return first + self._contracted(equation, self.right[a], self.left[b])

    def _contracted(self, equation: Equation, a: Stack, b: Stack) -> Atom:
        total: Rule = equation.primitive.algebra.contracted  # type: ignore[assignment]  # the caller has checked that it is not None
        return self._whole(total([a.atom, b.atom], (a.at, b.at), **equation.parameters))

    # -- branches and loops -----------------------------------------------------------------------

    def _control(self, equation: Equation) -> None:
        """Replace a branch or loop by one that also computes stacks and terms ``c``."""
        xs = [self.value(x) for x in equation.inputs]
        moved = [k for k, x in enumerate(equation.inputs) if x in self.left or x in self.second]
        is_series = (
            self.right is self.left and self._weights is None and equation.primitive.series is not None
        )
        make = second_series if is_series else nested_forward
        graph = make(equation, moved)
        sides: list[list[tuple[Atom, int | None]]] = [[], [], []]
        for k in moved:
            x = equation.inputs[k]
            zero = (zeros(x.type), None)
            term = self.second.get(x)
            # The second-order terms of all D directions are added later, so each direction gets 1 / D of this
            # term. The factor 2 is needed because a Taylor coefficient of order 2 is half of a second
            # derivative
            share = 1 / (2 * self.size) if is_series else 1 / self.size
            sides[0].append(self.left.get(x, zero))
            sides[1].append(self._weighted(x) if x in self.right else zero)
            sides[2].append(zero if term is None else (term * share, None))
        if is_series:
            coefficients = [stack for pair in zip(sides[0], sides[2], strict=True) for stack in pair]
        else:
            coefficients = [stack for side in sides for stack in side]
        axes = [*[None] * len(xs), *[at for _, at in coefficients]]
        atoms, places = push_batch(graph, [*xs, *[atom for atom, _ in coefficients]], axes, self.size)
        self._take(equation, list(zip(atoms, places, strict=True)), is_series)

    def _take(self, equation: Equation, results: list[tuple[Atom, int | None]], is_series: bool) -> None:
        count = len(equation.outputs)
        for k, y in enumerate(equation.outputs):
            value, at = results[k]
            if at is None and not equation.has_effect:
                current().rebind([self.value(y)], [value])
            if not y.type.dtype.is_inexact:
                continue
            if is_series:
                first, second = results[count + 2 * k : count + 2 * k + 2]
                other = first
            else:
                first, other, second = (results[count * part + k] for part in (1, 2, 3))
            if not (is_all(first[0], 0) and is_all(other[0], 0)):
                self.left[y] = self._stack(*first)
                if self.right is not self.left:
                    self.right[y] = self._stack(*other)
            if not is_all(second[0], 0):
                total = self._total(*second)
                self.second[y] = total + total if is_series else total
