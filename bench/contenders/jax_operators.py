"""Differential operators with jax: its own transforms, and the forward Laplacian written by hand."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import jax
import jax.numpy as jnp
import problems
from jax.experimental import jet
from jax_results import PyTree, job, with_temporary
from job import Job

Laplacian = Callable[[PyTree, jax.Array], jax.Array]


def value(layers: PyTree, x: jax.Array) -> jax.Array:
    """The network at one point."""
    for weight, bias in layers[:-1]:
        x = jnp.tanh(x @ weight + bias)
    weight, bias = layers[-1]
    return (x @ weight + bias)[0]


Operator = Callable[[Callable[[jax.Array], jax.Array], jax.Array], jax.Array]


def trace_of_hessian(function: Callable[[jax.Array], jax.Array], x: jax.Array) -> jax.Array:
    """Forward over reverse for all unit vectors at once, as ``jax.hessian`` does it."""
    return jnp.trace(jax.hessian(function)(x))


def loop_of_jvp_of_grad(function: Callable[[jax.Array], jax.Array], x: jax.Array) -> jax.Array:
    """One Hessian-vector product per unit vector, in a loop: little memory."""
    slope = jax.grad(function)

    def add(total: jax.Array, unit: jax.Array) -> tuple[jax.Array, None]:
        return total + jnp.vdot(unit, jax.jvp(slope, (x,), (unit,))[1]), None

    return jax.lax.scan(add, jnp.zeros((), x.dtype), jnp.eye(x.size, dtype=x.dtype))[0]


def jvp_of_jvp(function: Callable[[jax.Array], jax.Array], x: jax.Array) -> jax.Array:
    """Forward over forward, for all unit vectors at once."""

    def along(unit: jax.Array) -> jax.Array:
        slope = lambda x: jax.jvp(function, (x,), (unit,))[1]
        return jax.jvp(slope, (x,), (unit,))[1]

    return jnp.sum(jax.vmap(along)(jnp.eye(x.size, dtype=x.dtype)))


def of_network(operator: Operator) -> Laplacian:
    """The operator of the network at every point."""
    return lambda layers, x: jax.vmap(partial(operator, partial(value, layers)))(x)


def twice(operator: Operator) -> Operator:
    return lambda function, x: operator(partial(operator, function), x)


def by_nested_gradients(layers: PyTree, x: jax.Array) -> jax.Array:
    """The gradient of every component of the gradient of the sum over the points, one after the other."""
    slope = jax.grad(lambda x: jnp.sum(rows(layers, x)))
    return sum(jax.grad(lambda x, k=k: jnp.sum(slope(x)[:, k]))(x)[:, k] for k in range(x.shape[1]))


def by_one_hot_products(layers: PyTree, x: jax.Array) -> jax.Array:
    """The product of the Hessian with every unit vector, one after the other."""
    slope, total = jax.grad(lambda x: jnp.sum(rows(layers, x))), 0
    for k, unit in enumerate(jnp.eye(x.shape[1], dtype=x.dtype)):
        total += jax.vjp(slope, x)[1](jnp.broadcast_to(unit, x.shape))[0][:, k]
    return total


def forward_by_hand(layers: PyTree, x: jax.Array) -> jax.Array:
    """Value, Jacobian and Laplacian through the layers, for this network alone."""
    (count, size), second = x.shape, jnp.zeros_like(x)
    stack = jnp.broadcast_to(jnp.eye(size, dtype=x.dtype)[:, None, :], (size, count, size))
    for weight, bias in layers[:-1]:
        x = jnp.tanh(x @ weight + bias)
        stack, second = stack @ weight, second @ weight
        slope = 1 - x * x
        second = slope * second - 2 * x * slope * jnp.sum(stack * stack, 0)
        stack = slope * stack
    return (second @ layers[-1][0])[:, 0]


FORMS: dict[str, Laplacian] = {
    "trace of hessian": of_network(trace_of_hessian),
    "loop of jvp of grad": of_network(loop_of_jvp_of_grad),
    "jvp of jvp": of_network(jvp_of_jvp),
    "nested": by_nested_gradients,
    "one-hot sens": by_one_hot_products,
    "forward by hand": forward_by_hand,
    "trace of hessian, twice": of_network(twice(trace_of_hessian)),
    "jvp of jvp, twice": of_network(twice(jvp_of_jvp)),
}


def job_of(task: str, form: Laplacian) -> Job:
    """An operator of the task's network at the task's points, or the gradient of its mean square."""
    points, layers = problems.biharmonic() if task == "biharmonic" else problems.laplacian()
    x = jnp.asarray(points)
    layers = [(jnp.asarray(weight), jnp.asarray(bias)) for weight, bias in layers]
    function: Callable[..., PyTree] = form
    if task == "laplacian-gradient":
        function = jax.grad(lambda layers, x: jnp.mean(jnp.square(form(layers, x))))
    return with_temporary(job(function, layers, x))


def operator(task: str, variant: str) -> Job:
    return job_of(task, FORMS[variant])


# nested derivatives in one direction


def nested_jvp(function: Callable[[jax.Array], jax.Array], order: int) -> Callable[[jax.Array], jax.Array]:
    for _ in range(order):
        function = partial(lambda f, x: jax.jvp(f, (x,), (jnp.ones_like(x),))[1], function)
    return function


def nested_grad(function: Callable[[jax.Array], jax.Array], order: int) -> Callable[[jax.Array], jax.Array]:
    for _ in range(order):
        function = partial(lambda f, x: jax.grad(lambda x: jnp.sum(f(x)))(x), function)
    return function


def by_jet(function: Callable[[jax.Array], jax.Array], order: int) -> Callable[[jax.Array], jax.Array]:
    def derivative(x: jax.Array) -> jax.Array:
        series = [jnp.ones_like(x)] + [jnp.zeros_like(x)] * (order - 1)
        return jet.jet(function, (x,), (series,))[1][-1]

    return derivative


NESTED = {"nested grad": nested_grad, "nested jvp": nested_jvp, "jet": by_jet}


def rows(layers: PyTree, x: jax.Array) -> jax.Array:
    """The network at every row."""
    for weight, bias in layers[:-1]:
        x = jnp.tanh(x @ weight + bias)
    weight, bias = layers[-1]
    return x @ weight + bias


def derivative(variant: str, order: int) -> Job:
    points, layers = problems.derivative()
    layers = [(jnp.asarray(weight), jnp.asarray(bias)) for weight, bias in layers]
    return job(NESTED[variant](partial(rows, layers), order), jnp.asarray(points))


def kuramoto(variant: str) -> Job:
    problem = problems.kuramoto()
    layers = [(jnp.asarray(weight), jnp.asarray(bias)) for weight, bias in problem.layers]
    x, t = jnp.asarray(problem.x), jnp.asarray(problem.t)

    def loss(layers: PyTree) -> jax.Array:
        def u(x: jax.Array) -> jax.Array:
            return rows(layers, jnp.concatenate([x, t], 1))

        u_t = jax.jvp(lambda t: rows(layers, jnp.concatenate([x, t], 1)), (t,), (jnp.ones_like(t),))[1]
        if variant == "jet":
            zero = jnp.zeros_like(x)
            value, (first, second, _, fourth) = jet.jet(u, (x,), ([jnp.ones_like(x), zero, zero, zero],))
        else:
            value = u(x)
            first, second, fourth = (NESTED[variant](u, order)(x) for order in (1, 2, 4))
        return jnp.mean(jnp.square(u_t + value * first + second + fourth))

    return job(jax.value_and_grad(loss), layers)


TASKS: dict[str, Callable[..., Job]] = {
    "derivative": derivative,
    "kuramoto": kuramoto,
} | {task: partial(operator, task) for task in ("laplacian", "laplacian-gradient", "biharmonic")}
