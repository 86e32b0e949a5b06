"""mint: NumPy's results under PyTorch's arguments; layers; what differs from ops under the same name."""

import numpy as np
import pytest

import mindgrad as ms
from mindgrad import Tensor, mint, nn
from tests.tolerances import assert_close
from tests.unit.derivative_checks import check

RNG = np.random.default_rng(5)
X = RNG.normal(size=(3, 4))
Y = RNG.normal(size=(3, 4))
I = np.array([[0, 2, 1, 1], [2, 0, 0, 1]])


@pytest.mark.parametrize(
    ("function", "reference"),
    [
        (lambda x: mint.sum(x, dim=1, keepdim=True), lambda x: x.sum(1, keepdims=True)),
        (lambda x: mint.mean(x, (0, 1)), lambda x: x.mean()),
        (lambda x: mint.var(x, dim=1), lambda x: x.var(1, ddof=1)),
        (lambda x: mint.std(x, 0, correction=0, keepdim=True), lambda x: x.std(0, keepdims=True)),
        (lambda x: mint.prod(x, 1), lambda x: x.prod(1)),
        (lambda x: mint.max(x), lambda x: x.max()),
        (lambda x: mint.max(x, 1)[0], lambda x: x.max(1)),
        (lambda x: mint.min(x, dim=0, keepdim=True)[0], lambda x: x.min(0, keepdims=True)),
        (lambda x: mint.median(x), lambda x: np.sort(x.ravel())[5]),
        (lambda x: mint.norm(x), lambda x: np.sqrt((x * x).sum())),
        (lambda x: mint.norm(x, 3, 1), lambda x: (np.abs(x) ** 3).sum(1) ** (1 / 3)),
        (lambda x: mint.norm(x, "nuc"), lambda x: np.linalg.svd(x)[1].sum()),
        (lambda x: mint.logsumexp(x, 1), lambda x: np.log(np.exp(x).sum(1))),
        (lambda x: mint.softmax(x, 0), lambda x: np.exp(x) / np.exp(x).sum(0)),
        (lambda x: mint.sort(x, dim=0, descending=True)[0], lambda x: -np.sort(-x, 0)),
        (lambda x: mint.cumsum(x, 1), lambda x: x.cumsum(1)),
        (lambda x: mint.diff(x, dim=0), lambda x: np.diff(x, axis=0)),
        (lambda x: mint.transpose(x, 0, 1), lambda x: x.T),
        (lambda x: mint.permute(x, (1, 0)), lambda x: x.T),
        (lambda x: mint.flatten(x), lambda x: x.ravel()),
        (lambda x: mint.narrow(x, 1, 1, 2), lambda x: x[:, 1:3]),
        (lambda x: mint.select(x, -1, 2), lambda x: x[:, 2]),
        (lambda x: mint.split(x, 3, dim=1)[1], lambda x: x[:, 3:]),
        (lambda x: mint.chunk(x, 2, 1)[0], lambda x: x[:, :2]),
        (lambda x: mint.gather(x, 0, Tensor(I)), lambda x: np.take_along_axis(x, I, 0)),
        (lambda x: mint.index_select(x, 1, Tensor([3, 0, 3])), lambda x: x[:, [3, 0, 3]]),
        (lambda x: mint.take(x, Tensor([5, 0])), lambda x: x.ravel()[[5, 0]]),
        (lambda x: mint.repeat_interleave(x, 2, 0), lambda x: x.repeat(2, 0)),
        (lambda x: mint.diag(x), np.diag),
        (lambda x: mint.where(x > 0, x, 2 * x), lambda x: np.where(x > 0, x, 2 * x)),
        (lambda x: mint.squeeze(mint.unsqueeze(x, 0), 0), lambda x: x),
        (lambda x: mint.exp(input=x), np.exp),
        (lambda x: mint.meshgrid(x[0], x[1])[1], lambda x: np.meshgrid(x[0], x[1], indexing="ij")[1]),
        (lambda x: mint.nn.functional.normalize(x), lambda x: x / np.sqrt((x * x).sum(1, keepdims=True))),
        (lambda x: mint.nn.functional.pad(x, (1, 2)), lambda x: np.pad(x, [(0, 0), (1, 2)])),
        (lambda x: mint.nn.functional.leaky_relu(x), lambda x: np.where(x > 0, x, 0.01 * x)),
        (lambda x: mint.nn.functional.log_softmax(x, 1), lambda x: x - np.log(np.exp(x).sum(1, keepdims=True))),
    ],
)  # fmt: skip
def test_functions_of_one_tensor(function, reference):
    check(function, reference, X)


@pytest.mark.parametrize(
    ("function", "reference"),
    [
        (lambda x, y: mint.add(x, y, alpha=3), lambda x, y: x + 3 * y),
        (lambda x, y: mint.sub(x, other=y, alpha=2), lambda x, y: x - 2 * y),
        (lambda x, y: mint.max(x, y), np.maximum),
        (lambda x, y: mint.cat((x, y), dim=1), lambda x, y: np.concatenate((x, y), 1)),
        (lambda x, y: mint.stack([x, y], -1), lambda x, y: np.stack((x, y), -1)),
        (lambda x, y: mint.scatter_add(x, 0, Tensor(I), y[:2]), lambda x, y: _scattered(x, y, True)),
        (lambda x, y: mint.index_add(x, 1, Tensor([0, 0, 2, 1]), y, alpha=2), lambda x, y: _added(x, y)),
        (lambda x, y: mint.matmul(x, mint.transpose(y, 0, 1)), lambda x, y: x @ y.T),
        (lambda x, y: mint.nn.functional.linear(x, y), lambda x, y: x @ y.T),
        (lambda x, y: mint.nn.functional.smooth_l1_loss(x, y, beta=0.5), lambda x, y: _smooth(x - y)),
        (lambda x, y: mint.nn.SmoothL1Loss("sum", 0.5)(x, y), lambda x, y: 12 * _smooth(x - y)),
        (lambda x, y: mint.baddbmm(x[None], y[None, :, :2], y[None, :2], beta=2), lambda x, y: 2 * x[None] + (y[:, :2] @ y[:2])[None]),
    ],
)  # fmt: skip
def test_functions_of_two_tensors(function, reference):
    check(function, reference, X, Y)


def _scattered(x, y, add):
    found = x.copy()
    for i in range(2):
        for j in range(4):
            found[I[i, j], j] = found[I[i, j], j] * add + y[i, j]
    return found


def _added(x, y):
    found = x.copy()
    np.add.at(found, (slice(None), np.array([0, 0, 2, 1])), 2 * y)
    return found


def _smooth(d):
    return np.where(np.abs(d) < 0.5, d * d, np.abs(d) - 0.25).mean()


def test_integers_and_places():
    x = Tensor(X)
    np.testing.assert_array_equal(mint.max(x, 1)[1].asnumpy(), X.argmax(1))
    np.testing.assert_array_equal(mint.argsort(x, dim=0).asnumpy(), X.argsort(0))
    np.testing.assert_array_equal(mint.topk(x, 2)[1].asnumpy(), np.argsort(-X, 1)[:, :2])
    np.testing.assert_array_equal(mint.where(x > 0)[0].asnumpy(), np.nonzero(X > 0)[0])
    np.testing.assert_array_equal(mint.count_nonzero(x > 0, 0).asnumpy(), (X > 0).sum(0))
    np.testing.assert_array_equal(mint.nn.functional.one_hot(Tensor([2, 0])).asnumpy(), np.eye(3)[[2, 0]])
    assert mint.multinomial(Tensor([1.0, 1.0]), 2).asnumpy().tolist() in ([0, 1], [1, 0])
    assert mint.randint_like(x, 3).dtype == ms.float64
    assert mint.zeros(2, 3).shape == mint.empty((2, 3)).shape == (2, 3)
    assert mint.linspace(0, 1, 5, dtype=ms.float64).dtype == ms.float64
    assert mint.squeeze(mint.ones(2, 1, 3), (0, 1)).shape == (2, 3)


@pytest.mark.parametrize("shape", [(3,), (2, 3), (2, 3, 4), (2, 3, 4, 2)])
@pytest.mark.parametrize("name", ["Softmax", "LogSoftmax"])
def test_softmax_layer_without_dim_normalizes_the_axis_of_the_function(name, shape):
    x = Tensor(RNG.normal(size=shape))
    function = mint.nn.functional.softmax if name == "Softmax" else mint.nn.functional.log_softmax
    for dim in (None, -1):
        assert_close(getattr(mint.nn, name)(dim)(x), function(x, dim).asnumpy())
    total = mint.nn.Softmax()(x).asnumpy().sum(0 if len(shape) in (1, 3) else 1)
    assert_close(total, 1)


def test_layers_are_those_of_nn():
    x = Tensor(RNG.normal(size=(2, 3, 6, 5)).astype(np.float32))
    one, two = mint.nn.Conv2d(3, 4, 3, stride=2, padding=(1, 0), groups=1), None
    two = nn.Conv2d(3, 4, 3, 2, "pad", (1, 1, 0, 0), has_bias=True)
    two.weight.set_data(one.weight)
    two.bias.set_data(one.bias)
    np.testing.assert_array_equal(one(x).asnumpy(), two(x).asnumpy())
    net = nn.SequentialCell(mint.nn.Flatten(), mint.nn.Linear(90, 2), mint.nn.Softmax(dim=1))
    assert_close(net(x).asnumpy().sum(1), 1)
    assert [p.name for p in net.trainable_params()] == ["1.weight", "1.bias"]
    norm = mint.nn.BatchNorm2d(3, momentum=0.25).set_train()
    norm(x)
    moved = 0.25 * x.asnumpy().mean((0, 2, 3))
    assert_close(norm.running_mean, moved, kind="long program")


def test_compiled():
    @ms.jit
    def loss(x, w):
        hidden = mint.nn.functional.gelu(mint.matmul(x, w))
        return mint.mean(mint.square(hidden)) + mint.max(hidden, dim=1)[0].sum() + mint.var(hidden)

    x, w = Tensor(X), Tensor(Y.T.copy())
    compiled = ms.grad(loss, (0, 1))(x, w)
    eager = ms.grad(loss.__wrapped__, (0, 1))(x, w)
    for one, two in zip(compiled, eager, strict=True):
        assert_close(one, two, kind="program")


def test_errors_name_what_is_wrong():
    with pytest.raises(TypeError, match="pass \\(high, size\\) or \\(low, high, size\\)"):
        mint.randint(3)
    with pytest.raises(ValueError, match="'padding_mode' must be 'zeros', but got 'reflect'"):
        mint.nn.Conv2d(1, 1, 3, padding_mode="reflect")
    with pytest.raises(AttributeError, match=r"mindgrad\.mint' has no attribute 'summ'.*nearest: 'sum'"):
        mint.summ  # noqa: B018


@pytest.mark.parametrize("mode", [ms.PYNATIVE_MODE, ms.GRAPH_MODE])
def test_parameters_of_layers_have_the_names_of_mint(mode):
    """Checkpoints and programs name them ``weight`` and ``bias``, where ``nn`` has ``gamma`` or a table."""

    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.table = mint.nn.Embedding(5, 4, padding_idx=1)
            self.layer, self.plain = mint.nn.LayerNorm(4), mint.nn.LayerNorm(4, elementwise_affine=False)
            self.unbiased, self.group = mint.nn.LayerNorm(4, bias=False), mint.nn.GroupNorm(2, 4)
            self.slope, self.batch = mint.nn.PReLU(), mint.nn.BatchNorm1d(4)

        def construct(self, indices):
            x = self.table(indices)
            x = self.plain(x) + self.unbiased(self.layer(x)) * self.group(x)
            return (self.batch(self.slope(x)) ** 2 * x).sum()

    names = [
        "table.weight", "layer.weight", "layer.bias", "unbiased.weight", "group.weight", "group.bias",
        "slope.weight", "batch.weight", "batch.bias",
    ]  # fmt: skip
    ms.set_context(mode=mode)
    try:
        net = Net()
        assert [p.name for p in net.trainable_params()] == names
        statistics = [p.name for p in net.untrainable_params()]
        assert statistics == ["batch.running_mean", "batch.running_var", "batch.num_batches_tracked"]
        assert net.plain.weight is net.plain.bias is net.unbiased.bias is None
        assert not net.table.weight.asnumpy()[1].any()
        slopes = ms.grad(net, None, net.trainable_params())(Tensor([0, 1, 4]))
        assert np.isfinite(slopes[0].asnumpy()).all()
        assert not slopes[0].asnumpy()[1].any()  # that of the padding is not trained
        assert slopes[0].asnumpy()[[0, 4]].any()
    finally:
        ms.set_context(mode=ms.PYNATIVE_MODE)


@pytest.mark.parametrize("mode", [ms.GRAPH_MODE, ms.PYNATIVE_MODE])
@pytest.mark.parametrize("momentum", [0.25, None])
def test_batches_are_counted_and_averaged(momentum, mode):
    ms.set_context(mode=mode)
    norm = mint.nn.BatchNorm1d(3, momentum=momentum).set_train()
    gradient = ms.value_and_grad(lambda x: (norm(x) ** 3).sum(), None, norm.trainable_params())
    batches = RNG.normal(size=(3, 5, 3)).astype(np.float32)
    expected = np.zeros(3)
    for count, batch in enumerate(batches, 1):
        gradient(Tensor(batch))
        expected += (1 / count if momentum is None else momentum) * (batch.mean(0) - expected)
    assert_close(norm.running_mean, expected, kind="program")
    norm.set_train(False)(Tensor(batches[0]))
    assert int(norm.num_batches_tracked) == 3
    assert norm.num_batches_tracked.dtype is ms.int64
    assert not hasattr(mint.nn.BatchNorm1d(3, track_running_stats=False), "num_batches_tracked")
