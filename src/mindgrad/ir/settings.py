"""The options of ``set_context``. As in MindSpore, they apply to the whole process."""

from __future__ import annotations

import os
from typing import Any

__all__ = ["GRAPH_MODE", "PYNATIVE_MODE", "get", "is_graph_mode", "options", "store", "version"]

GRAPH_MODE = 0
PYNATIVE_MODE = 1

#: maps names of options to values. Frequently executed code reads this dict directly; :func:`store` sets
#: options
options: dict[str, Any] = {
    "mode": PYNATIVE_MODE,
    "device_target": "CPU",
    "device_id": 0,
    "check_bprop": False,
    "checkpoint_slots": 1024,
    # whether eager mode runs every operator immediately, and defers none (see ``eager.tiers``)
    "pynative_synchronize": False,
    # how the arrays of compiled functions are divided among devices (``ir.partition``); ``None``: one device
    "partition": None,
    # whether an operator that returns NaN or infinity raises an error (see ``ir.finite``)
    "debug_nans": os.environ.get("MINDGRAD_DEBUG_NANS", "0") == "1",
    # whether graphs are transformed into cheaper equivalent graphs (see ``ir.rewriting``)
    "rewrites": os.environ.get("MINDGRAD_OPT", "1") != "0",
}


#: number of times that :func:`store` has set an option. Caches compare it to find out whether options changed
version = 0


def is_graph_mode() -> bool:
    """Return whether the mode is ``GRAPH_MODE``, in which Cells are compiled."""
    return options["mode"] == GRAPH_MODE


def get(name: str) -> Any:
    """Return the value of option ``name``, or ``None`` if it was never set."""
    return options.get(name)


def store(name: str, value: Any) -> None:
    """Set option ``name``."""
    global version
    options[name] = value
    version += 1
