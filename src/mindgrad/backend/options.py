"""Compile options of XLA are chosen for each program.

On a GPU, XLA compiles and times many Triton kernels for each product of matrices before it chooses one. For
float32 products in full precision, which mindgrad requests, this search takes 5 to 20 s for programs that
compile in 0.5 to 1.1 s with cuBLAS, and the compiled programs take 0.93 to 1.12 times as long with cuBLAS
(``bench/results/2026-11-26-nvidia-h200.md``). So Triton is not used for products.

XLA's CPU compiler gives sums and maxima to a library of kernels (YNNPACK) unless it is told not to. Those
kernels are up to six times faster than XLA's own where much is reduced to little, and up to fifty times
slower where little is: sums over the last axis of a few elements, as in distances of particles, and, before
jaxlib 0.11, sums over the first axis whose result is wide, as in the sums over directions of a Laplacian. So
a program is compiled without them where it has more to lose than to win; the kernels for products of
matrices and convolutions always stay. The measurements are in ``docs/decisions/0011-compile-options.md``.

No option changes what a program means: results differ by the order of additions. An option that jaxlib does
not know is dropped for the rest of the process.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from mindgrad.backend.jax_import import jax_module
from mindgrad.control.trip_counts import runs
from mindgrad.ir.cost_model import costs
from mindgrad.ir.graph import Equation, Graph
from mindgrad.ir.index_map import REDUCED, index_map

__all__ = ["compiled_with", "kernel_options", "options_of"]

_FUSIONS = "xla_cpu_experimental_ynn_fusion_type"
#: all kinds of kernels that are on by default but those of reductions
_WITHOUT_REDUCTIONS = {
    _FUSIONS: "LIBRARY_FUSION_TYPE_INDIVIDUAL_DOT,LIBRARY_FUSION_TYPE_INDIVIDUAL_CONVOLUTION"
}

#: products of matrices by cuBLAS instead of Triton kernels
_GPU = {"xla_gpu_enable_triton_gemm": "False"}

_REPAIRED = (0, 11)

#: options that the jaxlib at hand was found not to know
_unknown: set[str] = set()


def options_of(graph: Graph, device: Any) -> dict[str, str]:
    """The options for a program on a jax device (``None``: the CPU)."""
    if device is not None and device.platform != "cpu":
        return dict(_GPU) if device.platform == "gpu" else {}
    saved = sum(run.times * _saved(run.equation) for run in runs(graph, costs().assumed_trips))
    return dict(_WITHOUT_REDUCTIONS) if saved < -costs().option_nanoseconds else {}


@lru_cache(maxsize=4)
def kernel_options(device: Any) -> dict[str, str]:
    """The options for single operators on a jax device, as far as its compiler knows them."""
    if getattr(device, "platform", "cpu") != "gpu":
        return {}
    jax = jax_module()
    with jax.default_device(device):
        compiled_with(jax.jit(lambda x: x + 1).lower(1.0), _GPU)
    return {name: value for name, value in _GPU.items() if name not in _unknown}


def compiled_with(lowered: Any, options: Mapping[str, str]) -> Any:
    """Compile what jax lowered, without the options that its compiler does not know.

    jax names an unknown option before it compiles anything, so that nothing is compiled twice.
    """
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
    """Nanoseconds that the library's kernel saves in one run of an equation."""
    axes = _reduced_axes(equation)
    shape = equation.inputs[0].shape if axes else ()
    size = math.prod(shape)
    if not size or not axes:
        return 0.0
    before, behind = math.prod(shape[: min(axes)]), math.prod(shape[max(axes) + 1 :])
    width = behind * equation.inputs[0].type.dtype.itemsize
    if before == 1 and width > costs().wide_bytes and _version() < _REPAIRED:
        return size * costs().kernel_saves_wide
    if 1 < behind < costs().narrow_results:
        return size * costs().kernel_saves_narrow
    return size * (
        costs().kernel_saves_few
        if math.prod(shape[axis] for axis in axes) <= costs().few_terms
        else costs().kernel_saves
    )


def _reduced_axes(equation: Equation) -> list[int]:
    """The axes of a reduction of numbers, for which the library has kernels; none of another operator."""
    if len(equation.inputs) != 1 or equation.primitive.jvp is None:
        return []
    axes = index_map(equation)
    return [] if axes is None else [k for k, x in enumerate(axes.operands[0]) if axes.kind(x) == REDUCED]


@lru_cache(maxsize=1)
def _version() -> tuple[int, ...]:
    jax = jax_module()  # whose jaxlib is of the same version
    return tuple(int(part) for part in jax.__version__.split(".")[:2])
