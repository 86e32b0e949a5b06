"""Build a derivative as a separate graph, which can be inlined or batched.

    step(G, rule): (c, x, e) ↦ rule applied to the inputs x and outputs G(c, x), with further inputs e

Derivative rules emit equations into the current builder. If a derivative is needed for several directions,
the functions of this module call the rule in a separate builder and return a closed graph. The caller batches
this graph over the directions.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from mindgrad.core.ir.build import Builder, building
from mindgrad.core.ir.graph import Atom, Graph, Variable, without_effects
from mindgrad.core.ir.rules import Atoms
from mindgrad.core.ir.types import TensorType
from mindgrad.core.transforms.linearize import dependent

__all__ = ["between", "directional", "step"]

#: ``rule(builder, xs, ys, extras)`` emits a derivative and returns its results
Rule = Callable[[Builder, Sequence[Variable], Atoms, Atoms], Atoms]


def step(graph: Graph, constants: int, rule: Rule, templates: Atoms = ()) -> Graph:
    """Return the graph ``(*constants, *xs, *extras) ↦ rule(builder, xs, ys, extras)``.

    Args:
        graph: graph with inputs ``(*constants, *xs)`` and outputs ``ys``.
        constants: number of inputs that are constants.
        rule: function that emits equations into the current builder and returns the outputs of the new graph.
        templates: variables or constants with the types of the ``extras``. The extras are, for example,
            tangents or cotangents.
    """
    builder = Builder()
    with building(builder):
        inputs = builder.inputs_like(graph.inputs)
        extras = builder.inputs_like(templates)
        return builder.close(rule(builder, inputs[constants:], builder.inline(graph, inputs), extras))


def between(builder: Builder, xs: Sequence[Variable], ys: Atoms) -> tuple[Graph, list[Atom]]:
    """Return the graph ``(*others, *xs) ↦ ys``, and the values of ``others``.

    The graph contains the equations of ``builder`` that depend on ``xs``. ``others`` are all other values
    that these equations use. Side effects such as printing are removed, because the equations in ``builder``
    already have them.
    """
    equations, needed = dependent(builder, list(xs), ys)
    return without_effects(Graph([*needed, *xs], equations, ys)), needed


def directional(
    builder: Builder,
    rule: Rule,
    xs: Sequence[Variable],
    ys: Atoms,
    types: Sequence[TensorType],
    is_forward: bool,
) -> tuple[Graph, list[Atom]]:
    """Return the graph of a derivative, a linear function of its directions.

    The graph can be applied later, or batched over many directions. In forward mode, one equation computes
    both values and tangents of a loop or branch. If the rule were applied in ``builder``, the values in
    ``builder`` would therefore depend on a direction. To avoid this, the rule is applied to a copy of the
    equations.

    Args:
        builder: the current builder, with the equations from ``xs`` to ``ys``.
        rule: function ``rule(builder, xs, ys, directions)``.
        xs: inputs of the derivative.
        ys: outputs of the derivative.
        types: types of the directions.
        is_forward: whether the directions are tangents of ``xs``; otherwise they are cotangents of ``ys``.

    Returns:
        The graph ``(*residuals, *directions) ↦ results``, and the values of the residuals in ``builder``.
    """
    directions = [Variable(type) for type in types]
    if is_forward:
        program, needed = between(builder, xs, ys)
        pushed = step(program, len(needed), rule, directions)
        results: Atoms = builder.inline(pushed, [*needed, *xs, *directions])
    else:
        results = rule(builder, xs, ys, directions)
    equations, residuals = dependent(builder, directions, results)
    # Remove the equations of the rule: they read directions that are not defined in this builder. Elimination
    # of unused equations is not sufficient, because it keeps equations with side effects
    apart = set(equations)
    builder.equations[:] = [equation for equation in builder.equations if equation not in apart]
    return Graph([*residuals, *directions], equations, results), residuals
