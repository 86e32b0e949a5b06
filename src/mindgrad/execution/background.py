"""Compilation in the background: a thread that compiles what calls will need, while they go on.

It stands back behind the threads of the program. When the process ends it begins nothing new: Python in it is
stopped, and what XLA has begun is waited for two seconds.
"""

from __future__ import annotations

import atexit
import ctypes
import gc
import os
import queue
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from mindgrad.backend.executable import EndOfProcess, compiling
from mindgrad.backend.jax_import import prepare_import
from mindgrad.backend.xla import start_runtime
from mindgrad.ir import settings

__all__ = ["submit", "wait_until_compiled"]

#: how far the thread that compiles stands back behind those of the program
_NICENESS = 10
#: seconds that the end of the process waits for a compilation
_SECONDS_AT_EXIT = 2.0


class _Compiler(threading.Thread):
    """The thread that compiles in the background."""

    def __init__(self) -> None:
        super().__init__(name="mindgrad-compiler", daemon=True)
        self.jobs: queue.SimpleQueue[Any] = queue.SimpleQueue()
        self.unfinished = 0

    def run(self) -> None:
        try:
            start_runtime()  # the threads that run programs are made with the usual priority
            if sys.platform == "linux":  # where a thread has a priority of its own: calls go on meanwhile
                with suppress(OSError):
                    os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), _NICENESS)
            self._compile_all()
        except EndOfProcess:  # raised from outside, wherever it was
            return

    def _compile_all(self) -> None:
        while not compiling.is_ending:
            job = self.jobs.get()
            if job is None:
                return
            compile_, arguments = job
            compile_(*arguments)
            del job, compile_, arguments
            self.unfinished -= 1


_compiler: _Compiler | None = None
_lock = threading.Lock()


def submit(compile_: Callable[..., None], *arguments: Any) -> None:
    """Call ``compile_(*arguments)`` in the background."""
    global _compiler
    with _lock:
        if _compiler is None or not _compiler.is_alive():
            prepare_import()
            _compiler = _Compiler()
            _compiler.start()
        _compiler.unfinished += 1
        _compiler.jobs.put((compile_, arguments))


def wait_until_compiled() -> None:
    """Wait until nothing is left to compile in the background."""
    while _compiler is not None and _compiler.is_alive() and _compiler.unfinished:
        time.sleep(0.005)


_raise_in = ctypes.pythonapi.PyThreadState_SetAsyncExc


def _end() -> None:
    """End the background thread: it begins nothing new, and what XLA has begun is not waited for long."""
    compiling.is_ending = True
    thread = _compiler
    if thread is None or not thread.is_alive():
        return
    thread.jobs.put(None)
    gc.disable()  # jax is called by collections, where an exception would only be printed
    latest = time.monotonic() + _SECONDS_AT_EXIT
    while thread.is_alive() and (time.monotonic() < latest or thread.ident not in compiling.threads):
        thread.join(0.2)  # first of all for a collection that is going on
        # rewriting and lowering can take longer than anybody waits; again, for a destructor may swallow it
        if thread.ident is not None and thread.ident not in compiling.threads:
            _raise_in(ctypes.c_ulong(thread.ident), ctypes.py_object(EndOfProcess))
    if thread.is_alive():
        compiling.leave()


def _in_child() -> None:
    """In a forked process there is no thread that compiles, and of a process that had compiled no program."""
    global _compiler, _lock
    _compiler, _lock = None, threading.Lock()
    if "jax" in sys.modules:
        settings.store("eager", "numpy")


atexit.register(_end)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_in_child)
