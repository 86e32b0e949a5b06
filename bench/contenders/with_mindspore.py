"""MindSpore itself, graph mode and PyNative mode."""

from __future__ import annotations

import mindspore
import mindspore_programs
from job import Job, Unavailable

# Its time and memory grow with the square of the iterations: beyond these, a minute or more a call.
MOST_ITERATIONS = {"newton-memory": 100}
MOST_ITERATIONS_ELSEWHERE = 1000
# Compiling took 3, 8 and 39 s for 10, 30 and 100 steps.
MOST_STEPS = 100


def versions() -> dict[str, str]:
    """Versions of what does the work."""
    return {"mindspore": mindspore.__version__}


def prepare(task: str, variant: str, **options: int) -> Job:
    """The job of one task, or Unavailable."""
    if options.get("iterations", 0) > MOST_ITERATIONS.get(task, MOST_ITERATIONS_ELSEWHERE):
        raise Unavailable("its time and memory grow with the square of the iterations")
    if options.get("steps", 0) > MOST_STEPS:
        raise Unavailable("it compiles every step of the loop: minutes")
    return mindspore_programs.prepare(task, variant, **options)


__all__ = ["prepare", "versions"]
