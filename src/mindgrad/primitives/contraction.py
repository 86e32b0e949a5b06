"""Contractions: the one row that every matrix product, inner product and einsum becomes."""

from __future__ import annotations

from typing import Any

import numpy as np

from mindgrad.core.types import Shape, TensorType
from mindgrad.primitives.kinds import multilinear
from mindgrad.primitives.samples import case, reals
from mindgrad.primitives.structural import transpose

__all__ = ["dot"]

Axes = tuple[Shape, Shape]


def _free(rank: int, contract: Shape, batch: Shape) -> Shape:
    return tuple(axis for axis in range(rank) if axis not in contract and axis not in batch)


def _dot_type(a: TensorType, b: TensorType, contract: Axes, batch: Axes) -> TensorType:
    if a.dtype is not b.dtype:
        raise TypeError(f"For 'dot', the operands must have one element type, but got {a} and {b}.")
    for kind, (left, right) in (("contracted", contract), ("batch", batch)):
        sizes = tuple(a.shape[i] for i in left), tuple(b.shape[i] for i in right)
        if sizes[0] != sizes[1]:
            raise ValueError(
                f"For 'dot', the {kind} axes of {a.shape} and {b.shape} must have equal sizes, "
                f"but got {sizes[0]} and {sizes[1]}."
            )
    shape = (
        *(a.shape[i] for i in batch[0]),
        *(a.shape[i] for i in _free(a.rank, contract[0], batch[0])),
        *(b.shape[i] for i in _free(b.rank, contract[1], batch[1])),
    )
    return a.with_shape(shape)


def _dot_numpy(a: Any, b: Any, contract: Axes, batch: Axes) -> Any:
    # the common matrix products as one call on views
    if not batch[0] and a.ndim == 2 == b.ndim and len(contract[0]) == 1:
        left = a if contract[0][0] == 1 else a.T
        right = b if contract[1][0] == 0 else b.T
        return _matmul(left, right)
    free_a, free_b = _free(a.ndim, contract[0], batch[0]), _free(b.ndim, contract[1], batch[1])
    sizes = [a.shape[i] for i in batch[0]]
    rows, columns = [a.shape[i] for i in free_a], [b.shape[i] for i in free_b]
    inner = int(np.prod([a.shape[i] for i in contract[0]], dtype=np.int64))
    left = np.transpose(a, (*batch[0], *free_a, *contract[0]))
    right = np.transpose(b, (*batch[1], *contract[1], *free_b))
    left = left.reshape(*sizes, int(np.prod(rows, dtype=np.int64)), inner)
    right = right.reshape(*sizes, inner, int(np.prod(columns, dtype=np.int64)))
    return _matmul(left, right).reshape(*sizes, *rows, *columns)


def _matmul(a: Any, b: Any) -> Any:
    if a.dtype.itemsize == 2 and a.dtype.kind not in "iu":
        # half precision is summed in single precision, as XLA does
        return np.matmul(a.astype(np.float32), b.astype(np.float32)).astype(a.dtype)
    return np.matmul(a, b)


def _dot_xla(jax: Any, a: Any, b: Any, contract: Axes, batch: Axes) -> Any:
    return jax.lax.dot_general(a, b, (contract, batch), precision="highest")


def _cotangent_left(ct: Any, a: Any, b: Any, contract: Axes, batch: Axes) -> Any:
    """ct has axes (batch, free a, free b): contract it with ``b`` over free b, restore a's order."""
    rank_a, rank_b = len(a.shape), len(b.shape)
    free_a, free_b = _free(rank_a, contract[0], batch[0]), _free(rank_b, contract[1], batch[1])
    count = len(batch[0])
    ct_free_b = tuple(range(count + len(free_a), count + len(free_a) + len(free_b)))
    made = dot(ct, b, contract=(ct_free_b, free_b), batch=(tuple(range(count)), batch[1]))
    # axes now: batch, free a, b's contracted axes in ascending order
    order = sorted(range(len(contract[1])), key=lambda k: contract[1][k])
    current = (*batch[0], *free_a, *(contract[0][k] for k in order))
    return transpose(made, permutation=tuple(current.index(axis) for axis in range(rank_a)))


def _cotangent_right(ct: Any, a: Any, b: Any, contract: Axes, batch: Axes) -> Any:
    """The same for ``b``: contract ``a`` with ct over free a (this order needs no transposition)."""
    rank_a, rank_b = len(a.shape), len(b.shape)
    free_a, free_b = _free(rank_a, contract[0], batch[0]), _free(rank_b, contract[1], batch[1])
    count = len(batch[0])
    ct_free_a = tuple(range(count, count + len(free_a)))
    made = dot(a, ct, contract=(free_a, ct_free_a), batch=(batch[0], tuple(range(count))))
    # axes now: batch, a's contracted axes in ascending order, free b
    order = sorted(range(len(contract[0])), key=lambda k: contract[0][k])
    current = (*batch[1], *(contract[1][k] for k in order), *free_b)
    return transpose(made, permutation=tuple(current.index(axis) for axis in range(rank_b)))


#: ``dot(a, b, contract, batch)``: sums over the contracted axes; axes of the result are the batch
#: axes, the free axes of ``a``, the free axes of ``b``
dot = multilinear(
    "dot",
    type_rule=_dot_type,
    numpy=_dot_numpy,
    xla=_dot_xla,
    transpose=[_cotangent_left, _cotangent_right],
    samples=[
        case(reals()[2, 3], reals()[3, 4], contract=((1,), (0,)), batch=((), ())),
        case(reals()[3, 2], reals()[4, 3], contract=((0,), (1,)), batch=((), ())),
        case(reals()[2, 3, 4], reals()[2, 4, 5], contract=((2,), (1,)), batch=((0,), (0,))),
        case(reals()[2, 3, 4], reals()[4, 3, 5], contract=((1, 2), (1, 0)), batch=((), ())),
        case(reals()[3], reals()[3], contract=((0,), (0,)), batch=((), ())),
    ],
)
