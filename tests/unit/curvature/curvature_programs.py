"""Programs whose curvature the tests compare with dense matrices.

Each program is a pair (function of weights, weights). The weights are a tree of Tensors.
"""

import numpy as np

import mindgrad as ms
from mindgrad import Tensor, nn, ops

random = np.random.default_rng(0)


def _tensor(*shape, dtype):
    return Tensor(random.standard_normal(shape).astype(dtype))


def plain(dtype):
    x = _tensor(5, 3, dtype=dtype)
    return lambda w: ops.tanh(x @ w["a"]) @ w["b"] + w["c"], {
        "a": _tensor(3, 4, dtype=dtype), "b": _tensor(4, dtype=dtype), "c": _tensor(dtype=dtype),
    }  # fmt: skip


def used_twice(dtype):
    x = _tensor(5, 3, dtype=dtype)
    return lambda w: ops.sin(ops.tanh(x @ w) @ w.T @ w).sum(-1), _tensor(3, 3, dtype=dtype)


def convolution(dtype):
    x = _tensor(3, 2, 5, 5, dtype=dtype)
    return lambda w: ops.tanh(ops.conv2d(x, w[0])).reshape(3, -1) @ w[1], [
        _tensor(2, 2, 3, 3, dtype=dtype), _tensor(18, 2, dtype=dtype),
    ]  # fmt: skip


def recurrent(dtype):
    x = _tensor(4, 3, dtype=dtype)

    def states(w):
        h = ops.zeros_like(x)
        for _ in range(3):
            h = ops.tanh(x + h @ w)
        return h.sum(-1)

    return states, _tensor(3, 3, dtype=dtype)


def scanned(dtype):
    x = _tensor(6, 2, dtype=dtype)

    def states(w):
        h, k = ops.zeros_like(x[0]), 0
        while k < x.shape[0]:
            h = ops.tanh(x[k] + w @ h)
            k += 1
        return h

    return states, _tensor(2, 2, dtype=dtype)


def attention(dtype):
    x = _tensor(2, 4, 3, dtype=dtype)

    def attended(w):
        q, k, v = (x @ w[name] for name in "qkv")
        return (ops.softmax(q @ k.swapaxes(1, 2), -1) @ v).sum(1)

    return attended, {name: _tensor(3, 3, dtype=dtype) for name in "qkv"}


def residual(dtype):
    """The residual of a Poisson equation, and the values on the boundary."""
    x, b = _tensor(6, 2, dtype=dtype), _tensor(3, 2, dtype=dtype)

    def residuals(w):
        u = lambda x: ops.tanh(x @ w[0] + w[1]) @ w[2]
        return ms.laplacian(u)(x) - 1.0, u(b)

    return residuals, (_tensor(2, 4, dtype=dtype), _tensor(4, dtype=dtype), _tensor(4, 1, dtype=dtype))


def mixed_rows(dtype):
    x = _tensor(5, 3, dtype=dtype)

    def normalized(w):
        y = x @ w
        return (y - y.mean(0)) / (1.0 + (y * y).mean(0))

    return normalized, _tensor(3, 2, dtype=dtype)


def scalar(dtype):
    return lambda w: (w["k"] ** 3).sum() * w["s"], {"k": _tensor(3, dtype=dtype), "s": _tensor(dtype=dtype)}


def layers(dtype):
    x = _tensor(4, 3, dtype=dtype)
    net = nn.SequentialCell(nn.Dense(3, 4), nn.LayerNorm((4,)), nn.ReLU(), nn.Dense(4, 2))
    names = [p.name for p in net.trainable_params()]

    def outputs(w):
        return ms.functional_call(net, dict(zip(names, w, strict=True)), x)

    return outputs, [_tensor(*p.shape, dtype=dtype) for p in net.trainable_params()]


PROGRAMS = {
    f.__name__: f
    for f in (
        plain, used_twice, convolution, recurrent, scanned, attention, residual, mixed_rows, scalar, layers
    )
}  # fmt: skip


def flat_function(function, weights, dtype):
    """Return ``function`` as a function of a flat vector, and the flat weights."""
    space = ms.curvature.hessian_matrix.Objective("test", function, weights).space

    def flat(vector):
        tree = ms.core.base.tree.unflatten(space.structure, space.split(vector))
        leaves = ms.core.base.tree.flatten(function(tree))[0]
        return ops.cat([x.reshape(-1) for x in leaves])

    return flat, Tensor(space.current())
