"""``explain`` reports which rewrites were applied to a function, and what they saved.

    explain(f)(x):   G₀ = trace(f, rewrites off),   G₁ = trace(f, rewrites on),   cost(G₀) → cost(G₁)

The function is traced twice, as it is compiled in graph mode, and neither compiled nor run.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from mindgrad.api.arguments import check_callable, explains_keywords
from mindgrad.execution.cache import eager_tiers
from mindgrad.execution.compiled import trace
from mindgrad.ir import settings
from mindgrad.ir.graph import Graph
from mindgrad.ir.rewriting import REWRITES, is_rewriting, watching
from mindgrad.tools.cost import Cost, cost

__all__ = ["Explanation", "Fired", "explain"]


class Fired(NamedTuple):
    """A rewrite that was applied.

    Attributes:
        name: what it is called.
        law: the equation that it uses.
        times: how often it was applied, to programs in between included.
    """

    name: str
    law: str
    times: int


@dataclass(frozen=True, repr=False)
class Explanation:
    """The result of :func:`explain`; as text a table.

    Attributes:
        function: the name of the function.
        fired: the rewrites that were applied, in the order of their first application.
        before: the cost of the program without rewrites.
        after: the cost of the program as it is compiled.
        graph: the program as it is compiled.
        graph_before: the program without rewrites.
        is_rewriting: whether programs are rewritten at all.
        eager: for each kind of call that was made in PYNATIVE_MODE its tier, and why it is in it.
    """

    function: str
    fired: tuple[Fired, ...]
    before: Cost
    after: Cost
    graph: Graph = field(compare=False)
    graph_before: Graph = field(compare=False)
    is_rewriting: bool = True
    eager: tuple[str, ...] = field(default=(), compare=False)

    def table(self, graph: bool = False) -> str:
        """The table as text, with the program as it is compiled beneath it if that is asked for."""
        rows = [
            ("", "without rewrites", "as compiled", ""),
            _row("equations", self.before.equations, self.after.equations, str),
            _row("operations", self.before.flops, self.after.flops, _short),
            _row("bytes", self.before.bytes, self.after.bytes, _short),
        ]
        lines = [f"{self.function}:", *_columns(rows, "<>>>"), ""]
        if self.fired:
            lines.append("rewrites")
            lines += _columns([(each.name, f"{each.times} ×", each.law) for each in self.fired], "<><")
        else:
            lines.append(
                "no rewrite applies" if self.is_rewriting else "rewrites are turned off (MINDGRAD_OPT=0)"
            )
        if not (self.before.is_known and self.after.is_known):
            lines += ["", "A loop whose number of trips depends on the data is counted with one trip."]
        if self.eager:
            lines += ["", "eager mode", *self.eager]
        if graph:
            lines += ["", str(self.graph)]
        return "\n".join(lines)

    def __str__(self) -> str:
        return self.table()

    __repr__ = __str__


#: the option that turns rewrites off is one of the whole process
_lock = threading.Lock()


@explains_keywords
def explain(fn: Callable[..., Any]) -> Callable[..., Explanation]:
    """A function that reports how ``fn`` is compiled for given arguments.

    Args:
        fn: a function, Cell, gradient function (``grad(f)``, ``GradOperation(...)(net)``), or compiled
            function.

    Returns:
        A function of the arguments of ``fn``. It gives an :class:`Explanation`: the rewrites that were
        applied, each with its law; the number of equations, and the estimated arithmetic and traffic of
        memory (``tools.cost``), without rewrites and with them; and the programs themselves.

    Raises:
        TypeError: ``fn`` is no function or Cell.

    The function is traced twice as in graph mode, whatever the mode; nothing is computed, and no Parameter
    changes. What its Python prints while it is traced is printed twice.

    >>> import mindgrad as ms
    >>> found = ms.explain(ms.grad(lambda x: ms.ops.exp(x)))(ms.Tensor([1.0, 2.0]))
    >>> found.after
    Cost(equations=1, flops=2, bytes=16, is_known=True)
    >>> print(found.graph)
    graph(a: Float32[2])
      b: Float32[2] = exp(a)
      return b
    """
    check_callable("explain", fn)

    def explained(*args: Any, **kwargs: Any) -> Explanation:
        with _lock:
            chosen = settings.get("rewrites")
            try:
                settings.store("rewrites", False)
                plain = trace(fn, *args, **kwargs)
            finally:
                settings.store("rewrites", chosen)
            with watching() as counts:
                graph = trace(fn, *args, **kwargs)
        fired = tuple([Fired(name, REWRITES[name].law, times) for name, times in counts.items()])
        return Explanation(
            _name(fn), fired, cost(plain), cost(graph), graph, plain, is_rewriting(), eager_tiers(fn)
        )

    return explained


def _name(fn: Any) -> str:
    return getattr(fn, "__name__", None) or type(fn).__name__


def _row(name: str, before: int, after: int, shown: Callable[[int], str]) -> tuple[str, ...]:
    change = f"{after / before:.2f} ×" if before and after != before else ""
    return name, shown(before), shown(after), change


def _short(number: int) -> str:
    """Three digits and a factor of 1000: ``4.72 G``."""
    value, unit = float(number), ""
    for unit in ("", "k", "M", "G", "T", "P"):
        if value < 999.5 or unit == "P":
            break
        value /= 1000
    return f"{value:.3g} {unit}".rstrip()


def _columns(rows: list[tuple[str, ...]], sides: str) -> list[str]:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return [
        (
            "  "
            + "  ".join(f"{text:{side}{width}}" for text, side, width in zip(row, sides, widths, strict=True))
        ).rstrip()
        for row in rows
    ]
