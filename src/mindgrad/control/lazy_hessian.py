"""The lazy Hessian is one equation, of which reading the trace or the diagonal need not build the matrix.

    lazy_hessian[G, i](x) = ∂²G / ∂x_i ∂x_i          G of one number

Its expansion (:func:`expanded`) is forward mode over reverse mode, for all unit
vectors at once. ``optimize.rowwise_fusion`` replaces traces and elements of the diagonal by second
derivatives along unit vectors.

Cost: none until it is expanded, then about 4 D times G. Limits: emitted for programs without control flow and
effects whose input is a vector.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from mindgrad.control.lazy import lazy_primitive
from mindgrad.ir.graph import Graph
from mindgrad.ir.types import TensorType

__all__ = ["lazy_hessian"]

#: makes the Hessian of a program in one of its inputs: ``(program, argnum)`` to a graph from the same inputs
Whole = Callable[[Graph, int], Graph]


def _expanded(program: Graph, argnum: int, whole: Whole) -> Graph:
    return whole(program, argnum)


def _type(*types: TensorType, program: Graph, argnum: int, whole: Whole) -> TensorType:
    shape = types[argnum].shape
    return types[argnum].with_shape((*program.outputs[0].shape, *shape, *shape))


def _taint(*xs: Any, **parameters: Any) -> str:
    return "starts" if _expanded(**parameters).outputs[0].tainted else "passes"


lazy_hessian = lazy_primitive("lazy_hessian", _expanded, _type, _taint)
