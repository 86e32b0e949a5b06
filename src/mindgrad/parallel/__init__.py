"""Parallel training: ``AutoParallel``, ``shard``, ``Layout``, and options."""

from mindgrad._base.missing import explain_package as _explain_package
from mindgrad.ops.sharded_function import shard
from mindgrad.ops.tensor_layout import Layout
from mindgrad.parallel import (  # noqa: F401 - programs read them as attributes
    _auto_parallel_context,
    _cost_model_context,
    _ps_context,
    _transformer,
    _utils,
    nn,
)
from mindgrad.parallel.algorithm_options import (
    get_algo_parameters,
    reset_algo_parameters,
    set_algo_parameters,
)
from mindgrad.parallel.auto_parallel import AutoParallel

__all__ = [
    "AutoParallel", "Layout", "get_algo_parameters", "nn", "reset_algo_parameters", "set_algo_parameters",
    "shard",
]  # fmt: skip

_explain_package(__name__)
