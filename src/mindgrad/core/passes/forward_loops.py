"""Forward mode for the gradient of a ``while`` loop with respect to one scalar.

    x is a scalar  ⟹  J_y(x)ᵀ ct = Σ (ct ∘ J_y(x) 1)          ct: cotangent of y

Each gradient calls this module first, and uses reverse mode only if the rewrite does not apply
(``core.api.pullback``). Reverse mode through a ``while`` loop stores loop carries and recomputes iterations.
Forward mode adds one tangent to each carry component, which takes less time and needs no stored carries.

The rewrite applies to graphs of ordinary operators, branches, and loops. It does not apply to

- custom derivatives, effects, and collectives, because they define their own rules for reverse mode;
- graphs with float16 or bfloat16 values, because ``J_y(x) 1`` can overflow although ``ct`` is small and the
  gradient is finite.
"""

from __future__ import annotations

from collections.abc import Sequence

from mindgrad.core.control.while_ import while_
from mindgrad.core.ir.build import Builder
from mindgrad.core.ir.graph import Atom, Equation, Variable, all_equations, live_equations
from mindgrad.core.ir.rewriting import Rewrite
from mindgrad.core.ir.rules import Atoms
from mindgrad.core.primitives.kinds import accumulate, ones, product, zeros
from mindgrad.core.primitives.reduction import reduce_sum
from mindgrad.core.primitives.structural import convert, reshape
from mindgrad.core.transforms.forward import push_tangents

__all__ = ["pull_through_loops"]

ONE_NUMBER = Rewrite(
    "loop",
    "Jᵀ ct = Σ (ct ∘ J 1) for a gradient with respect to a scalar",
    "forward mode computes the gradient of a loop with respect to a scalar",
)


def pull_through_loops(builder: Builder, xs: Sequence[Variable], ys: Atoms, cts: Atoms) -> list[Atom] | None:
    """Emit the cotangent of one scalar input, computed in forward mode.

    Args:
        builder: builder that holds the equations of the differentiated function.
        xs: the inputs of the derivative.
        ys: the outputs of the differentiated function.
        cts: the cotangents of ``ys``, in the same order.

    Returns:
        A list with the cotangent of the scalar. ``None`` if ``xs`` is not a single real scalar, if no
        ``while`` loop depends on the scalar, or if reverse mode is necessary.
    """
    if len(xs) != 1 or type(xs[0]) is not Variable or xs[0].type.size != 1 or xs[0].dtype.kind != "float":
        return None
    (x,) = xs
    live = live_equations(builder.equations, ys)
    dependents: set[Atom] = {x}
    moving = []
    for equation in live:
        if not dependents.isdisjoint(equation.inputs):
            dependents.update(equation.outputs)
            moving.append(equation)
    inner = [*all_equations(moving)]
    if not any(equation.primitive is while_ for equation in inner) or not all(map(_is_plain, inner)):
        return None
    tangents: dict[Atom, Atom] = {x: ones(x.type)}
    push_tangents(live, tangents)
    terms = []
    for y, ct in zip(ys, cts, strict=True):
        if (t := tangents.get(y)) is not None:
            term = product(ct, t)
            axes = tuple(range(len(term.shape)))
            terms.append(convert(reduce_sum(term, axes=axes) if axes else term, dtype=x.dtype))
    ONE_NUMBER.fired()
    total = accumulate(terms)
    return [zeros(x.type) if total is None else reshape(total, shape=x.shape)]


def _is_plain(equation: Equation) -> bool:
    """Return whether forward and reverse mode differentiate ``equation`` equally."""
    primitive = equation.primitive
    if equation.has_effect or primitive.communicates or any(y.type.dtype.is_half for y in equation.outputs):
        return False
    # Supported: branches, lazy derivatives (which expand to ordinary operators), and loops for which the user
    # has not set a number of checkpoints
    is_program = (
        primitive.inner.replaceable and not equation.parameters.get("slots")
    ) or primitive.lazy is not None
    return primitive.kind != "control" or is_program
