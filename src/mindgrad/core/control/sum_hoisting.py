"""Sum hoisting: move sums over the iterations of a loop out of the loop.

    Σ_t (L v_t) = L Σ_t v_t            L is linear and the same in all iterations
    Σ_t (w · v_t) = w · Σ_t v_t        w is the same in all iterations
    Σ_t a_t bᵀ_t = Aᵀ B                A and B stack a_t and b_t over all iterations
    Σ_t v_t                            any other value: stack it over all iterations, then sum

In reverse mode, the cotangent of a weight is a sum over the iterations t, and its terms are often outer
products. One matrix product over all iterations is much cheaper than one outer product per iteration. The
loop must stack only the *leaves*, the values from which the sums are computed: v_t, or a_t and b_t.
"""

from __future__ import annotations

import math
from collections.abc import Generator, Mapping, Sequence

from mindgrad.core.base.trampoline import trampolined
from mindgrad.core.ir.build import Builder, building
from mindgrad.core.ir.dtype import float32
from mindgrad.core.ir.graph import Atom, Equation, Graph, Variable, live_equations
from mindgrad.core.ir.memo import memoized
from mindgrad.core.ir.primitive import Primitive
from mindgrad.core.ir.rules import Atoms, Rule, Tangent
from mindgrad.core.ir.types import tensor_type
from mindgrad.core.primitives.batching import at_front
from mindgrad.core.primitives.contraction import dot
from mindgrad.core.primitives.kinds import full
from mindgrad.core.primitives.reduction import reduce_sum
from mindgrad.core.primitives.structural import convert, reshape
from mindgrad.core.transforms.batch import push_batch

__all__ = ["Totals", "summed_graph"]


class Totals:
    """A plan to sum values of a loop body over all iterations of the loop.

    Args:
        graph: graph of one iteration of the loop.
        varying: inputs of ``graph`` whose values change between iterations.
        outputs: values of one iteration that are summed over all iterations.
        stacked: values that the loop stacks in any case. The stack of such a value is summed directly, so
            that the operands of the value need not be stacked.

    Attributes:
        leaves: values that must be stacked over all iterations, as keys of an ordered dict.
    """

    def __init__(
        self, graph: Graph, varying: Sequence[Variable], outputs: Atoms, stacked: Atoms = ()
    ) -> None:
        self._stacked = set(stacked)
        self._equations = graph.equations
        self._made_by: dict[Atom, Equation] = {}
        self._varying = set(varying)
        for equation in graph.equations:
            self._made_by.update((y, equation) for y in equation.outputs)
            if any(x in self._varying for x in equation.inputs if type(x) is Variable):
                self._varying.update(equation.outputs)
        self._outputs = list(outputs)
        self.leaves: dict[Atom, None] = {}
        self._plan()

    def is_fixed(self, x: Atom) -> bool:
        return type(x) is not Variable or x not in self._varying

    def _parts(self, x: Atom) -> tuple[Atom, ...]:
        """Return the operands whose sums over the iterations determine the sum of ``x``.

        For example, return u and v if x = u + v. Return an empty tuple if ``x`` or its factors must be
        stacked.
        """
        equation = self._made_by.get(x)
        if equation is None or x in self._stacked:
            return ()
        primitive, operands = equation.primitive, equation.inputs
        fixed = [self.is_fixed(each) for each in operands]
        if _is_product(primitive):
            return operands if any(fixed) else ()
        together = primitive.linear_operands(len(operands))
        is_linear = all(fixed[k] or k in together for k in range(len(operands)))
        keeps_type = all(operands[k].dtype is x.dtype for k in together)
        if not together or not is_linear or not keeps_type or primitive.multiple or primitive.communicates:
            return ()
        return tuple([operands[k] for k in together])

    def _plan(self) -> None:
        waiting, planned = [*reversed(self._outputs)], set()
        while waiting:
            x = waiting.pop()
            if self.is_fixed(x) or x in planned:
                continue
            planned.add(x)
            parts = self._parts(x)
            waiting += reversed(parts)
            if not parts:
                equation = self._made_by.get(x)
                if equation is None or x in self._stacked or not _is_contraction(equation.primitive):
                    self.leaves[x] = None
                else:
                    self.leaves.update(dict.fromkeys(equation.inputs))

    def graph(self, inputs: Sequence[Variable], count: int) -> Graph:
        """Return the graph ``(*inputs, *stacked leaves) ↦ sums`` for ``count`` iterations.

        ``inputs`` are the inputs of the loop body that are equal in all iterations.
        """
        values = [y for e in self._equations for y in e.outputs if self.is_fixed(y)]
        part = Graph(inputs, live_equations(self._equations, values), values)
        builder = Builder()
        with building(builder):
            fixed = builder.inputs_like(inputs)
            stacks = {
                x: builder.input(x.type.with_shape((count, *x.type.shape)), tainted=x.tainted)
                for x in self.leaves
            }
            known = dict(zip([*inputs, *values], [*fixed, *builder.inline(part, fixed)], strict=True))
            return builder.close(self.emit(known, stacks, count, None))

    def emit(self, fixed: Mapping, stacks: Mapping, count: int, weights: Tangent) -> list[Atom]:
        """Emit the sums into the current builder.

        Args:
            fixed: dict from each value that is equal in all iterations to its variable or constant in the
                current builder.
            stacks: dict from each leaf to the variable that stacks it along axis 0.
            count: number of iterations.
            weights: vector of ``count`` float32 ones whose value XLA cannot infer. Each stack is summed by a
                matrix product with these ones, which is faster than ``reduce_sum``. If XLA could infer the
                ones, it would convert the product to a sum. ``None``: use ``reduce_sum``.
        """
        sums: dict[Atom, Atom] = {}

        def value(x: Atom) -> Atom:
            return fixed[x] if type(x) is Variable else x

        def total(x: Atom) -> Generator[object, Atom, Atom]:
            if x not in sums:
                sums[x] = yield from make(x)
            return sums[x]

        def make(x: Atom) -> Generator[object, Atom, Atom]:
            if self.is_fixed(x):
                return value(x) * full(x.type, count)
            equation, parts = self._made_by.get(x), self._parts(x)
            if not parts:
                if equation is not None and _is_contraction(equation.primitive) and x not in self.leaves:
                    return _contracted(equation, stacks)
                return _weighed(weights, stacks[x])
            assert equation is not None
            primitive = equation.primitive
            is_leaf = len(parts) == 1 and parts[0] in self.leaves
            if is_leaf and weights is None and primitive.algebra.contracted is not None:
                return _contracted(equation, stacks)
            is_product = _is_product(primitive)
            together = primitive.linear_operands(len(equation.inputs))
            operands = []
            for k, operand in enumerate(equation.inputs):
                is_summed = not self.is_fixed(operand) if is_product else k in together
                operands.append((yield total(operand)) if is_summed else value(operand))
            return primitive(*operands, **equation.parameters)

        return [trampolined(total(y)) for y in self._outputs]


def _is_product(primitive: Primitive) -> bool:
    """Return whether Σ_t (w · v_t) may be replaced by w · Σ_t v_t.

    This is valid only if a finite product implies finite factors. ``masked_multiply`` does not qualify,
    because it returns 0 for 0 · ∞.
    """
    return primitive.is_product and primitive.taint == "passes"


def _is_contraction(primitive: Primitive) -> bool:
    """Return whether one contraction of stacks of a and b can compute Σ_t a_t b_t."""
    return _is_product(primitive) and primitive.algebra.contracted is not None


def _contracted(equation: Equation, stacks: Mapping) -> Atom:
    """Compute Σ_t a_t b_t by one contraction of the stacks of both operands."""
    xs = [stacks[x] for x in equation.inputs]
    total: Rule = equation.primitive.algebra.contracted  # type: ignore[assignment]  # not None for a contraction
    return total(xs, (0,) * len(xs), **equation.parameters)


def _weighed(weights: Tangent, stack: Atom) -> Atom:
    """Return the sum of ``stack`` over axis 0, if possible as ``weights @ stack``."""
    shape = stack.shape[1:]
    if weights is None or stack.dtype.kind not in ("float", "complex") or stack.dtype.itemsize < 4:
        return reduce_sum(stack, axes=(0,))
    if weights.dtype is not stack.dtype:
        weights = convert(weights, dtype=stack.dtype)
    flat = reshape(stack, shape=(stack.shape[0], math.prod(shape)))
    return reshape(dot(weights, flat, contract=((0,), (0,)), batch=((), ())), shape=shape)


@memoized
def summed_graph(graph: Graph, flags: tuple[bool, ...], size: int) -> Graph:
    """Return a graph that sums the outputs of ``graph`` over ``size`` iterations.

    Its first input is the vector ``weights`` of :meth:`Totals.emit`. Its further inputs are the inputs of
    ``graph``; inputs whose flag is true are stacked over the iterations along axis 0.
    """
    totals = Totals(graph, [v for v, flag in zip(graph.inputs, flags, strict=True) if flag], graph.outputs)
    leaves = list(totals.leaves)
    fixed = [y for equation in graph.equations for y in equation.outputs if totals.is_fixed(y)]
    builder = Builder()
    with building(builder):
        weights = builder.input(tensor_type(float32, (size,)))
        inputs = [
            builder.input(v.type.with_shape((size, *v.shape)) if flag else v.type, tainted=v.tainted)
            for v, flag in zip(graph.inputs, flags, strict=True)
        ]
        needed = [*leaves, *fixed]
        part = Graph(graph.inputs, live_equations(graph.equations, needed), needed)
        batched, at = push_batch(part, inputs, [0 if flag else None for flag in flags], size)
        count = len(leaves)
        stacks = {
            x: at_front(size, y, axis) for x, y, axis in zip(leaves, batched[:count], at[:count], strict=True)
        }
        values = dict(zip(graph.inputs, inputs, strict=True)) | dict(zip(fixed, batched[count:], strict=True))
        return builder.close(totals.emit(values, stacks, size, weights))
