"""Programs that read and write elements: slices, integer arrays, masks, scatters, sorting."""

import jax
import jax.numpy as jnp
import numpy as np

from mindgrad import Tensor, ops
from tests.programs.corpus.program import normal, positive, program, spread


@program(
    normal(5, 4),
    oracle=lambda x: x[1:4, ::2] * x[::-2, -2:] + x[..., 0][:3, None] * x[None, 2, 1:3] + x[-1, -1],
)
def slices(x):
    return x[1:4, ::2] * x[::-2, -2:] + x[..., 0][:3, None] * x[None, 2, 1:3] + x[-1, -1]


@program(
    normal(4),
    oracle=lambda x: x[jnp.array([0, 2, 2, -1, 2])] * x[jnp.array([1, 1, 0, 3, 2])],
    gradient=lambda x: np.array([x[1] + x[2], x[0] + x[2], 2 * x[2] + x[0] + x[1], 2 * x[3]]),
)
def repeated_indices(x):
    """An element that is read several times collects from all places."""
    return x[Tensor([0, 2, 2, -1, 2])] * ops.gather(x, Tensor([1, 1, 0, 3, 2]), 0)


@program(
    normal(4, 3),
    others=[np.array([[3, 0], [1, 1]]), np.array([2, 0, 1])],
    oracle=lambda x, i, j: (x[i] ** 2).sum((0, 1)) * x[:3, 1] + x[jnp.array([0, 1, 2]), j] * x[i[0, 0]],
)
def indices_as_data(x, i, j):
    """Integer tensors among the inputs: places that a compiled program does not know."""
    rows = x[i]
    return ops.reduce_sum(ops.square(rows), (0, 1)) * x[:3, 1] + x[[0, 1, 2], j] * x[i[0, 0]]


@program(
    normal(5, 2),
    others=[np.array([[1, 4, 4], [0, 1, 2]])],
    oracle=lambda table, tokens: (table[tokens].mean(1) @ table.T) ** 2,
)
def an_embedding(table, tokens):
    found = ops.gather(table, tokens, 0)
    return ops.matmul(ops.reduce_mean(found, 1), table.T) ** 2


@program(
    normal(3, 4),
    oracle=lambda x: (
        jnp.take_along_axis(x, jnp.array([[3, 0], [1, 1], [2, 3]]), 1)
        * x[jnp.array([2, 0, 1]), jnp.array([0, 1, 2])][:, None]
        + jnp.take(x.ravel(), jnp.array([5, 6]))[None]
    ),
)
def gathers(x):
    y = ops.gather_elements(x, 1, Tensor([[3, 0], [1, 1], [2, 3]]))
    z = ops.gather_nd(x, Tensor([[2, 0], [0, 1], [1, 2]]))
    return y * ops.expand_dims(z, 1) + ops.take(x, Tensor([5, 6]))


@program(
    normal(4),
    oracle=lambda x: (x * 2).at[0].set(x[1] * x[2]).at[2:].set(x[:2] ** 3).at[1].multiply(x[3]) ** 2,
)
def writes_into_a_local_tensor(x):
    y = x * 2
    y[0] = x[1] * x[2]
    y[2:] = x[:2] ** 3
    y[1] *= x[3]
    return y**2


@program(
    normal(3, 3), normal(3),
    oracle=lambda x, y: x.at[1].set(y * y).at[:, 2].set(0.5).at[0, 0].add(y[1]).at[jnp.array([2, 0]), jnp.array([0, 1])].set(y[:2] * y[1] ** 2) @ y,
)  # fmt: skip
def writes_into_an_argument(x, y):
    """The caller's tensor stays; what is overwritten has gradient zero."""
    x[1] = y * y
    x[:, 2] = 0.5
    x[0, 0] += y[1]
    x[Tensor([2, 0]), Tensor([0, 1])] = y[:2] * x[1, 1]
    return ops.matmul(x, y)


@program(
    normal(3), positive(3),
    oracle=lambda x, y: _recurrence_by_jax(x, y),
)  # fmt: skip
def a_recurrence_written_in_place(x, y):
    """s[i] = s[i − 1]·x[i] + y[i]"""
    s = ops.zeros((4,), x.dtype)
    for i in range(3):
        s[i + 1] = s[i] * x[i] + y[i]
    return s


def _recurrence_by_jax(x, y):
    s = jnp.zeros(4)
    for i in range(3):
        s = s.at[i + 1].set(s[i] * x[i] + y[i])
    return s


@program(
    normal(5), normal(3, 2),
    oracle=lambda x, u: (
        x.at[jnp.array([1, 1, 4])].add(u[:, 0]) ** 2,
        jnp.zeros(4).at[jnp.array([0, 2, 2])].add(u[:, 1]) * x[:4],
        x.at[jnp.array([0, 3])].set(u[:2, 0] * u[1:, 1]) ** 3,
    ),
)  # fmt: skip
def scatters(x, u):
    added = ops.tensor_scatter_add(x, Tensor([[1], [1], [4]]), u[:, 0])
    fresh = ops.scatter_nd(Tensor([[0], [2], [2]]), u[:, 1], (4,))
    written = ops.tensor_scatter_update(x, Tensor([[0], [3]]), u[:2, 0] * u[1:, 1])
    return added**2, fresh * x[:4], written**3


@program(
    spread(3, 4),
    oracle=lambda x: (
        jnp.sort(x, 1) * jnp.arange(4.0)
        + x[:, ::-1] ** 2
        + jax.lax.top_k(x, 2)[0].sum(1, keepdims=True) * x.max(1, keepdims=True)
    ),
)
def sorted_and_ranked(x):
    values, places = ops.sort(x)
    best, _ = ops.topk(x, 2)
    y = values * ops.arange(4).astype("float64") + ops.flip(x, (1,)) ** 2
    again = ops.gather_elements(x, 1, places[:, 3:])
    return y + ops.reduce_sum(best, 1).reshape(3, 1) * again


@program(
    spread(2, 3),
    oracle=lambda x: (
        jnp.where(jnp.array([[True, False, True], [False, False, True]]), x * x, 7.0)
        + jnp.where(x > 0, 0.0, x**3)
    ),
)
def masks(x):
    mask = Tensor([[True, False, True], [False, False, True]])
    y = ops.masked_fill(x * x, ops.logical_not(mask), 7.0)
    return y + ops.where(x > 0, 0.0, x**3)


@program(
    normal(3, 3),
    oracle=lambda x: (
        x[jnp.array([0, 2]), jnp.array([1, 2])] * x[jnp.array([1, 2]), 0],
        x[jnp.array([2, 0])][:, :2] ** 2,
    ),
)
def constant_masks_select(x):
    """A mask of known values gives a tensor of known shape, compiled too."""
    mask = Tensor([[False, True, False], [False, False, False], [False, False, True]])
    rows = Tensor([True, False, True])
    return ops.masked_select(x, mask) * x[[1, 2], 0], ops.flip(x[rows], (0,))[:, :2] ** 2


@program(
    normal(4, 4),
    others=[np.array(1), np.array(2)],
    oracle=lambda x, i, j: (
        jax.lax.dynamic_slice(x, (i, j), (2, 2)) * jax.lax.dynamic_index_in_dim(x, i, 0, False)[:2] + x[j, i]
    ),
)
def slices_at_places_that_are_data(x, i, j):
    part = ops.dynamic_slice(x, (i, j), (2, 2))
    return part * x[i][:2] + x[j, i]
