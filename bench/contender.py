"""The harness's side of a contender: a process that is asked over pipes, and asleep when it is not.

A stopped process cannot take a core from the one that is being timed, whatever its thread pools do
while they wait for work. The processes of a contender that has several are not stopped: their libraries take
one that is silent for dead. They wait for the next request.
"""

from __future__ import annotations

import json
import os
import select
import signal
import socket
import subprocess
import tempfile
import time
from pathlib import Path
from typing import Any

from pace import calibrate

WORKER = Path(__file__).parent / "worker.py"
#: variables by which libraries are told how many threads to compute in
THREADS = ("NPROC", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")


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
        stops: whether the process is stopped while it is not asked.
    """

    def __init__(
        self,
        library: str,
        python: Path,
        log: Path,
        environment: dict[str, str] | None = None,
        stops: bool = True,
    ) -> None:
        self.library = library
        self.log = log
        self.stops = stops
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
        self.tell(request)
        return self.hear(timeout)

    def tell(self, request: dict[str, Any]) -> None:
        """Send a request; the process runs."""
        if self.process.poll() is not None:
            raise Failed(f"the process has ended; see {self.log}")
        self.process.send_signal(signal.SIGCONT)
        try:
            self.process.stdin.write(json.dumps(request).encode() + b"\n")
        except BrokenPipeError:
            raise Failed(f"the process has ended; see {self.log}") from None

    def hear(self, timeout: float) -> dict[str, Any]:
        """The answer to the request; the process sleeps."""
        reply = json.loads(self._line(timeout))
        if self.stops:
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


class Ranks:
    """A contender of several processes, which do every request together; the answers are those of the first.

    The cores are divided among them, as launchers do, unless the variables that say so are set already. Each
    is told its number and where the first one is by the variables that PyTorch's launcher has made usual,
    and by mindgrad's own.

    Args:
        size: the number of processes.
        cores: those of the machine.
        library, python, log, environment: as of ``Contender``.
    """

    def __init__(
        self,
        size: int,
        cores: int,
        library: str,
        python: Path,
        log: Path,
        environment: dict[str, str] | None = None,
    ) -> None:
        address, port = "127.0.0.1", str(_free_port())
        threads = str(max(1, cores // size))
        shared = {name: os.environ.get(name, threads) for name in THREADS}
        shared |= {"WORLD_SIZE": str(size), "MASTER_ADDR": address, "MASTER_PORT": port}
        shared |= {"MINDGRAD_WORLD_SIZE": str(size), "MINDGRAD_COORDINATOR": f"{address}:{port}"}
        self.ranks: list[Contender] = []
        try:
            for rank in range(size):
                own = {"RANK": str(rank), "MINDGRAD_RANK": str(rank)}
                variables = (environment or {}) | shared | own
                self.ranks.append(Contender(library, python, log, variables, stops=False))
        except Failed:
            self.close()
            raise

    def ask(self, request: dict[str, Any], timeout: float) -> dict[str, Any]:
        """As ``Contender.ask``. What depends on the clock is decided here, once for all ranks."""
        if request["do"] == "calibrate":
            return calibrate(lambda calls: self._elapsed(calls, timeout), request["seconds"])
        if request["do"] == "warm":
            raise Failed("contenders of several processes are not warmed up by the clock")
        for rank in self.ranks:
            rank.tell(request)
        try:
            first, *_ = [rank.hear(timeout) for rank in self.ranks]
        except Failed:
            self.close()  # the others wait for the one that failed
            raise
        return first

    def _elapsed(self, calls: int, timeout: float) -> float:
        return self.ask({"do": "run", "calls": calls, "samples": 1, "warm": 0}, timeout)["seconds"][0]

    def close(self) -> None:
        """End all processes."""
        for rank in self.ranks:
            rank.close()


def _free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return int(listener.getsockname()[1])


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
