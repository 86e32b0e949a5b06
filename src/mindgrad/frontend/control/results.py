"""Convert iterators among the results of compiled functions to tuples or lists.

==========================================================  ===============================================
returned by the function, also inside containers            result of the call
==========================================================  ===============================================
``range``, ``zip``, ``enumerate``, ``iter``, ``reversed``,   tuple of the remaining items
``d.keys()``, ``d.values()``
``map``                                                      tuple, or list if it iterates over a list
``filter``, a generator or generator expression,             list
``d.items()``
==========================================================  ===============================================

MindSpore 2.x returns the same types. The items are computed at the end of the trace.
"""

from __future__ import annotations

import types
from collections.abc import Iterator
from itertools import islice
from typing import Any

from mindgrad.core.base.refusal import refuse
from mindgrad.core.base.tree import flatten, unflatten
from mindgrad.frontend.control.builtins import TensorRange

__all__ = ["with_items"]

_LISTS: tuple[type, ...] = (filter, types.GeneratorType, type({}.items()))
_TUPLES: tuple[type, ...] = (range, TensorRange, type({}.keys()), type({}.values()))
#: ``CompileError`` is raised for an iterator with more items than this, because it may be infinite
_LONGEST = 1_000_000


def with_items(result: Any) -> Any:
    """Replace each iterator in ``result`` by a tuple or list of its remaining items."""
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
