"""Lazy Hessians, whose trace and diagonal do not need the whole matrix.

    lazy_hessian[G, i](x) = ∂²G / ∂x_i ∂x_i          for a scalar G

The equation expands to forward mode over reverse mode, batched over all unit vectors.
``optimize.rowwise_fusion`` replaces traces and diagonal elements by second derivatives along unit vectors.

The equation costs nothing until it is expanded; then it costs about 4 D times the cost of G, where D is the
number of components of ``x_i``. It is emitted for graphs without control flow and effects whose input is a
vector.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from mindgrad.control.lazy import lazy_primitive
from mindgrad.ir.graph import Graph
from mindgrad.ir.types import TensorType

__all__ = ["lazy_hessian"]

#: function of ``(program, argnum)`` that builds the graph of the Hessian with respect to one input
Whole = Callable[[Graph, int], Graph]


def _expanded(program: Graph, argnum: int, whole: Whole) -> Graph:
    return whole(program, argnum)


def _type(*types: TensorType, program: Graph, argnum: int, whole: Whole) -> TensorType:
    shape = types[argnum].shape
    return types[argnum].with_shape((*program.outputs[0].shape, *shape, *shape))


def _taint(*xs: Any, **parameters: Any) -> str:
    return "starts" if _expanded(**parameters).outputs[0].tainted else "passes"


lazy_hessian = lazy_primitive("lazy_hessian", _expanded, _type, _taint)
