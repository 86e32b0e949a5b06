"""Record execution traces of XLA with the public profiler of JAX."""

from __future__ import annotations

from mindgrad.core.backend.jax_import import jax_module

__all__ = ["start_trace", "stop_trace"]


def start_trace(folder: str) -> None:
    """Start recording a trace into ``folder``; :func:`stop_trace` ends it.

    Raises:
        RuntimeError: If a trace is already being recorded.
    """
    jax_module("jax.profiler").start_trace(folder)


def stop_trace() -> None:
    """End the trace and write its files.

    Raises:
        RuntimeError: If no trace is being recorded.
    """
    jax_module("jax.profiler").stop_trace()
