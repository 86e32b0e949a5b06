"""The group ``first``: each call is a fresh process, from its start to its first result."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np
from job import Job
from start_problems import PROGRAMS
from start_process import now


def variables(variant: str, folder: str) -> dict[str, str]:
    """The variables that make a variant: "second" has programs of an earlier process on disk."""
    withheld = ("JAX_", "PYTHONDONTWRITEBYTECODE")
    chosen = {name: value for name, value in os.environ.items() if not name.startswith(withheld)}
    chosen |= {"MINDGRAD_CACHE_DIR": ""}
    if "second" in variant:
        chosen["MINDGRAD_CACHE_DIR"] = str(Path(folder) / "mindgrad")
        chosen["JAX_COMPILATION_CACHE_DIR"] = str(Path(folder) / "jax")
        # jax keeps no small programs unless it is told to
        chosen["JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS"] = "0"
        chosen["JAX_PERSISTENT_CACHE_MIN_ENTRY_SIZE_BYTES"] = "-1"
    return chosen


class Start:
    """Fresh processes that run one program to its first result.

    Attributes:
        result: of the last one, as it was printed.
    """

    def __init__(self, library: str, program: str, variant: str) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="bench-start-")
        self._variables = variables(variant, self._folder.name)
        self._command = [sys.executable, str(Path(__file__).with_name(f"{library}_start.py")), program]
        self.result: list[list[float]] = []
        self.once()  # which writes the bytecode of what is imported, and fills the cache

    def once(self) -> dict[str, float]:
        """Run it: the seconds of each step."""
        before = now()
        done = subprocess.run(self._command, env=self._variables, stdout=subprocess.PIPE, check=True)
        answer = json.loads(done.stdout.splitlines()[-1])
        self.result = answer["result"]
        seconds = {}
        for step, end in answer["marks"].items():
            seconds[step], before = end - before, end
        return seconds


def first(library: str, program: str, variant: str) -> Job:
    start = Start(library, program, variant)
    return Job(
        start.once,
        lambda phases: None,
        # libraries give other things behind the first array, or in another order
        lambda phases: [np.array(start.result[0])],
        timed_by_itself=True,
    )


def tasks(library: str) -> dict[str, Callable[..., Job]]:
    """The tasks of the group for a library."""
    return {f"first-{program}": partial(first, library, program) for program in PROGRAMS}
