"""The numbers of GradBench's evaluation ``det``: a determinant by minors, float64.

value       The determinant of the rows from one on and of some columns is the sum over these columns of the
            first row's number times that of the rows below and the other columns, with alternating signs.
            It is written as this recursion, of l! products.
gradient    Its gradient in all numbers of the matrix.
"""

from __future__ import annotations

import numpy as np

ROWS = (5, 6, 7, 8)


def det(rows: int) -> np.ndarray:
    """The matrix."""
    return np.random.default_rng(31337).random((rows, rows))
