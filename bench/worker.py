"""A contender's process: reads requests from standard input, one JSON object a line, and answers.

    {"do": "start", "library": "jax"}              import it; {"do": "describe"}: its version
    {"do": "prepare", "task": "t2", "variant": "jit", "every": false, "options": {}}
                                                   build, first call, result
    {"do": "warm", "at_least": 3, "at_most": 20}   call it until all is compiled; the result again
    {"do": "calibrate", "seconds": 0.005}          calls that fill one sample of that length
    {"do": "run", "calls": 20, "samples": 10, "warm": 5}   after 5 calls that are not counted:
                                                   seconds per call, one number a sample
    {"do": "quit"}

Every answer has ``ok``; where it is false ``error`` says why. What libraries print goes to standard
error (a log file), never among the answers.
"""

from __future__ import annotations

import ctypes
import importlib
import json
import os
import re
import signal
import sys
import time
from pathlib import Path
from typing import Any

sys.path[:0] = [str(Path(__file__).parent), str(Path(__file__).parent / "contenders")]

import numpy as np  # noqa: E402
from job import Job, Unavailable  # noqa: E402
from pace import calibrate  # noqa: E402

WHOLE_RESULT_UP_TO = 64
PR_SET_PDEATHSIG = 1
WARM_CALLS, LEAST_CALLS = 10, 3
WARM_SECONDS = 0.3  # of calls, before the next look whether the process is idle
LISTEN = 0.1  # seconds


def fingerprint(arrays: list[np.ndarray]) -> list[list[float]]:
    """Per array its numbers, or for a large one its sum, its norm and a random projection."""
    prints = []
    for array in arrays:
        flat = np.asarray(array, dtype=np.float64).ravel()
        if flat.size <= WHOLE_RESULT_UP_TO:
            prints.append(flat.tolist())
        else:
            direction = np.random.default_rng(flat.size).standard_normal(flat.size)
            prints.append([float(np.linalg.norm(flat)), float(flat @ direction)])
    return prints


def sample(job: Job, calls: int) -> float:
    """Seconds per call over that many calls, the last result awaited.

    With one call a sample, as for everything slower than the length of a sample, that is every
    result. Calls of microseconds are awaited together, because the wait of some libraries costs as
    much as such a call. A library that defers what it is told to do would then be timed on promises:
    where the job says so, every result is awaited.
    """
    call = job.call
    if job.timed_by_itself:
        phases = [call() for _ in range(calls)]
        job.phases = phases[-1]
        return sum(sum(each.values()) for each in phases) / calls
    result = None
    begin = time.perf_counter()
    if job.every:
        for _ in range(calls):
            job.finish(call())
    else:
        for _ in range(calls):
            result = call()
        job.finish(result)
    return (time.perf_counter() - begin) / calls


def idle() -> bool:
    """Whether no thread of this process computes while nobody calls it."""
    time.sleep(LISTEN)  # threads that wait for more work by spinning give up
    begin = time.process_time()
    time.sleep(LISTEN)
    return time.process_time() - begin < LISTEN / 10


def warm_up(job: Job, at_least: float, at_most: float) -> bool:
    """Call until nothing is compiled in the background any more: whether that was reached.

    A library may compile in threads of its own what was called often, and then call the compiled program: it
    is done when the process was idle between the calls, twice, with 10 calls and 0.3 s of them before each.
    At least so many seconds; where that lasts longer than ``at_most``, three calls.
    """
    begin, calls, quiet = time.perf_counter(), 0, 0
    elapsed = lambda: time.perf_counter() - begin
    while quiet < 2 or elapsed() < at_least:
        least, start = calls + WARM_CALLS, time.perf_counter()
        while calls < least or time.perf_counter() - start < WARM_SECONDS:
            sample(job, 1)
            calls += 1
            if calls >= LEAST_CALLS and elapsed() > at_most:
                return False
        quiet = quiet + 1 if idle() else 0
    return True


def peak() -> dict[str, float]:
    """The most memory the process has had resident so far, in bytes; nothing where it is not told."""
    try:
        found = re.search(r"^VmHWM:\s*(\d+) kB", Path("/proc/self/status").read_text(), re.M)
    except OSError:
        return {}
    return {"peak": 1024.0 * int(found.group(1))} if found else {}


class Worker:
    """The state between requests: the library, and the job at hand."""

    def __init__(self) -> None:
        self.contender: Any = None
        self.job: Job | None = None

    def start(self, request: dict[str, Any]) -> dict[str, Any]:
        self.contender = importlib.import_module(f"with_{request['library']}")
        return {}

    def prepare(self, request: dict[str, Any]) -> dict[str, Any]:
        job = self.contender.prepare(request["task"], request["variant"], **request["options"])
        job.every = request["every"]
        begin = time.perf_counter()
        result = job.call()
        if job.timed_by_itself:
            first = sum(result.values())
        else:
            job.finish(result)
            first = time.perf_counter() - begin
        self.job = job
        memory = peak()  # before the facts, for which some contenders compile again
        return {
            "first": first,
            "facts": {**memory, **job.facts()},
            "result": fingerprint(job.arrays(result)) if job.arrays else None,
        }

    def warm(self, request: dict[str, Any]) -> dict[str, Any]:
        warm = warm_up(self.job, request["at_least"], request["at_most"])
        self.job.restart()
        result = self.job.call()
        return {
            "busy": not warm and not idle(),
            "result": fingerprint(self.job.arrays(result)) if self.job.arrays else None,
        }

    def calibrate(self, request: dict[str, Any]) -> dict[str, Any]:
        return calibrate(self.elapsed, request["seconds"])

    def elapsed(self, calls: int) -> float:
        """Seconds that a call takes, whatever a job that is timed by itself counts of them."""
        begin = time.perf_counter()
        sample(self.job, calls)
        return (time.perf_counter() - begin) / calls

    def run(self, request: dict[str, Any]) -> dict[str, Any]:
        # The process was asleep while the others ran: some calls are for the caches, not counted.
        if request["warm"]:
            sample(self.job, request["warm"])
        seconds = [sample(self.job, request["calls"]) for _ in range(request["samples"])]
        return {"seconds": seconds, "phases": self.job.phases}

    def describe(self, request: dict[str, Any]) -> dict[str, Any]:
        return {"versions": self.contender.versions(), "python": sys.version.split()[0]}


ACTIONS = {
    "start": Worker.start,
    "describe": Worker.describe,
    "prepare": Worker.prepare,
    "warm": Worker.warm,
    "calibrate": Worker.calibrate,
    "run": Worker.run,
}


def answer(worker: Worker, request: dict[str, Any]) -> dict[str, Any]:
    """The answer of one request; a failure becomes an answer too, so that the others can go on."""
    try:
        return {"ok": True, **ACTIONS[request["do"]](worker, request)}
    except Unavailable as why:
        return {"ok": False, "unavailable": True, "error": str(why)}
    except Exception as failure:  # whatever a library raises is this contender's result
        sys.excepthook(*sys.exc_info())
        text = " ".join(str(failure).split()) or type(failure).__name__
        return {"ok": False, "unavailable": False, "error": f"{type(failure).__name__}: {text}"}


def main() -> None:
    """Serve requests until told to quit, or until the harness is gone."""
    if sys.platform == "linux":
        # A stopped process does not notice that its pipe is closed: die with the harness instead.
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    answers = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)
    worker = Worker()
    for line in sys.stdin:
        request = json.loads(line)
        if request["do"] == "quit":
            break
        answers.write(json.dumps(answer(worker, request)) + "\n")
    answers.close()
    os._exit(0)  # some libraries hang or crash in their exit handlers


if __name__ == "__main__":
    main()
