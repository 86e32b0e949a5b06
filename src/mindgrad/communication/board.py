"""The board of a job holds what its processes tell each other, and which of them have ended, and why.

It is in the memory of one process, the launcher of the first machine or process 0; the others reach it
through ``communication.store``. Whoever waits for something that cannot come any more, since who would bring
it has ended, is told so at once.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from typing import NamedTuple

__all__ = ["FAILED", "FINISHED", "Board", "Ended", "News", "and_joined"]

FINISHED, FAILED = "finished", "failed"


class Ended(NamedTuple):
    """The end of a process.

    Attributes:
        rank: which.
        kind: :data:`FINISHED` or :data:`FAILED`.
        reason: a predicate of the process in words: ``"was killed by SIGKILL"``.
        status: the exit status that the job gets by it.
    """

    rank: int
    kind: str
    reason: str
    status: int


class News(NamedTuple):
    """The state of an attempt of a job.

    Attributes:
        ended: the processes that have ended, in the order in which they were told of.
        failure: the first of them that has failed.
        attempt: how often the job was started again before.
    """

    ended: list[Ended]
    failure: Ended | None
    attempt: int


class Board:
    """Values by key, and the ends of processes, for one attempt of a job after the other.

    Args:
        size (int): the number of processes.
    """

    def __init__(self, size: int) -> None:
        self.size = size
        self.attempt = 0
        self._changed = threading.Condition()
        self._values: dict[tuple[int, str], bytes] = {}
        self._parts: dict[tuple[int, str], dict[int, bytes]] = {}
        self._fetched: dict[tuple[int, str], int] = {}
        self._ended: dict[int, Ended] = {}
        self._first: Ended | None = None
        self._stopped: set[int] = set()
        self._lost: set[int] = set()

    def reset(self, attempt: int) -> None:
        """Begin another attempt: nobody has ended, and nothing has been said."""
        with self._changed:
            self.attempt = attempt
            for table in (self._values, self._parts, self._fetched, self._ended, self._stopped):
                table.clear()
            self._first = None
            self._changed.notify_all()

    def set(self, key: str, value: bytes) -> None:
        """Write a value, over an older one."""
        with self._changed:
            self._values[self.attempt, key] = value
            self._changed.notify_all()

    def claim(self, key: str, value: bytes) -> bytes:
        """The value of ``key``: this one if there was none."""
        with self._changed:
            if (self.attempt, key) not in self._values:
                self.set(key, value)
            return self._values[self.attempt, key]

    def get(self, key: str, timeout: float) -> bytes:
        """The value of ``key``, once there is one.

        Raises:
            RuntimeError: If there is none within ``timeout`` seconds, or a process has failed meanwhile.
        """
        with self._changed:
            attempt = self.attempt

            def end() -> str:
                if len(self._ended) >= self.size - 1 and self._ended:
                    return f"{_named(self._ended)} ended before {key!r} was set"
                return ""

            if self._waited(lambda: (attempt, key) in self._values, end, attempt, timeout):
                return self._values[attempt, key]
        raise RuntimeError(f"{key!r} was not set within {timeout:g} s.")

    def exchange(
        self, key: str, rank: int, value: bytes, ranks: Sequence[int], timeout: float
    ) -> list[bytes]:
        """The values of all of ``ranks``, in their order, once each of them has called this with its own.

        Raises:
            RuntimeError: If some have not come within ``timeout`` seconds, or have ended; the message names
                them.
        """
        with self._changed:
            attempt = self.attempt
            name = attempt, key
            parts = self._parts.setdefault(name, {})
            parts[rank] = value
            self._changed.notify_all()

            def end() -> str:
                gone = [other for other in ranks if other not in parts and other in self._ended]
                return f"{_named(gone)} ended before {key!r}" if gone else ""

            if self._waited(lambda: len(parts) >= len(ranks), end, attempt, timeout):
                self._fetched[name] = self._fetched.get(name, 0) + 1
                if self._fetched[name] == len(ranks):
                    del self._fetched[name], self._parts[name]
                return [parts[other] for other in ranks]
            missing = [other for other in ranks if other not in parts]
            parts.pop(rank, None)
        raise RuntimeError(f"{_named(missing)} not come to {key!r} within {timeout:g} s.")

    def leave(self, rank: int, kind: str, reason: str, status: int = 0) -> None:
        """Say that a process has ended; the first to say so about a process is believed."""
        with self._changed:
            if rank in self._ended and not (kind == FAILED and self._ended[rank].kind == FINISHED):
                return
            self._ended[rank] = Ended(rank, kind, reason, status)
            if kind == FAILED and self._first is None:
                self._first = self._ended[rank]
            self._changed.notify_all()

    def news(self, count: int, timeout: float) -> News:
        """The state, once not ``count`` have ended, or one has failed, or after ``timeout`` seconds."""
        with self._changed:
            attempt = self.attempt
            self._changed.wait_for(
                lambda: len(self._ended) != count or self._first is not None or self.attempt != attempt,
                timeout,
            )
            return News(list(self._ended.values()), self._first, self.attempt)

    def stopped(self, machine: int) -> None:
        """Say that all processes of a machine have ended, or were ended."""
        with self._changed:
            self._stopped.add(machine)
            self._changed.notify_all()

    def lose(self, machine: int) -> None:
        """Say that a machine does not answer any more."""
        with self._changed:
            self._lost.add(machine)
            self._changed.notify_all()

    def all_stopped(self, machines: int, timeout: float) -> bool:
        """Whether all of so many machines have stopped within ``timeout`` seconds, and none is lost."""
        with self._changed:
            self._changed.wait_for(lambda: len(self._stopped | self._lost) >= machines, timeout)
            return len(self._stopped) >= machines and not self._lost

    def _waited(
        self, is_there: Callable[[], bool], end: Callable[[], str], attempt: int, timeout: float
    ) -> bool:
        """Wait until something is there; False after ``timeout`` seconds; an error if it cannot come."""
        latest = time.monotonic() + timeout
        while not is_there():
            if self.attempt != attempt:
                raise RuntimeError("the job was restarted in the meantime.")
            if self._first is not None:
                raise RuntimeError(f"rank {self._first.rank} {self._first.reason.rstrip('.')}.")
            reason = end()
            if reason:
                raise RuntimeError(f"{reason}.")
            remaining = latest - time.monotonic()
            if remaining <= 0:
                return False
            self._changed.wait(remaining)
        return True


def and_joined(ranks: Sequence[int], most: int = 8) -> str:
    """Numbers as a person lists them.

    >>> and_joined([3]), and_joined([0, 2]), and_joined(range(100), 3)
    ('3', '0 and 2', '0, 1, 2 and 97 more')
    """
    shown = [str(rank) for rank in list(ranks)[:most]]
    if len(ranks) > most:
        return f"{', '.join(shown)} and {len(ranks) - most} more"
    return " and ".join([*([", ".join(shown[:-1])] if shown[:-1] else []), *shown[-1:]])


def _named(ranks: Sequence[int] | dict[int, Ended]) -> str:
    numbers = sorted(ranks)
    return f"rank {numbers[0]} has" if len(numbers) == 1 else f"ranks {and_joined(numbers)} have"
