"""A worker: one process of a job, which the launcher starts, reads and stops.

Each worker has a separate process group, so that its child processes are stopped, too.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import threading
import time
from typing import IO

from mindgrad._base.error_line import shortened
from mindgrad.launch.faults import out_of_memory_kills, reason_of
from mindgrad.launch.plan import Plan

__all__ = ["STOPPED_SECONDS", "Worker"]

#: a process counts as failed after a signal such as SIGSTOP has stopped it for this many seconds
STOPPED_SECONDS = 3.0
#: After a worker has ended, read its output for at most this many seconds: a child process may keep it open.
_DRAIN = 1.0
#: maximum bytes in a line of output; longer lines are split
_LINE = 2**16
#: beginnings of lines that are not shown; the Gloo library prints them for each process group
_CHATTER = ("[Gloo] Rank ",)

#: lock for writing one line, so that the lines of several workers do not mix
_output = threading.Lock()


class Worker:
    """A running process of a job.

    Args:
        plan (Plan): plan of the job.
        rank (int): rank of the process.
        attempt (int): number of restarts of the job so far.
        environment (dict): environment variables of the process.

    Attributes:
        code: return code, negative for a signal; ``None`` while the process runs.
        is_told: whether the end of the process has been reported to the board.
    """

    def __init__(self, plan: Plan, rank: int, attempt: int, environment: dict[str, str]) -> None:
        self.rank = rank
        self.code: int | None = None
        self.is_told = False
        self._prefix = f"[rank {rank}, restart {attempt}] " if attempt else f"[rank {rank}] "
        self._is_shown = plan.is_shown
        self._last_line = ""
        self._stopped_since: float | None = None
        self._memory = 0
        self._kills = out_of_memory_kills()
        self._log: IO[bytes] | None = None
        if plan.log_dir:
            os.makedirs(plan.log_dir, exist_ok=True)
            file = os.path.join(plan.log_dir, f"worker_{rank}.log")
            self._log = open(file, "ab" if attempt else "wb", buffering=0)  # noqa: SIM115
        self._process = subprocess.Popen(
            plan.command(),
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
            bufsize=0,
        )
        self.pid = self._process.pid
        self._pumps = [
            threading.Thread(target=self._pump, args=arguments, name="mindgrad-output", daemon=True)
            for arguments in ((self._process.stdout, False), (self._process.stderr, True))
        ]
        for pump in self._pumps:
            pump.start()

    def poll(self) -> str:
        """Check the process, and return the reason of its failure.

        The reason is empty if the process is running or has succeeded.
        """
        while self.code is None:
            pid, status, usage = os.wait4(self.pid, os.WNOHANG | os.WUNTRACED | os.WCONTINUED)
            if pid == 0:
                break
            if os.WIFSTOPPED(status):
                self._stopped_since = time.monotonic()
            elif os.WIFCONTINUED(status):
                self._stopped_since = None
            else:
                self.code = self._process.returncode = os.waitstatus_to_exitcode(status)
                scale = 1 if sys.platform == "darwin" else 1024
                self._memory = usage.ru_maxrss * scale
        if self.code is None and self._stopped_since is not None:
            if time.monotonic() - self._stopped_since >= STOPPED_SECONDS:
                return (
                    f"was stopped (SIGSTOP or a terminal) and did not continue within {STOPPED_SECONDS:g} s"
                )
        elif self.code:
            self._drain()
            kills = out_of_memory_kills() - self._kills
            return reason_of(self.code, self._last_line, self._memory, kills)
        return ""

    def send(self, number: int) -> None:
        """Send a signal to the process and its child processes."""
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self.pid, number)
            if number != signal.SIGKILL and self._stopped_since is not None:
                os.killpg(self.pid, signal.SIGCONT)

    def close(self) -> None:
        """Kill the process and its child processes, and read the remaining output."""
        self.send(signal.SIGKILL)
        if self.code is None:
            self.code = self._process.wait()
        self._drain()
        for stream in (self._process.stdout, self._process.stderr):
            if stream is not None and not any(pump.is_alive() for pump in self._pumps):
                stream.close()
        if self._log is not None:
            self._log.close()
            self._log = None

    def _drain(self) -> None:
        latest = time.monotonic() + _DRAIN
        for pump in self._pumps:
            pump.join(max(0.0, latest - time.monotonic()))

    def _pump(self, stream: IO[bytes], is_error: bool) -> None:
        """Show the lines of a stream as they arrive."""
        remainder = b""
        while True:
            try:
                part = os.read(stream.fileno(), 2**16)
            except (OSError, ValueError):
                part = b""
            lines = (remainder + part).replace(b"\r\n", b"\n").replace(b"\r", b"\n").split(b"\n")
            remainder = lines.pop()
            if remainder and (not part or len(remainder) > _LINE):
                lines.append(remainder)
                remainder = b""
            for line in lines:
                self._show(line, is_error)
            if not part:
                return

    def _show(self, line: bytes, is_error: bool) -> None:
        text = line.decode(errors="replace")
        if text.startswith(_CHATTER):
            return
        if is_error and text.strip():
            self._last_line = shortened(text.strip())
        with _output, contextlib.suppress(OSError, ValueError):
            if self._log is not None:
                self._log.write(line + b"\n")
            if self._is_shown:
                target = sys.stderr if is_error else sys.stdout
                target.write(f"{self._prefix}{text}\n")
                target.flush()
