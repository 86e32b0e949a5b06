"""Programs as they are compiled, evaluated with NumPy: traced, transformed and rewritten, and not handed to XLA."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from mindgrad import Tensor
from mindgrad.core.base.tree import flatten, unflatten
from mindgrad.core.ir.evaluate import evaluate
from mindgrad.core.ir.tensor import make_tensor
from mindgrad.core.passes.pipeline import before_compilation
from mindgrad.frontend.tracing import trace_of

__all__ = ["evaluated"]


def evaluated(function: Callable[..., Any]) -> Callable[..., Any]:
    """``function`` as ``jit`` has it, but for XLA; its results, no side effects. One program for each signature."""
    programs: dict[Any, tuple[Any, Any]] = {}

    def call(*args: Any) -> Any:
        leaves, structure = flatten((args, {}))
        tensors = [x for x in leaves if isinstance(x, Tensor)]
        key = (structure, *[x.type if isinstance(x, Tensor) else x for x in leaves])
        if key not in programs:
            traced = trace_of(function, leaves, structure)
            programs[key] = traced, before_compilation(traced.graph)
        traced, graph = programs[key]
        arrays = [x.asnumpy() for x in (*tensors, *traced.parameters)]
        results = iter(evaluate(graph, arrays)[len(traced.written) :])
        known = [make_tensor(next(results)) if isinstance(x, Tensor) else x for x in traced.results]
        return unflatten(traced.structure, known)

    return call
