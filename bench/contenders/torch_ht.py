"""GradBench's hand tracking in PyTorch."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import ht_problems as problems
import torch
from job import Job
from torch_results import arrays, wait


def matrices(rows: list[list[torch.Tensor]]) -> torch.Tensor:
    """Matrices of these elements, each one for all of them."""
    return torch.stack([torch.stack(row, -1) for row in rows], -2)


def turns(bend: torch.Tensor, spread: torch.Tensor) -> torch.Tensor:
    """Rotations about x and then z."""
    one, zero = torch.ones_like(bend), torch.zeros_like(bend)
    c, s = torch.cos(bend), torch.sin(bend)
    about_x = matrices([[one, zero, zero], [zero, c, -s], [zero, s, c]])
    c, s = torch.cos(spread), torch.sin(spread)
    return matrices([[c, -s, zero], [s, c, zero], [zero, zero, one]]) @ about_x


def rotation(r: torch.Tensor) -> torch.Tensor:
    """The rotation about r by its length."""
    angle = torch.sqrt((r * r).sum())
    c, s = torch.cos(angle), torch.sin(angle)
    x, y, z = r[0] / angle, r[1] / angle, r[2] / angle
    return matrices(
        [
            [x * x + (1 - x * x) * c, x * y * (1 - c) - z * s, x * z * (1 - c) + y * s],
            [x * y * (1 - c) + z * s, y * y + (1 - y * y) * c, y * z * (1 - c) - x * s],
            [x * z * (1 - c) - y * s, z * y * (1 - c) + x * s, z * z + (1 - z * z) * c],
        ]
    )


def skin(hand: problems.Hand, pose: torch.Tensor) -> torch.Tensor:
    """The vertices, (vertices, 3)."""
    angles = torch.cat([pose, torch.zeros_like(pose[:1])])[hand.angles]
    turned = hand.relative[:, :, :3] @ turns(angles[:, 0], angles[:, 1])
    local = torch.cat([turned, hand.relative[:, :, 3:]], 2)
    absolute: list[torch.Tensor] = []
    for bone, parent in enumerate(problems.PARENTS):
        absolute.append(local[bone] if parent < 0 else absolute[parent] @ local[bone])
    moved = (torch.stack(absolute) @ hand.inverse)[:, :3] @ hand.vertices
    positions = (moved * hand.weights[:, None]).sum(0)
    return (rotation(pose[:3]) @ positions).T + pose[3:6]


def simple(hand: problems.Hand, pose: torch.Tensor) -> torch.Tensor:
    return hand.points - skin(hand, pose)[hand.triangles[:, 0]]


def complicated(hand: problems.Hand, shift: torch.Tensor, pose: torch.Tensor) -> torch.Tensor:
    a, b, c = (skin(hand, pose)[hand.triangles[:, k]] for k in range(3))
    u = hand.coordinates + shift
    u, v = u[:, :1], u[:, 1:]
    return hand.points - (u * a + v * b + (1 - u - v) * c)


def ht(what: str, kind: str, model: str, variant: str, points: int) -> Job:
    hand = problems.Hand(*map(torch.tensor, problems.ht(model, points)))
    shift = [torch.zeros(2, dtype=torch.float64)] if kind == "complicated" else []
    function: Callable[..., torch.Tensor] = partial(complicated if shift else simple, hand)
    places = tuple(range(1 + len(shift)))
    if what == "jacobian":
        function = torch.func.jacfwd(function, places)
    call = lambda: function(*shift, hand.pose)
    return Job(call, wait, lambda result: arrays((result,) if what == "value" else result))


TASKS = {
    f"gradbench-ht-{what}-{kind}-{model}": partial(ht, what, kind, model)
    for what in ("value", "jacobian")
    for kind in problems.KINDS
    for model in problems.VERTICES
}
