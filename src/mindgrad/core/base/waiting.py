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

#: name of the threads that wait for compiled functions
WORKER = "mindgrad-waiting"

#: The main thread interrupts its wait after this many seconds to run signal handlers; −1: never. Only Windows
#: needs interruptions, because its signals do not end a wait for a lock
_PATIENCE = 0.1 if os.name == "nt" else -1.0
#: A result is polled for this many seconds before a worker thread waits for it: handing the wait to a worker
#: takes about as long
_SECONDS_OF_ASKING = 50e-6
#: At its exit, the process waits at most this many seconds for interrupted calls
_SECONDS_AT_EXIT = 0.5
#: JAX queues at most this many compiled functions on a device
_IN_WORK = 32


class _Job:
    """A call that a worker runs, with its result or error.

    The lock ``ended`` is released at the end of the call.
    """

    __slots__ = ("arguments", "ended", "error", "function", "result")

    def __init__(self, function: Callable, arguments: tuple) -> None:
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
        # daemon threads do not delay the exit of the interpreter while a compiled function runs
        threading.Thread(target=self._work, name=WORKER, daemon=True).start()

    def _work(self) -> None:
        while True:
            job = self.jobs.get()
            job.run()
            ended = job.ended
            del job
            _idle.append(self)
            ended.release()


#: worker threads without a job
_idle: list[_Worker] = []

#: jobs for which the main thread has stopped waiting, because a signal handler raised an exception
_abandoned: list[_Job] = []

#: first result of each compiled function that may take long and may still be running
_long: deque[weakref.ref[Any]] = deque(maxlen=_IN_WORK)
#: whether a result in ``_long`` was deleted before it was computed. Its compiled function may then still run
_is_long_unseen = False

if hasattr(os, "register_at_fork"):
    # only the forking thread exists in a forked process, so there are no workers, jobs, or running functions
    os.register_at_fork(after_in_child=_idle.clear)
    os.register_at_fork(after_in_child=_abandoned.clear)
    os.register_at_fork(after_in_child=_long.clear)


@atexit.register
def _wait_at_exit() -> None:
    """Wait for interrupted calls when the process exits.

    If a worker tried to run Python code after the interpreter has ended, the process would abort.
    """
    latest = time.monotonic() + _SECONDS_AT_EXIT
    for job in _abandoned:
        job.ended.acquire(timeout=max(0.0, latest - time.monotonic()))


def interruptible(function: Callable, *arguments: object, note: str = "") -> Any:
    """Return ``function(*arguments)``, and run signal handlers during the call.

    If a handler raises an exception, the call continues in a worker, and the result or error of the call is
    discarded.

    Args:
        function: function to call.
        *arguments: arguments of ``function``.
        note: text to add to the exception of a handler.

    Raises:
        BaseException: If the function or a signal handler raises it.
    """
    if threading.current_thread() is not threading.main_thread():
        return function(*arguments)
    job = _Job(function, arguments)
    del arguments  # now only the job refers to the arguments, and releases them at its end
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


def note_long(results: Sequence[object]) -> None:
    """Register results of a compiled function that a user may want to interrupt."""
    global _is_long_unseen
    if results and hasattr(results[0], "is_ready"):
        _long.append(weakref.ref(results[0]))  # all results of a function become available at the same time
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
