"""The shares of data-parallel steps: a rank's rows, and the rank itself as the harness tells it.

scale-…-pinn     Adam on the Burgers residual of t3, 10,000 points.
scale-…-resnet   The step of eager-resnet: ResNet-20, 16 pictures; each rank normalises its own part of the batch.
scale-…-gpt      The step of eager-gpt: 4 blocks, 8 rows of 64 tokens.

Each rank has an equal part of the rows, in order. The gradients are averaged over the ranks, the losses not:
compared are those of the first rank.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

import problems
import training_problems

RATE = training_problems.RATE
NETWORKS = ("pinn", "resnet", "gpt")
#: of the programs that are only compiled, each rank has the rows that it would have as one of so many
SHARES = 2


def rank_and_size() -> tuple[int, int]:
    """The number of this process and how many there are (``contender.Ranks``)."""
    return int(os.environ.get("RANK", "0")), int(os.environ.get("WORLD_SIZE", "1"))


def rows(name: str, rank: int, size: int) -> slice:
    """A rank's rows of the batch of a network."""
    total = problems.T3_POINTS if name == "pinn" else len(training_problems.LEARNING[name]().inputs)
    share = total // size
    return slice(rank * share, (rank + 1) * share)


def message_facts(messages: Sequence[int], gradient_bytes: int, memory: Any, seconds: float) -> dict[str, float]:
    """The facts of a compiled step.

    Args:
        messages: the bytes of each all-reduce.
        gradient_bytes: the bytes of the gradients.
        memory: what jax's compiled program says in ``memory_analysis()``, of one device.
        seconds: the compiler's.
    """
    held = memory.argument_size_in_bytes + memory.output_size_in_bytes - memory.alias_size_in_bytes
    return {
        "messages": float(len(messages)),
        "reduced": sum(messages) / gradient_bytes,
        "memory": float(held + memory.temp_size_in_bytes),
        "compile": seconds,
    }
