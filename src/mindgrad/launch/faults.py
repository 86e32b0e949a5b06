"""Reasons for the end of a process: a signal, lack of memory, or another failure."""

from __future__ import annotations

import os
import re
import signal
from collections.abc import Iterable, Iterator
from pathlib import Path

from mindgrad.communication.board import FAILED, Ended

__all__ = ["cause_of", "out_of_memory_kills", "reason_of", "status_of"]

#: error messages of a process that failed only because another process ended
_CONSEQUENCES = re.compile(
    r"[Gg]loo|NCCL|coordination service|[Cc]onnection (closed|reset|refused)|[Ss]ocket closed|Broken pipe"
    r"|UNAVAILABLE|DEADLINE_EXCEEDED|[Hh]eartbeat|Barrier|the store at|\brank \d+ (was|raised|ended)"
)
_MEGABYTE = 2**20


def status_of(code: int) -> int:
    """Convert a return code to the exit status of a shell: 128 plus n for signal n."""
    return code if code >= 0 else 128 - code


def reason_of(code: int, last_line: str, memory: int, kills: int) -> str:
    """Describe the end of a process as a predicate.

    Args:
        code (int): return code of the process, negative for a signal.
        last_line (str): last line that the process wrote to standard error.
        memory (int): largest number of bytes that the process has used; 0 if unknown.
        kills (int): number of processes that the kernel has killed since the start because memory ran out.

    >>> reason_of(1, "ValueError: no", 0, 0)
    'ended with status 1 (ValueError: no)'
    >>> reason_of(-9, "", 3 * 2**30, 1)
    'was killed by SIGKILL, probably because memory ran out (out-of-memory kills: 1); it used up to 3072 MB'
    """
    if code >= 0:
        return f"ended with status {code}" + (f" ({last_line})" if last_line else "")
    try:
        name = signal.Signals(-code).name
    except ValueError:
        name = f"signal {-code}"
    used = f"; it used up to {memory // _MEGABYTE} MB" if memory else ""
    if -code == signal.SIGKILL and kills:
        return f"was killed by {name}, probably because memory ran out (out-of-memory kills: {kills}){used}"
    if -code == signal.SIGKILL:
        return f"was killed by {name} (sent by a user, or by the kernel's out-of-memory killer){used}"
    return f"was killed by {name}" + (f" ({last_line})" if last_line and -code != signal.SIGABRT else "")


def cause_of(ended: Iterable[Ended]) -> Ended | None:
    """Select the failure that probably caused the other failures.

    The cause is the first of the failures that are least likely to be a consequence of another failure.
    """
    return min((end for end in ended if end.kind == FAILED), key=_consequence, default=None)


def _consequence(end: Ended) -> int:
    if end.status == 128 + signal.SIGABRT:
        return 3  # JAX aborts a process after another process failed, so this is probably a consequence
    if end.status == 128 + signal.SIGKILL:
        return 0  # killed from outside, so this is not a consequence of another failure
    if end.status > 128:
        return 1
    return 2 if _CONSEQUENCES.search(end.reason) else 1


def out_of_memory_kills() -> int:
    """Count the processes that the kernel has killed for lack of memory; 0 if unknown."""
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
