"""What a contender hands to its worker for one task. Imported in every peer's environment."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from time import perf_counter
from typing import Any

import numpy as np
from training_problems import LONG_CHAIN, SHORT_CHAIN, STEPS_COMPARED


@dataclass
class Job:
    """One task of one contender, ready to run.

    Attributes:
        call: does the work once and returns its result. Where ``timed_by_itself`` is set it
            returns instead a dict of phase name to seconds, whose sum is the time of the call.
        finish: waits until a result is there: libraries that answer before they have computed
            must not be timed on their promise.
        arrays: the result as NumPy arrays, to be compared with the other contenders' (None where
            there is nothing to compare).
        facts: asked for after the first call: what else is worth a place in the table, such as the
            number of equations.
        phases: what the last call returned where it is timed by itself.
        program: the function that is compiled, and its arguments, where making it is a task of its own.
        restart: goes back to the state before the first call, where calls change a state.
        every: each call is awaited, however short it is.
    """

    call: Callable[[], Any]
    finish: Callable[[Any], None]
    arrays: Callable[[Any], list[np.ndarray]] | None
    timed_by_itself: bool = False
    facts: Callable[[], dict[str, float]] = dict
    phases: dict[str, float] = field(default_factory=dict)
    program: tuple[Any, ...] = ()
    restart: Callable[[], None] = lambda: None
    every: bool = False


def whole_run(run: Callable[[], tuple[float, list[np.ndarray]]]) -> Job:
    """A job whose call is ``run``: the error reached, and what is compared."""
    reached: list[float] = []

    def call() -> list[np.ndarray]:
        error, result = run()
        reached.append(error)
        return result

    return Job(call, lambda result: None, lambda result: result, facts=lambda: {"error": reached[0]})


def training(
    step: Callable[[], Any],
    finish: Callable[[Any], None],
    number: Callable[[Any], np.ndarray],
    restart: Callable[[], None],
) -> Job:
    """A job whose calls are training steps; compared are the losses of the first ones from the start."""

    def losses(first: Any) -> list[np.ndarray]:
        return [np.array([number(each) for each in (first, *(step() for _ in range(STEPS_COMPARED - 1)))])]

    return Job(step, finish, losses, restart=restart)


def per_operator(chain: Callable[[int], Callable[[], Any]], number: Callable[[Any], np.ndarray]) -> Job:
    """A job whose time is that of one more operator in a chain: a long one less a short one, per operator."""
    short, long = chain(SHORT_CHAIN), chain(LONG_CHAIN)

    def seconds(gradient: Callable[[], Any]) -> float:
        begin = perf_counter()
        number(gradient())
        return perf_counter() - begin

    def call() -> dict[str, float]:
        return {"an operator": (seconds(long) - seconds(short)) / (LONG_CHAIN - SHORT_CHAIN)}

    return Job(call, lambda phases: None, lambda phases: [number(long())], timed_by_itself=True)


class Unavailable(Exception):
    """The contender cannot do this task; the message says why."""
