"""``nextafter``: the next floating-point number toward a given value."""

from __future__ import annotations

from mindgrad.core.primitives import neighbors
from mindgrad.ops.define import binary_function

__all__ = ["nextafter"]

nextafter = binary_function(
    __name__, "nextafter", neighbors.nextafter,
    "Return the next floating-point number after x in the direction of y.\n\n    It has no derivative.",
    "Tensor([1.0]), Tensor([2.0])", "[1.0000001]", "NextAfter",
)  # fmt: skip
