"""Lazy Taylor coefficients: one series instead of nested directional derivatives.

    taylor_coefficients[G, i, K](x, d) = (y_1, …, y_K),   G(x + s d) = Σ_k y_k sᵏ + O(sᴷ⁺¹),  d for input i

The derivative of y_k along ``d`` is ``(k + 1) y_{k+1}``. A further derivative in the same direction therefore
needs only one more coefficient, and the equations that compute the coefficients are not differentiated. All
other transformations use the expanded graph (:func:`expanded`, ``control.lazy``).

The expanded graph has O(K²) products per nonlinear equation of G, compared with 2ᴷ for nested forward mode
and 3ᴷ for nested reverse mode. The equation is emitted only for graphs without control flow and effects
(``passes.mode_choice``). The direction must not depend on ``x``.

Operands are the operands of ``program``, then the direction. The parameter ``argnum`` is the position of the
input with the direction, and ``order`` is the number K of coefficients. Results are the K coefficients of the
first output, then the coefficients of each further output.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from mindgrad.core.control.lazy import expand_lazy, never, pushed, series
from mindgrad.core.ir.build import Builder, building
from mindgrad.core.ir.evaluate import evaluate
from mindgrad.core.ir.graph import Atom, Equation, Graph, Variable
from mindgrad.core.ir.memo import memoized
from mindgrad.core.ir.primitive import Lazy, Primitive
from mindgrad.core.ir.rewriting import Rewrite
from mindgrad.core.ir.rules import Atoms, Tangent, Tangents
from mindgrad.core.ir.types import TensorType
from mindgrad.core.transforms.axis_propagation import Carried, alignment
from mindgrad.core.transforms.batch import push_batch
from mindgrad.core.transforms.taylor import taylor

__all__ = ["taylor_coefficients", "expanded"]

SERIES = Rewrite(
    "series",
    "D_d of the k-th Taylor coefficient along d = (k + 1) times the next one",
    "one Taylor series computes the nested derivatives",
)


@memoized
def expanded(program: Graph, argnum: int, order: int) -> Graph:
    """Return the graph from the operands to the coefficients of order 1 to ``order``."""
    whole = taylor(program, [argnum], order, 1)
    return expand_lazy(Graph(whole.inputs, whole.equations, whole.outputs[len(program.outputs) :]))


def _types(*types: TensorType, program: Graph, argnum: int, order: int) -> tuple[TensorType, ...]:
    return tuple([y.type for y in program.outputs for _ in range(order)])


def _is_same(first: Tangent, second: Tangent) -> bool:
    if first is second:
        return True
    return type(first) is not Variable and type(second) is not Variable and first.key == second.key  # type: ignore[union-attr]  # both are constants


def _jvp(ys: Atoms, xs: Atoms, ts: Tangents, program: Graph, argnum: int, order: int) -> Tangents:
    active = tuple([k for k, t in enumerate(ts) if t is not None])
    if active == (argnum,) and _is_same(ts[argnum], xs[-1]):
        SERIES.fired()
        longer = taylor_coefficients(*xs, program=program, argnum=argnum, order=order + 1)
        count = len(program.outputs)
        rows = [longer[k * (order + 1) : (k + 1) * (order + 1)] for k in range(count)]
        return [(k + 1) * row[k] for row in rows for k in range(1, order + 1)]
    directions: list[Atom] = [ts[k] for k in active]  # type: ignore[misc]  # no tangent is None
    if len(active) == 1 and active[0] < len(program.inputs) and not directions[0].linear:
        return taylor_coefficients(
            *xs, directions[0], program=_alone(program, argnum, order), argnum=active[0], order=1
        )
    return pushed(expanded(program, argnum, order), ys, xs, ts)


@memoized
def _alone(program: Graph, argnum: int, order: int) -> Graph:
    """Return a graph whose only equation is a ``taylor_coefficients`` equation.

    If the coefficients are differentiated along another direction, this graph becomes the ``program`` of the
    outer ``taylor_coefficients`` equation.
    """
    builder = Builder()
    with building(builder):
        inputs = builder.inputs_like(program.inputs)
        inputs += builder.inputs_like([program.inputs[argnum]])
        return builder.close(taylor_coefficients(*inputs, program=program, argnum=argnum, order=order))


def _batch(size: int, xs: Atoms, at: Sequence[int | None], program: Graph, argnum: int, order: int) -> tuple:
    return push_batch(expanded(program, argnum, order), xs, at, size)


def _series(equation: Equation, coefficients: Sequence[Tangents], order: int) -> list[list[Tangent]]:
    """Return the Taylor series of each coefficient ``y_k`` (rule ``series``).

    Along the direction ``d`` of the equation, ``y_k(x + s d) = Σ_j C(k + j, j) y_{k+j} sʲ``, where ``C`` is
    the binomial coefficient. For any other direction, the equation is expanded.
    """
    program, argnum, count = map(equation.parameters.__getitem__, ("program", "argnum", "order"))
    if _moves_along(coefficients, argnum):
        SERIES.fired()
        operands = [
            x if each[0] is None else each[0] for x, each in zip(equation.inputs, coefficients, strict=True)
        ]
        total = count + order
        longer = taylor_coefficients(*operands, program=program, argnum=argnum, order=total)
        rows = [longer[k : k + total] for k in range(0, len(longer), total)]
        return [
            [math.comb(k + j, j) * row[k + j - 1] if j else row[k - 1] for j in range(order + 1)]
            for row in rows
            for k in range(1, count + 1)
        ]
    return series(expanded(program, argnum, count), equation, coefficients, order)


def _moves_along(coefficients: Sequence[Tangents], argnum: int) -> bool:
    """Return whether only input ``argnum`` varies, along the equation's direction."""
    for k, series_ in enumerate(coefficients):
        first = 2 if k == argnum else 1
        if any(c is not None for c in series_[first:]):
            return False
    return coefficients[argnum][1] is not None and _is_same(coefficients[argnum][1], coefficients[-1][0])


def _taint(*xs: Atom, program: Graph, argnum: int, order: int) -> str:
    outputs = expanded(program, argnum, 1).outputs
    return "starts" if any(y.tainted for y in outputs) else "passes"


def _passage(equation: Equation) -> Callable[[int, int, int], int | None]:
    """Return a map from axes of operands to axes of results (rule ``passage``).

    A coefficient carries the same axes of an operand (computes independently along them) as the corresponding
    output of ``program``. The direction carries the axes of the input ``argnum``.
    """
    program, argnum, order = map(equation.parameters.__getitem__, ("program", "argnum", "order"))

    def through(operand: int, index: int, axis: int) -> int | None:
        y = program.outputs[index // order]
        carried = _of_input(program, argnum if operand == len(program.inputs) else operand).get(y)
        return None if carried is None else carried[axis]

    return through


@memoized
def _of_input(program: Graph, argnum: int) -> dict[Variable, Carried]:
    return alignment(program.equations, program.inputs[argnum])


taylor_coefficients: Primitive[tuple[Atom, ...]] = Primitive(
    "taylor_coefficients",
    "control",
    type_rule=_types,
    numpy=lambda *xs, program, argnum, order: tuple(evaluate(expanded(program, argnum, order), xs)),
    xla=never,
    jvp=_jvp,
    batch=_batch,
    series=_series,
    multiple=True,
    taint=_taint,
    lazy=Lazy(lambda program, argnum, order: expanded(program, argnum, order), closed=True, passage=_passage),
)
