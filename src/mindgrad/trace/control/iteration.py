"""Read all items of an iterator whose loop may end early.

If a tensor decides when a ``for`` loop ends, the compiled loop needs all items, because the number of
iterations is not known at compile time.
"""

from __future__ import annotations

import itertools
import sys
from collections.abc import Iterator
from typing import Any

from mindgrad._base.refusal import refuse
from mindgrad.ir.tensor import Tensor
from mindgrad.trace import state
from mindgrad.trace.control import builtins, snapshots

__all__ = ["END", "endless_range", "iterator_of", "remaining_items"]

#: returned by ``next(iterator, END)`` at the end of an iterator
END = object()
#: maximum number of items; an iterator with more items raises ``CompileError``, because it may be infinite
_MOST_ITEMS = 100_000


def remaining_items(iterator: Iterator[Any], later: Any) -> list[Any]:
    """List the remaining items of an iterator whose loop may end early.

    Args:
        iterator: the iterator.
        later: function, never called, that reads all variables used after the loop. If reading the items
            changes objects that these variables refer to, ``CompileError`` is raised.
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
    """Convert an ``itertools.count`` to a range that starts at its next number.

    The end of the range is ``sys.maxsize``, or ``-sys.maxsize`` for a negative step.

    Args:
        numbers: the count, in a loop that may end early.
        later: see :func:`remaining_items`.
    """
    with snapshots.Snapshot(later):
        first = next(numbers)
        step = next(numbers) - first
    return builtins.TensorRange(first, sys.maxsize if step > 0 else -sys.maxsize, step)


def iterator_of(items: Any) -> Iterator[Any]:
    """Return an iterator over ``items``. For a Parameter, iterate over its current value."""
    if isinstance(items, Tensor) and items.is_parameter:
        items = state.read(items)
    return iter(items)
