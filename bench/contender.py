"""The harness's side of a contender: a process that is asked over pipes, and asleep when it is not.

A stopped process cannot take a core from the one that is being timed, whatever its thread pools do
while they wait for work.
"""

from __future__ import annotations

import json
import os
import select
import signal
import subprocess
import tempfile
import time
from pathlib import Path
from typing import Any

WORKER = Path(__file__).parent / "worker.py"


class Failed(Exception):
    """The contender could not do what was asked; ``unavailable`` where it never claimed to."""

    def __init__(self, message: str, unavailable: bool = False) -> None:
        super().__init__(message)
        self.unavailable = unavailable


class Contender:
    """A long-lived worker process of one library.

    Args:
        library: ``with_<library>.py`` is what the worker imports.
        python: the interpreter of the library's environment.
        log: where the worker's standard error is appended.
        environment: variables added to those of this process.
    """

    def __init__(
        self, library: str, python: Path, log: Path, environment: dict[str, str] | None = None
    ) -> None:
        self.library = library
        self.log = log
        log.parent.mkdir(parents=True, exist_ok=True)
        # Compiled programs that an earlier run left on disk must not shorten a first call.
        self.cache = tempfile.TemporaryDirectory(prefix="bench-cache-")
        variables = {**os.environ, "XDG_CACHE_HOME": self.cache.name, **(environment or {})}
        variables.pop("JAX_COMPILATION_CACHE_DIR", None)
        variables["MINDGRAD_CACHE_DIR"] = ""
        with log.open("ab") as errors:
            self.process = subprocess.Popen(
                [str(python), str(WORKER)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=errors,
                env=variables,
                bufsize=0,
            )
        self.unread = b""
        try:
            self.ask({"do": "start", "library": library}, timeout=180)
        except Failed:
            self.close()
            raise

    def ask(self, request: dict[str, Any], timeout: float) -> dict[str, Any]:
        """The answer to a request; the process runs only from the question to the answer."""
        if self.process.poll() is not None:
            raise Failed(f"the process has ended; see {self.log}")
        self.process.send_signal(signal.SIGCONT)
        try:
            self.process.stdin.write(json.dumps(request).encode() + b"\n")
            reply = json.loads(self._line(timeout))
        except BrokenPipeError:
            raise Failed(f"the process has ended; see {self.log}") from None
        self.process.send_signal(signal.SIGSTOP)
        if not reply["ok"]:
            raise Failed(reply["error"], reply["unavailable"])
        return reply

    def _line(self, timeout: float) -> bytes:
        """One line of the worker's answers."""
        end = time.monotonic() + timeout
        while b"\n" not in self.unread:
            left = end - time.monotonic()
            if left <= 0 or not select.select([self.process.stdout], [], [], left)[0]:
                self.close()
                raise Failed(f"no answer within {timeout:.0f} s")
            read = os.read(self.process.stdout.fileno(), 65536)
            if not read:
                self.close()
                raise Failed(f"the process has ended; see {self.log}")
            self.unread += read
        line, self.unread = self.unread.split(b"\n", 1)
        return line

    def close(self) -> None:
        """End the process, stopped or not."""
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        self.process.stdin.close()
        self.process.stdout.close()
        self.cache.cleanup()


class Command:
    """A contender that is a whole command, run anew each time; it answers the same requests."""

    def __init__(self, command: list[str], environment: dict[str, str] | None = None) -> None:
        self.command = command
        self.variables = {**os.environ, **(environment or {})}
        # as users have it: from the second time on an import reads compiled modules
        self.variables.pop("PYTHONDONTWRITEBYTECODE", None)

    def _seconds(self, timeout: float) -> float:
        begin = time.perf_counter()
        try:
            done = subprocess.run(
                self.command, env=self.variables, capture_output=True, text=True, timeout=timeout
            )
        except subprocess.TimeoutExpired:
            raise Failed(f"did not end within {timeout:.0f} s") from None
        seconds = time.perf_counter() - begin
        if done.returncode:
            raise Failed(" ".join(done.stderr.strip().splitlines()[-1:]) or f"rc {done.returncode}")
        return seconds

    def ask(self, request: dict[str, Any], timeout: float) -> dict[str, Any]:
        """As ``Contender.ask``; calibration is moot, because one run is one sample."""
        if request["do"] == "prepare":
            return {"first": self._seconds(timeout), "facts": {}, "result": None}
        if request["do"] == "calibrate":
            return {"calls": 1, "seconds": self._seconds(timeout)}
        seconds = [self._seconds(timeout) for _ in range(request["samples"])]
        return {"seconds": seconds, "phases": {}}

    def close(self) -> None:
        """Nothing is left running."""
