"""Second names of modules: MindSpore's import paths that have no file in mindgrad.

Most import paths are the same: ``mindspore.nn.layer.basic`` is ``mindgrad.nn.layer.basic``. However,
MindSpore divides some packages into different modules, and programs import these modules, for example
``mindspore.ops.function.nn_func``. :data:`SECOND_NAMES` maps each such path to a module of mindgrad.
Importing the path returns this module.
"""

import sys
from collections.abc import Iterator
from types import ModuleType

__all__ = ["SECOND_NAMES", "loaded_second_names", "own_name"]

PACKAGE = __name__.partition(".")[0]

_PARTS: dict[str, tuple[str, str]] = {
    # maps each module of mindgrad to a pair: a package of MindSpore, and the modules in this package that
    # mindgrad's module replaces
    "boost": ("boost", "adasum base boost boost_cell_wrapper dim_reduce grad_accumulation grad_freeze"),
    "experimental.optim": ("experimental.optim", "adamw"),
    "hal": ("hal", "device event memory stream"),
    "nn.grad": ("nn.grad", "cell_grad"),
    "nn.init_parameters": ("nn.utils", "init"),
    "nn.layer": ("nn.layer", "channel_shuffle dense timedistributed"),
    "nn.metrics": (
        "train.metrics", "accuracy confusion_matrix error fbeta loss metric precision recall topk",
    ),
    "nn.optim.ada_grad": ("nn.optim", "adadelta ftrl proximal_ada_grad rmsprop"),
    "nn.optim.adam": ("nn.optim", "adamax lamb lazyadam"),
    "nn.optim.sgd": ("nn.optim", "asgd momentum rprop"),
    "nn.probability.bijector": (
        "nn.probability.bijector", "exp gumbel_cdf invert power_transform scalar_affine softplus",
    ),
    "nn.probability.distribution": (
        "nn.probability.distribution",
        "bernoulli beta categorical cauchy exponential gamma geometric gumbel half_normal laplace log_normal "
        "logistic normal poisson student_t transformed_distribution uniform",
    ),
    "numpy": ("numpy", "array_creations array_ops dtypes logic_ops math_ops"),
    "ops.auto_generate": ("ops.auto_generate", "gen_extend_func gen_ops_def gen_ops_prim"),
    "ops.composite": ("ops.composite", "base math_ops"),
    "ops.functional": (
        "ops.function",
        "array_func clip_func debug_func fft_func grad grad.grad_func image_func linalg_func math_func "
        "nn_func other_func parameter_func random_func spectral_func vmap_func",
    ),
    "ops.operations": (
        "ops.operations", "debug_ops image_ops inner_ops manually_defined spectral_ops",
    ),
    "parallel": ("parallel", "algo_parameter_config shard"),
    "parallel.nn": ("parallel.nn", "parallel_cell_wrapper parallel_grad_reducer"),
    "profiler": ("profiler", "envprofiling profiler profiling"),
    "scipy.optimize": ("scipy.optimize", "line_search linear_sum_assignment minimize"),
    "train.callback": (
        "train.callback",
        "_checkpoint _early_stop _history _lambda_callback _landscape _loss_monitor _lr_scheduler_callback "
        "_reduce_lr_on_plateau _summary_collector _time_monitor",
    ),
    "train.summary": ("train.summary", "summary_record"),
    "train.train_thor": ("train.train_thor", "convert_utils"),
}  # fmt: skip

#: maps the path of a module below ``mindspore`` to the path of the corresponding module below ``mindgrad``
SECOND_NAMES: dict[str, str] = {
    "_extends.parse": "_extends",
    "common.jit_config": "api.jit",
    "common.lazy_inline": "api.jit",
    "common.mutable": "core.ir.mutable",
    "common.no_inline": "api.jit",
    "common.recompute": "api.recompute",
    "device_context.cpu.op_tuning": "device_context.cpu_tuning",
    "nn.utils": "nn.init_parameters",
    "nn.transformer": "parallel._transformer",
    "numpy.utils": "numpy.coercion",
    "ops.composite.multitype_ops": "ops.functional",
    "ops.function": "ops.functional",
    "ops.operations.comm_ops": "ops.operations.collective_ops",
    "ops.composite.multitype_ops.zeros_like_impl": "ops.functional",
    **{
        f"{package}.{part}": own
        for own, (package, parts) in _PARTS.items()
        for part in parts.split()
    },
}  # fmt: skip

# add paths below ``ops.function``. mindgrad's module for `mindspore.ops.function` has a different name, and
# the import of `mindspore.ops.function.nn_func` also searches below this name
SECOND_NAMES.update(
    {
        f"{SECOND_NAMES[above]}.{part}": own
        for name, own in list(SECOND_NAMES.items())
        for above, _, part in [name.rpartition(".")]
        if above in SECOND_NAMES
    }
)


def own_name(name: str) -> str | None:
    """Return the full name of the module whose second name is ``name``, or ``None``.

    >>> from mindgrad._base.module_names import own_name
    >>> own_name("mindgrad.ops.function.nn_func"), own_name("mindgrad.ops.functional")
    ('mindgrad.ops.functional', None)
    """
    own = SECOND_NAMES.get(name.removeprefix(f"{PACKAGE}."))
    return None if own is None else f"{PACKAGE}.{own}"


def loaded_second_names() -> Iterator[tuple[str, ModuleType]]:
    """Yield the second names of all loaded modules, each with its module."""
    for name, own in SECOND_NAMES.items():
        module = sys.modules.get(f"{PACKAGE}.{own}")
        if module is not None:
            yield f"{PACKAGE}.{name}", module
