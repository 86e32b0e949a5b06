"""Layers: values against formulas in NumPy and jax, two derivatives, both modes, errors, how they look."""

import copy
import math
import pickle

import numpy as np
import pytest
import scipy
from scipy.special import erf, expit

import mindgrad as ms
from mindgrad import Tensor, nn, ops
from tests.tolerances import assert_close
from tests.unit.derivative_checks import as_parameters, check

RNG = np.random.default_rng(11)


# --- activations -------------------------------------------------------------------------------------

X = RNG.normal(size=(3, 4)) * 2

ACTIVATIONS = {
    "celu": (nn.CELU(0.7), lambda x: np.where(x > 0, x, 0.7 * np.expm1(x / 0.7))),
    "elu": (nn.ELU(), lambda x: np.where(x > 0, x, np.expm1(x))),
    "fast_gelu": (nn.FastGelu(), lambda x: x * expit(1.702 * x)),
    "gelu": (nn.GELU(), lambda x: x / 2 * (1 + np.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x**3)))),
    "gelu_exact": (nn.GELU(approximate=False), lambda x: x / 2 * (1 + erf(x / np.sqrt(2)))),
    "glu": (nn.GLU(), lambda x: x[:, :2] * expit(x[:, 2:])),
    "hardtanh": (nn.Hardtanh(-0.5, 2.0), lambda x: np.clip(x, -0.5, 2.0)),
    "hshrink": (nn.HShrink(), lambda x: np.where(np.abs(x) > 0.5, x, 0)),
    "hsigmoid": (nn.HSigmoid(), lambda x: np.clip(x + 3, 0, 6) / 6),
    "hswish": (nn.HSwish(), lambda x: x * np.clip(x + 3, 0, 6) / 6),
    "leakyrelu": (nn.LeakyReLU(), lambda x: np.where(x > 0, x, 0.2 * x)),
    "logsigmoid": (nn.LogSigmoid(), lambda x: -np.logaddexp(0, -x)),
    "logsoftmax": (nn.LogSoftmax(), lambda x: x - np.log(np.exp(x).sum(-1, keepdims=True))),
    "mish": (nn.Mish(), lambda x: x * np.tanh(np.logaddexp(0, x))),
    "relu": (nn.ReLU(), lambda x: np.maximum(x, 0)),
    "relu6": (nn.ReLU6(), lambda x: np.clip(x, 0, 6)),
    "selu": (nn.SeLU(), lambda x: 1.0507009873554805 * np.where(x > 0, x, 1.6732632423543772 * np.expm1(x))),
    "sigmoid": (nn.Sigmoid(), expit),
    "silu": (nn.SiLU(), lambda x: x * expit(x)),
    "softmax": (nn.Softmax(0), lambda x: np.exp(x) / np.exp(x).sum(0)),
    "softmin": (nn.Softmin(), lambda x: np.exp(-x) / np.exp(-x).sum(-1, keepdims=True)),
    "softshrink": (nn.SoftShrink(), lambda x: np.sign(x) * np.maximum(np.abs(x) - 0.5, 0)),
    "softsign": (nn.Softsign(), lambda x: x / (1 + np.abs(x))),
    "tanh": (nn.Tanh(), np.tanh),
    "tanhshrink": (nn.Tanhshrink(), lambda x: x - np.tanh(x)),
    "threshold": (nn.Threshold(0.3, 7.0), lambda x: np.where(x > 0.3, x, 7.0)),
}  # fmt: skip


@pytest.mark.parametrize("name", ACTIVATIONS)
def test_activations(name):
    cell, formula = ACTIVATIONS[name]
    check(cell, formula, X)


def test_softmax_of_channels_and_slopes_of_channels():
    x = RNG.normal(size=(2, 3, 2, 2))
    check(nn.Softmax2d(), lambda x: np.exp(x) / np.exp(x).sum(1, keepdims=True), x)
    layer = nn.PReLU(3, [0.5, 1.5, -1.0])
    np.testing.assert_array_equal(layer.w.asnumpy(), [0.5, 1.5, -1.0])
    function, values = as_parameters(layer)
    check(function, lambda x, w: np.where(x > 0, x, w.reshape(1, 3, 1, 1) * x), x, *values)


def test_activations_by_name():
    for name in ("relu", "tanh", "sigmoid", "gelu", "leakyrelu", "softmax", "elu", "logsigmoid"):
        cell = nn.get_activation(name)
        assert cell is not nn.get_activation(name)  # each layer has its own
        np.testing.assert_array_equal(cell(Tensor(X)).asnumpy(), type(cell)()(Tensor(X)).asnumpy())
    assert nn.get_activation(None) is None
    with pytest.raises(
        KeyError, match=r"'Dense', the 'name' of an activation must be one of .*relu.*, but got 'rela'"
    ):
        nn.Dense(1, 1, activation="rela")


# --- Dense -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("shape", [(3,), (5, 3), (2, 4, 3)])
def test_dense(shape):
    x = RNG.normal(size=shape)
    function, values = as_parameters(nn.Dense(3, 2, activation="tanh"))
    check(function, lambda x, w, b: np.tanh(x @ w.T + b), x, *values)


def test_dense_without_bias_with_a_cell_or_an_operator():
    w = Tensor([[1.0, -2.0]])
    for activation in (nn.ReLU(), ops.ReLU(), "relu"):
        layer = nn.Dense(2, 1, weight_init=w, has_bias=False, activation=activation)
        np.testing.assert_array_equal(layer(Tensor([[1.0, 0.0], [0.0, 1.0]])).asnumpy(), [[1.0], [0.0]])
    assert [p.name for p in layer.trainable_params()] == ["weight"]
    assert layer.bias is None
    inner = nn.Dense(2, 1, activation=nn.PReLU())
    assert [p.name for p in inner.trainable_params()] == ["weight", "bias", "activation.w"]


def test_initial_values():
    ms.set_seed(1)
    layer = nn.Dense(100, 200)
    bound = 1 / math.sqrt(100)  # HeUniform(√5) and the bias have the same bound
    for values in (layer.weight.asnumpy(), layer.bias.asnumpy()):
        assert bound * 0.9 < np.abs(values).max() <= bound
    layer = nn.Conv2d(4, 64, 5, has_bias=True)
    for values in (layer.weight.asnumpy(), layer.bias.asnumpy()):
        assert 0.09 < np.abs(values).max() <= 0.1
    ms.set_seed(1)
    np.testing.assert_array_equal(
        nn.Dense(100, 200).weight.asnumpy()[0], (ms.set_seed(1), nn.Dense(100, 200))[1].weight.asnumpy()[0]
    )
    old = nn.Dense(100, 200, "normal", "zeros")
    assert 0.009 < old.weight.asnumpy().std() < 0.011
    assert (old.bias.asnumpy() == 0).all()


def test_how_layers_look():
    assert repr(nn.Dense(1, 2)) == "Dense(input_channels=1, output_channels=2, has_bias=True)"
    assert repr(nn.Dense(1, 2, has_bias=False)) == "Dense(input_channels=1, output_channels=2)"
    net = nn.SequentialCell(nn.Dense(1, 2), nn.Tanh())
    assert repr(net).startswith(
        "SequentialCell(\n  (0): Dense(input_channels=1, output_channels=2, has_bias=True)\n  (1): Tanh()\n)"
    )
    shown = repr(nn.Conv2d(1, 2, 3, weight_init="normal"))
    assert shown.startswith(
        "Conv2d(input_channels=1, output_channels=2, kernel_size=(3, 3), stride=(1, 1), pad_mode=same, "
        "padding=0, dilation=(1, 1), group=1, has_bias=False, weight_init=normal"
    )
    assert repr(nn.MaxPool2d(2, 2)) == "MaxPool2d(kernel_size=2, stride=2, pad_mode=valid)"


# --- convolutions ------------------------------------------------------------------------------------


def convolved(x, w, stride=1, pads=None, dilation=1):
    """Convolution in the sense of machine learning, by scipy's correlation, of any number of axes."""
    axes = x.ndim - 2
    pads = pads or ((0, 0),) * axes
    x = np.pad(x, ((0, 0), (0, 0), *pads))
    wide = np.zeros((*w.shape[:2], *((k - 1) * dilation + 1 for k in w.shape[2:])))
    wide[(slice(None), slice(None), *(slice(None, None, dilation),) * axes)] = w
    rows = [
        [
            sum(scipy.signal.correlate(x[n, c], wide[o, c], "valid") for c in range(w.shape[1]))
            for o in range(w.shape[0])
        ]
        for n in range(x.shape[0])
    ]
    return np.array(rows)[(slice(None), slice(None), *(slice(None, None, stride),) * axes)]


@pytest.mark.parametrize(("layer", "sizes"), [(nn.Conv1d, (7,)), (nn.Conv2d, (5, 4)), (nn.Conv3d, (3, 4, 3))])
def test_convolutions(layer, sizes):
    x = RNG.normal(size=(2, 2, *sizes))
    function, values = as_parameters(layer(2, 3, 2, pad_mode="valid", has_bias=True))
    stored = values[0].shape
    assert stored == ((3, 2, 1, 2) if layer is nn.Conv1d else (3, 2, *(2,) * len(sizes)))

    def formula(x, w, b):
        return convolved(x, w.reshape(3, 2, *(2,) * len(sizes))) + b.reshape(1, 3, *(1,) * len(sizes))

    check(function, formula, x, *values)


def test_padding_stride_dilation_and_groups():
    x = RNG.normal(size=(2, 4, 7, 6))
    for arguments, pads, stride, dilation in [
        (dict(pad_mode="pad", padding=1), ((1, 1), (1, 1)), 1, 1),
        (dict(pad_mode="pad", padding=(1, 0, 2, 1), stride=2), ((1, 0), (2, 1)), 2, 1),
        (dict(pad_mode="same", stride=2), ((1, 1), (0, 1)), 2, 1),
        (dict(pad_mode="valid", dilation=2), None, 1, 2),
    ]:
        cell = nn.Conv2d(4, 2, 3, **arguments)
        function, (w,) = as_parameters(cell)
        expected = convolved(x, w, stride, pads, dilation)
        assert_close(function(Tensor(x), Tensor(w)), expected, kind="program")
    function, (w,) = as_parameters(nn.Conv2d(4, 4, 3, pad_mode="valid", group=2))
    parts = [convolved(x[:, k : k + 2], w[k : k + 2]) for k in (0, 2)]
    assert_close(function(Tensor(x), Tensor(w)), np.concatenate(parts, 1), kind="program")


@pytest.mark.parametrize(
    ("layer", "sizes", "arguments", "made"),
    [
        (nn.Conv1dTranspose, (4,), dict(kernel_size=3, stride=2), (8,)),
        (nn.Conv2dTranspose, (3, 2), dict(kernel_size=2, stride=2, pad_mode="valid"), (6, 4)),
        (nn.Conv2dTranspose, (3, 2), dict(kernel_size=2, stride=3, pad_mode="valid"), (9, 6)),
        (nn.Conv2dTranspose, (3, 3), dict(kernel_size=3, stride=2, pad_mode="pad", padding=1, output_padding=1), (6, 6)),
        (nn.Conv3dTranspose, (2, 2, 2), dict(kernel_size=2, pad_mode="valid"), (3, 3, 3)),
    ],
)  # fmt: skip
def test_transposed_convolutions(layer, sizes, arguments, made):
    """A transpose: ⟨conv(y), x⟩ = ⟨y, convᵀ(x)⟩ for the convolution with the same kernel."""
    x, y = RNG.normal(size=(2, 2, *sizes)), RNG.normal(size=(2, 3, *made))
    cell = layer(2, 3, **arguments)
    function, (w,) = as_parameters(cell)
    back = function(Tensor(x), Tensor(w))
    assert back.shape == y.shape
    forward = {nn.Conv1dTranspose: nn.Conv1d, nn.Conv2dTranspose: nn.Conv2d, nn.Conv3dTranspose: nn.Conv3d}[
        layer
    ]
    arguments = {key: value for key, value in arguments.items() if key != "output_padding"}
    there = forward(3, 2, **arguments, weight_init=Tensor(w), dtype=ms.float64)(Tensor(y))
    assert_close((there.asnumpy() * x).sum(), (back.asnumpy() * y).sum(), kind="program")
    check(function, None, x, w)


# --- pooling -----------------------------------------------------------------------------------------


def pooled(x, kernel, stride, padding, dilation, ceil, kind, counts_padding=True):
    """Windows over two axes, one by one: values and places."""
    sizes = x.shape[2:]
    counts = []
    for n in sizes:
        whole = (n + 2 * padding - dilation * (kernel - 1) - 1) / stride + 1
        count = math.ceil(whole) if ceil else math.floor(whole)
        counts.append(count - 1 if ceil and (count - 1) * stride >= n + padding else count)
    values, places = np.zeros((*x.shape[:2], *counts)), np.zeros((*x.shape[:2], *counts), int)
    for i, j in np.ndindex(*counts):
        inside, at, total = [], [], 0
        for a, b in np.ndindex(kernel, kernel):
            y, z = i * stride - padding + a * dilation, j * stride - padding + b * dilation
            total += y < sizes[0] + padding and z < sizes[1] + padding
            if 0 <= y < sizes[0] and 0 <= z < sizes[1]:
                inside.append(x[:, :, y, z])
                at.append(y * sizes[1] + z)
        every = np.stack(inside, -1)
        if kind == "max":
            values[:, :, i, j], places[:, :, i, j] = every.max(-1), np.array(at)[every.argmax(-1)]
        else:
            values[:, :, i, j] = every.sum(-1) / (total if counts_padding else len(inside))
    return values, places


@pytest.mark.parametrize("trial", range(12))
def test_pooling(trial):
    rng = np.random.default_rng(trial)
    sizes, kernel, stride = rng.integers(5, 12, 2), int(rng.integers(1, 4)), int(rng.integers(1, 4))
    padding, dilation = int(rng.integers(0, kernel // 2 + 1)), int(rng.integers(1, 3))
    ceil, counts = bool(rng.integers(2)), bool(rng.integers(2))
    x = np.round(rng.normal(size=(2, 3, *sizes)), 1)  # with ties
    cell = nn.MaxPool2d(kernel, stride, "pad", padding, dilation, True, ceil)
    for actual, expected in zip(
        cell(Tensor(x)), pooled(x, kernel, stride, padding, dilation, ceil, "max"), strict=True
    ):
        np.testing.assert_array_equal(actual.asnumpy(), expected)
    cell = nn.AvgPool2d(kernel, stride, "pad", padding, ceil, counts)
    expected = pooled(x, kernel, stride, padding, 1, ceil, "avg", counts)[0]
    assert_close(cell(Tensor(x)), expected, kind="program")


def test_pooling_of_one_and_three_axes_and_same():
    x = RNG.normal(size=(2, 3, 12))
    folded = x.reshape(2, 3, 4, 3)
    check(nn.MaxPool1d(3, 3), lambda x: x.reshape(2, 3, 4, 3).max(-1), x)
    check(nn.AvgPool1d(3, 3), lambda x: x.reshape(2, 3, 4, 3).mean(-1), x)
    np.testing.assert_array_equal(nn.MaxPool1d(12)(Tensor(x)).asnumpy(), x.max(-1, keepdims=True))
    np.testing.assert_array_equal(nn.MaxPool1d(3, 3)(Tensor(x[0])).asnumpy(), folded[0].max(-1))
    z = RNG.normal(size=(1, 2, 4, 4, 2))
    blocks = z.reshape(1, 2, 2, 2, 2, 2, 1, 2)
    check(nn.MaxPool3d(2, 2), lambda z: z.reshape(blocks.shape).max((3, 5, 7)), z)
    check(nn.AvgPool3d(2, 2), lambda z: z.reshape(blocks.shape).mean((3, 5, 7)), z)
    y = RNG.normal(size=(1, 1, 5, 5))
    same = nn.AvgPool2d(3, 2, "same")(Tensor(y)).asnumpy()
    assert_close(same[0, 0, 0, 0], y[0, 0, :2, :2].mean(), kind="program")  # padding does not count
    assert_close(same[0, 0, 1, 1], y[0, 0, 1:4, 1:4].mean(), kind="program")
    check(nn.MaxPool2d(3, 2, "SAME"), None, y)
    check(nn.AvgPool2d(3, 1, divisor_override=4), lambda y: convolved(y, np.ones((1, 1, 3, 3))) / 4, y)


def test_the_first_of_equal_elements_gets_the_derivative():
    x = Tensor(np.ones((1, 1, 4, 4)))
    gradient = ms.grad(lambda x: nn.MaxPool2d(2, 2)(x).sum())(x).asnumpy()
    np.testing.assert_array_equal(gradient[0, 0], np.kron(np.ones((2, 2)), [[1, 0], [0, 0]]))
    assert np.isnan(nn.MaxPool2d(2)(Tensor([[[[1.0, np.nan], [2.0, 3.0]]]])).asnumpy()).all()


def test_adaptive_pooling():
    x = RNG.normal(size=(2, 3, 7, 6))

    def formula(x, wanted, reduce):
        rows, columns = (
            [(i * n // m, -(-(i + 1) * n // m)) for i in range(m)]
            for n, m in zip(x.shape[2:], wanted, strict=True)
        )
        return np.stack(
            [np.stack([reduce(x[:, :, a:b, c:d], (2, 3)) for c, d in columns], -1) for a, b in rows], -2
        )

    for wanted in ((3, 2), (7, 4), (1, 1)):
        check(nn.AdaptiveAvgPool2d(wanted), lambda x: formula(x, wanted, np.mean), x)  # noqa: B023
        check(nn.AdaptiveMaxPool2d(wanted), lambda x: formula(x, wanted, np.max), x)  # noqa: B023
    assert nn.AdaptiveAvgPool2d((None, 2))(Tensor(x)).shape == (2, 3, 7, 2)
    values, places = nn.AdaptiveMaxPool2d(2, return_indices=True)(Tensor(x))
    flat = x.reshape(2, 3, -1)
    np.testing.assert_array_equal(
        np.take_along_axis(flat, places.asnumpy().reshape(2, 3, -1), -1).reshape(values.shape),
        values.asnumpy(),
    )
    line = RNG.normal(size=(2, 7))
    expected = [line[:, 0:3].mean(1), line[:, 2:5].mean(1), line[:, 4:7].mean(1)]
    assert_close(nn.AdaptiveAvgPool1d(3)(Tensor(line)), np.stack(expected, 1), kind="program")
    assert nn.AdaptiveAvgPool3d((1, 2, 3))(ops.ones((1, 2, 3, 4, 5))).shape == (1, 2, 1, 2, 3)
    assert nn.AdaptiveMaxPool1d(2)(ops.ones((1, 2, 5))).shape == (1, 2, 2)
    assert nn.AdaptiveMaxPool3d(2)(ops.ones((1, 2, 3, 4, 5))).shape == (1, 2, 2, 2, 2)


# --- others ------------------------------------------------------------------------------------------


def test_embedding():
    table = RNG.normal(size=(5, 3))
    ids = Tensor([[0, 4], [4, 2]])
    for use_one_hot in (False, True):
        cell = nn.Embedding(5, 3, use_one_hot, Tensor(table.astype(np.float32)))
        assert_close(cell(ids), table.astype(np.float32)[ids.asnumpy()])
        gradient = ms.grad(lambda: (cell(ids) ** 2).sum(), None, cell.trainable_params())()[0]  # noqa: B023
        counts = np.array([1, 0, 1, 0, 2])[:, None]
        assert_close(gradient, 2 * counts * table, kind="program", each=True)
    padded = nn.Embedding(5, 3, padding_idx=2)
    assert (padded.embedding_table.asnumpy()[2] == 0).all()
    assert (padded.embedding_table.asnumpy()[1] != 0).any()
    assert [p.name for p in padded.trainable_params()] == ["embedding_table"]


def test_what_moves_and_measures_elements():
    x = RNG.normal(size=(2, 3, 4))
    assert nn.Flatten()(Tensor(x)).shape == (2, 12)
    assert nn.Flatten(0, 1)(Tensor(x)).shape == (6, 4)
    assert nn.Flatten()(Tensor([1.0, 2.0])).shape == (2,)
    assert nn.Unflatten(-1, (2, 2))(Tensor(x)).shape == (2, 3, 2, 2)
    check(nn.Identity(), lambda x: x, x)
    check(nn.Norm((1,), True), lambda x: np.sqrt((x * x).sum(1, keepdims=True)), x)
    check(nn.Norm(), lambda x: np.sqrt((x * x).sum()), x)
    check(nn.L1Regularizer(0.3), lambda x: 0.3 * np.abs(x).sum(), x)
    check(lambda x: nn.ClipByNorm()(x, 1.5), lambda x: x * 1.5 / max(np.sqrt((x * x).sum()), 1.5), x)
    check(lambda x: nn.Moments((0, 2))(x)[1], lambda x: x.var((0, 2)), x)
    assert nn.Moments(1, True)(Tensor(x))[0].shape == (2, 1, 4)
    check(nn.MatMul(transpose_x2=True), lambda x, y: x @ y.swapaxes(1, 2), x, x + 1)
    check(nn.ReduceLogSumExp((1,)), lambda x: np.log(np.exp(x).sum(1)), x)
    check(
        nn.Pad(((0, 0), (1, 2), (0, 1)), "SYMMETRIC"),
        lambda x: np.pad(x, ((0, 0), (1, 2), (0, 1)), "symmetric"),
        x,
    )
    np.testing.assert_array_equal(nn.Roll((1, 2), (0, 2))(Tensor(x)).asnumpy(), np.roll(x, (1, 2), (0, 2)))
    np.testing.assert_array_equal(nn.Tril()(Tensor(x), 1).asnumpy(), np.tril(x, 1))
    np.testing.assert_array_equal(nn.Triu()(Tensor(x)).asnumpy(), np.triu(x))
    np.testing.assert_array_equal(
        nn.OneHot(0, 3, 5.0, -1.0)(Tensor([2, 0])).asnumpy(), [[-1, 5], [-1, -1], [5, -1]]
    )
    image = RNG.normal(size=(2, 8, 3, 2))
    shuffled = nn.PixelShuffle(2)(Tensor(image))
    expected = image.reshape(2, 2, 2, 2, 3, 2).transpose(0, 1, 4, 2, 5, 3).reshape(2, 2, 6, 4)
    np.testing.assert_array_equal(shuffled.asnumpy(), expected)
    np.testing.assert_array_equal(nn.PixelUnshuffle(2)(shuffled).asnumpy(), image)


def test_bilinear_layer():
    x, y = RNG.normal(size=(4, 3)), RNG.normal(size=(4, 2))
    cell = nn.BiDense(3, 2, 5)
    assert cell.weight.shape == (5, 3, 2)
    function, values = as_parameters(cell)
    found = lambda x, y, w, b: (ops.assign(cell.weight, w), ops.assign(cell.bias, b), cell(x, y))[2]
    check(found, lambda x, y, w, b: np.einsum("ni,oij,nj->no", x, w, y) + b, x, y, *values)
    assert function is not None


def test_a_compiled_net_of_many_layers():
    """One program for value and gradients: the same as operator by operator."""
    net = nn.SequentialCell(
        nn.Conv2d(1, 4, 3, has_bias=True), nn.BatchNorm2d(4), nn.LeakyReLU(), nn.MaxPool2d(2, 2),
        nn.Conv2dTranspose(4, 2, 2, stride=2), nn.GroupNorm(1, 2), nn.AdaptiveAvgPool2d((3, 2)), nn.GELU(),
        nn.AvgPool2d(2, pad_mode="same"), nn.Flatten(), nn.Dense(12, 5, activation="tanh"), nn.LayerNorm((5,)),
    )  # fmt: skip
    x = Tensor(RNG.normal(size=(2, 1, 6, 6)).astype(np.float32))
    loss = nn.CrossEntropyLoss()
    both = ms.value_and_grad(lambda x: loss(net(x), Tensor([1, 4])), 0, net.trainable_params())
    value, (dx, weights) = both(x)
    ms.set_context(mode=ms.GRAPH_MODE)
    compiled, (cdx, cweights) = both(x)
    assert_close(compiled, value, kind="program")
    for a, b in zip([cdx, *cweights], [dx, *weights], strict=True):
        assert_close(a, b, kind="ill-conditioned", each=True, scale=0.1)


def test_layers_compute_in_the_type_of_to_float():
    x = Tensor(RNG.normal(size=(2, 3, 5)).astype(np.float32))
    net = nn.SequentialCell(nn.Conv1d(3, 4, 2), nn.ReLU(), nn.Flatten(), nn.Dense(20, 2)).to_float(ms.float16)
    y = net(x)
    assert y.dtype == ms.float16
    gradient = ms.grad(lambda x: net(x).sum(), 0, net.trainable_params())(x)
    assert gradient[0].dtype == ms.float32
    assert {g.dtype for g in gradient[1]} == {ms.float32}


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda: nn.Dense(3, 2)(Tensor(np.ones((2, 4), np.float32))), ValueError, r"For 'Dense', the last axis of the input must have size in_channels = 3, but the shape of the input is \(2, 4\)"),
        (lambda: nn.Dense(0, 2), ValueError, "'in_channels' must be at least 1, but got 0"),
        (lambda: nn.Dense("3", 2), TypeError, "'in_channels' must be an int"),
        (lambda: nn.Dense(3, 2, weight_init=Tensor([[1.0]])), ValueError, r"For 'Dense', the initial value of 'weight' must have the shape \(2, 3\), but its shape is \(1, 1\)"),
        (lambda: nn.Dense(3, 2, activation=3), TypeError, "must be a string, a Cell or an operator, but got 3"),
        (lambda: nn.Conv2d(3, 2, 3)(Tensor(np.ones((1, 2, 5, 5)))), ValueError, r"For 'Conv2d', the input must have 4 axes and 3 channels in the second, but its shape is \(1, 2, 5, 5\)"),
        (lambda: nn.Conv2d(3, 2, 3, data_format="NHWC"), ValueError, "'data_format' must be 'NCHW'"),
        (lambda: nn.Conv2d(3, 2, 3, padding=1), ValueError, "'padding' must be 0 unless 'pad_mode' is 'pad'"),
        (lambda: nn.Conv2d(3, 2, 3, pad_mode="full"), ValueError, "'pad_mode' must be 'valid', 'same' or 'pad'"),
        (lambda: nn.Conv2d(3, 2, 3, group=2), ValueError, "must be multiples of 'group'"),
        (lambda: nn.Conv2d(3, 2, (3, 3, 3)), ValueError, "'kernel_size' must be one int or 2"),
        (lambda: nn.MaxPool2d(5)(Tensor(np.ones((1, 1, 3, 3)))), ValueError, "must fit into the input"),
        (lambda: nn.MaxPool2d(2)(Tensor(np.ones((3, 3)))), ValueError, r"For 'MaxPool2d', the input must have 4 axes \(or 3"),
        (lambda: nn.MaxPool2d(2, pad_mode="pad", padding=2)(Tensor(np.ones((1, 1, 3, 3)))), ValueError, "at most half of the 'kernel_size'"),
        (lambda: nn.AvgPool2d(2, data_format="NHWC"), ValueError, "'data_format' must be 'NCHW'"),
        (lambda: nn.AdaptiveAvgPool2d((1, 2, 3))(Tensor(np.ones((1, 1, 3, 3)))), ValueError, "must be one int or 2"),
        (lambda: nn.Embedding(3, 2)(Tensor([3])), IndexError, "out of bounds"),
        (lambda: nn.Embedding(3, 2, padding_idx=3), ValueError, r"must be in \[0, 3\)"),
        (lambda: nn.Softmax(axis="a"), TypeError, "'axis' must be an int"),
        (lambda: nn.LeakyReLU(slope=0.1), TypeError, "unexpected keyword argument 'slope'; its arguments are: alpha"),
        (lambda: nn.ReLU()(), TypeError, "For 'ReLU', the inputs must be input, but got 0 inputs"),
        (lambda: nn.AdaptiveMaxPool1d(2)(Tensor(X), True), TypeError, "the inputs must be x, but got 2 inputs"),
        (lambda: nn.NLLLoss()(Tensor(X), Tensor([1, 1, 1]), 0.1), TypeError, "the inputs must be logits, labels, but got 3"),
        (lambda: nn.MSELoss()(Tensor(X), target=Tensor(X)), TypeError, "got 1 by position and target by name"),
        (lambda: nn.PReLU(2, [0.1]), ValueError, "must contain 2 numbers"),
        (lambda: nn.Flatten(2, 1)(Tensor(np.ones((1, 2, 3)))), ValueError, "must not be after"),
        (lambda: nn.Pad(((1, 1),))(Tensor(np.ones((2, 2)))), ValueError, "a pair of ints for each axis"),
        (lambda: nn.Pad((0, 2)), TypeError, "must be a tuple with a pair"),
        (lambda: nn.PixelShuffle(2)(Tensor(np.ones((1, 3, 2, 2)))), ValueError, "For 'PixelShuffle'"),
    ],
)  # fmt: skip
def test_refusals(call, error, text):
    with pytest.raises(error, match=text):
        call()


def test_operators_of_older_programs():
    x = Tensor(RNG.normal(size=(2, 3, 5, 4)))
    same = [
        (ops.MaxPool(2, 2, "SAME")(x), nn.MaxPool2d(2, 2, "same")(x)),
        (ops.AvgPool(3, 2, "SAME")(x), nn.AvgPool2d(3, 2, "same")(x)),
        (ops.AdaptiveAvgPool2D((3, None))(x), nn.AdaptiveAvgPool2d((3, None))(x)),
        (ops.AdaptiveMaxPool2D(2)(x)[0], nn.AdaptiveMaxPool2d(2)(x)),
    ]
    volume = Tensor(RNG.normal(size=(1, 2, 4, 4, 4)))
    same += [
        (ops.MaxPool3D(2, 2)(volume), nn.MaxPool3d(2, 2)(volume)),
        (ops.AvgPool3D(2, 2, "pad", 1)(volume), nn.AvgPool3d(2, 2, "pad", 1)(volume)),
    ]
    w, b = Tensor(RNG.normal(size=4)), Tensor(RNG.normal(size=4))
    y, mean, variance = ops.LayerNorm(3, 3, 1e-5)(x, w, b)
    same.append((y, ops.layer_norm(x, (4,), w, b)))
    assert_close(mean.asnumpy()[..., 0], x.asnumpy().mean(-1), kind="program")
    assert_close(variance.asnumpy()[..., 0], x.asnumpy().var(-1), kind="program")
    channels = [Tensor(RNG.uniform(0.5, 1, 3)) for _ in range(4)]
    scale, shift, moving_mean, moving_variance = channels
    same.append(
        (ops.BatchNorm()(x, *channels)[0], ops.batch_norm(x, moving_mean, moving_variance, scale, shift))
    )
    found = ops.BatchNorm(True)(x, *channels)
    assert_close(found[1], x.asnumpy().mean((0, 2, 3)), kind="program")
    for a, b in same:
        np.testing.assert_array_equal(a.asnumpy(), b.asnumpy())
    with pytest.raises(ValueError, match="'data_format' must be 'NCHW', but got 'NHWC'"):
        ops.MaxPool(data_format="NHWC")(x)


def test_padding_layers():
    x = RNG.normal(size=(2, 3, 4, 5))
    check(nn.ConstantPad1d(2, 1.5), lambda x: np.pad(x, ((0, 0),) * 3 + ((2, 2),), constant_values=1.5), x)
    check(
        nn.ReflectionPad2d((1, 2, 3, 0)), lambda x: np.pad(x, ((0, 0), (0, 0), (3, 0), (1, 2)), "reflect"), x
    )
    check(nn.ReplicationPad3d(1), lambda x: np.pad(x, ((0, 0),) + ((1, 1),) * 3, "edge"), x)
    check(nn.ZeroPad2d((1, 0, 0, 2)), lambda x: np.pad(x, ((0, 0), (0, 0), (0, 2), (1, 0))), x)
    with pytest.raises(ValueError, match="must be one int, or 4"):
        nn.ZeroPad2d((1, 2))(Tensor(x))


def test_neighboring_channels():
    x = RNG.normal(size=(2, 5, 2, 3))

    def formula(x):
        total = np.stack([(x[:, max(c - 1, 0) : c + 2] ** 2).sum(1) for c in range(5)], 1)
        return x / (2.0 + 0.3 * total) ** 0.75

    check(nn.LRN(1, 2.0, 0.3, 0.75), formula, x)


@pytest.mark.parametrize("mode", [ms.PYNATIVE_MODE, ms.GRAPH_MODE])
def test_random_slopes(mode):
    ms.set_context(mode=mode)
    ms.set_seed(1)
    x = Tensor(np.full((200,), -2.0, np.float32))
    cell = nn.RReLU(0.1, 0.4)
    first, second = cell(x).asnumpy(), cell(x).asnumpy()
    assert (first != second).any()
    for slopes in (first / -2, second / -2):
        assert 0.1 <= slopes.min() < 0.15
        assert 0.35 < slopes.max() <= 0.4
    np.testing.assert_array_equal(cell(Tensor([1.0, 2.0])).asnumpy(), [1.0, 2.0])


def test_cells_can_be_copied_and_pickled():
    x = Tensor(np.abs(X).astype(np.float32))
    net = nn.SequentialCell(
        nn.Dense(4, 3), nn.LeakyReLU(0.3), nn.Softmax(), nn.Dense(3, 2, activation="gelu")
    )
    for made in (copy.deepcopy(net), pickle.loads(pickle.dumps(net))):
        np.testing.assert_array_equal(made(x).asnumpy(), net(x).asnumpy())
        assert made[0].weight is not net[0].weight
        assert [p.name for p in made.get_parameters()] == [p.name for p in net.get_parameters()]
    loss = pickle.loads(pickle.dumps(nn.SmoothL1Loss(0.5, "sum")))
    assert (loss.beta, loss.reduction) == (0.5, "sum")


@pytest.mark.parametrize("mode", [ms.PYNATIVE_MODE, ms.GRAPH_MODE])
def test_layers_put_together(mode):
    ms.set_context(mode=mode)
    x = Tensor(RNG.normal(size=(2, 12, 3)).astype(np.float32))
    inner = nn.DenseBnAct(3, 4, has_bn=True, activation="leakyrelu", alpha=0.3)
    over = nn.TimeDistributed(inner, 1)
    w = inner.dense.weight.asnumpy()
    assert np.abs(w).max() < 0.1  # Normal(0.01)
    y = x.asnumpy() @ w.T / np.sqrt(1 + 1e-5)
    assert_close(over(x), np.where(y > 0, y, 0.3 * y), kind="long program")
    gradient = ms.grad(lambda x: over(x).sum())(x)
    slopes = (np.where(y > 0, 1, 0.3) @ w) / np.sqrt(1 + 1e-5)
    assert_close(gradient, slopes, kind="long program")
    image = Tensor(RNG.normal(size=(2, 3, 5, 5)).astype(np.float32))
    block = nn.Conv2dBnAct(3, 2, 3, has_bn=True, activation=nn.ReLU()).set_train()
    actual = block(image).asnumpy()
    plain = block.conv(image).asnumpy()
    expected = (plain - plain.mean((0, 2, 3), keepdims=True)) / np.sqrt(
        plain.var((0, 2, 3), keepdims=True) + 1e-5
    )
    assert_close(actual, np.maximum(expected, 0), kind="long program")
    assert [p.name for p in block.trainable_params()] == ["conv.weight", "batchnorm.gamma", "batchnorm.beta"]
