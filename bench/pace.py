"""A sample's number of calls, by which every contender's samples last about as long."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


def calibrate(elapsed: Callable[[int], float], seconds: float) -> dict[str, Any]:
    """The calls that fill ``seconds``, and the seconds of one of them.

    Args:
        elapsed: makes that many calls; seconds per call.
        seconds: the length of a sample.
    """
    calls, each = 1, elapsed(1)
    while calls * each < seconds and calls < 1_000_000:
        calls = max(calls + 1, min(10 * calls, round(1.2 * seconds / each)))
        each = elapsed(calls)
    return {"calls": calls, "seconds": each}
