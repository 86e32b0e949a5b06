"""Complex states as real ones: what solvers compare and measure are the real and imaginary parts.

z of the shape s  ↔  (Re z, Im z) of the shape (2, *s)
"""

from __future__ import annotations

from mindgrad.execution.record import inline_here
from mindgrad.ir.dtype import DType
from mindgrad.ir.graph import Graph
from mindgrad.ir.scope import apply
from mindgrad.ir.tensor import Tensor
from mindgrad.ir.types import TensorType
from mindgrad.rows.complexes import complex as complex_of_parts
from mindgrad.rows.complexes import imag, real
from mindgrad.rows.static_slices import concatenate
from mindgrad.rows.structural import convert
from mindgrad.solvers.iterate import Value, Values
from mindgrad.trace.closed_program import trace

__all__ = ["from_real", "in_real_parts", "real_of"]


def real_of(x: Value, dtype: DType) -> Value:
    """Numbers of the real type ``dtype``: for complex ones their two parts, stacked on the first axis."""
    if x.dtype.kind == "complex":
        rows = [x.reshape((1, *x.shape)) for x in (apply(real, x), apply(imag, x))]
        return real_of(apply(concatenate, *rows, axis=0), dtype)
    return x if x.dtype is dtype else apply(convert, x, dtype=dtype)


def from_real(x: Value, dtype: DType, axis: int = 0) -> Value:
    """The inverse of :func:`real_of`: ``dtype`` is the former type, ``axis`` that of the two parts."""
    if dtype.kind == "complex":
        x = apply(complex_of_parts, *[x[(slice(None),) * axis + (part,)] for part in (0, 1)])
    return x if x.dtype is dtype else apply(convert, x, dtype=dtype)


def in_real_parts(graph: Graph, count: int) -> Graph:
    """The slope ``(*outside, *y, t) ↦ f`` of ``count`` states, with :func:`real_of` of ``y`` and ``f``."""
    *inputs, at = graph.inputs
    captured = len(inputs) - count
    states = [y.type for y in inputs[captured:]]

    def run(*xs: Tensor) -> Values:
        joined = [from_real(x, y.dtype) for x, y in zip(xs[captured:-1], states, strict=True)]
        return [real_of(f, at.dtype) for f in inline_here(graph, [*xs[:captured], *joined, xs[-1]])]

    parts = [at.type.with_shape(_shape_of_parts(y)) for y in states]
    return trace(run, [*[x.type for x in inputs[:captured]], *parts, at.type]).graph


def _shape_of_parts(type: TensorType) -> tuple[int, ...]:
    return (2, *type.shape) if type.dtype.kind == "complex" else type.shape
