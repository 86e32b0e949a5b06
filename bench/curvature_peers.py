"""Curvature matrices of 16 small networks, beside curvlinops and dense matrices of PyTorch.

    .venv/bin/python bench/curvature_peers.py

Both libraries receive the same weights and data in float64. PyTorch and curvlinops have an environment of
their own (``environments``). The table contains relative distances ‖A - B‖ / ‖B‖ in the Frobenius norm:

- *GGN*, *Hessian*: products with the identity, from the dense matrices of PyTorch or from curvlinops. The
  products do not store the Jacobian. *GGN, dense* also includes mindgrad's matrix from its stored Jacobian.
- *K-FAC*: the diagonal blocks of matrices and convolution kernels, from curvlinops with
  ``separate_weight_and_bias``.
- *error*: the same blocks from the exact blocks; *nearest* is mindgrad's ``sharing="nearest"``.
- *biases*: the blocks of vectors from the exact blocks. Those of mindgrad are exact.

The exit status is 1 if a product or the block of a vector differs from the dense matrix by more than
``ROUNDING``, or if K-FAC differs from curvlinops for one of the first ``SUPPORTED`` networks.
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
#: columns that contain rounding errors, and columns that contain errors of K-FAC
ROUNDED = ["GGN, dense", "GGN, curvlinops", "Hessian, dense", "Hessian, curvlinops", "K-FAC, curvlinops"]
ERRORS = ["error, mindgrad", "error, curvlinops", "error, nearest", "biases, curvlinops"]


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


def _convolution(inputs: int, outputs: int, width: int, options: dict[str, Any]) -> nn.Cell:
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


def matrices(network: Network) -> tuple[dict[str, np.ndarray], list[tuple[int, ...]]]:
    """Return all matrices that mindgrad computes, and the shapes of the weights."""
    function, weights = built(network)
    values, target = curvature_networks.data(network)
    x = ms.Tensor(values)
    loss = LOSSES[network.loss]()
    labels = ms.Tensor(target.astype(np.int32) if network.loss == "cross entropy" else target)
    given = {"loss": loss, "targets": labels}
    ggn = ms.curvature.gauss_newton(function, weights, x, **given)
    without_jacobian = ms.curvature.gauss_newton(function, weights, x, memory=1, **given)
    hessian = ms.curvature.hessian(lambda x, labels: loss(function(x), labels), weights, x, labels)
    found = {
        "GGN": without_jacobian @ np.eye(ggn.shape[1]),
        "stored GGN": ggn.to_dense(),
        "Hessian": hessian @ np.eye(ggn.shape[1]),
        "K-FAC": ms.curvature.kfac(function, weights, x, sharing=network.sharing, **given).to_dense(),
        "nearest": ms.curvature.kfac(function, weights, x, sharing="nearest", **given).to_dense(),
    }
    return found, [tuple(w.shape) for w in weights]


def diagonal_blocks(matrix: np.ndarray, shapes: list[tuple[int, ...]], are_vectors: bool) -> np.ndarray:
    """Return the elements of the diagonal blocks of all vectors, or of all other weights."""
    ends = np.cumsum([0, *[int(np.prod(shape)) for shape in shapes]])
    chosen = [
        matrix[a:b, a:b].reshape(-1)
        for (a, b), shape in zip(pairwise(ends), shapes, strict=True)
        if (len(shape) == 1) == are_vectors
    ]
    return np.concatenate(chosen) if chosen else np.zeros(0)


def distance(a: np.ndarray, b: np.ndarray) -> float:
    """Return ‖a - b‖ / ‖b‖, or 0 for empty arrays."""
    return float(np.linalg.norm(a - b) / np.linalg.norm(b)) if b.size else 0.0


def compared(network: Network, peer: dict[str, Any]) -> tuple[int, dict[str, float]]:
    """Return the number of weights, and the distances of a row of the table by name."""
    own, shapes = matrices(network)
    exact = peer["dense GGN"]
    found = {
        "GGN, dense": max(distance(own["GGN"], exact), distance(own["stored GGN"], exact)),
        "GGN, curvlinops": distance(own["GGN"], peer["GGN"]),
        "Hessian, dense": distance(own["Hessian"], peer["dense Hessian"]),
        "Hessian, curvlinops": distance(own["Hessian"], peer["Hessian"]),
    }
    both = {"mindgrad": own["K-FAC"], "nearest": own["nearest"]}
    if "K-FAC" in peer:
        both["curvlinops"] = peer["K-FAC"]
        of_weights = [diagonal_blocks(x, shapes, False) for x in (own["K-FAC"], peer["K-FAC"])]
        found["K-FAC, curvlinops"] = distance(*of_weights)
    for kind, are_vectors in (("error", False), ("biases", True)):
        blocks = diagonal_blocks(exact, shapes, are_vectors)
        for name, matrix in both.items():
            found[f"{kind}, {name}"] = distance(diagonal_blocks(matrix, shapes, are_vectors), blocks)
    return exact.shape[0], found


def peer_matrices() -> list[dict[str, Any]]:
    """Return the matrices of PyTorch and curvlinops for each network."""
    script = Path(__file__).parent / "curvlinops_matrices.py"
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([environments.python_of("curvlinops"), script, folder], check=True)
        return [dict(np.load(Path(folder) / f"{k}.npz")) for k in range(len(NETWORKS))]


def main() -> int:
    """Print the table, and return 1 if matrices differ."""
    rows, notes, faults = [["network", "weights", *ROUNDED, *ERRORS]], [], []
    for number, (peer, (name, network)) in enumerate(zip(peer_matrices(), NETWORKS.items(), strict=True)):
        size, found = compared(network, peer)
        cells = [f"{found[x]:.0e}" if x in found else "cannot" for x in ROUNDED]
        cells += [f"{found[x]:.3f}" if x in found else "cannot" for x in ERRORS]
        rows.append([name, f"{size}", *cells])
        if str(peer["failure"]):
            notes.append(f"- {name}: {' '.join(str(peer['failure']).split())}")
        equal = [*ROUNDED[: None if number < SUPPORTED else -1], "biases, mindgrad"]
        faults += [f"{name}: {x}" for x in equal if not found.get(x, np.inf) <= ROUNDING]
    print("\n".join([markdown(rows), "", *notes]))
    print("\n".join([f"different: {x}" for x in faults] or [f"all equal within {ROUNDING:.0e}"]))
    return int(bool(faults))


if __name__ == "__main__":
    sys.exit(main())
