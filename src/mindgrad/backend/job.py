"""The job of a process is read from the environment, where a launcher or a scheduler has written it."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import NamedTuple

from mindgrad.backend.processes import HEARTBEAT_SECONDS, START_SECONDS

__all__ = ["Job", "job_of"]

#: what other launchers write that mindgrad does not know enough of
_SIZES = ("RANK_SIZE", "MS_WORKER_NUM", "OMPI_COMM_WORLD_SIZE")


class Job(NamedTuple):
    """A job, and the part of this process in it.

    Attributes:
        rank: the number of this process.
        size: the number of processes.
        local_rank: the number of this process on its machine.
        machine: the number of the machine; -1 where it is not known.
        coordinator: ``host:port`` of jax's coordinator, in process 0; empty in a cluster.
        bind: ``host:port`` on which it listens; empty: the same.
        store: ``host:port`` of the store; empty where there is no launcher.
        secret: what all processes know.
        attempt: how often the job was started again before.
        heartbeat: seconds after which a process without a sign of life is taken for dead.
        timeout: seconds that the start may take.
        cluster: jax's name of the scheduler that started the processes; empty if it was none.
    """

    rank: int = 0
    size: int = 1
    local_rank: int = 0
    machine: int = -1
    coordinator: str = ""
    bind: str = ""
    store: str = ""
    secret: bytes = b""
    attempt: int = 0
    heartbeat: int = HEARTBEAT_SECONDS
    timeout: int = START_SECONDS
    cluster: str = ""


def job_of(environment: Mapping[str, str] = os.environ) -> Job:
    """The job that an environment describes: of one process where it says nothing.

    Raises:
        RuntimeError: it describes none that can be started.

    >>> job_of({}).size
    1
    >>> job_of({"MINDGRAD_RANK": "1", "MINDGRAD_WORLD_SIZE": "4", "MINDGRAD_COORDINATOR": "a:1"}).rank
    1
    """
    heartbeat = _number(environment, "MINDGRAD_HEARTBEAT", HEARTBEAT_SECONDS)
    timeout = _number(environment, "MINDGRAD_START_TIMEOUT", START_SECONDS)
    if "MINDGRAD_WORLD_SIZE" in environment:
        rank, size = _number(environment, "MINDGRAD_RANK", 0), _number(environment, "MINDGRAD_WORLD_SIZE", 1)
        coordinator = environment.get("MINDGRAD_COORDINATOR", "")
        if not 0 <= rank < size:
            raise RuntimeError(f"For 'init', MINDGRAD_RANK={rank} is not below MINDGRAD_WORLD_SIZE={size}.")
        if size > 1 and not coordinator:
            raise RuntimeError("For 'init', MINDGRAD_COORDINATOR must be host:port of process 0.")
        return Job(
            rank,
            size,
            _number(environment, "MINDGRAD_LOCAL_RANK", 0),
            _number(environment, "MINDGRAD_MACHINE", -1),
            coordinator,
            environment.get("MINDGRAD_BIND", ""),
            environment.get("MINDGRAD_STORE", ""),
            environment.get("MINDGRAD_STORE_KEY", "").encode(),
            _number(environment, "MINDGRAD_RESTART", 0),
            heartbeat,
            timeout,
        )
    cluster = environment.get("MINDGRAD_CLUSTER", "") or _cluster_of(environment)
    if cluster:
        return Job(size=2, cluster=cluster, heartbeat=heartbeat, timeout=timeout)
    for name in _SIZES:
        if environment.get(name, "1") not in ("", "1"):
            raise RuntimeError(
                f"For 'init', {name}={environment[name]} says that there are several processes, but not "
                f"where "
                f"they are. Start the program with `python -m mindgrad launch --workers "
                f"{environment[name]} script.py`, or under Open MPI or SLURM."
            )
    return Job()


def _cluster_of(environment: Mapping[str, str]) -> str:
    """The scheduler that has started several processes, of which this is one, by jax's name."""
    if (
        "OMPI_MCA_orte_hnp_uri" in environment
        and _number(environment, "OMPI_COMM_WORLD_SIZE", 1) > 1
        and "OMPI_COMM_WORLD_RANK" in environment
    ):
        return "ompi"
    if all(
        name in environment
        for name in ("SLURM_JOB_ID", "SLURM_STEP_NODELIST", "SLURM_NTASKS", "SLURM_PROCID", "SLURM_LOCALID")
    ):
        # a job of many tasks may have a step of one: an interactive shell
        tasks = _number(environment, "SLURM_STEP_NUM_TASKS", _number(environment, "SLURM_NTASKS", 1))
        return "slurm" if tasks > 1 else ""
    return ""


def _number(environment: Mapping[str, str], name: str, default: int) -> int:
    text = environment.get(name, "")
    if text and not text.isdecimal():
        raise RuntimeError(f"For 'init', {name} must be a number, but is {text!r}.")
    return int(text) if text else default
