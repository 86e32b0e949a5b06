"""Wait for compiled functions so that Ctrl-C and other signals interrupt the wait.

Python runs signal handlers in the main thread, between two instructions of its interpreter. It cannot do so
while this thread executes a compiled function in XLA. Therefore a compiled function that may take long runs
in another thread, the *worker*. The main thread waits for a lock, and a signal interrupts this wait. If the
signal handler raises an exception, the main thread stops waiting. The compiled function itself cannot be
stopped, and its result is discarded.

If no long compiled function is running, the main thread itself waits for XLA, which is faster. The caller of
a compiled function that may take long must register the results with :func:`note_long`.
"""

from __future__ import annotations

import atexit
import os
import threading
import time
import weakref
from collections import deque
from collections.abc import Callable, Sequence
from queue import SimpleQueue
from typing import Any

__all__ = ["WORKER", "computed", "interruptible", "note_long"]

#: name of the worker threads
WORKER = "mindgrad-waiting"

#: number of seconds after which the main thread interrupts its wait to run signal handlers; −1: never. Only
#: Windows needs this, because its signals do not interrupt a thread that waits for a lock
_PATIENCE = 0.1 if os.name == "nt" else -1.0
#: number of seconds for which a result is polled before the wait starts, because the start of a wait takes as
#: much time
_SECONDS_OF_ASKING = 50e-6
#: largest number of seconds for which the exit of the process waits for interrupted calls
_SECONDS_AT_EXIT = 0.5
#: largest number of compiled functions that JAX queues on a device
_IN_WORK = 32


class _Job:
    """A call with its result or error, and a lock that is released at its end."""

    __slots__ = ("arguments", "ended", "error", "function", "result")

    def __init__(self, function: Callable[..., Any], arguments: tuple[Any, ...]) -> None:
        self.function, self.arguments = function, arguments
        self.result: Any = None
        self.error: BaseException | None = None
        self.ended = threading.Lock()
        self.ended.acquire()

    def run(self) -> None:
        try:
            self.result = self.function(*self.arguments)
        except BaseException as error:
            self.error = error
        finally:
            del self.function, self.arguments


class _Worker:
    """A thread that runs jobs, one at a time."""

    def __init__(self) -> None:
        self.jobs: SimpleQueue[_Job] = SimpleQueue()
        # a daemon thread, so that the interpreter can exit while a compiled function runs
        threading.Thread(target=self._work, name=WORKER, daemon=True).start()

    def _work(self) -> None:
        while True:
            job = self.jobs.get()
            job.run()
            ended = job.ended
            del job
            _idle.append(self)
            ended.release()


#: the workers without a job
_idle: list[_Worker] = []

#: the jobs for which the main thread stopped waiting, because a signal handler raised an exception
_abandoned: list[_Job] = []

#: the first result of each compiled function that may take long and may still run
_long: deque[weakref.ref[Any]] = deque(maxlen=_IN_WORK)
#: whether a result in ``_long`` was deleted before it was ready, so that its compiled function may still run
_is_long_unseen = False

if hasattr(os, "register_at_fork"):
    # a forked process has no other threads, so it has no workers, jobs, or running functions
    os.register_at_fork(after_in_child=_idle.clear)
    os.register_at_fork(after_in_child=_abandoned.clear)
    os.register_at_fork(after_in_child=_long.clear)


@atexit.register
def _wait_at_exit() -> None:
    """Wait for interrupted calls when the process exits.

    If a worker returned to the interpreter after its end, the process would abort.
    """
    latest = time.monotonic() + _SECONDS_AT_EXIT
    for job in _abandoned:
        job.ended.acquire(timeout=max(0.0, latest - time.monotonic()))


def interruptible(function: Callable[..., Any], *arguments: Any, note: str = "") -> Any:
    """Return ``function(*arguments)``, and run signal handlers during the call.

    If a handler raises an exception, the call continues in a worker, and its result or error is discarded.

    Args:
        function: function to call.
        *arguments: its arguments.
        note: text to add to the exception of a handler.

    Raises:
        BaseException: If the function or a signal handler raises it.
    """
    if threading.current_thread() is not threading.main_thread():
        return function(*arguments)
    job = _Job(function, arguments)
    del arguments  # now only the job refers to them, and it releases them at its end
    try:
        worker = _idle.pop()
    except IndexError:
        worker = _Worker()
    worker.jobs.put(job)
    try:
        while not job.ended.acquire(timeout=_PATIENCE):
            pass
    except BaseException as interruption:
        _abandoned[:] = [job, *[each for each in _abandoned if each.ended.locked()]]
        if note:
            interruption.add_note(note)
        raise
    if job.error is not None:
        raise job.error
    return job.result


def note_long(results: Sequence[Any]) -> None:
    """Register results of a compiled function that a user may want to interrupt."""
    global _is_long_unseen
    if results and hasattr(results[0], "is_ready"):
        _long.append(weakref.ref(results[0]))  # all results become ready at the same time
    elif results:
        _is_long_unseen = True


def _may_take_long() -> bool:
    """Check whether a long compiled function may still be running."""
    global _is_long_unseen
    for reference in list(_long):
        array = reference()
        if array is None or array.is_deleted():  # it is unknown whether its function has finished
            _is_long_unseen = True
        elif not array.is_ready():
            return True
    _long.clear()
    return _is_long_unseen


def computed(array: Any) -> Any:
    """Wait until ``array`` is computed, and return it."""
    global _is_long_unseen
    is_ready = getattr(array, "is_ready", None)
    if is_ready is None or is_ready():
        return array
    latest = time.perf_counter() + _SECONDS_OF_ASKING
    while time.perf_counter() < latest:
        if is_ready():
            return array
    if _may_take_long():
        interruptible(array.block_until_ready)
        _is_long_unseen = False
    else:
        array.block_until_ready()
    return array
