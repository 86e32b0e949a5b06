"""Find which axes of the values in a graph carry the rows of its output.

    y[n] = f(w, x[n])    the output has one row for each sample; all samples share the weights w

The analysis follows the output backwards. It decides for each operand that depends on the weights how the
operand is used:

    aligned    element n along some axes of the operand affects only row n of the output
    shared     an element of the operand may affect every row

Row n of the Jacobian then needs no separate pass: one reverse pass with a cotangent of ones computes the
cotangents of all rows, because they do not mix (``curvature.row_jacobian``). Index maps (``ir.index_map``)
state which axes correspond. Concatenations and slices along the rows shift them, and a reshape may split or
merge the axes that carry them. An operand that no rule covers counts as shared, which is slower but never
wrong.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from math import prod
from typing import Any, NamedTuple

from mindgrad.core.control.scan import scan
from mindgrad.core.ir.graph import Atom, Constant, Equation, Graph, Variable
from mindgrad.core.ir.index_map import IndexMap, index_map
from mindgrad.core.primitives.arithmetic import mul
from mindgrad.core.primitives.static_slices import concatenate, slice
from mindgrad.core.primitives.structural import reshape

__all__ = ["Rows", "Use", "backward_uses", "dependent_variables", "operand_rows", "uses_of_rows"]


class Rows(NamedTuple):
    """The axes of a value that carry rows.

    Attributes:
        axes: consecutive positions in row-major order of the rows.
        start: the row of the output to which the first row of the value belongs.
        outer, inner: the flattened axes have the size ``outer · rows · inner``, and element k belongs to row
            ``k // inner % rows``. They differ from 1 after a reshape that merges the rows with other axes,
            such as the samples and tokens of logits.
    """

    axes: tuple[int, ...]
    start: int
    outer: int = 1
    inner: int = 1

    def count(self, shape: Sequence[int]) -> int:
        """Return the number of rows of a value with the given shape."""
        return prod([shape[axis] for axis in self.axes]) // (self.outer * self.inner)


class Use(NamedTuple):
    """How one equation on the way from the weights to the output uses its operands.

    Attributes:
        rows: where the rows are in the result.
        operands: for each operand, its rows; ``None`` if the operand is shared or does not depend on weights.
        is_moving: for each operand, whether it depends on the weights.
    """

    rows: Rows
    operands: tuple[Rows | None, ...]
    is_moving: tuple[bool, ...]

    @property
    def shared(self) -> tuple[int, ...]:
        """Positions of the operands that depend on the weights and are shared by all rows."""
        pairs = zip(self.operands, self.is_moving, strict=True)
        return tuple([k for k, (rows, moves) in enumerate(pairs) if moves and rows is None])


def dependent_variables(equations: Sequence[Equation], weights: Sequence[Variable]) -> set[Atom]:
    """Return the variables that depend differentiably on ``weights``, and the weights."""
    dependent: set[Atom] = set(weights)
    for equation in equations:
        primitive = equation.primitive
        if primitive.jvp is None or primitive.algebra.stops:
            continue
        if not dependent.isdisjoint(equation.inputs) and not _is_zero_product(equation):
            dependent.update(equation.outputs)
    return dependent


def _is_zero_product(equation: Equation) -> bool:
    """Return whether the equation multiplies by zero, so that its derivative is zero."""
    return equation.primitive is mul and any(type(x) is Constant and x.is_all(0) for x in equation.inputs)


#: function ``(equation, rows of its results, whether its operands move)`` that returns the use of a loop, an
#: object with the attribute ``operands``, or ``None`` if it counts as one equation
LoopRule = Callable[[Equation, Sequence[Rows | None], tuple[bool, ...]], Any]


def uses_of_rows(
    graph: Graph, weights: Sequence[Variable], output: Atom, loops: LoopRule | None = None
) -> dict[Equation, Any]:
    """Return how equations whose results carry rows use their operands.

    Axis 0 of ``output`` contains the rows. Equations with several results are not in the dict, so their
    results are used as shared values. Loops are in the dict if ``loops`` returns how they use their operands.
    """
    dependent = dependent_variables(graph.equations, weights)
    if output not in dependent:
        return {}
    return backward_uses(graph.equations, dependent, weights, {output: Rows((0,), 0)}, loops)[0]


def backward_uses(
    equations: Sequence[Equation],
    dependent: set[Atom],
    weights: Sequence[Variable],
    outputs: dict[Atom, Rows],
    loops: LoopRule | None = None,
) -> tuple[dict[Equation, Any], dict[Atom, Rows]]:
    """Return the uses of operands, and the rows of all values.

    Args:
        equations: equations in execution order.
        dependent: the values that depend on the weights.
        weights: values that are always shared.
        outputs: the rows of values.
        loops: function that returns the use of a loop. Default: ``None``, loops are not entered.
    """
    closed: set[Equation] = set()  # loops that count as one equation
    while True:
        count = len(closed)
        result = _backward_uses(equations, dependent, weights, outputs, loops, closed)
        if len(closed) == count:
            return result


def _backward_uses(
    equations: Sequence[Equation],
    dependent: set[Atom],
    weights: Sequence[Variable],
    outputs: dict[Atom, Rows],
    loops: LoopRule | None,
    closed: set[Equation],
) -> tuple[dict[Equation, Any], dict[Atom, Rows]]:
    rows: dict[Atom, Rows] = {y: at for y, at in outputs.items() if y in dependent}
    uses: dict[Equation, Any] = {}

    def can_align(x: Atom) -> bool:
        equation = x.made_by if type(x) is Variable else None
        is_open = loops is not None and equation is not None and equation.primitive is scan
        return x not in weights and (_has_one_result(x) or (is_open and equation not in closed))

    for equation in reversed(equations):
        results = [rows.get(y) for y in equation.outputs]
        if not any(results):
            continue
        moving = tuple([x in dependent for x in equation.inputs])
        if len(results) > 1 or equation.primitive is scan:
            use = None if loops is None or equation in closed else loops(equation, results, moving)
            needed = (
                []
                if use is None
                else [(x, at) for x, at in zip(equation.inputs, use.operands, strict=True) if at]
            )
            if use is None or any(not can_align(x) or rows.setdefault(x, at) != at for x, at in needed):
                closed.add(equation)
            else:
                uses[equation] = use
            continue
        operands: list[Rows | None] = []
        for k, x in enumerate(equation.inputs):
            aligned = operand_rows(equation, k, results[0]) if moving[k] and can_align(x) else None  # type: ignore[arg-type]
            if aligned is not None and rows.setdefault(x, aligned) != aligned:
                aligned = None  # another equation uses the operand with other rows
            operands.append(aligned)
        uses[equation] = Use(results[0], tuple(operands), moving)  # type: ignore[arg-type]
    return uses, rows


def _has_one_result(x: Atom) -> bool:
    equation = x.made_by if type(x) is Variable else None
    return equation is None or (len(equation.outputs) == 1 and equation.primitive is not scan)


def operand_rows(equation: Equation, operand: int, rows: Rows) -> Rows | None:
    """Return the rows of an operand, or ``None`` if it is shared.

    ``rows`` are the rows of the result of ``equation``.
    """
    x, y = equation.inputs[operand], equation.outputs[0]
    if equation.primitive is reshape:
        return _before_reshape(x.shape, y.shape, rows)
    shift = _shift(equation, operand, rows)
    if shift is not None:
        return shift
    axes = index_map(equation)
    if axes is None:
        return None
    return _same_rows(axes, operand, rows)


def _same_rows(axes: IndexMap, operand: int, rows: Rows) -> Rows | None:
    labels = axes.operands[operand]
    positions = []
    for axis in rows.axes:
        label = axes.results[0][axis]
        if label in axes.kinds or label not in labels:
            return None
        positions.append(labels.index(label))
    consecutive = all(b == a + 1 for a, b in pairwise(positions))
    return rows._replace(axes=tuple(positions)) if consecutive else None


def _before_reshape(old: Sequence[int], new: Sequence[int], rows: Rows) -> Rows | None:
    """Return the rows of the operand of a reshape from ``old`` to ``new``."""
    outer = prod(new[: rows.axes[0]]) * rows.outer
    count = rows.count(new)
    if not prod(old):
        return None
    last = 0
    while prod(old[:last]) % (outer * count):
        last += 1  # the whole shape is a multiple
    first = last
    while outer % prod(old[:first]):
        first -= 1
    while first + 1 < last and old[first] == 1:  # skip axes of size 1, which could be chosen as well
        first += 1
    if first == last:  # one row: any axis of size 1
        if last == len(old) or old[last] != 1:
            return None
        last += 1
    before = outer // prod(old[:first])
    return Rows(tuple(range(first, last)), rows.start, before, prod(old[first:last]) // (before * count))


def _shift(equation: Equation, operand: int, rows: Rows) -> Rows | None:
    """Return the rows of an operand of a concatenation or slice along rows.

    Returns ``None`` for other operators.
    """
    primitive, parameters = equation.primitive, equation.parameters
    is_split = (rows.outer, rows.inner) != (1, 1)
    inner = prod([equation.outputs[0].shape[axis] for axis in rows.axes[1:]])
    if primitive is concatenate and parameters["axis"] == rows.axes[0] and not is_split:
        before = sum(x.shape[rows.axes[0]] for x in equation.inputs[:operand])
        return Rows(rows.axes, rows.start + before * inner)
    if primitive is slice:
        starts, strides = parameters["start"], parameters["strides"]
        x = equation.inputs[operand]
        whole = all(x.shape[axis] == equation.outputs[0].shape[axis] for axis in rows.axes[not is_split :])
        if whole and all(strides[axis] == 1 for axis in rows.axes):
            return Rows(rows.axes, rows.start - starts[rows.axes[0]] * inner)
    return None
