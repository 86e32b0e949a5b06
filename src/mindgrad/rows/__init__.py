"""Primitives have one row per operator, with kernel, derivative and samples. Nothing else knows operators."""

from mindgrad.rows import (
    arithmetic,
    assignment,
    bessel,
    bessel_second,
    complexes,
    contraction,
    convolution,
    cumulative,
    determinant,
    eigh_svd,
    einsum,
    elementwise,
    fourier,
    general_eig,
    indexing,
    linalg,
    logic,
    lu,
    neighbours,
    piecewise,
    random,
    reduction,
    slicing,
    sorting,
    special,
    static_slices,
    structural,
    unstacking,
)

__all__ = [
    "arithmetic", "assignment", "bessel", "bessel_second", "complexes", "contraction", "convolution",
    "cumulative", "determinant", "eigh_svd", "einsum", "elementwise", "fourier", "general_eig",
    "indexing", "linalg", "logic", "lu", "neighbours", "piecewise", "random", "reduction", "slicing",
    "sorting", "special", "static_slices", "structural", "unstacking",
]  # fmt: skip
