"""Private names of callbacks that training loops written for MindSpore import."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from mindgrad.train.callback.base import Callback, CallbackParameters, Callbacks, RunContext, loss_of
from mindgrad.train.callback.checkpoint import CheckpointConfig, ModelCheckpoint

__all__ = ["Callback", "CheckpointConfig", "InternalCallbackParam", "ModelCheckpoint", "RunContext"]

InternalCallbackParam = _InternalCallbackParam = CallbackParameters
_handle_loss = loss_of


def _set_cur_net(net: Any) -> None:
    """Do nothing: callbacks receive the network from the RunContext."""


class _CallbackManager(Callback):
    """A callback that calls all callbacks of a run.

    >>> from mindgrad.train import LambdaCallback, RunContext
    >>> from mindgrad.train.callback import _CallbackManager
    >>> with _CallbackManager([LambdaCallback(on_train_begin=lambda context: print("begun"))]) as every:
    ...     every.on_train_begin(RunContext({}))
    begun
    """

    def __init__(self, callbacks: Any) -> None:
        self._callbacks = Callbacks(callbacks)

    def __enter__(self) -> _CallbackManager:
        self._callbacks.__enter__()
        return self

    def __exit__(self, *error: Any) -> None:
        self._callbacks.__exit__(*error)


def _for_each(event: str) -> Callable[[_CallbackManager, RunContext], None]:
    def call(self: _CallbackManager, run_context: RunContext) -> None:
        self._callbacks.call(event, run_context)

    return call


for _event in ("begin", "end", "epoch_begin", "epoch_end", "step_begin", "step_end"):
    setattr(_CallbackManager, _event, _for_each(_event))
for _stage in ("train", "eval"):
    for _event in ("begin", "epoch_begin", "step_begin", "step_end", "epoch_end", "end"):
        setattr(_CallbackManager, f"on_{_stage}_{_event}", _for_each(f"on_{_stage}_{_event}"))
