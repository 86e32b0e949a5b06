"""``flash_attention_score``: against the formula for each head, layouts, masks, derivatives, both modes."""

import numpy as np
import pytest

import mindgrad as ms
from mindgrad import Tensor, ops
from tests.tolerances import assert_close
from tests.unit.derivative_checks import check

RNG = np.random.default_rng(4)
B, N, S, T, D = 2, 4, 3, 5, 2
Q, K, V = RNG.normal(size=(B, N, S, D)), RNG.normal(size=(B, 2, T, D)), RNG.normal(size=(B, 2, T, D))
SHIFT = RNG.normal(size=(1, N, S, T))
MASK = RNG.random((B, 1, S, T)) < 0.3
LAYOUTS = {
    "BNSD": lambda x: x,
    "BSND": lambda x: x.transpose(0, 2, 1, 3),
    "BSH": lambda x: x.transpose(0, 2, 1, 3).reshape(B, x.shape[2], -1),
    "SBH": lambda x: x.transpose(2, 0, 1, 3).reshape(x.shape[2], B, -1),
}


def by_formula(hidden, shift=0.0, scale=1.0):
    y = np.zeros((B, N, S, D))
    hidden = np.broadcast_to(hidden, (B, N, S, T))
    shift = np.broadcast_to(shift, (B, N, S, T))
    for b, n, s in np.ndindex(B, N, S):
        scores = scale * (K[b, n // 2] @ Q[b, n, s] + shift[b, n, s])
        weights = np.where(hidden[b, n, s], 0, np.exp(scores))
        y[b, n, s] = weights @ V[b, n // 2] / max(weights.sum(), 1e-300)
    return y


@pytest.mark.parametrize("run", [lambda f: f, ms.jit])
@pytest.mark.parametrize("layout", LAYOUTS)
def test_each_layout_is_attention_of_each_head(layout, run):
    arrange = LAYOUTS[layout]
    q, k, v = [Tensor(np.ascontiguousarray(arrange(x))) for x in (Q, K, V)]

    def attend(q, k, v):
        return ops.flash_attention_score(
            q, k, v, N, Tensor(SHIFT), attn_mask=Tensor(MASK), scalar_value=0.5, input_layout=layout
        )

    wanted = arrange(by_formula(MASK, SHIFT, 0.5))
    assert_close(run(attend)(q, k, v), wanted, kind="ill-conditioned", each=True)
    operator = ops.FlashAttentionScore(N, scale_value=0.5, input_layout=layout)
    found = operator(q, k, v, Tensor(SHIFT), None, None, Tensor(MASK.astype(np.uint8)))
    assert_close(found[3], wanted, kind="ill-conditioned", each=True)


AHEAD = np.arange(T)[None] - np.arange(S)[:, None]


@pytest.mark.parametrize(
    ("arguments", "hidden"),
    [
        ({}, False),
        ({"pre_tokens": 0}, False),  # without a mask these are not read
        ({"sparse_mode": 0, "attn_mask": MASK, "pre_tokens": 1, "next_tokens": 1}, MASK | (abs(AHEAD) > 1)),
        ({"sparse_mode": 1, "attn_mask": MASK, "pre_tokens": 1}, MASK),
        ({"sparse_mode": 2}, AHEAD > 0),
        ({"sparse_mode": 3}, AHEAD > T - S),
        ({"sparse_mode": 4, "pre_tokens": 1, "next_tokens": 0}, (AHEAD > T - S) | (AHEAD < T - S - 1)),
        ({"attn_mask": np.ones((S, T), bool)}, True),
    ],
)
def test_who_sees_whom(arguments, hidden):
    arguments = {key: Tensor(x) if key == "attn_mask" else x for key, x in arguments.items()}
    found = ops.flash_attention_score(Tensor(Q), Tensor(K), Tensor(V), N, input_layout="BNSD", **arguments)
    assert_close(found, by_formula(hidden), kind="ill-conditioned", each=True)
    gradient = ms.grad(
        lambda q: ops.flash_attention_score(
            q, Tensor(K), Tensor(V), N, input_layout="BNSD", **arguments
        ).sum()
    )
    assert np.isfinite(gradient(Tensor(Q)).asnumpy()).all()


def test_derivatives():
    def attend(q, k, v, shift):
        return ops.flash_attention_score(q, k, v, N, shift, attn_mask=Tensor(MASK), input_layout="BNSD")

    check(attend, None, Q, K, V, SHIFT)


def test_auto_generate_exports_the_operator_of_ops():
    assert ops.auto_generate.FlashAttentionScore is ops.FlashAttentionScore


def test_shares_are_dropped():
    x = ops.ones((1, 1, 200, 4))
    ms.set_seed(1)
    y = ops.flash_attention_score(x, x, x, 1, keep_prob=0.5, input_layout="BNSD").asnumpy()
    assert 0.8 < y.mean() < 1.2
    assert y.std() > 0.01


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ({"input_layout": "TND"}, "'input_layout' must be one of 'BNSD'"),
        ({"sparse_mode": 5}, "'sparse_mode' must be from 0 to 4"),
        ({"prefix": [1]}, "'prefix' belongs to compressed masks"),
        ({"drop_mask": Tensor([1])}, "'keep_prob' drops"),
        ({"head_num": 3}, "must be divisible by the number of heads, 3"),
        ({"head_num": 8}, "query, key, and value do not match for 8 heads"),
    ],
)
def test_what_does_not_fit_is_said(arguments, text):
    q, k = ops.ones((1, 2, 8)), ops.ones((2, 2, 8))
    with pytest.raises(ValueError, match=text):
        ops.flash_attention_score(q, k, k, **{"head_num": 2, **arguments})
