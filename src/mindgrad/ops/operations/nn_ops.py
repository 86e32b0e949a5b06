"""Operator classes for layers: convolutions, padding, losses, and normalization."""

from __future__ import annotations

import math as _math
from typing import Any

from mindgrad.ir.tensor import Tensor
from mindgrad.ops import arithmetic, clipping, convolution, math, padding, reduction, statistics
from mindgrad.ops.operations.base import anything, classes, integer, integers, number, operation, text

# --- convolution and padding -------------------------------------------------------------------------


def _format(name: str, wanted: str, given: str) -> None:
    if given != wanted:
        raise ValueError(f"For '{name}', the 'data_format' must be '{wanted}', but got {given!r}.")


def _kernel(name: str, axes: int, weight: Any, outputs: int, size: Any) -> None:
    """Raise unless ``weight`` is the kernel that the attributes describe."""
    expected = convolution.per_axis(size, axes, name, "kernel_size", 1)
    if isinstance(weight, Tensor) and (weight.shape[:1], weight.shape[2:]) != ((outputs,), expected):
        raise ValueError(
            f"For '{name}', the 'weight' must have the shape ({outputs}, channels, "
            f"{', '.join(map(str, expected))}), but its shape is {weight.shape}."
        )


def _convolution(self: Any, x: Any, weight: Any) -> Any:
    name = type(self).__name__
    axes = 2 if name == "Conv2D" else 3
    _format(name, "NCHW" if axes == 2 else "NCDHW", self.data_format)
    _kernel(name, axes, weight, self.out_channel, self.kernel_size)
    return convolution.convolution(
        name, axes, x, weight, None, self.stride, self.pad_mode, self.pad, self.dilation, self.group
    )


def _gradient_of_convolution(self: Any, dout: Any, weight: Any, input_size: Any) -> Any:
    name = type(self).__name__
    _format(name, "NCHW", self.data_format)
    _kernel(name, 2, weight, self.out_channel, self.kernel_size)
    return convolution.input_gradient(
        name, 2, dout, weight, input_size, self.stride, self.pad_mode, self.pad, self.dilation, self.group
    )


def _attributes(data_format: str) -> dict[str, Any]:
    return {
        "out_channel": integer(),
        "kernel_size": integers(),
        "mode": integer(1),
        "pad_mode": text("valid"),
        "pad": integers(0),
        "stride": integers(1),
        "dilation": integers(1),
        "group": integer(1),
        "data_format": text(data_format),
    }


_IMAGE, _KERNEL = "ops.ones((1, 2, 5, 5))", "ops.ones((4, 2, 3, 3))"
_TRANSPOSED = {
    "out_channel": integer(),
    "kernel_size": integers(),
    "pad_mode": text("valid"),
    "pad": integers(0),
    "pad_list": anything("None", None),
    "mode": integer(1),
    "stride": integers(1),
    "dilation": integers(1),
    "group": integer(1),
    "data_format": text("NCHW"),
}
_SENT_BACK = "ops.ones((1, 4, 3, 3))"

Conv2D = operation(
    __name__, "Conv2D", convolution.conv2d, attributes=_attributes("NCHW"), run=_convolution,
    example=f"ops.Conv2D(4, 3)({_IMAGE}, {_KERNEL}).shape", prints="(1, 4, 3, 3)",
)  # fmt: skip
Conv3D = operation(
    __name__, "Conv3D", convolution.conv3d, attributes=_attributes("NCDHW"), run=_convolution,
    example="ops.Conv3D(1, 2)(ops.ones((1, 1, 3, 3, 3)), "
    "ops.ones((1, 1, 2, 2, 2))).shape",
    prints="(1, 1, 2, 2, 2)",
)  # fmt: skip
Conv2DTranspose = operation(
    __name__, "Conv2DTranspose", convolution.conv_transpose2d, attributes=_TRANSPOSED,
    run=_gradient_of_convolution,
    example=f"ops.Conv2DTranspose(4, 3)({_SENT_BACK}, {_KERNEL}, (1, 2, 5, 5)).shape",
    prints="(1, 2, 5, 5)",
)  # fmt: skip
Conv2DBackpropInput = operation(
    __name__, "Conv2DBackpropInput", convolution.conv_transpose2d, attributes=_TRANSPOSED,
    run=_gradient_of_convolution,
    example=f"ops.Conv2DBackpropInput(4, 3)({_SENT_BACK}, {_KERNEL}, (1, 2, 5, 5)).shape",
    prints="(1, 2, 5, 5)",
)  # fmt: skip


def _pad(self: Any, x: Any) -> Any:
    pairs = self.paddings
    if len(pairs) != (x.ndim if isinstance(x, Tensor) else -1):
        raise ValueError(
            f"For 'Pad', the 'paddings' must have a pair of ints for each axis of the input, but got "
            f"{pairs} for {'the shape ' + str(x.shape) if isinstance(x, Tensor) else type(x).__name__}."
        )
    return padding.padded(x, pairs, "constant")


def _pairs(value: Any) -> tuple[tuple[int, int], ...]:
    return tuple((integer().check(before), integer().check(behind)) for before, behind in value)


Pad = operation(
    __name__, "Pad", padding.pad, run=_pad,
    attributes={"paddings": anything("a tuple of pairs of ints")._replace(check=_pairs)},
    example="ops.Pad(((1, 0),))(Tensor([1.0, 2.0]))", prints="[0. 1. 2.]",
)  # fmt: skip

# --- losses and normalization ------------------------------------------------------------------------

L2Loss = operation(
    __name__, "L2Loss", math.square,
    meaning="Compute half the sum of the squares of all elements. | 0-D tensor.",
    run=lambda self, x: arithmetic.div(reduction.reduce_sum(math.square(x)), 2),
    example="ops.L2Loss()(Tensor([1.0, 3.0]))", prints="5.0",
)  # fmt: skip


def _normalized(self: Any, x: Any) -> Any:
    # unlike the square root of a sum of squares, ``vector_norm`` does not overflow
    size = statistics.vector_norm(x, 2, self.axis, True)
    return arithmetic.div(x, clipping.maximum(size, _math.sqrt(max(self.epsilon, 0))))


L2Normalize = operation(
    __name__, "L2Normalize", math.rsqrt, attributes={"axis": integers(0), "epsilon": number(1e-4)},
    meaning="Divide a tensor by its 2-norm along axes. | Tensor of the shape of ``input_x``.",
    run=_normalized,
    example="ops.L2Normalize()(Tensor([0.0, 4.0]))", prints="[0. 1.]",
)  # fmt: skip

__all__ = list(classes(globals()))
