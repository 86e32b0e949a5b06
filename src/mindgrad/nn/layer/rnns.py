"""Recurrent layers RNN, GRU, and LSTM: several layers in one or both directions."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from mindgrad._base.checks import one_of
from mindgrad.common.initializer import Uniform
from mindgrad.common.parameter import Parameter
from mindgrad.core.ir.dtype import float32, int32
from mindgrad.core.ir.tensor import Tensor, make_tensor
from mindgrad.nn.cell import Cell
from mindgrad.nn.layer.dropout import Dropout
from mindgrad.nn.layer.parameters import parameter
from mindgrad.nn.layer.recurrence import GATES, STEPS, affine
from mindgrad.ops import arithmetic, comparison, creation, joining, layout, movement
from mindgrad.ops.activation import real_operand
from mindgrad.ops.arguments import number, whole_number
from mindgrad.ops.indexing import gather_elements
from mindgrad.ops.operands import broadcast_to, cast, choose, operand
from mindgrad.ops.recurrence import over_time
from mindgrad.ops.reduction import flag

__all__ = ["GRU", "LSTM", "RNN"]


class _Recurrent(Cell):
    """Base class of the layers, which differ in the repeated step."""

    kind = ""

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        num_layers: int = 1,
        has_bias: bool = True,
        batch_first: bool = False,
        dropout: float = 0.0,
        bidirectional: bool = False,
        dtype: Any = float32,
    ) -> None:
        super().__init__()
        owner = type(self).__name__
        self.input_size = whole_number(input_size, owner, "input_size", 1)
        self.hidden_size = whole_number(hidden_size, owner, "hidden_size", 1)
        self.num_layers = whole_number(num_layers, owner, "num_layers", 1)
        self.has_bias = flag(has_bias, owner, "has_bias")
        self.batch_first = flag(batch_first, owner, "batch_first")
        self.bidirectional = flag(bidirectional, owner, "bidirectional")
        self.dropout = number(dropout, owner, "dropout")
        if not 0 <= self.dropout < 1:
            raise ValueError(f"For '{owner}', the 'dropout' must be in [0, 1), but got {dropout}.")
        self.dropout_op = Dropout(p=self.dropout) if self.dropout and self.num_layers > 1 else None
        rows = GATES[self.kind] * self.hidden_size
        init = Uniform(1 / math.sqrt(self.hidden_size))
        kinds = ["weight_ih", "weight_hh"] + (["bias_ih", "bias_hh"] if has_bias else [])
        for kind in kinds:
            for layer in range(self.num_layers):
                inputs = self.input_size if layer == 0 else self._directions * self.hidden_size
                size = {"weight_ih": (rows, inputs), "weight_hh": (rows, self.hidden_size)}.get(kind, (rows,))
                for suffix in ("", "_reverse")[: self._directions]:
                    name = f"{kind}_l{layer}{suffix}"
                    setattr(self, name, parameter(owner, init, size, name, dtype))

    @property
    def _directions(self) -> int:
        return 2 if self.bidirectional else 1

    def _names(self, kind: str) -> list[str]:
        if not (self.has_bias or kind.startswith("weight")):
            return []
        suffixes = ("", "_reverse")[: self._directions]
        return [f"{kind}_l{k}{suffix}" for k in range(self.num_layers) for suffix in suffixes]

    def _weights(self, kind: str) -> list[Parameter]:
        return [getattr(self, name) for name in self._names(kind)]

    def _set_weights(self, kind: str, weights: Any) -> None:
        names = self._names(kind)
        if len(weights) != len(names):
            raise ValueError(
                f"For '{type(self).__name__}', there must be {len(names)} Parameters, namely "
                f"{', '.join(names)}, but got {len(weights)}."
            )
        for name, weight in zip(names, weights, strict=True):
            setattr(self, name, weight)

    @property
    def w_ih_list(self) -> list[Parameter]:
        """Weights of the inputs of each layer, forward before backward; assignable."""
        return self._weights("weight_ih")

    @w_ih_list.setter
    def w_ih_list(self, weights: Any) -> None:
        self._set_weights("weight_ih", weights)

    @property
    def w_hh_list(self) -> list[Parameter]:
        """Weights of the states of each layer, in the order of :attr:`w_ih_list`."""
        return self._weights("weight_hh")

    @w_hh_list.setter
    def w_hh_list(self, weights: Any) -> None:
        self._set_weights("weight_hh", weights)

    @property
    def b_ih_list(self) -> list[Parameter]:
        """Biases of the inputs of each layer, in the order of :attr:`w_ih_list`."""
        return self._weights("bias_ih")

    @b_ih_list.setter
    def b_ih_list(self, biases: Any) -> None:
        self._set_weights("bias_ih", biases)

    @property
    def b_hh_list(self) -> list[Parameter]:
        """Biases of the states of each layer, in the order of :attr:`w_ih_list`."""
        return self._weights("bias_hh")

    @b_hh_list.setter
    def b_hh_list(self, biases: Any) -> None:
        self._set_weights("bias_hh", biases)

    # -- checks of the inputs --------------------------------------------------------------------

    def _checked_input(self, x: Any) -> Tensor:
        owner = type(self).__name__
        x = real_operand(x, owner)
        if x.ndim != 3 or x.shape[2] != self.input_size or 0 in x.shape:
            axes = "(batch, time" if self.batch_first else "(time, batch"
            raise ValueError(
                f"For '{owner}', the input must have the shape {axes}, {self.input_size}), but its shape "
                f"is {x.shape}."
            )
        return layout.swapaxes(x, 0, 1) if self.batch_first else x

    def _first_state(self, hx: Any, batch: int, like: Tensor) -> Tensor:
        owner = type(self).__name__
        shape = (self._directions * self.num_layers, batch, self.hidden_size)
        if hx is None:
            return creation.zeros(shape, like.dtype)
        state = real_operand(hx, owner)
        if state.shape != shape:
            raise ValueError(
                f"For '{owner}', a state must have the shape {shape}, but its shape is {state.shape}."
            )
        return state

    def _lengths(self, seq_length: Any, time: int, batch: int) -> Tensor | None:
        if seq_length is None:
            return None
        owner = type(self).__name__
        lengths = operand(seq_length, owner)
        if lengths.dtype.kind not in ("int", "uint") or lengths.shape != (batch,):
            raise ValueError(
                f"For '{owner}', the 'seq_length' must contain an integer for each of {batch} sequences, but "
                f"it has the shape {lengths.shape} and the type {lengths.dtype}."
            )
        return cast(lengths, int32)

    # -- call and representation -----------------------------------------------------------------

    def construct(self, x: Any, hx: Any = None, seq_length: Any = None) -> Any:
        x = self._checked_input(x)
        time, batch = x.shape[:2]
        is_pair = self.kind == "lstm"
        if is_pair and hx is not None and (not isinstance(hx, (tuple, list)) or len(hx) != 2):
            raise TypeError(f"For 'LSTM', the 'hx' must be a tuple (h, c), but got {type(hx).__name__}.")
        given = (hx if hx is not None else (None, None)) if is_pair else (hx,)
        states = [self._first_state(state, batch, x) for state in given]
        lengths = self._lengths(seq_length, time, batch)
        last: list[list[Tensor]] = [[] for _ in states]
        for layer in range(self.num_layers):
            outputs = []
            for direction in range(self._directions):
                index = layer * self._directions + direction
                start = [
                    layout.reshape(movement.slice_axis(s, 0, index, index + 1), s.shape[1:]) for s in states
                ]
                y, end = self._one(x, start, lengths, index, direction == 1)
                outputs.append(y)
                for found, state in zip(last, end, strict=True):
                    found.append(state)
            x = joining.concat(outputs, -1) if len(outputs) > 1 else outputs[0]
            if self.dropout_op is not None and layer + 1 < self.num_layers:
                x = self.dropout_op(x)
        ends = tuple(joining.stack(state) for state in last)
        return (layout.swapaxes(x, 0, 1) if self.batch_first else x), (ends if is_pair else ends[0])

    def _one(
        self, x: Tensor, start: list[Tensor], lengths: Tensor | None, index: int, is_reversed: bool
    ) -> tuple[Tensor, tuple[Tensor, ...]]:
        """Run one layer in one direction; return its outputs and its last state."""
        w_hh, b_hh = self.w_hh_list[index], self.b_hh_list[index] if self.has_bias else None
        xs = affine(x, self.w_ih_list[index], self.b_ih_list[index] if self.has_bias else None)
        if is_reversed:
            xs = _reversed(xs, lengths)
        repeated = STEPS[self.kind]
        begin = tuple(cast(each, xs.dtype) for each in start)

        def step(x_t: Tensor, carry: Any) -> Any:
            states, t = carry
            outputs = repeated(x_t, states if len(states) > 1 else states[0], w_hh, b_hh)
            now = outputs if isinstance(outputs, tuple) else (outputs,)
            if lengths is None:
                return (now, t), now[0]
            runs = broadcast_to(layout.expand_dims(comparison.less(t, lengths), 1), now[0].shape)
            kept = tuple(choose(runs, a, b) for a, b in zip(now, states, strict=True))
            return (kept, arithmetic.add(t, 1)), choose(runs, now[0], 0.0)

        clock = make_tensor(np.zeros((), np.int32))
        ys, (end, _) = over_time(step, xs, (begin, clock))
        return (_reversed(ys, lengths) if is_reversed else ys), end

    def extend_repr(self) -> str:
        return (
            f"input_size={self.input_size}, hidden_size={self.hidden_size}, num_layers={self.num_layers}, "
            f"has_bias={self.has_bias}, batch_first={self.batch_first}, dropout={self.dropout}, "
            f"bidirectional={self.bidirectional}"
        )


def _reversed(x: Tensor, lengths: Tensor | None) -> Tensor:
    """Reverse sequences along the first axis, except the elements after their end."""
    if lengths is None:
        return movement.flip(x, (0,))
    time = x.shape[0]
    places = make_tensor(np.arange(time, dtype=np.int32).reshape(time, 1))
    last = layout.expand_dims(arithmetic.sub(lengths, 1), 0)
    from_end = choose(
        comparison.less_equal(
            broadcast_to(places, (time, x.shape[1])), broadcast_to(last, (time, x.shape[1]))
        ),
        arithmetic.sub(last, places),
        broadcast_to(places, (time, x.shape[1])),
    )
    index = broadcast_to(layout.expand_dims(from_end, 2), x.shape)
    return gather_elements(x, 0, index)


_DOC = """{what}

    Each layer has Parameters ``weight_ih_l0`` of shape ({rows}hidden_size, input_size), ``weight_hh_l0``,
    ``bias_ih_l0``, and ``bias_hh_l0``, with ``_reverse`` for the backward direction. They are initialized
    uniformly in ±1/√hidden_size. See :class:`mindgrad.nn.{cell}` for one step.

    Args:
        input_size (int): number of features of each element of a sequence.
        hidden_size (int): number of features of the hidden state.
        num_layers (int, optional): number of layers; each receives the outputs of the previous one. Default:
            ``1``.
        has_bias (bool, optional): whether the layers have biases. Default: ``True``.
        batch_first (bool, optional): whether the batch is the first axis of input and output, instead of
            time. Default: ``False``.
        dropout (float, optional): probability that an output is dropped in training, after each layer except
            the last. Default: ``0.0``.
        bidirectional (bool, optional): whether to add a backward direction. Its outputs follow the outputs of
            the forward direction along the last axis. Default: ``False``.
        dtype (DType, optional): dtype of the Parameters. Default: ``float32``.{more}

    Inputs:
        x (Tensor): real tensor of shape (time, batch, input_size).
        hx ({pair_type}, optional): initial state{pair} of shape (layers · directions, batch, hidden_size).
            ``None``: zeros.
        seq_length (Tensor, optional): length of each sequence, integers of shape (batch,). After the end of a
            sequence, outputs are 0 and the state does not change. ``None``: all sequences have the full
            length.

    Outputs:
        Tuple of the outputs of the last layer, of shape (time, batch, directions · hidden_size), and the last
        state{pair}.

    Raises:
        TypeError: If an argument has an unsupported type.
        ValueError: If an argument is out of range, or ``x``, ``hx``, or ``seq_length`` has a wrong shape.

    >>> from mindgrad import nn, ops
    >>> outputs, {state} = nn.{name}(3, 2, num_layers=2, bidirectional=True)(ops.ones((7, 5, 3)))
    >>> print(outputs.shape, {first}.shape)
    (7, 5, 4) (4, 5, 2)
    """


class RNN(_Recurrent):
    def __init__(self, *args: Any, nonlinearity: str = "tanh", **kwargs: Any) -> None:
        one_of(nonlinearity, ("tanh", "relu"), "RNN", "nonlinearity")
        object.__setattr__(self, "kind", nonlinearity)
        super().__init__(*args, **kwargs)
        self.nonlinearity = nonlinearity


class GRU(_Recurrent):
    kind = "gru"


class LSTM(_Recurrent):
    kind = "lstm"


_NONLINEARITY = (
    '\n        nonlinearity (str, optional): ``"tanh"`` or ``"relu"``; by keyword only. Default: ``"tanh"``.'
    "\n        *args, **kwargs (Any): the other arguments, in this order or by name."
)
RNN.__doc__ = _DOC.format(
    what="Recurrent layers (Elman) over sequences.", rows="", cell="RNNCell", more=_NONLINEARITY,
    pair_type="Tensor", pair="", name="RNN", state="h", first="h",
)  # fmt: skip
GRU.__doc__ = _DOC.format(
    what="Apply layers of gated recurrent units (GRU) to sequences.", rows="3 · ", cell="GRUCell", more="",
    pair_type="Tensor", pair="",
    name="GRU", state="h", first="h",
)  # fmt: skip
LSTM.__doc__ = _DOC.format(
    what="Apply layers of long short-term memory (LSTM) to sequences.", rows="4 · ", cell="LSTMCell", more="",
    pair_type="tuple of Tensor", pair=" (h, c)", name="LSTM", state="(h, c)", first="h",
)  # fmt: skip
