"""The assignment problem: one column for each row, none twice, at the least cost in total.

NumPy leaves it to SciPy. Compiled it is the Hungarian algorithm with potentials (E. Lawler, "Combinatorial
Optimization", 1976, chapter 5) on a square matrix: rows and columns without a partner meet added ones, at a
cost that no real pair reaches, so that as many real pairs as possible are made.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

import numpy as np

from mindgrad.core.dtype import int64
from mindgrad.core.types import TensorType
from mindgrad.primitives.kinds import constant
from mindgrad.primitives.matrices import batched_in_front
from mindgrad.primitives.samples import case, fixed, reals

__all__ = ["assignment"]


def _type_rule(cost: TensorType, limit: TensorType, maximize: bool) -> TensorType:
    if cost.dtype.kind != "float":
        raise TypeError(f"For 'assignment', the costs must be floating-point numbers, but are {cost}.")
    if cost.rank < 2 or limit.shape != cost.shape[:-2] or limit.dtype.kind not in ("int", "uint"):
        raise ValueError(
            f"For 'assignment', the costs must be matrices and the limit an integer for each of them, but "
            f"got {cost} and {limit}."
        )
    return cost.with_dtype(int64).with_shape((*cost.shape[:-2], 2, min(cost.shape[-2:])))


def _numpy(cost: Any, limit: Any, maximize: bool) -> Any:
    solve = import_module("scipy.optimize").linear_sum_assignment  # which takes long to import
    y = np.full((*cost.shape[:-2], 2, min(cost.shape[-2:])), -1, np.int64)
    for index in np.ndindex(*cost.shape[:-2]):
        columns = min(cost.shape[-1], max(0, int(limit[index])))
        pairs = solve(cost[index][:, :columns].astype(np.float64), maximize)
        y[index][:, : len(pairs[0])] = pairs
    return y


def _one_xla(jax: Any, cost: Any, limit: Any, maximize: bool) -> Any:
    numpy, lax = jax.numpy, jax.lax
    rows, columns = cost.shape
    size = max(rows, columns)
    real = (numpy.arange(size) < rows)[:, None], (numpy.arange(size) < numpy.minimum(columns, limit))[None]
    wide = numpy.zeros((size, size)).at[:rows, :columns].set(-cost if maximize else cost)
    # the range of the real costs, so many times that one pair less never pays
    both, neither = real[0] & real[1], ~real[0] & ~real[1]
    least = numpy.where(both, wide, numpy.inf).min(initial=numpy.inf)
    spread = numpy.where(both, wide - least, 0.0)
    wide = numpy.where(both, spread, numpy.where(neither, 0.0, 2 * size * (spread.max(initial=0.0) + 1)))

    def search(state: Any) -> Any:
        """One more column joins those that the tree of shortest paths has reached."""
        at, u, v, partner, way, distance, used = state
        used = used.at[at].set(True)
        row = partner[at]
        length = wide[row - 1] - u[row] - v[1:]
        closer = (length < distance[1:]) & ~used[1:]
        distance = distance.at[1:].set(numpy.where(closer, length, distance[1:]))
        way = way.at[1:].set(numpy.where(closer, at, way[1:]))
        following = numpy.argmin(numpy.where(used[1:], numpy.inf, distance[1:])) + 1
        step = distance[following]
        u = u.at[partner].add(numpy.where(used, step, 0.0))
        v = v - numpy.where(used, step, 0.0)
        distance = numpy.where(used, distance, distance - step)
        return following, u, v, partner, way, distance, used

    def exchange(state: Any) -> Any:
        at, partner, way = state
        return way[at], partner.at[at].set(partner[way[at]]), way

    def add_row(row: Any, state: Any) -> Any:
        u, v, partner = state
        partner = partner.at[0].set(row)
        distance, used = numpy.full(size + 1, numpy.inf), numpy.zeros(size + 1, bool)
        start = (row * 0, u, v, partner, partner * 0, distance, used)
        at, u, v, partner, way, *_ = lax.while_loop(
            lambda state: state[3][state[0]] != 0, search, search(start)
        )
        _, partner, _ = lax.while_loop(lambda state: state[0] != 0, exchange, (at, partner, way))
        return u, v, partner

    zeros = numpy.zeros(size + 1)
    *_, partner = lax.fori_loop(1, size + 1, add_row, (zeros, zeros, numpy.zeros(size + 1, int)))
    row_of_column = partner[1:] - 1
    column_of_row = numpy.argsort(row_of_column)
    found = numpy.take_along_axis(both, column_of_row[:, None], 1)[:, 0]
    order = numpy.argsort(~found, stable=True)[: min(rows, columns)]
    return numpy.where(found[order], numpy.stack([order, column_of_row[order]]), -1).astype(np.int64)


def _xla(jax: Any, cost: Any, limit: Any, maximize: bool) -> Any:
    if not min(cost.shape):
        return jax.numpy.full((*cost.shape[:-2], 2, min(cost.shape[-2:])), -1, np.int64)
    one = lambda each, most: _one_xla(jax, each, most, maximize)
    for _ in cost.shape[:-2]:
        one = jax.vmap(one)
    return one(cost.astype(np.float64), limit)


#: ``assignment(cost, limit, maximize)``: the rows and columns of the pairs, of shape (2, min(m, n)), in the
#: order of rows, of which only the first ``limit`` columns take part; −1 where there are fewer pairs
assignment = constant(
    "assignment",
    type_rule=_type_rule,
    numpy=_numpy,
    xla=_xla,
    batch=batched_in_front("assignment"),
    samples=[
        case(reals()[4, 4], fixed(4), maximize=False, accepts="float"),
        case(reals()[3, 5], fixed(4), maximize=True, accepts="float"),
        case(reals()[2, 5, 3], fixed([2, 9]), maximize=False, accepts="float"),
        case(reals()[3, 3], fixed(0), maximize=False, accepts="float"),
        case(reals()[0, 3], fixed(3), maximize=False, accepts="float"),
    ],
)
