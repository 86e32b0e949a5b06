"""Sparsity patterns of branches, loops, and custom VJPs.

The *pattern* of a value is a Boolean matrix. Entry (i, j) is true if element i of the value can depend on
element j of the differentiated inputs. The rules are:

    cond     union of the patterns of both branches
    scan     propagate patterns iteration by iteration; if the loop is long, use the rule of ``while``
    while    replace the pattern P of the carry by P ∪ body(P) until P does not change
    custom   transpose of the pattern of the pullback with respect to the cotangents

``sparse.sparsity`` calls these rules. The argument ``run`` is the analysis that propagates patterns through
graphs. The argument ``patterns`` contains the pattern of each operand, or ``None`` for a pattern without true
entries.
"""

from __future__ import annotations

import numpy as np

from mindgrad.core.ir.cost_model import costs
from mindgrad.core.ir.graph import Atom, Equation, Graph
from mindgrad.core.ir.rules import Propagation, Stored

__all__ = ["branched", "customized", "looped", "scanned"]


def branched(run: Propagation, equation: Equation, patterns: list) -> list:
    """Return the sparsity patterns of the results of a ``cond``."""
    values = [run.known(x) for x in equation.inputs[1:]]
    runs = [
        (graph, run.inside(graph, patterns[1:], values))
        for graph in (equation.parameters["true"], equation.parameters["false"])
    ]
    return [
        run.union([inside.pattern(graph.outputs[k]) for graph, inside in runs])
        for k in range(len(equation.outputs))
    ]


def scanned(run: Propagation, equation: Equation, patterns: list) -> list:
    """Return the sparsity patterns of the results of a scan."""
    parameters = equation.parameters
    body, length = parameters["body"], parameters["length"]
    first, end = parameters["consts"], parameters["consts"] + parameters["carries"]
    if length * max(len(body.equations), 1) > costs().pattern_equations:
        return _settled(run, equation, patterns, body, first, end)
    values = [run.known(x) for x in equation.inputs]
    carry, carry_values = list(patterns[first:end]), values[first:end]
    sizes = [v.type.size for v in body.inputs[end:]]
    ys: list[list] = [[None] * length for _ in body.outputs[end - first :]]
    iterations = range(length)
    for iteration in reversed(iterations) if parameters.get("reverse", False) else iterations:
        slices = [
            None if p is None else p[iteration * size : (iteration + 1) * size]
            for p, size in zip(patterns[end:], sizes, strict=True)
        ]
        slice_values = [None if each is None else (each[0][iteration], each[1]) for each in values[end:]]
        inside = run.inside(
            body, [*patterns[:first], *carry, *slices], [*values[:first], *carry_values, *slice_values]
        )
        outputs = [inside.pattern(y) for y in body.outputs]
        carry = outputs[: end - first]
        carry_values = [inside.known(y) if y.type.size == 1 else None for y in body.outputs[: end - first]]
        for listed, p in zip(ys, outputs[end - first :], strict=True):
            listed[iteration] = p
    return [*carry, *[run.stacked(p, y) for p, y in zip(ys, body.outputs[end - first :], strict=True)]]


def looped(run: Propagation, equation: Equation, patterns: list) -> list:
    """Return the sparsity patterns of the results of a ``while`` loop."""
    body, first = equation.parameters["body"], equation.parameters["consts"]
    outputs = _settled(run, equation, patterns, body, first, len(body.inputs))
    carries = len(body.outputs)
    saved = [
        None if p is None else run.rows(p, np.tile(np.arange(p.shape[0]), equation.parameters["slots"]))
        for p in (outputs[:carries] if len(equation.outputs) > carries else [])
    ]
    return [*outputs[:carries], *([None, None] if saved else []), *saved]


def _settled(run: Propagation, equation: Equation, patterns: list, body: Graph, first: int, end: int) -> list:
    """Return sparsity patterns of the results of a loop for any number of iterations.

    The pattern of the carry is extended by the pattern of one more iteration until it does not change.
    """
    slices = []
    for p, v in zip(patterns[end:], body.inputs[end:], strict=True):
        group = None if p is None else np.tile(np.arange(v.type.size), p.shape[0] // max(v.type.size, 1))
        slices.append(None if p is None else run.grouped(p, group, v.type.size))  # type: ignore[arg-type]  # not None if p is not
    values = [run.known(x) for x in equation.inputs[:first]]
    carry = list(patterns[first:end])
    for _ in range(costs().pattern_iterations):
        nothing = [None] * (len(body.inputs) - first)
        inside = run.inside(body, [*patterns[:first], *carry, *slices], [*values, *nothing])
        outputs = [inside.pattern(y) for y in body.outputs]
        after = [run.union([a, b]) for a, b in zip(carry, outputs, strict=False)]
        if all(_count(a) == _count(b) for a, b in zip(carry, after, strict=True)):
            ys = zip(outputs[end - first :], equation.outputs[end - first :], strict=False)
            spread = [
                None if p is None else run.rows(p, np.tile(np.arange(p.shape[0]), y.shape[0])) for p, y in ys
            ]
            return [*after, *spread][: len(equation.outputs)]
        carry = after
    return run.mixed(patterns, equation.outputs)


def customized(run: Propagation, equation: Equation, patterns: list) -> list:
    """Return the sparsity patterns of a custom VJP, derived from its pullback."""
    pullback = equation.parameters["pullback"]
    outputs, inputs = equation.parameters["outputs"], equation.parameters["inputs"]
    cts = range(inputs + outputs, inputs + 2 * outputs)
    backwards = run.by_inputs(pullback, cts)
    by_output: list[Atom] = []
    start = 0
    for y in equation.outputs:
        parts = []
        for transposed, p in zip(backwards, patterns[outputs : outputs + inputs], strict=True):
            if transposed is not None and p is not None:
                part = transposed[:, start : start + y.type.size].T.tocsr()
                parts.append(run.product(part, p))
        by_output.append(run.union(parts))
        start += y.type.size
    return outputs


def _count(pattern: Stored) -> int:
    return 0 if pattern is None else pattern.nnz
