"""mindgrad differentiates programs, with MindSpore's gradient API, on CPU and GPU."""

from mindgrad import context, nn, ops
from mindgrad.cli import install
from mindgrad.common import dtype
from mindgrad.common.dtype import *  # noqa: F403
from mindgrad.common.parameter import Parameter, ParameterTuple
from mindgrad.context import GRAPH_MODE, PYNATIVE_MODE, get_context, set_context
from mindgrad.core.tensor import Tensor
from mindgrad.functional.jit import jit, ms_function

__version__ = "0.1.0"

__all__ = [
    "GRAPH_MODE", "PYNATIVE_MODE", "Parameter", "ParameterTuple", "Tensor", "context", "dtype",
    "get_context", "install", "jit", "ms_function", "nn", "ops", "set_context",
]  # fmt: skip
