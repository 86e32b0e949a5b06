"""Transposition of linear equations.

    ⟨ct, L t⟩ = ⟨Lᵀ ct, t⟩

Linear equations are processed from the last to the first. The ``transpose`` rule of each operator maps the
cotangents of its outputs to cotangents of its linear operands. If several equations use a value, the
cotangents from all of these equations are added. The transpose costs as much as the linear equations. An
operator that is not linear has no ``transpose`` rule; if it depends on a tangent, ``TypeError`` is raised.
"""

from __future__ import annotations

from collections.abc import Sequence

from mindgrad.core.ir.build import current
from mindgrad.core.ir.graph import Atom, Equation, Variable
from mindgrad.core.ir.rules import Tangent, Tangents
from mindgrad.core.primitives.kinds import checked, zeros

__all__ = ["pull_cotangents"]


def pull_cotangents(
    equations: Sequence[Equation],
    outputs: Tangents,
    cotangents: Tangents,
    inputs: Sequence[Variable],
    are_moving: bool = False,
) -> list[Tangent]:
    """Transpose linear ``equations`` and emit the result into the current builder.

    Args:
        equations: linear equations in execution order.
        outputs: the results of the linear map; ``None`` or a constant for a result that does not depend on a
            linear input.
        cotangents: cotangent of each output; ``None`` if it is zero.
        inputs: inputs of the linear map.
        are_moving: whether ``inputs`` are the tangents of the differentiated inputs, in the order of
            :meth:`Builder.differentiate`.

    Returns:
        The cotangent of each input; ``None`` if it is zero.
    """
    pending: dict[Atom, Atom] = {}

    def add(variable: Atom, cotangent: Atom) -> None:
        before = pending.get(variable)
        pending[variable] = cotangent if before is None else before + cotangent

    for output, cotangent in zip(outputs, cotangents, strict=True):
        if type(output) is Variable and output.linear and cotangent is not None:
            add(output, cotangent)
    builder = current()
    outer = builder.source
    depends = _dependence(equations, inputs) if are_moving else {}
    for equation in reversed(equations):
        cts = [pending.pop(y, None) for y in equation.outputs]
        if not any(ct is not None for ct in cts):
            continue
        primitive = equation.primitive
        if primitive.transpose is None:
            raise TypeError(
                f"the operator '{primitive.name}' was applied to a tangent but is not linear: it has no "
                "'transpose' rule. Forward rules must apply only linear operators to tangents."
            )
        if primitive.multiple:
            operand: Tangent | list[Atom] = [
                zeros(y.type) if ct is None else ct for y, ct in zip(equation.outputs, cts, strict=True)
            ]
        else:
            operand = cts[0]
        builder.source = outer if equation.source is None else equation.source
        builder.moving = depends.get(equation, -1)
        pulled = primitive.transpose(operand, *equation.inputs, **equation.parameters)
        for x, ct in checked(primitive, "rule 'transpose'", pulled, equation.inputs):
            if x.linear:
                add(x, ct)
    builder.source, builder.moving = outer, -1
    return [pending.get(variable) for variable in inputs]


def _dependence(equations: Sequence[Equation], inputs: Sequence[Variable]) -> dict[Equation, int]:
    """Return, for each equation, a bit mask of the ``inputs`` on which it depends."""
    depends: dict[Atom, int] = {x: 1 << k for k, x in enumerate(inputs)}
    of_equations = {}
    for equation in equations:
        bits = 0
        for x in equation.inputs:
            bits |= depends.get(x, 0)
        depends.update(dict.fromkeys(equation.outputs, bits))
        of_equations[equation] = bits
    return of_equations
