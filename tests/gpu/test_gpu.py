"""On a GPU programs have the results that they have on a CPU, eagerly and compiled; skipped where there is none."""

import numpy as np
import pytest

import mindgrad as ms
from mindgrad import Tensor, nn, ops
from mindgrad.core.ir import settings

pytestmark = [
    pytest.mark.gpu,
    pytest.mark.xla,
    pytest.mark.parametrize("mode", [ms.PYNATIVE_MODE, ms.GRAPH_MODE], ids=["eager", "compiled"]),
]
RANDOM = np.random.default_rng(0)


@pytest.fixture(autouse=True)
def on_gpu(monkeypatch):
    """The device is the GPU during a test, and a program that would fall back on the CPU fails."""
    if not ms.hal.device_count("GPU"):
        pytest.skip("NO GPU: what runs on one is not tested here (jax sees none)")
    monkeypatch.setenv("MINDGRAD_STRICT_DEVICE", "1")
    before = settings.get("device_target")
    yield
    ms.set_context(device_target=before)


def on_both(mode, compute, rtol=2e-4, atol=1e-5):
    """What ``compute`` returns, a list of tensors, on the GPU and on the CPU."""
    ms.set_context(mode=mode)
    results = []
    for target in ("CPU", "GPU"):
        ms.set_context(device_target=target)
        results.append([tensor.asnumpy() for tensor in compute()])
    cpu, gpu = results
    assert len(cpu) == len(gpu) > 0
    for expected, result in zip(cpu, gpu, strict=True):
        assert np.abs(expected).max() > 0
        np.testing.assert_allclose(result, expected, rtol=rtol, atol=atol * np.abs(expected).max())


def numbers(*shape):
    return RANDOM.normal(size=shape).astype(np.float32)


def test_gradients_of_many_operators(mode):
    x, weight = numbers(32, 16), numbers(16, 8)

    def value(x, weight):
        hidden = ops.tanh(ops.matmul(x, weight))
        return (ops.softmax(hidden, -1) * ops.sin(hidden)).sum() + ops.logsumexp(hidden, 1).mean()

    on_both(mode, lambda: ms.grad(value, (0, 1))(Tensor(x), Tensor(weight)))


def test_derivatives_of_derivatives(mode):
    points, first, last = numbers(64, 3), numbers(3, 32), numbers(32, 1)

    def laplacian():
        network = lambda x: ops.matmul(ops.tanh(ops.matmul(x, Tensor(first))), Tensor(last))
        return [ms.laplacian(network)(Tensor(points))]

    on_both(mode, laplacian)


def test_loops_with_a_iteration_count_of_the_data(mode):
    start = np.array([2.0, 3.0, 5.0], np.float32)

    def root(a):
        x = a
        while ops.abs(x * x - a).max() > 1e-3:
            x = 0.5 * (x + a / x)
        return x.sum()

    on_both(mode, lambda: [ms.grad(root)(Tensor(start))])


def test_steps_of_training(mode):
    images, labels = numbers(8, 3, 12, 12), np.arange(8, dtype=np.int32) % 4
    weights = [numbers(4, 3, 3, 3), numbers(4, 4 * 6 * 6) / 10]

    def train():
        net = nn.SequentialCell(
            nn.Conv2d(3, 4, 3, weight_init=Tensor(weights[0])), nn.BatchNorm2d(4), nn.ReLU(),
            nn.MaxPool2d(2, 2), nn.Flatten(), nn.Dense(144, 4, Tensor(weights[1]), "zeros"),
        )  # fmt: skip
        loss = nn.CrossEntropyLoss()
        optimizer = nn.Adam(net.trainable_params(), 0.01)
        step = ms.value_and_grad(lambda x, y: loss(net(x), y), None, optimizer.parameters)
        losses = []
        for _ in range(3):
            value, gradients = step(Tensor(images), Tensor(labels))
            optimizer(gradients)
            losses.append(value)
        return losses

    on_both(mode, train, rtol=1e-2)


def test_linear_algebra_and_indexing(mode):
    square, rows = numbers(6, 6) + 6 * np.eye(6, dtype=np.float32), np.array([3, 1, 3], np.int32)

    def value(a):
        chosen = a[Tensor(rows)]
        return ops.solve(a, chosen.T).sum() + ops.cumsum(ops.sort(a, 1)[0], 0).mean()

    on_both(mode, lambda: [ms.grad(value)(Tensor(square))])


def test_sparse_hessians(mode):
    x = numbers(40)

    def rosenbrock(x):
        return (100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2).sum()

    on_both(mode, lambda: [Tensor(ms.hessian(rosenbrock, sparse=True)(Tensor(x)).toarray())])


def test_recurrent_networks(mode):
    x = numbers(4, 40, 3)
    cell = nn.LSTM(3, 8, batch_first=True)

    def slopes():
        return ms.grad(lambda x: (cell(x)[0] ** 2).sum(), None, cell.trainable_params())(Tensor(x))

    on_both(mode, slopes)
