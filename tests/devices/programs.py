"""Programs of the tests with eight devices: a perceptron and an attention block, divided as Megatron's are."""

from contextlib import contextmanager

import numpy as np

import mindgrad as ms
from mindgrad import Parameter, Tensor, context, nn, ops
from mindgrad.inspect.collectives import totals
from tests.tolerances import assert_close

DEVICES = 8


def normal(*shape, seed=0):
    return np.random.default_rng(seed).normal(size=shape).astype(np.float32)


def weight(name, *shape, seed):
    return Parameter(Tensor(normal(*shape, seed=seed) / np.float32(shape[0] ** 0.5)), name=name)


class Perceptron(nn.Cell):
    """Columns of the first matrix and rows of the second on each device."""

    def __init__(self):
        super().__init__()
        self.first = weight("first", 16, 64, seed=1)
        self.second = weight("second", 64, 16, seed=2)
        self.columns = ops.MatMul().shard(((1, 1), (1, DEVICES)))
        self.rows = ops.MatMul().shard(((1, DEVICES), (DEVICES, 1)))

    def construct(self, x):
        return self.rows(ops.tanh(self.columns(x, self.first)), self.second)


class Attention(nn.Cell):
    """Two heads on each device."""

    heads, size, width = 16, 4, 64

    def __init__(self):
        super().__init__()
        self.query = weight("query", self.width, self.width, seed=1)
        self.key = weight("key", self.width, self.width, seed=2)
        self.value = weight("value", self.width, self.width, seed=3)
        self.out = weight("out", self.width, self.width, seed=4)
        self.columns = ops.MatMul().shard(((1, 1), (1, DEVICES)))
        self.rows = ops.MatMul().shard(((1, DEVICES), (DEVICES, 1)))

    def split(self, x, matrix):
        return self.columns(x, matrix).reshape(-1, self.heads, self.size).swapaxes(0, 1)

    def construct(self, x):
        query, key, value = [self.split(x, matrix) for matrix in (self.query, self.key, self.value)]
        weights = ops.softmax(query @ key.swapaxes(1, 2) / self.size**0.5, axis=-1)
        joined = (weights @ value).swapaxes(0, 1).reshape(x.shape)
        return self.rows(joined, self.out)


@contextmanager
def divided(mode="semi_auto_parallel", **options):
    """Programs of the block are divided among the devices."""
    context.set_auto_parallel_context(parallel_mode=mode, **options)
    try:
        yield
    finally:
        context.reset_auto_parallel_context()


def texts(function):
    """XLA's texts of the programs that a compiled function has, the last one first."""
    compiled = getattr(function, "_divided", None) or getattr(function, "_compiled", function)
    return [
        program.executable.compiled.as_text()
        for programs in reversed(compiled._programs.values())
        for program in programs
    ]


def counts(function):
    """How often each kind of collective runs in the last program of a compiled function."""
    return {kind: times for kind, (times, _) in totals(texts(function)[0]).items()}


def agree(actual, expected, kind="program"):
    for x, y in zip(actual, expected, strict=True):
        x, y = (ms.Tensor(v).asnumpy() for v in (x, y))
        assert_close(x, y, kind, scale=1)
