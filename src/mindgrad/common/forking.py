"""Forked processes draw random numbers of their own.

    child's seeds = hash(parent's seeds, how many processes were forked since the generator was seeded)

So the numbers of the workers differ from each other's and from the parent's, whose stream goes on as if there
were no workers, and they are the same in every run of a program that seeds and forks in one order. NumPy's
global generator is left alone: forked processes share its numbers, as they do without this package.

While a process is forked no program of another thread holds Parameters: a child would wait for it in vain.
"""

from __future__ import annotations

import os

import numpy as np

from mindgrad.common.parameter import Parameter
from mindgrad.execution.donation import window
from mindgrad.trace.state import generators

__all__ = ["restart_count"]

#: the words of a state that are seeds; the others count calls
_SEEDS = 4


def restart_count(generator: Parameter) -> None:
    """Count the processes that are forked from now on: ``generator`` was seeded."""
    generator.__dict__["_forks"] = 0


def _before() -> None:
    window.acquire()
    for generator in generators:
        generator.__dict__["_forks"] = generator.__dict__.get("_forks", 0) + 1
        generator._array = np.array(generator._array)  # a child cannot ask a device


def _in_child() -> None:
    window.release()
    for generator in generators:
        state = generator._array
        start = np.random.SeedSequence(state[:_SEEDS].tolist(), spawn_key=(generator.__dict__["_forks"],))
        generator._array = np.concatenate([start.generate_state(_SEEDS), state[_SEEDS:]])
        restart_count(generator)


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_before, after_in_parent=window.release, after_in_child=_in_child)
