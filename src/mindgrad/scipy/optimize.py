"""``minimize`` finds minima by BFGS and L-BFGS, with gradients of this package.

The directions are those of Nocedal and Wright, *Numerical Optimization* (2nd edition): algorithm 6.1 (BFGS)
and 7.4 (the two loops of L-BFGS); the steps satisfy the strong Wolfe conditions (algorithms 3.5 and 3.6). The
function and its gradient run on tensors; what lies between, the little linear algebra, is float64 in NumPy.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from mindgrad.api.gradient import value_and_grad
from mindgrad.ir.tensor import Tensor
from mindgrad.scipy.ops import linear_sum_assignment

__all__ = ["OptimizeResults", "linear_sum_assignment", "minimize"]

_DECREASE, _CURVATURE = 1e-4, 0.9  # the constants of the Wolfe conditions
_PAIRS = 10  # how many steps L-BFGS remembers, unless told otherwise
_OPTIONS = ("maxiter", "gtol", "norm", "line_search_maxiter", "ls_maxiter", "history_size")


class OptimizeResults(NamedTuple):
    """The result of :func:`minimize`.

    Attributes:
        x: the point.
        success: whether the gradient there is as small as asked for.
        status: 0 if so, 1 if ``maxiter`` was reached, 3 if no step made the function smaller.
        fun: the function at ``x``.
        jac: its gradient.
        hess_inv: BFGS's approximation of the inverse of the Hessian; ``None`` for L-BFGS.
        nfev, njev: how often the function and its gradient were computed.
        nit: the number of steps.
    """

    x: Tensor
    success: bool
    status: int
    fun: Tensor
    jac: Tensor
    hess_inv: Tensor | None
    nfev: int
    njev: int
    nit: int


class _Point(NamedTuple):
    """A point on the way, with the function and the gradient there."""

    x: np.ndarray
    value: float
    gradient: np.ndarray


class _Function:
    """The function as one of float64 vectors, which counts how often it is computed."""

    def __init__(self, func: Callable[..., Any], jac: Any, args: tuple[Any, ...], x0: Tensor) -> None:
        self.func, self.jac, self.args = func, jac, args
        self.storage = x0.dtype
        self.both = value_and_grad(func, 0) if jac is None else None
        self.count = 0

    def tensor(self, x: Any) -> Tensor:
        """A vector as a Tensor of the type of the first point."""
        return Tensor(np.asarray(x).astype(self.storage.numpy))

    def __call__(self, x: np.ndarray) -> _Point:
        self.count += 1
        at = self.tensor(x)
        if self.both is not None:
            value, gradient = self.both(at, *self.args)
        else:
            value, gradient = self.func(at, *self.args), self.jac(at, *self.args)
        if not isinstance(value, Tensor) or value.size != 1:
            raise ValueError(
                "For 'minimize', the 'func' must return a Tensor of one element, but got "
                f"{f'one of shape {value.shape}' if isinstance(value, Tensor) else type(value).__name__}."
            )
        slopes = np.asarray(gradient.asnumpy() if isinstance(gradient, Tensor) else gradient, np.float64)
        if slopes.shape != x.shape:
            raise ValueError(
                f"For 'minimize', the gradient must have the shape {x.shape} of 'x0', but got {slopes.shape}."
            )
        return _Point(x, float(value.asnumpy().reshape(())), slopes)


class _Bfgs:
    """The inverse of the Hessian, as a matrix."""

    def __init__(self, size: int) -> None:
        self.inverse = np.eye(size)
        self.is_fresh = True

    def direction(self, gradient: np.ndarray) -> np.ndarray:
        return -self.inverse @ gradient

    def learn(self, s: np.ndarray, y: np.ndarray) -> None:
        """Let it map ``y``, the change of the gradient, to the step ``s`` (6.17, first scaled as in 6.20)."""
        product = s @ y
        if self.is_fresh:
            self.inverse *= product / (y @ y)
            self.is_fresh = False
        left = np.eye(s.size) - np.outer(s, y) / product
        self.inverse = left @ self.inverse @ left.T + np.outer(s, s) / product

    def forget(self) -> bool:
        """Start again; whether that changes anything."""
        changes, self.inverse, self.is_fresh = not self.is_fresh, np.eye(len(self.inverse)), True
        return changes


class _LimitedBfgs:
    """The inverse of the Hessian, as the last steps and changes of the gradient."""

    inverse = None

    def __init__(self, most: int) -> None:
        self.most = most
        self.pairs: list[tuple[np.ndarray, np.ndarray]] = []

    def direction(self, gradient: np.ndarray) -> np.ndarray:
        q, shares = gradient.copy(), []
        for s, y in reversed(self.pairs):
            shares.append((s @ q) / (s @ y))
            q -= shares[-1] * y
        if self.pairs:
            s, y = self.pairs[-1]
            q *= (s @ y) / (y @ y)
        for (s, y), share in zip(self.pairs, reversed(shares), strict=True):
            q += (share - (y @ q) / (s @ y)) * s
        return -q

    def learn(self, s: np.ndarray, y: np.ndarray) -> None:
        self.pairs = [*self.pairs, (s, y)][-self.most :]

    def forget(self) -> bool:
        changes, self.pairs = bool(self.pairs), []
        return changes


def _step(
    function: _Function, start: _Point, direction: np.ndarray, first: float, most: int
) -> _Point | None:
    """A point along ``direction`` with the strong Wolfe conditions, or else one lower than the start.

    ``None`` if none was found after ``most`` evaluations.
    """
    slope = start.gradient @ direction
    low, low_length, low_slope = start, 0.0, slope
    high_length: float | None = None
    length = first
    for _ in range(most):
        point = function(start.x + length * direction)
        # written so that NaN counts as too high
        if not (point.value <= start.value + _DECREASE * length * slope and point.value < low.value):
            if high_length is not None and abs(high_length - low_length) < 1e-12 * max(1.0, length):
                break
            high_length = length
        else:
            steepness = point.gradient @ direction
            if abs(steepness) <= -_CURVATURE * slope:
                return point
            away = length - low_length if high_length is None else high_length - low_length
            if steepness * away >= 0:
                high_length = low_length
            low, low_length, low_slope = point, length, steepness
        if high_length is None:
            length = 2 * length
        else:
            length = _between(low_length, high_length, low.value, low_slope, point, length)
    return low if low is not start else None


def _between(low: float, high: float, value: float, slope: float, tried: _Point, length: float) -> float:
    """The minimum of the parabola through the known values, if it lies well inside; else the middle."""
    middle = 0.5 * (low + high)
    if length == high and np.isfinite(tried.value):
        width = high - low
        curvature = 2 * (tried.value - value - slope * width) / width**2
        if curvature > 0:
            guess = low - slope / curvature
            near, far = sorted((low + 0.1 * width, high - 0.1 * width))
            if near <= guess <= far:
                return guess
    return middle


def minimize(
    func: Callable[..., Any],
    x0: Tensor,
    args: tuple[Any, ...] = (),
    method: str = "BFGS",
    jac: Any = None,
    hess: Any = None,
    hessp: Any = None,
    bounds: Any = None,
    constraints: Any = (),
    tol: float | None = None,
    callback: Callable[[Tensor], Any] | None = None,
    options: dict[str, Any] | None = None,
) -> OptimizeResults:
    """A local minimum of a function of one vector.

    Args:
        func: ``func(x, *args)`` with a 1-D Tensor ``x``; returns a Tensor of one element.
        x0: where to start, a 1-D Tensor of floats.
        args: further arguments of ``func``.
        method: ``"BFGS"`` or ``"LBFGS"``, in any case.
        jac: computes the gradient, ``jac(x, *args)``; by default it is that of ``func``.
        hess, hessp, bounds, constraints: must be left out.
        tol: the same as the option ``gtol``.
        callback: called with ``x`` after each step.
        options: ``maxiter`` (steps, 200 times the number of elements by default), ``gtol`` (1e-5: stop when
            the gradient is smaller), ``norm`` (the order of the norm for that, ∞), ``line_search_maxiter``
            (30: evaluations of one step), ``history_size`` (10: steps that L-BFGS remembers).

    Returns:
        :class:`OptimizeResults`.

    Raises:
        TypeError: ``x0`` is no Tensor of floats, or ``func`` cannot be called.
        ValueError: ``x0`` is no vector, ``func`` or ``jac`` return another shape, or a method, option or
            argument is not there.

    >>> from mindgrad import Tensor
    >>> from mindgrad.scipy.optimize import minimize
    >>> def banana(x):
    ...     return (1 - x[0]) ** 2 + 100 * (x[1] - x[0] ** 2) ** 2
    >>> result = minimize(banana, Tensor([0.0, 0.0]), method="BFGS", options={"gtol": 1e-3})
    >>> result.success, [round(float(x), 2) for x in result.x]
    (True, [1.0, 1.0])
    """
    settings = _checked(func, x0, args, method, (hess, hessp, bounds, constraints), tol, options)
    function = _Function(func, jac, args, x0)
    point = function(x0.asnumpy().astype(np.float64))
    name = method.lower().replace("-", "")
    quasi = _Bfgs(x0.size) if name == "bfgs" else _LimitedBfgs(settings["history_size"])
    steps, status = 0, 1
    while True:
        if np.linalg.norm(point.gradient, settings["norm"]) < settings["gtol"]:
            status = 0
            break
        if steps == settings["maxiter"] or not np.isfinite(point.value):
            break
        direction = quasi.direction(point.gradient)
        if not point.gradient @ direction < 0:
            quasi.forget()
            direction = -point.gradient
        is_first = quasi.direction(point.gradient) @ point.gradient == -(point.gradient @ point.gradient)
        first = min(1.0, 1.0 / np.abs(point.gradient).sum()) if is_first else 1.0
        candidate = _step(function, point, direction, first, settings["line_search_maxiter"])
        if candidate is None:
            if quasi.forget():  # once more, along the gradient
                continue
            status = 3
            break
        s, y = candidate.x - point.x, candidate.gradient - point.gradient
        if s @ y > 1e-10 * (s @ s):  # else the matrix would not stay positive
            quasi.learn(s, y)
        point, steps = candidate, steps + 1
        if callback is not None:
            callback(function.tensor(point.x))
    return OptimizeResults(
        function.tensor(point.x), status == 0, status, function.tensor(point.value),
        function.tensor(point.gradient), None if quasi.inverse is None else function.tensor(quasi.inverse),
        function.count, function.count, steps,
    )  # fmt: skip


def _checked(
    func: Any, x0: Any, args: Any, method: Any, unknown: tuple[Any, ...], tol: Any, options: Any
) -> dict[str, Any]:
    """All settings, from what was given."""
    if not callable(func):
        raise TypeError(f"For 'minimize', the 'func' must be a function, but got {type(func).__name__}.")
    if not isinstance(x0, Tensor) or not x0.dtype.is_float:
        kind = f"one of {x0.dtype}" if isinstance(x0, Tensor) else type(x0).__name__
        raise TypeError(f"For 'minimize', the 'x0' must be a Tensor of floats, but got {kind}.")
    if x0.ndim != 1 or x0.size == 0:
        raise ValueError(f"For 'minimize', the 'x0' must be a vector, but its shape is {x0.shape}.")
    if not isinstance(args, tuple):
        raise TypeError(f"For 'minimize', the 'args' must be a tuple, but got {type(args).__name__}.")
    if not isinstance(method, str) or method.lower().replace("-", "") not in ("bfgs", "lbfgs"):
        raise ValueError(f"For 'minimize', the 'method' must be 'BFGS' or 'LBFGS', but got {method!r}.")
    for name, value in zip(("hess", "hessp", "bounds", "constraints"), unknown, strict=True):
        if value not in (None, ()):
            raise ValueError(
                f"For 'minimize', {method!r} takes no '{name}'; put it into 'func', say as a penalty."
            )
    settings = dict(options or {})
    for name in settings:
        if name not in _OPTIONS:
            raise ValueError(f"For 'minimize', there is no option {name!r}; there are {', '.join(_OPTIONS)}.")
    chosen = {name: value for name, value in settings.items() if value is not None}
    defaults: dict[str, Any] = {
        "maxiter": 200 * x0.size, "gtol": 1e-5 if tol is None else tol, "norm": np.inf,
        "line_search_maxiter": chosen.get("ls_maxiter", 30), "history_size": _PAIRS,
    }  # fmt: skip
    return defaults | chosen
