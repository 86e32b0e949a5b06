"""Devices, streams, events and memory under the names of ``mindspore.hal``.

XLA schedules computations automatically, so there is only one stream. An event is a time at which all
previous computations have finished. XLA counts the used memory of a GPU, but not of a CPU. On a CPU, all
memory statistics are 0.
"""

from __future__ import annotations

import os
import time
from types import SimpleNamespace
from typing import Any, Self

from mindgrad.backend import device as _device
from mindgrad.ir import settings

__all__ = [
    "Event", "Stream", "StreamCtx", "communication_stream", "current_stream", "default_stream",
    "device_count",
    "empty_cache", "get_arch_list", "get_device_capability", "get_device_name", "get_device_properties",
    "is_available", "is_initialized", "max_memory_allocated", "max_memory_reserved", "memory_allocated",
    "memory_reserved", "memory_stats", "memory_summary", "reset_max_memory_allocated",
    "reset_max_memory_reserved", "reset_peak_memory_stats", "set_cur_stream", "synchronize",
]  # fmt: skip

synchronize = _device.synchronize

# --- devices and their properties ----------------------------------------------------------------------


def _target(device_target: str | None) -> str:
    return settings.get("device_target") if device_target is None else device_target


def device_count(device_target: str | None = None) -> int:
    """Return the number of devices of one kind.

    Args:
        device_target (str, optional): ``"CPU"``, ``"GPU"``, or ``"Ascend"``. ``None``: the target of the
            context. Default: ``None``.

    Returns:
        int: number of devices of this kind, possibly 0.

    >>> from mindgrad import hal
    >>> hal.device_count("CPU"), hal.device_count("Ascend")
    (1, 0)

    See Also:
        :func:`mindgrad.hal.is_available`, :func:`mindgrad.hal.get_device_name`
    """
    return _device.device_count(_target(device_target))


def is_available(device_target: str) -> bool:
    """Return whether the machine has a device of the given kind.

    Args:
        device_target (str): ``"CPU"``, ``"GPU"``, or ``"Ascend"``.

    Returns:
        bool: ``True`` if the machine has at least one device of this kind.

    >>> from mindgrad import hal
    >>> hal.is_available("CPU")
    True

    See Also:
        :func:`mindgrad.hal.device_count`, :func:`mindgrad.hal.is_initialized`
    """
    return device_count(device_target) > 0


def is_initialized(device_target: str) -> bool:
    """Return whether programs run on a device of the given kind.

    Args:
        device_target (str): ``"CPU"``, ``"GPU"``, or ``"Ascend"``.

    Returns:
        bool: ``True`` if a device of this kind exists and is the target of the context.

    >>> from mindgrad import hal
    >>> hal.is_initialized("Ascend")
    False

    See Also:
        :func:`mindgrad.hal.is_available`, :func:`mindgrad.set_device`
    """
    return is_available(device_target) and _target(None) == device_target


def get_device_name(device_id: int, device_target: str | None = None) -> str:
    """Return the manufacturer's name of a device.

    Args:
        device_id (int): index of the device, starting at 0.
        device_target (str, optional): ``"CPU"``, ``"GPU"``, or ``"Ascend"``. ``None``: the target of the
            context. Default: ``None``.

    Returns:
        str: name of the device, such as ``'cpu'``.

    Raises:
        ValueError: If no device of this kind has the index ``device_id``.

    >>> from mindgrad import hal
    >>> hal.get_device_name(0, "CPU")
    'cpu'

    See Also:
        :func:`mindgrad.hal.get_device_properties`, :func:`mindgrad.hal.device_count`
    """
    return _device.device_kind(_target(device_target), device_id)


def get_device_properties(device_id: int, device_target: str | None = None) -> SimpleNamespace:
    """Return the name and the memory of a device.

    Args:
        device_id (int): index of the device, starting at 0.
        device_target (str, optional): ``"CPU"``, ``"GPU"``, or ``"Ascend"``. ``None``: the target of the
            context. Default: ``None``.

    Returns:
        SimpleNamespace: object with the attributes ``name`` (str) and ``total_memory`` (int, in bytes).

    Raises:
        ValueError: If no device of this kind has the index ``device_id``.

    >>> from mindgrad import hal
    >>> hal.get_device_properties(0, "CPU").name
    'cpu'

    See Also:
        :func:`mindgrad.hal.get_device_name`, :func:`mindgrad.hal.memory_stats`
    """
    target = _target(device_target)
    count = _device.memory_statistics(target, device_id).get("bytes_limit")
    if count is None:
        count = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return SimpleNamespace(name=get_device_name(device_id, target), total_memory=count)


def get_device_capability(device_id: int, device_target: str | None = None) -> tuple[int, int] | None:
    """Return ``None``, because XLA does not report the compute capability of a GPU.

    Args:
        device_id (int): accepted for compatibility.
        device_target (str, optional): accepted for compatibility. Default: ``None``.

    Returns:
        ``None``.

    >>> from mindgrad import hal
    >>> hal.get_device_capability(0)

    See Also:
        :func:`mindgrad.hal.get_arch_list`, :func:`mindgrad.hal.get_device_properties`
    """
    return None


def get_arch_list(device_target: str | None = None) -> list[str] | None:
    """Return ``None``, because XLA compiles for the GPU of the machine.

    In MindSpore, this function returns the list of GPU architectures for which the package was built.

    Args:
        device_target (str, optional): accepted for compatibility. Default: ``None``.

    Returns:
        ``None``.

    >>> from mindgrad import hal
    >>> hal.get_arch_list()

    See Also:
        :func:`mindgrad.hal.get_device_capability`
    """
    return None


# --- streams and events ----------------------------------------------------------------------------------


class Stream:
    """The stream of all programs; mindgrad has only one.

    Args:
        priority (int, optional): accepted for compatibility. Default: ``0``.
        **kwargs (Any): accepted for compatibility.

    >>> from mindgrad import hal
    >>> hal.Stream() == hal.current_stream(), hal.Stream().query()
    (True, True)

    See Also:
        :func:`mindgrad.hal.current_stream`, :class:`mindgrad.hal.Event`, :class:`mindgrad.hal.StreamCtx`
    """

    def __init__(self, priority: int = 0, **kwargs: Any) -> None:
        self.priority = priority

    def synchronize(self) -> None:
        """Wait until all pending computations have finished."""
        synchronize()

    def query(self) -> bool:
        """Wait until all pending computations have finished, and return ``True``."""
        synchronize()
        return True

    def record_event(self, event: Event | None = None) -> Event:
        """Wait for pending computations, and record the current time in an event.

        Args:
            event (Event, optional): event to record. ``None``: a new event. Default: ``None``.

        Returns:
            Event: the recorded event.
        """
        event = Event(enable_timing=True) if event is None else event
        event.record(self)
        return event

    def wait_event(self, event: Event) -> None:
        """Do nothing, because the only stream runs computations in order."""

    def wait_stream(self, stream: Stream) -> None:
        """Do nothing, because there is only one stream."""

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Stream)

    def __hash__(self) -> int:
        return hash(Stream)


_STREAM = Stream()


class StreamCtx:
    """Accepted for compatibility: a context in which MindSpore uses another stream.

    Args:
        ctx_stream (Stream or None): accepted for compatibility.

    >>> from mindgrad import hal
    >>> with hal.StreamCtx(hal.Stream()):
    ...     pass

    See Also:
        :class:`mindgrad.hal.Stream`, :func:`mindgrad.hal.set_cur_stream`
    """

    def __init__(self, ctx_stream: Stream | None) -> None:
        self.stream = ctx_stream

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: Any) -> None:
        return None


def current_stream() -> Stream:
    """Return the only stream.

    Returns:
        Stream: the only stream.

    >>> from mindgrad import hal
    >>> hal.current_stream() == hal.default_stream() == hal.communication_stream()
    True

    See Also:
        :class:`mindgrad.hal.Stream`, :func:`mindgrad.hal.default_stream`,
        :func:`mindgrad.hal.communication_stream`
    """
    return _STREAM


def default_stream() -> Stream:
    """Return the only stream, like :func:`current_stream`.

    Returns:
        Stream: the only stream.

    >>> from mindgrad import hal
    >>> hal.default_stream().query()
    True

    See Also:
        :func:`mindgrad.hal.current_stream`, :func:`mindgrad.hal.communication_stream`
    """
    return _STREAM


def communication_stream() -> Stream:
    """Return the only stream, like :func:`current_stream`.

    Returns:
        Stream: the only stream.

    >>> from mindgrad import hal
    >>> hal.communication_stream() == hal.default_stream()
    True

    See Also:
        :func:`mindgrad.hal.current_stream`, :func:`mindgrad.hal.default_stream`
    """
    return _STREAM


def set_cur_stream(stream: Stream | None) -> None:
    """Accepted for compatibility; there is only one stream.

    Args:
        stream (Stream or None): accepted for compatibility.

    Returns:
        Nothing.

    >>> from mindgrad import hal
    >>> hal.set_cur_stream(hal.Stream())

    See Also:
        :func:`mindgrad.hal.current_stream`, :class:`mindgrad.hal.StreamCtx`
    """


class Event:
    """A time at which all previous computations have finished.

    Args:
        enable_timing (bool, optional): whether :meth:`elapsed_time` can be called. Default: ``False``.
        blocking (bool, optional): accepted for compatibility. Default: ``False``.

    >>> from mindgrad import hal
    >>> start, end = hal.Event(enable_timing=True), hal.Event(enable_timing=True)
    >>> start.record(); end.record()
    >>> start.elapsed_time(end) >= 0.0
    True

    See Also:
        :class:`mindgrad.hal.Stream`, :func:`mindgrad.hal.synchronize`
    """

    def __init__(self, enable_timing: bool = False, blocking: bool = False) -> None:
        self._enable_timing = enable_timing
        self._time: float | None = None

    def record(self, stream: Stream | None = None) -> None:
        """Wait for pending computations, and record the current time."""
        synchronize()
        self._time = time.perf_counter()

    def wait(self, stream: Stream | None = None) -> None:
        """Do nothing, because a recorded event has already occurred."""

    def synchronize(self) -> None:
        """Do nothing, because a recorded event has already occurred."""

    def query(self) -> bool:
        """Return ``True``, because a recorded event has already occurred."""
        return True

    def elapsed_time(self, end_event: Event) -> float:
        """Return the time between this event and a later event, in milliseconds.

        Args:
            end_event (Event): later event.

        Returns:
            float: time from this event to ``end_event`` in milliseconds. It is negative if ``end_event`` was
            recorded earlier.

        Raises:
            RuntimeError: If one of the two events was not recorded, or was created without ``enable_timing``.
        """
        if (
            self._time is None
            or end_event._time is None
            or not (self._enable_timing and end_event._enable_timing)
        ):
            raise RuntimeError(
                "For 'elapsed_time', both events must have enable_timing=True and be recorded."
            )
        return (end_event._time - self._time) * 1000.0


# --- memory statistics ---------------------------------------------------------------------------------


def memory_stats(device_target: str | None = None) -> dict[str, int]:
    """Return a dict of XLA's memory statistics of a device; empty on a CPU.

    Args:
        device_target (str, optional): ``"CPU"``, ``"GPU"``, or ``"Ascend"``. ``None``: the target of the
            context. Default: ``None``.

    Returns:
        dict: dict that maps XLA's names of statistics, such as ``"bytes_in_use"``, to ints.

    >>> from mindgrad import hal
    >>> hal.memory_stats("CPU")
    {}

    See Also:
        :func:`mindgrad.hal.memory_summary`, :func:`mindgrad.hal.memory_allocated`
    """
    return _device.memory_statistics(_target(device_target), settings.get("device_id"))


def memory_allocated(device_target: str | None = None) -> int:
    """Return the number of bytes of device memory in use; 0 on a CPU.

    Args:
        device_target (str, optional): ``"CPU"``, ``"GPU"``, or ``"Ascend"``. ``None``: the target of the
            context. Default: ``None``.

    Returns:
        int: number of bytes of device memory.

    >>> from mindgrad import hal
    >>> hal.memory_allocated("CPU")
    0

    See Also:
        :func:`mindgrad.hal.max_memory_allocated`, :func:`mindgrad.hal.memory_reserved`,
        :func:`mindgrad.hal.memory_stats`
    """
    return memory_stats(device_target).get("bytes_in_use", 0)


def max_memory_allocated(device_target: str | None = None) -> int:
    """Return the peak number of bytes of device memory in use; 0 on a CPU.

    Args:
        device_target (str, optional): ``"CPU"``, ``"GPU"``, or ``"Ascend"``. ``None``: the target of the
            context. Default: ``None``.

    Returns:
        int: number of bytes of device memory.

    >>> from mindgrad import hal
    >>> hal.max_memory_allocated("CPU")
    0

    See Also:
        :func:`mindgrad.hal.memory_allocated`, :func:`mindgrad.hal.max_memory_reserved`,
        :func:`mindgrad.hal.memory_stats`
    """
    return memory_stats(device_target).get("peak_bytes_in_use", 0)


def memory_reserved(device_target: str | None = None) -> int:
    """Return the number of bytes that XLA has reserved on the device; 0 on a CPU.

    Args:
        device_target (str, optional): ``"CPU"``, ``"GPU"``, or ``"Ascend"``. ``None``: the target of the
            context. Default: ``None``.

    Returns:
        int: number of bytes of device memory.

    >>> from mindgrad import hal
    >>> hal.memory_reserved("CPU")
    0

    See Also:
        :func:`mindgrad.hal.max_memory_reserved`, :func:`mindgrad.hal.memory_allocated`,
        :func:`mindgrad.hal.memory_stats`
    """
    return memory_stats(device_target).get("pool_bytes", 0)


def max_memory_reserved(device_target: str | None = None) -> int:
    """Return the maximum number of bytes that XLA has reserved so far; 0 on a CPU.

    Args:
        device_target (str, optional): ``"CPU"``, ``"GPU"``, or ``"Ascend"``. ``None``: the target of the
            context. Default: ``None``.

    Returns:
        int: number of bytes of device memory.

    >>> from mindgrad import hal
    >>> hal.max_memory_reserved("CPU")
    0

    See Also:
        :func:`mindgrad.hal.memory_reserved`, :func:`mindgrad.hal.max_memory_allocated`,
        :func:`mindgrad.hal.memory_stats`
    """
    return memory_stats(device_target).get("peak_pool_bytes", memory_reserved(device_target))


def memory_summary(device_target: str | None = None) -> str:
    """Return the statistics of :func:`memory_stats` as a string, one per line.

    Args:
        device_target (str, optional): ``"CPU"``, ``"GPU"``, or ``"Ascend"``. ``None``: the target of the
            context. Default: ``None``.

    Returns:
        str: lines of the form ``name: value``, sorted by name; empty on a CPU.

    >>> from mindgrad import hal
    >>> hal.memory_summary("CPU")
    ''

    See Also:
        :func:`mindgrad.hal.memory_stats`
    """
    return "\n".join(f"{name}: {count}" for name, count in sorted(memory_stats(device_target).items()))


def reset_peak_memory_stats(device_target: str | None = None) -> None:
    """Accepted for compatibility; XLA's peaks refer to the whole process.

    Args:
        device_target (str, optional): accepted for compatibility. Default: ``None``.

    Returns:
        Nothing.

    >>> from mindgrad import hal
    >>> hal.reset_peak_memory_stats()

    See Also:
        :func:`mindgrad.hal.max_memory_allocated`, :func:`mindgrad.hal.max_memory_reserved`
    """


reset_max_memory_allocated = reset_max_memory_reserved = reset_peak_memory_stats


def empty_cache() -> None:
    """Accepted for compatibility; XLA reuses its memory automatically.

    Returns:
        Nothing.

    >>> from mindgrad import hal
    >>> hal.empty_cache()

    See Also:
        :func:`mindgrad.hal.memory_reserved`, :func:`mindgrad.hal.memory_stats`
    """
