"""``draw``: a figure of a function and its derivative, one row per source line.

The left half shows the operators of each line, and values flow downwards from line to line. The right half
shows the derivative of the same line. Derivatives flow upwards in reverse mode and downwards in forward mode.
Stored residuals cross from left to right.

Operators that the compiler adds belong to the line whose values they use. Rows are grouped by function or
Cell. If the figure has too many rows, Cells of one class share their rows. If that is not enough, lines are
merged into blocks, then into functions, and finally into files.

Drawing traces the function once. It needs Matplotlib (``pip install mindgrad[examples]``).
"""

from __future__ import annotations

import io
import itertools
import os
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from importlib import import_module
from typing import Any, NamedTuple

from mindgrad.api.arguments import check_callable
from mindgrad.core.ir.graph import DerivativeOf, Equation, Graph
from mindgrad.core.ir.inner_programs import inner_programs
from mindgrad.core.primitives.structural import broadcast_in_dim
from mindgrad.inspect.line_labels import OWN, described, function_of
from mindgrad.inspect.pictures import check_picture
from mindgrad.inspect.row_order import sorted_rows
from mindgrad.inspect.traced_program import traced_derivative

__all__ = ["Drawing", "draw"]

#: maximum number of rows of a figure. If there are more, rows are merged: one row for each block of lines,
#: function, or file
_MOST_ROWS = 40
#: maximum number of characters in a box; longer lists of operators and result types are shortened
_COLUMNS = 104

#: name of the broadcast operator. Because most arithmetic contains it, a box lists it only if its line has no
#: other operator
_UNSAID = broadcast_in_dim.name

Source = tuple[str, int]


class _Box(NamedTuple):
    """One half of a row: the operators of a line, or the operators of its derivative."""

    row: int
    is_derivative: bool


class _Row:
    """A source line, or a block of lines, a function or a file.

    Attributes that are pairs have one entry for the values and one for the derivative.

    Attributes:
        label: the text of the line, or the name of the function or file.
        group: the function or Cell that contains the line.
        operators: maps names of operators to their numbers in this row.
        reads: the names of the arguments and Parameters that the operators use.
        results: types of the values of this row that other rows use.
        is_pullback: whether the line is in a derivative rule that the user has written.
    """

    def __init__(self, label: str, group: str) -> None:
        self.label = label
        self.group = group
        self.is_pullback = False
        self.operators: tuple[Counter[str], Counter[str]] = (Counter(), Counter())
        self.reads: tuple[dict[str, None], dict[str, None]] = ({}, {})
        self.results: tuple[dict[str, None], dict[str, None]] = ({}, {})


class Drawing:
    """The result of :func:`draw`.

    Args:
        title (str): title of the figure.
        graph (Graph): the traced program.
        inputs (list of str): names of the inputs of the program.
        outputs (list of str, optional): known names of the outputs of the program. Default: ``()``.

    Attributes:
        title (str): title of the figure.
        rows (int): number of rows of the figure.
        folding (str): unit of a row: ``"line"``, ``"block of lines"``, ``"function"``, or ``"file"``.
    """

    def __init__(self, title: str, graph: Graph, inputs: Sequence[str], outputs: Sequence[str] = ()) -> None:
        self.title = title
        self._inputs = inputs
        self._outputs = outputs
        self._blocks: dict[Source, tuple[int, int]] = {}
        foldings = [
            ("line", True),
            ("line", False),
            *[(x, False) for x in ("block of lines", "function", "file")],
        ]
        for folding, has_cells in foldings:
            self.folding, self._has_cells = folding, has_cells
            self._layout(graph)
            if len(self._rows) <= _MOST_ROWS:
                break
            if folding == "line":
                self._divide()
        self.rows = len(self._rows)

    def __repr__(self) -> str:
        return f"<drawing of {self.title}: {self.size}>"

    @property
    def size(self) -> str:
        """Return the number of rows and their unit as a string."""
        return f"{self.rows} row{'s' * (self.rows != 1)}, one for each {self.folding}"

    def svg(self) -> str:
        """Return the figure as SVG."""
        buffer = io.StringIO()
        self._figure(lambda figure: figure.savefig(buffer, format="svg"))
        return buffer.getvalue()

    def _repr_svg_(self) -> str:
        """Return the SVG element that a notebook displays."""
        text = self.svg()
        return text[text.index("<svg") :]

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the figure to a file.

        Args:
            path (str or PathLike): file name that ends in ``.svg``, ``.png``, or ``.pdf``.

        Raises:
            ValueError: If ``path`` has another ending.
        """
        check_picture("draw", path)
        self._figure(lambda figure: figure.savefig(path, dpi=150))

    # -- rows and arrows of the figure ----------------------------------------------------------

    def _layout(self, graph: Graph) -> None:
        self._rows: list[_Row] = []
        self._places: dict[Any, int] = {}
        self._arrows: Counter[tuple[_Box, _Box]] = Counter()
        self._feeds: dict[_Box, dict[str, None]] = {}
        origins: dict[Any, Any] = dict(zip(graph.inputs, self._inputs, strict=True))
        self._walk(graph, origins)
        names = itertools.chain(self._outputs, itertools.repeat(""))
        for y, name in zip(graph.outputs, names, strict=False):
            box = origins.get(y)
            if isinstance(box, _Box):
                self._feeds.setdefault(box, {})[name or repr(y.type)] = None
        self._sort()

    @property
    def _has_lines(self) -> bool:
        """Whether each row shows a line, not a function or file."""
        return self.folding in ("line", "block of lines")

    def _sort(self) -> None:
        """Sort the rows by data flow, and the rows of one function or Cell by line number.

        The equations are not in this order, because rewrites move some of them. For example, the constants of
        all layers come before the first layer.
        """
        keys = list(self._places)
        places: list[Any] = [
            None if key is None else key if self._has_lines else n for n, key in enumerate(keys)
        ]
        order = sorted_rows(places, [row.group for row in self._rows], self._predecessors(places))
        ranks = {number: rank for rank, number in enumerate(order)}
        self._rows = [self._rows[number] for number in order]
        self._places = {keys[number]: rank for rank, number in enumerate(order)}
        arrows = {
            (a._replace(row=ranks[a.row]), b._replace(row=ranks[b.row])): n
            for (a, b), n in self._arrows.items()
        }
        self._arrows = Counter(arrows)
        self._feeds = {box._replace(row=ranks[box.row]): feeds for box, feeds in self._feeds.items()}
        self.is_reverse = 2 * sum(a.row < b.row for a, b in self._derivatives()) <= len(self._derivatives())

    def _predecessors(self, places: Sequence[Any]) -> list[set[int]]:
        """Return for each row the numbers of the rows that must come before it.

        These are the rows whose values the row uses. If one of two rows has no values, the derivatives
        decide, in the order of reverse or forward mode.
        """
        before: list[set[int]] = [set() for _ in places]
        derivatives = self._derivatives()
        within = [
            (places[a.row], places[b.row])
            for a, b in derivatives
            if self._rows[a.row].group == self._rows[b.row].group
        ]
        is_reverse = 2 * sum(a is not None and b is not None and a < b for a, b in within) <= len(within)
        for a, b in self._arrows:
            if not (a.is_derivative or b.is_derivative):
                before[b.row].add(a.row)
        for a, b in derivatives:
            if not (self._rows[a.row].operators[0] and self._rows[b.row].operators[0]):
                first, second = (b, a) if is_reverse else (a, b)
                before[second.row].add(first.row)
        return [{n for n in rows if places[n] is not None} for rows in before]

    def _derivatives(self) -> list[tuple[_Box, _Box]]:
        return [(a, b) for a, b in self._arrows if a.is_derivative and b.is_derivative]

    def _divide(self) -> None:
        """Merge neighboring lines of each function into blocks, `_MOST_ROWS` in total."""
        functions: dict[tuple[str, str], set[Source]] = {}
        self._blocks.clear()
        for source in self._places:
            if source is not None and not self._has_cells:
                functions.setdefault((source[0], function_of(source)), set()).add(source)
        size = -(-len(self._places) // max(1, _MOST_ROWS - len(functions)))
        for sources in functions.values():
            lines = sorted(sources)
            for start in range(0, len(lines), size):
                block = lines[start : start + size]
                self._blocks.update((source, (block[0][1], block[-1][1])) for source in block)

    def _walk(self, graph: Graph, origins: dict[Any, Any]) -> None:
        """Add the equations of a graph to the rows, and connect them by arrows.

        Args:
            graph: the program, or a program inside one of its equations.
            origins: for each value, the box that computes it, or the name of the input.
        """
        for equation in graph.equations:
            box = self._owner(equation, origins) or self._box(equation)
            row = self._rows[box.row]
            row.operators[box.is_derivative].update([equation.primitive.name])
            for x in equation.inputs:
                origin = origins.get(x)
                if isinstance(origin, str):
                    row.reads[box.is_derivative][origin] = None
                elif origin is not None and origin != box:
                    self._arrows[origin, box] += 1
                    start = self._rows[origin.row]
                    start.results[origin.is_derivative][repr(x.type)] = None
            origins.update((y, box) for y in equation.outputs)
            for inner, operands in _inner(equation):
                within: dict[Any, Any] = {
                    v: origins[x] for v, x in zip(inner.inputs, operands, strict=False) if x in origins
                }
                self._walk(inner, within)
                results = zip(equation.outputs, inner.outputs, strict=False)
                origins.update((y, within[z]) for y, z in results if isinstance(within.get(z), _Box))

    def _owner(self, equation: Equation, origins: dict[Any, Any]) -> _Box | None:
        """Choose the box of an equation that the compiler has added without a source line.

        The result is the box that computes all inputs of the equation, or ``None`` if several boxes compute
        these inputs.
        """
        if (equation.source and equation.source[0]) or equation.primitive.inner.iteration is not None:
            return None
        boxes = {box for x in equation.inputs if isinstance(box := origins.get(x), _Box)}
        return boxes.pop() if len(boxes) == 1 else None

    def _box(self, equation: Equation) -> _Box:
        source = equation.source
        is_pullback = equation.primitive.inner.iteration is not None
        is_rule = getattr(source, "is_pullback", False)
        is_derivative = type(source) is DerivativeOf or is_pullback or is_rule
        line: Source = ("", 0) if source is None else tuple(source)  # type: ignore[assignment]
        key, label, group = described(line, self.folding)
        cell = getattr(source, "cell", "")
        if cell and self._has_cells:
            key, group = (*line, cell), cell
        if self.folding == "block of lines" and line in self._blocks:
            first, last = self._blocks[line]
            key, label = (line[0], first), f"lines {first} to {last}" if last > first else label
        if key not in self._places:
            self._places[key] = len(self._rows)
            self._rows.append(_Row(label, group))
        self._rows[self._places[key]].is_pullback |= is_rule
        return _Box(self._places[key], is_derivative)

    # -- drawing and printing -------------------------------------------------------------------

    def _figure(self, write: Callable[[Any], None]) -> None:
        try:
            pyplot = import_module("matplotlib.pyplot")
        except ModuleNotFoundError as error:
            raise ModuleNotFoundError(
                "For 'draw', matplotlib is needed: pip install matplotlib.", name="matplotlib"
            ) from error
        has_derivative = any(row.operators[1] for row in self._rows)
        width = 13.4 if has_derivative else 7.9
        height = 1.0 + 0.62 * max(self.rows, 1)
        with pyplot.rc_context({"svg.fonttype": "none", "font.family": "DejaVu Sans"}):
            figure = pyplot.figure(figsize=(width, height))
            try:
                axes = figure.add_axes((0, 0, 1, 1))
                axes.set(xlim=(0, width), ylim=(-height + 0.9, 0.9))
                axes.axis("off")
                _Picture(axes, self, has_derivative, width).draw()
                write(figure)
            finally:
                pyplot.close(figure)


class _Picture:
    """The boxes, arrows and labels on the axes of a Matplotlib figure."""

    values, derivatives, residual = "#2f6db3", "#c8641e", "#8a8a8a"
    step = 0.62

    def __init__(self, axes: Any, drawing: Drawing, has_derivative: bool, width: float) -> None:
        self.axes = axes
        self.drawing = drawing
        self.has_derivative = has_derivative
        self.box_width = 5.4
        self.left = (1.7, width - self.box_width - 0.45)

    def draw(self) -> None:
        rows = self.drawing._rows
        self.axes.text(0.15, 0.62, self.drawing.title, fontsize=11, weight="bold", va="center")
        left, right = self.left if self.has_derivative else (self.left[0], 0.0)
        heads = [(left, "values ↓", self.values, "left")]
        if self.has_derivative:
            arrow = "↑" if self.drawing.is_reverse else "↓"
            heads.append((right, f"derivatives {arrow}", self.derivatives, "left"))
        if any(b.is_derivative and not a.is_derivative for a, b in self.drawing._arrows):
            heads.append((left + self.box_width, "residuals →", self.residual, "right"))
        for x, text, color, alignment in heads:
            self.axes.text(x, 0.3, text, fontsize=9, color=color, va="center", ha=alignment)
        self._groups(rows)
        for (start, end), _ in self.drawing._arrows.items():
            self._arrow(start, end)
        for number, row in enumerate(rows):
            for side in (0, 1):
                if row.operators[side]:
                    self._box(number, row, side)

    def _groups(self, rows: Sequence[_Row]) -> None:
        """Draw a colored background for the rows of each function, with its name."""
        start = 0
        for number in range(1, len(rows) + 1):
            if number < len(rows) and rows[number].group == rows[start].group:
                continue
            top, bottom = -start * self.step + 0.1, -(number - 1) * self.step - 0.5
            shade = "#f4f4f1" if start % 2 == 0 else "#ececE6"
            right = self.left[1 if self.has_derivative else 0] + self.box_width + 0.3
            self.axes.add_patch(
                _patches().Rectangle((0.1, bottom), right - 0.1, top - bottom, color=shade, lw=0)
            )
            self.axes.text(
                0.16,
                (top + bottom) / 2,
                _shortened(rows[start].group, 21, keeps_end="." in rows[start].group),
                fontsize=7,
                va="center",
                color="#444444",
            )
            start = number

    def _box(self, number: int, row: _Row, side: int) -> None:
        color = self.derivatives if side else self.values
        x, y = self.left[side], -number * self.step
        self.axes.add_patch(
            _patches().FancyBboxPatch(
                (x, y - 0.43), self.box_width, 0.42, boxstyle="round,pad=0.02,rounding_size=0.05", fc="white",
                ec=color, lw=1.1, zorder=3,
            )
        )  # fmt: skip
        is_own = row.label == OWN or row.is_pullback
        label = f"derivative of {row.label}" if side and not is_own else row.label
        self._text(x + 0.08, y - 0.13, _shortened(label, 78), 7.5, "#111111", "monospace")
        self._text(x + 0.08, y - 0.31, self._detail(number, row, side), 6.5, color, None)

    def _detail(self, number: int, row: _Row, side: int) -> str:
        counts = {name: count for name, count in row.operators[side].items() if name != _UNSAID}
        counts = counts or dict(row.operators[side])
        does = ", ".join(f"{count} {name}" if count > 1 else name for name, count in counts.items())
        if row.reads[side]:
            does += "  of " + ", ".join(x.removeprefix(f"{row.group}.") for x in row.reads[side])
        results, feeds = [*row.results[side]], self.drawing._feeds.get(_Box(number, bool(side)), {})
        gives = ""
        if results:
            gives += "  → " + ", ".join(results[:3]) + (", …" if len(results) > 3 else "")
        if feeds:
            gives += "  ⇒ " + ", ".join(feeds)
        gives = _shortened(gives, _COLUMNS // 2)
        return _shortened(does, _COLUMNS - len(gives)) + gives

    def _text(self, x: float, y: float, text: str, size: float, color: str, family: str | None) -> None:
        escaped = text.replace("$", r"\$")
        self.axes.text(x, y, escaped, fontsize=size, color=color, family=family, va="center", zorder=4)

    def _arrow(self, start: _Box, end: _Box) -> None:
        sides = int(start.is_derivative), int(end.is_derivative)
        y0, y1 = -start.row * self.step - 0.21, -end.row * self.step - 0.21
        if sides[0] != sides[1]:
            x0 = self.left[sides[0]] + (0 if sides[0] else self.box_width)
            x1 = self.left[sides[1]] + (0 if sides[1] else self.box_width)
            self._line((x0, y0), (x1, y1), self.residual, "arc3,rad=0", 0.7)
            return
        side = sides[0]
        color = self.derivatives if side else self.values
        if abs(start.row - end.row) == 1:
            x = self.left[side] + 0.6 + (0.25 if y1 > y0 else 0.0)
            gap = 0.21 if y1 < y0 else -0.21
            self._line((x, y0 - gap), (x, y1 + gap), color, "arc3,rad=0", 1.2)
            return
        x = self.left[side] + (self.box_width if side else 0)
        bend = min(0.35, 1.4 / max(abs(start.row - end.row), 1))
        is_outwards = (y1 < y0) == (side == 0)
        self._line((x, y0), (x, y1), color, f"arc3,rad={bend if is_outwards else -bend:.3f}", 0.9)

    def _line(self, start: Any, end: Any, color: str, style: str, width: float) -> None:
        self.axes.add_patch(
            _patches().FancyArrowPatch(
                start, end, arrowstyle="-|>", mutation_scale=7, color=color, lw=width, connectionstyle=style,
                shrinkA=0, shrinkB=0, zorder=2, alpha=0.8,
            )
        )  # fmt: skip


def _shortened(text: str, columns: int, keeps_end: bool = False) -> str:
    if len(text) <= columns:
        return text
    return "…" + text[1 - columns :] if keeps_end else text[: columns - 1] + "…"


def _patches() -> Any:
    return import_module("matplotlib.patches")


def _inner(equation: Equation) -> Iterator[tuple[Graph, Sequence[Any]]]:
    """Yield the graphs inside an equation, each with the values of its inputs."""
    if equation.primitive.inner.iteration is not None:
        yield equation.primitive.inner.iteration(equation)
    else:
        yield from ((inner.graph, inner.operands) for inner in inner_programs(equation))


def draw(fn: Callable[..., Any], *args: Any, order: int = 0, rewrites: bool = True, **kwargs: Any) -> Drawing:
    """Draw a function and its derivative side by side, one row per source line.

    Args:
        fn (Callable or Cell): function to draw: a function, Cell, gradient function such as
            ``value_and_grad(net)``, or compiled function.
        *args (Any): positional arguments of ``fn``.
        order (int, optional): order of the drawn derivative of ``fn`` with respect to its first argument; 0
            for ``fn`` itself. Default: ``0``.
        rewrites (bool, optional): whether to draw the program after the compiler's rewrites. ``False``: draw
            the program before them. Default: ``True``.
        **kwargs (Any): keyword arguments of ``fn``.

    Returns:
        Drawing: figure that a notebook displays. Its method ``save("net.svg")`` writes an SVG, PNG, or PDF
        file.

    Raises:
        TypeError: If ``fn`` is not callable.
        ValueError: If ``order`` is negative.
        ModuleNotFoundError: If Matplotlib is not installed when the figure is rendered.

    >>> import mindgrad as ms
    >>> def u(x):
    ...     h = ms.ops.tanh(x)
    ...     return (h * h).sum()
    >>> drawing = ms.draw(ms.value_and_grad(u), ms.Tensor([1.0, 2.0]))
    >>> drawing.rows, drawing.folding
    (2, 'line')

    See Also:
        :func:`mindgrad.explain`, :func:`mindgrad.source`
    """
    check_callable("draw", fn)
    program = traced_derivative("draw", fn, args, kwargs, order, rewrites)
    inputs = [*program.argument_paths, *[p.name for p in program.parameters]]
    outputs = [f"new {p.name}" for p in program.written] + [name or "" for name in program.result_names]
    return Drawing(program.title, program.graph, inputs, outputs)
