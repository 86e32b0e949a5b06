"""Wrappers of kernels that compute float16 and bfloat16 reductions in float32.

In float32, a sum of many terms loses fewer digits than in the 16-bit dtypes.
"""

from __future__ import annotations

import numpy as np

from mindgrad.core.ir.dtype import DType
from mindgrad.core.ir.rules import Array, Kernel, Module, NumpyType, XlaKernel

__all__ = ["in_single", "in_single_xla", "is_half"]


def is_half(dtype: DType | NumpyType) -> bool:
    return dtype.itemsize == 2 and dtype.kind in "fV"  # ml_dtypes gives bfloat16 the kind "V"


def in_single(kernel: Kernel) -> Kernel:
    """Wrap the NumPy ``kernel(x, …)`` to compute 16-bit floats in float32."""

    def run(x: Array, *others: Array, **parameters: object) -> Array:
        if x.dtype.itemsize == 2 and is_half(x.dtype):  # the first test is fast and decides for most types
            wide = [array.astype(np.float32) for array in (x, *others)]
            return np.asarray(kernel(*wide, **parameters)).astype(x.dtype)
        return np.asarray(kernel(x, *others, **parameters))

    return run


def in_single_xla(kernel: XlaKernel) -> XlaKernel:
    """Wrap the XLA ``kernel(jax, x, …)`` to compute 16-bit floats in float32."""

    def run(jax: Module, *xs: Array, **parameters: object) -> Array:
        dtype = xs[0].dtype
        if is_half(dtype):
            return kernel(jax, *(x.astype(np.float32) for x in xs), **parameters).astype(dtype)
        return kernel(jax, *xs, **parameters)

    return run
