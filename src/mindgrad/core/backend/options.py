"""Choose the compile options of XLA for each graph.

**Matrix products on a GPU.** XLA compiles and times many Triton kernels for each matrix product before it
chooses one. mindgrad requests float32 products in full precision. For such products, the search takes 5 to 20
s, in functions that compile in 0.5 to 1.1 s with the cuBLAS library. With cuBLAS, a call of the compiled
function takes between 0.93 and 1.12 times as long as with Triton
(``bench/results/2026-11-26-nvidia-h200.md``). mindgrad therefore disables Triton for matrix products.

**Reductions on a CPU.** By default, XLA uses the kernel library YNNPACK for sums and maxima. Its kernels are
up to 6× faster than the code of XLA if many elements are reduced to few results. They are up to 50× slower in
two cases. The first is a sum over a short last axis, as in distances between particles. The second, before
jaxlib 0.11, is a sum over the first axis with a wide result, as in the sum over directions of a Laplacian. A
graph is compiled without kernels for reductions if the estimated loss of time exceeds the gain. Kernels for
matrix products and convolutions are always used. For the measurements, see
``docs/decisions/0011-compile-options.md``.

The options affect results only through the order of additions. An option that jaxlib does not support is
dropped for the rest of the process.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from mindgrad.core.backend.jax_import import jax_module
from mindgrad.core.control.trip_counts import runs
from mindgrad.core.ir.cost_model import costs
from mindgrad.core.ir.graph import Equation, Graph
from mindgrad.core.ir.index_map import REDUCED, index_map

__all__ = ["compiled_with", "kernel_options", "options_of"]

_FUSIONS = "xla_cpu_experimental_ynn_fusion_type"
#: XLA options for CPUs: use kernels of the YNNPACK library for matrix products and convolutions, but not for
#: reductions
_WITHOUT_REDUCTIONS = {
    _FUSIONS: "LIBRARY_FUSION_TYPE_INDIVIDUAL_DOT,LIBRARY_FUSION_TYPE_INDIVIDUAL_CONVOLUTION"
}

#: XLA option for GPUs: use cuBLAS for matrix products instead of Triton kernels
_GPU = {"xla_gpu_enable_triton_gemm": "False"}

#: first version of JAX and jaxlib that is fast at sums over the first axis with large results
_REPAIRED = (0, 11)

#: compile options that the installed jaxlib has rejected; they are not passed again
_unknown: set[str] = set()


def options_of(graph: Graph, device: Any) -> dict[str, str]:
    """Return the compile options of XLA for ``graph``.

    ``device`` is the JAX device; ``None`` means the CPU.
    """
    if device is not None and device.platform != "cpu":
        return dict(_GPU) if device.platform == "gpu" else {}
    saved = sum(run.times * _saved(run.equation) for run in runs(graph, costs().assumed_iterations))
    return dict(_WITHOUT_REDUCTIONS) if saved < -costs().option_nanoseconds else {}


@lru_cache(maxsize=4)
def kernel_options(device: object) -> dict[str, str]:
    """Return the compile options of single operators, without unsupported options."""
    if getattr(device, "platform", "cpu") != "gpu":
        return {}
    jax = jax_module()
    with jax.default_device(device):
        compiled_with(jax.jit(lambda x: x + 1).lower(1.0), _GPU)
    return {name: value for name, value in _GPU.items() if name not in _unknown}


def compiled_with(lowered: Any, options: Mapping[str, str]) -> Any:
    """Compile a lowered object of JAX, with the ``options`` that jaxlib supports."""
    while True:
        supported = {name: value for name, value in options.items() if name not in _unknown}
        try:
            return lowered.compile(compiler_options=supported) if supported else lowered.compile()
        except Exception as error:
            named = [name for name in supported if name in str(error)]
            if not named or "option" not in str(error):
                raise
            _unknown.update(named)


def _saved(equation: Equation) -> float:
    """Return the nanoseconds that a YNNPACK kernel saves per run of ``equation``.

    The result is negative if the code of XLA is faster.
    """
    axes = _reduced_axes(equation)
    shape = equation.inputs[0].shape if axes else ()
    size = math.prod(shape)
    if not size or not axes:
        return 0.0
    before, behind = math.prod(shape[: min(axes)]), math.prod(shape[max(axes) + 1 :])
    width = behind * equation.inputs[0].type.dtype.itemsize
    if before == 1 and width > costs().wide_bytes and jax_module().__version_info__ < _REPAIRED:
        return size * costs().kernel_saves_wide
    if 1 < behind < costs().narrow_results:
        return size * costs().kernel_saves_narrow
    return size * (
        costs().kernel_saves_few
        if math.prod(shape[axis] for axis in axes) <= costs().few_terms
        else costs().kernel_saves
    )


def _reduced_axes(equation: Equation) -> list[int]:
    """Return the reduced axes of ``equation``; ``[]`` if YNNPACK does not support it."""
    if len(equation.inputs) != 1 or equation.primitive.jvp is None:
        return []
    axes = index_map(equation)
    return [] if axes is None else [k for k, x in enumerate(axes.operands[0]) if axes.kind(x) == REDUCED]
