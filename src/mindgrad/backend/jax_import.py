"""Lazy import of jax happens at the first compilation, and leaves NumPy's settings and forks as they are.

Importing jax draws numbers from NumPy's global generator (one of its modules does, to spread retries in
time). A program that seeds this generator would go on with other numbers than without a compiled function, so
during the import NumPy's functions draw from another one for the thread that imports; those of other threads,
which go on while eager mode imports jax in the background, draw as ever.

XLA's CPU compiler makes one function of a loop whose trip moves few bytes. The limit is a flag of the whole
process, which XLA reads when jax starts its devices; it is raised here unless somebody else has a say: jax is
loaded already, or ``XLA_FLAGS`` sets options of this kind (decision 11).

A signal that arrives during the import is handled after it: what is imported in part cannot be used, and an
exception inside of it can end the process.

What is forked from a process that uses jax has none of XLA's threads: a compiled program would wait for them
for ever, which jax only warns of. Here it is refused.
"""

from __future__ import annotations

import importlib
import os
import sys
import threading
from collections.abc import Callable
from functools import lru_cache, wraps
from typing import Any, NoReturn
from weakref import WeakSet

import numpy as np

from mindgrad._base.callback_errors import is_noted
from mindgrad._base.collection import no_garbage
from mindgrad._base.signals import Deferred

__all__ = ["is_jax_loaded", "jax_module", "prepare_import", "stopped_by_forks"]

#: objects whose attribute ``run`` is replaced in forked processes
stopped_by_forks: WeakSet[Any] = WeakSet()

#: the flag of XLA that holds options of its back ends, and the bytes below which a loop is one function
_BACKEND_OPTIONS = "--xla_backend_extra_options"
_LOOP_BYTES = 65_536

#: held while jax is imported
_lock = threading.RLock()
_is_forked = _is_loaded = False


@lru_cache(maxsize=16)
def jax_module(name: str = "jax") -> Any:
    """Import ``jax``, or the module of it that is named, and leave NumPy's global generator as it was.

    Raises:
        RuntimeError: the process was forked from one that had imported jax.
    """
    global _is_loaded
    if _is_forked:
        _refuse()
    prepare_import()
    with _lock, Deferred(), _OwnNumbers(), no_garbage:
        _raise_loop_limit()
        module = importlib.import_module(name)
        if name == "jax":
            # jax logs what its callbacks raise; an error that is noted is raised where the program was called
            logger = sys.modules["logging"].getLogger(module.pure_callback.__module__)
            logger.addFilter(lambda record: not is_noted(record.exc_info))
        _is_loaded = True
        return module


@lru_cache(maxsize=1)
def prepare_import() -> None:
    """Prepare an import of jax in any thread: forks wait for it, and so does the end of the process.

    Forks take locks in the reverse order of their registration: those that jax's import takes are registered
    before the lock that is held meanwhile. When the process ends it is too late for that.
    """
    for name in ("logging", "concurrent.futures.thread"):
        importlib.import_module(name)
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(before=_lock.acquire, after_in_parent=_lock.release, after_in_child=_lock.release)


def is_jax_loaded() -> bool:
    """Whether a part of jax has been imported by :func:`jax_module`."""
    return _is_loaded


def _raise_loop_limit() -> None:
    """Let XLA's CPU compiler make one function of more loops, where nobody else has set its options."""
    flags = os.environ.get("XLA_FLAGS", "").strip()
    names_a_file = bool(flags) and not flags.startswith("-")
    if "jax" in sys.modules or names_a_file or _BACKEND_OPTIONS in flags:
        return
    limit = f"{_BACKEND_OPTIONS}=xla_cpu_small_while_loop_byte_threshold={_LOOP_BYTES}"
    os.environ["XLA_FLAGS"] = f"{flags} {limit}".lstrip()


class _OwnNumbers:
    """While it is open, this thread draws from a generator of its own where it asks NumPy's global one."""

    def __enter__(self) -> None:
        module: Any = np.random
        own: Any = np.random.RandomState(np.random.MT19937())
        self._thread: int | None = threading.get_ident()
        self._originals: dict[str, Any] = {}
        for name, function in vars(module).items():
            if getattr(function, "__self__", None) is module.mtrand._rand:
                self._originals[name] = function
        for name, function in self._originals.items():
            setattr(module, name, self._divided(function, getattr(own, name, function)))

    def _divided(self, function: Callable[..., Any], own: Callable[..., Any]) -> Callable[..., Any]:
        # a module may keep it: after the import it is the function itself
        @wraps(function)
        def draw(*args: Any, **kwargs: Any) -> Any:
            return (own if threading.get_ident() == self._thread else function)(*args, **kwargs)

        return draw

    def __exit__(self, *_: Any) -> None:
        self._thread = None
        for name, function in self._originals.items():
            setattr(np.random, name, function)


def _refuse(*_: Any) -> NoReturn:
    raise RuntimeError(
        "A compiled function is called in a process that was forked from one that had compiled functions "
        "already: XLA's threads are not forked, and it would wait for them for ever. Start processes with "
        "multiprocessing's method 'spawn' or 'forkserver', or fork before anything is compiled, or compute "
        "in PYNATIVE_MODE, without jit, in forked processes."
    )


def _in_child() -> None:
    global _is_forked, _is_loaded
    _is_forked, _is_loaded = _is_forked or _is_loaded, False
    jax_module.cache_clear()
    if _is_forked:
        for program in list(stopped_by_forks):
            program.run = _refuse


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_in_child)
