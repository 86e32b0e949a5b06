"""The environment variables that the package reads, with their values and meanings.

A variable that is read anywhere in the package stands here; ``mindgrad doctor`` checks those that are set.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Mapping
from typing import NamedTuple

__all__ = ["LAUNCHER", "PREFIX", "SIZES", "VARIABLES", "Variable", "mistakes"]

PREFIX = "MINDGRAD_"
#: the number of the process that has started this one as a worker
LAUNCHER = "MINDGRAD_LAUNCHER"

#: what launchers say the number of processes with: this package's, MindSpore's, Open MPI's
SIZES = ("MINDGRAD_WORLD_SIZE", "RANK_SIZE", "MS_WORKER_NUM", "OMPI_COMM_WORLD_SIZE")


class Variable(NamedTuple):
    """An environment variable.

    Attributes:
        values: a regular expression of the values that mean something.
        example: values as a person would write them.
        meaning: what it does.
    """

    values: str
    example: str
    meaning: str


VARIABLES = {
    "MINDGRAD_BIND": Variable(
        r".+:\d+", "host:port", "address where process 0 listens for JAX; default: the coordinator's"
    ),
    "MINDGRAD_CACHE_DIR": Variable(
        ".*", "a folder, or nothing", "folder of the compilation cache; empty: the cache is off"
    ),
    "MINDGRAD_CACHE_SIZE": Variable(
        r"\s*(\d+(\.\d+)?\s*([KMGTkmgt]?)([iI]?[bB])?)?\s*",
        "500M, 2G or 0",
        "largest size of the cache; 0: the cache is off",
    ),
    "MINDGRAD_CLUSTER": Variable(
        "|slurm|ompi|k8s|mpi4py", "slurm, ompi, k8s", "scheduler that started the processes"
    ),
    "MINDGRAD_COORDINATOR": Variable(r".+:\d+", "host:port", "address of process 0; set by the launcher"),
    "MINDGRAD_DEBUG_NANS": Variable(
        "[01]?", "1", "1: an operator that returns NaN or infinity raises an error"
    ),
    "MINDGRAD_EAGER": Variable(
        "|numpy|compiled|deferred",
        "numpy",
        "numpy: never compile eager calls; compiled: compile repeated calls immediately",
    ),
    "MINDGRAD_HEARTBEAT": Variable(
        r"\d+", "10", "seconds without an answer after which a process counts as failed"
    ),
    "MINDGRAD_LAUNCHER": Variable(r"\d+", "4711", "process id of the launcher; set by the launcher"),
    "MINDGRAD_LOCAL_RANK": Variable(r"\d+", "1", "number of the process on its machine; set by the launcher"),
    "MINDGRAD_LOCAL_SIZE": Variable(r"\d+", "4", "number of processes on the machine; set by the launcher"),
    "MINDGRAD_LOG": Variable("|eager", "eager", "eager: report when eager calls are compiled"),
    "MINDGRAD_MACHINE": Variable(r"\d+", "0", "number of the machine; set by the launcher"),
    "MINDGRAD_OPT": Variable("[01]?", "0", "0: compile without rewrites"),
    "MINDGRAD_PROGRESS": Variable("[01]?", "0", "0: no progress bars"),
    "MINDGRAD_RANK": Variable(r"\d+", "1", "number of the process (rank); set by the launcher"),
    "MINDGRAD_RESTART": Variable(r"\d+", "0", "number of restarts of the job; set by the launcher"),
    "MINDGRAD_START_TIMEOUT": Variable(
        r"\d+", "300", "seconds that processes wait for each other at the start"
    ),
    "MINDGRAD_STORE": Variable(
        r".+:\d+", "host:port", "address of the store, which coordinates the processes; set by the launcher"
    ),
    "MINDGRAD_STORE_KEY": Variable(".*", "a secret", "secret of the job's processes; equal on all machines"),
    "MINDGRAD_STRICT_DEVICE": Variable("[01]?", "1", "1: a missing device raises an error"),
    "MINDGRAD_TRACEBACK": Variable("|full", "full", "full: tracebacks include frames of mindgrad"),
    "MINDGRAD_VERIFY": Variable("[01]?", "1", "1: verify every new graph"),
    "MINDGRAD_WORLD_SIZE": Variable(r"\d+", "4", "number of processes; set by the launcher"),
}


def mistakes(environment: Mapping[str, str]) -> dict[str, str]:
    """The mistakes among the variables of this package that are set, by their names.

    >>> mistakes({"MINDGRAD_OTP": "0", "MINDGRAD_OPT": "1", "HOME": "/root"})
    {'MINDGRAD_OTP': "no such variable; nearest: 'MINDGRAD_OPT'"}
    >>> mistakes({"MINDGRAD_EAGER": "off"})
    {'MINDGRAD_EAGER': "'off' has no meaning; write numpy"}
    """
    wrong = {}
    for name, value in sorted(environment.items()):
        if not name.startswith(PREFIX):
            continue
        if name not in VARIABLES:
            near = difflib.get_close_matches(name, VARIABLES, 1)
            wrong[name] = "no such variable" + (f"; nearest: {near[0]!r}" if near else "")
        elif not re.fullmatch(VARIABLES[name].values, value):
            wrong[name] = f"{value!r} has no meaning; write {VARIABLES[name].example}"
    return wrong
