"""Primitives: the kernel, derivatives, and samples of each operator.

No other package depends on particular operators.
"""

from mindgrad.rows import (
    arithmetic,
    assignment,
    bessel,
    bessel_second,
    collectives,
    complexes,
    contraction,
    convolution,
    cumulative,
    determinant,
    eigh_svd,
    einsum,
    elementwise,
    exact_zeros,
    fourier,
    general_eig,
    incomplete,
    indexing,
    inverse_pairs,
    linalg,
    log_incomplete,
    logic,
    lu,
    neighbours,
    piecewise,
    powers,
    random,
    recurrence,
    reduction,
    scaled_erfc,
    sharding,
    slicing,
    sorting,
    special,
    static_slices,
    structural,
    unstacking,
)

__all__ = [
    "arithmetic", "assignment", "bessel", "bessel_second", "collectives", "complexes", "contraction",
    "convolution", "cumulative", "determinant", "eigh_svd", "einsum", "elementwise", "exact_zeros", "fourier",
    "general_eig",
    "incomplete", "indexing", "inverse_pairs", "linalg", "log_incomplete", "logic", "lu", "neighbours",
    "piecewise", "powers", "random", "recurrence", "reduction", "scaled_erfc", "sharding", "slicing",
    "sorting", "special", "static_slices", "structural", "unstacking",
]  # fmt: skip
