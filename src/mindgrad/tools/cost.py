"""The cost model estimates operations and bytes of a program from the shapes of its values.

    flops = Σ times · (2 · products of a contraction | one per element)     bytes = Σ times · (read + written)

Every equation is counted as if it ran alone: it reads its operands and writes its results. XLA fuses what is
pointwise with its neighbours, so that fewer bytes move than are counted here; reshapes and broadcasts are
counted as free. What takes more than one operation per element (a tangent, a division) counts as one, a
decomposition of a matrix as the leading term of its textbook algorithm. So the figures compare programs of
the same function, and say nothing about seconds. A ``while`` is counted with one trip, which is told.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from mindgrad.control.trip_counts import runs
from mindgrad.ir.graph import Equation, Graph, Variable

__all__ = ["Cost", "cost"]


@dataclass(frozen=True)
class Cost:
    """An estimate.

    Attributes:
        equations: how many there are, those in loops and branches once each.
        flops: arithmetic operations.
        bytes: read and written, equation by equation.
        is_known: whether no loop runs as often as the data say; of those one trip is counted.
    """

    equations: int
    flops: int
    bytes: int
    is_known: bool


def cost(graph: Graph) -> Cost:
    """The cost of a program, of both sides of a branch.

    >>> import mindgrad as ms
    >>> from mindgrad.execution.compiled import trace
    >>> a, b = ms.ops.ones((2, 3)), ms.ops.ones((3, 4))
    >>> cost(trace(lambda a, b: ms.ops.matmul(a, b), a, b))
    Cost(equations=1, flops=48, bytes=104, is_known=True)
    """
    equations = flops = moved = 0
    is_known = True
    for run in runs(graph):
        equations += 1
        flops += run.times * flops_of(run.equation)
        moved += run.times * bytes_of(run.equation)
        is_known = is_known and run.is_known
    return Cost(equations, flops, moved, is_known)


def flops_of(equation: Equation) -> int:
    """Arithmetic operations of one run of an equation."""
    primitive = equation.primitive
    rule = _FLOPS.get(primitive.name)
    if rule is not None:
        return int(rule(equation))
    if primitive.pointwise:
        return equation.outputs[0].type.size
    return max([x.type.size for x in [*equation.inputs, *equation.outputs]], default=0)


def bytes_of(equation: Equation) -> int:
    """Bytes that one run of an equation reads and writes."""
    if equation.primitive.name in _FREE:
        return 0
    # a constant of one value, however often, is in the code
    read = [x for x in equation.inputs if type(x) is Variable or not x.is_splat]
    return sum(x.type.size * x.type.dtype.itemsize for x in [*dict.fromkeys(read), *equation.outputs])


#: rows that are no work of their own
_FREE = ("reshape", "broadcast_in_dim", "stop_gradient", "custom", "hook", "root", "show")
#: rows that only move
_MOVING = (
    "convert", "transpose", "concatenate", "slice", "pad", "reverse", "gather", "scatter_set",
    "dynamic_slice", "dynamic_update_slice", "iota", "unstack", "select", "real", "imag", "complex",
)  # fmt: skip


def _dot(equation: Equation) -> int:
    shape, (axes, _) = equation.inputs[0].shape, equation.parameters["contract"]
    return 2 * equation.outputs[0].type.size * math.prod(shape[axis] for axis in axes)


def _conv(equation: Equation) -> int:
    # every element of the output is a sum over the window and the channels of its group
    kernel = equation.inputs[1].shape
    return 2 * equation.outputs[0].type.size * math.prod(kernel[1:])


def _matrices(factor: float) -> Callable[[Equation], float]:
    """``factor · m · n · min(m, n)`` for each matrix."""

    def rule(equation: Equation) -> float:
        *lead, m, n = equation.inputs[0].shape
        return factor * math.prod(lead) * m * n * min(m, n)

    return rule


def _solution(equation: Equation) -> float:
    a, b = equation.inputs[0].shape, equation.inputs[1]
    return b.type.size * a[-1]


def _solution_of_any(equation: Equation) -> float:
    return _matrices(2 / 3)(equation) + 2 * _solution(equation)


def _transform(equation: Equation) -> float:
    x = equation.inputs[0]
    return 5 * x.type.size * sum(math.log2(max(x.shape[axis], 1)) for axis in equation.parameters["axes"])


def _sorting(equation: Equation) -> float:
    x: Any = equation.inputs[0]
    return x.type.size * math.log2(max(*x.shape, 2))


_FLOPS: dict[str, Callable[[Equation], float]] = {
    "dot": _dot,
    "conv": _conv,
    "cholesky": _matrices(1 / 3),
    "qr": _matrices(2),
    "inverse": _matrices(2),
    "det": _matrices(2 / 3),
    "slogdet": _matrices(2 / 3),
    "eigh": _matrices(9),
    "eigvalsh": _matrices(4 / 3),
    "svd": _matrices(14),
    "svdvals": _matrices(4),
    "triangular_solve": _solution,
    "solve": _solution_of_any,
    "fft": _transform,
    "argsort": _sorting,
    **dict.fromkeys([*_FREE, *_MOVING], lambda equation: 0),
    "scatter_add": lambda equation: equation.inputs[2].type.size,
}
