"""Collective primitives: combine arrays of several processes, the *ranks*.

Let ``x_r`` be the array of rank ``r``, and ``n`` the number of ranks. Rank ``r`` receives ``y_r``:

    all_reduce       y_r = Σ_s x_s                                its own transpose
    reduce_scatter   y_r = part r of Σ_s x_s along an axis        transpose: all_gather
    all_gather       y_r = x_0, x_1, … joined along an axis       transpose: reduce_scatter
    all_to_all       y_r = part r of every x_s, joined            transpose: all_to_all, axes exchanged
    permute          y_r = x_s for a pair (s, r), or zeros        transpose: permute, pairs reversed
    rank_mask        y_r = x_r on one rank, zeros on the others   its own transpose; sends nothing
    all_max          y_r = max_s x_s                              ranks that tie share the derivative

A collective maps the arrays of all ranks to the arrays of all ranks, so its derivatives are defined for all
ranks together. Reverse mode returns the cotangent of ``x_s`` for the sum of the losses of all ranks. Forward
mode returns the tangent for a simultaneous change of the inputs of all ranks. Therefore, rewrites must not
replace one mode by the other. The *members* of a collective are the ranks in its parameter ``ranks``, in
order. Every member must call the collective, with arrays of one type. Derivatives of every order are
collectives, too, so all members must compute them.

A broadcast, or a reduction to one rank, is a collective together with a ``rank_mask``, so that each rank
records the same equations. Each equation sends one message. For an ``all_reduce`` of ``b`` bytes, each of
``n`` ranks in a ring sends ``2 b (n − 1) / n`` bytes. Within a compiled function, all ranks must take the
same branches and run the same number of iterations.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from mindgrad.core.ir.primitive import REGISTRY, Primitive
from mindgrad.core.ir.types import TensorType
from mindgrad.core.primitives.batching import past
from mindgrad.core.primitives.comparisons import equal
from mindgrad.core.primitives.kinds import general, linear, product, same_type
from mindgrad.core.primitives.samples import case, reals
from mindgrad.core.primitives.structural import convert, stop_gradient

__all__ = [
    "AXIS", "all_gather", "all_max", "all_reduce", "all_to_all", "combined", "permute", "rank_mask",
    "reduce_scatter", "set_runner", "world_of",
]  # fmt: skip

Ranks = tuple[int, ...]

#: name of the single mesh axis of compiled functions. The index along this axis is the rank of a process
AXIS = "ranks"

_ALONE: Ranks = (0,)

#: function that runs a collective in eager mode (``distributed.eager_collectives``). It is ``None`` if the
#: job has a single process
_runner: Callable[[Primitive, Any, dict[str, Any]], Any] | None = None
_local = threading.local()


def set_runner(runner: Callable[[Primitive, Any, dict[str, Any]], Any] | None) -> None:
    """Set the function that runs collectives of several ranks in eager mode.

    The function is called as ``runner(primitive, array, parameters)``.
    """
    global _runner
    _runner = runner


@contextmanager
def world_of(size: int) -> Iterator[None]:
    """Compile collectives for ``size`` ranks inside the ``with`` block."""
    before = getattr(_local, "size", 1)
    _local.size = size
    try:
        yield
    finally:
        _local.size = before


def combined(name: str, arrays: Sequence[np.ndarray], **parameters: Any) -> list[np.ndarray]:
    """Compute the results of all members from the arrays of all members.

    Args:
        name: the name of a primitive in this module.
        arrays: one array for each of the ``ranks``, all of the same type.
        parameters: the parameters of the primitive.

    >>> import numpy as np
    >>> from mindgrad.distributed.collectives import combined
    >>> combined("all_reduce", [np.array([1.0]), np.array([2.0])], ranks=(0, 1))
    [array([3.]), array([3.])]
    """
    return list(_DEFINITIONS[name](arrays, **parameters))


def _sum(arrays: Sequence[np.ndarray]) -> np.ndarray:
    return np.add.reduce(list(arrays), dtype=arrays[0].dtype)


def _parts(array: np.ndarray, count: int, axis: int) -> list[np.ndarray]:
    return np.split(array, count, axis)


def _permuted(arrays: Sequence[np.ndarray], pairs: Any, ranks: Ranks) -> list[np.ndarray]:
    results = [np.zeros_like(x) for x in arrays]
    for source, target in pairs:
        results[ranks.index(target)] = arrays[ranks.index(source)]
    return results


_DEFINITIONS: dict[str, Callable[..., Sequence[np.ndarray]]] = {
    "all_reduce": lambda arrays, ranks: [_sum(arrays)] * len(ranks),
    "all_max": lambda arrays, ranks: [np.maximum.reduce(list(arrays))] * len(ranks),
    "all_gather": lambda arrays, axis, ranks: [np.concatenate(arrays, axis)] * len(ranks),
    "reduce_scatter": lambda arrays, axis, ranks: _parts(_sum(arrays), len(ranks), axis),
    "all_to_all": lambda arrays, split_axis, concat_axis, ranks: [
        np.concatenate(parts, concat_axis)
        for parts in zip(*[_parts(x, len(ranks), split_axis) for x in arrays], strict=True)
    ],
    "permute": _permuted,
    "rank_mask": lambda arrays, root, ranks: [
        x if rank == root else np.zeros_like(x) for rank, x in zip(ranks, arrays, strict=True)
    ],
}


def _kernel(name: str) -> Callable[..., Any]:
    def kernel(x: Any, **parameters: Any) -> Any:
        if len(parameters["ranks"]) == 1:
            return combined(name, [np.asarray(x)], **parameters)[0]
        if _runner is None:
            raise RuntimeError(
                f"'{name}' combines the tensors of ranks {list(parameters['ranks'])}, but this process runs "
                f"alone: call communication.init() in a program that 'mindgrad launch' starts."
            )
        return _runner(REGISTRY[name], x, parameters)

    return kernel


def _groups(ranks: Ranks) -> list[list[int]] | None:
    """Divide all ranks into groups, as XLA requires; the first group is ``ranks``.

    The result is ``None`` if ``ranks`` contains all ranks. XLA requires a partition of all ranks. The other
    groups are not used, because each process runs only the group to which it belongs.
    """
    size = getattr(_local, "size", 1)
    others = [rank for rank in range(size) if rank not in ranks]
    if ranks == tuple(range(size)):
        return None
    count = len(others) if len(others) % len(ranks) else len(ranks)
    return [list(ranks), *[others[k : k + count] for k in range(0, len(others), count)]]


def _is_even(groups: list[list[int]] | None) -> bool:
    """Return whether all groups have the same size.

    XLA requires groups of equal size for all collectives except reductions.
    """
    return groups is None or len({*map(len, groups)}) == 1


def _position(lax: Any, ranks: Ranks) -> Any:
    """Return the index of this rank among the members of its group."""
    table = np.zeros(max(getattr(_local, "size", 1), max(ranks) + 1), np.int32)
    table[list(ranks)] = np.arange(len(ranks))
    return lax.dynamic_index_in_dim(table, lax.axis_index(AXIS), keepdims=False)


def _gathered(lax: Any, x: Any, ranks: Ranks, axis: int) -> Any:
    groups = _groups(ranks)
    if _is_even(groups):
        return lax.all_gather(x, AXIS, axis=axis, axis_index_groups=groups, tiled=True)
    # The groups have different sizes. Therefore, each rank writes its array into an array of zeros, and a
    # collective sums these arrays over the ranks. Each rank sends as many bytes as the result has
    dtype = np.dtype(np.uint8) if x.dtype == bool else x.dtype
    shape = tuple([n * len(ranks) if k == axis else n for k, n in enumerate(x.shape)])
    start = _position(lax, ranks) * np.int32(x.shape[axis])
    own = lax.convert_element_type(x, dtype)
    placed = lax.dynamic_update_slice_in_dim(lax.full(shape, 0, dtype), own, start, axis)
    return lax.convert_element_type(lax.psum(placed, AXIS, axis_index_groups=groups), x.dtype)


def _scattered(lax: Any, x: Any, ranks: Ranks, axis: int) -> Any:
    groups = _groups(ranks)
    if _is_even(groups):
        return lax.psum_scatter(x, AXIS, scatter_dimension=axis, axis_index_groups=groups, tiled=True)
    return _own_part(lax, lax.psum(x, AXIS, axis_index_groups=groups), ranks, axis)


def _exchanged(lax: Any, x: Any, ranks: Ranks, split_axis: int, concat_axis: int) -> Any:
    groups = _groups(ranks)
    if _is_even(groups):
        return lax.all_to_all(x, AXIS, split_axis, concat_axis, axis_index_groups=groups, tiled=True)
    arrays = _gathered(lax, lax.expand_dims(x, (0,)), ranks, 0)
    parts = _own_part(lax, arrays, ranks, split_axis + 1)
    each_part = [lax.index_in_dim(parts, k, 0, keepdims=False) for k in range(len(ranks))]
    return lax.concatenate(each_part, concat_axis)


def _own_part(lax: Any, x: Any, ranks: Ranks, axis: int) -> Any:
    length = x.shape[axis] // len(ranks)
    return lax.dynamic_slice_in_dim(x, _position(lax, ranks) * np.int32(length), length, axis)


def _lowered(call: Callable[..., Any]) -> Callable[..., Any]:
    """Convert ``call(lax, x, ranks, …)`` to the XLA rule of a collective.

    If ``ranks`` contains a single rank, the rule does not run ``call``, because no message is needed.
    """

    def xla(jax: Any, x: Any, ranks: Ranks, **parameters: Any) -> Any:
        if len(ranks) == 1 and not parameters.get("pairs", True):
            return jax.numpy.zeros_like(x)
        return x if len(ranks) == 1 else call(jax.lax, x, ranks, **parameters)

    return xla


def _axis_type(x: TensorType, axis: int, length: int) -> TensorType:
    return x.with_shape(tuple([length if k == axis else n for k, n in enumerate(x.shape)]))


def _joined_type(name: str, x: TensorType, axis: int, ranks: Ranks) -> TensorType:
    if not 0 <= axis < x.rank:
        raise ValueError(f"For '{name}', the input of shape {x.shape} has no axis {axis} to join along.")
    return _axis_type(x, axis, x.shape[axis] * len(ranks))


def _part_type(name: str, x: TensorType, axis: int, ranks: Ranks) -> TensorType:
    if not 0 <= axis < x.rank or x.shape[axis] % len(ranks):
        raise ValueError(
            f"For '{name}', the input of shape {x.shape} must have an axis {axis} that divides into "
            f"{len(ranks)} equal parts, one for each rank."
        )
    return _axis_type(x, axis, x.shape[axis] // len(ranks))


def _exchange_type(x: TensorType, split_axis: int, concat_axis: int, ranks: Ranks) -> TensorType:
    return _joined_type("all_to_all", _part_type("all_to_all", x, split_axis, ranks), concat_axis, ranks)


_VECTOR = reals()[3, 2]

#: ``all_reduce(x, ranks)``: the sum over all ranks
all_reduce = linear(
    "all_reduce",
    type_rule=same_type("all_reduce", "number"),
    numpy=_kernel("all_reduce"),
    xla=_lowered(lambda lax, x, ranks: lax.psum(x, AXIS, axis_index_groups=_groups(ranks))),
    transpose=lambda ct, x, ranks: all_reduce(ct, ranks=ranks),
    batch=lambda size, xs, at, ranks: (all_reduce(xs[0], ranks=ranks), at[0]),
    communicates=True,
    samples=[case(_VECTOR, ranks=_ALONE)],
)

#: ``all_gather(x, axis, ranks)``: the arrays of all ranks, concatenated along ``axis``
all_gather = linear(
    "all_gather",
    type_rule=lambda x, axis, ranks: _joined_type("all_gather", x, axis, ranks),
    numpy=_kernel("all_gather"),
    xla=_lowered(_gathered),
    transpose=lambda ct, x, axis, ranks: reduce_scatter(ct, axis=axis, ranks=ranks),
    batch=lambda size, xs, at, axis, ranks: (
        all_gather(xs[0], axis=past([axis], at[0])[0], ranks=ranks), at[0]
    ),
    communicates=True,
    samples=[case(_VECTOR, axis=0, ranks=_ALONE)],
)  # fmt: skip

#: ``reduce_scatter(x, axis, ranks)``: the sum over all ranks, split along ``axis``. Rank r receives part r
reduce_scatter = linear(
    "reduce_scatter",
    type_rule=lambda x, axis, ranks: _part_type(
        "reduce_scatter", same_type("reduce_scatter", "number")(x), axis, ranks
    ),
    numpy=_kernel("reduce_scatter"),
    xla=_lowered(_scattered),
    transpose=lambda ct, x, axis, ranks: all_gather(ct, axis=axis, ranks=ranks),
    batch=lambda size, xs, at, axis, ranks: (
        reduce_scatter(xs[0], axis=past([axis], at[0])[0], ranks=ranks), at[0]
    ),
    communicates=True,
    samples=[case(_VECTOR, axis=1, ranks=_ALONE)],
)  # fmt: skip


def _exchange_batch(size: int, xs: Any, at: Any, split_axis: int, concat_axis: int, ranks: Ranks) -> Any:
    split_axis, concat_axis = past([split_axis, concat_axis], at[0])
    return all_to_all(xs[0], split_axis=split_axis, concat_axis=concat_axis, ranks=ranks), at[0]


#: ``all_to_all(x, split_axis, concat_axis, ranks)``: each rank splits its array along ``split_axis``. Rank r
#: receives part r of every rank, concatenated along ``concat_axis``
all_to_all = linear(
    "all_to_all",
    type_rule=_exchange_type,
    numpy=_kernel("all_to_all"),
    xla=_lowered(_exchanged),
    transpose=lambda ct, x, split_axis, concat_axis, ranks: all_to_all(
        ct, split_axis=concat_axis, concat_axis=split_axis, ranks=ranks
    ),
    batch=_exchange_batch,
    communicates=True,
    samples=[case(_VECTOR, split_axis=0, concat_axis=1, ranks=_ALONE)],
)

#: ``permute(x, pairs, ranks)``: for each pair (s, r), rank r receives the array of rank s. A rank that
#: receives nothing gets zeros
permute = linear(
    "permute",
    type_rule=lambda x, pairs, ranks: x,
    numpy=_kernel("permute"),
    xla=_lowered(lambda lax, x, _, pairs: lax.ppermute(x, AXIS, pairs)),
    transpose=lambda ct, x, pairs, ranks: permute(
        ct, pairs=tuple([(target, source) for source, target in pairs]), ranks=ranks
    ),
    batch=lambda size, xs, at, pairs, ranks: (permute(xs[0], pairs=pairs, ranks=ranks), at[0]),
    communicates=True,
    samples=[case(_VECTOR, pairs=((0, 0),), ranks=_ALONE), case(_VECTOR, pairs=(), ranks=_ALONE)],
)


def _masked(lax: Any, x: Any, _: Any, root: int) -> Any:
    return lax.select(lax.full(x.shape, True) & (lax.axis_index(AXIS) == root), x, lax.full_like(x, 0))


#: ``rank_mask(x, root, ranks)``: ``x`` on rank ``root``, and zeros on all other ranks
rank_mask = linear(
    "rank_mask",
    type_rule=lambda x, root, ranks: x,
    numpy=_kernel("rank_mask"),
    xla=_lowered(_masked),
    transpose=lambda ct, x, root, ranks: rank_mask(ct, root=root, ranks=ranks),
    batch=lambda size, xs, at, root, ranks: (rank_mask(xs[0], root=root, ranks=ranks), at[0]),
    communicates=True,
    sends=False,
    samples=[case(_VECTOR, root=0, ranks=_ALONE)],
)


def _max_jvp(y: Any, xs: Any, ts: Any, ranks: Ranks) -> Any:
    if ts[0] is None:
        return None
    is_largest = convert(equal(stop_gradient(xs[0]), stop_gradient(y)), dtype=y.type.dtype)
    share = is_largest / all_reduce(is_largest, ranks=ranks)
    return all_reduce(product(share, ts[0]), ranks=ranks)


#: ``all_max(x, ranks)``: elementwise maximum over all ranks. The ranks that have the maximum share the
#: derivative equally
all_max = general(
    "all_max",
    type_rule=same_type("all_max", "real"),
    numpy=_kernel("all_max"),
    xla=_lowered(lambda lax, x, ranks: lax.pmax(x, AXIS, axis_index_groups=_groups(ranks))),
    jvp=_max_jvp,
    batch=lambda size, xs, at, ranks: (all_max(xs[0], ranks=ranks), at[0]),
    communicates=True,
    samples=[case(_VECTOR, ranks=_ALONE, accepts="float")],
)
