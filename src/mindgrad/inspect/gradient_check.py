"""The result of ``check_grad``: a table of derivatives and finite differences."""

from __future__ import annotations

import importlib
import math
import shutil
import sys
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass, field
from html import escape
from typing import Any

import numpy as np

from mindgrad.core.base.html import captioned, text_table
from mindgrad.inspect.pictures import check_picture

__all__ = ["Comparison", "GradientCheck", "aligned"]

_HEADER = (
    "argument", "type", "order", "mode", "checked", "verdict", "worst entry", "derivative", "difference",
    "error", "step", "by",
)  # fmt: skip
#: line style of each mode in a plot, such that both lines are visible if they coincide
_MARKERS = {"forward": "o-", "reverse": "x--"}
#: columns that are omitted on a narrow terminal, in the order in which they are omitted
_OMITTED = ("by", "step", "checked", "type", "error")
_SIDES = "<<><<<<>>>><"
#: column -> its explanation below the table
_LEGEND = {
    "worst entry": "worst entry: the entry with the worst verdict or error, in the columns to its right",
    "by": "by: method of the difference",
}


@dataclass(frozen=True)
class Comparison:
    """Derivatives with respect to one argument in one mode, and the differences.

    The *worst entry* is the derivative with the most serious verdict, and among these with the largest error
    relative to the allowed error.

    Attributes:
        argument: name of the argument or Parameter.
        type: dtype and shape of the argument.
        order: 1 for the derivative of the function, 2 for the derivative of its gradient.
        mode: ``"forward"``, ``"reverse"``, or ``""`` for an argument that is not differentiated.
        checked: number of entries or of random directions, in words.
        verdict: the most serious verdict of all entries, one of these strings:

            - ``"ok"``: the derivatives match the differences.
            - ``"nondifferentiable"``: the one-sided slopes differ, and the derivative is one of them or
              between them. Also at a jump, or at the boundary of the domain.
            - ``"unclear"``: the differences do not converge.
            - ``"wrong"``: the derivatives do not match the differences.
            - ``"constant"``: the argument is not differentiated.
        index: element of the argument and element of the result at the worst entry.
        derivative, difference: derivative and finite difference at the worst entry.
        error: distance between ``derivative`` and ``difference``.
        step: step size of the difference at the worst entry.
        by: method of the difference: ``"central difference"`` or ``"complex step"``.
        remark: sentences about nondifferentiable points, jumps, and boundaries of the domain, or ``""``.
        steps, errors: all step sizes, and the error of the worst entry at each.
    """

    argument: str
    type: str
    order: int
    mode: str
    checked: str
    verdict: str
    index: str = ""
    derivative: float = 0.0
    difference: float = 0.0
    error: float = 0.0
    step: float = 0.0
    by: str = ""
    remark: str = ""
    steps: np.ndarray = field(default_factory=lambda: np.zeros(0), repr=False, compare=False)
    errors: np.ndarray = field(default_factory=lambda: np.zeros(0), repr=False, compare=False)

    def _row(self) -> tuple[str, ...]:
        label = (self.argument, self.type)
        if not self.mode:
            return (*label, "", "", self.checked, self.verdict, "", "", "", "", "", "")
        numbers = (
            f"{self.derivative:.8g}",
            f"{self.difference:.8g}",
            f"{self.error:.1e}",
            f"{self.step:.1e}",
        )
        return (*label, str(self.order), self.mode, self.checked, self.verdict, self.index, *numbers, self.by)


@dataclass(frozen=True, repr=False)
class GradientCheck:
    """The result of :func:`mindgrad.check_grad`. ``print`` shows it as a table.

    Attributes:
        function: name of the function.
        rows: one :class:`Comparison` for each argument, Parameter, order and mode.
        precision: dtype in which the differences were computed.
    """

    function: str
    rows: tuple[Comparison, ...]
    precision: str

    @property
    def ok(self) -> bool:
        """Whether all verdicts are ``"ok"``, ``"nondifferentiable"``, or ``"constant"``."""
        return all(row.verdict not in ("wrong", "unclear") for row in self.rows)

    def __bool__(self) -> bool:
        return self.ok

    def __str__(self) -> str:
        return self._text(())

    __repr__ = __str__

    def _text(self, omitted: Sequence[str]) -> str:
        """Format the table without the columns ``omitted``."""
        lines = [f"{self.function}: {self._summary()} (computed in {self.precision})"]
        slots = [k for k, head in enumerate(_HEADER) if head not in omitted]
        rows = [tuple([row[k] for k in slots]) for row in (_HEADER, *[row._row() for row in self.rows])]
        table = aligned(rows, "".join(_SIDES[k] for k in slots))
        legend = _legend([head for head in _HEADER if head in table[0] and head not in omitted])
        width = max(60, *map(len, table))
        lines += [*table, *textwrap.wrap(legend, width, initial_indent="  ", subsequent_indent="  ")]
        return "\n".join([*lines, *self._remarks()])

    def _summary(self) -> str:
        verdicts = {row.verdict for row in self.rows}
        if "wrong" in verdicts:
            return "DERIVATIVES DO NOT MATCH finite differences"
        if "unclear" in verdicts:
            return "UNCLEAR, because finite differences do not converge"
        exception = ", except at nondifferentiable points" if "nondifferentiable" in verdicts else ""
        return f"derivatives match finite differences{exception}"

    def show(self) -> None:
        """Print the table. A narrow terminal omits the least important columns."""
        columns = shutil.get_terminal_size().columns if sys.stdout.isatty() else math.inf
        for count in range(len(_OMITTED) + 1):
            text = self._text(_OMITTED[:count])
            if max(len(line) for line in text.splitlines() if line.startswith("  ")) <= columns:
                break
        print(text)

    def _repr_html_(self) -> str:
        rows, sides = _filled([_HEADER, *[row._row() for row in self.rows]], _SIDES)
        title, *_ = str(self).splitlines()
        legend = _legend(rows[0])
        remarks = "".join(f"<div>{escape(remark)}</div>" for remark in (legend, *self._remarks()) if remark)
        return captioned(title, text_table(rows, sides, has_head=True) + remarks)

    def _remarks(self) -> list[str]:
        return list(dict.fromkeys(f"{row.argument}: {row.remark}" for row in self.rows if row.remark))

    def plot(self, path: Any) -> None:
        """Plot the error of the worst entry of each row against the step size.

        The error of a correct derivative decreases with the square of the step, down to the rounding error of
        the derivative or of the difference. The error of a wrong derivative is constant and far above the
        rounding error.

        Args:
            path: name of the image file. Its suffix selects the format: ``.png``, ``.svg``, or ``.pdf``.

        Raises:
            ImportError: If Matplotlib is not installed.
            ValueError: If ``path`` has another suffix.
        """
        check_picture("plot", path)
        try:
            figures = importlib.import_module("matplotlib.figure")
        except ImportError:
            raise ImportError(
                "'plot' needs matplotlib, which is not installed; install it: pip install matplotlib."
            ) from None
        figure = figures.Figure(figsize=(7, 4.5), layout="constrained")
        axes = figure.add_subplot()
        axes.set(xscale="log", yscale="log")
        levels = []
        for row in self.rows:
            is_drawn = np.isfinite(row.errors)
            if not is_drawn.any():
                continue
            rounding = np.finfo(np.float64).eps * (abs(row.derivative) or 1.0)
            errors = np.maximum(row.errors[is_drawn], rounding)
            levels += [rounding, abs(row.derivative), *errors]
            axes.plot(
                row.steps[is_drawn], errors, _MARKERS[row.mode], markersize=9, fillstyle="none",
                label=f"{row.argument}, order {row.order}, {row.mode}: {row.verdict}",
            )  # fmt: skip
        if levels:  # also plot the rounding errors: the error of a wrong derivative is far above them
            axes.set_ylim(min(levels) / 4, 4 * max(levels))
        axes.set(
            title=f"Derivatives of {self.function}, worst entries",
            xlabel="step size of the central difference",
            ylabel="absolute error of the difference",
        )
        if axes.lines:
            axes.legend(fontsize="small")
        figure.savefig(path)


def _legend(heads: Sequence[str]) -> str:
    return "; ".join(text for head, text in _LEGEND.items() if head in heads)


def aligned(rows: list[tuple[str, ...]], sides: str) -> list[str]:
    """Format rows as lines of text with aligned columns, and leave out empty columns.

    Args:
        rows (list of tuple of str): the header, then the rows of the table.
        sides (str): ``<`` or ``>`` for each column: align left or right.
    """
    filled, sides = _filled(rows, sides)
    widths = [max(map(len, column)) for column in zip(*filled, strict=True)]
    return [
        "  "
        + "  ".join(
            f"{text:{side}{width}}" for text, side, width in zip(row, sides, widths, strict=True)
        ).rstrip()
        for row in filled
    ]


def _filled(rows: list[tuple[str, ...]], sides: str) -> tuple[list[tuple[str, ...]], str]:
    """Remove the columns that are empty below their header."""
    columns = [
        (column, side) for column, side in zip(zip(*rows, strict=True), sides, strict=True) if any(column[1:])
    ]
    return list(zip(*[column for column, _ in columns], strict=True)), "".join(side for _, side in columns)
