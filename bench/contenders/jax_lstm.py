"""GradBench's recurrent network of diagonal weights with jax."""

from __future__ import annotations

from functools import partial

import jax
import jax.numpy as jnp
import lstm_problems as problems
from jax import lax
from jax_results import job
from job import Job

State = tuple[jax.Array, jax.Array]


def layer(weight: jax.Array, bias: jax.Array, hidden: jax.Array, cell: jax.Array, x: jax.Array) -> State:
    forget, enter, leave, change = jnp.split(jnp.concatenate([x, hidden, x, hidden]) * weight + bias, 4)
    cell = cell * jax.nn.sigmoid(forget) + jax.nn.sigmoid(enter) * jnp.tanh(change)
    return jax.nn.sigmoid(leave) * jnp.tanh(cell), cell


def text_loss(layers: jax.Array, ends: jax.Array, state: jax.Array, characters: jax.Array) -> jax.Array:
    def step(states: list[State], pair: State) -> tuple[list[State], jax.Array]:
        character, following = pair
        x = character * ends[0]
        new = []
        for i, (hidden, cell) in enumerate(states):
            x, cell = layer(layers[2 * i], layers[2 * i + 1], hidden, cell, x)
            new.append((x, cell))
        y = x * ends[1] + ends[2]
        y = y - jnp.log(2 + jnp.sum(jnp.exp(y)))
        return new, jnp.sum(following * y)

    states = [(state[i], state[i + 1]) for i in range(0, len(state), 2)]
    _, terms = lax.scan(step, states, (characters[:-1], characters[1:]))
    return -jnp.sum(terms) / characters[1:].size


FUNCTIONS = {"value": text_loss, "gradient": jax.grad(text_loss, (0, 1))}


def lstm(what: str, layers: int, variant: str, characters: int) -> Job:
    jax.config.update("jax_enable_x64", True)
    return job(FUNCTIONS[what], *map(jnp.asarray, problems.lstm(layers, characters)))


TASKS = {
    f"gradbench-lstm-{what}-{layers}": partial(lstm, what, layers)
    for what in FUNCTIONS
    for layers in problems.LAYERS
}
