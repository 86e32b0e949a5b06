"""Interruptible waits for compiled programs handle signals, so that Ctrl-C is answered at once.

Python handles signals in the main thread, between two steps of its interpreter, and not while that thread is
inside of XLA. So what may take long runs in another thread, while the main one waits where a signal wakes it.
A handler that raises ends the waiting only: the program cannot be stopped, and runs to its end unheeded.

Where nothing is in work that may take long, the main thread itself waits, which is sooner done: whoever
starts a program that may notes its results (:func:`note_long`).
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

#: the name of the threads in which programs run while the main thread waits
WORKER = "mindgrad-waiting"

#: on Windows no signal wakes a thread that waits for a lock
_PATIENCE = 0.1 if os.name == "nt" else -1.0
#: seconds that a result is asked for again and again before a thread waits for it, which costs as much
_SECONDS_OF_ASKING = 50e-6
#: seconds that the end of the process waits for programs that were interrupted
_SECONDS_AT_EXIT = 0.5
#: programs that jax lets a device have in work
_IN_WORK = 32


class _Job:
    """A call, its result or error, and a lock that is free once it has ended."""

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
    """A thread that runs one job after the other."""

    def __init__(self) -> None:
        self.jobs: SimpleQueue[_Job] = SimpleQueue()
        # does not keep the interpreter from ending
        threading.Thread(target=self._work, name=WORKER, daemon=True).start()

    def _work(self) -> None:
        while True:
            job = self.jobs.get()
            job.run()
            ended = job.ended
            del job
            _idle.append(self)
            ended.release()


#: the threads that wait for work
_idle: list[_Worker] = []

#: what handlers of signals have interrupted
_abandoned: list[_Job] = []

#: of each program in work that may take long one result
_long: deque[weakref.ref[Any]] = deque(maxlen=_IN_WORK)
#: whether such a result went away before it was seen to be there
_is_long_unseen = False

if hasattr(os, "register_at_fork"):
    # threads are not forked
    os.register_at_fork(after_in_child=_idle.clear)
    os.register_at_fork(after_in_child=_abandoned.clear)
    os.register_at_fork(after_in_child=_long.clear)


@atexit.register
def _wait_at_exit() -> None:
    """Wait for running programs: an interpreter that ends aborts threads that return to it."""
    latest = time.monotonic() + _SECONDS_AT_EXIT
    for job in _abandoned:
        job.ended.acquire(timeout=max(0.0, latest - time.monotonic()))


def interruptible(function: Callable[..., Any], *arguments: Any, note: str = "") -> Any:
    """``function(*arguments)``; in the main thread signals are handled meanwhile.

    If a handler raises, ``function`` goes on in another thread, and what it gives or raises is dropped.
    ``note`` is then added to what the handler raises.

    Raises:
        BaseException: what the function, or the handler of a signal, raises.
    """
    if threading.current_thread() is not threading.main_thread():
        return function(*arguments)
    job = _Job(function, arguments)
    del arguments  # the job lets go of them when it has ended
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
    """Note the results of a program that may take so long that a user wants to interrupt it."""
    global _is_long_unseen
    if results and hasattr(results[0], "is_ready"):
        _long.append(weakref.ref(results[0]))  # all results of a program are there at once
    elif results:
        _is_long_unseen = True


def _may_take_long() -> bool:
    """Whether a program that may take long is, as far as is known, still in work."""
    global _is_long_unseen
    for reference in list(_long):
        array = reference()
        if array is None or array.is_deleted():  # what comes of it may be what is waited for
            _is_long_unseen = True
        elif not array.is_ready():
            return True
    _long.clear()
    return _is_long_unseen


def computed(array: Any) -> Any:
    """``array``; if it is a program's result, once that has been computed."""
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
