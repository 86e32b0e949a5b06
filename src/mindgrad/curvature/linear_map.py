"""Linear maps of flat vectors at a fixed point, compiled once.

    v ↦ A(w) v        the map of one derivative rule, such as the product with the Hessian

The computation of the map is split in two. The first part runs the function once, and stores the *residuals*:
all values that do not depend on v. The second part computes products from the residuals, for one vector or
for a block of vectors. A product therefore does not run the function again, and the map does not change if
the weights or other state of the function change later.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from math import prod

import numpy as np

from mindgrad.api.linearized import LinearPart, split
from mindgrad.api.vjp_call import Run
from mindgrad.core.control.trip_counts import runs
from mindgrad.core.ir.build import Builder
from mindgrad.core.ir.dtype import DType, float32, float64
from mindgrad.core.ir.graph import Atom, Variable
from mindgrad.core.ir.rules import Atoms, Tangents
from mindgrad.core.ir.tensor import Tensor, make_tensor
from mindgrad.core.ir.types import tensor_type
from mindgrad.core.ir.work import flops_of
from mindgrad.core.primitives.static_slices import concatenate, slice_axis
from mindgrad.core.primitives.structural import convert, reshape
from mindgrad.core.trace.record import transformed
from mindgrad.core.transforms.apply_rule import between, step
from mindgrad.core.transforms.rules import forward_rule, reverse_rule
from mindgrad.curvature.row_jacobian import row_jacobian_rule

__all__ = ["LinearMap", "jacobian_matrix", "kernel_rule", "linear_part"]

Rule = Callable[..., list[Atom]]


def parts_like(vector: Atom, templates: Atoms) -> list[Atom]:
    """Emit the parts of a flat vector, with the shapes and dtypes of ``templates``."""
    parts, start = [], 0
    for x in templates:
        part = slice_axis(vector, 0, start, start + x.type.size)
        parts.append(convert(reshape(part, shape=x.shape), dtype=x.dtype))
        start += x.type.size
    return parts


def joined(parts: Atoms, dtype: DType) -> Atom:
    """Emit the elements of all ``parts`` as one vector of ``dtype``."""
    vectors = [reshape(convert(x, dtype=dtype), shape=(x.type.size,)) for x in parts]
    return concatenate(*vectors, axis=0) if len(vectors) > 1 else vectors[0]


@cache
def flat(rule: Rule, over_outputs: bool = False) -> Rule:
    """Return ``rule`` for one flat vector, instead of one vector for each weight.

    Args:
        rule: rule whose vectors and results are like the inputs of the function.
        over_outputs: whether they are like the outputs instead.
    """

    def along(builder: Builder, xs: Sequence[Variable], ys: Atoms, vectors: Atoms) -> list[Atom]:
        (vector,) = vectors
        results = rule(builder, xs, ys, parts_like(vector, ys if over_outputs else xs))
        return [joined(results, vector.dtype)]

    return along


def kernel_rule(builder: Builder, xs: Sequence[Variable], ys: Atoms, cts: Atoms) -> list[Atom]:
    """Emit J Jᵀ ct, where J is the Jacobian of ``ys`` with respect to ``xs``."""
    graph, needed = between(builder, xs, ys)
    inputs = [*needed, *xs]
    pulled = builder.inline(step(graph, len(needed), reverse_rule, cts), [*inputs, *cts])
    return builder.inline(step(graph, len(needed), forward_rule, pulled), [*inputs, *pulled])


def linear_part(
    run: Run, rule: Rule, outputs: Sequence[Tensor] | None = None
) -> tuple[list[Tensor], list[Tensor], LinearPart]:
    """Split the computation of ``rule`` for a flat vector.

    Args:
        run: the run of the function.
        rule: rule whose vectors are like the inputs of the run.
        outputs: outputs of the run, if vectors are like these outputs instead.

    Returns:
        tuple: all outputs of the run, the residuals, and the second part.
    """
    like = run.recorded.inputs if outputs is None else outputs
    dtype = float64 if any(x.dtype is float64 for x in like) else float32
    type = tensor_type(dtype, (sum(x.type.size for x in like),))
    return split(run.recorded, flat(rule, outputs is not None), [type], run.outputs, False)


def jacobian_matrix(run: Run) -> Tensor:
    """Return the Jacobian of all outputs by all weights, as one matrix."""
    return transformed(run.recorded, _jacobian_rule, (), run.outputs)[1][0]


def _jacobian_rule(builder: Builder, xs: Sequence[Variable], ys: Atoms, _: Tangents = ()) -> list[Atom]:
    matrices = row_jacobian_rule(builder, xs, ys)
    dtype = float64 if any(x.dtype is float64 for x in xs) else float32
    parts = [reshape(convert(x, dtype=dtype), shape=(x.shape[0], prod(x.shape[1:]))) for x in matrices]
    return [concatenate(*parts, axis=1) if len(parts) > 1 else parts[0]]


class LinearMap:
    """A linear map of flat NumPy vectors.

    Args:
        residuals: values that the map reads.
        part: the second part of a split computation, with one vector as operand and result.

    Attributes:
        size: number of elements of an operand.
        flops: estimated number of arithmetic operations of one product.
        bytes: estimated memory of the intermediate values of one product. It is an upper bound, because the
            compiler reuses memory.
    """

    def __init__(self, residuals: Sequence[Tensor], part: LinearPart) -> None:
        self._residuals = residuals
        self._part = part
        graph = part.graph
        operand = graph.inputs[-1].type
        self.size: int = operand.size
        self._dtype = operand.dtype.numpy
        self.flops = sum(run.times * flops_of(run.equation) for run in runs(graph))
        values = [y.type for equation in graph.equations for y in equation.outputs]
        self.bytes = sum(type.size * type.dtype.itemsize for type in [operand, *values])

    def __call__(self, vector: np.ndarray) -> np.ndarray:
        """Return the product with a vector of shape ``(size,)``."""
        return self._part(self._residuals, [self._operand(vector)])[0].asnumpy()

    def columns(self, matrix: np.ndarray, width: int) -> np.ndarray:
        """Return the products with the columns of a matrix.

        The columns are processed in blocks of at most ``width`` columns.
        The number of columns of a block is a power of two or ``width``, so that few functions are compiled.
        The last block is filled up with zeros.
        """
        blocks = []
        for start in range(0, matrix.shape[1], width):
            block = matrix[:, start : start + width].T
            count = block.shape[0]
            rows = min(width, 1 << (count - 1).bit_length())
            if rows == 1:
                blocks.append(self(block[0])[None])
                continue
            padded = np.zeros((rows, self.size), self._dtype)
            padded[:count] = block
            results = self._part.batched(self._residuals, [self._operand(padded)], rows)
            blocks.append(results[0].asnumpy()[:count])
        if not blocks:
            return np.empty((self(np.zeros(self.size)).size, 0), self._dtype)
        return np.concatenate(blocks).T

    def _operand(self, x: np.ndarray) -> Tensor:
        return make_tensor(np.ascontiguousarray(x, dtype=self._dtype))
