"""Warnings of solvers whose statistics nobody asked for, where they have failed and that is known.

A program being traced has no values, and a compiled one cannot warn: ``has_aux=True`` tells in both.
"""

from __future__ import annotations

from typing import Any

from mindgrad._base.location import warn_user

__all__ = ["warn_unless_converged", "warn_unless_reached"]


def warn_unless_converged(owner: str, info: Any, tol: float, maxiter: int) -> None:
    """Give a warning if ``info``, a ``SolverInfo``, is of a search that has failed."""
    if info.converged._array is None or info.converged:
        return
    trips, error = info.iterations.host_array().item(), info.error.host_array().item()
    ending = f"after the {trips} steps of maxiter" if trips >= maxiter else f"it stopped after {trips} steps"
    warn_user(
        f"'{owner}' has not converged: {ending}, and the next would change an element by {error:.3g}, while "
        f"the tolerance is {tol:.3g} * (1 + max|x|). The result is the last point, which does not solve the "
        f"equation: the derivative there has no meaning. Begin at another point, or give maxiter or tol. "
        f"With has_aux=True the result is (x, info), info.converged tells, and there is no warning.",
        topic=f"{owner} has not converged",
    )


def warn_unless_reached(info: Any, max_steps: int) -> None:
    """Give a warning if ``info``, an ``OdeInfo``, is of an integration that ended before the last time."""
    if info.converged._array is None or info.converged:
        return
    steps = info.steps.host_array().item()
    reason = (
        f"the {steps} steps of max_steps are made"
        if steps >= max_steps
        else f"after {steps} steps the next is too short for its type, as at a pole or in a stiff problem"
    )
    warn_user(
        f"'odeint' has not reached the last time: {reason}. The states that are not reached are NaN. Give "
        f"max_steps, or larger rtol and atol. With has_aux=True the result is (states, info), info.converged "
        f"tells, and there is no warning.",
        topic="odeint has not reached the last time",
    )
