"""``laplacian`` and other sums of second derivatives over directions.

    laplacian(f)(x) = Σ_d ∂²f/∂x_d²

``x`` has shape ``(…, D)``: the last axis contains the coordinates of a point, and the leading axes index the
points. ``f`` computes a value for each point. Second derivatives are added while they are computed
(``transforms.forward_laplacian``), so no Hessian is stored. The cost is about D + 2 evaluations of ``f``.

Below ``laplacian`` are *rules* for ``trace.record.transformed``: ``rule(builder, xs, ys, extras)`` emits
derivatives of ``ys`` with respect to ``xs``. Rules with equal parameters are equal, so that derivatives that
are built once are found again.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Never

from mindgrad.core.api.arguments import Run, check_call, recorded_run
from mindgrad.core.api.jacobian import blocks_of
from mindgrad.core.ir.build import Builder, current
from mindgrad.core.ir.graph import Atom, Equation, Variable
from mindgrad.core.ir.rules import Atoms
from mindgrad.core.passes.direction_batches import Directions, spread, summed
from mindgrad.core.primitives.batching import moved, placed
from mindgrad.core.primitives.kinds import zeros
from mindgrad.core.primitives.reduction import reduce_sum
from mindgrad.core.primitives.structural import broadcast_in_dim, reshape
from mindgrad.core.trace.record import transformed
from mindgrad.core.transforms.apply_rule import between, directional
from mindgrad.core.transforms.batch import push_batch
from mindgrad.core.transforms.forward import forward_rule
from mindgrad.core.transforms.jacobians import identity
from mindgrad.core.transforms.sample_independence import mixing
from mindgrad.core.transforms.taylor import taylor

__all__ = ["AlongDirection", "OnPoints", "SummedDirections", "divergence_rule", "laplacian"]

Rule = Callable[..., list[Atom]]


def laplacian(function: Callable[..., object], argnums: int = 0, **unknown: Never) -> Callable[..., Any]:
    """Return a function that computes the Laplacian ``Σ_d ∂²f/∂x_d²`` of ``function``.

    Args:
        function: function of points. It maps a tensor of shape ``(…, D)``, whose leading axes index the
            points, to a tensor of shape ``(…)``, ``(…, 1)``, or ``(…, K)`` for K values per point.
        argnums: index of the positional argument that contains the points. Default: ``0``.

    Returns:
        Callable: function of the same arguments. It returns the Laplacian at each point.

    Raises:
        TypeError: If the points or the output are not real floating-point tensors.
        ValueError: If the output does not have a value for each point, or a value depends on several points.

    >>> from mindgrad.core import laplacian, numpy as np
    >>> print(laplacian(lambda x: np.sum(x**3, -1))(np.array([[1.0, 2.0], [0.0, 1.0]])))
    [18.  6.]
    """
    check_call(laplacian, function, unknown)
    rule: Rule = OnPoints("laplacian", SummedDirections("unit"))

    @functools.wraps(function, assigned=("__module__", "__name__", "__doc__"), updated=())
    def compute(*args: object, **kwargs: object) -> Any:
        run = recorded_run("laplacian", function, args, kwargs, argnums)
        _check_points(run)
        outputs, derivatives = transformed(run.recorded, rule, (), run.outputs)
        return blocks_of(run, run.result(outputs)[0], derivatives)

    return compute


def _check_points(run: Run) -> None:
    x, *others = run.inputs.tensors
    if others or not x.dtype.is_float or any(not y.dtype.is_float for y in run.outputs):
        raise TypeError("For 'laplacian', the points and the output must be real floating-point tensors.")
    if not x.ndim or not x.shape[-1]:
        raise ValueError(
            f"For 'laplacian', the last axis of the points must contain coordinates, but got shape {x.shape}."
        )
    for y in run.outputs:
        if y.shape[: x.ndim - 1] != x.shape[:-1]:
            raise ValueError(
                f"For 'laplacian', the function must return a value for each point. For points of shape "
                f"{x.shape}, its output must have shape {x.shape[:-1]}, but it has shape {y.shape}."
            )


def _as_directions(matrix: Atom, axis: int) -> Atom:
    """Move the columns (axis −1) or rows (axis −2) of matrices to the first axis."""
    return moved(matrix, len(matrix.shape) + axis, 0)


@dataclass(frozen=True)
class OnPoints:
    """``rule`` with a check that each output depends on one point only.

    ``owner`` is the name of the caller in the error message.
    """

    owner: str
    rule: Rule

    def __call__(self, builder: Builder, xs: Sequence[Variable], ys: Atoms, extras: Atoms) -> list[Atom]:
        for x in xs:
            for y in ys:
                found = mixing(builder.equations, x, range(len(x.shape) - 1), y)
                if found is not None:
                    raise ValueError(_points_are_mixed(self.owner, x, found))
        return self.rule(builder, xs, ys, extras)


@dataclass(frozen=True)
class SummedDirections:
    """Rule that sums second derivatives of the outputs over directions.

    Args:
        form: the sum. ``"unit"``: Σ_d ∂²f/∂x_d². ``"factor"``: Σ_k D²f[b_k, b_k] for the columns b_k of the
            matrix that is passed as an extra. Any other value: Σ_d w_d ∂²f/∂x_d² or Σ_de A_de ∂²f/∂x_d∂x_e,
            if a vector w or a matrix A is passed as an extra.
        is_whole: whether to compute all directions at the same time, instead of in tiles.
    """

    form: str
    is_whole: bool = False

    def __call__(self, builder: Builder, xs: Sequence[Variable], ys: Atoms, extras: Atoms) -> list[Atom]:
        equations = list(builder.equations)
        results: list[Atom] = []
        for x in xs:
            directions = _directions(self.form, x, extras)
            found = summed(builder, equations, x, ys, directions, self.is_whole)
            results += [_per_point(each, x) for each in found]
        return results


def _per_point(y: Atom, x: Variable) -> Atom:
    """Remove the trailing axis of size 1 of an output with one value per point."""
    lead = x.shape[:-1]
    return reshape(y, shape=lead) if y.shape == (*lead, 1) else y


@dataclass(frozen=True)
class AlongDirection:
    """Rule that emits the derivative of order ``order`` along one direction."""

    order: int

    def __call__(self, builder: Builder, xs: Sequence[Variable], ys: Atoms, extras: Atoms) -> list[Atom]:
        (x,), (v,), order = xs, extras, self.order
        if v.shape != x.shape:
            v = broadcast_in_dim(v, shape=x.shape, dims=(len(x.shape) - 1,))
        program, needed = between(builder, [x], ys)
        series = taylor(program, [len(needed)], order)
        found = current().inline(series, [*needed, x, v, *[zeros(x.type)] * (order - 1)])[len(ys) :]
        return [_per_point(found[(k + 1) * order - 1] * math.factorial(order), x) for k in range(len(ys))]


def _directions(form: str, x: Variable, operands: Atoms) -> Directions:
    if form == "factor":
        return Directions(_as_directions(operands[0], -1))
    unit = identity(x.type.with_shape(x.shape[-1:]))
    if form == "unit":
        return Directions(unit)
    (operand,) = operands
    if len(operand.shape) == 1:
        return Directions(unit, weights=operand)
    return Directions(unit, _as_directions(operand, -2))


def divergence_rule(builder: Builder, xs: Sequence[Variable], ys: Atoms, extras: Atoms) -> list[Atom]:
    """Emit the sum Σ_d v_d · (J v_d), such as the divergence of a vector field.

    J is the Jacobian of ``ys`` with respect to ``xs``. The vectors v_d are the columns of the matrix
    ``extras[0]``. By default, they are the unit vectors, for which the sum is the divergence.
    """
    results: list[Atom] = []
    for x in xs:
        rows = _as_directions(extras[0], -1) if extras else identity(x.type.with_shape(x.shape[-1:]))
        directions = spread(rows, x)
        graph, needed = directional(builder, forward_rule, [x], ys, [x.type], is_forward=True)
        size = directions.shape[0]
        pushed, places = push_batch(graph, [*needed, directions], [*[None] * len(needed), 0], size)
        for y, t, at in zip(ys, pushed, places, strict=True):
            if at is None:  # ``y`` does not depend on ``x``
                results.append(zeros(y.type.with_shape(y.shape[:-1])))
                continue
            results.append(reduce_sum(placed(size, t, at, 0) * directions, axes=(0, len(y.shape))))
    return results


def _points_are_mixed(owner: str, x: Variable, equation: Equation) -> str:
    """Return the error message for an equation that combines values of several points."""
    location = f" in {equation.source[0]}:{equation.source[1]}" if equation.source else ""
    return (
        f"For '{owner}', each output value must depend on one point only, but for an input of shape "
        f"{x.shape}, '{equation.primitive.name}' combines several points{location}, as batch normalization "
        f"does in training. Apply '{owner}' to the function of one point, and map it over the points: "
        f"vmap({owner}(f))(x)."
    )
