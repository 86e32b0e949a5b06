"""Warn about parallel workers, which are accepted without effect.

The thread that reads a dataset creates its samples.
"""

from __future__ import annotations

from typing import Any

from mindgrad.core.base.location import warn_user

__all__ = ["note_workers"]

_warned: list[bool] = []


def note_workers(count: Any) -> None:
    """Warn, once in a process, if more than one worker is requested."""
    if isinstance(count, int) and count > 1 and not _warned:
        _warned.append(True)
        warn_user(
            f"num_parallel_workers={count} has no effect: one thread, which reads the dataset, creates all "
            "samples in order. If this is slow, prepare the samples once before training, or process "
            "whole batches in batch(per_batch_map=...). Leave the argument out to silence this warning."
        )
