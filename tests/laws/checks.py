"""The laws, one function each: it raises ``AssertionError`` with the numbers if a row breaks the law.

They are functions and not tests so that ``test_planted.py`` can run them on broken rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from mindgrad.core.backend.jax_import import jax_module
from mindgrad.core.backend.xla import compile_graph, lower
from mindgrad.core.ir.build import Builder, building
from mindgrad.core.ir.dtype import DType
from mindgrad.core.ir.evaluate import evaluate
from mindgrad.core.ir.graph import Graph
from mindgrad.core.ir.types import type_of
from mindgrad.core.transforms.batch import batch
from mindgrad.core.transforms.forward import forward
from mindgrad.core.transforms.reverse import reverse
from tests.laws.harness import (
    Call,
    calls,
    derivatives,
    directions,
    finite_difference,
    graph_of,
    is_inexact,
    kernel,
    only_outputs,
    pairing,
    require,
    result_type,
    weights,
)
from tests.tolerances import tolerance


def dtypes_of(call: Call) -> list[DType]:
    """The element types of the operands and outputs."""
    return [each.dtype for each in [*call.types, *call.results]]


# --- law 1: the type rule tells the truth -----------------------------------------------------------


def type_rule_is_true(call: Call) -> None:
    """The kernels' results have the element type and shape that the type rule says."""
    for wanted, array in zip(call.results, kernel(call), strict=True):
        found = type_of(np.asarray(array))
        assert found is wanted, f"{call!r}: the NumPy kernel gives {found}, the type rule {wanted}"
    jax = jax_module()
    with jax.enable_x64(True):
        shapes = [jax.ShapeDtypeStruct(a.shape, a.dtype) for a in call.arrays]
        made = jax.eval_shape(lambda *xs: lower(call.row, *xs, **call.parameters), *shapes)
    for wanted, one in zip(call.results, made if call.row.multiple else [made], strict=True):
        found = result_type(one.dtype, one.shape)
        assert found is wanted, f"{call!r}: the XLA lowering gives {found}, the type rule {wanted}"


# --- laws 2 and 3: derivatives ----------------------------------------------------------------------


def forward_is_finite_difference(call: Call, dtype: DType) -> None:
    """J t is the difference quotient of the NumPy kernel along t."""
    it = derivatives(call, dtype)
    pushed = evaluate(it.forward, [*call.arrays, *it.tangents])[len(it.graph.outputs) :]
    wanted = finite_difference(
        lambda arrays: kernel(call._replace(arrays=arrays)), call.arrays, call.active, it.tangents
    )
    kept = [i for i, each in enumerate(call.results) if each.dtype.is_inexact]
    within = tolerance(dtypes_of(call), "fine difference")
    require(f"{call!r}: J t", [pushed[i] for i in kept], [wanted[i] for i in kept], within)


def reverse_is_transposed_forward(call: Call, dtype: DType) -> None:
    """⟨c, J t⟩ = ⟨Jᵀ c, t⟩, with the value the same in both modes."""
    it = derivatives(call, dtype)
    count = len(it.graph.outputs)
    pushed = evaluate(it.forward, [*call.arrays, *it.tangents])
    pulled = evaluate(it.reverse, [*call.arrays, *it.cotangents])
    within = tolerance(dtypes_of(call), "law")
    require(f"{call!r}: value in forward mode", pushed[:count], kernel(call), within)
    require(f"{call!r}: value in reverse mode", pulled[:count], kernel(call), within)
    types = [type_of(array) for array in pulled[count:]]
    wanted = [call.types[i] for i in call.active]
    assert types == wanted, f"{call!r}: Jᵀ c has types {types}, the operands {wanted}"
    left = pairing(it.cotangents, pushed[count:])
    right = pairing(pulled[count:], it.tangents)
    require(f"{call!r}: ⟨c, J t⟩ and ⟨Jᵀ c, t⟩", [right], [left], within)


def second_order_agrees(call: Call, dtype: DType) -> None:
    """The second derivative of ⟨c, f⟩ along t and u, four ways.

    Forward over reverse is the difference quotient of Jᵀ c along t; reverse over reverse pairs with t
    as that pairs with u; forward over forward is the same bilinear number.
    """
    it = derivatives(call, dtype)
    count, active = len(it.graph.outputs), call.active
    gradient = only_outputs(it.reverse, count)
    inputs = [*call.arrays, *it.cotangents]
    over_reverse = evaluate(forward(gradient, active), [*inputs, *it.tangents])[len(active) :]
    quotient = finite_difference(it.gradient, call.arrays, active, it.tangents)
    within = tolerance(dtypes_of(call), "fine difference", order=1)
    require(f"{call!r}: forward over reverse", over_reverse, quotient, within)

    within = tolerance(dtypes_of(call), "law", order=2)
    curvature = pairing(over_reverse, it.others)
    twice = evaluate(reverse(gradient, active), [*inputs, *it.others])[len(active) :]
    require(f"{call!r}: reverse over reverse", [pairing(twice, it.tangents)], [curvature], within)

    directional = only_outputs(it.forward, count)
    pushed = evaluate(forward(directional, active), [*call.arrays, *it.tangents, *it.others])[count:]
    require(f"{call!r}: forward over forward", [pairing(it.cotangents, pushed)], [curvature], within)


def third_order_is_finite_difference(call: Call, dtype: DType) -> None:
    """Forward over forward over reverse is the difference quotient of forward over reverse."""
    it = derivatives(call, dtype)
    active, count = call.active, len(call.active)
    gradient = only_outputs(it.reverse, len(it.graph.outputs))
    second = only_outputs(forward(gradient, active), count)
    rest = [*it.cotangents, *it.tangents]
    third = evaluate(forward(second, active), [*call.arrays, *rest, *it.others])[count:]
    quotient = finite_difference(
        lambda arrays: evaluate(second, [*arrays, *rest]), call.arrays, active, it.others
    )
    within = tolerance(dtypes_of(call), "fine difference", order=1)
    require(f"{call!r}: third derivative", third, quotient, within)


# --- law 4: both executors --------------------------------------------------------------------------


class Program:
    """Many graphs as one, so that XLA compiles once."""

    def __init__(self) -> None:
        self._parts: dict[Any, tuple[Graph, list[np.ndarray]]] = {}

    def add(self, key: Any, graph: Graph, arrays: Sequence[np.ndarray]) -> None:
        """Append ``graph`` on ``arrays``; its results are found under ``key``."""
        self._parts[key] = (graph, list(arrays))

    def run(self) -> dict[Any, Any]:
        """For each key the results of NumPy and those of the compiled program, or an exception."""
        try:
            return self._run(self._parts)
        except Exception:  # a graph that cannot be lowered must not spoil the others
            broken = {key: _fault(*part) for key, part in self._parts.items()}
            sound = {key: part for key, part in self._parts.items() if broken[key] is None}
            if len(sound) == len(self._parts):
                raise
        return {key: error for key, error in broken.items() if error is not None} | self._run(sound)

    @staticmethod
    def _run(parts: dict[Any, tuple[Graph, list[np.ndarray]]]) -> dict[Any, Any]:
        builder, outputs, inputs = Builder(), [], []
        symbols: dict[
            int, Any
        ] = {}  # an array is one input, so that derivatives share what they compute of it
        with building(builder):
            for graph, arrays in parts.values():
                for variable, array in zip(graph.inputs, arrays, strict=True):
                    if id(array) not in symbols:
                        symbols[id(array)] = builder.input(variable.type)
                        inputs.append(array)
                outputs.extend(builder.inline(graph, [symbols[id(array)] for array in arrays]))
            whole = builder.close(outputs)
        compiled = iter([np.asarray(y) for y in compile_graph(whole)(inputs)])
        return {
            key: (evaluate(graph, arrays), [next(compiled) for _ in graph.outputs])
            for key, (graph, arrays) in parts.items()
        }


def _fault(graph: Graph, arrays: list[np.ndarray]) -> Exception | None:
    """Why a graph cannot be lowered."""
    jax = jax_module()
    try:
        with jax.enable_x64(True):
            jax.eval_shape(compile_graph(graph), arrays)
    except Exception as error:
        return error
    return None


def add_call(program: Program, call: Call, dtype: DType, orders: int) -> None:
    """Value, and derivatives up to the order ``orders`` in both modes, of one call."""
    key = (call.row.name, dtype, call.index)
    it = derivatives(call, dtype)
    program.add((*key, "value"), it.graph, call.arrays)
    if orders and call.active:
        program.add((*key, "forward"), it.forward, [*call.arrays, *it.tangents])
        program.add((*key, "reverse"), it.reverse, [*call.arrays, *it.cotangents])
    if orders > 1 and call.active:
        gradient = only_outputs(it.reverse, len(it.graph.outputs))
        program.add(
            (*key, "forward over reverse"),
            forward(gradient, call.active),
            [*call.arrays, *it.cotangents, *it.tangents],
        )


def executors_agree(found: dict, name: str, dtype: DType) -> int:
    """NumPy and XLA give the same numbers; the number of comparisons made."""
    made = 0
    for (row, of, index, what), results in found.items():
        if (row, of) != (name, dtype):
            continue
        if isinstance(results, Exception):
            raise results
        eager, compiled = results
        call = next(c for c in calls(name, dtype) if c.index == index)
        within = tolerance(dtypes_of(call), "law", order=0 if what == "value" else 1)
        require(f"{call!r}: {what}, compiled and eager", compiled, eager, within)
        for a, b in zip(eager, compiled, strict=True):
            assert a.dtype == b.dtype, f"{call!r}: {what} is {a.dtype} eager, {b.dtype} compiled"
        made += 1
    return made


# --- law 5: jax as an independent oracle ------------------------------------------------------------


def _jax_program(call: Call, tangents: list, cotangents: list) -> tuple[list, list]:
    """J t and Jᵀ c by jax's own rules for what the row lowers to."""
    jax = jax_module()

    def apply(*active: Any) -> list[Any]:
        operands: list[Any] = list(call.arrays)
        for i, x in zip(call.active, active, strict=True):
            operands[i] = x
        found = lower(call.row, *map(jax.numpy.asarray, operands), **call.parameters)
        several = list(found) if call.row.multiple else [found]
        return [y for y in several if jax.numpy.issubdtype(y.dtype, jax.numpy.inexact)]

    at = [jax.numpy.asarray(call.arrays[i]) for i in call.active]
    return jax.jvp(apply, at, tangents)[1], list(jax.vjp(apply, *at)[1](cotangents))


def jax_derivatives(listed: Sequence[tuple[Call, DType]]) -> list[Any]:
    """jax's derivatives of each call, all in one compiled program; an exception where jax has none."""
    jax = jax_module()
    tangents = [directions(call, dtype, 10) for call, dtype in listed]
    cotangents = [[c for c in weights(call.results, 3) if is_inexact(c)] for call, _ in listed]
    failed: dict[int, Exception] = {}

    def program(tangents: Any, cotangents: Any) -> list[Any]:
        made: list[Any] = []
        for k, (call, _) in enumerate(listed):
            try:
                made.append(_jax_program(call, tangents[k], cotangents[k]))
            except Exception as error:
                failed[k] = error
                made.append(None)
        return made

    with jax.enable_x64(True):
        made = jax.jit(program)(tangents, cotangents)
    return [failed.get(k, one) for k, one in enumerate(made)]


def agrees_with_jax(call: Call, dtype: DType, oracle: Any) -> None:
    """Our J t and Jᵀ c are jax's."""
    assert not isinstance(oracle, Exception), f"{call!r}: jax has no derivative: {oracle}"
    it = derivatives(call, dtype)
    count = len(it.graph.outputs)
    pushed = evaluate(it.forward, [*call.arrays, *it.tangents])[count:]
    pushed = [t for t, each in zip(pushed, call.results, strict=True) if each.dtype.is_inexact]
    pulled = evaluate(it.reverse, [*call.arrays, *it.cotangents])[count:]
    within = tolerance(dtypes_of(call), "law", order=1)
    require(f"{call!r}: J t and jax.jvp", pushed, oracle[0], within)
    require(f"{call!r}: Jᵀ c and jax.vjp", pulled, oracle[1], within)


# --- law 6: batched is stacked ----------------------------------------------------------------------

_BATCH = 3


def batched_is_stacked(name: str, dtype: DType) -> int:
    """``batch`` of a call, and of its gradient, equals one element after the other.

    Once with a batch axis in front of every operand, once with one behind the last operand only, the
    others shared.
    """
    columns = list(zip(*[calls(name, dtype, seed) for seed in range(_BATCH)], strict=True))
    for column in columns:
        first = column[0]
        graphs = [(graph_of(first), [call.arrays for call in column])]
        if first.active:
            it = derivatives(first, dtype)
            graphs.append(
                (it.reverse, [[*call.arrays, *it.cotangents] for call in column]),
            )
        for graph, rows in graphs:
            count = len(graph.inputs)
            if not count:
                continue
            every = list(zip(*rows, strict=True))
            _stacked(first, graph, every, [0] * count)
            last = len(first.arrays) - 1
            axes = [arrays[0].ndim if i == last else None for i, arrays in enumerate(every)]
            _stacked(first, graph, every, axes)
    return len(columns)


def _stacked(call: Call, graph: Graph, every: list, axes: list[int | None]) -> None:
    operands = [
        arrays[0] if axis is None else np.stack(arrays, axis)
        for arrays, axis in zip(every, axes, strict=True)
    ]
    found = evaluate(batch(graph, axes, _BATCH), operands)
    singles = []
    for k in range(_BATCH):
        one = [arrays[0 if axis is None else k] for arrays, axis in zip(every, axes, strict=True)]
        singles.append(evaluate(graph, one))
    wanted = [np.stack(results) for results in zip(*singles, strict=True)]
    within = tolerance(dtypes_of(call), "law", order=1)
    require(f"{call!r}: batched along {axes}", found, wanted, within)
    for a, b in zip(found, wanted, strict=True):
        assert a.dtype == b.dtype, f"{call!r}: batched along {axes} is {a.dtype}, stacked {b.dtype}"
