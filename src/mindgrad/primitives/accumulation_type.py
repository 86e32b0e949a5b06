"""Compute reductions of float16 and bfloat16 in float32, to preserve digits."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

__all__ = ["in_single", "in_single_xla", "is_half"]


def is_half(dtype: Any) -> bool:
    """Whether a NumPy dtype is float16 or bfloat16."""
    return dtype.itemsize == 2 and dtype.kind in "fV"  # ml_dtypes assigns kind "V" to bfloat16


def in_single(kernel: Callable[..., Any]) -> Callable[..., Any]:
    """Wrap the NumPy ``kernel(x, …)`` to compute 16-bit floats in float32."""

    def run(x: Any, *others: Any, **parameters: Any) -> Any:
        if x.dtype.itemsize == 2 and is_half(x.dtype):  # the first test is fast and decides for most types
            wide = [array.astype(np.float32) for array in (x, *others)]
            return np.asarray(kernel(*wide, **parameters)).astype(x.dtype)
        return np.asarray(kernel(x, *others, **parameters))

    return run


def in_single_xla(kernel: Callable[..., Any]) -> Callable[..., Any]:
    """Wrap the XLA ``kernel(jax, x, …)`` to compute 16-bit floats in float32."""

    def run(jax: Any, *xs: Any, **parameters: Any) -> Any:
        dtype = xs[0].dtype
        if is_half(dtype):
            return kernel(jax, *(x.astype(np.float32) for x in xs), **parameters).astype(dtype)
        return kernel(jax, *xs, **parameters)

    return run
