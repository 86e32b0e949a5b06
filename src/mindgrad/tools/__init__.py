"""Tools explain and measure derivatives."""

from mindgrad.tools import cost, profile
from mindgrad.tools.explain import Explanation, explain

__all__ = ["Explanation", "cost", "explain", "profile"]
