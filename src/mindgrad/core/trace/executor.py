"""The protocol between the core and a compiler of graphs.

    compiled(G)(arrays) = G(arrays)

``jit`` traces a function to a graph and rewrites the graph. The registered :class:`Executor` then compiles or
interprets it. The default executor uses XLA if JAX is installed, and NumPy otherwise.
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

#: a graph as a function: it receives one array for each input, and returns one array for each output
Run = Callable[[Sequence[Any]], Sequence[Any]]


class Executor(Protocol):
    """Protocol of compilers and interpreters of graphs."""

    def compiled(self, graph: Graph) -> Run:
        """Return ``graph`` as a function of arrays."""


class NumPyExecutor:
    """Executor that evaluates graphs with NumPy, one equation at a time."""

    def compiled(self, graph: Graph) -> Run:
        """Return ``graph`` as a function of arrays."""
        return partial(evaluate, graph)


class XlaExecutor:
    """Executor that compiles graphs with XLA."""

    def compiled(self, graph: Graph) -> Run:
        """Return ``graph`` as a function of arrays."""
        return compile_graph(graph)


_executor: Executor | None = None


def register(executor: Executor | None) -> Executor | None:
    """Use ``executor`` for later compilations, and return the previous executor.

    ``None`` selects the default executor.
    """
    global _executor
    before, _executor = _executor, executor
    return before


def compiled(graph: Graph) -> Run:
    """Rewrite ``graph``, and return it as a function of arrays that the executor runs."""
    graph = before_compilation(graph)
    if _executor is not None:
        return _executor.compiled(graph)
    return (XlaExecutor() if _has_jax() else NumPyExecutor()).compiled(graph)


def _has_jax() -> bool:
    try:
        return find_spec("jax") is not None
    except ImportError:
        return False
