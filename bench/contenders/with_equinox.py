"""equinox: the one library for jax with reverse mode through a loop of any length."""

from __future__ import annotations

from importlib.metadata import version

import jax
from equinox import internal
from jax_control import Advance, loop_arguments, objective_of
from jax_results import job, with_temporary
from job import Job, Unavailable

CHECKPOINTS = 1024


def versions() -> dict[str, str]:
    """Versions of what does the work."""
    return {"equinox": version("equinox")}


def run_checkpointed(advance: Advance, x: jax.Array, iterations: jax.Array) -> jax.Array:
    """A while loop that keeps some of its states and computes the others again."""

    def body(carry: tuple[jax.Array, jax.Array]) -> tuple[jax.Array, jax.Array]:
        x, left = carry
        return advance(x), left - 1

    return internal.while_loop(
        lambda carry: carry[1] > 0, body, (x, iterations), kind="checkpointed", checkpoints=CHECKPOINTS
    )[0]


def prepare(task: str, variant: str, **options: int) -> Job:
    """The loops, which are what it is here for."""
    if task not in ("loop", "loop-matrix"):
        raise Unavailable(f"no {task} with equinox")
    step = jax.value_and_grad(objective_of(run_checkpointed, task), (0, 1, 2))
    return with_temporary(job(step, *loop_arguments(task, options["iterations"])))
