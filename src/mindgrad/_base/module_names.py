"""Second names of modules map MindSpore's import paths to the modules of this package that hold their names.

Most of MindSpore's paths are paths here: ``mindspore.nn.layer.basic`` is ``mindgrad.nn.layer.basic``.
MindSpore divides some packages differently, and its programs import from the parts
(``mindspore.ops.function.nn_func``). Each such path is one entry of :data:`SECOND_NAMES`; importing it gives
the module named there itself.
"""

import sys
from collections.abc import Iterator
from types import ModuleType

__all__ = ["SECOND_NAMES", "loaded_second_names", "own_name"]

PACKAGE = __name__.partition(".")[0]

_PARTS: dict[str, tuple[str, str]] = {
    # own module: (MindSpore's package, the parts of it)
    "ops.functional": (
        "ops.function",
        "_add_attr_func array_func clip_func debug_func fft_func grad grad.grad_func image_func linalg_func "
        "math_func nn_func other_func parameter_func random_func spectral_func vmap_func",
    ),
    "ops.composite": ("ops.composite", "base math_ops"),
    "ops.operations": (
        "ops.operations",
        "control_ops custom_ops debug_ops image_ops inner_ops manually_defined manually_defined.ops_def "
        "sparse_ops spectral_ops _ocr_ops _quant_ops _thor_ops",
    ),
    "ops.auto_generate": ("ops.auto_generate", "gen_ops_def gen_ops_prim gen_extend_func"),
    "nn.layer": ("nn.layer", "channel_shuffle dense timedistributed thor_layer"),
    "nn.grad": ("nn.grad", "cell_grad"),
    "nn.optim": ("nn.optim", "adafactor adasum thor"),
    "nn.probability.distribution": (
        "nn.probability.distribution",
        "bernoulli beta categorical cauchy exponential gamma geometric gumbel half_normal laplace log_normal "
        "logistic normal poisson student_t transformed_distribution uniform",
    ),
    "nn.probability.bijector": (
        "nn.probability.bijector", "exp gumbel_cdf invert power_transform scalar_affine softplus",
    ),
    "nn.init_parameters": ("nn.utils", "init"),
    "nn.metrics": (
        "train.metrics",
        "accuracy auc bleu_score confusion_matrix cosine_similarity dice error fbeta hausdorff_distance loss "
        "mean_surface_distance metric occlusion_sensitivity perplexity precision recall roc "
        "root_mean_square_surface_distance topk",
    ),
    "numpy": ("numpy", "array_creations array_ops dtypes fft logic_ops math_ops"),
    "parallel": ("parallel", "algo_parameter_config shard"),
    "parallel.nn": ("parallel.nn", "parallel_cell_wrapper parallel_grad_reducer"),
    "profiler": ("profiler", "profiling envprofiling profiler"),
    "hal": ("hal", "device event memory stream"),
    "runtime": ("runtime", "device event memory stream"),
    "boost": (
        "boost",
        "adasum base boost boost_cell_wrapper dim_reduce grad_accumulation grad_freeze "
        "group_loss_scale_manager less_batch_normalization",
    ),
    "scipy": ("scipy", "fft ops"),
    "scipy.optimize": ("scipy.optimize", "_bfgs _lagrange _lbfgs line_search linear_sum_assignment minimize"),
    "train.callback": (
        "train.callback",
        "_backup_and_restore _checkpoint _cluster_monitor _dataset_graph _early_stop "
        "_flops_collector _history _lambda_callback _landscape _loss_monitor _lr_scheduler_callback "
        "_on_request_exit _reduce_lr_on_plateau _summary_collector _time_monitor _train_fault_tolerance",
    ),
    "train.summary": ("train.summary", "summary_record"),
    "train.train_thor": ("train.train_thor", "convert_utils dataset_helper model_thor"),
    "experimental.optim": (
        "experimental.optim", "adadelta adagrad adamax adamw asgd nadam radam rmsprop rprop",
    ),
}  # fmt: skip

_IMPL = [
    "add", "bitwise_and", "bitwise_or", "bitwise_xor", "div", "equal", "floordiv", "getitem",
    "greater_equal", "greater", "in", "invert", "left_shift", "less_equal", "less", "logical_and",
    "logical_not", "logical_or", "mod", "mul", "negative", "not_equal", "not_in", "ones_like",
    "pow", "right_shift", "setitem", "sub", "uadd", "zeros_like",
]  # fmt: skip

#: MindSpore's path of a module, below ``mindspore``: the path of the one that stands for it here
SECOND_NAMES: dict[str, str] = {
    "common.jit_config": "functional.jit",
    "common.lazy_inline": "functional.jit",
    "common.mutable": "core.mutable",
    "common.no_inline": "functional.jit",
    "common.recompute": "functional.recompute",
    "nn.utils": "nn.init_parameters",
    "ops.composite.multitype_ops": "ops.functional",
    "ops.function": "ops.functional",
    "ops.operations.comm_ops": "ops.operations.collective_ops",
    **{f"ops.composite.multitype_ops.{name}_impl": "ops.functional" for name in _IMPL},
    **{
        f"{package}.{part}": own
        for own, (package, parts) in _PARTS.items()
        for part in parts.split()
    },
}  # fmt: skip

# `from mindspore.ops.function import nn_func` asks the module itself, which knows its own name only
SECOND_NAMES.update(
    {
        f"{SECOND_NAMES[above]}.{part}": own
        for name, own in list(SECOND_NAMES.items())
        for above, _, part in [name.rpartition(".")]
        if above in SECOND_NAMES
    }
)


def own_name(name: str) -> str | None:
    """The full name of the module that ``name``, below this package, is a second name of.

    >>> from mindgrad._base.module_names import own_name
    >>> own_name("mindgrad.ops.function.nn_func"), own_name("mindgrad.ops.functional")
    ('mindgrad.ops.functional', None)
    """
    own = SECOND_NAMES.get(name.removeprefix(f"{PACKAGE}."))
    return None if own is None else f"{PACKAGE}.{own}"


def loaded_second_names() -> Iterator[tuple[str, ModuleType]]:
    """The second names, below this package, of modules that are loaded by now."""
    for name, own in SECOND_NAMES.items():
        module = sys.modules.get(f"{PACKAGE}.{own}")
        if module is not None:
            yield f"{PACKAGE}.{name}", module
