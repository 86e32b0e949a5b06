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
#: environment variable with the process ID of the launcher that started the current process
LAUNCHER = "MINDGRAD_LAUNCHER"

#: environment variables with the number of processes. mindgrad's launcher, MindSpore, and Open MPI set them
SIZES = ("MINDGRAD_WORLD_SIZE", "RANK_SIZE", "MS_WORKER_NUM", "OMPI_COMM_WORLD_SIZE")


class Variable(NamedTuple):
    """An environment variable.

    Attributes:
        values: regular expression that matches the valid values.
        example: all valid values, or examples if there are many. It is used in error messages.
        meaning: effect of the variable.
    """

    values: str
    example: str
    meaning: str


VARIABLES = {
    "MINDGRAD_BIND": Variable(
        r".+:\d+",
        "host:port",
        "address and port on which process 0 listens for the other processes; default: the value of "
        "MINDGRAD_COORDINATOR",
    ),
    "MINDGRAD_CACHE_DIR": Variable(
        ".*", "a folder, or empty", "folder of the compilation cache on disk; empty: no cache on disk"
    ),
    "MINDGRAD_CACHE_SIZE": Variable(
        r"\s*(\d+(\.\d+)?\s*([KMGTkmgt]?)([iI]?[bB])?)?\s*",
        "500M, 2G, or 0",
        "maximum size of the compilation cache on disk; 0: no cache on disk",
    ),
    "MINDGRAD_CLUSTER": Variable(
        "|slurm|ompi|k8s|mpi4py",
        "slurm, ompi, k8s, or mpi4py",
        "scheduler that started the processes; default: detected from its environment variables",
    ),
    "MINDGRAD_COORDINATOR": Variable(
        r".+:\d+", "host:port", "address and port of process 0 of a distributed job; a launcher sets it"
    ),
    "MINDGRAD_DEBUG_NANS": Variable(
        "[01]?", "0 or 1", "1: raise an error at the operator that first returns NaN or infinity"
    ),
    "MINDGRAD_EAGER": Variable(
        "|numpy|compiled|deferred",
        "numpy, compiled, or deferred",
        "numpy: never compile repeated calls in eager mode; compiled, deferred: compile each call after its "
        "second run (for tests)",
    ),
    "MINDGRAD_HEARTBEAT": Variable(
        r"\d+",
        "10",
        "a process of a distributed job counts as failed after this many seconds without a message",
    ),
    "MINDGRAD_LAUNCHER": Variable(
        r"\d+", "4711", "process ID (PID) of the launcher that started this process; a launcher sets it"
    ),
    "MINDGRAD_LOCAL_RANK": Variable(
        r"\d+", "1", "number of this process on its machine, counted from 0; a launcher sets it"
    ),
    "MINDGRAD_LOCAL_SIZE": Variable(
        r"\d+", "4", "number of processes of the job on this machine; a launcher sets it"
    ),
    "MINDGRAD_LOG": Variable(
        "|eager", "eager", "eager: print a line when the compilation of an eager call starts or ends"
    ),
    "MINDGRAD_MACHINE": Variable(
        r"\d+", "0", "number of this machine in a distributed job, counted from 0; a launcher sets it"
    ),
    "MINDGRAD_OPT": Variable(
        "[01]?", "0 or 1", "0: compile functions without the rewrites of mindgrad's compiler"
    ),
    "MINDGRAD_PROGRESS": Variable("[01]?", "0 or 1", "0: show no progress bar during long compilations"),
    "MINDGRAD_RANK": Variable(
        r"\d+", "1", "number of this process in a distributed job, counted from 0; a launcher sets it"
    ),
    "MINDGRAD_RESTART": Variable(
        r"\d+", "0", "number of times that the distributed job was restarted; a launcher sets it"
    ),
    "MINDGRAD_START_TIMEOUT": Variable(
        r"\d+", "300", "a distributed job fails if a process has not started after this many seconds"
    ),
    "MINDGRAD_STORE": Variable(
        r".+:\d+",
        "host:port",
        "address and port of the server through which processes exchange small messages; a launcher sets it",
    ),
    "MINDGRAD_STORE_KEY": Variable(
        ".*",
        "a secret",
        "secret with which the processes of a distributed job authenticate each other; the same on all "
        "machines",
    ),
    "MINDGRAD_STRICT_DEVICE": Variable(
        "[01]?",
        "0 or 1",
        "1: raise an error if the selected device is not available, instead of using the CPU",
    ),
    "MINDGRAD_TRACEBACK": Variable("|full", "full", "full: include mindgrad's internal frames in tracebacks"),
    "MINDGRAD_VERIFY": Variable(
        "[01]?", "0 or 1", "1: check that every computation graph is well formed (for developers)"
    ),
    "MINDGRAD_WORLD_SIZE": Variable(
        r"\d+", "4", "number of processes in a distributed job; a launcher sets it"
    ),
}


def mistakes(environment: Mapping[str, str]) -> dict[str, str]:
    """Find unknown variables, and variables with invalid values.

    Args:
        environment: the environment variables. Only names that begin with ``MINDGRAD_`` are checked.

    Returns:
        A dict from the name of each such variable to a description of the mistake.

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
