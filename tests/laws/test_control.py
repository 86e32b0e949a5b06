"""The laws of branches and loops: values, derivatives of any order and mixture, batches, series, memory."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import jax
import numpy as np
import pytest

from mindgrad.core.backend.xla import compile_graph, lower_ahead
from mindgrad.core.control.while_ import while_
from mindgrad.core.ir import settings
from mindgrad.core.ir.build import current
from mindgrad.core.ir.dtype import float32, float64, int32
from mindgrad.core.ir.evaluate import evaluate
from mindgrad.core.ir.graph import Constant, Graph
from mindgrad.core.ir.primitive import REGISTRY
from mindgrad.core.ir.types import tensor_type, type_of
from mindgrad.core.transforms.batch import batch
from mindgrad.core.transforms.forward import forward
from mindgrad.core.transforms.reverse import reverse
from mindgrad.core.transforms.taylor import taylor
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


#: wide enough for a loop of loops, and the default
SLOTS = (2, 1024)


@contextmanager
def slots(count: int) -> Iterator[None]:
    """Loops save at most so many carries."""
    before = settings.get("checkpoint_slots")
    settings.store("checkpoint_slots", count)
    try:
        yield
    finally:
        settings.store("checkpoint_slots", before)


def agrees(program: ControlProgram, modes: str, compiled: bool = False) -> None:
    """A mixture of modes against jax's on every case."""
    made, oracle = mixture(program, modes)
    run = compile_graph(made) if compiled else None
    for case in program.cases:
        operands = operands_for(made, case)
        with jax.enable_x64(True):
            wanted = [np.asarray(y) for y in oracle(*operands)]
        found = [evaluate(made, operands), *([run(operands)] if run else [])]
        for executor, values in zip(("NumPy", "XLA"), found, strict=False):
            error = distance(values, wanted)
            assert error < 1e-8, (
                f"{program.name}, modes {modes!r}, {executor}, operands {case}: off by {error}"
            )


@EVERY
@pytest.mark.parametrize("modes", ["f", "ff", "fr", "rf", "rfr"])
def test_derivatives_agree_with_jax(name: str, modes: str) -> None:
    agrees(BY_NAME[name], modes)


@EVERY
@pytest.mark.parametrize("modes", ["", "r", "rr"])
def test_compiled_derivatives_agree_with_jax(name: str, modes: str) -> None:
    agrees(BY_NAME[name], modes, compiled=True)


# -- batches ---------------------------------------------------------------------------------------


def varied(operand: np.ndarray, generator: np.random.Generator, size: int) -> np.ndarray:
    """``size`` operands like this one, that take other branches and numbers of iterations."""
    if operand.dtype == bool:
        return generator.random((size, *operand.shape)) < 0.5
    if operand.dtype.kind == "i":
        return generator.integers(0, 5, (size, *operand.shape)).astype(operand.dtype)
    return operand * generator.uniform(0.4, 1.6, (size, *operand.shape))


def batched_is_stacked(program: ControlProgram, modes: str, which: str, seed: int) -> None:
    """Element b of the batched program is the program on element b."""
    size = 3
    made, _ = mixture(program, modes)
    generator = np.random.default_rng(seed)
    operands = operands_for(made, program.cases[-1], seed)
    axes: list[int | None] = []
    batched = []
    for k, operand in enumerate(operands):
        added = k >= len(program.graph.inputs)
        chosen = {"all": True, "operands": not added, "tangents": added, "some": generator.random() < 0.5}[
            which
        ]
        axis = int(generator.integers(0, operand.ndim + 1)) if chosen else None
        axes.append(axis)
        batched.append(operand if axis is None else np.moveaxis(varied(operand, generator, size), 0, axis))
    found = evaluate(batch(made, axes, size), batched)
    for b in range(size):
        one = [x if axis is None else np.take(x, b, axis=axis) for x, axis in zip(batched, axes, strict=True)]
        wanted = evaluate(made, one)
        error = distance([y[b] for y in found], wanted)
        assert error < 1e-8, f"{program.name}, modes {modes!r}, axes {axes}: element {b} off by {error}"


@EVERY
@pytest.mark.parametrize("which", ["all", "some"])
def test_a_batch_is_stacked(name: str, which: str) -> None:
    for seed in range(3):
        batched_is_stacked(BY_NAME[name], "", which, seed)


@EVERY
@pytest.mark.parametrize("which", ["all", "operands", "tangents", "some"])
@pytest.mark.parametrize("modes", ["r", "fr"])
def test_a_batch_of_derivatives_is_stacked(name: str, which: str, modes: str) -> None:
    batched_is_stacked(BY_NAME[name], modes, which, 1)


@EVERY
def test_derivatives_of_a_batch_are_stacked(name: str) -> None:
    """Reverse mode of the batched program: no garbage of elements that have ended leaks."""
    program = BY_NAME[name]
    axes = [0] * len(program.graph.inputs)
    made = reverse(batch(program.graph, axes, 3), program.active)
    one = reverse(program.graph, program.active)
    operands = [varied(x, np.random.default_rng(4), 3) for x in program.cases[-1]]
    operands = operands_for(made, operands)
    found = evaluate(made, operands)
    for b in range(3):
        error = distance([y[b] for y in found], evaluate(one, [x[b] for x in operands]))
        assert error < 1e-8, f"{name}: element {b} off by {error}"


# -- series ----------------------------------------------------------------------------------------


def taylor_is_nested_forward(program: ControlProgram, modes: str, order: int) -> None:
    """Coefficient k is the k-th derivative along the series, divided by k!, by nested forward mode.

    Forward mode of ``x(s)`` in ``s`` at the powers of ``s``: pushing ``(x_1, 2 x_2, …)`` k times.
    """
    made, _ = mixture(program, modes)
    active = [k for k, v in enumerate(made.inputs) if v.dtype.kind == "float"]
    series = taylor(made, active, order)
    for case in program.cases:
        operands = operands_for(made, case)
        coefficients = operands_for(series, operands, seed=3)[len(operands) :]
        found = evaluate(series, [*operands, *coefficients])
        wanted = along_a_series(made, active, order, operands, coefficients)
        error = distance(found, wanted)
        assert error < 1e-8, f"{program.name}, modes {modes!r}, operands {case}: off by {error}"


def along_a_series(
    made: Graph, active: Sequence[int], order: int, operands: Arrays, coefficients: Arrays
) -> list[Any]:
    """The coefficients by nested forward mode of ``s ↦ G(Σ_k x_k sᵏ)`` at ``s = 0``."""

    def of_s(s: Any, *given: Any) -> list[Any]:
        xs, cs = list(given[: len(operands)]), given[len(operands) :]
        for at, k in enumerate(active):
            shape = xs[k].shape
            power = s
            for j in range(order):
                spread = REGISTRY["broadcast_in_dim"](power, shape=shape, dims=()) if shape else power
                xs[k] = xs[k] + spread * cs[at * order + j]
                power = power * s
        return current().inline(made, xs)

    scalar = tensor_type(float64, ())
    types = [scalar, *[type_of(np.asarray(x)) for x in (*operands, *coefficients)]]
    nested = graph(of_s, *types)
    count = len(made.outputs)
    values = [np.asarray(0.0), *operands, *coefficients]
    listed = [evaluate(nested, values)]
    factorial = 1
    for k in range(1, order + 1):
        nested = forward(nested, [0])
        # the direction is one, and the tangents of the tangents alone are the next derivative
        only = Graph(nested.inputs, nested.equations, nested.outputs[-count:])
        nested = graph(
            lambda *xs, only=only: current().inline(only, [*xs, Constant(np.float64(1.0))]), *types
        )
        factorial *= k
        listed.append([y / factorial for y in evaluate(nested, values)])

    return [*listed[0], *[listed[k][at] for at in range(count) for k in range(1, order + 1)]]


@EVERY
@pytest.mark.parametrize("modes", ["", "f", "r"])
def test_series_are_nested_forward_mode(name: str, modes: str) -> None:
    taylor_is_nested_forward(BY_NAME[name], modes, 3 if modes == "" else 2)


# -- two laws that need no oracle -----------------------------------------------------------------


def forward_is_finite_difference(program: ControlProgram) -> None:
    """Forward mode against a central difference."""
    made = forward(program.graph, program.active)
    count = len(program.graph.outputs)
    for case in program.cases:
        operands = operands_for(made, case)
        directions = dict(zip(program.active, operands[len(case) :], strict=True))
        found = evaluate(made, operands)[count:]
        step = 1e-6
        ahead, behind = (
            evaluate(
                program.graph, [x + s * directions[k] if k in directions else x for k, x in enumerate(case)]
            )
            for s in (step, -step)
        )
        wanted = [
            (a - b) / (2 * step) if a.dtype.kind == "f" else np.zeros_like(a)
            for a, b in zip(ahead, behind, strict=True)
        ]
        assert distance(found, wanted) < 1e-6, f"{program.name}, operands {case}"


def reverse_is_transposed_forward(program: ControlProgram, modes: str) -> None:
    """⟨ct, J t⟩ = ⟨Jᵀ ct, t⟩ of the program, or of its derivative."""
    made, _ = mixture(program, modes)
    active = [k for k, v in enumerate(made.inputs) if v.dtype.kind == "float"]
    pushed, pulled = forward(made, active), reverse(made, active)
    count = len(made.outputs)
    for case in program.cases:
        operands = operands_for(made, case)
        ts = operands_for(pushed, operands, seed=5)[len(operands) :]
        cts = operands_for(pulled, operands, seed=6)[len(operands) :]
        forwards = evaluate(pushed, [*operands, *ts])[count:]
        backwards = evaluate(pulled, [*operands, *cts])[count:]
        left = sum(float(np.vdot(c, t)) for c, t in zip(cts, forwards, strict=True) if t.dtype.kind == "f")
        right = sum(float(np.vdot(c, t)) for c, t in zip(backwards, ts, strict=True))
        assert abs(left - right) < 1e-9 * max(1.0, abs(left)), (
            f"{program.name}, modes {modes!r}: {left}, {right}"
        )


@EVERY
def test_forward_mode_is_a_finite_difference(name: str) -> None:
    forward_is_finite_difference(BY_NAME[name])


@EVERY
@pytest.mark.parametrize("modes", ["", "f", "r"])
def test_reverse_mode_is_transposed_forward_mode(name: str, modes: str) -> None:
    reverse_is_transposed_forward(BY_NAME[name], modes)


# -- what a loop saves ------------------------------------------------------------------------------

_F = tensor_type(float32, (3,))
_N = tensor_type(int32, ())


def _curve(w: Any, x: Any) -> Any:
    return REGISTRY["sin"](x * w) * 0.9 + REGISTRY["cos"](x * x) * 0.1


def long_loop(dtype: Any = float64) -> Graph:
    """``n`` iterations of a curve."""
    like = tensor_type(dtype, (3,))
    counts = graph(lambda n, w, k, x: [k < n], _N, like, _N, like)
    iteration = graph(lambda n, w, k, x: [k + Constant(np.int32(1)), _curve(w, x)], _N, like, _N, like)
    start = Constant(np.int32(0))
    return graph(
        lambda n, w, x: [while_(n, w, start, x, condition=counts, body=iteration, consts=2)[1]],
        _N,
        like,
        like,
    )


@pytest.mark.parametrize("count", [2, 4, 16])
@pytest.mark.parametrize("modes", ["r", "fr"])
def test_few_slots_give_what_many_give(count: int, modes: str) -> None:
    """Bisection: the number of iterations is far above the square of the number of slots."""
    program = ControlProgram("long", long_loop(), lambda *_: (), (1, 2), [])
    operands: list[Any] = [np.int32(0), np.asarray([0.9, 1.1, 1.3]), np.asarray([0.2, 0.4, 0.6])]
    many = mixture(program, modes)[0]
    with slots(count):
        few = compile_graph(mixture(program, modes)[0])
    for iterations in (0, 1, count - 1, count, count + 1, count**2, count**2 + 1, 700):
        operands[0] = np.asarray(iterations, np.int32)
        given = operands_for(many, operands)
        assert distance(few(given), evaluate(many, given)) < 1e-12, iterations


def test_memory_does_not_grow_with_the_iterations() -> None:
    """One program runs any number of iterations; what it needs beside its operands stays below a megabyte."""
    with slots(1024):
        made = reverse(long_loop(float32), [1, 2])
    used = lower_ahead(made).compile().memory_analysis().temp_size_in_bytes
    assert used < 200_000
    run = compile_graph(made)
    w, x, ct = (np.full(3, value, np.float32) for value in (1.05, 0.3, 1.0))
    for iterations in (10, 3_000_000):
        found = run([np.int32(iterations), w, x, ct])
        assert all(np.isfinite(np.asarray(y)).all() for y in found)


def test_a_loop_that_is_linear_keeps_nothing() -> None:
    """Its iterations are walked back without a replay."""
    counts = graph(lambda n, k, x: [k < n], _N, _N, _F)
    iteration = graph(lambda n, k, x: [k + Constant(np.int32(1)), x * 0.5], _N, _N, _F)
    made = reverse(
        graph(
            lambda n, x: [while_(n, Constant(np.int32(0)), x, condition=counts, body=iteration, consts=1)[1]],
            _N,
            _F,
        ),
        [1],
    )
    (pullback,) = [e for e in made.equations if e.primitive.name == "while_pullback"]
    assert not pullback.parameters["needed"]
    operands = [np.int32(4), np.ones(3, np.float32), np.ones(3, np.float32)]
    for run in (lambda xs: evaluate(made, xs), compile_graph(made)):
        np.testing.assert_allclose(np.asarray(run(operands)[1]), np.full(3, 0.5**4))


# -- what is shared ---------------------------------------------------------------------------------


@EVERY
@pytest.mark.parametrize("modes", ["r", "fr", "rr", "rfr"])
def test_linear_parts_are_transposed_away(name: str, modes: str) -> None:
    """Rows that exist only while a derivative is built do not reach an executor."""

    def names(made: Graph) -> set[str]:
        found = set(made.count())
        for equation in made.equations:
            for value in equation.parameters.values():
                if isinstance(value, Graph):
                    found |= names(value)
        return found

    made, _ = mixture(BY_NAME[name], modes)
    assert not names(made) & {"while_tangent", "while_pullback_tangent", "custom_tangent"}


def test_a_value_and_its_tangent_are_one_loop() -> None:
    made = forward(long_loop(), [1, 2])
    assert made.count()["while"] == 1
    assert forward(made, [1, 2]).count()["while"] == 1
    assert reverse(made, [1, 2]).count() == reverse(made, [1, 2]).count() | {"while": 1, "while_pullback": 1}
