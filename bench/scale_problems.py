"""The shares of data-parallel steps: a rank's rows, and the rank itself as the harness tells it.

scale-…-pinn     Adam on the Burgers residual of t3, 10,000 points.
scale-…-resnet   The step of eager-resnet: ResNet-20, 16 pictures; each rank normalizes by its own ones.
scale-…-gpt      The step of eager-gpt: 4 blocks, 8 rows of 64 tokens.

Each rank has an equal part of the rows, in order. The gradients are averaged over the ranks, the losses not:
compared are those of the first rank.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Sequence
from typing import Any

import problems
import training_problems
from job import Job

RATE = training_problems.RATE
NETWORKS = ("pinn", "resnet", "gpt")
#: of the programs that are only compiled, each rank has the rows that it would have as one of so many
SHARES = 2
COMPILATIONS = 2


def rank_and_size() -> tuple[int, int]:
    """The number of this process and how many there are (``contender.Ranks``)."""
    return int(os.environ.get("RANK", "0")), int(os.environ.get("WORLD_SIZE", "1"))


def rows(name: str, rank: int, size: int) -> slice:
    """A rank's rows of the batch of a network."""
    total = problems.T3_POINTS if name == "pinn" else len(training_problems.LEARNING[name]().inputs)
    share = total // size
    return slice(rank * share, (rank + 1) * share)


def compilations(
    trace: Callable[[], Any],
    compile: Callable[[Any], Any],
    messages: Callable[[Any], Sequence[int]],
    gradient_bytes: int,
) -> Job:
    """A job that compiles a step, which is not run: what the program holds, and what compiling it takes.

    The seconds are those of the processors, all threads, which a busy machine changes little; the fewest of
    two compilations. Further calls repeat the last answer.

    Args:
        trace: the program, before the compiler.
        compile: lowers and compiles it; jax's compiled program.
        messages: the bytes of each all-reduce of that.
        gradient_bytes: the bytes of the gradients.
    """
    programs: list[Any] = []
    phases: list[dict[str, float]] = []

    def make() -> dict[str, float]:
        if len(phases) < COMPILATIONS:
            begin = time.process_time()
            traced = trace()
            middle = time.process_time()
            programs[:] = [compile(traced)]
            end = time.process_time()
            phases.append({"trace": middle - begin, "lower and compile": end - middle})
        return phases[-1]

    def facts() -> dict[str, float]:
        while len(phases) < COMPILATIONS:
            make()
        sent, memory = messages(programs[0]), programs[0].memory_analysis()
        held = memory.argument_size_in_bytes + memory.output_size_in_bytes - memory.alias_size_in_bytes
        return {
            "messages": float(len(sent)),
            "reduced": sum(sent) / gradient_bytes,
            "memory": float(held + memory.temp_size_in_bytes),
            "compile": min(each["lower and compile"] for each in phases),
        }

    return Job(make, lambda result: None, None, timed_by_itself=True, facts=facts)
