"""The guardian of a launcher ends the workers' groups of processes when the launcher has ended.

It is a small process that reads the numbers of groups from a pipe; the end of the pipe is that of the
launcher, for the kernel closes it. A worker by itself dies with its launcher where the kernel can do that
(``launch.begin``); the guardian is for the processes that workers have started.
"""

from __future__ import annotations

import contextlib
import subprocess
import sys

__all__ = ["Guardian"]

_PROGRAM = """
import os, signal, sys
groups = set()
for line in sys.stdin:
    word, number = line.split()
    (groups.add if word == "start" else groups.discard)(int(number))
for group in groups:
    try:
        os.killpg(group, signal.SIGKILL)
    except OSError:
        pass
"""


class Guardian:
    """A process that ends groups of processes when this one has ended."""

    def __init__(self) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-I", "-S", "-c", _PROGRAM],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
            text=True,
        )

    def start(self, group: int) -> None:
        """Guard a group."""
        self._tell(f"start {group}\n")

    def stop(self, group: int) -> None:
        """Guard it no longer: it has ended."""
        self._tell(f"stop {group}\n")

    def close(self) -> None:
        """End the guardian."""
        if self._process.stdin is not None:
            with contextlib.suppress(OSError):
                self._process.stdin.close()
        self._process.wait()

    def _tell(self, line: str) -> None:
        if self._process.stdin is not None:
            with contextlib.suppress(OSError):
                self._process.stdin.write(line)
                self._process.stdin.flush()
