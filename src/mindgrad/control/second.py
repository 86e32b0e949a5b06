"""A Hessian as one equation: who reads only its diagonal, or its trace, need not make it.

    second[G, i](x) = ∂²G / ∂x_i ∂x_i          G of one number

The program that it stands for is that of :func:`expanded`: forward mode of reverse mode, for all unit vectors
at once. ``rewrites.families`` reads traces and elements of the diagonal as second derivatives along unit
vectors instead.

Cost: none until it is expanded, then about 4 D times G. Limits: made for programs without control flow and
effects whose input is a vector.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from mindgrad.control.deferred import DEFERRED, never, pushed, series
from mindgrad.core.evaluate import evaluate
from mindgrad.core.graph import Equation, Graph
from mindgrad.core.primitive import Primitive
from mindgrad.core.types import TensorType
from mindgrad.transforms.batch import push_batch

__all__ = ["second"]

#: makes the Hessian of a program in one of its inputs: ``(program, place)`` to a graph from the same inputs
Whole = Callable[[Graph, int], Graph]


def _expanded(program: Graph, place: int, whole: Whole) -> Graph:
    return whole(program, place)


def _type(*types: TensorType, program: Graph, place: int, whole: Whole) -> TensorType:
    shape = types[place].shape
    return types[place].with_shape((*program.outputs[0].shape, *shape, *shape))


def _jvp(y: Any, xs: Sequence[Any], ts: Sequence[Any], **parameters: Any) -> Any:
    return pushed(_expanded(**parameters), [y], xs, ts)[0]


def _batch(size: int, xs: Any, at: Any, **parameters: Any) -> Any:
    found, places = push_batch(_expanded(**parameters), xs, at, size)
    return found[0], places[0]


def _series(equation: Equation, coefficients: Sequence[Sequence[Any]], order: int) -> list[list[Any]]:
    return series(_expanded(**equation.parameters), equation, coefficients, order)


def _taint(*xs: Any, **parameters: Any) -> str:
    return "starts" if _expanded(**parameters).outputs[0].tainted else "passes"


second = Primitive(
    "second",
    "control",
    type_rule=_type,
    numpy=lambda *xs, **parameters: evaluate(_expanded(**parameters), xs)[0],
    xla=never,
    jvp=_jvp,
    batch=_batch,
    series=_series,
    taint=_taint,
)
DEFERRED[second] = _expanded
