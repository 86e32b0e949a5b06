"""The cost model estimates operations and bytes of a program from the shapes of its values.

    flops = Σ times · (2 · products of a contraction | one per element)     bytes = Σ times · (read + written)

Every equation is counted as if it ran alone: it reads its operands and writes its results. XLA fuses what is
pointwise with its neighbors, so that fewer bytes move than are counted here; reshapes and broadcasts are
counted as free. What takes more than one operation per element (a tangent, a division) counts as one, a
decomposition of a matrix as the leading term of its textbook algorithm. So the figures compare programs of
the same function, and say nothing about seconds. A ``while`` is counted with one trip, which is told.
"""

from __future__ import annotations

from dataclasses import dataclass

from mindgrad.control.trip_counts import runs
from mindgrad.ir.graph import Equation, Graph, Variable
from mindgrad.ir.work import flops_of

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


def bytes_of(equation: Equation) -> int:
    """Bytes that one run of an equation reads and writes."""
    if equation.primitive.work.is_free:
        return 0
    # a constant of one value, however often, is in the code
    read = [x for x in equation.inputs if type(x) is Variable or not x.is_splat]
    return sum(x.type.size * x.type.dtype.itemsize for x in [*dict.fromkeys(read), *equation.outputs])
