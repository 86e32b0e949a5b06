"""Time of one step of a second-order optimizer, and of products with curvature matrices.

    .venv/bin/python bench/curvature_steps.py          on the CPU
    .venv/bin/python bench/curvature_steps.py GPU      on the first GPU

Prints the fastest of 20 calls in milliseconds. The networks are those of ``scripts/bench curvature`` for
Poisson's equation in two dimensions, with 900 + 120 residuals in float64. Of the convolutional network, the
gradient and the norms of 128 per-sample gradients are measured in float32. The same is measured for a GPT
of four layers with width 128 and 16 sequences of 64 tokens, in turns, because the ratio of both times has a
goal: at most 1.3 on the CPU.
"""

import sys
import time
from collections.abc import Callable
from functools import partial
from typing import Any

import curvature_problems
import numpy as np

import mindgrad as ms
from mindgrad import nn, ops

CALLS = 20


def fastest_in_turns(*calls: Callable[[], Any]) -> list[float]:
    """Return the time of the fastest call of each function in milliseconds, after two calls that compile.

    The functions take turns. They return when their results are on the host.
    """
    times: list[list[float]] = [[] for _ in calls]
    for _ in range(CALLS + 2):
        for call, own in zip(calls, times, strict=True):
            start = time.perf_counter()
            call()
            own.append(time.perf_counter() - start)
    return [1e3 * min(own[2:]) for own in times]


def fastest(call: Callable[[], Any]) -> float:
    """Return the time of the fastest call of one function in milliseconds."""
    return fastest_in_turns(call)[0]


def residuals_of(name: str) -> None:
    """Measure steps and products of a problem of ``curvature_problems``."""
    task = curvature_problems.problem(name, 0)
    weights = task.net.trainable_params()
    for kind in (nn.GaussNewton, nn.LevenbergMarquardt, nn.KFAC):
        report(name, f"{kind.__name__} step", fastest(partial(kind(weights).step, task.residuals)))

    def loss() -> Any:
        return 0.5 * sum((r * r).sum() for r in task.residuals())

    gradient = ms.value_and_grad(loss, None, weights)
    report(name, "value and gradient", fastest(lambda: gradient()[0].asnumpy()))
    for matrix in (
        ms.curvature.gauss_newton(task.residuals, weights),
        ms.curvature.hessian(loss, weights),
    ):
        product = partial(matrix.matvec, np.ones(matrix.shape[0]))
        report(name, f"product with {matrix.space.owner}", fastest(product))


def per_sample_norms() -> None:
    """Compare the norms of per-sample gradients with the gradient of the sum."""
    net = nn.SequentialCell(
        nn.Conv2d(3, 16, 3), nn.ReLU(), nn.Conv2d(16, 32, 3), nn.ReLU(),
        nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Dense(32, 10),
    )  # fmt: skip
    random = np.random.default_rng(0)
    images = ms.Tensor(random.random((128, 3, 32, 32), np.float32))
    labels = ms.Tensor(random.integers(0, 10, 128).astype(np.int32))
    losses = nn.CrossEntropyLoss(reduction="none")
    weights = net.trainable_params()
    gradient = ms.value_and_grad(lambda: losses(net(images), labels).sum(), None, weights)
    report("convolutions", "value and gradient", fastest(lambda: gradient()[0].asnumpy()))
    norms = ms.curvature.per_sample_norms
    call = lambda: norms(lambda: losses(net(images), labels), weights).asnumpy()
    report("convolutions", "per-sample norms", fastest(call))


class Block(nn.Cell):
    """A layer of a GPT: attention to earlier tokens, and two linear layers.

    Args:
        width: number of features of a token.
        heads: number of attention heads.
        tokens: number of tokens in a sequence.
    """

    def __init__(self, width: int, heads: int, tokens: int) -> None:
        super().__init__()
        self.heads = heads
        self.norms = nn.CellList([nn.LayerNorm((width,)), nn.LayerNorm((width,))])
        self.projection = nn.Dense(width, 3 * width)
        self.output = nn.Dense(width, width)
        self.wide = nn.Dense(width, 4 * width)
        self.narrow = nn.Dense(4 * width, width)
        self.mask = ms.Tensor(np.triu(np.full((tokens, tokens), -1e9, np.float32), 1))

    def construct(self, x: ms.Tensor) -> ms.Tensor:
        rows, tokens, width = x.shape
        size = width // self.heads
        parts = ops.split(self.projection(self.norms[0](x)), width, -1)
        query, key, value = [y.reshape(rows, tokens, self.heads, size).transpose(0, 2, 1, 3) for y in parts]
        scores = query @ key.swapaxes(2, 3) / np.float32(size**0.5) + self.mask
        attended = (ops.softmax(scores, -1) @ value).transpose(0, 2, 1, 3)
        x = x + self.output(attended.reshape(rows, tokens, width))
        return x + self.narrow(ops.gelu(self.wide(self.norms[1](x))))


class GPT(nn.Cell):
    """A GPT with ``layers`` layers; see :class:`Block`."""

    def __init__(self, layers: int, width: int, heads: int, tokens: int, words: int) -> None:
        super().__init__()
        self.embedding = nn.Embedding(words, width)
        start = np.random.default_rng(0).normal(0, 0.02, (tokens, width))
        self.positions = ms.Parameter(ms.Tensor(start.astype(np.float32)), name="positions")
        self.blocks = nn.SequentialCell(*[Block(width, heads, tokens) for _ in range(layers)])
        self.norm = nn.LayerNorm((width,))
        self.head = nn.Dense(width, words, has_bias=False)

    def construct(self, tokens: ms.Tensor) -> ms.Tensor:
        return self.head(self.norm(self.blocks(self.embedding(tokens) + self.positions)))


def gpt_norms() -> None:
    """Compare the norms of per-sample gradients of a GPT with the gradient of the sum."""
    rows, tokens, words = 16, 64, 512
    net = GPT(4, 128, 4, tokens, words)
    weights = net.trainable_params()
    random = np.random.default_rng(0)
    given, wanted = [ms.Tensor(random.integers(0, words, (rows, tokens)).astype(np.int32)) for _ in range(2)]

    def losses(given: ms.Tensor, wanted: ms.Tensor) -> ms.Tensor:
        found = ops.cross_entropy(net(given).reshape(-1, words), wanted.reshape(-1), reduction="none")
        return found.reshape(rows, tokens).mean(1)

    gradient = ms.jit(ms.value_and_grad(lambda given, wanted: losses(given, wanted).sum(), None, weights))
    norms = ms.curvature.per_sample_norms
    base, own = fastest_in_turns(
        lambda: gradient(given, wanted)[1][-1].asnumpy(),
        lambda: norms(losses, weights, given, wanted).asnumpy(),
    )
    report("GPT, 4 layers", "value and gradient", base)
    report("GPT, 4 layers", "per-sample norms", own)
    print(f"{'GPT, 4 layers':16} {'ratio of both':34} {own / base:9.3f}", flush=True)


def report(network: str, what: str, milliseconds: float) -> None:
    """Print one row."""
    print(f"{network:16} {what:34} {milliseconds:9.3f} ms", flush=True)


if __name__ == "__main__":
    ms.set_context(device_target=sys.argv[1] if len(sys.argv) > 1 else "CPU")
    for problem_name in ("poisson2d", "poisson2d-deep"):
        residuals_of(problem_name)
    per_sample_norms()
    gpt_norms()
