"""Iterators of Python are unrolled while tracing; a loop that a tensor ends reads their remaining items."""

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

#: behind the last item of an iterator
END = object()
#: an iterator of more items is taken for one without an end
_MOST_ITEMS = 100_000


def remaining_items(iterator: Iterator[Any], later: Any) -> list[Any]:
    """The items that are left when a tensor says that a loop may end; nothing read ``later`` may change."""
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
    """Rest of a count, as a range, when a tensor says that the loop over it may end."""
    with snapshots.Snapshot(later):
        first = next(numbers)
        step = next(numbers) - first
    return builtins.TensorRange(first, sys.maxsize if step > 0 else -sys.maxsize, step)


def iterator_of(items: Any) -> Iterator[Any]:
    """An iterator over ``items``; over a Parameter, over its value in the program being compiled."""
    if isinstance(items, Tensor) and items.is_parameter:
        items = state.read(items)
    return iter(items)
