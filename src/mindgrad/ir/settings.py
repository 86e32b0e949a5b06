"""The options of ``set_context``. As in MindSpore, they apply to the whole process."""

from __future__ import annotations

import os
from typing import Any

__all__ = ["GRAPH_MODE", "PYNATIVE_MODE", "get", "is_graph_mode", "options", "store", "version"]

GRAPH_MODE = 0
PYNATIVE_MODE = 1

#: options by name. Frequently executed code reads this dict directly; :func:`store` sets an option
options: dict[str, Any] = {
    "mode": PYNATIVE_MODE,
    "device_target": "CPU",
    "device_id": 0,
    "check_bprop": False,
    "checkpoint_slots": 1024,
    # whether eager mode runs every operator when it is called (see ``eager.tiers``)
    "pynative_synchronize": False,
    # the division of compiled functions among devices (see ``distributed.partition``); ``None``: one device
    "partition": None,
    # whether the first operator that returns NaN or infinity raises an error (see ``ir.finite``)
    "debug_nans": os.environ.get("MINDGRAD_DEBUG_NANS", "0") == "1",
    # whether graphs are transformed into cheaper equivalent graphs (see ``ir.rewriting``)
    "rewrites": os.environ.get("MINDGRAD_OPT", "1") != "0",
}


#: counter of changes: the number of times that :func:`store` has set an option
version = 0


def is_graph_mode() -> bool:
    """Whether whole functions and Cells are compiled."""
    return options["mode"] == GRAPH_MODE


def get(name: str) -> Any:
    """Return the value of option ``name``, or ``None`` if it was never set."""
    return options.get(name)


def store(name: str, value: Any) -> None:
    """Set option ``name``."""
    global version
    options[name] = value
    version += 1
