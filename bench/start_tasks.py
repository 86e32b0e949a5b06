"""From the start of a fresh process to the first result, over the programs of the benchmark."""

from __future__ import annotations

from start_problems import PROGRAMS
from task import Goal, Task

CONTENDERS = ("mindgrad:graph", "mindgrad:graph second", "jax:jit", "jax:jit second")

TASKS = tuple(
    Task(
        f"first-{program}",
        f"from the start of a process to the first result: {program}",
        "jax:jit",
        CONTENDERS,
        (
            Goal("mindgrad:graph", 1.0, ("jax:jit",)),
            Goal("mindgrad:graph second", 1.0, ("jax:jit second",)),
        ),
        tolerance=1e-2,
        most_rounds=7,
    )
    for program in PROGRAMS
)
