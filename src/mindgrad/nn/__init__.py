"""Layers, losses, metrics, and optimizers of neural networks."""

import sys as _sys

from mindgrad._base.missing import explain_package as _explain_package
from mindgrad._base.shared_docs import document_all as _document_all
from mindgrad.nn import (
    dynamic_lr,
    layer,
    learning_rate_schedule,
    loss,
    metrics,
    optim,
    probability,
    sparse,
    wrap,
)
from mindgrad.nn import init_parameters as utils  # noqa: F401 - its name in MindSpore
from mindgrad.nn.cell import Cell
from mindgrad.nn.container import CellList, SequentialCell
from mindgrad.nn.dynamic_lr import *  # noqa: F403
from mindgrad.nn.grad import ForwardValueAndGrad, Jvp, Vjp
from mindgrad.nn.graph_cell import GraphCell
from mindgrad.nn.init_parameters import no_init_parameters
from mindgrad.nn.layer import *  # noqa: F403
from mindgrad.nn.learning_rate_schedule import *  # noqa: F403
from mindgrad.nn.loss import *  # noqa: F403
from mindgrad.nn.metrics import *  # noqa: F403
from mindgrad.nn.optim import *  # noqa: F403
from mindgrad.nn.sparse import *  # noqa: F403
from mindgrad.nn.wrap import *  # noqa: F403

__all__ = [
    "Cell", "CellList", "ForwardValueAndGrad", "GraphCell", "Jvp", "SequentialCell", "Vjp",
    "no_init_parameters", "probability",
]  # fmt: skip
for _part in (dynamic_lr, layer, learning_rate_schedule, loss, metrics, optim, sparse, wrap):
    __all__ = list(dict.fromkeys(__all__ + _part.__all__))

for _name in dict.fromkeys(getattr(globals()[_each], "__module__", __name__) for _each in __all__):
    _document_all(vars(_sys.modules[_name]))
_explain_package(__name__)
