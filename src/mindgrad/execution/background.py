"""Compilation in the background: one thread at a time compiles while calls go on.

The thread ends when nothing is left to compile. When the process ends it begins nothing new, and Python waits
for what it has begun, as for every thread that is not a daemon.
"""

from __future__ import annotations

import collections
import os
import sys
import threading
from collections.abc import Callable
from functools import partial
from typing import Any

from mindgrad.backend.jax_import import prepare_import
from mindgrad.ir import settings

__all__ = ["is_ending", "submit", "wait_until_compiled"]

_jobs: collections.deque[Callable[[], None]] = collections.deque()
_thread: threading.Thread | None = None
_lock = threading.Lock()
#: notified when nothing is left to compile
_idle = threading.Condition(_lock)


def is_ending() -> bool:
    """Whether the main thread has ended, so that nobody will call what is being compiled."""
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
        del job  # what it holds may be large


def wait_until_compiled(seconds: float | None = None) -> None:
    """Wait until nothing is left to compile in the background, at most ``seconds`` long if they are given."""
    with _lock:
        _idle.wait_for(lambda: _thread is None or not _thread.is_alive(), seconds)


def _in_child() -> None:
    """Forget the thread of the parent, which a forked process does not have.

    If the parent has imported jax, the child compiles nothing, because XLA's threads are not forked.
    """
    global _thread, _lock, _idle
    _thread, _lock = None, threading.Lock()
    _idle = threading.Condition(_lock)
    _jobs.clear()
    if "jax" in sys.modules:
        settings.store("eager", "numpy")


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_in_child)
