"""Compilation under MindSpore's name: ``from mindspore.common.api import ms_function``.

Programs also reach for the two executors of MindSpore's own: ``_pynative_executor.sync()`` waits for what
eager mode has deferred, ``_cell_graph_executor.compile(net, *inputs)`` compiles a net without running it.
"""

from __future__ import annotations

from typing import Any

from mindgrad.api.jit import JitConfig, jit, jit_class, lazy_inline, ms_function, no_inline
from mindgrad.backend.device import synchronize
from mindgrad.ir import settings
from mindgrad.ops.constant_blocks import _no_grad, is_enabled, set_enabled

__all__ = ["JitConfig", "_no_grad", "jit", "jit_class", "lazy_inline", "ms_function"]

#: programs that MindSpore keeps by Cell; those of mindgrad lie elsewhere: ``cache_info``, ``clear_cache``
cells_compile_cache: dict[Any, Any] = {}

_no_inline = no_inline


class _EagerExecutor:
    """Eager mode as an object."""

    def sync(self) -> None:
        """Wait until everything that was called has been computed."""
        synchronize()

    def enable_grad(self) -> bool:
        """Whether derivatives flow through what is computed here."""
        return is_enabled()

    def set_enable_grad(self, flag: bool) -> None:
        """Begin (``False``) or end a block without derivatives, as ``with _no_grad():`` does."""
        set_enabled(flag)

    def grad_flag(self) -> bool:
        """Whether a derivative is being recorded: what runs is recorded where it is differentiated."""
        return False

    def set_grad_flag(self, flag: bool) -> None:
        """Accepted for compatibility."""

    def get_mode(self) -> int:
        """The mode of the context."""
        return settings.get("mode")


class _GraphExecutor:
    """Compilation as an object."""

    def compile(self, obj: Any, *args: Any, phase: str = "predict", **kwargs: Any) -> tuple[str, bool]:
        """Compile a Cell for these arguments without running it; its phase, and that it is new."""
        compiled = getattr(obj, "_compiled", None)
        if compiled is None:
            raise TypeError(f"For 'compile', the 'obj' must be a Cell, but got {type(obj).__name__}.")
        compiled.prepare(*args, **kwargs)
        return phase, True

    def __call__(self, obj: Any, *args: Any, phase: str = "predict") -> Any:
        return obj(*args)

    def set_jit_config(self, jit_config: Any) -> None:
        """Accepted for compatibility: everything is compiled with all optimizations."""


_pynative_executor = _EagerExecutor()
_executor = _cell_graph_executor = _GraphExecutor()
