"""Names of values in emitted programs, taken from the user's source.

Each equation records the line of the user's source to which it belongs. The first of these rules that applies
determines the name of a value:

- If a value is the only result of the line ``h = …`` that other lines read, it has the name ``h``.
- The output of a layer has the path of the layer as its name, for example ``blocks_0_dense``.
- The tangent or cotangent of ``h`` has the name ``d_h``.
- All other values are numbered: ``v1``, ``v2``.
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
from itertools import groupby
from typing import Any, NamedTuple

from mindgrad.core.control.cond import cond
from mindgrad.core.ir.graph import DerivativeOf, Equation, Graph, Variable

__all__ = ["Names", "attribution", "carry_names", "identifier", "is_numbered", "line_comment", "suggestions"]

Source = tuple[str, int]


def identifier(text: str) -> str:
    """Convert ``text`` to a Python identifier: ``net.0.weight`` to ``net_0_weight``."""
    name = re.sub(r"\W+", "_", text).strip("_") or "value"
    if name[0].isdigit():
        name = f"p_{name}"
    return f"{name}_" if keyword.iskeyword(name) else name


def is_numbered(name: str) -> bool:
    """Return whether ``name`` has the form ``v1``.

    :meth:`Names.temporary` returns such names.
    """
    return re.fullmatch(r"v\d+", name) is not None


class Names:
    """The variable names of an emitted program. Each method returns only unused names."""

    def __init__(self, reserved: Iterable[str]) -> None:
        self.used = {*reserved, *dir(builtins), *keyword.kwlist}
        self._counts: dict[str, int] = {}

    def fresh(self, base: str) -> str:
        """Return ``base``, with a number appended if ``base`` is in use."""
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
        """Return a new numbered name, such as ``v1``.

        Values without a name in the user's source get such a name.
        """
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
    """Parse a source file; return an empty module if it cannot be parsed."""
    try:
        return ast.parse("".join(linecache.getlines(file)))
    except (SyntaxError, ValueError):
        return ast.Module([], [])


@lru_cache(maxsize=64)
def _targets(file: str) -> dict[int, str]:
    """Map each line of a file to the variable that the statement on the line assigns.

    A line of a ``return`` statement is mapped to the name of the function.
    """
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
    """Return the variable that a source line assigns.

    For a line of a ``return`` statement, return the name of the function.
    """
    return _targets(source[0]).get(source[1])


#: the symbols of Python's operators
_OPERATORS = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.MatMult: "@"}


@lru_cache(maxsize=64)
def _operations(file: str) -> dict[int, str]:
    """Map each line of a file to the outermost operator or call in its statement."""
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


@lru_cache(maxsize=64)
def _choices(file: str) -> dict[int, str]:
    """Map the line of each ``if`` that assigns only one variable to this variable."""
    choices: dict[int, str] = {}
    for node in ast.walk(_parsed(file)):
        if isinstance(node, ast.If):
            inner = [x for child in (*node.body, *node.orelse) for x in ast.walk(child)]
            names = {x.id for x in inner if isinstance(x, ast.Name) and isinstance(x.ctx, ast.Store)}
            if len(names) == 1:
                choices[node.lineno] = names.pop()
    return choices


def operation_of(source: Source) -> str | None:
    """Return the outermost operator or call in the statement at a source line."""
    return _operations(source[0]).get(source[1])


def line_comment(source: Source, main: str | None) -> str:
    """Return a comment that quotes a source line: ``line 12: h = ops.tanh(x)``.

    If the line is in a different file than ``main``, the comment contains the name of the file.
    """
    file, line = source
    text = linecache.getline(file, line).strip()
    location = f"line {line}" if file == main else f"{os.path.basename(file)}, line {line}"
    cell = getattr(source, "cell", "")
    location += f" in {cell}" if cell else ""
    subject = f"derivative of {location}" if isinstance(source, DerivativeOf) else location
    if not text:
        return subject
    return f"{subject}: {text if len(text) <= 70 else text[:67] + '...'}"


# --- names of values ----------------------------------------------------------------------------------


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


def attribution(source: Any) -> Any:
    """Return the key ``(line, type of source, Cell)`` that groups equations.

    The type of ``source`` shows whether the equation computes a derivative.
    """
    return source, type(source), getattr(source, "cell", "")


def _is_primal(source: Any) -> bool:
    return source is not None and type(source) is not DerivativeOf


def suggestions(graph: Graph) -> dict[Variable, str]:
    """Suggest names for values of ``graph``, from the source lines of its equations."""
    consumers = _consumers(graph)
    names = _of_layers(graph, consumers)
    runs = list(_runs(graph.equations))
    for number, run in enumerate(runs):
        source = run[0].source
        if _continues(runs, number):
            continue
        name = target_of(source) if source is not None and _is_primal(source) else None
        name = name or getattr(source, "cell", None)
        if not name:
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
            and operation_of(source) in (last.primitive.name, last.primitive.symbol)
        ):
            names[last.outputs[0]] = name  # only the derivative reads this value
    for equation in graph.equations:
        inner = _of_control(equation)
        names.update((y, name) for y, name in zip(equation.outputs, inner, strict=False) if name)
    order: dict[_Site, int] = {}
    for equation in graph.equations:
        if _is_primal(equation.source):
            order.setdefault(_Site.of(equation.source), len(order))
    for equation in graph.equations:
        if type(equation.source) is not DerivativeOf:
            continue
        for y in equation.outputs:
            name = _of_derivative(_Site.of(equation.source), consumers.get(y, ()), order)
            if name is not None:
                names[y] = f"d_{name}"
    return names


def _runs(equations: Sequence[Equation]) -> Iterable[list[Equation]]:
    """Group successive equations of one source line, the *runs*; omit derivatives."""
    run: list[Equation] = []
    for equation in equations:
        if not _is_primal(equation.source):
            continue
        if run and attribution(run[0].source) != attribution(equation.source):
            yield run
            run = []
        run.append(equation)
    if run:
        yield run


def _continues(runs: Sequence[Sequence[Equation]], number: int) -> bool:
    """Return whether a call of an inner Cell interrupts the source line of a run.

    In this case, run ``number`` computes only a part of the line, such as an argument of the inner Cell.
    """
    source = runs[number][0].source
    cell = getattr(source, "cell", "")
    for run in runs[number + 1 :]:
        inner = getattr(run[0].source, "cell", "")
        if inner == cell or not inner.startswith(f"{cell}." if cell else ""):
            return run is not runs[number + 1] and attribution(run[0].source) == attribution(source)
    return False


def _of_layers(graph: Graph, consumers: dict[Variable, list[Equation | None]]) -> dict[Variable, str]:
    """Suggest the path of each layer, such as ``blocks_0_dense``, to name its output."""
    names: dict[Variable, str] = {}
    for (_, layer), run in groupby(graph.equations, key=lambda e: (e.source, getattr(e.source, "layer", ""))):
        inside = set(run)
        source = next(iter(inside)).source
        if _is_primal(source) and layer != getattr(source, "cell", ""):
            leaving = [y for e in graph.equations if e in inside for y in e.outputs]
            leaving = [y for y in leaving if _leaves(consumers.get(y, ()), inside)]
            if len(leaving) == 1:
                names[leaving[0]] = layer
    return names


def _leaves(consumers: Sequence[Equation | None], inside: set[Equation]) -> bool:
    """Return whether a value is an output, or an equation not in ``inside`` reads it.

    ``consumers`` are the equations that read the value, with ``None`` for an output. Equations of derivatives
    are ignored.
    """
    return any(e is None or (_is_primal(e.source) and e not in inside) for e in consumers)


def _of_control(equation: Equation) -> Sequence[str | None]:
    """Suggest names for the results of a branch or loop, from names in its graphs."""
    parameters = equation.parameters
    if equation.primitive is cond:
        true, false = parameters["true"], parameters["false"]
        first, second = suggestions(true), suggestions(false)
        pairs = zip(true.outputs, false.outputs, strict=True)
        names = [first.get(y) or second.get(z) for y, z in pairs]
        if names == [None] and _is_primal(equation.source):
            file, line = equation.source  # type: ignore[misc]
            return [_choices(file).get(line)]
        return names
    if equation.primitive.inner.replaceable:  # a loop
        known = suggestions(parameters["body"])
        return [known.get(y) for y in parameters["body"].outputs]
    return ()


def carry_names(equation: Equation, fallback: str = "carry") -> list[str]:
    """Suggest variable names for the components of the carry of a loop."""
    parameters = equation.parameters
    body, condition, consts = parameters["body"], parameters.get("condition"), parameters["consts"]
    known = suggestions(body)
    names = [known.get(y) or fallback for y in body.outputs]
    if condition is not None and not condition.equations:  # the body computes the next test
        names = [
            "continues" if x is condition.outputs[0] else name
            for x, name in zip(condition.inputs[consts:], names, strict=True)
        ]
    return names


class _Site(NamedTuple):
    """The origin of an equation: a source line, its Cell, and the layer that runs."""

    file: str
    line: int
    cell: str
    layer: str

    @staticmethod
    def of(source: Any) -> _Site:
        file, line = source
        return _Site(file, line, getattr(source, "cell", ""), getattr(source, "layer", ""))

    def result(self, user: _Site) -> str | None:
        """Return the name of a value that this site computes and the site ``user`` reads.

        If both sites are on the same line, only the output of a layer has a name. Otherwise, the result is
        ``None``.
        """
        if self[:3] == user[:3]:  # both are in the same line
            return self.layer if self.layer != self.cell else None
        return target_of((self.file, self.line)) or self.cell or None


def _of_derivative(site: _Site, consumers: Sequence[Equation | None], order: dict[_Site, int]) -> str | None:
    """Find the variable whose derivative ``site`` computes and ``consumers`` read.

    In forward mode, it is the variable that the line of ``site`` assigns. In reverse mode, it is the variable
    that the line of the consumers assigns. ``order`` contains the position of each line in the program. A
    comparison of these positions shows the mode.
    """
    sites = {
        None if e is None or type(e.source) is not DerivativeOf else _Site.of(e.source) for e in consumers
    }
    other = next(iter(sites), None)
    if other is None or any(x is None or x[:3] != other[:3] for x in sites):
        return None
    if len(sites) > 1:
        other = other._replace(layer=other.cell)
    if other == site:
        return None
    if site in order and other in order:
        is_forwards = order[site] < order[other]
    elif site.file == other.file and site.line != other.line:
        is_forwards = site.line < other.line
    else:
        return None
    return site.result(other) if is_forwards else other.result(site)
