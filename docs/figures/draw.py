"""Draws the figures of docs/mode_choice.md: what programs cost with and without the choice of the mode.

Counts only, nothing is timed: `python docs/figures/draw.py` gives the same figures on every machine.
"""

from itertools import pairwise
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

import mindgrad as ms
from mindgrad import Tensor, ops

HERE = Path(__file__).parent
RANDOM = np.random.default_rng(0)


def network(*widths):
    weights = [Tensor(RANDOM.normal(size=pair).astype("float32") / 4) for pair in pairwise(widths)]

    def value(x):
        for weight in weights[:-1]:
            x = ops.tanh(ops.matmul(x, weight))
        return ops.matmul(x, weights[-1])

    return value


def nested(function, order):
    for _ in range(order):
        function = ms.grad(function)
    return function


def laplacian(function):
    def by_coordinates(x):
        gradient = ms.grad(function)
        return sum(ms.grad(lambda x, k=k: gradient(x)[:, k])(x)[:, k] for k in range(x.shape[1]))

    return by_coordinates


def draw(name, title, label, unit, xs, before, after):
    figure, axes = plt.subplots(figsize=(6, 3.4), layout="constrained")
    axes.plot(xs, before, "o--", color="tab:red", label="as written (MINDGRAD_OPT=0)")
    axes.plot(xs, after, "o-", color="tab:blue", label="as compiled")
    axes.set(title=title, xlabel=label, ylabel=unit, yscale="log")
    axes.grid(alpha=0.3)
    axes.legend()
    figure.savefig(HERE / f"{name}.svg", metadata={"Date": None})
    plt.close(figure)


def orders():
    xs = range(1, 9)
    x = ops.ones((100, 1), ms.float32)
    found = [ms.explain(nested(network(1, 32, 32, 1), n))(x) for n in xs]
    before, after = [each.before.equations for each in found], [each.after.equations for each in found]
    draw("orders", "grad of grad of … of a network at 100 points", "order", "equations", xs, before, after)


def dimensions():
    xs = [2, 4, 8, 16, 32]
    found = [ms.explain(laplacian(network(n, 64, 64, 1)))(ops.ones((100, n), ms.float32)) for n in xs]
    before, after = [each.before.flops for each in found], [each.after.flops for each in found]
    title = "the Laplacian, one nested gradient per coordinate"
    draw("dimensions", title, "coordinates", "floating-point operations", xs, before, after)


if __name__ == "__main__":
    plt.switch_backend("svg")
    plt.rcParams["svg.hashsalt"] = "mindgrad"
    plt.rcParams["svg.fonttype"] = "none"
    orders()
    dimensions()
