"""Special functions, and transforms of signals, as classes."""

from __future__ import annotations

from typing import Any

from mindgrad.ops import complexes, fourier, special
from mindgrad.ops.operands import operand
from mindgrad.ops.operations.base import anything, boolean, classes, integer, operation, text

#: values at 1, which the examples show
_AT_ONE = {
    "BesselI0": "1.2661", "BesselI0e": "0.4658", "BesselI1": "0.5652", "BesselI1e": "0.2079",
    "BesselJ0": "0.7652", "BesselJ1": "0.4401", "BesselK0": "0.4210", "BesselK0e": "1.1445",
    "BesselK1": "0.6019", "BesselK1e": "1.6362", "BesselY0": "0.0883", "BesselY1": "-0.7812",
}  # fmt: skip


def _bessel(name: str, function: Any) -> Any:
    example = f'f"{{ops.{name}()(Tensor(1.0)):.4f}}"'
    return operation(__name__, name, function, example=example, prints=_AT_ONE[name])


BesselI0 = _bessel("BesselI0", special.bessel_i0)
BesselI0e = _bessel("BesselI0e", special.bessel_i0e)
BesselI1 = _bessel("BesselI1", special.bessel_i1)
BesselI1e = _bessel("BesselI1e", special.bessel_i1e)
BesselJ0 = _bessel("BesselJ0", special.bessel_j0)
BesselJ1 = _bessel("BesselJ1", special.bessel_j1)
BesselK0 = _bessel("BesselK0", special.bessel_k0)
BesselK0e = _bessel("BesselK0e", special.bessel_k0e)
BesselK1 = _bessel("BesselK1", special.bessel_k1)
BesselK1e = _bessel("BesselK1e", special.bessel_k1e)
BesselY0 = _bessel("BesselY0", special.bessel_y0)
BesselY1 = _bessel("BesselY1", special.bessel_y1)


def _transform(self: Any, x: Any) -> Any:
    """The transform over the last ``signal_ndim`` axes that the attributes name."""
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
    attributes={
        "signal_ndim": integer(), "inverse": boolean(), "real": boolean(), "norm": text("backward"),
        "onesided": boolean(True), "signal_sizes": anything("a tuple of ints", ()),
    },
    run=_transform, example="ops.FFTWithSize(1, False, True)(ops.ones((2, 4))).shape", prints="(2, 3)",
)  # fmt: skip

__all__ = list(classes(globals()))
