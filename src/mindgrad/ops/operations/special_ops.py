"""Operator classes for signal transforms."""

from __future__ import annotations

from typing import Any

from mindgrad.ops import complexes, fourier
from mindgrad.ops.operands import operand
from mindgrad.ops.operations.base import anything, boolean, classes, integer, operation, text


def _transform(self: Any, x: Any) -> Any:
    """Compute the transform over the last ``signal_ndim`` axes."""
    x = operand(x, "FFTWithSize")
    axes = tuple(range(-self.signal_ndim, 0))
    if not self.real:
        return (fourier.ifftn if self.inverse else fourier.fftn)(x, None, axes, self.norm)
    if not self.inverse:
        return (fourier.rfftn if self.onesided else fourier.fftn)(x, None, axes, self.norm)
    if not self.onesided:
        return complexes.real(fourier.ifftn(x, None, axes, self.norm))
    return fourier.irfftn(x, self.signal_sizes or None, axes, self.norm)


FFTWithSize = operation(
    __name__, "FFTWithSize", fourier.fftn,
    meaning="Compute a Fourier transform over the last axes, real or complex. | Tensor.",
    attributes={
        "signal_ndim": integer(), "inverse": boolean(), "real": boolean(), "norm": text("backward"),
        "onesided": boolean(True), "signal_sizes": anything("a tuple of ints", ()),
    },
    run=_transform, example="ops.FFTWithSize(1, False, True)(ops.ones((2, 4))).shape", prints="(2, 3)",
)  # fmt: skip

__all__ = list(classes(globals()))
