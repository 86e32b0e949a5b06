"""The scale of one program: making programs of many equations, the memory of derivatives of large arrays."""

from __future__ import annotations

from size_problems import MEMORY, PROGRAMS
from task import Goal, Task

OURS, JAX = "mindgrad:graph", "jax:jit"
OURS_EAGER, JAX_EAGER = "mindgrad:eager", "jax:eager"
#: the sizes between which the growth counts: below, what happens once per program shows
LARGE = (20_000, 50_000)
#: seconds: jax's second gradient of 50,000 equations, or two products of matrices of 1 GB
PATIENCE = 3600.0


def equations(name: str) -> Task:
    """Making the program of so many equations and its derivatives."""
    return Task(
        f"size-{name}",
        f"tracing, transforming and lowering a straight-line program, not compiled: {name}",
        JAX,
        (OURS, JAX),
        (Goal(OURS, 1.1, of="slope", sizes=LARGE), Goal(OURS, 1.0, (JAX,), sizes=LARGE)),
        size="equations",
        sizes=(1000, 2000, 5000, 10_000, 20_000, 50_000),
        quick_sizes=(1000,),
        most_rounds=1,
        patience=PATIENCE,
    )


def memory(name: str, modes: tuple[tuple[str, str], ...] = ((OURS, JAX), (OURS_EAGER, JAX_EAGER))) -> Task:
    """The peak of a gradient, or of training steps, from an array of NumPy on, in each of the modes."""
    return Task(
        f"size-memory-{name}",
        f"peak of the resident memory of a gradient, from an array of NumPy on: {name}",
        JAX,
        tuple(contender for pair in modes for contender in pair),
        tuple(Goal(ours, 1.1, (theirs,), of="arrays") for ours, theirs in modes),
        size="megabytes",
        sizes=(1024,),
        quick_sizes=(64,),
        most_rounds=1,
        patience=PATIENCE,
    )


TASKS = (
    *map(equations, PROGRAMS),
    *[memory(name) for name in MEMORY if name != "matmul"],
    memory("matmul", ((OURS, JAX),)),  # NumPy's product of two such matrices takes minutes
)
