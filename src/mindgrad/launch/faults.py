"""Reasons say how a process ended: by which signal, for want of memory, or because another one had failed."""

from __future__ import annotations

import os
import re
import signal
from collections.abc import Iterable, Iterator
from pathlib import Path

from mindgrad.communication.board import FAILED, Ended

__all__ = ["cause_of", "out_of_memory_kills", "reason_of", "status_of"]

#: errors that a process gets because another one has ended
_CONSEQUENCES = re.compile(
    r"[Gg]loo|NCCL|coordination service|[Cc]onnection (closed|reset|refused)|[Ss]ocket closed|Broken pipe"
    r"|UNAVAILABLE|DEADLINE_EXCEEDED|[Hh]eartbeat|Barrier|the store at|\brank \d+ (was|raised|ended)"
)
_MEGABYTE = 2**20


def status_of(code: int) -> int:
    """The exit status that a shell gives for the return code of a process; a signal is 128 and its number."""
    return code if code >= 0 else 128 - code


def reason_of(code: int, last_line: str, memory: int, kills: int) -> str:
    """The end of a process, as a predicate.

    Args:
        code (int): its return code, negative for a signal.
        last_line (str): the last line that it wrote on standard error.
        memory (int): the most bytes that it has had; 0 if that is not known.
        kills (int): how many processes the kernel has ended for want of memory meanwhile.

    >>> reason_of(1, "ValueError: no", 0, 0)
    'ended with status 1 (ValueError: no)'
    >>> reason_of(-9, "", 3 * 2**30, 1)
    'was killed by SIGKILL: the kernel ran out of memory meanwhile, and this process had up to 3072 MB'
    """
    if code >= 0:
        return f"ended with status {code}" + (f" ({last_line})" if last_line else "")
    try:
        name = signal.Signals(-code).name
    except ValueError:
        name = f"signal {-code}"
    had = f"this process had up to {memory // _MEGABYTE} MB" if memory else ""
    if -code == signal.SIGKILL and kills:
        return f"was killed by {name}: the kernel ran out of memory meanwhile{', and ' if had else ''}{had}"
    if -code == signal.SIGKILL:
        had = f"; {had}" if had else ""
        return f"was killed by {name} (sent by a user, or by the out-of-memory killer){had}"
    return f"was killed by {name}" + (f" ({last_line})" if last_line and -code != signal.SIGABRT else "")


def cause_of(ended: Iterable[Ended]) -> Ended | None:
    """The failure that is the cause of the others; the first of those that do not look like consequences."""
    return min((end for end in ended if end.kind == FAILED), key=_consequence, default=None)


def _consequence(end: Ended) -> int:
    if end.status == 128 + signal.SIGABRT:
        return 3  # jax's way of ending a process when another has failed
    if end.status == 128 + signal.SIGKILL:
        return 0  # which no failure of another process brings about
    if end.status > 128:
        return 1
    return 2 if _CONSEQUENCES.search(end.reason) else 1


def out_of_memory_kills() -> int:
    """The number of processes that the kernel has ended for want of memory, as far as it tells."""
    return max(_counts(), default=0)


def _counts() -> Iterator[int]:
    for file in (*_control_group_files(), Path("/proc/vmstat")):
        try:
            text = file.read_text()
        except OSError:
            continue
        for line in text.splitlines():
            name, _, number = line.partition(" ")
            if name == "oom_kill" and number.isdecimal():
                yield int(number)


def _control_group_files() -> Iterator[Path]:
    root = Path(os.sep, "sys", "fs", "cgroup")
    try:
        lines = Path("/proc/self/cgroup").read_text().splitlines()
    except OSError:
        return
    for line in lines:
        _, _, controllers_and_path = line.partition(":")
        controllers, _, path = controllers_and_path.partition(":")
        if not controllers:
            yield root / path.lstrip("/") / "memory.events"
        elif "memory" in controllers.split(","):
            yield root / "memory" / path.lstrip("/") / "memory.oom_control"
    yield root / "memory.events"
