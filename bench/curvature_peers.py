"""Curvature matrices of 16 small networks, beside curvlinops and dense matrices of PyTorch.

    .venv/bin/python bench/curvature_peers.py

Both libraries receive the same weights and data in float64. The table contains relative distances
‖A - B‖ / ‖B‖ in the Frobenius norm. PyTorch and curvlinops have an environment of their own
(``environments``), and K-FAC treats weights and biases separately. The exit status is 1 if a product differs
from the dense matrix by more than ``ROUNDING``, or if K-FAC differs from curvlinops for a network of
``SUPPORTED``.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import curvature_networks
import environments
import numpy as np
from curvature_networks import NETWORKS, Network
from report import markdown

import mindgrad as ms
from mindgrad import nn, ops

ROUNDING = 1e-12
#: the number of networks at the beginning of the list for which curvlinops defines the same K-FAC blocks
SUPPORTED = 12
HEAD = [
    "network", "weights", "GGN, dense", "GGN, curvlinops", "Hessian, dense", "K-FAC, curvlinops",
    "error, mindgrad", "error, curvlinops", "error, nearest",
]  # fmt: skip


class Mean(nn.Cell):
    """The mean over the positions of a sequence."""

    def construct(self, x: ms.Tensor) -> ms.Tensor:
        return x.mean(1)


class Attention(nn.Cell):
    """Self-attention with one head."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.query, self.key, self.value = [nn.Dense(width, width) for _ in range(3)]

    def construct(self, x: ms.Tensor) -> ms.Tensor:
        scores = self.query(x) @ self.key(x).swapaxes(1, 2)
        return ops.softmax(scores, -1) @ self.value(x)


class Recurrence(nn.Cell):
    """The last state of a recurrent network, as a Python loop."""

    def __init__(self, inputs: int, states: int) -> None:
        super().__init__()
        self.inputs, self.states = nn.Dense(inputs, states), nn.Dense(states, states)

    def construct(self, x: ms.Tensor) -> ms.Tensor:
        state = ops.tanh(self.inputs(x[:, 0]))
        for k in range(1, x.shape[1]):
            state = ops.tanh(self.inputs(x[:, k]) + self.states(state))
        return state


def _convolution(inputs: int, outputs: int, width: int, options: dict[str, int]) -> nn.Cell:
    named = {"group" if name == "groups" else name: value for name, value in options.items()}
    return nn.Conv2d(inputs, outputs, width, pad_mode="pad", has_bias=True, **named)


LAYERS: dict[str, Callable[..., nn.Cell]] = {
    "dense": nn.Dense,
    "linear": lambda a, b: nn.Dense(a, b, has_bias=False),
    "convolution": _convolution,
    "tanh": nn.Tanh,
    "relu": nn.ReLU,
    "max pooling": lambda width: nn.MaxPool2d(width, width),
    "average pooling": lambda width: nn.AvgPool2d(width, width),
    "flatten": nn.Flatten,
    "mean": Mean,
    "attention": Attention,
    "recurrence": Recurrence,
    "embedding": nn.Embedding,
    "normalization": lambda width: nn.LayerNorm((width,), epsilon=1e-5),
}
LOSSES = {"squares": nn.MSELoss, "cross entropy": nn.CrossEntropyLoss}


def built(network: Network) -> tuple[Callable[..., Any], list[ms.Parameter]]:
    """Return the function that is trained, and its Parameters in float64."""
    net = nn.SequentialCell(*[LAYERS[kind](*sizes) for kind, *sizes in network.layers])
    weights = list(net.trainable_params())
    for k, parameter in enumerate(weights):
        parameter.set_dtype(ms.float64)
        parameter.set_data(ms.Tensor(curvature_networks.weight(k, tuple(parameter.shape))))
    if network.is_residual:
        return lambda x: ms.laplacian(net)(x).reshape(-1, 1) + net(x), weights
    return net, weights


def matrices(network: Network) -> tuple[dict[str, np.ndarray], list[int]]:
    """Return all matrices that mindgrad computes, and the sizes of the weights."""
    function, weights = built(network)
    values, target = curvature_networks.data(network)
    x = ms.Tensor(values)
    loss = LOSSES[network.loss]()
    labels = ms.Tensor(target.astype(np.int32) if network.loss == "cross entropy" else target)
    curvature = ms.curvature
    given = {"loss": loss, "targets": labels}
    ggn = curvature.gauss_newton(function, weights, x, **given)
    hessian = curvature.hessian(lambda x, labels: loss(function(x), labels), weights, x, labels)
    blocks = {"dense_size": 0, **given}
    found = {
        "GGN": ggn @ np.eye(ggn.shape[1]),
        "Hessian": hessian @ np.eye(ggn.shape[1]),
        "K-FAC": curvature.kfac(function, weights, x, sharing=network.sharing, **blocks).to_dense(),
        "nearest": curvature.kfac(function, weights, x, sharing="nearest", **blocks).to_dense(),
    }
    return found, [int(np.prod(w.shape)) for w in weights]


def distance(a: np.ndarray | None, b: np.ndarray) -> float:
    """Return the relative distance of ``a`` from ``b``, or NaN without ``a``."""
    return float("nan") if a is None else float(np.linalg.norm(a - b) / np.linalg.norm(b))


def diagonal_blocks(matrix: np.ndarray | None, sizes: list[int]) -> np.ndarray | None:
    """Return the elements of all diagonal blocks, one for each weight."""
    if matrix is None:
        return None
    ends = np.cumsum([0, *sizes])
    return np.concatenate([matrix[a:b, a:b].reshape(-1) for a, b in pairwise(ends)])


def distances(network: Network, peer: dict[str, Any]) -> list[float]:
    """Return the number of weights, and the seven distances of a row of the table."""
    own, sizes = matrices(network)
    blocks = {name: diagonal_blocks(own[name], sizes) for name in ("K-FAC", "nearest")}
    of_peer = diagonal_blocks(peer.get("K-FAC"), sizes)
    exact = diagonal_blocks(peer["dense GGN"], sizes)
    assert exact is not None
    return [
        sum(sizes),
        distance(own["GGN"], peer["dense GGN"]),
        distance(own["GGN"], peer["GGN"]),
        distance(own["Hessian"], peer["dense Hessian"]),
        float("nan") if of_peer is None else distance(blocks["K-FAC"], of_peer),
        *[distance(x, exact) for x in (blocks["K-FAC"], of_peer, blocks["nearest"])],
    ]


def peer_matrices() -> list[dict[str, Any]]:
    """Return the matrices of PyTorch and curvlinops for each network."""
    script = Path(__file__).parent / "curvlinops_matrices.py"
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([environments.python_of("curvlinops"), script, folder], check=True)
        return [dict(np.load(Path(folder) / f"{k}.npz")) for k in range(len(NETWORKS))]


def main() -> int:
    """Print the table, and return 1 if matrices differ."""
    rows, notes, faults = [HEAD], [], []
    for number, (peer, (name, network)) in enumerate(zip(peer_matrices(), NETWORKS.items(), strict=True)):
        size, *found = distances(network, peer)
        shown = [f"{x:.0e}" for x in found[:4]] + [f"{x:.3f}" for x in found[4:]]
        rows.append([name, f"{size}", *["cannot" if cell == "nan" else cell for cell in shown]])
        if peer["failure"]:
            notes.append(f"- {name}: {' '.join(str(peer['failure']).split())}")
        compared = found[: 4 if number < SUPPORTED else 3]
        faults += [name] if not max(compared) <= ROUNDING else []
    print(markdown(rows))
    print("\n".join(["", *notes]))
    print(f"different: {', '.join(faults)}" if faults else f"no product differs by more than {ROUNDING:.0e}")
    return int(bool(faults))


if __name__ == "__main__":
    sys.exit(main())
