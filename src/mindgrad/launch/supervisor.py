"""Supervision of the workers of one machine.

A job has one launcher per machine. It starts the workers of its machine, and stops them if any worker of the
job fails. The launchers exchange the states of their workers on a board (``communication.board``) in the
launcher of the first machine.

A killed process makes other processes fail, sometimes before the launcher notices the first failure.
Therefore each launcher collects failures for a short time, and selects the cause among them. Then it stops
its workers. The launcher of the first machine decides whether to restart the job.
"""

from __future__ import annotations

import contextlib
import platform
import signal
import sys
import threading
import time
from typing import Any

from mindgrad.communication.board import FAILED, FINISHED, Board, Ended, News, and_joined
from mindgrad.communication.session import END_SECONDS
from mindgrad.communication.store import Store, StoreServer
from mindgrad.launch.faults import cause_of, status_of
from mindgrad.launch.guardian import Guardian
from mindgrad.launch.plan import Plan
from mindgrad.launch.ports import Reserved
from mindgrad.launch.worker import Worker

__all__ = ["supervised"]

#: seconds between two checks whether a worker has ended
_LOOK = 0.05
#: seconds to wait for other failures after the first one, because a later one may be the cause
_SETTLE = 0.5
#: maximum seconds that the launchers of a job wait for each other at the end of an attempt to run it
_TOGETHER = 30.0
#: maximum duration in seconds of one request for news about ended processes to the board
#: (``communication.board``)
_NEWS = 2.0

_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def supervised(plan: Plan) -> int:
    """Run the workers of a plan on this machine.

    Returns:
        The exit status: 0 if all processes of the job succeeded, otherwise the status of the first failure.
        The status is 128 plus the number of the signal if a signal ended the launcher, and 1 if the job could
        not start.
    """
    supervisor = _Supervisor(plan)
    handlers = {number: signal.signal(number, supervisor.interrupt) for number in _SIGNALS}
    try:
        return supervisor.run()
    except OSError as error:
        supervisor.say(f"{error}")
        return 1
    finally:
        supervisor.close()
        for number, handler in handlers.items():
            signal.signal(number, handler)


class _Supervisor:
    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self.workers: list[Worker] = []
        self.interruptions: list[int] = []
        self._server: StoreServer | None = None
        self._coordinator: Reserved | None = None
        self._guardian: Guardian | None = None
        self._link: Board | Store | None = None
        self._news = News([], None, 0)
        self._changed = threading.Event()
        self._is_lost = False

    def say(self, text: str) -> None:
        """Write a message of the launcher to stderr."""
        with contextlib.suppress(OSError, ValueError):
            sys.stderr.write(f"{self.plan.name}: {text}\n")
            sys.stderr.flush()

    def interrupt(self, number: int, _: Any) -> None:
        """Record a signal. The second signal kills the workers immediately."""
        self.interruptions.append(number)
        if len(self.interruptions) > 1:
            for worker in self.workers:
                worker.send(signal.SIGKILL)
        self._changed.set()

    def run(self) -> int:
        """Run the job, restart it after failures, and return the exit status."""
        self._meet()
        self._guardian = Guardian()
        attempt = 0
        while True:
            self._start(attempt)
            cause = self._watched()
            if self.interruptions:
                return self._ended_by_signal()
            if cause is None:
                self._part()
                return 0
            self._stop(signal.SIGTERM)
            self._report(cause, attempt)
            if attempt >= self.plan.restarts:
                self._part()
                return cause.status or 1
            attempt += 1
            if not self._together(attempt):
                return cause.status or 1
            if self.interruptions:
                return self._ended_by_signal()

    def close(self) -> None:
        """Stop all remaining processes, and close the sockets."""
        for worker in self.workers:
            worker.close()
        for thing in (self._guardian, self._server, self._coordinator):
            if thing is not None:
                thing.close()
        if isinstance(self._link, Store):
            self._link.close()

    # --- start of an attempt ---

    def _meet(self) -> None:
        """Open the board on the first machine, or connect to it from another machine."""
        plan = self.plan
        port = int(plan.coordinator.rpartition(":")[2]) if plan.coordinator else 0
        secret = plan.secret.encode()
        if plan.machine == 0:
            board = Board(plan.size)
            host = plan.listening_host
            try:
                self._coordinator = Reserved(host, port)
                self._server = StoreServer(board, host, port + 1 if port else 0, secret)
            except OSError as error:
                ports = f"the ports {port} and {port + 1}" if port else "a port"
                raise OSError(
                    f"{ports} of {host} cannot be used: {error.strerror or error}. Choose different ones "
                    f"with --coordinator host:port, or the address of this machine with --bind."
                ) from error
            self._link = board
        else:
            name = f"machine {plan.machine} ({platform.node()})"
            address = f"{plan.host}:{port + 1}"
            store = Store(address, secret, -1, plan.size, -1, float(plan.timeout))
            store.hold(plan.ranks, name, plan.machine)
            self._link = store
        threading.Thread(target=self._listen, name="mindgrad-news", daemon=True).start()

    def _listen(self) -> None:
        """Receive news from the board in a thread."""
        link = self._link
        assert link is not None
        while True:
            try:
                self._news = link.news(len(self._news.ended), _NEWS)
            except (ConnectionError, RuntimeError):
                self._is_lost = True
                self._changed.set()
                return
            if self._news.failure is not None:
                time.sleep(_LOOK)
            self._changed.set()

    def _start(self, attempt: int) -> None:
        plan = self.plan
        coordinator = int(plan.coordinator.rpartition(":")[2]) if plan.coordinator else 0
        store = coordinator + 1
        if not plan.coordinator and self._server is not None:
            if attempt:
                if self._coordinator is not None:
                    self._coordinator.close()
                self._coordinator = Reserved(plan.listening_host, 0)
            assert self._coordinator is not None
            coordinator, store = self._coordinator.port, self._server.port
        self.workers = []
        for rank in plan.ranks:
            worker = Worker(plan, rank, attempt, plan.environment(rank, attempt, coordinator, store))
            self.workers.append(worker)
            if self._guardian is not None:
                self._guardian.start(worker.pid)

    # --- supervision of the workers ---

    def _watched(self) -> Ended | None:
        """Wait for the end of an attempt.

        Returns:
            The failure that caused the other failures, or ``None`` if all processes succeeded or a signal
            arrived.
        """
        failed_since: float | None = None
        link = self._link
        assert link is not None
        while not self.interruptions:
            self._tell_ends()
            if self._is_lost:
                return Ended(0, FAILED, "is on the first machine, which does not answer", 1)
            news = self._news
            if news.failure is not None and failed_since is None:
                failed_since = time.monotonic()
            if failed_since is not None and time.monotonic() - failed_since >= _SETTLE:
                with contextlib.suppress(ConnectionError, RuntimeError):
                    # fetch the failures that other machines have reported in the meantime
                    news = link.news(-1, 0.0)
                return cause_of(news.ended)
            is_over = all(worker.is_told for worker in self.workers)
            if is_over and sum(end.kind == FINISHED for end in news.ended) == self.plan.size:
                return None
            self._changed.wait(_LOOK)
            self._changed.clear()
        return None

    def _tell_ends(self) -> None:
        """Report the workers that have ended since the last check."""
        link = self._link
        assert link is not None
        for worker in self.workers:
            if worker.is_told:
                continue
            reason = worker.poll()
            with contextlib.suppress(ConnectionError, RuntimeError):
                if reason:
                    worker.is_told = True
                    link.leave(worker.rank, FAILED, reason, status_of(worker.code or 1))
                elif worker.code == 0:
                    worker.is_told = True
                    link.leave(worker.rank, FINISHED, "has ended", 0)

    # --- end of an attempt ---

    def _stop(self, number: int) -> None:
        """Stop all workers of this machine by a signal, and after a timeout by SIGKILL."""
        for worker in self.workers:
            if worker.code is None:
                worker.send(number)
        latest = time.monotonic() + END_SECONDS
        count = len(self.interruptions)
        while time.monotonic() < latest and len(self.interruptions) <= max(1, count):
            for worker in self.workers:
                worker.poll()
            if all(worker.code is not None for worker in self.workers):
                break
            time.sleep(_LOOK)
        for worker in self.workers:
            worker.close()
            if self._guardian is not None:
                self._guardian.stop(worker.pid)

    def _report(self, cause: Ended, attempt: int) -> None:
        others = [rank for rank in range(self.plan.size) if rank != cause.rank]
        text = f"rank {cause.rank} {cause.reason.rstrip('.')}."
        if others:
            text += f" Rank{'s' if len(others) > 1 else ''} {and_joined(others)} "
            text += "were terminated." if len(others) > 1 else "was terminated."
        if attempt < self.plan.restarts:
            text += f" Restarting all processes: restart {attempt + 1} of {self.plan.restarts}."
        self.say(text)

    def _part(self) -> None:
        """Report the end of the job on this machine to the other machines."""
        # ignore errors: the first machine may end before it answers
        with contextlib.suppress(ConnectionError, RuntimeError):
            if self._link is not None:
                self._link.stopped(self.plan.machine)
        self._wait_for_machines()

    def _wait_for_machines(self) -> None:
        """Keep the board open until the launchers of the other machines have read it."""
        if isinstance(self._link, Board) and self.plan.machines > 1:
            self._link.all_stopped(self.plan.machines, _TOGETHER)

    def _together(self, attempt: int) -> bool:
        """Wait until all machines are ready, and the first machine begins another attempt.

        Returns:
            bool: ``False`` if a machine does not respond, otherwise ``True``.
        """
        link = self._link
        try:
            if isinstance(link, Board):
                link.stopped(self.plan.machine)
                if not link.all_stopped(self.plan.machines, _TOGETHER):
                    self.say("a machine does not respond, so the job is not restarted.")
                    return False
                link.reset(attempt)
            elif link is not None:
                link.stopped(self.plan.machine)
            latest = time.monotonic() + 2 * _TOGETHER
            while self._news.attempt != attempt:
                if self._is_lost or time.monotonic() > latest:
                    return False
                self._changed.wait(_LOOK)
                self._changed.clear()
        except (ConnectionError, RuntimeError):
            return False
        return True

    def _ended_by_signal(self) -> int:
        number = self.interruptions[0]
        with contextlib.suppress(ConnectionError, RuntimeError):
            if self._link is not None:
                reason = f"was terminated because its launcher received {signal.Signals(number).name}"
                self._link.leave(self.plan.ranks.start, FAILED, reason, 128 + number)
        self._stop(number if number != signal.SIGHUP else signal.SIGTERM)
        self.say(f"received {signal.Signals(number).name} and terminated all processes of this machine.")
        self._wait_for_machines()
        return 128 + number
