"""Vector-Jacobian and Jacobian-vector products, on which the gradient APIs build.

    pull(f, x, ct) = (f(x), J_f(x)ᵀ ct)        push(f, x, t) = (f(x), J_f(x) t)

``pull`` computes a vector-Jacobian product by reverse mode, and ``push`` a Jacobian-vector product by forward
mode. Both transform a recording of one run of ``f`` (``execution.record``). They can be nested in any
combination, eager or compiled, for derivatives of any order.

For complex inputs, the gradient of a real loss is ∂/∂Re + i ∂/∂Im, the direction of steepest ascent, as in
MindSpore and PyTorch. Therefore cotangents are conjugated before and after the transposition.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from mindgrad.execution.record import Recorded, transformed
from mindgrad.ir.graph import Atom, live_equations
from mindgrad.ir.tensor import Tensor
from mindgrad.optimize.forward_loops import pulled_through_loops
from mindgrad.optimize.mode_choice import as_series, pulled_along
from mindgrad.primitives.complexes import conj
from mindgrad.primitives.kinds import ones
from mindgrad.transforms.forward import push_tangents, tangent_or_zero
from mindgrad.transforms.reverse import pull_back

__all__ = ["forward_rule", "pull", "push", "reverse_rule"]


def _conjugate(atom: Any) -> Any:
    return conj(atom) if atom.type.dtype.kind == "complex" else atom


def reverse_rule(builder: Any, xs: Sequence[Any], ys: Sequence[Any], cts: Sequence[Any]) -> list[Any]:
    """Emit ``J(x)ᵀ ct``; a cotangent ``None`` means ones.

    :func:`pull` passes it to ``record.transformed`` as ``transform``.
    """
    given = [ones(y.type) if ct is None else _conjugate(ct) for y, ct in zip(ys, cts, strict=True)]
    return [_conjugate(ct) for ct in pull_back(builder, xs, ys, given)]


def forward_rule(builder: Any, xs: Sequence[Any], ys: Sequence[Any], ts: Sequence[Any]) -> list[Any]:
    """Emit ``J(x) t``; a tangent ``None`` means zeros.

    :func:`push` passes it to ``record.transformed`` as ``transform``.
    """
    tangents: dict[Atom, Atom] = {x: t for x, t in zip(xs, ts, strict=True) if t is not None}
    push_tangents(live_equations(builder.equations, ys), tangents)
    return [tangent_or_zero(y, tangents) for y in ys]


def _pulled_along(builder: Any, xs: Sequence[Any], ys: Sequence[Any], cts: Sequence[Any]) -> list[Any] | None:
    """Emit ``J(x)ᵀ ct`` by forward mode; return ``None`` if reverse mode is cheaper."""
    if any(y.type.dtype.kind != "float" for y in ys):
        return None
    given = [ones(y.type) if ct is None else ct for y, ct in zip(ys, cts, strict=True)]
    along = pulled_along(builder, xs, ys, given)
    return pulled_through_loops(builder, xs, ys, given) if along is None else along


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
    return transformed(recorded, forward_rule, tangents, outputs, as_series)
