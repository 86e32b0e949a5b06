"""The environment variables that mindgrad reads, with their values and meanings.

``VARIABLES`` contains every variable that any module of the package reads. ``mindgrad doctor`` compares the
variables that the user has set with this table.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Mapping
from typing import NamedTuple

__all__ = ["LAUNCHER", "PREFIX", "SIZES", "VARIABLES", "Variable", "mistakes"]

PREFIX = "MINDGRAD_"
#: variable that contains the process number of the launcher that has started this process
LAUNCHER = "MINDGRAD_LAUNCHER"

#: variables with the number of processes, as set by mindgrad's launcher, MindSpore, and Open MPI
SIZES = ("MINDGRAD_WORLD_SIZE", "RANK_SIZE", "MS_WORKER_NUM", "OMPI_COMM_WORLD_SIZE")


class Variable(NamedTuple):
    """An environment variable.

    Attributes:
        values: regular expression of the valid values.
        example: all valid values of a variable with few, otherwise examples; for error messages.
        meaning: effect of the variable.
    """

    values: str
    example: str
    meaning: str


VARIABLES = {
    "MINDGRAD_BIND": Variable(
        r".+:\d+", "host:port", "address where process 0 listens for JAX; default: the coordinator"
    ),
    "MINDGRAD_CACHE_DIR": Variable(".*", "a folder, or empty", "cache directory; empty disables the cache"),
    "MINDGRAD_CACHE_SIZE": Variable(
        r"\s*(\d+(\.\d+)?\s*([KMGTkmgt]?)([iI]?[bB])?)?\s*",
        "500M, 2G, or 0",
        "maximum size of the cache; 0 disables the cache",
    ),
    "MINDGRAD_CLUSTER": Variable(
        "|slurm|ompi|k8s|mpi4py", "slurm, ompi, k8s, or mpi4py", "scheduler that started the processes"
    ),
    "MINDGRAD_COORDINATOR": Variable(r".+:\d+", "host:port", "address of process 0; a launcher sets it"),
    "MINDGRAD_DEBUG_NANS": Variable(
        "[01]?", "0 or 1", "1: raise an error at the operator that first produces NaN or infinity"
    ),
    "MINDGRAD_EAGER": Variable(
        "|numpy|compiled|deferred",
        "numpy, compiled, or deferred",
        "numpy: never compile repeated eager calls; compiled, deferred: compile the second call (for tests)",
    ),
    "MINDGRAD_HEARTBEAT": Variable(
        r"\d+", "10", "seconds without a sign of life after which a process counts as failed"
    ),
    "MINDGRAD_LAUNCHER": Variable(r"\d+", "4711", "process number of the launcher; a launcher sets it"),
    "MINDGRAD_LOCAL_RANK": Variable(r"\d+", "1", "number of the process on its machine; a launcher sets it"),
    "MINDGRAD_LOCAL_SIZE": Variable(r"\d+", "4", "number of processes on the machine; a launcher sets it"),
    "MINDGRAD_LOG": Variable("|eager", "eager", "eager: print when calls in eager mode are compiled"),
    "MINDGRAD_MACHINE": Variable(r"\d+", "0", "number of the machine; a launcher sets it"),
    "MINDGRAD_OPT": Variable("[01]?", "0 or 1", "0: compile without rewrites"),
    "MINDGRAD_PROGRESS": Variable("[01]?", "0 or 1", "0: no progress bars"),
    "MINDGRAD_RANK": Variable(r"\d+", "1", "number of the process; a launcher sets it"),
    "MINDGRAD_RESTART": Variable(r"\d+", "0", "number of restarts of the job; a launcher sets it"),
    "MINDGRAD_START_TIMEOUT": Variable(r"\d+", "300", "seconds to wait for the other processes at the start"),
    "MINDGRAD_STORE": Variable(
        r".+:\d+", "host:port", "address of the store that processes share; a launcher sets it"
    ),
    "MINDGRAD_STORE_KEY": Variable(
        ".*", "a secret", "shared secret of the processes of a job; the same on all machines"
    ),
    "MINDGRAD_STRICT_DEVICE": Variable("[01]?", "0 or 1", "1: raise an error if the device is not available"),
    "MINDGRAD_TRACEBACK": Variable("|full", "full", "full: include mindgrad's internal frames in tracebacks"),
    "MINDGRAD_VERIFY": Variable("[01]?", "0 or 1", "1: verify every graph when it is built"),
    "MINDGRAD_WORLD_SIZE": Variable(r"\d+", "4", "number of processes; a launcher sets it"),
}


def mistakes(environment: Mapping[str, str]) -> dict[str, str]:
    """Find unknown variables and invalid values of mindgrad's variables.

    >>> mistakes({"MINDGRAD_OTP": "0", "MINDGRAD_OPT": "1", "HOME": "/root"})
    {'MINDGRAD_OTP': "no such variable; nearest: 'MINDGRAD_OPT'"}
    >>> mistakes({"MINDGRAD_EAGER": "off"})
    {'MINDGRAD_EAGER': "'off' is not a valid value; write numpy, compiled, or deferred"}
    """
    wrong = {}
    for name, value in sorted(environment.items()):
        if not name.startswith(PREFIX):
            continue
        if name not in VARIABLES:
            near = difflib.get_close_matches(name, VARIABLES, 1)
            wrong[name] = "no such variable" + (f"; nearest: {near[0]!r}" if near else "")
        elif not re.fullmatch(VARIABLES[name].values, value):
            wrong[name] = f"{value!r} is not a valid value; write {VARIABLES[name].example}"
    return wrong
