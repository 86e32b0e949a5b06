"""Collective fusion: combine many ``all_reduce`` operations into few messages.

    all_reduce(x₁), all_reduce(x₂), …  =  slices of all_reduce(x₁, x₂, … concatenated)

Proof: a sum over ranks (processes) adds element by element.

**When it pays.** A distributed training step sums the gradient of each Parameter over all ranks. Each message
has a latency that does not depend on its size, so fewer messages take less time.

**Buckets.** A *bucket* is the set of operands that one message contains. Sums can share a bucket if they are
over the same ranks, have the same element type, and do not depend on each other. To check the dependence, the
rewrite counts the collectives on the longest path to each sum. If the counts of two sums are equal, neither
depends on the other. The rewrite fills a bucket in the order of the graph, up to ``message_bytes``
(``ir.cost_model``). Reverse mode computes the gradients of the last layers first. Therefore, the first bucket
can be sent while the gradients in the next bucket are computed. Equations that read a sum are emitted after
the bucket that contains the sum.

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
from mindgrad.core.passes.graph_rewriter import rewrite_inner
from mindgrad.core.primitives.static_slices import concatenate, slice_axis
from mindgrad.core.primitives.structural import reshape
from mindgrad.distributed.collectives import all_reduce

__all__ = ["fuse_sums"]

FUSION = Rewrite(
    "collective fusion",
    "all_reduce(x₁), all_reduce(x₂), … are parts of all_reduce(x₁, x₂, … joined)",
    "sums over processes are sent together",
)


def fuse_sums(graph: Graph) -> Graph:
    """Combine the ``all_reduce`` equations that can share a message.

    If no two equations can share a message, return ``graph`` itself.
    """
    if not communicates(graph) or graph.has_effect:
        return graph
    graph = rewrite_inner(graph, fuse_sums)
    buckets = [bucket for bucket in _buckets(graph) if len(bucket) > 1]
    if not buckets:
        return graph
    FUSION.fired(sum(map(len, buckets)))
    return _Joining(graph, buckets).graph()


def _buckets(graph: Graph) -> list[list[Equation]]:
    """Group the ``all_reduce`` equations that can share a message into *buckets*.

    The buckets have the order of their first equations in the graph.
    """
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
    """Builds a graph in which one ``all_reduce`` equation replaces each bucket."""

    def __init__(self, graph: Graph, buckets: Sequence[list[Equation]]) -> None:
        self._graph = graph
        self._bucket_of = {equation: bucket for bucket in buckets for equation in bucket}
        self._missing = {id(bucket): len(bucket) for bucket in buckets}
        self._builder = Builder()
        self._values: dict[Any, Any] = {}

    def graph(self) -> Graph:
        """Build the graph with one ``all_reduce`` equation per bucket."""
        builder, values = self._builder, self._values
        values.update((v, builder.input(v.type, tainted=v.tainted)) for v in self._graph.inputs)
        waiting: list[Equation] = []
        with building(builder):
            for equation in self._graph.equations:
                if not self._emitted(equation):
                    waiting.append(equation)
                elif equation in self._bucket_of:  # if its bucket was emitted, emit the readers of the sums
                    waiting = self._rest(waiting)
            while waiting:
                waiting = self._rest(waiting)
        return builder.close([self._read(y) for y in self._graph.outputs])

    def _rest(self, waiting: list[Equation]) -> list[Equation]:
        return [equation for equation in waiting if not self._emitted(equation)]

    def _read(self, atom: Any) -> Any:
        return self._values[atom] if type(atom) is Variable else atom

    def _emitted(self, equation: Equation) -> bool:
        """Emit an equation if the new graph contains its operands; return whether it does.

        The ``all_reduce`` equations of a bucket are emitted together, as soon as the new graph contains the
        operands of all of them.
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
