"""Convert complex unknowns of solvers to real tensors.

    z of shape s  ↔  (Re z, Im z) of shape (2, *s)

The solvers handle only real tensors.
"""

from __future__ import annotations

from collections.abc import Sequence

from mindgrad.core.ir.dtype import DType
from mindgrad.core.ir.evaluate import inline_here
from mindgrad.core.ir.graph import Graph
from mindgrad.core.ir.scope import apply
from mindgrad.core.ir.tensor import Tensor
from mindgrad.core.ir.types import TensorType, tensor_type
from mindgrad.core.primitives.complexes import complex as complex_of_parts
from mindgrad.core.primitives.complexes import imag, real
from mindgrad.core.primitives.static_slices import concatenate
from mindgrad.core.primitives.structural import convert
from mindgrad.core.trace.closed_program import trace
from mindgrad.solvers.iterate import Function, Value, Values

__all__ = ["Unknowns", "from_real", "in_real_parts", "real_of"]


def real_of(x: Value, dtype: DType) -> Value:
    """Convert ``x`` to a real tensor of dtype ``dtype``.

    If ``x`` is complex, its real and imaginary parts are stacked along a new first axis.
    """
    if x.dtype.kind == "complex":
        rows = [x.reshape((1, *x.shape)) for x in (apply(real, x), apply(imag, x))]
        return real_of(apply(concatenate, *rows, axis=0), dtype)
    return x if x.dtype is dtype else apply(convert, x, dtype=dtype)


def from_real(x: Value, dtype: DType, axis: int = 0) -> Value:
    """Invert :func:`real_of`: convert ``x`` back to the dtype ``dtype``.

    ``axis`` is the axis of the real and imaginary parts.
    """
    if dtype.kind == "complex":
        x = apply(complex_of_parts, *[x[(slice(None),) * axis + (part,)] for part in (0, 1)])
    return x if x.dtype is dtype else apply(convert, x, dtype=dtype)


def in_real_parts(graph: Graph, first: int, last: int, dtype: DType) -> Graph:
    """Return ``graph`` with real tensors as inputs ``first:last`` and as outputs.

    These tensors are the results of :func:`real_of` for the original inputs and outputs.
    """
    types = [x.type for x in graph.inputs]
    converted = types[first:last]

    def run(*xs: Tensor) -> Values:
        joined = [from_real(x, type.dtype) for x, type in zip(xs[first:last], converted, strict=True)]
        return [real_of(y, dtype) for y in inline_here(graph, [*xs[:first], *joined, *xs[last:]])]

    parts = [tensor_type(dtype, _shape_of_parts(type)) for type in converted]
    return trace(run, [*types[:first], *parts, *types[last:]]).graph


def _shape_of_parts(type: TensorType) -> tuple[int, ...]:
    return (2, *type.shape) if type.dtype.kind == "complex" else type.shape


class Unknowns:
    """The unknowns of a solver, and their conversion to real tensors.

    Args:
        types: the types of the unknowns.
        dtype: the dtype of the real tensors.
    """

    def __init__(self, types: Sequence[TensorType], dtype: DType) -> None:
        self.dtypes = tuple([type.dtype for type in types])
        self.dtype = dtype
        self.are_complex = any(dtype.kind == "complex" for dtype in self.dtypes)

    def parts(self, xs: Sequence[Value]) -> Values:
        """Convert the unknowns ``xs`` to the real tensors of the solver."""
        return [real_of(x, self.dtype) for x in xs]

    def joined(self, xs: Sequence[Value]) -> Values:
        """Invert :meth:`parts`."""
        return [from_real(x, dtype) for x, dtype in zip(xs, self.dtypes, strict=True)]

    def function(self, function: Function) -> Function:
        """Convert a function of the unknowns to a function of the real tensors."""
        if not self.are_complex:
            return function
        first = len(function.outside)
        return function.with_graph(in_real_parts(function.graph, first, first + len(self.dtypes), self.dtype))
