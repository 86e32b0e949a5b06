"""Burgers' equation: a physics-informed net, compared with the exact solution.

    python examples/burgers.py               about two minutes on two cores
    python examples/burgers.py --quick       a few seconds: too few steps for a solution

    u_t + u u_x = ν u_xx,   ν = 0.01 / π,   u(0, x) = −sin πx,   u(t, ±1) = 0

The solution on 0 ≤ t ≤ 1 develops a shock of width about ν at x = 0. The net satisfies the initial and
boundary conditions by construction, so the loss is only the residual of the equation at random points. The
derivatives u_t, u_x and u_xx are nested ``GradOperation``s, and training differentiates through them.

Check: the exact solution of Cole (Quart. Appl. Math. 9, 225 (1951)) and Hopf,

    u = −∫ sin π(x − y) f(x − y) g(y) dy / ∫ f(x − y) g(y) dy,   f(y) = exp(−cos πy / 2πν),
    g(y) = exp(−y² / 4νt),

by Gauss–Hermite quadrature. The relative error in the L2 norm must be below 5e-3. The figure is written to
figures/burgers.png. examples/mindspore/burgers.py is the same program for MindSpore.
"""

import argparse
import time
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure
from rich.progress import Progress

import mindgrad as ms
from mindgrad import Tensor, nn, ops

VISCOSITY = 0.01 / np.pi
POINTS, STEPS, RESAMPLE = 1000, 30_000, 10


class Solution(nn.Cell):
    """u(t, x) at points: maps two tensors of shape (points, 1) to one."""

    def __init__(self, width=32, layers=4):
        super().__init__()
        cells, size = [], 2
        for _ in range(layers):
            cells += [nn.Dense(size, width, weight_init="xavier_uniform", bias_init="zeros"), nn.Tanh()]
            size = width
        cells.append(nn.Dense(size, 1, weight_init="xavier_uniform", bias_init="zeros"))
        self.net = nn.SequentialCell(cells)

    def construct(self, t, x):
        start = -ops.sin(np.pi * x)
        return start + t * (1 - x * x) * self.net(ops.concat((2 * t - 1, x), 1))


class Residual(nn.Cell):
    """u_t + u u_x − ν u_xx at points.

    Samples are independent, so the gradient of the sum over samples contains the derivative of each sample.
    """

    def __init__(self, solution):
        super().__init__()
        self.solution = solution
        self.gradient = ops.GradOperation()
        self.gradients = ops.GradOperation(get_all=True)

    def construct(self, t, x):
        u = self.solution(t, x)
        u_t, u_x = self.gradients(self.solution)(t, x)
        u_xx = self.gradient(self.slope)(x, t)
        return u_t + u * u_x - VISCOSITY * u_xx

    def slope(self, x, t):
        return self.gradients(self.solution)(t, x)[1]


def exact(t, x):
    """The exact solution of Cole and Hopf, for arrays of one shape."""
    y, weight = np.polynomial.hermite.hermgauss(100)
    at = x[..., None] - np.sqrt(4 * VISCOSITY * t[..., None]) * y
    exponent = -np.cos(np.pi * at) / (2 * np.pi * VISCOSITY)
    f = np.exp(exponent - exponent.max(-1, keepdims=True))
    return -(weight * np.sin(np.pi * at) * f).sum(-1) / (weight * f).sum(-1)


def points(random):
    """Random points (t, x); one tenth of them is near the shock."""
    near = POINTS // 10
    t = random.uniform(0, 1, (POINTS, 1))
    x = random.uniform(-1, 1, (POINTS, 1))
    x[:near] = np.clip(random.normal(0, 0.08, (near, 1)), -1, 1)
    return Tensor(t, ms.float32), Tensor(x, ms.float32)


def train(solution, steps):
    """Train the net; return the loss of every step."""
    residual = Residual(solution)
    rates = nn.cosine_decay_lr(1e-6, 6e-3, steps, 1, steps)
    optimizer = nn.Adam(solution.trainable_params(), rates)

    def loss(t, x):
        return (residual(t, x) ** 2).mean()

    value_and_gradient = ms.value_and_grad(loss, None, optimizer.parameters)

    @ms.jit
    def step(t, x):
        value, gradients = value_and_gradient(t, x)
        optimizer(gradients)
        return value

    random, losses = np.random.default_rng(0), []
    with Progress() as progress:
        task = progress.add_task("compiling", total=steps)
        for k in range(steps):
            if k % RESAMPLE == 0:
                batch = points(random)
            losses.append(step(*batch))
            if k % 100 == 0:
                progress.update(task, completed=k, description=f"loss {float(losses[-1]):.1e}")
        progress.update(task, completed=steps, description=f"loss {float(losses[-1]):.1e}")
    return [float(each) for each in losses]


def draw(path, t, x, found, truth, losses, heading):
    """Plot the solution, its slices in time, and the loss."""
    figure = Figure(figsize=(13, 4.2), layout="constrained")
    figure.suptitle(heading)
    figure.get_layout_engine().set(wspace=0.06)
    (left, middle, right) = figure.subplots(1, 3)
    image = left.pcolormesh(t, x, found, cmap="RdBu_r", shading="gouraud", vmin=-1, vmax=1)
    left.set(xlabel="time t", ylabel="position x", title="velocity u(t, x) of the net")
    figure.colorbar(image, ax=left, label="u: red to the right, blue to the left")
    for k in (25, 50, 100):
        (line,) = middle.plot(x[k], truth[k], alpha=0.5, linewidth=4, label=f"exact, t = {t[k, 0]:.2f}")
        middle.plot(x[k], found[k], "--", color=line.get_color(), label=f"net, t = {t[k, 0]:.2f}")
    middle.set(xlabel="position x", ylabel="velocity u", title="net and exact solution")
    middle.legend(fontsize="small")
    right.semilogy(losses, linewidth=0.8)
    right.set(xlabel=f"training step (new points every {RESAMPLE})", ylabel="mean squared residual")
    right.set_title("loss during training")
    figure.savefig(path, dpi=150)


def main():
    options = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    options.add_argument("--quick", action="store_true", help="few steps, for a quick look")
    options.add_argument(
        "--figures",
        type=Path,
        default=Path("figures"),
        metavar="DIR",
        help="folder for the figure (default: figures)",
    )
    options.add_argument("--figure", type=Path, metavar="FILE", help="file name (default: DIR/burgers.png)")
    chosen = options.parse_args()
    path = chosen.figure or chosen.figures / "burgers.png"
    path.parent.mkdir(parents=True, exist_ok=True)
    ms.set_context(mode=ms.GRAPH_MODE)
    ms.set_seed(0)
    start = time.time()
    solution = Solution()
    steps = 200 if chosen.quick else STEPS
    losses = train(solution, steps)
    seconds = time.time() - start
    t, x = np.meshgrid(np.linspace(0, 1, 101), np.linspace(-1, 1, 257), indexing="ij")
    columns = [Tensor(each.reshape(-1, 1), ms.float32) for each in (t, x)]
    found, truth = solution(*columns).asnumpy().reshape(t.shape), exact(t, x)
    error = np.linalg.norm(found - truth) / np.linalg.norm(truth)
    heading = f"Burgers' equation by a physics-informed net: {steps} steps, error {error:.1e}"
    if chosen.quick:
        heading += f"\nquick run of {steps} instead of {STEPS} steps: not a solution yet"
    draw(path, t, x, found, truth, losses, heading)
    bound = "not checked in a quick run" if chosen.quick else "at most 5e-3"
    print(f"{steps} steps in {seconds:.0f} s, mean squared residual {losses[-1]:.1e}")
    print(f"  error against the exact solution {error:.1e} relative, L2      ({bound})")
    print(f"the figure is in {path}")
    if error > 5e-3 and not chosen.quick:
        raise SystemExit("a check failed")


if __name__ == "__main__":
    main()
