"""Activation layers, and the table of their names."""

from __future__ import annotations

from typing import Any

import numpy as np

from mindgrad.common.parameter import Parameter
from mindgrad.core.ir.tensor import Tensor
from mindgrad.nn.cell import Cell
from mindgrad.nn.function_cells import cells_of, function_cells
from mindgrad.ops import activation, math, normalization, rectifiers
from mindgrad.ops.arguments import number as number_of
from mindgrad.ops.arguments import whole_number
from mindgrad.ops.arithmetic import mul
from mindgrad.ops.comparison import greater
from mindgrad.ops.operands import choose, operand
from mindgrad.ops.operations.base import boolean, integer, integers, number, text
from mindgrad.ops.random import uniform

_layer = cells_of(__name__)

# --- smooth activation functions ---------------------------------------------------------------------

Sigmoid = _layer("Sigmoid", activation.sigmoid, "nn.Sigmoid()(Tensor([0.0]))", "[0.5]")
LogSigmoid = _layer("LogSigmoid", activation.logsigmoid, 'f"{nn.LogSigmoid()(Tensor(0.0)):.4f}"', "-0.6931")
Tanh = _layer("Tanh", math.tanh, 'f"{nn.Tanh()(Tensor(1.0)):.4f}"', "0.7616")
Tanhshrink = _layer("Tanhshrink", activation.tanhshrink, 'f"{nn.Tanhshrink()(Tensor(1.0)):.4f}"', "0.2384")
SiLU = _layer("SiLU", activation.silu, 'f"{nn.SiLU()(Tensor(1.0)):.4f}"', "0.7311")
Mish = _layer("Mish", activation.mish, 'f"{nn.Mish()(Tensor(1.0)):.4f}"', "0.8651")
GELU = _layer(
    "GELU", activation.gelu,
    'f"{nn.GELU()(Tensor(1.0)):.4f} {nn.GELU(approximate=False)(Tensor(1.0)):.4f}"', "0.8412 0.8413",
    run=lambda self, x: activation.gelu(x, "tanh" if self.approximate else "none"), inputs="x",
    meaning="Compute x Φ(x) with the normal distribution function Φ.\n\n"
    "With ``approximate=True``, the default, Φ is approximated with tanh.",
    texts={
        "approximate": "whether Φ is approximated: x/2 (1 + tanh(√(2/π) (x + 0.044715 x³))).",
        "Raises": "    TypeError: If ``x`` is complex, or neither a tensor nor a number.",
    },
    approximate=boolean(True),
)  # fmt: skip
FastGelu = _layer("FastGelu", activation.fast_gelu, 'f"{nn.FastGelu()(Tensor(1.0)):.4f}"', "0.8458")
Softsign = _layer("Softsign", activation.softsign, "nn.Softsign()(Tensor([1.0]))", "[0.5]")
GLU = _layer("GLU", activation.glu, "nn.GLU()(Tensor([1.0, 2.0, 0.0, 0.0]))", "[0.5 1. ]", axis=integer(-1))
LRN = _layer(
    "LRN", normalization.lrn,
    "nn.LRN(bias=0.0)(ops.reshape(Tensor([0.0, 4.0]), (1, 2, 1, 1))).flatten()", "[0. 1.]", inputs="x",
    depth_radius=integer(5), bias=number(1.0), alpha=number(1.0), beta=number(0.5),
    norm_region=text("ACROSS_CHANNELS"),
)  # fmt: skip

# --- softmax and related functions -------------------------------------------------------------------

Softmax = _layer(
    "Softmax", activation.softmax, "nn.Softmax()(Tensor([1000.0, 1000.0]))", "[0.5 0.5]",
    inputs="x", axis=integers(-1),
)  # fmt: skip
LogSoftmax = _layer(
    "LogSoftmax", activation.log_softmax, "nn.LogSoftmax()(Tensor([0.0, 1000.0]))", "[-1000.     0.]",
    axis=integers(-1),
)  # fmt: skip
Softmin = _layer(
    "Softmin", activation.softmin, "nn.Softmin()(Tensor([1000.0, 1000.0]))", "[0.5 0.5]",
    inputs="x", axis=integers(-1),
)  # fmt: skip


def _softmax_of_channels(self: Any, x: Any) -> Tensor:
    x = operand(x, "Softmax2d")
    if x.ndim not in (3, 4):
        raise ValueError(
            "For 'Softmax2d', the input must have the shape (n, c, h, w) or (c, h, w), but its shape is "
            f"{x.shape}."
        )
    return activation.softmax(x, -3)


Softmax2d = _layer(
    "Softmax2d", activation.softmax, "nn.Softmax2d()(ops.zeros((2, 1, 1))).flatten()", "[0.5 0.5]",
    run=_softmax_of_channels, inputs="x",
    meaning="Apply softmax over the channels of a tensor of shape (n, c, h, w) or (c, h, w).",
)  # fmt: skip

# --- piecewise activation functions ------------------------------------------------------------------

ReLU = _layer("ReLU", rectifiers.relu, "nn.ReLU()(Tensor([-1.0, 0.0, 2.0]))", "[0. 0. 2.]")
ReLU6 = _layer("ReLU6", rectifiers.relu6, "nn.ReLU6()(Tensor([-1.0, 8.0]))", "[0. 6.]")
LeakyReLU = _layer(
    "LeakyReLU", rectifiers.leaky_relu, "nn.LeakyReLU(0.5)(Tensor([-1.0, 2.0]))", "[-0.5  2. ]",
    alpha=number(0.2),
)  # fmt: skip
ELU = _layer("ELU", rectifiers.elu, 'f"{nn.ELU()(Tensor(-1.0)):.4f}"', "-0.6321", alpha=number(1.0))
CELU = _layer("CELU", rectifiers.celu, 'f"{nn.CELU(2.0)(Tensor(-1.0)):.4f}"', "-0.7869", alpha=number(1.0))
SeLU = _layer("SeLU", rectifiers.selu, 'f"{nn.SeLU()(Tensor(-1.0)):.4f}"', "-1.1113")
HSigmoid = _layer(
    "HSigmoid", rectifiers.hardsigmoid, "nn.HSigmoid()(Tensor([-4.0, 0.0, 4.0]))", "[0.  0.5 1. ]"
)
HSwish = _layer("HSwish", rectifiers.hardswish, "nn.HSwish()(Tensor([-4.0, 0.0, 4.0]))", "[0. 0. 4.]")
Hardtanh = _layer(
    "Hardtanh", rectifiers.hardtanh, "nn.Hardtanh()(Tensor([-4.0, 0.5, 4.0]))", "[-1.   0.5  1. ]",
    min_val=number(-1.0), max_val=number(1.0),
)  # fmt: skip
HShrink = _layer(
    "HShrink", rectifiers.hardshrink, "nn.HShrink()(Tensor([-1.0, 0.25, 1.0]))", "[-1.  0.  1.]",
    lambd=number(0.5),
)  # fmt: skip
SoftShrink = _layer(
    "SoftShrink", rectifiers.softshrink, "nn.SoftShrink()(Tensor([-1.0, 0.25, 1.0]))", "[-0.5  0.   0.5]",
    lambd=number(0.5),
)  # fmt: skip
Threshold = _layer(
    "Threshold", rectifiers.threshold, "nn.Threshold(0.5, 9.0)(Tensor([-1.0, 2.0]))", "[9. 2.]",
    keywords={"threshold": "thr"}, threshold=number(), value=number(),
)  # fmt: skip


class PReLU(Cell):
    """Parametric ReLU: ``x`` if positive, else ``w x`` with trained slopes ``w``.

    Args:
        channel (int): number of slopes: the number of channels (the size of axis 1 of the input), or 1.
        w (float, list, or Tensor): initial slopes: one number for all slopes, or ``channel`` numbers.

    Inputs:
        x (Tensor): real tensor of any shape.

    Outputs:
        Tensor with the shape of ``x``.

    Raises:
        TypeError: If an argument has an unsupported type.
        ValueError: If ``channel`` is not positive, or ``w`` does not have ``channel`` elements.

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
                f"For 'PReLU', the 'w' must contain {channel} numbers, one for each channel, but its shape "
                f"is {slopes.shape}."
            )
        self.w = Parameter(Tensor(slopes), name="w")

    def construct(self, x: Any) -> Tensor:
        return rectifiers.prelu(x, self.w)


class RReLU(Cell):
    """Randomized ReLU: ``x`` if positive, else ``r x`` with random slopes ``r``.

    Args:
        lower (float): lower bound of the uniform distribution of slopes, from 0 to 1.
        upper (float): upper bound of the uniform distribution of slopes, from ``lower`` to 1.

    Inputs:
        x (Tensor): real tensor of any shape.

    Outputs:
        Tensor with the shape of ``x``. Each call draws a new slope for each element.

    Raises:
        TypeError: If an argument has an unsupported type.
        ValueError: If ``lower`` is above ``upper``, or ``lower`` or ``upper`` is not in [0, 1].

    >>> from mindgrad import Tensor, nn
    >>> print(nn.RReLU(0.5, 0.5)(Tensor([-1.0, 2.0])))
    [-0.5  2. ]
    """

    def __init__(self, lower: float = 1 / 8, upper: float = 1 / 3) -> None:
        super().__init__()
        self.lower, self.upper = number_of(lower, "RReLU", "lower"), number_of(upper, "RReLU", "upper")
        if not 0 <= self.lower <= self.upper <= 1:
            raise ValueError(
                f"For 'RReLU', 'lower' and 'upper' must satisfy 0 ≤ lower ≤ upper ≤ 1, but are {lower} and "
                f"{upper}."
            )

    def construct(self, x: Any) -> Tensor:
        x = activation.real_operand(x, "RReLU")
        if self.lower == self.upper:
            return rectifiers.leaky_relu(x, self.lower)
        slopes = uniform(x.shape, self.lower, self.upper, dtype=x.dtype)
        return choose(greater(x, 0), x, mul(slopes, x))


# --- lookup by name ----------------------------------------------------------------------------------

_BY_NAME = {
    "celu": CELU, "elu": ELU, "fast_gelu": FastGelu, "gelu": GELU, "glu": GLU, "hardtanh": Hardtanh,
    "hshrink": HShrink, "hsigmoid": HSigmoid, "hswish": HSwish, "leakyrelu": LeakyReLU,
    "logsigmoid": LogSigmoid, "logsoftmax": LogSoftmax, "mish": Mish, "prelu": PReLU, "relu": ReLU,
    "relu6": ReLU6, "rrelu": RReLU, "selu": SeLU, "sigmoid": Sigmoid, "silu": SiLU, "softmax": Softmax,
    "softmax2d": Softmax2d, "softmin": Softmin, "softshrink": SoftShrink, "softsign": Softsign,
    "tanh": Tanh, "tanhshrink": Tanhshrink,
}  # fmt: skip
_activation = _BY_NAME  # name under which other libraries add activations


def get_activation(name: str | None, prim_name: str | None = None) -> Cell | None:
    """Return the activation layer with a given name.

    Args:
        name (str or None): the name of the class in lower case: ``"relu"``, ``"tanh"``, ``"sigmoid"``, ...
        prim_name (str): name of the layer, for error messages.

    Returns:
        Cell, or ``None`` if ``name`` is ``None``.

    Raises:
        KeyError: If an activation of this name does not exist.

    >>> from mindgrad import Tensor, nn
    >>> print(nn.get_activation("relu")(Tensor([-1.0, 2.0])))
    [0. 2.]

    See Also:
        :class:`mindgrad.nn.ReLU`, :class:`mindgrad.nn.Tanh`, :class:`mindgrad.nn.Sigmoid`,
        :class:`mindgrad.nn.GELU`
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
