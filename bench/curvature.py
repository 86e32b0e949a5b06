"""Error over seconds of first- and second-order optimizers, on the problems of ``curvature_problems``.

scripts/bench curvature                                   all problems with all optimizers, some 25 minutes
scripts/bench curvature poisson2d heat4d --seconds 10     two problems, for 10 seconds each
scripts/bench curvature --optimizers LevenbergMarquardt   one optimizer: do the goals hold?

The exit status is 1 if the best error of a problem misses its goal. Seconds are the time in steps, without
compilation and without the computation of the errors.
"""

from __future__ import annotations

import argparse
import math
import sys
import time
from collections.abc import Callable, Sequence
from statistics import median

from curvature_problems import SETTINGS, Problem, problem
from report import markdown

from mindgrad import Tensor, nn, ops

#: seconds after which the error is printed
SHOWN = (10, 30, 60)
PUBLISHED = ("Adam", "L-BFGS", "K-FAC", "Gauss–Newton")
#: the error is computed after steps that take this many seconds together
PAUSE = 0.25


class Loss(nn.Cell):
    """Half the sum of squares of the residuals of a problem."""

    def __init__(self, task: Problem) -> None:
        super().__init__()
        self.net = task.net
        self.residuals = task.residuals

    def construct(self) -> Tensor:
        return 0.5 * sum(ops.square(r).sum() for r in self.residuals())


def _adam(task: Problem) -> tuple[nn.Optimizer, Callable[[], object]]:
    optimizer = nn.Adam(task.net.trainable_params(), learning_rate=1e-3)
    step = nn.TrainOneStepCell(Loss(task), optimizer)
    return optimizer, lambda: step().asnumpy()


def _lbfgs(task: Problem) -> tuple[nn.Optimizer, Callable[[], object]]:
    optimizer = nn.LBFGS(task.net.trainable_params(), tolerance_grad=0.0, tolerance_change=0.0)
    loss = Loss(task)
    return optimizer, lambda: optimizer.step(loss)


def _least_squares(kind: type) -> Callable[[Problem], tuple[nn.Optimizer, Callable[[], object]]]:
    def create(task: Problem) -> tuple[nn.Optimizer, Callable[[], object]]:
        optimizer = kind(task.net.trainable_params())
        return optimizer, lambda: optimizer.step(task.residuals)

    return create


OPTIMIZERS = {
    "Adam": _adam,
    "LBFGS": _lbfgs,
    "KFAC": _least_squares(nn.KFAC),
    "GaussNewton": _least_squares(nn.GaussNewton),
    "LevenbergMarquardt": _least_squares(nn.LevenbergMarquardt),
}


class History:
    """Errors of one run over the time in steps."""

    def __init__(self) -> None:
        self.times: list[float] = []
        self.errors: list[float] = []
        self.steps: list[float] = []

    def at(self, seconds: float) -> float:
        """The last error that was computed within ``seconds``."""
        known = [e for t, e in zip(self.times, self.errors, strict=True) if t <= seconds]
        return known[-1] if known else math.nan


def train(name: str, optimizer_name: str, seed: int, seconds: float) -> History:
    """Train one network, and compute its error after every quarter of a second."""
    task = problem(name, seed)
    optimizer, step = OPTIMIZERS[optimizer_name](task)
    state = [(p, p.asnumpy()) for p in optimizer.get_parameters()]
    for _ in range(2):  # compile
        step()
    for parameter, values in state:
        parameter.set_data(Tensor(values))
    task.error()
    history, total, since = History(), 0.0, 0.0
    while total < seconds:
        start = time.perf_counter()
        step()
        taken = time.perf_counter() - start
        total, since = total + taken, since + taken
        history.steps.append(taken)
        if since >= PAUSE or total >= seconds:
            history.times.append(total)
            history.errors.append(task.error())
            since = 0.0
    return history


def table(name: str, runs: dict[str, list[History]], seconds: float) -> list[list[str]]:
    """The errors of one problem, the worst of all seeds, beside the published ones."""
    shown = [t for t in SHOWN if t < seconds] + [round(seconds)]
    rows = [["optimizer", *[f"{t} s" for t in shown], "steps", "ms per step"]]
    for optimizer, histories in runs.items():
        errors = [f"{max(h.at(t) for h in histories):.1e}" for t in shown]
        counts = median(len(h.steps) for h in histories)
        rows.append([optimizer, *errors, f"{counts:.0f}", f"{1e3 * median(histories[0].steps):.1f}"])
    blank = [""] * (len(shown) - 1)
    for optimizer, error in zip(PUBLISHED, SETTINGS[name].published, strict=True):
        rows.append([f"published: {optimizer}, 60 s", *blank, f"{error:.1e}", "", ""])
    return rows


def arguments(given: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="scripts/bench curvature",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("problem", nargs="*", help=f"of {', '.join(SETTINGS)}; all where none is named")
    parser.add_argument("--seconds", type=float, default=60.0, help="seconds of training (60)")
    parser.add_argument("--seeds", type=int, default=1, help="runs from the seeds 0, 1, … (1)")
    parser.add_argument("--optimizers", default=",".join(OPTIMIZERS), help="comma-separated names")
    options = parser.parse_args(given)
    unknown = sorted({*options.problem} - {*SETTINGS}) + sorted(
        {*options.optimizers.split(",")} - {*OPTIMIZERS}
    )
    if unknown:
        parser.error(
            f"unknown: {', '.join(unknown)}; problems {', '.join(SETTINGS)}; of {', '.join(OPTIMIZERS)}"
        )
    return options


def main(given: Sequence[str] | None = None) -> int:
    """Print the tables, and return 1 if a goal is missed."""
    options = arguments(given)
    missed = 0
    for name in options.problem or SETTINGS:
        runs = {
            optimizer: [train(name, optimizer, seed, options.seconds) for seed in range(options.seeds)]
            for optimizer in options.optimizers.split(",")
        }
        goal, limit = SETTINGS[name].goal
        print(f"\n{name}: relative L2 error, worst of {options.seeds} seed(s)\n")
        print(markdown(table(name, runs, options.seconds)))
        best = min(max(h.at(limit) for h in histories) for histories in runs.values())
        is_met = best <= goal
        missed += not is_met
        print(f"\ngoal: {goal:.1e} after {limit} s: {best:.1e}, {'met' if is_met else 'MISSED'}", flush=True)
    return int(missed > 0)


if __name__ == "__main__":
    sys.exit(main())
