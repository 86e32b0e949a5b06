"""The order of a picture's rows follows values from line to line, and a function's lines in that of its text.

Each step takes, among the first rows that remain of each group, the one that waits for the fewest others; of
several one of the group before, then the one that the program has first. Rows of one group so stand in the
order of their places, and together where values allow it. Lines that are run again and again (loops,
functions that are called twice) wait for each other: no order serves all their arrows.

Cost: rows² · groups; a picture has some fifty rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

__all__ = ["sorted_rows"]


def sorted_rows(places: Sequence[Any], groups: Sequence[str], before: Sequence[set[int]]) -> list[int]:
    """The numbers of rows in an order in which each stands behind those ``before`` it, where there is one.

    Args:
        places: for each row what compares with those of its group, ``None`` for one that belongs to no group.
        groups: for each row the function or Cell that it stands in.
        before: for each row the numbers of those that it uses.

    >>> sorted_rows([7, 8, 1, 3], ["net", "net", "loss", "loss"], [{2}, {0}, set(), {1}])
    [2, 0, 1, 3]
    """
    remaining = {n for n, place in enumerate(places) if place is not None}
    order: list[int] = []
    while remaining:
        firsts: dict[str, int] = {}
        for n in sorted(remaining):
            if n == firsts.setdefault(groups[n], n) or places[n] < places[firsts[groups[n]]]:
                firsts[groups[n]] = n
        last = groups[order[-1]] if order else None
        chosen = min(firsts.values(), key=lambda n: (len(before[n] & remaining), groups[n] != last, n))
        order.append(chosen)
        remaining.discard(chosen)
    return order + [n for n, place in enumerate(places) if place is None]
