"""How a jax program is made, awaited and read."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import jax
import numpy as np
from job import Job

PyTree = Any


def arrays(result: PyTree) -> list[np.ndarray]:
    """The leaves of a result."""
    return [np.asarray(leaf) for leaf in jax.tree_util.tree_leaves(result)]


def wait(result: PyTree) -> None:
    """Block until every leaf is computed."""
    jax.block_until_ready(result)


def job(function: Callable[..., Any], *arguments: PyTree) -> Job:
    """Calls of the jitted function."""
    jitted = jax.jit(function)
    return Job(lambda: jitted(*arguments), wait, arrays, program=(function, *arguments))


def with_temporary(task: Job) -> Job:
    """The same job, with the bytes that a call needs besides its arguments and results as a fact."""
    function, *arguments = task.program

    def facts() -> dict[str, float]:
        compiled = jax.jit(function).lower(*arguments).compile()
        return {"temporary": float(compiled.memory_analysis().temp_size_in_bytes)}

    task.facts = facts
    return task


def build(program: Callable[[], tuple[Any, ...]]) -> Job:
    """Tracing and lowering, of a new function each time: what jax remembers of one must be made again."""

    def begin() -> tuple[Any, list[PyTree]]:
        function, *arguments = program()
        return jax.jit(lambda *arguments: function(*arguments)), arguments

    def make() -> dict[str, float]:
        function, arguments = begin()
        start = time.perf_counter()
        traced = function.trace(*arguments)
        middle = time.perf_counter()
        traced.lower()
        return {"trace": middle - start, "lower": time.perf_counter() - middle}

    def facts() -> dict[str, float]:
        function, arguments = begin()
        return {"equations": equations(function.trace(*arguments).jaxpr.jaxpr)}

    return Job(make, wait, None, timed_by_itself=True, facts=facts)


def equations(program: Any) -> int:
    """The equations of a jaxpr; one that holds another jaxpr (a call) counts as what it holds."""
    total = 0
    for equation in program.eqns:
        inner = [
            getattr(leaf, "jaxpr", leaf)
            for leaf in jax.tree_util.tree_leaves(
                list(equation.params.values()), is_leaf=lambda leaf: hasattr(leaf, "eqns")
            )
            if hasattr(leaf, "eqns")
        ]
        total += sum(map(equations, inner)) if inner else 1
    return total
