"""The plan of a job: program, processes, network addresses, restarts and timeouts."""

from __future__ import annotations

import os
import sys
from typing import NamedTuple

from mindgrad._base.environment import LAUNCHER
from mindgrad.communication.channel import address_of

__all__ = ["Plan"]

#: environment variables with the number of threads of numerical libraries; XLA reads ``NPROC`` on CPUs
_THREADS = ("NPROC", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")


class Plan(NamedTuple):
    """A job, as it is started on one machine.

    Attributes:
        program: command line of the program, in the form that ``mindgrad run`` accepts.
        workers: number of processes on this machine.
        machines: number of machines, each with the same number of processes.
        machine: number of this machine, starting at 0.
        coordinator: ``host:port`` of the first machine. If empty, a free port of the loopback interface is
            used.
        bind: address on which the first machine listens. If empty, the host of ``coordinator`` is used.
        secret: shared secret of all launchers and workers.
        restarts: largest number of restarts of the job after failures.
        heartbeat: seconds without a sign of life after which a process counts as failed.
        timeout: seconds that the processes wait for each other at the start.
        log_dir: folder for the output of each worker. If empty, no files are written.
        is_shown: whether the launcher shows the output of the workers.
        name: name of the launching command, with which its messages begin.
    """

    program: tuple[str, ...]
    workers: int
    machines: int
    machine: int
    coordinator: str
    bind: str
    secret: str
    restarts: int
    heartbeat: int
    timeout: int
    log_dir: str
    is_shown: bool
    name: str

    @property
    def size(self) -> int:
        """Number of processes of the job."""
        return self.workers * self.machines

    @property
    def ranks(self) -> range:
        """Ranks of the processes on this machine."""
        return range(self.machine * self.workers, (self.machine + 1) * self.workers)

    @property
    def host(self) -> str:
        """Host to which workers connect on the first machine."""
        return address_of(self.coordinator)[0] if self.coordinator else "127.0.0.1"

    @property
    def listening_host(self) -> str:
        """Address on which the first machine listens."""
        return self.bind or self.host

    def environment(self, rank: int, attempt: int, coordinator: int, store: int) -> dict[str, str]:
        """Return the environment variables of a worker.

        Args:
            rank (int): rank of the worker.
            attempt (int): number of restarts of the job so far.
            coordinator, store (int): ports of the first machine.
        """
        local = rank - self.ranks.start
        threads = max(1, len(_own_processors()) // self.workers)
        host = f"[{self.host}]" if ":" in self.host else self.host
        bind = f"[{self.listening_host}]" if ":" in self.listening_host else self.listening_host
        return {
            "PYTHONUNBUFFERED": "1",
            **dict.fromkeys(_THREADS, str(threads)),
            **os.environ,
            LAUNCHER: str(os.getpid()),
            "MINDGRAD_RANK": str(rank),
            "MINDGRAD_WORLD_SIZE": str(self.size),
            "MINDGRAD_LOCAL_RANK": str(local),
            "MINDGRAD_LOCAL_SIZE": str(self.workers),
            "MINDGRAD_MACHINE": str(self.machine),
            "MINDGRAD_COORDINATOR": f"{host}:{coordinator}",
            "MINDGRAD_BIND": f"{bind}:{coordinator}",
            "MINDGRAD_STORE": f"{host}:{store}",
            "MINDGRAD_STORE_KEY": self.secret,
            "MINDGRAD_RESTART": str(attempt),
            "MINDGRAD_HEARTBEAT": str(self.heartbeat),
            "MINDGRAD_START_TIMEOUT": str(self.timeout),
            # variables that MindSpore programs read
            "RANK_ID": str(rank),
            "RANK_SIZE": str(self.size),
            "DEVICE_ID": str(local),
            "DEVICE_NUM": str(self.workers),
            "MS_ROLE": "MS_WORKER",
            "MS_WORKER_NUM": str(self.size),
            "MS_NODE_ID": str(rank),
            "MS_SCHED_HOST": self.host,
            "MS_SCHED_PORT": str(coordinator),
        }

    def command(self) -> list[str]:
        """Return the command line of a worker."""
        return [sys.executable, "-m", "mindgrad", "run", *self.program]


def _own_processors() -> set[int] | range:
    """Return the processors that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return os.sched_getaffinity(0)
    return range(os.cpu_count() or 1)
