"""Tensors, Parameters, dtypes, seeds and initial values under MindSpore's names.

``from mindspore.common import dtype as mstype, set_seed, Parameter, Tensor, initializer``; the last is the
module ``mindgrad.common.initializer``.
"""

from mindgrad.common import api, dtype, generator, initializer, parameter, seed, tensor
from mindgrad.common.api import JitConfig, jit, ms_function
from mindgrad.common.dtype import *  # noqa: F403
from mindgrad.common.generator import Generator, default_generator, initial_seed, manual_seed
from mindgrad.common.parameter import Parameter, ParameterTuple
from mindgrad.common.seed import get_rng_state, get_seed, set_rng_state, set_seed
from mindgrad.common.sparse_tensor import COOTensor, CSRTensor, RowTensor, SparseTensor
from mindgrad.common.tensor import Tensor
from mindgrad.core.ir.mutable import mutable

__all__ = [
    "COOTensor", "CSRTensor", "Generator", "JitConfig", "Parameter", "ParameterTuple", "RowTensor",
    "SparseTensor", "Tensor", "api", "default_generator", "dtype", "generator", "get_rng_state", "get_seed",
    "initial_seed", "initializer", "jit", "manual_seed", "ms_function", "mutable", "parameter", "seed",
    "set_rng_state", "set_seed", "tensor",
]  # fmt: skip
__all__ += dtype.__all__
