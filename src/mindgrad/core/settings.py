"""The options that ``set_context`` sets, for the whole process as in MindSpore."""

from __future__ import annotations

from typing import Any

__all__ = ["GRAPH_MODE", "PYNATIVE_MODE", "get", "is_graph_mode", "update"]

GRAPH_MODE = 0
PYNATIVE_MODE = 1

_options: dict[str, Any] = {"mode": PYNATIVE_MODE, "device_target": "CPU", "device_id": 0}


def is_graph_mode() -> bool:
    """Whether whole functions and Cells are compiled."""
    return _options["mode"] == GRAPH_MODE


def get(name: str) -> Any:
    """The value of option ``name``."""
    return _options[name]


def update(options: dict[str, Any]) -> None:
    """Set several options."""
    if options.get("mode", GRAPH_MODE) not in (GRAPH_MODE, PYNATIVE_MODE):
        raise ValueError(f"The 'mode' must be GRAPH_MODE (0) or PYNATIVE_MODE (1), but got {options['mode']}.")
    _options.update(options)
