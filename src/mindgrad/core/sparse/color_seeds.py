"""Seeds: one tangent or cotangent per color, which together yield a sparse matrix.

    s_k = Σ_{color(z) = k} e_z        T[k] = J s_k  or  Jᵀ s_k

The seed s_k is 1 in the columns (or rows) z of color k, and 0 elsewhere. J is the Jacobian, and T[k] its
product with the seed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Sequence
from typing import Any

import numpy as np

from mindgrad.core.ir.build import Builder, building
from mindgrad.core.ir.cost_model import costs
from mindgrad.core.ir.dtype import int32
from mindgrad.core.ir.graph import Atom, Constant, Graph, Variable
from mindgrad.core.ir.rules import Array, Atoms
from mindgrad.core.ir.types import TensorType
from mindgrad.core.primitives.batching import placed
from mindgrad.core.primitives.comparisons import equal
from mindgrad.core.primitives.kinds import ones, zeros
from mindgrad.core.primitives.structural import broadcast_in_dim, convert, iota, reshape
from mindgrad.core.transforms.batch import push_batch
from mindgrad.core.transforms.linearize import dependent

__all__ = ["at_once", "computed_once", "is_scattered", "seed_of"]


def computed_once(graph: Graph, scattered: Collection[Variable] = ()) -> Graph:
    """Return ``graph``, rewritten so that XLA computes expensive shared values once.

    XLA fuses each result with the operations on which it depends, and computes shared values again in each of
    the fused loops. XLA computes divisions, roots, and exponentials only once, but not sines and strided
    reads. The rewrite divides such a value by an array of ones, whose content XLA does not take into account.
    XLA then stores the value in a separate array. An ``optimization_barrier`` does not help, because XLA
    removes it before it fuses loops.

    Args:
        graph (Graph): graph to rewrite.
        scattered: inputs that are gathered from elements that are not adjacent in memory.
    """
    used = Counter(x for equation in graph.equations for x in equation.inputs)
    builder = Builder()
    cost: dict[Any, float] = {}
    with building(builder):
        values: dict[Any, Any] = {v: builder.input(v.type, tainted=v.tainted) for v in graph.inputs}
        inputs = list(builder.inputs)
        for v in scattered:
            if used[v]:
                values[v] = _made(values[v])
        for equation in graph.equations:
            primitive, first = equation.primitive, equation.outputs[0]
            results = primitive(*[values.get(x, x) for x in equation.inputs], **equation.parameters)
            values.update(zip(equation.outputs, results if primitive.multiple else (results,), strict=True))
            work = primitive.work
            if not primitive.pointwise or work.is_shared:
                continue
            cost[first] = work.products + sum(cost.get(x, 0) for x in set(equation.inputs))
            if used[first] > 1 and cost[first] >= costs().shared_products:
                values[first] = _made(results)
                cost[first] = 0
        return builder.close([values.get(y, y) for y in graph.outputs], inputs)


def _made(x: Atom) -> Any:
    """Make XLA store ``x`` in a separate array, unless ``x`` is small."""
    if x.type.size <= costs().seed_elements or x.dtype.kind != "float":
        return x
    return x / Constant(np.ones(x.shape, x.dtype.numpy))


def is_scattered(source: Array) -> bool:
    """Return whether ``source`` contains the indices of elements far from each other.

    The result is true if fewer than half of the differences of successive indices are 0 or 1.
    """
    steps = np.diff(source)
    return bool(2 * np.count_nonzero((steps == 0) | (steps == 1)) < len(steps))


def seed_of(type: TensorType, colors: Array, color: int) -> Any:
    """Return the seed of ``color`` for one value, a tangent or cotangent.

    The seed is 1 for elements of this color, and 0 for all other elements; ``None`` means zero. ``colors``
    contains the color of each element, or one color for all elements.
    """
    if np.ndim(colors) == 0:
        return ones(type) if colors == color else None
    mask = colors == color
    if mask.all():
        return ones(type)
    return Constant(mask.reshape(type.shape).astype(type.dtype.numpy)) if mask.any() else None


def _seeds(type: TensorType, colors: Array, count: int) -> Any:
    """Return the seeds of all colors. If there are several, stack them along axis 0."""
    if count == 1:
        seed = seed_of(type, colors, 0)
        return zeros(type) if seed is None else seed
    shape = (count, *type.shape)
    if np.ndim(colors) == 0:
        single = (np.arange(count) == colors).astype(type.dtype.numpy)
        return broadcast_in_dim(Constant(single), shape=shape, dims=(0,))
    own = Constant(np.asarray(colors, np.int32).reshape(type.shape))
    own = broadcast_in_dim(own, shape=shape, dims=tuple(range(1, len(shape))))
    return convert(equal(iota(shape=shape, axis=0, dtype=int32), own), dtype=type.dtype)


def at_once(derive: Callable, seeds: Sequence[tuple[TensorType, Array, int]], count: int) -> Any:
    """Return a rule that applies ``derive`` to a batch of the seeds of all colors.

    Args:
        derive: derivative rule ``(builder, zs, ys, directions)``, of forward or reverse mode.
        seeds: arguments ``(type, colors, count)`` of :func:`_seeds` for each value with a seed.
        count: number of colors.

    Returns:
        A function that emits the derivatives, and returns a flat array for each result of ``derive``.
    """

    def rule(builder: Builder, zs: Atoms, ys: Atoms, _: object = ()) -> list[Any]:
        if not count:
            return []
        directions = [Variable(type) for type, _, _ in seeds]
        produced = derive(builder, zs, ys, directions)
        equations, needed = dependent(builder, directions, produced)
        graph = Graph([*needed, *directions], equations, produced)
        basis = [_seeds(*seed) for seed in seeds]
        axes = [*[None] * len(needed), *[None if count == 1 else 0 for _ in basis]]
        results, result_axes = push_batch(graph, [*needed, *basis], axes, count)
        pieces = []
        for result, axis in zip(results, result_axes, strict=True):
            front = placed(count, result, axis, 0) if count > 1 else result
            pieces.append(reshape(front, shape=(front.type.size,)))
        return pieces

    return rule
