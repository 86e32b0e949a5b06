"""Energies and forces, residuals of differential equations, as scientists write them."""

import jax
import jax.numpy as jnp
import numpy as np

from mindgrad import Parameter, Tensor, nn, ops
from mindgrad.ops import GradOperation, grad
from tests.programs.corpus.program import normal, positive, program, uniform

#: three atoms, well apart
ATOMS = np.array([[0.0, 0.1, 0.0], [1.1, 0.0, 0.2], [0.1, 1.2, 0.9]])
PAIRS = np.triu_indices(3, 1)


@program(ATOMS, oracle=lambda p, x: _force_matching_by_jax(p, x))
class ForceMatching(nn.Cell):
    """Lennard-Jones forces against measured ones; ε and σ are fitted.

    MindSpore 2.10's PyNative mode gives zero for the gradient of ε and σ, and never trains.
    """

    def __init__(self):
        super().__init__()
        self.epsilon = Parameter(Tensor(np.array([1.1])), name="epsilon")
        self.sigma = Parameter(Tensor(np.array([0.9])), name="sigma")

    def energy(self, x):
        difference = ops.expand_dims(x, 0) - ops.expand_dims(x, 1)
        square = ops.reduce_sum(ops.square(difference), -1)[PAIRS[0].tolist(), PAIRS[1].tolist()]
        ratio = (ops.square(self.sigma) / square) ** 3
        return ops.reduce_sum(4 * self.epsilon * (ratio**2 - ratio))

    def construct(self, x):
        forces = -grad(self.energy)(x)
        return ops.mean(ops.square(forces - Tensor(np.full((3, 3), 0.1))))


def _force_matching_by_jax(p, x):
    def energy(x):
        square = ((x[None] - x[:, None]) ** 2).sum(-1)[PAIRS]
        ratio = (p["sigma"] ** 2 / square) ** 3
        return (4 * p["epsilon"] * (ratio**2 - ratio)).sum()

    return ((-jax.grad(energy)(x) - 0.1) ** 2).mean()


@program(ATOMS, positive(3), oracle=lambda x, q: _coulomb_by_jax(x, q))
def energy_forces_and_stress(x, q):
    """Energy, forces and virial of charges with a smooth cutoff, from distances of all pairs."""

    def energy(x, strain):
        x = ops.matmul(x, ops.eye(3, 3, x.dtype) + strain)
        difference = x.reshape(3, 1, 3) - x.reshape(1, 3, 3)
        apart = ops.logical_not(Tensor(np.eye(3, dtype=bool)))
        distance = ops.norm(difference, dim=-1)  # zero on the diagonal
        charges = ops.outer(q, q)
        terms = charges / distance * ops.square(ops.maximum(1 - distance / 3, 0))
        return ops.reduce_sum(ops.where(apart, terms, 0.0)) / 2

    none = ops.zeros((3, 3), x.dtype)
    by_atom, by_strain = GradOperation(get_all=True)(energy)(x, none)
    return energy(x, none), -by_atom, by_strain


def _coulomb_by_jax(x, q):
    def energy(x, strain):
        x = x @ (jnp.eye(3) + strain)
        i, j = PAIRS
        distance = jnp.sqrt(((x[i] - x[j]) ** 2).sum(-1))
        return (q[i] * q[j] / distance * jnp.maximum(1 - distance / 3, 0) ** 2).sum()

    by_atom, by_strain = jax.grad(energy, (0, 1))(x, jnp.zeros((3, 3)))
    return energy(x, jnp.zeros((3, 3))), -by_atom, by_strain


@program(normal(4), oracle=lambda u: _heat_by_jax(u))
def a_step_of_finite_differences(u):
    """Periodic Burgers flow, explicit steps, with roll."""
    for _ in range(3):
        left, right = ops.roll(u, 1, 0), ops.roll(u, -1, 0)
        u = u + 0.1 * (left - 2 * u + right) - 0.05 * u * (right - left)
    return ops.reduce_sum(u**2) * u


def _heat_by_jax(u):
    for _ in range(3):
        left, right = jnp.roll(u, 1), jnp.roll(u, -1)
        u = u + 0.1 * (left - 2 * u + right) - 0.05 * u * (right - left)
    return (u**2).sum() * u


@program(
    uniform(-1, 1, 3),
    oracle=lambda x: (
        -6 * jnp.tanh(x) * (-2 * jnp.tanh(x) * (1 - jnp.tanh(x) ** 2))
        + (6 * jnp.tanh(x) ** 2 - 2) * (1 - jnp.tanh(x) ** 2)
    ),
)
def korteweg_de_vries(x):
    """u u_xx·… and u_xxx of u = tanh x: three gradients inside."""
    u_x = grad(ops.tanh)
    u_xx = grad(u_x)
    return -6 * ops.tanh(x) * u_xx(x) + grad(u_xx)(x)


@program(normal(2), positive(2), oracle=lambda x, k: _oscillator_by_jax(x, k))
def a_runge_kutta_method(x, k):
    """A damped pendulum, two steps of fourth order."""

    def rate(x):
        return ops.stack((x[1], -k[0] * ops.sin(x[0]) - k[1] * x[1]))

    h = 0.2
    for _ in range(2):
        a = rate(x)
        b = rate(x + h / 2 * a)
        c = rate(x + h / 2 * b)
        d = rate(x + h * c)
        x = x + h / 6 * (a + 2 * b + 2 * c + d)
    return x


def _oscillator_by_jax(x, k):
    def rate(x):
        return jnp.stack((x[1], -k[0] * jnp.sin(x[0]) - k[1] * x[1]))

    h = 0.2
    for _ in range(2):
        a = rate(x)
        b = rate(x + h / 2 * a)
        c = rate(x + h / 2 * b)
        d = rate(x + h * c)
        x = x + h / 6 * (a + 2 * b + 2 * c + d)
    return x
