"""The mode of MindSpore's context: compile whole functions, or run operators."""

from __future__ import annotations

from mindgrad.core.ir import settings

__all__ = ["GRAPH_MODE", "PYNATIVE_MODE", "is_graph_mode"]

GRAPH_MODE = 0
PYNATIVE_MODE = 1

settings.define("mode", PYNATIVE_MODE)


def is_graph_mode() -> bool:
    """Whether whole functions and Cells are compiled (``GRAPH_MODE``)."""
    return settings.options["mode"] == GRAPH_MODE
