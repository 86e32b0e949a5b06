"""The guardian: a process that kills the workers when the launcher has ended.

It reads the numbers of process groups from a pipe. When the launcher ends, for any reason, the kernel closes
the pipe, and the guardian kills these groups. On Linux, the kernel already kills a worker when its launcher
ends (``launch.begin``). The guardian also kills the child processes of workers.
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
    """A process that kills process groups when the current process has ended."""

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
        """Add a process group."""
        self._tell(f"start {group}\n")

    def stop(self, group: int) -> None:
        """Remove a process group that has ended."""
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
