"""Shifts that cancel are constants to every derivative: a program is not differentiated in them.

    exp(x − c) / Σ exp(x − c)  and  c + log Σ exp(x − c)  are the same for every c

Softmax and log-sum-exp are written with ``c = max x`` lest ``exp`` overflow. Their derivative in c is zero,
but is made of many terms that cancel up to rounding: which elements are the largest, how many, and sums over
all. The rewrite lets ``stop_gradient(c)`` stand for c in such a program. Its values, and those of every
derivative, stay the same up to rounding.

Proof: let δ be added to c. Then each value v that depends on c by the shift alone becomes, with a number p,

    v − p δ  (a difference)      or      v exp(−p δ)  (a factor)

where δ is repeated along the axes that c has not. Sums, differences, ``exp``, ``log``, products and quotients
have a p that follows from those of their operands, and operators that are linear in one operand keep it, if
δ is the same for all elements that meet. Where all that is used further has p = 0, the program is the same
for all δ, and its derivative in c is zero.

When it pays: always; nothing is added but a name for c. Limits: the shifts of differences that an ``exp``
reads; a shift of which any use is not followed to p = 0 stays as it is, for it must not be a constant to that
use.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

from mindgrad.ir.graph import Equation, Graph, Variable
from mindgrad.ir.index_map import PARALLEL, index_map
from mindgrad.ir.rewriting import Rewrite
from mindgrad.optimize.broadcast_elimination import is_view, seen_through
from mindgrad.optimize.graph_rewriter import rebuilt
from mindgrad.rows.arithmetic import absorb, add, div, mul, neg, sub
from mindgrad.rows.elementwise import exp, log
from mindgrad.rows.structural import stop_gradient

__all__ = ["has_shifts", "shifts_stopped"]

SHIFTS = Rewrite(
    "shifts",
    "c + log Σ exp(x − c) and exp(x − c) / Σ exp(x − c) for every c: ∂/∂c = 0",
    "a shift that cancels was not differentiated",
)


class _Shifted(NamedTuple):
    """The form of a value whose shift is moved by δ.

    Attributes:
        power: the number p.
        is_factor: whether the value becomes v exp(−p δ), not v − p δ.
        axes: for each axis of the value that of δ which runs with it, or ``None``.
    """

    power: float
    is_factor: bool
    axes: tuple[int | None, ...]


class _Dependent(Exception):
    """The program depends on the shift."""


def has_shifts(equations: Iterable[Equation]) -> bool:
    """Whether a difference with a shift that may cancel is among ``equations``."""
    return any(map(_shift_of, equations))


def shifts_stopped(graph: Graph) -> Graph:
    """``graph`` with shifts that cancel as constants to derivatives."""
    shifts = dict.fromkeys(filter(None, map(_shift_of, graph.equations)))
    stopped: dict[Equation, set[Variable]] = {}
    for shift in shifts:
        if not _is_dependent(graph, shift):
            for equation in graph.equations:
                if shift in equation.inputs:
                    stopped.setdefault(equation, set()).add(shift)
            SHIFTS.fired()
    if not stopped:
        return graph

    def replace(equation: Equation, read: Callable[[Any], Any]) -> Any:
        if equation not in stopped:
            return None
        fixed = stopped[equation]
        operands = [stop_gradient(read(x)) if x in fixed else read(x) for x in equation.inputs]
        return equation.primitive(*operands, **equation.parameters)

    return rebuilt(graph, replace)


def _shift_of(equation: Equation) -> Variable | None:
    """The shift of a difference that ``exp`` reads; ``None`` where there is none, or it is a constant."""
    if equation.primitive is not exp:
        return None
    difference = getattr(equation.inputs[0], "made_by", None)
    if difference is None or difference.primitive is not sub:
        return None
    shift = difference.inputs[1]
    while (made_by := getattr(shift, "made_by", None)) is not None and is_view(made_by):
        shift = made_by.inputs[0]
    if made_by is None or made_by.primitive.jvp is None or made_by.primitive.stops:
        return None
    return shift


def _is_dependent(graph: Graph, shift: Variable) -> bool:
    """Whether the results of ``graph`` depend on ``shift``, as far as can be seen."""
    own = _Shifted(-1, False, tuple([None if n == 1 else axis for axis, n in enumerate(shift.shape)]))
    moved: dict[Any, _Shifted] = {shift: own}
    try:
        for equation in graph.equations:
            forms = [moved.get(x) for x in equation.inputs]
            if any(forms) and equation.primitive.jvp is not None and not equation.primitive.stops:
                form = _through(equation, forms)
                if form.power:
                    moved[equation.outputs[0]] = form
    except _Dependent:
        return True
    del moved[shift]  # where the program gives it, it is differentiated
    return not moved.keys().isdisjoint(graph.outputs)


def _through(equation: Equation, forms: list[_Shifted | None]) -> _Shifted:
    """The form of the result of ``equation`` on operands of these forms.

    Raises:
        _Dependent: it has none.
    """
    primitive = equation.primitive
    if primitive.multiple:
        raise _Dependent
    if is_view(equation) and forms[0] is not None:
        return forms[0]._replace(axes=seen_through(equation, forms[0].axes))
    if primitive is exp or primitive is log or primitive is neg:
        return _of_one(primitive, forms[0])
    if primitive is add or primitive is sub:
        return _of_sum(forms, -1 if primitive is sub else 1)
    if primitive is mul or primitive is absorb or primitive is div:
        return _of_product(forms, -1 if primitive is div else 1)
    return _of_linear(equation, forms)


def _of_one(primitive: Any, form: _Shifted | None) -> _Shifted:
    if form is None or (primitive is not neg and form.is_factor != (primitive is log)):
        raise _Dependent
    if primitive is neg:
        return form if form.is_factor else form._replace(power=-form.power)
    return form._replace(is_factor=primitive is exp)


def _of_sum(forms: list[_Shifted | None], sign: int) -> _Shifted:
    first, second = forms
    if first is None or second is None:
        alone = first or second
        if alone is None or alone.is_factor:
            raise _Dependent
        return alone if first else alone._replace(power=sign * alone.power)
    if first.axes != second.axes or first.is_factor != second.is_factor:
        raise _Dependent
    if not first.is_factor:
        return first._replace(power=first.power + sign * second.power)
    if first.power != second.power:
        raise _Dependent
    return first


def _of_product(forms: list[_Shifted | None], sign: int) -> _Shifted:
    first, second = forms
    if any(form is not None and not form.is_factor for form in forms):
        raise _Dependent
    if first is None or second is None:
        return first if first is not None else second._replace(power=sign * second.power)  # type: ignore[union-attr]
    if first.axes != second.axes:
        raise _Dependent
    return first._replace(power=first.power + sign * second.power)


def _of_linear(equation: Equation, forms: list[_Shifted | None]) -> _Shifted:
    """The form of the result of an operator that is linear in the one operand that is moved, by a factor."""
    primitive = equation.primitive
    places = [k for k, form in enumerate(forms) if form is not None]
    labels = index_map(equation)
    is_linear = primitive.kind == "multilinear" or (primitive.is_linear and len(equation.inputs) == 1)
    if not is_linear or len(places) != 1 or labels is None:
        raise _Dependent
    form = forms[places[0]]
    if form is None or not form.is_factor:
        raise _Dependent
    by_label = {
        label: axis
        for label, axis in zip(labels.operands[places[0]], form.axes, strict=True)
        if axis is not None
    }
    (results,) = labels.results
    if any(labels.kind(label) != PARALLEL or label not in results for label in by_label):
        raise _Dependent
    return form._replace(axes=tuple([by_label.get(label) for label in results]))
