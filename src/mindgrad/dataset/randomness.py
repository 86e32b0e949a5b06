"""Random generators of transforms.

Inside ``Dataset.map``, transforms use the generator of the pipeline step and pass (:func:`drawing`). With a
seed, they therefore draw the same random numbers in each run, and different random numbers in each epoch. All
transforms that are called outside a pipeline share one generator, which is reset when a seed is set.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

import numpy as np

from mindgrad.dataset import config

__all__ = ["drawing", "generator"]

_CURRENT: ContextVar[np.random.Generator | None] = ContextVar("generator", default=None)


class _Direct:
    """The generator of transforms that are called outside a pipeline."""

    def __init__(self) -> None:
        self.seeded: tuple[int, int] | None = None
        self.generator = np.random.default_rng()

    def current(self) -> np.random.Generator:
        """Return the generator, which is reset if a seed was set since the last call."""
        if self.seeded != config.times_seeded():
            self.seeded = config.times_seeded()
            self.generator = np.random.default_rng(config.seed_in_force())
        return self.generator


_direct = _Direct()


def generator() -> np.random.Generator:
    """Return the current generator of random transforms."""
    current = _CURRENT.get()
    return _direct.current() if current is None else current


@contextmanager
def drawing(current: np.random.Generator) -> Iterator[None]:
    """Let transforms draw from ``current`` in this context."""
    token = _CURRENT.set(current)
    try:
        yield
    finally:
        _CURRENT.reset(token)
