"""GradBench's recurrent network with diagonal weights in PyTorch."""

from __future__ import annotations

from functools import partial

import lstm_problems as problems
import torch
from job import Job
from torch_results import arrays, wait


def layer(
    weight: torch.Tensor, bias: torch.Tensor, hidden: torch.Tensor, cell: torch.Tensor, x: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor]:
    forget, enter, leave, change = (torch.cat([x, hidden, x, hidden]) * weight + bias).chunk(4)
    cell = cell * torch.sigmoid(forget) + torch.sigmoid(enter) * torch.tanh(change)
    return torch.sigmoid(leave) * torch.tanh(cell), cell


def text_loss(
    layers: torch.Tensor, ends: torch.Tensor, state: torch.Tensor, characters: torch.Tensor
) -> torch.Tensor:
    states = [(state[i], state[i + 1]) for i in range(0, len(state), 2)]
    total = torch.zeros((), dtype=state.dtype)
    for t in range(len(characters) - 1):
        x = characters[t] * ends[0]
        for i, (hidden, cell) in enumerate(states):
            x, cell = layer(layers[2 * i], layers[2 * i + 1], hidden, cell, x)
            states[i] = x, cell
        y = x * ends[1] + ends[2]
        y = y - torch.log(2 + torch.exp(y).sum())
        total = total + (characters[t + 1] * y).sum()
    return -total / characters[1:].numel()


def lstm(what: str, layers: int, variant: str, characters: int) -> Job:
    arguments = [torch.tensor(each) for each in problems.lstm(layers, characters)]
    if what == "value":
        return Job(lambda: (text_loss(*arguments),), wait, arrays)
    weights = [each.requires_grad_() for each in arguments[:2]]
    return Job(lambda: torch.autograd.grad(text_loss(*arguments), weights), wait, arrays)


TASKS = {
    f"gradbench-lstm-{what}-{layers}": partial(lstm, what, layers)
    for what in ("value", "gradient")
    for layers in problems.LAYERS
}
