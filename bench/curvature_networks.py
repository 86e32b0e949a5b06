"""Small networks, as lists of layers that ``curvature_peers`` builds in mindgrad and in PyTorch.

This file needs NumPy only, because the peer's interpreter reads it too. Both libraries number the weights in
the order of the layers, and draw their values from ``array``.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

ROWS = 6


class Network(NamedTuple):
    """A network, its loss, and the way in which K-FAC combines shared positions.

    ``shape`` is the shape of one sample. If ``tokens`` is positive, samples are integers below it. Outputs
    have the shape ``(rows, outputs)``. If ``is_residual`` is true, the residual Δu + u of the network u is
    trained instead of u.
    """

    layers: list[tuple[Any, ...]]
    shape: tuple[int, ...]
    outputs: int
    loss: str = "squares"
    sharing: str = "expand"
    tokens: int = 0
    is_residual: bool = False


def array(*shape: int, seed: int = 0) -> np.ndarray:
    """Return standard normal numbers."""
    return np.random.default_rng([seed, *shape]).standard_normal(shape)


def weight(number: int, shape: tuple[int, ...]) -> np.ndarray:
    """Return the value of the weight with this number."""
    return 0.5 * array(*shape, seed=number + 1)


def data(network: Network) -> tuple[np.ndarray, np.ndarray]:
    """Return samples and targets."""
    x = array(ROWS, *network.shape)
    if network.tokens:
        x = np.random.default_rng(0).integers(0, network.tokens, (ROWS, *network.shape)).astype(np.int32)
    if network.loss == "cross entropy":
        return x, np.arange(ROWS) % network.outputs
    return x, array(ROWS, network.outputs, seed=1)


_TOKENS = [("dense", 3, 5), ("tanh",), ("dense", 5, 4), ("tanh",), ("mean",), ("dense", 4, 2)]
_CONVOLUTIONS = [
    ("convolution", 2, 3, 3, {"stride": 2, "padding": 1}), ("tanh",), ("flatten",), ("dense", 12, 2),
]  # fmt: skip
_ATTENTION = [("attention", 4), ("mean",), ("dense", 4, 3)]

#: curvlinops supports the first twelve
NETWORKS = {
    "MLP, squares": Network([("dense", 3, 5), ("tanh",), ("dense", 5, 2)], (3,), 2),
    "MLP, cross entropy": Network(
        [("dense", 3, 5), ("relu",), ("dense", 5, 3)], (3,), 3, "cross entropy"
    ),
    "deep MLP, cross entropy": Network(
        [("dense", 3, 5), ("tanh",), ("dense", 5, 5), ("tanh",), ("dense", 5, 4), ("tanh",), ("dense", 4, 3)],
        (3,), 3, "cross entropy",
    ),
    "deep linear, squares": Network([("linear", 3, 4), ("linear", 4, 4), ("linear", 4, 2)], (3,), 2),
    "convolution, stride 2, padding 1": Network(_CONVOLUTIONS, (2, 4, 4), 2),
    "the same, reduce": Network(_CONVOLUTIONS, (2, 4, 4), 2, sharing="reduce"),
    "convolution, max pooling": Network(
        [("convolution", 2, 3, 2, {}), ("relu",), ("max pooling", 2), ("flatten",), ("dense", 12, 3)],
        (2, 5, 5), 3, "cross entropy",
    ),
    "dilation 2, average pooling": Network(
        [("convolution", 2, 3, 2, {"dilation": 2}), ("tanh",), ("average pooling", 2), ("flatten",),
         ("dense", 12, 3)],
        (2, 6, 6), 3, "cross entropy",
    ),
    "sequence": Network(_TOKENS, (4, 3), 2),
    "sequence, reduce": Network(_TOKENS, (4, 3), 2, sharing="reduce"),
    "attention": Network(_ATTENTION, (4, 4), 3, "cross entropy"),
    "attention, reduce": Network(_ATTENTION, (4, 4), 3, "cross entropy", "reduce"),
    "convolution, 2 groups": Network(
        [("convolution", 4, 4, 2, {"groups": 2}), ("tanh",), ("flatten",), ("dense", 16, 2)], (4, 3, 3), 2
    ),
    "recurrent loop": Network([("recurrence", 3, 4), ("dense", 4, 2)], (4, 3), 2),
    "transformer": Network(
        [("embedding", 7, 4), ("normalization", 4), *_ATTENTION], (4,), 3, "cross entropy", tokens=7
    ),
    "PDE residual Δu + u": Network(
        [("dense", 2, 5), ("tanh",), ("dense", 5, 4), ("tanh",), ("dense", 4, 1)], (2,), 1, is_residual=True
    ),
}  # fmt: skip
