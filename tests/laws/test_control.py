"""The laws of branches and loops: values, derivatives of any order and mixture, batches, series, memory."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import jax
import numpy as np
import pytest

from mindgrad.backend.xla import compile_graph, lower_ahead
from mindgrad.control.while_ import while_
from mindgrad.core import settings
from mindgrad.core.dtype import float32, int32
from mindgrad.core.evaluate import evaluate
from mindgrad.core.graph import Constant, Graph
from mindgrad.core.primitive import REGISTRY
from mindgrad.core.types import tensor_type
from mindgrad.transforms.batch import batch
from mindgrad.transforms.forward import forward
from mindgrad.transforms.reverse import reverse
from mindgrad.transforms.taylor import taylor
from tests.laws.control_programs import PROGRAMS, ControlProgram, graph

BY_NAME = {program.name: program for program in PROGRAMS}
EVERY = pytest.mark.parametrize("name", BY_NAME)

# -- mixtures of modes: each as a transform of ours and as one of jax's ------------------------------

Arrays = Sequence[Any]
Run = Callable[..., Sequence[Any]]


def jax_forward(run: Run, active: Sequence[int], count: int) -> Run:
    def made(*operands: Any) -> Any:
        xs, ts = operands[:count], operands[count:]

        def of_active(*given: Any) -> Any:
            full = dict(enumerate(xs)) | dict(zip(active, given, strict=True))
            return tuple(run(*full.values()))

        ys, tangents = jax.jvp(of_active, tuple([xs[k] for k in active]), tuple(ts))
        return *ys, *map(_own_tangent, ys, tangents)

    return made


def _own_tangent(y: Any, t: Any) -> Any:
    """A tangent of the element type of its value, as ours are: jax gives those of integers another."""
    return np.zeros(y.shape, y.dtype) if t.dtype == jax.dtypes.float0 else t


def jax_reverse(run: Run, active: Sequence[int], count: int) -> Run:
    def made(*operands: Any) -> Any:
        xs, cts = operands[:count], operands[count:]

        def of_active(*given: Any) -> Any:
            full = dict(enumerate(xs)) | dict(zip(active, given, strict=True))
            return tuple(run(*full.values()))

        ys, pull = jax.vjp(of_active, *[xs[k] for k in active])
        cts = [
            ct if np.issubdtype(y.dtype, np.inexact) else np.zeros(y.shape, jax.dtypes.float0)
            for y, ct in zip(ys, cts, strict=True)
        ]
        return *ys, *pull(tuple(cts))

    return made


def mixture(program: ControlProgram, modes: str) -> tuple[Graph, Run]:
    """The program differentiated by the modes in turn (``"fr"``: forward over reverse), and so by jax."""
    made, run, active = program.graph, program.python, list(program.active)
    for mode in reversed(modes):
        count = len(made.inputs)
        ours, theirs = (forward, jax_forward) if mode == "f" else (reverse, jax_reverse)
        made, run = ours(made, active), theirs(run, active, count)
        # by everything that is real, what the transform added too
        active = [k for k, v in enumerate(made.inputs) if v.dtype.kind == "float"]
    return made, run


def operands_for(made: Graph, case: Arrays, seed: int = 0) -> list[np.ndarray]:
    """The operands of the program, and random tangents and cotangents."""
    generator = np.random.default_rng(seed)
    more = [
        np.asarray(generator.normal(size=v.shape)).astype(v.dtype.numpy) for v in made.inputs[len(case) :]
    ]
    return [*case, *more]


def distance(found: Arrays, wanted: Arrays) -> float:
    """The largest difference, relative to the size of the values where that is above one."""
    worst = 0.0
    for a, b in zip(found, wanted, strict=True):
        a, b = np.asarray(a), np.asarray(b)
        assert a.shape == b.shape
        if b.size:
            difference = np.abs(a.astype(float) - b.astype(float)).max()
            assert np.isfinite(difference)
            worst = max(worst, float(difference / max(1.0, np.abs(b).max())))
    return worst


def agrees(program: ControlProgram, modes: str, run: Callable[[Graph], Callable[[Arrays], Arrays]]) -> None:
    """A mixture of modes against jax's on every case."""
    with jax.enable_x64(True):
        made, oracle = mixture(program, modes)
        ours = run(made)
        for case in program.cases:
            operands = operands_for(made, case)
            wanted = [np.asarray(y) for y in oracle(*operands)]
            found = ours(operands)
            error = distance(found, wanted)
            assert error < 1e-8, f"{program.name}, modes {modes!r}, operands {case}: off by {error}"


def by_numpy(made: Graph) -> Callable[[Arrays], Arrays]:
    return lambda operands: evaluate(made, operands)


@EVERY
@pytest.mark.parametrize("modes", ["", "f", "r", "ff", "fr", "rf", "rr", "rfr"])
def test_numpy_agrees_with_jax(name: str, modes: str) -> None:
    agrees(BY_NAME[name], modes, by_numpy)


@EVERY
@pytest.mark.parametrize("modes", ["", "r", "fr", "rr"])
def test_compiled_agrees_with_jax(name: str, modes: str) -> None:
    agrees(BY_NAME[name], modes, compile_graph)
