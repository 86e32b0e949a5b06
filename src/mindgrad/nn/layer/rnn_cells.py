"""Recurrent cells, which compute one step: RNNCell, GRUCell, and LSTMCell."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from mindgrad._base.checks import one_of
from mindgrad._base.shared_docs import with_sections
from mindgrad.common.initializer import Uniform
from mindgrad.core.ir.dtype import float32
from mindgrad.core.ir.tensor import Tensor
from mindgrad.nn.cell import Cell
from mindgrad.nn.layer.parameters import parameter
from mindgrad.nn.layer.recurrence import GATES, STEPS, affine
from mindgrad.ops.activation import real_operand
from mindgrad.ops.arguments import whole_number
from mindgrad.ops.reduction import flag

__all__ = ["GRUCell", "LSTMCell", "RNNCell"]


class _RecurrentCell(Cell):
    """Base class of recurrent cells, with their weights and checks."""

    kind = ""

    def __init__(
        self, input_size: int, hidden_size: int, has_bias: bool = True, dtype: Any = float32
    ) -> None:
        super().__init__()
        owner = type(self).__name__
        self.input_size = whole_number(input_size, owner, "input_size", 1)
        self.hidden_size = whole_number(hidden_size, owner, "hidden_size", 1)
        self.has_bias = flag(has_bias, owner, "has_bias")
        rows = GATES[self.kind] * self.hidden_size
        init = Uniform(1 / math.sqrt(self.hidden_size))
        self.weight_ih = parameter(owner, init, (rows, self.input_size), "weight_ih", dtype)
        self.weight_hh = parameter(owner, init, (rows, self.hidden_size), "weight_hh", dtype)
        self.bias_ih = parameter(owner, init, (rows,), "bias_ih", dtype) if has_bias else None
        self.bias_hh = parameter(owner, init, (rows,), "bias_hh", dtype) if has_bias else None

    def _step(self, x: Any, *states: Any) -> Any:
        owner = type(self).__name__
        x = real_operand(x, owner)
        if x.ndim != 2 or x.shape[1] != self.input_size:
            raise ValueError(
                f"For '{owner}', the input must have the shape (batch, {self.input_size}), but its shape "
                f"is {x.shape}."
            )
        for hidden in states:
            if real_operand(hidden, owner).shape != (x.shape[0], self.hidden_size):
                raise ValueError(
                    f"For '{owner}', a state must have the shape ({x.shape[0]}, {self.hidden_size}), but "
                    f"its shape is {hidden.shape}."
                )
        given = affine(x, self.weight_ih, self.bias_ih)
        state = states if self.kind == "lstm" else states[0]
        return STEPS[self.kind](given, state, self.weight_hh, self.bias_hh)

    def extend_repr(self) -> str:
        return f"input_size={self.input_size}, hidden_size={self.hidden_size}, has_bias={self.has_bias}"


class RNNCell(_RecurrentCell):
    """One step of a recurrent network (Elman, 1990).

    The next state is::

        h' = tanh(W_ih x + b_ih + W_hh h + b_hh)

    Args:
        input_size (int): number of features of the input x.
        hidden_size (int): number of features of the hidden state h.
        has_bias (bool): whether to add the biases b_ih and b_hh.
        nonlinearity (str): activation function, ``"tanh"`` or ``"relu"``.
        dtype (DType): dtype of the Parameters.

    Inputs:
        x (Tensor): real tensor of shape (batch, input_size).
        hx (Tensor): previous hidden state h, of shape (batch, hidden_size).

    Outputs:
        Next hidden state h', a Tensor of shape (batch, hidden_size).

    Raises:
        TypeError: If an argument has an unsupported type.
        ValueError: If ``nonlinearity`` is neither ``"tanh"`` nor ``"relu"``, or ``x`` or ``hx`` has a wrong
            shape.

    >>> from mindgrad import nn, ops
    >>> print(nn.RNNCell(3, 2)(ops.ones((5, 3)), ops.zeros((5, 2))).shape)
    (5, 2)
    """

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        has_bias: bool = True,
        nonlinearity: str = "tanh",
        dtype: Any = float32,
    ) -> None:
        one_of(nonlinearity, ("tanh", "relu"), "RNNCell", "nonlinearity")
        object.__setattr__(self, "kind", nonlinearity)
        super().__init__(input_size, hidden_size, has_bias, dtype)
        self.nonlinearity = nonlinearity

    def construct(self, x: Any, hx: Any) -> Tensor:
        return self._step(x, hx)


@with_sections
class GRUCell(_RecurrentCell):
    """One step of a gated recurrent unit (Cho et al., 2014): h' = (1 − z) n + z h.

    The gates are r = σ(W_ir x + b_ir + W_hr h + b_hr), z with the same form, and n = tanh(W_in x + b_in + r
    (W_hn h + b_hn)). The rows of the weights are in the order r, z, n.

    Args:
        has_bias (bool): whether to add the biases b in the formulas.

    {as RNNCell}

    Raises:
        TypeError: If an argument has an unsupported type.
        ValueError: If ``x`` or ``hx`` does not have the documented shape.

    >>> from mindgrad import nn, ops
    >>> print(nn.GRUCell(3, 2)(ops.ones((5, 3)), ops.zeros((5, 2))).shape)
    (5, 2)
    """

    kind = "gru"

    def construct(self, x: Any, hx: Any) -> Tensor:
        return self._step(x, hx)


@with_sections
class LSTMCell(_RecurrentCell):
    """One step of a long short-term memory (Hochreiter and Schmidhuber, 1997).

    The next states are::

        c' = f c + i g        h' = o tanh(c')

    The gates are i = σ(W_ii x + b_ii + W_hi h + b_hi), f and o with the same form, and g with tanh. The rows
    of the weights are in the order i, f, g, o.

    Args:
        hidden_size (int): number of features of the hidden state h and the cell state c.

    {as GRUCell}

    Inputs:
        x (Tensor): real tensor of shape (batch, input_size).
        hx (tuple of Tensor): previous states (h, c), each of shape (batch, hidden_size).

    Outputs:
        Tuple of the next states (h', c'), each of shape (batch, hidden_size).

    >>> from mindgrad import nn, ops
    >>> h, c = nn.LSTMCell(3, 2)(ops.ones((5, 3)), (ops.zeros((5, 2)), ops.zeros((5, 2))))
    >>> print(h.shape, c.shape)
    (5, 2) (5, 2)
    """

    kind = "lstm"

    def construct(self, x: Any, hx: Any) -> tuple[Tensor, Tensor]:
        if not isinstance(hx, (tuple, list)) or len(hx) != 2:
            raise TypeError(f"For 'LSTMCell', the 'hx' must be a tuple (h, c), but got {type(hx).__name__}.")
        return self._step(x, *hx)


def _step_of(kind: str) -> Callable[..., Any]:
    def step(inputs: Any, hidden: Any, w_ih: Any, w_hh: Any, b_ih: Any, b_hh: Any) -> Any:
        return STEPS[kind](affine(inputs, w_ih, b_ih), hidden, w_hh, b_hh)

    step.__doc__ = f"Compute the next state of a recurrent cell ({kind}) with these weights."
    return step


#: steps of the recurrent cells, as functions of their weights. Other libraries import these names
_rnn_tanh_cell, _rnn_relu_cell = _step_of("tanh"), _step_of("relu")
_gru_cell, _lstm_cell = _step_of("gru"), _step_of("lstm")
