"""Select the attributes of Cells that guards compare.

The runtime records each attribute of a Cell that converted code reads. Unconverted code may read any
attribute without a record. It includes mindgrad's layers, generators, library functions, and methods that
Python calls implicitly. Therefore, guards compare all attributes of the following Cells:

- Cells whose class is a mindgrad layer, or is derived from a layer, as soon as the trace encounters them;
- Cells that are passed to an unconverted function, or whose method is unconverted.

If a user's class has no mindgrad base class except ``Cell``, ``named_reads`` finds the attributes that its
special methods and properties read. Guards then compare only these attributes.
"""

from __future__ import annotations

import functools
import types
from typing import Any

from mindgrad.frontend.user_functions import is_cell, is_users_class

__all__ = ["ALL", "INVENTORY", "MISSING", "OF_CALLS", "UNREAD", "has_implicit_methods", "is_followed"]

MISSING = type("Missing", (), {"__repr__": lambda _: "nothing"})()

#: represents all attributes of a Cell, for code that reads its ``__dict__``
ALL = "__dict__"

#: internal attributes of Cells that do not affect a trace, so guards ignore them
UNREAD = frozenset(
    ["_compiled", "_custom", "_declared_inputs", "_derivatives", "_eager", "_flags", "_made_in"]
)
#: names of the attributes in which a Cell stores dicts of its Parameters, inner Cells, and hooks. mindgrad
#: changes these dicts in place, so guards compare their items
INVENTORY = ("_params", "_cells", "_hooks")
#: attributes that every call of a Cell reads
OF_CALLS = ("_hooks", "_recomputes", "_to_float", "requires_grad")
_METHODS = (types.FunctionType, staticmethod, classmethod)


@functools.lru_cache(maxsize=4096)
def is_followed(kind: Any) -> bool:
    """Return whether only user code and ``Cell`` define the methods of a Cell class.

    The runtime converts such methods, and records the attributes that they read.
    """
    kinds = kind.__mro__
    base = next(each for each in reversed(kinds) if is_cell(each))
    return all(map(is_users_class, kinds[: kinds.index(base)]))


@functools.lru_cache(maxsize=4096)
def has_implicit_methods(kind: Any) -> bool:
    """Return whether a Cell class has user methods that Python calls implicitly.

    Examples are ``__len__`` and properties.
    """
    return any(
        isinstance(value, (property, functools.cached_property))
        or (name[:2] == "__" and name != "__init__" and isinstance(value, _METHODS))
        for base in kind.__mro__
        if is_users_class(base)
        for name, value in vars(base).items()
    )
