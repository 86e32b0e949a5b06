"""Lazy Hessians, whose trace and diagonal are computed without the whole matrix.

    lazy_hessian[G, i](x) = ∂²G / ∂x_i ∂x_i          for a scalar G

If the whole Hessian is used, the equation expands to forward mode over reverse mode, batched over all unit
vectors. This costs about 4 D evaluations of G, where D is the number of components of ``x_i``. If only the
trace or elements of the diagonal are used, ``passes.peepholes`` replaces the equation by second derivatives
along unit vectors.

The equation is emitted only if ``x_i`` is a vector and ``G`` has no control flow and no effects.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from mindgrad.core.control.lazy import lazy_primitive
from mindgrad.core.ir.graph import Graph
from mindgrad.core.ir.types import TensorType

if TYPE_CHECKING:
    from mindgrad.core.ir.graph import Atom
    from mindgrad.core.ir.rules import Static

__all__ = ["lazy_hessian"]

#: function of ``(program, argnum)`` that returns the graph of the Hessian of ``program`` with respect to its
#: input number ``argnum``
Whole = Callable[[Graph, int], Graph]


def _expanded(program: Graph, argnum: int, whole: Whole) -> Graph:
    return whole(program, argnum)


def _type(*types: TensorType, program: Graph, argnum: int, whole: Whole) -> TensorType:
    shape = types[argnum].shape
    return types[argnum].with_shape((*program.outputs[0].shape, *shape, *shape))


def _taint(*xs: Atom, **parameters: Static) -> str:
    return "starts" if _expanded(**parameters).outputs[0].tainted else "passes"


lazy_hessian = lazy_primitive("lazy_hessian", _expanded, _type, _taint)
