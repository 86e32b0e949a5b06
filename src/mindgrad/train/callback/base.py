"""Base classes of callbacks, which a Model calls during training and evaluation."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Self

import numpy as np

from mindgrad._base.checks import of_type
from mindgrad.core.ir.tensor import Tensor

__all__ = ["Callback", "CallbackParameters", "Callbacks", "LambdaCallback", "RunContext", "loss_of"]


class CallbackParameters(dict):
    """The state of a run for callbacks: a dict with attribute access.

    A missing item is ``None``. The items are:

    - ``network``, ``train_network``, ``eval_network``, ``optimizer``, ``loss_fn``, ``metrics``;
    - ``train_dataset``, ``valid_dataset``, ``train_dataset_element``, the current batch;
    - ``epoch_num``, the number of epochs, and ``batch_num``, the number of steps in an epoch, 0 if unknown;
    - ``cur_epoch_num`` and ``cur_step_num``, counted from 1;
    - ``net_outputs``, ``eval_results``, ``list_callback``;
    - ``mode``: ``"train"`` or ``"eval"``.
    """

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return self.get(name)

    def __setattr__(self, name: str, value: Any) -> None:
        self[name] = value


class RunContext:
    """The argument of a callback: the state of the run, and a method to stop it.

    Args:
        original_args (CallbackParameters): state of the run, such as ``cur_epoch_num`` and ``net_outputs``.

    >>> from mindgrad.train import RunContext
    >>> context = RunContext({"epoch_num": 3})
    >>> context.original_args().epoch_num
    3
    >>> context.request_stop()
    >>> context.get_stop_requested()
    True

    See Also:
        :class:`mindgrad.Callback`, :class:`mindgrad.LambdaCallback`
    """

    def __init__(self, original_args: Any) -> None:
        of_type(original_args, dict, "RunContext", "original_args")
        is_state = isinstance(original_args, CallbackParameters)
        self._original_args: Any = original_args if is_state else CallbackParameters(original_args)
        self._stop_requested = False

    def original_args(self) -> Any:
        """Return the state of the run: a dict with attribute access."""
        return self._original_args

    def request_stop(self) -> None:
        """Stop the run after the current step."""
        self._stop_requested = True

    def get_stop_requested(self) -> bool:
        """Return whether a stop was requested."""
        return self._stop_requested


class Callback:
    """Base class of callbacks. A subclass overrides some of its methods.

    The methods of MindSpore 2.x distinguish training and evaluation. The methods of 1.x (``begin``,
    ``step_end``, ...) are called for both. Each method receives the :class:`RunContext`.

    >>> import mindgrad as ms
    >>> class StopAtStep(ms.train.Callback):
    ...     def on_train_step_end(self, run_context):
    ...         if run_context.original_args().cur_step_num == 5:
    ...             run_context.request_stop()
    >>> context = ms.train.RunContext({"cur_step_num": 5})
    >>> StopAtStep().on_train_step_end(context)
    >>> context.get_stop_requested()
    True

    See Also:
        :class:`mindgrad.LambdaCallback`, :class:`mindgrad.RunContext`, :class:`mindgrad.History`,
        :class:`mindgrad.Model`
    """

    def __enter__(self) -> Self:
        """Start a run with this callback, before all other methods are called."""
        return self

    def __exit__(self, *error: Any) -> None:
        """End a run with this callback, also if the run raised an exception."""

    def begin(self, run_context: RunContext) -> None:
        """Run before training or evaluation."""

    def epoch_begin(self, run_context: RunContext) -> None:
        """Run before an epoch."""

    def epoch_end(self, run_context: RunContext) -> None:
        """Run after an epoch."""

    def step_begin(self, run_context: RunContext) -> None:
        """Run before a step."""

    def step_end(self, run_context: RunContext) -> None:
        """Run after a step."""

    def end(self, run_context: RunContext) -> None:
        """Run after training or evaluation."""

    def on_train_begin(self, run_context: RunContext) -> None:
        """Run before training."""
        self.begin(run_context)

    def on_train_epoch_begin(self, run_context: RunContext) -> None:
        """Run before an epoch of training."""
        self.epoch_begin(run_context)

    def on_train_epoch_end(self, run_context: RunContext) -> None:
        """Run after an epoch of training."""
        self.epoch_end(run_context)

    def on_train_step_begin(self, run_context: RunContext) -> None:
        """Run before a step of training."""
        self.step_begin(run_context)

    def on_train_step_end(self, run_context: RunContext) -> None:
        """Run after a step of training."""
        self.step_end(run_context)

    def on_train_end(self, run_context: RunContext) -> None:
        """Run after training."""
        self.end(run_context)

    def on_eval_begin(self, run_context: RunContext) -> None:
        """Run before an evaluation."""
        self.begin(run_context)

    def on_eval_epoch_begin(self, run_context: RunContext) -> None:
        """Run before the pass over the dataset in an evaluation."""
        self.epoch_begin(run_context)

    def on_eval_epoch_end(self, run_context: RunContext) -> None:
        """Run after the pass over the dataset in an evaluation."""
        self.epoch_end(run_context)

    def on_eval_step_begin(self, run_context: RunContext) -> None:
        """Run before a step of an evaluation."""
        self.step_begin(run_context)

    def on_eval_step_end(self, run_context: RunContext) -> None:
        """Run after a step of an evaluation."""
        self.step_end(run_context)

    def on_eval_end(self, run_context: RunContext) -> None:
        """Run after an evaluation."""
        self.end(run_context)


_EVENTS = (
    "on_train_begin", "on_train_epoch_begin", "on_train_epoch_end", "on_train_step_begin",
    "on_train_step_end", "on_train_end", "on_eval_begin", "on_eval_epoch_begin", "on_eval_epoch_end",
    "on_eval_step_begin", "on_eval_step_end", "on_eval_end",
)  # fmt: skip


class LambdaCallback(Callback):
    """A callback that calls given functions.

    For example, ``LambdaCallback(on_train_step_end=function)``.

    Args:
        **functions (Callable): functions that receive the :class:`RunContext`. The keywords are names of
            methods of :class:`Callback` that start with ``on_``.

    Raises:
        TypeError: If a keyword is not a method of :class:`Callback` that starts with ``on_``, or a value is
            not callable.

    >>> import mindgrad as ms
    >>> callback = ms.train.LambdaCallback(on_train_end=lambda run_context: print("done"))
    >>> callback.on_train_end(ms.train.RunContext({}))
    done

    See Also:
        :class:`mindgrad.Callback`, :class:`mindgrad.RunContext`
    """

    def __init__(self, **functions: Callable[[RunContext], Any] | None) -> None:
        for name, function in functions.items():
            if name not in _EVENTS:
                raise TypeError(f"For 'LambdaCallback', unknown method {name!r}; use {', '.join(_EVENTS)}.")
            if function is None:
                continue
            if not callable(function):
                raise TypeError(
                    f"For 'LambdaCallback', {name!r} must be a function, but got {type(function).__name__}."
                )
            setattr(self, name, function)


class Callbacks:
    """The callbacks of one run, called in order."""

    def __init__(self, given: Any) -> None:
        listed = [] if given is None else list(given) if isinstance(given, (list, tuple)) else [given]
        for callback in listed:
            if isinstance(callback, type) and issubclass(callback, Callback):
                name = callback.__name__
                raise TypeError(
                    f"For 'Model', 'callbacks' contains the class {name}. Create an instance: {name}()."
                )
            of_type(callback, Callback, "Model", "callbacks", "Callbacks")
        self.listed: list[Callback] = listed

    def __enter__(self) -> Self:
        for each in self.listed:
            each.__enter__()
        return self

    def __exit__(self, *error: Any) -> None:
        for each in reversed(self.listed):
            each.__exit__(*error)

    def call(self, event: str, run_context: RunContext) -> None:
        """Call the method ``event`` of each callback."""
        for each in self.listed:
            getattr(each, event)(run_context)


def loss_of(outputs: Any) -> Any:
    """Return the loss in the outputs of a training step as a float, or ``None``."""
    if isinstance(outputs, (tuple, list)) and outputs:
        outputs = outputs[0]
    if isinstance(outputs, Tensor):
        return float(np.mean(outputs.asnumpy().astype(np.float64)))
    return float(outputs) if isinstance(outputs, (int, float, np.generic)) else None
