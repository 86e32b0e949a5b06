"""Pointwise functions: one row each, kernel and partial derivatives.

Formulas of derivatives: NIST Digital Library of Mathematical Functions, chapters 4, 5 and 7.
"""

from __future__ import annotations

import numpy as np

from mindgrad.primitives.kinds import elementwise
from mindgrad.primitives.samples import reals

__all__ = ["cos", "exp", "log", "sin", "tanh"]

sin = elementwise(
    "sin", numpy=np.sin, xla="sin", partials=lambda y, x: [cos(x)], samples=reals(-3, 3)
)
cos = elementwise(
    "cos", numpy=np.cos, xla="cos", partials=lambda y, x: [-sin(x)], samples=reals(-3, 3)
)
tanh = elementwise(
    "tanh", numpy=np.tanh, xla="tanh", partials=lambda y, x: [1 - y * y], samples=reals(-3, 3)
)
exp = elementwise("exp", numpy=np.exp, xla="exp", partials=lambda y, x: [y], samples=reals(-2, 2))
log = elementwise(
    "log", numpy=np.log, xla="log", partials=lambda y, x: [1 / x], samples=reals(0.2, 3),
    singular=True,
)  # fmt: skip
