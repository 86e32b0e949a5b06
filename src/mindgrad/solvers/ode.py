"""``odeint``: solve initial value problems by an adaptive Runge–Kutta method.

    y(t₀) = y₀,    dy/dt = f(y, t, *args)

The method is DOPRI5, of order 5: J. R. Dormand and P. J. Prince, *A family of embedded Runge–Kutta formulae*
(1980). The dense output of order 4, the step size control, and the choice of the first step follow E. Hairer,
S. P. Nørsett, and G. Wanner, *Solving Ordinary Differential Equations I*, 2nd edition, II.4–II.6.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from mindgrad.api.arguments import check_callable, explains_keywords
from mindgrad.core.base.tree import flatten, unflatten
from mindgrad.core.ir.build import Builder, building
from mindgrad.core.ir.dtype import DType, int32
from mindgrad.core.ir.evaluate import inline_here
from mindgrad.core.ir.graph import Graph
from mindgrad.core.ir.scope import apply, lifted
from mindgrad.core.ir.tensor import Tensor
from mindgrad.core.primitives.complexes import conj
from mindgrad.core.primitives.static_slices import concatenate, reverse
from mindgrad.core.trace import references
from mindgrad.core.trace.custom import CustomDerivative
from mindgrad.core.transforms.reverse import pull_back
from mindgrad.frontend import user_calls
from mindgrad.frontend.control.loops import scanned
from mindgrad.frontend.control.variables import State
from mindgrad.solvers.convergence import warn_unless_reached
from mindgrad.solvers.iterate import (
    Function,
    Value,
    Values,
    as_tensors,
    check_precision,
    chosen,
    held,
    repeat,
)
from mindgrad.solvers.linear_solvers import dot
from mindgrad.solvers.real_parts import from_real, in_real_parts, real_of
from mindgrad.solvers.runge_kutta import Slope, interpolated, stepped

__all__ = ["OdeInfo", "odeint"]

_SAFETY, _SHRINK, _GROW = 0.9, 0.2, 10.0


class OdeInfo(NamedTuple):
    """Statistics of :func:`odeint`, as tensors without derivatives.

    Args:
        steps, rejected, converged (Tensor): values of the attributes. :func:`odeint` creates the object.

    Attributes:
        steps (Tensor): number of attempted steps.
        rejected (Tensor): number of steps whose estimated error was too large, so that they were repeated
            with a smaller step size.
        converged (Tensor): whether the solver reached the last time in ``t``.

    >>> import mindgrad as ms
    >>> times = ms.Tensor([0.0, 1.0])
    >>> y, info = ms.odeint(lambda y, t: -y, ms.Tensor([1.0]), times, has_aux=True)
    >>> print(info.converged, info.rejected)
    True 0

    See Also:
        :func:`mindgrad.odeint`, :class:`mindgrad.SolverInfo`
    """

    steps: Tensor
    rejected: Tensor
    converged: Tensor


class _Now(NamedTuple):
    """State of the solver after a step.

    Attributes:
        t0, t1: start and end of the last step.
        h: size of the next step.
        steps, rejected: numbers of attempted and of rejected steps.
        y0, y1: solutions at ``t0`` and ``t1``.
        f0, f1: slopes ``f(y, t)`` at ``t0`` and ``t1``.
        bend: last coefficient of the dense output, a polynomial that interpolates the solution in the step.
    """

    t0: Value
    t1: Value
    h: Value
    steps: Value
    rejected: Value
    y0: Values
    y1: Values
    f0: Values
    f1: Values
    bend: Values


@explains_keywords
def odeint(
    f: Callable[..., Any],
    y0: Any,
    t: Tensor,
    *args: Any,
    rtol: float | None = None,
    atol: float | None = None,
    max_steps: int = 100_000,
    adjoint: bool = False,
    has_aux: bool = False,
) -> Any:
    """Solve the initial value problem ``dy/dt = f(y, t, *args)``, ``y(t[0]) = y0``.

    The solver takes adaptive Runge–Kutta steps (Dormand–Prince, order 5) and keeps the estimated
    error of each step below ``atol + rtol |y|``. Values at the times ``t`` are interpolated to order 4, so
    ``t`` does not influence the steps. The method is meant for nonstiff problems.

    Args:
        f (Callable or Cell): right-hand side ``f(y, t, *args)``. ``f`` returns the slope, with the structure,
            shapes, and dtypes of ``y0``. Its argument ``t`` is a scalar Tensor.
        y0 (Tensor, tuple, list, or dict): state at ``t[0]``: a Tensor, or a container of Tensors that all
            have the same floating-point or complex dtype.
        t (Tensor): 1-D Tensor of increasing or decreasing times. The first is the initial time. They are
            converted to the dtype of ``y0``, or of its real part.
        *args (Any): further arguments of ``f``.
        rtol (float, optional): relative tolerance of the error of one step. ``None``: 1e-7 in float64, 1e-4
            in float32. Default: ``None``.
        atol (float, optional): absolute tolerance of the error of one step. ``None``: 1e-9 in float64, 1e-6
            in float32. Default: ``None``.
        max_steps (int, optional): maximum number of steps. Default: ``100000``.
        adjoint (bool, optional): whether reverse mode solves the adjoint equation, see below. Default:
            ``False``.
        has_aux (bool, optional): whether to return ``(states, info)``, where ``info`` is an :class:`OdeInfo`.
            Default: ``False``.

    Returns:
        Tensor, tuple, list, or dict: the states at the times ``t``, with the structure of ``y0`` and an
        additional first axis with one entry for each time. With ``has_aux``, ``(states, info)``.

        If the solver needs more than ``max_steps`` steps, or the step size underflows (at a pole, or for a
        stiff problem), the remaining states are NaN and ``info.converged`` is False. Without ``has_aux``,
        eager mode issues a warning once for each source line that calls ``odeint``.

    Raises:
        TypeError: If ``f`` is not callable, or ``y0``, ``t``, or the result of ``f`` has an unsupported type
            or dtype.
        ValueError: If the shape of the result of ``f`` differs from ``y0``, or ``t`` is not 1-D or not
            monotonic. If ``t`` is unknown at compile time, nonmonotonic times give NaN instead.

    Derivatives with respect to ``y0``, ``t``, ``args``, and other tensors that ``f`` uses, such as
    Parameters, are computed in one of two ways:

    - *Direct* (default): mindgrad differentiates the steps of the solver, with fixed step sizes. The
      derivative of the computed solution is exact up to rounding, in forward and reverse mode and to any
      order. The memory of a compiled function is bounded for any number of steps
      (``docs/howto/control_flow.md``); eager memory grows with the steps.
    - ``adjoint=True``: reverse mode solves the adjoint equation backward in time, from the solution at the
      last time (L. S. Pontryagin; R. T. Q. Chen et al., *Neural Ordinary Differential Equations*, 2018). It
      stores nothing for the steps. Its gradient is only as accurate as ``rtol`` and ``atol``, and the
      backward solution is unstable if the forward solution is damped.

    >>> import mindgrad as ms
    >>> def decay(rate):
    ...     return ms.odeint(lambda y, t, rate: -rate * y, ms.Tensor([1.0]), ms.Tensor([0.0, 1.0]), rate)[-1]
    >>> y, slope = ms.value_and_grad(decay)(ms.Tensor(2.0))
    >>> print(f"{y.item():.4f} {slope.item():.4f}")  # exp(-2), -exp(-2)
    0.1353 -0.1353

    See Also:
        :func:`mindgrad.custom_root`, :func:`mindgrad.grad`
    """
    owner = "odeint"
    check_callable(owner, f)
    ys, structure = as_tensors(owner, "y0", y0)
    times = _times(t, check_precision(owner, "y0", ys))
    wide = times.dtype.itemsize == 8
    rtol = (1e-7 if wide else 1e-4) if rtol is None else rtol
    atol = (1e-9 if wide else 1e-6) if atol is None else atol
    types = [y.type for y in ys]
    function = Function(
        owner,
        "f(y, t)",
        lambda given: user_calls.run(f, *given, *args),
        [*types, times.type.with_shape(())],
        flatten((y0, times))[1],
        (structure, types),
    )
    if any(y.dtype.kind == "complex" for y in ys):
        outside = len(function.outside)
        function = function.with_graph(in_real_parts(function.graph, outside, outside + len(ys), times.dtype))
        ys = [real_of(y, times.dtype) for y in ys]
    count = len(ys)

    def solved(outside: Any, ys: Any, times: Any) -> tuple[Any, ...]:
        def slope(y: Values, at: Value) -> Values:
            return function(outside, [*y, at])

        return _solved(slope, list(ys), times, rtol, atol, max_steps)

    if adjoint:

        def bprop(outside: Any, ys: Any, times: Any, out: Any, dout: Any) -> tuple[Any, ...]:
            return _adjoint(function.graph, outside, times, out[:count], dout[:count], rtol, atol, max_steps)

        run: Callable[..., Any] = CustomDerivative(solved, bprop, owner)
    else:
        run = solved
    *rows, steps, rejected, converged = run(tuple(function.outside), tuple(ys), times)
    states = unflatten(structure, [from_real(x, y.dtype, 1) for x, y in zip(rows, types, strict=True)])
    info = OdeInfo(held(steps), held(rejected), held(converged))
    if not has_aux:
        warn_unless_reached(info, max_steps)
    return (states, info) if has_aux else states


def _times(t: Any, dtype: DType) -> Value:
    if not isinstance(t, (Tensor, np.ndarray, list, tuple)):
        raise TypeError(
            f"For 'odeint', the times 't' must be a 1-D Tensor, array, or list, but got {type(t).__name__}."
        )
    t = lifted(references.read(t) if isinstance(t, Tensor) else Tensor(t))
    if len(t.shape) != 1 or not t.shape[0]:
        raise ValueError(f"For 'odeint', the times 't' must be 1-D, but got the shape {t.shape}.")
    if t._array is not None:
        times = t.host_array()
        steps = np.diff(times)
        if not ((steps >= 0).all() or (steps <= 0).all()):
            raise ValueError(
                f"For 'odeint', the times 't' must be monotonic, but got "
                f"{np.array2string(times, threshold=8, edgeitems=3)}."
            )
    return real_of(t, dtype)


# -- the method ------------------------------------------------------------------------------------


def _solved(
    slope: Slope, ys: Values, times: Value, rtol: float, atol: float, max_steps: int
) -> tuple[Any, ...]:
    """Solve the initial value problem, and return the solution at ``times``.

    Returns:
        tuple: one tensor for each of ``ys``, with a first axis of times, then the fields of :class:`OdeInfo`.
    """
    start, end = times[0], held(times[-1])
    f0 = slope(ys, start)
    h = _first_step(slope, [held(y) for y in ys], [held(f) for f in f0], held(start), end, rtol, atol)
    zero = [y * 0 for y in ys]
    parts = _packed(_Now(start, start, h, Tensor(0, int32), Tensor(0, int32), ys, ys, f0, f0, zero))
    rows: list[list[Value]] = [[y] for y in ys]

    def advance(target: Value) -> None:
        nonlocal parts
        now = _unpacked(parts, len(ys))
        now = _reach(slope, now, held(target), end, rtol, atol, max_steps)
        is_there = _is_reached(held(now.t1), held(target), h)
        for row, y in zip(rows, _within(now, target), strict=True):
            row.append(chosen(is_there, y, y * 0 + float("nan")))
        parts = _packed(now)

    targets = times[1:]
    if references.is_compiling():

        def get() -> tuple[Any, ...]:
            return (parts, *rows)

        def put(values: tuple[Any, ...]) -> None:
            nonlocal parts, rows
            parts, rows = values[0], list(values[1:])

        names = ["the state of the solver", *[f"the states {k}" for k in range(len(ys))]]
        if targets.shape[0] > 1:
            # a scan over the times: XLA compiles the loop over steps once, not once for each time
            scanned(
                targets.shape[0],
                [(targets, False)],
                lambda given: advance(given[0]),
                State(get, put, names),
                lambda _: True,
            )
        elif targets.shape[0]:
            advance(targets[0])
    else:
        for k in range(targets.shape[0]):
            advance(targets[k])
    now = _unpacked(parts, len(ys))
    return (*map(_stacked, rows), now.steps, now.rejected, _is_reached(held(now.t1), end, h))


def _is_reached(t: Value, target: Value, direction: Value) -> Value:
    """Return whether ``t`` has reached ``target``, up to rounding errors.

    ``direction`` is positive if time increases, and negative if it decreases.
    """
    precision = 8 * float(np.finfo(t.dtype.numpy).eps)
    return (target - t) * direction.sign() <= precision * (t.abs() + target.abs())


def _within(now: _Now, target: Value) -> Values:
    return interpolated(now.t0, now.t1, now.y0, now.y1, now.f0, now.f1, now.bend, target)


def _reach(
    slope: Slope, now: _Now, target: Value, end: Value, rtol: float, atol: float, max_steps: int
) -> _Now:
    """Take steps until the last step contains ``target``, and return the solver state.

    ``end`` is the last time of the problem. No step goes beyond it.
    """
    shortest = 16 * float(np.finfo(target.dtype.numpy).eps)
    direction = now.h
    count = len(now.y0)

    def continues(*parts: Any) -> Value:
        now = _unpacked(parts, count)
        t = held(now.t1)
        is_possible = (now.steps < max_steps) & (now.h.abs() > shortest * t.abs())
        return ~_is_reached(t, target, direction) & is_possible

    def iteration(*parts: Any) -> tuple[Any, ...]:
        now = _unpacked(parts, count)
        rest = end - held(now.t1)
        # shorten the step that would pass the last time, because f may be undefined after it
        h = chosen(rest.abs() < now.h.abs(), rest, now.h)
        step = stepped(slope, now.y1, now.f1, now.t1, h)
        ratio = _ratio([held(e) for e in step.error], now.y1, step.y, rtol, atol)
        is_good = ratio <= 1
        share = _SAFETY * ratio ** (-0.2)
        # the comparison is false for NaN, so NaN is also replaced by _SHRINK
        share = chosen(share > _SHRINK, share, Tensor(np.array(_SHRINK, share.dtype.numpy)))
        following = chosen(share < _GROW, h * share, h * _GROW)
        steps, rejected = now.steps + 1, now.rejected + (~is_good).astype(int32)
        accepted = _Now(
            now.t1, now.t1 + h, following, steps, rejected, now.y1, step.y, now.f1, step.slope, step.bend
        )
        before = now._replace(h=following, steps=steps, rejected=rejected)
        pairs = zip(_packed(accepted), _packed(before), strict=True)
        return tuple([a if a is b else chosen(is_good, a, b) for a, b in pairs])

    return _unpacked(repeat(continues, iteration, *_packed(now)), count)


def _packed(now: _Now) -> tuple[Any, ...]:
    """Convert the solver state to a tuple of tensors, the carry of a loop.

    In compiled functions, the tensors are stacked into few arrays, because each array of a carry is saved
    separately for reverse mode.
    """
    groups = (now.y0, now.y1, now.f0, now.f1, now.bend)
    if not references.is_compiling():
        return (*now[:5], *[x for group in groups for x in group])
    states = [_stacked(parts) for parts in zip(*groups, strict=True)]
    return (_stacked(now[:3]), _stacked(now[3:5]), *states)


def _unpacked(parts: Sequence[Any], count: int) -> _Now:
    if not references.is_compiling():
        groups = [list(parts[k : k + count]) for k in range(5, 5 + 5 * count, count)]
        return _Now(*parts[:5], *groups)
    clock, counts, *states = parts
    groups = [[x[k] for x in states] for k in range(5)]
    return _Now(clock[0], clock[1], held(clock[2]), counts[0], counts[1], *groups)


def _stacked(xs: Sequence[Value]) -> Value:
    return apply(concatenate, *[x.reshape((1, *x.shape)) for x in xs], axis=0)


def _ratio(error: Values, before: Values, after: Values, rtol: float, atol: float) -> Value:
    """Return the root mean square of the errors divided by the tolerances.

    A step is accepted if this ratio is at most 1. The tolerance of an element is ``atol + rtol max(|a|,
    |b|)``, where ``a`` and ``b`` are its values before and after the step.
    """
    total, size = None, 0
    for e, a, b in zip(error, before, after, strict=True):
        a, b = held(a).abs(), held(b).abs()
        part = ((e / (atol + rtol * (a + b + (a - b).abs()) / 2)) ** 2).sum()
        total, size = part if total is None else total + part, size + e.size
    assert total is not None
    return (total / max(size, 1)).sqrt()


def _first_step(
    slope: Slope, ys: Values, fs: Values, start: Value, end: Value, rtol: float, atol: float
) -> Value:
    """Return the signed size of the first step (Hairer, Nørsett, and Wanner, II.4)."""
    direction = (end - start).sign()
    d0, d1 = (_ratio(x, ys, ys, rtol, atol) for x in (ys, fs))
    is_flat = (d0 < 1e-5) | (d1 < 1e-5)
    h0 = chosen(is_flat, d0 * 0 + 1e-6, 0.01 * d0 / d1)
    shifted = [y + direction * h0 * f for y, f in zip(ys, fs, strict=True)]
    after = [held(f) for f in slope(shifted, start + direction * h0)]
    d2 = _ratio([a - f for a, f in zip(after, fs, strict=True)], ys, ys, rtol, atol) / h0
    largest = chosen(d1 > d2, d1, d2)
    h1 = chosen(largest > 1e-15, (0.01 / largest) ** 0.2, chosen(h0 > 1e-3, h0 * 1e-3, h0 * 0 + 1e-6))
    return held(direction * chosen(100 * h0 < h1, 100 * h0, h1))


# -- the adjoint equation --------------------------------------------------------------------------


def _adjoint(
    graph: Graph,
    outside: Sequence[Value],
    times: Value,
    rows: Sequence[Value],
    cotangents: Sequence[Value],
    rtol: float,
    atol: float,
    max_steps: int,
) -> tuple[Any, ...]:
    """Compute the gradients with respect to ``outside``, ``y0``, and ``times``.

    Let L be the differentiated scalar. The adjoint equation ``a' = −(∂f/∂y)ᵀ a`` is solved backward in time.
    It starts with ``a = ∂L/∂y`` at the last time, and ``∂L/∂y`` is added to ``a`` at each earlier time in
    ``times``. The gradients are:

    - for ``y0``: ``a`` at the first time;
    - for an outside tensor ``p``: ``∫ (∂f/∂p)ᵀ a dt``, computed in the dtype of ``times``;
    - for a time: ``⟨∂L/∂y, f⟩``; for the first time: ``−⟨a, f⟩``.

    Outside tensors of integers, such as indices, are constants.

    Args:
        graph: graph ``(*outside, *y, t) ↦ f``.
        outside: the tensors that f captures.
        times: the times of the solution.
        rows: the solution at ``times``, one stacked tensor for each tensor of ``y``.
        cotangents: ``∂L/∂y`` at ``times``, with the shapes of ``rows``.
        rtol, atol, max_steps: options of :func:`odeint` for the adjoint equation.
    """
    active = [i for i, p in enumerate(outside) if p.dtype.is_inexact]
    count, weights = len(rows), len(active)
    pulled = _pulled_slope(graph, active, len(outside))

    def slope(parts: Values, at: Value) -> Values:
        y, a = parts[:count], parts[count : 2 * count]
        found: Values = inline_here(pulled, [*outside, *y, at, *a])
        of_weights = [real_of(_conjugate(ct), times.dtype) for ct in found[count : count + weights]]
        return [*found[:count], *[-ct for ct in (*found[count + weights :], *of_weights)]]

    a = [ct[-1] for ct in cotangents]
    gradients = [real_of(outside[i] * 0, times.dtype) for i in active]
    of_times: list[Value] = []

    def go_back(*now: Value) -> None:
        nonlocal a, gradients
        end, start, *parts = now
        y, here, before = (list(parts[k : k + count]) for k in (0, count, 2 * count))
        f = inline_here(graph, [*outside, *y, end])
        of_times.append(dot(here, f))
        span = apply(concatenate, end.reshape((1,)), start.reshape((1,)), axis=0)
        found = _solved(slope, [*y, *a, *gradients], span, rtol, atol, max_steps)
        ends = [x[1] for x in found[: 2 * count + weights]]
        a = [x + ct for x, ct in zip(ends[count : 2 * count], before, strict=True)]
        gradients = ends[2 * count :]

    stacks = [times[1:], times[:-1]]
    stacks += [*[y[1:] for y in rows], *[ct[1:] for ct in cotangents], *[ct[:-1] for ct in cotangents]]
    length = times.shape[0] - 1
    backwards: Values = [apply(reverse, x, axes=(0,)) for x in stacks] if length else []
    if references.is_compiling() and length > 1:

        def get() -> tuple[Any, ...]:
            return a, gradients, of_times

        def put(values: tuple[Any, ...]) -> None:
            nonlocal a, gradients, of_times
            a, gradients, of_times = values

        names = ["the adjoint state", "the gradients", "the gradients of the times"]
        pairs = [(x, False) for x in backwards]
        scanned(length, pairs, lambda now: go_back(*now), State(get, put, names), lambda _: True)
    else:
        for k in range(length):
            go_back(*[x[k] for x in backwards])
    f = inline_here(graph, [*outside, *[y[0] for y in rows], times[0]])
    first = -dot([x - ct[0] for x, ct in zip(a, cotangents, strict=True)], f)
    return tuple(_of_outside(gradients, outside)), tuple(a), _stacked([first, *reversed(of_times)])


def _of_outside(gradients: Sequence[Value], outside: Sequence[Value]) -> Values:
    """Return one gradient for each tensor in ``outside``, zeros for integer tensors."""
    following = iter(gradients)
    return [from_real(next(following), p.dtype) if p.dtype.is_inexact else p * 0 for p in outside]


def _conjugate(ct: Value) -> Value:
    """Convert a cotangent to the gradient ∂/∂Re + i ∂/∂Im that a ``bprop`` returns.

    The gradient of a complex tensor is the complex conjugate of its cotangent.
    """
    return apply(conj, ct) if ct.dtype.kind == "complex" else ct


def _pulled_slope(graph: Graph, active: Sequence[int], outside: int) -> Graph:
    """Return the graph ``(*outside, *y, t, *a) ↦ (*f, *(∂f/∂p)ᵀ a, *(∂f/∂y)ᵀ a)``.

    ``p`` are the ``active`` tensors of ``outside``.
    """
    builder = Builder()
    with building(builder):
        inputs = builder.inputs_like(graph.inputs)
        cotangents = builder.inputs_like(graph.outputs)
        outputs = builder.inline(graph, inputs)
        wanted = [*[inputs[i] for i in active], *inputs[outside:-1]]
        return builder.close([*outputs, *pull_back(builder, wanted, outputs, cotangents)])
