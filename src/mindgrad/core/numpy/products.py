"""Sums of products: ``matmul``, ``einsum``, ``tensordot``, and polynomials."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from mindgrad.core.ir.scope import apply
from mindgrad.core.ir.tensor import Tensor
from mindgrad.core.numpy.elementwise import add, conjugate, multiply, subtract
from mindgrad.core.numpy.movement import diagonal, pad, take
from mindgrad.core.numpy.reductions import axes_of, sum
from mindgrad.core.numpy.shapes import moveaxis, ravel, reshape, stack
from mindgrad.core.primitives.einsum import einsum_plan, matmul_plan
from mindgrad.core.trace.operands import operand, promoted

__all__ = [
    "convolve", "cross", "dot", "einsum", "inner", "kron", "matmul", "outer", "polyval", "tensordot", "trace",
    "vdot",
]  # fmt: skip


def matmul(x1: object, x2: object) -> Any:
    """Compute the matrix product over the last two axes; leading axes broadcast."""
    a, b = promoted("matmul", x1, x2)
    return matmul_plan(a.shape, b.shape)((a, b), apply)


def einsum(subscripts: str, *operands: object) -> Any:
    """Compute sums of products in Einstein notation, such as ``"ij,jk->ik"``."""
    tensors = promoted("einsum", *operands)
    return einsum_plan(subscripts, tuple([x.shape for x in tensors]))(tensors, apply)


def tensordot(a: object, b: object, axes: int | Sequence[int | Sequence[int]] = 2) -> Any:
    """Sum products over the last axes of ``a`` and the first axes of ``b``.

    ``axes`` is the number of these axes, or a pair of lists: the axes of ``a`` and the axes of ``b``.
    """
    return _contracted("tensordot", a, b, axes)


def _contracted(owner: str, a: object, b: object, axes: int | Sequence[Any]) -> Any:
    x, y = promoted(owner, a, b)
    if isinstance(axes, int):
        axes = range(x.ndim - axes, x.ndim), range(axes)
    left, right = (axes_of(owner, each, v.ndim) for each, v in zip(axes, (x, y), strict=True))
    sizes, others = [x.shape[k] for k in left], [y.shape[k] for k in right]
    if sizes != others:
        raise ValueError(
            f"For '{owner}', the sizes of the summed axes must agree, but the shapes {x.shape} and {y.shape} "
            f"have sizes {sizes} along axes {left} of the first, and {others} along {right} of the second."
        )
    free_axes = [k for k in range(x.ndim) if k not in left]
    kept_axes = [k for k in range(y.ndim) if k not in right]
    count = math.prod(x.shape[k] for k in left)
    rows = reshape(moveaxis(x, left, range(len(free_axes), x.ndim)), (-1, count))
    columns = reshape(moveaxis(y, right, range(len(right))), (count, -1))
    return reshape(
        matmul(rows, columns), [*[x.shape[k] for k in free_axes], *[y.shape[k] for k in kept_axes]]
    )


def dot(a: object, b: object) -> Any:
    """Sum products over the last axis of ``a`` and the second-to-last axis of ``b``."""
    x, y = operand(a, "dot"), operand(b, "dot")
    if not x.ndim or not y.ndim:
        return multiply(x, y)
    return _contracted("dot", x, y, ([x.ndim - 1], [max(y.ndim - 2, 0)]))


def vdot(a: object, b: object) -> Any:
    """Sum the products of all elements of the complex conjugate of ``a`` and of ``b``."""
    return matmul(ravel(conjugate(a)), ravel(b))


def inner(a: object, b: object) -> Any:
    """Sum products over the last axes of ``a`` and ``b``."""
    x, y = operand(a, "inner"), operand(b, "inner")
    return _contracted("inner", x, y, ([x.ndim - 1], [y.ndim - 1])) if x.ndim and y.ndim else multiply(x, y)


def outer(a: object, b: object) -> Any:
    """Multiply each element of ``a`` by each element of ``b``."""
    return multiply(reshape(ravel(a), (-1, 1)), ravel(b))


def kron(a: object, b: object) -> Any:
    """Compute the Kronecker product."""
    x, y = promoted("kron", a, b)
    rank = max(x.ndim, y.ndim)
    left, right = ((1,) * (rank - v.ndim) + v.shape for v in (x, y))
    x = reshape(x, [n for size in left for n in (size, 1)])
    y = reshape(y, [n for size in right for n in (1, size)])
    return reshape(multiply(x, y), [m * n for m, n in zip(left, right, strict=True)])


def trace(a: object, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Any:
    """Sum the elements of diagonal ``offset``."""
    return sum(diagonal(a, offset, axis1, axis2), -1)


def cross(a: object, b: object, axis: int = -1) -> Any:
    """Compute the cross products of vectors of size 3 along ``axis``."""
    x, y = (moveaxis(v, axis, -1) for v in promoted("cross", a, b))
    if x.shape[-1] != 3 or y.shape[-1] != 3:
        raise ValueError(
            f"For 'cross', the vectors must have size 3, but the shapes are {x.shape} and {y.shape}."
        )
    (a0, a1, a2), (b0, b1, b2) = ([take(v, k, -1) for k in range(3)] for v in (x, y))
    pairs = ((a1, b2, a2, b1), (a2, b0, a0, b2), (a0, b1, a1, b0))
    return moveaxis(stack([subtract(multiply(p, q), multiply(r, s)) for p, q, r, s in pairs], -1), -1, axis)


def convolve(a: object, v: object, mode: str = "full") -> Any:
    """Compute the convolution of two 1-D tensors.

    ``mode`` selects the part of the result as in NumPy: ``"full"``, ``"same"``, or ``"valid"``.
    """
    x, y = promoted("convolve", a, v)
    if x.size < y.size:
        x, y = y, x
    full = _windows_product(pad(x, y.size - 1), y)
    if mode == "full":
        return full
    count = x.size if mode == "same" else x.size - y.size + 1
    start = (full.size - count) // 2
    return take(full, list(range(start, start + count)), 0)


def _windows_product(x: Tensor, y: Tensor) -> Any:
    """Return Σ_j x_{i+j} y_{n−1−j} for each window of ``x``."""
    size = y.size
    at = [[i + size - 1 - j for j in range(size)] for i in range(x.size - size + 1)]
    return matmul(take(x, at, 0), y)


def polyval(p: object, x: object) -> Any:
    """Evaluate the polynomial with coefficients ``p``, highest power first, at ``x``."""
    coefficients, x = promoted("polyval", p, x)
    value = multiply(x, 0)
    for k in range(coefficients.size):
        value = add(multiply(value, x), take(coefficients, k, 0))
    return value
