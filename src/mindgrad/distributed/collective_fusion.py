"""Collective fusion: send many small ``all_reduce`` operands in few messages.

    all_reduce(x₁), all_reduce(x₂), …  =  parts of all_reduce(x₁, x₂, … concatenated)

Proof: a sum over ranks adds element by element.

**When it pays.** A training step sums one gradient over all ranks for each Parameter. Each message has a
latency that does not depend on its size, so fewer messages take less time.

**Buckets.** The operands in one message are a bucket. Sums can share a bucket if they are over the same
ranks, have the same element type, and do not depend on each other. To test the last condition, the rewrite
compares how many collectives must run before each sum: equal numbers imply independence. It fills a bucket in
the order of the graph, up to ``message_bytes`` (``ir.cost_model``). Reverse mode computes the gradients of
the last layers first, so the first bucket is sent while the next bucket is computed. Equations that read a
sum move after its bucket.

**Limits.** An operand larger than a bucket is sent alone. Graphs with effects are left unchanged.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Sequence
from typing import Any

from mindgrad.core.ir.build import Builder, building
from mindgrad.core.ir.cost_model import costs
from mindgrad.core.ir.graph import Equation, Graph, Variable, communicates, is_communication
from mindgrad.core.ir.rewriting import Rewrite
from mindgrad.core.passes.graph_rewriter import inside
from mindgrad.core.primitives.static_slices import concatenate, slice_axis
from mindgrad.core.primitives.structural import reshape
from mindgrad.distributed.collectives import all_reduce

__all__ = ["with_joined_sums"]

FUSION = Rewrite(
    "collective fusion",
    "all_reduce(x₁), all_reduce(x₂), … are parts of all_reduce(x₁, x₂, … joined)",
    "sums over processes are sent together",
)


def with_joined_sums(graph: Graph) -> Graph:
    """Join sums over ranks in buckets; return ``graph`` itself if none can be joined."""
    if not communicates(graph) or graph.has_effect:
        return graph
    graph = inside(graph, with_joined_sums)
    buckets = [bucket for bucket in _buckets(graph) if len(bucket) > 1]
    if not buckets:
        return graph
    FUSION.fired(sum(map(len, buckets)))
    return _Joining(graph, buckets).graph()


def _buckets(graph: Graph) -> list[list[Equation]]:
    """Divide the sums over ranks into buckets, each in the order of the graph."""
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
    """A builder of a graph with buckets, each of which precedes its readers."""

    def __init__(self, graph: Graph, buckets: Sequence[list[Equation]]) -> None:
        self._graph = graph
        self._bucket_of = {equation: bucket for bucket in buckets for equation in bucket}
        self._missing = {id(bucket): len(bucket) for bucket in buckets}
        self._builder = Builder()
        self._values: dict[Any, Any] = {}

    def graph(self) -> Graph:
        """Build the graph with buckets."""
        builder, values = self._builder, self._values
        values.update((v, builder.input(v.type, tainted=v.tainted)) for v in self._graph.inputs)
        waiting: list[Equation] = []
        with building(builder):
            for equation in self._graph.equations:
                if not self._emitted(equation):
                    waiting.append(equation)
                elif equation in self._bucket_of:  # the bucket of this equation may be complete now
                    waiting = self._rest(waiting)
            while waiting:
                waiting = self._rest(waiting)
        return builder.close([self._read(y) for y in self._graph.outputs])

    def _rest(self, waiting: list[Equation]) -> list[Equation]:
        return [equation for equation in waiting if not self._emitted(equation)]

    def _read(self, atom: Any) -> Any:
        return self._values[atom] if type(atom) is Variable else atom

    def _emitted(self, equation: Equation) -> bool:
        """Emit an equation, or its bucket if the bucket is complete.

        Returns whether the operands of the equation exist in the new graph.
        """
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
