"""Rows that many kinds of operators keep apart, with jax: the transforms that serve each problem best."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import jax
import jax.numpy as jnp
import row_problems
from jax_operators import jvp_of_jvp, loop_of_jvp_of_grad, trace_of_hessian
from jax_results import PyTree, job, with_temporary
from job import Job

Function = Callable[[jax.Array], jax.Array]


def second(function: Function, t: jax.Array) -> jax.Array:
    """The second derivative along ones, by forward mode twice."""
    along = lambda f, t: jax.jvp(f, (t,), (jnp.ones_like(t),))[1]
    return along(partial(along, function), t)


def with_time(starts: jax.Array, times: jax.Array) -> jax.Array:
    return jnp.concatenate([starts, jnp.broadcast_to(times[:, :, None], starts.shape)], 1)


def of_data(loss: Callable[..., jax.Array], problem: row_problems.Functions) -> Job:
    weights = list(map(jnp.asarray, problem.weights))
    data = jnp.asarray(problem.starts), jnp.asarray(problem.times)
    return with_temporary(job(jax.value_and_grad(loss), weights, *data))


def fno(variant: str) -> Job:
    problem = row_problems.fno()
    squares = jnp.asarray(row_problems.wave_numbers())

    def network(weights: PyTree, starts: jax.Array, times: jax.Array) -> jax.Array:
        lift, *layers, last = weights
        h = jnp.einsum("oi,bin->bon", lift, with_time(starts, times))
        for k in range(0, len(layers), 4):
            real, imaginary, mix, bias = layers[k : k + 4]
            modes = jnp.fft.rfft(h)[:, :, : row_problems.MODES]
            product = jnp.einsum("bim,mio->bom", modes, real + 1j * imaginary)
            smooth = jnp.fft.irfft(product, row_problems.POINTS)
            h = jnp.tanh(smooth + jnp.einsum("oi,bin->bon", mix, h) + bias)
        return jnp.einsum("oi,bin->bon", last, h)[:, 0]

    def loss(weights: PyTree, starts: jax.Array, times: jax.Array) -> jax.Array:
        u = partial(network, weights, starts)
        u_xx = jnp.fft.irfft(squares * jnp.fft.rfft(u(times)), row_problems.POINTS)
        return jnp.mean(jnp.square(second(u, times) - u_xx + u(times)))

    return of_data(loss, problem)


def conv(variant: str) -> Job:
    problem = row_problems.conv()

    def network(weights: PyTree, starts: jax.Array, times: jax.Array) -> jax.Array:
        h = with_time(starts, times)
        for k in range(0, len(weights), 2):
            h = jax.lax.conv_general_dilated(h, weights[k], (1,), "SAME") + weights[k + 1]
            h = jnp.tanh(h) if k < len(weights) - 2 else h
        return h[:, 0]

    def loss(weights: PyTree, starts: jax.Array, times: jax.Array) -> jax.Array:
        u = partial(network, weights, starts)
        value = u(times)
        u_xx = jnp.roll(value, 1, 1) - 2 * value + jnp.roll(value, -1, 1)
        return jnp.mean(jnp.square(second(u, times) - u_xx + u(times)))

    return of_data(loss, problem)


def graph(variant: str) -> Job:
    problem = row_problems.graph()
    features, targets = jnp.asarray(problem.features), jnp.asarray(problem.targets)
    senders, receivers = jnp.asarray(problem.senders), jnp.asarray(problem.receivers)

    def energy(weights: PyTree, positions: jax.Array) -> jax.Array:
        h = features
        squared = jnp.sum(jnp.square(positions[senders] - positions[receivers]), 1, keepdims=True)
        for k in range(0, len(weights) - 1, 4):
            message, message_bias, atom, atom_bias = weights[k : k + 4]
            inputs = jnp.concatenate([h[senders], h[receivers], squared], 1)
            sent = jnp.tanh(inputs @ message + message_bias)
            received = jax.ops.segment_sum(sent, receivers, row_problems.ATOMS)
            h = jnp.tanh(jnp.concatenate([h, received], 1) @ atom + atom_bias)
        return jnp.sum(h @ weights[-1])

    def loss(weights: PyTree, positions: jax.Array) -> jax.Array:
        return jnp.mean(jnp.square(-jax.grad(energy, 1)(weights, positions) - targets))

    weights = list(map(jnp.asarray, problem.weights))
    return with_temporary(job(jax.value_and_grad(loss), weights, jnp.asarray(problem.positions)))


def systems(variant: str) -> Job:
    problem = row_problems.systems()
    direction, right = jnp.asarray(problem.direction), jnp.asarray(problem.right)

    def solution(matrix: jax.Array, x: jax.Array) -> jax.Array:
        return jnp.sum(jnp.linalg.solve(matrix + jnp.tanh(x) * direction, jnp.sin(x * right)))

    forms = {
        "jvp of jvp": lambda a, x: second(partial(solution, a), x),
        "nested grad": lambda a, x: jax.grad(jax.grad(solution, 1), 1)(a, x),
    }
    matrices, points = jnp.asarray(problem.matrices), jnp.asarray(problem.points[:, 0])
    return with_temporary(job(jax.vmap(forms[variant]), matrices, points))


def attention(variant: str) -> Job:
    problem = row_problems.attention()
    embedding, *layers, last = map(jnp.asarray, problem.weights)

    def network(x: jax.Array) -> jax.Array:
        h = jnp.tanh(x.reshape(row_problems.PARTICLES, 3) @ embedding)
        for k in range(0, len(layers), 4):
            queries, keys, values, product = layers[k : k + 4]
            scores = (h @ queries) @ (h @ keys).T / row_problems.ATTENTION_WIDTH**0.5
            h = h + jax.nn.softmax(scores) @ (h @ values)
            h = h + jnp.tanh(h @ product)
        return jnp.sum(h @ last)

    forms = {
        "trace of hessian": trace_of_hessian,
        "loop of jvp of grad": loop_of_jvp_of_grad,
        "jvp of jvp": jvp_of_jvp,
    }
    return with_temporary(job(jax.vmap(partial(forms[variant], network)), jnp.asarray(problem.samples)))


TASKS: dict[str, Callable[..., Job]] = {
    "rows-fno": fno,
    "rows-graph": graph,
    "rows-systems": systems,
    "rows-conv": conv,
    "rows-attention": attention,
}
