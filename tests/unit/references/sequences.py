"""Recurrent layers, attention and transformers: PyTorch's modules, given the same weights."""

import numpy as np

from tests.unit.references.case import Case, normal, whole

THEIR_NAMES = {"gamma": "weight", "beta": "bias", "dense1": "linear1", "dense2": "linear2"}


def _called(module, w, *inputs, **named):
    """A module of PyTorch with these weights."""
    import torch

    weights = {}
    for name, value in w.items():
        parts = name.split(".")
        weights[".".join(THEIR_NAMES.get(x, x) for x in parts) if len(parts) > 1 else name] = value
    return torch.func.functional_call(module.double(), weights, inputs, named, strict=True)


def _recurrent(kind, *args, has_states=True, **options):
    def theirs(f, t, x, *rest):
        *states, w = rest
        given = (tuple(states),) if kind == "LSTM" and states else tuple(states)
        y, last = _called(getattr(t.nn, kind)(*args, **options), w, x, *given)
        return (y, *last) if kind == "LSTM" else (y, last)

    return theirs


def _with_lengths(kind, *args, **options):
    def theirs(f, t, x, lengths, w):
        packed = t.nn.utils.rnn.pack_padded_sequence(x, lengths.long(), enforce_sorted=False)
        # a packed sequence is a named tuple of its data, which is what is differentiated
        y, last = _called(getattr(t.nn, kind)(*args, **options), w, packed)
        y = t.nn.utils.rnn.pad_packed_sequence(y, total_length=x.shape[0])[0]
        return (y, *last) if kind == "LSTM" else (y, last)

    return theirs


def weights(gates, inputs, hidden, layers=1, directions=1, has_bias=True):
    """The shapes of the Parameters of a recurrent layer."""
    found = {}
    for layer in range(layers):
        size = inputs if layer == 0 else directions * hidden
        shapes = {"weight_ih": (gates * hidden, size), "weight_hh": (gates * hidden, hidden)}
        if has_bias:
            shapes |= {"bias_ih": (gates * hidden,), "bias_hh": (gates * hidden,)}
        for suffix in ("", "_reverse")[:directions]:
            found |= {f"{kind}_l{layer}{suffix}": shape for kind, shape in shapes.items()}
    return found


def _of_cell(gates, inputs, hidden):
    return {name.removesuffix("_l0"): shape for name, shape in weights(gates, inputs, hidden).items()}


def attention(size, prefix=""):
    shapes = {"in_proj_weight": (3 * size, size), "in_proj_bias": (3 * size,), "out_proj.weight": (size, size), "out_proj.bias": (size,)}  # fmt: skip
    return {prefix + name: shape for name, shape in shapes.items()}


def _layer(size, wide, prefix="", is_decoder=False):
    shapes = attention(size, "self_attn.")
    if is_decoder:
        shapes |= attention(size, "multihead_attn.")
    shapes |= {"dense1.weight": (wide, size), "dense1.bias": (wide,)}
    shapes |= {"dense2.weight": (size, wide), "dense2.bias": (size,)}
    for k in (1, 2, 3)[: 3 if is_decoder else 2]:
        shapes |= {f"norm{k}.gamma": (size,), f"norm{k}.beta": (size,)}
    return {prefix + name: shape for name, shape in shapes.items()}


def _norm(size, prefix):
    return {f"{prefix}.gamma": (size,), f"{prefix}.beta": (size,)}


def _attended(*args, masks=None, **options):
    def theirs(f, t, q, k, v, w):
        found = {name: t.tensor(mask) for name, mask in (masks or {}).items() if isinstance(mask, np.ndarray)}
        found |= {name: mask for name, mask in (masks or {}).items() if not isinstance(mask, np.ndarray)}
        return _called(t.nn.MultiheadAttention(*args, **options), w, q, k, v, **found)

    return theirs


X = normal(4, 3, 2)  # time, batch, features
H = [0.5 * normal(3, 3, salt=salt) for salt in "hc"]
HH = [0.5 * normal(4, 3, 2, salt=salt) for salt in "hc"]
LENGTHS = whole(2, 4, 1)
Q, K, V = normal(3, 2, 4, salt="q"), normal(5, 2, 4, salt="k"), normal(5, 2, 4, salt="v")
CAUSAL = np.triu(np.ones((3, 3), bool), 1)
PADDED = np.array([[False] * 5, [False, False, False, True, True]])
_CAUSAL = "Tensor(np.triu(np.ones((3, 3), bool), 1))"
_PADDED = "Tensor(np.array([[False] * 5, [False, False, False, True, True]]))"

CASES = [
    Case("nn.RNNCell(2, 3)", (normal(3, 2), H[0]), lambda f, t, x, h, w: _called(t.nn.RNNCell(2, 3), w, x, h), _of_cell(1, 2, 3)),
    Case("nn.RNNCell(2, 3, nonlinearity='relu')", (normal(3, 2), H[0]), lambda f, t, x, h, w: _called(t.nn.RNNCell(2, 3, nonlinearity="relu"), w, x, h), _of_cell(1, 2, 3)),
    Case("nn.GRUCell(2, 3)", (normal(3, 2), H[0]), lambda f, t, x, h, w: _called(t.nn.GRUCell(2, 3), w, x, h), _of_cell(3, 2, 3), compiled=True),
    Case("nn.LSTMCell(2, 3)", (normal(3, 2), *H), lambda f, t, x, h, c, w: _called(t.nn.LSTMCell(2, 3), w, x, (h, c)), _of_cell(4, 2, 3), takes="x[0], (x[1], x[2])"),
    Case("nn.RNN(2, 2, 2, bidirectional=True)", (X, HH[0]), _recurrent("RNN", 2, 2, 2, bidirectional=True), weights(1, 2, 2, 2, 2)),
    Case("nn.RNN(2, 2, nonlinearity='relu', has_bias=False)", (X,), _recurrent("RNN", 2, 2, nonlinearity="relu", bias=False), weights(1, 2, 2, has_bias=False)),
    Case("nn.GRU(2, 2, 2, bidirectional=True)", (X, HH[0]), _recurrent("GRU", 2, 2, 2, bidirectional=True), weights(3, 2, 2, 2, 2)),
    Case("nn.GRU(2, 2, batch_first=True)", (X,), _recurrent("GRU", 2, 2, batch_first=True), weights(3, 2, 2)),
    Case("nn.GRU(2, 2, bidirectional=True)", (X, LENGTHS), _with_lengths("GRU", 2, 2, bidirectional=True), weights(3, 2, 2, 1, 2), takes="x[0], None, x[1]"),
    Case("nn.LSTM(2, 2, 2, bidirectional=True)", (X, *HH), _recurrent("LSTM", 2, 2, 2, bidirectional=True), weights(4, 2, 2, 2, 2), takes="x[0], (x[1], x[2])"),
    Case("nn.LSTM(2, 2)", (X, LENGTHS), _with_lengths("LSTM", 2, 2), weights(4, 2, 2), takes="x[0], None, x[1]", compiled=True),
    Case("nn.MultiheadAttention(4, 2)", (Q, K, V), _attended(4, 2), attention(4)),
    Case("nn.MultiheadAttention(4, 2)", (Q, K, V), _attended(4, 2, masks={"key_padding_mask": PADDED, "average_attn_weights": False}), attention(4), takes=f"*x, key_padding_mask={_PADDED}, average_attn_weights=False", note="padded"),
    Case("nn.MultiheadAttention(4, 2, batch_first=True)", (normal(2, 3, 4, salt="q"), normal(2, 3, 4, salt="k"), normal(2, 3, 4, salt="v")), _attended(4, 2, batch_first=True, masks={"attn_mask": CAUSAL}), attention(4), takes=f"*x, attn_mask={_CAUSAL}", note="causal", compiled=True),
    Case("nn.MultiheadAttention(4, 2, kdim=3, vdim=2)", (Q, normal(5, 2, 3), normal(5, 2, 2)), _attended(4, 2, kdim=3, vdim=2), {"q_proj_weight": (4, 4), "k_proj_weight": (4, 3), "v_proj_weight": (4, 2), "in_proj_bias": (12,), "out_proj.weight": (4, 4), "out_proj.bias": (4,)}),
    Case("nn.TransformerEncoderLayer(4, 2, 3, 0.0)", (Q,), lambda f, t, x, w: _called(t.nn.TransformerEncoderLayer(4, 2, 3, 0.0), w, x), _layer(4, 3)),
    Case("nn.TransformerEncoderLayer(4, 2, 3, 0.0, 'gelu', norm_first=True)", (Q,), lambda f, t, x, w: _called(t.nn.TransformerEncoderLayer(4, 2, 3, 0.0, lambda x: f.gelu(x, approximate="tanh"), norm_first=True), w, x), _layer(4, 3)),
    Case("nn.TransformerEncoder(nn.TransformerEncoderLayer(4, 2, 3, 0.0), 2)", (Q,), lambda f, t, x, w: _called(t.nn.TransformerEncoder(t.nn.TransformerEncoderLayer(4, 2, 3, 0.0), 2), w, x), _layer(4, 3, "layers.0.") | _layer(4, 3, "layers.1.")),
    Case("nn.TransformerDecoderLayer(4, 2, 3, 0.0)", (Q, K), lambda f, t, x, m, w: _called(t.nn.TransformerDecoderLayer(4, 2, 3, 0.0), w, x, m, t.tensor(CAUSAL)), _layer(4, 3, is_decoder=True), takes=f"*x, {_CAUSAL}"),
    Case("nn.TransformerDecoder(nn.TransformerDecoderLayer(4, 2, 3, 0.0), 1)", (Q, K), lambda f, t, x, m, w: _called(t.nn.TransformerDecoder(t.nn.TransformerDecoderLayer(4, 2, 3, 0.0), 1), w, x, m), _layer(4, 3, "layers.0.", True)),
    Case("nn.Transformer(4, 2, 1, 1, 3, 0.0)", (K, Q), lambda f, t, x, y, w: _called(t.nn.Transformer(4, 2, 1, 1, 3, 0.0), w, x, y), _layer(4, 3, "encoder.layers.0.") | _norm(4, "encoder.norm") | _layer(4, 3, "decoder.layers.0.", True) | _norm(4, "decoder.norm")),
]  # fmt: skip
