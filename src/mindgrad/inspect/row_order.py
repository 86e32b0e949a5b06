"""The order of the rows in a figure of ``draw``.

Rows follow the data flow, and the rows of one function or Cell (a group) follow its source. At each step, the
first remaining row of each group is a candidate. The next row is the candidate with these properties, in this
order of importance:

1. It waits for the fewest remaining rows. Rows that wait for each other do not count: they are in a loop.
2. It uses no other row, or at least one of the rows that it uses is already placed.
3. It belongs to the group of the previous row, so that the rows of a group stay together.
4. It comes first in the program.

The cost grows with the cube of the number of rows, which is usually below fifty.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

__all__ = ["sorted_rows"]


def sorted_rows(places: Sequence[Any], groups: Sequence[str], before: Sequence[set[int]]) -> list[int]:
    """Sort rows so that each comes after the rows that it uses, if possible.

    Args:
        places (list or tuple): sort key of each row within its group. A row with ``None`` belongs to no group
            and comes last.
        groups (list or tuple of str): function or Cell of each row.
        before (list or tuple): for each row, the set of the numbers of the rows whose values it uses.

    Returns:
        list of int: the numbers of the rows in the new order.

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
    """Return the rows that row ``n`` uses, directly or through other rows."""
    pending, above = list(before[n]), set[int]()
    while pending:
        m = pending.pop()
        if m not in above:
            above.add(m)
            pending += before[m]
    return above
