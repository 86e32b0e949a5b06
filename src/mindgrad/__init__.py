"""Automatic differentiation of any order, with MindSpore's gradient API.

``import mindgrad`` loads the modules that gradients of operators need. The subpackages in ``_PACKAGES`` and
the names in ``_NAMES`` are loaded when they are first used (docs/decisions/0010-import.md).
"""

import sys as _sys
from importlib import import_module as _import_module
from typing import TYPE_CHECKING as _TYPE_CHECKING
from typing import Any as _Any

from mindgrad.core.base.collection import no_garbage as _no_garbage

with _no_garbage:  # garbage collection is off, because these imports load nearly all modules
    from mindgrad import common, context, ops
    from mindgrad.core import catalog as _catalog  # noqa: F401 - registers all primitives
from mindgrad._base.missing import explain_all as _explain_all
from mindgrad.api.autograd_function import AutogradFunction as _Function  # noqa: F401 - as in MindSpore
from mindgrad.api.gradient import get_grad, grad, value_and_grad
from mindgrad.api.hessian import ggnvp, hessian, hvp, vhp
from mindgrad.api.jacobian import jacfwd, jacobian, jacrev
from mindgrad.api.jit import JitConfig, jit, jit_class, lazy_inline, ms_function, no_inline
from mindgrad.api.jvp import jvp, linearize
from mindgrad.api.laplacian import biharmonic, directional_derivative, divergence, laplacian, second_order
from mindgrad.api.recompute import recompute
from mindgrad.api.taylor import derivative, jet, taylor
from mindgrad.api.vjp import vjp
from mindgrad.api.vmap import vmap
from mindgrad.cli import install
from mindgrad.common import dtype
from mindgrad.common.dtype import (
    DType,
    bfloat16,
    bool_,
    byte,
    cdouble,
    cfloat,
    complex64,
    complex128,
    double,
    dtype_to_nptype,
    dtype_to_pytype,
    float16,
    float32,
    float64,
    float_,
    get_py_obj_dtype,
    half,
    int8,
    int16,
    int32,
    int64,
    int_,
    intc,
    intp,
    long,
    pytype_to_dtype,
    short,
    single,
    ubyte,
    uint,
    uint8,
    uint16,
    uint32,
    uint64,
    uintc,
    uintp,
    ushort,
)
from mindgrad.common.generator import Generator, default_generator, initial_seed, manual_seed, seed
from mindgrad.common.parameter import Parameter, ParameterTuple
from mindgrad.common.seed import get_rng_state, get_seed, set_rng_state, set_seed
from mindgrad.common.sparse_tensor import COOTensor, CSRTensor, RowTensor, SparseTensor
from mindgrad.common.tensor import tensor
from mindgrad.context import (
    COMPATIBLE,
    GRAPH_MODE,
    LAX,
    PYNATIVE_MODE,
    STRICT,
    ParallelMode,
    get_auto_parallel_context,
    get_context,
    get_ps_context,
    reset_auto_parallel_context,
    reset_ps_context,
    set_auto_parallel_context,
    set_context,
    set_deterministic,
    set_device,
    set_ps_context,
    set_recursion_limit,
)
from mindgrad.core.backend.observers import OBSERVERS as _OBSERVERS
from mindgrad.core.base.location import FrozenValueWarning, ZeroGradientWarning
from mindgrad.core.base.refusal import CompileError
from mindgrad.core.ir.mutable import mutable
from mindgrad.core.ir.tensor import Tensor
from mindgrad.distributed.layouts import set_layout_recorder as _set_layout_recorder
from mindgrad.frontend.programs.cache import cache_info, clear_cache
from mindgrad.ops.dlpack import from_dlpack
from mindgrad.ops.introspection import is_tensor
from mindgrad.ops.storage import from_numpy, frombuffer

if _TYPE_CHECKING:
    from mindgrad import (  # noqa: F401
        amp,
        boost,
        communication,
        curvature,
        dataset,
        device_context,
        experimental,
        hal,
        log,
        mint,
        nn,
        numpy,
        parallel,
        profiler,
        runtime,
        scipy,
        tools,
        train,
        version,
    )
    from mindgrad.api.functional_call import functional_call
    from mindgrad.api.trees import ravel_pytree, tree_leaves, tree_map
    from mindgrad.common.installation import run_check  # noqa: F401
    from mindgrad.hal import *  # noqa: F403
    from mindgrad.inspect.check_finite import check_finite
    from mindgrad.inspect.check_grad import check_grad
    from mindgrad.inspect.draw import draw
    from mindgrad.inspect.explain import explain
    from mindgrad.inspect.source import source
    from mindgrad.ops.callback import pure_callback
    from mindgrad.parallel import (  # noqa: F401
        Layout,
        get_algo_parameters,
        reset_algo_parameters,
        set_algo_parameters,
        shard,
    )
    from mindgrad.profiler import Profiler  # noqa: F401
    from mindgrad.solvers.implicit import SolverInfo, argmin, custom_linear_solve, custom_root, fixed_point
    from mindgrad.solvers.ode import OdeInfo, odeint
    from mindgrad.train import *  # noqa: F403

#: subpackages that are imported at their first use
_PACKAGES = (
    "amp", "boost", "communication", "curvature", "dataset", "device_context", "experimental", "hal", "log",
    "mint", "nn", "numpy", "parallel", "profiler", "runtime", "scipy", "tools", "train", "version",
)  # fmt: skip
#: module -> names that are imported at their first use
_NAMES = {
    "mindgrad.api.functional_call": ("functional_call",),
    "mindgrad.api.trees": ("ravel_pytree", "tree_leaves", "tree_map"),
    "mindgrad.common.dtype": (
        "Int", "TensorType", "Type", "list_", "number", "string", "tensor_type", "tuple_", "type_none",
    ),
    "mindgrad.common.installation": ("run_check",),
    "mindgrad.ops.callback": ("pure_callback",),
    "mindgrad.ops.constant_blocks": ("_no_grad",),
    "mindgrad.solvers.implicit": (
        "SolverInfo", "argmin", "custom_linear_solve", "custom_root", "fixed_point",
    ),
    "mindgrad.solvers.ode": ("OdeInfo", "odeint"),
    "mindgrad.hal": (
        "Event", "Stream", "StreamCtx", "communication_stream", "current_stream", "default_stream",
        "empty_cache",
        "max_memory_allocated", "max_memory_reserved", "memory_allocated", "memory_reserved", "memory_stats",
        "memory_summary", "reset_max_memory_allocated", "reset_max_memory_reserved",
        "reset_peak_memory_stats",
        "set_cur_stream", "synchronize",
    ),
    "mindgrad.parallel": (
        "Layout", "get_algo_parameters", "reset_algo_parameters", "set_algo_parameters", "shard",
    ),
    "mindgrad.profiler": ("Profiler",),
    "mindgrad.inspect.check_finite": ("check_finite",),
    "mindgrad.inspect.check_grad": ("check_grad",),
    "mindgrad.inspect.draw": ("draw",),
    "mindgrad.inspect.explain": ("explain",),
    "mindgrad.inspect.source": ("source",),
    "mindgrad.train": (
        "AMP_BLACK_LIST", "AMP_WHITE_LIST", "Accuracy", "Callback", "CheckpointConfig",
        "BleuScore", "ConfusionMatrix", "ConfusionMatrixMetric", "CosineSimilarity", "DatasetHelper", "Dice",
        "HausdorffDistance", "MeanSurfaceDistance", "OcclusionSensitivity", "Perplexity", "ROC",
        "RootMeanSquareDistance", "auc", "DynamicLossScaleManager", "EarlyStopping",
        "EvaluationBase", "F1", "Fbeta",
        "FixedLossScaleManager", "History", "LambdaCallback", "LearningRateScheduler", "Loss",
        "LossMonitor", "LossScaleManager", "MAE", "MSE", "Metric", "Model", "ModelCheckpoint",
        "Precision", "ProgressBar", "Recall", "ReduceLROnPlateau", "RunContext", "SummaryCollector",
        "SummaryLandscape", "SummaryRecord",
        "TimeMonitor", "Top1CategoricalAccuracy", "Top5CategoricalAccuracy",
        "TopKCategoricalAccuracy", "auto_mixed_precision", "build_train_network",
        "connect_network_with_dataset",
        "ckpt_to_safetensors", "build_searched_strategy", "custom_mixed_precision", "data_sink",
        "export", "get_black_list", "latest_checkpoint",
        "get_metric_fn", "get_metrics", "get_white_list", "load", "load_checkpoint",
        "load_distributed_checkpoint", "merge_pipeline_strategys", "merge_sliced_parameter",
        "rank_list_for_transform", "transform_checkpoint_by_rank", "transform_checkpoints",
        "load_param_into_net", "names", "rearrange_inputs", "safetensors_to_ckpt",
        "save_checkpoint",
    ),
}  # fmt: skip
_LATER = {name: module for module, names in _NAMES.items() for name in names}

#: version of mindgrad. ``install`` makes the package look like MindSpore, and then sets ``__version__`` to a
#: version of MindSpore
_OWN_VERSION = __version__ = "0.1.0"

__all__ = [
    "COMPATIBLE", "GRAPH_MODE", "LAX", "PYNATIVE_MODE", "STRICT", "COOTensor", "CSRTensor",
    "CompileError", "DType", "FrozenValueWarning", "Generator", "JitConfig", "OdeInfo", "ParallelMode",
    "Parameter", "ParameterTuple", "RowTensor", "SolverInfo", "SparseTensor", "Tensor",
    "ZeroGradientWarning", "amp", "argmin", "bfloat16",
    "biharmonic", "bool_", "byte", "cache_info", "cdouble", "cfloat", "check_finite",
    "check_grad", "clear_cache", "common", "communication", "complex64", "complex128", "context",
    "custom_linear_solve", "custom_root", "dataset", "default_generator", "derivative",
    "directional_derivative", "divergence", "double", "draw", "dtype", "dtype_to_nptype",
    "dtype_to_pytype", "explain", "fixed_point", "float16", "float32", "float64", "float_", "from_dlpack",
    "from_numpy", "frombuffer", "functional_call", "get_auto_parallel_context", "get_context", "get_grad",
    "get_ps_context", "get_py_obj_dtype", "get_rng_state", "get_seed", "ggnvp", "grad", "half", "hessian",
    "hvp", "initial_seed", "install", "int8", "int16", "int32", "int64", "int_", "intc", "intp",
    "is_tensor", "jacfwd", "jacobian", "jacrev", "jet", "jit", "jit_class", "jvp", "laplacian",
    "lazy_inline", "linearize", "log", "long", "manual_seed", "ms_function", "mutable", "nn", "no_inline",
    "numpy", "odeint", "ops", "pure_callback", "pytype_to_dtype", "ravel_pytree", "recompute",
    "reset_auto_parallel_context", "reset_ps_context", "second_order", "seed",
    "set_auto_parallel_context", "set_context", "set_deterministic", "set_device", "set_ps_context",
    "set_recursion_limit", "set_rng_state", "set_seed", "short", "single", "source", "taylor", "tensor",
    "train", "tree_leaves", "tree_map", "ubyte", "uint", "uint8", "uint16", "uint32", "uint64", "uintc",
    "uintp", "ushort", "value_and_grad", "vhp", "vjp", "vmap",
]  # fmt: skip
__all__ = list(dict.fromkeys([*__all__, *_PACKAGES, *_LATER]))


def __getattr__(name: str) -> object:
    if name in _PACKAGES:
        return _import_module(f"mindgrad.{name}")  # the import sets the attribute of the package too
    if name in _LATER:
        value = globals()[name] = getattr(_import_module(_LATER[name]), name)
        return value
    if name in (
        "bool",
        "float",
        "int",
    ):  # these names are not in ``__all__``: a star import must not replace Python's types
        return getattr(_import_module("mindgrad.common.dtype"), name)
    module = _sys.modules[__name__]
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}", name=name, obj=module)


def _save_graph(*program: _Any) -> None:
    """Save a compiled program if ``save_graphs`` is set."""
    _import_module("mindgrad.inspect.saved_graphs").save(*program)


_OBSERVERS["save_graphs"] = _save_graph


def _record_layouts(*layouts: _Any) -> None:
    """Record how Parameters are divided among devices if a strategy file is set."""
    _import_module("mindgrad.distributed.strategy_file").record(*layouts)


_set_layout_recorder(_record_layouts)


def __dir__() -> list[str]:
    """List the public names, without internal subpackages (``docs/architecture.md``)."""
    return sorted({*__all__, *[name for name in globals() if name.startswith("__")]})


_explain_all()
