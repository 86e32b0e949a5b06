"""MindSpore's execution modes: compile whole functions, or run single operators."""

from __future__ import annotations

from mindgrad.core.ir import settings

__all__ = ["GRAPH_MODE", "PYNATIVE_MODE", "is_graph_mode"]

GRAPH_MODE = 0
PYNATIVE_MODE = 1

settings.define("mode", PYNATIVE_MODE)


def is_graph_mode() -> bool:
    """Return whether mindgrad compiles whole functions and Cells (``GRAPH_MODE``)."""
    return settings.options["mode"] == GRAPH_MODE
