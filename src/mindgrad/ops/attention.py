"""Attention with the layouts and arguments of MindSpore's ``FlashAttentionScore``.

    y = dropout(softmax(mask(scale · (q kᵀ + shift)))) v

for each sample and head (A. Vaswani et al., *Attention is all you need*, 2017). One head of keys and values
can serve several heads of queries. The function consists of matrix products and a softmax: it stores all
scores, and only XLA fuses operations.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from mindgrad.core.ir.dtype import as_dtype
from mindgrad.core.ir.tensor import Tensor, make_tensor
from mindgrad.ops.activation import softmax
from mindgrad.ops.arguments import whole_number
from mindgrad.ops.arithmetic import add, mul, sub
from mindgrad.ops.contraction import matmul
from mindgrad.ops.creation import zeros
from mindgrad.ops.dropping import dropout, probability
from mindgrad.ops.extremes import amax
from mindgrad.ops.flow import stop_gradient
from mindgrad.ops.indexing import where
from mindgrad.ops.layout import expand_dims, permute, reshape, swapaxes
from mindgrad.ops.math import exp
from mindgrad.ops.operands import broadcast_to, cast, operand, promoted
from mindgrad.ops.reduction import sum as sum_of
from mindgrad.ops.reduction import widened
from mindgrad.ops.registry import public

__all__ = ["flash_attention_score"]

_NAME = "FlashAttentionScore"
_ALL = 2147483647
#: ``input_layout`` -> permutation of its axes to (batch, heads, positions, elements). In layouts with the
#: letter H, one axis contains both heads and elements, and ``_in_heads`` splits it before the permutation.
_ORDERS = {"BNSD": (0, 1, 2, 3), "BSND": (0, 2, 1, 3), "BSH": (0, 2, 1, 3), "SBH": (1, 2, 0, 3)}
#: unsupported argument -> end of the error message, with the reason and an alternative
_REFUSED = {
    "drop_mask": "is a bit mask for another device. Omit it: 'keep_prob' drops weights",
    "padding_mask": "is not implemented in MindSpore either. Omit it",
    "prefix": "belongs to compressed masks, which are not supported. Pass an 'attn_mask' and sparse_mode=0",
    "actual_seq_qlen": "needs the layout 'TND', which is not supported. Pass a padded batch and 'attn_mask'",
    "actual_seq_kvlen": "needs the layout 'TND', which is not supported. Pass a padded batch and 'attn_mask'",
}


def _in_heads(x: Any, name: str, heads: int, layout: str) -> Tensor:
    """Convert ``x`` to the layout (batch, heads, positions, elements)."""
    tensor = operand(x, _NAME)
    if not tensor.dtype.is_inexact:
        raise TypeError(f"For '{_NAME}', the '{name}' must have a floating-point dtype, not {tensor.dtype}.")
    if tensor.ndim != len(layout):
        raise ValueError(
            f"For '{_NAME}', the '{name}' must have the {len(layout)} axes {layout}, but its shape is "
            f"{tensor.shape}."
        )
    if layout.endswith("H"):
        if not heads or tensor.shape[2] % heads:
            raise ValueError(
                f"For '{_NAME}', the size of the last axis of '{name}' must be divisible by the number of "
                f"heads, {heads}, but the shape is {tensor.shape}."
            )
        tensor = reshape(tensor, (*tensor.shape[:2], heads, tensor.shape[2] // heads))
    return permute(tensor, _ORDERS[layout])


def _hidden_by_position(queries: int, keys: int, mode: int, pre_tokens: int, next_tokens: int) -> np.ndarray:
    """Return which pairs of a query and a key ``sparse_mode`` hides."""
    ahead = np.arange(keys)[None, :] - np.arange(queries)[:, None]
    if mode in (3, 4):  # the last query is aligned with the last key
        ahead = ahead - (keys - queries)
    if mode in (2, 3):
        return ahead > 0
    return (ahead > next_tokens) | (ahead < -pre_tokens)


def _scores(
    query: Any, key: Any, value: Any, head_num: Any, real_shift: Any, attn_mask: Any, scale_value: float,
    tokens: tuple[Any, Any], input_layout: str, sparse_mode: int, refused: dict[str, Any],
) -> tuple[Tensor, Tensor]:  # fmt: skip
    """Compute the attention scores, and reshape the values to match.

    The score of a hidden pair is −inf.

    The axes of both results are (batch, heads of keys, query heads per key head, …).
    """
    for name, argument in refused.items():
        if argument is not None:
            raise ValueError(f"For '{_NAME}', the '{name}' {_REFUSED[name]}.")
    if input_layout not in _ORDERS:
        raise ValueError(
            f"For '{_NAME}', the 'input_layout' must be one of {', '.join(map(repr, _ORDERS))}, but got "
            f"{input_layout!r}."
        )
    if sparse_mode not in range(5):
        raise ValueError(
            f"For '{_NAME}', the 'sparse_mode' must be from 0 to 4, but got {sparse_mode!r}. For other "
            "masks, pass a complete 'attn_mask'."
        )
    heads = whole_number(head_num, _NAME, "head_num", 1)
    q = _in_heads(query, "query", heads, input_layout)
    width = q.shape[3]
    groups = operand(key, _NAME).shape[-1] // max(width, 1) if input_layout.endswith("H") else 0
    k, v = [_in_heads(x, name, groups, input_layout) for x, name in ((key, "key"), (value, "value"))]
    fits = k.shape[:3] == v.shape[:3] and (k.shape[0], k.shape[3]) == (q.shape[0], width)
    if not fits or q.shape[1] != heads or not k.shape[1] or heads % k.shape[1]:
        raise ValueError(
            f"For '{_NAME}', the shapes of query, key, and value do not match for {heads} heads. In the "
            f"order (batch, heads, positions, elements), they are {q.shape}, {k.shape} and {v.shape}."
        )
    (batch, _, queries, _), (_, shared, keys, _) = q.shape, k.shape
    q, k = promoted(_NAME, q, k, broadcast=False)
    q = reshape(q, (batch, shared, heads // shared, queries, width))
    scores = widened(matmul(q, swapaxes(expand_dims(k, 2), -1, -2)))

    def divided(x: Any) -> Tensor:
        return reshape(broadcast_to(operand(x, _NAME), (batch, heads, queries, keys)), scores.shape)

    if real_shift is not None:
        scores = add(scores, cast(divided(real_shift), scores.dtype))
    scores = mul(scores, scale_value)
    hidden = None
    if sparse_mode > 1 or (sparse_mode == 0 and attn_mask is not None):
        at = _hidden_by_position(queries, keys, sparse_mode, *tokens)
        hidden = make_tensor(at) if at.any() else None
    if sparse_mode <= 1 and attn_mask is not None:
        mask = cast(divided(attn_mask), as_dtype(bool))
        hidden = mask if hidden is None else mask | hidden  # type: ignore[operator]
    return scores if hidden is None else where(hidden, -math.inf, scores), v


def _mixed(scores: Tensor, v: Tensor, kind: Any, keep_prob: Any, input_layout: str) -> Tensor:
    """Average ``v`` with the softmax of ``scores`` as weights.

    The result has the layout of the queries.
    """
    keep = probability(_NAME, "keep_prob", keep_prob, open_below=True)
    seen = amax(scores, -1, keepdims=True) > -math.inf  # type: ignore[operator]
    # if all keys of a query are masked, all its scores are −∞ and their softmax would be NaN; use weights 0
    shares = where(seen, softmax(where(seen, scores, 0)), 0)
    shares = cast(dropout(shares, 1 - keep), kind)
    y = matmul(shares, expand_dims(cast(v, kind), 2))
    batch, shared, group, queries, width = y.shape
    y = reshape(y, (batch, shared * group, queries, width))
    y = permute(y, tuple(int(axis) for axis in np.argsort(_ORDERS[input_layout])))
    return reshape(y, (*y.shape[:2], -1)) if input_layout.endswith("H") else y


@public()
def flash_attention_score(
    query: Any, key: Any, value: Any, head_num: int, real_shift: Any = None, drop_mask: Any = None,
    padding_mask: Any = None, attn_mask: Any = None, prefix: Any = None, actual_seq_qlen: Any = None,
    actual_seq_kvlen: Any = None, keep_prob: float = 1.0, scalar_value: float = 1.0, pre_tokens: int = _ALL,
    next_tokens: int = _ALL, inner_precise: int = 0, input_layout: str = "BSH", sparse_mode: int = 0,
) -> Tensor:  # fmt: skip
    """Compute scaled dot-product attention for each sample and head.

    The result is dropout(softmax(mask(scalar_value · (q kᵀ + real_shift)))) v.

    Args:
        query (Tensor): queries, a floating-point tensor whose axes ``input_layout`` names: B samples, N
            heads, S positions, D elements per head, and H = N · D.
        key (Tensor): keys in the layout ``input_layout``. The number of positions may differ from ``query``,
            and the number of heads may be a divisor of ``head_num``.
        value (Tensor): values in the layout ``input_layout``, with the same positions and heads as ``key``.
        head_num (int): number of heads of the queries.
        real_shift (Tensor or None): values that are added to q kᵀ, of a shape that broadcasts to
            (B, N, queries, keys).
        drop_mask, padding_mask, prefix, actual_seq_qlen, actual_seq_kvlen (None): not supported; must be
            ``None``.
        attn_mask (Tensor or None): mask that is true or 1 for each pair of a query and a key to hide, of a
            shape that broadcasts to (B, N, queries, keys).
        keep_prob (float): probability that dropout does not set an attention weight to 0.
        scalar_value (float): factor of the attention scores, such as 1 / √D.
        pre_tokens (int): number of keys that a query sees before its own position. This number applies to
            ``sparse_mode`` 4, and to mode 0 if there is a mask.
        next_tokens (int): number of keys that a query sees after its own position, in the modes to which
            ``pre_tokens`` applies.
        inner_precise (int): accepted for compatibility and ignored. Sums of float16 and bfloat16 are computed
            in float32.
        input_layout (str): order of the axes of the operands: ``"BSH"``, ``"SBH"``, ``"BNSD"``, or
            ``"BSND"``.
        sparse_mode (int): which keys a query sees. Modes 0 and 1 use ``attn_mask``. Mode 2 hides the keys
            after the query. Mode 3 does the same, but counts positions from the last query and key, as for
            cached keys. Mode 4 also counts from the last query and key, and shows a band of ``pre_tokens``
            and ``next_tokens``. Modes 2, 3, and 4 do not read ``attn_mask``.

    Returns:
        Tensor with the layout and dtype of ``query``. The result is 0 for a query that sees no key.

    Raises:
        TypeError: If an operand is not a floating-point tensor.
        ValueError: If the shapes of the operands do not match, an argument is out of range, or an argument
            that must be ``None`` is given.

    >>> from mindgrad import Tensor, ops
    >>> x = Tensor([[[1.0, 0.0], [0.0, 1.0]]])
    >>> print(ops.flash_attention_score(x, x, x, 1, sparse_mode=2).asnumpy().round(4))
    [[[1.     0.    ]
      [0.2689 0.7311]]]
    """
    refused = {
        "drop_mask": drop_mask, "padding_mask": padding_mask, "prefix": prefix,
        "actual_seq_qlen": actual_seq_qlen, "actual_seq_kvlen": actual_seq_kvlen,
    }  # fmt: skip
    scores, v = _scores(
        query, key, value, head_num, real_shift, attn_mask, scalar_value, (pre_tokens, next_tokens),
        input_layout, sparse_mode, refused,
    )  # fmt: skip
    return _mixed(scores, v, operand(query, _NAME).dtype, keep_prob, input_layout)


@public(
    f"FlashAttentionScore(head_num: integer, keep_prob=1.0, scale_value=1.0, pre_tokens={_ALL}, "
    f"next_tokens={_ALL}, inner_precise=0, input_layout='BSH', sparse_mode=0)(query, key, value, "
    "real_shift=None, drop_mask=None, padding_mask=None, attn_mask=None, prefix=None, "
    "actual_seq_qlen=None, actual_seq_kvlen=None)"
    " >>> ops.FlashAttentionScore(2)(*[ops.ones((1, 3, 4))] * 3)[3].shape => (1, 3, 4)"
)
def attention_with_statistics(
    query: Any, key: Any, value: Any, head_num: int, real_shift: Any = None, drop_mask: Any = None,
    padding_mask: Any = None, attn_mask: Any = None, prefix: Any = None, actual_seq_qlen: Any = None,
    actual_seq_kvlen: Any = None, keep_prob: float = 1.0, scale_value: float = 1.0, pre_tokens: int = _ALL,
    next_tokens: int = _ALL, inner_precise: int = 0, input_layout: str = "BSH", sparse_mode: int = 0,
) -> tuple[Tensor, Tensor, Tensor, Tensor]:  # fmt: skip
    """Compute attention together with the statistics of its softmax.

    The arguments are the same as for :func:`mindgrad.ops.flash_attention_score`.

    Returns:
        ``(largest, sums, zero, attention)``. ``largest`` is the largest score of each query, and ``sums`` is
        the sum of exp(score − largest). Both have the shape (B, N, queries, 8) and repeat each number eight
        times. ``zero`` is a tensor of one element 0. The derivatives of these three results are 0.

    {as flash_attention_score}

    >>> from mindgrad import ops
    >>> [each.shape for each in ops.FlashAttentionScore(2)(*[ops.ones((1, 3, 4))] * 3)]
    [(1, 2, 3, 8), (1, 2, 3, 8), (1,), (1, 3, 4)]
    """
    refused = {
        "drop_mask": drop_mask, "padding_mask": padding_mask, "prefix": prefix,
        "actual_seq_qlen": actual_seq_qlen, "actual_seq_kvlen": actual_seq_kvlen,
    }  # fmt: skip
    scores, v = _scores(
        query, key, value, head_num, real_shift, attn_mask, scale_value, (pre_tokens, next_tokens),
        input_layout, sparse_mode, refused,
    )  # fmt: skip
    still = stop_gradient(scores)
    largest = amax(still, -1, keepdims=True)
    total = sum_of(exp(sub(still, where(largest > -math.inf, largest, 0))), -1, True)  # type: ignore[operator]
    shape = (scores.shape[0], scores.shape[1] * scores.shape[2], scores.shape[3], 1)
    statistics = [broadcast_to(reshape(each, shape), (*shape[:3], 8)) for each in (largest, total)]
    y = _mixed(scores, v, operand(query, _NAME).dtype, keep_prob, input_layout)
    return (*statistics, zeros((1,), scores.dtype), y)  # type: ignore[return-value]
