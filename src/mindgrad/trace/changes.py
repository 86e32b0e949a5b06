"""Changes of Python state in words, and the clock that counts changes of the types of Parameters."""

from __future__ import annotations

from typing import Any, NamedTuple

from mindgrad.trace.cell_guards import MISSING
from mindgrad.trace.signature import shown

__all__ = ["Change", "Clock", "change", "clock"]


class Clock:
    """Counts the changes of the types of Parameters in the whole process."""

    __slots__ = ("ticks",)

    def __init__(self) -> None:
        self.ticks = 0

    def tick(self) -> None:
        """Say that one changed; called after the change."""
        self.ticks += 1


clock = Clock()


class Change(NamedTuple):
    """The reason why a program was not used again.

    Attributes:
        what: what changed: an argument, an attribute, a global, ….
        text: the whole reason.
        advice: what to do if it keeps changing.
    """

    what: str
    text: str
    advice: str


def change(subject: str, before: Any, after: Any, advice: str) -> Change:
    """The change of ``subject`` from one value to another."""
    old_text, new_text = shown(before), shown(after)
    if before is MISSING or after is MISSING:
        text = f"{subject} was {'deleted' if after is MISSING else 'defined'}"
    elif old_text == new_text:
        text = f"{subject} changed to another one ({new_text})"
    else:
        text = f"{subject} changed from {old_text} to {new_text}"
    return Change(subject, text, advice)
