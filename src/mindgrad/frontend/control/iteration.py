"""Read all items of an iterator whose loop may end early.

If a tensor decides when a ``for`` loop ends, the number of iterations is not known at compile time.
Therefore, the compiled loop needs all items of the iterator.
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

#: default value for ``next(iterator, END)``, which marks the end of the iterator
END = object()
#: ``CompileError`` is raised for an iterator with more items than this, because it may be infinite
_MOST_ITEMS = 100_000


def remaining_items(iterator: Iterator[Any], later: Any) -> list[Any]:
    """List the remaining items of an iterator whose loop may end early.

    Args:
        iterator: the iterator.
        later: function that reads all variables used after the loop. It is never called. If reading the items
            changes an object to which one of these variables refers, ``CompileError`` is raised.
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

    The range ends at ``sys.maxsize``, or at ``-sys.maxsize`` for a negative step.

    Args:
        numbers: the count over which a loop iterates. The loop may end early.
        later: see :func:`remaining_items`.
    """
    with snapshots.Snapshot(later):
        first = next(numbers)
        step = next(numbers) - first
    return builtins.TensorRange(first, sys.maxsize if step > 0 else -sys.maxsize, step)


def iterator_of(items: Any) -> Iterator[Any]:
    """Return an iterator over ``items``, or over the current value of a Parameter."""
    if isinstance(items, Tensor) and items.is_parameter:
        items = references.read(items)
    return iter(items)
