"""Functions for the batching rules (``vmap``) of branches and loops.

    one predicate for all samples     one branch or loop, whose graphs are batched
    one predicate per sample          run both branches and select; run the loop until all samples have ended

If each sample has its own predicate, a branch also computes results for samples that do not take it. These
results are discarded, but they must be finite: reverse mode multiplies them by zero, and 0 × ∞ is NaN. For
each such sample, the branch therefore receives the operands of a sample that takes the branch. A loop does
the same for samples whose iterations have ended. If no sample takes a branch, the branch does not run.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from mindgrad.core.ir.build import Builder, building
from mindgrad.core.ir.dtype import int32
from mindgrad.core.ir.graph import Graph
from mindgrad.core.ir.memo import memoized
from mindgrad.core.ir.types import TensorType
from mindgrad.core.primitives.arithmetic import select
from mindgrad.core.primitives.batching import at_front
from mindgrad.core.primitives.kinds import full, zeros
from mindgrad.core.primitives.reduction import reduce_any, reduce_min
from mindgrad.core.primitives.slicing import dynamic_slice
from mindgrad.core.primitives.structural import broadcast_in_dim, iota, reshape, stop_gradient
from mindgrad.core.transforms.batch import push_batch

__all__ = [
    "Flags",
    "any_of",
    "batched_graph",
    "batched_outputs",
    "batched_parts",
    "chosen",
    "fronted",
    "only_for",
    "refuse_effects",
]

Flags = tuple[bool, ...]


def _batched_type(type: TensorType, size: int) -> TensorType:
    return type.with_shape((size, *type.shape))


@memoized
def batched_graph(graph: Graph, flags: Flags, out_flags: Flags, size: int) -> Graph:
    """Return ``graph`` for a batch of ``size`` samples.

    Inputs whose flag in ``flags`` is true have a leading batch axis, and so have outputs whose flag in
    ``out_flags`` is true. All other outputs must not depend on a batched input.
    """
    builder = Builder()
    with building(builder):
        outputs, at = _pushed(builder, graph, flags, size)
        batched = [
            at_front(size, y, axis) if want else y
            for y, axis, want in zip(outputs, at, out_flags, strict=True)
        ]
        return builder.close(batched)


@memoized
def batched_outputs(graph: Graph, flags: Flags, size: int) -> Flags:
    """Return, for each output, whether it depends on an input whose flag is true."""
    builder = Builder()
    with building(builder):
        return tuple([axis is not None for axis in _pushed(builder, graph, flags, size)[1]])


def _pushed(builder: Builder, graph: Graph, flags: Flags, size: int) -> tuple[list[Any], list[int | None]]:
    inputs = [
        builder.input(_batched_type(v.type, size) if flag else v.type, tainted=v.tainted)
        for v, flag in zip(graph.inputs, flags, strict=True)
    ]
    return push_batch(graph, inputs, [0 if flag else None for flag in flags], size)


def batched_parts(body: Graph, flags: Flags, consts: int, carries: int, size: int) -> Flags:
    """Return for each input of a loop body whether it is batched in some iteration.

    ``flags`` states which inputs are batched in the first iteration. A part of the carry becomes batched if
    an iteration computes it from a batched value.
    """
    while True:
        found = batched_outputs(body, flags, size)[:carries]
        more = tuple(
            [flag or (consts <= k < consts + carries and found[k - consts]) for k, flag in enumerate(flags)]
        )
        if more == flags:
            return flags
        flags = more


def fronted(size: int, xs: Sequence[Any], at: Sequence[int | None], flags: Flags) -> list[Any]:
    """Move or add a leading batch axis on each operand whose flag is true."""
    return [at_front(size, x, axis) if flag else x for x, axis, flag in zip(xs, at, flags, strict=True)]


def any_of(predicates: Any) -> Any:
    """Return whether at least one sample's predicate is true."""
    return reduce_any(predicates, axes=(0,))


def chosen(predicates: Any, a: Any, b: Any) -> Any:
    """Return ``a`` for samples whose predicate is true, and ``b`` for other samples."""
    return select(broadcast_in_dim(predicates, shape=a.shape, dims=(0,)), a, b)


def only_for(predicates: Any, xs: Sequence[Any], flags: Flags) -> list[Any]:
    """Replace the operands of samples whose predicate is false by safe values.

    These are the operands of the first sample whose predicate is true.
    """
    size = predicates.shape[0]
    if not size or not any(flags):
        return list(xs)
    places = iota(shape=(size,), axis=0, dtype=int32)
    first = reduce_min(select(predicates, places, full(places.type, size - 1)), axes=(0,))
    result = []
    for x, flag in zip(xs, flags, strict=True):
        if flag:
            starts = [first, *[zeros(first.type)] * (len(x.shape) - 1)]
            filler = dynamic_slice(x, *starts, sizes=(1, *x.shape[1:]))
            filler = broadcast_in_dim(
                reshape(stop_gradient(filler), shape=x.shape[1:]),
                shape=x.shape,
                dims=tuple(range(1, len(x.shape))),
            )
            x = chosen(predicates, x, filler)
        result.append(x)
    return result


def refuse_effects(construct: str, *graphs: Graph) -> None:
    """Raise ``TypeError`` if one of ``graphs`` has an effect, such as printing."""
    if any(graph.has_effect for graph in graphs):
        raise TypeError(
            f"{construct} whose condition differs between samples of a batch cannot print, because it would "
            f"run for some samples only. Remove the print, or loop over the batch."
        )
