"""The numbers of those programs of the group ``first`` that no other task has.

hand     The Jacobian of ADBench's hand tracking without its second kind of unknowns: 26 angles and
         positions bend the 22 bones of a hand, whose 544 vertices follow them by weights; the residuals are
         the distances of 100 of them to measured points. float64.

ode      Value and gradient in all weights of the mean square of the solution of a neural differential
         equation: a perceptron 2 -> 32 -> 2 with tanh, eight starting points, eleven times. float32.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

BONES, VERTICES, POINTS, UNKNOWNS = 22, 544, 100, 26
ODE_UNITS, ODE_STARTS, ODE_TIMES = 32, 8, 11

#: the programs: those that other tasks have, too, and those of this file
PROGRAMS = ("t1", "t2", "t3", "laplacian", "gmm", "hand", "lstm", "resnet", "gpt", "ode")


class Hand(NamedTuple):
    """A hand at rest.

    Attributes:
        parents: the bone that each bone hangs on; -1: none.
        relative: (bones, 4, 4), the places of the bones on their parents.
        inverse: (bones, 4, 4), from the hand to the bones.
        vertices: (4, vertices), of the surface.
        weights: (bones, vertices), how much each vertex follows each bone.
        nearest: (points,), the vertex that belongs to each point.
        points: (3, points), measured.
        unknowns: (26,), where the Jacobian is taken.
    """

    parents: tuple[int, ...]
    relative: np.ndarray
    inverse: np.ndarray
    vertices: np.ndarray
    weights: np.ndarray
    nearest: np.ndarray
    points: np.ndarray
    unknowns: np.ndarray


def hand() -> Hand:
    generator = np.random.default_rng(51)
    # the wrist's two bones, then five fingers of four bones each
    parents = (-1, 0) + tuple(parent for k in range(5) for parent in (0, *range(4 * k + 2, 4 * k + 5)))
    turned = np.linalg.qr(generator.standard_normal((BONES, 3, 3)))[0]
    relative = np.tile(np.eye(4), (BONES, 1, 1))
    relative[:, :3, :3], relative[:, :3, 3] = turned, generator.standard_normal((BONES, 3))
    absolute: list[np.ndarray] = []
    for parent, place in zip(parents, relative, strict=True):
        absolute.append(place if parent < 0 else absolute[parent] @ place)
    weights = generator.random((BONES, VERTICES)) ** 4
    vertices = np.concatenate([generator.standard_normal((3, VERTICES)), np.ones((1, VERTICES))])
    return Hand(
        parents,
        relative,
        np.linalg.inv(np.stack(absolute)),
        vertices,
        weights / weights.sum(0),
        generator.integers(0, VERTICES, POINTS).astype(np.int32),
        generator.standard_normal((3, POINTS)),
        0.3 * generator.standard_normal(UNKNOWNS),
    )


class Equation(NamedTuple):
    """Weights (in, out) and biases of two layers, the starting points and the times."""

    layers: list[tuple[np.ndarray, np.ndarray]]
    start: np.ndarray
    times: np.ndarray


def ode() -> Equation:
    generator = np.random.default_rng(52)

    def layer(inputs: int, outputs: int) -> tuple[np.ndarray, np.ndarray]:
        weight = generator.standard_normal((inputs, outputs)) / np.sqrt(inputs)
        return weight.astype(np.float32), (0.1 * generator.standard_normal(outputs)).astype(np.float32)

    start = generator.standard_normal((ODE_STARTS, 2)).astype(np.float32)
    times = np.linspace(0.0, 1.0, ODE_TIMES).astype(np.float32)
    return Equation([layer(2, ODE_UNITS), layer(ODE_UNITS, 2)], start, times)
