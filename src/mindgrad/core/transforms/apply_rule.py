"""Apply a derivative rule to a graph in a separate builder.

    step(G, rule)(c, x, e) = rule(G(c, ·))(x, e)

Derivative rules emit equations into the current builder. If several derivatives are built at a time, for
example one per direction, each is built in a separate builder. The result is a closed graph, which can be
inlined or batched.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from mindgrad.core.ir.build import Builder, building
from mindgrad.core.ir.graph import Graph, Variable, without_effects
from mindgrad.core.ir.types import TensorType
from mindgrad.core.transforms.linearize import dependent

__all__ = ["between", "directional", "step"]

Rule = Callable[..., list[Any]]


def step(graph: Graph, constants: int, rule: Rule, templates: Sequence[Any] = ()) -> Graph:
    """Return the graph of ``rule(builder, xs, ys, extras)``.

    Args:
        graph: graph with inputs ``(*constants, *xs)`` and outputs ``ys``.
        constants: number of inputs that are constants.
        rule: function that emits into the current builder and returns the outputs.
        templates: atoms with the types of the ``extras``, which become further inputs at the end.
    """
    builder = Builder()
    with building(builder):
        inputs = builder.inputs_like(graph.inputs)
        extras = builder.inputs_like(templates)
        return builder.close(rule(builder, inputs[constants:], builder.inline(graph, inputs), extras))


def between(builder: Builder, xs: Sequence[Any], ys: Sequence[Any]) -> tuple[Graph, list[Any]]:
    """Return the graph from ``xs`` to ``ys``, and the values of its other inputs.

    ``xs`` are the last inputs of the graph. The graph has no effects, because these run once, in ``builder``.
    """
    equations, needed = dependent(builder, list(xs), ys)
    return without_effects(Graph([*needed, *xs], equations, ys)), needed


def directional(
    builder: Builder,
    rule: Rule,
    xs: Sequence[Any],
    ys: Sequence[Any],
    types: Sequence[TensorType],
    is_forward: bool,
) -> tuple[Graph, list[Any]]:
    """Return a derivative as a linear graph of its directions.

    The graph can be applied later, or batched over many directions. In forward mode, one equation computes
    both values and tangents of a loop or branch. The values in ``builder`` would then depend on a direction,
    so the rule is applied to a copy of the equations in a closed graph.

    Args:
        builder: the current builder, with the equations from ``xs`` to ``ys``.
        rule: function ``rule(builder, xs, ys, directions)``.
        xs: inputs of the derivative.
        ys: outputs of the derivative.
        types: types of the directions.
        is_forward: whether the directions are tangents of ``xs``; otherwise they are cotangents of ``ys``.

    Returns:
        The graph ``(*residuals, *directions) ↦ results``, and the residuals, which are values of ``builder``.
    """
    directions = [Variable(type) for type in types]
    if is_forward:
        program, needed = between(builder, xs, ys)
        pushed = step(program, len(needed), rule, directions)
        results = builder.inline(pushed, [*needed, *xs, *directions])
    else:
        results = rule(builder, xs, ys, directions)
    equations, residuals = dependent(builder, directions, results)
    # remove the equations of the rule from the builder, which does not define the directions. Dead-code
    # elimination would not remove equations with an effect
    apart = set(equations)
    builder.equations[:] = [equation for equation in builder.equations if equation not in apart]
    return Graph([*residuals, *directions], equations, results), residuals
