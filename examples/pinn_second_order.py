"""Second-order training of a physics-informed network, compared with Adam.

    python examples/pinn_second_order.py             about three minutes on two cores
    python examples/pinn_second_order.py --quick     a few steps of each optimizer

    −Δu = f on the unit square,   u = 0 on its boundary,   u = sin πx sin πy

The network has one hidden layer of 64 units, 257 weights in float64. The residuals are the equation at 900
points and the boundary values at 120 points. Adam and L-BFGS minimize half the sum of their mean squares.
K-FAC and Levenberg–Marquardt minimize the same loss, but use the Jacobian of the residuals. Each step of
Levenberg–Marquardt solves a damped linear least-squares problem. K-FAC replaces its matrix by one block
for each weight. All optimizers start from the same weights.

Check: the relative error of Levenberg–Marquardt in the L2 norm, at 5000 other points, must be below 1e-5. The
figure is written to figures/pinn_second_order.png. Its seconds contain neither the compilation nor the
computation of the error. NumPy's BLAS computes a part of the steps of K-FAC and Levenberg–Marquardt. On a
machine with other busy processes, these are faster with OPENBLAS_NUM_THREADS=1.
"""

import argparse
import time
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure
from rich.progress import Progress

import mindgrad as ms
from mindgrad import Tensor, nn, ops

WIDTH, INSIDE, BOUNDARY, SECONDS = 64, 900, 120, 30.0
#: learning rate of Adam: the best of 1e-3, 3e-3, 1e-2, and 3e-2 after 10,000 steps
RATE = 3e-3
#: first damping and update interval of K-FAC: the best of 1e-2, 1e-4, 1e-6, and 1e-8, and of 1, 3, and 10
DAMPING, UPDATES = 1e-4, 3


def exact(p):
    """The solution at points of shape (points, 2)."""
    return ops.sin(np.pi * p[:, 0]) * ops.sin(np.pi * p[:, 1])


class Problem:
    """A network, its residuals, and its error."""

    def __init__(self):
        ms.set_seed(0)
        random = np.random.default_rng(0)
        self.net = nn.SequentialCell(
            nn.Dense(2, WIDTH, activation="tanh", dtype=ms.float64), nn.Dense(WIDTH, 1, dtype=ms.float64)
        )
        self.weights = self.net.trainable_params()
        border = random.uniform(size=(BOUNDARY, 2))
        border[np.arange(BOUNDARY), random.integers(0, 2, BOUNDARY)] = random.integers(0, 2, BOUNDARY)
        self.points = Tensor(random.uniform(size=(INSIDE, 2))), Tensor(border)
        self.others = Tensor(random.uniform(size=(5000, 2)))
        self.truth = exact(self.others).asnumpy()
        self.solution = ms.jit(self.net)

    def residuals(self, inside, border):
        """The residuals r of equation and boundary values; the loss is ½ Σ r²."""
        equation = ms.laplacian(self.net)(inside).reshape(-1) + 2 * np.pi**2 * exact(inside)
        return ops.concat((equation / INSIDE**0.5, self.net(border).reshape(-1) / BOUNDARY**0.5))

    def loss(self, inside, border):
        """Half the sum of the mean squares of the residuals."""
        return 0.5 * (self.residuals(inside, border) ** 2).sum()

    def error(self):
        """The relative error in the L2 norm."""
        found = self.solution(self.others).asnumpy().ravel()
        return np.linalg.norm(found - self.truth) / np.linalg.norm(self.truth)


def adam(problem):
    """Adam, and a function that takes 20 steps."""
    optimizer = nn.Adam(problem.weights, RATE)
    value_and_gradients = ms.value_and_grad(problem.loss, None, optimizer.parameters)

    @ms.jit
    def step(inside, border):
        value, gradients = value_and_gradients(inside, border)
        optimizer(gradients)
        return value

    def steps():
        for _ in range(20):
            value = step(*problem.points)
        return value

    return optimizer, steps


def lbfgs(problem):
    """L-BFGS, and a function that takes 20 iterations."""
    optimizer = nn.LBFGS(problem.weights, max_iter=20, tolerance_change=0.0, tolerance_grad=0.0)
    return optimizer, lambda: optimizer.step(problem.loss, *problem.points)


def kfac(problem):
    """K-FAC, and a function that takes one step."""
    optimizer = nn.KFAC(problem.weights, damping=DAMPING, update_every=UPDATES)
    return optimizer, lambda: optimizer.step(problem.residuals, *problem.points)


def levenberg_marquardt(problem):
    """The Levenberg–Marquardt method, and a function that takes one step."""
    optimizer = nn.LevenbergMarquardt(problem.weights)
    return optimizer, lambda: optimizer.step(problem.residuals, *problem.points)


def train(name, method, seconds, most):
    """Seconds and errors of a run, which ends after ``seconds`` or ``most`` calls."""
    problem = Problem()
    optimizer, step = method(problem)
    state = [*problem.weights, *optimizer.get_parameters()]
    start = [each.value() for each in state]
    step()  # compiles; the run starts again from the same state
    for each, value in zip(state, start, strict=True):
        each.set_data(value)
    elapsed, times, errors = 0.0, [0.0], [problem.error()]
    with Progress() as progress:
        task = progress.add_task(name, total=seconds)
        while elapsed < seconds and len(times) <= most:
            begin = time.perf_counter()
            float(step())
            elapsed += time.perf_counter() - begin
            times.append(elapsed)
            errors.append(problem.error())
            progress.update(task, completed=elapsed, description=f"{name}: error {errors[-1]:.1e}")
    return np.array(times), np.array(errors)


def draw(path, runs, heading):
    """Plot the errors over seconds."""
    figure = Figure(figsize=(7, 4.2), layout="constrained")
    axes = figure.subplots()
    for name, (times, errors) in runs.items():
        axes.semilogy(times, errors, label=name, linewidth=2 if name.startswith("Levenberg") else 1.2)
    axes.set(xlabel="seconds on two CPU cores", ylabel="relative error in the L2 norm", title=heading)
    axes.grid(alpha=0.3)
    axes.legend()
    figure.savefig(path, dpi=150)


def main():
    options = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    options.add_argument("--quick", action="store_true", help="a few steps, for a quick look")
    options.add_argument(
        "--seconds", type=float, default=SECONDS, help="seconds of each optimizer (default: 30)"
    )
    options.add_argument(
        "--figures",
        type=Path,
        default=Path("figures"),
        metavar="DIR",
        help="folder for the figure (default: figures)",
    )
    options.add_argument(
        "--figure", type=Path, metavar="FILE", help="file name (default: DIR/pinn_second_order.png)"
    )
    chosen = options.parse_args()
    path = chosen.figure or chosen.figures / "pinn_second_order.png"
    path.parent.mkdir(parents=True, exist_ok=True)
    ms.set_context(mode=ms.GRAPH_MODE)
    seconds, most = (60.0, 30) if chosen.quick else (chosen.seconds, 10**6)
    methods = {"Adam": adam, "L-BFGS": lbfgs, "K-FAC": kfac, "Levenberg–Marquardt": levenberg_marquardt}
    runs = {name: train(name, method, seconds, most) for name, method in methods.items()}
    for name, (times, errors) in runs.items():
        print(f"{name}: error {errors[-1]:.1e} after {times[-1]:.1f} s, smallest error {errors.min():.1e}")
    heading = "Poisson's equation in two dimensions, 2-64-1, float64"
    if chosen.quick:
        heading += f"\nquick run: at most {most} points of each curve"
    draw(path, runs, heading)
    print(f"the figure is in {path}")
    error = runs["Levenberg–Marquardt"][1][-1]
    if error > (1e-2 if chosen.quick else 1e-5):
        raise SystemExit("a check failed")


if __name__ == "__main__":
    main()
