"""Compilation in a background thread while Python continues.

Eager mode submits jobs to one thread, which ends when no job is left. At the end of the process, the thread
finishes its current job and drops the queued jobs. Python waits for the current job, because the thread is
not a daemon thread.
"""

from __future__ import annotations

import collections
import os
import sys
import threading
from collections.abc import Callable
from functools import partial
from typing import Any

from mindgrad.core.backend.jax_import import prepare_import
from mindgrad.core.ir import settings

__all__ = ["is_ending", "submit", "wait_until_compiled"]

_jobs: collections.deque[Callable[[], None]] = collections.deque()
_thread: threading.Thread | None = None
_lock = threading.Lock()
#: condition variable that is notified when all compilation jobs are finished
_idle = threading.Condition(_lock)


def is_ending() -> bool:
    """Return whether the main thread has ended, so that compiling is no longer useful."""
    return not threading.main_thread().is_alive()


def submit(compile_: Callable[..., None], *arguments: Any) -> None:
    """Call ``compile_(*arguments)`` in the background, unless the process is ending."""
    global _thread
    with _lock:
        if is_ending():
            return
        _jobs.append(partial(compile_, *arguments))
        if _thread is None or not _thread.is_alive():
            prepare_import()
            _thread = threading.Thread(target=_compile_all, name="mindgrad-compiler", daemon=False)
            _thread.start()


def _compile_all() -> None:
    global _thread
    while True:
        with _lock:
            if not _jobs or is_ending():
                _jobs.clear()
                _thread = None
                _idle.notify_all()
                return
            job = _jobs.popleft()
        job()
        del job  # release the large objects of the last job before waiting for the next one


def wait_until_compiled(seconds: float | None = None) -> None:
    """Wait until no job is left, for at most ``seconds``.

    If ``seconds`` is ``None``, there is no time limit.
    """
    with _lock:
        _idle.wait_for(lambda: _thread is None or not _thread.is_alive(), seconds)


def _in_child() -> None:
    """Reset this module in a forked process, which has no compiler thread.

    If the parent process has imported JAX, the child process runs operators with NumPy and does not compile,
    because a fork does not copy XLA's threads.
    """
    global _thread, _lock, _idle
    _thread, _lock = None, threading.Lock()
    _idle = threading.Condition(_lock)
    _jobs.clear()
    if "jax" in sys.modules:
        settings.store("eager", "numpy")


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_in_child)
