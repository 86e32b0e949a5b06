"""Tools to check, explain, draw, export and measure derivatives."""

from mindgrad.inspect import cost, profile
from mindgrad.inspect.check_finite import check_finite
from mindgrad.inspect.check_grad import check_grad
from mindgrad.inspect.draw import Drawing, draw
from mindgrad.inspect.explain import explain
from mindgrad.inspect.explanation import Explanation
from mindgrad.inspect.gradient_check import GradientCheck
from mindgrad.inspect.source import Source, source

__all__ = [
    "Drawing", "Explanation", "GradientCheck", "Source", "check_finite", "check_grad", "cost", "draw",
    "explain", "profile", "source",
]  # fmt: skip
