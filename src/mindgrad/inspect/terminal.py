"""Output of the commands: titles and tables, in color on a terminal with `rich`."""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Sequence
from typing import Any

try:
    import rich.box
    import rich.console
    import rich.markup
    import rich.padding
    import rich.table
except ImportError:  # rich is an optional dependency
    rich = None  # type: ignore[assignment]

__all__ = ["filled", "print_json", "print_lines", "print_table", "print_title"]

_INDENT = "  "
#: state of a check -> color
_STYLES = {"ok": "green", "problem": "bold red", "note": "yellow"}


def print_json(value: Any) -> None:
    """Print ``value`` as JSON."""
    print(json.dumps(value, indent=2, ensure_ascii=False, default=str))


def print_title(text: str) -> None:
    """Print a title, in bold on a terminal."""
    if _is_rich():
        rich.console.Console().print(f"[bold]{rich.markup.escape(text)}[/bold]", highlight=False)
    else:
        print(text)


def print_lines(lines: Sequence[str]) -> None:
    """Print indented lines of code or formulas without wrapping them."""
    for line in lines:
        print(_INDENT + line)


def filled(words: Sequence[str]) -> list[str]:
    """Join words to lines as wide as the terminal, and at most 98 columns wide."""
    width = min(98, shutil.get_terminal_size().columns if sys.stdout.isatty() else 98) - len(_INDENT)
    lines, line = [], ""
    for word in words:
        if line and len(line) + len(word) + 1 > width:
            lines.append(line)
            line = ""
        line += (" " if line else "") + word
    return [*lines, line]


def print_table(rows: Sequence[Sequence[str]], header: Sequence[str] = ()) -> None:
    """Print rows in aligned columns.

    If the output is not a terminal, lines are not wrapped, so that ``grep`` finds whole rows.
    """
    if _is_rich():
        table = rich.table.Table(box=None, show_header=bool(header), header_style="dim", pad_edge=False)
        table.add_column(header[0] if header else "", style="cyan", no_wrap=True)
        for column in range(1, max(map(len, rows), default=1)):
            table.add_column(header[column] if header else "", overflow="fold")
        for row in rows:
            table.add_row(*[_colored(cell) for cell in row])
        rich.console.Console().print(rich.padding.Padding(table, (0, 0, 0, len(_INDENT))))
        return
    listed = [list(header), *map(list, rows)] if header else [list(row) for row in rows]
    widths = [
        max(len(row[k]) for row in listed if k < len(row)) for k in range(max(map(len, listed), default=0))
    ]
    for row in listed:
        cells = [cell.ljust(width) for cell, width in zip(row, widths, strict=False)]
        print((_INDENT + _INDENT.join(cells)).rstrip())


def _colored(cell: str) -> str:
    style = _STYLES.get(cell)
    return f"[{style}]{cell}[/{style}]" if style else rich.markup.escape(cell)


def _is_rich() -> bool:
    return rich is not None and sys.stdout.isatty()
