"""``nextafter`` gives the neighbour of a floating-point number in the direction of another."""

from __future__ import annotations

import numpy as np

from mindgrad.ir.work import ARITHMETIC
from mindgrad.rows.kinds import elementwise, ones
from mindgrad.rows.samples import reals

__all__ = ["nextafter"]

#: ``nextafter(x, y)``: the next number after x in the direction of y, y where they are equal; up to
#: rounding it is x, whose derivative it has
nextafter = elementwise(
    "nextafter",
    work=ARITHMETIC,
    numpy=np.nextafter,
    # jax knows no derivative of it, and refuses to be asked
    xla=lambda jax, x, y: jax.numpy.nextafter(*map(jax.lax.stop_gradient, (x, y))),
    partials=lambda z, x, y: [ones(x.type), None],
    accepts="float",
    samples=reals(),
)
