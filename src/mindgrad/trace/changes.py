"""Describe the changes of Python state that cause a new compilation, for messages.

``guards`` and ``side_effects`` create the descriptions. :data:`clock` counts changes of Parameter types.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from mindgrad.trace.cell_guards import MISSING
from mindgrad.trace.signature import shown

__all__ = ["Change", "Clock", "change", "clock"]


class Clock:
    """A counter of changes of Parameter types in this process.

    While the count is unchanged, guards do not need to compare the types.
    """

    __slots__ = ("ticks",)

    def __init__(self) -> None:
        self.ticks = 0

    def tick(self) -> None:
        """Count one change. Call this after the type has changed."""
        self.ticks += 1


clock = Clock()


class Change(NamedTuple):
    """A change of Python state that caused a new compilation.

    Attributes:
        what: the argument, attribute, or variable that changed.
        text: the complete reason.
        advice: how to avoid the compilation if the state keeps changing.
    """

    what: str
    text: str
    advice: str


def change(subject: str, before: Any, after: Any, advice: str) -> Change:
    """Describe the change of ``subject`` from one value to another."""
    old_text, new_text = shown(before), shown(after)
    if before is MISSING or after is MISSING:
        text = f"{subject} was {'deleted' if after is MISSING else 'defined'}"
    elif old_text == new_text:
        text = f"{subject} changed to another one ({new_text})"
    else:
        text = f"{subject} changed from {old_text} to {new_text}"
    return Change(subject, text, advice)
