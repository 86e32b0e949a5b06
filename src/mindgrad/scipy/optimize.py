"""``minimize``: SciPy's BFGS and L-BFGS methods with mindgrad gradients."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from mindgrad._base.checks import of_type
from mindgrad.api.gradient import value_and_grad
from mindgrad.core.base.scipy_modules import SciPyModule
from mindgrad.core.ir.tensor import Tensor
from mindgrad.scipy.ops import linear_sum_assignment

__all__ = ["OptimizeResults", "linear_sum_assignment", "minimize"]

_PAIRS = 10  # default number of previous steps that L-BFGS stores
_OPTIONS = ("maxiter", "gtol", "norm", "line_search_maxiter", "ls_maxiter", "history_size")


class OptimizeResults(NamedTuple):
    """The result of :func:`minimize`.

    Attributes:
        x: the point found, at which the function has a local minimum if ``success``.
        success: whether the norm of the gradient at ``x`` is at most ``gtol``.
        status: 0 if ``success``, 1 if ``maxiter`` was reached or the function is not finite, 3 if no step
            decreased the function.
        fun: value of the function at ``x``.
        jac: gradient at ``x``.
        hess_inv: approximation of the inverse of the Hessian by BFGS; ``None`` for L-BFGS.
        nfev, njev: number of evaluations of the function and of its gradient.
        nit: number of steps of the method.
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


class _Function:
    """A function and its gradient, for SciPy's float64 vectors.

    Attributes:
        gradient: gradient of the last call.
    """

    def __init__(self, func: Callable[..., Any], jac: Any, args: tuple[Any, ...], x0: Tensor) -> None:
        self.func, self.jac, self.args = func, jac, args
        self.storage = x0.dtype
        self.both = value_and_grad(func, 0) if jac is None else None

    def tensor(self, x: Any) -> Tensor:
        """Convert a vector to a Tensor with the dtype of the first point."""
        return Tensor(np.asarray(x).astype(self.storage.numpy))

    def __call__(self, x: np.ndarray) -> tuple[float, np.ndarray]:
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
                f"For 'minimize', the gradient must have the shape {x.shape} of 'x0', but its shape is "
                f"{slopes.shape}."
            )
        self.gradient = slopes
        return float(value.asnumpy().reshape(())), slopes


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
    """Find a local minimum of a scalar function of a vector.

    Args:
        func (Callable): function to minimize, called as ``func(x, *args)`` with a 1-D Tensor ``x``. It
            returns a Tensor of one element.
        x0 (Tensor): initial point, a 1-D Tensor of floats.
        args (tuple, optional): further arguments of ``func``. Default: ``()``.
        method (str, optional): optimization method, ``"BFGS"`` or ``"LBFGS"``, in upper or lower case.
            Default: ``"BFGS"``.
        jac (Callable, optional): function that computes the gradient, ``jac(x, *args)``. By default mindgrad
            differentiates ``func``.
        hess, hessp, bounds, constraints: not supported; must be omitted.
        tol (float, optional): tolerance of the norm of the gradient; the same as the option ``gtol``.
            Default: ``None``.
        callback (Callable, optional): function that is called with the current point ``x`` after each step.
            Default: ``None``.
        options (dict, optional): dict with the following options of the method. Default: ``None``.

            - ``maxiter``: maximum number of steps. Default: 200 times the number of elements.
            - ``gtol``: stop if the norm of the gradient is smaller. Default: 1e-5.
            - ``norm``: order of the norm of the gradient for ``gtol``. Default: ∞.
            - ``line_search_maxiter``: maximum number of evaluations in one step of L-BFGS. Default: 30.
            - ``history_size``: number of steps that L-BFGS stores. Default: 10.

    Returns:
        OptimizeResults: the minimum, and the status and costs of the optimization.

    Raises:
        TypeError: If ``x0`` is not a Tensor of floats, or ``func`` is not callable.
        ValueError: If ``x0`` is not a vector, ``func`` or ``jac`` returns a wrong shape, or a method, option,
            or argument is not supported.

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
    is_limited = method.lower() != "bfgs"
    norm, gtol = settings["norm"], settings["gtol"]
    options = {"maxiter": settings["maxiter"], "gtol": gtol}
    if is_limited:  # SciPy's L-BFGS-B can only test the maximum norm; ``after_step`` tests other norms
        options |= {"gtol": gtol if norm == np.inf else 0.0, "ftol": 0.0, "maxfun": np.inf}
        options |= {"maxcor": settings["history_size"], "maxls": settings["line_search_maxiter"]}
    else:
        options |= {"norm": norm}

    def after_step(x: np.ndarray) -> None:
        if callback is not None:
            callback(function.tensor(x))
        if is_limited and np.linalg.norm(function.gradient, norm) < gtol:
            raise StopIteration

    result = SciPyModule("optimize").minimize(
        function,
        x0.asnumpy().astype(np.float64),
        method="L-BFGS-B" if is_limited else "BFGS",
        jac=True,
        callback=after_step,
        options=options,
    )
    success = bool(np.isfinite(result.fun) and np.linalg.norm(result.jac, norm) <= gtol)
    status = 0 if success else 1 if result.status == 1 or not np.isfinite(result.fun) else 3
    return OptimizeResults(
        function.tensor(result.x), success, status, function.tensor(result.fun), function.tensor(result.jac),
        None if is_limited else function.tensor(result.hess_inv), result.nfev, result.njev, result.nit,
    )  # fmt: skip


def _checked(
    func: Any, x0: Any, args: Any, method: Any, unknown: tuple[Any, ...], tol: Any, options: Any
) -> dict[str, Any]:
    """Validate the arguments, and return all settings."""
    if not callable(func):
        raise TypeError(f"For 'minimize', the 'func' must be a function, but got {type(func).__name__}.")
    if not isinstance(x0, Tensor) or not x0.dtype.is_float:
        kind = f"one of {x0.dtype}" if isinstance(x0, Tensor) else type(x0).__name__
        raise TypeError(f"For 'minimize', the 'x0' must be a Tensor of floats, but got {kind}.")
    if x0.ndim != 1 or x0.size == 0:
        raise ValueError(f"For 'minimize', the 'x0' must be a vector, but its shape is {x0.shape}.")
    of_type(args, tuple, "minimize", "args")
    if not isinstance(method, str) or method.lower().replace("-", "") not in ("bfgs", "lbfgs"):
        raise ValueError(f"For 'minimize', the 'method' must be 'BFGS' or 'LBFGS', but got {method!r}.")
    for name, value in zip(("hess", "hessp", "bounds", "constraints"), unknown, strict=True):
        if value not in (None, ()):
            raise ValueError(
                f"For 'minimize', {method!r} does not support '{name}'. Include it in 'func', for "
                "example as a penalty."
            )
    settings = dict(options or {})
    for name in settings:
        if name not in _OPTIONS:
            raise ValueError(
                f"For 'minimize', unknown option {name!r}. Supported options: {', '.join(_OPTIONS)}."
            )
    chosen = {name: value for name, value in settings.items() if value is not None}
    defaults: dict[str, Any] = {
        "maxiter": 200 * x0.size, "gtol": 1e-5 if tol is None else tol, "norm": np.inf,
        "line_search_maxiter": chosen.get("ls_maxiter", 30), "history_size": _PAIRS,
    }  # fmt: skip
    return defaults | chosen
