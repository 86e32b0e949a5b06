"""The numbers of the tasks with sparse derivatives, float64.

sparse-hessian   The Hessian of the chained Rosenbrock function ``sum 100 (x[i+1] - x[i]^2)^2 + (1 - x[i])^2``
                 of n numbers: three diagonals. ``hessian-dense`` is the whole matrix, for 1,000.

sparse-jacobian  The Jacobian of the Brusselator on a periodic grid of N x N points, 2 N^2 numbers: of
                 ``1 + u^2 v - 4.4 u + a L u`` and ``3.4 u - u^2 v + a L v``, L the sum over the four
                 neighbors minus four times the point, ``a = (N + 1)^2 / 1000``. Six entries a row.

...-build        Finding the pattern of a new function of the same code, coloring, compiling, and the first
                 value.

bundle-adjustment   ADBench's BA in the size of its first problem: 49 cameras of 11 numbers, 7,776 points,
                    31,843 observations of one weight each. The residuals are the distances in the image times
                    the weight, and one minus its square; 15 entries for each of two rows, and one.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

SEED = 31337
GRID = 128
DENSE = 1_000
CAMERAS, POINTS, OBSERVATIONS = 49, 7_776, 31_843
FACTOR = (GRID + 1) ** 2 / 1000


def rosenbrock(n: int) -> np.ndarray:
    """Where the Hessian is taken."""
    return np.random.default_rng(SEED).uniform(0.5, 1.5, n)


def brusselator() -> np.ndarray:
    """Where the Jacobian is taken."""
    return np.random.default_rng(SEED).uniform(0.5, 2.0, 2 * GRID * GRID)


class Adjustment(NamedTuple):
    """Cameras, points and weights; what was seen where, by which camera, of which point."""

    cameras: np.ndarray
    points: np.ndarray
    weights: np.ndarray
    seen: np.ndarray
    camera: np.ndarray
    point: np.ndarray


def adjustment(cameras: int = CAMERAS, points: int = POINTS, observations: int = OBSERVATIONS) -> Adjustment:
    """Points in front of cameras that are turned a little."""
    generator = np.random.default_rng(SEED)
    normal = generator.normal
    numbers = np.concatenate(
        [
            normal(0.0, 0.3, (cameras, 3)),  # rotation
            normal(0.0, 0.5, (cameras, 3)),  # center
            normal(500.0, 10.0, (cameras, 1)),  # focal length
            normal(0.0, 1.0, (cameras, 2)),  # center of the image
            normal(0.0, 1e-2, (cameras, 2)),  # distortion
        ],
        axis=1,
    )
    return Adjustment(
        numbers,
        normal(0.0, 1.0, (points, 3)) + [0.0, 0.0, 6.0],
        generator.uniform(0.5, 1.5, observations),
        normal(0.0, 100.0, (observations, 2)),
        generator.integers(0, cameras, observations).astype(np.int32),
        generator.integers(0, points, observations).astype(np.int32),
    )


def directions(*sizes: int) -> list[np.ndarray]:
    """Vectors by which matrices are multiplied to be compared."""
    generator = np.random.default_rng(SEED)
    return [generator.standard_normal(size) for size in sizes]


def residuals(xp: Any, c: Any, x: Any, w: Any, seen: Any) -> tuple[Any, Any]:
    """The residuals of observations: of their cameras, points and weights, one row for each."""
    columns = [[each[:, k] for k in range(each.shape[1])] for each in (c, x, seen)]
    across, down, rest = residual_columns(xp, columns[0], columns[1], w, columns[2])
    return xp.stack([across, down], 1), rest


def residual_columns(xp: Any, c: Any, x: Any, w: Any, seen: Any) -> tuple[Any, Any, Any]:
    """The same of their numbers, one after the other, each for all observations."""
    r = c[:3]
    d = [x[k] - c[3 + k] for k in range(3)]
    angle = xp.sqrt(r[0] * r[0] + r[1] * r[1] + r[2] * r[2])
    cosine, sine = xp.cos(angle), xp.sin(angle)
    k = [each / angle for each in r]
    across = [k[1] * d[2] - k[2] * d[1], k[2] * d[0] - k[0] * d[2], k[0] * d[1] - k[1] * d[0]]
    along = (k[0] * d[0] + k[1] * d[1] + k[2] * d[2]) * (1.0 - cosine)
    p = [d[i] * cosine + across[i] * sine + k[i] * along for i in range(3)]
    u, v = p[0] / p[2], p[1] / p[2]
    square = u * u + v * v
    scale = (1.0 + c[9] * square + c[10] * square * square) * c[6]
    return w * (seen[0] - u * scale - c[7]), w * (seen[1] - v * scale - c[8]), 1.0 - w * w
