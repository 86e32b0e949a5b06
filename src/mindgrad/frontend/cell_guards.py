"""Which attributes of a Cell the guards of a trace compare.

The runtime records each attribute of a Cell that converted code reads. Other code is not converted: the
layers of mindgrad, generators, functions of libraries, and methods that Python calls implicitly. Such code
may read any attribute. Therefore guards compare all attributes of a Cell that it may reach:

- Cells of mindgrad, and of classes that are derived from them, as soon as the trace meets them;
- Cells that are passed to an unconverted function, or whose method is unconverted.

For a class that is derived from ``Cell`` only, ``named_reads`` finds the reads of special methods and
properties.
"""

from __future__ import annotations

import functools
import types
from typing import Any

from mindgrad.frontend.user_functions import is_cell, is_users_class

__all__ = ["ALL", "INVENTORY", "MISSING", "OF_CALLS", "UNREAD", "has_implicit_methods", "is_followed"]

MISSING = type("Missing", (), {"__repr__": lambda _: "nothing"})()

#: attribute name that represents all attributes of a Cell, because ``__dict__`` contains them
ALL = "__dict__"

#: internal attributes of a Cell that guards ignore
UNREAD = frozenset(
    ["_compiled", "_custom", "_declared_inputs", "_derivatives", "_eager", "_flags", "_made_in"]
)
#: dictionaries of a Cell that mindgrad changes in place, so that guards compare their items
INVENTORY = ("_params", "_cells", "_hooks")
#: attributes that each call of a Cell reads
OF_CALLS = ("_hooks", "_recomputes", "_to_float", "requires_grad")
_METHODS = (types.FunctionType, staticmethod, classmethod)


@functools.lru_cache(maxsize=4096)
def is_followed(kind: Any) -> bool:
    """Return whether a Cell class has only methods of the user and of ``Cell``.

    The runtime converts these methods, and records the attributes that they read.
    """
    kinds = kind.__mro__
    base = next(each for each in reversed(kinds) if is_cell(each))
    return all(map(is_users_class, kinds[: kinds.index(base)]))


@functools.lru_cache(maxsize=4096)
def has_implicit_methods(kind: Any) -> bool:
    """Return whether Python may call the user's methods of a Cell class implicitly."""
    return any(
        isinstance(value, (property, functools.cached_property))
        or (name[:2] == "__" and name != "__init__" and isinstance(value, _METHODS))
        for base in kind.__mro__
        if is_users_class(base)
        for name, value in vars(base).items()
    )
