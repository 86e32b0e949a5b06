"""GradBench's hand tracking with mindgrad."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import ht_problems as problems
from job import Job
from mindspore_results import job

import mindgrad
from mindgrad import Tensor, ops


def matrices(rows: list[list[Tensor]]) -> Tensor:
    """Matrices of these elements, each one for all of them."""
    return ops.stack([ops.stack(row, -1) for row in rows], -2)


def turns(bend: Tensor, spread: Tensor) -> Tensor:
    """Rotations about x and then z."""
    one, zero = ops.ones_like(bend), ops.zeros_like(bend)
    c, s = ops.cos(bend), ops.sin(bend)
    about_x = matrices([[one, zero, zero], [zero, c, -s], [zero, s, c]])
    c, s = ops.cos(spread), ops.sin(spread)
    return matrices([[c, -s, zero], [s, c, zero], [zero, zero, one]]) @ about_x


def rotation(r: Tensor) -> Tensor:
    """The rotation about r by its length."""
    angle = ops.sqrt((r * r).sum())
    c, s = ops.cos(angle), ops.sin(angle)
    x, y, z = r[0] / angle, r[1] / angle, r[2] / angle
    return matrices(
        [
            [x * x + (1 - x * x) * c, x * y * (1 - c) - z * s, x * z * (1 - c) + y * s],
            [x * y * (1 - c) + z * s, y * y + (1 - y * y) * c, y * z * (1 - c) - x * s],
            [x * z * (1 - c) - y * s, z * y * (1 - c) + x * s, z * z + (1 - z * z) * c],
        ]
    )


def skin(hand: problems.Hand, pose: Tensor) -> Tensor:
    """The vertices, (vertices, 3)."""
    angles = ops.concat([pose, ops.zeros_like(pose[:1])])[hand.angles]
    turned = hand.relative[:, :, :3] @ turns(angles[:, 0], angles[:, 1])
    local = ops.concat([turned, hand.relative[:, :, 3:]], 2)
    absolute: list[Tensor] = []
    for bone, parent in enumerate(problems.PARENTS):
        absolute.append(local[bone] if parent < 0 else absolute[parent] @ local[bone])
    moved = (ops.stack(absolute) @ hand.inverse)[:, :3] @ hand.vertices
    positions = (moved * hand.weights[:, None]).sum(0)
    return (rotation(pose[:3]) @ positions).T + pose[3:6]


def simple(hand: problems.Hand, pose: Tensor) -> Tensor:
    return hand.points - skin(hand, pose)[hand.triangles[:, 0]]


def complicated(hand: problems.Hand, shift: Tensor, pose: Tensor) -> Tensor:
    a, b, c = (skin(hand, pose)[hand.triangles[:, k]] for k in range(3))
    u = hand.coordinates + shift
    u, v = u[:, :1], u[:, 1:]
    return hand.points - (u * a + v * b + (1 - u - v) * c)


def ht(what: str, kind: str, model: str, variant: str, points: int) -> Job:
    mindgrad.set_context(mode=mindgrad.GRAPH_MODE)
    hand = problems.Hand(*map(Tensor, problems.ht(model, points)))
    shift = [ops.zeros(2, mindgrad.float64)] if kind == "complicated" else []
    function: Callable[..., Tensor] = partial(complicated if shift else simple, hand)
    if what == "value":
        return job(variant, mindgrad.jit(function), *shift, hand.pose)
    return job(variant, mindgrad.jacfwd(function, tuple(range(1 + len(shift)))), *shift, hand.pose)


TASKS = {
    f"gradbench-ht-{what}-{kind}-{model}": partial(ht, what, kind, model)
    for what in ("value", "jacobian")
    for kind in problems.KINDS
    for model in problems.VERTICES
}
