"""Rows that many kinds of operators keep apart, with mindgrad, as its users write them."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import row_problems
from job import Job
from mindspore_results import MODES, arrays, waits

import mindgrad
from mindgrad import Tensor, ops
from mindgrad.tools import profile

Function = Callable[..., Tensor]


def second(function: Function, t: Tensor) -> Tensor:
    """The second derivative along ones."""
    ones = ops.ones_like(t)
    along = lambda f: lambda t: mindgrad.jvp(f, t, ones)[1]
    return along(along(function))(t)


def with_time(starts: Tensor, times: Tensor) -> Tensor:
    return ops.concat((starts, ops.broadcast_to(times.expand_dims(2), starts.shape)), 1)


def job(variant: str, function: Function, *arguments: Tensor) -> Job:
    """Calls of a function that is compiled in graph mode."""
    mindgrad.set_context(mode=MODES[variant.split(" ")[0]])
    call = mindgrad.jit(function) if variant.startswith("graph") else function

    def facts() -> dict[str, float]:
        found = profile.measure(function, *arguments, compile=True)
        return {"equations": found.equations, "temporary": float(found.temporary_bytes)}

    return Job(lambda: call(*arguments), waits(variant), arrays, facts=facts, program=(function, *arguments))


def gradient(variant: str, loss: Function, weights: list[np.ndarray], *data: Tensor) -> Job:
    """The loss and its gradient in all weights."""
    positions = tuple(range(len(weights)))
    function = mindgrad.value_and_grad(lambda *xs: loss(xs[: len(weights)], *xs[len(weights) :]), positions)
    return job(variant, function, *map(Tensor, weights), *data)


def fno(variant: str) -> Job:
    problem = row_problems.fno()
    squares = Tensor(row_problems.wave_numbers())

    def network(weights: tuple[Tensor, ...], starts: Tensor, times: Tensor) -> Tensor:
        lift, *layers, last = weights
        h = ops.matmul(lift, with_time(starts, times))
        for k in range(0, len(layers), 4):
            real, imaginary, mix, bias = layers[k : k + 4]
            modes = ops.rfft(h)[:, :, : row_problems.MODES]
            product = ops.einsum("bim,mio->bom", modes, ops.complex(real, imaginary))
            h = ops.tanh(ops.irfft(product, row_problems.POINTS) + ops.matmul(mix, h) + bias)
        return ops.matmul(last, h)[:, 0]

    def loss(weights: tuple[Tensor, ...], starts: Tensor, times: Tensor) -> Tensor:
        u = lambda times: network(weights, starts, times)
        u_xx = ops.irfft(squares * ops.rfft(u(times)), row_problems.POINTS)
        return ops.square(second(u, times) - u_xx + u(times)).mean()

    return gradient(variant, loss, problem.weights, Tensor(problem.starts), Tensor(problem.times))


def conv(variant: str) -> Job:
    problem = row_problems.conv()

    def network(weights: tuple[Tensor, ...], starts: Tensor, times: Tensor) -> Tensor:
        h = with_time(starts, times)
        for k in range(0, len(weights), 2):
            h = ops.conv1d(h, weights[k], pad_mode="same") + weights[k + 1]
            h = ops.tanh(h) if k < len(weights) - 2 else h
        return h[:, 0]

    def loss(weights: tuple[Tensor, ...], starts: Tensor, times: Tensor) -> Tensor:
        u = lambda times: network(weights, starts, times)
        value = u(times)
        u_xx = ops.roll(value, 1, 1) - 2 * value + ops.roll(value, -1, 1)
        return ops.square(second(u, times) - u_xx + u(times)).mean()

    return gradient(variant, loss, problem.weights, Tensor(problem.starts), Tensor(problem.times))


def graph(variant: str) -> Job:
    problem = row_problems.graph()
    features, targets, senders, receivers = map(
        Tensor, (problem.features, problem.targets, problem.senders, problem.receivers)
    )

    def energy(positions: Tensor, weights: tuple[Tensor, ...]) -> Tensor:
        h = features
        between = ops.gather(positions, senders, 0) - ops.gather(positions, receivers, 0)
        squared = ops.square(between).sum(1, keepdims=True)
        for k in range(0, len(weights) - 1, 4):
            message, message_bias, atom, atom_bias = weights[k : k + 4]
            inputs = ops.concat((ops.gather(h, senders, 0), ops.gather(h, receivers, 0), squared), 1)
            sent = ops.tanh(ops.matmul(inputs, message) + message_bias)
            received = ops.unsorted_segment_sum(sent, receivers, row_problems.ATOMS)
            h = ops.tanh(ops.matmul(ops.concat((h, received), 1), atom) + atom_bias)
        return ops.matmul(h, weights[-1]).sum()

    def loss(weights: tuple[Tensor, ...], positions: Tensor) -> Tensor:
        return ops.square(-mindgrad.grad(energy)(positions, weights) - targets).mean()

    return gradient(variant, loss, problem.weights, Tensor(problem.positions))


def systems(variant: str) -> Job:
    problem = row_problems.systems()
    direction, right = Tensor(problem.direction), Tensor(problem.right)

    def solution(x: Tensor, matrices: Tensor) -> Tensor:
        left = matrices + ops.tanh(x).expand_dims(2) * direction
        return ops.solve(left, ops.sin(x * right).expand_dims(2)).sum()

    def curvature(matrices: Tensor, x: Tensor) -> Tensor:
        slope = mindgrad.grad(solution)
        return mindgrad.grad(lambda x: slope(x, matrices).sum())(x)[:, 0]

    return job(variant, curvature, Tensor(problem.matrices), Tensor(problem.points))


def attention(variant: str) -> Job:
    problem = row_problems.attention()
    embedding, *layers, last = map(Tensor, problem.weights)

    def network(x: Tensor) -> Tensor:
        h = ops.tanh(ops.matmul(x.reshape(-1, row_problems.PARTICLES, 3), embedding))
        for k in range(0, len(layers), 4):
            queries, keys, values, product = layers[k : k + 4]
            scores = ops.matmul(ops.matmul(h, queries), ops.matmul(h, keys).swapaxes(1, 2))
            shares = ops.softmax(scores / row_problems.ATTENTION_WIDTH**0.5, -1)
            h = h + ops.matmul(shares, ops.matmul(h, values))
            h = h + ops.tanh(ops.matmul(h, product))
        return ops.matmul(h, last).sum(1)

    return job(variant, mindgrad.laplacian(network), Tensor(problem.samples))


TASKS: dict[str, Callable[..., Job]] = {
    "rows-fno": fno,
    "rows-graph": graph,
    "rows-systems": systems,
    "rows-conv": conv,
    "rows-attention": attention,
}
