"""Traces of programs record what XLA runs and when, in the files of jax's public profiler."""

from __future__ import annotations

from mindgrad.backend.jax_import import jax_module

__all__ = ["start_trace", "stop_trace"]


def start_trace(folder: str) -> None:
    """Record from now on what runs, into ``folder``, until :func:`stop_trace`.

    Raises:
        RuntimeError: a trace is being recorded.
    """
    jax_module("jax.profiler").start_trace(folder)


def stop_trace() -> None:
    """End the trace and write its files.

    Raises:
        RuntimeError: none is being recorded.
    """
    jax_module("jax.profiler").stop_trace()
