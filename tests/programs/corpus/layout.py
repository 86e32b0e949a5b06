"""Programs that move elements: views, joins, splits, pads, repeats; first and second order."""

import jax.numpy as jnp
import numpy as np

from mindgrad import ops
from tests.programs.corpus.program import normal, program


@program(
    normal(4),
    oracle=lambda x: jnp.outer(x, x),
    gradient=lambda x: 2 * x.sum() * np.ones(4),
)
def an_outer_product_through_reshape(x):
    """MindSpore 2.10's PyNative mode drops its second derivative."""
    return ops.reshape(x, (4, 1)) * ops.reshape(x, (1, 4))


@program(
    normal(3),
    oracle=lambda x: (x[:, None] * x[None, :] * x[:, None]).sum(1),
    gradient=lambda x: 2 * x * x.sum() + np.sum(x * x),
)
def an_outer_product_through_expand_dims(x):
    column = ops.expand_dims(x, 1)
    row = ops.ExpandDims()(x, 0)
    return ops.reduce_sum(column * row * column, 1)


@program(normal(1, 3, 1), oracle=lambda x: x[0, :, 0] ** 2 * x[:, :, 0].sum() + x[0].T[0])
def squeezed_views(x):
    a = ops.squeeze(x)
    b = ops.squeeze(x, -1)
    c = ops.Squeeze(0)(x)
    return a * a * ops.reduce_sum(b) + ops.transpose(c, (1, 0))[0]


@program(normal(2, 3), oracle=lambda x: x.T * x.T @ jnp.outer(x[:, 0], x[:, 1]) + x.T)
def transposed_views(x):
    t = ops.transpose(x, (1, 0))
    return ops.matmul(t * x.T, ops.outer(x[:, 0], x[:, 1])) + ops.Transpose()(x, (1, 0))


@program(
    normal(2, 3, 2),
    oracle=lambda x: (
        jnp.transpose(x, (2, 0, 1)) * jnp.swapaxes(x, 0, 2).transpose(0, 2, 1)
        + jnp.moveaxis(x, 0, -1).transpose(1, 2, 0)
    ),
)
def three_axes_permuted(x):
    y = ops.transpose(x, (2, 0, 1)) * ops.transpose(ops.swapaxes(x, 0, 2), (0, 2, 1))
    return y + ops.transpose(ops.moveaxis(x, 0, -1), (1, 2, 0))


@program(
    normal(2, 2), normal(2, 3),
    oracle=lambda x, y: jnp.concatenate([x, y, x * y[:, :2]], 1) ** 3 * jnp.concatenate([y, x, x], 1),
)  # fmt: skip
def concatenated_twice(x, y):
    return ops.concat((x, y, x * y[:, :2]), 1) ** 3 * ops.Concat(axis=-1)([y, x, x])


@program(
    normal(4, 3), oracle=lambda x: (x[:2] * x[2:]).sum(0) * x[3] + jnp.stack([x[0], x[1] * x[2]]).prod(0)
)
def split_and_stacked(x):
    upper, lower = ops.split(x, 2)
    rows = ops.unstack(x)
    return ops.reduce_sum(upper * lower, 0) * rows[3] + ops.reduce_prod(
        ops.stack((rows[0], rows[1] * rows[2])), 0
    )


@program(
    normal(2, 3),
    oracle=lambda x: (
        jnp.tile(x, (2, 1)) * jnp.concatenate([x[::-1], x * x]) + jnp.roll(jnp.repeat(x, 2, 0), 1, 1)
    ),
)
def tiled_flipped_rolled(x):
    y = ops.tile(x, (2, 1)) * ops.concat((ops.flip(x, (0,)), x * x))
    return y + ops.roll(ops.repeat_interleave(x, 2, 0), 1, 1)


@program(
    normal(2, 2),
    oracle=lambda x: jnp.pad(x, ((1, 0), (2, 1)), constant_values=0.0) * jnp.pad(x * x, ((0, 1), (1, 2))),
)
def padded(x):
    """pad counts from the last axis: (left, right, top, bottom)."""
    return ops.pad(x, (2, 1, 1, 0)) * ops.pad(x * x, (1, 2, 0, 1))


@program(
    normal(3), normal(2), oracle=lambda x, y: jnp.outer(x, y) ** 2 * jnp.sin(jnp.outer(x, jnp.ones(2)) + y)
)
def on_a_grid(x, y):
    a, b = ops.meshgrid(x, y, indexing="ij")
    return (a * b) ** 2 * ops.sin(a + b)


@program(
    normal(3, 3),
    oracle=lambda x: jnp.tril(x) @ jnp.triu(x, 1) + jnp.diag(jnp.diag(x) ** 2) + jnp.trace(x) * x,
)
def triangles_and_diagonals(x):
    y = ops.matmul(ops.tril(x), ops.triu(x, 1))
    return y + ops.diag(ops.diagonal(x) ** 2) + ops.trace(x) * x


@program(
    normal(2, 3),
    oracle=lambda x: (
        ((x.reshape(3, 2) @ x).reshape(-1)[:, None] * x.ravel()[None]).reshape(3, 3, 6).sum(-1).T
    ),
)
def tensor_methods(x):
    y = x.reshape(3, 2).matmul(x.view(2, 3)).flatten(start_dim=0).expand_dims(1)
    z = y * x.reshape((1, -1))
    return z.view(3, 3, 6).sum(-1).swapaxes(0, 1)


@program(
    normal(3, 1), oracle=lambda x: (jnp.broadcast_to(x, (2, 3, 4)) * jnp.arange(4.0)).sum((0, 2)) * x[:, 0]
)
def broadcast_and_reduced(x):
    wide = ops.broadcast_to(x, (2, 3, 4))
    return ops.reduce_sum(wide * ops.arange(4).astype("float64"), (0, 2)) * ops.flatten(x).reshape(-1)
