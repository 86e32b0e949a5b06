"""Callbacks that report the loss, the time, and the progress of a run.

In a job of several processes, only rank 0 prints. The printed loss is the loss of the samples on rank 0.
"""

from __future__ import annotations

import math
import sys
import time
from typing import Any, TextIO

from mindgrad._base.job_rank import shows_progress
from mindgrad._base.progress import Bar, Line, bar_on, is_shown_on
from mindgrad.nn.hyperparameters import positive_int
from mindgrad.train.callback.base import Callback, RunContext, loss_of

__all__ = ["History", "LossMonitor", "ProgressBar", "TimeMonitor"]


def _say(text: str) -> None:
    """Print a line, on rank 0 only."""
    if shows_progress():
        print(text, flush=True)  # noqa: T201 - printing is the purpose of these callbacks


class LossMonitor(Callback):
    """Callback that prints the loss: ``epoch: 1 step: 10, loss is 0.25``.

    After an evaluation in ``Model.fit`` it prints the metrics.

    Args:
        per_print_times (int, optional): number of steps between two printed lines. 0: no output. Default:
            ``1``.

    Raises:
        ValueError: If ``per_print_times`` is negative, or the loss is infinite or NaN in training.

    >>> import mindgrad as ms
    >>> state = dict(cur_epoch_num=1, cur_step_num=3, cur_step_in_epoch=3, net_outputs=ms.Tensor(0.25))
    >>> ms.train.LossMonitor().step_end(ms.train.RunContext(state))
    epoch: 1 step: 3, loss is 0.25

    See Also:
        :class:`mindgrad.train.TimeMonitor`, :class:`mindgrad.train.ProgressBar`,
        :class:`mindgrad.train.History`
    """

    def __init__(self, per_print_times: int = 1) -> None:
        self._per_print_times = positive_int("LossMonitor", "per_print_times", per_print_times, least=0)
        self._printed = 0

    def on_train_begin(self, run_context: RunContext) -> None:
        """Reset the callback before training."""
        self._printed = 0
        super().on_train_begin(run_context)

    def step_end(self, run_context: RunContext) -> None:
        """Print the loss of the step, every ``per_print_times`` steps."""
        state = run_context.original_args()
        if state.mode == "eval":
            return
        loss = loss_of(state.net_outputs)
        if loss is None:
            return
        step = state.cur_step_in_epoch or state.cur_step_num
        # ignore a step that was skipped because the scaled loss overflowed
        outputs = state.net_outputs
        is_left_out = isinstance(outputs, tuple) and len(outputs) == 3 and bool(outputs[1])
        if not math.isfinite(loss) and not is_left_out:
            raise ValueError(
                f"epoch: {state.cur_epoch_num} step: {step}. The loss is {loss}, so training is stopped. "
                "The learning rate may be too large, or the data may contain NaN or an out-of-range "
                "label. In a compiled step, the loss of such a label is NaN; in PYNATIVE_MODE, it raises "
                "an error."
            )
        if self._per_print_times and state.cur_step_num - self._printed >= self._per_print_times:
            self._printed = state.cur_step_num
            _say(f"epoch: {state.cur_epoch_num} step: {step}, loss is {loss:.9g}")

    def on_train_epoch_end(self, run_context: RunContext) -> None:
        """Print the metrics after an evaluation."""
        state = run_context.original_args()
        if state.eval_results:
            _say(f"Eval result: epoch {state.cur_epoch_num}, metrics: {dict(state.eval_results)}")
        super().on_train_epoch_end(run_context)


class TimeMonitor(Callback):
    """Callback that prints the duration of each epoch.

    A line is ``Train epoch time: 12.345 ms, per step time: 1.235 ms``.

    Args:
        data_size (int, optional): number of steps in an epoch, for the time per step. ``None``: the actual
            number. Default: ``None``.
        data_time (bool, optional): whether to also print the time between steps, in which data are loaded.
            Default: ``False``.

    >>> import mindgrad as ms
    >>> monitor = ms.train.TimeMonitor(data_size=10)

    See Also:
        :class:`mindgrad.train.LossMonitor`, :class:`mindgrad.train.ProgressBar`
    """

    def __init__(self, data_size: int | None = None, data_time: bool = False) -> None:
        self.data_size = None if data_size is None else positive_int("TimeMonitor", "data_size", data_size)
        self.data_time = data_time
        self._start = self._step_end = time.perf_counter()
        self._fetching = 0.0

    def epoch_begin(self, run_context: RunContext) -> None:
        """Start timing the epoch."""
        self._start = self._step_end = time.perf_counter()
        self._fetching = 0.0

    def step_begin(self, run_context: RunContext) -> None:
        """Add the time since the last step to the time of loading data."""
        self._fetching += time.perf_counter() - self._step_end

    def step_end(self, run_context: RunContext) -> None:
        """Start timing the interval until the next step."""
        self._step_end = time.perf_counter()

    def epoch_end(self, run_context: RunContext) -> None:
        """Print the duration of the epoch and of a step."""
        state = run_context.original_args()
        milliseconds = (time.perf_counter() - self._start) * 1000
        steps = self.data_size or state.cur_step_in_epoch or state.batch_num or 1
        name = "Eval" if state.mode == "eval" else "Train"
        _say(f"{name} epoch time: {milliseconds:5.3f} ms, per step time: {milliseconds / steps:5.3f} ms")
        if self.data_time:
            _say(f"{name} data time: {self._fetching * 1000:5.3f} ms")


class History(Callback):
    """Callback that records the results at the end of each epoch.

    Attributes:
        epoch (dict): numbers of the epochs, ``{"epoch": [1, 2, ...]}``.
        history (dict): dict that maps ``"net_output"`` to the outputs of the last step of each epoch and, in
            ``Model.fit``, each name of a metric to its values.

    >>> import mindgrad as ms
    >>> history = ms.train.History()
    >>> history.on_train_begin(ms.train.RunContext({}))
    >>> history.history
    {}

    See Also:
        :class:`mindgrad.train.LossMonitor`, :class:`mindgrad.train.Callback`
    """

    def __init__(self) -> None:
        self.history: dict[str, list[Any]] = {}
        self.epoch: dict[str, list[int]] = {}

    def on_train_begin(self, run_context: RunContext) -> None:
        """Reset the callback before training."""
        self.epoch = {"epoch": []}
        self.history = {}

    def epoch_end(self, run_context: RunContext) -> None:
        """Record the output of the network and the metrics after an epoch."""
        state = run_context.original_args()
        if state.mode == "eval":
            return
        self.epoch.setdefault("epoch", []).append(state.cur_epoch_num)
        self.history.setdefault("net_output", []).append(state.net_outputs)
        for name, value in (state.eval_results or {}).items():
            self.history.setdefault(name, []).append(value)


class ProgressBar(Callback):
    """A progress bar on a terminal or in a notebook, or else one line per epoch.

    The package rich draws the bar if it is installed. A very short epoch prints one line and no bar. If the
    output can show a moving bar, a :class:`~mindgrad.train.Model` without another printing callback adds a
    progress bar automatically.

    Args:
        stream (file object, optional): output stream of the progress bar. ``None``: standard error. Default:
            ``None``.

    >>> import io
    >>> import mindgrad as ms
    >>> text = io.StringIO()
    >>> bar = ms.train.ProgressBar(text)
    >>> state = dict(cur_epoch_num=1, epoch_num=2, cur_step_in_epoch=3, net_outputs=ms.Tensor(0.25))
    >>> bar.on_train_epoch_end(ms.train.RunContext(state))
    >>> print(text.getvalue().strip())
    epoch 1/2: 3 steps, loss 0.25

    See Also:
        :class:`mindgrad.train.LossMonitor`, :class:`mindgrad.train.TimeMonitor`
    """

    #: minimum seconds between two updates of the progress bar
    _PAUSE = 0.1

    def __init__(self, stream: TextIO | None = None) -> None:
        self._stream = stream
        self._bar: Bar | Line | None = None
        self._latest: tuple[str, int, int | None, str] = ("", 0, None, "")
        self._start = self._shown = time.monotonic()

    @property
    def stream(self) -> TextIO:
        """The output stream of the progress bar."""
        return sys.stderr if self._stream is None else self._stream

    def is_terminal(self) -> bool:
        """Return whether the output can show a moving bar: a terminal or a notebook."""
        return is_shown_on(self.stream)

    def on_train_epoch_begin(self, run_context: RunContext) -> None:
        """Start timing the epoch."""
        self._start = self._shown = time.monotonic()

    def on_train_step_end(self, run_context: RunContext) -> None:
        """Update the progress bar, at most ten times a second."""
        now = time.monotonic()
        if now - self._shown >= self._PAUSE and (self._bar or self.is_terminal()):
            self._shown = now
            self._bar = self._bar or bar_on(self.stream, self._start, is_kept=True)
            self._latest = (*_position(run_context), _results(run_context))
            self._bar.show(*self._latest)

    def on_train_epoch_end(self, run_context: RunContext) -> None:
        """Complete the progress bar of an epoch, or write a line."""
        text, count, total = _position(run_context)
        results = _results(run_context, with_metrics=True)
        if self._bar:
            self._bar.end(text, count, total, results)
            self._bar = None
        elif shows_progress():
            self.stream.write(f"{text}: {count} steps{results and f', {results}'}\n")
            self.stream.flush()

    def __exit__(self, *error: Any) -> None:
        if self._bar:  # the run ended before the end of an epoch
            self._bar.end(*self._latest)
            self._bar = None


def _position(run_context: RunContext) -> tuple[str, int, int | None]:
    """Return the epoch, the number of finished steps, and the number of steps."""
    state = run_context.original_args()
    steps = state.batch_num or 0
    return (
        f"epoch {state.cur_epoch_num}/{state.epoch_num}",
        state.cur_step_in_epoch or 0,
        steps if steps > 0 else None,
    )


def _results(run_context: RunContext, with_metrics: bool = False) -> str:
    """Format the loss and, with ``with_metrics``, the results of the evaluation."""
    state = run_context.original_args()
    loss = loss_of(state.net_outputs)
    texts = [] if loss is None else [f"loss {loss:.6g}"]
    metrics = dict(state.eval_results or {}) if with_metrics else {}
    if "loss" in metrics:
        metrics.pop("eval_loss", None)
    for name, value in metrics.items():
        texts.append(
            f"eval {name.removeprefix('eval_')} {f'{value:.6g}' if isinstance(value, float) else value}"
        )
    return ", ".join(texts)
