"""The patterns of branches and loops.

cond     what either branch depends on
scan     trip by trip, where the trips are few; else as a while
while    P ← P ∪ body(P), until nothing is added
custom   the transpose of the pattern of the author's pullback by the cotangents
"""

from __future__ import annotations

from typing import Any

import numpy as np

from mindgrad.ir.graph import Equation, Graph

__all__ = ["RULES"]

#: trips of a scan that are followed one by one, times the equations of its body
_FOLLOWED = 20_000
#: trips after which a loop that still changes is taken to mix everything
_TRIPS = 64


def _branched(run: Any, equation: Equation, given: list[Any]) -> list[Any]:
    values = [run.known(x) for x in equation.inputs[1:]]
    runs = [
        (graph, run.inside(graph, given[1:], values))
        for graph in (equation.parameters["true"], equation.parameters["false"])
    ]
    return [
        run.union([inside.pattern(graph.outputs[k]) for graph, inside in runs])
        for k in range(len(equation.outputs))
    ]


def _scanned(run: Any, equation: Equation, given: list[Any]) -> list[Any]:
    parameters = equation.parameters
    body, length = parameters["body"], parameters["length"]
    first, end = parameters["consts"], parameters["consts"] + parameters["carries"]
    if length * max(len(body.equations), 1) > _FOLLOWED:
        return _settled(run, equation, given, body, first, end)
    values = [run.known(x) for x in equation.inputs]
    carry, known = list(given[first:end]), values[first:end]
    sizes = [v.type.size for v in body.inputs[end:]]
    ys: list[list[Any]] = [[None] * length for _ in body.outputs[end - first :]]
    trips = range(length)
    for trip in reversed(trips) if parameters.get("reverse", False) else trips:
        slices = [
            None if p is None else p[trip * size : (trip + 1) * size]
            for p, size in zip(given[end:], sizes, strict=True)
        ]
        now = [None if each is None else (each[0][trip], each[1]) for each in values[end:]]
        inside = run.inside(body, [*given[:first], *carry, *slices], [*values[:first], *known, *now])
        found = [inside.pattern(y) for y in body.outputs]
        carry = found[: end - first]
        known = [inside.known(y) if y.type.size == 1 else None for y in body.outputs[: end - first]]
        for listed, p in zip(ys, found[end - first :], strict=True):
            listed[trip] = p
    return [*carry, *[run.stacked(p, y) for p, y in zip(ys, body.outputs[end - first :], strict=True)]]


def _looped(run: Any, equation: Equation, given: list[Any]) -> list[Any]:
    body, first = equation.parameters["body"], equation.parameters["consts"]
    found = _settled(run, equation, given, body, first, len(body.inputs))
    carries = len(body.outputs)
    saved = [
        None if p is None else run.rows(p, np.tile(np.arange(p.shape[0]), equation.parameters["slots"]))
        for p in (found[:carries] if len(equation.outputs) > carries else [])
    ]
    return [*found[:carries], *([None, None] if saved else []), *saved]


def _settled(run: Any, equation: Equation, given: list[Any], body: Graph, first: int, end: int) -> list[Any]:
    """The outputs of a loop, each after any number of trips."""
    slices = []
    for p, v in zip(given[end:], body.inputs[end:], strict=True):
        group = None if p is None else np.tile(np.arange(v.type.size), p.shape[0] // max(v.type.size, 1))
        slices.append(None if p is None else run.grouped(p, group, v.type.size))
    values = [run.known(x) for x in equation.inputs[:first]]
    carry = list(given[first:end])
    for _ in range(_TRIPS):
        nothing = [None] * (len(body.inputs) - first)
        inside = run.inside(body, [*given[:first], *carry, *slices], [*values, *nothing])
        found = [inside.pattern(y) for y in body.outputs]
        after = [run.union([a, b]) for a, b in zip(carry, found, strict=False)]
        if all(_count(a) == _count(b) for a, b in zip(carry, after, strict=True)):
            ys = zip(found[end - first :], equation.outputs[end - first :], strict=False)
            spread = [
                None if p is None else run.rows(p, np.tile(np.arange(p.shape[0]), y.shape[0])) for p, y in ys
            ]
            return [*after, *spread][: len(equation.outputs)]
        carry = after
    return run.mixed(given, equation.outputs)


def _customised(run: Any, equation: Equation, given: list[Any]) -> list[Any]:
    """What the author's pullback sends where: the transpose of its pattern by the cotangents."""
    pullback = equation.parameters["pullback"]
    outputs, inputs = equation.parameters["outputs"], equation.parameters["inputs"]
    cts = range(inputs + outputs, inputs + 2 * outputs)
    backwards = run.by_inputs(pullback, cts)
    found: list[Any] = []
    start = 0
    for y in equation.outputs:
        parts = []
        for sent, p in zip(backwards, given[outputs : outputs + inputs], strict=True):
            if sent is not None and p is not None:
                part = sent[:, start : start + y.type.size].T.tocsr()
                parts.append(run.product(part, p))
        found.append(run.union(parts))
        start += y.type.size
    return found


def _count(pattern: Any) -> int:
    return 0 if pattern is None else pattern.nnz


RULES: dict[str, Any] = {
    "cond": _branched,
    "scan": _scanned,
    "while": _looped,
    "custom": _customised,
}
