"""One row per operator: kernel, derivative and samples in one place. Nothing else knows operators."""

from mindgrad.primitives import (
    arithmetic,
    contraction,
    elementwise,
    reduction,
    structural,
)

__all__ = ["arithmetic", "contraction", "elementwise", "reduction", "structural"]
