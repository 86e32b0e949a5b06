"""Basic layers: Dense and BiDense, and Cells that move or measure elements.

Unless a class documents another initial value, weights are initialized as in MindSpore 2.x: HeUniform(√5),
and biases uniform in ±1/√inputs. MindSpore 1.6 used Normal(0.01) and zeros; to get these, pass
``weight_init="normal", bias_init="zeros"``.
"""

from __future__ import annotations

from typing import Any

from mindgrad._base.checks import one_of
from mindgrad.core.ir.dtype import as_dtype, float32
from mindgrad.core.ir.scope import apply
from mindgrad.core.ir.tensor import Tensor
from mindgrad.core.primitives.contraction import dot
from mindgrad.nn.cell import Cell
from mindgrad.nn.function_cells import function_cell, function_cells
from mindgrad.nn.layer.activation import get_activation
from mindgrad.nn.layer.parameters import bias_of_fan, parameter, weight_of_fan
from mindgrad.ops import affine, arithmetic, flow, layout, matrices, movement, padding, reduction, rounding
from mindgrad.ops import statistics as norms
from mindgrad.ops.activation import real_operand
from mindgrad.ops.arguments import axis_in_range, sizes, whole_number
from mindgrad.ops.arguments import number as number_of
from mindgrad.ops.operands import cast, operand, promoted
from mindgrad.ops.operations.base import (
    Attribute,
    Operation,
    anything,
    boolean,
    element_type,
    integer,
    integers,
    number,
)
from mindgrad.ops.reduction import flag

# --- dense layers ------------------------------------------------------------------------------------


def _activation(owner: str, activation: Any) -> Any:
    """Look up an activation by name; ``None`` means no activation.

    Raises:
        TypeError: If ``activation`` is not a name, Cell, or operator.
    """
    function = get_activation(activation, owner) if isinstance(activation, str) else activation
    if function is not None and not isinstance(function, (Cell, Operation)):
        raise TypeError(
            f"For '{owner}', the 'activation' must be a string, a Cell or an operator, but got "
            f"{activation!r}."
        )
    return function


class Dense(Cell):
    """A fully connected layer: ``x Wᵀ + b``, followed by an activation.

    Args:
        in_channels (int): size of the last axis of the input.
        out_channels (int): size of the last axis of the output.
        weight_init (Tensor, str, Initializer, or number): initial weight W, of shape (out_channels,
            in_channels). ``None``: HeUniform(√5), as in MindSpore 2.x.
        bias_init (Tensor, str, Initializer, or number): initial bias b, of shape (out_channels,). ``None``:
            uniform in ±1/√in_channels.
        has_bias (bool): whether to add the bias b.
        activation (str, Cell, or Primitive): activation function, or its name. ``None``: no activation.
        dtype (DType): dtype of the Parameters.

    Inputs:
        x (Tensor): real tensor of shape (..., in_channels).

    Outputs:
        Tensor of shape (..., out_channels).

    Raises:
        TypeError: If an argument has an unsupported type.
        ValueError: If ``in_channels`` or ``out_channels`` is not positive, ``x`` is not of shape (...,
            in_channels), or an initial value has a wrong shape.

    >>> from mindgrad import Tensor, nn
    >>> layer = nn.Dense(2, 1, weight_init=Tensor([[1.0, 2.0]]), bias_init="ones", activation="relu")
    >>> print(layer(Tensor([[1.0, 1.0], [0.0, -5.0]])))
    [[4.]
     [0.]]
    """

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        weight_init: Any = None,
        bias_init: Any = None,
        has_bias: bool = True,
        activation: Any = None,
        dtype: Any = float32,
    ) -> None:
        super().__init__()
        self.in_channels = whole_number(in_channels, "Dense", "in_channels", 1)
        self.out_channels = whole_number(out_channels, "Dense", "out_channels", 1)
        self.has_bias = flag(has_bias, "Dense", "has_bias")
        shape = (self.out_channels, self.in_channels)
        self.weight = parameter("Dense", weight_of_fan(weight_init), shape, "weight", dtype)
        self.bias = None
        if has_bias:
            init = bias_of_fan(bias_init, self.in_channels)
            self.bias = parameter("Dense", init, (self.out_channels,), "bias", dtype)
        self.activation = _activation("Dense", activation)
        self.activation_flag = self.activation is not None

    def construct(self, x: Any) -> Tensor:
        x, weight = promoted("Dense", real_operand(x, "Dense"), self.weight, broadcast=False)
        shape = x.type.shape
        if not shape or shape[-1] != self.in_channels:
            raise ValueError(
                f"For 'Dense', the last axis of the input must have size in_channels = {self.in_channels}, "
                f"but the shape of the input is {x.shape} and the shape of the weight is {weight.shape}."
            )
        y = apply(dot, x, weight, contract=((len(shape) - 1,), (1,)), batch=((), ()))
        if self.bias is not None:
            y = arithmetic.add(y, self.bias)
        return y if self.activation is None else self.activation(y)

    def extend_repr(self) -> str:
        shown = f"input_channels={self.in_channels}, output_channels={self.out_channels}"
        shown += ", has_bias=True" if self.has_bias else ""
        return shown + (f", activation={self.activation}" if self.activation_flag else "")


class BiDense(Cell):
    """A bilinear layer ``x₁ᵀ A x₂ + b``, with one matrix A for each output channel.

    Args:
        in1_channels (int): size of the last axis of the first input.
        in2_channels (int): size of the last axis of the second input.
        out_channels (int): size of the last axis of the output.
        weight_init (Tensor, str, Initializer, or number): initial weight A, of shape (out_channels,
            in1_channels, in2_channels). ``None``: uniform in ±1/√in1_channels.
        bias_init (Tensor, str, Initializer, or number): initial bias b, of shape (out_channels,). ``None``:
            uniform in ±1/√in1_channels.
        has_bias (bool): whether to add the bias b.
        dtype (DType): dtype of the Parameters.

    Inputs:
        input1 (Tensor): real tensor of shape (..., in1_channels).
        input2 (Tensor): real tensor of shape (..., in2_channels), with the leading dimensions of ``input1``.

    Outputs:
        Tensor of shape (..., out_channels).

    Raises:
        TypeError: If an argument has an unsupported type.
        ValueError: If a number of channels is not positive, or an input does not have the documented shape.

    >>> from mindgrad import Tensor, nn
    >>> layer = nn.BiDense(2, 2, 1, weight_init="ones", bias_init="zeros")
    >>> print(layer(Tensor([[1.0, 2.0]]), Tensor([[3.0, 4.0]])))
    [[21.]]
    """

    def __init__(
        self,
        in1_channels: int,
        in2_channels: int,
        out_channels: int,
        weight_init: Any = None,
        bias_init: Any = None,
        has_bias: bool = True,
        dtype: Any = float32,
    ) -> None:
        super().__init__()
        self.in1_channels = whole_number(in1_channels, "BiDense", "in1_channels", 1)
        self.in2_channels = whole_number(in2_channels, "BiDense", "in2_channels", 1)
        self.out_channels = whole_number(out_channels, "BiDense", "out_channels", 1)
        self.has_bias = flag(has_bias, "BiDense", "has_bias")
        shape = (self.out_channels, self.in1_channels, self.in2_channels)
        init = bias_of_fan(weight_init, self.in1_channels)
        self.weight = parameter("BiDense", init, shape, "weight", dtype)
        self.bias = None
        if has_bias:
            init = bias_of_fan(bias_init, self.in1_channels)
            self.bias = parameter("BiDense", init, (self.out_channels,), "bias", dtype)

    def construct(self, input1: Any, input2: Any) -> Tensor:
        x, y = real_operand(input1, "BiDense"), real_operand(input2, "BiDense")
        channels = (self.in1_channels, self.in2_channels)
        if not x.ndim or not y.ndim or x.shape[:-1] != y.shape[:-1] or (x.shape[-1], y.shape[-1]) != channels:
            raise ValueError(
                f"For 'BiDense', the last axes must have the sizes {channels}, and the other axes must "
                f"match, but the shapes are {x.shape} and {y.shape}."
            )
        return affine.bidense(x, y, self.weight, self.bias)

    def extend_repr(self) -> str:
        shown = (
            f"in1_channels={self.in1_channels}, in2_channels={self.in2_channels}, "
            f"output_channels={self.out_channels}"
        )
        return shown + (", has_bias=True" if self.has_bias else "")


# --- reshaping, shifting, and padding ----------------------------------------------------------------

Identity = function_cell(
    __name__, "Identity", flow.identity, example="nn.Identity()(Tensor([1.0]))", prints="[1.]"
)


def _flattened(self: Any, x: Any) -> Tensor:
    x = operand(x, "Flatten")
    if not x.ndim:
        return layout.reshape(x, (1,))
    first = axis_in_range(self.start_dim, x.ndim, "Flatten", "start_dim") if x.ndim > 1 else 0
    last = axis_in_range(self.end_dim, x.ndim, "Flatten", "end_dim")
    if first > last:
        raise ValueError(
            f"For 'Flatten', the 'start_dim' must not be after the 'end_dim', but they are "
            f"{self.start_dim} and {self.end_dim} for the shape {x.shape}."
        )
    size = 1
    for n in x.shape[first : last + 1]:
        size *= n
    return layout.reshape(x, (*x.shape[:first], size, *x.shape[last + 1 :]))


Flatten = function_cell(
    __name__, "Flatten", layout.flatten, run=_flattened, inputs="x",
    attributes={"start_dim": integer(1), "end_dim": integer(-1)},
    meaning="Flatten the axes from ``start_dim`` to ``end_dim``.",
    example="nn.Flatten()(ops.ones((2, 3, 4))).shape", prints="(2, 12)",
)  # fmt: skip
Unflatten = function_cell(
    __name__, "Unflatten", layout.reshape, inputs="x",
    attributes={"axis": integer(), "unflattened_size": integers()},
    run=lambda self, x: _unflattened(operand(x, "Unflatten"), self.axis, self.unflattened_size),
    meaning="Split one axis into several, the inverse of ``Flatten``.",
    example="nn.Unflatten(1, (3, 4))(ops.ones((2, 12))).shape", prints="(2, 3, 4)",
)  # fmt: skip


def _unflattened(x: Tensor, axis: int, parts: Any) -> Tensor:
    place = axis_in_range(axis, x.ndim, "Unflatten")
    shape = (*x.shape[:place], *sizes(parts, "Unflatten", "unflattened_size"), *x.shape[place + 1 :])
    return layout.reshape(x, shape)


Roll = function_cell(
    __name__, "Roll", movement.roll, attributes={"shift": integers(), "axis": integers()},
    run=lambda self, x: movement.roll(x, self.shift, self.axis), inputs="input_x",
    meaning="Shift elements along axes; elements that leave one end enter at the other end.",
    example="nn.Roll(1, 0)(Tensor([1.0, 2.0, 3.0]))", prints="[3. 1. 2.]",
)  # fmt: skip
Tril = function_cell(
    __name__, "Tril", matrices.tril, run=lambda self, x, k=0: matrices.tril(x, k), inputs="x k",
    meaning="Set the elements of matrices above the ``k``-th diagonal to zero.\n\n"
    "``k`` is 0 by default.",
    example="nn.Tril()(ops.ones((2, 2)))", prints="[[1. 0.]\n [1. 1.]]",
)  # fmt: skip
Triu = function_cell(
    __name__, "Triu", matrices.triu, run=lambda self, x, k=0: matrices.triu(x, k), inputs="x k",
    meaning="Set the elements of matrices below the ``k``-th diagonal to zero.\n\n"
    "``k`` is 0 by default.",
    example="nn.Triu()(ops.ones((2, 2)))", prints="[[1. 1.]\n [0. 1.]]",
)  # fmt: skip
OneHot = function_cell(
    __name__, "OneHot", matrices.one_hot, inputs="indices",
    attributes={
        "axis": integer(-1), "depth": integer(1), "on_value": number(1.0), "off_value": number(0.0),
        "dtype": element_type(float32),
    },
    run=lambda self, indices: cast(
        matrices.one_hot(indices, self.depth, self.on_value, self.off_value, self.axis), as_dtype(self.dtype)
    ),
    example="nn.OneHot(depth=3)(Tensor([2, 0]))", prints="[[0. 0. 1.]\n [1. 0. 0.]]",
)  # fmt: skip

_PAD_MODES = {"CONSTANT": "constant", "REFLECT": "reflect", "SYMMETRIC": "symmetric"}


def _pairs(paddings: Any) -> Any:
    pairs = paddings if isinstance(paddings, (tuple, list)) else [None]
    if not all(isinstance(pair, (tuple, list)) for pair in pairs):
        raise TypeError
    return paddings


def _padded(self: Any, x: Any) -> Tensor:
    x = operand(x, "Pad")
    one_of(self.mode, _PAD_MODES, "Pad", "mode")
    pairs = [sizes(pair, "Pad", "paddings", 0) for pair in self.paddings]
    if len(pairs) != x.ndim or any(len(pair) != 2 for pair in pairs):
        raise ValueError(
            f"For 'Pad', the 'paddings' must have a pair of ints for each axis of the input, but got "
            f"{self.paddings} for the shape {x.shape}."
        )
    return padding.padded(x, [(pair[0], pair[1]) for pair in pairs], _PAD_MODES[self.mode])


Pad = function_cell(
    __name__, "Pad", padding.pad, run=_padded, inputs="x",
    attributes={
        "paddings": Attribute(_pairs, "a tuple with a pair (before, after) of ints for each axis"),
        "mode": anything('"CONSTANT", "REFLECT" or "SYMMETRIC"', "CONSTANT"),
    },
    meaning="Pad each axis before and after with zeros or mirrored elements.\n\n"
    'The modes are ``"CONSTANT"`` (zeros), ``"REFLECT"``, and ``"SYMMETRIC"``.',
    texts={
        "mode": '``"CONSTANT"`` fills with zeros. ``"REFLECT"`` mirrors about the edge element, which is not '
        'repeated. ``"SYMMETRIC"`` mirrors and repeats the edge element.',
    },
    example='nn.Pad(((2, 1),), "REFLECT")(Tensor([1.0, 2.0, 3.0]))', prints="[3. 2. 1. 2. 3. 2.]",
)  # fmt: skip

# --- norms and regularizers --------------------------------------------------------------------------

Norm = function_cell(
    __name__, "Norm", norms.vector_norm, attributes={"axis": integers(()), "keep_dims": boolean(False)},
    run=lambda self, x: norms.vector_norm(x, 2, self.axis if self.axis != () else None, self.keep_dims),
    inputs="x", meaning="Compute √Σ x² over ``axis``, by default all axes; the derivative at 0 is 0.",
    example="nn.Norm()(Tensor([3.0, 4.0]))", prints="5.0",
)  # fmt: skip


class L1Regularizer(Cell):
    """L1 penalty: ``scale`` · Σ |w|.

    Args:
        scale (float): positive factor of the L1 norm.

    Inputs:
        weights (Tensor): real tensor of any shape.

    Outputs:
        Scalar tensor.

    Raises:
        TypeError: If ``scale`` is not a number.
        ValueError: If ``scale`` is not positive or not finite.

    >>> from mindgrad import Tensor, nn
    >>> print(nn.L1Regularizer(0.5)(Tensor([1.0, -3.0])))
    2.0
    """

    def __init__(self, scale: float) -> None:
        super().__init__()
        self.scale = number_of(scale, "L1Regularizer", "scale")
        if not 0 < self.scale < float("inf"):
            raise ValueError(
                f"For 'L1Regularizer', the 'scale' must be greater than 0 and finite, but got {scale}."
            )

    def construct(self, weights: Any) -> Tensor:
        return arithmetic.mul(reduction.sum(rounding.abs(real_operand(weights, "L1Regularizer"))), self.scale)


class ClipByNorm(Cell):
    """Rescale ``x`` to a norm of at most c: ``x · c / max(‖x‖, c)``.

    Args:
        axis (int or tuple of int): axes over which the norm is computed. ``None``: all axes.

    Inputs:
        x (Tensor): real tensor of any shape.
        clip_norm (number or Tensor): maximum norm c: a positive number, or a tensor that broadcasts with
            ``x``.

    Outputs:
        Tensor with the shape of ``x``.

    Raises:
        TypeError: If an argument has an unsupported type.
        ValueError: If ``axis`` is out of range.

    >>> from mindgrad import Tensor, nn
    >>> print(nn.ClipByNorm()(Tensor([0.0, 4.0]), 1.0))
    [0. 1.]
    """

    def __init__(self, axis: Any = None) -> None:
        super().__init__()
        self.axis = axis

    def construct(self, x: Any, clip_norm: Any) -> Tensor:
        x = real_operand(x, "ClipByNorm")
        bound = cast(operand(clip_norm, "ClipByNorm", x), x.dtype)
        size = norms.vector_norm(x, 2, self.axis, True)
        return arithmetic.mul(x, arithmetic.div(bound, norms.clipping.maximum(size, bound)))


__all__ = list(function_cells(globals()))
__all__ += ["BiDense", "ClipByNorm", "Dense", "L1Regularizer"]
