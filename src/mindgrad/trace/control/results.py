"""Iterators among the results of compiled functions become tuples or lists.

==========================================================  ===============================================
returned, also inside of containers                          given
==========================================================  ===============================================
``range``, ``zip``, ``enumerate``, ``iter``, ``reversed``,   a tuple of the items that are left
``d.keys()``, ``d.values()``
``map``                                                      a tuple; a list if it is over a list
``filter``, a generator or generator expression,             a list
``d.items()``
==========================================================  ===============================================

As in MindSpore 2.x. Their items are computed where they are returned.
"""

from __future__ import annotations

import types
from collections.abc import Iterator
from itertools import islice
from typing import Any

from mindgrad._base.refusal import refuse
from mindgrad._base.tree import flatten, unflatten
from mindgrad.trace.control.builtins import TensorRange

__all__ = ["with_items"]

_LISTS: tuple[type, ...] = (filter, types.GeneratorType, type({}.items()))
_TUPLES: tuple[type, ...] = (range, TensorRange, type({}.keys()), type({}.values()))
#: an iterator of more items is taken to have no end
_LONGEST = 1_000_000


def with_items(result: Any) -> Any:
    """``result`` with the items of the iterators in it in place of them."""
    leaves, structure = flatten(result)
    if not any(map(_is_lazy, leaves)):
        return result
    return unflatten(structure, [with_items(_items(x)) if _is_lazy(x) else x for x in leaves])


def _is_lazy(x: Any) -> bool:
    kind = type(x)
    if kind in _LISTS or kind in _TUPLES:
        return True
    return isinstance(x, Iterator) and kind.__module__ in ("builtins", "itertools")


def _items(x: Any) -> list[Any] | tuple[Any, ...]:
    kind = type(x)
    is_list = kind in _LISTS
    if kind is map:
        _, (_, first, *_) = x.__reduce__()
        is_list = isinstance(first, type(iter([])))
    items = list(islice(x, _LONGEST + 1))
    if len(items) > _LONGEST:
        refuse(
            f"The compiled function returns a {kind.__name__} of more than {_LONGEST} items, which may "
            "be infinite",
            "Return the items that you need: list(itertools.islice(items, n)).",
        )
    return items if is_list else tuple(items)
