"""Options of the engine. They apply to the whole process, as options of MindSpore's context do.

Upper layers define further options with :func:`define`.
"""

from __future__ import annotations

import os
from typing import Any

__all__ = ["define", "get", "options", "store", "version"]

#: maps names of options to values. Frequently executed code reads this dict directly; :func:`store` sets
#: options
options: dict[str, Any] = {
    "device_target": "CPU",
    "device_id": 0,
    # largest number of carries that a `while` loop saves for reverse mode
    "checkpoint_slots": 1024,
    # whether the derivatives of custom functions are checked against the types of the inputs
    "check_bprop": False,
    # whether an operator that returns NaN or infinity raises an error (see `finite`)
    "debug_nans": os.environ.get("MINDGRAD_DEBUG_NANS", "0") == "1",
    # whether graphs are transformed into cheaper equivalent graphs (see `rewriting`)
    "rewrites": os.environ.get("MINDGRAD_OPT", "1") != "0",
}


#: number of times that :func:`store` has set an option. Caches compare it to find out whether options changed
version = 0


def define(name: str, default: Any) -> None:
    """Add option ``name``, unless it exists."""
    options.setdefault(name, default)


def get(name: str) -> Any:
    """Return the value of option ``name``, or ``None`` if it was never set."""
    return options.get(name)


def store(name: str, value: Any) -> None:
    """Set option ``name``."""
    global version
    options[name] = value
    version += 1
