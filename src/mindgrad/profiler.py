"""MindSpore's profiler, which records a trace with JAX's profiler.

The trace is written below ``output_path`` to ``plugins/profile/<date>/*.xplane.pb``. Open it in TensorBoard
or Perfetto. MindSpore's tables of operators, AI cores, and memory are not written, and the options for them
are ignored.
"""

from __future__ import annotations

import enum
import os
from collections.abc import Callable
from typing import Any, NamedTuple, Self

from mindgrad.core.backend.device import synchronize
from mindgrad.core.backend.tracing import start_trace, stop_trace

__all__ = [
    "AicoreMetrics", "DynamicProfilerMonitor", "EnvProfiler", "ExportType", "HostSystem", "Profiler",
    "ProfilerActivity", "ProfilerLevel", "mstx", "profile", "schedule", "tensorboard_trace_handler",
]  # fmt: skip


class ProfilerLevel(enum.Enum):
    """Levels of detail in MindSpore; mindgrad always records the complete trace."""

    Level0 = "Level0"
    Level1 = "Level1"
    Level2 = "Level2"
    LevelNone = "LevelNone"


class ProfilerActivity(enum.Enum):
    """Devices to record in MindSpore; mindgrad always records the devices in use."""

    CPU = "CPU"
    GPU = "GPU"
    NPU = "NPU"


class AicoreMetrics(enum.Enum):
    """Counters of Ascend's cores, accepted for compatibility."""

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
    """File formats in MindSpore; mindgrad always writes the format of JAX."""

    Text = "text"
    Db = "db"


class HostSystem(enum.Enum):
    """Counters of the host in MindSpore, which mindgrad does not record."""

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
        """Return whether the step with this number is recorded."""
        step -= self.skip_first
        length = self.wait + self.warmup + self.active
        if step < 0 or (self.repeat and step >= self.repeat * length):
            return False
        return step % length >= self.wait + self.warmup


def schedule(*, wait: int, active: int, warmup: int = 0, repeat: int = 0, skip_first: int = 0) -> _Schedule:
    """Choose the steps that a :class:`profile` records.

    After ``skip_first`` steps, each cycle has ``wait + warmup`` steps that are not recorded and ``active``
    steps that are recorded.

    Args:
        wait (int): number of steps at the start of each cycle that are not recorded.
        active (int): number of recorded steps at the end of each cycle.
        warmup (int, optional): number of steps after the first ``wait`` steps of each cycle that are not
            recorded. Default: ``0``.
        repeat (int, optional): number of cycles; 0 for an unlimited number. Default: ``0``.
        skip_first (int, optional): number of steps before the first cycle. Default: ``0``.

    Returns:
        _Schedule: argument ``schedule`` of :class:`profile`. Its method ``records(step)`` returns whether
        step number ``step`` is recorded.

    Raises:
        ValueError: If an argument is negative, or ``active`` is 0.

    >>> from mindgrad.profiler import schedule
    >>> [schedule(wait=1, active=2, repeat=1).records(step) for step in range(4)]
    [False, True, True, False]
    """
    if active < 1 or min(wait, warmup, repeat, skip_first) < 0:
        raise ValueError("For 'schedule', 'active' must be at least 1, and all other numbers at least 0.")
    return _Schedule(wait, active, warmup, repeat, skip_first)


def tensorboard_trace_handler(
    dir_name: str | None = None, worker_name: str | None = None, analyse_flag: bool = True,
    async_mode: bool = False,
) -> Callable[[Any], None]:  # fmt: skip
    """Return a handler for ``on_trace_ready`` that selects the folder of the trace.

    Args:
        dir_name (str, optional): folder of the trace. ``None``: ``"./data"``. Default: ``None``.
        worker_name (str, optional): accepted for compatibility. Default: ``None``.
        analyse_flag (bool, optional): accepted for compatibility. Default: ``True``.
        async_mode (bool, optional): accepted for compatibility. Default: ``False``.

    >>> from mindgrad.profiler import tensorboard_trace_handler
    >>> tensorboard_trace_handler("traces").dir_name
    'traces'
    """

    def ready(profiler: Any) -> None:
        """Do nothing, because the files are already written."""

    ready.dir_name = dir_name  # type: ignore[attr-defined]
    return ready


class Profiler:
    """Profiler that records the computations of a program with JAX's profiler.

    Args:
        output_path (str, optional): folder of the trace. Default: ``"./data"``.
        start_profile (bool, optional): whether recording starts immediately. Default: ``True``.
        **kwargs (Any): other options of MindSpore, accepted for compatibility.

    Raises:
        TypeError: If ``output_path`` is not a string, or if ``start_profile`` is not a bool.
        RuntimeError: If another Profiler is already recording.

    >>> import os, tempfile
    >>> from mindgrad import Tensor, jit
    >>> from mindgrad.profiler import Profiler
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     profiler = Profiler(output_path=folder)
    ...     _ = jit(lambda x: x * x)(Tensor([3.0]))
    ...     profiler.analyse()
    ...     os.listdir(folder)
    ['plugins']

    See Also:
        :class:`mindgrad.profiler.profile`, :func:`mindgrad.explain`
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
        """Start recording.

        Raises:
            RuntimeError: If the Profiler is already recording.
        """
        if self._is_recording:
            raise RuntimeError("The Profiler is recording already: call stop() before start().")
        start_trace(self._folder)
        self._is_recording = True

    def stop(self) -> None:
        """Wait for pending computations, stop recording, and write the trace.

        Raises:
            RuntimeError: If the Profiler is not recording.
        """
        if not self._is_recording:
            raise RuntimeError("The Profiler is not recording: call start() before stop().")
        self._is_recording = False
        synchronize()
        stop_trace()

    def analyse(self, offline_path: str | None = None, *_: Any, **__: Any) -> None:
        """Stop recording, if the Profiler is recording.

        The files can then be opened in TensorBoard.
        """
        if self._is_recording:
            self.stop()

    def op_analyse(self, op_name: Any, device_id: Any = None) -> None:
        """Not supported. In MindSpore, this method returns the times of an operator.

        Raises:
            NotImplementedError: Always. The message names the alternative.
        """
        raise NotImplementedError(
            "'op_analyse' reads MindSpore's tables, which mindgrad does not write. Open the trace in "
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
    """Profiler of selected training steps: ``with profile(schedule=...) as recorder``.

    Args:
        schedule (_Schedule, optional): result of :func:`schedule`, which selects the recorded steps.
            ``None``: record all steps. Default: ``None``.
        on_trace_ready (Callable, optional): function that is called with the ``profile`` object at the end of
            each trace. A result of :func:`tensorboard_trace_handler` also selects the folder of the trace.
            Default: ``None``.
        **kwargs (Any): other options of MindSpore, accepted for compatibility. ``output_path`` is the folder
            of the trace if ``on_trace_ready`` does not select one.

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
        """Start or stop recording according to the schedule."""
        is_selected = self._schedule is None or self._schedule.records(self._step)
        if is_selected and not self._is_recording:
            super().start()
        elif not is_selected and self._is_recording:
            self.stop()

    def start(self) -> None:
        """Begin the first training step."""
        self._follow()

    def step(self) -> None:
        """End the current training step, and begin the next one."""
        self._step += 1
        self._follow()

    def stop(self) -> None:
        """Stop recording, if the recorder is recording."""
        if self._is_recording:
            super().stop()
            if self._ready is not None:
                self._ready(self)

    def __enter__(self) -> Self:
        self.start()
        return self


class EnvProfiler:
    """Accepted for compatibility; MindSpore controls it by environment variables."""

    def analyse(self) -> None:
        """Do nothing."""


class DynamicProfilerMonitor:
    """Not supported. In MindSpore, it is a callback that a file controls.

    Raises:
        NotImplementedError: Always.
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        raise NotImplementedError(
            "'DynamicProfilerMonitor' is controlled by MindSpore's files, which mindgrad does not read. "
            "Call start() and stop() of a Profiler in a custom Callback."
        )


class mstx:
    """Marks of ranges in Ascend's traces, accepted for compatibility."""

    @staticmethod
    def mark(message: str, stream: Any = None, domain: str = "default") -> None:
        """Accepted for compatibility."""

    @staticmethod
    def range_start(message: str, stream: Any = None, domain: str = "default") -> int:
        """Accepted for compatibility; return 0 as the number of the range."""
        return 0

    @staticmethod
    def range_end(range_id: int, domain: str = "default") -> None:
        """Accepted for compatibility."""


_ExperimentalConfig = dict
