"""Programs of reductions: statistics, norms, products, softmax, cumulative sums."""

import jax
import jax.numpy as jnp
import jax.scipy.special as special
import numpy as np
import scipy.special

from mindgrad import Tensor, ops
from tests.programs.corpus.program import normal, positive, program, spread


@program(
    normal(3, 4),
    oracle=lambda x: (x - x.mean(-1, keepdims=True)) / jnp.sqrt(x.var(-1, keepdims=True) + 1e-5) * x.mean(),
)
def normalized_rows(x):
    centered = x - ops.mean(x, -1, True)
    variance = ops.mean(ops.square(centered), -1, True)
    return centered / ops.sqrt(variance + 1e-5) * x.mean()


@program(
    normal(2, 3, 2),
    oracle=lambda x: x.sum((0, 2)) ** 2 * x.mean(1, keepdims=True).sum() + x.std((0, 2)) * x.var(ddof=1),
)
def several_axes(x):
    y = ops.sum(x, (0, -1)) ** 2 * ops.mean(x, 1, True).sum()
    return y + ops.std(x, (0, 2), 0) * ops.var(x, ddof=1)


@program(
    [2.0, 0.0, 3.0, -1.0], [0.0, 0.0, 3.0, -1.0],
    oracle=lambda x, y: x.prod() ** 2 * x[1] + y.prod() + jnp.prod(x * y + x) + x.prod(),
    gradient=lambda x, y: (_product_slope(x) + (1 + y) * _product_slope(x * y + x), _product_slope(y) + x * _product_slope(x * y + x)),
)  # fmt: skip
def products_with_zeros(x, y):
    return ops.prod(x) ** 2 * x[1] + ops.prod(y) + ops.prod(x * y + x) + ops.prod(x)


def _product_slope(x):
    return np.array([np.prod(np.delete(x, i)) for i in range(x.size)])


@program(
    spread(3, 4),
    oracle=lambda x: (
        x.max(1) * x.min(1)
        + x.max() * jnp.array([1.0, 2, 3])
        + jnp.sort(x, 0)[1, :3] ** 2
        + x.max(0)[1:] ** 2
    ),
)
def extremes(x):
    values, _ = ops.max(x, 1)
    y = values * ops.amin(x, 1) + ops.amax(x) * Tensor(np.array([1.0, 2, 3]))
    middle, _ = ops.median(ops.transpose(x, (1, 0)), -1)
    _, best = ops.ArgMaxWithValue(axis=0)(x)
    return y + middle[:3] ** 2 + best[1:] ** 2


@program(
    [[1.0, 3.0, 3.0], [2.0, 2.0, 2.0]], normal(2, 3),
    oracle=lambda x, y: (x.max(1) * y[:, 0], (x * y).min(0)),
    smooth=False, reason="ties share the derivative",
)  # fmt: skip
def tied_extremes(x, y):
    return ops.amax(x, 1) * y[:, 0], ops.amin(x * y, 0)


@program(
    normal(3, 2), normal(4),
    oracle=lambda x, y: jnp.sqrt((x * x).sum()) * jnp.linalg.norm(x, axis=1) @ y[:3] + jnp.abs(y).sum() + ((y**4).sum()) ** 0.25,
)  # fmt: skip
def norms(x, y):
    z = ops.reduce_sum(ops.norm(x) * ops.norm(x, dim=1) * y[:3])
    return z + ops.norm(y, ord=1) + ops.norm(y, ord=4)


@program(
    [[0.0, 0.0], [3.0, 4.0]],
    oracle=None,
    gradient=lambda x: np.array([[0.0, 0.0], [0.6, 0.8]]) * 2,
    smooth=False, reason="jax gives NaN for the norm of a zero vector",
)  # fmt: skip
def a_norm_of_zero(x):
    return ops.norm(x, dim=1) * 2


@program(
    normal(2, 4), others=[np.array([2, 0])],
    oracle=lambda x, label: -jax.nn.log_softmax(x, -1)[jnp.arange(2), label].mean() + special.logsumexp(x, 0).sum() * jax.nn.softmax(x, 0).max(),
)  # fmt: skip
def cross_entropy(x, label):
    chosen = ops.one_hot(label, 4, Tensor(np.float64(1)), Tensor(np.float64(0)))
    loss = -ops.mean(ops.reduce_sum(chosen * ops.log_softmax(x, -1), -1))
    return loss + ops.logsumexp(x, 0).sum() * ops.amax(ops.softmax(x, 0))


@program(
    normal(5),
    oracle=lambda x: jnp.log(jnp.exp(x - jax.lax.stop_gradient(x.max())).sum()) + x.max(),
    gradient=lambda x: scipy.special.softmax(x) + (x == x.max()),
    smooth=False, reason="the largest element is held while differentiating: on purpose no quotient's value",
)  # fmt: skip
def a_stable_sum_of_exponentials(x):
    """Written by hand, with the largest element held; added to it as it is."""
    highest = ops.stop_gradient(ops.amax(x))
    return ops.log(ops.reduce_sum(ops.exp(x - highest))) + ops.amax(x)


@program(
    normal(3, 4),
    oracle=lambda x: jnp.cumsum(x, 1) * jnp.cumprod(x, 0) + jax.lax.cummax(x, 1) * x,
)
def cumulative(x):
    best, _ = ops.cummax(x, 1)
    return ops.cumsum(x, 1) * ops.cumprod(x, 0) + best * x


@program(
    [[1.0, 0.0, 2.0, 0.0], [0.5, 2.0, 0.0, 3.0]],
    oracle=lambda x: jnp.stack([_running(x[0]), _running(x[1])]) * x[::-1],
)
def cumulative_products_with_zeros(x):
    return ops.cumprod(x, 1) * ops.flip(x, (0,))


def _running(row):
    products = [row[0]]
    for each in row[1:]:
        products.append(products[-1] * each)
    return jnp.stack(products)


@program(
    normal(3, 4), normal(3, 4),
    oracle=lambda q, k: jax.nn.softmax(jnp.where(jnp.tril(jnp.ones((3, 3), bool)), q @ k.T / 2, -jnp.inf), -1) @ (k * q),
)  # fmt: skip
def masked_attention(q, k):
    """Scores of −∞ where the mask hides the future."""
    scores = ops.matmul(q, k.T) / 2
    hidden = ops.logical_not(Tensor(np.tril(np.ones((3, 3), bool))))
    return ops.matmul(ops.softmax(ops.masked_fill(scores, hidden, -np.inf), -1), k * q)


@program(
    positive(4), normal(4),
    oracle=lambda p, x: (p / p.sum() * jnp.log(p / p.sum())).sum() + (p * x).sum() / jnp.sqrt((x * x).sum() * (p * p).sum()),
)  # fmt: skip
def entropy_and_cosine(p, x):
    share = p / ops.reduce_sum(p)
    cosine = ops.reduce_sum(p * x) / ops.sqrt(ops.reduce_sum(x * x) * ops.reduce_sum(p * p))
    return ops.reduce_sum(ops.xlogy(share, share)) + cosine
