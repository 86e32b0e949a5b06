"""jax: the baseline. Each task in the ways a good jax user would try."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import jax_ba
import jax_control
import jax_descent
import jax_det
import jax_ht
import jax_kmeans
import jax_layout
import jax_llsq
import jax_lse
import jax_lstm
import jax_mixture
import jax_ode
import jax_operators
import jax_rows
import jax_scale
import jax_size
import jax_sparse
import jax_training
import problems
import start
from jax_results import PyTree, arrays, build, equations, job, wait
from job import Job, Unavailable


def versions() -> dict[str, str]:
    """Versions of what does the work."""
    return {"jax": jax.__version__}


def on_device(layers: problems.Layers) -> PyTree:
    """The layers as jax arrays."""
    return [(jnp.asarray(weight), jnp.asarray(bias)) for weight, bias in layers]


def perceptron(layers: PyTree, inputs: jax.Array) -> jax.Array:
    """Tanh layers and a linear one; inputs (..., in) to (..., out)."""
    hidden = inputs
    for weight, bias in layers[:-1]:
        hidden = jnp.tanh(hidden @ weight + bias)
    weight, bias = layers[-1]
    return hidden @ weight + bias


# T1


def objective(x: jax.Array) -> jax.Array:
    return jnp.sum(jnp.sin(x) * x**2)


def t1(variant: str) -> Job:
    gradient = {"jit": jax.jit(jax.grad(objective)), "eager": jax.grad(objective)}[variant]
    x = jnp.asarray(problems.t1())
    return Job(lambda: gradient(x), wait, arrays)


# T2


def regression_loss(layers: PyTree, inputs: jax.Array, targets: jax.Array) -> jax.Array:
    return jnp.mean(jnp.square(perceptron(layers, inputs) - targets))


def t2(variant: str) -> Job:
    problem = problems.t2()
    layers = on_device(problem.layers)
    inputs, targets = jnp.asarray(problem.inputs), jnp.asarray(problem.targets)
    return job(jax.value_and_grad(regression_loss), layers, inputs, targets)


# A training step


def descend(layers: PyTree, moments: PyTree, gradients: PyTree) -> tuple[PyTree, PyTree]:
    """Weights changed by plain gradient descent."""
    return jax.tree.map(lambda w, g: w - problems.SGD_RATE * g, layers, gradients), moments


def train(optimizer: str, variant: str) -> Job:
    problem = problems.t2()
    inputs, targets = jnp.asarray(problem.inputs), jnp.asarray(problem.targets)
    layers = on_device(problem.layers)
    state = [layers, jax_training.first_moments(layers) if optimizer == "adam" else ()]
    change = {"sgd": descend, "adam": partial(jax_training.adam, problems.ADAM_RATE)}[optimizer]

    @partial(jax.jit, donate_argnums=(0, 1))
    def step(layers: PyTree, moments: PyTree, inputs: jax.Array, targets: jax.Array) -> tuple[Any, ...]:
        loss, gradients = jax.value_and_grad(regression_loss)(layers, inputs, targets)
        return loss, *change(layers, moments, gradients)

    def call() -> jax.Array:
        loss, *state[:] = step(*state, inputs, targets)
        return loss

    return Job(call, wait, lambda loss: arrays((loss, state[0])))


# T3: four ways to the derivatives u, u_t, u_x and u_xx


def by_jvp_of_jvp(layers: PyTree, x: jax.Array, t: jax.Array) -> tuple[jax.Array, ...]:
    """Forward over forward, the whole batch at once: the fastest of jax's own transforms."""
    ones = jnp.ones_like(x)

    def in_x(x: jax.Array) -> jax.Array:
        return perceptron(layers, jnp.concatenate([x, t], axis=1))

    def in_t(t: jax.Array) -> jax.Array:
        return perceptron(layers, jnp.concatenate([x, t], axis=1))

    def slope(x: jax.Array) -> tuple[jax.Array, jax.Array]:
        return jax.jvp(in_x, (x,), (ones,))

    (u, u_x), (_, u_xx) = jax.jvp(slope, (x,), (ones,))
    _, u_t = jax.jvp(in_t, (t,), (ones,))
    return u, u_t, u_x, u_xx


def by_nested_grad(layers: PyTree, x: jax.Array, t: jax.Array) -> tuple[jax.Array, ...]:
    """Reverse over reverse, the whole batch at once: the program a MindSpore user writes."""

    def total(x: jax.Array, t: jax.Array) -> jax.Array:
        return jnp.sum(perceptron(layers, jnp.concatenate([x, t], axis=1)))

    def total_slope(x: jax.Array, t: jax.Array) -> jax.Array:
        return jnp.sum(jax.grad(total)(x, t))

    u = perceptron(layers, jnp.concatenate([x, t], axis=1))
    u_x, u_t = jax.grad(total, (0, 1))(x, t)
    return u, u_t, u_x, jax.grad(total_slope)(x, t)


def by_vmap_of_grad(layers: PyTree, x: jax.Array, t: jax.Array) -> tuple[jax.Array, ...]:
    """Reverse over reverse for one point, then vmap: the way of the textbooks."""

    def at(x: jax.Array, t: jax.Array) -> jax.Array:
        return perceptron(layers, jnp.stack([x, t]))[0]

    def point(x: jax.Array, t: jax.Array) -> tuple[jax.Array, ...]:
        u_x, u_t = jax.grad(at, (0, 1))(x, t)
        return at(x, t), u_t, u_x, jax.grad(jax.grad(at))(x, t)

    return jax.vmap(point)(x[:, 0], t[:, 0])


def by_taylor(layers: PyTree, x: jax.Array, t: jax.Array) -> tuple[jax.Array, ...]:
    """The Taylor coefficients pushed by hand, no transform: what a careful author can reach."""
    u = jnp.concatenate([x, t], axis=1)
    u_x = jnp.broadcast_to(jnp.asarray([1.0, 0.0], u.dtype), u.shape)
    u_t = jnp.broadcast_to(jnp.asarray([0.0, 1.0], u.dtype), u.shape)
    u_xx = jnp.zeros_like(u)
    for weight, bias in layers[:-1]:
        u, u_x, u_t, u_xx = u @ weight + bias, u_x @ weight, u_t @ weight, u_xx @ weight
        u = jnp.tanh(u)
        slope = 1.0 - u * u
        u_xx = slope * (u_xx - 2.0 * u * u_x * u_x)
        u_x, u_t = slope * u_x, slope * u_t
    weight, bias = layers[-1]
    return u @ weight + bias, u_t @ weight, u_x @ weight, u_xx @ weight


DERIVATIVES = {
    "jvp of jvp": by_jvp_of_jvp,
    "nested grad": by_nested_grad,
    "vmap of grad": by_vmap_of_grad,
    "Taylor by hand": by_taylor,
}


def burgers_loss(variant: str) -> Callable[[PyTree, jax.Array, jax.Array], jax.Array]:
    """A new loss function, so that jax's caches of traced functions do not know it."""
    derivatives = DERIVATIVES[variant]

    def loss(layers: PyTree, x: jax.Array, t: jax.Array) -> jax.Array:
        u, u_t, u_x, u_xx = derivatives(layers, x, t)
        return jnp.mean(jnp.square(u_t + u * u_x - problems.VISCOSITY * u_xx))

    return loss


def burgers_arguments() -> tuple[PyTree, jax.Array, jax.Array]:
    problem = problems.t3()
    return on_device(problem.layers), jnp.asarray(problem.x), jnp.asarray(problem.t)


def t3(variant: str) -> Job:
    return job(jax.grad(burgers_loss(variant)), *burgers_arguments())


# Nested derivatives


def nested(variant: str, order: int) -> Job:
    point, layers = problems.nested()
    layers = on_device(layers)

    def network(x: jax.Array) -> jax.Array:
        return perceptron(layers, x[None])[0]

    derivative: Callable[[jax.Array], jax.Array] = network
    for _ in range(order):
        derivative = jax.grad(derivative)
    made = job(derivative, jnp.asarray(point))
    made.facts = lambda: {"equations": equations(jax.make_jaxpr(derivative)(*made.program[1:]).jaxpr)}
    return made


TASKS: dict[str, Callable[..., Job]] = {
    "t1": t1,
    "t2": t2,
    "train-sgd": partial(train, "sgd"),
    "train-adam": partial(train, "adam"),
    "t3": t3,
    "nested": nested,
    **jax_control.TASKS,
    **jax_descent.TASKS,
    **jax_kmeans.TASKS,
    **jax_llsq.TASKS,
    **jax_lse.TASKS,
    **jax_ba.TASKS,
    **jax_det.TASKS,
    **jax_ht.TASKS,
    **jax_lstm.TASKS,
    **jax_ode.TASKS,
    **jax_operators.TASKS,
    **jax_rows.TASKS,
    **jax_size.TASKS,
    **jax_sparse.TASKS,
    **jax_training.TASKS,
    **jax_scale.tasks(burgers_loss("jvp of jvp")),
    "layout": jax_layout.layout,
    **start.tasks("jax"),
    **{f"gmm-{d}": partial(jax_mixture.gmm, dimensions=d) for d in problems.GMM_DIMENSIONS},
}


def prepare(task: str, variant: str, **options: int) -> Job:
    """The job of one task, or Unavailable."""
    if task in TASKS:
        return TASKS[task](variant, **options)
    name = task.removesuffix("-build")
    if name not in TASKS or name == task:
        raise Unavailable(f"no {task} with jax")
    return build(lambda: prepare(name, variant, **options).program)
