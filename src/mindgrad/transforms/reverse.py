"""Reverse mode: linearize, then transpose.

    reverse(G)(x, ct) = (G(x), J_G(x)ᵀ ct)

Cost: 2–4 times G whatever the number of inputs; the values that the linear part needs are kept.
Limits: none of its own; the result is a graph like any other, so it nests to any order.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from mindgrad.ir.build import Builder, building
from mindgrad.ir.graph import Graph
from mindgrad.rows.kinds import zeros
from mindgrad.transforms.linearize import linearize
from mindgrad.transforms.transpose import pull_cotangents

__all__ = ["pull_back", "reverse"]


def pull_back(
    builder: Builder,
    inputs: Sequence[Any],
    outputs: Sequence[Any],
    cotangents: Sequence[Any],
) -> list[Any]:
    """Emit into ``builder`` the cotangents of ``inputs`` for those of ``outputs`` (``None``: zero)."""
    directions, tangents = linearize(builder, inputs, outputs)
    linear_equations = list(builder.linear_equations)
    pulled = pull_cotangents(linear_equations, tangents, cotangents, directions, are_moving=True)
    return [zeros(x.type) if ct is None else ct for x, ct in zip(inputs, pulled, strict=True)]


def reverse(graph: Graph, active: Sequence[int]) -> Graph:
    """The graph of value and vector–Jacobian product.

    Args:
        graph: the program to differentiate.
        active: indices of the inputs whose cotangents are wanted.

    Returns:
        A graph with inputs ``(*inputs, *cotangents of the outputs)`` and outputs
        ``(*outputs, *cotangents of the active inputs)``.
    """
    builder = Builder()
    with building(builder):
        inputs = builder.inputs_like(graph.inputs)
        cotangents = builder.inputs_like(graph.outputs)
        outputs = builder.inline(graph, inputs)
        pulled = pull_back(builder, [inputs[i] for i in active], outputs, cotangents)
        return builder.close([*outputs, *pulled])
