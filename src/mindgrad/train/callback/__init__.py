"""Callbacks of a Model: monitors, checkpoints, early stopping, and learning rates."""

from mindgrad.train.callback._callback import (  # noqa: F401
    _CallbackManager,
    _handle_loss,
    _InternalCallbackParam,
    _set_cur_net,
)
from mindgrad.train.callback.base import Callback, LambdaCallback, RunContext
from mindgrad.train.callback.checkpoint import (  # noqa: F401
    CheckpointConfig,
    ModelCheckpoint,
    _CheckpointManager,
)
from mindgrad.train.callback.monitors import History, LossMonitor, ProgressBar, TimeMonitor
from mindgrad.train.callback.steering import EarlyStopping, LearningRateScheduler, ReduceLROnPlateau
from mindgrad.train.callback.summary import SummaryCollector, SummaryLandscape

__all__ = [
    "Callback", "CheckpointConfig", "EarlyStopping", "History", "LambdaCallback", "LearningRateScheduler",
    "LossMonitor", "ModelCheckpoint", "ProgressBar", "ReduceLROnPlateau", "RunContext", "SummaryCollector",
    "SummaryLandscape", "TimeMonitor",
]  # fmt: skip
