"""Options of the engine. They apply to the whole process, as options of MindSpore's context do.

Upper layers define further options with :func:`define`.
"""

from __future__ import annotations

import os
from typing import Any, TypeAlias

__all__ = ["define", "get", "options", "store", "version"]

Setting: TypeAlias = Any  # type: ignore[explicit-any]  # the type depends on the option

#: maps names of options to values. Frequently executed code reads this dict directly; :func:`store` sets
#: options
options: dict[str, Setting] = {
    "device_target": "CPU",
    "device_id": 0,
    # maximum number of carries that a `while` loop saves for reverse mode
    "checkpoint_slots": 1024,
    # whether the types of gradients from custom derivatives are compared with the types of the inputs
    "check_bprop": False,
    # whether an operator raises an error if its result contains NaN or infinity (see `finite`)
    "debug_nans": os.environ.get("MINDGRAD_DEBUG_NANS", "0") == "1",
    # whether graphs are rewritten into cheaper equivalent graphs (see `rewriting`)
    "rewrites": os.environ.get("MINDGRAD_OPT", "1") != "0",
}


#: number of option changes by :func:`store` so far. Caches compare this number to detect changes
version = 0


def define(name: str, default: object) -> None:
    """Add option ``name``, unless it exists."""
    options.setdefault(name, default)


def get(name: str) -> Setting:
    """Return the value of option ``name``, or ``None`` if it was never set."""
    return options.get(name)


def store(name: str, value: object) -> None:
    """Set option ``name``."""
    global version
    options[name] = value
    version += 1
