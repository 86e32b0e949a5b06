"""Streams, events and memory under the names of MindSpore 2.5.

The module has the functions of :mod:`mindgrad.hal`, and options without effect.
"""

from __future__ import annotations

from typing import Any

from mindgrad.hal import (
    Event,
    Stream,
    StreamCtx,
    communication_stream,
    current_stream,
    default_stream,
    empty_cache,
    max_memory_allocated,
    max_memory_reserved,
    memory_allocated,
    memory_reserved,
    memory_stats,
    memory_summary,
    reset_max_memory_allocated,
    reset_max_memory_reserved,
    reset_peak_memory_stats,
    set_cur_stream,
    synchronize,
)

__all__ = [
    "Event", "Stream", "StreamCtx", "communication_stream", "current_stream", "default_stream",
    "dispatch_threads_num", "empty_cache", "launch_blocking", "max_memory_allocated", "max_memory_reserved",
    "memory_allocated", "memory_replay", "memory_reserved", "memory_stats", "memory_summary",
    "reset_max_memory_allocated", "reset_max_memory_reserved", "reset_peak_memory_stats", "set_cpu_affinity",
    "set_cur_stream", "set_kernel_launch_group", "set_memory", "synchronize",
]  # fmt: skip


def launch_blocking() -> None:
    """Accepted for compatibility.

    Use ``set_context(pynative_synchronize=True)`` to run operators synchronously.

    >>> from mindgrad import runtime
    >>> runtime.launch_blocking()
    """


def dispatch_threads_num(threads_num: int) -> None:
    """Accepted for compatibility; XLA chooses the number of its threads.

    >>> from mindgrad import runtime
    >>> runtime.dispatch_threads_num(2)
    """


def set_cpu_affinity(
    enable_affinity: bool, affinity_cpu_list: Any = None, module_to_cpu_dict: Any = None
) -> None:
    """Accepted for compatibility; the operating system chooses the cores.

    >>> from mindgrad import runtime
    >>> runtime.set_cpu_affinity(True)
    """


def set_kernel_launch_group(thread_num: int = 2, kernel_group_num: int = 8) -> None:
    """Accepted for compatibility; XLA launches its kernels itself.

    >>> from mindgrad import runtime
    >>> runtime.set_kernel_launch_group()
    """


def set_memory(
    init_size: str = "2GB", increase_size: str = "2GB", max_size: str = "1024GB", optimize_level: str = "O0",
    huge_page_reserve_size: str = "0GB",
) -> None:  # fmt: skip
    """Accepted for compatibility; use JAX's environment variables instead.

    The variables ``XLA_PYTHON_CLIENT_…`` set the size of the memory on a GPU.

    >>> from mindgrad import runtime
    >>> runtime.set_memory(max_size="10GB")
    """


def memory_replay(file_path: str) -> None:
    """Not supported. In MindSpore, this function replays a record of memory allocations.

    Raises:
        NotImplementedError: Always. The message names the reason.
    """
    raise NotImplementedError(
        "'memory_replay' reads a record of MindSpore's memory, which mindgrad does not have."
    )
