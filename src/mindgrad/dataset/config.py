"""Settings of datasets, in particular the random seed.

The random numbers of a pass over a dataset (an epoch) depend on the seed, the number of passes since the seed
was set, and the position of the random step in the pipeline. A program therefore reads the same batches in
each run, and different batches in each epoch. Datasets do not influence each other.
"""

from __future__ import annotations

import os
from typing import Any, NamedTuple

import numpy as np

from mindgrad.common import seed as common_seed
from mindgrad.dataset.workers import note_workers

__all__ = [
    "Draw", "RandomStep", "get_auto_num_workers", "get_enable_shared_mem", "get_num_parallel_workers",
    "get_numa_enable", "get_prefetch_size", "get_seed", "seed_in_force", "set_auto_num_workers",
    "set_enable_autotune", "set_enable_shared_mem", "set_enable_watchdog", "set_num_parallel_workers",
    "set_numa_enable", "set_prefetch_size", "set_seed", "times_seeded",
]  # fmt: skip

#: return value of ``get_seed`` if no seed is set, as in MindSpore. It is not used as a seed
_UNSET = 5489
_MOST = 2**32

_seed: int | None = None
# number of calls of mindgrad.set_seed at the time when _seed was set. If mindgrad.set_seed has been called
# since, its seed applies instead of _seed
_set_at = -1
_times = 0
_ignored: dict[str, Any] = {
    "num_parallel_workers": 1, "prefetch_size": 16, "shared_mem": False, "auto_num_workers": False,
    "numa": False,
}  # fmt: skip


class Draw(NamedTuple):
    """The state that determines the random numbers of one pass over a dataset."""

    #: seed of the dataset. ``None``: each random step draws its own seed, so runs differ
    seed: int | None
    #: index of this pass, counted from 0 since the seed was set
    number: int = 0
    #: index of this pass, counted from 0 since the iterator was created
    epoch: int = 0

    def generator(self, step: RandomStep) -> np.random.Generator:
        """Return the random generator of one step of the pipeline in this pass."""
        start = step.entropy if self.seed is None else self.seed
        return np.random.default_rng([start, step.depth, self.number])


class RandomStep:
    """A random step of a pipeline, preceded by ``depth`` steps."""

    __slots__ = ("depth", "entropy")

    def __init__(self, depth: int) -> None:
        self.depth = depth
        self.entropy = int.from_bytes(os.urandom(8), "little")


def set_seed(seed: int) -> None:
    """Set the seed of all datasets, which ``mindgrad.set_seed`` also sets.

    Raises:
        TypeError: If ``seed`` is not an int.
        ValueError: If ``seed`` is negative or greater than 2³² − 1.
    """
    global _seed, _set_at, _times
    if isinstance(seed, bool) or not isinstance(seed, (int, np.integer)):
        raise TypeError(f"For 'dataset.config.set_seed', 'seed' must be an int, but got {seed!r}.")
    if not 0 <= seed < _MOST:
        raise ValueError(
            f"For 'dataset.config.set_seed', 'seed' must be between 0 and 2**32 - 1, but got {seed}."
        )
    _seed, _set_at, _times = int(seed), common_seed.times_seeded(), _times + 1


def get_seed() -> int:
    """Return the seed of datasets; 5489 if none was set."""
    found = seed_in_force()
    return _UNSET if found is None else found


def seed_in_force() -> int | None:
    """Return the last seed, of this module or of ``mindgrad.set_seed``, or ``None``."""
    return _seed if _set_at == common_seed.times_seeded() else common_seed.get_seed()


def times_seeded() -> tuple[int, int]:
    """Return counters of how often each seed was set, even to the same value."""
    return _times, common_seed.times_seeded()


def set_num_parallel_workers(num: int) -> None:
    """Store a number of workers, which has no effect; a number above 1 warns once."""
    note_workers(num)
    _ignored["num_parallel_workers"] = num


def get_num_parallel_workers() -> int:
    """Return the value that :func:`set_num_parallel_workers` stored."""
    return _ignored["num_parallel_workers"]


def set_prefetch_size(size: int) -> None:
    """Accepted for compatibility; samples are not prefetched."""
    _ignored["prefetch_size"] = size


def get_prefetch_size() -> int:
    """Return the value that :func:`set_prefetch_size` stored."""
    return _ignored["prefetch_size"]


def set_enable_shared_mem(enable: bool) -> None:
    """Accepted for compatibility; there are no worker processes."""
    _ignored["shared_mem"] = enable


def get_enable_shared_mem() -> bool:
    """Return the value that :func:`set_enable_shared_mem` stored."""
    return _ignored["shared_mem"]


def set_auto_num_workers(enable: bool) -> None:
    """Accepted for compatibility; the calling thread creates the samples."""
    _ignored["auto_num_workers"] = enable


def get_auto_num_workers() -> bool:
    """Return the value that :func:`set_auto_num_workers` stored."""
    return _ignored["auto_num_workers"]


def set_numa_enable(numa_enable: bool) -> None:
    """Accepted for compatibility; the calling thread creates the samples."""
    _ignored["numa"] = numa_enable


def get_numa_enable() -> bool:
    """Return the value that :func:`set_numa_enable` stored."""
    return _ignored["numa"]


def set_enable_autotune(enable: bool, filepath_prefix: str | None = None) -> None:
    """Accepted for compatibility; there are no workers to tune."""


def set_enable_watchdog(enable: bool) -> None:
    """Accepted for compatibility; there are no workers to watch."""
