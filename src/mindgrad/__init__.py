"""mindgrad differentiates programs, with MindSpore's gradient API, on CPU and GPU."""

from mindgrad import amp, communication, context, dataset, log, nn, numpy, ops, train
from mindgrad._base.refusal import CompileError
from mindgrad.cli import explain_all as _explain_all
from mindgrad.cli import install
from mindgrad.common import dtype
from mindgrad.common.dtype import (
    DType,
    bfloat16,
    bool_,
    complex64,
    complex128,
    dtype_to_nptype,
    dtype_to_pytype,
    float16,
    float32,
    float64,
    float_,
    int8,
    int16,
    int32,
    int64,
    int_,
    pytype_to_dtype,
    uint8,
    uint16,
    uint32,
    uint64,
)
from mindgrad.common.parameter import Parameter, ParameterTuple
from mindgrad.common.seed import get_rng_state, get_seed, manual_seed, set_rng_state, set_seed
from mindgrad.context import (
    GRAPH_MODE,
    PYNATIVE_MODE,
    ParallelMode,
    get_auto_parallel_context,
    get_context,
    reset_auto_parallel_context,
    set_auto_parallel_context,
    set_context,
    set_device,
)
from mindgrad.core.mutable import mutable
from mindgrad.core.tensor import Tensor
from mindgrad.functional.cache import cache_info, clear_cache
from mindgrad.functional.gradient import get_grad, grad, value_and_grad
from mindgrad.functional.hessian import ggnvp, hessian, hvp, vhp
from mindgrad.functional.implicit import (
    SolverInfo,
    argmin,
    custom_linear_solve,
    custom_root,
    fixed_point,
)
from mindgrad.functional.jacobian import jacfwd, jacrev
from mindgrad.functional.jit import JitConfig, jit, jit_class, lazy_inline, ms_function
from mindgrad.functional.jvp import jvp, linearize
from mindgrad.functional.laplacian import (
    biharmonic,
    directional_derivative,
    divergence,
    laplacian,
    second_order,
)
from mindgrad.functional.ode import OdeInfo, odeint
from mindgrad.functional.taylor import derivative, jet, taylor
from mindgrad.functional.vjp import vjp
from mindgrad.functional.vmap import vmap
from mindgrad.train import *  # noqa: F403

__version__ = "0.1.0"

__all__ = [
    "CompileError", "GRAPH_MODE", "JitConfig", "PYNATIVE_MODE", "Parameter", "ParameterTuple", "Tensor",
    "cache_info", "clear_cache", "context", "dtype",
    "get_context", "get_grad", "get_rng_state", "get_seed", "grad", "install", "jacfwd", "jacrev",
    "jit", "jit_class", "lazy_inline", "log", "jvp", "linearize", "manual_seed", "set_rng_state",
    "ms_function", "mutable", "nn", "numpy", "ops", "set_context", "set_device", "set_seed",
    "value_and_grad", "vjp",
    "biharmonic", "directional_derivative", "divergence", "laplacian", "second_order",
    "derivative", "ggnvp", "hessian", "hvp", "jet", "taylor", "vhp", "vmap",
    "OdeInfo", "SolverInfo", "argmin", "custom_linear_solve", "custom_root", "fixed_point", "odeint",
    "ParallelMode", "amp", "communication", "dataset", "get_auto_parallel_context",
    "reset_auto_parallel_context", "set_auto_parallel_context", "train",
    "dtype_to_nptype", "dtype_to_pytype", "float_", "int_", "pytype_to_dtype",
    "DType", "bfloat16", "bool_", "complex64", "complex128", "float16", "float32", "float64", "int8",
    "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64",
]  # fmt: skip
__all__ = list(dict.fromkeys(__all__ + train.__all__))

_explain_all()
