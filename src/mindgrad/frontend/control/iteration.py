"""Read the remaining items of an iterator if a tensor decides when the loop ends.

The compiled loop needs all items, because the trace does not know when it ends.
"""

from __future__ import annotations

import itertools
import sys
from collections.abc import Iterator
from typing import Any

from mindgrad.core.base.refusal import refuse
from mindgrad.core.ir.tensor import Tensor
from mindgrad.core.trace import references
from mindgrad.frontend.control import builtins, snapshots

__all__ = ["END", "endless_range", "iterator_of", "remaining_items"]

#: the default of ``next``, which it returns at the end of an iterator
END = object()
#: an iterator with more items than this is treated as infinite
_MOST_ITEMS = 100_000


def remaining_items(iterator: Iterator[Any], later: Any) -> list[Any]:
    """List the remaining items of an iterator whose loop may end early.

    Args:
        iterator: the iterator.
        later: function, never called, that reads all variables used after the loop. Requesting items must not
            change the state that these variables reach.
    """
    with snapshots.Snapshot(later):
        items = list(itertools.islice(iterator, _MOST_ITEMS + 1))
    if len(items) > _MOST_ITEMS:
        refuse(
            "This loop ends early under a condition that is a tensor, and its iterator is infinite or "
            f"has more than {_MOST_ITEMS} items. All items are requested at compile time",
            "Write a loop over numbers, 'while condition: … i += 1', or a 'for' over range(n).",
        )
    return items


def endless_range(numbers: itertools.count[Any], later: Any) -> builtins.TensorRange:
    """Convert the rest of an ``itertools.count`` to a range without an end.

    Args:
        numbers: the count. Its loop may end early.
        later: see :func:`remaining_items`.
    """
    with snapshots.Snapshot(later):
        first = next(numbers)
        step = next(numbers) - first
    return builtins.TensorRange(first, sys.maxsize if step > 0 else -sys.maxsize, step)


def iterator_of(items: Any) -> Iterator[Any]:
    """Return an iterator over ``items``, or over the traced value of a Parameter."""
    if isinstance(items, Tensor) and items.is_parameter:
        items = references.read(items)
    return iter(items)
