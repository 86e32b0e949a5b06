"""Random numbers of transforms come from the pass of the dataset that they run in, or from the seed in force.

Inside ``Dataset.map`` the step of the pipeline lends its generator (:func:`drawing`), so that a program draws
the same crops in every run and other ones in every epoch. A transform that a program calls by itself draws
from one generator for all of them, which starts anew whenever a seed is set.
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
    """The generator of transforms that are called outside of a pipeline."""

    def __init__(self) -> None:
        self.seeded: tuple[int, int] | None = None
        self.generator = np.random.default_rng()

    def current(self) -> np.random.Generator:
        """The generator, renewed if a seed was set since the last call."""
        if self.seeded != config.times_seeded():
            self.seeded = config.times_seeded()
            self.generator = np.random.default_rng(config.seed_in_force())
        return self.generator


_direct = _Direct()


def generator() -> np.random.Generator:
    """The generator that random transforms draw from now."""
    current = _CURRENT.get()
    return _direct.current() if current is None else current


@contextmanager
def drawing(current: np.random.Generator) -> Iterator[None]:
    """While it is open, transforms draw from ``current``."""
    token = _CURRENT.set(current)
    try:
        yield
    finally:
        _CURRENT.reset(token)
