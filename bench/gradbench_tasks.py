"""The tasks that are evaluations of GradBench, their contenders and goals."""

from __future__ import annotations

from typing import Any

import ba_problems
import det_problems
import ht_problems
import kmeans_problems
import llsq_problems
import lse_problems
import lstm_problems
import ode_problems
from descent_problems import MODES
from task import Goal, Task

GRAPH = "mindgrad:graph"
LOOPS = ("jax:while_loop", "jax:while_loop, where")


def _descent(name: str, title: str) -> Task:
    """A loop over small tensors."""
    return Task(f"gradbench-{name}", title, LOOPS[0], (GRAPH, *LOOPS), (Goal(GRAPH, 1.1, LOOPS),))


def _evaluation(name: str, title: str, *others: str, at_most: float = 1.0, **options: Any) -> Task:
    """A task against ``jax.jit``, PyTorch eager and others, of which the fastest counts."""
    peers = ("jax:jit", *others, "torch:eager")
    options = {"tolerance": 1e-9, "most_rounds": 7} | options
    goals = (Goal(GRAPH, at_most, peers),)
    return Task(f"gradbench-{name}", title, peers[0], (GRAPH, *peers), goals, **options)


DESCENTS = (
    _descent("descent", "gradient descent that is left by return"),
    *[_descent(f"saddle-{modes}", f"descent in descent, a saddle point: {modes}") for modes in MODES],
    *[_descent(f"particle-{modes}", f"descent around Euler's steps, a particle: {modes}") for modes in MODES],
)

KMEANS = tuple(
    _evaluation(
        f"kmeans-{what}-{n}x{d}", f"{title}, {n:,} points in {d} dimensions",
        size="centroids", sizes=kmeans_problems.CENTROIDS, quick_sizes=(100,),
    )
    for what, title in (("cost", "the cost of k-means"), ("direction", "its gradient over its Hessian"))
    for n in kmeans_problems.POINTS
    for d in kmeans_problems.DIMENSIONS
)  # fmt: skip

LSE = tuple(
    _evaluation(
        f"lse-{what}", f"{title}log-sum-exp of n numbers",
        size="numbers", sizes=lse_problems.NUMBERS, quick_sizes=(100, 10000),
    )
    for what, title in (("value", ""), ("gradient", "gradient of the "))
)  # fmt: skip

LLSQ = tuple(
    _evaluation(
        f"llsq-{what}", f"{title}squares of a polynomial less the sign, at n points",
        size="points", sizes=llsq_problems.POINTS, quick_sizes=(16, 4096),
    )
    for what, title in (("value", ""), ("gradient", "gradient of the "))
)  # fmt: skip

ODE = tuple(
    _evaluation(
        f"ode-{what}-{steps}", f"{title}{steps} Runge-Kutta steps of n equations", "jax:jit, roll",
        size="numbers", sizes=ode_problems.NUMBERS, quick_sizes=(1_000, 10_000),
    )
    for what, title in (("value", ""), ("gradient", "gradient of the last of "))
    for steps in ode_problems.STEPS
)  # fmt: skip

LSTM = tuple(
    _evaluation(
        f"lstm-{what}-{layers}", f"{title}loss of a recurrent network of {layers} diagonal layers",
        size="characters", sizes=lstm_problems.CHARACTERS, quick_sizes=lstm_problems.CHARACTERS[:1],
    )
    for what, title in (("value", ""), ("gradient", "gradient of the "))
    for layers in lstm_problems.LAYERS
)  # fmt: skip

HT = tuple(
    _evaluation(
        f"ht-{what}-{kind}-{model}", f"{title}residuals of a hand's pose, {kind}, {model} model",
        size="points", sizes=ht_problems.POINTS, quick_sizes=ht_problems.POINTS[:1],
    )
    for what, title in (("value", ""), ("jacobian", "Jacobian of the "))
    for kind in ht_problems.KINDS
    for model in ht_problems.VERTICES
)  # fmt: skip

DET = tuple(
    _evaluation(
        f"det-{what}", f"{title}determinant by minors, as a recursion",
        size="rows", sizes=det_problems.ROWS, quick_sizes=det_problems.ROWS[:1],
    )
    for what, title in (("value", ""), ("gradient", "gradient of the "))
)  # fmt: skip

BA = tuple(
    _evaluation(
        f"ba-{what}", title, *others,
        size="observations", sizes=tuple(ba_problems.SIZES), quick_sizes=tuple(ba_problems.SIZES)[:1],
    )
    for what, title, others in (
        ("value", "residuals of a bundle adjustment", ()),
        ("jacobian", "sparse Jacobian of a bundle adjustment", ("jax:jit, columns",)),
    )
)  # fmt: skip

TASKS = (
    *DESCENTS,
    *KMEANS,
    *LSE,
    *LLSQ,
    *ODE,
    *LSTM,
    *HT,
    *DET,
    *BA,
)
#: the tasks of one evaluation, by its name
GROUPS = {
    "gradbench-kmeans": KMEANS,
    "gradbench-lse": LSE,
    "gradbench-llsq": LLSQ,
    "gradbench-ode": ODE,
    "gradbench-lstm": LSTM,
    "gradbench-ht": HT,
    "gradbench-det": DET,
    "gradbench-ba": BA,
}
