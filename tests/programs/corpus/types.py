"""Programs of mixed element types, of integers, of tensors without axes and without elements."""

import jax.numpy as jnp
import numpy as np

from mindgrad import dtype as mstype
from mindgrad import ops
from tests.programs.corpus.program import normal, positive, program


def single(draw):
    """The same numbers as Float32."""
    return lambda generator: draw(generator).astype(np.float32)


def half(draw):
    """The same numbers as Float16."""
    return lambda generator: draw(generator).astype(np.float16)


@program(
    single(normal(3)), normal(3),
    oracle=lambda x, y: (x * y + jnp.sin(x), (x * x).astype(jnp.float64) * y),
    smooth=False, reason="a quotient of Float32 numbers has no digits", rtol=2e-5, atol=1e-5,
)  # fmt: skip
def single_and_double(x, y):
    """Each gradient has its own input's type."""
    return x * y + ops.sin(x), ops.cast(x * x, mstype.float64) * y


@program(
    half(normal(3)), single(normal(3)),
    oracle=lambda x, y: (x * 2).astype(jnp.float32) * y * y + x * x,
    smooth=False, reason="a quotient of Float16 numbers has no digits", rtol=2e-2, atol=2e-2,
)  # fmt: skip
def half_and_single(x, y):
    return (x * 2) * y * y + x * x


@program(
    single(normal(2, 2)),
    oracle=lambda x: jnp.tanh(x @ x) / (1.5 + x) ** 2 * 0.1 + x.mean(),
    smooth=False,
    reason="a quotient of Float32 numbers has no digits",
    rtol=2e-4,
    atol=2e-4,
)
def all_single(x):
    """Python numbers do not make it Float64."""
    return ops.tanh(ops.matmul(x, x)) / (1.5 + x) ** 2 * np.float64(0.1) + x.mean()


@program(
    normal(3),
    oracle=lambda x: x * x,
    smooth=False,
    reason="rounded to Float32 on its way",
    rtol=1e-6,
    atol=1e-6,
)
def through_single(x):
    return x.astype(mstype.float32).astype(mstype.float64) * x


@program(
    normal(3), others=[np.array([2, -1, 3]), np.array([True, False, True])],
    oracle=lambda x, n, keep: x**2 * n + n * jnp.exp(x * 0.1) * keep + (n // 2) * x - x / (n + 10) + jnp.where(keep, x, n * x * x),
)  # fmt: skip
def integers_and_truth_values_as_factors(x, n, keep):
    y = x**2 * n + n * ops.exp(x * 0.1) * keep + ops.floor_div(n, 2) * x - x / (n + 10)
    return y + ops.where(keep, x, n * x * x)


@program(normal(), positive(), oracle=lambda x, y: x**2 * jnp.log(y) + y**x, gradient=lambda x, y: (
    2 * x * np.log(y) + y**x * np.log(y), x * x / y + x * y ** (x - 1),
))  # fmt: skip
def without_axes(x, y):
    assert x.shape == () == y.shape
    return x**2 * ops.log(y) + y**x


@program(
    np.zeros((0, 3)), normal(3),
    oracle=lambda x, y: (x * y, x.sum() + (x @ y).sum() + (y**2).sum(), jnp.concatenate((x, y[None])) ** 2),
)  # fmt: skip
def without_elements(x, y):
    return (
        x * y,
        x.sum() + ops.reduce_sum(ops.matmul(x, y)) + ops.reduce_sum(y**2),
        ops.concat((x, y[None])) ** 2,
    )


@program(normal(1), normal(1, 1), oracle=lambda x, y: (x * y).reshape(()) * x + y.sum() * x[0])
def one_element_in_many_shapes(x, y):
    return (x * y).reshape(()) * x + y.sum() * ops.squeeze(x)


@program(
    [1e-100, 1e100, 3.0], oracle=lambda x: x * 2 + jnp.log(x) * 1e-3,
    gradient=lambda x: 2 + 1e-3 / x,
    smooth=False, reason="steps of one size do not fit numbers so different",
)  # fmt: skip
def large_and_small_numbers(x):
    return x * 2 + ops.log(x) * 1e-3
