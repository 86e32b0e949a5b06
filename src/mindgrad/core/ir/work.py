"""Work: the cost of an operator, described by its kind and its operation count.

    kind         elements of the result are                cheap    operations of an equation
    free         unchanged                                 yes      none
    view         read in another order or type             yes      none
    move         copied                                    no       none
    arithmetic   sums, products, comparisons               yes      one for each element
    root         roots                                     no       one for each element
    function     values of a function such as ``exp``      no       one for each element
    library      results of an algorithm on whole arrays   no       ``flops(equation)``

If a value is *cheap*, recomputing it takes less time than storing and reading it.

Each primitive has a field ``work``. ``inspect.cost`` counts operations with it. ``control.remat_policy`` and
``control.while_reverse_step`` read it to decide whether reverse mode of a loop stores or recomputes a value.
``sparse.color_seeds`` reads it to decide which values sparse derivatives compute only once.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from mindgrad.core.ir.graph import Equation

__all__ = [
    "ARITHMETIC", "FREE", "FUNCTION", "LIBRARY", "MOVE", "QUOTIENT", "ROOT", "SHARED_FUNCTION", "VIEW",
    "Work", "by", "flops_of",
]  # fmt: skip


class Work(NamedTuple):
    """The cost of an operator.

    Attributes:
        kind: ``"free"``, ``"view"``, ``"move"``, ``"arithmetic"``, ``"root"``, ``"function"``, or
            ``"library"``, as in the table above.
        flops: function from an equation to its number of arithmetic operations. ``None``: the kind determines
            this number.
        products: cost of one element of the result, as a number of multiplications.
        is_shared: whether XLA computes the result only once if several loops use it. XLA recomputes other
            pointwise results in each loop.
    """

    kind: str
    flops: Callable[[Equation], float] | None = None
    products: float = 1.0
    is_shared: bool = False

    @property
    def is_cheap(self) -> bool:
        """Whether recomputing a result takes less time than storing and reading it."""
        return self.kind in ("free", "view", "arithmetic")

    @property
    def is_free(self) -> bool:
        """Whether the operator neither reads nor writes memory."""
        return self.kind == "free"

    @property
    def is_function(self) -> bool:
        """Whether the operator is a mathematical function, such as ``exp``."""
        return self.kind == "function"


FREE, VIEW, MOVE, ARITHMETIC = Work("free"), Work("view"), Work("move"), Work("arithmetic")
ROOT, QUOTIENT = Work("root", is_shared=True), Work("arithmetic", is_shared=True)
FUNCTION = Work("function", products=20.0)
SHARED_FUNCTION = FUNCTION._replace(is_shared=True)
#: cost of a library algorithm: about one operation per element
LIBRARY = Work("library")


def by(flops: Callable[[Equation], float]) -> Work:
    """Return the work of an algorithm that takes ``flops(equation)`` operations."""
    return Work("library", flops)


def flops_of(equation: Equation) -> int:
    """Return the number of arithmetic operations of an equation.

    >>> from mindgrad.core.ir.build import Builder, building
    >>> from mindgrad.core.ir.types import tensor_type
    >>> from mindgrad.core.primitives.contraction import dot
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
