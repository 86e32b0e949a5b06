"""One row per operator: kernel, derivative and samples in one place. Nothing else knows operators."""

from mindgrad.primitives import (
    arithmetic,
    complexes,
    contraction,
    cumulative,
    elementwise,
    indexing,
    logic,
    piecewise,
    reduction,
    slicing,
    sorting,
    special,
    structural,
)

__all__ = [
    "arithmetic", "complexes", "contraction", "cumulative", "elementwise", "indexing", "logic",
    "piecewise", "reduction", "slicing", "sorting", "special", "structural",
]  # fmt: skip
