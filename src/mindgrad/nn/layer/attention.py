"""Multi-head attention (Vaswani et al., 2017)."""

from __future__ import annotations

import math as _math
from typing import Any

from mindgrad.common.initializer import XavierUniform
from mindgrad.core.ir.dtype import bool_, float32
from mindgrad.core.ir.tensor import Tensor
from mindgrad.nn.cell import Cell
from mindgrad.nn.layer.basic import Dense
from mindgrad.nn.layer.dropout import Dropout
from mindgrad.nn.layer.parameters import parameter
from mindgrad.nn.layer.recurrence import affine
from mindgrad.ops import arithmetic, contraction, layout, movement
from mindgrad.ops.activation import real_operand, softmax
from mindgrad.ops.arguments import number, whole_number
from mindgrad.ops.operands import broadcast_shapes, broadcast_to, cast, choose, operand
from mindgrad.ops.reduction import flag
from mindgrad.ops.reduction import mean as mean_of

__all__ = ["MultiheadAttention"]


class MultiheadAttention(Cell):
    """Multi-head attention: softmax(Q Kᵀ / √d + mask) V for each of several heads.

    The results of the heads are concatenated and projected.

    Args:
        embed_dim (int): size of the last axis of the queries and the output, a multiple of ``num_heads``.
        num_heads (int): number of heads; each has the size d = embed_dim / num_heads.
        dropout (float): probability that an attention weight is dropped in training.
        has_bias (bool): whether the linear projections have biases.
        add_bias_kv (bool): must be ``False``.
        add_zero_attn (bool): must be ``False``.
        kdim (int): size of the last axis of the keys. ``None``: ``embed_dim``.
        vdim (int): size of the last axis of the values. ``None``: ``embed_dim``.
        batch_first (bool): whether the batch is the first axis of inputs and results instead of the second.
        dtype (DType): dtype of the Parameters.

    Inputs:
        query, key, value (Tensor): tensors of shape (length, batch, size), or (batch, length, size) if
            ``batch_first`` is ``True``.
        key_padding_mask (Tensor, optional): mask of shape (batch, length of keys). True entries exclude a
            key; a floating-point mask is added.
        need_weights (bool, optional): whether to return the attention weights together with the output.
        attn_mask (Tensor, optional): mask of pairs of queries and keys, of shape (queries, keys) or (batch ·
            heads, queries, keys).
        average_attn_weights (bool, optional): whether to average the returned attention weights over the
            heads.

    Outputs:
        Tuple of the output, of shape (queries, batch, embed_dim), and the attention weights, of shape (batch,
            queries, keys) or (batch, heads, queries, keys). The weights are ``None`` if ``need_weights`` is
            ``False``.

    Raises:
        TypeError: If an argument has an unsupported type.
        ValueError: If an argument is out of range or not supported, or the shapes of ``query``, ``key``,
            ``value``, or a mask do not match.

    >>> from mindgrad import nn, ops
    >>> layer = nn.MultiheadAttention(4, 2)
    >>> x = ops.ones((3, 5, 4))
    >>> result, weights = layer(x, x, x)
    >>> print(result.shape, weights.shape)
    (3, 5, 4) (5, 3, 3)
    """

    def __init__(
        self,
        embed_dim: int,
        num_heads: int,
        dropout: float = 0.0,
        has_bias: bool = True,
        add_bias_kv: bool = False,
        add_zero_attn: bool = False,
        kdim: int | None = None,
        vdim: int | None = None,
        batch_first: bool = False,
        dtype: Any = float32,
    ) -> None:
        super().__init__()
        owner = "MultiheadAttention"
        self.embed_dim = whole_number(embed_dim, owner, "embed_dim", 1)
        self.num_heads = whole_number(num_heads, owner, "num_heads", 1)
        self.kdim = self.embed_dim if kdim is None else whole_number(kdim, owner, "kdim", 1)
        self.vdim = self.embed_dim if vdim is None else whole_number(vdim, owner, "vdim", 1)
        self.has_bias = flag(has_bias, owner, "has_bias")
        self.batch_first = flag(batch_first, owner, "batch_first")
        if self.embed_dim % self.num_heads:
            raise ValueError(
                f"For '{owner}', the 'embed_dim' must be a multiple of 'num_heads', but they are {embed_dim} "
                f"and {num_heads}."
            )
        for name, given in (("add_bias_kv", add_bias_kv), ("add_zero_attn", add_zero_attn)):
            if flag(given, owner, name):
                raise ValueError(
                    f"For '{owner}', '{name}' is not supported. Append it to key and value before the call."
                )
        self.head_dim = self.embed_dim // self.num_heads
        self.dropout = Dropout(p=number(dropout, owner, "dropout"))
        size, init = self.embed_dim, XavierUniform()
        self._same_sizes = self.kdim == self.vdim == size
        if self._same_sizes:
            self.in_proj_weight = parameter(owner, init, (3 * size, size), "in_proj_weight", dtype)
        else:
            self.q_proj_weight = parameter(owner, init, (size, size), "q_proj_weight", dtype)
            self.k_proj_weight = parameter(owner, init, (size, self.kdim), "k_proj_weight", dtype)
            self.v_proj_weight = parameter(owner, init, (size, self.vdim), "v_proj_weight", dtype)
        self.in_proj_bias = (
            parameter(owner, "zeros", (3 * size,), "in_proj_bias", dtype) if has_bias else None
        )
        self.out_proj = Dense(size, size, bias_init="zeros", has_bias=has_bias, dtype=dtype)

    def _projected(self, inputs: tuple[Tensor, Tensor, Tensor]) -> list[Tensor]:
        """Return queries, keys, and values of shape (batch, heads, length, d)."""
        size = self.embed_dim
        if self._same_sizes:
            whole = operand(self.in_proj_weight, "MultiheadAttention")
            weights = [movement.slice_axis(whole, 0, k * size, (k + 1) * size) for k in range(3)]
        else:
            weights = [self.q_proj_weight, self.k_proj_weight, self.v_proj_weight]
        heads = []
        for k, (x, w) in enumerate(zip(inputs, weights, strict=True)):
            bias = None
            if self.in_proj_bias is not None:
                every = operand(self.in_proj_bias, "MultiheadAttention")
                bias = movement.slice_axis(every, 0, k * size, (k + 1) * size)
            y = affine(x, w, bias)
            length, batch = y.shape[:2]
            y = layout.reshape(y, (length, batch, self.num_heads, self.head_dim))
            heads.append(layout.transpose(y, (1, 2, 0, 3)))
        return heads

    def construct(
        self,
        query: Any,
        key: Any,
        value: Any,
        key_padding_mask: Any = None,
        need_weights: bool = True,
        attn_mask: Any = None,
        average_attn_weights: bool = True,
    ) -> tuple[Tensor, Tensor | None]:
        owner = "MultiheadAttention"
        inputs = [real_operand(x, owner) for x in (query, key, value)]
        sizes = (self.embed_dim, self.kdim, self.vdim)
        if any(x.ndim != 3 or x.shape[-1] != n for x, n in zip(inputs, sizes, strict=True)):
            raise ValueError(
                f"For '{owner}', query, key and value must have 3 axes, and their last axes must have the "
                f"sizes {sizes}, but the shapes are {', '.join(str(x.shape) for x in inputs)}."
            )
        if self.batch_first:
            inputs = [layout.swapaxes(x, 0, 1) for x in inputs]
        q, k, v = inputs
        if k.shape[:2] != v.shape[:2] or q.shape[1] != k.shape[1]:
            raise ValueError(
                f"For '{owner}', the batch sizes must be equal, and key and value must have equal lengths, "
                f"but the shapes are {', '.join(str(x.shape) for x in inputs)}."
            )
        queries, keys, values = self._projected((q, k, v))
        queries = arithmetic.mul(queries, 1 / _math.sqrt(self.head_dim))
        scores = contraction.matmul(queries, layout.swapaxes(keys, -1, -2))
        if attn_mask is not None:
            mask = operand(attn_mask, owner)
            if mask.ndim == 3:
                mask = layout.reshape(mask, (-1, self.num_heads, *mask.shape[1:]))
            scores = _masked(scores, mask)
        if key_padding_mask is not None:
            mask = operand(key_padding_mask, owner)
            scores = _masked(scores, layout.expand_dims(layout.expand_dims(mask, 1), 1))
        weights = self.dropout(softmax(scores, -1))
        mixed = layout.transpose(contraction.matmul(weights, values), (2, 0, 1, 3))
        y = self.out_proj(layout.reshape(mixed, (*mixed.shape[:2], self.embed_dim)))
        y = layout.swapaxes(y, 0, 1) if self.batch_first else y
        if not need_weights:
            return y, None
        return y, (mean_of(weights, 1) if average_attn_weights else weights)

    def extend_repr(self) -> str:
        return f"embed_dim={self.embed_dim}, num_heads={self.num_heads}"


def _masked(scores: Tensor, mask: Tensor) -> Tensor:
    if broadcast_shapes("MultiheadAttention", scores.shape, mask.shape) != scores.shape:
        raise ValueError(
            f"For 'MultiheadAttention', a mask must broadcast to the scores of shape {scores.shape} "
            f"(batch, heads, queries, keys), but its shape is {mask.shape}."
        )
    if mask.dtype is bool_:
        return choose(broadcast_to(mask, scores.shape), -_math.inf, scores)
    return arithmetic.add(scores, cast(mask, scores.dtype))
