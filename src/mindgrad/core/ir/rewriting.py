"""Rewrites: graph transformations that preserve the values and reduce the cost.

    a rewrite:  G ⟼ G',  G'(x) = G(x) up to rounding,  cost(G') ≤ cost(G)

A module that implements a rewrite declares a :class:`Rewrite` with its law, an equation. It calls
:meth:`Rewrite.fired` when it applies the rewrite, so that ``tools.explain`` can list the applied rewrites.
To turn all rewrites off, set ``MINDGRAD_OPT=0`` in the environment, or the option ``rewrites`` in a process
(``ir.settings``). Functions are compiled separately for each setting of this option.
"""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from mindgrad.core.ir import settings

__all__ = ["REWRITES", "Rewrite", "is_rewriting", "watching", "without_rewrites"]

#: registry that maps the name of each rewrite to the rewrite
REWRITES: dict[str, Rewrite] = {}


class _Local(threading.local):
    counts: Counter[str] | None = None
    is_off = False


_local = _Local()


@dataclass(frozen=True)
class Rewrite:
    """A rewrite: its name, its law as an equation, and a description of its effect.

    >>> from mindgrad.core.ir.rewriting import Rewrite, watching
    >>> halves = Rewrite("halves of an example", "x / 2 + x / 2 = x")
    >>> with watching() as counts:
    ...     halves.fired()
    >>> counts
    Counter({'halves of an example': 1})
    """

    name: str
    law: str
    words: str = ""

    def __post_init__(self) -> None:
        REWRITES[self.name] = self

    def fired(self, times: int = 1) -> None:
        """Count an application of the rewrite for :func:`watching`."""
        if _local.counts is not None and times:
            _local.counts[self.name] += times


def is_rewriting() -> bool:
    """Whether rewrites are turned on for this thread."""
    return bool(settings.get("rewrites")) and not _local.is_off


@contextmanager
def without_rewrites() -> Iterator[None]:
    """Turn off rewrites for graphs that this thread builds inside the ``with`` block."""
    before, _local.is_off = _local.is_off, True
    try:
        yield
    finally:
        _local.is_off = before


@contextmanager
def watching() -> Iterator[Counter[str]]:
    """Count the rewrites applied on this thread inside the ``with`` block, by name."""
    before = _local.counts
    counts: Counter[str] = Counter()
    _local.counts = counts
    try:
        yield counts
    finally:
        _local.counts = before
