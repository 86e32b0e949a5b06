"""Activation layers are Cells, which other layers find by name."""

from __future__ import annotations

from typing import Any

import numpy as np

from mindgrad.common.parameter import Parameter
from mindgrad.ir.tensor import Tensor
from mindgrad.nn.cell import Cell
from mindgrad.nn.function_cells import function_cell, function_cells
from mindgrad.ops import activation, math, normalization, rectifiers
from mindgrad.ops.activation import number as number_of
from mindgrad.ops.arguments import whole_number
from mindgrad.ops.arithmetic import mul
from mindgrad.ops.comparison import greater
from mindgrad.ops.operands import choose, operand
from mindgrad.ops.operations.base import boolean, integer, integers, number, text
from mindgrad.ops.random import uniform

# --- smooth functions --------------------------------------------------------------------------------

Sigmoid = function_cell(
    __name__, "Sigmoid", activation.sigmoid, example="nn.Sigmoid()(Tensor([0.0]))", prints="[0.5]"
)
LogSigmoid = function_cell(
    __name__, "LogSigmoid", activation.logsigmoid,
    example='f"{nn.LogSigmoid()(Tensor(0.0)):.4f}"', prints="-0.6931",
)  # fmt: skip


Tanh = function_cell(__name__, "Tanh", math.tanh, example='f"{nn.Tanh()(Tensor(1.0)):.4f}"', prints="0.7616")
Tanhshrink = function_cell(
    __name__, "Tanhshrink", activation.tanhshrink,
    example='f"{nn.Tanhshrink()(Tensor(1.0)):.4f}"', prints="0.2384",
)  # fmt: skip
SiLU = function_cell(
    __name__, "SiLU", activation.silu, example='f"{nn.SiLU()(Tensor(1.0)):.4f}"', prints="0.7311"
)
Mish = function_cell(
    __name__, "Mish", activation.mish, example='f"{nn.Mish()(Tensor(1.0)):.4f}"', prints="0.8651"
)
GELU = function_cell(
    __name__, "GELU", activation.gelu, attributes={"approximate": boolean(True)},
    run=lambda self, x: activation.gelu(x, "tanh" if self.approximate else "none"), inputs="x",
    meaning="x Φ(x), with the normal distribution function Φ; ``approximate`` (the default): by tanh.",
    example='f"{nn.GELU()(Tensor(1.0)):.4f} {nn.GELU(approximate=False)(Tensor(1.0)):.4f}"',
    prints="0.8412 0.8413",
)  # fmt: skip
FastGelu = function_cell(
    __name__, "FastGelu", activation.fast_gelu,
    example='f"{nn.FastGelu()(Tensor(1.0)):.4f}"', prints="0.8458",
)  # fmt: skip
Softsign = function_cell(
    __name__, "Softsign", activation.softsign, example="nn.Softsign()(Tensor([1.0]))", prints="[0.5]"
)
GLU = function_cell(
    __name__, "GLU", activation.glu, attributes={"axis": integer(-1)},
    example="nn.GLU()(Tensor([1.0, 2.0, 0.0, 0.0]))", prints="[0.5 1. ]",
)  # fmt: skip

LRN = function_cell(
    __name__, "LRN", normalization.lrn, inputs="x",
    attributes={
        "depth_radius": integer(5), "bias": number(1.0), "alpha": number(1.0), "beta": number(0.5),
        "norm_region": text("ACROSS_CHANNELS"),
    },
    example="nn.LRN(bias=0.0)(ops.reshape(Tensor([0.0, 4.0]), (1, 2, 1, 1))).flatten()", prints="[0. 1.]",
)  # fmt: skip

# --- shares ------------------------------------------------------------------------------------------

Softmax = function_cell(
    __name__, "Softmax", activation.softmax, attributes={"axis": integers(-1)}, inputs="x",
    example="nn.Softmax()(Tensor([1000.0, 1000.0]))", prints="[0.5 0.5]",
)  # fmt: skip
LogSoftmax = function_cell(
    __name__, "LogSoftmax", activation.log_softmax, attributes={"axis": integers(-1)},
    example="nn.LogSoftmax()(Tensor([0.0, 1000.0]))", prints="[-1000.     0.]",
)  # fmt: skip
Softmin = function_cell(
    __name__, "Softmin", activation.softmin, attributes={"axis": integers(-1)}, inputs="x",
    example="nn.Softmin()(Tensor([1000.0, 1000.0]))", prints="[0.5 0.5]",
)  # fmt: skip


def _softmax_of_channels(self: Any, x: Any) -> Tensor:
    x = operand(x, "Softmax2d")
    if x.ndim not in (3, 4):
        raise ValueError(
            f"For 'Softmax2d', the input must have the shape (n, c, h, w) or (c, h, w), but got {x.shape}."
        )
    return activation.softmax(x, -3)


Softmax2d = function_cell(
    __name__, "Softmax2d", activation.softmax, run=_softmax_of_channels, inputs="x",
    meaning="softmax over the channels of a tensor of shape (n, c, h, w) or (c, h, w).",
    example="nn.Softmax2d()(ops.zeros((2, 1, 1))).flatten()", prints="[0.5 0.5]",
)  # fmt: skip

# --- pieces ------------------------------------------------------------------------------------------

ReLU = function_cell(
    __name__, "ReLU", rectifiers.relu, example="nn.ReLU()(Tensor([-1.0, 0.0, 2.0]))", prints="[0. 0. 2.]"
)
ReLU6 = function_cell(
    __name__, "ReLU6", rectifiers.relu6, example="nn.ReLU6()(Tensor([-1.0, 8.0]))", prints="[0. 6.]"
)
LeakyReLU = function_cell(
    __name__, "LeakyReLU", rectifiers.leaky_relu, attributes={"alpha": number(0.2)},
    example="nn.LeakyReLU(0.5)(Tensor([-1.0, 2.0]))", prints="[-0.5  2. ]",
)  # fmt: skip
ELU = function_cell(
    __name__, "ELU", rectifiers.elu, attributes={"alpha": number(1.0)},
    example='f"{nn.ELU()(Tensor(-1.0)):.4f}"', prints="-0.6321",
)  # fmt: skip
CELU = function_cell(
    __name__, "CELU", rectifiers.celu, attributes={"alpha": number(1.0)},
    example='f"{nn.CELU(2.0)(Tensor(-1.0)):.4f}"', prints="-0.7869",
)  # fmt: skip
SeLU = function_cell(
    __name__, "SeLU", rectifiers.selu, example='f"{nn.SeLU()(Tensor(-1.0)):.4f}"', prints="-1.1113"
)
HSigmoid = function_cell(
    __name__, "HSigmoid", rectifiers.hardsigmoid,
    example="nn.HSigmoid()(Tensor([-4.0, 0.0, 4.0]))", prints="[0.  0.5 1. ]",
)  # fmt: skip
HSwish = function_cell(
    __name__, "HSwish", rectifiers.hardswish,
    example="nn.HSwish()(Tensor([-4.0, 0.0, 4.0]))", prints="[0. 0. 4.]",
)  # fmt: skip
Hardtanh = function_cell(
    __name__, "Hardtanh", rectifiers.hardtanh,
    attributes={"min_val": number(-1.0), "max_val": number(1.0)},
    example="nn.Hardtanh()(Tensor([-4.0, 0.5, 4.0]))", prints="[-1.   0.5  1. ]",
)  # fmt: skip
HShrink = function_cell(
    __name__, "HShrink", rectifiers.hardshrink, attributes={"lambd": number(0.5)},
    example="nn.HShrink()(Tensor([-1.0, 0.25, 1.0]))", prints="[-1.  0.  1.]",
)  # fmt: skip
SoftShrink = function_cell(
    __name__, "SoftShrink", rectifiers.softshrink, attributes={"lambd": number(0.5)},
    example="nn.SoftShrink()(Tensor([-1.0, 0.25, 1.0]))", prints="[-0.5  0.   0.5]",
)  # fmt: skip
Threshold = function_cell(
    __name__, "Threshold", rectifiers.threshold, attributes={"threshold": number(), "value": number()},
    keywords={"threshold": "thr"}, example="nn.Threshold(0.5, 9.0)(Tensor([-1.0, 2.0]))", prints="[9. 2.]",
)  # fmt: skip


class PReLU(Cell):
    """x above 0, and w x elsewhere, with slopes w that are trained: one for each channel, or one for all.

    Args:
        channel: the number of channels, the size of the second axis of inputs; or 1.
        w: the initial slopes: a number, or a list or Tensor of ``channel`` numbers.

    Inputs:
        x: a real tensor.

    Raises:
        TypeError: an argument is of another type.
        ValueError: ``channel`` is not positive, or ``w`` has another size.

    >>> from mindgrad import Tensor, nn
    >>> print(nn.PReLU()(Tensor([[-1.0, 2.0]])))
    [[-0.25  2.  ]]
    """

    def __init__(self, channel: int = 1, w: Any = 0.25) -> None:
        super().__init__()
        channel = whole_number(channel, "PReLU", "channel", 1)
        if isinstance(w, (list, Tensor)):
            slopes = np.asarray(w.asnumpy() if isinstance(w, Tensor) else w, np.float32)
        else:
            slopes = np.full(channel, number_of(w, "PReLU", "w"), np.float32)
        if slopes.shape != (channel,):
            raise ValueError(
                f"For 'PReLU', the 'w' must hold {channel} numbers, one for each channel, but its shape is "
                f"{slopes.shape}."
            )
        self.w = Parameter(Tensor(slopes), name="w")

    def construct(self, x: Any) -> Tensor:
        """See the class."""
        return rectifiers.prelu(x, self.w)


class RReLU(Cell):
    """x above 0, and r x elsewhere, with a slope r for each element drawn anew in every call.

    Args:
        lower, upper: the slopes are uniform between these numbers, from 0 to 1.

    Inputs:
        x: a real tensor.

    Raises:
        TypeError: an argument is of another type.
        ValueError: ``lower`` is above ``upper``, or one is not from 0 to 1.

    >>> from mindgrad import Tensor, nn
    >>> print(nn.RReLU(0.5, 0.5)(Tensor([-1.0, 2.0])))
    [-0.5  2. ]
    """

    def __init__(self, lower: float = 1 / 8, upper: float = 1 / 3) -> None:
        super().__init__()
        self.lower, self.upper = number_of(lower, "RReLU", "lower"), number_of(upper, "RReLU", "upper")
        if not 0 <= self.lower <= self.upper <= 1:
            raise ValueError(
                f"For 'RReLU', 'lower' and 'upper' must be in order and from 0 to 1, but are {lower} and "
                f"{upper}."
            )

    def construct(self, x: Any) -> Tensor:
        """See the class."""
        x = activation.real_operand(x, "RReLU")
        if self.lower == self.upper:
            return rectifiers.leaky_relu(x, self.lower)
        slopes = uniform(x.shape, self.lower, self.upper, dtype=x.dtype)
        return choose(greater(x, 0), x, mul(slopes, x))


# --- by name -----------------------------------------------------------------------------------------

_BY_NAME = {
    "celu": CELU, "elu": ELU, "fast_gelu": FastGelu, "gelu": GELU, "glu": GLU, "hardtanh": Hardtanh,
    "hshrink": HShrink, "hsigmoid": HSigmoid, "hswish": HSwish, "leakyrelu": LeakyReLU,
    "logsigmoid": LogSigmoid, "logsoftmax": LogSoftmax, "mish": Mish, "prelu": PReLU, "relu": ReLU,
    "relu6": ReLU6, "rrelu": RReLU, "selu": SeLU, "sigmoid": Sigmoid, "silu": SiLU, "softmax": Softmax,
    "softmax2d": Softmax2d, "softmin": Softmin, "softshrink": SoftShrink, "softsign": Softsign,
    "tanh": Tanh, "tanhshrink": Tanhshrink,
}  # fmt: skip
_activation = _BY_NAME  # the name under which libraries import the table, to add their own


def get_activation(name: str | None, prim_name: str | None = None) -> Cell | None:
    """The activation function of a name, as a Cell; ``None`` for no name.

    Args:
        name: ``"relu"``, ``"tanh"``, ``"sigmoid"``, …: the class's name in small letters.
        prim_name: the layer that asks, for the error.

    Raises:
        KeyError: there is none of this name.

    >>> from mindgrad import Tensor, nn
    >>> print(nn.get_activation("relu")(Tensor([-1.0, 2.0])))
    [0. 2.]
    """
    if not name:
        return None
    if name not in _BY_NAME:
        owner = f"For '{prim_name}', the" if prim_name else "The"
        raise KeyError(
            f"{owner} 'name' of an activation must be one of {', '.join(_BY_NAME)}, but got {name!r}."
        )
    return _BY_NAME[name]()


__all__ = list(function_cells(globals()))
__all__ += ["PReLU", "RReLU", "get_activation"]
