"""The protocol between the core and a compiler of graphs.

    compiled(G)(arrays) = G(arrays)

``jit`` traces a function to a graph and rewrites it. The registered :class:`Executor` runs the graph. By
default, XLA runs it if JAX is installed, and NumPy otherwise.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from importlib.util import find_spec
from typing import Any, Protocol

from mindgrad.core.backend.xla import compile_graph
from mindgrad.core.ir.evaluate import evaluate
from mindgrad.core.ir.graph import Graph
from mindgrad.core.passes.pipeline import before_compilation

__all__ = ["Executor", "NumPyExecutor", "XlaExecutor", "compiled", "register"]

#: function from a list of arrays, with the types of the graph's inputs, to the arrays of its outputs
Run = Callable[[Sequence[Any]], Sequence[Any]]


class Executor(Protocol):
    """A compiler of graphs."""

    def compiled(self, graph: Graph) -> Run:
        """Return ``graph`` as a function of arrays."""


class NumPyExecutor:
    """Evaluate graphs equation by equation with NumPy."""

    def compiled(self, graph: Graph) -> Run:
        """Return ``graph`` as a function of arrays."""
        return partial(evaluate, graph)


class XlaExecutor:
    """Compile graphs with XLA."""

    def compiled(self, graph: Graph) -> Run:
        """Return ``graph`` as a function of arrays."""
        return compile_graph(graph)


_executor: Executor | None = None


def register(executor: Executor | None) -> Executor | None:
    """Use ``executor`` for later compilations, and return the previous one.

    ``None`` stands for the default.
    """
    global _executor
    before, _executor = _executor, executor
    return before


def compiled(graph: Graph) -> Run:
    """Rewrite ``graph``, and return it as a function that the executor runs."""
    graph = before_compilation(graph)
    if _executor is not None:
        return _executor.compiled(graph)
    return (XlaExecutor() if _has_jax() else NumPyExecutor()).compiled(graph)


def _has_jax() -> bool:
    try:
        return find_spec("jax") is not None
    except ImportError:
        return False
