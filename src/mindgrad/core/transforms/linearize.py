"""Linearization: split forward mode into the values and a linear map of tangents.

    linearize(G)(x) = G(x), and the equations of the linear map t ↦ J_G(x) t

Linearization applies forward mode to tangents that are variables without values. The builder stores the
equations that depend on a tangent in a separate list. The equations in this list are the linear map; its
coefficients are values that all other equations compute. Linearization therefore costs no more than forward
mode.
"""

from __future__ import annotations

from collections.abc import Sequence

from mindgrad.core.ir.build import Builder
from mindgrad.core.ir.graph import Atom, Variable, live_equations
from mindgrad.core.ir.rules import Atoms, Tangent
from mindgrad.core.transforms.forward import push_tangents

__all__ = ["dependent", "linearize"]


def linearize(builder: Builder, inputs: Atoms, outputs: Atoms) -> tuple[list[Variable], list[Tangent]]:
    """Linearize the equations of ``builder``, the current builder, at ``inputs``.

    Returns:
        The tangents of ``inputs`` (new linear variables) and the tangents of ``outputs``, where ``None``
        means zero. ``builder.linear_equations`` contains the equations between them.
    """
    directions = [builder.input(x.type, linear=True) for x in inputs]
    tangents: dict[Atom, Atom] = dict(zip(inputs, directions, strict=True))
    outputs = [builder.value(y) for y in outputs]
    builder.linear_equations.clear()
    push_tangents(live_equations(builder.equations, outputs), tangents)
    return directions, [tangents.get(y) for y in outputs]


def dependent(builder: Builder, variables: Sequence[Variable], results: Atoms) -> tuple[list, list]:
    """Return the equations that compute ``results`` from ``variables``.

    The second result is the list of all other variables that these equations or ``results`` use. Equations
    without results, such as printing, are left out, because ``builder`` already contains them.
    """
    after: set[Atom] = set(variables)
    equations = []
    for equation in live_equations([e for e in builder.equations if not e.is_only_effect], results):
        if not after.isdisjoint(equation.inputs):
            after.update(equation.outputs)
            equations.append(equation)
    used = [x for equation in equations for x in equation.inputs] + list(results)
    needed = [x for x in dict.fromkeys(used) if type(x) is Variable and x not in after]
    return equations, needed
