"""Built-in solvers: Newton's method with a line search, and fixed-point iteration."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from mindgrad.core.control.implicit import jacobian_system
from mindgrad.core.ir.evaluate import inline_here
from mindgrad.core.ir.scope import apply
from mindgrad.core.ir.tensor import Tensor
from mindgrad.core.primitives.piecewise import maximum
from mindgrad.solvers.iterate import Function, Value, chosen, held, repeat
from mindgrad.solvers.linear_solvers import LinearSolver, dot

__all__ = ["SolverInfo", "iterated", "minimized", "newton"]

#: smallest step that the line search tries, as a fraction of the full step. The line search halves the step
#: until it is accepted, and fails below this limit
_HALVINGS = 2.0**-20
#: Armijo's condition: the step must decrease the objective by at least this fraction of the decrease that the
#: slope predicts
_DECREASE = 1e-4
#: increase of the objective, in rounding errors, up to which the line search still accepts a step
_ROUNDINGS = 8
#: a short Newton step is accepted if it multiplies the squared norm of the gradient by at most this factor
_FLATTER = 0.25


class SolverInfo(NamedTuple):
    """Statistics of a built-in solver, as tensors without derivatives.

    Args:
        iterations, error, converged (Tensor): values of the attributes. The solvers create the object.

    Attributes:
        iterations (Tensor): number of steps of the solver; -1 for :func:`custom_linear_solve`, which does not
            count them.
        error (Tensor): largest absolute change of an element of ``x`` in the last proposed step. For a linear
            system, the norm of the residual divided by the norm of the right-hand side.
        converged (Tensor): Boolean, whether ``error`` is below the tolerance of the solver.

    >>> import mindgrad as ms
    >>> x, info = ms.fixed_point(lambda x: ms.ops.cos(x), ms.Tensor(1.0), has_aux=True)
    >>> print(info.converged)
    True

    See Also:
        :func:`mindgrad.custom_root`, :func:`mindgrad.fixed_point`, :func:`mindgrad.argmin`,
        :class:`mindgrad.OdeInfo`
    """

    iterations: Tensor
    error: Tensor
    converged: Tensor


def _largest(xs: Sequence[Value]) -> Value:
    largest = Tensor(0.0, xs[0].dtype)
    for element in [x.abs().max() for x in xs if x.size]:
        largest = apply(maximum, largest, element)  # `maximum` returns NaN if an operand is NaN
    return largest


def _is_small(change: Value, xs: Sequence[Value], tol: float) -> Value:
    # `<` instead of `<=`, because the result must be false if both sides are infinite
    return change < tol * (1 + _largest(xs))


def newton(
    function: Function, start: Sequence[Value], solver: LinearSolver, tol: float, maxiter: int
) -> tuple[list[Value], SolverInfo]:
    outside = [held(x) for x in function.outside]
    solution = jacobian_system(function.graph, len(outside), solver, solver).solution

    def towards(xs: list[Value], values: list[Value]) -> list[Value]:
        return inline_here(solution, [*outside, *xs, *values])

    def residual(xs: Sequence[Value]) -> tuple[list[Value], Value]:
        values = function(outside, xs)
        return values, dot(values, values)

    def descent(xs: list[Value]) -> Any:
        values, square = residual(xs)
        step = towards(xs, values)
        return step, lambda x: (residual(x)[1],), lambda t, after: after <= square

    return _descended(descent, start, tol, maxiter)


def minimized(
    objective: Function,
    function: Function,
    start: Sequence[Value],
    solver: LinearSolver,
    tol: float,
    maxiter: int,
) -> tuple[list[Value], SolverInfo]:
    outside = [held(x) for x in function.outside]
    solution = jacobian_system(function.graph, len(outside), solver, solver).solution

    def value(xs: Sequence[Value]) -> Value:
        return objective(outside, xs)[0].reshape(())

    def merit(xs: list[Value]) -> tuple[Value, Value]:
        slopes = function(outside, xs)
        return value(xs), dot(slopes, slopes)

    precision = float(np.finfo(start[0].dtype.numpy).eps)

    def descent(xs: list[Value]) -> Any:
        slopes = function(outside, xs)
        step = inline_here(solution, [*outside, *xs, *slopes])
        is_down = dot(slopes, step) > 0
        step = [chosen(is_down, a, b) for a, b in zip(step, slopes, strict=True)]
        now, slope, square = value(xs), dot(slopes, step), dot(slopes, slopes)
        rounding = _ROUNDINGS * precision * now.abs()
        is_local = is_down & _is_small(_largest(step), xs, precision ** (1 / 3))

        def is_enough(t: Value, after: Value, square_after: Value) -> Value:
            # in a short step, the objective may change by less than its rounding error, so compare gradients
            # too
            is_flatter = is_local & (square_after <= _FLATTER * square)
            return (after <= now - _DECREASE * t * slope + rounding) | is_flatter

        return step, merit, is_enough

    return _descended(descent, start, tol, maxiter)


def _descended(
    descent: Callable[..., Any], start: Sequence[Value], tol: float, maxiter: int
) -> tuple[list[Value], SolverInfo]:
    """Run an iteration with a line search from ``start`` until its steps are small.

    The line search halves a step until it is accepted. ``descent(xs)`` returns a tuple:

    - a step, which is subtracted from ``xs``;
    - a function from a point to its merits, a tuple of numbers such as the value of the objective;
    - a function ``(t, *merits)`` that decides whether to accept the fraction ``t`` of the step, given the
      merits of the new point.
    """
    xs = [held(x) for x in start]
    full_step = Tensor(1.0, xs[0].dtype)

    def continues(iterations: Value, change: Value, going: Value, *xs: Value) -> Value:
        return going & (iterations < maxiter)

    def iteration(iterations: Value, _: Value, __: Value, *xs: Value) -> tuple:
        step, merit, is_enough = descent(list(xs))
        change = _largest(step)
        is_done = _is_small(change, xs, tol)

        def moved(t: Value) -> list[Value]:
            return [x - t * s for x, s in zip(xs, step, strict=True)]

        def is_too_long(t: Value, *merits: Value) -> Value:
            return ~is_enough(t, *merits) & ~is_done & (t > _HALVINGS)

        def halved(t: Value, *_: Value) -> tuple[Value, ...]:
            return (t / 2, *merit(moved(t / 2)))

        t, *_ = repeat(is_too_long, halved, full_step, *merit(moved(full_step)))
        is_moved = is_done | (t > _HALVINGS)
        after = [chosen(is_moved, a, x) for a, x in zip(moved(t), xs, strict=True)]
        return (iterations + 1, change, ~is_done & is_moved, *after)

    last = repeat(continues, iteration, Tensor(0), full_step, Tensor(True), *xs)
    xs = list(last[3:])
    return xs, SolverInfo(last[0], last[1], _is_small(last[1], xs, tol))


def iterated(
    function: Function, start: Sequence[Value], tol: float, maxiter: int
) -> tuple[list[Value], SolverInfo]:
    """Repeat ``x ← x + function(x)`` until the change of ``x`` is small."""
    xs = [held(x) for x in start]
    outside = [held(x) for x in function.outside]

    def continues(iterations: Value, change: Value, *xs: Value) -> Value:
        # if the change is NaN, the comparison is false and the loop ends
        return (change > tol * (1 + _largest(xs))) & (iterations < maxiter)

    def iteration(iterations: Value, _: Value, *xs: Value) -> tuple:
        values = function(outside, xs)
        return (iterations + 1, _largest(values), *[x + r for x, r in zip(xs, values, strict=True)])

    change = _largest(function(outside, xs))
    found = repeat(continues, iteration, Tensor(0), change, *xs)
    return list(found[2:]), SolverInfo(found[0], found[1], _is_small(found[1], found[2:], tol))
