"""A rule is applied to a closed graph, so that one derivative is finished before the next one begins.

step(G, rule)(c, x, e) = rule(G(c, ·))(x, e)
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from mindgrad.ir.build import Builder, building
from mindgrad.ir.graph import Graph, Variable, without_effects
from mindgrad.ir.types import TensorType
from mindgrad.transforms.linearize import dependent

__all__ = ["between", "directional", "step"]

Rule = Callable[..., list[Any]]


def step(graph: Graph, constants: int, rule: Rule, templates: Sequence[Any] = ()) -> Graph:
    """The graph of ``rule(builder, xs, ys, extras)``, for a ``graph`` of constants and then ``xs`` as inputs.

    Args:
        graph: the program.
        constants: the number of inputs that are constants.
        rule: emits into the current builder and returns the outputs.
        templates: atoms whose types the ``extras`` have, which are further inputs behind those of the graph.
    """
    builder = Builder()
    with building(builder):
        inputs = builder.inputs_like(graph.inputs)
        extras = builder.inputs_like(templates)
        return builder.close(rule(builder, inputs[constants:], builder.inline(graph, inputs), extras))


def between(builder: Builder, xs: Sequence[Any], ys: Sequence[Any]) -> tuple[Graph, list[Any]]:
    """The program from ``xs`` to ``ys``: a graph whose last inputs are ``xs``, and the values of its others.

    It has no effects: these happen once, in ``builder``.
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
    """A derivative as a linear function of its directions, which are known later, or many at a time.

    In forward mode a loop or branch and its tangent become one equation, which needs the direction. So the
    rule is applied to a closed graph: the values of ``builder`` stay computed without any direction.

    Args:
        builder: the current builder, of the program from ``xs`` to ``ys``.
        rule: ``rule(builder, xs, ys, directions)``.
        types: those of the directions.
        is_forward: whether the directions are tangents of ``xs``, not cotangents of ``ys``.

    Returns:
        ``(*residuals, *directions) ↦ results``, and the residuals: values of ``builder``.
    """
    directions = [Variable(type) for type in types]
    if is_forward:
        program, needed = between(builder, xs, ys)
        pushed = step(program, len(needed), rule, directions)
        results = builder.inline(pushed, [*needed, *xs, *directions])
    else:
        results = rule(builder, xs, ys, directions)
    equations, residuals = dependent(builder, directions, results)
    # the builder would keep an equation with an effect, but does not define the directions that it uses
    apart = set(equations)
    builder.equations[:] = [equation for equation in builder.equations if equation not in apart]
    return Graph([*residuals, *directions], equations, results), residuals
