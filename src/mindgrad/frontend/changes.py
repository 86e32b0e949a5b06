"""Describe changes of Python state that require a new compilation, for messages.

``guards`` and ``side_effects`` create the descriptions. :data:`clock` counts changes of Parameter types.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from mindgrad.frontend.cell_guards import MISSING
from mindgrad.frontend.signature import shown

__all__ = ["Change", "Clock", "change", "clock"]


class Clock:
    """A counter of changes of Parameter types in this process.

    If the count has not changed, guards do not need to compare the types.
    """

    __slots__ = ("ticks",)

    def __init__(self) -> None:
        self.ticks = 0

    def tick(self) -> None:
        """Count one change of a Parameter type.

        The caller must have changed the type before this call.
        """
        self.ticks += 1


clock = Clock()


class Change(NamedTuple):
    """A change of Python state that requires a new compilation.

    Attributes:
        what: name of the argument, attribute, or variable that changed.
        text: the reason for the compilation, such as "x changed from 1 to 2".
        advice: how to avoid the compilation if the state keeps changing.
    """

    what: str
    text: str
    advice: str


def change(subject: str, before: Any, after: Any, advice: str) -> Change:
    """Describe the change of the argument, attribute, or variable named ``subject``."""
    old_text, new_text = shown(before), shown(after)
    if before is MISSING or after is MISSING:
        text = f"{subject} was {'deleted' if after is MISSING else 'defined'}"
    elif old_text == new_text:
        text = f"{subject} changed to a different object ({new_text})"
    else:
        text = f"{subject} changed from {old_text} to {new_text}"
    return Change(subject, text, advice)
