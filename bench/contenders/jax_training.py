"""Whole training steps in jax: functions of a list of weights, one jitted step that donates its state."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import problems
import training_problems
from jax import lax
from jax_results import PyTree, wait
from job import Job, training

Weights = Iterator[jax.Array]


def adam(rate: float, layers: PyTree, moments: PyTree, gradients: PyTree) -> tuple[PyTree, PyTree]:
    """Weights changed by Adam; the moments are means, mean squares, and the powers of the decays."""
    means, squares, power1, power2 = moments
    (decay1, decay2), epsilon = problems.ADAM_DECAYS, problems.ADAM_EPSILON
    power1, power2 = decay1 * power1, decay2 * power2
    means = jax.tree.map(lambda m, g: decay1 * m + (1 - decay1) * g, means, gradients)
    squares = jax.tree.map(lambda v, g: decay2 * v + (1 - decay2) * g * g, squares, gradients)
    rate = rate * jnp.sqrt(1 - power2) / (1 - power1)
    layers = jax.tree.map(lambda w, m, v: w - rate * m / (jnp.sqrt(v) + epsilon), layers, means, squares)
    return layers, (means, squares, power1, power2)


def first_moments(layers: PyTree) -> PyTree:
    """The moments before the first step of Adam."""
    zeros = lambda: jax.tree.map(jnp.zeros_like, layers)
    return zeros(), zeros(), jnp.float32(1), jnp.float32(1)


# Layers: each takes its weights, in order, from an iterator. Pictures have their channels last.


def dense(w: Weights, x: jax.Array) -> jax.Array:
    return x @ next(w).T + next(w)


def convolve(x: jax.Array, kernel: jax.Array, stride: int, padding: int) -> jax.Array:
    return lax.conv_general_dilated(
        x, kernel, (stride, stride), [(padding, padding)] * 2, dimension_numbers=("NHWC", "HWIO", "NHWC")
    )


def pool(x: jax.Array) -> jax.Array:
    return lax.reduce_window(x, -jnp.inf, lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "VALID")


def layer_norm(w: Weights, x: jax.Array) -> jax.Array:
    x = x - x.mean(-1, keepdims=True)
    return x * lax.rsqrt(jnp.square(x).mean(-1, keepdims=True) + 1e-5) * next(w) + next(w)


def perceptron(w: Weights, x: jax.Array, running: list) -> tuple[jax.Array, list]:
    x = jax.nn.relu(dense(w, x))
    x = jax.nn.relu(dense(w, x))
    return dense(w, x), running


def lenet(w: Weights, x: jax.Array, running: list) -> tuple[jax.Array, list]:
    for _ in range(2):
        x = pool(jax.nn.relu(convolve(x, next(w), 1, 0) + next(w)))
    x = jnp.transpose(x, (0, 3, 1, 2)).reshape(x.shape[0], -1)
    x = jax.nn.relu(dense(w, x))
    x = jax.nn.relu(dense(w, x))
    return dense(w, x), running


def resnet(w: Weights, x: jax.Array, running: list) -> tuple[jax.Array, list]:
    before, after = iter(running), []

    def convolution(x: jax.Array, size: int, stride: int = 1) -> jax.Array:
        x = convolve(x, next(w), stride, size // 2)
        mean, variance = x.mean((0, 1, 2)), x.var((0, 1, 2))
        count = x.size // x.shape[-1]
        old_mean, old_variance = next(before)
        unbiased = variance * (count / (count - 1))
        after.append((0.9 * old_mean + 0.1 * mean, 0.9 * old_variance + 0.1 * unbiased))
        return (x - mean) * lax.rsqrt(variance + 1e-5) * next(w) + next(w)

    x = jax.nn.relu(convolution(x, 3))
    for inputs, outputs, stride in training_problems.resnet_blocks():
        y = convolution(jax.nn.relu(convolution(x, 3, stride)), 3)
        x = jax.nn.relu(y + (convolution(x, 1, stride) if inputs != outputs else x))
    return dense(w, x.mean((1, 2))), after


def gpt(w: Weights, tokens: jax.Array, running: list) -> tuple[jax.Array, list]:
    width, heads = training_problems.GPT_WIDTH, training_problems.GPT_HEADS
    (batch, length), size = tokens.shape, width // heads
    past = jnp.tril(jnp.ones((length, length), bool))
    x = next(w)[tokens] + next(w)[jnp.arange(length)]
    for _ in range(training_problems.GPT_BLOCKS):
        q, k, v = jnp.split(dense_after_norm(w, x), 3, axis=-1)
        q, k, v = (part.reshape(batch, length, heads, size).swapaxes(1, 2) for part in (q, k, v))
        scores = jnp.where(past, q @ k.swapaxes(-1, -2) / size**0.5, -1e9)
        mixed = jax.nn.softmax(scores) @ v
        x = x + dense(w, mixed.swapaxes(1, 2).reshape(batch, length, width))
        x = x + dense(w, jax.nn.gelu(dense_after_norm(w, x)))
    return dense_after_norm(w, x), running


def dense_after_norm(w: Weights, x: jax.Array) -> jax.Array:
    x = layer_norm(w, x)
    return dense(w, x)


def lstm(w: Weights, x: jax.Array, running: list) -> tuple[jax.Array, list]:
    of_input, of_state, bias_of_input, bias_of_state = (next(w) for _ in range(4))
    zero = jnp.zeros((x.shape[0], training_problems.LSTM_UNITS), x.dtype)
    from_inputs = x.swapaxes(0, 1) @ of_input.T + bias_of_input

    def unit(state: tuple[jax.Array, jax.Array], from_input: jax.Array) -> tuple[Any, None]:
        h, c = state
        i, f, g, o = jnp.split(from_input + h @ of_state.T + bias_of_state, 4, axis=-1)
        c = jax.nn.sigmoid(f) * c + jax.nn.sigmoid(i) * jnp.tanh(g)
        return (jax.nn.sigmoid(o) * jnp.tanh(c), c), None

    (h, _), _ = lax.scan(unit, (zero, zero), from_inputs)
    return dense(w, h), running


NETWORKS = {"perceptron": perceptron, "lenet": lenet, "resnet": resnet, "gpt": gpt, "lstm": lstm}


def channels_last(array: np.ndarray, axes: tuple[int, ...]) -> jax.Array:
    """As jax users hold pictures and kernels."""
    return jnp.asarray(array.transpose(axes) if array.ndim == 4 else array)


def cross_entropy(
    network: Callable[..., tuple[jax.Array, list]], weights: PyTree, running: list, x: jax.Array, y: jax.Array
) -> tuple[jax.Array, list]:
    """The mean over all labels, and the running statistics afterwards."""
    logits, running = network(iter(weights), x, running)
    logarithms = jax.nn.log_softmax(logits.reshape(-1, logits.shape[-1]))
    return -jnp.take_along_axis(logarithms, y.reshape(-1, 1), 1).mean(), running


def train(name: str, variant: str) -> Job:
    problem, network = training_problems.LEARNING[name](), NETWORKS[name]
    inputs, labels = channels_last(problem.inputs, (0, 2, 3, 1)), jnp.asarray(problem.labels)
    state: list[PyTree] = []

    def restart() -> None:
        weights = [channels_last(weight, (2, 3, 1, 0)) for weight in problem.weights]
        sizes = [w.shape[-1] for w in weights if w.ndim == 4] if name == "resnet" else []
        running = [(jnp.zeros(size), jnp.ones(size)) for size in sizes]
        state[:] = [weights, first_moments(weights), running]

    loss_of = partial(cross_entropy, network)

    @partial(jax.jit, donate_argnums=(0, 1, 2))
    def change(weights: PyTree, moments: PyTree, running: list, x: jax.Array, y: jax.Array) -> tuple:
        gradient = jax.value_and_grad(loss_of, has_aux=True)
        (loss, running), gradients = gradient(weights, running, x, y)
        return loss, *adam(training_problems.RATE, weights, moments, gradients), running

    def step() -> jax.Array:
        loss, *state[:] = change(*state, inputs, labels)
        return loss

    restart()
    return training(step, lambda loss: wait((loss, state)), np.asarray, restart)


TASKS: dict[str, Callable[..., Job]] = {f"eager-{name}": partial(train, name) for name in NETWORKS}
