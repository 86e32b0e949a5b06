"""Accumulation types sum half precision in float32: a float16 or bfloat16 sum would lose its last digits."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

__all__ = ["in_single", "in_single_xla", "is_half"]


def is_half(dtype: Any) -> bool:
    """Whether a NumPy dtype is float16 or bfloat16."""
    return dtype.itemsize == 2 and dtype.kind in "fV"  # ml_dtypes' bfloat16 is of kind V


def in_single(kernel: Callable[..., Any]) -> Callable[..., Any]:
    """The NumPy ``kernel(x, …)``, in float32 where ``x`` has half precision; keeps the type of x."""

    def run(x: Any, *others: Any, **parameters: Any) -> Any:
        if x.dtype.itemsize == 2 and is_half(x.dtype):  # (of most types the first answers)
            wide = [array.astype(np.float32) for array in (x, *others)]
            return np.asarray(kernel(*wide, **parameters)).astype(x.dtype)
        return np.asarray(kernel(x, *others, **parameters))

    return run


def in_single_xla(kernel: Callable[..., Any]) -> Callable[..., Any]:
    """:func:`in_single` for kernels ``kernel(jax, x, …)``."""

    def run(jax: Any, *xs: Any, **parameters: Any) -> Any:
        dtype = xs[0].dtype
        if is_half(dtype):
            return kernel(jax, *(x.astype(np.float32) for x in xs), **parameters).astype(dtype)
        return kernel(jax, *xs, **parameters)

    return run
