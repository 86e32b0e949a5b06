"""Progress displays for long tasks: a bar of `rich`, or a line of text.

Progress is shown on terminals and in notebooks, except in three cases:

- The environment variable ``MINDGRAD_PROGRESS=0`` is set.
- The rank of the process is not 0.
- The user's program itself has an active display of `rich`.

`rich` is imported when the first bar appears.
"""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from importlib import import_module
from typing import Any

from mindgrad._base import job_rank

__all__ = ["Bar", "Line", "Progress", "bar_on", "is_shown_on"]

_WIDTH = 24


def is_shown_on(stream: Any) -> bool:
    """Return whether progress is shown on the output stream ``stream``."""
    if job_rank.rank:  # only process 0 shows its progress
        return False
    if os.environ.get("MINDGRAD_PROGRESS") == "0" or type(stream).__module__ == "rich.file_proxy":
        return False
    return type(stream).__module__.startswith("ipykernel.") or _is_terminal(stream)


def bar_on(stream: Any, start: float, *, is_kept: bool) -> Bar | Line:
    """Create a bar if `rich` is installed, and otherwise a line of text.

    Args:
        stream: stream to write to.
        start: start time of the task, from ``time.monotonic()``.
        is_kept: whether the display remains on a terminal at the end of the task. In a notebook, it always
            remains.
    """
    try:
        return Bar(stream, start, is_kept)
    except ImportError:
        return Line(stream, start, is_kept)


class Line:
    """Displays progress as a line of text: ``compiling 'step' … 12 s``."""

    def __init__(self, stream: Any, start: float, is_kept: bool) -> None:
        self._stream, self._start, self._is_terminal = stream, start, _is_terminal(stream)
        self._is_erased = self._is_terminal and not is_kept

    def show(self, text: str, count: int = 0, total: int | None = None, tail: str = "") -> None:
        """Rewrite the line: ``count`` of ``total`` items are done.

        If ``total`` is ``None``, the number of items is unknown.
        """
        self._write(f"{text} {_counted(count, total)}… {self._seconds()}{tail and f', {tail}'}")

    def end(self, text: str, count: int = 0, total: int | None = None, tail: str = "") -> None:
        """Replace the line by its final text, or erase it if it must not remain."""
        line = f"{text} {_counted(count, total)}in {self._seconds()}{tail and f', {tail}'}"
        self._write(*(("",) if self._is_erased else (line, "\n")))

    def _seconds(self) -> str:
        return f"{time.monotonic() - self._start:.0f} s"

    def _write(self, text: str, end: str = "") -> None:
        with suppress(OSError, ValueError):  # the output stream may be closed
            self._stream.write((f"\r\x1b[K{text}" if self._is_terminal else f"\r{text:79}") + end)
            self._stream.flush()


class Bar:
    """Displays progress as a bar of `rich`, with the count and the times.

    The bar shows the elapsed and the remaining time.

    Raises:
        ImportError: If `rich` is not installed.
    """

    def __init__(self, stream: Any, start: float, is_kept: bool) -> None:
        self._rich = import_module("rich.progress")
        self._is_notebook = not _is_terminal(stream)
        self._progress = self._rich.Progress(
            console=import_module("rich.console").Console(file=stream),
            auto_refresh=False,
            transient=not is_kept,
            # if the bar remains at the end, redirect the program's output to the lines above the bar
            redirect_stdout=is_kept and _is_terminal(sys.stdout),
            redirect_stderr=is_kept,
        )
        self._task = self._progress.add_task("", total=None, counted="", tail="")
        self._start = self._progress.tasks[0].start_time = start
        self._display: Any = None

    def show(self, text: str, count: int = 0, total: int | None = None, tail: str = "") -> None:
        """Draw the bar: ``count`` of ``total`` items are done.

        If ``total`` is ``None``, the number of items is unknown.
        """
        left = [] if total is None else [self._rich.TimeRemainingColumn(), self._rich.TextColumn("left")]
        self._update(text, count, total, tail)
        self._draw(left)

    def end(self, text: str, count: int = 0, total: int | None = None, tail: str = "") -> None:
        """Draw the final bar, or erase it if it must not remain."""
        self._update(text, count, total, tail)
        if total is None:
            self._progress.update(self._task, completed=1, total=1)
        self._draw([], is_end=True)

    def _update(self, text: str, count: int, total: int | None, tail: str) -> None:
        counted = _counted(count, total).rstrip()
        if count < self._progress.tasks[0].completed:  # a new stage begins, whose speed may differ
            self._progress.reset(self._task)
            self._progress.tasks[0].start_time = self._start
        self._progress.update(
            self._task, description=text, completed=count, total=total, counted=counted, tail=tail
        )

    def _draw(self, left: Sequence[Any], is_end: bool = False) -> None:
        rich, bar = self._rich, self._progress
        bar.columns = (
            rich.TextColumn("{task.description}", markup=False),
            rich.BarColumn(_WIDTH),
            rich.TextColumn("{task.fields[counted]}"),
            rich.TimeElapsedColumn(),
            *left,
            rich.TextColumn("{task.fields[tail]}", markup=False),
        )
        if self._is_notebook:
            self._display_in_notebook()
            return
        with suppress(OSError, ValueError):  # the stream is closed
            bar.start()  # has an effect only in the first call
            bar.stop() if is_end else bar.refresh()

    def _display_in_notebook(self) -> None:
        if self._display is None:
            self._display = import_module("IPython.display").display(self._progress, display_id=True)
        else:
            self._display.update(self._progress)


class Progress:
    """Displays a long task, such as ``compiling 'step'``, with a bar and the time.

    At the end of the task, the display disappears from a terminal, and a notebook shows the total time.
    Nested displays, and displays in threads other than the main thread, are not shown.

    Args:
        doing, done: description of the task while it runs and at its end, such as ``"compiling"`` and
            ``"compiled"``.
        subject: the function or object on which the task works.
    """

    #: number of seconds from the start of the task until the display appears
    patience = 2.0
    #: number of seconds between two updates of the display
    _PAUSE = 0.25

    _is_open = False

    def __init__(self, doing: str, done: str, subject: Any) -> None:
        self._doing, self._done, self._subject = doing, done, subject
        self._count = 0
        self._total: int | None = None
        self._stage = ""
        self._stream: Any = None
        self._bar: Bar | Line | None = None

    def __enter__(self) -> Progress:
        is_main = threading.current_thread() is threading.main_thread()
        if Progress._is_open or not is_main or not is_shown_on(sys.stderr):
            return self
        Progress._is_open = True
        self._stream, self._start = sys.stderr, time.monotonic()
        self._ended, self._lock = threading.Event(), threading.Lock()
        threading.Thread(target=self._show, name="mindgrad-progress", daemon=True).start()
        return self

    def __exit__(self, *_: Any) -> None:
        if self._stream is None:
            return
        Progress._is_open = False
        self._ended.set()
        with self._lock:
            if self._bar is not None:
                self._bar.end(f"{self._done} {self._name()}", *self._state())

    def expect(self, total: int, stage: str) -> None:
        """Begin the stage ``stage`` of the task, which consists of ``total`` items."""
        self._count, self._total, self._stage = 0, total, stage

    def counted(self, items: Iterable[Any]) -> Iterator[Any]:
        """Iterate over ``items``, and count each item in the display."""
        for item in items:
            yield item
            self._count += 1

    def _show(self) -> None:
        wait = self.patience
        while not self._ended.wait(wait):
            with self._lock:
                if not self._ended.is_set():
                    self._bar = self._bar or bar_on(self._stream, self._start, is_kept=False)
                    self._bar.show(f"{self._doing} {self._name()}", *self._state())
            wait = self._PAUSE

    def _state(self) -> tuple[int, int | None, str]:
        return self._count, self._total, self._stage

    def _name(self) -> str:
        owner = getattr(self._subject, "__self__", None)
        name = type(owner).__name__ if hasattr(owner, "construct") else None
        return repr(name or getattr(self._subject, "__name__", type(self._subject).__name__))


def _counted(count: int, total: int | None) -> str:
    return f"{count}/{total} " if total is not None else f"{count} " if count else ""


def _is_terminal(stream: Any) -> bool:
    try:
        return bool(stream.isatty()) and os.environ.get("TERM") != "dumb"
    except (AttributeError, ValueError):  # the output stream is missing or closed
        return False
