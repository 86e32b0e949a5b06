"""Recurrent layers: against loops in NumPy, two derivatives, lengths, directions, one scan when compiled."""

import numpy as np
import pytest
from scipy.special import expit

import mindgrad as ms
from mindgrad import Tensor, nn, ops
from mindgrad.inspect.profile import measure
from mindgrad.nn.layer import rnn_cells
from tests.tolerances import assert_close
from tests.unit.derivative_checks import as_parameters, check

RNG = np.random.default_rng(5)


# --- the steps, written with one matrix for each gate --------------------------------------------------


def rows(w, count):
    return np.split(w, count)


def elman(x, h, w_ih, w_hh, b_ih, b_hh):
    return np.tanh(x @ w_ih.T + b_ih + h @ w_hh.T + b_hh)


def rectified(x, h, w_ih, w_hh, b_ih, b_hh):
    return np.maximum(x @ w_ih.T + b_ih + h @ w_hh.T + b_hh, 0)


def gated(x, h, w_ih, w_hh, b_ih, b_hh):
    (ir, iz, i_n), (hr, hz, hn) = rows(w_ih, 3), rows(w_hh, 3)
    (bir, biz, bin_), (bhr, bhz, bhn) = rows(b_ih, 3), rows(b_hh, 3)
    r = expit(x @ ir.T + bir + h @ hr.T + bhr)
    z = expit(x @ iz.T + biz + h @ hz.T + bhz)
    n = np.tanh(x @ i_n.T + bin_ + r * (h @ hn.T + bhn))
    return (1 - z) * n + z * h


def remembering(x, hc, w_ih, w_hh, b_ih, b_hh):
    h, c = hc
    i, f, g, o = (
        x @ wi.T + bi + h @ wh.T + bh
        for wi, wh, bi, bh in zip(rows(w_ih, 4), rows(w_hh, 4), rows(b_ih, 4), rows(b_hh, 4), strict=True)
    )
    c = expit(f) * c + expit(i) * np.tanh(g)
    return expit(o) * np.tanh(c), c


STEPS = {nn.RNN: elman, nn.GRU: gated, nn.LSTM: remembering}


def sequence(step, x, weights, start, lengths=None):
    """One direction, one sequence after the other: outputs and last states."""
    time, batch = x.shape[:2]
    is_pair = isinstance(start, tuple)
    hidden = (start[0] if is_pair else start).shape[-1]
    ys = np.zeros((time, batch, hidden))
    ends = []
    for n in range(batch):
        state = tuple(s[n] for s in start) if is_pair else start[n]
        for t in range(time if lengths is None else lengths[n]):
            state = step(x[t, n], state, *weights)
            ys[t, n] = state[0] if is_pair else state
        ends.append(state)
    return ys, ends


# --- cells -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("cell", "step", "gates"),
    [
        (nn.RNNCell(3, 2), elman, 1),
        (nn.RNNCell(3, 2, nonlinearity="relu"), rectified, 1),
        (nn.GRUCell(3, 2), gated, 3),
    ],
    ids=["RNNCell", "RNNCell-relu", "GRUCell"],
)
def test_cells(cell, step, gates):
    x, h = RNG.normal(size=(4, 3)), RNG.normal(size=(4, 2))
    assert [(p.name, p.shape) for p in cell.trainable_params()] == [
        ("weight_ih", (2 * gates, 3)), ("weight_hh", (2 * gates, 2)), ("bias_ih", (2 * gates,)), ("bias_hh", (2 * gates,)),
    ]  # fmt: skip
    parameters = cell.trainable_params()
    _, values = as_parameters(cell)

    def function(x, h, *weights):
        for p, w in zip(parameters, weights, strict=True):
            ops.assign(p, w)
        return cell(x, h)

    check(function, step, x, h, *values)


def test_lstm_cell():
    x, h, c = RNG.normal(size=(4, 3)), RNG.normal(size=(4, 2)), RNG.normal(size=(4, 2))
    cell = nn.LSTMCell(3, 2)
    _, values = as_parameters(cell)
    for p, w in zip(cell.trainable_params(), values, strict=True):
        p.set_data(Tensor(w))
    for k in (0, 1):
        check(lambda x, h, c: cell(x, (h, c))[k], lambda x, h, c: remembering(x, (h, c), *values)[k], x, h, c)  # noqa: B023


# --- layers ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", [nn.RNN, nn.GRU, nn.LSTM])
def test_one_layer_with_its_derivatives(kind):
    x = RNG.normal(size=(5, 2, 3))
    cell = kind(3, 2)
    function, values = as_parameters(cell)
    zeros = np.zeros((2, 2))
    start = (zeros, zeros) if kind is nn.LSTM else zeros
    check(
        lambda *given: function(*given)[0],
        lambda x, *weights: sequence(STEPS[kind], x, weights, start)[0],
        x, *values,
    )  # fmt: skip


@pytest.mark.parametrize("kind", [nn.RNN, nn.GRU, nn.LSTM])
@pytest.mark.parametrize("lengths", [None, [6, 1, 4]])
def test_layers_directions_and_lengths(kind, lengths):
    time, batch, hidden = 6, 3, 4
    x = RNG.normal(size=(time, batch, 2))
    cell = kind(2, hidden, num_layers=2, bidirectional=True, batch_first=True)
    values = {p.name: RNG.normal(size=p.shape) * 0.5 for p in cell.get_parameters()}
    for p in cell.get_parameters():
        p.set_dtype(ms.float64).set_data(Tensor(values[p.name]))
    pair = kind is nn.LSTM
    starts = [RNG.normal(size=(4, batch, hidden)) for _ in range(2 if pair else 1)]
    hx = tuple(map(Tensor, starts)) if pair else Tensor(starts[0])
    out, last = cell(Tensor(x.swapaxes(0, 1)), hx, None if lengths is None else Tensor(lengths))

    def backwards(y):
        turned = np.array(y)
        for n in range(batch):
            stop = time if lengths is None else lengths[n]
            turned[:stop, n] = y[:stop, n][::-1]
        return turned

    expected, ends = x, []
    for layer in range(2):
        found = []
        for direction, suffix in enumerate(("", "_reverse")):
            names = [f"{kind}_l{layer}{suffix}" for kind in ("weight_ih", "weight_hh", "bias_ih", "bias_hh")]
            start = [s[2 * layer + direction] for s in starts]
            given = backwards(expected) if direction else expected
            ys, end = sequence(
                STEPS[kind], given, [values[n] for n in names], tuple(start) if pair else start[0], lengths
            )
            found.append(backwards(ys) if direction else ys)
            ends.append(end)
        expected = np.concatenate(found, -1)
    assert_close(out, expected.swapaxes(0, 1), kind="program")
    for k, each in enumerate(last if pair else (last,)):
        wanted = np.array([[row[k] if pair else row for row in end] for end in ends])
        assert_close(each, wanted, kind="program")


def test_names_and_shapes_are_those_of_checkpoints():
    net = nn.LSTM(3, 4, num_layers=2, bidirectional=True)
    shapes = {p.name: p.shape for p in net.get_parameters()}
    assert shapes["weight_ih_l0"] == (16, 3)
    assert shapes["weight_ih_l1_reverse"] == (16, 8)
    assert shapes["weight_hh_l1"] == (16, 4)
    assert shapes["bias_hh_l0_reverse"] == (16,)
    assert len(shapes) == 16
    assert [p.name for p in net.w_ih_list] == [
        "weight_ih_l0",
        "weight_ih_l0_reverse",
        "weight_ih_l1",
        "weight_ih_l1_reverse",
    ]
    other = nn.LSTM(3, 4, num_layers=2, bidirectional=True)
    for kind in ("w_ih_list", "w_hh_list", "b_ih_list", "b_hh_list"):
        setattr(other, kind, ms.ParameterTuple(getattr(net, kind)))
    x = ops.ones((2, 1, 3))
    np.testing.assert_array_equal(other(x)[0].asnumpy(), net(x)[0].asnumpy())
    assert other.weight_hh_l1 is net.weight_hh_l1
    assert len(other.trainable_params()) == 16
    with pytest.raises(ValueError, match="4 Parameters, namely weight_ih_l0, weight_ih_l0_reverse"):
        net.w_ih_list = net.w_ih_list[:1]
    bare = nn.GRU(3, 4, has_bias=False)
    assert [p.name for p in bare.trainable_params()] == ["weight_ih_l0", "weight_hh_l0"]
    assert bare.b_ih_list == []
    assert bare(ops.ones((2, 1, 3)))[0].shape == (2, 1, 4)
    assert np.abs(net.weight_hh_l0.asnumpy()).max() <= 0.5
    outer = nn.SequentialCell(nn.RNN(3, 4))
    assert outer.trainable_params()[0].name == "0.weight_ih_l0"


def test_dropout_between_layers_only_in_training():
    ms.set_seed(3)
    net = nn.GRU(3, 4, num_layers=2, dropout=0.5)
    x = Tensor(RNG.normal(size=(5, 2, 3)).astype(np.float32))
    first, second = net(x)[0].asnumpy(), net(x)[0].asnumpy()
    np.testing.assert_array_equal(first, second)
    net.set_train()
    assert (net(x)[0].asnumpy() != net(x)[0].asnumpy()).any()


def trained(kind, x, lengths):
    net = kind
    weights = Tensor(np.linspace(0, 1, x.shape[0], dtype=np.float32)[:, None, None])

    def loss(x):
        return (net(x, None, lengths)[0] * weights).sum()

    value, gradients = ms.value_and_grad(loss, 0, net.trainable_params())(x)
    hessian = ms.grad(lambda x: (ms.grad(loss)(x) ** 2).sum())(x)
    return [each.asnumpy() for each in (value, gradients[0], *gradients[1], hessian)]


def test_compiled_it_is_the_same():
    net = nn.LSTM(2, 3)
    x = Tensor(RNG.normal(size=(12, 2, 2)).astype(np.float32))
    eager = trained(net, x, Tensor([12, 5]))
    ms.set_context(mode=ms.GRAPH_MODE)
    for a, b in zip(trained(net, x, Tensor([12, 5])), eager, strict=True):
        assert_close(a, b, kind="long program", each=True, scale=0.1)


def test_a_long_sequence_is_one_scan():
    """The program has as many operators for 400 steps as for 40, and so has that of the gradient."""

    def program(time):
        net = nn.GRU(2, 3)
        x = Tensor(np.zeros((time, 1, 2), np.float32))
        gradient = measure(ms.grad(lambda x: net(x)[0].sum(), 0, net.trainable_params()), x)
        return measure(net, x).counts, gradient.counts

    ms.set_context(mode=ms.GRAPH_MODE)
    long, short = program(400), program(40)
    for each in (*long, *short):
        each.pop("transpose", None)  # the layout is chosen by size
    assert long == short
    assert long[0]["scan"] == 1
    assert long[1]["scan"] == 2


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda: nn.LSTM(3, 2)(Tensor(np.ones((4, 3)))), ValueError, r"For 'LSTM', the input must have the shape \(time, batch, 3\), but its shape is \(4, 3\)"),
        (lambda: nn.GRU(3, 2, batch_first=True)(Tensor(np.ones((4, 3, 2)))), ValueError, r"\(batch, time, 3\)"),
        (lambda: nn.RNN(3, 2)(ops.ones((4, 1, 3)), ops.ones((1, 2, 2))), ValueError, r"a state must have the shape \(1, 1, 2\), but its shape is \(1, 2, 2\)"),
        (lambda: nn.LSTM(3, 2)(ops.ones((4, 1, 3)), ops.ones((1, 1, 2))), TypeError, r"'hx' must be a tuple \(h, c\)"),
        (lambda: nn.RNN(3, 2)(ops.ones((4, 2, 3)), None, Tensor([1])), ValueError, "an integer for each of 2 sequences"),
        (lambda: nn.RNN(3, 2, nonlinearity="sin"), ValueError, "must be 'tanh' or 'relu', but got 'sin'"),
        (lambda: nn.RNN(3, 0), ValueError, "'hidden_size' must be at least 1"),
        (lambda: nn.GRU(3, 2, dropout=1.0), ValueError, r"'dropout' must be in \[0, 1\)"),
        (lambda: nn.RNNCell(3, 2)(ops.ones((4, 2)), ops.ones((4, 2))), ValueError, r"\(batch, 3\), but its shape is \(4, 2\)"),
        (lambda: nn.GRUCell(3, 2)(ops.ones((4, 3)), ops.ones((1, 2))), ValueError, r"a state must have the shape \(4, 2\)"),
        (lambda: nn.LSTMCell(3, 2)(ops.ones((4, 3)), ops.ones((4, 2))), TypeError, r"must be a tuple \(h, c\)"),
    ],
)  # fmt: skip
def test_refusals(call, error, text):
    with pytest.raises(error, match=text):
        call()


@pytest.mark.parametrize(
    ("step", "layer", "states"),
    [
        (rnn_cells._rnn_tanh_cell, nn.RNNCell(3, 2), 1),
        (rnn_cells._rnn_relu_cell, nn.RNNCell(3, 2, nonlinearity="relu"), 1),
        (rnn_cells._gru_cell, nn.GRUCell(3, 2), 1),
        (rnn_cells._lstm_cell, nn.LSTMCell(3, 2), 2),
    ],
)
def test_a_step_as_a_function_of_its_weights(step, layer, states):
    x, state = ops.ones((4, 3)), tuple(ops.randn(states, 4, 2).unbind(0))
    state = state if states == 2 else state[0]
    weights = (layer.weight_ih, layer.weight_hh, layer.bias_ih, layer.bias_hh)
    for result, expected in zip(step(x, state, *weights), layer(x, state), strict=True):
        np.testing.assert_array_equal(result.asnumpy(), expected.asnumpy())
