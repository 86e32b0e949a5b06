"""Four short problems that need only the differentiation core of mindgrad.

    python examples/core_only.py

1. Learn the force law of a pendulum from measured angles: a gradient through a loop of integration steps.
2. Find the equilibrium of three charges in a trap by Newton's method with the Hessian.
3. Check that the potential of a point charge satisfies Laplace's equation.
4. Compute the period of the pendulum as a Taylor series in the amplitude.
"""

from __future__ import annotations

import math
from typing import Any

from mindgrad.core import grad, hessian, jit, laplacian, scan, taylor, vmap
from mindgrad.core import numpy as np

STEP, STEPS = 0.05, 60


def angles(parameters: Any, start: Any) -> Any:
    """Integrate ``q'' = −a sin(q) − b q'`` from rest by the leapfrog method."""

    def step(state: Any, _: Any) -> Any:
        q, v = state
        force = -parameters["a"] * np.sin(q) - parameters["b"] * v
        v = v + STEP * force
        q = q + STEP * v
        return (q, v), q

    return scan(step, (start, 0.0 * start), length=STEPS)[1]


def fit_pendulum() -> dict[str, float]:
    """Fit ``a`` and ``b`` to measured angles by gradient descent with momentum."""
    start = np.array([0.4, 1.2, 2.0], np.float64)
    measured = angles({"a": 9.81, "b": 0.3}, start)

    @jit
    def gradient(parameters: Any) -> Any:
        return grad(lambda p: np.mean((angles(p, start) - measured) ** 2))(parameters)

    parameters, speed = {"a": 8.0, "b": 0.0}, {"a": 0.0, "b": 0.0}
    rate = {"a": 0.5, "b": 0.05}
    for _ in range(200):
        slope = gradient(parameters)
        speed = {k: 0.8 * speed[k] - rate[k] * slope[k] for k in speed}
        parameters = {k: parameters[k] + speed[k] for k in parameters}
    return parameters


def energy(x: Any) -> Any:
    """Potential energy of three equal charges on a line, in a harmonic trap."""
    distances = np.stack([x[1] - x[0], x[2] - x[1], x[2] - x[0]])
    return np.sum(x**2) / 2 + np.sum(1 / distances)


def equilibrium() -> tuple[Any, float]:
    """Minimize :func:`energy` by Newton's method.

    Returns the positions, and the largest element of the gradient."""
    x = np.array([-1.0, 0.1, 1.2], np.float64)
    for _ in range(8):
        x = x - np.linalg.solve(hessian(energy)(x), grad(energy)(x))
    return x, float(np.max(np.abs(grad(energy)(x))))


def field_defect() -> float:
    """Return the largest Laplacian of the potential ``1 / |r|`` at 180 points."""
    angle, height = np.meshgrid(np.linspace(0.0, 6.0, 20), np.linspace(-1.0, 1.0, 9))
    points = np.stack([np.ravel(np.cos(angle)), np.ravel(np.sin(angle)), np.ravel(height)], -1)
    potential = vmap(laplacian(lambda r: 1 / np.linalg.norm(r)))
    return float(np.max(np.abs(potential(points.astype(np.float64)))))


def period_series() -> Any:
    """Return the Taylor coefficients of the period in ``m = sin²(amplitude / 2)``.

    The period, relative to the period of small oscillations, is ``2 K(m) / π`` with the elliptic integral K.
    The midpoint rule integrates periodic functions to rounding error.
    """
    theta = (np.arange(0.0, 40.0) + 0.5) * (math.pi / 80)

    def period(m: Any) -> Any:
        return np.mean(1 / np.sqrt(1 - m * np.sin(theta.astype(np.float64)) ** 2))

    return taylor(period, (0.0,), (1.0,), 4)


def main() -> None:
    """Print the results of the four problems."""
    fitted = fit_pendulum()
    print(f"pendulum: a = {fitted['a']:.4f}, b = {fitted['b']:.4f}  (true: 9.81, 0.3)")
    positions, slope = equilibrium()
    expected = (5 / 4) ** (1 / 3)
    print(
        f"charges: outer charge at {float(positions[2]):.10f}  (exact: {expected:.10f}), gradient {slope:.0e}"
    )
    print(f"field: largest Laplacian of the potential of a point charge: {field_defect():.0e}")
    coefficients = ", ".join(f"{float(c):.6f}" for c in period_series())
    print(f"period: {coefficients}  (exact: 1, 1/4, 9/64, 25/256, 1225/16384)")


if __name__ == "__main__":
    main()
