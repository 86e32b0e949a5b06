"""MindSpore's execution modes: compile whole functions, or run single operators."""

from __future__ import annotations

from mindgrad.core.base.refusal import hints
from mindgrad.core.ir import settings

__all__ = ["GRAPH_MODE", "PYNATIVE_MODE", "is_graph_mode"]

GRAPH_MODE = 0
PYNATIVE_MODE = 1

settings.define("mode", PYNATIVE_MODE)

# fixes of the upper packages in messages of the core, which names only its own functions
hints.update({
    "value": " Or use functions of mindgrad.ops, call NumPy code with mindgrad.pure_callback, or run in "
    "PYNATIVE_MODE: set_context(mode=PYNATIVE_MODE).",
    "DLPack": " Or use mindgrad.from_dlpack(x), which does not move the array to another device.",
    "NumPy": ", call it with ms.pure_callback(fn, result, x)",
    "condition": " Or write a loop with 'if' in the function itself, or run in PYNATIVE_MODE.",
    "functions": " or mindgrad.ops",
    "slices": " Or use ops.slice(x, begin, size), or run in PYNATIVE_MODE.",
    "masks": " Or use ops.masked_fill, or run in PYNATIVE_MODE. On x[mask] itself, a compiled function can "
    "call elementwise operators and sum, mean, prod, max, min, norm, std, var, any, and all.",
    "debug_nans": " Or run in PYNATIVE_MODE.",
    "fork": " Without jit, functions must run in PYNATIVE_MODE.",
    "hooks": " Or use ops.InsertGradientOf(f), whose function is differentiated.",
    "NaN": " Or call set_context(debug_nans=False).",
    "callbacks": " Or write the derivative: call it in a Cell that has a method bprop(self, *inputs, out, "
    "dout), or in a function with custom_vjp.",
})  # fmt: skip


def is_graph_mode() -> bool:
    """Return whether mindgrad compiles whole functions and Cells (``GRAPH_MODE``)."""
    return settings.options["mode"] == GRAPH_MODE
