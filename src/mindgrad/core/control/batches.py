"""Batching rules of branches and loops: the functions that ``vmap`` needs.

The *predicate* is the condition of the branch or loop.

    one predicate for all samples     keep one branch or loop, and batch its graphs
    one predicate per sample          run both branches and select; run the loop until all samples have ended

If each sample has its own predicate, a branch also computes results for samples that do not take it. These
results are discarded, but they must be finite: reverse mode multiplies them by zero, and 0 × ∞ is NaN. For
each such sample, the branch therefore receives the operands of a sample that takes the branch. A loop does
the same for samples whose iterations have ended. If no sample takes a branch, the branch does not run.
"""

from __future__ import annotations

from mindgrad.core.ir.build import Builder, building
from mindgrad.core.ir.dtype import int32
from mindgrad.core.ir.graph import Atom, Graph
from mindgrad.core.ir.memo import memoized
from mindgrad.core.ir.rules import Atoms, BatchAxes
from mindgrad.core.primitives.arithmetic import select
from mindgrad.core.primitives.batching import at_front
from mindgrad.core.primitives.kinds import full, zeros
from mindgrad.core.primitives.reduction import reduce_any, reduce_min
from mindgrad.core.primitives.slicing import dynamic_slice
from mindgrad.core.primitives.structural import broadcast_in_dim, iota, reshape, stop_gradient
from mindgrad.core.transforms.batch import push_batch

__all__ = [
    "Flags", "any_of", "batched_graph", "batched_outputs", "batched_parts", "chosen", "fronted", "only_for",
    "refuse_effects",
]  # fmt: skip

Flags = tuple[bool, ...]


@memoized
def batched_graph(graph: Graph, flags: Flags, out_flags: Flags, size: int) -> Graph:
    """Return ``graph`` for a batch of ``size`` samples.

    An input has a leading batch axis if its flag in ``flags`` is true, and an output if its flag in
    ``out_flags`` is true. An output without this axis must not depend on a batched input.
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
    """Return, for each output of ``graph``, whether it depends on a batched input."""
    builder = Builder()
    with building(builder):
        return tuple([axis is not None for axis in _pushed(builder, graph, flags, size)[1]])


def _pushed(builder: Builder, graph: Graph, flags: Flags, size: int) -> tuple[list[Atom], list[int | None]]:
    inputs = [
        builder.input(v.type.with_shape((size, *v.type.shape)) if flag else v.type, tainted=v.tainted)
        for v, flag in zip(graph.inputs, flags, strict=True)
    ]
    return push_batch(graph, inputs, [0 if flag else None for flag in flags], size)


def batched_parts(body: Graph, flags: Flags, consts: int, carries: int, size: int) -> Flags:
    """Return, for each input of a loop body, whether it is batched in some iteration.

    ``flags`` states which inputs are batched in the first iteration. A carry component becomes batched if
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


def fronted(size: int, xs: Atoms, at: BatchAxes, flags: Flags) -> list[Atom]:
    """Return the operands that are flagged in ``flags``, with the batch axis in front.

    An operand without a batch axis is repeated for each sample. Operands that are not flagged stay unchanged.
    """
    return [at_front(size, x, axis) if flag else x for x, axis, flag in zip(xs, at, flags, strict=True)]


def any_of(predicates: Atom) -> Atom:
    return reduce_any(predicates, axes=(0,))


def chosen(predicates: Atom, a: Atom, b: Atom) -> Atom:
    return select(broadcast_in_dim(predicates, shape=a.shape, dims=(0,)), a, b)


def only_for(predicates: Atom, xs: Atoms, flags: Flags) -> list[Atom]:
    """Replace the operands of samples whose predicate is false by safe values.

    The safe values are the operands of the first sample whose predicate is true.
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
