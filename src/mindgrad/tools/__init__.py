"""Tools explain, measure and check derivatives and values."""

from mindgrad.tools import cost, profile
from mindgrad.tools.check_finite import check_finite
from mindgrad.tools.check_grad import check_grad
from mindgrad.tools.explain import Explanation, explain
from mindgrad.tools.gradient_check import GradientCheck
from mindgrad.tools.source import Source, source

__all__ = [
    "Explanation",
    "GradientCheck",
    "Source",
    "check_finite",
    "check_grad",
    "cost",
    "explain",
    "profile",
    "source",
]
