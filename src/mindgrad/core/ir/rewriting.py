"""Rewrites: graph transformations that preserve the values and reduce the cost.

    a rewrite:  G ⟼ G',  G'(x) = G(x) up to rounding,  cost(G') ≤ cost(G)

A module that implements a rewrite creates a :class:`Rewrite`, which describes it. The module calls
:meth:`Rewrite.fired` when it applies the rewrite, so that ``inspect.explain`` can list the applied rewrites.
To turn all rewrites off, set ``MINDGRAD_OPT=0`` in the environment, or the option ``rewrites`` in a process
(``ir.settings``). Functions are compiled separately for each setting of this option.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from mindgrad.core.ir import settings
from mindgrad.core.ir.thread_state import state

__all__ = ["REWRITES", "Rewrite", "is_rewriting", "watching", "without_rewrites"]

#: maps the name of each rewrite to the rewrite
REWRITES: dict[str, Rewrite] = {}


@dataclass(frozen=True)
class Rewrite:
    """Description of a rewrite.

    Attributes:
        name: name of the rewrite.
        law: the identity on which the rewrite is based, as a formula.
        words: description of its effect.

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
        """Record for :func:`watching` that the rewrite was applied ``times`` times."""
        if state.rewrites is not None and times:
            state.rewrites[self.name] += times


def is_rewriting() -> bool:
    """Return whether rewrites are turned on for this thread."""
    return bool(settings.get("rewrites")) and not state.rewrites_are_off


@contextmanager
def without_rewrites() -> Iterator[None]:
    """Context manager that turns off rewrites on this thread."""
    before, state.rewrites_are_off = state.rewrites_are_off, True
    try:
        yield
    finally:
        state.rewrites_are_off = before


@contextmanager
def watching() -> Iterator[Counter[str]]:
    """Context manager that counts the rewrites applied on this thread, by name."""
    before = state.rewrites
    counts: Counter[str] = Counter()
    state.rewrites = counts
    try:
        yield counts
    finally:
        state.rewrites = before
