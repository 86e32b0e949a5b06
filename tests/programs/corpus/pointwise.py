"""Programs of pointwise operators: formulas, broadcasting, numbers beside tensors, masked branches."""

import jax
import jax.numpy as jnp
import jax.scipy.special as special
import numpy as np
import scipy.special

from mindgrad import Tensor, ops
from mindgrad import dtype as mstype
from tests.programs.corpus.program import normal, positive, program, spread, uniform


@program(
    normal(4),
    oracle=lambda x: jnp.sin(x) * x**3 - x * x / (1 + jnp.cos(x) ** 2),
    gradient=lambda x: np.cos(x) * x**3 + 3 * x * x * np.sin(x)
    - (2 * x * (1 + np.cos(x) ** 2) + 2 * x * x * np.cos(x) * np.sin(x)) / (1 + np.cos(x) ** 2) ** 2,
)  # fmt: skip
def a_formula(x):
    return ops.sin(x) * x**3 - x * x / (1 + ops.cos(x) ** 2)


@program(
    normal(3, 1), normal(4), normal(),
    oracle=lambda x, y, z: x * y + z * jnp.exp(x * y) - (x - z) ** 2,
)  # fmt: skip
def broadcasting(x, y, z):
    """(3, 1), (4) and () together; every gradient is summed back to its input's shape."""
    return x * y + z * ops.exp(x * y) - ops.square(x - z)


@program(
    positive(2, 3), positive(3),
    oracle=lambda x, y: (x / y, (y - x) ** 2 * jnp.broadcast_to(y, (2, 3)), x * x.sum()),
)  # fmt: skip
def broadcasting_into_several_outputs(x, y):
    return x / y, (y - x) ** 2 * ops.broadcast_to(y, (2, 3)), x * x.sum()


@program(
    positive(3),
    oracle=lambda x: 2 - x + 1 / x + 2.0**x + 3.0 * x + x * 0.5 + x**1.5 + (-x) / 4 - (x - 7) + (3 - x) * 2,
    gradient=lambda x: -1 - 1 / x**2 + np.log(2) * 2**x + 3 + 0.5 + 1.5 * np.sqrt(x) - 0.25 - 1 - 2,
)
def numbers_on_either_side(x):
    y = 2 - x + 1 / x + 2.0**x + np.float64(3) * x + x * np.float32(0.5) + x ** np.float64(1.5)
    return y + (-x) / 4 - (x - np.int64(7)) + np.int32(3) * (1 - x / 3) * 2


@program(
    spread(5),
    oracle=lambda x: x**2 + x**3 * x**0 + x**-1 + x**-2 + x**5 + (x * x) ** 1.5 + (x * x) ** 0.5,
    gradient=lambda x: 2 * x + 3 * x**2 - x**-2 - 2 * x**-3 + 5 * x**4 + 3 * x * np.abs(x) + np.sign(x),
)
def powers_of_a_negative_base(x):
    y = x**2 + ops.pow(x, 3) * x**0 + x**-1 + x ** (-2.0) + ops.pow(x, 5.0)
    return y + (x * x) ** 1.5 + ops.pow(x * x, 0.5)


@program(positive(2, 1), normal(3), oracle=lambda x, p: x**p * p**2 + jnp.power(1.5, p * x))
def powers_with_variable_exponents(x, p):
    return x**p * p**2 + 1.5 ** (p * x)


@program(
    uniform(0.1, 0.9, 4),
    oracle=lambda x: special.erf(x) * special.gammaln(x + 1) + special.digamma(x + 1) * special.erfinv(x)
    + jnp.log1p(x) * jnp.expm1(x) + jnp.logaddexp(x, x * x) + special.erfc(x),
)  # fmt: skip
def special_functions(x):
    y = ops.erf(x) * ops.lgamma(x + 1) + ops.digamma(x + 1) * ops.erfinv(x)
    return y + ops.log1p(x) * ops.expm1(x) + ops.logaddexp(x, x * x) + ops.erfc(x)


@program(
    uniform(-0.9, 0.9, 4), positive(4),
    oracle=lambda x, y: jnp.arcsin(x) * jnp.arccos(x * y / 2) + jnp.arctan(x) + jnp.arcsinh(x)
    + jnp.arccosh(1.1 + y) * jnp.arctanh(x) + jnp.arctan2(x, y) + jnp.hypot(x, y) + jnp.tan(x) * jnp.sinh(x) / jnp.cosh(y),
)  # fmt: skip
def inverse_functions(x, y):
    z = ops.asin(x) * ops.acos(x * y / 2) + ops.atan(x) + ops.asinh(x)
    z = z + ops.acosh(1.1 + y) * ops.atanh(x) + ops.atan2(x, y) + ops.hypot(x, y)
    return z + ops.tan(x) * ops.sinh(x) / ops.cosh(y)


@program(
    positive(3), normal(3),
    oracle=lambda x, y: jnp.sqrt(x) * jax.lax.rsqrt(x + 1) + jnp.log(x) / jnp.log2(x + 1) + jnp.cbrt(x)
    + jnp.square(y) * jnp.reciprocal(x) + jnp.exp2(y) - (x - y) ** 2 + special.xlogy(x, x + 1),
)  # fmt: skip
def roots_and_logarithms(x, y):
    z = ops.sqrt(x) * ops.rsqrt(x + 1) + ops.log(x) / ops.log2(x + 1) + ops.cbrt(x)
    z = z + ops.square(y) * ops.reciprocal(x) + ops.exp2(y) - ops.squared_difference(x, y)
    return z + ops.xlogy(x, x + 1)


@program(
    spread(6), spread(6),
    oracle=lambda x, y: jnp.maximum(x, y) * jnp.abs(x) + jnp.minimum(x, 0.5) * y + jnp.clip(x, -0.7, 0.7) ** 2
    + jnp.sign(x) * y * y + jnp.floor(x) * x + jnp.fmod(x, 0.77) * y,
)  # fmt: skip
def kinks_away_from_their_points(x, y):
    z = ops.maximum(x, y) * ops.abs(x) + ops.minimum(x, 0.5) * y + ops.clip(x, -0.7, 0.7) ** 2
    return z + ops.sign(x) * y * y + ops.floor(x) * x + ops.fmod(x, 0.77) * y


@program(
    [0.0, 1.0, -2.0, 1.0], [0.0, 1.0, 3.0, 1.0],
    oracle=lambda x, y: jnp.maximum(x, y) * x + jnp.minimum(x, y) * y,
    smooth=False, reason="ties share the derivative",
)  # fmt: skip
def ties_share(x, y):
    return ops.maximum(x, y) * x + ops.minimum(x, y) * y


@program(
    [-1.0, -2.5, 4.0, 0.25], normal(4),
    oracle=lambda x, y: jnp.where(x > 0, jnp.sqrt(jnp.where(x > 0, x, 1.0)) * y, 0) + jnp.where(x > 0, jnp.log(jnp.where(x > 0, x, 1)), x * y),
    gradient=lambda x, y: (
        np.where(x > 0, y / (2 * np.sqrt(np.abs(x))) + 1 / x, y),
        np.where(x > 0, np.sqrt(np.abs(x)), x),
    ),
)  # fmt: skip
def a_masked_branch_is_nan(x, y):
    """The branch that is not taken is NaN and has a NaN slope; it must contribute nothing."""
    return ops.where(x > 0, ops.sqrt(x) * y, 0.0) + ops.select(x > 0, ops.log(x), x * y)


@program(
    [-1.0, 0.0, 4.0, -0.5], normal(4),
    oracle=lambda x, w: jnp.where(x > 0, _chained(jnp.where(x > 0, x, 1.0), w, jnp), 0.0),
    smooth=False, reason="0 is where the mask changes",
)  # fmt: skip
def a_masked_chain(x, w):
    """What follows the NaN has a NaN slope as well: sines, powers, weights, quotients of it."""
    return ops.where(x > 0, _chained(x, w, ops), 0.0)


def _chained(x, w, of):
    root = of.sqrt(x)
    return (
        of.sin(root) * w + of.log(x) ** 2 * w + of.tanh(1 / x) * of.log(x) * x + of.exp(w * of.log(x)) / root
    )


@program(
    [0.0, 4.0, 0.0, -1.0],
    oracle=lambda x: jnp.where(x > 0, jnp.where(x > 0, x, 1) ** 1.5, 0.0),
    gradient=lambda x: np.where(x > 0, 1.5 * np.sqrt(np.abs(x)), 0),
    smooth=False, reason="0 is where the mask changes",
)  # fmt: skip
def a_masked_branch_of_infinite_slope(x):
    """√x · x with √x infinite in slope at 0, where the mask hides it."""
    return ops.where(x > 0, ops.sqrt(x) * x, ops.zeros_like(x)) / 1


@program(
    [0.0, 1.0, -1.0, 0.0],
    oracle=None,
    gradient=lambda x: np.where(x > 0, 1 / (2 * np.sqrt(np.abs(x) + (x == 0))), 0),
    smooth=False, reason="jax gives NaN: 0 · ∞ in the branch that is not taken",
)  # fmt: skip
def a_masked_root(x):
    return ops.where(x > 0, ops.sqrt(x), 0.0)


@program(
    normal(2, 3),
    oracle=lambda x: jax.nn.gelu(x, approximate=False) + jax.nn.silu(x) * jax.nn.softplus(x) + jax.nn.elu(x)
    + jax.nn.selu(x) * jax.nn.sigmoid(x) + x * jnp.tanh(jax.nn.softplus(x)) + jax.nn.log_sigmoid(x)
    + jax.nn.leaky_relu(x, 0.2) + x / (1 + jnp.abs(x)) + jax.nn.relu(x) * x,
)  # fmt: skip
def activations(x):
    """GeLU, ELU and others that have no second derivative in MindSpore."""
    y = ops.gelu(x, approximate="none") + ops.silu(x) * ops.softplus(x) + ops.elu(x)
    y = y + ops.selu(x) * ops.sigmoid(x) + ops.mish(x) + ops.logsigmoid(x)
    return y + ops.leaky_relu(x, 0.2) + ops.softsign(x) + ops.relu(x) * x


@program(normal(5), oracle=lambda x: jax.nn.gelu(x, approximate=True) * x)
def approximate_gelu(x):
    return ops.gelu(x, approximate="tanh") * x


@program(
    normal(4),
    oracle=lambda x: special.erf(x / 2) + jnp.exp(-x * x),
    gradient=lambda x: (
        np.exp(-x * x / 4) / np.sqrt(np.pi) - 2 * x * scipy.special.exp10(-x * x * np.log10(np.e))
    ),
)
def a_gaussian_and_its_integral(x):
    return ops.erf(x / 2) + ops.exp(-ops.square(x))


@program(
    normal(3), normal(3),
    oracle=lambda x, y: (x + y * y) * (x - 2 * y),
    gradient=lambda x, y: (2 * x + y * y - 2 * y, 2 * y * (x - 2 * y) - 2 * (x + y * y)),
)  # fmt: skip
def real_and_imaginary_parts(x, y):
    """Real programs that pass through complex numbers: (x + i y)², conjugates, products."""
    z = ops.complex(x, y)
    w = z * ops.conj(z)  # x² + y²
    return (
        ops.real(w)
        - ops.real(z * z)
        - 2 * ops.square(y)
        + ops.imag(z * z) / 2 * y
        + x * x
        - 2 * x * y
        - 2 * y**3
    )


@program(
    normal(2, 3), oracle=lambda x: (jnp.abs(x + 0.3 + 1j * x**2) ** 2).sum(0) + jnp.angle(x + 3 + 1j * x)
)
def magnitudes_and_angles(x):
    z = ops.complex(x + 0.3, x * x)
    return ops.reduce_sum(ops.square(ops.abs(z)), 0) + ops.angle(ops.complex(x + 3, x))


@program(
    spread(2, 3),
    oracle=lambda x: jnp.where(x > 0.5, x * x, jnp.where(x < -0.5, -x, x**3)),
    gradient=lambda x: np.where(x > 0.5, 2 * x, np.where(x < -0.5, -1.0, 3 * x * x)),
)
def a_piecewise_formula_from_masks(x):
    high = ops.cast(x > 0.5, mstype.float64)
    low = ops.cast(ops.logical_and(x < -0.5, x < 0), mstype.float64)
    return high * x * x - low * x + (1 - high - low) * x**3


@program(normal(4), oracle=lambda x: x * 0 + jnp.tanh(x) * jnp.asarray([1.0, -2.0, 0.5, 3.0]) + 0.0 * x)
def zeros_and_constants(x):
    table = Tensor(np.array([1.0, -2.0, 0.5, 3.0]))
    return x * 0 + ops.tanh(x) * table + ops.zeros_like(x) * ops.exp(x) + 0.0 * x
