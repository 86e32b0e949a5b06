"""Vector-Jacobian and Jacobian-vector products, on which the gradient APIs build.

    pull(f, x, ct) = (f(x), J_f(x)ᵀ ct)        push(f, x, t) = (f(x), J_f(x) t)

``pull`` computes a vector-Jacobian product by reverse mode, and ``push`` a Jacobian-vector product by forward
mode. Both transform a recording of one run of ``f`` (``trace.record``). They can be nested in any
combination, eager or compiled, for derivatives of any order.

For complex inputs, the gradient of a real loss is ∂/∂Re + i ∂/∂Im, the direction of steepest ascent, as in
MindSpore and PyTorch. Therefore cotangents are conjugated before and after the transposition.
"""

from __future__ import annotations

from collections.abc import Sequence

from mindgrad.core.ir.build import Builder
from mindgrad.core.ir.graph import Atom, live_equations
from mindgrad.core.ir.rules import Atoms, Tangents
from mindgrad.core.ir.tensor import Tensor
from mindgrad.core.passes.forward_loops import pull_through_loops
from mindgrad.core.passes.mode_choice import pull_by_series, push_series
from mindgrad.core.primitives.complexes import conj
from mindgrad.core.primitives.kinds import ones
from mindgrad.core.trace.record import Recorded, transformed
from mindgrad.core.transforms.forward import push_tangents, tangent_or_zero
from mindgrad.core.transforms.reverse import pull_back

__all__ = ["forward_rule", "pull", "push", "reverse_rule"]


def _conjugate(atom: Atom) -> Atom:
    return conj(atom) if atom.type.dtype.kind == "complex" else atom


def reverse_rule(builder: Builder, xs: Atoms, ys: Atoms, cts: Tangents) -> list[Atom]:
    """Emit ``J(x)ᵀ ct``; a cotangent ``None`` means ones."""
    given = [ones(y.type) if ct is None else _conjugate(ct) for y, ct in zip(ys, cts, strict=True)]
    return [_conjugate(ct) for ct in pull_back(builder, xs, ys, given)]


def forward_rule(builder: Builder, xs: Atoms, ys: Atoms, ts: Tangents) -> list[Atom]:
    """Emit ``J(x) t``; a tangent ``None`` means zeros."""
    tangents: dict[Atom, Atom] = {x: t for x, t in zip(xs, ts, strict=True) if t is not None}
    push_tangents(live_equations(builder.equations, ys), tangents)
    return [tangent_or_zero(y, tangents) for y in ys]


def _pulled_along(builder: Builder, xs: Atoms, ys: Atoms, cts: Tangents) -> list[Atom] | None:
    """Emit ``J(x)ᵀ ct`` by forward mode; return ``None`` if reverse mode is cheaper."""
    if any(y.type.dtype.kind != "float" for y in ys):
        return None
    given = [ones(y.type) if ct is None else ct for y, ct in zip(ys, cts, strict=True)]
    along = pull_by_series(builder, xs, ys, given)
    return pull_through_loops(builder, xs, ys, given) if along is None else along


def pull(
    recorded: Recorded, cotangents: Sequence[Tensor | None], outputs: Sequence[Tensor] | None = None
) -> tuple[list[Tensor], list[Tensor]]:
    """Return the outputs of a recording and the cotangents of its inputs.

    Args:
        recorded: the recording of a run of the function. It must not be transformed again, because its
            values may be freed.
        cotangents: for each output, a cotangent of the type of the output; ``None`` means ones.
        outputs: the outputs to which the cotangents belong. Default: all outputs.
    """
    return transformed(recorded, reverse_rule, cotangents, outputs, _pulled_along, is_last=True)


def push(
    recorded: Recorded, tangents: Sequence[Tensor | None], outputs: Sequence[Tensor] | None = None
) -> tuple[list[Tensor], list[Tensor]]:
    """Return the outputs of a recording, and the tangents of ``outputs``.

    Args:
        recorded: the recording of a run of the function.
        tangents: for each input, a tangent of the type of the input; ``None`` means zeros.
        outputs: the outputs whose tangents are computed. Default: all outputs.
    """
    return transformed(recorded, forward_rule, tangents, outputs, push_series)
