"""Primitive ``nextafter``: the next floating-point number toward a given value."""

from __future__ import annotations

import numpy as np

from mindgrad.core.ir.work import ARITHMETIC
from mindgrad.core.primitives.kinds import elementwise, ones
from mindgrad.core.primitives.samples import reals

__all__ = ["nextafter"]

#: ``nextafter(x, y)``: the floating-point number next to x in the direction of y, or y if both are equal. The
#: derivative with respect to x is 1, because the result differs from x only by a rounding error
nextafter = elementwise(
    "nextafter",
    work=ARITHMETIC,
    numpy=np.nextafter,
    # JAX's `nextafter` has no derivative, and raises an error if an operand has a tangent
    xla=lambda jax, x, y: jax.numpy.nextafter(*map(jax.lax.stop_gradient, (x, y))),
    partials=lambda z, x, y: [ones(x.type), None],
    accepts="float",
    samples=reals(),
)
