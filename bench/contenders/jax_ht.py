"""GradBench's hand tracking with jax."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import ht_problems as problems
import jax
import jax.numpy as jnp
from jax_results import job
from job import Job


def matrices(rows: list[list[jax.Array]]) -> jax.Array:
    """Matrices of these elements, each one for all of them."""
    return jnp.stack([jnp.stack(row, -1) for row in rows], -2)


def turns(bend: jax.Array, spread: jax.Array) -> jax.Array:
    """Rotations about x and then z."""
    one, zero = jnp.ones_like(bend), jnp.zeros_like(bend)
    c, s = jnp.cos(bend), jnp.sin(bend)
    about_x = matrices([[one, zero, zero], [zero, c, -s], [zero, s, c]])
    c, s = jnp.cos(spread), jnp.sin(spread)
    return matrices([[c, -s, zero], [s, c, zero], [zero, zero, one]]) @ about_x


def rotation(r: jax.Array) -> jax.Array:
    """The rotation about r by its length."""
    angle = jnp.sqrt((r * r).sum())
    c, s = jnp.cos(angle), jnp.sin(angle)
    x, y, z = r[0] / angle, r[1] / angle, r[2] / angle
    return matrices(
        [
            [x * x + (1 - x * x) * c, x * y * (1 - c) - z * s, x * z * (1 - c) + y * s],
            [x * y * (1 - c) + z * s, y * y + (1 - y * y) * c, y * z * (1 - c) - x * s],
            [x * z * (1 - c) - y * s, z * y * (1 - c) + x * s, z * z + (1 - z * z) * c],
        ]
    )


def skin(hand: problems.Hand, pose: jax.Array) -> jax.Array:
    """The vertices, (vertices, 3)."""
    angles = jnp.concatenate([pose, jnp.zeros_like(pose[:1])])[hand.angles]
    turned = hand.relative[:, :, :3] @ turns(angles[:, 0], angles[:, 1])
    local = jnp.concatenate([turned, hand.relative[:, :, 3:]], 2)
    absolute: list[jax.Array] = []
    for bone, parent in enumerate(problems.PARENTS):
        absolute.append(local[bone] if parent < 0 else absolute[parent] @ local[bone])
    moved = (jnp.stack(absolute) @ hand.inverse)[:, :3] @ hand.vertices
    positions = (moved * hand.weights[:, None]).sum(0)
    return (rotation(pose[:3]) @ positions).T + pose[3:6]


def simple(hand: problems.Hand, pose: jax.Array) -> jax.Array:
    return hand.points - skin(hand, pose)[hand.triangles[:, 0]]


def complicated(hand: problems.Hand, shift: jax.Array, pose: jax.Array) -> jax.Array:
    a, b, c = (skin(hand, pose)[hand.triangles[:, k]] for k in range(3))
    u = hand.coordinates + shift
    u, v = u[:, :1], u[:, 1:]
    return hand.points - (u * a + v * b + (1 - u - v) * c)


def ht(what: str, kind: str, model: str, variant: str, points: int) -> Job:
    jax.config.update("jax_enable_x64", True)
    hand = problems.Hand(*map(jnp.asarray, problems.ht(model, points)))
    shift = [jnp.zeros(2)] if kind == "complicated" else []
    function: Callable[..., jax.Array] = partial(complicated if shift else simple, hand)
    if what == "value":
        return job(function, *shift, hand.pose)
    return job(jax.jacfwd(function, tuple(range(1 + len(shift)))), *shift, hand.pose)


TASKS = {
    f"gradbench-ht-{what}-{kind}-{model}": partial(ht, what, kind, model)
    for what in ("value", "jacobian")
    for kind in problems.KINDS
    for model in problems.VERTICES
}
