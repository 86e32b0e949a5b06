"""Interruptible waits for compiled programs handle signals, so that Ctrl-C is answered at once.

Python handles signals in the main thread, between two steps of its interpreter, and not while that thread is
inside of XLA. So what may take long runs in another thread, while the main one waits where a signal wakes it.
A handler that raises ends the waiting only: the program cannot be stopped, and runs to its end unheeded.

Who waits long for the compiler, or for a check, reads so on a terminal, or in a notebook: :class:`Progress`.
"""

from __future__ import annotations

import atexit
import os
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from queue import SimpleQueue
from typing import Any

__all__ = ["WORKER", "Progress", "computed", "interruptible", "is_notebook", "is_terminal"]

#: the name of the threads in which programs run while the main thread waits
WORKER = "mindgrad-waiting"

#: on Windows no signal wakes a thread that waits for a lock
_PATIENCE = 0.1 if os.name == "nt" else -1.0
#: seconds that the end of the process waits for programs that were interrupted
_SECONDS_AT_EXIT = 0.5


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

if hasattr(os, "register_at_fork"):
    # threads are not forked
    os.register_at_fork(after_in_child=_idle.clear)
    os.register_at_fork(after_in_child=_abandoned.clear)


@atexit.register
def _wait_at_exit() -> None:
    """Wait for running programs: an interpreter that ends aborts threads that return to it."""
    latest = time.monotonic() + _SECONDS_AT_EXIT
    for job in _abandoned:
        job.ended.acquire(timeout=max(0.0, latest - time.monotonic()))


def interruptible(function: Callable[..., Any], *arguments: Any) -> Any:
    """``function(*arguments)``; in the main thread signals are handled meanwhile.

    If a handler raises, ``function`` goes on in another thread, and what it gives or raises is dropped.

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
    except BaseException:
        _abandoned[:] = [job, *[each for each in _abandoned if each.ended.locked()]]
        raise
    if job.error is not None:
        raise job.error
    return job.result


def computed(array: Any) -> Any:
    """``array``; if it is a program's result, once that has been computed."""
    is_ready = getattr(array, "is_ready", None)
    if is_ready is not None and not is_ready():
        interruptible(array.block_until_ready)
    return array


class Progress:
    """Shows a line on standard error, ``compiling 'step' … 12 s``, while something takes long.

    Only on a terminal, where the line is erased at the end, and in notebooks, where it says then how long it
    took; only for the main thread; not if the environment variable ``MINDGRAD_PROGRESS`` is ``0``. What is
    inside of another one shows nothing.

    Args:
        doing, done: what happens, and what has happened at the end: ``"compiling"``, ``"compiled"``.
        subject: what it happens to, a function or an object.
    """

    #: seconds before the line appears
    patience = 2.0

    _is_open = False
    _WIDTH = 24

    __slots__ = ("_count", "_doing", "_done", "_ended", "_is_shown", "_lock", "_start", "_stream", "_subject")

    def __init__(self, doing: str, done: str, subject: Any) -> None:
        self._doing, self._done, self._subject = doing, done, subject
        self._count: tuple[int, int, str] | None = None
        self._stream: Any = None

    def counted(self, items: Any, noun: str) -> Iterator[Any]:
        """``items``, counted by the line as so many of the ``noun``."""
        for number, item in enumerate(items):
            self._count = (number, len(items), noun)
            yield item

    def __enter__(self) -> Progress:
        if Progress._is_open or not (is_terminal(sys.stderr) or is_notebook(sys.stderr)):
            return self
        is_main = threading.current_thread() is threading.main_thread()
        if not is_main or os.environ.get("MINDGRAD_PROGRESS") == "0":
            return self
        Progress._is_open = True
        self._stream, self._is_shown, self._start = sys.stderr, False, time.monotonic()
        self._ended, self._lock = threading.Event(), threading.Lock()
        threading.Thread(target=self._show, name="mindgrad-progress", daemon=True).start()
        return self

    def __exit__(self, *_: Any) -> None:
        if self._stream is None:
            return
        Progress._is_open = False
        self._ended.set()
        with self._lock:
            if self._is_shown:
                erases = is_terminal(self._stream)
                self._write("" if erases else f"{self._done} {self._text()}", "" if erases else "\n")

    def _show(self) -> None:
        wait = self.patience
        while not self._ended.wait(wait):
            with self._lock:
                if not self._ended.is_set():
                    self._is_shown = True
                    self._write(f"{self._doing} {self._text()}")
            wait = 1.0

    def _text(self) -> str:
        owner = getattr(self._subject, "__self__", None)
        name = type(owner).__name__ if hasattr(owner, "construct") else None
        name = name or getattr(self._subject, "__name__", type(self._subject).__name__)
        seconds = f"{time.monotonic() - self._start:.0f} s"
        if self._ended.is_set():
            return f"{name!r} in {seconds}"
        if self._count is None:
            return f"{name!r} … {seconds}"
        number, total, noun = self._count
        bar = "=" * (self._WIDTH * number // total)
        return f"{name!r} [{bar:{self._WIDTH}}] {number}/{total} {noun} … {seconds}"

    def _write(self, text: str, end: str = "") -> None:
        line = f"\r\x1b[K{text}" if is_terminal(self._stream) else f"\r{text:79}"
        with suppress(OSError, ValueError):  # closed
            self._stream.write(line + end)
            self._stream.flush()


def is_terminal(stream: Any) -> bool:
    try:
        return bool(stream.isatty()) and os.environ.get("TERM") != "dumb"
    except (AttributeError, ValueError):  # none, or closed
        return False


def is_notebook(stream: Any) -> bool:
    return type(stream).__module__.startswith("ipykernel.")
