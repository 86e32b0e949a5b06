"""The rules of reverse and forward mode, for ``trace.record.transformed``.

    reverse_rule: J(x)ᵀ ct        forward_rule: J(x) t

A rule is a function of ``(builder, xs, ys, vectors)``. It emits equations into ``builder``, which contains
the equations of the function, and returns atoms (variables or constants).

For complex inputs, the gradient of a real loss is ∂/∂Re + i ∂/∂Im, the direction of steepest ascent, as in
MindSpore and PyTorch. Therefore cotangents are conjugated before and after the transposition.
"""

from __future__ import annotations

from collections.abc import Sequence

from mindgrad.core.ir.build import Builder
from mindgrad.core.ir.graph import Atom, Variable, live_equations
from mindgrad.core.ir.rules import Atoms, Tangents
from mindgrad.core.primitives.complexes import conj
from mindgrad.core.primitives.kinds import ones
from mindgrad.core.transforms.forward import push_tangents, tangent_or_zero
from mindgrad.core.transforms.reverse import pull_back

__all__ = ["forward_rule", "reverse_rule"]


def _conjugate(atom: Atom) -> Atom:
    return conj(atom) if atom.type.dtype.kind == "complex" else atom


def reverse_rule(builder: Builder, xs: Sequence[Variable], ys: Atoms, cts: Tangents) -> list[Atom]:
    """Emit ``J(x)ᵀ ct`` into ``builder``. A cotangent ``None`` means ones.

    :func:`pull` passes this rule to ``record.transformed`` as ``transform``.
    """
    given = [ones(y.type) if ct is None else _conjugate(ct) for y, ct in zip(ys, cts, strict=True)]
    return [_conjugate(ct) for ct in pull_back(builder, xs, ys, given)]


def forward_rule(builder: Builder, xs: Sequence[Variable], ys: Atoms, ts: Tangents) -> list[Atom]:
    """Emit ``J(x) t`` into ``builder``. A tangent ``None`` means zeros.

    :func:`push` passes this rule to ``record.transformed`` as ``transform``.
    """
    tangents: dict[Atom, Atom] = {x: t for x, t in zip(xs, ts, strict=True) if t is not None}
    push_tangents(live_equations(builder.equations, ys), tangents)
    return [tangent_or_zero(y, tangents) for y in ys]
