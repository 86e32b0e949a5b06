"""Reverse mode: linearize, then transpose.

    reverse(G)(x, ct) = (G(x), J_G(x)ᵀ ct)        reverse_rule: J(x)ᵀ ct

Reverse mode costs 2 to 4 times as much as G, independent of the number of inputs, and stores the values that
the linear part needs. Its result is an ordinary graph, to which any mode can be applied again.

For complex inputs, the gradient of a real loss is ∂/∂Re + i ∂/∂Im, the direction of steepest ascent, as in
MindSpore and PyTorch. Therefore ``reverse_rule`` conjugates cotangents before and after the transposition.
"""

from __future__ import annotations

from collections.abc import Sequence

from mindgrad.core.ir.build import Builder, building
from mindgrad.core.ir.graph import Atom, Graph, Variable
from mindgrad.core.ir.rules import Atoms, Tangents
from mindgrad.core.primitives.complexes import conj
from mindgrad.core.primitives.kinds import ones, zeros
from mindgrad.core.transforms.linearize import linearize
from mindgrad.core.transforms.transpose import pull_cotangents

__all__ = ["pull_back", "reverse", "reverse_rule"]


def pull_back(builder: Builder, inputs: Atoms, outputs: Atoms, cotangents: Tangents) -> list[Atom]:
    """Emit the cotangents of ``inputs`` into ``builder``, the current builder.

    ``cotangents`` are the cotangents of ``outputs``; ``None`` means zero.
    """
    directions, tangents = linearize(builder, inputs, outputs)
    linear_equations = list(builder.linear_equations)
    pulled = pull_cotangents(linear_equations, tangents, cotangents, directions, are_moving=True)
    return [zeros(x.type) if ct is None else ct for x, ct in zip(inputs, pulled, strict=True)]


def reverse_rule(builder: Builder, xs: Sequence[Variable], ys: Atoms, cts: Tangents) -> list[Atom]:
    """Emit ``J(x)ᵀ ct`` into ``builder``. A cotangent ``None`` means ones.

    :func:`pull` passes this rule to ``record.transformed`` as ``transform``.
    """
    given = [ones(y.type) if ct is None else _conjugate(ct) for y, ct in zip(ys, cts, strict=True)]
    return [_conjugate(ct) for ct in pull_back(builder, xs, ys, given)]


def _conjugate(atom: Atom) -> Atom:
    return conj(atom) if atom.type.dtype.kind == "complex" else atom


def reverse(graph: Graph, active: Sequence[int]) -> Graph:
    """Return the graph that computes ``graph`` and its vector–Jacobian product.

    Args:
        graph: the graph to differentiate.
        active: positions of the inputs whose cotangents are computed.

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
