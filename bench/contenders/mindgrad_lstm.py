"""GradBench's recurrent network of diagonal weights with mindgrad."""

from __future__ import annotations

from functools import partial

import lstm_problems as problems
from job import Job
from mindspore_results import job

import mindgrad
from mindgrad import Tensor, ops


def layer(weight: Tensor, bias: Tensor, hidden: Tensor, cell: Tensor, x: Tensor) -> tuple[Tensor, Tensor]:
    forget, enter, leave, change = ops.chunk(ops.concat([x, hidden, x, hidden]) * weight + bias, 4)
    cell = cell * ops.sigmoid(forget) + ops.sigmoid(enter) * ops.tanh(change)
    return ops.sigmoid(leave) * ops.tanh(cell), cell


def text_loss(layers: Tensor, ends: Tensor, state: Tensor, characters: Tensor) -> Tensor:
    states = [(state[i], state[i + 1]) for i in range(0, len(state), 2)]
    total = 0.0
    for t in range(len(characters) - 1):
        x = characters[t] * ends[0]
        for i, (hidden, cell) in enumerate(states):
            x, cell = layer(layers[2 * i], layers[2 * i + 1], hidden, cell, x)
            states[i] = x, cell
        y = x * ends[1] + ends[2]
        y = y - ops.log(2 + ops.exp(y).sum())
        total = total + (characters[t + 1] * y).sum()
    return -total / characters[1:].size


FUNCTIONS = {"value": mindgrad.jit(text_loss), "gradient": mindgrad.grad(text_loss, (0, 1))}


def lstm(what: str, layers: int, variant: str, characters: int) -> Job:
    mindgrad.set_context(mode=mindgrad.GRAPH_MODE)
    return job(variant, FUNCTIONS[what], *map(Tensor, problems.lstm(layers, characters)))


TASKS = {
    f"gradbench-lstm-{what}-{layers}": partial(lstm, what, layers)
    for what in FUNCTIONS
    for layers in problems.LAYERS
}
