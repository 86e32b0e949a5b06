"""HTML for notebooks: pure functions from NumPy arrays and plain descriptions to bounded, escaped text.

Of a large tensor the first and last rows and columns are shown, and only these are read.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["array_table", "captioned", "text_table", "tree_html"]

_EDGE = 5  # rows and columns that are kept at each end
_LONGEST = 2 * _EDGE
_MOST_NODES = 200  # of a tree
#: of what is less important, on light and dark backgrounds
_FAINT = "opacity:.65"
_NUMBER_STYLE = "text-align:right;font-family:monospace;padding:1px 6px"
_HEAD_STYLE = f"text-align:right;{_FAINT};font-weight:normal;padding:1px 6px"
_GAP = "⋯"
#: the first one stands in the others
_ENTITIES = (("&", "&amp;"), ("<", "&lt;"), (">", "&gt;"), ('"', "&quot;"), ("'", "&#x27;"))


def escape(text: str) -> str:
    """Escape the characters of ``text`` that HTML reserves, without Python's table of entities."""
    for character, entity in _ENTITIES:
        text = text.replace(character, entity)
    return text


def captioned(caption: str, body: str = "") -> str:
    """``body``, which is HTML, below a caption, which is text."""
    return f"<div><div><code>{escape(caption)}</code></div>{body}</div>"


def _shown(length: int) -> list[int | None]:
    """The indices that are shown, ``None`` for a gap."""
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
    """A table of the elements of an array of up to two axes; NumPy's text of others.

    >>> import numpy as np
    >>> from mindgrad._base.html import array_table
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
    """A table of texts, in columns that ``sides`` aligns, ``"<"`` to the left and ``">"`` to the right.

    >>> from mindgrad._base.html import text_table
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
    """An indented table of nodes ``(depth, label, description)``, the first ones of many."""
    listed: Sequence[tuple[int, str, str]] = list(nodes)
    rows = [
        f'<tr><td style="text-align:left;padding-left:{4 + 18 * depth}px">{escape(label)}</td>'
        f'<td style="text-align:left;{_FAINT};padding-left:12px">{escape(description)}</td></tr>'
        for depth, label, description in listed[:_MOST_NODES]
    ]
    if len(listed) > _MOST_NODES:
        rows.append(f"<tr><td>… {len(listed) - _MOST_NODES} more</td></tr>")
    return f'<table style="border-collapse:collapse">{"".join(rows)}</table>'
