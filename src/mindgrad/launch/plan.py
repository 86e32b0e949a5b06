"""The plan of a job: its program, its processes, where they meet, and what happens when one fails."""

from __future__ import annotations

import os
import sys
from typing import NamedTuple

from mindgrad._base.environment import LAUNCHER
from mindgrad.communication.channel import address_of

__all__ = ["Plan"]

#: numbers of threads that libraries of kernels take from the environment; ``NPROC`` is XLA's on CPUs
_THREADS = ("NPROC", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")


class Plan(NamedTuple):
    """A job, as it is started on one machine.

    Attributes:
        program: the command line of the program, as ``mindgrad run`` takes it.
        workers: the number of processes on this machine.
        machines: the number of machines, each with as many processes.
        machine: the number of this one.
        coordinator: ``host:port`` of the first machine; empty: any port of the loopback interface.
        bind: the address on which the first machine listens; empty: that of ``coordinator``.
        secret: what all launchers and workers know.
        restarts: how often the job is started again.
        heartbeat: seconds after which a silent process is taken for dead.
        timeout: seconds that the processes wait for each other at the start.
        log_dir: a folder for a file of each worker's output; empty: none.
        is_shown: whether the output of workers is shown.
        name: the command that messages begin with.
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
        """The number of processes of the job."""
        return self.workers * self.machines

    @property
    def ranks(self) -> range:
        """The numbers of the processes on this machine."""
        return range(self.machine * self.workers, (self.machine + 1) * self.workers)

    @property
    def host(self) -> str:
        """The host by which workers reach the first machine."""
        return address_of(self.coordinator)[0] if self.coordinator else "127.0.0.1"

    @property
    def listening_host(self) -> str:
        """The address on which the first machine listens."""
        return self.bind or self.host

    def environment(self, rank: int, attempt: int, coordinator: int, store: int) -> dict[str, str]:
        """The environment of a worker.

        Args:
            rank (int): its number.
            attempt (int): how often the job was started again before.
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
            # what programs written for MindSpore read
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
        """The command line of a worker."""
        return [sys.executable, "-m", "mindgrad", "run", *self.program]


def _own_processors() -> set[int] | range:
    """The processors that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return os.sched_getaffinity(0)
    return range(os.cpu_count() or 1)
