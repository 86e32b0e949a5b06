"""The board of a job: shared values, and the processes that have ended.

The board is in the memory of one process: the launcher of the first machine, or process 0. Other processes
access it through ``communication.store``. If a process waits for a value from another process that has ended,
the board raises an error immediately, because the value can no longer arrive. An *attempt* is one run of the
job. After a failure, a launcher can start another attempt.
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
        rank: rank of the process.
        kind: :data:`FINISHED` or :data:`FAILED`.
        reason: the end of a sentence that begins with the process, such as ``"was killed by SIGKILL"``.
        status: exit status of the job if this process is the first one that failed.
    """

    rank: int
    kind: str
    reason: str
    status: int


class News(NamedTuple):
    """The state of a job since its most recent start or restart (*attempt*).

    Attributes:
        ended: ended processes, in the order in which their ends were reported.
        failure: the first process that failed, or ``None``.
        attempt: number of times that the job was restarted.
    """

    ended: list[Ended]
    failure: Ended | None
    attempt: int


class Board:
    """Values that processes exchange by key, and the ends of the processes of a job.

    The values and ends are valid for one attempt. They are deleted if the job is restarted.

    Args:
        size (int): number of processes.
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
        """Start another attempt: delete all values and the list of ended processes."""
        with self._changed:
            self.attempt = attempt
            for table in (self._values, self._parts, self._fetched, self._ended, self._stopped):
                table.clear()
            self._first = None
            self._changed.notify_all()

    def set(self, key: str, value: bytes) -> None:
        """Store ``value`` for ``key``, and replace an older value."""
        with self._changed:
            self._values[self.attempt, key] = value
            self._changed.notify_all()

    def claim(self, key: str, value: bytes) -> bytes:
        """Store ``value`` for ``key`` unless the key has a value; return the key's value."""
        with self._changed:
            if (self.attempt, key) not in self._values:
                self.set(key, value)
            return self._values[self.attempt, key]

    def get(self, key: str, timeout: float) -> bytes:
        """Wait until ``key`` has a value, and return the value.

        Raises:
            RuntimeError: If ``key`` has no value after ``timeout`` seconds, or a process fails during this
                time.
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
        """Exchange values with other processes.

        Wait until each process in ``ranks`` has called this method, and return their values in the order of
        ``ranks``.

        Raises:
            RuntimeError: If a process in ``ranks`` has not called this method after ``timeout`` seconds, or
                has ended. The message names the process.
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
        """Record that a process has ended.

        If the process was recorded as finished, a failure replaces this record. Any other repeated record is
        ignored.
        """
        with self._changed:
            if rank in self._ended and not (kind == FAILED and self._ended[rank].kind == FINISHED):
                return
            self._ended[rank] = Ended(rank, kind, reason, status)
            if kind == FAILED and self._first is None:
                self._first = self._ended[rank]
            self._changed.notify_all()

    def news(self, count: int, timeout: float) -> News:
        """Wait until the state of the job changes, and return it.

        Args:
            count (int): number of ended processes that the caller already knows. If the present number
                differs, the method returns immediately.
            timeout (float): maximum number of seconds to wait.
        """
        with self._changed:
            attempt = self.attempt
            self._changed.wait_for(
                lambda: len(self._ended) != count or self._first is not None or self.attempt != attempt,
                timeout,
            )
            return News(list(self._ended.values()), self._first, self.attempt)

    def stopped(self, machine: int) -> None:
        """Record that all processes of the machine ``machine`` have ended."""
        with self._changed:
            self._stopped.add(machine)
            self._changed.notify_all()

    def lose(self, machine: int) -> None:
        """Record that the machine ``machine`` does not respond."""
        with self._changed:
            self._lost.add(machine)
            self._changed.notify_all()

    def all_stopped(self, machines: int, timeout: float) -> bool:
        """Wait until ``machines`` machines have stopped or are lost.

        The method waits for at most ``timeout`` seconds.

        Returns:
            bool: ``True`` if all machines have stopped and none of them is lost.
        """
        with self._changed:
            self._changed.wait_for(lambda: len(self._stopped | self._lost) >= machines, timeout)
            return len(self._stopped) >= machines and not self._lost

    def _waited(
        self, is_there: Callable[[], bool], end: Callable[[], str], attempt: int, timeout: float
    ) -> bool:
        """Wait until ``is_there()`` is true, for at most ``timeout`` seconds.

        Returns:
            Whether ``is_there()`` is true.

        Raises:
            RuntimeError: If ``end()`` returns a reason why the condition cannot become true, a process has
                failed, or the job was restarted.
        """
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
    """Join ranks to an English list, which is abbreviated after ``most`` ranks.

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
