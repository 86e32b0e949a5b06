"""Forward mode.

    forward(G)(x, ẋ) = (G(x), J_G(x) ẋ)

Each equation is followed by the one that its row's forward rule gives. Cost: about 2–3 times G for
one direction. Limits: a row without a forward rule has derivative zero (kind *constant*).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from mindgrad.ir.build import Builder, building, current
from mindgrad.ir.graph import Atom, Equation, Graph
from mindgrad.rows.kinds import zeros

__all__ = ["forward", "push_tangents"]


def push_tangents(equations: Iterable[Equation], tangents: dict[Any, Any]) -> None:
    """Emit the tangent of every equation that depends on a variable of ``tangents``.

    ``tangents`` maps variables to their tangents and is extended in place; a variable that is not
    in it has tangent zero. The primal equations must already be in the current builder.
    """
    lookup = tangents.get
    for equation in equations:
        ts = [lookup(x) for x in equation.inputs]
        if not any(t is not None for t in ts):
            continue
        primitive = equation.primitive
        if primitive.jvp is None:
            continue
        if primitive.multiple:
            found = primitive.jvp(equation.outputs, equation.inputs, ts, **equation.parameters)
            for y, t in zip(equation.outputs, found, strict=True):
                if t is not None:
                    tangents[y] = t
        else:
            t = primitive.jvp(equation.outputs[0], equation.inputs, ts, **equation.parameters)
            if t is not None:
                tangents[equation.outputs[0]] = t
    current().restore_order()


def forward(graph: Graph, active: Sequence[int]) -> Graph:
    """The graph of value and directional derivative.

    Args:
        graph: the program to differentiate.
        active: indices of the inputs that carry a tangent.

    Returns:
        A graph with inputs ``(*inputs, *tangents of the active inputs)`` and outputs
        ``(*outputs, *tangents of the outputs)``.
    """
    builder = Builder()
    with building(builder):
        inputs = builder.inputs_like(graph.inputs)
        directions = builder.inputs_like(graph.inputs[i] for i in active)
        outputs = builder.inline(graph, inputs)
        tangents: dict[Atom, Atom] = {inputs[i]: t for i, t in zip(active, directions, strict=True)}
        push_tangents(list(builder.equations), tangents)
        pushed = [tangent_or_zero(y, tangents) for y in outputs]
        return builder.close([*outputs, *pushed])


def tangent_or_zero(y: Any, tangents: dict[Any, Any]) -> Any:
    """The tangent of ``y``, zeros where nothing reaches it."""
    t = tangents.get(y)
    return zeros(y.type) if t is None else t
