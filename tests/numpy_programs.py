"""Programs of most tests are evaluated with NumPy: traced, transformed and rewritten as ever, and not handed to XLA.

The laws of the rows hold their kernels equal to their lowerings, so that what a test says about a program, XLA need
not say again: it takes most of the time of a test that compiles. It still compiles the programs of every sixteenth test,
of those that are marked ``xla`` because they are about it, of all with ``TEST_THOROUGH=1``, and of all where
``XLA_FLAGS`` names other options than the tests choose.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from mindgrad.core.backend import xla
from mindgrad.core.backend.executable import Executable
from mindgrad.core.ir.evaluate import evaluate
from mindgrad.core.ir.graph import Graph
from mindgrad.distributed.device_mesh import Placement
from mindgrad.eager import segments
from mindgrad.frontend.programs import program
from mindgrad.frontend.programs.cache import clear_cache
from tests.thorough import THOROUGH

__all__ = ["compile_ahead", "evaluated_ahead", "is_sample", "select"]

compile_ahead = xla.compile_ahead


def is_sample(test: str) -> bool:
    """Whether XLA compiles the programs of the test with this identifier, although it is not about XLA."""
    return THOROUGH or zlib.crc32(test.encode()) % 16 == 3


def evaluated_ahead(
    graph: Graph,
    donated: Sequence[int] = (),
    is_exact: bool = False,
    placement: Placement | None = None,
    pending_results: int = 0,
) -> Executable:
    """What ``compile_ahead`` gives, run by the kernels of the rows; XLA gets programs with effects or several devices."""
    if graph.has_effect or placement is not None:
        return compile_ahead(graph, donated, is_exact, placement, pending_results)
    places = [*[k for k in range(len(graph.inputs)) if k not in donated], *donated]

    def run(arrays: Sequence[Any], given: Sequence[Any], _: Sequence[Any]) -> list[Any]:
        operands: list[Any] = [None] * len(places)
        for place, operand in zip(places, [*arrays, *given], strict=True):
            operands[place] = np.asarray(operand)
        # a kernel may give back its operand, and jax may use the memory of what it gets
        return [xla.to_device(np.array(result)) for result in evaluate(graph, operands)]

    return Executable(run, ())


def select(executor: Callable[..., Executable]) -> None:
    """Let this executor run the programs that are compiled from now on, and forget those of another one."""
    if program.compile_ahead is not executor:
        clear_cache()
        program.compile_ahead = segments.compile_ahead = executor
