"""``taylor``: Taylor coefficients of a function along a line.

    f(x + s v) = Σ_k c_k sᵏ

For order K, propagating Taylor series through the function (``transforms.taylor``) costs O(K²) evaluations of
the function, whereas nested derivatives cost 2ᴷ. All operators, branches, and loops are supported.

The classes below ``taylor`` are *rules* for ``trace.record.transformed``: ``rule(builder, xs, ys, extras)``
emits derivatives of ``ys`` with respect to ``xs``. Rules of equal orders are equal, so that derivatives that
are built once are found again.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from mindgrad.core.api.arguments import check_call, check_sequences, like_tree, recorded_run
from mindgrad.core.api.jacobian import blocks_of
from mindgrad.core.ir.build import Builder
from mindgrad.core.ir.graph import Atom, Variable
from mindgrad.core.ir.rules import Atoms
from mindgrad.core.primitives.kinds import ones
from mindgrad.core.primitives.static_slices import concatenate, slice_axis
from mindgrad.core.primitives.structural import reshape
from mindgrad.core.trace.record import transformed
from mindgrad.core.transforms.apply_rule import between
from mindgrad.core.transforms.taylor import taylor as series_of

__all__ = ["AlongLine", "LastDerivative", "ScaledCoefficients", "taylor"]


def taylor(
    function: Callable[..., object], primals: Sequence[object], tangents: Sequence[object], order: int
) -> Any:
    """Compute the Taylor coefficients of ``function`` along a line.

    The coefficients c are defined by ``f(x + s v) = c₀ + c₁ s + … + c_K sᴷ + O(sᴷ⁺¹)``.

    Args:
        function: function of floating-point Tensors, floats, NumPy arrays, or containers of them.
        primals: tuple or list of the arguments x of ``function``.
        tangents: tuple or list of directions v, with the structures and types of the arguments.
        order: the order K, at least 0.

    Returns:
        Tensor, or structure of Tensors: coefficients of shape ``(K + 1, *output.shape)``, in the structure of
        the output. The derivatives are ``c_k · k!``.

    Raises:
        TypeError: If ``order`` is not an int, an argument has no derivative, or the structure or dtype of a
            tangent differs from its argument.
        ValueError: If ``order`` is negative, or the shape of a tangent differs from its argument.

    >>> from mindgrad.core import taylor
    >>> print(taylor(lambda x: 1 / (1 - x), (0.0,), (1.0,), 4))
    [1. 1. 1. 1. 1.]
    """
    check_call(taylor, function)
    check_sequences("taylor", primals=primals, tangents=tangents)
    if isinstance(order, bool) or not isinstance(order, int):
        raise TypeError(f"For 'taylor', the order must be an int, but got {order!r}.")
    if order < 0:
        raise ValueError(f"For 'taylor', the order must not be negative, but got {order}.")
    run = recorded_run("taylor", function, tuple(primals), {}, range(len(primals)))
    vectors = like_tree("taylor", "tangents", tuple(tangents), run.inputs.values())
    rule: Callable[..., list[Atom]] = AlongLine(order)
    _, results = transformed(run.recorded, rule, vectors, run.outputs)
    count = len(run.outputs)
    return blocks_of(run, run.result(results[:count])[0], results[count:])


def _coefficients(
    builder: Builder, xs: Sequence[Variable], ys: Atoms, series: Sequence[Atoms], order: int
) -> tuple[Atoms, list[list[Atom]]]:
    """Return the values of ``ys``, and their Taylor coefficients from order 1.

    ``series`` contains, for each of ``xs``, its Taylor coefficients from order 1.
    """
    graph, needed = between(builder, xs, ys)
    active = range(len(needed), len(needed) + len(xs))
    program = series_of(graph, active, order, len(series[0]))
    outputs = builder.inline(program, [*needed, *xs, *[c for row in series for c in row]])
    values, coefficients = outputs[: len(ys)], outputs[len(ys) :]
    return values, [list(coefficients[k * order : (k + 1) * order]) for k in range(len(ys))]


def _stacked(atoms: Atoms) -> Atom:
    rows = [reshape(atom, shape=(1, *atom.shape)) for atom in atoms]
    return concatenate(*rows, axis=0) if len(rows) > 1 else rows[0]


@dataclass(frozen=True)
class ScaledCoefficients:
    """The rule of ``jet``, which propagates derivatives up to order ``order``.

    The Taylor coefficient of order k is the derivative of order k divided by k!.
    """

    order: int

    def __call__(self, builder: Builder, xs: Sequence[Variable], ys: Atoms, series: Atoms) -> list[Atom]:
        orders = range(1, self.order + 1)
        given = [[_row(d, k - 1) / float(math.factorial(k)) for k in orders] for d in series]
        values, found = _coefficients(builder, xs, ys, given, self.order)
        scaled = [_stacked([c * float(math.factorial(k)) for k, c in enumerate(each, 1)]) for each in found]
        return [*values, *scaled]


def _row(rows: Atom, index: int) -> Atom:
    return reshape(slice_axis(rows, 0, index, index + 1), shape=rows.shape[1:])


@dataclass(frozen=True)
class LastDerivative:
    """The rule of ``derivative``: the derivative of order ``order`` only."""

    order: int

    def __call__(self, builder: Builder, xs: Sequence[Variable], ys: Atoms, _: Atoms) -> list[Atom]:
        values, found = _coefficients(builder, xs, ys, [[ones(x.type)] for x in xs], self.order)
        return [*values, *[each[-1] * float(math.factorial(self.order)) for each in found]]


@dataclass(frozen=True)
class AlongLine:
    """The rule of ``taylor``: coefficients of f(x + s v) up to order ``order``."""

    order: int

    def __call__(self, builder: Builder, xs: Sequence[Variable], ys: Atoms, directions: Atoms) -> list[Atom]:
        series = [[v] for v in directions] or [[ones(x.type)] for x in xs]
        if not self.order:
            return [*ys, *[_stacked([y]) for y in ys]]
        values, coefficients = _coefficients(builder, xs, ys, series, self.order)
        return [*values, *[_stacked([y, *row]) for y, row in zip(values, coefficients, strict=True)]]
