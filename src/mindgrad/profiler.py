"""MindSpore's Profiler records a trace of what runs, with jax's profiler, for TensorBoard or Perfetto.

A trace is written below ``output_path`` (``plugins/profile/<date>/*.xplane.pb``). MindSpore's own files
(tables of operators, of AI cores, of memory) are not: the options that choose among them are accepted and
change nothing.
"""

from __future__ import annotations

import enum
import os
from collections.abc import Callable
from typing import Any, NamedTuple, Self

from mindgrad.backend.device import synchronize
from mindgrad.backend.tracing import start_trace, stop_trace

__all__ = [
    "AicoreMetrics", "DynamicProfilerMonitor", "EnvProfiler", "ExportType", "HostSystem", "Profiler",
    "ProfilerActivity", "ProfilerLevel", "mstx", "profile", "schedule", "tensorboard_trace_handler",
]  # fmt: skip


class ProfilerLevel(enum.Enum):
    """The amount that MindSpore records; here always the whole trace."""

    Level0 = "Level0"
    Level1 = "Level1"
    Level2 = "Level2"
    LevelNone = "LevelNone"


class ProfilerActivity(enum.Enum):
    """The devices that MindSpore records; here always those that are used."""

    CPU = "CPU"
    GPU = "GPU"
    NPU = "NPU"


class AicoreMetrics(enum.Enum):
    """Counters of Ascend's cores, which other devices do not have."""

    PipeUtilization = "PipeUtilization"
    ArithmeticUtilization = "ArithmeticUtilization"
    Memory = "Memory"
    MemoryL0 = "MemoryL0"
    MemoryUB = "MemoryUB"
    ResourceConflictRatio = "ResourceConflictRatio"
    L2Cache = "L2Cache"
    MemoryAccess = "MemoryAccess"
    AiCoreNone = "None"


class ExportType(enum.Enum):
    """Formats of MindSpore's files; here always jax's."""

    Text = "text"
    Db = "db"


class HostSystem(enum.Enum):
    """Counters of the host, which are not recorded."""

    CPU = "cpu"
    MEM = "mem"
    DISK = "disk"
    NETWORK = "network"
    OSRT = "osrt"


class _Schedule(NamedTuple):
    wait: int
    active: int
    warmup: int
    repeat: int
    skip_first: int

    def records(self, step: int) -> bool:
        """Whether this step is recorded."""
        step -= self.skip_first
        length = self.wait + self.warmup + self.active
        if step < 0 or (self.repeat and step >= self.repeat * length):
            return False
        return step % length >= self.wait + self.warmup


def schedule(*, wait: int, active: int, warmup: int = 0, repeat: int = 0, skip_first: int = 0) -> _Schedule:
    """The steps that a :class:`profile` records: after ``skip_first``, ``active`` of each cycle.

    Args:
        wait, warmup: steps of each cycle that are not recorded.
        active (int): steps that are.
        repeat (int, optional): the number of cycles, 0 for any number. Default: ``0``.
        skip_first (int, optional): steps before the first cycle. Default: ``0``.

    Raises:
        ValueError: If a number is negative, or ``active`` is 0.

    >>> from mindgrad.profiler import schedule
    >>> [schedule(wait=1, active=2, repeat=1).records(step) for step in range(4)]
    [False, True, True, False]
    """
    if active < 1 or min(wait, warmup, repeat, skip_first) < 0:
        raise ValueError("For 'schedule', 'active' must be at least 1 and the other numbers at least 0.")
    return _Schedule(wait, active, warmup, repeat, skip_first)


def tensorboard_trace_handler(
    dir_name: str | None = None, worker_name: str | None = None, analyse_flag: bool = True,
    async_mode: bool = False,
) -> Callable[[Any], None]:  # fmt: skip
    """A handler for ``on_trace_ready`` of a :class:`profile`: the trace is written to ``dir_name``.

    >>> from mindgrad.profiler import tensorboard_trace_handler
    >>> tensorboard_trace_handler("traces").dir_name
    'traces'
    """

    def ready(profiler: Any) -> None:
        """Nothing: the files are there when a trace ends."""

    ready.dir_name = dir_name  # type: ignore[attr-defined]
    return ready


class Profiler:
    """A recorder of what runs.

    Args:
        output_path (str, optional): the folder of the files, ``"./data"`` if it is not given.
            Default: ``"./data"``.
        start_profile (bool, optional): whether recording starts at once. Default: ``True``.
        **kwargs (Any): MindSpore's other options, accepted for compatibility.

    Raises:
        TypeError: If ``output_path`` is not a string or ``start_profile`` no bool.
        RuntimeError: If a trace is being recorded already, or none when it is to end.

    >>> import os, tempfile
    >>> from mindgrad import Tensor, jit
    >>> from mindgrad.profiler import Profiler
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     profiler = Profiler(output_path=folder)
    ...     _ = jit(lambda x: x * x)(Tensor([3.0]))
    ...     profiler.analyse()
    ...     os.listdir(folder)
    ['plugins']
    """

    def __init__(self, *, output_path: str = "./data", start_profile: bool = True, **kwargs: Any) -> None:
        if not isinstance(output_path, str):
            raise TypeError(f"For 'Profiler', the 'output_path' must be a string, but got {output_path!r}.")
        if not isinstance(start_profile, bool):
            raise TypeError(f"For 'Profiler', the 'start_profile' must be a bool, but got {start_profile!r}.")
        self._folder = os.path.abspath(output_path)
        self._is_recording = False
        if start_profile:
            self.start()

    def start(self) -> None:
        """Record from now on.

        Raises:
            RuntimeError: If a trace is being recorded already.
        """
        if self._is_recording:
            raise RuntimeError("The Profiler is recording already: call stop() before start().")
        start_trace(self._folder)
        self._is_recording = True

    def stop(self) -> None:
        """Wait for what is running, end the trace and write it.

        Raises:
            RuntimeError: If none is being recorded.
        """
        if not self._is_recording:
            raise RuntimeError("The Profiler is not recording: call start() before stop().")
        self._is_recording = False
        synchronize()
        stop_trace()

    def analyse(self, offline_path: str | None = None, *_: Any, **__: Any) -> None:
        """End the trace if it is being recorded; TensorBoard analyzes its files."""
        if self._is_recording:
            self.stop()

    def op_analyse(self, op_name: Any, device_id: Any = None) -> None:
        """Not supported: times of single operators.

        Raises:
            NotImplementedError: Always. The message names the alternative.
        """
        raise NotImplementedError(
            "'op_analyse' reads MindSpore's tables, which mindgrad does not write. Open the trace below "
            f"{self._folder} in TensorBoard or Perfetto."
        )

    def add_metadata(self, key: str, value: str) -> None:
        """Accepted for compatibility."""

    add_metadata_json = add_metadata

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: Any) -> None:
        self.analyse()


class profile(Profiler):
    """A recorder of chosen steps, as a context: ``with profile(schedule=...) as recorder``.

    Args:
        schedule: a :func:`schedule`; ``None``: all steps are recorded.
        on_trace_ready: called with the recorder when a trace has ended, as :func:`tensorboard_trace_handler`
            gives it, which names the folder.
        **kwargs (Any): MindSpore's other options, accepted for compatibility.

    >>> import os, tempfile
    >>> from mindgrad.profiler import profile, schedule, tensorboard_trace_handler
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     ready = tensorboard_trace_handler(folder)
    ...     with profile(schedule=schedule(wait=1, active=1, repeat=1), on_trace_ready=ready) as recorder:
    ...         for _ in range(3):
    ...             recorder.step()
    ...     os.listdir(folder)
    ['plugins']
    """

    def __init__(self, *, schedule: Any = None, on_trace_ready: Any = None, **kwargs: Any) -> None:
        folder = getattr(on_trace_ready, "dir_name", None) or kwargs.get("output_path", "./data")
        super().__init__(output_path=folder, start_profile=False)
        self._schedule, self._ready, self._step = schedule, on_trace_ready, 0

    def _follow(self) -> None:
        """Start or end the trace as the schedule has it for the current step."""
        is_selected = self._schedule is None or self._schedule.records(self._step)
        if is_selected and not self._is_recording:
            super().start()
        elif not is_selected and self._is_recording:
            self.stop()

    def start(self) -> None:
        """Begin with the first step."""
        self._follow()

    def step(self) -> None:
        """End a step."""
        self._step += 1
        self._follow()

    def stop(self) -> None:
        """End the trace, if one is being recorded."""
        if self._is_recording:
            super().stop()
            if self._ready is not None:
                self._ready(self)

    def __enter__(self) -> Self:
        self.start()
        return self


class EnvProfiler:
    """MindSpore's recorder that environment variables control; it records nothing here."""

    def analyse(self) -> None:
        """Nothing."""


class DynamicProfilerMonitor:
    """MindSpore's callback that a file controls while a program runs; not supported.

    Raises:
        NotImplementedError: Always.
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        raise NotImplementedError(
            "'DynamicProfilerMonitor' is controlled by MindSpore's files, which mindgrad does not read. "
            "Call start() and stop() of a Profiler in a custom Callback."
        )


class mstx:
    """Marks of ranges in Ascend's traces, which other devices do not have: they are accepted."""

    @staticmethod
    def mark(message: str, stream: Any = None, domain: str = "default") -> None:
        """Accepted for compatibility."""

    @staticmethod
    def range_start(message: str, stream: Any = None, domain: str = "default") -> int:
        """Accepted for compatibility; the number of a range: 0."""
        return 0

    @staticmethod
    def range_end(range_id: int, domain: str = "default") -> None:
        """Accepted for compatibility."""


_ExperimentalConfig = dict
