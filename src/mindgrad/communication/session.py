"""The distributed session of a process: start, watch other processes, end.

At its end, a process waits for the other processes, because process 0 runs JAX's coordinator and perhaps the
store. If any process has failed, this process does not wait, and skips JAX's shutdown, which would wait.

A thread watches for the ends of other processes. If another process has ended normally and this process still
waits for it in a collective, this process fails with a message instead of waiting forever. If another process
has failed, this process exits with a message, unless its launcher ends it first. Another thread compares the
calls of this process with the calls of other ranks (``communication.call_order``).
"""

from __future__ import annotations

import atexit
import contextlib
import itertools
import json
import os
import platform
import secrets
import sys
import threading
import time
from typing import Any

from mindgrad._base.ending import ending_listeners
from mindgrad._base.error_line import error_line
from mindgrad._base.job_rank import join_job, leave_job
from mindgrad.communication.board import FAILED, FINISHED, Board, Ended, and_joined
from mindgrad.communication.call_order import CallOrder
from mindgrad.communication.channel import address_of
from mindgrad.communication.engine import connect, disconnect
from mindgrad.communication.groups import World, enter_world
from mindgrad.communication.store import Store, StoreServer
from mindgrad.distributed.job import Job
from mindgrad.distributed.processes import broadcast, start, start_in_cluster, stop, waited

__all__ = ["END_SECONDS", "STUCK_SECONDS", "begin", "end", "failed_with", "store"]

#: after another process has ended, a collective of this process waits for at most this many seconds. Then the
#: job fails
STUCK_SECONDS = 5.0
#: after another process has failed, this process exits after this many seconds, unless it ends earlier
END_SECONDS = 5.0
#: number of seconds between two checks whether this process waits in a collective, after another process has
#: ended
_LOOK = 0.5
#: maximum duration in seconds of one request to the store for news about ended processes
_NEWS = 5.0
#: each rank compares its calls with its neighbors every ``_COMPARE`` seconds, or, in large jobs, every
#: ``_COMPARE_EACH`` seconds times the number of processes. The longer time applies, to limit the load of the
#: store
_COMPARE, _COMPARE_EACH = 1.0, 0.01


class _Session:
    """State of a session.

    Attributes:
        store: the client of the store.
        server: the server of the store if this process runs it; otherwise ``None``.
        order: the record of this rank's calls.
        is_launched: whether a launcher started this process, and ends it after a failure.
        failure: why this process fails, or an empty string if it does not.
        status: exit status of this process after a failure.
        is_over: whether the session has ended.
    """

    def __init__(self, store: Store, server: StoreServer | None, order: CallOrder, is_launched: bool) -> None:
        self.store, self.server, self.order, self.is_launched = store, server, order, is_launched
        self.failure = ""
        self.status = 1
        self.is_over = False


_session: _Session | None = None
#: counter that numbers the sessions of this process
_sessions = itertools.count()


def store() -> Store | None:
    """Return the store of the session, or ``None`` in a job of one process."""
    return None if _session is None else _session.store


def begin(job: Job) -> None:
    """Start communication with the other processes of ``job``.

    Raises:
        RuntimeError: If a process did not start in time. The message names the process.
    """
    global _session
    if job.cluster or not job.store:
        job, link, server = _begun_without_launcher(job)
    else:
        link = Store(job.store, job.secret, job.rank, job.size, job.attempt, float(job.timeout))
        server = None
        _exchange_facts(link, job)
        _start(job)
    machines = tuple(_exchange_facts(link, job))
    enter_world(World(job.rank, machines))
    join_job(job.rank, job.attempt, is_prefixed=bool(job.store))
    order = CallOrder(link, f"the calls of session {next(_sessions)}")
    connect(link, order)
    _session = _Session(link, server, order, bool(job.store))
    _watch_program(_session)


def _start(job: Job) -> None:
    start(
        job.rank, job.size, job.coordinator, bind=job.bind or None, device=job.local_rank,
        heartbeat=job.heartbeat, timeout=job.timeout,
    )  # fmt: skip


def _exchange_facts(link: Store, job: Job) -> list[str]:
    """Wait until all processes have started, and return the names of their machines."""
    machine = str(job.machine) if job.machine >= 0 else platform.node()
    try:
        parts = link.exchange("communication.init()", machine.encode(), range(job.size), float(job.timeout))
    except RuntimeError as error:
        raise RuntimeError(f"For 'init', {error}") from None
    return [part.decode() for part in parts]


def _begun_without_launcher(job: Job) -> tuple[Job, Store, StoreServer | None]:
    """Start JAX, serve the store on process 0, and broadcast the address of the store."""
    if job.cluster:
        rank, size = start_in_cluster(job.cluster, job.heartbeat, job.timeout)
        job = job._replace(rank=rank, size=size)
    else:
        _start(job)
    server, told = None, b""
    if job.rank == 0:
        host, listens = _hosts_of(job)
        secret = secrets.token_hex(32)
        server = StoreServer(Board(job.size), listens, 0, secret.encode())
        told = json.dumps([f"{host}:{server.port}", secret]).encode()
    address, secret = json.loads(broadcast(told))
    link = Store(address, secret.encode(), job.rank, job.size)
    link.hold([job.rank])
    return job, link, server


def _hosts_of(job: Job) -> tuple[str, str]:
    """Return the host to which other processes connect, and the host to listen on.

    Both refer to the machine of process 0.
    """
    if job.coordinator:
        return address_of(job.coordinator)[0], address_of(job.bind or job.coordinator)[0]
    hosts = {os.environ.get("SLURM_NNODES", ""), os.environ.get("SLURM_JOB_NUM_NODES", "")}
    if hosts == {"1"} or (job.cluster == "ompi" and _is_on_one_machine()):
        return "127.0.0.1", "127.0.0.1"
    return platform.node(), "0.0.0.0"


def _is_on_one_machine() -> bool:
    return os.environ.get("OMPI_COMM_WORLD_LOCAL_SIZE") == os.environ.get("OMPI_COMM_WORLD_SIZE")


def failed_with(reason: str, status: int) -> None:
    """Record that this process fails, and report the failure to the other processes.

    Args:
        reason (str): the end of a sentence that begins with this process, such as ``"raised ValueError: …"``.
        status (int): exit status of this process.
    """
    session = _session
    if session is None or session.failure:
        return
    session.failure, session.status = reason, status
    with contextlib.suppress(ConnectionError, RuntimeError):  # the server of the store may have ended, too
        session.store.leave(session.store.rank, FAILED, reason, status)


def end() -> None:
    """End communication, together with the other processes.

    Raises:
        RuntimeError: If another process has failed.
    """
    global _session
    session, _session = _session, None
    if session is None:
        return
    session.is_over = True
    link = session.store
    session.order.publish()
    link.leave(link.rank, FINISHED, "has ended")
    failure, count = None, 0
    while failure is None and count < link.size:
        ended, failure, _ = link.news(count, _NEWS)
        count = len(ended)
    text = "" if failure is not None else session.order.compared()
    if text:
        failure = Ended(link.rank, FAILED, text, 1)
        link.leave(*failure)
    disconnect()
    enter_world(None)
    leave_job()
    if failure is not None:
        raise RuntimeError(f"rank {failure.rank} {failure.reason.rstrip('.')}.")
    if link.rank != 0:
        link.close()
    stop()  # the other processes have read that process 0 has ended, so process 0 can close the store


def _watch_program(session: _Session) -> None:
    """Report the end of this process to the other processes, and watch for their ends."""
    previous = sys.excepthook

    def note(kind: type[BaseException], error: BaseException, traceback: Any) -> None:
        previous(kind, error, traceback)
        failed_with(f"raised {error_line(error)}", 1)

    sys.excepthook = note
    ending_listeners.append(lambda status: failed_with(f"ended with status {status}", status))
    atexit.register(_end_of_program)
    for target in (_watch, _compare_calls):
        threading.Thread(target=target, args=(session,), name="mindgrad-watch", daemon=True).start()


def _end_of_program() -> None:
    session = _session
    if session is None:
        return
    if session.failure:
        # give a launcher the time to end this process. Without a launcher, give the other processes the time
        # to read the reason for the end
        time.sleep(END_SECONDS if session.is_launched else _LOOK)
        _exit_now("", session.status)
    try:
        end()
    except (RuntimeError, ConnectionError) as error:
        if session.is_launched:
            time.sleep(END_SECONDS)
        _exit_now(str(error), 1)
    except KeyboardInterrupt:
        _exit_now("", 130)


def _watch(session: _Session) -> None:
    link = session.store
    count, since = 0, 0.0
    while not session.is_over:
        try:
            ended, failure, _ = link.news(count, _LOOK if count else _NEWS)
        except RuntimeError:
            return  # the job was restarted, so this process will end soon
        except ConnectionError as error:
            if not session.is_over:
                time.sleep(END_SECONDS)
                _exit_now(f"{error}; its process has ended, or the network is broken", 1)
            return
        if failure is not None:
            _end_after(session, failure)
            return
        if len(ended) > count:
            count, since = len(ended), time.monotonic()
        waiting = waited() if count else None
        if waiting is not None and min(waiting[1], time.monotonic() - since) >= STUCK_SECONDS:
            others = sorted(other.rank for other in ended)
            text = f"rank {others[0]} has" if len(others) == 1 else f"ranks {and_joined(others)} have"
            failed_with(
                f"waits in {waiting[0]}, but {text} ended: the ranks run different numbers of steps or "
                f"batches",
                1,
            )


def _compare_calls(session: _Session) -> None:
    """Report a failure if the calls of this rank differ from the calls of a neighbor.

    This function runs in a thread until the session ends. ``call_order`` defines the neighbors of a rank.
    """
    seconds = max(_COMPARE, _COMPARE_EACH * session.store.size)
    while not session.is_over:
        time.sleep(seconds)
        try:
            text = session.order.compared()
        except (RuntimeError, ConnectionError):
            return  # the job has ended or was restarted
        if text and not session.is_over:
            failed_with(text, 1)


def _end_after(session: _Session, failure: Ended) -> None:
    """After a delay, exit this process because of ``failure``.

    If the session has ended in the meantime, the process does not exit.
    """
    time.sleep(2 * END_SECONDS if session.is_launched else END_SECONDS)
    if not session.is_over:
        _exit_now(f"rank {failure.rank} {failure.reason}", 1)


def _exit_now(message: str, status: int) -> None:
    """Exit without the shutdown of JAX, which would wait for the other processes."""
    for stream in (sys.stdout, sys.stderr):
        try:
            if message and stream is sys.stderr:
                stream.write(f"mindgrad: {message.rstrip('.')}.\n")
            stream.flush()
        except (OSError, ValueError, AttributeError):
            continue
    os._exit(status)
