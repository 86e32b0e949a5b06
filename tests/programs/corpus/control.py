"""Programs that are mostly Python: closures, branches and loops on values known to Python, containers."""

import jax
import jax.numpy as jnp
import numpy as np

from mindgrad import Tensor, nn, ops
from mindgrad.ops import stop_gradient
from tests.programs.corpus.program import normal, positive, program

TABLE = Tensor(np.array([0.5, -1.5, 2.0]))


@program(normal(3), oracle=lambda x: jnp.array([0.5, -1.5, 2.0]) * x**2 + jnp.arange(3.0) @ x)
def a_global_tensor(x):
    return TABLE * x**2 + ops.reduce_sum(ops.arange(3).astype(x.dtype) * x)


@program(normal(), normal(2), oracle=lambda x, y: y * x**3 + jnp.sin(y * x) * x, gradient=lambda x, y: (
    (3 * y * x * x + y * np.cos(y * x) * x + np.sin(y * x)).sum(), x**3 + x * x * np.cos(x * y),
))  # fmt: skip
def closures(x, y):
    cube = x * x * x

    def scaled(z):
        return z * cube

    def wave(z, of=ops.sin):
        return of(z * x)

    return scaled(y) + wave(y) * x


@program(normal(3, 2), oracle=lambda x: _branches(x, jnp), gradient=lambda x: np.stack([
    [3 * x[0, 0] ** 2] * 2, [0.0, 0.0], [1.0, 1.0],
]) * np.array([[1, (x[0, 1] / x[0, 0]) ** 2], [1, 1], [1, 1]]))  # fmt: skip
def branches_on_shapes_and_numbers(x):
    return _branches(x, ops)


def _branches(x, of):
    rows = []
    for index in range(x.shape[0]):
        if index == 0:
            rows.append(x[index] ** 3)
        elif index % 2:
            continue
        else:
            rows.append(x[index] if x.ndim == 2 else x)
    return of.stack(rows)


@program(positive(3), oracle=lambda x: _iterated(x, jnp))
def loops(x):
    return _iterated(x, ops)


def _iterated(x, of):
    """Newton's iteration for the square root, then a sum over a comprehension."""
    y = x * 0 + 1.0
    for _ in range(4):
        y = 0.5 * (y + x / y)
    terms = {k: x**k / (k + 1) for k in range(1, 4)}
    return sum(term for _, term in sorted(terms.items())) * y + of.sin(y)


@program(normal(2), oracle=lambda x: jnp.stack([_tower(x[0], 4, jnp), _tower(x[1], 3, jnp)]))
def recursion(x):
    return ops.stack((_tower(x[0], 4, ops), _tower(x[1], 3, ops)))


def _tower(x, depth, of):
    return x if depth == 0 else of.tanh(x + _tower(x * 1.5, depth - 1, of))


@program(normal(3), normal(2), oracle=lambda x, y: (x * x, (y.sum() * x, y**3), x[0] * y))
def nested_tuples(x, y):
    return x * x, (y.sum() * x, [y**3]), x[0] * y


@program(normal(3), oracle=lambda x: (x.sum() ** 2, jnp.exp(x)))
def a_dictionary(x):
    parts = {"energy": ops.reduce_sum(x) ** 2, "name": None, "count": 3}
    parts["force"] = ops.exp(x)
    return parts


@program(normal(3), oracle=lambda x: (x * 2, x * 2, x, jnp.ones(3)), gradient=lambda x: np.full(3, 5.0))
def outputs_that_repeat(x):
    """One tensor twice, an input as it came, and a constant."""
    y = x * 2
    return y, y, x, Tensor(np.ones(3))


@program(normal(3), normal(3), oracle=lambda x, unused: x * x, gradient=lambda x, unused: (2 * x, 0 * x))
def an_unused_input(x, unused):
    return x * x


@program(
    normal(2), oracle=lambda x: _mixed(x, x, x), gradient=lambda x: (x * x * 3) + np.cos(x) * x + np.sin(x)
)
def one_tensor_for_several_arguments(x):
    return _mixed(x, x, x, of=ops)


def _mixed(a, b, c, *, of=jnp):
    return a * b * c + of.sin(a) * b


@program(
    normal(3), normal(3),
    oracle=lambda x, y: jax.lax.stop_gradient(x * y) * x + y * jax.lax.stop_gradient(y) ** 2 + jax.lax.stop_gradient(jnp.sin(x)),
    gradient=lambda x, y: (x * y, y * y),
    smooth=False, reason="stop_gradient is not seen by a quotient",
)  # fmt: skip
def stopped(x, y):
    return stop_gradient(x * y) * x + y * stop_gradient(y) ** 2 + ops.stop_gradient(ops.sin(x))


@program(
    normal(4),
    oracle=lambda x: (x + jax.lax.stop_gradient(jnp.round(x) - x)) ** 2,
    gradient=lambda x: 2 * np.round(x),
    smooth=False, reason="the derivative of round is replaced",
)  # fmt: skip
def straight_through(x):
    rounded = x + stop_gradient(ops.round(x) - x)
    return rounded**2


@jax.custom_jvp
def _clipped_by_jax(x):
    return x * x


@_clipped_by_jax.defjvp
def _clipped_slope(primals, tangents):
    return _clipped_by_jax(primals[0]), jnp.clip(2 * primals[0], -1, 1) * tangents[0]


class ClippedSquare(nn.Cell):
    """x², with a derivative that is clipped: given by ``bprop``."""

    def construct(self, x):
        return x * x

    def bprop(self, x, out, dout):
        return (ops.clip_by_value(2 * x, -1.0, 1.0) * dout,)


@program(
    [0.3, -2.0, 0.4, 5.0],
    oracle=lambda x: jnp.sin(_clipped_by_jax(x)) * x,
    gradient=lambda x: np.clip(2 * x, -1, 1) * np.cos(x * x) * x + np.sin(x * x),
    smooth=False, reason="the derivative is replaced",
)  # fmt: skip
def a_custom_derivative(x):
    return ops.sin(ClippedSquare()(x)) * x


class Product(nn.Cell):
    """x·y with its own derivative, written out."""

    def construct(self, x, y):
        return x * y

    def bprop(self, x, y, out, dout):
        return y * dout, x * dout


@program(normal(3), normal(3), oracle=lambda x, y: jnp.tanh(x * y) * (x * y) * x)
def a_custom_derivative_that_is_the_derivative(x, y):
    """To every order and in both modes it must be as if the Cell had no bprop."""
    product = Product()
    return ops.tanh(product(x, y)) * product(x, product(x, y))
