"""Rewrites: other programs of the same value at a lower cost, each a row with its law.

    a rewrite:  G ⟼ G',  G'(x) = G(x) up to rounding,  cost(G') ≤ cost(G)

A rewrite is declared once, where its code stands; whoever applies it says so with :meth:`Rewrite.fired`,
and ``tools.explain`` lists what fired. ``MINDGRAD_OPT=0`` in the environment turns all of them off; inside
a process the option ``rewrites`` does (``ir.settings``), which selects compiled programs as the mode does.
"""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from mindgrad.ir import settings

__all__ = ["REWRITES", "Rewrite", "is_rewriting", "watching", "without_rewrites"]

#: every rewrite by its name
REWRITES: dict[str, Rewrite] = {}


class _Local(threading.local):
    counts: Counter[str] | None = None
    is_off = False


_local = _Local()


@dataclass(frozen=True)
class Rewrite:
    """One rewrite: its name, its law as an equation that a reader can check, and what it did in words.

    >>> from mindgrad.ir.rewriting import Rewrite, watching
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
        """Tell those who watch that the rewrite was applied."""
        if _local.counts is not None and times:
            _local.counts[self.name] += times


def is_rewriting() -> bool:
    """Whether programs are rewritten."""
    return bool(settings.get("rewrites")) and not _local.is_off


@contextmanager
def without_rewrites() -> Iterator[None]:
    """Leave the programs that this thread makes inside of the ``with`` block as they are written."""
    before, _local.is_off = _local.is_off, True
    try:
        yield
    finally:
        _local.is_off = before


@contextmanager
def watching() -> Iterator[Counter[str]]:
    """Count, by name, the rewrites that are applied on this thread inside the ``with`` block."""
    before = _local.counts
    counts: Counter[str] = Counter()
    _local.counts = counts
    try:
        yield counts
    finally:
        _local.counts = before
