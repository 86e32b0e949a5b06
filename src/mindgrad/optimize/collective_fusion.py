"""Collective fusion sends the sums of many small arrays over all ranks as few large messages.

    all_reduce(x₁), all_reduce(x₂), …  =  parts of all_reduce(x₁, x₂, … joined)

Proof: a sum over ranks is taken element by element. A message costs a latency that does not depend on its
size; a training step reduces one gradient for each Parameter.

**Which are joined.** Sums over the same ranks, of one element type, none of which depends on another: those
behind equally many collectives, in the order of the program, until ``message_bytes`` of the cost model are
full. Reverse mode computes the gradients of the last layers first, so that the first bucket is on its way
while the next is computed. Equations between that need a sum move behind it.

Limits: what is larger than a bucket goes alone; programs with effects are left alone.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Sequence
from typing import Any

from mindgrad.ir.build import Builder, building
from mindgrad.ir.cost_model import costs
from mindgrad.ir.graph import Equation, Graph, Variable, communicates, is_communication
from mindgrad.ir.rewriting import Rewrite
from mindgrad.optimize.graph_rewriter import inside
from mindgrad.rows.collectives import all_reduce
from mindgrad.rows.static_slices import concatenate, slice_axis
from mindgrad.rows.structural import reshape

__all__ = ["with_joined_sums"]

FUSION = Rewrite(
    "collective fusion",
    "all_reduce(x₁), all_reduce(x₂), … are parts of all_reduce(x₁, x₂, … joined)",
    "sums over processes were sent together",
)


def with_joined_sums(graph: Graph) -> Graph:
    """``graph`` with its sums over ranks in buckets; ``graph`` itself where there is nothing to join."""
    if not communicates(graph) or graph.has_effect:
        return graph
    graph = inside(graph, with_joined_sums)
    buckets = [bucket for bucket in _buckets(graph) if len(bucket) > 1]
    if not buckets:
        return graph
    FUSION.fired(sum(map(len, buckets)))
    return _Joining(graph, buckets).graph()


def _buckets(graph: Graph) -> list[list[Equation]]:
    """The sums that go together, each list in the order of the program."""
    depths: dict[Any, int] = {}
    open_buckets: dict[Any, list[Equation]] = {}
    sizes: dict[Any, int] = defaultdict(int)
    buckets: list[list[Equation]] = []
    for equation in graph.equations:
        depth = max((depths.get(x, 0) for x in equation.inputs if type(x) is Variable), default=0)
        if equation.primitive is all_reduce:
            y = equation.outputs[0]
            key = (equation.parameters["ranks"], y.dtype, depth)
            size = y.type.size * y.dtype.itemsize
            if key not in open_buckets or sizes[key] + size > costs().message_bytes:
                open_buckets[key], sizes[key] = [], 0
                buckets.append(open_buckets[key])
            open_buckets[key].append(equation)
            sizes[key] += size
        depth += is_communication(equation)
        depths.update((y, depth) for y in equation.outputs)
    return buckets


class _Joining:
    """The rebuilding of a graph, in which equations wait for the buckets that they need."""

    def __init__(self, graph: Graph, buckets: Sequence[list[Equation]]) -> None:
        self._graph = graph
        self._bucket_of = {equation: bucket for bucket in buckets for equation in bucket}
        self._missing = {id(bucket): len(bucket) for bucket in buckets}
        self._builder = Builder()
        self._values: dict[Any, Any] = {}

    def graph(self) -> Graph:
        """The graph with buckets."""
        builder, values = self._builder, self._values
        values.update((v, builder.input(v.type, tainted=v.tainted)) for v in self._graph.inputs)
        waiting: list[Equation] = []
        with building(builder):
            for equation in self._graph.equations:
                if not self._emitted(equation):
                    waiting.append(equation)
                elif equation in self._bucket_of:  # it may have been the last of its bucket
                    waiting = self._rest(waiting)
            while waiting:
                waiting = self._rest(waiting)
        return builder.close([self._read(y) for y in self._graph.outputs])

    def _rest(self, waiting: list[Equation]) -> list[Equation]:
        return [equation for equation in waiting if not self._emitted(equation)]

    def _read(self, atom: Any) -> Any:
        return self._values[atom] if type(atom) is Variable else atom

    def _emitted(self, equation: Equation) -> bool:
        """Emit an equation, or the bucket of which it is the last; whether its operands are there."""
        if any(type(x) is Variable and x not in self._values for x in equation.inputs):
            return False
        bucket = self._bucket_of.get(equation)
        if bucket is None:
            outputs = self._builder.emit_again(equation, [self._read(x) for x in equation.inputs])
            self._values.update(zip(equation.outputs, outputs, strict=True))
            return True
        self._missing[id(bucket)] -= 1
        if not self._missing[id(bucket)]:
            self._join(bucket)
        return True

    def _join(self, bucket: Sequence[Equation]) -> None:
        self._builder.source = bucket[-1].source
        operands = [self._read(equation.inputs[0]) for equation in bucket]
        flat = [reshape(x, shape=(x.type.size,)) for x in operands]
        total = all_reduce(concatenate(*flat, axis=0), **bucket[0].parameters)
        start = 0
        for equation in bucket:
            y = equation.outputs[0]
            stop = start + math.prod(y.shape)
            self._values[y] = reshape(slice_axis(total, 0, start, stop), shape=y.shape)
            start = stop
        self._builder.source = None
