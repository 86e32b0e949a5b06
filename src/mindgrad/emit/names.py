"""Names of values in emitted programs: those of the user's source, as far as the equations' lines tell them.

A value that is the last of a line ``h = …`` and the only one of it that other lines use is called ``h``. What
the derivative of such a line takes from the derivatives of other lines is its cotangent or tangent, ``d_h``.
Other values are numbered.
"""

from __future__ import annotations

import ast
import builtins
import keyword
import linecache
import os
import re
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Any

from mindgrad.ir.graph import DerivativeOf, Equation, Graph, Variable

__all__ = ["Names", "identifier", "line_comment", "suggestions"]

Source = tuple[str, int]


def identifier(text: str) -> str:
    """``text`` as a Python name: ``net.0.weight`` as ``net_0_weight``."""
    name = re.sub(r"\W+", "_", text).strip("_") or "value"
    if name[0].isdigit():
        name = f"p_{name}"
    return f"{name}_" if keyword.iskeyword(name) else name


class Names:
    """The names that a program uses; each is given once."""

    def __init__(self, reserved: Iterable[str]) -> None:
        self.used = {*reserved, *dir(builtins), *keyword.kwlist}
        self._counts: dict[str, int] = {}

    def fresh(self, base: str) -> str:
        """``base``, or with a number where that is used."""
        base = identifier(base)
        if base not in self.used:
            self.used.add(base)
            return base
        number = self._counts.get(base, 1)
        while True:
            number += 1
            name = f"{base}_{number}"
            if name not in self.used:
                self._counts[base] = number
                self.used.add(name)
                return name

    def temporary(self) -> str:
        """A name for a value of which nothing is known."""
        number = self._counts.get("", 0)
        while True:
            number += 1
            name = f"v{number}"
            if name not in self.used:
                self._counts[""] = number
                self.used.add(name)
                return name


# --- the user's source --------------------------------------------------------------------------------


def _parsed(file: str) -> ast.Module:
    """The syntax tree of a file; an empty one where it cannot be read."""
    try:
        return ast.parse("".join(linecache.getlines(file)))
    except (SyntaxError, ValueError):
        return ast.Module([], [])


@lru_cache(maxsize=64)
def _targets(file: str) -> dict[int, str]:
    """For each line of a file the variable that its statement assigns."""
    tree = _parsed(file)
    targets: dict[int, str] = {}
    for node in ast.walk(tree):
        target: Any = None
        if isinstance(node, ast.Assign) and len(node.targets) == 1:
            target = node.targets[0]
        elif isinstance(node, ast.AugAssign | ast.AnnAssign):
            target = node.target
        elif isinstance(node, ast.FunctionDef):
            for inner in ast.walk(node):
                if isinstance(inner, ast.Return) and inner.value is not None:
                    for line in range(inner.lineno, (inner.end_lineno or inner.lineno) + 1):
                        targets.setdefault(line, "" if node.name == "construct" else node.name)
        if isinstance(node, ast.stmt) and isinstance(target, ast.Name):
            for line in range(node.lineno, (node.end_lineno or node.lineno) + 1):
                targets[line] = target.id
    return {line: name for line, name in targets.items() if name}


def target_of(source: Source) -> str | None:
    """The variable that a line of the user's assigns, or the function that it returns from."""
    return _targets(source[0]).get(source[1])


#: the rows of Python's operators
_OPERATORS = {ast.Add: "add", ast.Sub: "sub", ast.Mult: "mul", ast.Div: "div", ast.MatMult: "dot"}


@lru_cache(maxsize=64)
def _operations(file: str) -> dict[int, str]:
    """For each line of a file the operator that gives the value which its statement assigns."""
    tree = _parsed(file)
    operations: dict[int, str] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign | ast.Return):
            match node.value:
                case ast.BinOp(op=sign):
                    operations[node.lineno] = _OPERATORS.get(type(sign), "")
                case ast.Call(func=ast.Attribute(attr=name)):
                    operations[node.lineno] = name
    return operations


def operation_of(source: Source) -> str | None:
    """The operator that the statement at a line of the user's ends with."""
    return _operations(source[0]).get(source[1])


def line_comment(source: Source, main: str | None) -> str:
    """A comment that quotes the user's line: ``line 12: h = ops.tanh(x)``, with its file if not ``main``."""
    file, line = source
    text = linecache.getline(file, line).strip()
    place = f"line {line}" if file == main else f"{os.path.basename(file)}, line {line}"
    subject = f"derivative of {place}" if isinstance(source, DerivativeOf) else place
    if not text:
        return subject
    return f"{subject}: {text if len(text) <= 70 else text[:67] + '...'}"


# --- what values are called ---------------------------------------------------------------------------


def _consumers(graph: Graph) -> dict[Variable, list[Equation | None]]:
    consumers: dict[Variable, list[Equation | None]] = {}
    for equation in graph.equations:
        for x in equation.inputs:
            if type(x) is Variable:
                consumers.setdefault(x, []).append(equation)
    for y in graph.outputs:
        if type(y) is Variable:
            consumers.setdefault(y, []).append(None)
    return consumers


def _is_primal(source: Any) -> bool:
    return source is not None and type(source) is not DerivativeOf


def suggestions(graph: Graph) -> dict[Variable, str]:
    """Names for values of ``graph`` by the lines of the user's that they belong to."""
    consumers = _consumers(graph)
    names: dict[Variable, str] = {}
    for run in _runs(graph.equations):
        source = run[0].source
        name = target_of(source) if source is not None and _is_primal(source) else None
        if name is None:
            continue
        inside = set(run)
        leaving = [y for e in run for y in e.outputs if _leaves(consumers.get(y, ()), inside)]
        last = run[-1]
        if len(leaving) == 1:
            names[leaving[0]] = name
        elif (
            source is not None
            and not leaving
            and len(last.outputs) == 1
            and last.primitive.name == operation_of(source)
        ):
            names[last.outputs[0]] = name  # what the derivative alone uses
    order: dict[Source, int] = {}
    for equation in graph.equations:
        if _is_primal(equation.source):
            order.setdefault(equation.source, len(order))  # type: ignore[arg-type]
    for equation in graph.equations:
        if type(equation.source) is not DerivativeOf:
            continue
        for y in equation.outputs:
            name = _of_derivative(tuple(equation.source), consumers.get(y, ()), order)
            if name is not None:
                names[y] = f"d_{name}"
    return names


def _runs(equations: Sequence[Equation]) -> Iterable[list[Equation]]:
    """Neighbouring equations of one line of the user's."""
    run: list[Equation] = []
    for equation in equations:
        if not _is_primal(equation.source):
            continue
        if run and run[0].source != equation.source:
            yield run
            run = []
        run.append(equation)
    if run:
        yield run


def _leaves(consumers: Sequence[Equation | None], inside: set[Equation]) -> bool:
    """Whether a value is used by the program itself behind its line."""
    return any(e is None or (_is_primal(e.source) and e not in inside) for e in consumers)


def _of_derivative(
    source: Source, consumers: Sequence[Equation | None], order: dict[Source, int]
) -> str | None:
    """The variable whose derivative flows from that of the line ``source`` to that of another line.

    Forwards it is that of the line where it comes from, backwards that of the line where it goes.
    """
    sources = {
        None if e is None or type(e.source) is not DerivativeOf else tuple(e.source) for e in consumers
    }
    if len(sources) != 1:
        return None
    (other,) = sources
    if other is None or other == source:
        return None
    if source in order and other in order:
        is_forwards = order[source] < order[other]  # type: ignore[index]
    elif source[0] == other[0]:
        is_forwards = source[1] < other[1]
    else:
        return None
    return target_of(source if is_forwards else other)  # type: ignore[arg-type]
