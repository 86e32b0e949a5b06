"""Different random numbers in forked processes.

    child's seeds = hash(parent's seeds, number of processes forked since the generator was seeded)

Each child draws different random numbers. The parent draws the same numbers as without children. The numbers
are reproducible if the program seeds and forks in the same order. NumPy's global generator does not change:
as without mindgrad, forked processes draw the same numbers from it.

A fork waits until no compiled program in another thread holds the lock of the Parameters. Otherwise the child
would wait forever for the lock, because the thread that holds it does not exist in the child.
"""

from __future__ import annotations

import os

import numpy as np

from mindgrad.common.parameter import Parameter
from mindgrad.execution.donation import window
from mindgrad.trace.state import generators

__all__ = ["restart_count"]

#: number of words of a generator state that are seeds; the remaining words count calls
_SEEDS = 4


def restart_count(generator: Parameter) -> None:
    """Reset the number of forks after seeding ``generator``."""
    generator.__dict__["_forks"] = 0


def _before() -> None:
    window.acquire()
    for generator in generators:
        generator.__dict__["_forks"] = generator.__dict__.get("_forks", 0) + 1
        # copy the state to the host, because a forked child cannot read device memory
        generator._array = np.array(generator._array)


def _in_child() -> None:
    window.release()
    for generator in generators:
        state = generator._array
        start = np.random.SeedSequence(state[:_SEEDS].tolist(), spawn_key=(generator.__dict__["_forks"],))
        generator._array = np.concatenate([start.generate_state(_SEEDS), state[_SEEDS:]])
        restart_count(generator)


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_before, after_in_parent=window.release, after_in_child=_in_child)
