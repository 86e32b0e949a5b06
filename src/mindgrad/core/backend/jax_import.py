"""Import of JAX at the first compilation, and protection against its side effects.

The side effects concern random numbers of NumPy, the compilation of loops, signals, and forked processes.

**Random numbers.** One module of JAX draws random numbers from the global generator of NumPy when it is
imported. Without protection, a program that seeds this generator would draw different numbers after its first
compilation. During the import, the random functions of NumPy therefore use a separate generator in the
importing thread. Other threads, which run while eager mode imports JAX in the background, still use the
global generator.

**Loops.** If an iteration of a loop moves few bytes, the CPU compiler of XLA compiles the whole loop to one
function, which is fast. The limit on the number of bytes is a flag that XLA reads once, when JAX starts its
devices. This module raises the limit, unless JAX is already loaded or ``XLA_FLAGS`` sets
``--xla_backend_extra_options`` (``docs/decisions/0011-compile-options.md``).

**Signals.** A signal that arrives during the import is handled after the import, because an exception would
leave modules partly imported and can end the process.

**Forks.** A process that was forked from a process with JAX has no XLA threads, so a compiled function would
wait for them forever. JAX only warns in this case; mindgrad raises ``RuntimeError``.
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

from mindgrad.core.base.callback_errors import is_noted
from mindgrad.core.base.collection import no_garbage
from mindgrad.core.base.refusal import hints
from mindgrad.core.base.signals import Deferred

__all__ = ["is_jax_loaded", "jax_module", "prepare_import", "stopped_by_forks"]

#: executables that cannot run in a forked process. In a forked process, their method ``run`` is replaced by a
#: function that raises an error
stopped_by_forks: WeakSet[Any] = WeakSet()

#: name of the XLA flag that sets options of XLA's back ends
_BACKEND_OPTIONS = "--xla_backend_extra_options"
#: XLA compiles a loop to a single function if each iteration moves fewer bytes than this
_LOOP_BYTES = 65_536

#: lock that a thread holds while it imports JAX
_lock = threading.RLock()
_is_forked = _is_loaded = _is_prepared = False


@lru_cache(maxsize=16)
def jax_module(name: str = "jax") -> Any:
    """Import ``jax`` or one of its modules.

    The global random generator of NumPy is not changed.

    Raises:
        RuntimeError: If the process was forked from a process that had imported JAX.
    """
    global _is_loaded
    if _is_forked:
        _refuse()
    prepare_import()
    with _lock, Deferred(), _OwnNumbers(), no_garbage:
        _raise_loop_limit()
        module = importlib.import_module(name)
        if name == "jax":
            # JAX logs every exception of a callback. Do not log an exception that the call of the compiled
            # function raises anyway
            logger = sys.modules["logging"].getLogger(module.pure_callback.__module__)
            logger.addFilter(lambda record: not is_noted(record.exc_info))
        _is_loaded = True
        return module


def prepare_import() -> None:
    """Make forks of this process wait while another thread imports JAX.

    A fork acquires its registered locks in the reverse order of their registration. This function first
    imports the modules whose locks the import of JAX needs, and then registers the lock of this module. It
    must run before the process starts to exit, because modules such as ``concurrent.futures.thread`` cannot
    register exit handlers later. Only the first call has an effect.
    """
    global _is_prepared
    with _lock:
        if _is_prepared:
            return
        for name in ("logging", "concurrent.futures.thread"):
            importlib.import_module(name)
        if hasattr(os, "register_at_fork"):
            release = _lock.release
            os.register_at_fork(before=_lock.acquire, after_in_parent=release, after_in_child=release)
        _is_prepared = True


def is_jax_loaded() -> bool:
    """Return whether :func:`jax_module` has imported JAX or one of its modules."""
    return _is_loaded


def _raise_loop_limit() -> None:
    """Raise the limit of bytes below which XLA compiles a loop to one function."""
    flags = os.environ.get("XLA_FLAGS", "").strip()
    names_a_file = bool(flags) and not flags.startswith("-")
    if "jax" in sys.modules or names_a_file or _BACKEND_OPTIONS in flags:
        return
    limit = f"{_BACKEND_OPTIONS}=xla_cpu_small_while_loop_byte_threshold={_LOOP_BYTES}"
    os.environ["XLA_FLAGS"] = f"{flags} {limit}".lstrip()


class _OwnNumbers:
    """Context in which this thread draws random numbers from its own NumPy generator."""

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

    def _divided(self, function: Callable[..., object], own: Callable[..., object]) -> Callable[..., Any]:
        # JAX may keep a reference to `draw` from the import. After the import, `draw` must call the original
        # `function`
        @wraps(function)
        def draw(*args: object, **kwargs: object) -> Any:
            return (own if threading.get_ident() == self._thread else function)(*args, **kwargs)

        return draw

    def __exit__(self, *_: object) -> None:
        self._thread = None
        for name, function in self._originals.items():
            setattr(np.random, name, function)


def _refuse(*_: object) -> NoReturn:
    raise RuntimeError(
        "A compiled function was called in a process that was forked after a compilation. XLA's threads are "
        "not forked, so the call would wait for them forever. Start processes with the multiprocessing "
        "method 'spawn' or 'forkserver', fork before the first compilation, or call the function without jit "
        "in forked processes." + hints["fork"]
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
