"""Networks and losses for the tests of Kronecker factors and per-sample gradients."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

import mindgrad as ms
from mindgrad import nn, ops
from mindgrad.core import scan


def tensor(*shape, seed=0):
    return ms.Tensor(np.random.default_rng([seed, *shape]).standard_normal(shape))


def in_float64(net):
    """Give the trainable Parameters of a network random float64 values."""
    for k, p in enumerate(net.get_parameters()):
        p.set_dtype(ms.float64)
        if p.requires_grad:
            p.set_data(tensor(*p.shape, seed=k) * 0.5)
    return net


class Attention(nn.Cell):
    """Embedding, layer normalization, self-attention, and a linear layer."""

    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(7, 6)
        self.norm = nn.LayerNorm((6,))
        self.attention = nn.MultiheadAttention(6, 2, batch_first=True)
        self.last = nn.Dense(6, 2)

    def construct(self, tokens):
        h = self.norm(self.embedding(tokens))
        return self.last(h + self.attention(h, h, h, need_weights=False)[0])


class Tied(nn.Cell):
    """A network that uses its embedding table twice."""

    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(7, 6)
        self.dense = nn.Dense(6, 6)

    def construct(self, tokens):
        return ops.tanh(self.dense(self.embedding(tokens))) @ self.embedding.embedding_table.T


class Loop(nn.Cell):
    """A recurrent network that is written with ``scan``."""

    def __init__(self):
        super().__init__()
        self.W = ms.Parameter(tensor(4, 4), name="W")
        self.U = ms.Parameter(tensor(3, 4), name="U")
        self.V = ms.Parameter(tensor(4), name="V")

    def construct(self, x):
        def body(h, step):
            h = ops.tanh(h @ self.W.T + step @ self.U)
            return h, h * self.V

        last, outputs = scan(body, ops.zeros((x.shape[0], 4), ms.float64), x.swapaxes(0, 1))
        return ops.cat([outputs.swapaxes(0, 1).sum(1), last], 1)


class Unrolled(Loop):
    """The network of ``Loop`` as a Python loop."""

    def construct(self, x):
        h = total = ops.zeros((x.shape[0], 4), ms.float64)
        for k in range(x.shape[1]):
            h = ops.tanh(h @ self.W.T + x[:, k] @ self.U)
            total = total + h * self.V
        return ops.cat([total, h], 1)


class Ensemble(nn.Cell):
    """Two networks whose weights are stacked and mapped by vmap."""

    def __init__(self):
        super().__init__()
        self.W = ms.Parameter(tensor(2, 3, 4), name="W")

    def construct(self, x):
        return ops.tanh(ms.vmap(lambda w: x @ w)(self.W)).swapaxes(0, 1).reshape(x.shape[0], 8)


def mlp(*sizes):
    layers = []
    for a, b in pairwise(sizes):
        layers += [nn.Dense(a, b), nn.Tanh()]
    return in_float64(nn.SequentialCell(*layers[:-1]))


def convolutional():
    return in_float64(
        nn.SequentialCell(
            nn.Conv2d(2, 4, 3, stride=2, has_bias=True), nn.Tanh(),
            nn.Conv2d(4, 4, 2, group=2, pad_mode="valid"), nn.Flatten(), nn.Dense(4, 2),
        )
    )  # fmt: skip


def _recurrent(cell, **options):
    net = in_float64(cell(3, 4, batch_first=True, **options))
    return lambda: (net, lambda x: net(x)[0].sum(1), tensor(5, 4, 3))


def _plain(make, *shape):
    def case():
        net = make()
        return net, net, tensor(*shape)

    return case


def _tokens(make):
    def case():
        net = in_float64(make())
        tokens = ms.Tensor(np.random.default_rng(0).integers(0, 7, (5, 4)).astype(np.int32))
        return net, lambda tokens: net(tokens).sum(1), tokens

    return case


def _laplacian():
    net = mlp(2, 5, 4, 1)
    return net, lambda x: ops.cat([ms.laplacian(net)(x).reshape(-1, 1), net(x)], 1), tensor(6, 2)


def _gradients_of_gradients():
    net = mlp(2, 5, 1)

    def residual(x):
        gradient = ms.grad(lambda x: net(x).sum())
        return ms.grad(lambda x: gradient(x)[:, 0].sum())(x) * net(x) + gradient(x)

    return net, residual, tensor(6, 2)


def _flattened_tokens():
    net = mlp(3, 5, 4)

    def logits(x):
        flat = ops.log_softmax(net(x).reshape(-1, 4), -1)
        return flat.reshape(x.shape[0], x.shape[1], 4).sum(1)

    return net, logits, tensor(5, 4, 3)


#: functions that return a network, a function with one row for each sample, and the samples
NETWORKS = {
    "linear": _plain(lambda: in_float64(nn.Dense(3, 2, has_bias=False)), 6, 3),
    "mlp": _plain(lambda: mlp(3, 5, 2), 6, 3),
    "flattened tokens": _flattened_tokens,
    "convolutional": _plain(convolutional, 5, 2, 4, 4),
    "attention": _tokens(Attention),
    "tied": _tokens(Tied),
    "scan": _plain(Loop, 5, 4, 3),
    "unrolled": _plain(Unrolled, 5, 4, 3),
    "RNN": _recurrent(nn.RNN),
    "LSTM": _recurrent(nn.LSTM, bidirectional=True),
    "GRU": _recurrent(nn.GRU),
    "ensemble": _plain(Ensemble, 6, 3),
    "laplacian": _laplacian,
    "gradients of gradients": _gradients_of_gradients,
}
