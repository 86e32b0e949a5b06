"""Transformer encoders and decoders (Vaswani et al., 2017)."""

from __future__ import annotations

import copy
from typing import Any

from mindgrad._base.shared_docs import with_sections
from mindgrad.core.ir.dtype import float32
from mindgrad.core.ir.tensor import Tensor
from mindgrad.nn.cell import Cell
from mindgrad.nn.container import CellList
from mindgrad.nn.layer.activation import get_activation
from mindgrad.nn.layer.attention import MultiheadAttention
from mindgrad.nn.layer.basic import Dense
from mindgrad.nn.layer.dropout import Dropout
from mindgrad.nn.layer.normalization import LayerNorm
from mindgrad.ops import arithmetic
from mindgrad.ops.arguments import whole_number
from mindgrad.ops.operands import operand
from mindgrad.ops.reduction import flag

__all__ = [
    "Transformer", "TransformerDecoder", "TransformerDecoderLayer", "TransformerEncoder",
    "TransformerEncoderLayer",
]  # fmt: skip


def _called(activation: Any, owner: str) -> Any:
    function = get_activation(activation, owner) if isinstance(activation, str) else activation
    if not callable(function):
        raise TypeError(
            f"For '{owner}', the 'activation' must be a string, Cell or function, but got {activation!r}."
        )
    return function


class _Block(Cell):
    """Base class of encoder and decoder layers: attentions and two dense layers."""

    norm_first = False
    _attentions: tuple[str, ...] = ("self_attn",)

    def __init__(
        self,
        d_model: int,
        nhead: int,
        dim_feedforward: int = 2048,
        dropout: float = 0.1,
        activation: Any = "relu",
        layer_norm_eps: float = 1e-5,
        batch_first: bool = False,
        norm_first: bool = False,
        dtype: Any = float32,
    ) -> None:
        super().__init__()
        for name in self._attentions:
            attention = MultiheadAttention(d_model, nhead, dropout, batch_first=batch_first, dtype=dtype)
            setattr(self, name, attention)
        self.dense1 = Dense(d_model, dim_feedforward, dtype=dtype)
        self.dropout = Dropout(p=dropout)
        self.dense2 = Dense(dim_feedforward, d_model, dtype=dtype)
        self.activation = _called(activation, type(self).__name__)
        self.norm_first = flag(norm_first, type(self).__name__, "norm_first")
        parts = range(1, len(self._attentions) + 2)
        for part in parts:
            setattr(self, f"norm{part}", LayerNorm((d_model,), epsilon=layer_norm_eps, dtype=dtype))
        for part in parts:
            setattr(self, f"dropout{part}", Dropout(p=dropout))

    def _feedforward(self, x: Tensor) -> Tensor:
        return self.dense2(self.dropout(self.activation(self.dense1(x))))

    def _added(self, x: Tensor, norm: Cell, dropout: Cell, part: Any) -> Tensor:
        """Return x + part(norm(x)) if ``norm_first``, else norm(x + part(x))."""
        if self.norm_first:
            return arithmetic.add(x, dropout(part(norm(x))))
        return norm(arithmetic.add(x, dropout(part(x))))


class TransformerEncoderLayer(_Block):
    """A transformer encoder layer: self-attention and two dense layers.

    The output of each part (the attention, the dense layers) is added to its input, and the sum is normalized
    (unless ``norm_first`` is ``True``).

    Args:
        d_model (int): size of the last axis of inputs and outputs.
        nhead (int): number of attention heads.
        dim_feedforward (int): number of features between the two dense layers.
        dropout (float): probability that an element is dropped in training.
        activation (str, Cell, or Callable): activation function between the dense layers, or its name.
        layer_norm_eps (float): ε of the layer normalization.
        batch_first (bool): whether the batch is the first axis of inputs and outputs instead of the second.
        norm_first (bool): whether to normalize before the attention and the dense layers instead of after
            them.
        dtype (DType): dtype of the Parameters.

    Inputs:
        src (Tensor): source sequence, of shape (length, batch, d_model).
        src_mask, src_key_padding_mask (Tensor, optional): masks, as for :class:`MultiheadAttention`.

    Outputs:
        Tensor with the shape of ``src``.

    Raises:
        TypeError: If an argument has an unsupported type.
        ValueError: If an argument is out of range, or an input does not have the documented shape.

    >>> from mindgrad import nn, ops
    >>> print(nn.TransformerEncoderLayer(4, 2, 8)(ops.ones((3, 5, 4))).shape)
    (3, 5, 4)
    """

    def construct(self, src: Any, src_mask: Any = None, src_key_padding_mask: Any = None) -> Tensor:
        x = self._added(
            operand(src, type(self).__name__), self.norm1, self.dropout1,
            lambda x: self.self_attn(x, x, x, src_key_padding_mask, False, src_mask)[0],
        )  # fmt: skip
        return self._added(x, self.norm2, self.dropout2, self._feedforward)


class TransformerDecoderLayer(_Block):
    """A transformer decoder layer: two attentions and two dense layers.

    The attentions are self-attention and attention to a memory. The output of each part (the attention, the
    dense layers) is added to its input, and the sum is normalized (unless ``norm_first`` is ``True``).

    Args:
        d_model (int): size of the last axis of inputs and outputs.
        nhead (int): number of attention heads.
        dim_feedforward (int): number of features between the two dense layers.
        dropout (float): probability that an element is dropped in training.
        activation (str, Cell, or Callable): activation function between the dense layers, or its name.
        layer_norm_eps (float): ε of the layer normalization.
        batch_first (bool): whether the batch is the first axis of inputs and outputs instead of the second.
        norm_first (bool): whether to normalize before the attentions and the dense layers instead of after
            them.
        dtype (DType): dtype of the Parameters.

    Inputs:
        tgt (Tensor): target sequence, of shape (length, batch, d_model).
        memory (Tensor): output of the encoder, of shape (source length, batch, d_model).
        tgt_mask, memory_mask, tgt_key_padding_mask, memory_key_padding_mask (Tensor, optional): masks of the
            two attentions, as for :class:`MultiheadAttention`.

    Outputs:
        Tensor with the shape of ``tgt``.

    Raises:
        TypeError: If an argument has an unsupported type.
        ValueError: If an argument is out of range, or an input does not have the documented shape.

    >>> from mindgrad import nn, ops
    >>> print(nn.TransformerDecoderLayer(4, 2, 8)(ops.ones((3, 5, 4)), ops.ones((7, 5, 4))).shape)
    (3, 5, 4)
    """

    _attentions = ("self_attn", "multihead_attn")

    def construct(
        self,
        tgt: Any,
        memory: Any,
        tgt_mask: Any = None,
        memory_mask: Any = None,
        tgt_key_padding_mask: Any = None,
        memory_key_padding_mask: Any = None,
    ) -> Tensor:
        x = self._added(
            operand(tgt, type(self).__name__), self.norm1, self.dropout1,
            lambda x: self.self_attn(x, x, x, tgt_key_padding_mask, False, tgt_mask)[0],
        )  # fmt: skip
        x = self._added(
            x, self.norm2, self.dropout2,
            lambda x: self.multihead_attn(x, memory, memory, memory_key_padding_mask, False, memory_mask)[0],
        )  # fmt: skip
        return self._added(x, self.norm3, self.dropout3, self._feedforward)


class _Stack(Cell):
    """Base class of a sequence of copies of one layer, with an optional norm."""

    _kind: type

    def _prepare(self, layer: Any, num_layers: Any, norm: Cell | None) -> None:
        owner = type(self).__name__
        if not isinstance(layer, self._kind):
            raise TypeError(
                f"For '{owner}', the layer must be a {self._kind.__name__}, but got {type(layer).__name__}."
            )
        count = whole_number(num_layers, owner, "num_layers", 1)
        self.layers = CellList([copy.deepcopy(layer) for _ in range(count)])
        self.num_layers = num_layers
        self.norm = norm

    def _run_layers(self, x: Any, *inputs: Any, **masks: Any) -> Tensor:
        for layer in self.layers:
            x = layer(x, *inputs, **masks)
        return x if self.norm is None else self.norm(x)


class TransformerEncoder(_Stack):
    """A sequence of copies of a :class:`TransformerEncoderLayer`.

    Args:
        encoder_layer (TransformerEncoderLayer): layer to copy. All copies start with the Parameter values of
            this layer.
        num_layers (int): number of copies of the layer.
        norm (Cell): normalization layer for the output of the last copy. ``None``: no normalization.

    Inputs:
        src (Tensor): source sequence, of shape (length, batch, d_model).
        src_mask, src_key_padding_mask (Tensor, optional): masks, as for :class:`MultiheadAttention`.

    Raises:
        TypeError: If ``encoder_layer`` is not a TransformerEncoderLayer.
        ValueError: If ``num_layers`` is not positive, or an input does not have the documented shape.

    >>> from mindgrad import nn, ops
    >>> net = nn.TransformerEncoder(nn.TransformerEncoderLayer(4, 2, 8), 2)
    >>> print(net(ops.ones((3, 5, 4))).shape)
    (3, 5, 4)
    """

    _kind = TransformerEncoderLayer

    def __init__(self, encoder_layer: Any, num_layers: int, norm: Cell | None = None) -> None:
        super().__init__()
        self._prepare(encoder_layer, num_layers, norm)

    def construct(self, src: Any, src_mask: Any = None, src_key_padding_mask: Any = None) -> Tensor:
        return self._run_layers(src, src_mask, src_key_padding_mask)


class TransformerDecoder(_Stack):
    """A sequence of copies of a :class:`TransformerDecoderLayer`.

    Args:
        decoder_layer (TransformerDecoderLayer): layer to copy. All copies start with the Parameter values of
            this layer.
        num_layers (int): number of copies of the layer.
        norm (Cell): normalization layer for the output of the last copy. ``None``: no normalization.

    Inputs:
        tgt (Tensor): target sequence, of shape (length, batch, d_model).
        memory (Tensor): output of the encoder, of shape (source length, batch, d_model).
        tgt_mask, memory_mask, tgt_key_padding_mask, memory_key_padding_mask (Tensor, optional): masks, as for
            :class:`MultiheadAttention`.

    Raises:
        TypeError: If ``decoder_layer`` is not a TransformerDecoderLayer.
        ValueError: If ``num_layers`` is not positive, or an input does not have the documented shape.

    >>> from mindgrad import nn, ops
    >>> net = nn.TransformerDecoder(nn.TransformerDecoderLayer(4, 2, 8), 2)
    >>> print(net(ops.ones((3, 5, 4)), ops.ones((7, 5, 4))).shape)
    (3, 5, 4)
    """

    _kind = TransformerDecoderLayer

    def __init__(self, decoder_layer: Any, num_layers: int, norm: Cell | None = None) -> None:
        super().__init__()
        self._prepare(decoder_layer, num_layers, norm)

    def construct(self, tgt: Any, memory: Any, *masks: Any, **named_masks: Any) -> Tensor:
        return self._run_layers(tgt, memory, *masks, **named_masks)


@with_sections
class Transformer(Cell):
    """A transformer: an encoder, and a decoder that attends to its output.

    Args:
        num_encoder_layers (int): number of layers of the encoder.
        num_decoder_layers (int): number of layers of the decoder.
        custom_encoder (Cell): encoder to use instead of the TransformerEncoder.
        custom_decoder (Cell): decoder to use instead of the TransformerDecoder.

    {as TransformerDecoderLayer}

    Inputs:
        src, tgt (Tensor): source and target sequences, of shape (length, batch, d_model).
        src_mask, tgt_mask, memory_mask, src_key_padding_mask, tgt_key_padding_mask, memory_key_padding_mask
            (Tensor, optional): masks, as for :class:`MultiheadAttention`.

    >>> from mindgrad import nn, ops
    >>> net = nn.Transformer(4, 2, 1, 1, 8)
    >>> print(net(ops.ones((7, 5, 4)), ops.ones((3, 5, 4))).shape)
    (3, 5, 4)
    """

    def __init__(
        self,
        d_model: int = 512,
        nhead: int = 8,
        num_encoder_layers: int = 6,
        num_decoder_layers: int = 6,
        dim_feedforward: int = 2048,
        dropout: float = 0.1,
        activation: Any = "relu",
        custom_encoder: Cell | None = None,
        custom_decoder: Cell | None = None,
        layer_norm_eps: float = 1e-5,
        batch_first: bool = False,
        norm_first: bool = False,
        dtype: Any = float32,
    ) -> None:
        super().__init__()
        of_layer = (
            d_model, nhead, dim_feedforward, dropout, activation, layer_norm_eps, batch_first, norm_first,
            dtype,
        )  # fmt: skip

        def norm() -> Cell:
            return LayerNorm((d_model,), epsilon=layer_norm_eps, dtype=dtype)

        if custom_encoder is None:
            layer = TransformerEncoderLayer(*of_layer)
            custom_encoder = TransformerEncoder(layer, num_encoder_layers, norm())
        if custom_decoder is None:
            of_decoder = TransformerDecoderLayer(*of_layer)
            custom_decoder = TransformerDecoder(of_decoder, num_decoder_layers, norm())
        self.encoder, self.decoder = custom_encoder, custom_decoder

    def construct(
        self,
        src: Any,
        tgt: Any,
        src_mask: Any = None,
        tgt_mask: Any = None,
        memory_mask: Any = None,
        src_key_padding_mask: Any = None,
        tgt_key_padding_mask: Any = None,
        memory_key_padding_mask: Any = None,
    ) -> Tensor:
        memory = self.encoder(src, src_mask, src_key_padding_mask)
        return self.decoder(tgt, memory, tgt_mask, memory_mask, tgt_key_padding_mask, memory_key_padding_mask)
