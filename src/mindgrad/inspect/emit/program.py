"""Emission of a graph as Python statements.

    G = (inputs; equations; outputs)  ⟼  lines of Python that compute the outputs

The writer manages names, comments, and the order of statements. A short expression that only one statement
reads becomes part of this statement. The *target* contains the rules of one library, such as
``numpy_target``. It writes single equations, and its control rules write loops and branches. The required
time is linear in the number of equations.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from mindgrad.core.base.location import NO_LINE
from mindgrad.core.control.cond import cond
from mindgrad.core.ir.graph import Constant, Equation, Graph, Variable, live_equations
from mindgrad.core.ir.types import TensorType
from mindgrad.core.primitives.structural import broadcast_in_dim
from mindgrad.inspect.emit.array_forms import alignment
from mindgrad.inspect.emit.expression import ATOM, UNARY, Expression
from mindgrad.inspect.emit.names import Names, attribution, line_comment, suggestions

__all__ = ["Writer", "typed_names"]

#: maximum number of characters of a line, and maximum number of characters of an expression that is written
#: inside another statement
_COLUMNS = 96
_SHORT = 44


class _Pending:
    """An expression that one equation reads and that has not been written yet.

    It becomes part of the statement of this equation, or a separate statement before it.
    """

    __slots__ = ("expression", "name", "source")

    def __init__(self, expression: Expression, name: str | None, source: Any) -> None:
        self.expression = expression
        self.name = name
        self.source = source


class Writer:
    """Writes graphs as statements of a function.

    Attributes:
        target: rules that write equations.
        names: names in use.
        lines: lines written so far.
        saved: maps the iteration count of each loop to the name of the list of carries before its iterations.
    """

    def __init__(self, target: Any, names: Names, main: str | None) -> None:
        self.target = target
        self.names = names
        self.lines: list[str] = []
        self.saved: dict[Any, Any] = {}
        self._main = main
        self._indent = 1
        self._commented: Any = None

    # -- lines ----------------------------------------------------------------------------------

    def line(self, text: str, source: Any = None) -> None:
        """Write a statement.

        If the statement belongs to a different line of the user's source than the previous statement, a
        comment quotes this line.
        """
        if source is not None and source != NO_LINE and attribution(source) != self._commented:
            self._commented = attribution(source)
            self.lines.append("    " * self._indent + f"# {line_comment(source, self._main)}")
        self.lines.append("    " * self._indent + text)

    @contextmanager
    def indented(self) -> Iterator[None]:
        """Indent the statements that are written in the ``with`` block."""
        self._indent += 1
        self._commented = None
        count = len(self.lines)
        try:
            yield
        finally:
            if not any(not text.lstrip().startswith("#") for text in self.lines[count:]):
                self.line("pass")
            self._indent -= 1
            self._commented = None

    @contextmanager
    def collected(self) -> Iterator[list[str]]:
        """Store the statements that the ``with`` block writes in a separate list."""
        outer, self.lines = self.lines, []
        commented = self._commented
        collected = self.lines
        try:
            yield collected
        finally:
            self.lines = outer
            if not collected:
                self._commented = commented

    # -- values ---------------------------------------------------------------------------------

    def constant(self, atom: Constant) -> Expression:
        """Return an expression for a constant: a literal if all elements are equal."""
        splat = atom if atom.is_splat else _splat_of(atom)
        if splat is not None:
            text = self.target.literal(splat)
            if text is not None:
                precedence = UNARY if text.startswith("-") else ATOM
                return Expression(text, atom.type, precedence, is_literal=True)
        return Expression(self.target.array(atom), atom.type, is_name=True)

    def whole(self, x: Expression) -> Expression:
        """Return ``x`` as an expression of an array with the shape and dtype of its type."""
        if x.is_literal:
            return Expression(self.target.filled(x.text, x.type), x.type)
        if x.is_spread:
            return Expression(self.target.spread(x.text, x.type), x.type)
        return x

    def assigned(self, x: Expression, base: str | None, source: Any = None) -> Expression:
        """Write an assignment of ``x`` to a new variable, and return this variable.

        If possible, the variable is called ``base``.
        """
        name = self.names.temporary() if base is None else self.names.fresh(base)
        self.line(f"{name} = {self.target.wrapped(x.text)}", source)
        return Expression(name, x.type, is_spread=x.is_spread, is_name=True)

    def update(self, targets: Sequence[str], values: Sequence[Expression], since: int) -> None:
        """Assign ``values`` to ``targets`` at the end of an iteration or branch.

        If possible, earlier statements assign the targets directly. For example, ``x = x + 1`` replaces
        ``v3 = x + 1`` and ``x = v3``, if no statement between them reads ``x``. Only statements after line
        ``since`` are changed.
        """
        pairs = [(name, x.text) for name, x in zip(targets, values, strict=True) if name != x.text]
        for pair in tuple(pairs):
            others = [text for other, text in pairs if (other, text) != pair]
            if self._renamed(*pair, since, others):
                pairs.remove(pair)
        if pairs:
            left, right = zip(*pairs, strict=True)
            text = ", ".join(right)
            self.line(f"{', '.join(left)} = {self.target.wrapped(text) if len(pairs) == 1 else text}")

    def _renamed(self, name: str, value: str, since: int, others: Sequence[str]) -> bool:
        start = "    " * self._indent + f"{value} = "
        at = [k for k in range(since, len(self.lines)) if self.lines[k].startswith(start)]
        if len(at) != 1 or not value.isidentifier() or value in others:
            return False
        old, new = (re.compile(rf"\b{text}\b") for text in (name, value))
        rest = self.lines[at[0] + 1 :]
        if any(old.search(text.partition("#")[0]) for text in (*rest, *others)):
            return False
        if any(new.search(text.partition("#")[0]) for text in self.lines[: at[0]]):
            return False
        for k in range(at[0], len(self.lines)):
            if not self.lines[k].lstrip().startswith("#"):
                self.lines[k] = new.sub(name, self.lines[k])
        return True

    # -- graphs ---------------------------------------------------------------------------------

    def run(
        self, graph: Graph, operands: Sequence[Expression], suggested: Sequence[str | None] = ()
    ) -> list[Expression]:
        """Write the equations of ``graph`` for ``operands``.

        Args:
            graph: the graph.
            operands: the inputs of the graph, as names or literals.
            suggested: names for the outputs of the graph. They take precedence over names from source lines.

        Returns:
            The outputs of the graph, as names or literals.
        """
        run = _Run(self, graph, operands, suggested)
        return [run.variable(y) for y in graph.outputs]

    def run_inline(self, graph: Graph, operands: Sequence[Expression]) -> list[Expression]:
        """Write the equations of ``graph``, and return an expression for each output.

        In contrast to :meth:`run`, the outputs are not assigned to variables.
        """
        run = _Run(self, graph, operands, ())
        return [run.read(y) for y in graph.outputs]


class _Run:
    """Writes one graph, and stores its values, their readers, and suggested names.

    The constructor writes all equations of the graph.
    """

    def __init__(
        self, writer: Writer, graph: Graph, operands: Sequence[Expression], suggested: Sequence[str | None]
    ) -> None:
        self.writer = writer
        self.graph = graph
        self.values: dict[Any, Expression | _Pending] = dict(zip(graph.inputs, operands, strict=True))
        self.uses = Counter(x for e in graph.equations for x in e.inputs)
        self.uses.update(graph.outputs)
        self.consumers: dict[Any, list[Equation]] = {}
        for equation in graph.equations:
            for x in equation.inputs:
                self.consumers.setdefault(x, []).append(equation)
        self.suggested = suggestions(graph)
        named = zip(graph.outputs, suggested, strict=False)
        self.suggested.update({y: n for y, n in named if n})  # type: ignore[misc]  # constants may get names
        for equation in graph.equations:
            self.equation(equation)

    def variable(self, atom: Any) -> Expression:
        """Return the value of ``atom`` as a name or a literal, broadcast to its type."""
        value = self.settled(atom)
        if value.is_spread:
            value = self.writer.assigned(self.writer.whole(value), self.suggested.get(atom))
            self.values[atom] = value
        return value

    def settled(self, atom: Any) -> Expression:
        """Return the value of ``atom`` as a name or a literal.

        If its expression is pending, an assignment of the expression is written first.
        """
        value = self.values.get(atom)
        if isinstance(value, _Pending):
            value = self.values[atom] = self.writer.assigned(value.expression, value.name, value.source)
        elif value is None:
            value = self.values[atom] = self.writer.constant(atom)
        elif not value.is_name and not value.is_literal:
            value = self.values[atom] = self.writer.assigned(value, self.suggested.get(atom))
        return value

    def read(self, atom: Any) -> Expression:
        value = self.values.get(atom)
        if value is None:
            value = self.values[atom] = self.writer.constant(atom)
        return value.expression if isinstance(value, _Pending) else value

    # -- one equation ---------------------------------------------------------------------------

    def equation(self, equation: Equation) -> None:
        row, target = equation.primitive, self.writer.target
        control: Callable[..., Any] | None = target.control.get(row.name)
        if control is not None:
            equation = self.needed(equation)
            operands = [self.variable(x) for x in equation.inputs]
            names = [self.suggested.get(y) for y in equation.outputs]
            results = control(self.writer, equation, operands, names)
            self.values.update(zip(equation.outputs, results, strict=True))
            return
        if row.effects.calls_back:
            target.refuse(equation, "it calls a Python function of this process.")
        if row.kind == "control":
            target.refuse(equation, "it exists only in eager mode or while a derivative is built.")
        if row.communicates:
            target.refuse(equation, "it combines the tensors of several processes.")
        if row is broadcast_in_dim:
            self.broadcast(equation)
            return
        if row.multiple:
            self.several(equation)
            return
        text, precedence = self.text(equation)
        result = equation.outputs[0]
        self.keep(equation, result, Expression(text, result.type, precedence))

    def needed(self, equation: Equation) -> Equation:
        """Remove unused outputs of a ``cond``, and equations that compute nothing else."""
        slots = [k for k, y in enumerate(equation.outputs) if self.uses[y]]
        if equation.primitive is not cond or len(slots) == len(equation.outputs):
            return equation
        parameters = dict(equation.parameters)
        for side in ("true", "false"):
            graph = parameters[side]
            outputs = [graph.outputs[k] for k in slots]
            parameters[side] = Graph(graph.inputs, live_equations(graph.equations, outputs), outputs)
        left = tuple([equation.outputs[k] for k in slots])
        return Equation(equation.primitive, equation.inputs, parameters, left, equation.source)

    def text(self, equation: Equation) -> tuple[str, int]:
        """Return source text of an equation, and its precedence.

        If the text is too long for a line, assignments of its long operands are written first.
        """
        result = equation.outputs[0].type if equation.outputs else None
        while True:
            operands = self.operands(equation)
            text = self.writer.target.written(equation, operands, result)
            if len(text[0]) <= _COLUMNS - 16:
                return text
            pending = [x for x in dict.fromkeys(equation.inputs) if isinstance(self.values.get(x), _Pending)]
            if not pending:
                return text
            self.settled(max(pending, key=lambda x: len(self.read(x).text)))

    def operands(self, equation: Equation) -> list[Expression]:
        operands = [self.read(x) for x in equation.inputs]
        if not equation.primitive.pointwise:
            return [self.writer.whole(x) for x in operands]
        # NumPy derives the shape and dtype of the result from the operands. Therefore, at least one operand
        # must have the full shape, and at least one must be an array with the correct dtype
        typed = [x for x in operands if x.type.dtype is operands[-1].type.dtype]
        first = len(operands) - len(typed)
        if not any(not x.is_literal for x in typed):
            operands[first] = self.writer.whole(operands[first])
        if all(x.is_literal or x.is_spread for x in operands):
            at = next(k for k, x in enumerate(operands) if not x.is_literal)
            operands[at] = self.writer.whole(operands[at])
        return operands

    def broadcast(self, equation: Equation) -> None:
        """Write a broadcast, unless all equations that read it broadcast implicitly."""
        (x,), result = equation.inputs, equation.outputs[0]
        inner = self.settled(x)
        shape, dims = equation.parameters["shape"], equation.parameters["dims"]
        if inner.is_spread or inner.is_literal:
            inner = self.writer.whole(inner)
        text = alignment(inner, shape, dims)
        spread = Expression(text, result.type, is_spread=True, is_name=text == inner.text and inner.is_name)
        if (
            all(e.primitive.pointwise for e in self.consumers.get(result, ()))
            and result not in self.graph.outputs
        ):
            self.values[result] = spread
        else:
            self.keep(equation, result, self.writer.whole(spread))

    def several(self, equation: Equation) -> None:
        operands = [self.writer.whole(self.read(x)) for x in equation.inputs]
        texts = self.writer.target.several(equation, operands)
        if texts is not None:
            for y, text in zip(equation.outputs, texts, strict=True):
                self.values[y] = Expression(text, y.type)
            return
        text, _ = self.writer.target.written(equation, operands, None)
        bases = [self.suggested.get(y) for y in equation.outputs]
        names = [self.writer.names.temporary() if b is None else self.writer.names.fresh(b) for b in bases]
        self.writer.line(f"{', '.join(names)} = {self.writer.target.wrapped(text)}", equation.source)
        for y, name in zip(equation.outputs, names, strict=True):
            self.values[y] = Expression(name, y.type, is_name=True)

    def keep(self, equation: Equation, result: Variable, x: Expression) -> None:
        """Store ``x`` as a pending expression, or write its assignment to a variable.

        ``x`` stays pending if it is short and only one equation, of the same source line, reads it.
        """
        name = self.suggested.get(result)
        is_inside = self.uses[result] == 1 and len(x.text) <= _SHORT
        for consumer in self.consumers.get(result, ()):
            is_inside &= consumer.primitive.kind != "control" and consumer.source == equation.source
        if is_inside:
            self.values[result] = _Pending(x, name, equation.source)
        elif self.uses[result]:
            self.values[result] = self.writer.assigned(x, name, equation.source)


def typed_names(types: Sequence[TensorType], names: Sequence[str]) -> list[Expression]:
    """Create expressions for the variables ``names`` of the emitted program."""
    return [Expression(name, type_, is_name=True) for name, type_ in zip(names, types, strict=True)]


def _splat_of(atom: Constant) -> Constant | None:
    """Return the scalar that equals all elements of a constant, or ``None``.

    Elements are equal if they have the same bits.
    """
    value = atom.smallest().reshape(-1)
    if not value.size:
        return None
    parts = value.view(np.uint8).reshape(value.size, -1)
    return Constant(value[0], atom.type) if (parts == parts[0]).all() else None
