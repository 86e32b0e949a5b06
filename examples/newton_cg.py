"""Second-order optimization: Newton's method with conjugate gradients, and Adam.

    python examples/newton_cg.py             about ten seconds on two cores
    python examples/newton_cg.py --quick     fewer steps of Adam

The problem is a logistic regression whose features have very different scales, so first-order methods
converge slowly. Newton's direction solves ``H d = −g`` by conjugate gradients, which only need products of
the Hessian with vectors: ``jvp`` of the gradient, which is exact and never forms the Hessian. One Newton step
is one compiled program. Its inner ``while`` loops stop when the residual is small enough and when the loss
has decreased enough (line search). Truncated Newton: J. Nocedal and S. Wright, *Numerical Optimization*, 2nd
ed., algorithm 7.1.

Check: the loss is μ-strongly convex, so ``loss(w) − minimum ≤ |gradient|² / 2μ``. This bound must be below
1e-12. The figure, loss over gradient evaluations, is written to figures/newton_cg.png. A Hessian-vector
product counts as two gradient evaluations, and an evaluation of the loss as half of one.
"""

import argparse
import time
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure
from rich.console import Console
from rich.progress import track

import mindgrad as ms
from mindgrad import Parameter, Tensor, nn, ops

SAMPLES, FEATURES, PENALTY = 4000, 100, 1e-4


def data():
    """Correlated features of different scales, and labels -1 or 1 with 10 % noise."""
    random = np.random.default_rng(0)
    rotation = np.linalg.qr(random.normal(size=(FEATURES, FEATURES)))[0]
    scales = np.logspace(1, -1, FEATURES)
    features = random.normal(size=(SAMPLES, FEATURES)) * scales @ rotation
    labels = np.sign(features @ (rotation.T @ (random.normal(size=FEATURES) / scales)))
    labels[random.random(SAMPLES) < 0.1] *= -1
    return Tensor(features), Tensor(labels)


class Logistic(nn.Cell):
    """Mean log(1 + exp(−label · feature · w)) + PENALTY / 2 · |w|²."""

    def __init__(self, features, labels):
        super().__init__()
        self.features, self.labels = features, labels

    def construct(self, w):
        margins = self.labels * ops.matmul(self.features, w)
        return ops.softplus(-margins).mean() + 0.5 * PENALTY * (w * w).sum()


class NewtonStep(nn.Cell):
    """One Newton step from ``w``.

    The call returns the next ``w``, its loss, the norm of its gradient, and the number of evaluations.
    """

    def __init__(self, loss):
        super().__init__()
        self.loss = loss
        self.gradient = ms.grad(loss)

    def construct(self, w):
        value, gradient = self.loss(w), self.gradient(w)
        norm = ops.sqrt((gradient * gradient).sum())
        goal = ops.minimum(0.5, ops.sqrt(norm)) * norm  # makes the convergence superlinear
        direction, residual = ops.zeros_like(w), -gradient
        search, squared, products = residual, norm * norm, 0
        while ops.sqrt(squared) > goal:
            _, bent = ms.jvp(self.gradient, w, search)  # Hessian times search
            length = squared / (search * bent).sum()
            direction = direction + length * search
            residual = residual - length * bent
            before, squared = squared, (residual * residual).sum()
            search = residual + squared / before * search
            products += 1
        step, slope, tries = 1.0, (gradient * direction).sum(), 1
        new = self.loss(w + direction)
        while new > value + 1e-4 * step * slope and tries < 30:
            step, tries = 0.5 * step, tries + 1
            new = self.loss(w + step * direction)
        w = w + step * direction
        end = self.gradient(w)
        return w, new, ops.sqrt((end * end).sum()), 2 + 2 * products + 0.5 * (1 + tries)


def newton(loss, start, most):
    """Minimize ``loss``; return w, its gradient norm, and losses and evaluations."""
    step, w, history = NewtonStep(loss), start, [(float(loss(start)), 0.0)]
    with Console().status("Newton with conjugate gradients") as status:
        for k in range(1, most + 1):
            w, value, norm, evaluations = step(w)
            history.append((float(value), history[-1][1] + float(evaluations)))
            status.update(f"Newton with conjugate gradients: step {k}, |gradient| {float(norm):.1e}")
            if float(norm) < 1e-9:
                break
    return w, float(norm), np.array(history)


class Train(nn.Cell):
    """The loss as a function of a Parameter."""

    def __init__(self, loss, start):
        super().__init__()
        self.loss, self.w = loss, Parameter(start, name="w")

    def construct(self):
        return self.loss(self.w)


def adam(loss, start, rate, steps):
    """Losses and evaluations of Adam with a learning rate that decays to zero."""
    net = Train(loss, start)
    optimizer = nn.Adam(net.trainable_params(), nn.cosine_decay_lr(0.0, rate, steps, 1, steps))
    value_and_gradient = ms.value_and_grad(net, None, optimizer.parameters)

    @ms.jit
    def step():
        value, gradients = value_and_gradient()
        optimizer(gradients)
        return value

    losses = [float(step()) for _ in track(range(steps), f"Adam, rate {rate:g}")]
    return np.stack([losses, np.arange(steps)], 1)


def main():
    options = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    options.add_argument("--quick", action="store_true", help="fewer steps of Adam, for a quick look")
    options.add_argument(
        "--figures",
        type=Path,
        default=Path("figures"),
        metavar="DIR",
        help="folder for the figure (default: figures)",
    )
    options.add_argument("--figure", type=Path, metavar="FILE", help="file name (default: DIR/newton_cg.png)")
    chosen = options.parse_args()
    path = chosen.figure or chosen.figures / "newton_cg.png"
    path.parent.mkdir(parents=True, exist_ok=True)
    ms.set_context(mode=ms.GRAPH_MODE)
    begin = time.time()
    loss = Logistic(*data())
    start = Tensor(np.zeros(FEATURES))
    _, norm, found = newton(loss, start, 50)
    certificate = norm**2 / (2 * PENALTY)
    least = found[-1, 0]
    steps = 1000 if chosen.quick else 3000
    runs = {f"Adam, rate {rate:g}": adam(loss, start, rate, steps) for rate in (1.0, 0.1, 0.01)}
    print(f"Newton with conjugate gradients: {len(found) - 1} steps, {found[-1, 1]:.0f} gradient evaluations")
    print(f"  loss {least:.12f}, above the minimum by at most {certificate:.1e}      (at most 1e-12)")
    for name, run in runs.items():
        print(f"{name}: {len(run)} evaluations, above the minimum by {run[-1, 0] - least:.1e}")
    figure = Figure(figsize=(7, 4.2), layout="constrained")
    axes = figure.subplots()
    for name, run in {"Newton with conjugate gradients": found, **runs}.items():
        above = np.maximum(run[:, 0] - least, 1e-16)
        axes.loglog(run[:, 1] + 1, above, label=name, linewidth=2 if run is found else 1)
    heading = "Logistic regression: Newton with Hessian-vector products against Adam"
    if chosen.quick:
        heading += f"\nquick run: Adam stops after {steps} instead of 3000 steps"
    axes.set(
        xlabel="gradient evaluations (a Hessian-vector product counts as two)",
        ylabel="loss above the minimum",
        ylim=(1e-15, 10),
        title=heading,
    )
    axes.legend()
    figure.savefig(path, dpi=150)
    print(f"{time.time() - begin:.0f} s; the figure is in {path}")
    if certificate > 1e-12:
        raise SystemExit("a check failed")


if __name__ == "__main__":
    main()
