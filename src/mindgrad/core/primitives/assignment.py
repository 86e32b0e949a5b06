"""Linear assignment: pair each row with a different column at minimum total cost.

The Hungarian algorithm with potentials (E. Lawler, "Combinatorial Optimization", 1976, chapter 5) needs a
square cost matrix. A rectangular matrix is therefore extended by rows or columns. A pair that contains an
added row or column costs more than any original pair, so the number of original pairs is maximal.
"""

from __future__ import annotations

import numpy as np

from mindgrad.core.ir.dtype import int64
from mindgrad.core.ir.rules import Array, Module, Stored
from mindgrad.core.ir.types import TensorType
from mindgrad.core.primitives.axes import Core
from mindgrad.core.primitives.kinds import constant
from mindgrad.core.primitives.samples import case, fixed, reals

__all__ = ["assignment"]


def _type_rule(cost: TensorType, limit: TensorType, maximize: bool) -> TensorType:
    if cost.dtype.kind != "float":
        raise TypeError(f"For 'assignment', the costs must have a floating-point dtype, but got {cost}.")
    if cost.rank < 2 or limit.shape != cost.shape[:-2] or limit.dtype.kind not in ("int", "uint"):
        raise ValueError(
            f"For 'assignment', the costs must be a batch of matrices, with one integer limit per matrix, "
            f"but got {cost} and {limit}."
        )
    return cost.with_dtype(int64).with_shape((*cost.shape[:-2], 2, min(cost.shape[-2:])))


def _square(numpy: Module, cost: Array, limit: Array | int, maximize: bool) -> tuple[Stored, Array]:
    """Return the costs, padded to a square matrix, and a mask of the original pairs.

    The costs of added pairs are chosen so that the optimal assignment of the original pairs does not change.
    """
    rows, columns = cost.shape
    size = max(rows, columns)
    row, column = numpy.arange(size)[:, None] < rows, numpy.arange(size)[None] < numpy.minimum(columns, limit)
    both, neither = row & column, ~row & ~column
    wide = numpy.pad(-cost if maximize else cost, ((0, size - rows), (0, size - columns)))
    wide = numpy.where(both, wide - numpy.where(both, wide, numpy.inf).min(initial=numpy.inf), 0.0)
    # an additional pair costs so much that it never replaces a real pair in the optimal assignment
    return numpy.where(both | neither, wide, 2 * size * (wide.max(initial=0.0) + 1)), both


def _found(numpy: Module, row_of_column: Array, both: Array, count: int) -> Array:
    """Return the pairs of the original problem, sorted by row.

    The result has ``count`` columns; unused columns at the end contain −1.
    """
    column_of_row = numpy.argsort(row_of_column)
    real = numpy.take_along_axis(both, column_of_row[:, None], 1)[:, 0]
    order = numpy.argsort(~real, stable=True)[:count]
    return numpy.where(real[order], numpy.stack([order, column_of_row[order]]), -1).astype(np.int64)


def _one_numpy(cost: Array, limit: Array, maximize: bool) -> Array:
    wide, both = _square(np, cost.astype(np.float64), limit, maximize)
    size = len(wide)
    u, v, partner = np.zeros(size + 1), np.zeros(size + 1), np.zeros(size + 1, int)
    for row in range(1, size + 1):
        partner[0], at = row, 0
        way, distance, used = np.zeros(size + 1, int), np.full(size + 1, np.inf), np.zeros(size + 1, bool)
        while partner[at]:
            used[at] = True
            length = wide[partner[at] - 1] - u[partner[at]] - v[1:]
            closer = (length < distance[1:]) & ~used[1:]
            distance[1:][closer], way[1:][closer] = length[closer], at
            following = int(np.argmin(np.where(used[1:], np.inf, distance[1:]))) + 1
            step = distance[following]
            u[partner[used]] += step
            v[used] -= step
            distance[~used] -= step
            at = following
        while at:
            partner[at], at = partner[way[at]], way[at]
    return _found(np, partner[1:] - 1, both, min(cost.shape))


def _numpy(cost: Array, limit: Array, maximize: bool) -> Array:
    y = np.full((*cost.shape[:-2], 2, min(cost.shape[-2:])), -1, np.int64)
    for index in np.ndindex(*cost.shape[:-2]) if y.size else ():
        y[index] = _one_numpy(cost[index], limit[index], maximize)
    return y


def _one_xla(jax: Module, cost: Array, limit: Array, maximize: bool) -> Array:
    numpy, lax = jax.numpy, jax.lax
    wide, both = _square(numpy, cost, limit, maximize)
    size = len(wide)

    def search(state: tuple) -> tuple:
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

    def exchange(state: tuple) -> tuple:
        at, partner, way = state
        return way[at], partner.at[at].set(partner[way[at]]), way

    def add_row(row: Array, state: tuple) -> tuple:
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
    return _found(numpy, partner[1:] - 1, both, min(cost.shape))


def _xla(jax: Module, cost: Array, limit: Array, maximize: bool) -> Array:
    if not min(cost.shape):
        return jax.numpy.full((*cost.shape[:-2], 2, min(cost.shape[-2:])), -1, np.int64)
    solver = lambda each, most: _one_xla(jax, each, most, maximize)
    for _ in cost.shape[:-2]:
        solver = jax.vmap(solver)
    return solver(cost.astype(np.float64), limit)


#: ``assignment(cost, limit, maximize)``: optimal assignment of rows to columns of an m × n cost matrix. The
#: result has shape (2, min(m, n)) and contains the row and column of each pair, in the order of rows. Only
#: the first ``limit`` columns of ``cost`` are paired. Unused entries of the result are −1
assignment = constant(
    "assignment",
    type_rule=_type_rule,
    numpy=_numpy,
    xla=_xla,
    axes=Core("(i,j),()->(p,k)"),
    samples=[
        case(reals()[4, 4], fixed(4), maximize=False, accepts="float"),
        case(reals()[3, 5], fixed(4), maximize=True, accepts="float"),
        case(reals()[2, 5, 3], fixed([2, 9]), maximize=False, accepts="float"),
        case(reals()[3, 3], fixed(0), maximize=False, accepts="float"),
        case(reals()[0, 3], fixed(3), maximize=False, accepts="float"),
    ],
)
