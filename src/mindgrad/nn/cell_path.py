"""Show the path of a Cell, such as ``net.blocks.3.dense``, in errors and programs.

The path is read from Python frames, and only when an error leaves the package or a tool traces a program.
Other calls have no overhead.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from inspect import currentframe
from itertools import pairwise
from types import CodeType, FrameType
from typing import Any

from mindgrad.core.base._cpython import variables_of
from mindgrad.core.base.location import NO_LINE, Line, is_own_file
from mindgrad.core.base.refusal import before_trimming

__all__ = ["cell_lines", "name_path_in_errors"]

_BEGIN = "  in the Cell "
# maximum number of characters of a path. A longer path is the result of a recursion, and is not shown
_LONGEST = 300


def name_path_in_errors(cell_class: type) -> None:
    """Add the path of the failing Cell to errors, such as ``net.blocks.3.dense``.

    Args:
        cell_class: the class whose ``__call__`` calls a Cell.
    """

    def note_path(error: BaseException) -> None:
        code = cell_class.__call__.__code__  # type: ignore[operator]
        cells, caller = _called(error, code)
        if len(cells) < 2 or any(x.startswith(_BEGIN) for x in getattr(error, "__notes__", ())):
            return
        cells = cells[_begin(cells, caller) :]
        path = _variable(cells[0], caller) or type(cells[0]).__name__
        for outer, inner in pairwise(cells):
            step = _step(outer, inner)
            path = f"{path}.{step}" if step else type(inner).__name__
        if len(path) <= _LONGEST:
            error.add_note(f"{_BEGIN}{path} ({type(cells[-1]).__name__})")

    before_trimming(note_path)


def cell_lines(cell_class: type, caller: FrameType | None) -> Callable[[FrameType], tuple[str, int]]:
    """Return a function that maps a frame to its line and the path of its Cell.

    Args:
        cell_class: the class whose ``__call__`` calls a Cell.
        caller: the frame that requests the program; its own line does not belong to the program.
    """
    roots: list[Any] = []

    def path(cells: list[Any]) -> str:
        if not cells:
            return ""
        root = next((k for k, cell in enumerate(roots) if cell is cells[0]), len(roots))
        if root == len(roots):
            roots.append(cells[0])
        steps = [f"{type(cells[0]).__name__}_{root + 1}"] if root else []
        steps += [_step(outer, inner) or type(inner).__name__ for outer, inner in pairwise(cells)]
        return ".".join(steps)

    def line_of(frame: FrameType) -> tuple[str, int]:
        if frame is caller:
            return NO_LINE
        code = cell_class.__call__.__code__  # type: ignore[operator]
        cells: list[Any] = []  # innermost Cell first
        count = 0
        current = currentframe()
        while current is not None and current is not caller:
            if current.f_code is code and not (cells and cells[-1] is variables_of(current)["self"]):
                cells.append(variables_of(current)["self"])
            if current is frame:
                count = len(cells)
            current = current.f_back
        line = Line((frame.f_code.co_filename, frame.f_lineno))
        line.cell, line.layer = path(cells[count:][::-1]), path(cells[::-1])
        return line

    return line_of


def _called(error: BaseException, code: CodeType) -> tuple[list[Any], FrameType | None]:
    """Return the Cells in a traceback, outermost first, and their caller."""
    cells: list[Any] = []
    caller, entry = None, error.__traceback__
    while entry is not None:
        frame = entry.tb_frame
        if frame.f_code is code:
            cell = variables_of(frame)["self"]
            if not cells:
                caller = frame.f_back
            if not cells or cells[-1] is not cell:
                cells.append(cell)
        entry = entry.tb_next
    return cells, caller


def _begin(cells: list[Any], caller: FrameType | None) -> int:
    """Count mindgrad's own Cells around the outermost Cell of the user.

    One of mindgrad's own Cells is, for example, a training step. The user's Cell is the first inner Cell that
    a variable of the user holds. If no variable of the user holds a Cell, the result is 0.
    """
    for count, cell in enumerate(cells[:-1]):
        if count and _variable(cell, caller):
            return count
        if not is_own_file(getattr(sys.modules.get(type(cell).__module__), "__file__", None) or ""):
            break
    return 0


def _variable(cell: Any, frame: FrameType | None) -> str:
    """Return the name of the user's variable that holds a Cell, or an empty string."""
    while frame is not None and is_own_file(frame.f_code.co_filename):
        frame = frame.f_back
    for variables in () if frame is None else (variables_of(frame), frame.f_globals):
        for name, value in list(variables.items()):
            if value is cell and name != "self" and not name.startswith("_"):
                return name
        owner = variables.get("self")
        step = _step(owner, cell) if hasattr(type(owner), "cells_and_names") else ""
        if step:
            return f"{type(owner).__name__}.{step}"
    return ""


def _step(outer: Any, inner: Any) -> str:
    """Return the attribute path from ``outer`` to ``inner``; ``""`` if none exists."""
    for name, cell in outer.__dict__["_cells"].items():
        if cell is inner:
            return str(name)
    return next((name for name, cell in outer.cells_and_names() if cell is inner), "")
