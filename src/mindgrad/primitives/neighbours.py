"""The neighbour of a floating-point number in the direction of another."""

from __future__ import annotations

import numpy as np

from mindgrad.primitives.kinds import pointwise_constant
from mindgrad.primitives.samples import case, fixed, reals

__all__ = ["nextafter"]

#: ``nextafter(x, y)``: the next number after x in the direction of y; y where they are equal
nextafter = pointwise_constant(
    "nextafter",
    numpy=np.nextafter,
    xla=lambda jax, x, y: jax.numpy.nextafter(x, y),
    accepts="float",
    samples=[
        case(reals()[3, 2], reals()[3, 2], accepts="float"),
        case(fixed([0.0, 1.0, np.inf]), fixed([1.0, 1.0, 0.0]), accepts="float"),
    ],
)
