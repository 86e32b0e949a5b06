"""Tools to check, explain, draw, export and measure derivatives.

This package is the public name of ``mindgrad.inspect``.
"""

import sys

from mindgrad.inspect import (
    Drawing,
    Explanation,
    GradientCheck,
    Source,
    check_finite,
    check_grad,
    cost,
    draw,
    explain,
    profile,
    source,
)

__all__ = [
    "Drawing", "Explanation", "GradientCheck", "Source", "check_finite", "check_grad", "cost", "draw",
    "explain", "profile", "source",
]  # fmt: skip

# ``import mindgrad.tools.profile`` finds the same module
sys.modules.update({f"{__name__}.{module.__name__.rpartition('.')[2]}": module for module in (cost, profile)})
