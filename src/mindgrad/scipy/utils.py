"""Helpers of ``mindspore.scipy.utils``."""

from __future__ import annotations

from typing import Any

import numpy as np

from mindgrad.core.ir.tensor import Tensor
from mindgrad.ops.arguments import of_two_axes
from mindgrad.ops.layout import swapaxes

__all__: list[str] = []


def _nd_transpose(a: Any) -> Tensor:
    """Transpose matrices.

    >>> from mindgrad import ops
    >>> from mindgrad.scipy.utils import _nd_transpose
    >>> _nd_transpose(ops.ones((2, 3, 4))).shape
    (2, 4, 3)
    """
    return swapaxes(of_two_axes(a, "transpose"), -1, -2)


def _safe_normalize(x: Any, threshold: Any = None) -> tuple[Tensor, Tensor]:
    """Normalize a vector to length 1, and return it with its original length.

    If the length is at most ``threshold``, both results are zero.

    >>> from mindgrad import Tensor
    >>> from mindgrad.scipy.utils import _safe_normalize
    >>> print(*_safe_normalize(Tensor([3.0, 4.0])))
    [0.6 0.8] 5.0
    """
    length = (x.abs() * x.abs()).sum().sqrt()
    least = float(np.finfo(length.dtype.numpy).eps) if threshold is None else threshold
    is_long = (length > least).astype(x.dtype)
    return x * is_long / (length * is_long + (1 - is_long)), length * is_long
