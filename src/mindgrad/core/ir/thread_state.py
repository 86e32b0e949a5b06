"""The state of each thread while it builds and rewrites graphs.

Scopes (``ir.scope``) and source lines (``base.location``) have separate state, because every operator reads
it.
"""

from __future__ import annotations

import threading
from collections import Counter
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mindgrad.core.ir.build import Builder
    from mindgrad.core.ir.rules import Stored

__all__ = ["state"]


class _ThreadState(threading.local):
    """Fields that functions of other modules read and set.

    Attributes:
        builder: builder that receives the equations of this thread (``ir.build.building``).
        rewrites: number of applications of each rewrite (``ir.rewriting.watching``); ``None``: not counted.
        rewrites_are_off: whether no rewrite is applied (``ir.rewriting.without_rewrites``).
        read_level: Python code can read values of tensors in scopes nested at most this deep without a
            warning (``trace.custom``).
        loop_depth: number of loop bodies around the graph that is built (``control.subgraphs.in_loop``).
        journals: open records of assigned references (``trace.references.journal``), outermost first.
        custom_calls: calls with custom derivatives whose derivative is being traced (``trace.custom``).
    """

    builder: Builder | None = None
    rewrites: Counter[str] | None = None
    rewrites_are_off = False
    read_level = 0
    loop_depth = 0

    def __init__(self) -> None:
        self.journals: list[Stored] = []
        self.custom_calls: list[Stored] = []


state = _ThreadState()
