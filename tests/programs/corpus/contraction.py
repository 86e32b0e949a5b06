"""Programs of products of matrices and of linear algebra."""

import jax
import jax.numpy as jnp
import numpy as np

from mindgrad import Tensor, ops
from tests.programs.corpus.program import normal, program


def _spd(x):
    """A symmetric positive definite matrix from any square one."""
    return x @ x.T + 2 * jnp.eye(x.shape[0])


@program(
    normal(3, 3), normal(3),
    oracle=lambda a, x: x @ a @ x,
    gradient=lambda a, x: (np.outer(x, x), (a + a.T) @ x),
)  # fmt: skip
def a_quadratic_form(a, x):
    return ops.matmul(x, ops.matmul(a, x))


@program(
    normal(2, 1, 2, 3), normal(4, 3, 2), normal(3),
    oracle=lambda x, y, z: (x @ y) @ (x @ y) + (x @ z)[..., None] * (z @ y)[:, None, :],
)  # fmt: skip
def batched_products(x, y, z):
    """Batch axes (2, 1) and (4) broadcast; vectors on either side."""
    p = ops.matmul(x, y)
    return ops.matmul(p, p) + ops.expand_dims(ops.matmul(x, z), -1) * ops.expand_dims(ops.matmul(z, y), 1)


@program(
    normal(2, 3), normal(3, 4), normal(4, 2),
    oracle=lambda a, b, c: jnp.einsum("ij,jk,kl->il", a, b, c) + jnp.einsum("ij,jk,ki->", a, b, c) + jnp.einsum("ij->j", a)[:2] * jnp.einsum("ij,ij->i", a, b[:2, :3]),
)  # fmt: skip
def einsums(a, b, c):
    y = ops.einsum("ij,jk,kl->il", a, b, c) + ops.einsum("ij,jk,ki->", a, b, c)
    return y + ops.einsum("ij->j", a)[:2] * ops.einsum("ij,ij->i", a, b[:2, :3])


@program(
    normal(3, 3), normal(2, 3, 3),
    oracle=lambda a, b: jnp.einsum("ii->i", a) * jnp.einsum("bij,jk,bki->i", b, a, b) + jnp.einsum("bii->b", b).sum() * jnp.trace(a @ a),
)  # fmt: skip
def einsums_of_diagonals(a, b):
    y = ops.einsum("ii->i", a) * ops.einsum("bij,jk,bki->i", b, a, b)
    return y + ops.reduce_sum(ops.einsum("bii->b", b)) * ops.trace(ops.matmul(a, a))


@program(
    normal(3), normal(2, 3), normal(4, 2, 3),
    oracle=lambda x, y, z: jnp.dot(x, x) * jnp.outer(x, x)[0] + jnp.tensordot(z, y, ((1, 2), (0, 1))).sum() * x + jnp.kron(x, x[:2])[:3] + (z @ z.transpose(0, 2, 1)).sum() * x,
)  # fmt: skip
def other_products(x, y, z):
    p = (
        ops.tensor_dot(x, x, 1) * ops.outer(x, x)[0]
        + ops.reduce_sum(ops.tensor_dot(z, y, ((1, 2), (0, 1)))) * x
    )
    return p + ops.kron(x, x[:2])[:3] + ops.reduce_sum(ops.bmm(z, ops.transpose(z, (0, 2, 1)))) * x


@program(
    normal(1, 2, 5, 4), normal(3, 2, 2, 2),
    oracle=lambda x, w: jax.lax.conv_general_dilated(x, w, (2, 1), ((1, 1), (0, 0))) ** 2,
)  # fmt: skip
def convolved(x, w):
    return ops.conv2d(x, w, stride=(2, 1), pad_mode="pad", padding=(1, 0)) ** 2


@program(
    normal(3, 3), normal(3, 2),
    oracle=lambda x, b: jnp.linalg.solve(x + 3 * jnp.eye(3), b) * b + jnp.linalg.inv(_spd(x))[:, :2] + jnp.linalg.det(x) + jnp.linalg.slogdet(_spd(x))[1],
)  # fmt: skip
def linear_systems(x, b):
    spd = ops.matmul(x, x.T) + 2 * ops.eye(3, 3, b.dtype)
    y = ops.solve(x + 3 * ops.eye(3, 3, b.dtype), b) * b + ops.inverse(spd)[:, :2]
    return y + ops.det(x) + ops.slogdet(spd)[1]


@program(
    normal(3, 3), normal(3),
    oracle=lambda x, b: -0.5 * jax.scipy.linalg.solve_triangular(jnp.linalg.cholesky(_spd(x)), b, lower=True) @ jax.scipy.linalg.solve_triangular(jnp.linalg.cholesky(_spd(x)), b, lower=True)
    - jnp.log(jnp.diag(jnp.linalg.cholesky(_spd(x)))).sum(),
)  # fmt: skip
def a_log_likelihood(x, b):
    """That of a normal distribution, through the Cholesky factor."""
    factor = ops.cholesky(ops.matmul(x, x.T) + 2 * ops.eye(3, 3, b.dtype))
    z = ops.solve_triangular(factor, b.reshape(3, 1), lower=True).reshape(3)
    return -0.5 * ops.reduce_sum(z * z) - ops.reduce_sum(ops.log(ops.diagonal(factor)))


@program(
    normal(3, 3),
    oracle=lambda x: jnp.linalg.eigh(x + x.T)[0] ** 3 + jnp.linalg.svd(x, compute_uv=False)[::-1] ** 2 + jnp.abs(jnp.linalg.qr(x + 2 * jnp.eye(3))[1]).sum(0),
    rtol=1e-6, atol=1e-8,
)  # fmt: skip
def spectra(x):
    values, _ = ops.eigh(x + x.T)
    _, upper = ops.qr(x + 2 * ops.eye(3, 3, x.dtype))
    return values**3 + ops.flip(ops.svdvals(x), (0,)) ** 2 + ops.reduce_sum(ops.abs(upper), 0)


@program(
    normal(3, 3),
    oracle=lambda x: (
        (jnp.linalg.eigh(x + x.T)[1] * jnp.array([1.0, 2, 3])) @ jnp.linalg.eigh(x + x.T)[1].T
        + jnp.linalg.matrix_power(x, 3)
    ),
    rtol=1e-6,
    atol=1e-8,
)
def a_projection_from_eigenvectors(x):
    """Σ k v_k v_kᵀ: what does not depend on the signs of the eigenvectors."""
    _, vectors = ops.eigh(x + x.T)
    return ops.matmul(vectors * Tensor(np.array([1.0, 2, 3])), vectors.T) + ops.matrix_power(x, 3)
