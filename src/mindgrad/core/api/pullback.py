"""Vector–Jacobian and Jacobian–vector products, on which the gradient APIs build.

    pull(f, x, ct) = (f(x), J_f(x)ᵀ ct)        push(f, x, t) = (f(x), J_f(x) t)

``pull`` computes a vector–Jacobian product in reverse mode, and ``push`` a Jacobian–vector product in forward
mode. Both transform a recording of one run of ``f`` (``trace.record``). They can be nested in any
combination, eager or compiled, for derivatives of any order.
"""

from __future__ import annotations

from collections.abc import Sequence

from mindgrad.core.ir.tensor import Tensor
from mindgrad.core.trace.record import Recorded, transformed
from mindgrad.core.transforms.forward import forward_rule
from mindgrad.core.transforms.reverse import reverse_rule

__all__ = ["pull", "push"]


def pull(
    recorded: Recorded, cotangents: Sequence[Tensor | None], outputs: Sequence[Tensor] | None = None
) -> tuple[list[Tensor], list[Tensor]]:
    """Return the outputs of a recorded function, and the cotangents of its inputs.

    Args:
        recorded: the recording of one run of the function. It must not be used again after ``pull``, which
            may free its values.
        cotangents: for each output, a cotangent with the type of the output; ``None`` means ones.
        outputs: the outputs to which the cotangents belong. Default: all outputs.
    """
    return transformed(recorded, reverse_rule, cotangents, outputs, is_last=True)


def push(
    recorded: Recorded, tangents: Sequence[Tensor | None], outputs: Sequence[Tensor] | None = None
) -> tuple[list[Tensor], list[Tensor]]:
    """Return the outputs of a recorded function, and the tangents of ``outputs``.

    Args:
        recorded: the recording of one run of the function.
        tangents: for each input, a tangent with the type of the input; ``None`` means zeros.
        outputs: the outputs whose tangents are computed. Default: all outputs.
    """
    return transformed(recorded, forward_rule, tangents, outputs)
