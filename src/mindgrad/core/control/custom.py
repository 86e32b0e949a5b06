"""Custom VJPs: functions with a user-defined pullback.

    custom(y, x) = y          reverse: x̄ = pullback(x, y, ȳ)

The equations of the user-defined function compute ``y``. The primitive ``custom`` returns ``y`` unchanged,
and its derivative rule replaces the derivative of these equations. Reverse mode inlines the pullback, so that
higher derivatives differentiate the pullback. Forward mode applies the transpose of the map
``ȳ ↦ pullback(x, y, ȳ)``. If this map is not linear, as in gradient clipping, it is linearized at ``ȳ = 1``.

Operands are ``(*ys, *xs, *extras)``. The extras are other values that the pullback uses; they have no
cotangent. The parameter ``pullback`` is a graph from ``(*xs, *ys, *cts, *extras)`` to one cotangent per
``x``. The parameters ``outputs`` and ``inputs`` are the numbers of ``ys`` and ``xs``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from mindgrad.core.control.batches import batched_graph, fronted
from mindgrad.core.control.loop_patterns import customized
from mindgrad.core.ir.build import Builder, building, current
from mindgrad.core.ir.graph import Atom, Graph
from mindgrad.core.ir.memo import memoized
from mindgrad.core.ir.primitive import Effects, InnerGraphs, Primitive
from mindgrad.core.ir.work import FREE
from mindgrad.core.primitives.kinds import ones, zeros
from mindgrad.core.transforms.reverse import pull_back

if TYPE_CHECKING:
    from mindgrad.core.ir.rules import Atoms, BatchAxes, Tangent, Tangents

__all__ = ["custom", "custom_tangent"]


def _split(operands: Sequence, outputs: int, inputs: int) -> tuple[Sequence, Sequence, Sequence]:
    ys, rest = operands[:outputs], operands[outputs:]
    return ys, rest[:inputs], rest[inputs:]


@memoized
def _transposed(pullback: Graph, outputs: int, inputs: int) -> Graph:
    """Return the graph ``(*xs, *ys, *at, *extras, *ts) ↦ tangents of ys``.

    The graph linearizes ``pullback`` with respect to the cotangents, at the cotangents ``at``, and transposes
    the linear map. The inputs ``ts`` are tangents of ``xs``.
    """
    builder = Builder()
    with building(builder):
        operands = builder.inputs_like(pullback.inputs)
        tangents = builder.inputs_like(pullback.inputs[:inputs])
        cotangents = operands[inputs + outputs : inputs + 2 * outputs]
        results = builder.inline(pullback, operands)
        return builder.close(pull_back(builder, cotangents, results, tangents))


def _jvp(y: Atoms, operands: Atoms, ts: Tangents, pullback: Graph, outputs: int, inputs: int) -> Tangents:
    _, xs, extras = _split(operands, outputs, inputs)
    _, x_tangents, _ = _split(ts, outputs, inputs)
    if all(t is None for t in x_tangents):
        return [None] * outputs
    directions = [zeros(x.type) if t is None else t for x, t in zip(xs, x_tangents, strict=True)]
    if any(t.linear for t in directions):
        return custom_tangent(
            *xs, *y, *extras, *directions, pullback=pullback, outputs=outputs, inputs=inputs
        )
    at = [ones(each.type) for each in y]
    transposed = _transposed(pullback, outputs, inputs)
    return current().inline(transposed, [*xs, *y, *at, *extras, *directions])


def _batch(size: int, operands: Atoms, at: BatchAxes, pullback: Graph, outputs: int, inputs: int) -> tuple:
    # `ys` and `xs` get a batch axis, because samples have different cotangents. All samples can share an
    # extra
    extras = [axis is not None for axis in at[outputs + inputs :]]
    every = (True,) * (outputs + inputs)
    batched = batched_graph(pullback, (*every, *[True] * outputs, *extras), (True,) * inputs, size)
    results = custom(
        *fronted(size, operands, at, (*every, *extras)), pullback=batched, outputs=outputs, inputs=inputs
    )
    return results, [0] * outputs


custom: Primitive[tuple[Atom, ...]] = Primitive(
    "custom",
    "control",
    work=FREE,
    type_rule=lambda *types, pullback, outputs, inputs: types[:outputs],
    numpy=lambda *operands, pullback, outputs, inputs: operands[:outputs],
    xla=lambda jax, *operands, pullback, outputs, inputs: operands[:outputs],
    jvp=_jvp,
    batch=_batch,
    multiple=True,
    # value numbering must not merge equal calls: the pullback would receive the sum of their cotangents. If
    # the pullback is not linear in the cotangents, the gradient would then be wrong
    effects=Effects(unique=True),
    inner=InnerGraphs(run=False, by_user=True),
    pattern=customized,
)


def _tangent_transpose(
    cts: Atoms, *operands: Atom, pullback: Graph, outputs: int, inputs: int
) -> list[Tangent]:
    count = len(operands) - inputs
    xs, ys, extras = (
        operands[:inputs],
        operands[inputs : inputs + outputs],
        operands[inputs + outputs : count],
    )
    pulled = current().inline(pullback, [*xs, *ys, *cts, *extras])
    return [None] * count + list(pulled)


def _never(*_: object, **__: object) -> tuple:
    raise RuntimeError("'custom_tangent' cannot be evaluated: it exists only while a derivative is built.")


#: The linear map ``t ↦ J t`` of a function with a custom VJP. It exists only while reverse mode builds a
#: graph: transposition replaces it by the pullback. Therefore ``transpose`` is its only rule
custom_tangent: Primitive[tuple[Atom, ...]] = Primitive(
    "custom_tangent",
    "control",
    type_rule=lambda *types, pullback, outputs, inputs: types[inputs : inputs + outputs],
    numpy=_never,
    xla=_never,
    jvp=_never,
    transpose=_tangent_transpose,
    multiple=True,
    inner=InnerGraphs(by_user=True),
    taint="passes",
)
