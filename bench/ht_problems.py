"""The sizes of GradBench's evaluation ``ht``: a hand whose skin follows its bones, float64, of random bones.

value       The residuals of a pose: points less where the model has them. The 26 numbers of a pose are a
            rotation (its axis times its angle), a translation, and four angles for each of five fingers: the
            first joint bends and spreads, the next two bend. A bone is turned by its angles, about x and then
            z, in the frame of the bone that it is attached to; a vertex is the weighted mean of where the
            bones bring it. simple: a point belongs to a vertex; complicated: to a place in a triangle of
            vertices, which has coordinates of its own.
jacobian    Its 26 columns in the pose; and two in the coordinates, of which a row needs those of its point.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

FINGERS = 5
#: wrist, four bones of each finger, forearm; a bone stands behind the one that it is attached to
PARENTS = (-1, *[0 if bone == 0 else 4 * finger + bone for finger in range(FINGERS) for bone in range(4)], 0)
ANGLES = 6 + 4 * FINGERS
KINDS = ("simple", "complicated")
VERTICES = {"small": 544, "big": 10_000}
POINTS = (100, 800, 6_400, 25_600, 100_000)


class Hand(NamedTuple):
    """The model and what was measured.

    Attributes:
        pose: (26,).
        coordinates: (points, 2), of points in their triangles.
        angles: (bones, 2), which numbers of the pose bend and spread a bone; 26 for none.
        relative: (bones, 4, 4), the frames of bones in those that they are attached to.
        inverse: (bones, 4, 4), from the model to the frames of bones.
        vertices: (4, vertices), homogeneous.
        weights: (bones, vertices).
        triangles: (points, 3), the vertices of the triangle that a point is in.
        points: (points, 3).
    """

    pose: np.ndarray
    coordinates: np.ndarray
    angles: np.ndarray
    relative: np.ndarray
    inverse: np.ndarray
    vertices: np.ndarray
    weights: np.ndarray
    triangles: np.ndarray
    points: np.ndarray


def ht(model: str, points: int) -> Hand:
    """A hand of that size."""
    generator = np.random.default_rng(31337)
    normal, vertices, bones = generator.normal, VERTICES[model], len(PARENTS)
    relative, absolute = np.zeros((bones, 4, 4)), np.zeros((bones, 4, 4))
    for bone, parent in enumerate(PARENTS):
        relative[bone] = np.eye(4)
        relative[bone, :3, :3] = np.linalg.qr(normal(size=(3, 3)))[0]
        relative[bone, :3, 3] = normal(size=3)
        absolute[bone] = relative[bone] if parent < 0 else absolute[parent] @ relative[bone]
    angles = np.full((bones, 2), ANGLES)
    for finger in range(FINGERS):
        first = 6 + 4 * finger
        angles[4 * finger + 2 : 4 * finger + 5, 0] = first, first + 2, first + 3
        angles[4 * finger + 2, 1] = first + 1
    weights = generator.random((bones, vertices)) ** 8
    return Hand(
        generator.uniform(-0.5, 0.5, ANGLES),
        generator.uniform(0.0, 0.5, (points, 2)),
        angles.astype(np.int32),
        relative,
        np.linalg.inv(absolute),
        np.concatenate([normal(size=(3, vertices)), np.ones((1, vertices))]),
        weights / weights.sum(0),
        generator.integers(0, vertices, (points, 3)).astype(np.int32),
        normal(size=(points, 3)),
    )
