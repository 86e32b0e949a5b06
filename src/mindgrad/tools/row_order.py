"""The order of a picture's rows follows values from line to line, and a function's lines in that of its text.

Each step takes one of the first rows that remain of each group: one that waits for no other, or only for rows
that wait for it too (loops, functions that are called twice), of which the one where values enter goes first;
of several one of the group before, then the one that the program has first. Rows of one group so stand in the
order of their places, and together where values allow it.

Cost: rows³; a picture has some fifty rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

__all__ = ["sorted_rows"]


def sorted_rows(places: Sequence[Any], groups: Sequence[str], before: Sequence[set[int]]) -> list[int]:
    """The numbers of rows in an order in which each stands behind those ``before`` it, where there is one.

    Args:
        places (list or tuple): for each row what compares with those of its group, ``None`` for one that
            belongs to no group.
        groups (list or tuple of str): for each row the function or Cell that it stands in.
        before (list or tuple): for each row the numbers of those that it uses.

    >>> sorted_rows([7, 8, 1, 3], ["net", "net", "loss", "loss"], [{2}, {0}, set(), {1}])
    [2, 0, 1, 3]
    """
    above = [_above(n, before) for n in range(len(before))]
    remaining = {n for n in range(len(places)) if places[n] is not None}
    order: list[int] = []

    def rank(n: int) -> tuple[int, bool, bool, int]:
        waits = [m for m in above[n] & remaining if n not in above[m]]
        has_values = not before[n] or not above[n] <= remaining
        return len(waits), not has_values, not order or groups[n] != groups[order[-1]], n

    while remaining:
        firsts: dict[str, int] = {}
        for n in sorted(remaining):
            if n == firsts.setdefault(groups[n], n) or places[n] < places[firsts[groups[n]]]:
                firsts[groups[n]] = n
        order.append(min(firsts.values(), key=rank))
        remaining.discard(order[-1])
    return order + [n for n in range(len(places)) if places[n] is None]


def _above(n: int, before: Sequence[set[int]]) -> set[int]:
    """The rows that a row waits for, directly or through others."""
    pending, above = list(before[n]), set[int]()
    while pending:
        m = pending.pop()
        if m not in above:
            above.add(m)
            pending += before[m]
    return above
