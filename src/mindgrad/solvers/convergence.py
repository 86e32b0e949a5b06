"""Warnings about solvers that did not converge.

Solvers call these functions if they do not return statistics (``has_aux=False``). Compiled functions do not
warn, because values are unknown during tracing. With ``has_aux=True``, callers can check convergence in both
execution modes.
"""

from __future__ import annotations

from typing import Any

from mindgrad.core.base.location import warn_user

__all__ = ["warn_unless_converged", "warn_unless_reached"]


def warn_unless_converged(owner: str, info: Any, tol: float, maxiter: int) -> None:
    """Warn if the ``SolverInfo`` of a search shows that it did not converge."""
    if info.converged._array is None or info.converged:
        return
    steps, error = info.iterations.host_array().item(), info.error.host_array().item()
    ending = f"it took maxiter={steps} steps" if steps >= maxiter else f"it stopped after {steps} steps"
    warn_user(
        f"'{owner}' did not converge: {ending}. The next step would change an element by {error:.3g}, but "
        f"the tolerance is {tol:.3g} * (1 + max|x|). The result does not solve the equation, so its "
        "derivative is meaningless. Start at another point, or increase maxiter or tol. With has_aux=True "
        "the result is (x, info) with info.converged, and there is no warning.",
        topic=f"{owner} did not converge",
    )


def warn_unless_reached(info: Any, max_steps: int) -> None:
    """Warn if the ``OdeInfo`` shows that ``odeint`` did not reach the last time."""
    if info.converged._array is None or info.converged:
        return
    steps = info.steps.host_array().item()
    reason = (
        f"it took max_steps={steps} steps"
        if steps >= max_steps
        else f"after {steps} steps, the next step is too small for the dtype (near a pole, or a stiff "
        f"problem)"
    )
    warn_user(
        f"'odeint' did not reach the last time: {reason}. The remaining states are NaN. Increase max_steps, "
        "rtol, or atol. With has_aux=True the result is (states, info) with info.converged, and there is no "
        "warning.",
        topic="odeint did not reach the last time",
    )
