"""Helpers that programs import from MindSpore's SciPy."""

from __future__ import annotations

from typing import Any

from mindgrad.core.tensor import Tensor
from mindgrad.ops.layout import swapaxes

__all__: list[str] = []


def _nd_transpose(a: Any) -> Tensor:
    """The transposes of matrices.

    >>> from mindgrad import ops
    >>> from mindgrad.scipy.utils import _nd_transpose
    >>> _nd_transpose(ops.ones((2, 3, 4))).shape
    (2, 4, 3)
    """
    if a.ndim < 2:
        raise ValueError(
            f"For 'transpose', the input must have two axes at least, but its shape is {a.shape}."
        )
    return swapaxes(a, -1, -2)
