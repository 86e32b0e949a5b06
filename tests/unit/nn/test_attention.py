"""Attention and transformers: against formulas in NumPy, two derivatives, masks, both modes."""

import numpy as np
import pytest

import mindgrad as ms
from mindgrad import Tensor, nn, ops
from tests.tolerances import assert_close
from tests.unit.derivative_checks import as_parameters, check

RNG = np.random.default_rng(2)


def attention(q, k, v, weights, bias, out, out_bias, heads, mask=0.0):
    """One head after the other, batch in the second axis; `mask` is added to (batch, heads, queries, keys)."""
    size = out.shape[0]
    w, b = np.split(weights, 3), np.split(bias, 3)
    q, k, v = (x @ w[i].T + b[i] for i, x in enumerate((q, k, v)))
    d = size // heads
    mixed = np.zeros(q.shape)
    mask = np.broadcast_to(mask, (q.shape[1], heads, q.shape[0], k.shape[0]))
    every = np.zeros(mask.shape)
    for n in range(q.shape[1]):
        for h in range(heads):
            part = slice(h * d, (h + 1) * d)
            scores = q[:, n, part] @ k[:, n, part].T / np.sqrt(d) + mask[n, h]
            shares = np.exp(scores) / np.exp(scores).sum(1, keepdims=True)
            every[n, h] = shares
            mixed[:, n, part] = shares @ v[:, n, part]
    return mixed @ out.T + out_bias, every


def test_attention_with_its_derivatives():
    x = RNG.normal(size=(3, 2, 4))
    cell = nn.MultiheadAttention(4, 2)
    assert [(p.name, p.shape) for p in cell.trainable_params()] == [
        ("in_proj_weight", (12, 4)), ("in_proj_bias", (12,)), ("out_proj.weight", (4, 4)), ("out_proj.bias", (4,)),
    ]  # fmt: skip
    _, values = as_parameters(cell)
    parameters = cell.trainable_params()

    def function(x, *weights):
        for p, w in zip(parameters, weights, strict=True):
            ops.assign(p, w)
        return cell(x, x, x)[0]

    check(function, lambda x, *w: attention(x, x, x, *w, 2)[0], x, *values)


def test_masks_and_weights():
    q, k, v = RNG.normal(size=(3, 2, 4)), RNG.normal(size=(5, 2, 4)), RNG.normal(size=(5, 2, 4))
    cell = nn.MultiheadAttention(4, 2, batch_first=True)
    _, values = as_parameters(cell)
    for p, w in zip(cell.trainable_params(), values, strict=True):
        p.set_data(Tensor(w))
    given = [Tensor(x.swapaxes(0, 1)) for x in (q, k, v)]
    padding = np.array([[0, 0, 0, 1, 1], [0, 0, 0, 0, 0]], bool)
    causal = np.triu(np.ones((3, 5), bool), 2)
    added = np.where(causal, -np.inf, 0) + np.where(padding, -np.inf, 0)[:, None, None]
    expected, weights = attention(q, k, v, *values, 2, added)
    y, actual = cell(*given, Tensor(padding), True, Tensor(causal), False)
    assert_close(y, expected.swapaxes(0, 1), kind="program")
    assert_close(actual, weights, kind="program")
    y, actual = cell(*given, Tensor(padding), attn_mask=Tensor(np.where(causal, -np.inf, 0.0)))
    assert_close(y, expected.swapaxes(0, 1), kind="program")
    assert_close(actual, weights.mean(1), kind="program")
    every = np.broadcast_to(causal, (4, 3, 5))  # a mask for each batch and head
    y, actual = cell(*given, Tensor(padding), False, Tensor(np.array(every)))
    assert_close(y, expected.swapaxes(0, 1), kind="program")
    assert actual is None
    # what is left out has no share in the derivative either
    gradient = ms.grad(lambda k: cell(given[0], k, given[2], Tensor(padding))[0].sum())(given[1])
    assert (gradient.asnumpy()[0, 3:] == 0).all()
    assert (gradient.asnumpy()[0, :3] != 0).any()


def test_keys_and_values_of_other_sizes():
    cell = nn.MultiheadAttention(4, 2, kdim=3, vdim=5, has_bias=False)
    assert [p.shape for p in cell.trainable_params()] == [(4, 4), (4, 3), (4, 5), (4, 4)]
    y, _ = cell(ops.ones((2, 1, 4)), ops.ones((6, 1, 3)), ops.ones((6, 1, 5)))
    assert y.shape == (2, 1, 4)


def normalized(x, g, b, eps=1e-5):
    return (x - x.mean(-1, keepdims=True)) / np.sqrt(x.var(-1, keepdims=True) + eps) * g + b


@pytest.mark.parametrize("norm_first", [False, True])
def test_encoder_layer(norm_first):
    x = RNG.normal(size=(3, 2, 4))
    cell = nn.TransformerEncoderLayer(4, 2, 6, activation=ops.tanh, norm_first=norm_first)
    function, values = as_parameters(cell)
    names = [p.name for p in cell.trainable_params()]

    def formula(x, *weights):
        w = dict(zip(names, weights, strict=True))
        self_attention = [
            w[f"self_attn.{name}"]
            for name in ("in_proj_weight", "in_proj_bias", "out_proj.weight", "out_proj.bias")
        ]
        attend = lambda y: attention(y, y, y, *self_attention, 2)[0]
        dense = lambda y: (
            np.tanh(y @ w["dense1.weight"].T + w["dense1.bias"]) @ w["dense2.weight"].T + w["dense2.bias"]
        )
        first = lambda y: normalized(y, w["norm1.gamma"], w["norm1.beta"])
        second = lambda y: normalized(y, w["norm2.gamma"], w["norm2.beta"])
        if norm_first:
            x = x + attend(first(x))
            return x + dense(second(x))
        x = first(x + attend(x))
        return second(x + dense(x))

    check(function, formula, x, *values)


def test_transformer_compiled_is_the_same():
    net = nn.Transformer(4, 2, 2, 1, 8, dropout=0.0, activation="gelu")
    names = [p.name for p in net.trainable_params()]
    assert "encoder.layers.1.self_attn.in_proj_weight" in names
    assert "decoder.layers.0.multihead_attn.out_proj.bias" in names
    assert "decoder.norm.gamma" in names
    assert len(set(names)) == len(names)
    src, tgt = (Tensor(RNG.normal(size=(n, 2, 4)).astype(np.float32)) for n in (5, 3))
    causal = Tensor(np.triu(np.ones((3, 3), bool), 1))
    both = ms.value_and_grad(
        lambda a, b: (net(a, b, tgt_mask=causal) ** 3).sum(), (0, 1), net.trainable_params()
    )
    value, (inputs, weights) = both(src, tgt)
    # a later element has no influence on an earlier one
    early = ms.grad(lambda b: net(src, b, tgt_mask=causal)[0].sum())(tgt).asnumpy()
    assert np.abs(early[1:]).max() < 1e-6
    ms.set_context(mode=ms.GRAPH_MODE)
    found, (found_inputs, found_weights) = both(src, tgt)
    assert_close(found, value, kind="program")
    for a, b in zip([*found_inputs, *found_weights], [*inputs, *weights], strict=True):
        assert_close(a, b, kind="long program", each=True, scale=1)


def test_dropout_in_training_only():
    net = nn.TransformerEncoder(nn.TransformerEncoderLayer(4, 2, 8, dropout=0.5), 2, nn.LayerNorm((4,)))
    x = Tensor(RNG.normal(size=(3, 2, 4)).astype(np.float32))
    np.testing.assert_array_equal(net(x).asnumpy(), net(x).asnumpy())
    net.set_train()
    assert (net(x).asnumpy() != net(x).asnumpy()).any()


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda: nn.MultiheadAttention(5, 2), ValueError, "must be a multiple of 'num_heads'"),
        (lambda: nn.MultiheadAttention(4, 2, add_zero_attn=True), ValueError, "'add_zero_attn' is not supported"),
        (lambda: nn.MultiheadAttention(4, 2)(*[ops.ones((2, 4))] * 3), ValueError, "must have 3 axes"),
        (lambda: nn.MultiheadAttention(4, 2)(ops.ones((2, 1, 4)), ops.ones((2, 3, 4)), ops.ones((2, 3, 4))), ValueError, "batch sizes must be equal"),
        (lambda: nn.MultiheadAttention(4, 2)(*[ops.ones((2, 1, 4))] * 3, attn_mask=ops.ones((3, 2))), ValueError, r"must broadcast|do not broadcast"),
        (lambda: nn.TransformerEncoder(nn.ReLU(), 2), TypeError, "must be a TransformerEncoderLayer, but got ReLU"),
        (lambda: nn.TransformerEncoderLayer(4, 2, activation=3), TypeError, "must be a string, Cell or function"),
    ],
)  # fmt: skip
def test_refusals(call, error, text):
    with pytest.raises(error, match=text):
        call()
