"""Training: ``Model``, callbacks, mixed precision, and checkpoint files."""

from mindgrad._base.missing import explain_package as _explain_package
from mindgrad.train import (
    amp,
    callback,
    dataset_helper,
    loss_scale_manager,
    metrics,
    model,
    serialization,
    train_thor,
)
from mindgrad.train.amp import *  # noqa: F403
from mindgrad.train.callback import *  # noqa: F403
from mindgrad.train.data_sink import data_sink
from mindgrad.train.dataset_helper import *  # noqa: F403
from mindgrad.train.latest import latest_checkpoint
from mindgrad.train.loss_scale_manager import *  # noqa: F403
from mindgrad.train.metrics import *  # noqa: F403
from mindgrad.train.model import *  # noqa: F403
from mindgrad.train.serialization import *  # noqa: F403
from mindgrad.train.summary import SummaryRecord
from mindgrad.train.train_thor import *  # noqa: F403

__all__ = ["SummaryRecord", "data_sink", "latest_checkpoint"]
for _part in (amp, callback, dataset_helper, loss_scale_manager, metrics, model, serialization, train_thor):
    __all__ = list(dict.fromkeys(__all__ + _part.__all__))

_explain_package(__name__)
