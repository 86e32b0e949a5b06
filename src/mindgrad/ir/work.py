"""The work of an operator is a kind of computation, and the arithmetic operations of an equation.

    kind         elements are                              made again    operations of an equation
    free         as they were                              yes           none
    view         read in another order or type             yes           none
    move         copied                                    no            none
    arithmetic   sums, products, comparisons               yes           one for each element
    root         quotients and roots                       no            one for each element
    function     values of a function of a library         no            one for each element
    library      results of an algorithm on whole arrays   no            ``flops(equation)``

A row has one as ``work``. It is read by the cost model (``tools.cost``), by loops, which keep or make again
what their backward pass needs (``control.remat_policy``, ``control.while_reverse_step``), and by the seeds of
sparse derivatives (``sparse.colour_seeds``).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

__all__ = [
    "ARITHMETIC", "FREE", "FUNCTION", "LIBRARY", "MOVE", "QUOTIENT", "ROOT", "SHARED_FUNCTION", "VIEW",
    "Work", "by", "flops_of",
]  # fmt: skip


class Work(NamedTuple):
    """The work of an operator.

    Attributes:
        kind: one of the kinds above.
        flops: the arithmetic operations of one run of an equation, where the kind does not say it.
        products: the products that take as long as one element.
        is_shared: whether XLA computes a value with several uses once, in whatever loops it fuses them.
    """

    kind: str
    flops: Callable[[Any], float] | None = None
    products: float = 1.0
    is_shared: bool = False

    @property
    def is_cheap(self) -> bool:
        """Whether a value is sooner computed again than read."""
        return self.kind in ("free", "view", "arithmetic")

    @property
    def is_free(self) -> bool:
        """Whether nothing is read or written."""
        return self.kind == "free"

    @property
    def is_function(self) -> bool:
        """Whether each element takes as long as some ten products, or longer."""
        return self.kind == "function"


FREE, VIEW, MOVE, ARITHMETIC = Work("free"), Work("view"), Work("move"), Work("arithmetic")
ROOT, QUOTIENT = Work("root", is_shared=True), Work("arithmetic", is_shared=True)
FUNCTION = Work("function", products=20.0)
SHARED_FUNCTION = FUNCTION._replace(is_shared=True)
#: an algorithm that works on each element once or so
LIBRARY = Work("library")


def by(flops: Callable[[Any], float]) -> Work:
    """The work of an algorithm with so many arithmetic operations."""
    return Work("library", flops)


def flops_of(equation: Any) -> int:
    """Arithmetic operations of one run of an equation.

    >>> from mindgrad.ir.build import Builder, building
    >>> from mindgrad.ir.types import tensor_type
    >>> from mindgrad.rows.contraction import dot
    >>> with building(Builder()) as builder:
    ...     a, b = [builder.input(tensor_type("float32", shape)) for shape in ((2, 3), (3, 4))]
    ...     y = dot(a, b, contract=((1,), (0,)), batch=((), ()))
    >>> flops_of(y.made_by)
    48
    """
    primitive = equation.primitive
    work = primitive.work
    if work.flops is not None:
        return int(work.flops(equation))
    if work.kind in ("free", "view", "move"):
        return 0
    if primitive.pointwise:
        return equation.outputs[0].type.size
    return max([x.type.size for x in [*equation.inputs, *equation.outputs]], default=0)
