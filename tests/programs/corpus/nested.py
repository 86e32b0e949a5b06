"""Programs with gradients inside: every level of them in both modes."""

import jax
import jax.numpy as jnp
import numpy as np

import mindgrad as ms
from mindgrad import Tensor, nn, ops
from mindgrad.ops import GradOperation, grad, jvp, vjp
from tests.programs.corpus.program import normal, positive, program


@program(
    normal(3),
    oracle=lambda x: x * jax.grad(lambda y: (x + y).sum())(x),
    gradient=lambda x: np.ones(3),
)
def perturbations(x):
    """x · d/dy (x + y): the derivative of the inner function must not see the outer variable."""
    return x * grad(lambda y: x + y)(x)


@program(
    normal(3), normal(3),
    oracle=lambda x, y: jax.grad(lambda z: (jax.grad(lambda u: (u * z * x).sum())(y) * z * y).sum())(x) * x,
)  # fmt: skip
def captured_at_two_levels(x, y):
    def middle(z):
        return grad(lambda u: u * z * x)(y) * z * y

    return grad(middle)(x) * x


@program(
    normal(4),
    oracle=lambda x: jax.grad(lambda y: (jnp.outer(y, y) * jnp.sin(y)).sum())(x),
)
def a_gradient_through_views(x):
    def energy(y):
        return ops.reduce_sum(ops.reshape(y, (4, 1)) * ops.expand_dims(y, 0) * ops.sin(y))

    return grad(energy)(x)


def _velocity(x):
    return ops.stack((ops.sin(x[0]) * x[1], x[1] * x[2] ** 2, ops.exp(x[0] * x[2])))


def _velocity_by_jax(x):
    return jnp.stack((jnp.sin(x[0]) * x[1], x[1] * x[2] ** 2, jnp.exp(x[0] * x[2])))


@program(normal(3), oracle=lambda x: jnp.linalg.det(jax.jacfwd(_velocity_by_jax)(x)) * x)
def a_jacobian_determinant(x):
    rows = [vjp(_velocity, x, v=Tensor(np.eye(3)[i]))[1] for i in range(3)]
    return ops.det(ops.stack(rows)) * x


@program(normal(3), oracle=lambda x: (jax.jacrev(_velocity_by_jax)(x) @ jax.jacfwd(_velocity_by_jax)(x)) @ x)
def jacobians(x):
    return ops.matmul(ops.matmul(ms.jacrev(_velocity)(x), ms.jacfwd(_velocity)(x)), x)


@program(normal(3), oracle=lambda x: jnp.trace(jax.hessian(lambda y: jnp.prod(jnp.sin(y)) * y[0])(x)) * x)
def a_laplacian(x):
    def potential(y):
        return ops.reduce_prod(ops.sin(y)) * y[0]

    total = 0.0
    for i in range(3):
        total = total + grad(lambda y, i=i: grad(potential)(y)[i])(x)[i]
    return total * x


@program(
    normal(2), normal(2),
    oracle=lambda x, v: jax.jvp(lambda y: jax.grad(lambda z: jnp.sum(z**4 * v))(y) * x, (x,), (v * x,))[1],
    gradient=lambda x, v: (48 * x**3 * v * v, 24 * v * x**4),
)  # fmt: skip
def a_derivative_along_a_variable(x, v):
    """The tangent depends on what is differentiated: 12 x² v · (v x) · x."""
    return jvp(lambda y: grad(lambda z: z**4 * v)(y) * x, x, v * x)[1]


@program(
    normal(3), normal(3),
    oracle=lambda x, c: jax.vjp(lambda y: jnp.tanh(y) * x, x)[1](c * x)[0] * jax.grad(lambda y: (jnp.cos(y) * c).sum())(x),
)  # fmt: skip
def a_cotangent_that_is_a_variable(x, c):
    _, pulled = vjp(lambda y: ops.tanh(y) * x, x, v=c * x)
    scaled = GradOperation(sens_param=True)(ops.cos)(x, c)
    return pulled * scaled


@program(
    normal(3),
    oracle=lambda x: (
        jax.vjp(jnp.sin, x)[1](x)[0] * jax.vjp(jnp.sin, x)[1](x * x)[0] * jax.linearize(jnp.exp, x)[1](x)
    ),
    gradient=lambda x: (
        (4 * x**3 * np.cos(x) ** 2 - 2 * x**4 * np.cos(x) * np.sin(x) + x**4 * np.cos(x) ** 2) * np.exp(x)
    ),
)
def a_pullback_used_twice(x):
    _, pull = ms.vjp(ops.sin, x)
    _, push = ms.linearize(ops.exp, x)
    return pull(x)[0] * pull(x * x)[0] * push(x)


@program(
    normal(2), normal(2),
    oracle=lambda w, x: _descended(w, x, lambda f: jax.grad(f), jnp),
)  # fmt: skip
def a_loss_after_steps_of_descent(w, x):
    """What meta-learning differentiates."""
    return _descended(w, x, grad, ops)


def _descended(w, x, slope, of):
    def loss(w):
        return of.sum((of.tanh(w * x) - 0.5) ** 2)

    for _ in range(3):
        w = w - 0.1 * slope(loss)(w)
    return loss(w)


@program(positive(2), oracle=lambda x: jax.grad(jax.grad(jax.grad(lambda y: y**5 * x[0])))(x[1]) * x)
def a_third_derivative_inside(x):
    return grad(grad(grad(lambda y: y**5 * x[0])))(x[1]) * x


@program(normal(3), oracle=lambda x: (x.sum() * x).sum() * jnp.cos(x) + x**2)
def auxiliary_outputs(x):
    def f(y):
        return ops.sin(y), y.sum() * x, [y * x]

    gradients, (first, (second,)) = grad(f, has_aux=True)(x)
    return ops.reduce_sum(first) * gradients + second


@program(
    normal(2), normal(2), positive(2),
    oracle=lambda x, y, z: x * y * (y * z) + (2 * x * y * z) * y,
    gradient=lambda x, y, z: (3 * y * y * z, 6 * x * y * z, 3 * x * y * y),
)  # fmt: skip
def gradients_of_several_inputs(x, y, z):
    by_y, by_x = grad(lambda x, y, z: x * y * y * z, (1, 0))(x, y, z)
    value, by_z = ms.value_and_grad(lambda z: x * y * z)(z)
    return by_z * by_x / y + by_y * y + value * 0


class Gradient(nn.Cell):
    """The gradient of a Cell with respect to all inputs, as MindSpore's guide writes it."""

    def __init__(self, net):
        super().__init__()
        self.net = net
        self.operation = GradOperation(get_all=True, sens_param=True)

    def construct(self, *inputs):
        return self.operation(self.net)(*inputs)


class Waves(nn.Cell):
    """Two outputs."""

    def construct(self, x, y):
        return ops.sin(x) * y, x * y * y


@program(
    normal(2), normal(2),
    oracle=lambda x, y: (-jnp.sin(x) * y * x, jnp.cos(x) * x + 2 * y * y),
)  # fmt: skip
def cells_of_cells(x, y):
    """Second derivatives by Cells around Cells, with a tuple of sens."""
    first = Gradient(Waves())
    ones, zeros = ops.ones_like(x), ops.zeros_like(x)

    def by_x(x, y):
        return first(x, y, (ones, zeros))[0]

    xx, xy = Gradient(by_x)(x, y, x)
    _, by_y = first(x, y, (zeros, y))
    return xx, xy + by_y / x
