"""Read the job of this process from environment variables.

A launcher or a scheduler sets these variables.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import NamedTuple

from mindgrad.distributed.processes import HEARTBEAT_SECONDS, START_SECONDS

__all__ = ["Job", "job_of"]

#: environment variables in which other launchers store the number of processes. These launchers do not set
#: the addresses of the processes
_SIZES = ("RANK_SIZE", "MS_WORKER_NUM", "OMPI_COMM_WORLD_SIZE")


class Job(NamedTuple):
    """A job of one or several processes, as seen by this process.

    Attributes:
        rank: index of this process among all processes of the job, from 0.
        size: number of processes of the job.
        local_rank: index of this process among the processes on its machine, from 0.
        machine: index of the machine of this process, or -1 if it is unknown.
        coordinator: ``host:port`` of the JAX coordinator in process 0. It is empty in a cluster.
        bind: ``host:port`` on which the coordinator listens. It is empty if it equals ``coordinator``.
        store: ``host:port`` of the store that the launcher runs. It is empty without a launcher.
        secret: secret string that all processes of the job share, for authentication.
        attempt: number of times that the launcher has restarted the job.
        heartbeat: number of seconds without a heartbeat after which a process is considered dead.
        timeout: maximum number of seconds that a process waits for the other processes at the start.
        cluster: name that JAX uses for the scheduler that started the processes. It is empty without a
            scheduler.
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
    """Return the job that the environment variables in ``environment`` describe.

    Without such variables, return a job of one process.

    Raises:
        RuntimeError: If the variables are not valid, or the addresses of the processes are missing.

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
            raise RuntimeError("For 'init', MINDGRAD_COORDINATOR must be set to host:port of process 0.")
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
                f"For 'init', {name}={environment[name]} requests several processes, but their addresses "
                f"are missing. Start the program with `python -m mindgrad launch --workers "
                f"{environment[name]} script.py`, or under Open MPI or SLURM."
            )
    return Job()


def _cluster_of(environment: Mapping[str, str]) -> str:
    """Return JAX's name of the scheduler that started several processes, or ``""``."""
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
        # a job with many tasks can contain a step with a single task, such as an interactive shell
        tasks = _number(environment, "SLURM_STEP_NUM_TASKS", _number(environment, "SLURM_NTASKS", 1))
        return "slurm" if tasks > 1 else ""
    return ""


def _number(environment: Mapping[str, str], name: str, default: int) -> int:
    text = environment.get(name, "")
    if text and not text.isdecimal():
        raise RuntimeError(f"For 'init', {name} must be a number, but is {text!r}.")
    return int(text) if text else default
