"""Linearization splits the forward derivative into a primal program and a program linear in the tangents.

    G(x), and the linear program t ↦ J_G(x) t whose coefficients are values of the primal program

The builder keeps equations that depend on a tangent in a list of their own, so the split costs
nothing beyond forward mode.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from mindgrad.ir.build import Builder
from mindgrad.ir.graph import Atom, Variable, live_equations
from mindgrad.transforms.forward import push_tangents

__all__ = ["dependent", "linearize"]


def linearize(
    builder: Builder, inputs: Sequence[Any], outputs: Sequence[Any]
) -> tuple[list[Variable], list[Any]]:
    """Linearize the equations of ``builder`` (the current one) at ``inputs``.

    Returns:
        The tangents of ``inputs`` (linear variables) and those of ``outputs`` (``None`` where
        zero); the linear equations between them stand in ``builder.linear_equations``.
    """
    directions = [builder.input(x.type, linear=True) for x in inputs]
    tangents: dict[Atom, Atom] = dict(zip(inputs, directions, strict=True))
    outputs = [builder.value(y) for y in outputs]
    builder.linear_equations.clear()
    push_tangents(live_equations(builder.equations, outputs), tangents)
    return directions, [tangents.get(y) for y in outputs]


def dependent(builder: Builder, variables: Sequence[Variable], results: Sequence[Any]) -> tuple[list, list]:
    """The equations of ``results`` that depend on ``variables``, and the other values that they use.

    Equations that only have an effect are left out: they run once, in ``builder``.
    """
    after: set[Any] = set(variables)
    equations = []
    for equation in live_equations([e for e in builder.equations if not e.is_only_effect], results):
        if not after.isdisjoint(equation.inputs):
            after.update(equation.outputs)
            equations.append(equation)
    used = [x for equation in equations for x in equation.inputs] + list(results)
    needed = [x for x in dict.fromkeys(used) if type(x) is Variable and x not in after]
    return equations, needed
