"""The result of ``explain``: applied rewrites and costs as text, JSON and HTML."""

from __future__ import annotations

import html
import json
import linecache
import os
import sys
import textwrap
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any, NamedTuple

from mindgrad.core.base.html import text_table
from mindgrad.core.control.trip_counts import runs
from mindgrad.core.ir.graph import DerivativeOf, Graph
from mindgrad.core.ir.rewriting import REWRITES
from mindgrad.inspect.cost import Cost, bytes_of, flops_of
from mindgrad.inspect.profile import Compilation

__all__ = ["Explanation", "Fired", "LineCost"]

#: maximum number of source lines in the table of costs; one row contains the sum of all further lines
_MOST_LINES = 12
#: maximum number of rewrites that the summary names. If there are more, it gives the number of the others
_MOST_NAMED = 3
#: if rewrites increase the number of operations by more than this factor, a note explains why
_MORE = 1.005
_PER_COORDINATE = (
    "More operations are expected for a gradient with respect to several coordinates: forward mode and "
    "Taylor series compute it one coordinate at a time. Fewer are expected for derivatives of order 2 and "
    "above with respect to one coordinate, and for Laplacians."
)
_OTHER_REASON = (
    "More operations are expected if a rewrite replaces slow operations, such as divisions, with a larger "
    "number of fast ones."
)


class Fired(NamedTuple):
    """A rewrite that was applied.

    Attributes:
        name: name of the rewrite.
        law: mathematical identity on which the rewrite is based.
        times: number of applications of the rewrite, including applications to intermediate programs.
    """

    name: str
    law: str
    times: int


class LineCost(NamedTuple):
    """The estimated work of one source line, or of its derivative, after rewrites.

    Attributes:
        file, line: file and number of the line; ``""`` and 0 for equations without a source line.
        is_derivative: whether the equations compute the derivative of the line.
        equations: number of equations.
        flops, bytes: arithmetic operations, and bytes read and written.
    """

    file: str
    line: int
    is_derivative: bool
    equations: int
    flops: int
    bytes: int

    @property
    def label(self) -> str:
        """Location and code of the line, such as ``train.py:12: h = ops.tanh(x)``."""
        if not self.file:
            return "derivative, no source line" if self.is_derivative else "no source line"
        text = linecache.getline(self.file, self.line).strip()
        text = text if len(text) <= 60 else text[:59] + "…"
        prefix = "derivative of " if self.is_derivative else ""
        return f"{prefix}{os.path.basename(self.file)}:{self.line}" + (f": {text}" if text else "")


@dataclass(frozen=True, repr=False)
class Explanation:
    """The result of ``explain``. ``print`` shows it as a table.

    Attributes:
        function: name of the function.
        fired: the applied rewrites, in the order of their first application.
        before: cost of the program without rewrites.
        after: cost of the program with rewrites, which is compiled.
        graph: the program with rewrites.
        graph_before: the program without rewrites.
        is_rewriting: whether rewrites are turned on in this process.
        eager: for each kind of call in PYNATIVE_MODE, a description of how the call runs, and the reason.
        names: names of the inputs of the program: arguments, then Parameters.
        compilations: the compilations of both programs by XLA; ``None`` if not requested.
    """

    function: str
    fired: tuple[Fired, ...]
    before: Cost
    after: Cost
    graph: Graph = field(compare=False)
    graph_before: Graph = field(compare=False)
    is_rewriting: bool = True
    eager: tuple[str, ...] = field(default=(), compare=False)
    names: tuple[str, ...] = field(default=(), compare=False)
    compilations: tuple[Compilation, Compilation] | None = field(default=None, compare=False)

    # -- summary and tables ---------------------------------------------------------------------

    @property
    def sentence(self) -> str:
        """Sentences that describe the first rewrites and their effect on the cost."""
        if not self.is_rewriting:
            return "Rewrites are turned off (MINDGRAD_OPT=0): the program is compiled as it was written."
        if not self.fired:
            return "No rewrite applies: the program is compiled as it was written."
        deeds = [REWRITES[each.name].words or f"the rewrite '{each.name}' is applied" for each in self.fired]
        if len(deeds) > _MOST_NAMED:
            deeds[_MOST_NAMED:] = [f"{len(deeds) - _MOST_NAMED} further rewrites are applied"]
        text = " ".join(f"{deed[0].upper()}{deed[1:]}." for deed in deeds)
        return f"{text} Compared with the function without rewrites: {', '.join(self._savings())}."

    def _savings(self) -> list[str]:
        savings = [
            _saving(self.before.flops, self.after.flops, "operations"),
            _saving(self.before.bytes, self.after.bytes, "bytes read and written"),
        ]
        if self.compilations is not None:
            without, used = self.compilations
            savings.append(_saving(without.temporary_bytes, used.temporary_bytes, "temporary memory"))
        return savings

    def lines(self) -> list[LineCost]:
        """List the work of each source line, most expensive first."""
        costs: dict[tuple[str, int, bool], list[int]] = {}
        for run in runs(self.graph):
            source = run.equation.source
            file, line = ("", 0) if source is None else source
            entry = costs.setdefault((file, line, type(source) is DerivativeOf), [0, 0, 0])
            entry[0] += 1
            entry[1] += run.times * flops_of(run.equation)
            entry[2] += run.times * bytes_of(run.equation)
        listed = [LineCost(*key, *numbers) for key, numbers in costs.items()]
        return sorted(listed, key=lambda cost: (-cost.flops, -cost.bytes))

    def tables(self) -> list[tuple[str, Sequence[str], list[tuple[str, ...]]]]:
        """List the tables: title, alignment of the columns, and rows.

        If the first cell of the first row is empty, this row is the header.
        """
        costs = [
            ("", "without rewrites", "as compiled", "ratio"),
            _row("equations", self.before.equations, self.after.equations, str),
            _row("operations", self.before.flops, self.after.flops, _short),
            _row("bytes", self.before.bytes, self.after.bytes, _short),
        ]
        if self.compilations is not None:
            costs += _compiled_rows(*self.compilations)
        tables: list[tuple[str, Sequence[str], list[tuple[str, ...]]]] = [("", "<>>>", costs)]
        if self.fired:
            rewrites: list[tuple[str, ...]] = [
                (each.name, f"{each.times} ×", each.law) for each in self.fired
            ]
            tables.append(("rewrites", "<><", rewrites))
        listed = self.lines()
        if len(listed) > 1:
            rows = [(cost.label, _short(cost.flops), _short(cost.bytes)) for cost in listed[:_MOST_LINES]]
            if len(listed) > _MOST_LINES:
                rest = listed[_MOST_LINES:]
                flops, moved = sum(cost.flops for cost in rest), sum(cost.bytes for cost in rest)
                rows.append((f"{len(rest)} further lines", _short(flops), _short(moved)))
            tables.append(("lines", "<>>", [("", "operations", "bytes"), *rows]))
        return tables

    def _notes(self) -> list[str]:
        notes = []
        if not (self.before.is_known and self.after.is_known):
            notes.append("A loop whose number of iterations depends on the data is counted as one iteration.")
        if self.after.flops <= _MORE * self.before.flops:
            return notes
        fired = {each.name for each in self.fired}
        is_per_coordinate = "series" in fired or ("diagonal" in fired and "columns" not in fired)
        reason = _PER_COORDINATE if is_per_coordinate else _OTHER_REASON
        return [*notes, f"{reason} Compare run times with MINDGRAD_OPT=0."]

    # -- output as text, JSON, and HTML ---------------------------------------------------------

    def table(self, graph: bool = False) -> str:
        """Format the explanation as text.

        Args:
            graph (bool, optional): whether to append the program with rewrites. Default: ``False``.
        """
        lines = textwrap.wrap(f"{self.function}: {self.sentence}", 110)
        for title, sides, rows in self.tables():
            lines += ["", *([title] if title else []), *_columns(rows, sides)]
        for note in self._notes():
            lines += ["", *textwrap.wrap(note, 110)]
        if self.eager:
            lines += ["", "eager mode", *self.eager]
        if graph:
            lines += ["", self.graph.text(self.names)]
        return "\n".join(lines)

    def __str__(self) -> str:
        return self.table()

    __repr__ = __str__

    def json(self) -> str:
        """Format the explanation as JSON, with costs, rewrites, lines and compilations."""
        compilations = self.compilations
        return json.dumps(
            {
                "function": self.function,
                "sentence": self.sentence,
                "before": vars(self.before),
                "after": vars(self.after),
                "rewrites": [each._asdict() for each in self.fired],
                "lines": [cost._asdict() | {"label": cost.label} for cost in self.lines()],
                "compiled": None if compilations is None else [each._asdict() for each in compilations],
                "inputs": list(self.names),
            },
            indent=2,
        )

    def show(self) -> None:
        """Print the explanation, in color on a terminal if `rich` is installed."""
        if sys.stdout.isatty():
            try:
                import_module("rich").print(self)
                return
            except ModuleNotFoundError:
                pass
        print(self)

    def __rich__(self) -> Any:
        group, table_of, text_of = (
            getattr(import_module(module), name)
            for module, name in (("rich.console", "Group"), ("rich.table", "Table"), ("rich.text", "Text"))
        )
        parts: list[Any] = [text_of.assemble((f"{self.function}: ", "bold"), self.sentence)]
        for title, sides, rows in self.tables():
            has_head = rows[0][0] == ""
            table = table_of(title=title or None, title_justify="left", show_header=has_head)
            for k, side in enumerate(sides):
                table.add_column(
                    rows[0][k] if has_head else "",
                    justify="right" if side == ">" else "left",
                    overflow="fold",
                )
            for row in rows[1:] if has_head else rows:
                table.add_row(*[text_of(text) for text in row])
            parts.append(table)
        parts += [text_of(note, style="italic") for note in [*self._notes(), *self.eager]]
        return group(*parts)

    def _repr_html_(self) -> str:
        """Format the explanation for a notebook."""
        parts = [f"<p><b>{html.escape(self.function)}</b>: {html.escape(self.sentence)}</p>"]
        for title, sides, rows in self.tables():
            parts.append(text_table(rows, sides, has_head=rows[0][0] == "", title=title))
        parts += [f"<p><i>{html.escape(note)}</i></p>" for note in [*self._notes(), *self.eager]]
        return "\n".join(parts)


def _saving(before: float, after: float, quantity: str) -> str:
    """Describe a change by a factor, such as ``1.3× fewer operations``."""
    is_mass = quantity.endswith("memory")
    if before == after:
        return f"the same {quantity}" if is_mass else f"the same number of {quantity}"
    if not after:
        return f"no {quantity}"
    if not before:
        return f"{_short(after)} more {quantity}"
    ratio = max(before / after, after / before)
    if ratio < _MORE:
        return f"about the same {quantity}" if is_mass else f"about the same number of {quantity}"
    factor = f"{ratio:.2f}" if ratio < 1.1 else f"{ratio:.1f}" if ratio < 9.95 else f"{ratio:.0f}"
    if after < before:
        return f"{factor}× {'less' if is_mass else 'fewer'} {quantity}"
    return f"{factor}× as {'much' if is_mass else 'many'} {quantity}"


def _compiled_rows(without: Compilation, used: Compilation) -> list[tuple[str, ...]]:
    rows = [
        _row("XLA: seconds to compile", without.seconds, used.seconds, lambda x: f"{x:.2f}"),
        _row("XLA: memory of a call", without.temporary_bytes, used.temporary_bytes, _short),
    ]
    if without.flops is not None and used.flops is not None:
        rows.append(_row("XLA: operations", without.flops, used.flops, _short))
    if without.bytes is not None and used.bytes is not None:
        rows.append(_row("XLA: bytes", without.bytes, used.bytes, _short))
    nothing = (0, 0)
    for kind in sorted({*without.collectives, *used.collectives}):
        before, after = without.collectives.get(kind, nothing), used.collectives.get(kind, nothing)
        rows.append(_row(f"XLA: {kind}", before[0], after[0], str))
        rows.append(_row(f"XLA: bytes of {kind}", before[1], after[1], _short))
    return rows


def _row(name: str, before: float, after: float, shown: Callable[[Any], str]) -> tuple[str, ...]:
    change = f"{after / before:.2f} ×" if before and after != before else ""
    return name, shown(before), shown(after), change


def _short(number: float) -> str:
    """Format a number with three digits and a metric prefix: ``4.72 G``."""
    value, unit = float(number), ""
    for unit in ("", "k", "M", "G", "T", "P"):
        if value < 999.5 or unit == "P":
            break
        value /= 1000
    return f"{value:.3g} {unit}".rstrip()


def _columns(rows: list[tuple[str, ...]], sides: Sequence[str]) -> list[str]:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return [
        (
            "  "
            + "  ".join(f"{text:{side}{width}}" for text, side, width in zip(row, sides, widths, strict=True))
        ).rstrip()
        for row in rows
    ]
