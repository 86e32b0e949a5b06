"""HTML for notebooks: pure functions from arrays and strings to escaped HTML.

The size of the output is bounded: for a large tensor, only the first and last rows and columns are read and
shown.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["array_table", "captioned", "text_table", "tree_html"]

_EDGE = 5  # rows and columns shown at each end of a large array
_LONGEST = 2 * _EDGE
_MOST_NODES = 200  # largest number of nodes of a tree that are shown
#: style of less important text, on light and dark backgrounds
_FAINT = "opacity:.65"
_NUMBER_STYLE = "text-align:right;font-family:monospace;padding:1px 6px"
_HEAD_STYLE = f"text-align:right;{_FAINT};font-weight:normal;padding:1px 6px"
_GAP = "⋯"
#: ``&`` is first, because the other entities contain it
_ENTITIES = (("&", "&amp;"), ("<", "&lt;"), (">", "&gt;"), ('"', "&quot;"), ("'", "&#x27;"))


def escape(text: str) -> str:
    """Escape the characters that HTML reserves.

    This does not import Python's module `html`, which has a large table of entities.
    """
    for character, entity in _ENTITIES:
        text = text.replace(character, entity)
    return text


def captioned(caption: str, body: str = "") -> str:
    """Add a plain-text caption above ``body``, which is HTML."""
    return f"<div><div><code>{escape(caption)}</code></div>{body}</div>"


def _shown(length: int) -> list[int | None]:
    """Return the indices of the rows to show; ``None`` marks the gap between them."""
    if length <= _LONGEST:
        return list(range(length))
    return [*range(_EDGE), None, *range(length - _EDGE, length)]


def _number(value: Any) -> str:
    value = value.item() if isinstance(value, np.generic) else value
    if isinstance(value, (bool, int)):
        return str(value)
    if isinstance(value, complex):
        return f"{value.real:.5g}{value.imag:+.5g}j"
    return f"{float(value):.5g}"


def array_table(array: NDArray[Any]) -> str:
    """Format an array with at most two axes as a table, and other arrays as text.

    >>> import numpy as np
    >>> from mindgrad.core.base.html import array_table
    >>> array_table(np.array([[1, 2]])).count("<td")
    2
    """
    if array.size == 0:
        return ""
    if array.ndim > 2:
        text = np.array2string(array, threshold=_LONGEST**2, edgeitems=2)
        return f"<pre>{escape(text)}</pre>"
    matrix: Any = array.reshape((1, -1) if array.ndim < 2 else array.shape)
    rows, columns = _shown(matrix.shape[0]), _shown(matrix.shape[1])
    head = "".join(f'<th style="{_HEAD_STYLE}">{_GAP if j is None else j}</th>' for j in columns)
    has_labels = array.ndim == 2
    lines = [f"<tr>{'<th></th>' if has_labels else ''}{head}</tr>"] if array.ndim else []
    for i in rows:
        cells = [_GAP if i is None or j is None else escape(_number(matrix[i, j])) for j in columns]
        label = f'<th style="{_HEAD_STYLE}">{_GAP if i is None else i}</th>' if has_labels else ""
        line = "".join(f'<td style="{_NUMBER_STYLE}">{cell}</td>' for cell in cells)
        lines.append(f"<tr>{label}{line}</tr>")
    return f'<table style="border-collapse:collapse">{"".join(lines)}</table>'


def text_table(rows: Sequence[Sequence[str]], sides: Sequence[str], has_head: bool, title: str = "") -> str:
    """Format rows of strings as a table.

    Args:
        rows: the rows.
        sides: alignment of each column: ``"<"`` for left, ``">"`` for right.
        has_head: whether the first row is a header.
        title: caption of the table.

    >>> from mindgrad.core.base.html import text_table
    >>> text_table([["line", "bytes"], ["y = x * x", "8"]], "<>", has_head=True).count("</th>")
    2
    """
    lines = []
    for number, row in enumerate(rows):
        tag, weight = ("th", ";font-weight:bold") if has_head and not number else ("td", "")
        styles = [
            f"text-align:{'right;white-space:nowrap' if side == '>' else 'left'};padding:1px 8px{weight}"
            for side in sides
        ]
        cells = [
            f'<{tag} style="{style}">{escape(text)}</{tag}>' for style, text in zip(styles, row, strict=True)
        ]
        lines.append(f"<tr>{''.join(cells)}</tr>")
    caption = (
        f'<caption style="text-align:left;padding:1px 8px;{_FAINT}">{escape(title)}</caption>'
        if title
        else ""
    )
    return f'<table style="border-collapse:collapse;margin:6px 0">{caption}{"".join(lines)}</table>'


def tree_html(nodes: Iterable[tuple[int, str, str]]) -> str:
    """Format nodes ``(depth, label, description)`` as an indented table.

    If there are too many nodes, only the first are shown.
    """
    listed: Sequence[tuple[int, str, str]] = list(nodes)
    rows = [
        f'<tr><td style="text-align:left;padding-left:{4 + 18 * depth}px">{escape(label)}</td>'
        f'<td style="text-align:left;{_FAINT};padding-left:12px">{escape(description)}</td></tr>'
        for depth, label, description in listed[:_MOST_NODES]
    ]
    if len(listed) > _MOST_NODES:
        rows.append(f"<tr><td>… {len(listed) - _MOST_NODES} more</td></tr>")
    return f'<table style="border-collapse:collapse">{"".join(rows)}</table>'
