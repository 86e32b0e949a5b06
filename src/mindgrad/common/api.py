"""Compilation under MindSpore's names, such as ``ms_function``.

Some programs also use two internal executors of MindSpore. ``_pynative_executor.sync()`` waits for deferred
eager calls, and ``_cell_graph_executor.compile(net, *inputs)`` compiles a net without running it.
"""

from __future__ import annotations

from typing import Any

from mindgrad.api.jit import JitConfig, jit, jit_class, lazy_inline, ms_function, no_inline
from mindgrad.core.backend.device import synchronize
from mindgrad.core.ir import settings
from mindgrad.ops.constant_blocks import _no_grad, is_enabled, set_enabled

__all__ = ["JitConfig", "_no_grad", "jit", "jit_class", "lazy_inline", "ms_function"]

#: Cache of compiled Cells in MindSpore, which some programs read or clear. In mindgrad, it is always empty;
#: use ``cache_info`` and ``clear_cache`` instead
cells_compile_cache: dict[Any, Any] = {}

_no_inline = no_inline


class _EagerExecutor:
    """MindSpore's interface to eager mode."""

    def sync(self) -> None:
        """Wait until all called operators are computed."""
        synchronize()

    def enable_grad(self) -> bool:
        """Return whether derivatives are enabled. A block ``with _no_grad():`` disables them."""
        return is_enabled()

    def set_enable_grad(self, flag: bool) -> None:
        """Enable derivatives, or disable them as in a block ``with _no_grad():``."""
        set_enabled(flag)

    def grad_flag(self) -> bool:
        """Return ``False``, because operators are not recorded for a later derivative."""
        return False

    def set_grad_flag(self, flag: bool) -> None:
        """Accept ``flag``, which has no effect."""

    def get_mode(self) -> int:
        """Return the execution mode of the context, GRAPH_MODE or PYNATIVE_MODE."""
        return settings.get("mode")


class _GraphExecutor:
    """MindSpore's interface to compilation."""

    def compile(self, obj: Any, *args: Any, phase: str = "predict", **kwargs: Any) -> tuple[str, bool]:
        """Compile a Cell for these arguments without running it.

        Returns:
            tuple: ``(phase, True)``, as in MindSpore.
        """
        compiled = getattr(obj, "_compiled", None)
        if compiled is None:
            raise TypeError(f"For 'compile', the 'obj' must be a Cell, but got {type(obj).__name__}.")
        compiled.prepare(*args, **kwargs)
        return phase, True

    def __call__(self, obj: Any, *args: Any, phase: str = "predict") -> Any:
        return obj(*args)

    def set_jit_config(self, jit_config: Any) -> None:
        """Accept MindSpore's compiler options, which have no effect."""


_pynative_executor = _EagerExecutor()
_executor = _cell_graph_executor = _GraphExecutor()
