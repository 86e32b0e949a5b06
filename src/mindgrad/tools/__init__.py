"""Tools to check, explain, draw, export and measure derivatives."""

from mindgrad.tools import cost, profile
from mindgrad.tools.check_finite import check_finite
from mindgrad.tools.check_grad import check_grad
from mindgrad.tools.draw import Drawing, draw
from mindgrad.tools.explain import explain
from mindgrad.tools.explanation import Explanation
from mindgrad.tools.gradient_check import GradientCheck
from mindgrad.tools.source import Source, source

__all__ = [
    "Drawing", "Explanation", "GradientCheck", "Source", "check_finite", "check_grad", "cost", "draw",
    "explain", "profile", "source",
]  # fmt: skip
