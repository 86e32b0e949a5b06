"""The loop over time of recurrent layers and of losses over sequences.

It is an ordinary Python loop while operators run one by one. While a program is compiled it is handed
to the front end, as a user's own loop would be: a long one becomes one ``scan``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from mindgrad.core.tensor import Tensor
from mindgrad.frontend import ownership, state
from mindgrad.frontend.flow import RUNTIME
from mindgrad.ops import joining

__all__ = ["Step", "over_time"]

Step = Callable[[Tensor, Any], tuple[Any, Tensor]]


def over_time(step: Step, xs: Tensor, carry: Any) -> tuple[Tensor, Any]:
    """``carry, y = step(x, carry)`` for each x along the first axis of ``xs``.

    Returns:
        All y, stacked, and the last carry.
    """
    outputs: list[Tensor] = []
    if not state.is_compiling():
        for x in joining.unstack(xs):
            carry, y = step(x, carry)
            outputs.append(y)
        return joining.stack(outputs), carry
    held = [carry, ownership.made(outputs)]

    def trip(x: Tensor) -> None:
        held[0], y = step(x, held[0])
        held[1].append(y)

    def put(values: tuple[Any, ...]) -> None:
        held[:] = values

    names = ("the state of a recurrence", "the outputs of a recurrence")
    RUNTIME.for_(xs, trip, lambda: tuple(held), put, names)
    return joining.stack(held[1]), held[0]
