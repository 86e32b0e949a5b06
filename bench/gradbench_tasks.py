"""The tasks of GradBench that are loops over small tensors, their contenders and goals."""

from __future__ import annotations

from descent_problems import MODES
from task import Goal, Task

CONTENDERS = ("mindgrad:graph", "jax:while_loop", "jax:while_loop, where")
GOALS = (Goal("mindgrad:graph", 1.1, ("jax:while_loop", "jax:while_loop, where")),)


def _task(name: str, title: str) -> Task:
    return Task(f"gradbench-{name}", title, "jax:while_loop", CONTENDERS, GOALS)


TASKS = (
    _task("descent", "gradient descent that is left by return"),
    *[_task(f"saddle-{modes}", f"descent in descent, a saddle point: {modes}") for modes in MODES],
    *[_task(f"particle-{modes}", f"descent around Euler's steps, a particle: {modes}") for modes in MODES],
)
