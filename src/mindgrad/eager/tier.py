"""Tier of one kind of eager call: its state, counted and told to users."""

from __future__ import annotations

import os
import sys

from mindgrad.eager.structure import Structure

__all__ = ["Tier"]


class Tier:
    """One kind of call: one function with arguments of certain types.

    Attributes:
        name: ``"cold"``, ``"warm"`` or ``"hot"``.
        reason: why it is in this tier.
        calls: how often it was called.
        divergences: how often a call went another way than predicted.
        diverged_at: file and line of the last time.
        is_whole: whether the function runs as a program without its Python; ``None`` if that is not decided.
        is_short: whether that is one of NumPy's kernels, for a call is too short for XLA.
        varies: whether it stays cold because each call does something else.
        visible: why its Python has to run at each call.
    """

    __slots__ = (
        "best", "calls", "compared", "diverged_at", "divergences", "function", "is_final", "is_queued",
        "is_short", "is_whole", "name", "reason", "seconds", "strangers", "structures", "unused", "varies",
        "visible",
    )  # fmt: skip

    def __init__(self, function: str) -> None:
        self.function = function
        self.name = "cold"
        self.reason = "operator by operator, until its calls have taken long enough for compiling to pay"
        self.calls = 0
        self.divergences = 0
        self.diverged_at: tuple[str, int] | None = None
        self.best = float("inf")
        self.seconds = 0.0
        self.compared: list[float] = []
        self.structures: list[Structure] = []
        self.is_final = self.varies = False
        self.is_whole: bool | None = None
        self.is_queued = self.is_short = False
        self.strangers = self.unused = 0
        self.visible = ""

    def __str__(self) -> str:
        line = f"{self.name}: {self.reason}; {self.calls} calls"
        if self.divergences:
            line += f", {self.divergences} went another way than predicted"
            if self.diverged_at is not None:
                line += f", the last one at line {self.diverged_at[1]} of {self.diverged_at[0]}"
        return f"{line}; its Python runs at each call: {self.visible}" if self.visible else line

    def divides(self, reason: str) -> None:
        """Run the Python of the function at each call from now on."""
        self.is_whole = False
        self.visible = reason

    def moves(self, name: str, reason: str, is_final: bool = False) -> None:
        """Change the tier; ``MINDGRAD_LOG=eager`` prints it."""
        if (name, reason) != (self.name, self.reason):
            self.name, self.reason = name, reason
            if os.environ.get("MINDGRAD_LOG") == "eager":
                sys.stderr.write(f"mindgrad eager: {self.function}: {name}: {reason}\n")
        if is_final:
            self.is_final = True
            self.structures = []
