"""Cost model: operations and bytes of a program, estimated from shapes.

    flops = Σ times · (2 · products of a contraction | one per element)     bytes = Σ times · (read + written)

The model assumes that every equation runs alone, reads its operands, and writes its results. It overestimates
the bytes, because XLA fuses elementwise operators with their neighbors. Reshapes and broadcasts are free.
Elementwise operators count as one operation per element, even a division or a tangent. Matrix decompositions
count as the leading term of their textbook algorithm.

Use the estimates to compare programs of the same function. They do not predict seconds. A ``while`` loop
counts as one iteration, and ``is_known`` is then ``False``.
"""

from __future__ import annotations

from dataclasses import dataclass

from mindgrad.core.control.trip_counts import runs
from mindgrad.core.ir.graph import Equation, Graph, Variable
from mindgrad.core.ir.work import flops_of

__all__ = ["Cost", "cost"]


@dataclass(frozen=True)
class Cost:
    """The estimated cost of a program.

    Attributes:
        equations: number of equations. Equations in loops and branches count once.
        flops: number of arithmetic operations.
        bytes: sum of the bytes that each equation reads and writes.
        is_known: ``False`` if the number of iterations of a loop depends on the data. Such a loop counts as
            one iteration.
    """

    equations: int
    flops: int
    bytes: int
    is_known: bool


def cost(graph: Graph) -> Cost:
    """Estimate the cost of a program, including all branches of conditionals.

    >>> import mindgrad as ms
    >>> from mindgrad.frontend.programs.compiled import trace
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


def bytes_of(equation: Equation) -> int:
    """Return the bytes that one run of an equation reads and writes."""
    if equation.primitive.work.is_free:
        return 0
    # do not count splat constants: an array that repeats one value is part of the compiled code, and is not
    # read from memory
    read = [x for x in equation.inputs if type(x) is Variable or not x.is_splat]
    return sum(x.type.size * x.type.dtype.itemsize for x in [*dict.fromkeys(read), *equation.outputs])
