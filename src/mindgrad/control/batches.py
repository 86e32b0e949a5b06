"""Batching rules run both sides of a branch, and a loop for as long as one element of the batch needs it.

    one predicate for all     the row itself, its graphs batched
    a predicate for each      both branches; a loop that goes on while an element does

A branch is never run on what is not meant for it: for an element that does not take it (or whose loop has
ended) it gets the operands of one that does, so that nothing infinite is computed whose product with a
masked cotangent would be NaN. A branch that no element takes is not run.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from mindgrad.ir.build import Builder, building
from mindgrad.ir.dtype import int32
from mindgrad.ir.graph import Graph
from mindgrad.ir.memo import memoized
from mindgrad.ir.types import TensorType
from mindgrad.rows.arithmetic import select
from mindgrad.rows.batching import at_front
from mindgrad.rows.kinds import full, zeros
from mindgrad.rows.reduction import reduce_any, reduce_min
from mindgrad.rows.slicing import dynamic_slice
from mindgrad.rows.structural import broadcast_in_dim, iota, reshape, stop_gradient
from mindgrad.transforms.batch import push_batch

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
    """The type with a batch axis in front."""
    return type.with_shape((size, *type.shape))


@memoized
def batched_graph(graph: Graph, flags: Flags, out_flags: Flags, size: int) -> Graph:
    """``graph`` on inputs of which those in ``flags`` have a batch axis in front.

    The outputs in ``out_flags`` have one in front as well; no other may depend on a batched input.
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
    """Flags of the outputs that depend on a batched input."""
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
    """Flags of the inputs of a loop's body that are batched, at the fixed point of the carry."""
    while True:
        found = batched_outputs(body, flags, size)[:carries]
        more = tuple(
            [flag or (consts <= k < consts + carries and found[k - consts]) for k, flag in enumerate(flags)]
        )
        if more == flags:
            return flags
        flags = more


def fronted(size: int, xs: Sequence[Any], at: Sequence[int | None], flags: Flags) -> list[Any]:
    """The operands, those in ``flags`` with the batch axis in front."""
    return [at_front(size, x, axis) if flag else x for x, axis, flag in zip(xs, at, flags, strict=True)]


def any_of(predicates: Any) -> Any:
    """Whether a predicate of the batch holds."""
    return reduce_any(predicates, axes=(0,))


def chosen(predicates: Any, a: Any, b: Any) -> Any:
    """``a`` for the elements whose predicate holds, ``b`` for the others."""
    return select(broadcast_in_dim(predicates, shape=a.shape, dims=(0,)), a, b)


def only_for(predicates: Any, xs: Sequence[Any], flags: Flags) -> list[Any]:
    """The operands; elements whose predicate does not hold get those of one whose predicate does."""
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
    """Raise if something is printed where only some of the elements do it."""
    if any(graph.has_effect for graph in graphs):
        raise TypeError(
            f"{construct} that depends on the elements of a batch cannot print: some elements do it and "
            f"others do not. Remove the print, or loop over the batch."
        )
