"""Shift invariance: omit derivatives with respect to shifts that cancel.

    exp(x − c) / Σ exp(x − c)  and  c + log Σ exp(x − c)  do not depend on c

Softmax and log-sum-exp subtract the shift ``c = max x``, so that ``exp`` does not overflow. Their derivative
with respect to c is zero, but reverse mode computes it from many terms that cancel up to rounding. The
rewrite replaces c by ``stop_gradient(c)``. The values of the graph and of all its derivatives are unchanged
up to rounding.

Proof: add δ to c. Then each value v of the graph that depends on c becomes, for some scalar p,

    v − p δ  (a difference)      or      v exp(−p δ)  (a factor)

where δ is broadcast along the axes that c does not have. For example, x − c has p = 1 as a difference, and
exp(x − c) has p = 1 as a factor. The p of a sum, difference, ``exp``, ``log``, product, or quotient follows
from the p of its operands. A linear operator, such as a sum, preserves p if δ is equal for all elements that
it combines. If all outputs have p = 0, the graph does not depend on δ, and its derivative with respect to c
is zero.

**Cost.** The rewrite costs nothing at run time.

**Limits.** The rewrite finds only shifts in a difference that is the operand of an ``exp``. If it cannot
prove that all outputs have p = 0, it leaves the shift unchanged.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

from mindgrad.core.ir.graph import Equation, Graph, Variable
from mindgrad.core.ir.index_map import PARALLEL, index_map
from mindgrad.core.ir.rewriting import Rewrite
from mindgrad.core.passes.broadcast_elimination import is_view, seen_through
from mindgrad.core.passes.graph_rewriter import Read, rebuild
from mindgrad.core.primitives.arithmetic import add, div, masked_multiply, mul, neg, sub
from mindgrad.core.primitives.elementwise import exp, log
from mindgrad.core.primitives.structural import stop_gradient

__all__ = ["has_shifts", "stop_shifts"]

SHIFTS = Rewrite(
    "shifts",
    "∂/∂c = 0 for c + log Σ exp(x − c) and exp(x − c) / Σ exp(x − c)",
    "a shift that cancels, as in a softmax, is not differentiated",
)


class _Shifted(NamedTuple):
    """How a value v changes if δ is added to the shift (see the module docstring).

    Attributes:
        power: the scalar p.
        is_factor: whether v becomes v exp(−p δ). If ``False``, v becomes v − p δ.
        axes: for each axis of v, the corresponding axis of δ, or ``None`` if δ is broadcast along the axis of
            v.
    """

    power: float
    is_factor: bool
    axes: tuple[int | None, ...]


class _Dependent(Exception):
    """Raised if the rewrite cannot prove that the graph is independent of the shift."""


def has_shifts(equations: Iterable[Equation]) -> bool:
    """Return whether ``equations`` contain an ``exp(x − c)`` whose shift c may cancel."""
    return any(map(_shift_of, equations))


def stop_shifts(graph: Graph) -> Graph:
    """Apply ``stop_gradient`` to each shift c of an ``exp(x − c)`` that cancels."""
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

    def replace(equation: Equation, read: Read) -> Any:
        if equation not in stopped:
            return None
        fixed = stopped[equation]
        operands = [stop_gradient(read(x)) if x in fixed else read(x) for x in equation.inputs]
        return equation.primitive(*operands, **equation.parameters)

    return rebuild(graph, replace)


def _shift_of(equation: Equation) -> Variable | None:
    """Return c if ``equation`` computes ``exp(x − c)`` for a variable c."""
    if equation.primitive is not exp:
        return None
    difference = getattr(equation.inputs[0], "made_by", None)
    if difference is None or difference.primitive is not sub:
        return None
    shift = difference.inputs[1]
    while (made_by := getattr(shift, "made_by", None)) is not None and is_view(made_by):
        shift = made_by.inputs[0]
    if made_by is None or made_by.primitive.jvp is None or made_by.primitive.algebra.stops:
        return None
    return shift


def _is_dependent(graph: Graph, shift: Variable) -> bool:
    """Return whether the outputs of ``graph`` may depend on the value of ``shift``."""
    own = _Shifted(-1, False, tuple([None if n == 1 else axis for axis, n in enumerate(shift.shape)]))
    moved: dict[Any, _Shifted] = {shift: own}
    try:
        for equation in graph.equations:
            forms = [moved.get(x) for x in equation.inputs]
            if any(forms) and equation.primitive.jvp is not None and not equation.primitive.algebra.stops:
                form = _through(equation, forms)
                if form.power:
                    moved[equation.outputs[0]] = form
    except _Dependent:
        return True
    del moved[shift]  # only equations that read the shift change; the shift may also be an output
    return not moved.keys().isdisjoint(graph.outputs)


def _through(equation: Equation, forms: list[_Shifted | None]) -> _Shifted:
    """Return how the result of an equation changes, given the changes of its operands.

    Raises:
        _Dependent: If the result becomes neither v − p δ nor v exp(−p δ).
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
    if primitive is mul or primitive is masked_multiply or primitive is div:
        return _of_product(forms, -1 if primitive is div else 1)
    return _of_linear(equation, forms)


def _of_one(primitive: object, form: _Shifted | None) -> _Shifted:
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
    """Return how the result of a linear operator changes if an operand changes.

    Raises ``_Dependent`` if the change does not have one of the two forms of :class:`_Shifted`.
    """
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
